//! The replica gives the rows that the generator makes, as Freestone does, and its blocks
//! are what the paper says of them.

use super::super::organisation::Stored;
use super::super::output::Output;
use super::super::query::run;
use super::super::tables::TableKind;
use super::*;
use freestone_storage::schema::CodecName;
use freestone_storage::{CodecChoice, Layout};

const ROWS: u64 = 5_000;

fn generator(kind: TableKind) -> Generator {
    Generator { kind, seed: 3 }
}

fn organisations() -> Vec<Organisation> {
    let truncated = CodecChoice::Named(CodecName::Truncation);
    let mut all = Vec::new();
    for layout in [Layout::Row, Layout::Column] {
        for cut in [Cut::Blocks(1500), Cut::Files] {
            for codec in [CodecChoice::None, truncated] {
                let plain = Organisation::plain(layout, cut).coded(codec).indexed(1);
                all.push(plain.clone());
                all.push(plain.sorted(2));
            }
        }
    }
    all
}

fn queries(kind: TableKind) -> Vec<Query> {
    let condition = |column, share| (column, kind.at_least(column, share));
    vec![
        Query::of(kind, vec![0, 4, 5, 9], 1, 0.3),
        Query::of(kind, (0..kind.columns()).collect(), 3, 0.2),
        Query::of(kind, vec![1], 2, 0.1),
        Query {
            projection: vec![7],
            conditions: vec![condition(2, 0.5), condition(1, 0.5), condition(5, 0.5)],
        },
        Query::of(kind, Vec::new(), 1, 1.0),
    ]
}

#[test]
fn the_replica_gives_the_rows_that_freestone_gives() {
    for kind in [
        TableKind::NarrowU,
        TableKind::NarrowE,
        TableKind::WideE,
        TableKind::Strings,
    ] {
        for organisation in organisations() {
            if kind == TableKind::Strings && organisation.codec != CodecChoice::None {
                continue;
            }
            let stored = Stored::load(generator(kind), ROWS, &organisation, 2).unwrap();
            let replica = Replica::load(generator(kind), ROWS, &organisation, 2).unwrap();
            for query in queries(kind) {
                let mut outputs = [Output::default(), Output::default()];
                let wanted = run(&stored, &query, Access::Scan, 2, &mut outputs)
                    .unwrap()
                    .1;
                for access in [Access::Scan, Access::Index, Access::IndexInOrder] {
                    let mut destinations = [Destination::default(), Destination::default()];
                    let found = replica.run(&query, access, 2, &mut destinations).unwrap().1;
                    assert_eq!(
                        found, wanted,
                        "{kind:?} {organisation:?} {access:?} {query:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn tuples_are_copied_as_wholes_and_in_the_order_of_the_index() {
    let kind = TableKind::NarrowU;
    let organisation = Organisation::plain(Layout::Row, Cut::Files).indexed(1);
    let replica = Replica::load(generator(kind), 1000, &organisation, 1).unwrap();
    let query = Query::of(kind, vec![1, 2], 1, 0.1);
    let in_rows: Vec<(i32, i32)> = (0..1000)
        .map(|row| {
            [1, 2]
                .map(|column| generator(kind).integer(column, row))
                .into()
        })
        .filter(|(asked, _)| *asked > 90_000_000)
        .collect();
    let mut by_index = in_rows.clone();
    by_index.sort_unstable();
    for (access, wanted) in [(Access::Index, by_index), (Access::IndexInOrder, in_rows)] {
        let mut destinations = [Destination::default()];
        let run = replica.run(&query, access, 1, &mut destinations);
        assert_eq!(run.unwrap().1.rows, wanted.len() as u64);
        assert_eq!(destinations[0].tuples(), wanted);
    }
}

#[test]
fn blocks_have_64_bytes_more_than_their_tuples_and_truncation_takes_30_percent() {
    let bytes = |kind, organisation: &Organisation| {
        let replica = Replica::load(generator(kind), ROWS, organisation, 2).unwrap();
        replica.bytes() - 64 * replica.blocks()
    };
    let row = Organisation::plain(Layout::Row, Cut::Blocks(1024));
    let column = Organisation::plain(Layout::Column, Cut::Files).sorted(4);
    for organisation in [row, column] {
        assert_eq!(bytes(TableKind::NarrowE, &organisation), 40 * ROWS);
        let truncated = organisation.coded(CodecChoice::Named(CodecName::Truncation));
        // Two columns of one byte, three of two and five of four.
        assert_eq!(bytes(TableKind::NarrowE, &truncated), 28 * ROWS);
    }
}

#[test]
fn trees_find_what_sorting_finds() {
    let organisation = Organisation::plain(Layout::Column, Cut::Files);
    // Sizes around those at which a node or a level is full.
    for rows in [1, 15, 16, 17, 271, 272, 273, 5000] {
        let kind = TableKind::NarrowE;
        let tuples = build::tuples(generator(kind), 0..rows);
        let block = Block::build(kind, &organisation, &tuples).unwrap();
        for column in [0, 5] {
            let tree = Tree::build(&block, column).unwrap();
            let mut sorted: Vec<(i32, u32)> = (0..rows)
                .map(|row| (generator(kind).integer(column, row), row as u32))
                .collect();
            sorted.sort_unstable();
            for least in [0, 1, 3, 6, 7, sorted[rows as usize / 2].0, 80_000] {
                let wanted = sorted.iter().filter(|(value, _)| *value >= least);
                let mut wanted: Vec<u32> = wanted.map(|(_, tuple)| *tuple).collect();
                let mut found = tree.from(least as u128).to_vec();
                let values = found
                    .iter()
                    .map(|tuple| generator(kind).integer(column, (*tuple).into()));
                assert!(values.is_sorted());
                wanted.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, wanted, "{rows} {column} {least}");
            }
        }
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    let kind = TableKind::NarrowU;
    let plain = Organisation::plain(Layout::Row, Cut::Files);
    let load = |organisation: &Organisation| Replica::load(generator(kind), 100, organisation, 1);
    let replica = load(&plain).unwrap();
    for query in [
        Query::of(kind, vec![10], 0, 0.5),
        Query::of(kind, vec![0], 10, 0.5),
    ] {
        let mut destinations = [Destination::default()];
        assert!(
            replica
                .run(&query, Access::Scan, 1, &mut destinations)
                .is_err()
        );
    }
    assert!(
        load(&Organisation {
            layout: Layout::Pax,
            ..plain.clone()
        })
        .is_err()
    );
    assert!(
        load(&Organisation {
            cut: Cut::Partitions(10),
            ..plain.clone()
        })
        .is_err()
    );
    assert!(load(&plain.sorted(10)).is_err());
    assert!(Block::open(vec![1; 70]).is_err());
    assert!(Block::open(vec![0; 10]).is_err());
}
