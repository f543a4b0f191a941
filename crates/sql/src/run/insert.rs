//! INSERT: VALUES, DEFAULT VALUES and SELECT.
//!
//! The rows of VALUES are taken from the text as they stand wherever they are
//! plain literals: no plan is made, and each value is cast to its column on its
//! own, as in PostgreSQL. Anything else in VALUES is computed first. SELECT runs as
//! a query whose batches are cast and written while it runs.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::Field;
use freestone_frontend::types::Type;
use freestone_storage::{Column, Table, TableSchema};
use sqlparser::ast::{
    Expr, Insert, ObjectName, Query, SetExpr, Statement as Ast, TableObject, Value, Values,
};

use super::Run;
use super::add::{Source, check_columns};
use super::change::stored_as;
use super::changes::Changes;
use super::clauses::refuse_clauses;
use super::conflict::Conflict;
use super::create::column_ident;
use super::elements::inserted_elements;
use super::identity::Overriding;
use super::literal::{Literal, is_constant, is_default, literal, plain_values};
use super::returning::asks;
use super::sequence::is_whole;
use super::streamed::{Manner, Streamed};
use crate::engine::Pipelines;
use crate::error::{Error, Result, did_you_mean};
use crate::expression::{Expr as Computed, Scalar};
use crate::front::{self, Columns, Compiled, Logical, default_of, parse_expr};
use crate::names::{Name, fold, table_name};
use crate::outcome::Outcome;
use crate::relations::updatable::{Command, Through};
use crate::types::nullable;
use crate::values::{ColumnBuilder, assign, check_assignable};

/// An INSERT and the table that its rows go to.
struct Target<'a> {
    /// The statement as one of that table.
    insert: Cow<'a, Insert>,
    name: Name,
    /// As the statement calls the table.
    called: String,
    table: &'a Arc<Table>,
    /// The views by which it is changed.
    through: Option<Arc<Through>>,
}

impl Run<'_> {
    pub(super) async fn insert(&self, insert: &Insert) -> Result<Outcome> {
        let target = self.target_of(insert).await?;
        match self.insert_into(&target).await {
            // A clause that means nothing counts before a value that is wrong.
            Err(error) if error.is_of_values() => {
                self.check_clauses(&target).await?;
                Err(error)
            }
            outcome => outcome,
        }
    }

    async fn target_of<'a>(&'a self, insert: &'a Insert) -> Result<Target<'a>> {
        refuse_clauses(insert)?;
        let TableObject::TableName(written) = &insert.table else {
            return Err(Error::unsupported(
                "INSERT INTO a table function is not supported",
            ));
        };
        let mut name = table_name(written)?;
        let alias = insert.table_alias.as_ref();
        let called = alias.map_or_else(|| name.name.clone(), |alias| fold(&alias.alias));
        let through = self.view_to_change(&name, Command::Insert)?;
        let mut insert = Cow::Borrowed(insert);
        if let Some(named) = self.by_name(&insert).await? {
            insert = Cow::Owned(named);
        }
        if let Some(through) = &through {
            name = through.table().0.clone();
            insert = Cow::Owned(self.inserted_through(through, &insert).await?);
        }
        let table = self.stored_table(&name)?;
        if let Some(changed) = inserted_elements(&insert, &self.snapshot, table, &name)? {
            insert = Cow::Owned(changed);
        }
        Ok(Target {
            insert,
            name,
            called,
            table,
            through,
        })
    }

    async fn insert_into(&self, target: &Target<'_>) -> Result<Outcome> {
        let Target {
            insert,
            name,
            called,
            table,
            through,
        } = target;
        let through = through.as_deref();
        let is_checked = through.is_some_and(|through| !through.checks().is_empty());
        let columns = target_columns(&table.schema, name, insert)?;
        let overriding = Overriding::of(insert);
        let source = match insert.source.as_deref() {
            None => Source::Rows(self.literal_rows(table, &[], &[vec![]], overriding)?),
            Some(query) => match plain_values(query) {
                Some(values)
                    if table.schema.declared().iter().all(is_simple) || has_defaults(values) =>
                {
                    let rows: Vec<&[Expr]> = values.rows.iter().map(|row| &*row.content).collect();
                    check_widths(&rows, &columns, !insert.columns.is_empty())?;
                    let rows: Vec<Vec<&Expr>> =
                        rows.into_iter().map(|row| row.iter().collect()).collect();
                    let columns = &columns[..rows.first().map_or(0, Vec::len)];
                    Source::Rows(self.literal_rows(table, columns, &rows, overriding)?)
                }
                _ => {
                    let plan = self.insert_plan(table, &columns, query, insert).await?;
                    let plan = plan.runnable()?;
                    let watching = self.watched(&plan, insert);
                    Source::Plan(plan, watching)
                }
            },
        };
        let (rows, written) = match (&insert.on, &insert.returning) {
            (None, None) if !is_checked => (self.add(name, table, source).await?, Vec::new()),
            (Some(on), None) if !is_checked && self.may_be_upserted(table, &source)? => {
                let conflict = Conflict::of(self, on, table, (name, through))?;
                let of = Box::new(self.upsert(table, called, &conflict)?);
                let rows = match source {
                    Source::Plan(plan, watching) => {
                        check_columns(plan.schema().fields(), table)?;
                        let of = Streamed::Upsert(of);
                        self.changed_while_finding(of, plan, watching).await
                    }
                    Source::Rows(_) => Err(Error::internal("rows that are no plan's")),
                };
                let rows = rows.map_err(|error| self.missed(error, &conflict))?;
                (rows, Vec::new())
            }
            (on, _) => {
                let rows = self.gathered(table, source).await?;
                let conflict = on
                    .as_ref()
                    .map(|on| Conflict::of(self, on, table, (name, through)));
                let conflict = conflict.transpose()?;
                let changes = match &conflict {
                    Some(conflict) => match table.schema.partitioned {
                        Some(_) => {
                            let rows = rows.as_slice();
                            self.resolved_in_leaves(table, called, conflict, rows)
                                .await?
                        }
                        None => {
                            let mut upsert = self.upsert(table, called, conflict)?;
                            self.upserted(&mut upsert, &rows).await?
                        }
                    },
                    None => Changes {
                        inserted: rows,
                        ..Changes::default()
                    },
                };
                let applied = self.apply(table, &changes);
                let applied = applied.map_err(|error| match &conflict {
                    Some(conflict) => self.missed(error, conflict),
                    None => error,
                })?;
                self.check_views(through, table, &applied.written).await?;
                (applied.rows, applied.written)
            }
        };
        self.told_of(target, &written, rows).await
    }

    /// Whether rows of a source may be added, or change others, while more come.
    fn may_be_upserted(&self, table: &Table, source: &Source) -> Result<bool> {
        let is_plain = matches!(source, Source::Plan(..)) && table.schema.partitioned.is_none();
        Ok(is_plain && self.may_change_while_finding(table, &Manner::Any)?)
    }

    /// The outcome of an INSERT that wrote rows: RETURNING over them, else its tag.
    async fn told_of(
        &self,
        target: &Target<'_>,
        written: &[RecordBatch],
        rows: u64,
    ) -> Result<Outcome> {
        let (list, tag) = (
            target.insert.returning.as_deref(),
            format!("INSERT 0 {rows}"),
        );
        if let Some(list) = list
            && (asks(Some(list)) || target.through.is_some())
        {
            let through = target.through.as_deref();
            let of = (target.table.as_ref(), target.called.as_str(), through);
            return self.returned_beside(of, list, written, (&[], &[])).await;
        }
        self.returned(target.table, &target.called, list, written, tag, rows)
    }

    /// Binds the values of VALUES, and ON CONFLICT and RETURNING for no rows.
    async fn check_clauses(&self, target: &Target<'_>) -> Result<()> {
        let table = target.table;
        self.check_values(target)?;
        if let (Some(on), None) = (&target.insert.on, &table.schema.partitioned) {
            let of = (&target.name, target.through.as_deref());
            let conflict = Conflict::of(self, on, table, of)?;
            self.check_conflict(table, &target.called, &conflict)
                .await?;
        }
        let none = RecordBatch::new_empty(nullable(&table.schema));
        self.told_of(target, &[none], 0).await?;
        Ok(())
    }

    /// Binds the values of VALUES.
    ///
    /// # Errors
    /// The first that is wrong whatever its value is.
    fn check_values(&self, target: &Target<'_>) -> Result<()> {
        let Target {
            insert,
            name,
            table,
            ..
        } = target;
        let Some(values) = insert.source.as_deref().and_then(plain_values) else {
            return Ok(());
        };
        let columns = target_columns(&table.schema, name, insert)?;
        for row in &values.rows {
            for (expr, at) in row.content.iter().zip(&columns) {
                let column = &table.schema.columns[*at];
                if is_default(expr) || literal(expr, &column.kind).is_some() {
                    continue;
                }
                match self.expressions().lowered_for(expr, column) {
                    Err(error) if !error.is_of_values() => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The table of an INSERT, and the plan of its query, if it has one, for EXPLAIN.
    ///
    /// # Errors
    /// Whatever is wrong with the statement.
    pub(super) async fn explained_insert(
        &self,
        insert: &Insert,
    ) -> Result<(Name, Option<Pipelines>)> {
        let Target {
            insert,
            name,
            table,
            ..
        } = self.target_of(insert).await?;
        let columns = target_columns(&table.schema, &name, &insert)?;
        let Some(query) = insert.source.as_deref() else {
            return Ok((name, None));
        };
        if let Some(values) = plain_values(query) {
            let rows: Vec<&[Expr]> = values.rows.iter().map(|row| &*row.content).collect();
            check_widths(&rows, &columns, !insert.columns.is_empty())?;
            return Ok((name, None));
        }
        let plan = self.insert_plan(table, &columns, query, &insert).await?;
        Ok((name, Some(plan.runnable()?)))
    }

    /// The query's columns in table order, defaults in the gaps.
    async fn insert_plan(
        &self,
        table: &Table,
        columns: &[usize],
        query: &Query,
        insert: &Insert,
    ) -> Result<Logical> {
        let listed = !insert.columns.is_empty();
        let replaced = self.without_defaults(table, columns, query, listed)?;
        let (columns, query) = match &replaced {
            Some((columns, query)) => (columns.as_slice(), query),
            None => (columns, query),
        };
        let targets = columns
            .iter()
            .filter_map(|at| table.schema.columns.get(*at));
        let targets: Vec<(String, Type)> = stored_as(&self.snapshot, targets).collect();
        let ast = Ast::Query(Box::new(query.clone()));
        let source = front::planned_into(&self.relations(&ast).await?, &ast, &targets)?;
        let given = source.plan.schema().fields();
        let overriding = Overriding::of(insert);
        check_width(given.len(), columns.len(), !insert.columns.is_empty())?;
        let mut projection = Vec::with_capacity(table.schema.columns.len());
        for (index, column) in table.schema.columns.iter().enumerate() {
            let source = columns
                .iter()
                .position(|target| *target == index)
                .and_then(|at| given.get(at));
            let taken = source.is_some() && overriding.takes(column)?;
            let value = match source.filter(|_| taken) {
                Some(field) => {
                    let kind = field.data_type().clone();
                    (Computed::Column(field.name().clone()), kind)
                }
                None => {
                    let value = self.default_expr(column)?;
                    let kind = front::kind_of(&value)?;
                    (value, kind)
                }
            };
            let (value, kind) = value;
            projection.push((value, Arc::new(Field::new(&column.name, kind, true))));
        }
        let names = table
            .schema
            .columns
            .iter()
            .map(|column| column.name.clone());
        Ok(Logical {
            names: names.collect(),
            types: Vec::new(),
            parameters: Vec::new(),
            dated: true,
            session: source.session,
            unreadable: source.unreadable,
            plan: source.plan.projected(projection)?,
        })
    }

    /// VALUES with the defaults of columns in the place of DEFAULT, and without columns that get
    /// nothing else; `None` for another query.
    fn without_defaults(
        &self,
        table: &Table,
        columns: &[usize],
        query: &Query,
        listed: bool,
    ) -> Result<Option<(Vec<usize>, Query)>> {
        let SetExpr::Values(values) = query.body.as_ref() else {
            return Ok(None);
        };
        if !has_defaults(values) {
            return Ok(None);
        }
        let rows: Vec<&[Expr]> = values.rows.iter().map(|row| &*row.content).collect();
        check_widths(&rows, columns, listed)?;
        let width = rows.first().map_or(0, |row| row.len());
        let kept = (0..width).filter(|at| !rows.iter().all(|row| is_default(&row[*at])));
        let kept: Vec<usize> = kept.collect();
        let mut values = values.clone();
        for row in &mut values.rows {
            let mut content = Vec::with_capacity(kept.len());
            for at in &kept {
                let value = &row.content[*at];
                let column = table.schema.columns.get(columns[*at]);
                content.push(match column.filter(|_| is_default(value)) {
                    Some(column) => match default_of(&self.snapshot, column) {
                        Some(text) => parse_expr(text)?,
                        None => Expr::Value(Value::Null.with_empty_span()),
                    },
                    None => value.clone(),
                });
            }
            row.content = content;
        }
        let mut query = query.clone();
        query.body = Box::new(SetExpr::Values(values));
        Ok(Some((kept.iter().map(|at| columns[*at]).collect(), query)))
    }

    /// A column's DEFAULT as an expression, NULL if it has none.
    fn default_expr(&self, column: &Column) -> Result<Computed> {
        match default_of(&self.snapshot, column) {
            None => Ok(Computed::Literal(Scalar::null(&column.kind.arrow()))),
            Some(text) => self.expressions().lowered_for(&parse_expr(text)?, column),
        }
    }

    /// A column's DEFAULT, ready to be computed for rows without columns.
    pub(crate) fn default_compiled(&self, column: &Column) -> Result<Compiled> {
        let value = self.default_expr(column)?;
        self.expressions().compile(&value)
    }

    /// The value of an expression without columns.
    pub(super) fn constant(&self, expr: &Expr) -> Result<ArrayRef> {
        let none = Columns::default();
        self.expressions().evaluate(expr, &none, &one_row()?)
    }

    /// The same for a column that it is stored in.
    pub(super) fn constant_for(&self, expr: &Expr, column: &Column) -> Result<ArrayRef> {
        let (none, row) = (Columns::default(), one_row()?);
        self.expressions().evaluate_for(expr, &none, &row, column)
    }

    /// Checks that a DEFAULT can be computed and stored.
    pub(super) fn check_default(&self, column: &Column) -> Result<()> {
        // That of a generated column reads others.
        let Some(text) = column.default.as_ref().filter(|_| !column.generated) else {
            return Ok(());
        };
        let expr = parse_expr(text)?;
        let planned = self.default_expr(column)?;
        if planned.is_volatile() {
            // It may be a number of a sequence, which is not to be lost.
            self.check_sequences(&expr)?;
            return check_assignable(&front::kind_of(&planned)?, column);
        }
        let array = self.constant_for(&expr, column)?;
        assign(&array, column).map(|_| ()).map_err(|bad| {
            bad.error
                .with_detail(format!("in the default of column \"{}\"", column.name))
        })
    }

    /// The rows of VALUES as one batch of the whole table.
    fn literal_rows(
        &self,
        table: &Table,
        columns: &[usize],
        rows: &[Vec<&Expr>],
        overriding: Overriding,
    ) -> Result<RecordBatch> {
        let schema: &TableSchema = &table.schema;
        let constants = self.constants_of(schema, columns, rows)?;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.columns.len());
        for (index, column) in schema.columns.iter().enumerate() {
            let at = columns.iter().position(|target| *target == index);
            let given = |values: &[&'_ Expr]| {
                let value = at.and_then(|at| values.get(at).copied());
                value.is_some_and(|expr| !is_default(expr))
            };
            let taken = rows.iter().any(|values| given(values)) && overriding.takes(column)?;
            if taken && let Some(known) = at.and_then(|at| constants.get(at)?.clone()) {
                arrays.push(known);
                continue;
            }
            if !taken && let Some(sequence) = self.sequence_of(column)? {
                arrays.push(self.numbered(&sequence, column, rows.len())?);
                continue;
            }
            let default = default_of(&self.snapshot, column);
            let default = default.map(parse_expr).transpose()?;
            let mut cells = Cells::new(self, column);
            for (row, values) in rows.iter().enumerate() {
                let given = at
                    .and_then(|at| values.get(at).copied())
                    .filter(|expr| !is_default(expr));
                match given.or(default.as_ref()) {
                    None => cells.builder.push_null(),
                    Some(expr) => cells
                        .push(expr)
                        .map_err(|error| in_row(error, column, row))?,
                }
            }
            arrays.push(cells.finish()?);
        }
        Ok(RecordBatch::try_new(nullable(schema), arrays)?)
    }

    /// The columns of VALUES that have constants only. A constant that does not fit is told of
    /// before a number of any sequence is taken.
    fn constants_of(
        &self,
        schema: &TableSchema,
        columns: &[usize],
        rows: &[Vec<&Expr>],
    ) -> Result<Vec<Option<ArrayRef>>> {
        let mut known = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            let Some(column) = schema.columns.get(*column) else {
                continue;
            };
            let mut values = rows.iter().filter_map(|row| row.get(at));
            let whole = values.all(|expr| is_constant(expr));
            let mut cells = Cells::new(self, column);
            for (row, values) in rows.iter().enumerate() {
                if let Some(expr) = values.get(at)
                    && is_constant(expr)
                {
                    cells
                        .push(expr)
                        .map_err(|error| in_row(error, column, row))?;
                }
            }
            let cells = cells.finish()?;
            known.push(whole.then_some(cells));
        }
        Ok(known)
    }
}

/// An error of a value of VALUES, with its place unless it tells more.
fn in_row(error: Error, column: &Column, row: usize) -> Error {
    match error.detail {
        Some(_) => error,
        None => {
            let name = &column.name;
            error.with_detail(format!("column \"{name}\", row {}", row + 1))
        }
    }
}

/// Whether one of the values is the word DEFAULT.
fn has_defaults(values: &Values) -> bool {
    let mut all = values.rows.iter().flat_map(|row| &row.content);
    all.any(is_default)
}

/// Whether the values of a column are literals' as they stand.
pub(super) fn is_simple(column: &Column) -> bool {
    column.declared.is_none() && !column.generated
}

/// One column of VALUES being filled.
struct Cells<'a> {
    run: &'a Run<'a>,
    column: &'a Column,
    done: Vec<ArrayRef>,
    builder: ColumnBuilder,
}

impl<'a> Cells<'a> {
    fn new(run: &'a Run<'a>, column: &'a Column) -> Self {
        Self {
            run,
            column,
            done: Vec::new(),
            builder: ColumnBuilder::of(column, run.locale()),
        }
    }

    fn push(&mut self, expr: &Expr) -> Result<()> {
        match literal(expr, &self.column.kind) {
            Some(Literal::Null) => self.builder.push_null(),
            Some(Literal::Number(text)) => {
                // 2.7 into INTEGER is rounded, 1e3 is 1000: the general way knows.
                if self.builder.push(&text).is_err() {
                    self.compute(expr)?;
                }
            }
            Some(Literal::Text(text)) => self.builder.push(text)?,
            None => match is_whole(&self.column.kind) {
                true => match self.run.number_of(expr)? {
                    Some(number) => self.builder.push(&number.to_string())?,
                    None => self.compute(expr)?,
                },
                false => self.compute(expr)?,
            },
        }
        Ok(())
    }

    fn compute(&mut self, expr: &Expr) -> Result<()> {
        let value = self.run.constant_for(expr, self.column)?;
        let assigned = assign(&value, self.column).map_err(|bad| bad.error)?;
        self.done.push(self.builder.finish());
        self.done.push(assigned);
        Ok(())
    }

    fn finish(mut self) -> Result<ArrayRef> {
        let last = self.builder.finish();
        if self.done.is_empty() {
            return Ok(last);
        }
        self.done.push(last);
        let parts: Vec<&dyn Array> = self.done.iter().map(AsRef::as_ref).collect();
        Ok(concat(&parts)?)
    }
}

fn one_row() -> Result<RecordBatch> {
    use arrow::array::RecordBatchOptions;
    use arrow::datatypes::Schema;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    Ok(RecordBatch::try_new_with_options(
        Arc::new(Schema::empty()),
        Vec::new(),
        &options,
    )?)
}

/// Positions in the table of the columns that values are given for.
pub(super) fn target_columns(
    schema: &TableSchema,
    name: &Name,
    insert: &Insert,
) -> Result<Vec<usize>> {
    if insert.columns.is_empty() {
        return Ok((0..schema.declared().len()).collect());
    }
    columns_named(schema, name, &column_names(&insert.columns)?)
}

/// The names in a list of columns.
pub(super) fn column_names(written: &[ObjectName]) -> Result<Vec<String>> {
    written.iter().map(column_ident).collect()
}

/// Positions of named columns, each named once.
pub(crate) fn columns_named(
    schema: &TableSchema,
    table: &Name,
    names: &[String],
) -> Result<Vec<usize>> {
    let mut indexes = Vec::with_capacity(names.len());
    for name in names {
        let index = schema.index_of(name).ok_or_else(|| {
            let known = schema.declared().iter();
            let known = known.map(|column| column.name.as_str());
            Error::new(
                "42703",
                format!("column \"{name}\" of table \"{table}\" does not exist"),
            )
            .with_hint_opt(did_you_mean("column", name, known))
        })?;
        if indexes.contains(&index) {
            return Err(Error::new(
                "42701",
                format!("column \"{name}\" specified more than once"),
            ));
        }
        indexes.push(index);
    }
    Ok(indexes)
}

fn check_widths(rows: &[&[Expr]], columns: &[usize], listed: bool) -> Result<()> {
    let width = rows.first().map_or(0, |row| row.len());
    if rows.iter().any(|row| row.len() != width) {
        return Err(Error::new(
            "42601",
            "VALUES lists must all be the same length",
        ));
    }
    check_width(width, columns.len(), listed)
}

fn check_width(given: usize, targets: usize, listed: bool) -> Result<()> {
    if given > targets {
        return Err(Error::new(
            "42601",
            "INSERT has more expressions than target columns",
        ));
    }
    if given < targets && listed {
        return Err(Error::new(
            "42601",
            "INSERT has more target columns than expressions",
        ));
    }
    Ok(())
}
