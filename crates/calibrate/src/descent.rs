//! What it takes to find a key in the tree of a block.

use crate::timer::least;
use crate::{Error, Random, Result};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use freestone_model::Machine;
use freestone_storage::{
    Column, ColumnType, DEFAULT_SCHEMA, IndexDefinition, IndexForm, IndexKind, MoverHold, Store,
    TableOptions, TableSchema, Value,
};
use std::hint::black_box;
use std::sync::Arc;

/// Blocks, each with a tree, and their rows: together more than caches hold.
const BLOCKS: usize = 16;
const ROWS: usize = 1 << 18;
/// Keys that are looked for in every block, and series of it of which the fastest counts.
const KEYS: usize = 1 << 12;
const SERIES: usize = 3;

/// Cache misses that are worth the way down a tree, when a key is looked for in all
/// blocks of a table one after the other.
///
/// # Errors
/// Those of making the table.
pub(crate) fn misses(machine: &Machine) -> Result<f64> {
    of_table(machine, BLOCKS, ROWS)
}

fn of_table(machine: &Machine, blocks: usize, rows: usize) -> Result<f64> {
    let mut random = Random::new(13);
    let mut keys = Vec::new();
    let (store, _hold) = made(blocks, rows, &mut random, &mut keys)?;
    let snapshot = store.snapshot();
    let gone = || Error::Arrow("the table is gone".to_owned());
    let table = snapshot.table(DEFAULT_SCHEMA, "k").ok_or_else(gone)?;
    let definition = table.schema.indexes.first().ok_or_else(gone)?;
    let trees = table.blocks().iter().map(|block| block.index(definition));
    let trees = trees.collect::<freestone_storage::Result<Vec<_>>>()?;
    let seconds = least(SERIES, || {
        for key in &keys {
            for tree in trees.iter().flatten() {
                black_box(tree.equal(std::slice::from_ref(key)));
            }
        }
    });
    let descents = (keys.len() * blocks) as f64;
    Ok(seconds / descents * machine.clock / machine.miss_cycles)
}

/// A table of one column with a tree over it, whose blocks stay as they are, and some of
/// its keys.
fn made(
    blocks: usize,
    rows: usize,
    random: &mut Random,
    keys: &mut Vec<Value>,
) -> Result<(Arc<Store>, MoverHold)> {
    let store = Store::in_memory();
    let schema = TableSchema {
        columns: vec![Column {
            name: "k".to_owned(),
            kind: ColumnType::BigInt,
            nullable: false,
            default: None,
            identity: None,
            modifier: None,
            declared: None,
            generated: false,
            hidden: None,
        }],
        indexes: vec![IndexDefinition {
            number: 0,
            name: "tree".to_owned(),
            kind: IndexKind::Csb,
            columns: vec![0],
            form: IndexForm::default(),
        }],
        ..TableSchema::default()
    };
    let (options, shared) = (TableOptions::default(), Arc::new(schema.clone()));
    let mut made = Vec::new();
    for _ in 0..blocks {
        let values: Vec<i64> = (0..rows).map(|_| (random.bits() >> 1) as i64).collect();
        let some = values.iter().step_by((rows * blocks / KEYS).max(1));
        keys.extend(some.map(|value| Value::Int(i128::from(*value))));
        let array: ArrayRef = Arc::new(Int64Array::from(values));
        let batch = RecordBatch::try_new(shared.arrow(), vec![array])
            .map_err(|error| Error::Arrow(error.to_string()))?;
        let mut writer = store.writer(&shared, &options)?;
        writer.push(&batch)?;
        made.extend(writer.finish()?);
    }
    let table = store.commit(|edit| edit.create_table(DEFAULT_SCHEMA, "k", schema, options))?;
    let hold = store.hold_mover(table);
    store.commit(|edit| edit.append(table, made))?;
    Ok((store, hold))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some reads of memory, not none and not hundreds, however slow the build.
    #[test]
    fn a_key_is_found_in_every_block() {
        let machine = Machine {
            clock: 1e9,
            miss_cycles: 100.0,
            ..Machine::of_the_paper()
        };
        let found = of_table(&machine, 2, 5_000).unwrap();
        assert!((0.01..500.0).contains(&found), "{found}");
    }
}
