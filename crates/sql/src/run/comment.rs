//! COMMENT ON tables, columns, constraints and indexes.

use freestone_storage::Table;
use sqlparser::ast::{CommentObject, ObjectName, Statement as Ast};

use super::Run;
use super::redeclare::place;
use crate::error::{Error, Result};
use crate::names::{fold, table_name};
use crate::outcome::Outcome;
use crate::permissions::{CONSTRAINT, commented, part_of_table};
use crate::relations::unknown_table;

/// What a comment is about.
enum Subject {
    Table,
    Column(usize),
    Constraint(String),
    Index(u32),
}

impl Run<'_> {
    pub(super) fn comment(&self, ast: &Ast) -> Result<Outcome> {
        let Ast::Comment {
            object_type,
            object_name,
            comment,
            if_exists,
        } = ast
        else {
            return Err(super::refused(ast));
        };
        let catalog = self.snapshot.catalog();
        let Some(table) = commented(catalog, *object_type, object_name)? else {
            return match if_exists {
                true => Ok(Outcome::done("COMMENT")),
                false => Err(self.missing(*object_type, object_name)?),
            };
        };
        let subject = subject(table, *object_type, object_name)?;
        // An empty text takes the comment away, as NULL does.
        let text = comment.clone().filter(|text| !text.is_empty());
        self.edit(|edit| {
            Ok(edit.comment(table.id, |comments| {
                let before = match (subject, text) {
                    (Subject::Table, text) => std::mem::replace(&mut comments.table, text),
                    (Subject::Column(at), Some(text)) => comments.columns.insert(at, text),
                    (Subject::Column(at), None) => comments.columns.remove(&at),
                    (Subject::Constraint(name), Some(text)) => {
                        comments.constraints.insert(name, text)
                    }
                    (Subject::Constraint(name), None) => comments.constraints.remove(&name),
                    (Subject::Index(number), Some(text)) => comments.indexes.insert(number, text),
                    (Subject::Index(number), None) => comments.indexes.remove(&number),
                };
                drop(before);
            })?)
        })?;
        Ok(Outcome::done("COMMENT"))
    }

    fn missing(&self, kind: CommentObject, written: &ObjectName) -> Result<Error> {
        let name = match kind {
            CommentObject::Index => {
                let name = table_name(written)?;
                let message = format!("index \"{name}\" does not exist");
                return Ok(Error::new("42704", message).at(name.position));
            }
            CommentObject::Table => table_name(written)?,
            _ => part_of_table(written)?.0,
        };
        Ok(unknown_table(&self.snapshot, &name))
    }
}

fn subject(table: &Table, kind: CommentObject, written: &ObjectName) -> Result<Subject> {
    match kind {
        CommentObject::Column => {
            let column = part_of_table(written)?.1;
            Ok(Subject::Column(place(table, &column)?))
        }
        CONSTRAINT => {
            let constraint = fold(&part_of_table(written)?.1);
            if table.schema.has_constraint(&constraint) {
                return Ok(Subject::Constraint(constraint));
            }
            let message = format!(
                "constraint \"{constraint}\" of relation \"{}\" does not exist",
                table.name
            );
            Err(Error::new("42704", message))
        }
        CommentObject::Index => {
            let name = table_name(written)?.name;
            let mut indexes = table.schema.indexes.iter();
            let index = indexes.find(|index| index.name == name);
            let index = index.ok_or_else(|| Error::internal("an index without a table"))?;
            Ok(Subject::Index(index.number))
        }
        _ => Ok(Subject::Table),
    }
}
