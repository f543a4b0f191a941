//! Roles of the catalog: who may connect, how often, and what they may do then.

use bytes::Bytes;
use futures::{SinkExt, TryStreamExt};
use tokio_postgres::{Client, Error, NoTls};

use crate::startup::with_users;
use crate::support::{Served, program, state};

async fn connect(served: &Served, user: &str, password: &str) -> Result<Client, Error> {
    let mut settings = served.settings();
    settings.user(user).password(password);
    let (client, connection) = settings.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn refused(served: &Served, user: &str, password: &str) -> String {
    state(connect(served, user, password).await.map(|_| ()))
}

async fn failed(client: &Client, sql: &str) -> String {
    state(client.batch_execute(sql).await)
}

async fn one(client: &Client, sql: &str) -> String {
    let row = client.query_one(sql, &[]).await.unwrap();
    row.get::<_, &str>(0).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_with_passwords_are_asked_for_them() {
    let served = Served::new().await;
    let boss = served.client().await;
    boss.batch_execute(
        "CREATE USER ann PASSWORD 'sesame'; CREATE USER bob; CREATE ROLE staff PASSWORD 'x'; \
         CREATE USER late PASSWORD 'sesame' VALID UNTIL '2001-01-01'",
    )
    .await
    .unwrap();
    let ann = connect(&served, "ann", "sesame").await.unwrap();
    assert_eq!(one(&ann, "SELECT current_user").await, "ann");
    for (user, password) in [
        ("ann", "Sesame"),
        ("ann", ""),
        ("staff", "x"),
        ("late", "sesame"),
    ] {
        assert_eq!(refused(&served, user, password).await, "28P01", "{user}");
    }
    // On this machine others are let in, as what they are.
    let bob = connect(&served, "bob", "").await.unwrap();
    assert_eq!(failed(&bob, "CREATE TABLE t (a INT)").await, "42501");
    boss.batch_execute("ALTER ROLE bob NOLOGIN; ALTER ROLE ann PASSWORD 'new'")
        .await
        .unwrap();
    assert_eq!(refused(&served, "bob", "").await, "28000");
    assert_eq!(refused(&served, "ann", "sesame").await, "28P01");
    ann.batch_execute("ALTER ROLE ann PASSWORD 'own'")
        .await
        .unwrap();
    connect(&served, "ann", "own").await.unwrap();
    // Once a superuser has a password, everybody is asked.
    boss.batch_execute("ALTER ROLE freestone PASSWORD 'first'; ALTER ROLE bob LOGIN")
        .await
        .unwrap();
    for user in ["somebody", "bob", "freestone", "nobody"] {
        assert_eq!(refused(&served, user, "").await, "28P01", "{user}");
        assert_eq!(refused(&served, user, "wrong").await, "28P01", "{user}");
    }
    connect(&served, "freestone", "first").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_unknown_comes_in_once_there_are_roles() {
    let served = Served::new().await;
    let boss = served.client().await;
    boss.batch_execute("CREATE USER ann PASSWORD 'sesame'")
        .await
        .unwrap();
    assert_eq!(refused(&served, "somebody", "").await, "28000");
    connect(&served, "ann", "sesame").await.unwrap();
    connect(&served, "freestone", "").await.unwrap();
    boss.batch_execute("DROP USER ann").await.unwrap();
    connect(&served, "somebody", "").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_enough_to_listen_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let path = path.to_str().unwrap();
    let everywhere = [path, "--host", "0.0.0.0"];
    {
        let mut served = Served::with(&[path]).await;
        let client = served.client().await;
        client
            .batch_execute("CREATE ROLE plain LOGIN; CREATE ROLE group_of PASSWORD 'x'")
            .await
            .unwrap();
        served.stop().await;
        let done = program().args(everywhere).output().await.unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert!(!done.status.success() && told.contains("28000"), "{told}");
        let mut served = Served::with(&[path]).await;
        let client = connect(&served, "freestone", "").await.unwrap();
        client
            .batch_execute("ALTER ROLE plain PASSWORD 'sesame'")
            .await
            .unwrap();
        served.stop().await;
    }
    let served = Served::with(&everywhere).await;
    let reach = async |user: &str, password: &str| {
        let mut settings = tokio_postgres::Config::new();
        settings.host("127.0.0.1").port(served.address.port());
        settings.user(user).password(password);
        settings.connect(NoTls).await.map(|(client, connection)| {
            tokio::spawn(connection);
            client
        })
    };
    let plain = reach("plain", "sesame").await.unwrap();
    assert_eq!(one(&plain, "SELECT session_user").await, "plain");
    for user in ["plain", "freestone", "somebody"] {
        assert_eq!(state(reach(user, "").await.map(|_| ())), "28P01", "{user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_of_a_file_are_superusers_unless_they_are_roles() {
    let (_file, served) = with_users("boss:b\nann:a\n", &[]).await;
    let boss = connect(&served, "boss", "b").await.unwrap();
    boss.batch_execute("CREATE TABLE t (a INT); CREATE USER ann; CREATE USER eve PASSWORD 'e'")
        .await
        .unwrap();
    assert_eq!(one(&boss, "SELECT current_user").await, "boss");
    // The file gives a role without a password one.
    let ann = connect(&served, "ann", "a").await.unwrap();
    assert_eq!(failed(&ann, "SELECT * FROM t").await, "42501");
    let eve = connect(&served, "eve", "e").await.unwrap();
    assert_eq!(failed(&eve, "SELECT * FROM t").await, "42501");
    boss.batch_execute("ALTER ROLE ann PASSWORD 'own'")
        .await
        .unwrap();
    assert_eq!(refused(&served, "ann", "a").await, "28P01");
    connect(&served, "ann", "own").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_have_so_many_connections() {
    let served = Served::new().await;
    let boss = served.client().await;
    boss.batch_execute("CREATE USER ann CONNECTION LIMIT 2; CREATE USER bob CONNECTION LIMIT 0")
        .await
        .unwrap();
    let first = connect(&served, "ann", "").await.unwrap();
    let _second = connect(&served, "ann", "").await.unwrap();
    assert_eq!(refused(&served, "ann", "").await, "53300");
    assert_eq!(refused(&served, "bob", "").await, "53300");
    drop(first);
    let mut again = connect(&served, "ann", "").await;
    for _ in 0..50 {
        if again.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        again = connect(&served, "ann", "").await;
    }
    again.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_does_what_it_was_granted() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("rows.csv"), "a\n7\n").unwrap();
    let served = Served::with(&["--files", files]).await;
    let boss = served.client().await;
    boss.batch_execute(
        "CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (1), (2); \
         CREATE USER ann; GRANT SELECT ON t TO ann",
    )
    .await
    .unwrap();
    let ann = connect(&served, "ann", "").await.unwrap();
    let by_key = ann.prepare("SELECT a FROM t WHERE a = $1").await.unwrap();
    let counted = ann.prepare("SELECT count(*) FROM t").await.unwrap();
    for statement in [&by_key, &counted] {
        let key: [&(dyn tokio_postgres::types::ToSql + Sync); 1] = [&1_i32];
        let parameters = if statement.params().is_empty() {
            &[][..]
        } else {
            &key[..]
        };
        assert_eq!(ann.query(statement, parameters).await.unwrap().len(), 1);
    }
    // Rows that a client sends are no file of the server.
    let copy_in = async || {
        let sink = ann.copy_in::<_, Bytes>("COPY t FROM STDIN").await?;
        let mut sink = std::pin::pin!(sink);
        sink.send(Bytes::from_static(b"3\n")).await?;
        sink.finish().await
    };
    assert_eq!(failed(&ann, "COPY t FROM STDIN").await, "42501");
    boss.batch_execute("GRANT INSERT ON t TO ann")
        .await
        .unwrap();
    assert_eq!(copy_in().await.unwrap(), 1);
    let out = ann
        .copy_out("COPY (SELECT * FROM t ORDER BY 1) TO STDOUT")
        .await
        .unwrap();
    let out: Vec<Bytes> = out.try_collect().await.unwrap();
    assert_eq!(out.concat(), b"1\n2\n3\n");
    let file = format!("SELECT * FROM '{files}/rows.csv'");
    assert_eq!(failed(&ann, &file).await, "42501");
    boss.batch_execute("GRANT pg_read_server_files TO ann")
        .await
        .unwrap();
    assert_eq!(ann.query(&file, &[]).await.unwrap().len(), 1);
    for client in [&ann, &boss] {
        assert_eq!(
            failed(client, "SELECT * FROM '/etc/passwd.csv'").await,
            "42501"
        );
        assert_eq!(
            failed(client, "COPY t FROM '/etc/passwd' (FORMAT csv)").await,
            "42501"
        );
        let out = format!("COPY t TO '{files}/../stolen.csv'");
        assert_eq!(failed(client, &out).await, "42501");
    }
    boss.batch_execute("REVOKE ALL ON t FROM ann")
        .await
        .unwrap();
    assert_eq!(state(ann.query(&by_key, &[&1_i32]).await), "42501");
    assert_eq!(state(ann.query(&counted, &[]).await), "42501");
    assert_eq!(
        state(ann.copy_out("COPY t TO STDOUT").await.map(|_| ())),
        "42501"
    );
    assert_eq!(failed(&ann, "SET ROLE freestone").await, "42501");
    for setting in ["memory_limit", "freestone.mover"] {
        let mut settings = served.settings();
        settings.user("ann").options(format!("-c {setting}=paused"));
        assert_eq!(state(settings.connect(NoTls).await.map(|_| ())), "42501");
    }
}
