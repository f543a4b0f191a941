//! The first rows of an order with the peers of the last, as a share of all, or as many as a
//! sub-query says.
//!
//! Rows come in their order. Only a share of them is known when all have come; until then they are
//! gathered.

use arrow::array::{Array, ArrayRef, cast::AsArray};
use arrow::datatypes::{DataType, Int64Type};
use arrow::row::{OwnedRow, RowConverter, SortField};
use freestone_exec as exec;
use freestone_exec::vector::Batch;
use freestone_exec::{Gathered, Gathering, Inside, Operator, Out, Working};
use parking_lot::Mutex;

use super::{Held, arrays, number, other, whole};
use crate::error::{Error, Result};

/// How many rows are given.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Most {
    /// All.
    All,
    /// A number of them.
    Rows(usize),
    /// A share of them.
    Share(f64),
}

/// The numbers of LIMIT and OFFSET.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Bounds {
    /// Known when the plan is made.
    Known {
        /// Rows passed over.
        skip: usize,
        /// Rows given.
        most: Most,
    },
    /// The only row of a plan beside the rows: LIMIT, then OFFSET.
    Computed {
        /// Whether LIMIT is a share of all rows.
        percent: bool,
    },
}

/// A share of all rows, given in percent.
///
/// # Errors
/// `2201W` out of range.
pub(in super::super) fn share_of(percent: f64) -> Result<Most> {
    match (0.0..=100.0).contains(&percent) {
        true => Ok(Most::Share(percent / 100.0)),
        false => Err(Error::new(
            "2201W",
            "a share of rows must be between 0 and 100 percent",
        )),
    }
}

/// The numbers of a row with LIMIT and OFFSET.
fn computed(row: &[ArrayRef], percent: bool) -> Result<(usize, Most)> {
    let rows = |column: usize, code: &str, word: &str| {
        let array = row
            .get(column)
            .and_then(|array| array.as_primitive_opt::<Int64Type>());
        let array = array.filter(|array| array.len() == 1);
        let array = array.ok_or_else(|| Error::internal("a limit of another type"))?;
        match array.is_valid(0).then(|| array.value(0)) {
            None => Ok(None),
            Some(rows) => usize::try_from(rows)
                .map(Some)
                .map_err(|_| Error::new(code, format!("{word} must not be negative"))),
        }
    };
    let skip = rows(1, "2201X", "OFFSET")?.unwrap_or(0);
    let most = match percent {
        true => row
            .first()
            .and_then(number)
            .map_or(Ok(Most::All), share_of)?,
        false => rows(0, "2201W", "LIMIT")?.map_or(Most::All, Most::Rows),
    };
    Ok((skip, most))
}

/// See the module.
#[derive(Debug)]
pub(in super::super) struct Cut {
    /// Rows passed over, and rows given.
    pub(in super::super) bounds: Bounds,
    /// Columns of the result; keys of the order come after them.
    pub(in super::super) columns: usize,
    /// Types of all columns.
    pub(in super::super) kinds: Vec<DataType>,
    /// Whether peers of the last row come, too.
    pub(in super::super) ties: bool,
}

impl Operator for Cut {
    fn name(&self) -> &'static str {
        "first rows"
    }

    fn describe(&self) -> String {
        let ties = if self.ties { " with ties" } else { "" };
        let Bounds::Known { skip, most } = self.bounds else {
            return format!("as many as the second plan says{ties}");
        };
        let most = match most {
            Most::All => "all".to_owned(),
            Most::Rows(rows) => format!("{rows} rows"),
            Most::Share(share) => format!("{} percent", share * 100.0),
        };
        format!("{most}{ties}, skip={skip}")
    }

    fn begin(
        &self,
        beside: Vec<Gathered>,
        run: &dyn Inside,
    ) -> exec::Result<Box<dyn Working + '_>> {
        let (skip, most) = match (self.bounds, beside.first()) {
            (Bounds::Known { skip, most }, _) => (skip, most),
            (Bounds::Computed { percent }, Some(numbers)) => {
                let limit = if percent {
                    DataType::Float64
                } else {
                    DataType::Int64
                };
                let kinds = [limit, DataType::Int64];
                let row = whole(numbers, &kinds, &mut Held::new("LIMIT", run), run)?;
                computed(&row, percent).map_err(other)?
            }
            (Bounds::Computed { .. }, None) => {
                return Err(exec::Error::internal("a limit without its numbers"));
            }
        };
        let fields = self.kinds.iter().skip(self.columns);
        let fields = fields.map(|kind| SortField::new(kind.clone())).collect();
        Ok(Box::new(Work {
            of: self,
            skip,
            most,
            state: Mutex::new(State {
                seen: 0,
                gathering: match most {
                    Most::Share(_) => Some(run.gathering()),
                    _ => None,
                },
                keys: match self.ties {
                    true => Some(RowConverter::new(fields)?),
                    false => None,
                },
                last: None,
                full: matches!(most, Most::Rows(0)),
            }),
        }))
    }
}

struct Work<'a> {
    of: &'a Cut,
    skip: usize,
    most: Most,
    state: Mutex<State>,
}

struct State {
    /// Rows that have come.
    seen: usize,
    /// All rows, as long as their number is not known.
    gathering: Option<Gathering>,
    keys: Option<RowConverter>,
    /// The keys of the last row that is given, whose peers are looked for.
    last: Option<OwnedRow>,
    full: bool,
}

impl Work<'_> {
    /// The first and the last row of a batch that are given, if `most` are wanted of all.
    fn given(&self, state: &mut State, rows: &Batch, most: usize) -> exec::Result<(usize, usize)> {
        let end = self.skip.saturating_add(most);
        let before = state.seen;
        state.seen += rows.rows;
        let first = self.skip.saturating_sub(before).min(rows.rows);
        let mut last = end.saturating_sub(before).min(rows.rows).max(first);
        let is_end = state.seen >= end;
        let Some(converter) = &mut state.keys else {
            state.full = is_end;
            return Ok((first, last));
        };
        if !is_end {
            return Ok((first, last));
        }
        let keys = arrays(rows, &self.of.kinds)?.split_off(self.of.columns);
        if keys.is_empty() {
            // Without an order, all rows are peers.
            return Ok((first, rows.rows));
        }
        let keys = converter.convert_columns(&keys)?;
        if last > 0 && before < end {
            state.last = Some(keys.row(last - 1).owned());
        }
        if let Some(known) = &state.last {
            while last < rows.rows && keys.row(last) == known.row() {
                last += 1;
            }
        }
        state.full = last < rows.rows;
        Ok((first, last))
    }

    fn give(&self, state: &mut State, rows: &Batch, most: usize, out: Out<'_>) -> exec::Result<()> {
        let (first, last) = self.given(state, rows, most)?;
        if first == last {
            return Ok(());
        }
        let mut given = rows.slice(first, last - first);
        given.columns.truncate(self.of.columns);
        out(given)
    }
}

impl Working for Work<'_> {
    fn push(&self, rows: Batch, run: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        let mut state = self.state.lock();
        if state.full {
            return Ok(());
        }
        if let Some(gathering) = &mut state.gathering {
            return gathering.push(rows, run.space());
        }
        let most = match self.most {
            Most::Rows(most) => most,
            _ => usize::MAX,
        };
        self.give(&mut state, &rows, most, out)
    }

    fn finish(&self, run: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        let mut state = self.state.lock();
        let (Some(gathering), Most::Share(share)) = (state.gathering.take(), self.most) else {
            return Ok(());
        };
        let all = gathering.finish(run.space())?;
        let most = (share * all.rows() as f64).ceil() as usize;
        state.full = most == 0;
        for rows in all.batches() {
            if state.full {
                break;
            }
            self.give(&mut state, &rows?, most, out)?;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.state.lock().full
    }
}
