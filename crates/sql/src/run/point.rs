//! Statements about the rows with one key: `WHERE k = 7`. They need no plan (Q5).
//!
//! Only what is understood whole is taken here; anything else is planned, also
//! a comparison whose types would have to be brought together first.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    Expr, Query, SelectItem, SetExpr, Statement as Ast, TableFactor,
};
use freestone_storage::delta::arrays;
use freestone_storage::{
    Column, ColumnType, KeyLookUp, Privileges, Row, Snapshot, Table, TableSchema,
};

use super::Run;
use super::key::{KeyCondition, KeyValues, column_of};
use super::materialized::may_read;
use crate::error::Result;
use crate::names::{Name, fold, table_name};
use crate::parameter::Parameter;
use crate::session::{Outcome, Session};
use crate::statement::parse_one;
use crate::types::{TYPE_KEY, type_held};

/// A SELECT of columns of one table by a key.
#[derive(Debug)]
pub(crate) struct PointQuery {
    name: Name,
    schema: Arc<TableSchema>,
    condition: KeyCondition,
    look_up: KeyLookUp,
    /// The columns of the answer, and what they are called there.
    columns: Vec<Column>,
    answer: SchemaRef,
}

/// The only form of a query that is understood here, but for its list, its
/// table and its condition.
static FORM: LazyLock<Option<Ast>> = LazyLock::new(|| parse_one("SELECT a FROM t WHERE a").ok());

impl PointQuery {
    /// Reads a query; `None` for one of another form.
    ///
    /// # Errors
    /// Those of preparing the look-up.
    pub(crate) fn of(snapshot: &Snapshot, query: &Query) -> Result<Option<PointQuery>> {
        let Some((list, table, selection)) = parts(query) else {
            return Ok(None);
        };
        let TableFactor::Table { name, alias, .. } = &table else {
            return Ok(None);
        };
        let Ok(name) = table_name(name) else {
            return Ok(None);
        };
        let Some(table) = snapshot.table(&name.schema, &name.name) else {
            return Ok(None);
        };
        if table.schema.partitioned.is_some() || may_read(table).is_err() {
            return Ok(None);
        }
        let alias = match alias {
            None => name.name.clone(),
            Some(alias) if alias.columns.is_empty() => fold(&alias.name),
            Some(_) => return Ok(None),
        };
        let schema = Arc::clone(&table.schema);
        let Some(condition) = KeyCondition::of(&selection, &schema, &alias) else {
            return Ok(None);
        };
        let Some((columns, names)) = listed(&list, &schema, &alias) else {
            return Ok(None);
        };
        // The front knows how others are shown; those of CHAR(n) get their blanks there.
        let is_shown =
            |column: &Column| column.is_plain() && !matches!(column.kind, ColumnType::Char(_));
        if !columns
            .iter()
            .all(|column| is_shown(&schema.columns[*column]))
        {
            return Ok(None);
        }
        let look_up = KeyLookUp::prepare(&schema, condition.columns(), &columns)?.of_reader();
        let columns = columns.iter().map(|column| schema.columns[*column].clone());
        let columns: Vec<Column> = columns.collect();
        let fields = columns.iter().zip(&names).map(|(column, name)| {
            let said = [(TYPE_KEY.to_owned(), type_held(column).to_string())];
            Field::new(name, column.kind.arrow(), column.nullable).with_metadata(said.into())
        });
        Ok(Some(PointQuery {
            answer: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            name,
            schema,
            condition,
            look_up,
            columns,
        }))
    }

    /// The table, if it is still what the query was read for.
    pub(crate) fn table<'a>(&self, snapshot: &'a Snapshot) -> Option<&'a Arc<Table>> {
        let table = snapshot.table(&self.name.schema, &self.name.name);
        table.filter(|table| Arc::ptr_eq(&table.schema, &self.schema))
    }

    /// Whether the session may read the table; if not, the general way says why.
    pub(crate) fn is_allowed(&self, session: &Session, snapshot: &Snapshot, table: &Table) -> bool {
        if !session.identity().is_limited() {
            return true;
        }
        let rights = session.identity().rights(snapshot);
        rights.within(&self.name.schema, &table.id.into(), Privileges::SELECT)
    }

    /// The rows; `None` if a parameter has a type that the column does not.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub(crate) fn rows(
        &self,
        snapshot: &Snapshot,
        table: &Table,
        parameters: &[Parameter],
    ) -> Result<Option<Vec<Row>>> {
        let found = match self.condition.values(&self.schema, parameters) {
            None => return Ok(None),
            Some(KeyValues::Null) => Vec::new(),
            Some(KeyValues::Some(key)) => {
                table.activity().looked_up(1);
                table.find(&snapshot.read_view(table.id), &self.look_up, &key)?
            }
        };
        Ok(Some(found.into_iter().map(|(_, row)| row).collect()))
    }

    /// Rows as a batch.
    ///
    /// # Errors
    /// `Corrupt` for values that are none of their column.
    pub(crate) fn batch(&self, rows: &[Row]) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let arrays = arrays(&self.columns, rows)?;
        let schema = Arc::clone(&self.answer);
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

/// List, table and condition of a query of the known form.
fn parts(query: &Query) -> Option<(Vec<SelectItem>, TableFactor, Expr)> {
    let (Some(Ast::Query(form)), SetExpr::Select(_)) = (FORM.deref(), query.body.as_ref()) else {
        return None;
    };
    let SetExpr::Select(known) = form.body.as_ref() else {
        return None;
    };
    // A copy of the whole would take long of most queries.
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let is_plain = |item: &SelectItem| match item {
        SelectItem::Wildcard(_) => true,
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
            matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        }
        _ => false,
    };
    let plain = query.with.is_none()
        && select.from.len() == 1
        && select.selection.is_some()
        && select.projection.iter().all(is_plain);
    if !plain {
        return None;
    }
    let mut rest = query.clone();
    let SetExpr::Select(select) = rest.body.as_mut() else {
        return None;
    };
    let list = std::mem::replace(&mut select.projection, known.projection.clone());
    let selection = std::mem::replace(&mut select.selection, known.selection.clone())?;
    let table = select.from.first()?.relation.clone();
    let written = &mut select.from.first_mut()?.relation;
    if let (TableFactor::Table { name, alias, .. }, TableFactor::Table { name: plain, .. }) =
        (written, &known.from.first()?.relation)
    {
        *name = plain.clone();
        *alias = None;
    }
    (rest == **form).then_some((list, table, selection))
}

/// Positions and names of the columns in a SELECT list of columns alone.
fn listed(
    list: &[SelectItem],
    schema: &TableSchema,
    alias: &str,
) -> Option<(Vec<usize>, Vec<String>)> {
    let (mut columns, mut names) = (Vec::new(), Vec::new());
    for item in list {
        match item {
            SelectItem::Wildcard(options) if *options == Default::default() => {
                for (number, column) in schema.declared().iter().enumerate() {
                    columns.push(number);
                    names.push(column.name.clone());
                }
            }
            SelectItem::UnnamedExpr(expr) => {
                let column = column_of(expr, schema, alias)?;
                columns.push(column);
                names.push(schema.columns[column].name.clone());
            }
            SelectItem::ExprWithAlias { expr, alias: name } => {
                columns.push(column_of(expr, schema, alias)?);
                names.push(fold(name));
            }
            _ => return None,
        }
    }
    Some((columns, names))
}

impl Run<'_> {
    /// Answers a query by a key; `None` for any other.
    pub(super) fn point(&self, query: &Query) -> Result<Option<Outcome>> {
        let Some(point) = PointQuery::of(&self.snapshot, query)? else {
            return Ok(None);
        };
        let Some(table) = point.table(&self.snapshot) else {
            return Ok(None);
        };
        if !point.is_allowed(self.session, &self.snapshot, table) {
            return Ok(None);
        }
        match point.rows(&self.snapshot, table, &[])? {
            None => Ok(None),
            Some(rows) => Ok(Some(Outcome::batch(point.batch(&rows)?)?)),
        }
    }
}
