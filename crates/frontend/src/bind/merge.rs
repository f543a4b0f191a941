//! MERGE: the rows of a join, each with the clause that claims it and the values that it gives.
//!
//! A row is of the first clause whose condition is TRUE for it. The target and the source are
//! joined once, so that a source with volatile functions is computed once. MERGE comes as a query
//! whose list has the id of a row of the target and a call for each clause ([`WHEN`]), and the number
//! of the row's partition if there are any; whose FROM has the target and the source; and whose
//! WHERE is the condition of the join:
//!
//! ```text
//! MERGE INTO t USING s ON t.id = s.id
//!   WHEN MATCHED AND s.v IS NULL THEN DELETE
//!   WHEN MATCHED THEN UPDATE SET v = s.v
//!   WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)
//!
//! Project rowid, clause, CASE WHEN clause = 1 THEN t.id WHEN clause = 2 THEN s.id END, …
//!   Filter clause IS NOT NULL
//!     Project …, CASE WHEN rowid IS NOT NULL AND s.v IS NULL THEN 0 … END AS clause
//!       Join left t.id = s.id
//!         Scan s
//!         Scan t
//! ```
//!
//! The result has the row id, the number of the clause and the columns of the target as their
//! values are stored. Values are computed for rows of their clause alone. An expression sees the
//! relations of which its rows are: both where they match, and one where they do not.

use sqlparser::ast::{Expr as Ast, Select, SelectItem, SetExpr};

use super::coerce::Coercion;
use super::scope::{Clause, Namespace, Scope};
use super::{Binder, from::Part};
use crate::error::{Error, Result};
use crate::plan::{Column, Expr, ExprKind, JoinKind, Plan};
use crate::syntax::marks::{
    WHEN, WHEN_MATCHED, WHEN_NOTHING, WHEN_SOURCE, WHEN_TARGET, marked_call,
};
use crate::types::Type;

/// The rows that a clause is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Pairs of a row of the target and one of the source.
    Matched,
    /// Rows of the target without a row of the source.
    Target,
    /// Rows of the source without a row of the target.
    Source,
}

/// A clause as it is written.
struct When<'q> {
    of: Of,
    condition: &'q Ast,
    /// None if the clause deletes rows.
    values: &'q [&'q Ast],
    changes: bool,
}

/// Whether the body of a query is that of MERGE.
pub(super) fn is_merge(body: &SetExpr) -> bool {
    let SetExpr::Select(select) = body else {
        return false;
    };
    matches!(
        select.projection.get(1),
        Some(SelectItem::UnnamedExpr(expr)) if marked_call(expr, WHEN).is_some()
    )
}

impl Binder<'_> {
    /// The plan of a MERGE.
    pub(super) fn bind_merge(&mut self, select: &Select) -> Result<Plan> {
        self.list = None;
        self.ranges.push(Vec::new());
        let bound = self.merged_rows(select);
        self.ranges.pop();
        bound
    }

    fn merged_rows(&mut self, select: &Select) -> Result<Plan> {
        let wrong = || Error::internal("a MERGE that is none");
        let targets = std::mem::take(&mut self.targets);
        let (mut calls, mut places) = (Vec::new(), Vec::new());
        for item in &select.projection {
            let SelectItem::UnnamedExpr(expr) = item else {
                return Err(wrong());
            };
            match marked_call(expr, WHEN) {
                Some(call) => calls.push(call),
                None => places.push(expr),
            }
        }
        let whens = calls.iter().map(|(of, arguments)| When::of(of, arguments));
        let whens = whens.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        let ([target, source], Some(on)) = (select.from.as_slice(), &select.selection) else {
            return Err(wrong());
        };
        let target = self.joined(target, &[])?;
        let source = self.joined(source, &[])?;
        target.1.check_aliases(&source.1)?;
        let mut bound = Vec::with_capacity(places.len());
        for place in places {
            let place = self.of_clause(&target.1, "MERGE", |binder| binder.bind_expr(place))?;
            bound.push(place);
        }
        let both = target.1.clone().join(source.1.clone())?;
        let has = Has::of(&whens);
        let names = [both.clone(), target.1.clone(), source.1.clone()];
        let (plan, there) = self.merge_join((target, source), both, on, &has)?;
        if !(has.matched || has.target) {
            bound
                .iter_mut()
                .for_each(|place| *place = Expr::null(place.ty.clone()));
        }
        let mut places = bound.into_iter();
        let rows = Rows {
            row_id: places.next().ok_or_else(wrong)?,
            part: places.next(),
            plan,
            there,
            has,
        };
        self.claimed(rows, &whens, &names, &targets)
    }

    /// The rows that clauses may claim, and whether a row of the source is there, if some lack one.
    fn merge_join(
        &mut self,
        (target, source): (Part, Part),
        both: Namespace,
        on: &Ast,
        has: &Has,
    ) -> Result<(Plan, Option<Expr>)> {
        let (on, _) = self.over_names(both, on, "JOIN/ON")?;
        let ((target, _), (mut source, _)) = (target, source);
        let mut there = None;
        // Rows that lack one are told from others.
        if has.target && (has.matched || has.source) {
            let marker = self.column("there", Type::Bool);
            there = Some(marker.reference());
            let mut items = passed(&source);
            items.push((marker, Expr::bool(true)));
            let input = Box::new(source);
            source = Plan::Project { input, items };
        }
        let (kind, left, right) = match (has.matched, has.target, has.source) {
            (_, true, true) => (JoinKind::Full, target, source),
            (true, true, false) => (JoinKind::Left, target, source),
            (true, false, true) => (JoinKind::Left, source, target),
            (false, true, false) => (JoinKind::Anti, target, source),
            (false, false, true) => (JoinKind::Anti, source, target),
            (_, false, false) => (JoinKind::Inner, target, source),
        };
        let plan = Plan::Join {
            kind,
            left: Box::new(left),
            right: Box::new(right),
            condition: Some(on),
            lateral: false,
        };
        Ok((plan, there))
    }

    /// The rows that clauses claim, with the values that these give.
    fn claimed(
        &mut self,
        rows: Rows,
        whens: &[When<'_>],
        names: &[Namespace; 3],
        targets: &[(String, Type)],
    ) -> Result<Plan> {
        let clause = self.column("clause", Type::Int4);
        let columns = targets.get(2..).unwrap_or_default();
        let columns = match rows.part {
            Some(_) => columns.split_last().map_or(columns, |(_, columns)| columns),
            None => columns,
        };
        let mut claims = Vec::with_capacity(whens.len());
        let mut values: Vec<Vec<(Expr, Expr)>> = vec![Vec::new(); columns.len()];
        for (when, number) in whens.iter().zip(0..) {
            let here = match when.of {
                Of::Matched => &names[0],
                Of::Target => &names[1],
                Of::Source => &names[2],
            };
            let condition = self.of_clause(here, "MERGE WHEN conditions", |binder| {
                binder.bind_condition(when.condition, "WHEN")
            })?;
            let number = match when.changes {
                true => Expr::int4(number),
                false => Expr::null(Type::Int4),
            };
            // The join has no row of other clauses.
            if rows.has.has(when.of) {
                let mut terms = rows.of(when.of);
                terms.push(condition);
                claims.push((Expr::and(terms), number.clone()));
            }
            for ((value, target), branches) in when.values.iter().zip(columns).zip(&mut values) {
                let list = match when.of {
                    Of::Source => "VALUES",
                    _ => "UPDATE",
                };
                let value = self.of_clause(here, list, |binder| {
                    let value = binder.bind_expr(value)?;
                    let to = binder.storable(&value.ty, target)?;
                    binder.coerce(value, &to, Coercion::Assignment)
                })?;
                let is_of = self.binary("=", clause.reference(), number.clone())?;
                branches.push((is_of, value));
            }
        }
        let Rows {
            plan, row_id, part, ..
        } = rows;
        let mut items = passed(&plan);
        items.push((clause.clone(), case(claims, Type::Int4)));
        let input = Box::new(plan);
        let claimed = Plan::Project { input, items };
        let filtered = Plan::Filter {
            input: Box::new(claimed),
            condition: clause.reference().is_null().not(),
        };
        let mut items = vec![
            (self.column("rowid", row_id.ty.clone()), row_id),
            (self.column("clause", Type::Int4), clause.reference()),
        ];
        for ((name, ty), branches) in columns.iter().zip(values) {
            let ty = ty.without_length();
            items.push((self.column(name.clone(), ty.clone()), case(branches, ty)));
        }
        if let Some(part) = part {
            items.push((self.column("part", part.ty.clone()), part));
        }
        let input = Box::new(filtered);
        Ok(Plan::Project { input, items })
    }

    /// An expression of a clause, over the relations that it sees.
    fn of_clause(
        &mut self,
        names: &Namespace,
        clause: &'static str,
        bind: impl FnOnce(&mut Self) -> Result<Expr>,
    ) -> Result<Expr> {
        let scope = Scope::new(names.clone(), Clause::Changes(clause));
        self.scopes.push(scope);
        let bound = bind(self);
        self.scopes.pop();
        bound
    }
}

/// The kinds of rows that clauses change.
struct Has {
    matched: bool,
    target: bool,
    source: bool,
}

/// The rows that clauses may claim.
struct Rows {
    plan: Plan,
    /// The id of the row of the target; NULL if there is none.
    row_id: Expr,
    /// The number of the partition that has it, if the target has partitions.
    part: Option<Expr>,
    /// NULL if there is no row of the source; `None` if all have one or all have none.
    there: Option<Expr>,
    has: Has,
}

impl Has {
    fn of(whens: &[When<'_>]) -> Self {
        let has = |of: Of| whens.iter().any(|when| when.changes && when.of == of);
        Has {
            matched: has(Of::Matched),
            target: has(Of::Target),
            source: has(Of::Source),
        }
    }

    fn has(&self, of: Of) -> bool {
        match of {
            Of::Matched => self.matched,
            Of::Target => self.target,
            Of::Source => self.source,
        }
    }
}

impl Rows {
    /// The conditions for a row to be of a kind.
    fn of(&self, of: Of) -> Vec<Expr> {
        let is_target = || self.row_id.clone().is_null().not();
        let is_source = self
            .there
            .as_ref()
            .map(|there| there.clone().is_null().not());
        match of {
            Of::Matched => std::iter::once(is_target()).chain(is_source).collect(),
            Of::Source => vec![is_target().not()],
            Of::Target => is_source.map(Expr::not).into_iter().collect(),
        }
    }
}

impl<'q> When<'q> {
    fn of(of: &str, arguments: &'q [&'q Ast]) -> Option<Self> {
        let (condition, values) = arguments.split_first()?;
        let kind = of.strip_suffix(WHEN_NOTHING).unwrap_or(of);
        Some(When {
            of: match kind {
                WHEN_MATCHED => Of::Matched,
                WHEN_TARGET => Of::Target,
                WHEN_SOURCE => Of::Source,
                _ => return None,
            },
            condition,
            values,
            changes: kind == of,
        })
    }
}

/// The columns of a plan as items of a projection.
fn passed(plan: &Plan) -> Vec<(Column, Expr)> {
    let columns = plan.columns().into_iter();
    columns
        .map(|column| (column.clone(), column.reference()))
        .collect()
}

fn case(branches: Vec<(Expr, Expr)>, ty: Type) -> Expr {
    if branches.is_empty() {
        return Expr::null(ty);
    }
    let otherwise = None;
    Expr::new(
        ExprKind::Case {
            branches,
            otherwise,
        },
        ty,
    )
}
