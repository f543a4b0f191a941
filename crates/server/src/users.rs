//! Who may connect, and with which password.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use freestone::{Error, Result};
use pgwire::api::auth::sasl::scram::{ScramSecret, gen_salted_password};

/// Rounds that a password is salted with, as PostgreSQL does.
const ITERATIONS: usize = 4096;
/// Bytes of salt.
const SALT: usize = 16;

/// Users and their passwords, which are kept salted.
#[derive(Clone)]
pub struct Users {
    salted: Arc<HashMap<String, Salted>>,
    /// Makes answers about users that do not exist look like those about others.
    nobody: Arc<[u8]>,
}

#[derive(Clone)]
struct Salted {
    salt: Vec<u8>,
    password: Vec<u8>,
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.salted.keys()).finish()
    }
}

impl Default for Users {
    fn default() -> Self {
        Self::new([])
    }
}

impl Users {
    /// Users by their names, with passwords.
    pub fn new<'a>(users: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let salted = users.into_iter().map(|(name, password)| {
            let salt = random(SALT);
            let password = gen_salted_password(password, &salt, ITERATIONS);
            (name.to_owned(), Salted { salt, password })
        });
        Self {
            salted: Arc::new(salted.collect()),
            nobody: random(32).into(),
        }
    }

    /// Users of a file, one `name:password` a line; lines that begin with `#` are left
    /// out.
    ///
    /// # Errors
    /// `58P01` and `42501` of the file; `22023` for a line without a name or a password, or no
    /// users.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::new(
                "58P01",
                format!("cannot read users from \"{shown}\": {error}"),
            )
        })?;
        let mut users = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let pair = line.split_once(':');
            let pair = pair.filter(|(name, password)| !name.is_empty() && !password.is_empty());
            users.push(pair.ok_or_else(|| {
                let message = format!("line {} of \"{shown}\" is no user", number + 1);
                Error::new("22023", message).with_hint("write name:password")
            })?);
        }
        if users.is_empty() {
            let message = format!("\"{shown}\" has no users");
            return Err(Error::new("22023", message).with_hint("write name:password on a line"));
        }
        Ok(Self::new(users))
    }
}

impl Users {
    /// What a user's password is checked against.
    pub(crate) fn secret(&self, name: &str) -> Option<ScramSecret> {
        let known = self.salted.get(name)?;
        let (salt, password) = (known.salt.clone(), known.password.clone());
        Some(ScramSecret::verifier_from_salted_password(
            salt, password, ITERATIONS,
        ))
    }

    /// The same for somebody who is not there: the same salt each time, and no password
    /// that fits.
    pub(crate) fn nobody(&self, name: &str) -> ScramSecret {
        let mut salt = gen_salted_password(name, &self.nobody, 1);
        salt.truncate(SALT);
        ScramSecret::verifier_from_salted_password(salt, random(32), ITERATIONS)
    }
}

impl fmt::Debug for Salted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salted")
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random(count: usize) -> Vec<u8> {
    use tokio_rustls::rustls::crypto::ring::default_provider;
    let mut bytes = vec![0; count];
    default_provider()
        .secure_random
        .fill(&mut bytes)
        .expect("the system has random numbers");
    bytes
}
