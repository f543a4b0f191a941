//! Vectors one after the other.

use super::{Values, Vector, same_array};
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// All values of some vectors of one kind, one after the other.
///
/// # Errors
/// Those of joining arrays.
pub fn concat(parts: &[&Vector]) -> Result<Vector> {
    if let [only] = parts {
        return Ok((*only).clone());
    }
    let rows = parts.iter().map(|part| part.len()).sum();
    let nulls = parts.iter().any(|part| part.nulls.is_some()).then(|| {
        let mut bits = arrow_buffer::BooleanBufferBuilder::new(rows);
        for part in parts {
            match &part.nulls {
                Some(nulls) => bits.append_buffer(nulls.inner()),
                None => bits.append_n(part.len(), true),
            }
        }
        NullBuffer::new(bits.finish())
    });
    let values = concat_values(parts, rows)?;
    Ok(Vector { values, nulls })
}

fn concat_values(parts: &[&Vector], rows: usize) -> Result<Values> {
    let wide = parts
        .iter()
        .any(|part| matches!(part.values, Values::Wide(_)));
    let arrays = |kind: &dyn Fn(&Vector) -> Result<ArrayRef>| -> Result<ArrayRef> {
        let arrays = parts.iter().map(|part| kind(part));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        Ok(arrow_select::concat::concat(&arrays)?)
    };
    let mismatch = || Error::internal("vectors of different kinds in one column");
    Ok(match &parts.first().ok_or_else(mismatch)?.values {
        Values::Int(_) | Values::Wide(_) if wide => {
            let mut all: Vec<i128> = Vec::with_capacity(rows);
            for part in parts {
                match &part.values {
                    Values::Int(values) => all.extend(values.iter().map(|v| i128::from(*v))),
                    Values::Wide(values) => all.extend_from_slice(values),
                    _ => return Err(mismatch()),
                }
            }
            Values::Wide(all.into())
        }
        Values::Int(_) | Values::Wide(_) => {
            let mut all: Vec<i64> = Vec::with_capacity(rows);
            for part in parts {
                let Values::Int(values) = &part.values else {
                    return Err(mismatch());
                };
                all.extend_from_slice(values);
            }
            Values::Int(all.into())
        }
        Values::Float(_) => {
            let mut all: Vec<f64> = Vec::with_capacity(rows);
            for part in parts {
                let Values::Float(values) = &part.values else {
                    return Err(mismatch());
                };
                all.extend_from_slice(values);
            }
            Values::Float(all.into())
        }
        Values::Bool(_) => {
            let array = arrays(&|part| part.to_arrow(&DataType::Boolean))?;
            Values::Bool(array.as_boolean().values().clone())
        }
        Values::Coded { entries, .. } if same_entries(parts, entries) => {
            let mut all: Vec<u32> = Vec::with_capacity(rows);
            for part in parts {
                if let Values::Coded { codes, .. } = &part.values {
                    all.extend_from_slice(codes);
                }
            }
            Values::Coded {
                codes: all.into(),
                entries: entries.clone(),
            }
        }
        Values::Text(_) | Values::Coded { .. } => {
            Values::Text(arrays(&|part| part.to_arrow(&DataType::Utf8View))?)
        }
        Values::Other(_) => Values::Other(arrays(&|part| match &part.values {
            Values::Other(array) => Ok(array.clone()),
            _ => Err(mismatch()),
        })?),
    })
}

/// Whether all are codes of the same dictionary.
fn same_entries(parts: &[&Vector], known: &ArrayRef) -> bool {
    parts.iter().all(|part| match &part.values {
        Values::Coded { entries, .. } => same_array(entries, known),
        _ => false,
    })
}
