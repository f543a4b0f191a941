//! What statements need that make, change and remove tables, views, schemas and the rest:
//! CREATE on the schema for what is made, to own what is changed.

use freestone_storage::{Catalog, Object, Privileges};
use sqlparser::ast::{
    AlterTable, AlterTableOperation, ColumnDef, ColumnOption, CreateTable, CreateView,
    ForeignKeyConstraint, ObjectName, ObjectType, Statement as Ast, TableConstraint,
};

use super::asked::{Asked, listed_idents};
use super::commented;
use crate::error::Result;
use crate::names::{schema_name, shown_schema, table_name};
use crate::rights::Rights;

/// Refuses a statement that rights do not reach for.
pub(super) fn check(rights: &Rights, catalog: &Catalog, ast: &Ast) -> Result<()> {
    match ast {
        Ast::CreateTable(create) => table(rights, catalog, create),
        Ast::CreateView(view) => create_view(rights, catalog, view),
        Ast::CreateIndex(create) => owned_table(rights, catalog, &create.table_name),
        Ast::CreateSequence { name, .. } => made_in(rights, catalog, name),
        Ast::CreateFunction(create) => made_in(rights, catalog, &create.name),
        Ast::DropFunction(drop) => {
            let mut all = drop.func_desc.iter();
            all.try_for_each(|one| made_in(rights, catalog, &one.name))
        }
        Ast::Comment {
            object_type,
            object_name,
            ..
        } => match commented(catalog, *object_type, object_name)? {
            Some(table) => rights.owner("table", &table.name, &table.id.into()),
            None => Ok(()),
        },
        // Who owns a type is looked at where it is changed.
        Ast::CreateType { name, .. } => made_in(rights, catalog, name),
        Ast::AlterType(_) => Ok(()),
        Ast::AlterTable(alter) => alter_table(rights, catalog, alter),
        Ast::Drop {
            object_type, names, ..
        } => {
            let mut names = names.iter();
            names.try_for_each(|name| dropped(rights, catalog, object_type, name))
        }
        Ast::Vacuum(vacuum) => match &vacuum.table_name {
            Some(name) => owned_table(rights, catalog, name),
            None => rights.superuser("VACUUM all tables"),
        },
        Ast::CreateSchema { .. } => rights.superuser("create schemas"),
        _ => rights.superuser("do this"),
    }
}

/// To make something of that name.
fn made_in(rights: &Rights, catalog: &Catalog, written: &ObjectName) -> Result<()> {
    let name = table_name(written)?;
    match catalog.has_schema(&name.schema) {
        true => rights.schema(&name.schema, Privileges::CREATE),
        false => Ok(()),
    }
}

/// To change a table as only its owner may; what is no table is told later.
pub(super) fn owned_table(rights: &Rights, catalog: &Catalog, written: &ObjectName) -> Result<()> {
    let name = table_name(written)?;
    rights.use_schema(catalog, &name.schema)?;
    match catalog.table(&name.schema, &name.name) {
        Some(table) => rights.owner("table", &name.name, &table.id.into()),
        None => Ok(()),
    }
}

fn table(rights: &Rights, catalog: &Catalog, create: &CreateTable) -> Result<()> {
    made_in(rights, catalog, &create.name)?;
    if create.or_replace {
        owned_table(rights, catalog, &create.name)?;
    }
    if let Some(other) = &create.clone {
        rights.on_table(catalog, other, Privileges::SELECT)?;
    }
    let mut columns = create.columns.iter();
    columns.try_for_each(|column| referring_column(rights, catalog, column, &create.name))?;
    let mut constraints = create.constraints.iter();
    constraints.try_for_each(|one| constraint(rights, catalog, one, &create.name))
}

fn create_view(rights: &Rights, catalog: &Catalog, view: &CreateView) -> Result<()> {
    made_in(rights, catalog, &view.name)?;
    let name = table_name(&view.name)?;
    match catalog.view(&name.schema, &name.name) {
        Some(_) if view.or_replace => {
            let object = Object::view(&name.schema, &name.name);
            rights.owner("view", &name.name, &object)
        }
        _ => Ok(()),
    }
}

fn alter_table(rights: &Rights, catalog: &Catalog, alter: &AlterTable) -> Result<()> {
    owned_table(rights, catalog, &alter.name)?;
    let name = table_name(&alter.name)?;
    if catalog.view(&name.schema, &name.name).is_some() {
        rights.owner("view", &name.name, &Object::view(&name.schema, &name.name))?;
    }
    for operation in &alter.operations {
        match operation {
            AlterTableOperation::AddColumn { column_def, .. } => {
                referring_column(rights, catalog, column_def, &alter.name)?;
            }
            AlterTableOperation::AddConstraint {
                constraint: one, ..
            } => {
                constraint(rights, catalog, one, &alter.name)?;
            }
            AlterTableOperation::RenameTable { .. } => made_in(rights, catalog, &alter.name)?,
            _ => {}
        }
    }
    Ok(())
}

fn constraint(
    rights: &Rights,
    catalog: &Catalog,
    constraint: &TableConstraint,
    own: &ObjectName,
) -> Result<()> {
    match constraint {
        TableConstraint::ForeignKey(key) => reference(rights, catalog, key, own),
        _ => Ok(()),
    }
}

fn referring_column(
    rights: &Rights,
    catalog: &Catalog,
    column: &ColumnDef,
    own: &ObjectName,
) -> Result<()> {
    let mut options = column.options.iter();
    options.try_for_each(|option| match &option.option {
        ColumnOption::ForeignKey(key) => reference(rights, catalog, key, own),
        _ => Ok(()),
    })
}

/// To refer to another table.
fn reference(
    rights: &Rights,
    catalog: &Catalog,
    key: &ForeignKeyConstraint,
    own: &ObjectName,
) -> Result<()> {
    let (parent, own) = (table_name(&key.foreign_table)?, table_name(own)?);
    if (&parent.schema, &parent.name) == (&own.schema, &own.name) {
        return Ok(());
    }
    // Without columns those of the other table's key are meant.
    let asked = Asked::default().on(Privileges::REFERENCES, listed_idents(&key.referred_columns));
    rights.on_table(catalog, &key.foreign_table, asked)
}

/// To remove something: who owns it may, and who owns its schema.
fn dropped(
    rights: &Rights,
    catalog: &Catalog,
    kind: &ObjectType,
    written: &ObjectName,
) -> Result<()> {
    if *kind == ObjectType::Schema {
        let name = schema_name(written)?;
        let object = Object::schema(&name);
        return match catalog.has_schema(&name) {
            true => rights.owner("schema", shown_schema(&name), &object),
            false => Ok(()),
        };
    }
    let name = table_name(written)?;
    rights.use_schema(catalog, &name.schema)?;
    let (schema, called) = (&name.schema, &name.name);
    let (word, object): (&str, Option<Object>) = match kind {
        ObjectType::Table | ObjectType::MaterializedView => (
            "table",
            catalog.table(schema, called).map(|table| table.id.into()),
        ),
        ObjectType::View => (
            "view",
            catalog
                .view(schema, called)
                .map(|_| Object::view(schema, called)),
        ),
        ObjectType::Sequence => (
            "sequence",
            catalog
                .sequence(schema, called)
                .map(|sequence| sequence.id.into()),
        ),
        ObjectType::Index => (
            "index",
            catalog
                .index(schema, called)
                .map(|(table, _)| table.id.into()),
        ),
        _ => return rights.superuser("drop this"),
    };
    let Some(object) = object else {
        return Ok(());
    };
    if catalog.has_schema(schema) && rights.owns(&Object::schema(schema)) {
        return Ok(());
    }
    rights.owner(word, called, &object)
}
