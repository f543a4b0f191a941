//! The side of a join that asks.

use super::build::Contents;
use super::{JoinTable, Waiting};
use crate::memory::Space;
use crate::plan::{Join, JoinKind};
use crate::vector::{Batch, NO_ROW, Values, Vector, positions};
use crate::{Error, Result};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pairs are handed on when there are so many.
const PAIRS: usize = 1 << 14;

/// A join whose build side is there.
#[derive(Debug)]
pub(crate) struct Probe<'a> {
    pub join: &'a Join,
    pub table: Arc<JoinTable>,
    /// Rows that wait until all others have passed.
    pub waiting: Option<Waiting>,
    /// What the whole build side has.
    pub contents: Contents,
    pub space: &'a Space,
    /// Set when the run is to end.
    pub stop: &'a AtomicBool,
}

impl Probe<'_> {
    /// Gives `out` what comes of some rows of the probe side.
    pub fn push(&self, batch: &Batch, out: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let here;
        let batch = match &self.waiting {
            None => batch,
            Some(waiting) => {
                here = waiting.keep(self.join, batch, self.space)?;
                &here
            }
        };
        let kind = self.join.kind;
        let keys = self.join.keys.iter().map(|(_, key, _)| key.evaluate(batch));
        let keys = self.table.keys.look_up(keys.collect::<Result<_>>()?)?;
        let mut pairs = (
            Vec::with_capacity(batch.rows),
            Vec::with_capacity(batch.rows),
        );
        let mut hits = match kind {
            JoinKind::Inner | JoinKind::BuildOuter | JoinKind::BuildSemi | JoinKind::BuildAnti => {
                Vec::new()
            }
            _ => vec![false; batch.rows],
        };
        // A first partner is enough where nothing else is asked of it.
        let one = !hits.is_empty() && !kind.gives_pairs();
        let first = one && self.join.filter.is_none();
        self.table.find(&keys, batch.rows, first, |row, partner| {
            pairs.0.push(row);
            pairs.1.push(partner);
            match pairs.0.len() < PAIRS {
                true => Ok(()),
                false => self.hand_on(batch, &mut pairs, &mut hits, out),
            }
        })?;
        self.hand_on(batch, &mut pairs, &mut hits, out)?;
        let nulls = keys.first().and_then(|key| key.nulls.as_ref());
        self.rest(batch, &hits, nulls, out)
    }

    /// Checks pairs and gives those that the kind of join gives.
    fn hand_on(
        &self,
        batch: &Batch,
        pairs: &mut (Vec<u32>, Vec<u32>),
        hits: &mut [bool],
        out: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let kind = self.join.kind;
        let (mut rows, mut partners) = std::mem::take(pairs);
        if rows.is_empty() {
            return Ok(());
        }
        // Few rows may have very many partners, of which none passes.
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        if let Some(filter) = &self.join.filter {
            let passing = filter.passing(&self.needed(filter, batch, &rows, &partners)?)?;
            let passing = positions(&passing);
            rows = passing.iter().map(|at| rows[*at as usize]).collect();
            partners = passing.iter().map(|at| partners[*at as usize]).collect();
        }
        if kind == JoinKind::ProbeSingle {
            for row in &rows {
                if std::mem::replace(&mut hits[*row as usize], true) {
                    return Err(Error::SeveralRows);
                }
            }
        } else if !hits.is_empty() {
            rows.iter().for_each(|row| hits[*row as usize] = true);
        }
        if !self.table.matched.is_empty() {
            partners.iter().for_each(|row| self.table.mark(*row));
        }
        if kind.gives_pairs() && !rows.is_empty() {
            out(self.pairs(batch, &rows, &partners)?)?;
        }
        Ok(())
    }

    /// Pairs, as far as a condition needs their columns.
    fn needed(
        &self,
        filter: &crate::expression::Expression,
        batch: &Batch,
        rows: &[u32],
        partners: &[u32],
    ) -> Result<Batch> {
        let width = batch.columns.len();
        let mut used = vec![false; width + self.table.batch.columns.len()];
        filter.columns(&mut |column| {
            if let Some(used) = used.get_mut(column) {
                *used = true;
            }
        });
        let nothing = || Vector::of(Values::Int(Vec::new().into()));
        let columns = used.iter().enumerate().map(|(column, used)| match used {
            false => Ok(nothing()),
            true if column < width => batch.columns[column].take(rows),
            true => self.table.batch.columns[column - width].take(partners),
        });
        Ok(Batch {
            columns: columns.collect::<Result<_>>()?,
            rows: rows.len(),
        })
    }

    fn pairs(&self, batch: &Batch, rows: &[u32], partners: &[u32]) -> Result<Batch> {
        let every = rows.len() == batch.rows
            && rows
                .iter()
                .enumerate()
                .all(|(place, row)| place == *row as usize);
        let mut all = match every {
            true => batch.clone(),
            false => batch.take(rows)?,
        };
        for column in &self.table.batch.columns {
            all.columns.push(column.take(partners)?);
        }
        Ok(all)
    }

    /// Rows of the probe side that come with no partner; `nulls` are those of the first
    /// column of keys.
    fn rest(
        &self,
        batch: &Batch,
        hits: &[bool],
        nulls: Option<&NullBuffer>,
        out: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let some = |wanted: bool| -> Vec<u32> {
            let rows = hits.iter().enumerate().filter(|(_, hit)| **hit == wanted);
            rows.map(|(row, _)| row as u32).collect()
        };
        let mut give = |batch: Batch| match batch.rows {
            0 => Ok(()),
            _ => out(batch),
        };
        let kind = self.join.kind;
        match kind {
            JoinKind::ProbeSemi => give(batch.take(&some(true))?),
            JoinKind::ProbeAnti => give(batch.take(&some(false))?),
            JoinKind::ProbeNotIn => {
                let known = self.is_known(nulls);
                let rows = (0..batch.rows).filter(|row| !hits[*row] && known(*row));
                give(batch.take(&rows.map(|row| row as u32).collect::<Vec<u32>>())?)
            }
            JoinKind::ProbeMark | JoinKind::ProbeMarkIn => {
                let bits = BooleanBuffer::collect_bool(batch.rows, |row| hits[row]);
                let mut mark = Vector::of(Values::Bool(bits));
                if kind == JoinKind::ProbeMarkIn {
                    let known = self.is_known(nulls);
                    let valid = |row: usize| hits[row] || known(row);
                    let valid = BooleanBuffer::collect_bool(batch.rows, valid);
                    mark.nulls = Some(NullBuffer::new(valid)).filter(|n| n.null_count() > 0);
                }
                let mut all = batch.clone();
                all.columns.push(mark);
                give(all)
            }
            JoinKind::ProbeOuter | JoinKind::ProbeSingle | JoinKind::Full => {
                let alone = some(false);
                let mut all = batch.take(&alone)?;
                let nobody = vec![NO_ROW; alone.len()];
                for column in &self.table.batch.columns {
                    all.columns.push(column.take_or_null(&nobody)?);
                }
                give(all)
            }
            _ => Ok(()),
        }
    }

    /// Whether it is known of a row without partner that its key is not among those of
    /// the build side: NULL might be any value.
    fn is_known(&self, nulls: Option<&NullBuffer>) -> impl Fn(usize) -> bool {
        let Contents { any, null } = self.contents;
        move |row| !any || (!null && nulls.is_none_or(|nulls| nulls.is_valid(row)))
    }

    /// Rows of the build side that come at the end, with NULLs for the probe side.
    pub fn build_rows(&self) -> Result<Batch> {
        let rows = self.table.rows_where(self.join.kind == JoinKind::BuildSemi);
        let mut columns = Vec::new();
        if self.join.kind.gives_pairs() {
            for kind in &self.join.probe.types {
                let nobody = arrow_array::new_null_array(kind, rows.len());
                columns.push(Vector::from_arrow(&nobody)?);
            }
        }
        columns.extend(self.table.batch.take(&rows)?.columns);
        Ok(Batch {
            columns,
            rows: rows.len(),
        })
    }
}
