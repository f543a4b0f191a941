//! PIVOT, UNPIVOT and SUMMARIZE.
//!
//! | form | is |
//! |---|---|
//! | `PIVOT t ON a IN (1, 2) USING sum(c) GROUP BY b` | `SELECT b, sum(c) FILTER (WHERE a = 1) AS "1", sum(c) FILTER (WHERE a = 2) AS "2" FROM t GROUP BY b` |
//! | `UNPIVOT t ON a, b INTO NAME n VALUE v` | each row of `t` joined with the numbers 1 and 2, by which CASE takes name and value |
//! | `SUMMARIZE t` | one row of aggregates, whose arrays are unnested |
//!
//! Without GROUP BY the groups are all columns that neither ON nor USING names. Values of ON
//! that are not listed are found by a query before the statement is bound, which is no matter
//! of the binder.

use std::ops::ControlFlow;

use crate::syntax::walk::{visit_expressions, walk_mut};
use sqlparser::ast::{
    BinaryOperator, Expr as Ast, FunctionArg, FunctionArgExpr, GroupByExpr, Ident, ObjectName,
    Query, SelectItem, SetExpr, TableAlias, Value, ValueWithSpan, VisitorMut,
};

use super::columns::{Replace, each_of, picked_name};
use super::from::Part;
use super::naming::{UNNAMED, column_name, name_of_expression};
use super::scope::{Clause, Namespace, Scope, ScopeColumn, scope_columns};
use super::select::{Body, ITEMS};
use super::{Binder, fold, name_place, place};
use crate::error::{Error, Position, Result};
use crate::functions::{catalogue, resolve_function};
use crate::plan::{Column, Expr, ExprKind, JoinKind, Plan};
use crate::syntax::marks::{
    NAMED, PIVOT, PIVOT_BY, PIVOT_ON, PIVOT_USING, SUMMARIZE, UNPIVOT, UNPIVOT_INTO, UNPIVOT_NULLS,
    marked, marked_call,
};
use crate::types::{Category, Type};

/// Columns of SUMMARIZE behind the name and the type, and of each the expression over a column.
/// `COLUMNS (*)` stands for the column.
const SUMMARY: [(&str, &str, Needs); 10] = [
    ("min", "min(COLUMNS(*))::text", Needs::Order),
    ("max", "max(COLUMNS(*))::text", Needs::Order),
    (
        "approx_unique",
        "approx_count_distinct(COLUMNS(*)::text)",
        Needs::Nothing,
    ),
    ("avg", "avg(COLUMNS(*))::text", Needs::Number),
    ("std", "stddev_samp(COLUMNS(*))::text", Needs::Number),
    (
        "q25",
        "(percentile_disc(0.25) WITHIN GROUP (ORDER BY COLUMNS(*)))::text",
        Needs::Scale,
    ),
    (
        "q50",
        "(percentile_disc(0.5) WITHIN GROUP (ORDER BY COLUMNS(*)))::text",
        Needs::Scale,
    ),
    (
        "q75",
        "(percentile_disc(0.75) WITHIN GROUP (ORDER BY COLUMNS(*)))::text",
        Needs::Scale,
    ),
    ("count", "count(*)", Needs::Nothing),
    (
        "null_percentage",
        "round(100.0 * (count(*) - count(COLUMNS(*))) / nullif(count(*), 0), 2)::numeric(9, 2)",
        Needs::Nothing,
    ),
];

/// The columns for which SUMMARIZE computes a statistic.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// Columns whose values have an order.
    Order,
    /// Numbers.
    Number,
    /// Numbers and times.
    Scale,
}

impl Needs {
    fn are_met(self, ty: &Type) -> bool {
        let base = ty.base();
        let scale = matches!(
            base.category(),
            Category::Number | Category::DateTime | Category::Timespan
        );
        let ordered =
            || resolve_function(catalogue().aggregates("min"), std::slice::from_ref(&base)).is_ok();
        match self {
            Needs::Nothing => true,
            Needs::Order => ordered(),
            Needs::Number => base.category() == Category::Number && ordered(),
            Needs::Scale => scale && ordered(),
        }
    }
}

/// The values of an expression behind ON.
struct On<'a> {
    expr: &'a Ast,
    values: Vec<&'a Ast>,
}

/// One combination of values: the name that it has, and the condition of its rows.
struct Cell {
    name: Option<String>,
    condition: Option<Ast>,
}

impl Binder<'_> {
    /// PIVOT, UNPIVOT or SUMMARIZE in FROM; `None` for another call.
    pub(super) fn form_in_from(
        &mut self,
        name: &ObjectName,
        args: &[FunctionArg],
        alias: Option<&TableAlias>,
    ) -> Result<Option<Part>> {
        let Some(ident) = name.0.first().and_then(|part| part.as_ident()) else {
            return Ok(None);
        };
        let is = |mark: &str| marked(ident, mark).is_some();
        let nulls = is(UNPIVOT_NULLS);
        if !is(PIVOT) && !is(UNPIVOT) && !nulls && !is(SUMMARIZE) {
            return Ok(None);
        }
        let args = args.iter().filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        });
        let args: Vec<&Ast> = args.collect();
        let [Ast::Subquery(source), parts @ ..] = args.as_slice() else {
            return Err(Error::internal("a form of FROM without a query"));
        };
        self.ranges.push(Vec::new());
        let plan = self.formed(source, is(SUMMARIZE), |binder, plan| match () {
            () if is(PIVOT) => binder.pivot(plan, parts, place(ident)),
            () if is(SUMMARIZE) => binder.summary(plan),
            () => binder.unpivot(plan, parts, nulls, name_place(name)),
        });
        self.ranges.pop();
        let plan = plan?;
        let columns = scope_columns(&plan.columns());
        let named = self.named_as(None, "", columns, alias)?;
        Ok(Some((plan, Namespace::of(named))))
    }

    /// The items computed of the rows of a source, over its names.
    fn formed(
        &mut self,
        source: &Query,
        whole: bool,
        make: impl FnOnce(&mut Self, Plan) -> Result<Plan>,
    ) -> Result<Plan> {
        let (plan, names) = match source.body.as_ref() {
            SetExpr::Select(select) if !whole => self.bind_from(&select.from)?,
            _ => {
                let plan = self.bind_query(source)?;
                let plan = self.known(plan)?;
                let columns = scope_columns(&plan.columns());
                let named = self.named_as(None, "", columns, None)?;
                (plan, Namespace::of(named))
            }
        };
        self.scopes.push(Scope::new(names, Clause::List));
        let made = make(self, plan);
        self.scopes.pop();
        made
    }

    fn pivot(&mut self, plan: Plan, parts: &[&Ast], at: Option<Position>) -> Result<Plan> {
        let (mut on, mut using, mut by) = (Vec::new(), Vec::new(), None);
        for part in parts {
            if let Some((_, all)) = marked_call(part, PIVOT_ON) {
                let Some((expr, values)) = all.split_first() else {
                    return Err(Error::internal("ON of nothing"));
                };
                let values = values.to_vec();
                if values.is_empty() {
                    return Err(Error::unsupported(
                        "PIVOT needs the values of ON here: they are listed as ON … IN (…)",
                    )
                    .at(at));
                }
                // There may be none.
                let is_value = |value: &&Ast| marked_call(value, PIVOT_ON).is_none();
                let values = values.into_iter().filter(is_value).collect();
                on.push(On { expr, values });
            } else if let Some((_, all)) = marked_call(part, PIVOT_USING) {
                using = all;
            } else if let Some((_, all)) = marked_call(part, PIVOT_BY) {
                by = Some(all);
            }
        }
        let default = crate::syntax::expression("count(*)")?;
        if using.is_empty() && !on.is_empty() {
            using.push(&default);
        }
        let mut keys: Vec<(Ast, String)> = Vec::new();
        match by {
            Some(by) => {
                for key in by {
                    keys.push((key.clone(), name_of_expression(key)));
                }
            }
            None => {
                let used = on.iter().map(|on| on.expr).chain(using.iter().copied());
                let used = names_in(used);
                for column in self.scope()?.names.columns.clone() {
                    if !used.contains(&column.name) {
                        let name = column.name.clone();
                        keys.push((Ast::Identifier(self.pick(column)?), name));
                    }
                }
            }
        }
        let cells = self.cells(&on)?;
        let count = keys.len() + cells.len().saturating_mul(using.len());
        if count > ITEMS {
            return Err(Error::new(
                "54011",
                format!("PIVOT makes {count} columns, and there can be at most {ITEMS}"),
            )
            .at(at));
        }
        let mut items = Vec::with_capacity(count);
        for (key, name) in &keys {
            items.push(aliased(key.clone(), name));
        }
        for cell in &cells {
            for call in &using {
                let (label, call) = labelled(call);
                let name = match (&cell.name, label) {
                    (Some(value), None) if using.len() == 1 => value.clone(),
                    (Some(value), None) => format!("{value}_{}", call.to_string().to_lowercase()),
                    (Some(value), Some(label)) => format!("{value}_{label}"),
                    (None, Some(label)) => label.to_owned(),
                    (None, None) => name_of_expression(call),
                };
                let filtered = filtered(call, cell.condition.as_ref());
                items.push(aliased(filtered.map_err(|error| error.at(at))?, &name));
            }
        }
        let keys = keys.into_iter().map(|(key, _)| key).collect();
        let group_by = GroupByExpr::Expressions(keys, Vec::new());
        let bound = self.bind_body(plan, Body::grouped(&items, &group_by), None)?;
        Ok(bound.cut())
    }

    /// All combinations of values; one without a name if there is no ON.
    fn cells(&mut self, on: &[On<'_>]) -> Result<Vec<Cell>> {
        let mut cells = vec![Cell {
            name: None,
            condition: None,
        }];
        for on in on {
            let mut next = Vec::new();
            let mut values = Vec::with_capacity(on.values.len());
            for value in &on.values {
                let (label, value) = labelled(value);
                let name = match label {
                    Some(label) => label.to_owned(),
                    None => {
                        let bound = self.bind_expr(value)?;
                        let text = self.constant_text(bound, "a value in IN of PIVOT")?;
                        text.unwrap_or_else(|| "NULL".to_owned())
                    }
                };
                values.push((name, is_equal(on.expr, value)));
            }
            if cells.len().saturating_mul(values.len()) > ITEMS {
                return Err(Error::new(
                    "54011",
                    format!("PIVOT makes more than {ITEMS} columns"),
                ));
            }
            for cell in &cells {
                for (name, condition) in &values {
                    next.push(Cell {
                        name: Some(match &cell.name {
                            Some(before) => format!("{before}_{name}"),
                            None => name.clone(),
                        }),
                        condition: Some(and(cell.condition.clone(), condition.clone())),
                    });
                }
            }
            cells = next;
        }
        Ok(cells)
    }

    fn unpivot(
        &mut self,
        plan: Plan,
        parts: &[&Ast],
        nulls: bool,
        at: Option<Position>,
    ) -> Result<Plan> {
        self.scope()?.clause = Clause::On;
        let Some((into, items)) = parts.split_first() else {
            return Err(Error::internal("UNPIVOT of nothing"));
        };
        let (_, into) = marked_call(into, UNPIVOT_INTO)
            .ok_or_else(|| Error::internal("UNPIVOT without names"))?;
        let into = into.iter().map(|name| match name {
            Ast::Identifier(ident) => fold(ident),
            _ => String::new(),
        });
        let into: Vec<String> = into.collect();
        let Some((name_label, value_labels)) = into.split_first() else {
            return Err(Error::internal("UNPIVOT without names"));
        };
        let mut copies = Vec::new();
        for item in items {
            match each_of(item) {
                Some(inner) => {
                    let all = self.copies(inner)?.into_iter();
                    copies.extend(all.map(|copy| copy.expr));
                }
                None => copies.push((*item).clone()),
            }
        }
        let used = names_in(copies.iter());
        let mut labels = Vec::with_capacity(copies.len());
        let mut values: Vec<Vec<Expr>> = vec![Vec::new(); value_labels.len()];
        for copy in &copies {
            let (label, item) = labelled(copy);
            let exprs: Vec<&Ast> = match item {
                Ast::Tuple(list) => list.iter().collect(),
                Ast::Nested(inner) => vec![inner.as_ref()],
                one => vec![one],
            };
            if exprs.len() != value_labels.len() {
                return Err(Error::new(
                    "42601",
                    format!(
                        "UNPIVOT has {} names of values, but an item of {} columns",
                        value_labels.len(),
                        exprs.len()
                    ),
                )
                .at(at));
            }
            let mut names = Vec::with_capacity(exprs.len());
            for (expr, column) in exprs.into_iter().zip(&mut values) {
                let bound = self.bind_expr(expr)?;
                let name = column_name(expr, &bound);
                names.push(match name == UNNAMED {
                    true => names_in([expr]).into_iter().next().unwrap_or(name),
                    false => name,
                });
                column.push(bound);
            }
            labels.push(label.map_or_else(|| names.join("_"), str::to_owned));
        }
        let rest: Vec<ScopeColumn> = self.scope()?.names.columns.clone();
        let rest = rest
            .into_iter()
            .filter(|column| !used.contains(&column.name));
        let mut projected: Vec<(Column, Expr)> = Vec::new();
        for ScopeColumn { name, value } in rest {
            projected.push((self.column(name, value.ty.clone()), value));
        }
        let number = self.column("number", Type::Int4);
        let texts = labels.iter().map(|label| Expr::text(label, Type::Text));
        let name = self.chosen(&number, texts.collect())?;
        projected.push((self.column(name_label.clone(), Type::Text), name));
        let mut tests = Vec::new();
        for (label, column) in value_labels.iter().zip(values) {
            let column = self
                .unified(column, "UNPIVOT")
                .map_err(|error| error.at(at))?;
            let value = self.chosen(&number, column)?;
            let made = self.column(label.clone(), value.ty.clone());
            tests.push(made.reference().is_null().not());
            projected.push((made, value));
        }
        let rows = (1..).take(labels.len()).map(|at| vec![Expr::int4(at)]);
        let numbers = Plan::Values {
            columns: vec![number],
            rows: rows.collect(),
        };
        let plan = Plan::Project {
            items: projected,
            input: Box::new(Plan::Join {
                kind: JoinKind::Inner,
                left: Box::new(plan),
                right: Box::new(numbers),
                condition: None,
                lateral: false,
            }),
        };
        Ok(match nulls {
            true => plan,
            false => Plan::Filter {
                input: Box::new(plan),
                condition: Expr::and(tests),
            },
        })
    }

    /// The value at the place that a number from 1 says.
    fn chosen(&mut self, number: &Column, values: Vec<Expr>) -> Result<Expr> {
        let mut values = values;
        let last = values
            .pop()
            .ok_or_else(|| Error::internal("UNPIVOT of nothing"))?;
        let ty = last.ty.clone();
        let mut branches = Vec::with_capacity(values.len());
        for (value, at) in values.into_iter().zip(1..) {
            let test = self.binary("=", number.reference(), Expr::int4(at))?;
            branches.push((test, value));
        }
        if branches.is_empty() {
            return Ok(last);
        }
        let otherwise = Some(Box::new(last));
        Ok(Expr::new(
            ExprKind::Case {
                branches,
                otherwise,
            },
            ty,
        ))
    }

    fn summary(&mut self, plan: Plan) -> Result<Plan> {
        let columns = self.scope()?.names.columns.clone();
        if columns.is_empty() {
            return Err(Error::new(
                "42601",
                "SUMMARIZE of a relation without columns",
            ));
        }
        let text = |text: &str| {
            Ast::Value(ValueWithSpan::from(Value::SingleQuotedString(
                text.to_owned(),
            )))
        };
        let names = columns.iter().map(|column| text(&column.name)).collect();
        let types = columns
            .iter()
            .map(|column| text(&column.value.ty.to_string()))
            .collect();
        let mut items = vec![
            aliased(unnested(names, "text")?, "column_name"),
            aliased(unnested(types, "text")?, "column_type"),
        ];
        let mut picked = Vec::with_capacity(columns.len());
        for column in columns {
            let ty = column.value.ty.clone();
            picked.push((ty, Ast::Identifier(self.pick(column)?)));
        }
        for (label, template, needs) in SUMMARY {
            let template = crate::syntax::expression(template)?;
            let values = picked.iter().map(|(ty, column)| match needs.are_met(ty) {
                true => Replace::columns(template.clone(), column),
                false => Ast::Value(ValueWithSpan::from(Value::Null)),
            });
            let ty = match label {
                "approx_unique" | "count" => "bigint",
                "null_percentage" => "numeric(9, 2)",
                _ => "text",
            };
            items.push(aliased(unnested(values.collect(), ty)?, label));
        }
        let group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
        let bound = self.bind_body(plan, Body::grouped(&items, &group_by), None)?;
        Ok(bound.cut())
    }
}

/// The elements of an array as rows.
fn unnested(elements: Vec<Ast>, ty: &str) -> Result<Ast> {
    let template = crate::syntax::expression(&format!("unnest(COLUMNS(*)::{ty}[])"))?;
    let array = Ast::Array(sqlparser::ast::Array {
        elem: elements,
        named: true,
    });
    Ok(Replace::columns(template, &array))
}

/// An expression without its label, and the label.
fn labelled(expr: &Ast) -> (Option<&str>, &Ast) {
    match marked_call(expr, NAMED) {
        Some((label, all)) => (Some(label), all.first().copied().unwrap_or(expr)),
        None => (None, expr),
    }
}

fn aliased(expr: Ast, name: &str) -> SelectItem {
    SelectItem::ExprWithAlias {
        expr,
        alias: Ident::with_quote('"', name),
    }
}

fn and(left: Option<Ast>, right: Ast) -> Ast {
    match left {
        None => right,
        Some(left) => Ast::BinaryOp {
            left: Box::new(left),
            op: BinaryOperator::And,
            right: Box::new(right),
        },
    }
}

/// Whether an expression has a value, which may be NULL.
fn is_equal(expr: &Ast, value: &Ast) -> Ast {
    let is_null = matches!(
        value,
        Ast::Value(ValueWithSpan {
            value: Value::Null,
            ..
        })
    );
    match is_null {
        true => Ast::IsNull(Box::new(expr.clone())),
        false => Ast::BinaryOp {
            left: Box::new(expr.clone()),
            op: BinaryOperator::Eq,
            right: Box::new(value.clone()),
        },
    }
}

/// The last parts of the names in expressions.
fn names_in<'a>(exprs: impl IntoIterator<Item = &'a Ast>) -> Vec<String> {
    let mut names = Vec::new();
    for expr in exprs {
        let _: ControlFlow<()> = visit_expressions(expr, |part| {
            let ident = match part {
                Ast::Identifier(ident) => Some(ident),
                Ast::CompoundIdentifier(idents) => idents.last(),
                _ => None,
            };
            if let Some(ident) = ident {
                names.push(picked_name(ident).map_or_else(|| fold(ident), str::to_owned));
            }
            ControlFlow::Continue(())
        });
    }
    names
}

/// An expression whose aggregates take the rows of a condition only.
fn filtered(expr: &Ast, condition: Option<&Ast>) -> Result<Ast> {
    let mut expr = expr.clone();
    let mut filter = Filter {
        condition,
        found: false,
        queries: 0,
    };
    let _: ControlFlow<()> = walk_mut(&mut expr, &mut filter);
    match filter.found {
        true => Ok(expr),
        false => Err(Error::new(
            "42803",
            format!(
                "USING of PIVOT takes aggregates, such as sum(x), not {}",
                crate::syntax::shown(&expr.to_string())
            ),
        )),
    }
}

struct Filter<'a> {
    condition: Option<&'a Ast>,
    found: bool,
    queries: usize,
}

impl VisitorMut for Filter<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Ast) -> ControlFlow<()> {
        if let Ast::Function(call) = expr
            && self.queries == 0
            && call.over.is_none()
            && let Some(name) = call.name.0.last().and_then(|part| part.as_ident())
            && !catalogue().aggregates(&fold(name)).is_empty()
        {
            self.found = true;
            if let Some(condition) = self.condition {
                let before = call.filter.take().map(|filter| *filter);
                call.filter = Some(Box::new(and(before, condition.clone())));
            }
        }
        ControlFlow::Continue(())
    }
}
