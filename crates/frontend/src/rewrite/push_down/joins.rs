//! Inner joins that follow each other, taken apart and put together again.

use std::collections::{HashMap, HashSet};

use super::{Join, Term, down, equality, filtered, is_about, terms};
use crate::plan::{ColumnId, Expr, ExprKind, JoinKind, Plan};
use crate::rewrite::facts::may_fail;

/// Most terms from which others are made.
const TERMS: usize = 64;

/// The inputs of inner joins, and the terms that must be TRUE of their rows.
#[derive(Default)]
struct Cluster {
    inputs: Vec<Plan>,
    terms: Vec<Term>,
    /// Terms that stay above all joins.
    fixed: Vec<Term>,
}

/// The rows of an inner join for which all terms are TRUE.
pub(super) fn joined(join: Join, above: Vec<Term>) -> Plan {
    let mut cluster = Cluster::default();
    cluster.take_join(join);
    cluster.terms.extend(above);
    cluster.plan()
}

impl Cluster {
    fn take_join(&mut self, join: Join) {
        self.take(join.left);
        self.take(join.right);
        if let Some(condition) = join.condition {
            self.take_condition(condition);
        }
    }

    fn take(&mut self, plan: Plan) {
        match plan {
            Plan::Join {
                kind: JoinKind::Inner,
                left,
                right,
                condition,
                lateral: false,
            } => self.take_join(Join {
                kind: JoinKind::Inner,
                left: *left,
                right: *right,
                condition,
                lateral: false,
            }),
            Plan::Filter { input, condition }
                if !condition.is_volatile() && !condition.has_subquery() =>
            {
                self.take(*input);
                self.take_condition(condition);
            }
            other => self.inputs.push(other),
        }
    }

    fn take_condition(&mut self, condition: Expr) {
        let (fixed, terms): (Vec<_>, Vec<_>) =
            terms(condition).into_iter().partition(Term::is_fixed);
        self.terms.extend(terms);
        self.fixed.extend(fixed);
    }

    fn plan(mut self) -> Plan {
        let given: Vec<HashSet<ColumnId>> = self.inputs.iter().map(Plan::given).collect();
        let mut input_of: HashMap<ColumnId, usize> = HashMap::new();
        for (at, columns) in given.iter().enumerate() {
            input_of.extend(columns.iter().map(|id| (*id, at)));
        }
        let inputs_of = |term: &Term| -> Vec<usize> {
            let mut inputs: Vec<usize> = term
                .reads
                .iter()
                .filter_map(|id| input_of.get(id).copied())
                .collect();
            inputs.sort_unstable();
            inputs.dedup();
            inputs
        };
        if self.terms.len() <= TERMS {
            let made = self.of_branches(&given);
            self.terms.extend(made);
            let made = self.of_equal_columns();
            self.terms.extend(made);
        }
        let mut single: Vec<Vec<Term>> = given.iter().map(|_| Vec::new()).collect();
        let mut several: Vec<(Term, Vec<usize>)> = Vec::new();
        for term in self.terms {
            match inputs_of(&term).as_slice() {
                // One that reads no column of the joins is asked of the rows of the first.
                [] => single[0].push(term),
                [input] => single[*input].push(term),
                inputs => {
                    let inputs = inputs.to_vec();
                    several.push((term, inputs));
                }
            }
        }
        let mut inputs: Vec<Option<Plan>> = self
            .inputs
            .into_iter()
            .zip(single)
            .map(|(input, terms)| Some(down(input, terms)))
            .collect();
        let mut joined = vec![false; inputs.len()];
        let mut plan = inputs[0].take();
        joined[0] = true;
        while let Some(next) = next(&joined, &several, &given) {
            joined[next] = true;
            let (here, later): (Vec<_>, Vec<_>) = several
                .into_iter()
                .partition(|(_, inputs)| inputs.iter().all(|input| joined[*input]));
            several = later;
            let condition: Vec<Expr> = here.into_iter().map(|(term, _)| term.expr).collect();
            let (Some(left), Some(right)) = (plan.take(), inputs[next].take()) else {
                break;
            };
            plan = Some(Plan::Join {
                kind: JoinKind::Inner,
                left: Box::new(left),
                right: Box::new(right),
                condition: (!condition.is_empty()).then(|| Expr::and(condition)),
                lateral: false,
            });
        }
        filtered(plan.unwrap_or_else(Plan::one_row), self.fixed)
    }

    /// Terms about one input that follow from the branches of an OR about several.
    ///
    /// ```text
    /// a.x = 1 ∧ b.y = 2 ∨ a.x = 3 ∧ b.y = 4      a.x = 1 ∨ a.x = 3      b.y = 2 ∨ b.y = 4
    /// ```
    fn of_branches(&self, given: &[HashSet<ColumnId>]) -> Vec<Term> {
        let mut made = Vec::new();
        for term in &self.terms {
            let ExprKind::Or(branches) = &term.expr.kind else {
                continue;
            };
            for columns in given {
                if !term.reads_any(columns) || term.reads_only(columns) {
                    continue;
                }
                let of_input = branches.iter().map(|branch| {
                    let own = branch.clone().conjuncts().into_iter().map(Term::new);
                    let own = own.filter(|part| part.reads_only(columns) && !may_fail(&part.expr));
                    let own: Vec<Expr> = own.map(|part| part.expr).collect();
                    (!own.is_empty()).then(|| Expr::and(own))
                });
                if let Some(of_input) = of_input.collect::<Option<Vec<Expr>>>() {
                    made.push(Term::new(Expr::or(of_input)));
                }
            }
        }
        made
    }

    /// Terms about columns that follow from those about the columns that they are equal to.
    fn of_equal_columns(&self) -> Vec<Term> {
        let equalities: Vec<_> = self.terms.iter().filter_map(equality).collect();
        let mut known: Vec<Term> = Vec::new();
        let about_one = |term: &&Term| term.reads.len() == 1;
        let mut open: Vec<Term> = self.terms.iter().filter(about_one).cloned().collect();
        let first = open.len();
        let mut at = 0;
        while at < open.len() && open.len() < TERMS {
            let term = open[at].clone();
            at += 1;
            for [(left, one), (right, other)] in &equalities {
                let value = match () {
                    () if is_about(&term, *left) => other,
                    () if is_about(&term, *right) => one,
                    () => continue,
                };
                let made = term.clone().replaced(&|_| Some(Expr::clone(value)));
                if !open.iter().any(|known| known.expr == made.expr) {
                    open.push(made);
                }
            }
        }
        known.extend(open.into_iter().skip(first));
        known
    }
}

/// The first input that an equality connects with those that are joined, or else the first one
/// that is left.
fn next(
    joined: &[bool],
    several: &[(Term, Vec<usize>)],
    given: &[HashSet<ColumnId>],
) -> Option<usize> {
    let mut left = (0..joined.len()).filter(|input| !joined[*input]);
    let first = left.clone().next()?;
    let connected = left.find(|input| {
        several.iter().any(|(term, inputs)| {
            inputs.contains(input)
                && inputs.iter().all(|other| other == input || joined[*other])
                && is_key(term, &given[*input])
        })
    });
    Some(connected.unwrap_or(first))
}

/// Whether a term is an equality of something of an input with something of others.
fn is_key(term: &Term, input: &HashSet<ColumnId>) -> bool {
    let ExprKind::Call {
        function,
        arguments,
    } = &term.expr.kind
    else {
        return false;
    };
    let [left, right] = arguments.as_slice() else {
        return false;
    };
    let [left, right] = [left, right].map(Expr::reads);
    let apart = |one: &HashSet<ColumnId>, other: &HashSet<ColumnId>| {
        one.is_subset(input) && !one.is_empty() && other.is_disjoint(input)
    };
    function.name == "=" && (apart(&left, &right) || apart(&right, &left))
}
