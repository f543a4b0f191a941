//! GRANT, REVOKE, ALTER … OWNER TO, REASSIGN OWNED and DROP OWNED.

use std::collections::HashMap;

use freestone_storage::{Catalog, CatalogEdit, Object, Privileges, RoleId};

use super::Run;
use super::granted::{Found, find, objects, schema_of, with_sequences};
use super::role::changeable;
use crate::error::{Error, Result};
use crate::front::columns_of_view;
use crate::grammar::{GrantedPrivilege, Kind, On, RoleName, RoleStatement};
use crate::outcome::Outcome;
use crate::relations::Relations;
use crate::rights::{Rights, Who, denied};

impl Run<'_> {
    pub(super) fn grant_statement(&self, statement: &RoleStatement) -> Result<Outcome> {
        let tag = match statement {
            RoleStatement::Privileges {
                grant,
                privileges,
                on,
                roles,
            } => {
                let of_columns = privileges.iter().any(|one| !one.columns.is_empty());
                let mut columns = HashMap::new();
                if of_columns {
                    for found in objects(self.snapshot.catalog(), on)? {
                        columns.insert(found.object.clone(), self.columns_of(&found)?);
                    }
                }
                self.edit(|edit| self.grant(edit, *grant, (privileges, on, &columns), roles))?;
                if *grant { "GRANT" } else { "REVOKE" }
            }
            RoleStatement::Membership {
                grant, of_group, ..
            } => {
                self.edit(|edit| self.membership(edit, statement))?;
                match (of_group, grant) {
                    (true, _) => "ALTER ROLE",
                    (false, true) => "GRANT ROLE",
                    (false, false) => "REVOKE ROLE",
                }
            }
            RoleStatement::Owner {
                kind,
                name,
                if_exists,
                to,
            } => {
                self.edit(|edit| self.give(edit, (*kind, name, *if_exists), to))?;
                match kind {
                    Kind::Table => "ALTER TABLE",
                    Kind::View => "ALTER VIEW",
                    Kind::Sequence => "ALTER SEQUENCE",
                    Kind::Schema => "ALTER SCHEMA",
                    Kind::Type => "ALTER TYPE",
                }
            }
            RoleStatement::Reassign { from, to } => {
                self.edit(|edit| self.reassign(edit, from, to))?;
                "REASSIGN OWNED"
            }
            RoleStatement::DropOwned { by } => {
                self.edit(|edit| self.drop_owned(edit, by))?;
                "DROP OWNED"
            }
            _ => return Err(Error::internal("no statement about rights")),
        };
        Ok(Outcome::done(tag))
    }

    fn grant(
        &self,
        edit: &mut CatalogEdit,
        grant: bool,
        (privileges, on, columns): (&[GrantedPrivilege], &On, &HashMap<Object, Vec<String>>),
        roles: &[RoleName],
    ) -> Result<()> {
        let catalog = edit.catalog();
        let rights = self.rights(catalog);
        let mut ids = Vec::new();
        for role in roles {
            ids.push(match role {
                RoleName::Public => RoleId::PUBLIC,
                other => self.role(catalog, other)?.1.id,
            });
        }
        for found in objects(catalog, on)? {
            if !rights.owns(&found.object) {
                return Err(denied(found.word(), &found.name));
            }
            let columns = columns.get(&found.object).map_or(&[][..], Vec::as_slice);
            let asked = found.privileges(columns, privileges)?;
            let mut access = edit.catalog().roles().access(&found.object);
            for ((asked, column), role) in asked
                .iter()
                .flat_map(|asked| ids.iter().map(move |role| (asked, *role)))
            {
                match (grant, column) {
                    (true, None) => access.grant(role, *asked),
                    (false, None) => access.revoke(role, *asked),
                    (true, Some(column)) => access.grant_column(column, role, *asked),
                    (false, Some(column)) => access.revoke_column(column, role, *asked),
                }
            }
            edit.roles_mut().set_access(found.object, access);
        }
        Ok(())
    }

    /// The columns of a table or view.
    fn columns_of(&self, found: &Found) -> Result<Vec<String>> {
        Ok(match &found.object {
            Object::Table(id) => {
                let table = self.snapshot.table_by_id(*id);
                let columns = table.iter().flat_map(|table| table.schema.declared());
                columns.map(|column| column.name.clone()).collect()
            }
            Object::View(schema, name) => {
                let relations = Relations::new(self.state(), self.snapshot.clone());
                let columns = columns_of_view(&relations, schema, name)?;
                columns.into_iter().map(|(name, _)| name).collect()
            }
            _ => Vec::new(),
        })
    }

    fn membership(&self, edit: &mut CatalogEdit, statement: &RoleStatement) -> Result<()> {
        let RoleStatement::Membership {
            grant,
            roles,
            members,
            admin,
            only_option,
            of_group: _,
        } = statement
        else {
            return Err(Error::internal("no membership"));
        };
        for role in roles {
            let (name, role) = self.role(edit.catalog(), role)?;
            self.may_admit(edit.catalog(), &name, role.id)?;
            for member in members {
                if *grant {
                    self.add_member(edit, role.id, member, *admin)?;
                    continue;
                }
                let (member, mut known) = self.role(edit.catalog(), member)?;
                match only_option {
                    true => {
                        if let Some(admin) = known.member_of.get_mut(&role.id) {
                            *admin = false;
                        }
                    }
                    false => drop(known.member_of.remove(&role.id)),
                }
                edit.roles_mut().put(&member, known);
            }
        }
        Ok(())
    }

    /// Refuses to add members to a role, or take them from it.
    fn may_admit(&self, catalog: &Catalog, name: &str, role: RoleId) -> Result<()> {
        let rights = self.rights(catalog);
        let known = catalog.roles().role_by_id(role);
        let superuser = known.is_some_and(|role| role.superuser);
        let admin = match self.identity().current() {
            Who::Anybody(_) => true,
            Who::Role(own) => catalog.roles().administers(own, role),
        };
        match rights.is_superuser() || (admin && !superuser) {
            true => Ok(()),
            false => {
                let message = format!("must have admin option on role \"{name}\"");
                Err(Error::new("42501", message))
            }
        }
    }

    /// Makes a role a member of another.
    pub(super) fn add_member(
        &self,
        edit: &mut CatalogEdit,
        role: RoleId,
        member: &RoleName,
        admin: bool,
    ) -> Result<()> {
        let catalog = edit.catalog();
        let (name, mut known) = self.role(catalog, member)?;
        changeable(&name, known.id)?;
        if catalog.roles().held(role, false).contains(&known.id) {
            let of = catalog.roles().name(role).unwrap_or_default();
            let message =
                format!("role \"{name}\" cannot be a member of role \"{of}\": it would be its own");
            return Err(Error::new("0LP01", message));
        }
        let had = known.member_of.get(&role).copied().unwrap_or(false);
        known.member_of.insert(role, admin || had);
        edit.roles_mut().put(&name, known);
        Ok(())
    }

    /// ALTER … OWNER TO.
    fn give(
        &self,
        edit: &mut CatalogEdit,
        (kind, name, if_exists): (Kind, &str, bool),
        to: &RoleName,
    ) -> Result<()> {
        let catalog = edit.catalog();
        let found = match find(catalog, kind, name) {
            Err(error) if if_exists && error.sqlstate == "42P01" => return Ok(()),
            found => found?,
        };
        let (to_name, to) = self.role(catalog, to)?;
        let rights = self.rights(catalog);
        rights.owner(found.word(), &found.name, &found.object)?;
        if !rights.holds(to.id) {
            let message = format!("must be member of role \"{to_name}\"");
            return Err(Error::new("42501", message));
        }
        if !rights.is_superuser()
            && kind != Kind::Schema
            && let Some(schema) = schema_of(catalog, &found.object)
        {
            Rights::of_role(catalog, to.id).schema(&schema, Privileges::CREATE)?;
        }
        for object in with_sequences(catalog, found.object) {
            own(edit, object, to.id);
        }
        Ok(())
    }

    fn reassign(&self, edit: &mut CatalogEdit, from: &[RoleName], to: &RoleName) -> Result<()> {
        let to = self.role(edit.catalog(), to)?.1.id;
        let rights = self.rights(edit.catalog());
        for role in from {
            let (name, role) = self.role(edit.catalog(), role)?;
            if !(rights.holds(role.id) && rights.holds(to)) {
                let message = format!("permission denied to reassign objects of \"{name}\"");
                return Err(Error::new("42501", message));
            }
            changeable(&name, role.id)?;
            let owned = edit.catalog().roles().objects();
            let owned = owned.filter(|(_, access)| access.owner == role.id);
            let owned: Vec<Object> = owned.map(|(object, _)| object.clone()).collect();
            owned.into_iter().for_each(|object| own(edit, object, to));
        }
        Ok(())
    }

    /// Takes back what roles were granted; what they own has to go to others before.
    fn drop_owned(&self, edit: &mut CatalogEdit, by: &[RoleName]) -> Result<()> {
        for role in by {
            let (name, role) = self.role(edit.catalog(), role)?;
            let rights = self.rights(edit.catalog());
            if !rights.holds(role.id) {
                let message = format!("permission denied to drop objects of \"{name}\"");
                return Err(Error::new("42501", message));
            }
            changeable(&name, role.id)?;
            let all = edit.catalog().roles().objects();
            let all: Vec<Object> = all.map(|(object, _)| object.clone()).collect();
            for object in all {
                let mut access = edit.catalog().roles().access(&object);
                if access.owner == role.id {
                    let message = format!("role \"{name}\" owns objects, which are not dropped");
                    return Err(Error::unsupported(message)
                        .with_hint("REASSIGN OWNED gives them to another role"));
                }
                if access.revoke_all(role.id) {
                    edit.roles_mut().set_access(object, access);
                }
            }
        }
        Ok(())
    }
}

fn own(edit: &mut CatalogEdit, object: Object, owner: RoleId) {
    let mut access = edit.catalog().roles().access(&object);
    access.owner = owner;
    edit.roles_mut().set_access(object, access);
}
