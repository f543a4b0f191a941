//! Cursors: results that statements read piece by piece.

use std::collections::HashMap;
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::Held;
use crate::outcome::RowStream;
use arrow::array::{RecordBatch, UInt64Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;
use futures::StreamExt;
use parking_lot::Mutex;

use super::Session;
use crate::catalogs::pg_catalog::OpenCursor;
use crate::error::{Error, Result};
use crate::outcome::{Outcome, Rows};

/// The cursors of a session.
#[derive(Default)]
pub(crate) struct Cursors {
    all: Mutex<HashMap<String, Cursor>>,
    /// How many were opened so far.
    opened: AtomicU64,
}

/// A result and how far it was read.
pub(crate) struct Cursor {
    schema: SchemaRef,
    source: Source,
    declared: Declared,
    /// Whether it has outlived its transaction.
    lasting: bool,
    /// How many the session had opened before it.
    number: u64,
}

/// What DECLARE says of a cursor, and when it did.
#[derive(Clone)]
pub(crate) struct Declared {
    /// The statement, which is told when it has run: see [`Cursors::tell`].
    pub(crate) text: String,
    /// WITH HOLD: it outlives its transaction.
    pub(crate) holds: bool,
    pub(crate) binary: bool,
    /// SCROLL, or with `Some(false)` NO SCROLL.
    pub(crate) scrolls: Option<bool>,
    /// In microseconds since 1970.
    pub(crate) time: i64,
}

enum Source {
    /// Computed as it is read, forward only.
    Stream {
        stream: RowStream,
        rest: Option<RecordBatch>,
        /// Rows that were read.
        at: i64,
        /// Whether more rows were asked for than there are.
        ended: bool,
    },
    /// In memory; `at` is 0 before the first row and one more than there are after the last.
    Kept {
        rows: RecordBatch,
        at: i64,
        _held: Held,
    },
}

/// Which rows are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// So many, backward if negative; the present one if 0.
    By(i64),
    /// The row of that number, from the end if negative.
    To(i64),
    /// The row so many further.
    Relative(i64),
}

impl Cursors {
    /// Makes a cursor.
    ///
    /// # Errors
    /// `42P03` if there is one of that name.
    pub(crate) fn open(&self, name: String, cursor: Cursor) -> Result<()> {
        let mut all = self.all.lock();
        if all.contains_key(&name) {
            return Err(Error::new(
                "42P03",
                format!("cursor \"{name}\" already exists"),
            ));
        }
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        all.insert(name, Cursor { number, ..cursor });
        Ok(())
    }

    /// A mark of what is open now.
    pub(crate) fn mark(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// Closes the cursors that were opened after a mark, as what made them is taken back.
    pub(crate) fn back_to(&self, mark: u64) {
        self.all.lock().retain(|_, cursor| cursor.number < mark);
    }

    /// Forgets a cursor, or all of them.
    ///
    /// # Errors
    /// `34000` if there is none of that name.
    pub(crate) fn close(&self, name: Option<&str>) -> Result<()> {
        let mut all = self.all.lock();
        match name {
            None => all.clear(),
            Some(name) => drop(all.remove(name).ok_or_else(|| none(name))?),
        }
        Ok(())
    }

    /// At the end of a transaction those go that do not outlive it.
    pub(crate) fn end_transaction(&self, committed: bool) {
        let mut all = self.all.lock();
        all.retain(|_, cursor| cursor.lasting || (cursor.declared.holds && committed));
        for cursor in all.values_mut() {
            cursor.lasting = true;
        }
    }

    /// The columns of a cursor.
    ///
    /// # Errors
    /// As [`Cursors::close`].
    pub(crate) fn schema(&self, name: &str) -> Result<SchemaRef> {
        let all = self.all.lock();
        let cursor = all.get(name).ok_or_else(|| none(name))?;
        Ok(SchemaRef::clone(&cursor.schema))
    }

    /// Tells the text of the statement that has opened a cursor.
    pub(crate) fn tell(&self, name: &str, text: &str) {
        if let Some(cursor) = self.all.lock().get_mut(name) {
            text.clone_into(&mut cursor.declared.text);
        }
    }

    /// Those that are open, with their names and whether their rows are kept, in the order of
    /// their names.
    pub(crate) fn all(&self) -> Vec<(String, Declared, bool)> {
        let all = self.all.lock();
        let told = all.iter().map(|(name, cursor)| {
            let kept = matches!(cursor.source, Source::Kept { .. });
            (name.clone(), cursor.declared.clone(), kept)
        });
        let mut told: Vec<_> = told.collect();
        told.sort_by(|a, b| a.0.cmp(&b.0));
        told
    }

    fn take(&self, name: &str) -> Result<Cursor> {
        self.all.lock().remove(name).ok_or_else(|| none(name))
    }
}

/// The open cursors, for the system catalogs.
pub(super) fn listing(cursors: Weak<Cursors>) -> Box<dyn Fn() -> Vec<OpenCursor> + Send + Sync> {
    let listed = |(name, declared, kept): (String, Declared, bool)| OpenCursor {
        name,
        // Without a word of SCROLL it can be read backward if its rows are kept.
        scrolls: kept && declared.scrolls != Some(false),
        text: declared.text,
        holds: declared.holds,
        binary: declared.binary,
        time: declared.time,
    };
    Box::new(move || {
        let open = cursors.upgrade();
        let all = open.iter().flat_map(|cursors| cursors.all());
        all.map(listed).collect()
    })
}

impl Session {
    /// The session's cursors.
    pub(crate) fn cursors(&self) -> &Cursors {
        &self.cursors
    }

    /// The columns of an open cursor; `None` if there is none of that name.
    pub fn cursor(&self, name: &str) -> Option<SchemaRef> {
        self.cursors.schema(name).ok()
    }

    /// A cursor over rows: kept if they are read backward or after the transaction.
    ///
    /// # Errors
    /// Those of the rows that are kept, `53200` if there is no memory for them.
    pub(crate) async fn new_cursor(&self, rows: Rows, declared: Declared) -> Result<Cursor> {
        let schema = rows.schema;
        let source = match declared.holds || declared.scrolls == Some(true) {
            false => Source::Stream {
                stream: rows.stream,
                rest: None,
                at: 0,
                ended: false,
            },
            true => {
                let (batches, held) = self.kept_rows(rows.stream).await?;
                Source::Kept {
                    rows: concat_batches(&schema, &batches)?,
                    at: 0,
                    _held: held,
                }
            }
        };
        Ok(Cursor {
            schema,
            source,
            declared,
            lasting: false,
            number: 0,
        })
    }

    async fn kept_rows(&self, mut stream: RowStream) -> Result<(Vec<RecordBatch>, Held)> {
        let context = self.run_context();
        let mut held = Held::new(&context.memory, "rows of a cursor");
        let mut batches = Vec::new();
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            held.grow(batch.get_array_memory_size())?;
            batches.push(batch);
        }
        Ok((batches, held))
    }

    /// Moves a cursor; the rows that it passes.
    ///
    /// # Errors
    /// `34000`, `55000` for a move that it cannot make; those of the query.
    pub(crate) async fn fetch(&self, name: &str, wanted: Move) -> Result<Outcome> {
        // One that fails is gone, as its transaction is.
        let mut cursor = self.cursors.take(name)?;
        let place = match &cursor.source {
            Source::Stream { at, ended, .. } => Some((*at, *ended)),
            Source::Kept { rows, at, .. } => {
                let ended = *at > rows.num_rows() as i64;
                (cursor.declared.scrolls == Some(false)).then_some((*at, ended))
            }
        };
        let steps = place.map(|(at, ended)| forward(wanted, at, ended));
        if steps == Some(None) {
            self.cursors.open(name.to_owned(), cursor)?;
            return Err(Error::new("55000", "cursor can only scan forward")
                .with_hint("Declare it with SCROLL option to enable backward scan."));
        }
        let batches = match &mut cursor.source {
            Source::Stream {
                stream,
                rest,
                at,
                ended,
            } => {
                let (passed, count) = steps.flatten().unwrap_or_default();
                let (skipped, _) = next(stream, rest, passed, false).await?;
                let (taken, batches) = next(stream, rest, count, true).await?;
                *at += skipped + taken;
                *ended |= skipped + taken < passed.saturating_add(count);
                batches
            }
            Source::Kept { rows, at, .. } => vec![moved(rows, at, wanted)?],
        };
        let schema = SchemaRef::clone(&cursor.schema);
        self.cursors.open(name.to_owned(), cursor)?;
        Ok(Outcome::batches(schema, batches))
    }
}

/// How many rows a move forward leaves out and how many it takes then; `None` for a move
/// backward. The cursor is at a row, or behind the last one if it has `ended`.
fn forward(wanted: Move, at: i64, ended: bool) -> Option<(i64, i64)> {
    let on_row = at > 0 && !ended;
    match wanted {
        Move::By(0) | Move::Relative(0) => (!on_row).then_some((0, 0)),
        Move::By(count @ 1..) => Some((0, count)),
        Move::Relative(count @ 1..) => Some((count - 1, 1)),
        Move::To(0) => (at == 0 && !ended).then_some((0, 0)),
        Move::To(number) if number > at => Some((number - at - 1, 1)),
        Move::By(_) | Move::Relative(_) | Move::To(_) => None,
    }
}

/// The next rows of a stream: their number, and themselves if they are wanted.
async fn next(
    stream: &mut RowStream,
    rest: &mut Option<RecordBatch>,
    count: i64,
    wanted: bool,
) -> Result<(i64, Vec<RecordBatch>)> {
    let mut left = usize::try_from(count).unwrap_or(usize::MAX);
    let (mut passed, mut all) = (0, Vec::new());
    while left > 0 {
        let batch = match rest.take() {
            Some(batch) => batch,
            None => match stream.next().await {
                Some(batch) => batch?,
                None => break,
            },
        };
        let now = left.min(batch.num_rows());
        if now < batch.num_rows() {
            *rest = Some(batch.slice(now, batch.num_rows() - now));
        }
        if wanted {
            all.push(batch.slice(0, now));
        }
        left -= now;
        passed += now as i64;
    }
    Ok((passed, all))
}

/// The rows that a move passes, in that order; `at` is where it ends.
fn moved(rows: &RecordBatch, at: &mut i64, wanted: Move) -> Result<RecordBatch> {
    let count = rows.num_rows() as i64;
    let inside = |place: i64| (1..=count).contains(&place);
    let places: Vec<u64> = match wanted {
        Move::By(0) => Vec::from_iter(inside(*at).then_some(*at as u64)),
        Move::By(by @ 1..) => {
            let first = at.saturating_add(1);
            let last = at.saturating_add(by);
            *at = last.min(count + 1);
            (first..=last.min(count))
                .map(|place| place as u64)
                .collect()
        }
        Move::By(by) => {
            let (first, last) = (*at - 1, at.saturating_add(by));
            *at = last.max(0);
            let back = (last.max(1)..=first).rev();
            back.map(|place| place as u64).collect()
        }
        Move::To(_) | Move::Relative(_) => {
            let place = match wanted {
                Move::To(number @ 0..) => number,
                Move::To(number) => (count + 1).saturating_add(number),
                Move::Relative(by) | Move::By(by) => at.saturating_add(by),
            };
            *at = place.clamp(0, count + 1);
            Vec::from_iter(inside(*at).then_some(*at as u64))
        }
    };
    let places = UInt64Array::from_iter_values(places.into_iter().map(|place| place - 1));
    match places.is_empty() {
        true => Ok(rows.slice(0, 0)),
        false => Ok(take_record_batch(rows, &places)?),
    }
}

fn none(name: &str) -> Error {
    Error::new("34000", format!("cursor \"{name}\" does not exist"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;

    #[test]
    fn moves_forward_need_no_kept_rows() {
        for (wanted, at, ended, steps) in [
            (Move::By(3), 2, false, Some((0, 3))),
            (Move::By(i64::MAX), 2, true, Some((0, i64::MAX))),
            (Move::By(0), 0, false, Some((0, 0))),
            (Move::By(0), 2, false, None),
            (Move::By(0), 2, true, Some((0, 0))),
            (Move::By(-1), 0, false, None),
            (Move::Relative(3), 2, false, Some((2, 1))),
            (Move::Relative(-1), 2, false, None),
            (Move::To(5), 2, false, Some((2, 1))),
            (Move::To(2), 2, false, None),
            (Move::To(0), 0, false, Some((0, 0))),
            (Move::To(0), 2, false, None),
            (Move::To(-1), 2, false, None),
        ] {
            assert_eq!(forward(wanted, at, ended), steps, "{wanted:?} at {at}");
        }
    }

    #[test]
    fn moves_pass_rows_as_postgresql_does() {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(1..=5));
        let rows = RecordBatch::try_from_iter([("v", column)]).unwrap();
        let mut at = 0;
        for (wanted, passed, then) in [
            (Move::By(2), vec![1, 2], 2),
            (Move::By(0), vec![2], 2),
            (Move::By(-1), vec![1], 1),
            (Move::By(-3), vec![], 0),
            (Move::By(i64::MAX), vec![1, 2, 3, 4, 5], 6),
            (Move::By(1), vec![], 6),
            (Move::By(-2), vec![5, 4], 4),
            (Move::By(i64::MIN), vec![3, 2, 1], 0),
            (Move::To(3), vec![3], 3),
            (Move::Relative(1), vec![4], 4),
            (Move::Relative(-3), vec![1], 1),
            (Move::To(-1), vec![5], 5),
            (Move::To(9), vec![], 6),
            (Move::To(-9), vec![], 0),
        ] {
            let found = moved(&rows, &mut at, wanted).unwrap();
            let found = found
                .column(0)
                .as_primitive::<Int64Type>()
                .values()
                .to_vec();
            assert_eq!((found, at), (passed, then), "{wanted:?}");
        }
    }
}
