//! The plan of a tree of joins.

use arrow::datatypes::DataType;
use freestone_exec::expression::Expression;
use freestone_exec::{Comparison, JoinKind, Node, Plan};

use super::join::joined;
use super::order::{Condition, Equality, Relation, Trees};

pub(super) fn equal([a, b]: [Expression; 2]) -> Expression {
    Expression::Compare(Comparison::Equal, Box::new(a), Box::new(b))
}

/// As [`equal`], and TRUE of two NULLs.
fn null_equal([a, b]: [Expression; 2]) -> Expression {
    let null = |side: &Expression| Expression::IsNull(Box::new(side.clone()));
    let both = Expression::And(vec![null(&a), null(&b)]);
    Expression::Or(vec![equal([a, b]), both])
}

/// Whether an equality says what another of its class has said; notes it if not.
pub(super) fn is_repeated(classes: &mut u64, equality: &Equality) -> bool {
    let Some(class) = equality.class.filter(|class| *class < 64) else {
        return false;
    };
    let known = *classes >> class & 1 == 1;
    *classes |= 1 << class;
    known
}

/// Makes the plan of the tree that was found.
pub(super) struct Builder {
    pub(super) relations: Vec<Option<Relation>>,
    pub(super) equalities: Vec<Equality>,
    /// Which are keys of a join, or follow from such.
    pub(super) used: Vec<bool>,
    pub(super) conditions: Vec<Option<Condition>>,
    pub(super) best: Trees,
}

impl Builder {
    /// The plan of a set of relations, and the numbers of its columns.
    pub(super) fn plan(&mut self, set: u64) -> Option<(Plan, Vec<usize>)> {
        let best = *self.best.get(set)?;
        let (plan, layout) = match best.sides {
            None => {
                let relation = self
                    .relations
                    .get_mut(set.trailing_zeros() as usize)?
                    .take()?;
                (relation.converted.plan, relation.columns.collect())
            }
            Some((build, probe)) => self.pair(build, probe, best.rows)?,
        };
        Some(self.filtered(plan, layout, set))
    }

    fn pair(&mut self, build: u64, probe: u64, rows: f64) -> Option<(Plan, Vec<usize>)> {
        let (build_plan, build_layout) = self.plan(build)?;
        let (probe_plan, probe_layout) = self.plan(probe)?;
        let place = |layout: &[usize], column: usize| {
            layout
                .iter()
                .position(|known| *known == column)
                .unwrap_or(usize::MAX)
        };
        let mut keys: Vec<(Expression, Expression, DataType)> = Vec::new();
        let mut null_equals = Vec::new();
        let mut classes = 0u64;
        for (equality, used) in self.equalities.iter().zip(&mut self.used) {
            let [left, right] = equality.relations;
            let inside = |side: u64, set: u64| side != 0 && side & !set == 0;
            let (of_build, of_probe) = match () {
                () if inside(left, build) && inside(right, probe) => (0, 1),
                () if inside(left, probe) && inside(right, build) => (1, 0),
                () => continue,
            };
            *used = true;
            if is_repeated(&mut classes, equality) {
                continue;
            }
            let of_build = equality.sides[of_build].moved(&|column| place(&build_layout, column));
            let of_probe = equality.sides[of_probe].moved(&|column| place(&probe_layout, column));
            keys.push((of_build, of_probe, equality.kind.clone()));
            null_equals.push(equality.null_equal);
        }
        // NULLs are equal in all keys of a join or in none. If they are in some, a filter refuses
        // NULLs in the other keys.
        let null_equal = null_equals.contains(&true);
        let strict = keys.iter().zip(&null_equals);
        let strict = strict.filter(|(_, nulls)| null_equal && !**nulls);
        let strict = strict.map(|((_, of_probe, _), _)| {
            Expression::Not(Box::new(Expression::IsNull(Box::new(of_probe.clone()))))
        });
        let strict: Vec<Expression> = strict.collect();
        let joined = joined(
            JoinKind::Inner,
            build_plan,
            probe_plan,
            keys,
            rows,
            |join| join.filter = (!strict.is_empty()).then_some(Expression::And(strict)),
            null_equal,
        );
        Some((joined, [probe_layout, build_layout].concat()))
    }

    /// With the conditions that can be tested now and were not before.
    fn filtered(&mut self, plan: Plan, layout: Vec<usize>, set: u64) -> (Plan, Vec<usize>) {
        let mut terms = Vec::new();
        let place = |column: usize| {
            let place = layout.iter().position(|known| *known == column);
            place.unwrap_or(usize::MAX)
        };
        // Equalities that no two sides of a join have had between them.
        for (equality, used) in self.equalities.iter().zip(&mut self.used) {
            let relations = equality.relations[0] | equality.relations[1];
            if !*used && equality.class.is_none() && relations & !set == 0 {
                *used = true;
                let sides = [0, 1].map(|side| equality.sides[side].moved(&place));
                terms.push(match equality.null_equal {
                    true => null_equal(sides),
                    false => equal(sides),
                });
            }
        }
        for condition in &mut self.conditions {
            if let Some(found) = condition.take_if(|c| c.relations & !set == 0) {
                terms.push(found.expression.moved(&place));
            }
        }
        if terms.is_empty() {
            return (plan, layout);
        }
        let (types, rows) = (plan.types.clone(), plan.estimate);
        let node = Node::Filter(Box::new(plan), Expression::And(terms));
        (Plan::new(node, types, rows), layout)
    }
}
