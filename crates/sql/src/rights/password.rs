//! Passwords, as SCRAM-SHA-256 keeps them.

use std::borrow::Cow;
use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use freestone_storage::Verifier;
use ring::rand::SecureRandom;
use ring::{digest, hmac, pbkdf2, rand};

use crate::error::{Error, Result};

/// Rounds of salting, as PostgreSQL does.
const ITERATIONS: u32 = 4096;
const SALT: usize = 16;
/// Bytes of a key.
const KEY: usize = digest::SHA256_OUTPUT_LEN;
/// How a verifier that a client has made begins.
const MADE: &str = "SCRAM-SHA-256$";

/// The verifier of a password, or the one that a client has made of it.
///
/// # Errors
/// `58030` without random numbers; `22023` for an empty password or a verifier of another
/// kind.
pub(crate) fn verifier(password: &str) -> Result<Verifier> {
    if let Some(made) = password.strip_prefix(MADE) {
        let hint = "it is SCRAM-SHA-256$iterations:salt$stored key:server key";
        return read(made).ok_or_else(|| {
            Error::new("22023", "the password is no SCRAM verifier").with_hint(hint)
        });
    }
    if password.is_empty() {
        return Err(Error::new("22023", "an empty password is none")
            .with_hint("PASSWORD NULL takes a password away"));
    }
    let mut salt = vec![0; SALT];
    rand::SystemRandom::new()
        .fill(&mut salt)
        .map_err(|_| Error::new("58030", "the system has no random numbers"))?;
    Ok(salted(password, salt))
}

fn salted(password: &str, salt: Vec<u8>) -> Verifier {
    // As PostgreSQL does, what cannot be normalised stays as it is.
    let normal = stringprep::saslprep(password).unwrap_or(Cow::Borrowed(password));
    let mut key = [0; KEY];
    let rounds = NonZeroU32::new(ITERATIONS).unwrap_or(NonZeroU32::MIN);
    let way = pbkdf2::PBKDF2_HMAC_SHA256;
    pbkdf2::derive(way, rounds, &salt, normal.as_bytes(), &mut key);
    let signed = |text: &[u8]| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        hmac::sign(&key, text).as_ref().to_vec()
    };
    let client = signed(b"Client Key");
    Verifier {
        iterations: ITERATIONS,
        stored_key: digest::digest(&digest::SHA256, &client).as_ref().to_vec(),
        server_key: signed(b"Server Key"),
        salt,
    }
}

/// A verifier as `\password` of psql sends it.
fn read(text: &str) -> Option<Verifier> {
    let (head, keys) = text.split_once('$')?;
    let (iterations, salt) = head.split_once(':')?;
    let (stored, server) = keys.split_once(':')?;
    let bytes = |text: &str| STANDARD.decode(text).ok();
    let key = |text: &str| bytes(text).filter(|key| key.len() == KEY);
    // What is sent to clients says so many rounds.
    let iterations = iterations.parse().ok().filter(|n| *n == ITERATIONS)?;
    Some(Verifier {
        iterations,
        salt: bytes(salt)?,
        stored_key: key(stored)?,
        server_key: key(server)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verifiers_are_those_of_rfc_7677() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let known = salted("pencil", salt);
        // By PostgreSQL 15, of the same salt.
        assert_eq!(
            STANDARD.encode(&known.stored_key),
            "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
        );
        assert_eq!(
            STANDARD.encode(&known.server_key),
            "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
        );
    }

    #[test]
    fn what_clients_make_is_taken_as_it_is() {
        let made = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$\
                    WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:\
                    wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        assert_eq!(verifier(made).unwrap(), salted("pencil", salt));
        for wrong in ["", "SCRAM-SHA-256$", "SCRAM-SHA-256$1:aa$b:c"] {
            assert_eq!(verifier(wrong).unwrap_err().sqlstate, "22023", "{wrong}");
        }
        assert_ne!(verifier("a").unwrap(), verifier("a").unwrap());
        assert_eq!(format!("{:?}", verifier("a").unwrap()), "Verifier");
    }
}
