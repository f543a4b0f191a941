//! Values that a client sends for the parameters of a statement.

use arrow::array::{
    Array, Date32Array, FixedSizeBinaryArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use freestone::{Cells, Error, Inet, Parameter, Result, mac_shown, money};

use crate::arrays;
use crate::kinds::Oid;
use crate::numeric;
use crate::output::Format;
use crate::ranges;

/// Days and microseconds from 1970 to 2000, where the protocol counts from.
const DAYS: i64 = 10_957;
const DAY: i64 = 86_400_000_000;

/// A value of a type.
///
/// # Errors
/// `22P03` for bytes that are none, `22021` for a text that is not UTF-8, `22P02` for a
/// number that is none.
pub(crate) fn value(
    number: usize,
    bytes: Option<&[u8]>,
    oid: Oid,
    format: Format,
) -> Result<Parameter> {
    let Some(bytes) = bytes else {
        return Ok(Parameter::Null);
    };
    match format {
        Format::Text => text(number, bytes, oid),
        Format::Binary => binary(bytes, oid)?.ok_or_else(|| {
            let message = format!(
                "the bytes of parameter ${} are no value of its type",
                number + 1
            );
            Error::new("22P03", message)
        }),
    }
}

fn text(number: usize, bytes: &[u8], oid: Oid) -> Result<Parameter> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        let message = format!("parameter ${} is not UTF-8", number + 1);
        Error::new("22021", message)
    })?;
    let trimmed = text.trim();
    Ok(match oid {
        Oid::INT2 | Oid::INT4 | Oid::INT8 | Oid::OID => match trimmed.parse() {
            Ok(value) => Parameter::Integer(value),
            Err(_) => Parameter::Text(text.to_owned()),
        },
        Oid::NUMERIC if is_number(trimmed) => Parameter::Decimal(trimmed.to_owned()),
        _ => Parameter::Text(text.to_owned()),
    })
}

/// Whether a text is digits, with a point and a sign perhaps.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    digits.chars().any(|c| c.is_ascii_digit())
        && digits.chars().all(plain)
        && digits.matches('.').count() <= 1
}

/// `None` for bytes that are no value of the type.
///
/// # Errors
/// Those of the elements of an array.
pub(crate) fn binary(bytes: &[u8], oid: Oid) -> Result<Option<Parameter>> {
    let int = || -> Option<i64> {
        let value = match bytes.len() {
            2 => i16::from_be_bytes(bytes.try_into().ok()?).into(),
            4 => i32::from_be_bytes(bytes.try_into().ok()?).into(),
            8 => i64::from_be_bytes(bytes.try_into().ok()?),
            _ => return None,
        };
        Some(value)
    };
    let sized = |size: usize| int().filter(|_| bytes.len() == size);
    let integer = |size: usize| sized(size).map(Parameter::Integer);
    let string = || {
        std::str::from_utf8(bytes)
            .ok()
            .map(|text| Parameter::Text(text.to_owned()))
    };
    Ok(match oid {
        Oid::BOOL => match bytes {
            [byte] => Some(Parameter::Boolean(*byte != 0)),
            _ => None,
        },
        Oid::INT2 => integer(2),
        Oid::INT4 => integer(4),
        Oid::INT8 => integer(8),
        // The bits of a smaller number are not those of a larger one.
        Oid::OID => sized(4).map(|value| Parameter::Integer(value & 0xffff_ffff)),
        Oid::FLOAT4 => bytes.try_into().ok().map(|bytes| {
            // By its digits, so that it stays the number that the client saw.
            let value = f32::from_be_bytes(bytes);
            Parameter::Double(value.to_string().parse().unwrap_or(value.into()))
        }),
        Oid::FLOAT8 => bytes
            .try_into()
            .ok()
            .map(|bytes| Parameter::Double(f64::from_be_bytes(bytes))),
        Oid::BYTEA => Some(Parameter::Bytes(bytes.to_vec())),
        Oid::NUMERIC => numeric::read(bytes).map(Parameter::Decimal),
        Oid::UUID => (bytes.len() == 16).then(|| Parameter::Text(uuid(bytes))),
        Oid::DATE => sized(4).and_then(|days| {
            let days = i32::try_from(days + DAYS).ok()?;
            shown(&Date32Array::from(vec![days]))
        }),
        Oid::TIME => sized(8)
            .filter(|micros| (0..=DAY).contains(micros))
            .and_then(|micros| shown(&Time64MicrosecondArray::from(vec![micros]))),
        Oid::TIMETZ => match bytes.len() {
            12 => {
                // Both numbers have their bytes the other way round.
                let (micros, west) = bytes.split_at(8);
                let value: Vec<u8> = micros
                    .iter()
                    .rev()
                    .chain(west.iter().rev())
                    .copied()
                    .collect();
                let whole = FixedSizeBinaryArray::try_from_iter([value].into_iter());
                whole.ok().and_then(|array| shown(&array))
            }
            _ => None,
        },
        Oid::TIMESTAMP => sized(8).and_then(|micros| timestamp(micros, None)),
        Oid::TIMESTAMPTZ => sized(8).and_then(|micros| timestamp(micros, Some("+00:00"))),
        Oid::INTERVAL => interval(bytes),
        Oid::BIT | Oid::VARBIT => bits(bytes),
        Oid::INET | Oid::CIDR => Inet::received(bytes).map(Parameter::Text),
        Oid::MONEY => {
            let amount = <[u8; 8]>::try_from(bytes).ok().map(i64::from_be_bytes);
            amount.map(|amount| Parameter::Text(money::shown(amount)))
        }
        oid @ (Oid::XID | Oid::CID | Oid::XID8) => {
            let number = sized(oid.size().unsigned_abs().into()).map(i64::cast_unsigned);
            let number = number.map(|number| match oid {
                Oid::XID8 => number,
                _ => number & 0xffff_ffff,
            });
            number.map(|number| Parameter::Text(number.to_string()))
        }
        Oid::TID => match bytes {
            [page @ .., a, b] if page.len() == 4 => {
                let page = page
                    .iter()
                    .fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
                let row = u16::from_be_bytes([*a, *b]);
                Some(Parameter::Text(format!("({page},{row})")))
            }
            _ => None,
        },
        Oid::MACADDR if bytes.len() != 6 => None,
        Oid::MACADDR8 if bytes.len() != 8 => None,
        Oid::MACADDR | Oid::MACADDR8 => Some(Parameter::Text(mac_shown(bytes))),
        Oid::JSONB => match bytes {
            // The version of its form.
            [1, text @ ..] => std::str::from_utf8(text)
                .ok()
                .map(|text| Parameter::Text(text.to_owned())),
            _ => None,
        },
        oid if ranges::is_range(oid) => ranges::read(bytes, oid, &binary)?,
        oid if oid.is_array() => arrays::read(bytes, binary)?,
        _ => string(),
    })
}

/// The zeros and ones of a bit string: how many there are, then eight in each byte.
fn bits(bytes: &[u8]) -> Option<Parameter> {
    let (length, bytes) = bytes.split_at_checked(4)?;
    let length = i32::from_be_bytes(length.try_into().ok()?);
    let length = usize::try_from(length).ok()?;
    if bytes.len() != length.div_ceil(8) {
        return None;
    }
    let digit = |at: usize| match bytes[at / 8] >> (7 - at % 8) & 1 {
        0 => '0',
        _ => '1',
    };
    Some(Parameter::Text((0..length).map(digit).collect()))
}

fn uuid(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value of an array of one, as SQL writes it.
fn shown(array: &dyn Array) -> Option<Parameter> {
    Cells::new(array).text(0).map(Parameter::Text)
}

fn timestamp(micros: i64, zone: Option<&str>) -> Option<Parameter> {
    let micros = micros.checked_add(DAYS * DAY)?;
    let array = TimestampMicrosecondArray::from(vec![micros]);
    shown(&array.with_timezone_opt(zone))
}

fn interval(bytes: &[u8]) -> Option<Parameter> {
    let micros = i64::from_be_bytes(bytes.get(..8)?.try_into().ok()?);
    let days = i32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?);
    let months = i32::from_be_bytes(bytes.get(12..)?.try_into().ok()?);
    let sign = if micros < 0 { "-" } else { "" };
    let (seconds, fraction) = (
        micros.unsigned_abs() / 1_000_000,
        micros.unsigned_abs() % 1_000_000,
    );
    Some(Parameter::Text(format!(
        "{months} months {days} days {sign}{seconds}.{fraction:06} seconds"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(oid: Oid, bytes: &[u8]) -> Option<Parameter> {
        value(0, Some(bytes), oid, Format::Binary).ok()
    }

    fn text(oid: Oid, bytes: &[u8]) -> String {
        match read(oid, bytes) {
            Some(Parameter::Text(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn times_are_read_from_their_bytes() {
        assert_eq!(text(Oid::DATE, &0_i32.to_be_bytes()), "2000-01-01");
        let date = |days: i32| text(Oid::DATE, &days.to_be_bytes());
        assert_eq!(date(-730_119), "0001-01-01");
        assert_eq!(date(-730_120), "0001-12-31 BC");
        let micros = |micros: i64| micros.to_be_bytes();
        assert_eq!(
            text(Oid::TIMESTAMP, &micros(-1)),
            "1999-12-31 23:59:59.999999"
        );
        assert_eq!(
            text(Oid::TIMESTAMPTZ, &micros(1_500_000)),
            "2000-01-01 00:00:01.5+00"
        );
        assert_eq!(text(Oid::TIME, &micros(3_661_000_001)), "01:01:01.000001");
        let mut zoned = micros(3_661_000_000).to_vec();
        zoned.extend_from_slice(&(-7_200_i32).to_be_bytes());
        assert_eq!(text(Oid::TIMETZ, &zoned), "01:01:01+02");
        let mut bytes = micros(-1_500_000).to_vec();
        bytes.extend_from_slice(&3_i32.to_be_bytes());
        bytes.extend_from_slice(&14_i32.to_be_bytes());
        assert_eq!(
            text(Oid::INTERVAL, &bytes),
            "14 months 3 days -1.500000 seconds"
        );
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for (oid, bytes) in [
            (Oid::INT4, &[0; 3][..]),
            (Oid::BOOL, &[]),
            (Oid::UUID, &[0; 15]),
            (Oid::DATE, &[0; 8]),
            (Oid::INTERVAL, &[0; 15]),
            (Oid::NUMERIC, &[0; 7]),
            (Oid::TEXT, &[0xff]),
            (Oid::JSONB, &[2, b'1']),
            (Oid::BIT, &[0, 0, 0, 9, 0xff]),
            (Oid::INET, &[2, 33, 0, 4, 10, 0, 0, 1]),
            (Oid::INET, &[2, 32, 0, 4, 10, 0, 0]),
            (Oid::CIDR, &[1, 8, 1, 4, 10, 0, 0, 0]),
            (Oid::MONEY, &[0, 0, 0, 1]),
            (Oid::MACADDR, &[1, 2, 3, 4, 5, 6, 7, 8]),
            (Oid::VARBIT, &[0xff, 0xff, 0xff, 0xff]),
            (Oid::TIME, &[0xff; 8]),
            (Oid::TIMESTAMP, &i64::MAX.to_be_bytes()),
        ] {
            assert_eq!(read(oid, bytes), None, "{oid:?}");
        }
        assert_eq!(text(Oid::BIT, &[0, 0, 0, 9, 0xa5, 0x80]), "101001011");
        assert_eq!(text(Oid::VARBIT, &[0; 4]), "");
        assert_eq!(text(Oid::INET, &[2, 24, 0, 4, 10, 0, 0, 1]), "10.0.0.1/24");
        assert_eq!(
            text(Oid::MACADDR, &[1, 2, 3, 4, 5, 0xfe]),
            "01:02:03:04:05:fe"
        );
        assert_eq!(
            text(Oid::MONEY, &[0, 0, 0, 0, 0, 1, 0xe2, 0x40]),
            "$1,234.56"
        );
        assert_eq!(
            read(Oid::FLOAT4, &0.1_f32.to_be_bytes()),
            Some(Parameter::Double(0.1))
        );
        assert_eq!(
            read(Oid::OID, &[0xff; 4]),
            Some(Parameter::Integer(u32::MAX.into()))
        );
    }
}
