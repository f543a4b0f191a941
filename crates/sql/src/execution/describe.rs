//! What a prepared statement takes and gives, told before it runs.
//!
//! A query is planned with its parameters in it, and the planner tells what each is
//! compared with. A statement that changes rows is described by queries over the same
//! table: what it assigns, what it looks for, what it returns.

mod merge;
mod parts;

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use freestone_frontend::types::Type;
use freestone_storage::{ColumnType, Table};
use futures::future::BoxFuture;
use sqlparser::ast::{
    Assignment, Delete, Expr, FromTable, Insert, OnConflictAction, OnInsert, Query, SelectItem,
    SetExpr, Statement as Ast, TableFactor, TableObject, Update, Value, With,
};

use self::parts::{Kind, Target, casts, kind_of, listed, parameter_type, place, planned_over};
use crate::advisor;
use crate::error::Result;
use crate::grammar::{OwnStatement, Tree, printed};
use crate::interrupt::with_room;
use crate::names::{Name, fold, quoted, table_name};
use crate::outcome::Outcome;
use crate::parameter;
use crate::relations::Given;
use crate::relations::updatable::Command;
use crate::run::{Run, changes_rows, explain, given, is_default, with_before};
use crate::session::{Prepared, Session, executed};
use crate::statement::{changing, changing_query, parse_one};
use crate::types::{OBJECT, parameter_kind, type_held};

/// What a prepared statement takes and gives.
#[derive(Debug, Clone)]
pub struct Description {
    /// The type of each parameter, declared or told by its use; text where neither tells.
    pub parameters: Vec<DataType>,
    /// The names of the types of parameters whose Arrow type is that of their texts, as
    /// `format_type` gives them.
    pub said: Vec<Option<String>>,
    /// Columns of the result; `None` for a statement without one.
    pub columns: Option<SchemaRef>,
}

/// What is known so far.
struct Told {
    types: HashMap<usize, Kind>,
    columns: Option<SchemaRef>,
    /// What statements in WITH return, without rows.
    given: Vec<Given>,
    /// The queries in WITH.
    with: Option<With>,
}

impl Prepared {
    /// What it takes and gives in a session.
    ///
    /// # Errors
    /// Those of planning it.
    pub fn describe<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Description>> {
        // Apart, as what planning keeps is large.
        Box::pin(with_room(
            self.statement.is_deep(),
            Box::pin(self.described(session)),
        ))
    }

    async fn described(&self, session: &Session) -> Result<Description> {
        let Some(ast) = self.statement.sql() else {
            return Ok(Description {
                parameters: Vec::new(),
                said: Vec::new(),
                columns: self.told_by_advice()?,
            });
        };
        let pivoted = session.with_pivots(ast, self.statement.text()).await?;
        let ast = session.in_path(session.own_tables(&pivoted)?)?;
        let ast = ast.as_ref();
        if changes_rows(ast) && session.identity().is_limited() {
            // What columns are like is told to those only who may run it.
            let run = Run::planning(session)?;
            let catalog = run.snapshot.catalog();
            run.rights(catalog).check(catalog, ast)?;
        }
        let mut told = Told {
            types: casts(ast),
            columns: None,
            given: Vec::new(),
            with: None,
        };
        match ast {
            Ast::Query(query) if changing_query(ast).is_some() => {
                self.changes(session, query, &mut told).await?;
            }
            Ast::Query(_) | Ast::Insert(_) | Ast::Update(_) | Ast::Delete(_) | Ast::Merge(_) => {
                self.part(session, ast, &mut told).await?;
            }
            Ast::Declare { stmts } => {
                for query in stmts.iter().filter_map(|one| one.for_query.as_ref()) {
                    let query = Ast::Query(query.clone());
                    self.planned(session, &query, None, &mut told).await?;
                }
            }
            Ast::Fetch { name, .. } if self.statement.returns_rows() => {
                told.columns = Some(session.cursors().schema(&fold(name))?);
            }
            Ast::Execute {
                name: Some(name), ..
            } => {
                let name = executed(name).unwrap_or_default();
                told.columns = session.kept_columns(&name).await?;
            }
            _ if self.statement.returns_rows() => {
                told.columns = self.answered(session, ast).await?;
            }
            _ => {}
        }
        let (mut parameters, mut said) = (Vec::new(), Vec::new());
        for number in 0..self.parameters() {
            let declared = self.types.get(number).and_then(Option::as_ref);
            let declared = declared.map(parameter_type);
            let (kind, name) = match declared.transpose()? {
                Some(kind) => kind,
                None => match told.types.remove(&number) {
                    Some(kind) => kind,
                    None => (DataType::Utf8View, None),
                },
            };
            parameters.push(kind);
            said.push(name);
        }
        Ok(Description {
            parameters,
            said,
            columns: told.columns,
        })
    }

    /// A query, or a statement that changes rows.
    async fn part(&self, session: &Session, ast: &Ast, told: &mut Told) -> Result<()> {
        match ast {
            Ast::Insert(insert) => self.insert(session, insert, told).await,
            Ast::Update(update) => self.update(session, update, told).await,
            Ast::Delete(delete) => self.delete(session, delete, told).await,
            Ast::Merge(merge) => self.merge(session, merge, told).await,
            _ => {
                told.columns = Some(self.planned(session, ast, None, told).await?);
                Ok(())
            }
        }
    }

    /// A query that changes rows, or one with statements in WITH that do.
    async fn changes(&self, session: &Session, query: &Query, told: &mut Told) -> Result<()> {
        let mut ctes = Vec::new();
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let Some(ast) = changing(&cte.query) else {
                ctes.push(cte.clone());
                told.with = query.with.as_ref().map(|with| With {
                    cte_tables: ctes.clone(),
                    ..with.clone()
                });
                continue;
            };
            Box::pin(self.part(session, ast, told)).await?;
            let rows = match told.columns.take() {
                Some(columns) => Outcome::batches(columns, Vec::new()),
                None => Outcome::done("UPDATE 0"),
            };
            let name = fold(&cte.alias.name);
            told.given
                .push(given(name, &cte.alias.columns, rows).await?);
        }
        let main = match changing(query) {
            Some(ast) => ast.clone(),
            None => {
                let mut main = query.clone();
                main.with = None;
                Ast::Query(Box::new(main))
            }
        };
        Box::pin(self.part(session, &main, told)).await
    }

    /// The columns of the advisor's answer, if the statement asks for one.
    fn told_by_advice(&self) -> Result<Option<SchemaRef>> {
        match self.statement.tree() {
            Tree::Own(OwnStatement::Advice(asked)) if asked.returns_rows() => {
                Ok(Some(advisor::columns(asked)?))
            }
            _ => Ok(None),
        }
    }

    /// The columns that a statement answers with that is no query. Nothing is changed or
    /// measured to know them.
    async fn answered(&self, session: &Session, ast: &Ast) -> Result<Option<SchemaRef>> {
        if let Some(columns) = explain::columns(ast)? {
            return Ok(Some(columns));
        }
        match session.run(&self.statement).await? {
            Outcome::Rows(rows) => Ok(Some(rows.schema)),
            Outcome::Done { .. } => Ok(None),
        }
    }

    /// Plans a query; what it tells of parameters is added to `types`. Of the table that
    /// the statement changes no right to read is asked for.
    async fn planned(
        &self,
        session: &Session,
        ast: &Ast,
        changed: Option<&Name>,
        told: &mut Told,
    ) -> Result<SchemaRef> {
        let with = told.with.as_ref();
        let ast = match with {
            Some(with) => &with_before(ast.clone(), &with.cte_tables, with)?,
            None => ast,
        };
        let types = &mut told.types;
        let bound = parameter::bind(ast, self.parameters(), &self.holders())?;
        let run = Run::planning(session)?;
        run.set_given(told.given.clone());
        let plan = match planned_over(&run, &bound, changed).await {
            Ok(plan) => plan,
            // Not every function takes what has no type: NULL it is for those.
            Err(first) => {
                let nulls = (0..self.parameters())
                    .map(|number| self.typed(number, Expr::Value(Value::Null.with_empty_span())));
                let bound = parameter::bind(ast, self.parameters(), &nulls.collect::<Vec<_>>())?;
                planned_over(&run, &bound, changed)
                    .await
                    .map_err(|_| first)?
            }
        };
        for (number, kind) in plan.parameters.iter().enumerate() {
            if let Some(kind) = kind {
                let held = match kind {
                    Type::Numeric(None) => parameter_kind(&ColumnType::Numeric),
                    Type::Oid | Type::Reg(_) => OBJECT,
                    kind => kind.arrow(),
                };
                types.entry(number).or_insert_with(|| kind_of(kind, held));
            }
        }
        let fields = plan.plan.schema().fields().iter().zip(&plan.names);
        let fields = fields.map(|(field, name)| field.as_ref().clone().with_name(name));
        Ok(Arc::new(Schema::new(fields.collect::<Vec<Field>>())))
    }

    /// Plans `SELECT what FROM from`, for what that tells.
    async fn selected(
        &self,
        session: &Session,
        (what, from): (&str, &str),
        changed: Option<&Name>,
        told: &mut Told,
    ) -> Result<SchemaRef> {
        let ast = parse_one(&format!("SELECT {what} FROM {from}"))?;
        self.planned(session, &ast, changed, told).await
    }

    async fn insert(&self, session: &Session, insert: &Insert, told: &mut Told) -> Result<()> {
        let TableObject::TableName(written) = &insert.table else {
            return Ok(());
        };
        let target = Target::of(session, table_name(written)?, Command::Insert)?;
        let (name, table) = (&target.name, &target.table);
        let run = Run::planning(session)?;
        let named = run.by_name(insert).await?;
        let insert = named.as_ref().unwrap_or(insert);
        let elements = target.by_element(&run, insert)?;
        let insert = elements.as_ref().unwrap_or(insert);
        let columns = target.named_or_all(&insert.columns);
        if let Some(source) = &insert.source {
            match source.body.as_ref() {
                SetExpr::Values(values) => {
                    for row in &values.rows {
                        for (value, column) in row.content.iter().zip(&columns) {
                            self.assigned(session, table, (column, value), told).await?;
                        }
                    }
                }
                SetExpr::Select(select) => {
                    for (item, column) in select.projection.iter().zip(&columns) {
                        if let SelectItem::UnnamedExpr(expr)
                        | SelectItem::ExprWithAlias { expr, .. } = item
                        {
                            told.direct(table, (column, expr));
                        }
                    }
                    let query = Ast::Query(source.clone());
                    self.planned(session, &query, None, told).await?;
                }
                _ => {
                    let query = Ast::Query(source.clone());
                    self.planned(session, &query, None, told).await?;
                }
            }
        }
        let alias = insert.table_alias.as_ref();
        let called = alias.map_or_else(|| name.name.clone(), |alias| fold(&alias.alias));
        if let Some(OnInsert::OnConflict(conflict)) = &insert.on
            && let OnConflictAction::DoUpdate(update) = &conflict.action
        {
            let what = told.values(&target, &update.assignments, &called)?;
            let says_more = what != "1" || update.selection.is_some();
            let full = format!("{}.{}", quoted(&name.schema), quoted(&name.name));
            let from = format!("{full} AS {}, {full} AS excluded", quoted(&called));
            let place = place(&from, update.selection.as_ref());
            if says_more {
                self.selected(session, (&what, &place), Some(name), told)
                    .await?;
            }
        }
        let returning = insert.returning.as_deref();
        self.returned(session, (name, &called), returning, told)
            .await
    }

    async fn update(&self, session: &Session, update: &Update, told: &mut Told) -> Result<()> {
        let TableFactor::Table {
            name: written,
            alias,
            ..
        } = &update.table.relation
        else {
            return Ok(());
        };
        let target = Target::of(session, table_name(written)?, Command::Update)?;
        let called = match alias {
            Some(alias) => fold(&alias.name),
            None => target.name.name.clone(),
        };
        let what = told.values(&target, &update.assignments, &called)?;
        let mut from = printed(&update.table);
        if let Some(others) = &update.from {
            use sqlparser::ast::UpdateTableFromKind as Kind;
            let (Kind::BeforeSet(others) | Kind::AfterSet(others)) = others;
            others.iter().for_each(|other| {
                from.push_str(", ");
                from.push_str(&printed(other));
            });
        }
        let place = place(&from, update.selection.as_ref());
        self.selected(session, (&what, &place), Some(&target.name), told)
            .await?;
        if let Some(returning) = &update.returning {
            let schema = self
                .selected(session, (&listed(returning), &from), None, told)
                .await?;
            told.columns = Some(schema);
        }
        Ok(())
    }

    async fn delete(&self, session: &Session, delete: &Delete, told: &mut Told) -> Result<()> {
        let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
        let others = delete.using.iter().flatten();
        let all: Vec<String> = tables.iter().chain(others).map(printed).collect();
        let from = all.join(", ");
        let place = place(&from, delete.selection.as_ref());
        let name = match tables.first().map(|table| &table.relation) {
            Some(TableFactor::Table { name, .. }) => Some(table_name(name)?),
            _ => None,
        };
        self.selected(session, ("1", &place), name.as_ref(), told)
            .await?;
        if let Some(returning) = &delete.returning {
            let schema = self
                .selected(session, (&listed(returning), &from), None, told)
                .await?;
            told.columns = Some(schema);
        }
        Ok(())
    }

    /// What a value that is assigned to a column tells.
    async fn assigned(
        &self,
        session: &Session,
        table: &Table,
        (column, value): (&str, &Expr),
        told: &mut Told,
    ) -> Result<()> {
        let is_plain = matches!(value, Expr::Value(_) | Expr::Identifier(_));
        if !told.direct(table, (column, value)) && !is_plain {
            let ast = parse_one(&format!("SELECT {}", printed(value)))?;
            if parameter::count(&ast)? > 0 {
                self.planned(session, &ast, None, told).await?;
            }
        }
        Ok(())
    }

    async fn returned(
        &self,
        session: &Session,
        (name, called): (&Name, &str),
        returning: Option<&[SelectItem]>,
        told: &mut Told,
    ) -> Result<()> {
        let Some(returning) = returning else {
            return Ok(());
        };
        let from = format!(
            "{}.{} AS {}",
            quoted(&name.schema),
            quoted(&name.name),
            quoted(called)
        );
        let schema = self
            .selected(session, (&listed(returning), &from), None, told)
            .await?;
        told.columns = Some(schema);
        Ok(())
    }
}

impl Told {
    /// Gives parameters that SET assigns the types of their columns; the list of the other values,
    /// to be planned.
    fn values(
        &mut self,
        target: &Target,
        assignments: &[Assignment],
        called: &str,
    ) -> Result<String> {
        let mut what = vec!["1".to_owned()];
        for (column, value) in target.values(assignments, called)? {
            let is_direct = self.direct(&target.table, (&target.column(&column), &value));
            if !is_direct && !is_default(&value) {
                what.push(printed(&value));
            }
        }
        Ok(what.join(", "))
    }

    /// A parameter that is assigned as it is has the column's type.
    fn direct(&mut self, table: &Table, (column, value): (&str, &Expr)) -> bool {
        let number = parameter::number_of(value);
        let place = table.schema.index_of(column);
        if let (Some(number), Some(place)) = (number, place) {
            let column = &table.schema.columns[place];
            let kind = kind_of(&type_held(column), parameter_kind(&column.kind));
            self.types.entry(number).or_insert(kind);
        }
        number.is_some()
    }
}
