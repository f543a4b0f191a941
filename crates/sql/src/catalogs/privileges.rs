//! `information_schema.table_privileges`, `role_table_grants` and `enabled_roles`.

use arrow::array::RecordBatch;
use freestone_storage::{Object, Privileges, RoleId};

use crate::error::Result;
use crate::names::CATALOG;
use crate::relations::Relations;
use crate::rows::{Values, batch};

/// The table of that name, if it is one of these.
pub(super) fn table(relations: &Relations<'_>, name: &str) -> Result<Option<RecordBatch>> {
    Ok(Some(match name {
        "table_privileges" | "role_table_grants" => grants(relations)?,
        "enabled_roles" => enabled(relations)?,
        "applicable_roles" => applicable(relations)?,
        _ => return Ok(None),
    }))
}

fn texts(values: impl Iterator<Item = String>) -> Values {
    Values::Text(values.map(Some).collect())
}

/// What was granted on tables and views, to whom the session is or by whom it is.
fn grants(relations: &Relations<'_>) -> Result<RecordBatch> {
    let rights = relations.own_rights();
    let roles = relations.snapshot.roles();
    let mut rows: Vec<[String; 7]> = Vec::new();
    let name = |role: RoleId| match role {
        RoleId::PUBLIC => "PUBLIC".to_owned(),
        role => roles.name(role).unwrap_or_default().to_owned(),
    };
    let catalog = relations.snapshot.catalog();
    for schema in catalog.schemas() {
        let tables = catalog.tables(schema).into_iter();
        let tables = tables.map(|table| (table.name.clone(), Object::from(table.id)));
        let views = catalog.views(schema).into_iter();
        let views = views.map(|view| (view.name.clone(), Object::view(schema, &view.name)));
        for (table, object) in tables.chain(views) {
            let access = roles.access(&object);
            let own = (access.owner, Privileges::OF_TABLES);
            let owns = rights.holds(access.owner);
            for (role, privileges) in std::iter::once(own).chain(access.grants) {
                if !owns && role != RoleId::PUBLIC && !rights.holds(role) {
                    continue;
                }
                // All rights on a table are one more in PostgreSQL.
                let all = privileges.contains(Privileges::OF_TABLES);
                for privilege in privileges.names().chain(all.then_some("TRIGGER")) {
                    rows.push([
                        name(access.owner),
                        name(role),
                        schema.to_owned(),
                        table.clone(),
                        privilege.to_owned(),
                        if role == access.owner { "YES" } else { "NO" }.to_owned(),
                        if privilege == "SELECT" { "YES" } else { "NO" }.to_owned(),
                    ]);
                }
            }
        }
    }
    let column = |place: usize| texts(rows.iter().map(|row| row[place].clone()));
    batch(vec![
        ("grantor", column(0)),
        ("grantee", column(1)),
        (
            "table_catalog",
            texts(rows.iter().map(|_| CATALOG.to_owned())),
        ),
        ("table_schema", column(2)),
        ("table_name", column(3)),
        ("privilege_type", column(4)),
        ("is_grantable", column(5)),
        ("with_hierarchy", column(6)),
    ])
}

/// Memberships of the roles that the session is.
fn applicable(relations: &Relations<'_>) -> Result<RecordBatch> {
    let rights = relations.own_rights();
    let roles = relations.snapshot.roles();
    let mut rows: Vec<[String; 3]> = Vec::new();
    for (name, role) in roles
        .all()
        .into_iter()
        .filter(|(_, role)| rights.holds(role.id))
    {
        for (group, admin) in &role.member_of {
            let group = roles.name(*group).unwrap_or_default().to_owned();
            let admin = if *admin { "YES" } else { "NO" };
            rows.push([name.clone(), group, admin.to_owned()]);
        }
    }
    let column = |place: usize| texts(rows.iter().map(|row| row[place].clone()));
    batch(vec![
        ("grantee", column(0)),
        ("role_name", column(1)),
        ("is_grantable", column(2)),
    ])
}

/// The roles that the session is.
fn enabled(relations: &Relations<'_>) -> Result<RecordBatch> {
    let rights = relations.own_rights();
    let all = relations.snapshot.roles().all().into_iter();
    let mine = all.filter(|(_, role)| rights.holds(role.id));
    batch(vec![("role_name", texts(mine.map(|(name, _)| name)))])
}
