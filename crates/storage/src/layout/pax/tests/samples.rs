//! Tables of every type and null pattern, and their pages.

use super::*;
use crate::schema::{Column, ElementType, Layout};
use arrow_array::builder::{BinaryViewBuilder, FixedSizeBinaryBuilder, StringViewBuilder};
use arrow_array::types::*;

pub(super) const KINDS: [ColumnType; 23] = [
    ColumnType::Boolean,
    ColumnType::SmallInt,
    ColumnType::Integer,
    ColumnType::BigInt,
    ColumnType::Real,
    ColumnType::Double,
    ColumnType::Decimal {
        precision: 5,
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
    ColumnType::Varchar(Some(10)),
    ColumnType::Char(3),
    ColumnType::Text,
    ColumnType::Bytea,
    ColumnType::Json,
    ColumnType::Numeric,
    ColumnType::Array {
        element: ElementType::Integer,
        dims: 1,
    },
];

/// Values of a type made from numbers; texts have up to `longest` bytes.
pub(super) fn array(kind: ColumnType, seeds: &[Option<u64>], longest: usize) -> ArrayRef {
    let seeds = || seeds.iter().copied();
    let scaled =
        |most: i128| seeds().map(move |seed| seed.map(|seed| i128::from(seed) * 7_919 % most));
    let text = |seed: u64| {
        let length = seed as usize % (longest + 1);
        let letters = ["a", "é", "z", "0", "漢", " "];
        (0..)
            .map(|at: usize| letters[(seed as usize).wrapping_mul(at + 31) / 7 % 6])
            .take(length / 2)
            .collect::<String>()
    };
    match kind {
        ColumnType::Boolean => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| seed % 3 == 1))
                .collect::<BooleanArray>(),
        ),
        ColumnType::SmallInt => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| seed as i16))
                .collect::<Int16Array>(),
        ),
        ColumnType::Integer => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| seed as i32))
                .collect::<Int32Array>(),
        ),
        ColumnType::BigInt => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| seed as i64))
                .collect::<Int64Array>(),
        ),
        ColumnType::Real => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| seed as f32 / 3.0))
                .collect::<Float32Array>(),
        ),
        ColumnType::Double => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| seed as f64 / 3.0))
                .collect::<Float64Array>(),
        ),
        ColumnType::Decimal { precision, scale } => {
            let values: Decimal128Array = scaled(10_i128.pow(u32::from(precision)) - 1).collect();
            Arc::new(values.with_precision_and_scale(precision, scale).unwrap())
        }
        ColumnType::Date => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| seed as i32 / 2))
                .collect::<Date32Array>(),
        ),
        ColumnType::Time => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| (seed % 86_400_000_000) as i64))
                .collect::<Time64MicrosecondArray>(),
        ),
        ColumnType::Timestamp => Arc::new(
            seeds()
                .map(|seed| seed.map(|seed| seed as i64))
                .collect::<TimestampMicrosecondArray>(),
        ),
        ColumnType::TimestampTz => {
            let values: TimestampMicrosecondArray =
                seeds().map(|seed| seed.map(|seed| seed as i64)).collect();
            Arc::new(values.with_timezone("+00:00"))
        }
        ColumnType::Interval => Arc::new(
            seeds()
                .map(|seed| {
                    seed.map(|seed| {
                        IntervalMonthDayNano::new(seed as i32, (seed >> 9) as i32, seed as i64)
                    })
                })
                .collect::<IntervalMonthDayNanoArray>(),
        ),
        ColumnType::Uuid => {
            let mut values = FixedSizeBinaryBuilder::new(16);
            for seed in seeds() {
                match seed {
                    Some(seed) => values
                        .append_value((u128::from(seed) * 0x9e37_79b9_7f4a_7c15).to_le_bytes())
                        .unwrap(),
                    None => values.append_null(),
                }
            }
            Arc::new(values.finish())
        }
        ColumnType::Bytea | ColumnType::Numeric => {
            let mut values = BinaryViewBuilder::new();
            seeds().for_each(|seed| {
                values.append_option(seed.map(|seed| [text(seed).as_bytes(), &[0xff]].concat()))
            });
            Arc::new(values.finish())
        }
        _ => {
            let mut values = StringViewBuilder::new();
            seeds().for_each(|seed| values.append_option(seed.map(text)));
            Arc::new(values.finish())
        }
    }
}

/// A table and its pages.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) schema: TableSchema,
    pub(super) arrays: Vec<ArrayRef>,
    pub(super) options: TableOptions,
    pub(super) pages: Buffer,
    pub(super) directory: Buffer,
    pub(super) report: PaxBuildReport,
}

pub(super) fn schema(kinds: &[(ColumnType, bool)]) -> TableSchema {
    let column = |(number, (kind, nullable)): (usize, &(ColumnType, bool))| Column {
        name: format!("c{number}"),
        kind: *kind,
        nullable: *nullable,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: kinds.iter().enumerate().map(column).collect(),
        keys: Vec::new(),
        ..TableSchema::default()
    }
}

pub(super) fn options(page_bytes: u32, reorganise_percent: u8) -> TableOptions {
    TableOptions {
        layout: Layout::Pax,
        page_bytes,
        reorganise_percent,
        ..TableOptions::default()
    }
}

impl Sample {
    pub(super) fn new(
        kinds: &[(ColumnType, bool)],
        arrays: Vec<ArrayRef>,
        options: TableOptions,
    ) -> Sample {
        let schema = schema(kinds);
        let (mut sections, report) =
            build_reported(&schema, &dense(&schema, &arrays), &options).unwrap();
        let directory = sections.pop().unwrap().bytes;
        let pages = sections.pop().unwrap().bytes;
        Sample {
            schema,
            arrays,
            options,
            pages,
            directory,
            report,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.arrays[0].len()
    }

    pub(super) fn open(&self) -> PaxStore {
        self.open_as(self.pages.clone(), self.directory.clone())
            .unwrap()
    }

    pub(super) fn open_as(&self, pages: Buffer, directory: Buffer) -> Result<PaxStore> {
        PaxStore::open(
            &self.schema,
            self.rows(),
            self.options.page_bytes,
            pages,
            directory,
            &vec![BookSections::plain(); self.schema.columns.len()],
        )
    }
}

pub(super) fn dense(schema: &TableSchema, arrays: &[ArrayRef]) -> Vec<Dense> {
    arrays
        .iter()
        .zip(&schema.columns)
        .map(|(array, column)| Dense::from_arrow(array, column).unwrap())
        .collect()
}

/// Which rows are NULL.
#[derive(Clone, Copy, Debug)]
pub(super) enum Nulls {
    None,
    All,
    Alternating,
    Runs,
    Random,
}

impl Nulls {
    pub(super) fn holds(self, row: usize, seed: u64) -> bool {
        match self {
            Nulls::None => false,
            Nulls::All => true,
            Nulls::Alternating => row.is_multiple_of(2),
            Nulls::Runs => (row / 37).is_multiple_of(2),
            Nulls::Random => seed.is_multiple_of(5),
        }
    }
}

pub(super) fn nulls() -> impl Strategy<Value = Nulls> + Clone {
    prop::sample::select(vec![
        Nulls::None,
        Nulls::All,
        Nulls::Alternating,
        Nulls::Runs,
        Nulls::Random,
    ])
}

/// Tables of up to eight columns; now and then one of many.
pub(super) fn samples() -> impl Strategy<Value = Sample> {
    let column = (
        prop::sample::select(KINDS.to_vec()),
        any::<bool>(),
        nulls(),
        any::<u64>(),
        prop::sample::select(vec![0, 4, 80, 3000]),
    );
    let columns = prop_oneof![9 => prop::collection::vec(column.clone(), 1..8), 1 => prop::collection::vec(column, 60..200)];
    let page_bytes = prop::sample::select(vec![1024, 1500, 8192, 32_768, 32_769, 65_536]);
    (
        columns,
        prop_oneof![1..4_usize, 1..600_usize],
        page_bytes,
        prop::sample::select(vec![0, 5, 10, 100]),
    )
        .prop_map(|(columns, rows, page_bytes, percent)| {
            let mut kinds = Vec::new();
            let mut arrays = Vec::new();
            for (kind, nullable, nulls, seed, longest) in columns {
                let seeds: Vec<_> = (0..rows)
                    .map(|row| (row as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
                    .enumerate()
                    .map(|(row, value)| (!nullable || !nulls.holds(row, value)).then_some(value))
                    .collect();
                kinds.push((kind, nullable));
                arrays.push(array(kind, &seeds, longest));
            }
            Sample::new(&kinds, arrays, options(page_bytes, percent))
        })
}
