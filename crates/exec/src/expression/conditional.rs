//! AND, OR and CASE, which may keep rows from what they contain.

use super::{Expression, truth};
use crate::vector::{Batch, NO_ROW, Values, Vector, concat, positions};
use crate::{Error, Result};
use arrow_buffer::{BooleanBuffer, NullBuffer};

/// TRUE and FALSE, by row; what is neither is NULL.
struct Verdicts {
    yes: BooleanBuffer,
    no: BooleanBuffer,
}

impl Verdicts {
    fn of(vector: &Vector) -> Result<Verdicts> {
        let bits = truth(vector)?;
        Ok(match &vector.nulls {
            None => Verdicts {
                yes: bits.clone(),
                no: !bits,
            },
            Some(nulls) => Verdicts {
                yes: bits & nulls.inner(),
                no: &!bits & nulls.inner(),
            },
        })
    }

    fn vector(self) -> Vector {
        let known = &self.yes | &self.no;
        let nulls = NullBuffer::new(known);
        Vector {
            values: Values::Bool(self.yes),
            nulls: (nulls.null_count() > 0).then_some(nulls),
        }
    }
}

/// TRUE where all parts are; parts that may fail see only rows that may still be TRUE.
pub(super) fn all(parts: &[Expression], batch: &Batch) -> Result<Vector> {
    let mut so_far: Option<Verdicts> = None;
    for part in parts {
        let next = match &so_far {
            Some(before) if part.is_risky() => on_rows(part, batch, &!&before.no, false)?,
            _ => Verdicts::of(&part.evaluate(batch)?)?,
        };
        so_far = Some(match so_far {
            None => next,
            Some(before) => Verdicts {
                yes: &before.yes & &next.yes,
                no: &before.no | &next.no,
            },
        });
    }
    let every = || Verdicts {
        yes: BooleanBuffer::new_set(batch.rows),
        no: BooleanBuffer::new_unset(batch.rows),
    };
    Ok(so_far.unwrap_or_else(every).vector())
}

/// TRUE where one part is; parts that may fail see only rows that are not yet.
pub(super) fn any(parts: &[Expression], batch: &Batch) -> Result<Vector> {
    let mut so_far = Verdicts {
        yes: BooleanBuffer::new_unset(batch.rows),
        no: BooleanBuffer::new_set(batch.rows),
    };
    for part in parts {
        let next = match part.is_risky() {
            true => on_rows(part, batch, &!&so_far.yes, true)?,
            false => Verdicts::of(&part.evaluate(batch)?)?,
        };
        so_far = Verdicts {
            yes: &so_far.yes | &next.yes,
            no: &so_far.no & &next.no,
        };
    }
    Ok(so_far.vector())
}

/// A condition evaluated for some rows; the others are `otherwise`.
fn on_rows(
    part: &Expression,
    batch: &Batch,
    rows: &BooleanBuffer,
    otherwise: bool,
) -> Result<Verdicts> {
    if rows.count_set_bits() == batch.rows {
        return Verdicts::of(&part.evaluate(batch)?);
    }
    let positions = positions(rows);
    let found = Verdicts::of(&part.evaluate(&batch.take(&positions)?)?)?;
    let spread = |bits: &BooleanBuffer, other: bool| {
        let mut all = arrow_buffer::BooleanBufferBuilder::new(batch.rows);
        all.append_n(batch.rows, other);
        for (place, row) in positions.iter().enumerate() {
            all.set_bit(*row as usize, bits.value(place));
        }
        all.finish()
    };
    Ok(Verdicts {
        yes: spread(&found.yes, otherwise),
        no: spread(&found.no, !otherwise),
    })
}

pub(super) fn case(
    branches: &[(Expression, Expression)],
    otherwise: Option<&Expression>,
    batch: &Batch,
) -> Result<Vector> {
    if let ([(condition, value)], Some(otherwise)) = (branches, otherwise)
        && !value.is_risky()
        && !otherwise.is_risky()
    {
        let bits = condition.passing(batch)?;
        return either(&bits, &value.evaluate(batch)?, &otherwise.evaluate(batch)?);
    }
    let mut left = BooleanBuffer::new_set(batch.rows);
    // Values of each branch, and which of all of them each row takes.
    let (mut parts, mut from, mut count) = (Vec::new(), vec![NO_ROW; batch.rows], 0);
    let mut add = |rows: &BooleanBuffer, value: &Expression| -> Result<()> {
        let positions = positions(rows);
        if positions.is_empty() {
            return Ok(());
        }
        for (place, row) in positions.iter().enumerate() {
            from[*row as usize] = count + place as u32;
        }
        count += positions.len() as u32;
        parts.push(value.evaluate(&batch.take(&positions)?)?);
        Ok(())
    };
    for (condition, value) in branches {
        let rows = match condition.is_risky() {
            true => on_rows(condition, batch, &left, false)?.yes,
            false => condition.passing(batch)?,
        };
        let rows = &rows & &left;
        left = &left & &!&rows;
        add(&rows, value)?;
    }
    if let Some(value) = otherwise {
        add(&left, value)?;
    }
    let parts: Vec<&Vector> = parts.iter().collect();
    if parts.is_empty() {
        // No row at all, or NULL in every one.
        let (_, value) = branches
            .first()
            .ok_or_else(|| Error::internal("CASE without branches"))?;
        let nobody = value.evaluate(&batch.take(&[])?)?;
        return nobody.take_or_null(&from);
    }
    concat(&parts)?.take_or_null(&from)
}

/// The first value where a bit is set, the second elsewhere.
fn either(bits: &BooleanBuffer, yes: &Vector, no: &Vector) -> Result<Vector> {
    if let (Values::Int(a), Values::Int(b)) = (&yes.values, &no.values) {
        let values: Vec<i64> = (a.iter().zip(b.iter()).zip(bits.iter()))
            .map(|((a, b), bit)| if bit { *a } else { *b })
            .collect();
        let nulls = match (&yes.nulls, &no.nulls) {
            (None, None) => None,
            _ => Some(NullBuffer::new(BooleanBuffer::collect_bool(
                bits.len(),
                |row| !if bits.value(row) { yes } else { no }.is_null(row),
            ))),
        };
        return Ok(Vector {
            values: Values::Int(values.into()),
            nulls,
        });
    }
    let rows = bits.len() as u32;
    let from: Vec<u32> = bits
        .iter()
        .enumerate()
        .map(|(row, bit)| row as u32 + if bit { 0 } else { rows })
        .collect();
    concat(&[yes, no])?.take(&from)
}
