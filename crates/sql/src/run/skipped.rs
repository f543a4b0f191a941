//! What a statement with IF EXISTS or IF NOT EXISTS will leave undone.

use freestone_storage::Catalog;
use sqlparser::ast::{
    AlterTable, AlterTableOperation, ObjectName, ObjectType, SchemaName, Statement as Ast,
};

use super::declare::constraint_names;
use crate::error::Result;
use crate::names::{Name, fold, schema_name, shown_schema, table_name};
use crate::session::Notice;

/// A notice for each thing that is not there, or there already.
///
/// # Errors
/// Those of names.
pub(super) fn skipped(ast: &Ast, catalog: &Catalog) -> Result<Vec<Notice>> {
    let has_schema = |name: &str| catalog.schemas().any(|known| known == name);
    let there = |name: &ObjectName| -> Result<Vec<Notice>> {
        let name = table_name(name)?;
        let found = is_taken(catalog, &name);
        let text = format!("relation \"{name}\" already exists");
        Ok(Vec::from_iter(
            found.then(|| Notice::skipped("42P07", text)),
        ))
    };
    match ast {
        Ast::Drop {
            object_type,
            if_exists: true,
            names,
            ..
        } => dropped(*object_type, names, catalog),
        Ast::CreateTable(create) if create.if_not_exists => there(&create.name),
        Ast::CreateView(create) if create.if_not_exists => there(&create.name),
        Ast::CreateIndex(create) if create.if_not_exists => match &create.name {
            Some(name) => there(name),
            None => Ok(Vec::new()),
        },
        Ast::CreateSequence {
            name,
            if_not_exists: true,
            ..
        } => there(name),
        Ast::CreateSchema {
            schema_name: SchemaName::Simple(name),
            if_not_exists: true,
            ..
        } => {
            let name = schema_name(name)?;
            let text = format!("schema \"{}\" already exists", shown_schema(&name));
            let found = has_schema(&name).then(|| Notice::skipped("42P06", text));
            Ok(Vec::from_iter(found))
        }
        Ast::AlterTable(alter) if alter.if_exists => {
            let name = table_name(&alter.name)?;
            let table = catalog.table(&name.schema, &name.name);
            if table.is_none() && catalog.view(&name.schema, &name.name).is_none() {
                let text = format!("relation \"{name}\" does not exist");
                return Ok(vec![Notice::skipped("00000", text)]);
            }
            altered(alter, catalog)
        }
        Ast::AlterTable(alter) => altered(alter, catalog),
        _ => Ok(Vec::new()),
    }
}

/// Notices of changes of a table: of columns and constraints that are there, or are not.
fn altered(alter: &AlterTable, catalog: &Catalog) -> Result<Vec<Notice>> {
    let name = table_name(&alter.name)?;
    let Some(table) = catalog.table(&name.schema, &name.name) else {
        return Ok(Vec::new());
    };
    let mut notices = Vec::new();
    for operation in &alter.operations {
        match operation {
            AlterTableOperation::AddColumn {
                if_not_exists: true,
                column_def,
                ..
            } => {
                let column = fold(&column_def.name);
                if table.schema.index_of(&column).is_some() {
                    let text = format!("column \"{column}\" of relation \"{name}\" already exists");
                    notices.push(Notice::skipped("42701", text));
                }
            }
            AlterTableOperation::DropColumn {
                if_exists: true,
                column_names,
                ..
            } => {
                for column in column_names.iter().map(fold) {
                    if table.schema.index_of(&column).is_none() {
                        let text =
                            format!("column \"{column}\" of relation \"{name}\" does not exist");
                        notices.push(Notice::skipped("00000", text));
                    }
                }
            }
            AlterTableOperation::DropConstraint {
                if_exists: true,
                name: constraint,
                ..
            } => {
                let constraint = fold(constraint);
                if !constraint_names(&table.schema).contains(&constraint) {
                    let text = format!(
                        "constraint \"{constraint}\" of relation \"{name}\" does not exist"
                    );
                    notices.push(Notice::skipped("00000", text));
                }
            }
            _ => {}
        }
    }
    Ok(notices)
}

/// Whether a relation of any kind has a name.
pub(super) fn is_taken(catalog: &Catalog, name: &Name) -> bool {
    let (schema, relation) = (&name.schema, &name.name);
    catalog.table(schema, relation).is_some()
        || catalog.view(schema, relation).is_some()
        || catalog.index(schema, relation).is_some()
        || catalog.sequence(schema, relation).is_some()
}

fn dropped(kind: ObjectType, names: &[ObjectName], catalog: &Catalog) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    for written in names {
        let (name, found) = if kind == ObjectType::Schema {
            let name = schema_name(written)?;
            let found = catalog.schemas().any(|known| known == name);
            (name, found)
        } else {
            let name = table_name(written)?;
            let (schema, relation) = (&name.schema, &name.name);
            if !catalog.has_schema(schema) {
                let text = format!("schema \"{}\" does not exist", shown_schema(schema));
                notices.push(Notice::skipped("00000", text));
                continue;
            }
            let found = match kind {
                ObjectType::Table | ObjectType::MaterializedView => {
                    catalog.table(schema, relation).is_some()
                }
                ObjectType::View => catalog.view(schema, relation).is_some(),
                ObjectType::Index => catalog.index(schema, relation).is_some(),
                ObjectType::Sequence => catalog.sequence(schema, relation).is_some(),
                _ => true,
            };
            (name.to_string(), found)
        };
        if !found {
            let kind = kind.to_string().to_lowercase();
            let text = format!("{kind} \"{name}\" does not exist");
            notices.push(Notice::skipped("00000", text));
        }
    }
    Ok(notices)
}
