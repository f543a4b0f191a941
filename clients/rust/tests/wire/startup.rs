//! How connections begin: users, passwords, settings, encryption.

use std::io::Write;

use tempfile::NamedTempFile;
use tokio_postgres::NoTls;

use crate::support::{Served, program, state};

/// A server that asks these users for their passwords.
pub async fn with_users(users: &str, options: &[&str]) -> (NamedTempFile, Served) {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(users.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let options = [&["--users", path.as_str()], options].concat();
    let served = Served::with(&options).await;
    (file, served)
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_are_asked_for() {
    let (_file, served) = with_users("# who may\nann:sesame\nbob:other\n", &[]).await;
    let connect = async |user: &str, password: &str| {
        let mut settings = served.settings();
        settings.user(user).password(password);
        settings.connect(NoTls).await.map(|(client, connection)| {
            tokio::spawn(connection);
            client
        })
    };
    let client = connect("ann", "sesame").await.unwrap();
    assert_eq!(client.query("SELECT 1", &[]).await.unwrap().len(), 1);
    for (user, password) in [
        ("ann", "Sesame"),
        ("bob", "sesame"),
        ("eve", "sesame"),
        ("eve", ""),
    ] {
        assert_eq!(
            state(connect(user, password).await.map(|_| ())),
            "28P01",
            "{user}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_would_not_be_safe_does_not_start() {
    let told = async |options: &[&str]| {
        let done = program().args(options).output().await.unwrap();
        assert!(!done.status.success(), "{options:?}");
        String::from_utf8(done.stderr).unwrap()
    };
    let open = told(&["--host", "0.0.0.0"]).await;
    assert!(
        open.contains("28000") && open.contains("nobody would be asked"),
        "{open}"
    );
    let files = [
        "--tls-certificate",
        "no-such.crt",
        "--tls-key",
        "no-such.key",
    ];
    let broken = told(&files).await;
    assert!(
        broken.contains("F0000") && broken.contains("no-such.crt"),
        "{broken}"
    );
    let mut empty = NamedTempFile::new().unwrap();
    empty.write_all(b"ann:sesame\nbob:\n").unwrap();
    let empty = told(&["--users", empty.path().to_str().unwrap()]).await;
    assert!(
        empty.contains("22023") && empty.contains("line 2"),
        "{empty}"
    );
    let mut users = NamedTempFile::new().unwrap();
    users.write_all(b"ann:sesame\n").unwrap();
    let users = users.path().to_str().unwrap();
    let plain = told(&["--users", users, "--flight", "0.0.0.0:0"]).await;
    assert!(
        plain.contains("28000") && plain.contains("Flight SQL"),
        "{plain}"
    );
    let required = told(&["--require-tls"]).await;
    assert!(required.contains("F0000"), "{required}");
    let nobody = told(&["--users", "no-such-users"]).await;
    assert!(
        nobody.contains("58P01") && nobody.contains("no-such-users"),
        "{nobody}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_come_with_the_connection() {
    let served = Served::new().await;
    let mut settings = served.settings();
    settings
        .application_name("tests")
        .options("-c statement_timeout=5s");
    let (client, connection) = settings.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    for (name, value) in [
        ("application_name", "tests"),
        ("statement_timeout", "5s"),
        ("extra_float_digits", "1"),
    ] {
        let row = client
            .query_one(&format!("SHOW {name}"), &[])
            .await
            .unwrap();
        assert_eq!(row.get::<_, &str>(0), value);
    }
    let mut settings = served.settings();
    settings.options("-c no_such_setting=1");
    assert_eq!(state(settings.connect(NoTls).await.map(|_| ())), "42704");
}
