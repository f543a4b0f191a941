//! Roles, memberships, owners and grants.

use std::collections::BTreeMap;

use freestone_storage::{Access, Catalog, FIRST_ROLE, Object, Privileges, Role, RoleId, Roles};

use super::facts::{Fact, Facts};
use crate::error::Result;
use crate::names::{DEFAULT_SCHEMA, INFORMATION_SCHEMA, PG_CATALOG, PG_TOAST};
use crate::oids::{INFORMATION, SEQUENCES, SYSTEM, TOAST, VIEWS, numbered_schema, table_number};
use crate::relations::Relations;

/// What clients see of a password.
const HIDDEN: &str = "********";

/// Fills one of the tables about roles; whether it is one.
///
/// # Errors
/// `42501` of those with passwords.
pub(super) fn fill(relations: &Relations<'_>, name: &str, facts: &mut Facts) -> Result<bool> {
    match name {
        "pg_roles" => {
            for (name, role) in relations.snapshot.roles().all() {
                add_role(facts, &name, &role);
            }
        }
        "pg_authid" => {
            relations.rights().superuser("read pg_authid")?;
            for (name, role) in relations.snapshot.roles().all() {
                add_role(facts, &name, &role);
            }
        }
        "pg_shadow" => {
            relations.rights().superuser("read pg_shadow")?;
            for (name, role) in relations.snapshot.roles().all() {
                if role.login {
                    add_user(facts, &name, &role);
                }
            }
        }
        "pg_user" => {
            let all = relations.snapshot.roles().all();
            for (name, role) in all.into_iter().filter(|(_, role)| role.login) {
                add_user(facts, &name, &role);
                facts.also("passwd", HIDDEN.into());
            }
        }
        "pg_group" => {
            let all = relations.snapshot.roles().all();
            for (name, group) in all.iter().filter(|(_, role)| !role.login) {
                let members = all.values();
                let members = members.filter(|role| role.member_of.contains_key(&group.id));
                let members: Vec<i64> = members.map(|role| number(role.id)).collect();
                facts.add([
                    ("groname", name.as_str().into()),
                    ("grosysid", number(group.id).into()),
                    ("grolist", members.into()),
                ]);
            }
        }
        "pg_auth_members" => {
            for (_, role) in relations.snapshot.roles().all() {
                for (group, admin) in &role.member_of {
                    facts.add([
                        ("roleid", number(*group).into()),
                        ("member", number(role.id).into()),
                        ("grantor", super::objects::OWNER.into()),
                        ("admin_option", (*admin).into()),
                    ]);
                }
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// A role with its attributes. The first one may do everything by name, others that are
/// superusers may do it, too, as in PostgreSQL.
fn add_role(facts: &mut Facts, name: &str, role: &Role) {
    let is_first = role.id == FIRST_ROLE;
    facts.add([
        ("oid", number(role.id).into()),
        ("rolname", name.into()),
        ("rolsuper", role.superuser.into()),
        ("rolinherit", role.inherit.into()),
        ("rolcreaterole", is_first.into()),
        ("rolcreatedb", is_first.into()),
        ("rolcanlogin", role.login.into()),
        (
            "rolconnlimit",
            role.connections.map_or(-1, i64::from).into(),
        ),
        ("rolvaliduntil", until(role)),
        ("rolbypassrls", is_first.into()),
    ]);
}

/// A role that may connect.
fn add_user(facts: &mut Facts, name: &str, role: &Role) {
    let is_first = role.id == FIRST_ROLE;
    facts.add([
        ("usename", name.into()),
        ("usesysid", number(role.id).into()),
        ("usesuper", role.superuser.into()),
        ("usecreatedb", is_first.into()),
        ("usebypassrls", is_first.into()),
        ("valuntil", until(role)),
    ]);
}

/// Until when a password is good.
fn until(role: &Role) -> Fact {
    role.valid_until.map_or(Fact::Null, Fact::Number)
}

/// A role's number.
pub(crate) fn number(role: RoleId) -> i64 {
    i64::try_from(role.0).unwrap_or(i64::MAX)
}

/// The number of an object's owner.
pub(super) fn owner(relations: &Relations<'_>, object: &Object) -> i64 {
    number(relations.snapshot.roles().access(object).owner)
}

/// The name of an object's owner.
pub(super) fn owner_name(relations: &Relations<'_>, object: &Object) -> String {
    let roles = relations.snapshot.roles();
    let owner = roles.access(object).owner;
    roles.name(owner).unwrap_or_default().to_owned()
}

/// Owner and grants of an object as PostgreSQL writes them: `owner=arwdDx/owner`; nothing if
/// they are those by default.
pub(super) fn grants(relations: &Relations<'_>, object: &Object) -> Vec<String> {
    let roles = relations.snapshot.roles();
    let access = roles.access(object);
    let public = *object == Object::schema(DEFAULT_SCHEMA);
    // Grants on columns alone are told with these.
    let whole = Access {
        columns: BTreeMap::new(),
        ..access.clone()
    };
    if whole == Access::by_default(object) && !public {
        return Vec::new();
    }
    let all = match object {
        Object::Schema(_) | Object::Type(_) => Privileges::OF_SCHEMAS,
        Object::Sequence(_) => Privileges::OF_SEQUENCES,
        Object::Table(_) | Object::View(..) => Privileges::OF_TABLES,
    };
    let name = |id: RoleId| roles.name(id).unwrap_or_default().to_owned();
    let owner = name(access.owner);
    // All rights on a table are one more in PostgreSQL: that to make triggers.
    let shown = |privileges: Privileges| match privileges == Privileges::OF_TABLES {
        true => format!("{privileges}t"),
        false => privileges.to_string(),
    };
    let own = format!("{owner}={}/{owner}", shown(all));
    let others = access
        .grants
        .iter()
        .map(|(role, privileges)| format!("{}={}/{owner}", name(*role), shown(*privileges)));
    std::iter::once(own).chain(others).collect()
}

/// The rights on a column of an object, as `attacl` has them.
pub(super) fn column_grants(access: &Access, roles: &Roles, column: &str) -> Vec<String> {
    let name = |id: RoleId| roles.name(id).unwrap_or_default().to_owned();
    let owner = name(access.owner);
    let grants = access.columns.get(column);
    let grants = grants.into_iter().flatten();
    let shown = grants.map(|(role, privileges)| format!("{}={privileges}/{owner}", name(*role)));
    shown.collect()
}

/// The object of a number in `pg_class`.
pub(crate) fn object_numbered(catalog: &Catalog, number: i64) -> Option<Object> {
    if number >= SEQUENCES {
        let place = usize::try_from(number - SEQUENCES).ok()?;
        let (_, sequence) = catalog.all_sequences().nth(place)?;
        return Some(sequence.id.into());
    }
    if number < VIEWS {
        let mut tables = catalog.all_tables();
        let table = tables.find(|(_, table)| table_number(table) == number);
        return table.map(|(_, table)| table.id.into());
    }
    // Views are numbered by their places among tables and views.
    let mut place = VIEWS;
    for schema in catalog.schemas() {
        place += catalog.tables(schema).len() as i64;
        for view in catalog.views(schema) {
            if place == number {
                return Some(Object::view(schema, &view.name));
            }
            place += 1;
        }
    }
    None
}

/// The schema of a number in `pg_namespace`.
pub(crate) fn schema_numbered(catalog: &Catalog, number: i64) -> Option<Object> {
    let mut schemas = catalog.schemas();
    let found = schemas.find(|name| numbered_schema(catalog, name) == number);
    found.map(Object::schema)
}

/// The name of a schema of the catalog itself by its number.
pub(crate) fn system_schema(number: i64) -> Option<&'static str> {
    match number {
        SYSTEM => Some(PG_CATALOG),
        INFORMATION => Some(INFORMATION_SCHEMA),
        TOAST => Some(PG_TOAST),
        _ => None,
    }
}
