//! INTERSECT and EXCEPT become joins.
//!
//! ```text
//! Except a, b                    Distinct
//!   Scan r                         Anti join: r.a, r.b are not distinct from s.a, s.b
//!   Scan s                           Scan r
//!                                    Scan s
//! ```
//!
//! With ALL, the equal rows of each side are numbered, and the numbers are compared as well: of
//! three rows of one side two find a partner if the other side has two.

use super::unnest::{Unnesting, equal, not_distinct, only};
use crate::plan::{Column, Expr, JoinKind, Plan, SetKind};
use crate::types::Type;

/// The node as a join, if it is such an operation.
pub(super) fn joined(node: &mut Plan, numbers: &mut Unnesting) {
    let kind = match node {
        Plan::Set {
            kind: SetKind::Intersect,
            ..
        } => JoinKind::Semi,
        Plan::Set {
            kind: SetKind::Except,
            ..
        } => JoinKind::Anti,
        _ => return,
    };
    let Plan::Set {
        all,
        inputs,
        columns,
        ..
    } = std::mem::replace(node, Plan::one_row())
    else {
        return;
    };
    // Rows without columns are equal, and there may be many of them: they get one.
    let sides = inputs.into_iter().map(|input| match columns.is_empty() {
        true => Plan::Project {
            input: Box::new(input),
            items: vec![(numbers.column("row", Type::Int4), Expr::int4(0))],
        },
        false => input,
    });
    let sides: Vec<Plan> = sides.collect();
    let Ok([mut left, mut right]) = <[Plan; 2]>::try_from(sides) else {
        return;
    };
    let given = [left.columns(), right.columns()];
    let pairs = given[0].iter().zip(&given[1]);
    let pairs = pairs.map(|(a, b)| not_distinct(a.reference(), b.reference()));
    let mut terms: Vec<Expr> = pairs.collect();
    if all {
        let [mut one, mut other] = [Vec::new(), Vec::new()];
        for (side, of, number) in [
            (&mut left, &given[0], &mut one),
            (&mut right, &given[1], &mut other),
        ] {
            let partition: Vec<Expr> = of.iter().map(Column::reference).collect();
            let Some((column, call)) = numbers.numbering("row_number", &partition, &[]) else {
                return;
            };
            number.push(column.reference());
            *side = Plan::Window {
                input: Box::new(std::mem::replace(side, Plan::one_row())),
                calls: vec![(column, call)],
            };
        }
        terms.extend(one.into_iter().zip(other).map(|(a, b)| equal(a, b)));
    }
    let rows = Plan::Join {
        kind,
        left: Box::new(left),
        right: Box::new(right),
        condition: Some(Expr::and(terms)),
        lateral: false,
    };
    let mut rows = only(rows, &given[0]);
    if !all {
        rows = Plan::Distinct {
            input: Box::new(rows),
            on: None,
        };
    }
    let values = columns.into_iter().zip(&given[0]);
    *node = Plan::Project {
        items: values.map(|(to, of)| (to, of.reference())).collect(),
        input: Box::new(rows),
    };
}
