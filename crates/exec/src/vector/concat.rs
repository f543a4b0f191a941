//! Vectors one after the other.

use super::{Values, Vector, same_array};
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use std::collections::HashMap;
use std::sync::Arc;

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
        Values::Text(_) | Values::Coded { .. } => concat_text(parts, rows)?,
        Values::Other(_) => Values::Other(arrays(&|part| match &part.values {
            Values::Other(array) => Ok(array.clone()),
            _ => Err(mismatch()),
        })?),
    })
}

/// Texts as codes into one array of entries, so that rows are taken without their texts
/// (and without the buffers of all parts, which every array of views holds on to).
fn concat_text(parts: &[&Vector], rows: usize) -> Result<Values> {
    let (mut sources, mut count) = (Vec::<ArrayRef>::new(), 0u32);
    // Where the entries of a dictionary begin, by its place in memory.
    let mut known: HashMap<(*const u128, usize), u32> = HashMap::new();
    let mut codes: Vec<u32> = Vec::with_capacity(rows);
    // In range: rows and entries are numbered in 32 bits.
    let mut add = |source: ArrayRef| {
        let first = count;
        count += source.len() as u32;
        sources.push(source);
        first
    };
    for part in parts {
        match &part.values {
            Values::Coded {
                codes: own,
                entries,
            } => {
                let views = entries.as_string_view().views();
                let place = (views.as_ptr(), views.len());
                let first = match known.get(&place) {
                    Some(first) => *first,
                    None if entries.len() > 2 * own.len() => {
                        // Most of the dictionary would be copied for nothing.
                        let first = add(part.to_arrow(&DataType::Utf8View)?);
                        codes.extend(first..first + own.len() as u32);
                        continue;
                    }
                    None => *known.entry(place).or_insert(add(entries.clone())),
                };
                codes.extend(own.iter().map(|code| first + code));
            }
            Values::Text(array) => {
                let first = add(array.clone());
                codes.extend(first..first + array.len() as u32);
            }
            _ => return Err(Error::internal("vectors of different kinds in one column")),
        }
    }
    let sources: Vec<&dyn Array> = sources.iter().map(AsRef::as_ref).collect();
    let entries = arrow_select::concat::concat(&sources)?;
    Ok(Values::Coded {
        codes: codes.into(),
        entries: Arc::new(entries.as_string_view().gc()),
    })
}

/// Whether all are codes of the same dictionary.
fn same_entries(parts: &[&Vector], known: &ArrayRef) -> bool {
    parts.iter().all(|part| match &part.values {
        Values::Coded { entries, .. } => same_array(entries, known),
        _ => false,
    })
}
