//! CREATE SEQUENCE and DROP SEQUENCE, and the options of sequences.

use freestone_storage::{CatalogEdit, ColumnType, SequenceDefinition};
use sqlparser::ast::{Expr, ObjectName, SequenceOptions, Statement as Ast, UnaryOperator};

use super::Run;
use super::alter_sequence::owner;
use super::skipped::is_taken;
use crate::dialect::sequence_name;
use crate::error::{Error, Result};
use crate::functions::sequences::no_sequence;
use crate::names::table_name;
use crate::outcome::Outcome;
use crate::temporary::users;
use crate::types::column_type;

impl Run<'_> {
    pub(super) fn create_sequence(&self, ast: &Ast) -> Result<Outcome> {
        let Ast::CreateSequence {
            temporary: _,
            if_not_exists,
            name,
            data_type,
            sequence_options,
            owned_by,
        } = ast
        else {
            return Err(super::refused(ast));
        };
        let nobody = |owner: &&ObjectName| owner.to_string().eq_ignore_ascii_case("none");
        let owned_by = owned_by.as_ref().filter(|owner| !nobody(owner));
        let owned_by = owned_by.map(ToString::to_string);
        let name = table_name(name)?;
        let kind = match data_type {
            Some(kind) => column_type(kind)?,
            None => ColumnType::BigInt,
        };
        let mut definition = definition(kind, sequence_options)?;
        self.edit(|edit| {
            self.has_schema(edit, &name)?;
            if *if_not_exists && is_taken(edit.catalog(), &name) {
                return Ok(());
            }
            if let Some(column) = &owned_by {
                definition.owner = Some(owner(edit.catalog(), &name.schema, column)?);
            }
            edit.create_sequence(&name.schema, &name.name, definition)?;
            Ok(())
        })?;
        Ok(Outcome::done("CREATE SEQUENCE"))
    }
}

/// Drops a sequence; with `cascade` also the defaults that take its numbers.
pub(super) fn drop_sequence(
    edit: &mut CatalogEdit,
    written: &ObjectName,
    if_exists: bool,
    cascade: bool,
) -> Result<()> {
    let name = table_name(written)?;
    if edit.catalog().sequence(&name.schema, &name.name).is_none() {
        match no_sequence(edit.catalog(), &name) {
            missing if missing.sqlstate == "42P01" && if_exists => return Ok(()),
            error => return Err(error),
        }
    }
    for (table, column, described) in users(edit, &name) {
        if !cascade {
            let message = format!("cannot drop sequence {name} because other objects depend on it");
            return Err(Error::new("2BP01", message)
                .with_detail(format!("{described} depends on sequence {name}"))
                .with_hint("use DROP … CASCADE to drop the default, too"));
        }
        edit.drop_default(table, column)?;
    }
    Ok(edit.drop_sequence(&name.schema, &name.name)?)
}

/// A sequence as its options describe it.
///
/// # Errors
/// `22023` for a type without whole numbers, and for numbers that cannot be.
pub(super) fn definition(
    kind: ColumnType,
    options: &[SequenceOptions],
) -> Result<SequenceDefinition> {
    if !is_whole(&kind) {
        let message = "sequence type must be smallint, integer, or bigint";
        return Err(Error::new("22023", message));
    }
    let mut increment = 1;
    for option in options {
        if let SequenceOptions::IncrementBy(by, _) = option {
            increment = whole_number(by)?;
        }
    }
    let mut definition = SequenceDefinition::of_type(kind, increment);
    let mut start = None;
    for option in options {
        match option {
            // Its owner knows it.
            option if sequence_name(option).is_some() => {}
            SequenceOptions::IncrementBy(..)
            | SequenceOptions::MinValue(None)
            | SequenceOptions::MaxValue(None) => {}
            SequenceOptions::MinValue(Some(least)) => definition.min = whole_number(least)?,
            SequenceOptions::MaxValue(Some(greatest)) => definition.max = whole_number(greatest)?,
            SequenceOptions::StartWith(at, _) => start = Some(whole_number(at)?),
            SequenceOptions::Cache(count) => {
                definition.cache = u64::try_from(whole_number(count)?).unwrap_or(0);
            }
            // The parser's flag is that of NO.
            SequenceOptions::Cycle(no) => definition.cycle = !no,
        }
    }
    definition.start = start.unwrap_or_else(|| definition.first_of_all());
    definition.check()?;
    Ok(definition)
}

/// Whether a column of the type can hold the numbers of a sequence.
pub(super) fn is_whole(kind: &ColumnType) -> bool {
    matches!(
        kind,
        ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt
    )
}

fn whole_number(expr: &Expr) -> Result<i64> {
    let digits = match expr {
        Expr::Value(value) => value.value.to_string(),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => format!("-{expr}"),
        Expr::UnaryOp {
            op: UnaryOperator::Plus,
            expr,
        } => expr.to_string(),
        other => other.to_string(),
    };
    digits.parse().map_err(|_| {
        let message = format!("\"{digits}\" is no number of type bigint");
        Error::new("22023", message)
    })
}
