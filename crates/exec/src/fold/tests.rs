use crate::expression::Expression;
use crate::plan::{Folded, Folder, Folding, Node, Plan};
use crate::ranges::tests::plans::*;
use crate::testing::{ALONE, How, rows};
use crate::vector::{Batch, Values, Vector};
use crate::{Error, Result};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Counts the rows of each value of the first column, and sums up the second; of a second set all
/// rows.
#[derive(Debug)]
struct Summing {
    /// Bytes that a group is said to take.
    bytes: usize,
}

struct Sums {
    whole: bool,
    bytes: usize,
    groups: BTreeMap<Option<i64>, (i64, i64)>,
}

fn integers(rows: &Batch, column: usize) -> Vec<Option<i64>> {
    let Values::Int(values) = &rows.columns[column].values else {
        panic!("no integers");
    };
    let of = |row: usize| (!rows.columns[column].is_null(row)).then(|| values[row]);
    (0..rows.rows).map(of).collect()
}

impl Folder for Summing {
    fn begin(&self, set: usize) -> Result<Box<dyn Folded>> {
        Ok(Box::new(Sums {
            whole: set == 1,
            bytes: self.bytes,
            groups: BTreeMap::new(),
        }))
    }

    fn hashes(&self, set: usize, rows: &Batch) -> Result<Option<Vec<u64>>> {
        let hash = |key: Option<i64>| {
            let mixed = (key.unwrap_or(7) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            mixed ^ mixed >> 29
        };
        Ok((set == 0).then(|| integers(rows, 0).into_iter().map(hash).collect()))
    }
}

impl Folded for Sums {
    fn add(&mut self, rows: &Batch, begin: bool) -> Result<Vec<u32>> {
        let mut left = Vec::new();
        let both = integers(rows, 0).into_iter().zip(integers(rows, 1));
        for (row, (key, value)) in (0..).zip(both) {
            let key = key.filter(|_| !self.whole);
            if !begin && !self.groups.contains_key(&key) {
                left.push(row);
                continue;
            }
            let (count, sum) = self.groups.entry(key).or_default();
            *count += 1;
            *sum += value.unwrap_or(0);
        }
        Ok(left)
    }

    fn bytes(&self) -> usize {
        self.groups.len() * self.bytes
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<Batch>> {
        if self.whole {
            self.groups.entry(None).or_default();
        }
        let column = |values: Vec<i64>| Vector::of(Values::Int(values.into()));
        let groups = || self.groups.iter();
        Ok(vec![Batch {
            columns: vec![
                column(groups().map(|(key, _)| key.unwrap_or(-1)).collect()),
                column(groups().map(|(_, (count, _))| *count).collect()),
                column(groups().map(|(_, (_, sum))| *sum).collect()),
            ],
            rows: self.groups.len(),
        }])
    }
}

fn folded(input: Plan, bytes: usize, ordered: bool, keeps: bool) -> Plan {
    let folding = Folding {
        folder: Arc::new(Summing { bytes }),
        // A single group cannot be partitioned.
        sets: if keeps { 1 } else { 2 },
        ordered,
        keeps,
    };
    plan(Node::Fold(input.into(), folding), vec![INT; 3])
}

fn numbers(count: usize, seed: i64) -> Plan {
    let lines = stored(KEYS[0], count, seed, 1);
    let columns = [1, 0].map(Expression::Column);
    plan(Node::Project(lines.into(), columns.to_vec()), vec![INT; 2])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    /// Results are the same however many threads there are, and however little memory.
    #[test]
    fn groups_do_not_depend_on_threads_and_memory(
        count in prop_oneof![Just(0usize), 1usize..9000], seed in 0i64..1 << 40,
        ordered in any::<bool>(), keeps in any::<bool>(), how in any_how(),
    ) {
        let expected = rows(&folded(numbers(count, seed), 64, true, keeps), ALONE).unwrap();
        let plan = folded(numbers(count, seed), 64, ordered, keeps);
        prop_assert_eq!(rows(&plan, how).unwrap(), expected);
    }
}

/// Groups for which there is no memory are folded later, and their rows are set aside; a state
/// that grows beyond the memory is an error.
#[test]
fn groups_without_memory_come_later() {
    for threads in [1, 3] {
        let with = |memory| How {
            threads,
            memory,
            ..ALONE
        };
        for keeps in [false, true] {
            let plan = folded(numbers(20_000, 1), 100, false, keeps);
            let expected = rows(&plan, with(usize::MAX)).unwrap();
            assert_eq!(number(&plan.metrics.aside), 0);
            let plan = folded(numbers(20_000, 1), 100, false, keeps);
            assert_eq!(rows(&plan, with(0)).unwrap(), expected);
            assert!(number(&plan.metrics.aside) > 0);
        }
    }
    // Its only group takes more with every row.
    #[derive(Debug)]
    struct Growing;
    struct Grown(usize);
    impl Folder for Growing {
        fn begin(&self, _: usize) -> Result<Box<dyn Folded>> {
            Ok(Box::new(Grown(0)))
        }
        fn hashes(&self, _: usize, _: &Batch) -> Result<Option<Vec<u64>>> {
            Ok(None)
        }
    }
    impl Folded for Grown {
        fn add(&mut self, rows: &Batch, _: bool) -> Result<Vec<u32>> {
            self.0 += rows.rows * 100;
            Ok(Vec::new())
        }
        fn bytes(&self) -> usize {
            self.0
        }
        fn finish(self: Box<Self>) -> Result<Vec<Batch>> {
            Ok(Vec::new())
        }
    }
    let folding = Folding {
        folder: Arc::new(Growing),
        sets: 1,
        ordered: false,
        keeps: false,
    };
    let plan = plan(Node::Fold(numbers(20_000, 1).into(), folding), vec![INT]);
    let how = How {
        memory: 1 << 16,
        ..ALONE
    };
    let refused = rows(&plan, how);
    assert!(
        matches!(refused, Err(Error::OutOfMemory { .. })),
        "{refused:?}"
    );
}
