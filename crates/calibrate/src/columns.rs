//! Columns to measure: one for each type and codec that matter.

use crate::{Error, Random, Result};
use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, Decimal128Array, Float64Array, Int32Array, Int64Array};
use freestone_storage::{CodecChoice, CodecName, ColumnType, Value};
use std::sync::Arc;

/// What values a column has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Values {
    /// Integers below a limit, each as likely.
    Below(u64),
    /// Integers that ascend by steps below a limit.
    Ascending(u64),
    /// Integers in runs of about so many.
    Runs(u64),
    /// Of so many integers that lie far apart.
    Few(u64),
    /// Prices: two digits after the point.
    Prices,
    /// Floats without pattern.
    Floats,
    /// Texts of about so many bytes, of so many words.
    Words(usize, u64),
    /// Texts of about so many bytes, all different.
    Texts(usize),
}

/// A column to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub kind: ColumnType,
    pub codec: CodecChoice,
    pub values: Values,
}

const WIDE: ColumnType = ColumnType::Decimal {
    precision: 38,
    scale: 2,
};

/// Bits by which integers are shifted to need more than 64.
const WIDE_BITS: u32 = 60;

/// Every stored type with every codec that suits it.
pub(crate) fn recipes() -> Vec<Recipe> {
    use CodecName::{Alp, Bitpack, Constant, Dictionary, For, ForDelta, Rle, Symbols, Truncation};
    let mut recipes = Vec::new();
    let mut add = |kind, codec, values| {
        recipes.push(Recipe {
            kind,
            codec,
            values,
        });
    };
    for (kind, far) in [
        // As many bits as the column that selects has.
        (ColumnType::Integer, 1 << 20),
        (ColumnType::BigInt, 1 << 40),
    ] {
        add(kind, CodecChoice::None, Values::Below(far));
        for (codec, values) in [
            (Bitpack, Values::Below(far)),
            (For, Values::Below(far)),
            (ForDelta, Values::Ascending(16)),
            (Rle, Values::Runs(32)),
            (Dictionary, Values::Few(500)),
            (Truncation, Values::Below(far)),
            (Constant, Values::Below(1)),
        ] {
            add(kind, CodecChoice::Named(codec), values);
        }
    }
    add(WIDE, CodecChoice::None, Values::Below(1 << 40));
    add(WIDE, CodecChoice::Auto, Values::Below(1 << 40));
    add(ColumnType::Double, CodecChoice::None, Values::Floats);
    add(ColumnType::Double, CodecChoice::Named(Alp), Values::Prices);
    for bytes in [8, 32, 100] {
        add(ColumnType::Text, CodecChoice::None, Values::Texts(bytes));
        add(
            ColumnType::Text,
            CodecChoice::Named(Dictionary),
            Values::Words(bytes, 300),
        );
        add(
            ColumnType::Text,
            CodecChoice::Named(Symbols),
            Values::Texts(bytes),
        );
    }
    recipes
}

impl Values {
    /// A constant that few values are below, if that costs what such a test does.
    pub fn threshold(self, kind: &ColumnType) -> Option<Value> {
        let wide = matches!(kind, ColumnType::Decimal { .. });
        let shift = if wide { WIDE_BITS } else { 0 };
        match self {
            // Some rows in each zone, so that none is ruled out.
            Values::Below(limit) if limit >= 1 << 12 => {
                Some(Value::Int(i128::from(limit >> 10) << shift))
            }
            Values::Ascending(_) | Values::Below(_) => None,
            Values::Runs(_) => Some(Value::Int(2048)),
            Values::Few(_) => Some(Value::Int(1_000)),
            Values::Prices => Some(Value::Float(10.0)),
            Values::Floats => Some(Value::Float(0.03)),
            Values::Words(..) | Values::Texts(_) => Some(Value::Bytes(b"aa".to_vec())),
        }
    }

    /// So many of them.
    pub fn array(self, kind: &ColumnType, rows: usize, random: &mut Random) -> Result<ArrayRef> {
        let mut last = 0;
        let integers = |random: &mut Random, last: &mut i64| match self {
            Values::Below(limit) => random.below(limit) as i64,
            Values::Ascending(step) => {
                *last += random.below(step) as i64;
                *last
            }
            Values::Runs(length) => {
                if random.below(length) == 0 {
                    *last = random.below(1 << 16) as i64;
                }
                *last
            }
            Values::Few(count) => (random.below(count) as i64) * 1_000_003,
            Values::Prices | Values::Floats | Values::Words(..) | Values::Texts(_) => 0,
        };
        Ok(match (self, kind) {
            (Values::Prices, _) => Arc::new(Float64Array::from_iter_values(
                (0..rows).map(|_| random.below(1_000_000) as f64 / 100.0),
            )),
            (Values::Floats, _) => Arc::new(Float64Array::from_iter_values(
                (0..rows).map(|_| random.share().sqrt()),
            )),
            (Values::Words(bytes, count), _) => {
                texts((0..rows).map(|_| (bytes, random.below(count))))
            }
            (Values::Texts(bytes), _) => texts((0..rows).map(|_| (bytes, random.bits()))),
            (_, ColumnType::Integer) => Arc::new(Int32Array::from_iter_values(
                (0..rows).map(|_| integers(random, &mut last) as i32),
            )),
            (_, ColumnType::BigInt) => Arc::new(Int64Array::from_iter_values(
                (0..rows).map(|_| integers(random, &mut last)),
            )),
            (_, ColumnType::Decimal { precision, scale }) => {
                let values =
                    (0..rows).map(|_| i128::from(integers(random, &mut last)) << WIDE_BITS);
                let array = Decimal128Array::from_iter_values(values)
                    .with_precision_and_scale(*precision, *scale)
                    .map_err(|error| Error::Arrow(error.to_string()))?;
                Arc::new(array)
            }
            (_, kind) => return Err(Error::Arrow(format!("no values for {kind}"))),
        })
    }
}

/// Texts of words, from their length and a number that each is made of.
fn texts(seeds: impl Iterator<Item = (usize, u64)>) -> ArrayRef {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "ren", "sta", "to", "vel", "da", "nor", "qui", "es", "ba", "tor", "an",
        "fe", " ",
    ];
    let mut builder = StringViewBuilder::new();
    let mut text = String::new();
    for (bytes, seed) in seeds {
        text.clear();
        let mut random = Random::new(seed);
        // A fifth shorter or longer.
        let wanted = bytes - bytes / 5 + random.below((bytes as u64 / 5) * 2 + 1) as usize;
        while text.len() < wanted {
            text.push_str(SYLLABLES[random.below(16) as usize]);
        }
        builder.append_value(&text);
    }
    Arc::new(builder.finish())
}
