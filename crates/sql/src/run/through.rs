//! Changes of rows of views: they are changes of the table under them.
//!
//! See [`updatable`](crate::relations::updatable) for the queries.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, Schema};
use freestone_frontend::syntax::{self, marks};
use freestone_frontend::types::Type;
use freestone_storage::Table;
use sqlparser::ast::{
    ConflictTarget, Expr, Ident, Insert, ObjectName, ObjectNamePart, OnConflict, OnInsert,
    SelectItem, SetExpr, Statement as Ast, TableObject,
};

use super::Run;
use super::change::{Changed, stored_in};
use super::compose;
use super::insert::column_names;
use super::literal::is_default;
use crate::error::{Error, Result};
use crate::front::parse_expr;
use crate::grammar::printed;
use crate::ingest::shown_row;
use crate::names::{Name, fold};
use crate::relations::Given;
use crate::relations::updatable::{Command, PLACE, Through};
use crate::types::nullable;

impl Run<'_> {
    /// The table that a statement changes. Of a view it is the one under it: the statement's
    /// queries name the view by a mark then.
    ///
    /// # Errors
    /// `55000` for a view whose rows cannot be changed; those of names.
    pub(super) fn table_to_change(
        &self,
        changed: &mut Changed,
        command: Command,
    ) -> Result<Arc<Table>> {
        let Some(through) = self.view_to_change(&changed.name, command)? else {
            return self.stored_table(&changed.name).cloned();
        };
        let called = compose::relation(&through.called());
        changed.from = compose::table(called, changed.alias.clone(), Vec::new())?;
        let (name, table) = through.table();
        changed.name = name.clone();
        let table = Arc::clone(table);
        changed.through = Some(through);
        Ok(table)
    }

    /// The views over a table by which a statement changes its rows; `None` for a table.
    ///
    /// # Errors
    /// `55000` for a view whose rows cannot be changed.
    pub(super) fn view_to_change(
        &self,
        name: &Name,
        command: Command,
    ) -> Result<Option<Arc<Through>>> {
        if self.snapshot.view(&name.schema, &name.name).is_none() {
            return Ok(None);
        }
        let through = Through::of(self.snapshot.catalog(), name, command)?;
        Ok(Some(self.noted(|number| through.numbered(number))))
    }

    /// Lets queries of the statement name views.
    fn noted(&self, through: impl FnOnce(usize) -> Through) -> Arc<Through> {
        let mut all = self.through.lock();
        let through = Arc::new(through(all.len()));
        all.push(Arc::clone(&through));
        through
    }

    /// Lets queries name rows of the table under views as rows of the outermost one.
    pub(super) fn place_through(
        &self,
        through: &Through,
        table: &Table,
        rows: &RecordBatch,
    ) -> Result<ObjectName> {
        let declared = table.schema.declared().len();
        let all: Vec<(String, Type)> = stored_in(&self.snapshot, &table.schema.columns).collect();
        let (columns, hidden) = all.split_at(declared);
        let places = Int64Array::from_iter_values((0..).take(rows.num_rows()));
        let mut arrays: Vec<ArrayRef> = rows.columns().to_vec();
        arrays.push(Arc::new(places));
        let names = all.iter().map(|(name, _)| name.as_str()).chain([PLACE]);
        let fields = names.zip(&arrays);
        let fields = fields.map(|(name, array)| Field::new(name, array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let rows = RecordBatch::try_new(schema, arrays)?;
        let mut given = Given::new("rows of a view".to_owned(), columns.to_vec(), vec![rows])?;
        given.hidden = hidden.to_vec();
        given.hidden.push((PLACE.to_owned(), Type::Int8));
        let through = self.noted(|number| through.over_rows(number, given));
        Ok(compose::relation(&through.called()))
    }

    /// Checks that new rows are in sight of the views that ask for it.
    ///
    /// # Errors
    /// `44000` for one that is not.
    pub(super) async fn check_views(
        &self,
        through: Option<&Through>,
        table: &Table,
        written: &[RecordBatch],
    ) -> Result<()> {
        let Some(through) = through else {
            return Ok(());
        };
        let checks = through.checks();
        if checks.is_empty() || written.iter().all(|rows| rows.num_rows() == 0) {
            return Ok(());
        }
        let rows = concat_batches(&nullable(&table.schema), written)?;
        let view = compose::exact("v");
        let placed = self.place_through(through, table, &rows)?;
        let from = vec![compose::alone(compose::table(
            placed,
            view.clone(),
            Vec::new(),
        )?)];
        let checked = checks.iter();
        let checked =
            checked.map(|(check, _)| compose::named(compose::column(&view, check), check));
        let query = compose::query(checked.collect(), from, None)?;
        let query = compose::ordered(query, compose::column(&view, PLACE));
        let plan = self.logical(&Ast::Query(Box::new(query))).await?.stored()?;
        let plan = plan.runnable()?;
        let found = self.collected(plan, None).await?;
        let mut place = 0;
        for batch in &found {
            for row in 0..batch.num_rows() {
                for (column, (_, view)) in batch.columns().iter().zip(&checks) {
                    let met = column.as_boolean_opt();
                    let met = met.ok_or_else(|| Error::internal("a check that is no truth"))?;
                    if met.is_null(row) || !met.value(row) {
                        let view = &view.name;
                        let message = format!("new row violates check option for view \"{view}\"");
                        let shown = shown_row(table.schema.declared(), &rows, place);
                        return Err(Error::new("44000", message)
                            .with_detail(format!("Failing row contains ({shown}).")));
                    }
                }
                place += 1;
            }
        }
        Ok(())
    }

    /// An INSERT into a view as one into the table under it, which gives values to the same
    /// columns. Its ON CONFLICT looks for the keys of the table; what it assigns, and RETURNING,
    /// stay as they are.
    ///
    /// # Errors
    /// `0A000` for columns that are computed; those of names.
    pub(super) async fn inserted_through(
        &self,
        through: &Through,
        insert: &Insert,
    ) -> Result<Insert> {
        let mut insert = insert.clone();
        let (name, _) = through.table();
        let parts = [&name.schema, &name.name].map(|part| Ident::with_quote('"', part));
        insert.table = TableObject::TableName(ObjectName::from(parts.to_vec()));
        let listed = !insert.columns.is_empty();
        let mut columns: Vec<String> = match listed {
            true => {
                let heads = insert
                    .columns
                    .iter()
                    .map(|name| ObjectName(vec![name.0[0].clone()]));
                column_names(&heads.collect::<Vec<_>>())?
            }
            false => through.columns().map(str::to_owned).collect(),
        };
        if let Some(source) = &insert.source {
            let width = match source.body.as_ref() {
                SetExpr::Values(values) => values.rows.first().map_or(0, |row| row.content.len()),
                _ if listed => columns.len(),
                _ => {
                    let plan = self.logical(&Ast::Query(source.clone())).await?;
                    plan.names.len()
                }
            };
            if width > columns.len() {
                let message = "INSERT has more expressions than target columns";
                return Err(Error::new("42601", message));
            }
            if !listed {
                columns.truncate(width);
            }
        } else if !listed {
            columns.clear();
        }
        let mut names: Vec<ObjectName> = match listed {
            true => insert.columns.clone(),
            false => {
                let names = columns.iter();
                names
                    .map(|name| ObjectName::from(vec![Ident::with_quote('"', name)]))
                    .collect()
            }
        };
        let mut seen: Vec<String> = Vec::new();
        for (column, name) in columns.iter().zip(&mut names) {
            let of = through.column(column, Command::Insert)?;
            if name.0.len() == 1 && seen.contains(&of) {
                let message = format!("multiple assignments to same column \"{of}\"");
                return Err(Error::new("42601", message));
            }
            name.0[0] = ObjectNamePart::Identifier(Ident::with_quote('"', &of));
            seen.push(of);
        }
        insert.columns = names;
        self.with_defaults(through, &mut insert, &seen)?;
        if let Some(OnInsert::OnConflict(conflict)) = &mut insert.on {
            in_table(through, conflict)?;
        }
        Ok(insert)
    }

    /// Puts defaults of views in the place of DEFAULT, and of columns that get nothing.
    fn with_defaults(
        &self,
        through: &Through,
        insert: &mut Insert,
        given: &[String],
    ) -> Result<()> {
        let defaults = through.defaults(Command::Insert)?;
        if defaults.is_empty() {
            return Ok(());
        }
        let of = |column: &str| {
            let found = defaults.iter().find(|(known, _)| known == column);
            found.map(|(_, default)| parse_expr(default)).transpose()
        };
        if let Some(source) = &mut insert.source
            && let SetExpr::Values(values) = source.body.as_mut()
        {
            for row in &mut values.rows {
                for (value, column) in row.content.iter_mut().zip(given) {
                    if is_default(value)
                        && let Some(default) = of(column)?
                    {
                        *value = default;
                    }
                }
            }
        }
        let missing = defaults
            .iter()
            .filter(|(column, _)| !given.contains(column));
        let missing: Vec<&(String, String)> = missing.collect();
        if missing.is_empty() {
            return Ok(());
        }
        let more = missing.iter().map(|(_, default)| parse_expr(default));
        let more = more.collect::<Result<Vec<Expr>>>()?;
        match &mut insert.source {
            None => {
                insert.source = Some(Box::new(compose::row(more)?));
            }
            Some(source) => match source.body.as_mut() {
                SetExpr::Values(values) if source.with.is_none() => {
                    for row in &mut values.rows {
                        row.content.extend(more.iter().cloned());
                    }
                }
                _ => {
                    let called = compose::exact("source");
                    let mut list = vec![compose::all_of(&called)];
                    list.extend(more.into_iter().map(SelectItem::UnnamedExpr));
                    let inner = compose::derived((**source).clone(), called, Vec::new());
                    **source = compose::query(list, vec![compose::alone(inner)], None)?;
                }
            },
        }
        let names = missing.iter();
        let names = names.map(|(name, _)| ObjectName::from(vec![Ident::with_quote('"', name)]));
        insert.columns.extend(names);
        Ok(())
    }
}

/// Lets an ON CONFLICT name columns of the table.
///
/// # Errors
/// `42703` for columns that are none; `42704` for constraints, of which views have none.
fn in_table(through: &Through, conflict: &mut OnConflict) -> Result<()> {
    match &mut conflict.conflict_target {
        None => {}
        Some(ConflictTarget::OnConstraint(name)) => {
            let view = &through.view().name;
            let message = format!("constraint \"{name}\" for table \"{view}\" does not exist");
            return Err(Error::new("42704", message));
        }
        Some(ConflictTarget::Columns(elements)) => {
            for element in elements {
                let marked = [marks::INFERRED_WHERE, marks::INFERRED]
                    .into_iter()
                    .find_map(|mark| Some((mark, marks::marked(element, mark)?.to_owned())));
                if let Some((mark, text)) = marked {
                    let expr = through.in_table(&syntax::expression(&text)?);
                    *element = Ident::with_quote('"', format!("{mark}{}", printed(&expr)));
                    continue;
                }
                let name = fold(element);
                if !through.has_column(&name) {
                    let message = format!("column \"{name}\" does not exist");
                    return Err(Error::new("42703", message));
                }
                let expr = through.in_table(&Expr::Identifier(element.clone()));
                *element = match expr {
                    Expr::Identifier(column) => column,
                    computed => {
                        let text = format!("{}({})", marks::INFERRED, printed(&computed));
                        Ident::with_quote('"', text)
                    }
                };
            }
        }
    }
    Ok(())
}
