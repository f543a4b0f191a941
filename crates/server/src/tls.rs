//! TLS from a certificate and a key.

use std::sync::Arc;

use freestone::{Error, Result};
use pgwire::api::auth::sasl::scram::ScramServerAuth;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;

use crate::options::TlsFiles;

/// What direct TLS connections name the protocol.
const PROTOCOL: &[u8] = b"postgresql";

/// The certificate, if clients can tell by it that nobody stands between them and the server
/// (`tls-server-end-point`): it is signed by RSA or ECDSA with SHA-256, SHA-384 or SHA-512.
pub(crate) fn certificate(files: &TlsFiles) -> Option<Vec<u8>> {
    let certificate = std::fs::read(&files.certificate).ok()?;
    let known = ScramServerAuth::new().configure_certificate(&certificate);
    known.is_ok().then_some(certificate)
}

/// Encryption as its files say.
///
/// # Errors
/// `F0000` naming the file that cannot be used: a server never goes on without it.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let refused = |what: &str, path: &std::path::Path, error: String| {
        let message = format!("cannot use {what} \"{}\" for TLS: {error}", path.display());
        Error::new("F0000", message).with_hint("both files are PEM, as openssl writes them")
    };
    let (certificate, key) = (files.certificate.as_path(), files.key.as_path());
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| refused("the certificate", certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(refused(
            "the certificate",
            certificate,
            "it has none".to_owned(),
        ));
    }
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| refused("the key", key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(chain, private)
        });
    let mut config = config.map_err(|error| refused("the key", key, error.to_string()))?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
