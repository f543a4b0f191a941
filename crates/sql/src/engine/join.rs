//! Joins as the bulk engine's.

use std::ops::Range;

use arrow::datatypes::DataType;
use freestone_exec::expression::Expression;
use freestone_exec::vector::Kind;
use freestone_exec::{Join, JoinKind, Node, Plan};

use super::converted::Converted;
use super::expression::Scope;
use super::order::{Condition, Equality, Relation};
use crate::expression::Expr;

/// Most relations that are joined in any order.
pub(crate) const RELATIONS: usize = 60;

/// Relations that are joined in any order, and what must be true of their rows. Columns
/// are numbered through all relations.
#[derive(Default)]
pub(crate) struct Cluster {
    pub(crate) relations: Vec<Relation>,
    pub(crate) equalities: Vec<Equality>,
    pub(crate) conditions: Vec<Condition>,
    columns: usize,
}

impl Cluster {
    /// The number of the next column.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The type of a column.
    pub(crate) fn type_of(&self, column: usize) -> Option<DataType> {
        let of = |relation: &&Relation| relation.columns.contains(&column);
        let relation = self.relations.iter().find(of)?;
        let types = &relation.converted.plan.types;
        types.get(column - relation.columns.start).cloned()
    }

    /// Which relations an expression reads.
    pub(crate) fn relations_of(&self, expression: &Expression) -> u64 {
        let mut set = 0;
        expression.columns(&mut |column| {
            let of = self
                .relations
                .iter()
                .position(|r| r.columns.contains(&column));
            set |= of.map_or(0, |relation| 1u64 << relation);
        });
        set
    }

    /// Adds a relation; returns the numbers of its columns.
    pub(crate) fn relation(&mut self, converted: Converted) -> Columns {
        let first = self.columns;
        let columns = first..first + converted.plan.types.len();
        self.columns = columns.end;
        self.relations.push(Relation {
            converted,
            columns: columns.clone(),
        });
        columns
    }

    /// Adds an equality of two sides, whose type is `kind`.
    pub(crate) fn equality(&mut self, sides: [Expression; 2], kind: DataType, null_equal: bool) {
        let relations = [0, 1].map(|side| self.relations_of(&sides[side]));
        self.equalities.push(Equality {
            sides,
            relations,
            kind,
            class: None,
            null_equal,
        });
    }

    /// Adds a condition.
    pub(crate) fn condition(&mut self, expression: Expression) {
        let relations = self.relations_of(&expression);
        self.conditions.push(Condition {
            relations,
            expression,
        });
    }
}

/// A join of two plans.
pub(crate) fn joined(
    kind: JoinKind,
    build: Plan,
    probe: Plan,
    keys: Vec<(Expression, Expression, DataType)>,
    rows: f64,
    change: impl FnOnce(&mut Join),
    null_equal: bool,
) -> Plan {
    let mut types: Vec<DataType> = match kind {
        JoinKind::BuildSemi | JoinKind::BuildAnti => build.types.clone(),
        _ => probe.types.clone(),
    };
    if kind.gives_pairs() {
        types.extend(build.types.iter().cloned());
    }
    if matches!(kind, JoinKind::ProbeMark | JoinKind::ProbeMarkIn) {
        types.push(DataType::Boolean);
    }
    let mut join = Join {
        kind,
        build,
        probe,
        keys,
        filter: None,
        null_equal,
    };
    change(&mut join);
    Plan::new(Node::Join(Box::new(join)), types, rows.max(1.0))
}

/// The type of two sides of an equality, if they can be a key.
pub(crate) fn key_kind(from: &Scope<'_>, a: &Expr, to: &Scope<'_>, b: &Expr) -> Option<DataType> {
    let (a, b) = (from.kind_of(a)?, to.kind_of(b)?);
    let known = !matches!(Kind::of(&a), Kind::Other);
    let same = match (&a, &b) {
        (DataType::Decimal128(p, s), DataType::Decimal128(q, t)) => {
            s == t && (*p <= 18) == (*q <= 18)
        }
        (a, b) => a == b,
    };
    (known && same).then_some(a)
}

/// The columns of a relation among all.
pub(crate) type Columns = Range<usize>;
