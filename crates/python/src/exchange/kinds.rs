//! Types as the format strings of Arrow's C data interface, and back.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, IntervalUnit, TimeUnit};
use freestone::{Error, Result};

/// Types that a format string says all of.
const PLAIN: [(&str, DataType); 32] = [
    ("n", DataType::Null),
    ("b", DataType::Boolean),
    ("c", DataType::Int8),
    ("C", DataType::UInt8),
    ("s", DataType::Int16),
    ("S", DataType::UInt16),
    ("i", DataType::Int32),
    ("I", DataType::UInt32),
    ("l", DataType::Int64),
    ("L", DataType::UInt64),
    ("e", DataType::Float16),
    ("f", DataType::Float32),
    ("g", DataType::Float64),
    ("z", DataType::Binary),
    ("Z", DataType::LargeBinary),
    ("vz", DataType::BinaryView),
    ("u", DataType::Utf8),
    ("U", DataType::LargeUtf8),
    ("vu", DataType::Utf8View),
    ("tdD", DataType::Date32),
    ("tdm", DataType::Date64),
    ("tts", DataType::Time32(TimeUnit::Second)),
    ("ttm", DataType::Time32(TimeUnit::Millisecond)),
    ("ttu", DataType::Time64(TimeUnit::Microsecond)),
    ("ttn", DataType::Time64(TimeUnit::Nanosecond)),
    ("tDs", DataType::Duration(TimeUnit::Second)),
    ("tDm", DataType::Duration(TimeUnit::Millisecond)),
    ("tDu", DataType::Duration(TimeUnit::Microsecond)),
    ("tDn", DataType::Duration(TimeUnit::Nanosecond)),
    ("tiM", DataType::Interval(IntervalUnit::YearMonth)),
    ("tiD", DataType::Interval(IntervalUnit::DayTime)),
    ("tin", DataType::Interval(IntervalUnit::MonthDayNano)),
];

fn refused(what: &str) -> Error {
    Error::unsupported(format!("Arrow's type {what} cannot be exchanged"))
        .with_hint("cast the column to a type that SQL has")
}

/// The format string of a type.
///
/// # Errors
/// `0A000` for unions and run-end encoding.
pub fn format(kind: &DataType) -> Result<String> {
    if let Some((format, _)) = PLAIN.iter().find(|(_, plain)| plain == kind) {
        return Ok((*format).to_owned());
    }
    Ok(match kind {
        DataType::FixedSizeBinary(bytes) => format!("w:{bytes}"),
        DataType::Decimal32(precision, scale) => format!("d:{precision},{scale},32"),
        DataType::Decimal64(precision, scale) => format!("d:{precision},{scale},64"),
        DataType::Decimal128(precision, scale) => format!("d:{precision},{scale}"),
        DataType::Decimal256(precision, scale) => format!("d:{precision},{scale},256"),
        DataType::Timestamp(unit, zone) => {
            let unit = match unit {
                TimeUnit::Second => 's',
                TimeUnit::Millisecond => 'm',
                TimeUnit::Microsecond => 'u',
                TimeUnit::Nanosecond => 'n',
            };
            format!("ts{unit}:{}", zone.as_deref().unwrap_or_default())
        }
        DataType::List(_) => "+l".to_owned(),
        DataType::LargeList(_) => "+L".to_owned(),
        DataType::ListView(_) => "+vl".to_owned(),
        DataType::LargeListView(_) => "+vL".to_owned(),
        DataType::FixedSizeList(_, items) => format!("+w:{items}"),
        DataType::Struct(_) => "+s".to_owned(),
        DataType::Map(_, _) => "+m".to_owned(),
        DataType::Dictionary(keys, _) => format(keys)?,
        other => return Err(refused(&other.to_string())),
    })
}

/// The fields inside a type.
pub fn children(kind: &DataType) -> Vec<&FieldRef> {
    match kind {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => vec![field],
        DataType::Struct(fields) => fields.iter().collect(),
        _ => Vec::new(),
    }
}

/// The type that a format string says, with its children.
///
/// # Errors
/// `0A000` for a type that is not known here.
pub fn parsed(format: &str, children: Vec<Field>, sorted: bool) -> Result<DataType> {
    if let Some((_, kind)) = PLAIN.iter().find(|(plain, _)| *plain == format) {
        return Ok(kind.clone());
    }
    let unknown = || refused(&format!("\"{format}\""));
    let only = |children: Vec<Field>| {
        let mut children = children.into_iter();
        match (children.next(), children.next()) {
            (Some(field), None) => Ok(Arc::new(field)),
            _ => Err(unknown()),
        }
    };
    Ok(match format {
        "+l" => DataType::List(only(children)?),
        "+L" => DataType::LargeList(only(children)?),
        "+vl" => DataType::ListView(only(children)?),
        "+vL" => DataType::LargeListView(only(children)?),
        "+m" => DataType::Map(only(children)?, sorted),
        "+s" => DataType::Struct(children.into()),
        _ => match format.split_once(':') {
            Some(("w", bytes)) => DataType::FixedSizeBinary(bytes.parse().map_err(|_| unknown())?),
            Some(("+w", items)) => {
                let items = items.parse().map_err(|_| unknown())?;
                DataType::FixedSizeList(only(children)?, items)
            }
            Some(("d", digits)) => decimal(digits).ok_or_else(unknown)?,
            Some((unit, zone)) => {
                let unit = match unit {
                    "tss" => TimeUnit::Second,
                    "tsm" => TimeUnit::Millisecond,
                    "tsu" => TimeUnit::Microsecond,
                    "tsn" => TimeUnit::Nanosecond,
                    _ => return Err(unknown()),
                };
                DataType::Timestamp(unit, (!zone.is_empty()).then(|| zone.into()))
            }
            None => return Err(unknown()),
        },
    })
}

fn decimal(digits: &str) -> Option<DataType> {
    let mut parts = digits.split(',');
    let precision = parts.next()?.parse().ok()?;
    let scale = parts.next()?.parse().ok()?;
    Some(match parts.next().unwrap_or("128") {
        "32" => DataType::Decimal32(precision, scale),
        "64" => DataType::Decimal64(precision, scale),
        "128" => DataType::Decimal128(precision, scale),
        "256" => DataType::Decimal256(precision, scale),
        _ => return None,
    })
}
