//! Tables with columns of every type, made from a recipe.

use arrow_array::builder::{BinaryViewBuilder, FixedSizeBinaryBuilder, StringViewBuilder};
use arrow_array::types::*;
use arrow_array::*;
use freestone_storage::{Column, ColumnType, TableSchema};
use std::sync::Arc;

/// A type of every kind.
pub const KINDS: [ColumnType; 21] = [
    ColumnType::Boolean,
    ColumnType::SmallInt,
    ColumnType::Integer,
    ColumnType::BigInt,
    ColumnType::Real,
    ColumnType::Double,
    ColumnType::Decimal {
        precision: 9,
        scale: 2,
    },
    ColumnType::Decimal {
        precision: 15,
        scale: 2,
    },
    ColumnType::Decimal {
        precision: 38,
        scale: 10,
    },
    ColumnType::Date,
    ColumnType::Time,
    ColumnType::Timestamp,
    ColumnType::TimestampTz,
    ColumnType::Interval,
    ColumnType::Uuid,
    ColumnType::Varchar(None),
    ColumnType::Varchar(Some(200)),
    ColumnType::Char(3),
    ColumnType::Text,
    ColumnType::Bytea,
    ColumnType::Json,
];

/// Numbers that look random and are the same every time.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`.
    pub fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// Which rows are NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    None,
    All,
    Alternating,
    Runs,
    Random,
}

impl Nulls {
    pub const ALL: [Nulls; 5] = [
        Nulls::None,
        Nulls::All,
        Nulls::Alternating,
        Nulls::Runs,
        Nulls::Random,
    ];

    fn holds(self, row: usize, dice: &mut Dice) -> bool {
        match self {
            Nulls::None => false,
            Nulls::All => true,
            Nulls::Alternating => row.is_multiple_of(2),
            Nulls::Runs => (row / 150).is_multiple_of(2),
            Nulls::Random => dice.once_in(5),
        }
    }
}

/// How values follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    Constant,
    Ascending,
    Few,
    Many,
}

impl Spread {
    pub const ALL: [Spread; 4] = [
        Spread::Constant,
        Spread::Ascending,
        Spread::Few,
        Spread::Many,
    ];

    fn seed(self, row: usize, dice: &mut Dice) -> u64 {
        match self {
            Spread::Constant => 77,
            Spread::Ascending => row as u64 / 3,
            Spread::Few => dice.next() % 9,
            Spread::Many => dice.next(),
        }
    }
}

/// What a column is to be made of.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    pub kind: ColumnType,
    pub nullable: bool,
    pub nulls: Nulls,
    pub spread: Spread,
}

/// Columns `id` (the row's number) and one per recipe.
pub fn schema(recipes: &[Recipe]) -> TableSchema {
    let column = |name: String, kind, nullable| Column {
        name,
        kind,
        nullable,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    let mut columns = vec![column("id".into(), ColumnType::BigInt, false)];
    columns.extend(
        recipes
            .iter()
            .enumerate()
            .map(|(n, recipe)| column(format!("c{n}"), recipe.kind, recipe.nullable)),
    );
    TableSchema {
        columns,
        keys: Vec::new(),
        ..TableSchema::default()
    }
}

/// Rows for [`schema`].
pub fn rows(recipes: &[Recipe], count: usize, seed: u64) -> RecordBatch {
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(0..count as i64))];
    for (number, recipe) in recipes.iter().enumerate() {
        let mut dice = Dice(seed ^ (number as u64 + 1) << 32);
        let nulls = if recipe.nullable {
            recipe.nulls
        } else {
            Nulls::None
        };
        let seeds: Vec<Option<u64>> = (0..count)
            .map(|row| {
                let seed = recipe.spread.seed(row, &mut dice);
                (!nulls.holds(row, &mut dice)).then_some(seed)
            })
            .collect();
        arrays.push(array(recipe.kind, &seeds));
    }
    RecordBatch::try_new(schema(recipes).arrow(), arrays).unwrap()
}

/// Text from a number: larger numbers below a million give larger texts; some
/// are longer than a zone map's bound.
fn text(kind: ColumnType, seed: u64) -> String {
    match kind {
        ColumnType::Char(_) => ["", "A", "BB", "é€"][seed as usize % 4].to_string(),
        _ if seed.is_multiple_of(13) => String::new(),
        _ if seed.is_multiple_of(7) => format!(
            "{}{}",
            "long text, é, with more than 64 bytes of the same beginning: €".repeat(2),
            seed
        ),
        _ => format!("{:07}{}", seed % 1_000_000, "é".repeat(seed as usize % 5)),
    }
}

fn float(seed: u64) -> f64 {
    match seed % 1000 {
        999 => f64::NAN,
        998 => -0.0,
        997 => f64::NEG_INFINITY,
        _ => f64::from((seed % 100_000) as u32) / 4.0 - 100.0,
    }
}

/// An array of a type from one number per row.
pub fn array(kind: ColumnType, seeds: &[Option<u64>]) -> ArrayRef {
    let seeds = || seeds.iter().copied();
    match kind {
        ColumnType::Boolean => Arc::new(
            seeds()
                .map(|s| s.map(|s| s % 2 == 1))
                .collect::<BooleanArray>(),
        ),
        ColumnType::SmallInt => {
            Arc::new(seeds().map(|s| s.map(|s| s as i16)).collect::<Int16Array>())
        }
        ColumnType::Integer => {
            Arc::new(seeds().map(|s| s.map(|s| s as i32)).collect::<Int32Array>())
        }
        ColumnType::BigInt => {
            Arc::new(seeds().map(|s| s.map(|s| s as i64)).collect::<Int64Array>())
        }
        ColumnType::Date => Arc::new(
            seeds()
                .map(|s| s.map(|s| s as i32 % 100_000))
                .collect::<Date32Array>(),
        ),
        ColumnType::Real => Arc::new(
            seeds()
                .map(|s| s.map(|s| float(s) as f32))
                .collect::<Float32Array>(),
        ),
        ColumnType::Double => Arc::new(seeds().map(|s| s.map(float)).collect::<Float64Array>()),
        ColumnType::Decimal { precision, scale } => {
            let limit = 10_i128.pow(u32::from(precision));
            let values = seeds().map(|s| s.map(|s| (i128::from(s as i64) * 1_000_003) % limit));
            Arc::new(
                values
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(precision, scale)
                    .unwrap(),
            )
        }
        ColumnType::Time => {
            let values = seeds().map(|s| s.map(|s| (s % 86_400_000_000) as i64));
            Arc::new(values.collect::<Time64MicrosecondArray>())
        }
        ColumnType::Timestamp | ColumnType::TimestampTz => {
            let values: TimestampMicrosecondArray =
                seeds().map(|s| s.map(|s| s as i64 / 1000)).collect();
            let zone = (kind == ColumnType::TimestampTz).then(|| Arc::from("+00:00"));
            Arc::new(values.with_timezone_opt::<Arc<str>>(zone))
        }
        ColumnType::Interval => {
            let values = seeds().map(|s| {
                s.map(|s| IntervalMonthDayNano::new(s as i32, (s >> 11) as i32, s as i64))
            });
            Arc::new(values.collect::<IntervalMonthDayNanoArray>())
        }
        ColumnType::Uuid => {
            let mut values = FixedSizeBinaryBuilder::new(16);
            for seed in seeds() {
                match seed {
                    Some(seed) => values
                        .append_value((u128::from(seed) << 40).to_be_bytes())
                        .unwrap(),
                    None => values.append_null(),
                }
            }
            Arc::new(values.finish())
        }
        ColumnType::Bytea => {
            let mut values = BinaryViewBuilder::new();
            let bytes = |seed: u64| match seed % 11 {
                0 => vec![0xff; 70 + (seed % 5) as usize],
                1 => Vec::new(),
                _ => [&[0xfe][..], text(ColumnType::Text, seed).as_bytes()].concat(),
            };
            seeds().for_each(|seed| values.append_option(seed.map(bytes)));
            Arc::new(values.finish())
        }
        _ => {
            let mut values = StringViewBuilder::new();
            seeds().for_each(|seed| values.append_option(seed.map(|seed| text(kind, seed))));
            Arc::new(values.finish())
        }
    }
}
