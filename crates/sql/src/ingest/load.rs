//! `Database::load`: batches of the caller's, written as they come.

use std::sync::Arc;

use crate::state::SessionState;
use arrow::array::RecordBatch;
use freestone_storage::{ReadView, Store, Table};

use super::{Checks, Target, append, assign_batch, commit, iterators, write};
use crate::error::{Error, Result};
use crate::names::Name;

/// Writes batches from iterators into an existing table.
pub(crate) async fn load(
    store: &Arc<Store>,
    state: &SessionState,
    name: &Name,
    table: &Arc<Table>,
    sources: Vec<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>>,
    checks: Checks,
) -> Result<u64> {
    let target = Target::new(store, Arc::clone(&table.schema), table.options.clone());
    let target = target.with_checks(checks);
    let to = Arc::clone(&table.schema);
    let assign = move |batch: RecordBatch| {
        if batch.num_columns() != to.columns.len() {
            return Err(Error::new(
                "42601",
                format!(
                    "a batch has {} columns, the table has {}",
                    batch.num_columns(),
                    to.columns.len()
                ),
            ));
        }
        assign_batch(&to, &batch).map_err(|(column, bad)| {
            let name = &to.columns[column].name;
            bad.error
                .with_detail(format!("column \"{name}\", row {} of a batch", bad.row + 1))
        })
    };
    let streams = iterators(sources, assign);
    let written = write(state, &target, streams).await?;
    commit(store, |edit| {
        let view = ReadView::default();
        append(edit, name, table, &view, written, &|_| ReadView::default())
    })
}
