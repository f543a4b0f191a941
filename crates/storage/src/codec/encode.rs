//! One column of one block on its way into a layout: which codec, and what of it.

use super::symbols::SymbolTable;
use super::{Dense, DenseData, alp, dictionary};
use crate::format::Codec;
use crate::schema::Physical;
use arrow_buffer::{Buffer, NullBuffer};

/// A column in encoded form, for every layout to store in its own way.
#[derive(Debug)]
pub struct Encoded {
    /// How it is encoded.
    pub codec: Codec,
    /// Rows.
    pub rows: usize,
    /// Which are present; `None` when all are.
    pub nulls: Option<NullBuffer>,
    /// What decoding needs beside the codes; empty for codecs of integers.
    pub codebook: Vec<u8>,
    /// The codes.
    pub codes: Codes,
}

/// The codes of an [`Encoded`] column.
#[derive(Debug)]
pub enum Codes {
    /// None: the codebook says it all.
    Nothing,
    /// An integer for each row.
    Integers(Vec<i64>),
    /// Values in stored form, or coded bytes of varying length.
    Stored(DenseData),
}

/// Encodes `column` by `codec`; `None` where that codec cannot hold it.
pub fn encode(column: &Dense, physical: Physical, codec: Codec) -> Option<Encoded> {
    let encoded = |codebook, codes| Encoded {
        codec,
        rows: column.rows,
        nulls: column.nulls.clone(),
        codebook,
        codes,
    };
    Some(match codec {
        Codec::Plain => encoded(Vec::new(), Codes::Stored(column.data.clone())),
        Codec::Constant => encoded(dictionary::build(column, physical, 1)?.0, Codes::Nothing),
        Codec::Dictionary => {
            let (codebook, codes) = dictionary::build(column, physical, dictionary::ENTRIES_MAX)?;
            encoded(codebook, Codes::Integers(codes))
        }
        Codec::Alp => {
            let (codebook, integers) = alp::build(column, physical)?;
            encoded(codebook, Codes::Integers(integers))
        }
        Codec::Symbols => {
            let (codebook, codes) = symbols(column, 12)?;
            encoded(codebook, Codes::Stored(codes))
        }
        _ => encoded(Vec::new(), Codes::Integers(integers(column, physical)?)),
    })
}

/// The values as 64-bit integers, each NULL as the value before it; `None` for
/// other types, or when one does not fit.
pub fn integers(column: &Dense, physical: Physical) -> Option<Vec<i64>> {
    let DenseData::Fixed { bytes, .. } = &column.data else {
        return None;
    };
    let mut values: Vec<i64> = match physical {
        Physical::Bool => bytes.iter().map(|value| i64::from(*value)).collect(),
        Physical::I16 => bytes
            .typed_data::<i16>()
            .iter()
            .map(|value| i64::from(*value))
            .collect(),
        Physical::I32 => bytes
            .typed_data::<i32>()
            .iter()
            .map(|value| i64::from(*value))
            .collect(),
        Physical::I64 => bytes.typed_data::<i64>().to_vec(),
        Physical::I128 => {
            let values = bytes.typed_data::<i128>().iter();
            values
                .map(|value| i64::try_from(*value).ok())
                .collect::<Option<Vec<i64>>>()?
        }
        _ => return None,
    };
    if let Some(nulls) = &column.nulls {
        let first = nulls.valid_indices().next().map_or(0, |row| values[row]);
        let mut last = first;
        for (row, value) in values.iter_mut().enumerate() {
            if nulls.is_valid(row) {
                last = *value;
            } else {
                *value = last;
            }
        }
    }
    Some(values)
}

/// Most bytes of values that a table of symbols is trained on.
const TRAINING_BYTES: usize = 256 << 10;

/// At most `most` of `rows` rows, spread evenly, each at a place of its own
/// within its share: a fixed step could fall into step with the data.
pub fn spread(rows: usize, most: usize) -> impl Iterator<Item = usize> {
    let step = rows.div_ceil(most.max(1)).max(1);
    (0..rows)
        .step_by(step)
        .enumerate()
        .map(move |(number, first)| {
            let place = number.wrapping_mul(0x9e37_79b9) >> 7;
            first + place % step.min(rows - first)
        })
}

/// Values spread evenly over the column, for training and estimates.
pub fn sample(column: &Dense, most_bytes: usize) -> Vec<&[u8]> {
    let DenseData::Variable { ends, bytes } = &column.data else {
        return Vec::new();
    };
    let most = (column.rows * most_bytes).div_ceil(bytes.len().max(1));
    let start = |row: usize| row.checked_sub(1).map_or(0, |before| ends[before] as usize);
    spread(column.rows, most)
        .map(|row| &bytes[start(row)..ends[row] as usize])
        .collect()
}

/// The table trained on the column.
pub fn trained(column: &Dense, code_bits: u8) -> SymbolTable {
    SymbolTable::train(&sample(column, TRAINING_BYTES), code_bits)
}

fn symbols(column: &Dense, code_bits: u8) -> Option<(Vec<u8>, DenseData)> {
    encode_symbols(column, &trained(column, code_bits))
}

/// The table's bytes and the coded values.
pub fn encode_symbols(column: &Dense, table: &SymbolTable) -> Option<(Vec<u8>, DenseData)> {
    let DenseData::Variable { ends, bytes } = &column.data else {
        return None;
    };
    let encoder = table.encoder();
    let mut coded = Vec::with_capacity(bytes.len() / 2);
    let mut coded_ends = Vec::with_capacity(ends.len());
    let mut start = 0;
    for end in ends {
        encoder.encode(&bytes[start..*end as usize], &mut coded);
        start = *end as usize;
        coded_ends.push(
            u32::try_from(coded.len())
                .ok()
                .filter(|end| i32::try_from(*end).is_ok())?,
        );
    }
    let mut codebook = Vec::new();
    table.write(&mut codebook);
    Some((
        codebook,
        DenseData::Variable {
            ends: coded_ends,
            bytes: Buffer::from_vec(coded),
        },
    ))
}
