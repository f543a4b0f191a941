//! CREATE, ALTER and DROP ROLE, SET ROLE and SET SESSION AUTHORIZATION.

use arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use freestone_storage::{Catalog, CatalogEdit, FIRST_ROLE, Role, RoleId};

use super::Run;
use crate::error::{Error, Result};
use crate::grammar::{RoleName, RoleOption, RoleStatement};
use crate::memory::bytes_of;
use crate::outcome::Outcome;
use crate::rights::{Identity, Rights, Who, verifier};
use crate::session::Notice;

impl Run<'_> {
    /// Runs a statement about roles or rights.
    pub(super) fn role_statement(&self, statement: &RoleStatement) -> Result<Outcome> {
        let tag = match statement {
            RoleStatement::Create { name, options } => {
                self.edit(|edit| self.create_role(edit, name, options))?;
                "CREATE ROLE"
            }
            RoleStatement::Alter { name, options } => {
                self.edit(|edit| self.alter_role(edit, name, options))?;
                "ALTER ROLE"
            }
            RoleStatement::Rename { name, to } => {
                self.edit(|edit| self.rename_role(edit, name, to))?;
                "ALTER ROLE"
            }
            RoleStatement::Memory { name, limit } => {
                let role = self.edit(|edit| self.limit_role(edit, name, limit.as_ref()))?;
                self.session.database().limit_role(role, limit.as_deref())?;
                "ALTER ROLE"
            }
            RoleStatement::Drop { names, if_exists } => {
                self.edit(|edit| self.drop_roles(edit, names, *if_exists))?;
                "DROP ROLE"
            }
            RoleStatement::SetRole(name) => {
                self.set_role(name.as_deref())?;
                "SET"
            }
            RoleStatement::SetSession(name) => {
                self.set_session(name.as_deref())?;
                "SET"
            }
            RoleStatement::ResetRole => {
                self.set_role(None)?;
                "RESET"
            }
            RoleStatement::ResetSession => {
                self.set_session(None)?;
                "RESET"
            }
            RoleStatement::Unsupported(what) => {
                return Err(Error::unsupported(format!("{what} is not supported")));
            }
            other => return self.grant_statement(other),
        };
        Ok(Outcome::done(tag))
    }

    pub(super) fn identity(&self) -> &Identity {
        self.session.identity()
    }

    /// What the session may do, by a catalog that is being changed.
    pub(crate) fn rights(&self, catalog: &Catalog) -> Rights {
        self.identity().rights(catalog)
    }

    /// The name of a role that a statement means.
    ///
    /// # Errors
    /// `42704` for PUBLIC.
    pub(super) fn called(&self, catalog: &Catalog, name: &RoleName) -> Result<String> {
        match name {
            RoleName::Named(name) => Ok(name.clone()),
            RoleName::Current => Ok(self.identity().current().name(catalog)),
            RoleName::Session => Ok(self.identity().session().name(catalog)),
            RoleName::Public => Err(unknown_role("public")),
        }
    }

    /// A role that a statement means, and its name.
    ///
    /// # Errors
    /// `42704`.
    pub(super) fn role(&self, catalog: &Catalog, name: &RoleName) -> Result<(String, Role)> {
        let name = self.called(catalog, name)?;
        match catalog.roles().role(&name) {
            Some(role) => Ok((name, role)),
            None => Err(unknown_role(&name)),
        }
    }

    fn create_role(
        &self,
        edit: &mut CatalogEdit,
        name: &RoleName,
        options: &[RoleOption],
    ) -> Result<()> {
        self.rights(edit.catalog()).superuser("create roles")?;
        let RoleName::Named(name) = name else {
            return Err(reserved("a word of SQL"));
        };
        free(edit.catalog(), name)?;
        let mut role = Role {
            id: edit.next_role(),
            ..Role::default()
        };
        let id = role.id;
        let mut members = Vec::new();
        for option in options {
            match option {
                RoleOption::InRole(groups) => {
                    for group in groups {
                        let (_, group) = self.role(edit.catalog(), group)?;
                        role.member_of.insert(group.id, false);
                    }
                }
                RoleOption::Members(names, admin) => members.push((names, *admin)),
                option => apply(&mut role, option)?,
            }
        }
        edit.roles_mut().put(name, role);
        for (names, admin) in members {
            for member in names {
                self.add_member(edit, id, member, admin)?;
            }
        }
        Ok(())
    }

    fn alter_role(
        &self,
        edit: &mut CatalogEdit,
        name: &RoleName,
        options: &[RoleOption],
    ) -> Result<()> {
        let (name, mut role) = self.role(edit.catalog(), name)?;
        let rights = self.rights(edit.catalog());
        let own = self.identity().current() == Who::role(role.id);
        let password = |option: &RoleOption| matches!(option, RoleOption::Password(_));
        if !(own && options.iter().all(password)) {
            rights.superuser("alter roles")?;
        }
        if role.id != FIRST_ROLE {
            changeable(&name, role.id)?;
        }
        for option in options {
            let first = role.id == FIRST_ROLE;
            match option {
                RoleOption::Login(false) | RoleOption::Superuser(false) if first => {
                    let message = format!("role \"{name}\" stays a superuser that may connect");
                    return Err(Error::unsupported(message));
                }
                RoleOption::InRole(_) | RoleOption::Members(..) => {
                    let message = "memberships are changed by GRANT and REVOKE";
                    return Err(Error::new("42601", message));
                }
                option => apply(&mut role, option)?,
            }
        }
        edit.roles_mut().put(&name, role);
        Ok(())
    }

    fn rename_role(&self, edit: &mut CatalogEdit, name: &RoleName, to: &str) -> Result<()> {
        let (name, role) = self.role(edit.catalog(), name)?;
        self.rights(edit.catalog()).superuser("rename roles")?;
        changeable(&name, role.id)?;
        free(edit.catalog(), to)?;
        let roles = edit.roles_mut();
        roles.rename(&name, to);
        Ok(())
    }

    fn limit_role(
        &self,
        edit: &mut CatalogEdit,
        name: &RoleName,
        limit: Option<&String>,
    ) -> Result<RoleId> {
        let (name, mut role) = self.role(edit.catalog(), name)?;
        self.rights(edit.catalog()).superuser("limit roles")?;
        changeable(&name, role.id)?;
        if let Some(limit) = limit {
            bytes_of(limit)?;
        }
        let id = role.id;
        role.memory_limit = limit.cloned();
        edit.roles_mut().put(&name, role);
        Ok(id)
    }

    fn drop_roles(
        &self,
        edit: &mut CatalogEdit,
        names: &[RoleName],
        if_exists: bool,
    ) -> Result<()> {
        for name in names {
            self.rights(edit.catalog()).superuser("drop roles")?;
            let (name, role) = match self.role(edit.catalog(), name) {
                Err(error) if if_exists && error.sqlstate == "42704" => {
                    self.session.notify(Notice::skipped("00000", error.message));
                    continue;
                }
                found => found?,
            };
            changeable(&name, role.id)?;
            let who = Who::role(role.id);
            let identity = self.identity();
            if [identity.current(), identity.session(), identity.login()].contains(&who) {
                return Err(Error::new("55006", "current user cannot be dropped"));
            }
            let uses = super::granted::uses(edit.catalog(), role.id);
            if !uses.is_empty() {
                let message =
                    format!("role \"{name}\" cannot be dropped because some objects depend on it");
                return Err(Error::new("2BP01", message)
                    .with_detail(uses.join("\n"))
                    .with_hint("REASSIGN OWNED gives objects to another role, DROP OWNED takes grants back"));
            }
            edit.roles_mut().remove(&name);
        }
        Ok(())
    }

    fn set_role(&self, name: Option<&str>) -> Result<()> {
        let identity = self.identity();
        let session = identity.session();
        let Some(name) = name else {
            identity.set_current(&session);
            return Ok(());
        };
        let catalog = self.snapshot.catalog();
        let (_, role) = self.role(catalog, &RoleName::Named(name.to_owned()))?;
        let allowed = match &session {
            Who::Anybody(_) => true,
            Who::Role(own) => {
                let own_role = catalog.roles().role_by_id(*own);
                let held = catalog.roles().held(*own, false);
                own_role.is_some_and(|role| role.superuser) || held.contains(&role.id)
            }
        };
        if !allowed {
            let message = format!("permission denied to set role \"{name}\"");
            return Err(Error::new("42501", message));
        }
        identity.set_current(&Who::role(role.id));
        Ok(())
    }

    fn set_session(&self, name: Option<&str>) -> Result<()> {
        let identity = self.identity();
        let login = identity.login();
        let Some(name) = name else {
            identity.set_session(&login);
            return Ok(());
        };
        let catalog = self.snapshot.catalog();
        let (_, role) = self.role(catalog, &RoleName::Named(name.to_owned()))?;
        let who = Who::role(role.id);
        let superuser = match &login {
            Who::Anybody(_) => true,
            Who::Role(own) => {
                let own = catalog.roles().role_by_id(*own);
                own.is_some_and(|role| role.superuser)
            }
        };
        if !superuser && who != login {
            let message = format!("permission denied to set session authorization \"{name}\"");
            return Err(Error::new("42501", message));
        }
        identity.set_session(&who);
        Ok(())
    }
}

/// Changes a role as an option says.
fn apply(role: &mut Role, option: &RoleOption) -> Result<()> {
    match option {
        RoleOption::Login(login) => role.login = *login,
        RoleOption::Superuser(superuser) => role.superuser = *superuser,
        RoleOption::Inherit(inherit) => role.inherit = *inherit,
        RoleOption::Password(password) => {
            role.password = password.as_deref().map(verifier).transpose()?;
        }
        RoleOption::ConnectionLimit(limit) => {
            role.connections = match limit {
                ..-1 => {
                    return Err(Error::new(
                        "22023",
                        format!("invalid connection limit: {limit}"),
                    ));
                }
                limit => u32::try_from(*limit).ok(),
            };
        }
        RoleOption::ValidUntil(text) => role.valid_until = moment(text)?,
        RoleOption::InRole(_) | RoleOption::Members(..) | RoleOption::Nothing => {}
    }
    Ok(())
}

/// Microseconds since 1970; `None` for infinity.
fn moment(text: &str) -> Result<Option<i64>> {
    if text.trim().eq_ignore_ascii_case("infinity") {
        return Ok(None);
    }
    let nanos = string_to_timestamp_nanos(text.trim()).map_err(|_| {
        let message = format!("invalid input syntax for type timestamp: \"{text}\"");
        Error::new("22007", message)
    })?;
    Ok(Some(nanos / 1_000))
}

/// Refuses a name that a role cannot have, or another has.
fn free(catalog: &Catalog, name: &str) -> Result<()> {
    if ["public", "none"].contains(&name) || name.starts_with("pg_") || name.is_empty() {
        return Err(reserved(name));
    }
    match catalog.roles().role(name) {
        Some(_) => {
            let message = format!("role \"{name}\" already exists");
            Err(Error::new("42710", message))
        }
        None => Ok(()),
    }
}

/// Refuses to change a role that is in every database.
pub(super) fn changeable(name: &str, role: RoleId) -> Result<()> {
    match role.is_built_in() {
        true => Err(reserved(name)),
        false => Ok(()),
    }
}

fn reserved(name: &str) -> Error {
    Error::new("42939", format!("role name \"{name}\" is reserved"))
}

pub(super) fn unknown_role(name: &str) -> Error {
    Error::new("42704", format!("role \"{name}\" does not exist"))
}
