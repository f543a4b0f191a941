//! Who wants to connect, for servers.

use std::time::{SystemTime, UNIX_EPOCH};

use freestone_storage::{Role, RoleId};

use super::Who;

/// Somebody who wants to connect.
#[derive(Clone, Debug)]
pub struct Login {
    pub(crate) who: Who,
    role: Option<Role>,
}

/// Rounds, salt, stored key and server key of SCRAM.
pub type Verifier<'a> = (u32, &'a [u8], &'a [u8], &'a [u8]);

impl Login {
    /// A role of the catalog.
    pub(crate) fn role(role: Role) -> Self {
        Self {
            who: Who::role(role.id),
            role: Some(role),
        }
    }

    /// A superuser whom the catalog does not know.
    pub fn superuser(name: &str) -> Self {
        Self {
            who: Who::Anybody(name.into()),
            role: None,
        }
    }

    /// Whether the role may connect at all.
    pub fn may_connect(&self) -> bool {
        self.role.as_ref().is_none_or(|role| role.login)
    }

    /// What its password is checked against, while the password is good.
    pub fn verifier(&self) -> Option<Verifier<'_>> {
        let role = self.role.as_ref()?;
        let verifier = role.password.as_ref()?;
        (!expired(role)).then_some((
            verifier.iterations,
            &verifier.salt,
            &verifier.stored_key,
            &verifier.server_key,
        ))
    }

    /// Whether it has a password, be it good or not.
    pub fn has_password(&self) -> bool {
        let role = self.role.as_ref();
        role.is_some_and(|role| role.password.is_some())
    }

    /// A number that no other role ever has; none for who is no role.
    pub fn number(&self) -> Option<u64> {
        self.role.as_ref().map(|role| role.id.0)
    }

    /// Its number, and its most connections at a time.
    pub fn connection_limit(&self) -> Option<(u64, u32)> {
        let most = self.role.as_ref()?.connections?;
        Some((self.number()?, most))
    }

    /// What its queries may take together, as SQL writes it.
    pub(crate) fn memory_limit(&self) -> Option<(RoleId, String)> {
        let role = self.role.as_ref()?;
        Some((role.id, role.memory_limit.clone()?))
    }
}

fn expired(role: &Role) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_micros());
    role.valid_until
        .is_some_and(|until| until < 0 || now >= until as u128)
}
