//! RETURNING: a statement's rows, as it left them or took them away.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, new_empty_array};
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, Schema};
use freestone_frontend::bind::name_of_expression;
use freestone_frontend::types::Type;
use freestone_storage::{ColumnType, Table};
use sqlparser::ast::{
    Expr, Ident, ObjectName, SelectItem, SelectItemQualifiedWildcardKind as Qualified,
    Statement as Ast, TableFactor, TableWithJoins,
};

use super::Run;
use super::change::stored_in;
use super::compose;
use crate::error::{Error, Result};
use crate::front::{Columns, has_query};
use crate::names::{fold, fold_part};
use crate::outcome::Outcome;
use crate::relations::updatable::{PLACE, Through};
use crate::relations::{Given, Gives, expressions_of};
use crate::types::nullable;

/// Another table of a statement, whose columns RETURNING may name.
pub(super) struct Other {
    /// The name by which the statement calls it.
    called: Ident,
    /// Names and types of its columns.
    pub(super) columns: Vec<(String, Type)>,
}

impl Other {
    /// The list of its columns in a query.
    pub(super) fn list(&self) -> SelectItem {
        compose::all_of(&self.called)
    }
}

/// Whether a list asks for what only a query finds.
pub(super) fn asks(list: Option<&[SelectItem]>) -> bool {
    let query = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => has_query(expr),
        _ => false,
    };
    list.is_some_and(|list| list.iter().any(query))
}

/// What the tables of FROM or USING are called, in order.
fn names_of(tables: &[TableWithJoins]) -> Result<Vec<Ident>> {
    fn add(factor: &TableFactor, names: &mut Vec<Ident>) -> Result<()> {
        let alias = match factor {
            TableFactor::Table { name, alias, .. } => match (alias, name.0.last()) {
                (Some(alias), _) => Some(alias.name.clone()),
                (None, Some(last)) => last.as_ident().cloned(),
                (None, None) => None,
            },
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => return join(table_with_joins, names),
            TableFactor::NestedJoin { alias, .. }
            | TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. } => alias.as_ref().map(|alias| alias.name.clone()),
            _ => None,
        };
        let lacks = || Error::unsupported("RETURNING beside a table without a name");
        names.push(alias.ok_or_else(lacks)?);
        Ok(())
    }
    fn join(table: &TableWithJoins, names: &mut Vec<Ident>) -> Result<()> {
        add(&table.relation, names)?;
        let mut joins = table.joins.iter();
        joins.try_for_each(|joined| add(&joined.relation, names))
    }
    let mut names = Vec::new();
    tables
        .iter()
        .try_for_each(|table| join(table, &mut names))?;
    Ok(names)
}

impl Run<'_> {
    /// The other tables of a statement with RETURNING.
    ///
    /// # Errors
    /// Those of planning them.
    pub(super) async fn others(&self, tables: &[TableWithJoins]) -> Result<Vec<Other>> {
        let mut others = Vec::new();
        for name in names_of(tables)? {
            let called = compose::exact(&fold(&name));
            let mut query = compose::query(vec![compose::all_of(&called)], tables.to_vec(), None)?;
            query.with.clone_from(&self.around.lock());
            let plan = self.logical(&Ast::Query(Box::new(query))).await?;
            others.push(Other {
                called,
                columns: plan.names.into_iter().zip(plan.types).collect(),
            });
        }
        Ok(others)
    }

    /// As [`Run::returned`], for a list with sub-queries or columns of other tables, whose
    /// columns stand in `beside`, a row for each of `rows`.
    ///
    /// # Errors
    /// Whatever is wrong with the list.
    pub(super) async fn returned_beside(
        &self,
        (table, alias, through): (&Table, &str, Option<&Through>),
        list: &[SelectItem],
        rows: &[RecordBatch],
        (others, beside): (&[Other], &[RecordBatch]),
    ) -> Result<Outcome> {
        Gives::of(&self.snapshot, expressions_of(list))?.refuse("RETURNING")?;
        let rows = concat_batches(&nullable(&table.schema), rows)?;
        let returned = match through {
            Some(through) => self.place_through(through, table, &rows)?,
            None => {
                let columns = stored_in(&self.snapshot, table.schema.declared());
                let columns: Vec<_> = columns.collect();
                let arrays = rows.columns()[..columns.len()].to_vec();
                self.place("returned rows", columns, arrays)?
            }
        };
        let own = compose::exact(alias);
        let relation = compose::table(returned, own.clone(), Vec::new())?;
        let (mut from, mut condition) = (vec![compose::alone(relation)], None);
        let all = match beside.first() {
            Some(first) => Some(concat_batches(&first.schema(), beside)?),
            None => None,
        };
        let mut at = 0;
        for (number, other) in others.iter().enumerate() {
            let width = other.columns.len();
            let arrays = match &all {
                Some(all) => all.columns()[at..at + width].to_vec(),
                None => {
                    let columns = other.columns.iter();
                    columns
                        .map(|(_, ty)| new_empty_array(&ty.arrow()))
                        .collect()
                }
            };
            at += width;
            let name = format!("returned rows of {number}");
            let name = self.place(&name, other.columns.clone(), arrays)?;
            let relation = compose::table(name, other.called.clone(), Vec::new())?;
            from.push(compose::alone(relation));
            let place = |table: &Ident| compose::column(table, PLACE);
            let same = compose::equal(place(&own), place(&other.called));
            condition = Some(match condition {
                Some(condition) => compose::both(condition, same),
                None => same,
            });
        }
        let query = compose::query(list.to_vec(), from, condition)?;
        *self.list_of.lock() = Some("RETURNING");
        let outcome = Box::pin(self.query(&Ast::Query(Box::new(query)))).await;
        *self.list_of.lock() = None;
        outcome
    }

    /// Gives rows a name that a query may use.
    pub(super) fn place(
        &self,
        name: &str,
        columns: Vec<(String, Type)>,
        mut arrays: Vec<ArrayRef>,
    ) -> Result<ObjectName> {
        let count = arrays.first().map_or(0, |array| array.len());
        let places = Int64Array::from_iter_values((0..).take(count));
        arrays.push(Arc::new(places));
        let names = columns.iter().map(|(name, _)| name.as_str()).chain([PLACE]);
        let fields = names.zip(&arrays);
        let fields = fields.map(|(name, array)| Field::new(name, array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let rows = RecordBatch::try_new(schema, arrays)?;
        let mut given = Given::new(name.to_owned(), columns, vec![rows])?;
        given.hidden = vec![(PLACE.to_owned(), Type::Int8)];
        self.given.lock().push(given);
        Ok(compose::relation(name))
    }

    /// The outcome of a statement that changed `rows`: the RETURNING list over
    /// them, if there is one, else its tag.
    ///
    /// # Errors
    /// Whatever is wrong with the list.
    pub(super) fn returned(
        &self,
        table: &Table,
        alias: &str,
        list: Option<&[SelectItem]>,
        rows: &[RecordBatch],
        tag: String,
        count: u64,
    ) -> Result<Outcome> {
        let Some(list) = list else {
            return Ok(Outcome::Done { tag, rows: count });
        };
        let rows = concat_batches(&nullable(&table.schema), rows)?;
        let columns = Columns::of_rows(table, alias);
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = Default::default();
        let mut add = |field: Field, array: ArrayRef| {
            fields.push(field);
            arrays.push(array);
        };
        let all = || -> Result<Vec<(Field, ArrayRef)>> {
            let all = table.schema.declared().iter().zip(rows.columns());
            let all = all.map(|(column, array)| {
                let name = column.name.clone();
                let lengthy = matches!(column.kind, ColumnType::Char(_) | ColumnType::Varchar(_));
                if column.is_plain() && !lengthy {
                    let field = Field::new(name, array.data_type().clone(), true);
                    return Ok((field, Arc::clone(array)));
                }
                // Clients are shown another form than the column has.
                let expr = Expr::Identifier(Ident::with_quote('"', &name));
                let (field, array) = self.expressions().shown(&expr, &columns, &rows)?;
                Ok((field.with_name(name), array))
            });
            all.collect()
        };
        for item in list {
            let (expr, name) = match item {
                SelectItem::UnnamedExpr(expr) => (expr, name_of_expression(expr)),
                SelectItem::ExprWithAlias { expr, alias } => (expr, fold(alias)),
                SelectItem::Wildcard(_) => {
                    all()?
                        .into_iter()
                        .for_each(|(field, array)| add(field, array));
                    continue;
                }
                SelectItem::QualifiedWildcard(Qualified::ObjectName(name), _)
                    if name.0.last().and_then(fold_part).as_deref() == Some(alias) =>
                {
                    all()?
                        .into_iter()
                        .for_each(|(field, array)| add(field, array));
                    continue;
                }
                other => {
                    let message = format!("RETURNING {other} is not supported");
                    return Err(Error::unsupported(message));
                }
            };
            let (field, array) = self.expressions().shown(expr, &columns, &rows)?;
            add(field.with_name(name), array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let schema = Arc::new(Schema::new(fields));
        Ok(Outcome::batch(RecordBatch::try_new_with_options(
            schema, arrays, &options,
        )?))
    }
}
