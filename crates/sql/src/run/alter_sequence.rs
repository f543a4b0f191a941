//! ALTER SEQUENCE, and to which columns sequences belong.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::visit_expressions_mut;
use freestone_storage::{
    Catalog, CatalogEdit, ColumnType, Privileges, Sequence, SequenceDefinition, SequencePosition,
    TableId,
};
use sqlparser::ast::{Expr, Ident, ObjectName, Value};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::Run;
use super::alter_relation::must_stay;
use super::create::unknown_schema;
use super::sequence::is_whole;
use crate::error::{Error, Result, parser as syntax_error};
use crate::front::{parse_expr, takes_numbers_of};
use crate::functions::sequences::no_sequence;
use crate::grammar::define::{SequenceChange, SequenceOption};
use crate::grammar::printed;
use crate::names::{
    Name, fold, meant_schema, named, quoted, shown_schema, table_name, written_name,
};
use crate::outcome::Outcome;
use crate::session::Notice;
use crate::types::column_type;

impl Run<'_> {
    pub(super) fn alter_sequence(
        &self,
        name: &Name,
        if_exists: bool,
        change: &SequenceChange,
    ) -> Result<Outcome> {
        let done = || Ok(Outcome::done("ALTER SEQUENCE"));
        if self
            .within()?
            .snapshot
            .sequence(&name.schema, &name.name)
            .is_none()
        {
            match no_sequence(&self.snapshot, name) {
                missing if missing.sqlstate == "42P01" && if_exists => {
                    let text = format!("relation \"{name}\" does not exist");
                    self.session.notify(Notice::skipped("00000", text));
                    return done();
                }
                error => return Err(error),
            }
        }
        self.edit(|edit| {
            let known = edit.catalog().sequence(&name.schema, &name.name);
            let known = known.ok_or_else(|| no_sequence(edit.catalog(), name))?;
            let known = std::sync::Arc::clone(known);
            let rights = self.rights(edit.catalog());
            rights.owner("sequence", &name.name, &known.id.into())?;
            match change {
                SequenceChange::Rename(to) => {
                    renamed(edit, name, (name.schema.as_str(), to.as_str()))
                }
                SequenceChange::Move(schema) => {
                    let schema = meant_schema(schema);
                    must_stay(&name.schema, schema)?;
                    if !edit.catalog().has_schema(schema) {
                        return Err(unknown_schema(edit.catalog(), schema));
                    }
                    rights.schema(schema, Privileges::CREATE)?;
                    renamed(edit, name, (schema, name.name.as_str()))
                }
                SequenceChange::Options(options) => {
                    let moves =
                        |option: &SequenceOption| matches!(option, SequenceOption::OwnedBy(_));
                    if options.iter().any(moves) {
                        must_be_free(edit.catalog(), &known)?;
                    }
                    let (definition, position) =
                        changed(edit.catalog(), &name.schema, &known.definition, options)?;
                    Ok(edit.alter_sequence(&name.schema, &name.name, definition, position)?)
                }
            }
        })?;
        done()
    }
}

/// Refuses to give the sequence of an identity column to another.
///
/// # Errors
/// `0A000`.
fn must_be_free(catalog: &Catalog, sequence: &Sequence) -> Result<()> {
    for (_, table) in catalog.all_tables() {
        let mut identities = table.schema.columns.iter().filter_map(|c| c.identity);
        if identities.any(|one| one.sequence == sequence.id && !one.serial) {
            let message = "cannot change ownership of identity sequence";
            let detail = format!(
                "Sequence \"{}\" is linked to table \"{}\".",
                sequence.name, table.name
            );
            return Err(Error::unsupported(message).with_detail(detail));
        }
    }
    Ok(())
}

/// A sequence under another name, in defaults, too.
pub(super) fn renamed(edit: &mut CatalogEdit, name: &Name, to: (&str, &str)) -> Result<()> {
    let mut defaults = Vec::new();
    for (_, table) in edit.catalog().all_tables() {
        for (place, column) in table.schema.columns.iter().enumerate() {
            if let Some(default) = &column.default
                && takes_numbers_of(default, name)
            {
                defaults.push((table.id, place, default.clone()));
            }
        }
    }
    edit.rename_sequence(&name.schema, &name.name, to)?;
    let full = match to.0 == crate::names::DEFAULT_SCHEMA {
        true => quoted(to.1),
        false => format!("{}.{}", quoted(shown_schema(to.0)), quoted(to.1)),
    };
    for (table, place, default) in defaults {
        let mut expr = parse_expr(&default)?;
        let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |part| {
            if let Expr::Value(value) = part
                && let Value::SingleQuotedString(text) = &mut value.value
                && named(text)
                    .is_ok_and(|known| (&known.schema, &known.name) == (&name.schema, &name.name))
            {
                full.clone_into(text);
            }
            ControlFlow::Continue(())
        });
        edit.set_default(table, place, &printed(&expr))?;
    }
    Ok(())
}

/// A sequence as it is declared by options, and where it goes on if that is told.
pub(super) fn changed(
    catalog: &Catalog,
    schema: &str,
    before: &SequenceDefinition,
    options: &[SequenceOption],
) -> Result<(SequenceDefinition, Option<SequencePosition>)> {
    let mut definition = before.clone();
    let mut position = None;
    for option in options {
        match option {
            SequenceOption::As(written) => {
                let written = Parser::new(&PostgreSqlDialect {})
                    .try_with_sql(written)
                    .and_then(|mut parser| parser.parse_data_type())
                    .map_err(|error| syntax_error(&error))?;
                let kind = column_type(&written)?;
                if !is_whole(&kind) {
                    let message = "sequence type must be smallint, integer, or bigint";
                    return Err(Error::new("22023", message));
                }
                // An end that is the type's follows the type, whichever way the numbers go.
                let (least, most) = limits(before.kind);
                let (new_least, new_most) = limits(kind);
                if before.max == most {
                    definition.max = new_most;
                }
                if before.min == least {
                    definition.min = new_least;
                }
                definition.kind = kind;
            }
            SequenceOption::Increment(by) => definition.increment = number(by)?,
            _ => {}
        }
    }
    let by_default = SequenceDefinition::of_type(definition.kind, definition.increment);
    for option in options {
        match option {
            SequenceOption::As(_) | SequenceOption::Increment(_) => {}
            SequenceOption::Min(min) => {
                definition.min = min.as_deref().map_or(Ok(by_default.min), number)?;
            }
            SequenceOption::Max(max) => {
                definition.max = max.as_deref().map_or(Ok(by_default.max), number)?;
            }
            SequenceOption::Start(start) => definition.start = number(start)?,
            SequenceOption::Restart(at) => {
                let at = at.as_deref().map(number).transpose()?;
                position = Some(at);
            }
            SequenceOption::Cache(cache) => {
                definition.cache = u64::try_from(number(cache)?).unwrap_or(0);
            }
            SequenceOption::Cycle(cycle) => definition.cycle = *cycle,
            SequenceOption::OwnedBy(column) => {
                let column = column.as_deref();
                let column = column.map(|column| owner(catalog, schema, column));
                definition.owner = column.transpose()?;
            }
        }
    }
    let start = definition.start;
    let position = position.map(|at| SequencePosition {
        value: at.unwrap_or(start),
        given: false,
    });
    Ok((definition, position))
}

/// The least and the greatest number of a type.
fn limits(kind: ColumnType) -> (i64, i64) {
    (
        SequenceDefinition::of_type(kind, -1).min,
        SequenceDefinition::of_type(kind, 1).max,
    )
}

/// The column that a sequence of a schema is to belong to.
///
/// # Errors
/// `42P01`, `42703`; `55000` for a table of another schema.
pub(super) fn owner(catalog: &Catalog, schema: &str, written: &str) -> Result<(TableId, String)> {
    let name = written_name(written)?;
    let parts: Option<Vec<Ident>> = name.0.iter().map(|part| part.as_ident().cloned()).collect();
    let parts = parts.unwrap_or_default();
    let Some((column, table)) = parts.split_last().filter(|(_, table)| !table.is_empty()) else {
        return Err(Error::new("42601", "invalid OWNED BY option")
            .with_hint("Specify OWNED BY table.column or OWNED BY NONE."));
    };
    let table = table_name(&ObjectName::from(table.to_vec()))?;
    let column = fold(column);
    let found = catalog.table(&table.schema, &table.name);
    let found = found.ok_or_else(|| {
        let message = format!("relation \"{table}\" does not exist");
        Error::new("42P01", message)
    })?;
    if found.schema.index_of(&column).is_none() {
        let message = format!("column \"{column}\" of relation \"{table}\" does not exist");
        return Err(Error::new("42703", message));
    }
    if table.schema != schema {
        let message = "sequence must be in same schema as table it is linked to";
        return Err(Error::new("55000", message));
    }
    Ok((found.id, column))
}

fn number(digits: &str) -> Result<i64> {
    digits.parse().map_err(|_| {
        let message = format!("value \"{digits}\" is out of range for type bigint");
        Error::new("22003", message)
    })
}
