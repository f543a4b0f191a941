//! TLS: required, and bound to who proves who it is.

use std::sync::Arc;

use tempfile::{NamedTempFile, TempDir};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::config::{ChannelBinding, SslMode};
use tokio_postgres::{Client, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::startup::with_users;
use crate::support::{Served, answer, framed, hello, says, state};

/// A server with a certificate, and what trusts it.
struct Encrypted {
    served: Served,
    trusted: ClientConfig,
    _files: (NamedTempFile, TempDir),
}

async fn encrypted(options: &[&str]) -> Encrypted {
    let names = ["localhost", "127.0.0.1"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let certificate = file("server.crt", made.cert.pem());
    let key = file("server.key", made.signing_key.serialize_pem());
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key];
    let (users, served) = with_users("somebody:sesame\n", &[&tls, options].concat()).await;
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let trusted = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Encrypted {
        served,
        trusted,
        _files: (users, folder),
    }
}

impl Encrypted {
    fn settings(&self, password: &str) -> tokio_postgres::Config {
        let mut settings = tokio_postgres::Config::new();
        settings.host("127.0.0.1").port(self.served.address.port());
        settings.user("somebody").password(password);
        settings
    }

    /// A client that has itself bound to the server's certificate.
    async fn bound(&self, password: &str) -> Result<Client, Error> {
        let mut settings = self.settings(password);
        settings
            .ssl_mode(SslMode::Require)
            .channel_binding(ChannelBinding::Require);
        let tls = MakeRustlsConnect::new(self.trusted.clone());
        let (client, connection) = settings.connect(tls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Whether a client that does not encrypt comes in.
    async fn plain(&self) -> Result<(), Error> {
        let settings = self.settings("sesame");
        settings.connect(NoTls).await.map(|_| ())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proofs_are_bound_to_the_certificate() {
    let encrypted = encrypted(&[]).await;
    let client = encrypted.bound("sesame").await.unwrap();
    assert_eq!(client.query("SELECT 1", &[]).await.unwrap().len(), 1);
    assert_eq!(state(encrypted.bound("Sesame").await.map(|_| ())), "28P01");
    // On this machine it may do without.
    encrypted.plain().await.unwrap();
}

/// A client that could have bound its proof, and was told that the server cannot: somebody
/// stands between them.
#[tokio::test(flavor = "multi_thread")]
async fn who_was_told_that_nothing_is_bound_is_refused() {
    let encrypted = encrypted(&[]).await;
    let mut socket = encrypted.served.socket().await;
    let ask = framed(None, &80_877_103_u32.to_be_bytes());
    socket.write_all(&ask).await.unwrap();
    assert_eq!(socket.read_u8().await.unwrap(), b'S');
    let connector = TlsConnector::from(Arc::new(encrypted.trusted.clone()));
    let name = ServerName::try_from("localhost").unwrap();
    let mut socket = connector.connect(name, socket).await.unwrap();
    socket.write_all(&hello()).await.unwrap();
    let asked = answer(&mut socket).await;
    let way = b"SCRAM-SHA-256-PLUS\0";
    assert!(asked.windows(way.len()).any(|part| part == way));
    let first = b"y,,n=,r=abcdefghijkl";
    let length = (first.len() as u32).to_be_bytes();
    let body = [&b"SCRAM-SHA-256\0"[..], &length, first].concat();
    socket.write_all(&framed(Some(b'p'), &body)).await.unwrap();
    let told = answer(&mut socket).await;
    assert!(says(&told, "08P01"), "{}", String::from_utf8_lossy(&told));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_encrypt_is_refused_where_others_can_listen() {
    let everywhere = ["--host", "0.0.0.0"];
    for options in [&["--require-tls"][..], &everywhere] {
        let encrypted = encrypted(options).await;
        assert_eq!(state(encrypted.plain().await), "28000", "{options:?}");
        encrypted.bound("sesame").await.unwrap();
    }
    let allowed = ["--host", "0.0.0.0", "--require-tls=false"];
    encrypted(&allowed).await.plain().await.unwrap();
}
