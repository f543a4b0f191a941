//! The reads of a selection, fed to the model of caches.
//!
//! They are those of the paper's scan operator, record by record: a page's header once,
//! of NSM the record's slot, the attributes of the predicate until one fails, and of
//! records that qualify the projected attributes. Freestone's scans go by zones of
//! 8,192 rows instead, first the predicate's columns, then the others.

use super::places::{Part, Places};
use super::relation::Relation;
use super::selection::Selection;
use crate::cache::{CacheMachine, Counts, Hierarchy};

/// Bytes of a value of R.
const VALUE: u64 = 8;

/// What a selection misses in the caches of a machine, which begin empty.
pub(super) fn misses(
    relation: &Relation,
    places: &Places,
    selection: &Selection,
    machine: &CacheMachine,
) -> Counts {
    let mut caches = machine.caches();
    for part in &places.parts {
        if places.header > 0 {
            caches.read(part.bytes.start, places.header);
        }
        for row in part.rows.clone() {
            if places.slotted {
                caches.read(part.slot(row), Places::SLOT);
            }
            if passes(relation, part, row, selection, &mut caches) {
                for attribute in &selection.projected {
                    caches.read(part.value(row, *attribute), VALUE);
                }
            }
        }
    }
    caches.counts()
}

/// Whether a record qualifies; reads what tells it.
fn passes(
    relation: &Relation,
    part: &Part,
    row: usize,
    selection: &Selection,
    caches: &mut Hierarchy,
) -> bool {
    selection.ranges.iter().all(|(attribute, low, high)| {
        caches.read(part.value(row, *attribute), VALUE);
        let value = relation.attributes[*attribute][row];
        *low < value && value < *high
    })
}

/// Misses of each record at a level that is counted from 1.
pub(super) fn per_record(relation: &Relation, counts: &Counts, level: usize) -> f64 {
    counts.of_level(level) as f64 / relation.rows() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's arithmetic: NSM misses with every record, PAX with every fourth.
    #[test]
    fn a_predicate_alone_misses_once_a_record_or_once_in_four() {
        let relation = Relation::new(20_000, 8, 1);
        let selection = Selection::new(&[0], &[7], 0.0);
        let count = |places: Places| {
            let counts = misses(&relation, &places, &selection, &CacheMachine::pentium());
            per_record(&relation, &counts, 2)
        };
        let pax = count(Places::pax(&relation).unwrap());
        // A quarter, and two or three lines of a header for 125 records.
        assert!((0.25..0.30).contains(&pax), "{pax}");
        let nsm = count(Places::nsm(&relation).unwrap());
        // Records of 65 bytes: 7 of 32 values lie across two lines; slots take an eighth.
        let expected = 1.0 + 7.0 / 32.0 + 4.0 / 32.0;
        assert!((nsm - expected).abs() < 0.03, "{nsm}");
    }
}
