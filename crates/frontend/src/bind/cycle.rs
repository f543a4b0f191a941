//! SEARCH and CYCLE of recursive queries.
//!
//! Both add columns to the query, as if it were written so:
//!
//! | clause | column | first | then |
//! |---|---|---|---|
//! | `SEARCH DEPTH FIRST BY a SET o` | `o` | `ARRAY[ROW(a)]` | `t.o || ROW(a)` |
//! | `SEARCH BREADTH FIRST BY a SET o` | `o` | `ROW(0, a)` | `ROW(t.o.f1 + 1, a)` |
//! | `CYCLE a SET m TO x DEFAULT y USING p` | `m` | `y` | `CASE WHEN ROW(a) = ANY (t.p) THEN x ELSE y END` |
//! | | `p` | `ARRAY[ROW(a)]` | `t.p || ROW(a)` |
//!
//! Rows whose mark is `x` are not followed.

use sqlparser::ast::{
    BinaryOperator, Expr as Ast, Ident, Select, SelectItem, SetExpr, TableAliasColumnDef,
    TableFactor, TableWithJoins,
};

use super::coerce::common_of;
use super::{Binder, Coercion, fold};
use crate::error::{Error, Result};
use crate::plan::{Column, Expr, ExprKind, Plan};
use crate::syntax::marks::{CYCLE, PART, SEARCH, marked};
use crate::types::Type;

/// The clauses of one query.
#[derive(Debug, Default)]
pub(super) struct Marks {
    search: Option<Search>,
    cycle: Option<Cycle>,
}

#[derive(Debug)]
struct Search {
    breadth: bool,
    sequence: String,
    columns: Vec<String>,
}

#[derive(Debug)]
struct Cycle {
    mark: String,
    path: String,
    value: Ast,
    default: Ast,
    columns: Vec<String>,
}

impl Marks {
    /// Whether a column of the list stands for a clause.
    pub(super) fn is_one(ident: &Ident) -> bool {
        marked(ident, SEARCH).or(marked(ident, CYCLE)).is_some()
    }

    /// The clauses that columns of a list stand for.
    pub(super) fn of(columns: &[TableAliasColumnDef]) -> Result<Self> {
        let mut marks = Self::default();
        for column in columns {
            if let Some(text) = marked(&column.name, SEARCH) {
                let mut parts = text.split(PART).map(str::to_owned);
                let breadth = parts.next().as_deref() == Some("breadth");
                marks.search = Some(Search {
                    breadth,
                    sequence: parts.next().unwrap_or_default(),
                    columns: parts.collect(),
                });
            }
            if let Some(text) = marked(&column.name, CYCLE) {
                let mut parts = text.split(PART).map(str::to_owned);
                let mut part = || parts.next().unwrap_or_default();
                let (mark, path, value, default) = (part(), part(), part(), part());
                marks.cycle = Some(Cycle {
                    mark,
                    path,
                    value: crate::syntax::expression(&value)?,
                    default: crate::syntax::expression(&default)?,
                    columns: parts.collect(),
                });
            }
        }
        Ok(marks)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.search.is_none() && self.cycle.is_none()
    }

    /// Names of the columns that are added, in order.
    fn added(&self) -> Vec<&str> {
        let search = self.search.iter().map(|search| search.sequence.as_str());
        let cycle = self.cycle.iter();
        let cycle = cycle.flat_map(|cycle| [cycle.mark.as_str(), cycle.path.as_str()]);
        search.chain(cycle).collect()
    }

    /// Refuses names that are used twice or are not there.
    pub(super) fn check(&self, own: &[Column]) -> Result<()> {
        let has = |name: &str| own.iter().any(|column| column.name == name);
        let listed = |clause: &str, columns: &[String]| {
            for (at, name) in columns.iter().enumerate() {
                if !has(name) {
                    let message =
                        format!("{clause} column \"{name}\" not in WITH query column list");
                    return Err(Error::new("42601", message));
                }
                if columns[..at].contains(name) {
                    let message = format!("{clause} column \"{name}\" specified more than once");
                    return Err(Error::new("42701", message));
                }
            }
            Ok(())
        };
        let free = |what: &str, name: &str| match has(name) {
            true => Err(Error::new(
                "42601",
                format!("{what} name \"{name}\" already used in WITH query column list"),
            )),
            false => Ok(()),
        };
        if let Some(search) = &self.search {
            listed("search", &search.columns)?;
            free("search sequence column", &search.sequence)?;
        }
        if let Some(cycle) = &self.cycle {
            listed("cycle", &cycle.columns)?;
            free("cycle mark column", &cycle.mark)?;
            free("cycle path column", &cycle.path)?;
        }
        Ok(())
    }
}

impl Binder<'_> {
    /// The first term, with the columns that are added.
    pub(super) fn marked_base(
        &mut self,
        base: Plan,
        own: &[Column],
        marks: &Marks,
    ) -> Result<Plan> {
        if marks.is_empty() {
            return Ok(base);
        }
        marks.check_columns(own)?;
        let mut items = kept(&base.columns());
        if let Some(search) = &marks.search {
            let row = row_of(&search.columns, own)?;
            let value = match search.breadth {
                true => {
                    let zero = self.coerce(Expr::int4(0), &Type::Int8, Coercion::Implicit)?;
                    counted(zero, row)
                }
                false => one_of(row),
            };
            items.push((
                self.column(search.sequence.clone(), value.ty.clone()),
                value,
            ));
        }
        if let Some(cycle) = &marks.cycle {
            let [_, default] = self.mark_values(cycle)?;
            items.push((self.column(cycle.mark.clone(), default.ty.clone()), default));
            let path = one_of(row_of(&cycle.columns, own)?);
            items.push((self.column(cycle.path.clone(), path.ty.clone()), path));
        }
        Ok(Plan::Project {
            input: Box::new(base),
            items,
        })
    }

    /// The recursive term, with the columns that are added.
    pub(super) fn marked_step(
        &mut self,
        right: &SetExpr,
        name: &str,
        own: &[Column],
        marks: &Marks,
    ) -> Result<Plan> {
        let mut right = right;
        // Brackets around the SELECT have no meaning.
        while let SetExpr::Query(query) = right
            && query.with.is_none()
            && query.order_by.is_none()
            && query.limit_clause.is_none()
            && query.fetch.is_none()
        {
            right = &query.body;
        }
        let SetExpr::Select(select) = right else {
            return Err(Error::unsupported(
                "with a SEARCH or CYCLE clause, the right side of the UNION must be a SELECT",
            ));
        };
        let mut select: Select = select.as_ref().clone();
        let Some(alias) = reference_in(&select.from, name) else {
            return Err(Error::unsupported(format!(
                "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" \
                 must be at the top level of its right-hand SELECT"
            )));
        };
        let column = |name: &str| {
            let name = Ident::with_quote('"', name);
            Ast::CompoundIdentifier(vec![Ident::with_quote('"', alias.as_str()), name])
        };
        for name in marks.added() {
            select
                .projection
                .push(SelectItem::UnnamedExpr(column(name)));
        }
        if let Some(cycle) = &marks.cycle {
            let follows = Ast::BinaryOp {
                left: Box::new(column(&cycle.mark)),
                op: BinaryOperator::NotEq,
                right: Box::new(Ast::Nested(Box::new(cycle.value.clone()))),
            };
            select.selection = Some(match select.selection.take() {
                None => follows,
                Some(condition) => Ast::BinaryOp {
                    left: Box::new(Ast::Nested(Box::new(condition))),
                    op: BinaryOperator::And,
                    right: Box::new(follows),
                },
            });
        }
        let step = self.bind_select(&select, None)?.cut();
        let columns = step.columns();
        let Some(width) = columns.len().checked_sub(marks.added().len()) else {
            return Err(Error::internal("a recursive term lost its columns"));
        };
        if width != own.len() {
            return Err(Error::new(
                "42601",
                "each UNION query must have the same number of columns",
            ));
        }
        for (of_step, own) in columns.iter().zip(own) {
            common_of(&[own.ty.clone(), of_step.ty.clone()], "UNION")?;
        }
        let mut given = columns[..width].to_vec();
        let mut before = columns[width..].iter().map(Column::reference);
        let mut before = || {
            let next = before.next();
            next.ok_or_else(|| Error::internal("a recursive term lost a column"))
        };
        let mut items = kept(&given);
        for (column, own) in given.iter_mut().zip(own) {
            column.name.clone_from(&own.name);
        }
        if let Some(search) = &marks.search {
            let row = row_of(&search.columns, &given)?;
            let before = before()?;
            let value = match search.breadth {
                true => {
                    let depth = Expr::new(ExprKind::Field(Box::new(before), 0), Type::Int8);
                    let one = self.coerce(Expr::int4(1), &Type::Int8, Coercion::Implicit)?;
                    counted(self.binary("+", depth, one)?, row)
                }
                false => self.function("array_append", vec![before, row])?,
            };
            items.push((
                self.column(search.sequence.clone(), value.ty.clone()),
                value,
            ));
        }
        if let Some(cycle) = &marks.cycle {
            let row = row_of(&cycle.columns, &given)?;
            let (_, path) = (before()?, before()?);
            let operator = self.equality(&row.ty)?;
            let found = Expr::new(
                ExprKind::Any {
                    operator,
                    value: Box::new(row.clone()),
                    array: Box::new(path.clone()),
                    all: false,
                },
                Type::Bool,
            );
            let [value, default] = self.mark_values(cycle)?;
            let ty = value.ty.clone();
            let mark = Expr::new(
                ExprKind::Case {
                    branches: vec![(found, value)],
                    otherwise: Some(Box::new(default)),
                },
                ty.clone(),
            );
            items.push((self.column(cycle.mark.clone(), ty), mark));
            let path = self.function("array_append", vec![path, row])?;
            items.push((self.column(cycle.path.clone(), path.ty.clone()), path));
        }
        Ok(Plan::Project {
            input: Box::new(step),
            items,
        })
    }

    /// The values of the mark: of a row that closes a cycle, and of another.
    fn mark_values(&mut self, cycle: &Cycle) -> Result<[Expr; 2]> {
        let values = vec![
            self.bind_expr(&cycle.value)?,
            self.bind_expr(&cycle.default)?,
        ];
        let values = self.unified(values, "CYCLE")?;
        let mut known = Vec::with_capacity(2);
        for value in values {
            known.push(self.known_expr(value)?);
        }
        <[Expr; 2]>::try_from(known).map_err(|_| Error::internal("a pair of two is none"))
    }
}

impl Marks {
    /// Refuses columns that the query does not have, before they are looked for.
    fn check_columns(&self, own: &[Column]) -> Result<()> {
        if let (Some(search), Some(cycle)) = (&self.search, &self.cycle) {
            for (name, what) in [(&cycle.mark, "mark"), (&cycle.path, "path")] {
                if search.sequence == *name {
                    return Err(Error::new(
                        "42601",
                        format!(
                            "search sequence column name and cycle {what} column name are the same"
                        ),
                    ));
                }
            }
        }
        if self.cycle.iter().any(|cycle| cycle.mark == cycle.path) {
            return Err(Error::new(
                "42601",
                "cycle mark column name and cycle path column name are the same",
            ));
        }
        let search = self.search.iter().map(|search| ("search", &search.columns));
        let cycle = self.cycle.iter().map(|cycle| ("cycle", &cycle.columns));
        for (clause, columns) in search.chain(cycle) {
            for name in columns {
                if !own.iter().any(|column| column.name == *name) {
                    let message =
                        format!("{clause} column \"{name}\" not in WITH query column list");
                    return Err(Error::new("42601", message));
                }
            }
        }
        Ok(())
    }
}

/// Columns as items that keep their values.
fn kept(columns: &[Column]) -> Vec<(Column, Expr)> {
    let columns = columns.iter();
    columns
        .map(|column| (column.clone(), column.reference()))
        .collect()
}

/// The row of some columns.
fn row_of(names: &[String], columns: &[Column]) -> Result<Expr> {
    let value = |name: &String| {
        let found = columns.iter().find(|column| column.name == *name);
        found
            .map(Column::reference)
            .ok_or_else(|| Error::internal("a column of SEARCH or CYCLE is missing"))
    };
    let values: Result<Vec<Expr>> = names.iter().map(value).collect();
    Ok(super::expr::record(values?))
}

/// A row with a number before it.
fn counted(number: Expr, row: Expr) -> Expr {
    let mut values = vec![number];
    match row.kind {
        ExprKind::Row(more) => values.extend(more),
        _ => values.push(row),
    }
    super::expr::record(values)
}

/// An array of one element.
fn one_of(row: Expr) -> Expr {
    let ty = row.ty.clone().array();
    Expr::new(ExprKind::Array(vec![row]), ty)
}

/// The name under which FROM has the recursive reference.
fn reference_in(from: &[TableWithJoins], name: &str) -> Option<String> {
    let factors = from.iter().flat_map(|item| {
        std::iter::once(&item.relation).chain(item.joins.iter().map(|join| &join.relation))
    });
    for factor in factors {
        match factor {
            TableFactor::Table {
                name: relation,
                alias,
                args: None,
                ..
            } => {
                let [part] = relation.0.as_slice() else {
                    continue;
                };
                if part.as_ident().is_some_and(|ident| fold(ident) == name) {
                    return Some(match alias {
                        Some(alias) => fold(&alias.name),
                        None => name.to_owned(),
                    });
                }
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => {
                if let Some(found) = reference_in(std::slice::from_ref(table_with_joins), name) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}
