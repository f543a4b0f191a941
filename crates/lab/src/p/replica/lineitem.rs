//! Loading LINEITEM from a text file (P, section 7.2).

use super::disk::{Disk, Log};
use super::load::{File, Loader, NsmLoader, PaxLoader};
use super::pool::BufferPool;
use super::shape::Shape;
use crate::error::{Error, Result};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Int32Type, Int64Type};
use arrow_schema::DataType;
use std::fmt::Write;

/// How the text of an attribute is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// 8 bytes.
    Long,
    /// 4 bytes.
    Integer,
    /// Hundredths, in 8 bytes.
    Decimal,
    /// Days since 1970, in 4 bytes.
    Date,
    /// A character.
    Flag,
    /// Any number of them.
    Text,
}

/// Three vary in length, as in the paper (section 7.1).
const KINDS: [Kind; 16] = [
    Kind::Long,
    Kind::Long,
    Kind::Long,
    Kind::Integer,
    Kind::Decimal,
    Kind::Decimal,
    Kind::Decimal,
    Kind::Decimal,
    Kind::Flag,
    Kind::Flag,
    Kind::Date,
    Kind::Date,
    Kind::Date,
    Kind::Text,
    Kind::Text,
    Kind::Text,
];

/// Its attributes.
pub fn shape() -> Shape {
    let bytes = KINDS.map(|kind| match kind {
        Kind::Long | Kind::Decimal => 8,
        Kind::Integer | Kind::Date => 4,
        Kind::Flag => 1,
        Kind::Text => 0,
    });
    Shape::new(bytes.to_vec())
}

/// The file that `dbgen` would write: a line for each row, fields separated by bars.
///
/// # Errors
/// None that rows of LINEITEM have.
pub fn text(rows: &RecordBatch) -> Result<String> {
    let mut text = String::new();
    for row in 0..rows.num_rows() {
        for column in rows.columns() {
            let written = match column.data_type() {
                DataType::Int64 => {
                    write!(text, "{}", column.as_primitive::<Int64Type>().value(row))
                }
                DataType::Int32 => {
                    write!(text, "{}", column.as_primitive::<Int32Type>().value(row))
                }
                DataType::Decimal128(..) => {
                    let value = column.as_primitive::<Decimal128Type>().value(row);
                    write!(text, "{}.{:02}", value / 100, value % 100)
                }
                DataType::Date32 => {
                    let days = column.as_primitive::<Date32Type>().value_as_date(row);
                    days.map_or(Err(std::fmt::Error), |days| write!(text, "{days}"))
                }
                _ => write!(text, "{}", column.as_string_view().value(row)),
            };
            written.map_err(|_| Error::new("a value without text", ""))?;
            text.push('|');
        }
        text.push('\n');
    }
    Ok(text)
}

/// Stores each line of a file.
///
/// # Errors
/// If a line is not one of LINEITEM, or larger than a page.
pub fn load(text: &str, mut insert: impl FnMut(&[&[u8]]) -> Result<()>) -> Result<()> {
    for line in text.lines() {
        let mut numbers = [[0; 8]; KINDS.len()];
        let mut values: [&[u8]; KINDS.len()] = [&[]; KINDS.len()];
        let fields = line.split('|').zip(KINDS);
        for (((field, kind), number), value) in fields.zip(&mut numbers).zip(&mut values) {
            let (parsed, bytes) = match kind {
                Kind::Long | Kind::Decimal => (digits(field), 8),
                Kind::Integer => (digits(field), 4),
                Kind::Date => (days(field), 4),
                Kind::Flag | Kind::Text => {
                    *value = field.as_bytes();
                    continue;
                }
            };
            let parsed = parsed.ok_or_else(|| Error::new(format!("no number: {field}"), ""))?;
            *number = parsed.to_le_bytes();
            *value = &number[..bytes];
        }
        insert(&values)?;
    }
    Ok(())
}

/// All digits of a number as one, whatever stands between them.
fn digits(field: &str) -> Option<i64> {
    let digit = |sum: i64, byte: u8| match byte {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add((byte - b'0').into()),
        b'.' => Some(sum),
        _ => None,
    };
    field.bytes().try_fold(0, digit)
}

/// Days since 1970 of a year, month and day.
fn days(field: &str) -> Option<i64> {
    let mut parts = field.split('-').map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    // March is the first month, so that a leap day is a year's last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_years = 365 * year + year / 4 - year / 100 + year / 400;
    Some(of_years + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Loads records of NSM, with their log, to a disk or into memory alone; their file.
///
/// # Errors
/// Those of [`load`] and of the disk.
pub fn nsm(text: &str, disk: Option<&Disk>) -> Result<(BufferPool, File)> {
    let (mut pool, mut log) = (BufferPool::new(), Log::new(disk));
    let mut loader = NsmLoader::new(shape());
    load(text, |values| {
        loader.insert(&mut pool, &mut log, values).map(drop)
    })?;
    end(&pool, log, disk)?;
    Ok((pool, loader.file))
}

/// The load has ended: its log is on disk, and then its pages.
fn end(pool: &BufferPool, log: Log<'_>, disk: Option<&Disk>) -> Result<()> {
    log.commit()?;
    disk.map_or(Ok(()), |disk| pool.write_to(disk))
}

/// Loads minipages, boundaries of which are moved where a `threshold` of a page is free; the
/// loader at the end.
///
/// # Errors
/// As [`nsm`].
pub fn pax(text: &str, threshold: f64, disk: Option<&Disk>) -> Result<(BufferPool, PaxLoader)> {
    let (mut pool, mut log) = (BufferPool::new(), Log::new(disk));
    let mut loader = PaxLoader::new(shape(), &hints(text)?, threshold);
    load(text, |values| {
        loader.insert(&mut pool, &mut log, values).map(drop)
    })?;
    end(&pool, log, disk)?;
    Ok((pool, loader))
}

/// Loads a relation of surrogates and values for each attribute; how many pages they take.
///
/// # Errors
/// As [`nsm`].
pub fn dsm(text: &str, disk: Option<&Disk>) -> Result<usize> {
    let (mut pool, mut log) = (BufferPool::new(), Log::new(disk));
    let shape = shape();
    let loader = |attribute| NsmLoader::new(Shape::new(vec![8, shape.bytes(attribute)]));
    let mut loaders: Vec<NsmLoader> = (0..shape.degree()).map(loader).collect();
    let mut surrogate: u64 = 0;
    load(text, |values| {
        let id = surrogate.to_le_bytes();
        surrogate += 1;
        for (loader, value) in loaders.iter_mut().zip(values) {
            loader.insert(&mut pool, &mut log, &[&id, value])?;
        }
        Ok(())
    })?;
    end(&pool, log, disk)?;
    Ok(loaders.iter().map(|loader| loader.file.pages.len()).sum())
}

/// Average bytes of values, of the first few lines.
fn hints(text: &str) -> Result<Vec<f64>> {
    const LINES: usize = 50;
    let end = text.match_indices('\n').nth(LINES - 1);
    let few = &text[..end.map_or(text.len(), |(place, _)| place)];
    let shape = shape();
    let (mut sums, mut count) = (vec![0; shape.degree()], 0);
    load(few, |values| {
        count += 1;
        for (attribute, value) in values.iter().enumerate() {
            sums[attribute] += super::pax::stored(&shape, attribute, value);
        }
        Ok(())
    })?;
    let count = f64::from(count.max(1));
    Ok(sums.into_iter().map(|sum| sum as f64 / count).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{nsm as slotted, pax as minipages};
    use super::*;
    use crate::p::lineitem;

    /// All values of all rows are on the pages as the text has them, whatever was moved.
    #[test]
    fn pages_have_the_rows() {
        let rows = lineitem::rows(3_000, 5).unwrap();
        let text = text(&rows).unwrap();
        assert!(text.starts_with("1|"), "{}", &text[..80]);
        let mut expected: Vec<Vec<Vec<u8>>> = Vec::new();
        load(&text, |values| {
            expected.push(values.iter().map(|value| value.to_vec()).collect());
            Ok(())
        })
        .unwrap();
        let dates = rows.column(10).as_primitive::<Date32Type>();
        assert_eq!(expected[7][10], dates.value(7).to_le_bytes());
        let disk = Disk::in_directory(&std::env::temp_dir()).unwrap();
        let (pool, file) = nsm(&text, Some(&disk)).unwrap();
        let mut at = expected.iter();
        for page in &file.pages {
            let pinned = pool.pin(*page);
            for slot in 0..slotted::count(pinned.page()) {
                let values = at.next().unwrap();
                for (attribute, value) in values.iter().enumerate() {
                    let (start, length) =
                        slotted::place(pinned.page(), &file.shape, slot, attribute);
                    assert_eq!(&pinned.page()[start..start + length], value);
                }
            }
        }
        assert_eq!(at.next(), None);
        for threshold in [0.0, 0.1] {
            let (pool, loader) = pax(&text, threshold, None).unwrap();
            let mut at = expected.iter();
            for page in &loader.file.pages {
                let pinned = pool.pin(*page);
                for record in 0..minipages::count(pinned.page()) {
                    let values = at.next().unwrap();
                    for (attribute, value) in values.iter().enumerate() {
                        let (start, length) = minipages::place(pinned.page(), record, attribute);
                        assert_eq!(&pinned.page()[start..start + length], value);
                    }
                }
            }
            assert_eq!(at.next(), None);
            assert!(loader.file.pages.len() <= file.pages.len());
        }
        assert!(dsm(&text, None).unwrap() > file.pages.len());
    }

    #[test]
    fn higher_thresholds_reorganise_less() {
        let text = text(&lineitem::rows(20_000, 1).unwrap()).unwrap();
        let counts = [0.0, 0.05, 0.1].map(|threshold| pax(&text, threshold, None).unwrap().1);
        let counts = counts.map(|loader| loader.reorganisations);
        assert!(counts[0] > counts[1] && counts[1] > counts[2], "{counts:?}");
    }

    #[test]
    fn lines_of_something_else_are_refused() {
        assert!(nsm("a|b|c|\n", None).is_err());
    }
}
