//! The one operation of a block: select(projection, predicate, destination) (Q, section
//! 2.1). Tuples that match are listed first, by their numbers, then copied one by one.

use super::super::query::Access;
use super::block::Block;
use super::destination::Destination;
use super::field::{Field, Key, chunk};
use super::predicate::{All, AtLeast, Attribute, Comparison, Literal, Never, Predicate};
use crate::error::{Error, Result};
use freestone_storage::Value;
use std::marker::PhantomData;
use std::ops::Range;

/// Each column is at least its value, in the widest form of a key.
type Conditions = [(usize, u128)];

/// What is copied of a tuple at once: a value, or columns that lie side by side in it.
struct Run {
    from: Field,
    form: Form,
    /// Bytes in the destination.
    bytes: usize,
}

/// What lies at a place that is copied.
#[derive(Clone, Copy)]
enum Form {
    Integer,
    /// A code of two bytes, or of one.
    Half,
    Byte,
    Text,
    /// Several values.
    Several,
}

impl Block {
    /// Copies columns of the tuples that meet all conditions, each a column and the least
    /// value that does, into the destination.
    ///
    /// # Errors
    /// The block does not have such a column, or values of that type.
    pub fn select(
        &self,
        projection: &[usize],
        conditions: &[(usize, Value)],
        access: Access,
        destination: &mut Destination,
    ) -> Result<()> {
        let keys = conditions
            .iter()
            .map(|(column, value)| Ok((*column, key(value)?)));
        let keys = keys.collect::<Result<Vec<(usize, u128)>>>()?;
        let runs = self.runs(projection)?;
        // The list keeps its memory too.
        let mut matches = std::mem::take(&mut destination.matches);
        let found = self.find(keys, access, &mut matches);
        if found.is_ok() {
            self.copy(&runs, &matches, destination);
        }
        destination.matches = matches;
        found
    }

    /// Lists the tuples that meet all conditions: a search if tuples are sorted on one of
    /// the columns, then a tree if that is the access, then a test of one tuple after the
    /// other. Tuples that a tree finds stay in the order of its keys.
    fn find(
        &self,
        mut left: Vec<(usize, u128)>,
        access: Access,
        matches: &mut Vec<u32>,
    ) -> Result<()> {
        matches.clear();
        let sorted = left
            .iter()
            .position(|(column, _)| Some(*column) == self.sorted);
        let first = match sorted.map(|place| left.remove(place)) {
            Some((column, least)) => self.search(column, least)?,
            None => 0,
        };
        let uses_index = matches!(access, Access::Index | Access::IndexInOrder);
        let indexed = |(column, _): &(usize, u128)| self.tree(*column).is_some();
        let indexed = left.iter().position(indexed).filter(|_| uses_index);
        let indexed = indexed.map(|place| left.remove(place));
        let predicate = self.predicate(&left)?;
        let matching = |tuple: &u32| predicate.matches(self, *tuple as usize);
        let tuples = first as u32..self.tuples() as u32;
        if let Some((tree, least)) =
            indexed.and_then(|(column, least)| Some((self.tree(column)?, least)))
        {
            let found = tree.from(least);
            match (first, &left[..]) {
                (0, []) => matches.extend_from_slice(found),
                _ => {
                    let found = found.iter().copied().filter(|tuple| tuples.contains(tuple));
                    matches.extend(found.filter(matching));
                }
            }
            if access == Access::IndexInOrder {
                matches.sort_unstable();
            }
            return Ok(());
        }
        match &left[..] {
            [] => matches.extend(tuples),
            [(column, least)] if self.is_compressed(*column) => {
                self.compare_codes(*column, *least, tuples, matches)?;
            }
            _ => matches.extend(tuples.filter(matching)),
        }
        Ok(())
    }

    /// The first tuple, of those sorted by a column, that has at least this value.
    fn search(&self, column: usize, least: u128) -> Result<usize> {
        fn of<K: Key>(block: &Block, field: Field, least: u128) -> usize {
            let Some(least) = K::least(least) else {
                return block.tuples();
            };
            let (mut first, mut end) = (0, block.tuples());
            while first < end {
                let middle = first + (end - first) / 2;
                match K::read(block.memory(), field.at(middle)) < least {
                    true => first = middle + 1,
                    false => end = middle,
                }
            }
            first
        }
        let field = self.field(column)?;
        Ok(match field.bytes {
            1 => of::<u8>(self, field, least),
            2 => of::<u16>(self, field, least),
            4 => of::<u32>(self, field, least),
            _ => of::<u128>(self, field, least),
        })
    }

    /// The conditions as a predicate.
    fn predicate(&self, conditions: &Conditions) -> Result<Box<dyn Predicate>> {
        fn of<K: Key>(field: Field, least: u128) -> Box<dyn Predicate> {
            let Some(least) = K::least(least) else {
                return Box::new(Never);
            };
            Box::new(Comparison {
                left: Box::new(Attribute(field)),
                right: Box::new(Literal(least.stored())),
                comparator: Box::new(AtLeast::<K>(PhantomData)),
            })
        }
        let each = conditions.iter().map(|(column, least)| {
            let field = self.field(*column)?;
            Ok(match field.bytes {
                1 => of::<u8>(field, *least),
                2 => of::<u16>(field, *least),
                4 => of::<u32>(field, *least),
                _ => of::<u128>(field, *least),
            })
        });
        let mut each = each.collect::<Result<Vec<Box<dyn Predicate>>>>()?;
        match (each.len(), each.pop()) {
            (1, Some(only)) => Ok(only),
            (_, last) => {
                each.extend(last);
                Ok(Box::new(All(each)))
            }
        }
    }

    fn is_compressed(&self, column: usize) -> bool {
        self.field(column)
            .is_ok_and(|field| field.bytes < self.value_bytes)
    }

    /// Lists the tuples whose code in a column is at least that of a value.
    fn compare_codes(
        &self,
        column: usize,
        least: u128,
        tuples: Range<u32>,
        matches: &mut Vec<u32>,
    ) -> Result<()> {
        fn of<K: Key>(
            block: &Block,
            field: Field,
            least: u128,
            tuples: Range<u32>,
            matches: &mut Vec<u32>,
        ) {
            // A value that has no code is above all that have.
            if let Some(least) = K::least(least) {
                let code = |tuple: u32| K::read(block.memory(), field.at(tuple as usize));
                matches.extend(tuples.filter(|tuple| code(*tuple) >= least));
            }
        }
        let field = self.field(column)?;
        match field.bytes {
            1 => of::<u8>(self, field, least, tuples, matches),
            _ => of::<u16>(self, field, least, tuples, matches),
        }
        Ok(())
    }

    /// What to copy of each tuple.
    fn runs(&self, projection: &[usize]) -> Result<Vec<Run>> {
        let mut runs: Vec<Run> = Vec::new();
        for column in projection {
            let from = self.field(*column)?;
            let bytes = self.value_bytes;
            let form = match from.bytes {
                1 => Form::Byte,
                2 => Form::Half,
                4 => Form::Integer,
                _ => Form::Text,
            };
            match runs.last_mut() {
                Some(run)
                    if (from.bytes, run.from.bytes) == (bytes, run.bytes)
                        && from.follows(run.from) =>
                {
                    run.form = Form::Several;
                    run.bytes += bytes;
                    run.from.bytes += bytes;
                }
                _ => runs.push(Run { from, form, bytes }),
            }
        }
        Ok(runs)
    }

    /// Copies tuples, values of compressed columns in full.
    fn copy(&self, runs: &[Run], tuples: &[u32], destination: &mut Destination) {
        let bytes: usize = runs.iter().map(|run| run.bytes).sum();
        let is_text = self.value_bytes != size_of::<i32>();
        let memory = destination.insert(tuples.len(), bytes, is_text);
        for (place, tuple) in memory.chunks_exact_mut(bytes.max(1)).zip(tuples) {
            let mut to = 0;
            for run in runs {
                let at = run.from.at(*tuple as usize);
                match run.form {
                    Form::Integer => put(place, to, chunk::<4>(self.memory(), at)),
                    Form::Half => put(
                        place,
                        to,
                        u32::from(u16::read(self.memory(), at)).to_le_bytes(),
                    ),
                    Form::Byte => put(
                        place,
                        to,
                        u32::from(u8::read(self.memory(), at)).to_le_bytes(),
                    ),
                    Form::Text => put(place, to, chunk::<20>(self.memory(), at)),
                    Form::Several => {
                        place[to..to + run.bytes]
                            .copy_from_slice(&self.memory()[at..at + run.bytes]);
                    }
                }
                to += run.bytes;
            }
        }
    }
}

/// Writes bytes there, if there is room.
#[inline]
fn put<const BYTES: usize>(place: &mut [u8], at: usize, bytes: [u8; BYTES]) {
    let place = place.get_mut(at..).and_then(<[u8]>::first_chunk_mut);
    if let Some(place) = place {
        *place = bytes;
    }
}

/// The least key of a constant: strings by their first 16 characters, which is all that
/// constants of the experiments have.
fn key(value: &Value) -> Result<u128> {
    match value {
        Value::Int(value) => Ok((*value).max(0) as u128),
        Value::Bytes(bytes) if bytes.len() <= 16 => {
            let mut first = [0; 16];
            first[..bytes.len()].copy_from_slice(bytes);
            Ok(u128::from_be_bytes(first))
        }
        other => Err(Error::new(
            format!("the replica does not compare with {other:?}"),
            "",
        )),
    }
}
