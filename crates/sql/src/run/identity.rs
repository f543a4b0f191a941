//! Identity columns: SERIAL and GENERATED … AS IDENTITY.
//!
//! The default of an identity column is `nextval` of a sequence that comes and goes
//! with the column; so every statement that fills in defaults fills it in, too. Rows of
//! VALUES take their numbers straight from the sequence.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use freestone_frontend::syntax::walk::visit_expressions;
use freestone_storage::{
    CatalogEdit, Column, ColumnType, Identity, Sequence, SequenceDefinition, Table, TableSchema,
};
use sqlparser::ast::{
    AlterColumnOperation, ColumnOption, DataType as SqlType, Expr, GeneratedAs, Insert,
    MergeInsertExpr, SequenceOptions,
};

use super::Run;
use super::alter_sequence::changed;
use super::sequence::{definition, is_whole};
use crate::dialect::sequence_name;
use crate::error::{Error, Result};
use crate::front::nextval_of;
use crate::functions::sequences::{sequence_named, usable};
use crate::grammar::define::SequenceOption;
use crate::names::{DEFAULT_SCHEMA, Name, Parts, named, quoted};
use crate::types::column_type;
use crate::values::assign;

/// An identity column whose sequence is yet to be made.
#[derive(Clone)]
pub(super) struct NewIdentity {
    column: usize,
    always: bool,
    /// SERIAL or one of its relatives.
    serial: bool,
    sequence: SequenceDefinition,
    /// SEQUENCE NAME, as written.
    called: Option<String>,
}

/// What an INSERT does about values for identity columns.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Overriding {
    /// It may give them only BY DEFAULT.
    #[default]
    Nothing,
    /// OVERRIDING SYSTEM VALUE: given values are taken.
    System,
    /// OVERRIDING USER VALUE: given values are not looked at.
    User,
}

impl Overriding {
    /// As the parser has left it: see `dialect`.
    pub(super) fn of(insert: &Insert) -> Overriding {
        Self::named(crate::dialect::overriding(insert))
    }

    /// The OVERRIDING clause of an INSERT in MERGE.
    pub(super) fn in_merge(insert: &MergeInsertExpr) -> Overriding {
        Self::named(crate::dialect::overriding_in_merge(insert))
    }

    fn named(which: Option<&str>) -> Overriding {
        match which {
            Some(crate::dialect::SYSTEM) => Self::System,
            Some(_) => Self::User,
            None => Self::Nothing,
        }
    }

    /// Whether a value given for a column is to be taken.
    ///
    /// # Errors
    /// `428C9` for a column that is GENERATED ALWAYS.
    pub(super) fn takes(self, column: &Column) -> Result<bool> {
        if column.generated {
            return Err(not_default(column));
        }
        match (column.identity, self) {
            (Some(_), Self::User) => Ok(false),
            (Some(Identity { always: true, .. }), Self::Nothing) => Err(not_default(column)),
            _ => Ok(true),
        }
    }
}

/// `428C9` for a value given to a column that is GENERATED ALWAYS.
fn not_default(column: &Column) -> Error {
    let name = &column.name;
    let message = format!("cannot insert a non-DEFAULT value into column \"{name}\"");
    let error = Error::new("428C9", message).with_detail(generated(column));
    match column.generated {
        true => error,
        false => error.with_hint("Use OVERRIDING SYSTEM VALUE to override."),
    }
}

fn generated(column: &Column) -> String {
    let name = &column.name;
    if column.generated {
        return format!("Column \"{name}\" is a generated column.");
    }
    format!("Column \"{name}\" is an identity column defined as GENERATED ALWAYS.")
}

/// Refuses to set a column that is GENERATED ALWAYS to anything but DEFAULT.
///
/// # Errors
/// `428C9`.
pub(super) fn must_not_be_always(column: &Column) -> Result<()> {
    if column.generated || column.identity.is_some_and(|identity| identity.always) {
        let name = &column.name;
        let message = format!("column \"{name}\" can only be updated to DEFAULT");
        return Err(Error::new("428C9", message).with_detail(generated(column)));
    }
    Ok(())
}

/// The column type that SERIAL or one of its relatives stands for.
pub(super) fn serial(written: &SqlType) -> Option<ColumnType> {
    let SqlType::Custom(name, modifiers) = written else {
        return None;
    };
    if !modifiers.is_empty() {
        return None;
    }
    match name.to_string().to_lowercase().as_str() {
        "smallserial" | "serial2" => Some(ColumnType::SmallInt),
        "serial" | "serial4" => Some(ColumnType::Integer),
        "bigserial" | "serial8" => Some(ColumnType::BigInt),
        _ => None,
    }
}

impl NewIdentity {
    /// SERIAL.
    pub(super) fn of_serial(column: usize, kind: ColumnType) -> Result<NewIdentity> {
        let identity = Self::new(column, GeneratedAs::ByDefault, kind, &[])?;
        Ok(NewIdentity {
            serial: true,
            ..identity
        })
    }

    /// What GENERATED … AS IDENTITY says; `None` for other options of columns.
    ///
    /// # Errors
    /// `22023` for a type without whole numbers; those of the sequence's options.
    pub(super) fn of_option(
        column: usize,
        kind: ColumnType,
        option: &ColumnOption,
    ) -> Result<Option<NewIdentity>> {
        match option {
            ColumnOption::Generated {
                generated_as: generated @ (GeneratedAs::Always | GeneratedAs::ByDefault),
                sequence_options,
                generation_expr: None,
                ..
            } => {
                let options = sequence_options.as_deref().unwrap_or_default();
                Self::new(column, *generated, kind, options).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn new(
        column: usize,
        generated: GeneratedAs,
        kind: ColumnType,
        options: &[SequenceOptions],
    ) -> Result<NewIdentity> {
        if !is_whole(&kind) {
            return Err(not_whole());
        }
        Ok(NewIdentity {
            column,
            always: generated == GeneratedAs::Always,
            serial: false,
            sequence: definition(kind, options)?,
            called: options.iter().find_map(sequence_name).map(str::to_owned),
        })
    }

    /// The same for a column whose numbers are as those of another.
    pub(super) fn like(column: usize, always: bool, sequence: SequenceDefinition) -> Self {
        Self {
            column,
            always,
            serial: false,
            sequence,
            called: None,
        }
    }

    /// Makes the sequence, for a column of the table `name`.
    pub(super) fn create(
        self,
        edit: &mut CatalogEdit,
        name: &Name,
        schema: &mut TableSchema,
    ) -> Result<()> {
        let Some(column) = schema.columns.get_mut(self.column) else {
            return Err(Error::internal("an identity without a column"));
        };
        let parts = Parts {
            table: &name.name,
            columns: Some(&column.name),
            kind: "seq",
        };
        let catalog = edit.catalog();
        let taken = |called: &str| {
            catalog.sequence(&name.schema, called).is_some()
                || catalog.table(&name.schema, called).is_some()
                || catalog.view(&name.schema, called).is_some()
                || *called == name.name
        };
        let called = match self.called.as_deref() {
            Some(text) => {
                let own = named(text)?;
                if text.contains('.') && own.schema != name.schema {
                    let message = "sequence must be in same schema as table it is linked to";
                    return Err(Error::new("55000", message));
                }
                own.name
            }
            None => parts.free(taken),
        };
        let sequence = edit.create_sequence(&name.schema, &called, self.sequence)?;
        let full = match name.schema.as_str() {
            DEFAULT_SCHEMA => quoted(&called),
            schema => format!("{}.{}", quoted(schema), quoted(&called)),
        };
        column.default = Some(format!("nextval('{}')", full.replace('\'', "''")));
        column.nullable = false;
        column.identity = Some(Identity {
            sequence,
            always: self.always,
            serial: self.serial,
        });
        Ok(())
    }
}

impl Run<'_> {
    /// The sequence that a column's default is the next number of; `None` if it is
    /// another expression.
    pub(super) fn sequence_of(&self, column: &Column) -> Result<Option<Arc<Sequence>>> {
        if let Some(identity) = column.identity {
            let known = self.snapshot.sequence_by_id(identity.sequence);
            return Ok(known.map(|(_, sequence)| Arc::clone(sequence)));
        }
        // Most defaults are something else, and are not parsed for this.
        match &column.default {
            Some(text) if text.contains("nextval") || text.contains("NEXTVAL") => {
                let expr = crate::front::parse_expr(text)?;
                let name = nextval_of(&expr);
                name.map(|name| self.taken_from(name).cloned()).transpose()
            }
            _ => Ok(None),
        }
    }

    /// Checks that there are the sequences whose numbers an expression takes.
    ///
    /// # Errors
    /// `42P01`, `42809`.
    pub(super) fn check_sequences(&self, expr: &Expr) -> Result<()> {
        let catalog = self.snapshot.catalog();
        let found = visit_expressions(expr, |part| {
            let known = nextval_of(part).map(|text| sequence_named(catalog, &named(text)?));
            match known {
                Some(Err(error)) => ControlFlow::Break(error),
                _ => ControlFlow::Continue(()),
            }
        });
        match found {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(()),
        }
    }

    /// As many numbers as rows, as the column holds them.
    pub(super) fn numbered(
        &self,
        sequence: &Sequence,
        column: &Column,
        rows: usize,
    ) -> Result<ArrayRef> {
        let numbers = self.session.numbers().next(sequence, rows)?;
        let numbers: ArrayRef = Arc::new(Int64Array::from(numbers));
        assign(&numbers, column).map_err(|bad| bad.error)
    }

    /// The number that `nextval('text')` stands for; `None` for other expressions.
    pub(super) fn number_of(&self, expr: &Expr) -> Result<Option<i64>> {
        let Some(name) = nextval_of(expr) else {
            return Ok(None);
        };
        let sequence = self.taken_from(name)?;
        Ok(self.session.numbers().next(sequence, 1)?.pop())
    }

    /// The sequence in `nextval('text')`, if numbers may be taken from it.
    fn taken_from(&self, text: &str) -> Result<&Arc<Sequence>> {
        let catalog = self.snapshot.catalog();
        usable(&self.rights(catalog), catalog, &named(text)?, "nextval")
    }
}

impl Run<'_> {
    /// ALTER COLUMN … ADD GENERATED … AS IDENTITY.
    pub(super) fn add_identity(
        &self,
        name: &Name,
        table: &Table,
        column: usize,
        generated: GeneratedAs,
        options: &[SequenceOptions],
    ) -> Result<()> {
        let known = &table.schema.columns[column];
        let refused = |what: &str| {
            let message = format!("column \"{}\" of relation \"{name}\" {what}", known.name);
            Err(Error::new("55000", message))
        };
        if known.identity.is_some() {
            return refused("is already an identity column");
        }
        if known.default.is_some() {
            return refused("already has a default value");
        }
        if known.nullable {
            return refused("must be declared NOT NULL before identity can be added");
        }
        let identity = NewIdentity::new(column, generated, known.kind, options)?;
        let (seen, options) = (self.snapshot.timestamp(), table.options.clone());
        self.edit(|edit| {
            let mut schema = (*table.schema).clone();
            identity.create(edit, name, &mut schema)?;
            Ok(edit.declare(table, seen, schema, options)?)
        })
    }
}

/// Lets the sequences of identity columns be of the types that those have now.
///
/// # Errors
/// `22023` if the sequence does not fit in them.
pub(super) fn retype_sequences(
    edit: &mut CatalogEdit,
    before: &TableSchema,
    after: &TableSchema,
) -> Result<()> {
    for (old, new) in before.columns.iter().zip(&after.columns) {
        let Some(identity) = new.identity.filter(|_| old.kind != new.kind) else {
            continue;
        };
        let known = edit.catalog().sequence_by_id(identity.sequence);
        let known = known.map(|(schema, known)| (schema.to_owned(), known.clone()));
        let (schema, known) =
            known.ok_or_else(|| Error::internal("an identity without a sequence"))?;
        let options = [SequenceOption::As(new.kind.to_string())];
        let (definition, position) = changed(edit.catalog(), &schema, &known.definition, &options)?;
        edit.alter_sequence(&schema, &known.name, definition, position)?;
    }
    Ok(())
}

/// Refuses changes that an identity column cannot have.
///
/// # Errors
/// `42601`; `22023` for a type without whole numbers.
pub(super) fn must_be_plain(
    table: &Table,
    column: usize,
    operation: &AlterColumnOperation,
) -> Result<()> {
    let column = &table.schema.columns[column];
    match operation {
        _ if column.identity.is_none() => Ok(()),
        AlterColumnOperation::SetNotNull => Ok(()),
        AlterColumnOperation::SetDataType { data_type, .. } => {
            match is_whole(&column_type(data_type)?) {
                true => Ok(()),
                false => Err(not_whole()),
            }
        }
        _ => {
            let (name, table) = (&column.name, &table.name);
            let message =
                format!("column \"{name}\" of relation \"{table}\" is an identity column");
            Err(Error::new("42601", message))
        }
    }
}

fn not_whole() -> Error {
    let message = "identity column type must be smallint, integer, or bigint";
    Error::new("22023", message)
}
