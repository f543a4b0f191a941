//! ALTER TABLE that leaves the rows as they are, or casts one column: names,
//! defaults, NOT NULL, constraints, types.
//!
//! What the rows must meet is asked by a query of a snapshot; the change is made
//! only if no row came or went since, and else tried again.

use std::ops::ControlFlow;
use std::sync::Arc;

use freestone_frontend::syntax::walk::visit_expressions_mut;
use freestone_storage::{Column, ColumnType, Deferral, Table, TableSchema};
use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, CreateIndex, DataType, Expr, GeneratedAs, Ident,
    RenameTableNameKind,
};

use super::Run;
use super::alter_parts::{generation_of, is_numbering};
use super::change::stored_as;
use super::columns::generated_from;
use super::declare::{Declared, check_system_name};
use super::identity::{must_be_plain, retype_sequences};
use super::index_over::free_name;
use super::reference::comparable;
use super::sequence::is_whole;
use crate::error::{Error, Result};
use crate::front;
use crate::front::parse_expr;
use crate::grammar::printed;
use crate::ingest::{self, Target};
use crate::names::{Name, fold, position, quoted, table_name};
use crate::relations::{Without, unknown_table};
use crate::statement::parse_one;
use crate::types::type_held;

/// Times that a table may change under the statement.
const ATTEMPTS: usize = 5;

/// A change of what is declared.
pub(super) enum Redeclaring<'a> {
    Operation(&'a AlterTableOperation),
    /// When a foreign key is checked.
    Deferral(&'a str, Deferral),
    Index(&'a CreateIndex),
}

impl Run<'_> {
    /// Runs one operation other than adding and dropping columns.
    pub(super) async fn redeclare(
        &self,
        name: &Name,
        operation: &AlterTableOperation,
    ) -> Result<()> {
        self.redone(name, &Redeclaring::Operation(operation)).await
    }

    /// Does that, or makes an index with its key or its columns; again if the table changed.
    pub(super) async fn redone(&self, name: &Name, what: &Redeclaring<'_>) -> Result<()> {
        if self.session.in_transaction() {
            return self.absorbed(name)?.done_once(name, what).await;
        }
        for attempt in 1.. {
            // Rows in no block have the columns of today.
            let table = self.store().snapshot();
            let table = table
                .table(&name.schema, &name.name)
                .ok_or_else(|| unknown_table(&self.snapshot, name))?;
            self.store().move_delta(table.id)?;
            let _hold = self.store().hold_mover(table.id);
            let run = Run::over(self.session, self.store().snapshot());
            match run.done_once(name, what).await {
                Err(error) if error.sqlstate == "40001" && attempt < ATTEMPTS => {}
                done => return done,
            }
        }
        Ok(())
    }

    async fn done_once(&self, name: &Name, what: &Redeclaring<'_>) -> Result<()> {
        match what {
            Redeclaring::Operation(operation) => self.redeclare_once(name, operation).await,
            Redeclaring::Deferral(constraint, deferral) => {
                self.defer_constraint(name, constraint, *deferral)
            }
            Redeclaring::Index(create) => self.index_once(name, create).await,
        }
    }

    /// The same, of the snapshot that the statement has.
    pub(super) async fn redeclare_once(
        &self,
        name: &Name,
        operation: &AlterTableOperation,
    ) -> Result<()> {
        let table = Arc::clone(self.stored_table(name)?);
        match operation {
            AlterTableOperation::RenameTable {
                table_name: RenameTableNameKind::To(to) | RenameTableNameKind::As(to),
            } => {
                let to = table_name(to)?.name;
                self.edit(|edit| Ok(edit.rename_table(&name.schema, &name.name, &to)?))
            }
            AlterTableOperation::RenameColumn {
                old_column_name,
                new_column_name,
            } => self.rename_column(&table, old_column_name, &fold(new_column_name)),
            AlterTableOperation::AddConstraint {
                constraint,
                not_valid,
            } => {
                self.add_constraint(name, &table, constraint, !not_valid)
                    .await
            }
            AlterTableOperation::ValidateConstraint { name: constraint } => {
                self.validate(name, &table, &fold(constraint)).await
            }
            AlterTableOperation::DropConstraint {
                if_exists,
                name: constraint,
                drop_behavior,
            } => {
                let cascade = drop_behavior
                    .as_ref()
                    .is_some_and(|behavior| behavior.to_string() == "CASCADE");
                self.drop_constraint(&table, &fold(constraint), *if_exists, cascade)
            }
            AlterTableOperation::RenameConstraint { old_name, new_name } => {
                self.rename_constraint(&table, &fold(old_name), &fold(new_name))
            }
            AlterTableOperation::AlterColumn { column_name, op } => {
                let column = place(&table, column_name)?;
                self.alter_column(name, &table, column, op).await
            }
            _ => Err(super::columns::refused()),
        }
    }

    pub(super) fn declare(&self, table: &Table, schema: TableSchema) -> Result<()> {
        let (seen, options) = (self.snapshot.timestamp(), table.options.clone());
        self.edit(|edit| {
            edit.declare(table, seen, schema, options)?;
            Ok(edit.drop_unused(table.id)?)
        })
    }

    fn rename_column(&self, table: &Table, from: &Ident, to: &str) -> Result<()> {
        let column = place(table, from)?;
        if table.schema.index_of(to).is_some() {
            let message = format!(
                "column \"{to}\" of relation \"{}\" already exists",
                table.name
            );
            return Err(Error::new("42701", message));
        }
        check_system_name(to)?;
        let mut schema = (*table.schema).clone();
        let old = std::mem::replace(&mut schema.columns[column].name, to.to_owned());
        let columns = schema.columns.iter_mut();
        let computed = columns.filter(|column| column.generated);
        let computed = computed.filter_map(|column| column.default.as_mut());
        let conditions = schema.checks.iter_mut().map(|check| &mut check.condition);
        let parts = schema.partitioned.iter_mut().flat_map(|key| &mut key.parts);
        for text in computed.chain(conditions).chain(parts) {
            let mut condition = parse_expr(text)?;
            let _: ControlFlow<()> = visit_expressions_mut(&mut condition, |part| {
                let ident = match part {
                    Expr::Identifier(ident) => Some(ident),
                    Expr::CompoundIdentifier(parts) => parts.last_mut(),
                    _ => None,
                };
                if let Some(ident) = ident
                    && fold(ident) == old
                {
                    *ident = Ident::with_quote('"', to);
                }
                ControlFlow::Continue(())
            });
            *text = printed(&condition);
        }
        for at in schema.declared().len()..schema.columns.len() {
            // A hidden column is called what it is computed from.
            schema.columns[at].name.clear();
            let text = schema.columns[at].default.clone().unwrap_or_default();
            schema.columns[at].name = free_name(&schema, &text);
        }
        let mut options = table.options.clone();
        if options.sort_by.as_deref() == Some(old.as_str()) {
            options.sort_by = Some(to.to_owned());
        }
        if let Some(codec) = options.column_codecs.remove(&old) {
            options.column_codecs.insert(to.to_owned(), codec);
        }
        let seen = self.snapshot.timestamp();
        self.edit(|edit| {
            edit.tell_sequences(table.id, Some(&old), Some(to));
            edit.tell_views_of_table(table.id, &old, Some(to));
            Ok(edit.declare(table, seen, schema, options)?)
        })
    }

    async fn alter_column(
        &self,
        name: &Name,
        table: &Arc<Table>,
        column: usize,
        operation: &AlterColumnOperation,
    ) -> Result<()> {
        if let AlterColumnOperation::AddGenerated {
            generated_as,
            sequence_options,
        } = operation
        {
            let generated = generated_as.unwrap_or(GeneratedAs::Always);
            let options = sequence_options.as_deref().unwrap_or_default();
            return self.add_identity(name, table, column, generated, options);
        }
        if let AlterColumnOperation::SetDefault { value } = operation
            && is_numbering(value)
        {
            return self.number_rows(name, table, column).await;
        }
        must_be_plain(table, column, operation)?;
        let is_default = matches!(
            operation,
            AlterColumnOperation::SetDefault { .. } | AlterColumnOperation::DropDefault
        );
        if table.schema.columns[column].generated && is_default {
            let (name, table) = (&table.schema.columns[column].name, &table.name);
            let message =
                format!("column \"{name}\" of relation \"{table}\" is a generated column");
            return Err(Error::new("42601", message));
        }
        let mut schema = (*table.schema).clone();
        let changed = &mut schema.columns[column];
        match operation {
            AlterColumnOperation::SetDefault { value } if generation_of(value).is_some() => {
                let mut declared = Declared::from(self, name, schema);
                let expr = generation_of(value).map(|expr| declared.without_table(expr));
                let changed = &mut declared.schema.columns[column];
                changed.default = expr.as_ref().map(printed);
                changed.generated = true;
                schema = declared.finished()?;
            }
            AlterColumnOperation::SetDefault { value } => {
                changed.default = Some(printed(value));
                self.check_default(&schema.columns[column])?;
            }
            AlterColumnOperation::DropDefault => changed.default = None,
            AlterColumnOperation::DropNotNull => {
                let mut keys = table.schema.keys.iter().filter(|key| key.primary);
                if keys.any(|key| key.columns.contains(&column)) {
                    let message = format!("column \"{}\" is in a primary key", changed.name);
                    return Err(Error::new("42P16", message));
                }
                changed.nullable = true;
            }
            AlterColumnOperation::SetNotNull => {
                changed.nullable = false;
                self.must_be_present(name, table, column).await?;
            }
            AlterColumnOperation::SetDataType {
                data_type, using, ..
            } => {
                let using = using.as_ref();
                return self.retype(name, table, column, data_type, using).await;
            }
            other => {
                let message = format!("ALTER COLUMN … {other} is not supported");
                return Err(Error::unsupported(message));
            }
        }
        self.declare(table, schema)
    }

    /// Whether a query of the rows has an answer.
    pub(super) async fn any(&self, query: &str) -> Result<bool> {
        let ast = parse_one(query)?;
        let plan = self.logical(&ast).await?;
        let found = plan.plan.collect(&self.session.run_context()).await?;
        Ok(found.iter().any(|batch| batch.num_rows() > 0))
    }

    pub(super) async fn must_be_present(
        &self,
        name: &Name,
        table: &Table,
        column: usize,
    ) -> Result<()> {
        let column = &table.schema.columns[column].name;
        let query = format!(
            "SELECT 1 FROM {} WHERE {} IS NULL LIMIT 1",
            written(name),
            quoted(column)
        );
        if self.any(&query).await? {
            let message =
                format!("column \"{column}\" of relation \"{name}\" contains null values");
            return Err(Error::new("23502", message));
        }
        Ok(())
    }

    /// Gives rows that are there the numbers of a sequence, of a column that was added.
    async fn number_rows(&self, name: &Name, table: &Arc<Table>, column: usize) -> Result<()> {
        let mut schema = (*table.schema).clone();
        let changed = &mut schema.columns[column];
        changed.nullable &= changed.identity.is_none();
        let default = changed.default.clone().unwrap_or_default();
        let value = |at: usize, c: &Column| match at == column {
            true => default.clone(),
            false => value_of(c),
        };
        self.with_rows(name, table, schema, &value).await
    }

    /// Refuses to give a column another type if a view has it.
    fn no_view_has(&self, table: &Table, column: usize) -> Result<()> {
        let run = self.within()?;
        let name = Name::in_catalog(run.snapshot.catalog(), table);
        let column = &table.schema.columns[column].name;
        let views = run.views_over(&Without::Column(name.clone(), column.clone()), &name);
        let Some(view) = views.first() else {
            return Ok(());
        };
        let message = "cannot alter type of a column used by a view or rule";
        let detail = format!(
            "rule _RETURN on {} depends on column \"{column}\"",
            view.shown
        );
        Err(Error::unsupported(message)
            .with_detail(detail)
            .with_hint("DROP the view, and make it again afterwards."))
    }

    /// ALTER COLUMN … TYPE: all rows are written again.
    async fn retype(
        &self,
        name: &Name,
        table: &Arc<Table>,
        column: usize,
        kind: &DataType,
        using: Option<&Expr>,
    ) -> Result<()> {
        let mut schema = (*table.schema).clone();
        let readers = generated_from(&table.schema, column)?;
        let readers = readers
            .iter()
            .filter_map(|reader| table.schema.index_of(reader));
        let (hidden, shown): (Vec<usize>, Vec<usize>) =
            readers.partition(|at| table.schema.columns[*at].hidden.is_some());
        if let Some(reader) = shown.first() {
            let name = &table.schema.columns[column].name;
            let reader = &table.schema.columns[*reader].name;
            let message = "cannot alter type of a column used by a generated column";
            return Err(Error::unsupported(message).with_detail(format!(
                "Column \"{name}\" is used by generated column \"{reader}\"."
            )));
        }
        self.no_view_has(table, column)?;
        let held = self.held(kind)?;
        let changed = &mut schema.columns[column];
        (changed.kind, changed.modifier, changed.declared) =
            (held.kind, held.modifier, held.declared);
        let old = &table.schema.columns[column];
        for at in hidden {
            self.retype_hidden(name, &mut schema, at)?;
        }
        self.must_still_refer(table, &schema, column, using.is_none())?;
        if let Some(default) = &old.default
            && old.identity.is_none()
        {
            let cast = format!("CAST(({default}) AS {kind})");
            schema.columns[column].default = Some(cast);
            self.check_default(&schema.columns[column])?;
        }
        if table.schema.partitioned.is_some() {
            // The rows are those of its partitions.
            let seen = self.snapshot.timestamp();
            return self.edit(|edit| Ok(edit.retype(table, seen, schema, Vec::new())?));
        }
        // Lengths are checked where values are stored; a cast would cut what is too long.
        let new = &schema.columns[column];
        let held = type_held(new);
        let any = held.without_length();
        let to = match new.declared.is_none() && any != held {
            true => any.to_string(),
            false => kind.to_string(),
        };
        let value = |number: usize, c: &Column| match (number == column, using) {
            (false, _) => value_of(c),
            (true, Some(using)) => format!("({})", printed(using)),
            (true, None) => format!("CAST({} AS {to})", quoted(&c.name)),
        };
        self.with_rows(name, table, schema, &value).await
    }

    /// Refuses another type of a column in foreign keys, unless values that were equal are equal
    /// in it, too.
    fn must_still_refer(
        &self,
        table: &Table,
        schema: &TableSchema,
        column: usize,
        cast: bool,
    ) -> Result<()> {
        let (old, new) = (&table.schema.columns[column], &schema.columns[column]);
        let after = |of: &Table, at: usize| match of.id == table.id {
            true => schema.columns.get(at).cloned(),
            false => of.schema.columns.get(at).cloned(),
        };
        for (_, child) in self.snapshot.all_tables() {
            for key in &child.schema.foreign_keys {
                let Some(parent) = self.snapshot.table_by_id(key.parent) else {
                    continue;
                };
                let own = key.columns.iter().zip(&key.parent_columns);
                let of_column = |(own, other): &(&usize, &usize)| {
                    child.id == table.id && **own == column
                        || parent.id == table.id && **other == column
                };
                for (own, other) in own.filter(of_column) {
                    let kept = old.family() == new.family() && keeps_values(&old.kind, &new.kind);
                    if !(cast && kept) {
                        let message = format!("column \"{}\" is part of a foreign key", old.name);
                        return Err(
                            Error::unsupported(message).with_hint("drop the constraint first")
                        );
                    }
                    let both = after(child, *own).zip(after(parent, *other));
                    if !both.is_some_and(|(own, other)| comparable(&own, &other)) {
                        let message = format!(
                            "foreign key constraint \"{}\" cannot be implemented",
                            key.name
                        );
                        return Err(Error::new("42804", message));
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives a table another schema, for which all rows are written again. `value` is SQL for
    /// the new value of a column; generated ones are computed.
    ///
    /// # Errors
    /// Those of the values and of what must hold for rows.
    pub(super) async fn with_rows(
        &self,
        name: &Name,
        table: &Arc<Table>,
        schema: TableSchema,
        value: &(dyn Fn(usize, &Column) -> String + Sync),
    ) -> Result<()> {
        let values = schema.columns.iter().enumerate();
        let values = values.map(|(number, column)| {
            let value = value(number, column);
            format!("{value} AS {}", quoted(&column.name))
        });
        let values: Vec<String> = values.collect();
        let query = format!("SELECT {} FROM {}", values.join(", "), written(name));
        let ast = parse_one(&query)?;
        let targets: Vec<_> = stored_as(&self.snapshot, &schema.columns).collect();
        let plan = front::planned_into(&self.relations(&ast).await?, &ast, &targets)?;
        let schema = Arc::new(schema);
        let options = table.options.clone();
        options.check(&schema)?;
        let target = Target::new(self.store(), Arc::clone(&schema), options);
        let mut checked = (*schema).clone();
        checked.checks.retain(|check| !check.unvalidated);
        let checks = ingest::Checks::of(self.expressions(), &checked, &table.name)?;
        let target = target.with_checks(checks);
        let streams = ingest::assigned(&target, &plan.plan, self.threads())?;
        let blocks = ingest::write(self.state(), &target, streams)
            .await?
            .into_blocks();
        let seen = self.snapshot.timestamp();
        self.edit(|edit| {
            edit.retype(table, seen, (*schema).clone(), blocks)?;
            retype_sequences(edit, &table.schema, &schema)
        })
    }
}

/// The source of a column's values when rows are written again: those of hidden ones are
/// computed.
pub(super) fn value_of(column: &Column) -> String {
    match column.hidden {
        None => quoted(&column.name),
        Some(_) => "NULL".to_owned(),
    }
}

/// Whether a cast gives other values for other values, and equal ones for equal ones.
fn keeps_values(from: &ColumnType, to: &ColumnType) -> bool {
    match (from, to) {
        (from, to) if is_whole(from) => is_whole(to),
        (ColumnType::Varchar(Some(from)), ColumnType::Varchar(Some(to))) => from <= to,
        (
            ColumnType::Text | ColumnType::Varchar(_),
            ColumnType::Text | ColumnType::Varchar(None),
        ) => true,
        _ => false,
    }
}

/// The position of a column.
///
/// # Errors
/// `42703` if the table has none of that name.
pub(super) fn place(table: &Table, ident: &Ident) -> Result<usize> {
    let name = fold(ident);
    table.schema.index_of(&name).ok_or_else(|| {
        let message = format!(
            "column \"{name}\" of relation \"{}\" does not exist",
            table.name
        );
        Error::new("42703", message).at(position(ident))
    })
}

/// A table's name as a query has it.
pub(super) fn written(name: &Name) -> String {
    format!("{}.{}", quoted(&name.schema), quoted(&name.name))
}
