//! Buffers that several arrays share.
//!
//! Slices of an array have its buffers, and arrays of views keep those of all arrays that they
//! were made of. Bytes are counted once for each buffer, not for each array; and arrays that are
//! put together are copied when their views lead to many buffers: rows that are put together
//! again and again would have the same ones listed once for each way that they came.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayData, ArrayRef, RecordBatch, RecordBatchOptions, cast::AsArray, make_array,
};
use arrow::compute::concat;
use arrow::datatypes::DataType;

use crate::error::Result;

/// Buffers that views of one array lead to, at most.
const BUFFERS: usize = 8;

/// Rows for each buffer from which on views may lead to more.
const ROWS: usize = 8;

/// Counts bytes of buffers, of each once.
#[derive(Debug, Default)]
pub(crate) struct Counted(HashSet<usize>);

impl Counted {
    /// Bytes of a batch's buffers that were not counted before.
    pub(crate) fn bytes(&mut self, batch: &RecordBatch) -> usize {
        let columns = batch.columns().iter();
        let bytes = columns.map(|column| self.array(column));
        bytes.sum::<usize>() + size_of::<RecordBatch>() + 64 * batch.num_columns()
    }

    /// Bytes of an array's buffers that were not counted before.
    pub(crate) fn array(&mut self, array: &ArrayRef) -> usize {
        self.of(&array.to_data())
    }

    fn of(&mut self, data: &ArrayData) -> usize {
        let nulls = data.nulls().map(|nulls| nulls.buffer());
        let mut bytes = 0;
        for buffer in data.buffers().iter().chain(nulls) {
            if self.0.insert(buffer.data_ptr().as_ptr() as usize) {
                bytes += buffer.capacity();
            }
        }
        let children = data.child_data().iter();
        bytes + children.map(|child| self.of(child)).sum::<usize>()
    }
}

/// Several arrays of a type one behind the other, with views that lead to few buffers.
///
/// # Errors
/// Errors of Arrow, such as for arrays of different types.
pub(crate) fn concatenated(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    compact(&concat(&arrays)?, BUFFERS)
}

/// The rows of a batch, copied where their views lead to many buffers for so few rows.
///
/// # Errors
/// Errors of Arrow.
pub(crate) fn thinned(batch: RecordBatch) -> Result<RecordBatch> {
    let most = BUFFERS.max(batch.num_rows() / ROWS);
    compacted(batch, most)
}

fn compacted(batch: RecordBatch, most: usize) -> Result<RecordBatch> {
    let views = |kind: &DataType| matches!(kind, DataType::Utf8View | DataType::BinaryView);
    let mut columns = batch.columns().iter().filter(|column| {
        let kind = column.data_type();
        views(kind) || kind.is_nested()
    });
    if !columns.any(|column| is_scattered(&column.to_data(), most)) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(|column| compact(column, most));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new_with_options(
        batch.schema(),
        columns,
        &options,
    )?)
}

/// An array whose views lead to few buffers.
fn compact(array: &ArrayRef, most: usize) -> Result<ArrayRef> {
    let data = array.to_data();
    if !is_scattered(&data, most) {
        return Ok(Arc::clone(array));
    }
    match array.data_type() {
        DataType::Utf8View => Ok(Arc::new(array.as_string_view().gc())),
        DataType::BinaryView => Ok(Arc::new(array.as_binary_view().gc())),
        _ => {
            let children = data.child_data().iter();
            let children =
                children.map(|child| Ok(compact(&make_array(child.clone()), most)?.to_data()));
            let children = children.collect::<Result<Vec<_>>>()?;
            let data = data.into_builder().child_data(children).build()?;
            Ok(make_array(data))
        }
    }
}

/// Whether an array, or one in it, has views that lead to many buffers.
fn is_scattered(data: &ArrayData, most: usize) -> bool {
    let views = matches!(data.data_type(), DataType::Utf8View | DataType::BinaryView);
    let mut children = data.child_data().iter();
    views && data.buffers().len() > most || children.any(|child| is_scattered(child, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ListArray, StringViewArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::compute::concat_batches;
    use arrow::datatypes::Field;

    /// A column of texts too long for a view itself, and one of lists of them.
    fn batch() -> RecordBatch {
        let texts = (0..20).map(|n| Some(format!("a text of more than twelve bytes, {n}")));
        let texts: ArrayRef = Arc::new(texts.collect::<StringViewArray>());
        let item = Arc::new(Field::new("item", DataType::Utf8View, true));
        let lists = ListArray::new(
            item,
            OffsetBuffer::from_lengths([1; 20]),
            Arc::clone(&texts),
            None,
        );
        let lists: ArrayRef = Arc::new(lists);
        RecordBatch::try_from_iter([("t", texts), ("l", lists)]).unwrap()
    }

    #[test]
    fn slices_of_a_batch_have_its_bytes_once() {
        let batch = batch();
        let mut counted = Counted::default();
        let whole = counted.bytes(&batch);
        let slices = (0..20).map(|at| counted.bytes(&batch.slice(at, 1)));
        assert!(slices.sum::<usize>() < 20 * 400, "{whole}");
        assert!(whole > 20 * 35);
    }

    #[test]
    fn few_rows_lead_to_few_buffers() {
        let whole = batch();
        let parts: Vec<RecordBatch> = (0..20).map(|_| batch()).collect();
        let all = concat_batches(&whole.schema(), &parts).unwrap();
        let buffers = |batch: &RecordBatch| batch.column(0).as_string_view().data_buffers().len();
        assert_eq!(buffers(&all), 20);
        assert_eq!(buffers(&thinned(all.clone()).unwrap()), 20);
        let few = thinned(all.slice(7, 10)).unwrap();
        assert!(buffers(&few) <= BUFFERS);
        assert_eq!(few, all.slice(7, 10));
    }

    #[test]
    fn rows_that_are_put_together_again_and_again_lead_to_few_buffers() {
        let first = batch();
        let mut all = first.clone();
        for _ in 0..12 {
            let columns = all.columns().iter().map(|column| {
                let slices: Vec<ArrayRef> = (0..20).map(|at| column.slice(at, 1)).collect();
                concatenated(&slices).unwrap()
            });
            all = RecordBatch::try_new(first.schema(), columns.collect()).unwrap();
        }
        assert_eq!(all, first);
        let texts = all.column(0).as_string_view();
        assert!(texts.data_buffers().len() <= BUFFERS);
        let lists = all.column(1).as_list::<i32>();
        assert!(lists.values().as_string_view().data_buffers().len() <= BUFFERS);
    }
}
