//! Columns that queries have asked for: the rows of a fragment never change, so
//! that they are taken from its tuples once, not by each query again.

use crate::codec::ArrayForm;
use arrow_array::{Array, ArrayRef};
use parking_lot::Mutex;

/// Columns of the first rows of a fragment.
#[derive(Debug, Default)]
pub(super) struct KeptColumns(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    column: usize,
    form: ArrayForm,
    array: ArrayRef,
}

impl KeptColumns {
    /// The column of the first `rows` rows, if that many were kept.
    pub fn get(&self, column: usize, form: ArrayForm, rows: usize) -> Option<ArrayRef> {
        let kept = self.0.lock();
        let mut kept = kept.iter();
        let found = kept.find(|kept| kept.column == column && kept.form == form)?;
        (found.array.len() >= rows).then(|| found.array.slice(0, rows))
    }

    /// Keeps a column, in the place of one of fewer rows.
    pub fn keep(&self, column: usize, form: ArrayForm, array: &ArrayRef) {
        let mut kept = self.0.lock();
        let array = array.clone();
        let place = kept
            .iter()
            .position(|kept| kept.column == column && kept.form == form);
        match place {
            Some(place) if kept[place].array.len() >= array.len() => {}
            Some(place) => kept[place].array = array,
            None => kept.push(Kept {
                column,
                form,
                array,
            }),
        }
    }

    /// Forgets all: rows were taken back.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        let kept = self.0.lock();
        let bytes = kept.iter().map(|kept| kept.array.get_array_memory_size());
        bytes.sum()
    }
}
