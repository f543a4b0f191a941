//! Who comes in: roles of the catalog, users of a file, their passwords and how many may
//! be here at a time.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use freestone::{Database, Error, Login, Result};
use parking_lot::Mutex;
use pgwire::api::auth::sasl::scram::{ScramSecret, gen_salted_password};
use pgwire::api::auth::{AuthSource, LoginInfo, Password};
use pgwire::error::{PgWireError, PgWireResult};

use crate::users::Users;

/// Who may come in, and how.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) database: Database,
    pub(crate) users: Option<Users>,
    /// Whether other machines can reach the server.
    pub(crate) exposed: bool,
    /// Makes answers about users that do not exist look like those about others.
    nobody: Users,
    /// Connections of roles that may have so many only.
    here: Arc<Mutex<HashMap<u64, u32>>>,
}

/// Somebody who says who it is.
pub(crate) struct Caller {
    name: String,
    /// The role of that name.
    role: Option<Login>,
    /// Whether it has to prove it.
    pub(crate) asked: bool,
    /// Whether it may do everything.
    pub(crate) superuser: bool,
}

/// What a password was checked against.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Proof(Option<Vec<u8>>);

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proof")
    }
}

impl Caller {
    /// The number of the role of the catalog that it is.
    pub(crate) fn role(&self) -> Option<u64> {
        self.role.as_ref().and_then(Login::number)
    }

    /// What its password is checked against now: another one when that changes.
    pub(crate) fn proof(&self) -> Proof {
        let verifier = self.role.as_ref().and_then(Login::verifier);
        Proof(verifier.map(|(_, _, stored_key, _)| stored_key.to_vec()))
    }
}

/// A connection of a role that may have so many only.
#[derive(Debug)]
pub(crate) struct RolePlace {
    role: u64,
    here: Arc<Mutex<HashMap<u64, u32>>>,
}

impl Drop for RolePlace {
    fn drop(&mut self) {
        let mut here = self.here.lock();
        if let Some(count) = here.get_mut(&self.role) {
            *count = count.saturating_sub(1);
        }
    }
}

impl Keys {
    pub(crate) fn new(database: Database, users: Option<Users>, exposed: bool) -> Self {
        Self {
            database,
            users,
            exposed,
            nobody: Users::default(),
            here: Arc::default(),
        }
    }

    /// Whether everybody is asked for a password: with users of a file, beyond this
    /// machine, and once a superuser has one.
    fn asks_everybody(&self) -> bool {
        self.users.is_some() || self.exposed || self.database.passwords().1
    }

    /// Somebody who says so.
    pub(crate) fn caller(&self, name: &str) -> Caller {
        let role = self.database.login(name);
        let has_password = role.as_ref().is_some_and(Login::has_password);
        let roles = Arc::clone(self.database.store().snapshot().roles());
        let known = roles.role(name);
        Caller {
            asked: has_password || self.asks_everybody(),
            superuser: known.is_none_or(|role| role.superuser),
            name: name.to_owned(),
            role,
        }
    }

    /// Whether nobody has made a role yet: whoever can reach the server may do everything.
    fn are_there_only_built_in_roles(&self) -> bool {
        let snapshot = self.database.store().snapshot();
        let all = snapshot.roles().all();
        all.values().all(|role| role.id.is_built_in())
    }

    /// What a caller's password is checked against; `None` for one who must not come in.
    pub(crate) fn secret(&self, caller: &Caller) -> Secret {
        let known = match &caller.role {
            Some(role) if !role.may_connect() => None,
            Some(role) if role.has_password() => {
                role.verifier()
                    .map(
                        |(iterations, salt, stored_key, server_key)| ScramSecret::Verifier {
                            salt: salt.to_vec(),
                            iterations: iterations as usize,
                            stored_key: stored_key.to_vec(),
                            server_key: server_key.to_vec(),
                        },
                    )
            }
            _ => self
                .users
                .as_ref()
                .and_then(|users| users.secret(&caller.name)),
        };
        let nobody = || {
            self.users
                .as_ref()
                .unwrap_or(&self.nobody)
                .nobody(&caller.name)
        };
        Secret(Mutex::new(Some(known.unwrap_or_else(nobody))))
    }

    /// A caller who has proved who it is, and its place.
    ///
    /// # Errors
    /// `28000` for a role that may not connect and for somebody unknown once there are roles,
    /// `53300` for a role with too many connections.
    pub(crate) fn admit(&self, caller: Caller) -> Result<(Login, Option<RolePlace>)> {
        let Some(role) = caller.role else {
            if !caller.asked && !self.are_there_only_built_in_roles() {
                let message = format!("role \"{}\" does not exist", caller.name);
                let hint = "connect as a role that does, such as freestone";
                return Err(Error::new("28000", message).with_hint(hint));
            }
            return Ok((Login::superuser(&caller.name), None));
        };
        if !role.may_connect() {
            let message = format!("role \"{}\" is not permitted to log in", caller.name);
            return Err(Error::new("28000", message));
        }
        let place = match role.connection_limit() {
            Some((id, most)) => Some(self.place(id, most, &caller.name)?),
            None => None,
        };
        Ok((role, place))
    }

    fn place(&self, role: u64, most: u32, name: &str) -> Result<RolePlace> {
        let mut here = self.here.lock();
        let count = here.entry(role).or_default();
        if *count >= most {
            let message = format!("too many connections for role \"{name}\": at most {most}");
            return Err(Error::new("53300", message).with_hint("wait until others have left"));
        }
        *count += 1;
        Ok(RolePlace {
            role,
            here: Arc::clone(&self.here),
        })
    }
}

/// What one caller's password is checked against.
pub(crate) struct Secret(Mutex<Option<ScramSecret>>);

impl Secret {
    /// Whether a password in the clear is the right one.
    pub(crate) fn accepts(&self, password: &str) -> bool {
        let Some(ScramSecret::Verifier {
            salt,
            iterations,
            stored_key,
            ..
        }) = self.0.lock().take()
        else {
            return false;
        };
        let salted = gen_salted_password(password, &salt, iterations);
        let given = ScramSecret::verifier_from_salted_password(salt, salted, iterations);
        let ScramSecret::Verifier {
            stored_key: given, ..
        } = given
        else {
            return false;
        };
        // As long for a wrong one as for the right one.
        let pairs = given.iter().zip(&stored_key);
        let differences = pairs.fold(0, |all, (one, two)| all | (one ^ two));
        given.len() == stored_key.len() && differences == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[async_trait]
impl AuthSource for Secret {
    async fn get_password(&self, login: &LoginInfo) -> PgWireResult<Password> {
        let name = login.user().unwrap_or_default().to_owned();
        Err(PgWireError::InvalidPassword(name))
    }

    async fn get_scram_secret(&self, login: &LoginInfo) -> PgWireResult<(ScramSecret, Option<()>)> {
        let secret = self.0.lock().take();
        let name = || login.user().unwrap_or_default().to_owned();
        let secret = secret.ok_or_else(|| PgWireError::InvalidPassword(name()))?;
        Ok((secret, None))
    }
}
