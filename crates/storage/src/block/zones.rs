//! Building and storing zone maps.

use crate::codec::{Dense, DenseData};
use crate::error::{Error, Result};
use crate::format::{Reader, Writer, ZONE_ROWS};
use crate::predicate::{Bounds, Zone};
use crate::schema::{Physical, Value};
use arrow_buffer::ArrowNativeType;
use std::ops::Range;

/// Bytes of text kept in a bound; longer values are cut and no longer exact.
pub const BOUND_BYTES: usize = 64;

/// The zone maps of one column: one per [`ZONE_ROWS`] rows, and the whole.
pub fn build(column: &Dense, physical: Physical) -> (Zone, Vec<Zone>) {
    let fine: Vec<Zone> = (0..column.rows)
        .step_by(ZONE_ROWS)
        .map(|start| zone(column, physical, start..column.rows.min(start + ZONE_ROWS)))
        .collect();
    (merge(&fine, column.rows), fine)
}

fn zone(column: &Dense, physical: Physical, rows: Range<usize>) -> Zone {
    let nulls = column
        .nulls
        .as_ref()
        .map(|nulls| nulls.slice(rows.start, rows.len()));
    let null_count = nulls.as_ref().map_or(0, |nulls| nulls.null_count());
    let present = |row: usize| {
        column
            .nulls
            .as_ref()
            .is_none_or(|nulls| nulls.is_valid(row))
    };
    let bounds = match &column.data {
        DenseData::Variable { ends, bytes } => {
            let start = |row: usize| row.checked_sub(1).map_or(0, |before| ends[before] as usize);
            let values = rows
                .clone()
                .filter(|row| present(*row))
                .map(|row| &bytes[start(row)..ends[row] as usize]);
            extremes(values).and_then(|(min, max)| cut(min, max))
        }
        DenseData::Fixed { bytes, .. } => {
            let integer = |(min, max): (i128, i128)| (Value::Int(min), Value::Int(max));
            let pair = match physical {
                Physical::I16 => native::<i16>(bytes, &rows, present).map(integer),
                Physical::I32 => native::<i32>(bytes, &rows, present).map(integer),
                Physical::I64 => native::<i64>(bytes, &rows, present).map(integer),
                Physical::I128 => native::<i128>(bytes, &rows, present).map(integer),
                Physical::Bool => extremes(
                    rows.clone()
                        .filter(|row| present(*row))
                        .map(|row| bytes[row] != 0),
                )
                .map(|(min, max)| (Value::Bool(min), Value::Bool(max))),
                Physical::F32 => floats::<f32>(bytes, &rows, present),
                Physical::F64 => floats::<f64>(bytes, &rows, present),
                Physical::Bytes16 => {
                    let values = rows
                        .clone()
                        .filter(|row| present(*row))
                        .map(|row| &bytes[16 * row..16 * row + 16]);
                    extremes(values)
                        .map(|(min, max)| (Value::Bytes(min.to_vec()), Value::Bytes(max.to_vec())))
                }
                // Intervals have no order that comparison of months, days and time would agree on.
                Physical::Interval | Physical::Bytes { .. } => None,
            };
            // A bound of zero may stand for the zero of the other sign.
            let zero = |value: &Value| *value == Value::Float(0.0);
            pair.map(|(min, max)| Bounds {
                exact: !zero(&min) && !zero(&max),
                min,
                max,
            })
        }
    };
    Zone {
        rows: rows.len() as u32,
        nulls: null_count as u32,
        bounds,
    }
}

fn extremes<T: Ord + Copy>(mut values: impl Iterator<Item = T>) -> Option<(T, T)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(min, max), value| {
        (min.min(value), max.max(value))
    }))
}

fn native<T: ArrowNativeType + Ord + Into<i128>>(
    bytes: &arrow_buffer::Buffer,
    rows: &Range<usize>,
    present: impl Fn(usize) -> bool,
) -> Option<(i128, i128)> {
    let values = &bytes.typed_data::<T>()[rows.clone()];
    let pair = extremes(
        values
            .iter()
            .copied()
            .zip(rows.clone())
            .filter(|(_, row)| present(*row))
            .map(|(value, _)| value),
    );
    pair.map(|(min, max)| (min.into(), max.into()))
}

/// A NaN has no place between bounds, so it leaves none.
fn floats<T: ArrowNativeType + Into<f64>>(
    bytes: &arrow_buffer::Buffer,
    rows: &Range<usize>,
    present: impl Fn(usize) -> bool,
) -> Option<(Value, Value)> {
    let values = &bytes.typed_data::<T>()[rows.clone()];
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for (value, row) in values.iter().zip(rows.clone()) {
        let value: f64 = (*value).into();
        if present(row) {
            if value.is_nan() {
                return None;
            }
            (min, max) = (min.min(value), max.max(value));
        }
    }
    // -0.0 and 0.0 are equal to SQL and different to bit-wise kernels: keep both inside.
    (min <= max).then(|| {
        (
            Value::Float(if min == 0.0 { -0.0 } else { min }),
            Value::Float(max + 0.0),
        )
    })
}

fn cut(min: &[u8], max: &[u8]) -> Option<Bounds> {
    let exact = min.len() <= BOUND_BYTES && max.len() <= BOUND_BYTES;
    let low = min.get(..BOUND_BYTES).unwrap_or(min).to_vec();
    let mut high = max.get(..BOUND_BYTES).unwrap_or(max).to_vec();
    if max.len() > BOUND_BYTES {
        // The smallest cut text above every text with this beginning.
        while high.last() == Some(&u8::MAX) {
            high.pop();
        }
        *high.last_mut()? += 1;
    }
    Some(Bounds {
        min: Value::Bytes(low),
        max: Value::Bytes(high),
        exact,
    })
}

/// One zone over all rows of `zones`.
pub fn merge(zones: &[Zone], rows: usize) -> Zone {
    let mut bounds: Option<Bounds> = None;
    let mut known = true;
    for zone in zones.iter().filter(|zone| zone.nulls < zone.rows) {
        match (&mut bounds, &zone.bounds) {
            (_, None) => known = false,
            (None, Some(new)) => bounds = Some(new.clone()),
            (Some(all), Some(new)) => {
                if new.min.compare(&all.min).is_some_and(|order| order.is_lt()) {
                    all.min = new.min.clone();
                }
                if new.max.compare(&all.max).is_some_and(|order| order.is_gt()) {
                    all.max = new.max.clone();
                }
                all.exact &= new.exact;
            }
        }
    }
    Zone {
        rows: rows as u32,
        nulls: zones.iter().map(|zone| zone.nulls).sum(),
        bounds: bounds.filter(|_| known),
    }
}

/// Appends a zone; its rows are known from its place.
pub fn encode(zone: &Zone, writer: &mut Writer) {
    writer.u32(zone.nulls);
    match &zone.bounds {
        None => writer.u8(0),
        Some(bounds) => {
            writer.u8(if bounds.exact { 2 } else { 1 });
            encode_value(&bounds.min, writer);
            encode_value(&bounds.max, writer);
        }
    }
}

fn encode_value(value: &Value, writer: &mut Writer) {
    match value {
        Value::Bool(value) => writer.u8(u8::from(*value)),
        Value::Int(value) => writer.i128(*value),
        Value::Float(value) => writer.u64(value.to_bits()),
        Value::Bytes(bytes) => {
            writer.u8(bytes.len() as u8);
            writer.put(bytes);
        }
    }
}

/// Reads the zone of `rows` rows of a column.
///
/// # Errors
/// `Corrupt`, also when the minimum exceeds the maximum.
pub fn decode(reader: &mut Reader<'_>, physical: Physical, rows: usize) -> Result<Zone> {
    let nulls = reader.u32()?;
    let flag = reader.u8()?;
    let bounds = match flag {
        0 => None,
        1 | 2 => {
            let (min, max) = (
                decode_value(reader, physical)?,
                decode_value(reader, physical)?,
            );
            if !min.compare(&max).is_some_and(|order| order.is_le()) {
                return Err(Error::corrupt(format!(
                    "a minimum of {min} above a maximum of {max}"
                )));
            }
            Some(Bounds {
                min,
                max,
                exact: flag == 2,
            })
        }
        _ => return Err(Error::corrupt(format!("unknown zone flag {flag}"))),
    };
    if nulls as usize > rows {
        return Err(Error::corrupt(format!("{nulls} NULLs in {rows} rows")));
    }
    Ok(Zone {
        rows: rows as u32,
        nulls,
        bounds,
    })
}

fn decode_value(reader: &mut Reader<'_>, physical: Physical) -> Result<Value> {
    Ok(match physical {
        Physical::Bool => Value::Bool(reader.u8()? != 0),
        Physical::I16 | Physical::I32 | Physical::I64 | Physical::I128 => {
            Value::Int(reader.i128()?)
        }
        Physical::F32 | Physical::F64 => Value::Float(f64::from_bits(reader.u64()?)),
        Physical::Bytes16 | Physical::Bytes { .. } => {
            let len = reader.u8()?;
            Value::Bytes(reader.take(usize::from(len))?.to_vec())
        }
        Physical::Interval => return Err(Error::corrupt("bounds of an interval")),
    })
}
