//! How long commits take beside the mover; measured, not checked.

use super::*;

/// Prints how long commits of 100 rows take when the thread moves the delta, and
/// when the committer does.
#[test]
#[ignore = "measures"]
fn commits_beside_the_mover() {
    let row = |part: i32| {
        let rows = (part * 100..part * 100 + 100).map(|key| (key, key));
        batch(&rows.collect::<Vec<_>>())
    };
    let batches: Vec<RecordBatch> = (0..3000).map(row).collect();
    for by_committer in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), OpenMode::Create).unwrap();
        let table = create_with(&store, TableOptions::default());
        if by_committer {
            store.pause_mover();
        }
        let mut times = Vec::new();
        for batch in &batches {
            let began = Instant::now();
            let mut own = store.begin().unwrap();
            own.insert(table, batch).unwrap();
            own.commit().unwrap();
            if by_committer && table_of(&store).delta().rows() >= 65_536 {
                store.move_delta(table).unwrap();
            }
            times.push(began.elapsed());
        }
        times.sort();
        let total: Duration = times.iter().sum();
        let at = |thousandth: usize| times[(times.len() - 1) * thousandth / 1000];
        println!(
            "moved by the committer {by_committer}: {total:?}; median {:?}, 99.9 % {:?}, slowest {:?}",
            at(500),
            at(999),
            at(1000)
        );
    }
}
