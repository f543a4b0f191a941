//! System information: version, current_user, pg_typeof and their kin, and random UUIDs.
//!
//! ```text
//! current_schemas(true)         {pg_catalog,public}
//! pg_typeof(1.5)                numeric
//! typeof(1)                     INTEGER, as DuckDB names it
//! pg_size_pretty(123456789)     118 MB
//! ```
//!
//! `current_setting` and all that looks objects up are the binder's, which also makes a REGTYPE of
//! the text that `pg_typeof` gives. A literal in quotes is of type text in it.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringViewArray, new_null_array};

use super::kernel::{Bool, Call, I32, I64, Input, Kernel, Num, Str};
use super::kernel::{Uuid, f0, f1, repeated, w1};
use super::strings::lists::Texts;
use super::{Catalogue, Session, scalar};
use crate::error::{Error, Result};
use crate::types::{Internal, Type};

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Any, Int4, Int8, Name, Text};
    super::encodings::register(c);
    let version = f0::<Str>(|_| Ok(version()));
    c.add(scalar("version", &[], Text, version).stable());
    let mut of = |names: &[&'static str], f: fn(&Session) -> &str| {
        for name in names {
            let kernel = f0::<Str>(move |call| Ok(f(call.session).to_owned()));
            c.add(scalar(name, &[], Name, kernel).stable());
        }
    };
    of(&["current_user", "current_role", "user"], |session| {
        &session.user
    });
    of(&["session_user"], |session| &session.session_user);
    of(&["current_catalog", "current_database"], |session| {
        &session.database
    });
    let kernel: Kernel = Arc::new(|call, _| {
        let first = schemas(call).next().map(str::to_owned);
        let schema: ArrayRef = Arc::new(StringViewArray::from_iter([first]));
        Ok(repeated(schema, call.rows))
    });
    c.add(scalar("current_schema", &[], Name, kernel).stable());
    let kernel = w1::<Bool, Texts>(|call, implicit| {
        let catalog = "pg_catalog";
        let named = schemas(call).any(|schema| schema == catalog);
        let first = (implicit && !named).then_some(catalog);
        let all = first.into_iter().chain(schemas(call));
        Ok(all.map(|schema| Some(schema.to_owned())).collect())
    });
    c.add(scalar("current_schemas", &[Type::Bool], Name.array(), kernel).stable());
    let kernel = of_type(Type::standard_name);
    c.add(
        scalar("pg_typeof", &[Any], Text, kernel)
            .with_nulls()
            .stable(),
    );
    // As PostgreSQL has it for a connection by a socket of the machine.
    for (name, ty) in [
        ("inet_client_addr", Type::Inet),
        ("inet_client_port", Int4),
        ("inet_server_addr", Type::Inet),
        ("inet_server_port", Int4),
    ] {
        let none = new_null_array(&ty.arrow(), 1);
        let kernel: Kernel = Arc::new(move |call, _| Ok(repeated(Arc::clone(&none), call.rows)));
        c.add(scalar(name, &[], ty, kernel).stable());
    }
    let kernel = of_type(friendly_name);
    c.add(scalar("typeof", &[Any], Text, kernel).with_nulls().stable());
    let kernel = f0::<I32>(|_| Ok((std::process::id() & 0x7fff_ffff) as i32));
    c.add(scalar("pg_backend_pid", &[], Int4, kernel).stable());
    c.add(scalar("pg_column_size", &[Any], Int4, sizes()).stable());
    let kernel = f1::<I64, Str>(|size| Ok(pretty(size.into())));
    c.add(scalar("pg_size_pretty", &[Int8], Text, kernel));
    let kernel = f1::<Num, Str>(|size| {
        let text = size.to_string();
        let whole = text.split('.').next().unwrap_or_default().parse::<i128>();
        Ok(match whole {
            Ok(whole) if whole.unsigned_abs() >= 10 * 1024 => pretty(whole),
            _ => format!("{text} bytes"),
        })
    });
    c.add(scalar(
        "pg_size_pretty",
        &[Type::Numeric(None)],
        Text,
        kernel,
    ));
    c.add(scalar(
        "pg_size_bytes",
        &[Text],
        Int8,
        f1::<Str, I64>(bytes),
    ));
    for name in ["gen_random_uuid", "uuid"] {
        c.add(scalar(name, &[], Type::Uuid, f0::<Uuid>(|_| random_uuid())).volatile());
    }
    let kernel = f1::<Str, Uuid>(read_uuid);
    c.cast(Text, Type::Uuid, super::Context::Explicit, kernel);
    let kernel = f1::<Uuid, Str>(|bytes| Ok(shown_uuid(&bytes)));
    c.cast(Type::Uuid, Text, super::Context::Assignment, kernel);
}

fn version() -> String {
    format!("PostgreSQL 15.0 (Freestone {})", env!("CARGO_PKG_VERSION"))
}

/// The schemas of the search path, without those that it has by a rule.
fn schemas<'a>(call: &Call<'a>) -> impl Iterator<Item = &'a str> {
    let path = call.session.search_path.iter().map(String::as_str);
    path.filter(|schema| !schema.starts_with('$') && *schema != "pg_temp")
}

/// A kernel that names the type of its argument.
fn of_type(name: fn(&Type) -> String) -> Kernel {
    Arc::new(move |call, _| {
        let ty = call.types.first().unwrap_or(&Type::Unknown);
        let name: ArrayRef = Arc::new(StringViewArray::from_iter_values([name(ty)]));
        Ok(repeated(name, call.rows))
    })
}

/// The name that DuckDB has for a type.
fn friendly_name(ty: &Type) -> String {
    let plain = match ty {
        Type::Unknown => "\"NULL\"",
        Type::Bool => "BOOLEAN",
        Type::Int2 => "SMALLINT",
        Type::Int4 => "INTEGER",
        Type::Int8 | Type::Oid | Type::Reg(_) => "BIGINT",
        Type::Float4 => "FLOAT",
        Type::Float8 => "DOUBLE",
        Type::Numeric(Some(digits)) => {
            return format!("DECIMAL({},{})", digits.precision, digits.scale);
        }
        Type::Numeric(None) => "DECIMAL",
        Type::Text | Type::Varchar(_) | Type::Char(_) | Type::Name => "VARCHAR",
        Type::Bytea => "BLOB",
        Type::Date => "DATE",
        Type::Time(_) => "TIME",
        Type::TimeTz(_) => "TIME WITH TIME ZONE",
        Type::Timestamp(_) => "TIMESTAMP",
        Type::TimestampTz(_) => "TIMESTAMP WITH TIME ZONE",
        Type::Interval => "INTERVAL",
        Type::Uuid => "UUID",
        Type::Json | Type::Jsonb | Type::JsonPath => "JSON",
        Type::Array(element) => return format!("{}[]", friendly_name(element)),
        Type::Record(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, ty)| format!("{name} {}", friendly_name(ty)));
            return format!("STRUCT({})", fields.collect::<Vec<_>>().join(", "));
        }
        Type::Enum(of) => {
            let labels: Vec<String> = of.labels.iter().map(|label| format!("'{label}'")).collect();
            return format!("ENUM({})", labels.join(", "));
        }
        other => return other.to_string().to_uppercase(),
    };
    plain.to_owned()
}

/// Bytes of each value as PostgreSQL stores it, about.
fn sizes() -> Kernel {
    Arc::new(|call, columns| {
        let (Some(column), Some(ty)) = (columns.first(), call.types.first()) else {
            return Err(Error::internal("a function is short of its argument"));
        };
        let fixed = match ty {
            Type::Bool => Some(1),
            Type::Int2 => Some(2),
            Type::Int4 | Type::Float4 | Type::Date | Type::Oid | Type::Reg(_) => Some(4),
            Type::Enum(_) => Some(4),
            Type::Internal(Internal::Xid | Internal::Cid) => Some(4),
            Type::Internal(Internal::Xid8) => Some(8),
            Type::Internal(Internal::Tid) => Some(6),
            Type::Internal(Internal::AclItem) => Some(12),
            Type::Int8 | Type::Float8 | Type::Time(_) => Some(8),
            Type::Timestamp(_) | Type::TimestampTz(_) => Some(8),
            Type::TimeTz(_) => Some(12),
            Type::Interval | Type::Uuid => Some(16),
            Type::Name => Some(64),
            _ => None,
        };
        let texts = match (fixed, ty) {
            (None, Type::Bytea) => None,
            (None, ty) => Some(super::casts::text_of(call, ty, &column.array)?),
            _ => None,
        };
        let size = |row: usize| -> Option<i32> {
            let at = column.at(row);
            if column.array.is_null(at) {
                return None;
            }
            let length = match (&texts, fixed) {
                (_, Some(fixed)) => return Some(fixed),
                (Some(texts), _) => Str::reader(texts).ok()?.value(at).len(),
                _ => super::kernel::Bytes::reader(&column.array)
                    .ok()?
                    .value(at)
                    .len(),
            };
            i32::try_from(length).ok()?.checked_add(4)
        };
        let sizes: arrow_array::Int32Array = (0..call.rows).map(size).collect();
        Ok(Arc::new(sizes))
    })
}

/// A number of bytes in the unit that suits it.
fn pretty(size: i128) -> String {
    let mut size = size;
    if size.unsigned_abs() < 10 * 1024 {
        return format!("{size} bytes");
    }
    // Twice the number in the unit, for rounding.
    size /= 512;
    for unit in ["kB", "MB", "GB", "TB", "PB"] {
        if size.unsigned_abs() < 20 * 1024 - 1 || unit == "PB" {
            let half = if size < 0 { -1 } else { 1 };
            return format!("{} {unit}", (size + half) / 2);
        }
        size /= 1024;
    }
    String::new()
}

/// A number of bytes of a text such as `1.5 GB`.
fn bytes(text: &str) -> Result<i64> {
    let space = super::boolean::is_space;
    let bad = || Error::new("22023", format!("invalid size: \"{text}\""));
    let trimmed = text.trim_matches(space);
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let sign = usize::from(trimmed.starts_with(['-', '+']));
    let end = trimmed[sign..]
        .find(|c| !is_number(c))
        .map_or(trimmed.len(), |at| at + sign);
    let (mut number, mut rest) = trimmed.split_at(end);
    // An exponent belongs to the number if digits follow.
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        let digits = after.strip_prefix(['-', '+']).unwrap_or(after);
        let length = digits.len()
            - digits
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        if length > 0 {
            let end = end + 1 + (after.len() - digits.len()) + length;
            (number, rest) = trimmed.split_at(end);
        }
    }
    let unit = rest.trim_start_matches(space);
    let scaled = decimal(number).ok_or_else(bad)?;
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "bytes" => 0,
        "kb" => 10,
        "mb" => 20,
        "gb" => 30,
        "tb" => 40,
        "pb" => 50,
        _ => {
            let hint = "Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".";
            let error = bad().with_detail(format!("Invalid size unit: \"{unit}\"."));
            return Err(error.with_hint(hint));
        }
    };
    let (value, digits) = scaled;
    let out = || Error::new("22003", "bigint out of range");
    let value = value.checked_mul(1 << shift).ok_or_else(out)?;
    let factor = 10i128.checked_pow(digits).ok_or_else(out)?;
    let half = factor / 2 * value.signum();
    i64::try_from((value + half) / factor).map_err(|_| out())
}

/// A number as an integer and the digits behind its point.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.trim_start_matches(['-', '+']).is_empty() && fraction.is_empty() {
        return None;
    }
    let value = format!("{whole}{fraction}").parse::<i128>().ok()?;
    let digits = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    match u32::try_from(digits) {
        Ok(digits) => Some((value, digits)),
        Err(_) => Some((
            value.checked_mul(10i128.checked_pow(digits.unsigned_abs())?)?,
            0,
        )),
    }
}

fn random_uuid() -> Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::internal(error.to_string()))?;
    // Version 4, and the variant of RFC 9562.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Ok(bytes)
}

/// The UUID of a text: 32 hexadecimal digits, perhaps in braces, with hyphens behind groups of
/// four.
///
/// # Errors
/// `22P02`.
pub fn read_uuid(text: &str) -> Result<[u8; 16]> {
    let bad = || {
        Error::new(
            "22P02",
            format!("invalid input syntax for type uuid: \"{text}\""),
        )
    };
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').ok_or_else(bad)?,
        None => text,
    };
    let mut bytes = [0; 16];
    let mut rest = inner.as_bytes();
    for (at, byte) in bytes.iter_mut().enumerate() {
        let [high, low, after @ ..] = rest else {
            return Err(bad());
        };
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(bad);
        *byte = (digit(*high)? * 16 + digit(*low)?) as u8;
        rest = match after {
            [b'-', after @ ..] if at % 2 == 1 && at < 15 => after,
            after => after,
        };
    }
    match rest {
        [] => Ok(bytes),
        _ => Err(bad()),
    }
}

fn shown_uuid(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, cast};
    use super::*;

    #[test]
    fn sizes_and_their_units() {
        for (size, wanted) in [
            (0, "0 bytes"),
            (10239, "10239 bytes"),
            (10240, "10 kB"),
            (-10240, "-10 kB"),
            (123_456_789, "118 MB"),
            (10_485_247, "10239 kB"),
            (10_485_248, "10 MB"),
            (i128::from(i64::MAX), "8192 PB"),
            (i128::from(i64::MIN), "-8192 PB"),
        ] {
            assert_eq!(pretty(size), wanted, "{size}");
        }
        for (text, wanted) in [
            ("1", 1),
            ("1.5 kB", 1536),
            (" -2MB ", -2_097_152),
            ("1e3 bytes", 1000),
            (".5 kb", 512),
            ("1.", 1),
        ] {
            assert_eq!(bytes(text), Ok(wanted), "{text}");
        }
        for text in ["", "x", "1 xb", ".", "-", "1e kb", "1.2.3", "1 AB A"] {
            assert_eq!(bytes(text).unwrap_err().sqlstate, "22023", "{text}");
        }
    }

    #[test]
    fn names_of_types() {
        for (ty, standard, friendly) in [
            (Type::Char(Some(3)), "character", "VARCHAR"),
            (Type::Varchar(Some(3)), "character varying", "VARCHAR"),
            (Type::numeric(5, 2), "numeric", "DECIMAL(5,2)"),
            (Type::Float8, "double precision", "DOUBLE"),
        ] {
            let argument = [(ty, None)];
            assert_eq!(call("pg_typeof", &argument), Ok(Some(standard.to_owned())));
            assert_eq!(call("typeof", &argument), Ok(Some(friendly.to_owned())));
        }
    }

    #[test]
    fn the_session_is_seen() {
        assert_eq!(call("current_user", &[]), Ok(Some("freestone".to_owned())));
        assert_eq!(call("current_schema", &[]), Ok(Some("public".to_owned())));
        assert!(
            call("version", &[])
                .unwrap()
                .unwrap()
                .starts_with("PostgreSQL 15")
        );
    }

    #[test]
    fn uuids() {
        let shown = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        for text in [
            shown,
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
        ] {
            let read = cast((Type::Text, Some(text)), &Type::Uuid);
            assert_eq!(read, Ok(Some(shown.to_owned())), "{text}");
        }
        for text in [
            "",
            "{",
            "a0eebc999c0b4ef8bb6d6bb9bd380a1",
            &format!("{shown}-"),
            "a-",
        ] {
            let error = cast((Type::Text, Some(text)), &Type::Uuid).unwrap_err();
            assert_eq!(error.sqlstate, "22P02", "{text}");
        }
        let (a, b) = (random_uuid().unwrap(), random_uuid().unwrap());
        assert_ne!(a, b);
        assert_eq!((a[6] >> 4, a[8] >> 6), (4, 2));
    }
}
