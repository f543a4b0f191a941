//! Bytes as a list of choices and sections, and the writing that matches it.

use arrow_array::{Array, ArrayRef};
use arrow_buffer::{Buffer, MutableBuffer};
use freestone_storage::codec::fields::Rows;
use freestone_storage::format::Codec;
use freestone_storage::{Column, ColumnType, Result, TableSchema};

/// A type for every stored form and every way to Arrow.
pub const KINDS: [ColumnType; 19] = [
    ColumnType::Boolean,
    ColumnType::SmallInt,
    ColumnType::Integer,
    ColumnType::BigInt,
    ColumnType::Real,
    ColumnType::Double,
    decimal(9, 2),
    decimal(15, 2),
    decimal(38, 10),
    ColumnType::Date,
    ColumnType::Time,
    ColumnType::Timestamp,
    ColumnType::TimestampTz,
    ColumnType::Interval,
    ColumnType::Uuid,
    ColumnType::Varchar(Some(20)),
    ColumnType::Char(3),
    ColumnType::Text,
    ColumnType::Bytea,
];

/// Most rows: enough for several chunks, few enough to be read quickly.
const ROWS_MAX: usize = 1 << 12;

const fn decimal(precision: u8, scale: i8) -> ColumnType {
    ColumnType::Decimal { precision, scale }
}

/// The number of a type in [`KINDS`].
pub fn kind_number(kind: ColumnType) -> u8 {
    KINDS.iter().position(|known| *known == kind).unwrap_or(0) as u8
}

/// Bytes that are taken off the front; zeros where there are none left.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    /// One byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// Two bytes.
    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// A number of rows, at least one.
    pub fn rows(&mut self) -> usize {
        usize::from(self.word()) % ROWS_MAX + 1
    }

    /// A type.
    pub fn kind(&mut self) -> ColumnType {
        KINDS[usize::from(self.byte()) % KINDS.len()]
    }

    /// A codec.
    pub fn codec(&mut self) -> Codec {
        Codec::ALL[usize::from(self.byte()) % Codec::ALL.len()]
    }

    /// Two bytes of length, and as many bytes as there are of it.
    pub fn section(&mut self) -> Buffer {
        let len = usize::from(self.word()).min(self.0.len());
        let (section, rest) = self.0.split_at(len);
        self.0 = rest;
        aligned(section)
    }

    /// A section, unless its bit in `mask` is not set.
    pub fn optional(&mut self, mask: u8, bit: u8) -> Option<Buffer> {
        (mask >> bit & 1 == 1).then(|| self.section())
    }

    /// All that is left.
    pub fn rest(&mut self) -> Buffer {
        aligned(std::mem::take(&mut self.0))
    }
}

/// Sections lie at multiples of 64 bytes, in files and in memory.
fn aligned(bytes: &[u8]) -> Buffer {
    let mut buffer = MutableBuffer::new(bytes.len());
    buffer.extend_from_slice(bytes);
    buffer.into()
}

/// Writes what [`Input`] reads.
#[derive(Default)]
pub struct Output(pub Vec<u8>);

impl Output {
    /// One byte.
    pub fn byte(mut self, byte: u8) -> Output {
        self.0.push(byte);
        self
    }

    /// Two bytes.
    pub fn word(mut self, word: u16) -> Output {
        self.0.extend(word.to_le_bytes());
        self
    }

    /// A number of rows.
    pub fn rows(self, rows: usize) -> Output {
        self.word(rows as u16 - 1)
    }

    /// A type.
    pub fn kind(self, kind: ColumnType) -> Output {
        self.byte(kind_number(kind))
    }

    /// A codec.
    pub fn codec(self, codec: Codec) -> Output {
        // Tag 0 is never valid, so tags are numbers plus one.
        self.byte(codec as u8 - 1)
    }

    /// A section with its length.
    pub fn section(self, bytes: &[u8]) -> Output {
        self.word(bytes.len() as u16).rest(bytes)
    }

    /// The last section, without one.
    pub fn rest(mut self, bytes: &[u8]) -> Output {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// A table with columns `c0`, `c1` … of these types, all of which may be NULL.
pub fn table(kinds: &[ColumnType]) -> TableSchema {
    let column = |(number, kind): (usize, &ColumnType)| Column {
        name: format!("c{number}"),
        kind: *kind,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: kinds.iter().enumerate().map(column).collect(),
        ..TableSchema::default()
    }
}

/// The array is what it should be.
pub fn check_array(array: &ArrayRef, kind: ColumnType, rows: usize) {
    assert_eq!(array.len(), rows);
    assert_eq!(array.data_type(), &kind.arrow());
    if let Err(error) = array.to_data().validate_full() {
        panic!("a malformed array of {kind}: {error}");
    }
}

/// Reads all rows, some ranges and some positions, which must agree.
pub fn read_in_every_way(
    kind: ColumnType,
    rows: usize,
    read: impl Fn(&Rows<'_>) -> Result<ArrayRef>,
) -> bool {
    // Where all rows can be read, so can any of them.
    let whole = read(&Rows::Range(0..rows)).ok();
    if let Some(whole) = &whole {
        check_array(whole, kind, rows);
    }
    for part in [0..rows.min(1), rows / 3..rows / 2, rows / 2..rows] {
        match (read(&Rows::Range(part.clone())), &whole) {
            (Ok(some), Some(whole)) => {
                check_array(&some, kind, part.len());
                assert_eq!(
                    some.to_data(),
                    whole.slice(part.start, part.len()).to_data()
                );
            }
            (Ok(some), None) => check_array(&some, kind, part.len()),
            (Err(error), Some(_)) => panic!("rows {part:?} alone: {error}"),
            (Err(_), None) => {}
        }
    }
    for step in [1, 7, 301] {
        let positions: Vec<u32> = (rows / 5..rows)
            .step_by(step)
            .map(|row| row as u32)
            .collect();
        match (read(&Rows::Positions(&positions)), &whole) {
            (Ok(some), Some(whole)) => {
                check_array(&some, kind, positions.len());
                agree_at(&some, whole, &positions);
            }
            (Ok(some), None) => check_array(&some, kind, positions.len()),
            (Err(error), Some(_)) => panic!("every {step}th row: {error}"),
            (Err(_), None) => {}
        }
    }
    whole.is_some()
}

fn agree_at(some: &ArrayRef, whole: &ArrayRef, positions: &[u32]) {
    if positions.len() == whole.len() {
        return assert_eq!(some.to_data(), whole.to_data());
    }
    // One by one is slow: a few places will do.
    for place in (0..positions.len()).step_by(positions.len() / 8 + 1) {
        let row = positions[place] as usize;
        let (one, other) = (some.slice(place, 1), whole.slice(row, 1));
        assert_eq!(one.to_data(), other.to_data(), "row {row}");
    }
}
