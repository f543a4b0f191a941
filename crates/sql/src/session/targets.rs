//! The names of what a statement changes, drops, locks or tells of, other than those in its
//! queries.
//!
//! ```text
//! GRANT SELECT ON t TO r              t: any relation
//! ALTER TABLE t DETACH PARTITION p    t, p: relations
//! CREATE TABLE n (LIKE t)             t: a relation; n is new and has no object yet
//! COMMENT ON COLUMN t.c IS 'x'        t: a relation
//! ```
//!
//! Names of new objects are left out, and those of types, which `define::with_types` knows.

use sqlparser::ast::{
    CommentObject, CopySource, Delete, FromTable, ObjectName, ObjectType, Statement as Ast,
    TableFactor, TableObject,
};

use super::path::{foreign_keys, of_column};
use crate::dialect::like_mut;
use crate::error::Result;
use crate::grammar::define::Definition;
use crate::grammar::{Kind, On, OwnStatement, RoleStatement, Utility};
use crate::names::written_name;

/// The kind of object that a name is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Object {
    /// A table or a view.
    Relation,
    Sequence,
    Index,
    /// A table, a view, a sequence or an index.
    Any,
    Function,
    Type,
}

/// Lets the names in a statement of our own be other ones.
///
/// # Errors
/// Syntax errors of names.
pub(super) fn own_renamed(
    own: &mut OwnStatement,
    change: &mut dyn FnMut(&mut ObjectName, Object),
) -> Result<()> {
    match own {
        OwnStatement::Advice(_) => Ok(()),
        OwnStatement::Definition(definition) => definition.renamed(change),
        OwnStatement::Role(statement) => of_roles(statement, change),
        OwnStatement::Utility(utility) => of_utility(utility, change),
    }
}

/// Lets the names be other ones.
pub(super) fn renamed(ast: &mut Ast, change: &mut dyn FnMut(&mut ObjectName, Object)) {
    for key in foreign_keys(ast) {
        change(&mut key.foreign_table, Object::Relation);
    }
    match ast {
        Ast::Insert(insert) => {
            if let TableObject::TableName(name) = &mut insert.table {
                change(name, Object::Relation);
            }
        }
        Ast::Update(update) => factor(&mut update.table.relation, change),
        Ast::Delete(Delete { from, .. }) => {
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = from;
            if let Some(first) = from.first_mut() {
                factor(&mut first.relation, change);
            }
        }
        Ast::Merge(merge) => factor(&mut merge.table, change),
        Ast::Truncate(truncate) => {
            let names = truncate.table_names.iter_mut();
            names.for_each(|target| change(&mut target.name, Object::Relation));
        }
        Ast::Copy {
            source: CopySource::Table { table_name, .. },
            ..
        }
        | Ast::ExplainTable { table_name, .. } => change(table_name, Object::Relation),
        Ast::Lock(lock) => {
            let tables = lock.tables.iter_mut();
            tables.for_each(|one| change(&mut one.name, Object::Relation));
        }
        Ast::Analyze(analyze) => {
            let name = analyze.table_name.iter_mut();
            name.for_each(|name| change(name, Object::Relation));
        }
        Ast::Vacuum(vacuum) => {
            let name = vacuum.table_name.iter_mut();
            name.for_each(|name| change(name, Object::Relation));
        }
        Ast::Comment {
            object_type,
            object_name,
            ..
        } => match object_type {
            CommentObject::Table
            | CommentObject::View
            | CommentObject::Index
            | CommentObject::Sequence => change(object_name, Object::Any),
            // A constraint stands behind its table, as a column does: see `dialect::comment`.
            CommentObject::Column | CommentObject::Domain => {
                of_column(object_name, |table| change(table, Object::Relation));
            }
            _ => {}
        },
        Ast::CreateTable(create) => {
            let parent = create.partition_of.iter_mut();
            parent.for_each(|parent| change(parent, Object::Relation));
            let others = create.columns.iter_mut().filter_map(like_mut);
            others.for_each(|other| change(other, Object::Relation));
        }
        Ast::CreateSequence { owned_by, .. } => {
            let column = owned_by.iter_mut();
            column.for_each(|column| of_column(column, |table| change(table, Object::Relation)));
        }
        Ast::CreateIndex(create) => change(&mut create.table_name, Object::Relation),
        Ast::AlterTable(alter) => change(&mut alter.name, Object::Any),
        Ast::AlterType(alter) => change(&mut alter.name, Object::Type),
        Ast::DropFunction(drop) => {
            let all = drop.func_desc.iter_mut();
            all.for_each(|one| change(&mut one.name, Object::Function));
        }
        Ast::Drop {
            object_type, names, ..
        } => {
            let object = match object_type {
                ObjectType::Table | ObjectType::View | ObjectType::MaterializedView => {
                    Object::Relation
                }
                ObjectType::Sequence => Object::Sequence,
                ObjectType::Index => Object::Index,
                _ => return,
            };
            names.iter_mut().for_each(|name| change(name, object));
        }
        _ => {}
    }
}

fn factor(factor: &mut TableFactor, change: &mut dyn FnMut(&mut ObjectName, Object)) {
    if let TableFactor::Table {
        name, args: None, ..
    } = factor
    {
        change(name, Object::Relation);
    }
}

/// Lets a name that is written as in SQL be another one.
fn written(
    text: &mut String,
    object: Object,
    change: &mut dyn FnMut(&mut ObjectName, Object),
) -> Result<()> {
    let mut name = written_name(text)?;
    change(&mut name, object);
    *text = name.to_string();
    Ok(())
}

impl Definition {
    fn renamed(&mut self, change: &mut dyn FnMut(&mut ObjectName, Object)) -> Result<()> {
        for column in self.owners_mut() {
            let mut name = written_name(column)?;
            of_column(&mut name, |table| change(table, Object::Relation));
            *column = name.to_string();
        }
        match self {
            Self::AlterTable { name, .. }
            | Self::Refresh { name, .. }
            | Self::AlterMaterialized { name, .. }
            | Self::AlterSequence { name, .. }
            | Self::RenameIndex { name, .. } => written(name, Object::Any, change),
            Self::AlterFunction { name, .. } => written(name, Object::Function, change),
            Self::Partition {
                parent, partition, ..
            } => {
                written(parent, Object::Relation, change)?;
                written(partition, Object::Relation, change)
            }
            _ => Ok(()),
        }
    }
}

fn of_roles(
    statement: &mut RoleStatement,
    change: &mut dyn FnMut(&mut ObjectName, Object),
) -> Result<()> {
    let (kind, names) = match statement {
        RoleStatement::Privileges {
            on: On::Named(kind, names),
            ..
        } => (*kind, names.as_mut_slice()),
        RoleStatement::Owner { kind, name, .. } => (*kind, std::slice::from_mut(name)),
        _ => return Ok(()),
    };
    let object = match kind {
        Kind::Table => Object::Any,
        Kind::View => Object::Relation,
        Kind::Sequence => Object::Sequence,
        Kind::Type => Object::Type,
        Kind::Schema => return Ok(()),
    };
    let mut names = names.iter_mut();
    names.try_for_each(|name| written(name, object, change))
}

fn of_utility(
    utility: &mut Utility,
    change: &mut dyn FnMut(&mut ObjectName, Object),
) -> Result<()> {
    match utility {
        Utility::Reindex {
            kind,
            name: Some(name),
            ..
        } => match kind.as_str() {
            "TABLE" => written(name, Object::Relation, change),
            "INDEX" => written(name, Object::Index, change),
            _ => Ok(()),
        },
        // The index is one of the table's schema.
        Utility::Cluster {
            table: Some(table), ..
        } => written(table, Object::Relation, change),
        _ => Ok(()),
    }
}
