//! Where selections put their rows: a plain row store in memory (Q, section 3.2).

use super::tables::CHARACTERS;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// Rows of one thread, one tuple after the other. Its memory is kept from one query to
/// the next, so that none of them waits for the operating system to find pages.
#[derive(Debug, Default)]
pub struct Output {
    integers: Vec<i32>,
    strings: Vec<[u8; CHARACTERS]>,
    /// Values that the query has put into one of them,
    used: usize,
    /// and whether that is the strings.
    text: bool,
    answer: Answer,
}

/// What a query found, to be compared between organisations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Rows.
    pub rows: u64,
    /// A sum over all values, which does not depend on the order of rows.
    pub sum: u64,
}

impl Answer {
    /// Of both parts.
    pub fn and(self, other: Answer) -> Answer {
        Answer {
            rows: self.rows + other.rows,
            sum: self.sum.wrapping_add(other.sum),
        }
    }
}

impl Output {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.used = 0;
        self.answer = Answer::default();
    }

    /// Adds `rows` rows, whose columns are of one type.
    pub fn append(&mut self, columns: &[ArrayRef], rows: usize) {
        self.answer.rows += rows as u64;
        let Some(first) = columns.first().filter(|_| rows > 0) else {
            return;
        };
        let (start, end) = (self.used, self.used + rows * columns.len());
        self.used = end;
        self.text = *first.data_type() != DataType::Int32;
        if !self.text {
            grow(&mut self.integers, end, 0);
            let tuples = &mut self.integers[start..end];
            for (number, column) in columns.iter().enumerate() {
                let values = column.as_primitive::<Int32Type>().values();
                let places = tuples[number..].iter_mut().step_by(columns.len());
                places
                    .zip(values)
                    .for_each(|(place, value)| *place = *value);
            }
            return;
        }
        grow(&mut self.strings, end, [0; CHARACTERS]);
        let tuples = &mut self.strings[start..end];
        for (number, column) in columns.iter().enumerate() {
            let values = column.as_string_view();
            let places = tuples[number..].iter_mut().step_by(columns.len());
            for (row, place) in places.enumerate().take(values.len()) {
                let text = values.value(row).as_bytes();
                let bytes = text.len().min(CHARACTERS);
                place[..bytes].copy_from_slice(&text[..bytes]);
            }
        }
    }

    /// What has come together; reads all of it.
    pub fn answer(&self) -> Answer {
        let sum = match self.text {
            false => {
                let values = self.integers[..self.used].iter();
                values.fold(0, |sum: u64, value| sum.wrapping_add(*value as u64))
            }
            true => {
                let bytes = self.strings[..self.used].as_flattened().iter();
                bytes.fold(0, |sum: u64, byte| sum.wrapping_add(u64::from(*byte)))
            }
        };
        Answer { sum, ..self.answer }
    }
}

/// Makes room for `len` values in all.
fn grow<T: Clone>(values: &mut Vec<T>, len: usize, empty: T) {
    if values.len() < len {
        values.resize(len.max(values.len() * 2), empty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int32Array;
    use std::sync::Arc;

    #[test]
    fn rows_lie_one_after_the_other() {
        let column = |values: [i32; 2]| -> ArrayRef { Arc::new(Int32Array::from(values.to_vec())) };
        let mut output = Output::default();
        for _ in 0..2 {
            output.clear();
            output.append(&[column([1, 2]), column([10, 20])], 2);
            output.append(&[column([3, 4]), column([30, 40])], 2);
        }
        assert_eq!(output.integers[..8], [1, 10, 2, 20, 3, 30, 4, 40]);
        assert_eq!(output.answer(), Answer { rows: 4, sum: 110 });
    }
}
