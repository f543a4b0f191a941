//! Bit strings: functions, operators, aggregates and casts of BIT and BIT VARYING.
//!
//! Values are held as texts of zeros and ones: the order of such texts is that of bit strings,
//! and equal texts are equal bit strings. Bits are counted from 1 by `substring` and its kin, and
//! from 0, the leftmost first, by `get_bit`.
//!
//! ```text
//! '101'::bit(5)                          10100: cut or filled up on the right
//! 44::bit(10)                            0000101100: the lowest bits of the number
//! insert into t (b5) values (B'101')     22026 bit string length 3 does not match type bit(5)
//! ```

use std::borrow::Cow;

use super::aggregates::{fold, plain};
use super::kernel::{I32, I64, Str, f1, f2, f3, f4, w1};
use super::strings::{allowed, count, places};
use super::{Catalogue, Context, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Int4, Int8};
    let (bit, varbit) = (Type::Bit(None), Type::VarBit(None));
    casts(c);
    operators(c);
    for (name, eight) in [("length", 1), ("bit_length", 1), ("octet_length", 8)] {
        let kernel = f1::<Str, I32>(move |bits| count(bits.len().div_ceil(eight)));
        c.add(scalar(name, std::slice::from_ref(&bit), Int4, kernel));
    }
    let kernel = f1::<Str, I64>(|bits| Ok(bits.bytes().filter(|bit| *bit == b'1').count() as i64));
    c.add(scalar(
        "bit_count",
        std::slice::from_ref(&bit),
        Int8,
        kernel,
    ));
    let kernel = f2::<Str, I32, I32>(|bits, at| {
        let at = place(bits, at)?;
        Ok(i32::from(bits.as_bytes().get(at) == Some(&b'1')))
    });
    c.add(scalar("get_bit", &[bit.clone(), Int4], Int4, kernel));
    let kernel = f3::<Str, I32, I32, Str>(|bits, at, new| {
        let at = place(bits, at)?;
        let new = match new {
            0 => "0",
            1 => "1",
            _ => return Err(Error::new("22023", "new bit must be 0 or 1")),
        };
        let mut bits = bits.to_owned();
        bits.replace_range(at..=at, new);
        Ok(bits)
    });
    c.add(scalar(
        "set_bit",
        &[bit.clone(), Int4, Int4],
        bit.clone(),
        kernel,
    ));
    let kernel = f2::<Str, I32, Str>(|bits, from| Ok(part(bits, from, None)?.to_owned()));
    c.add(scalar(
        "substring",
        &[bit.clone(), Int4],
        bit.clone(),
        kernel,
    ));
    let kernel = f3::<Str, I32, I32, Str>(|bits, from, length| {
        Ok(part(bits, from, Some(length))?.to_owned())
    });
    c.add(scalar(
        "substring",
        &[bit.clone(), Int4, Int4],
        bit.clone(),
        kernel,
    ));
    let kernel = f2::<Str, Str, I32>(|bits, part| match bits.find(part) {
        Some(at) if !bits.is_empty() => count(at + 1),
        _ => Ok(0),
    });
    c.add(scalar(
        "position",
        &[bit.clone(), bit.clone()],
        Int4,
        kernel,
    ));
    let kernel =
        f3::<Str, Str, I32, Str>(|bits, new, from| overlay(bits, new, from, count(new.len())?));
    let overlaid = [bit.clone(), bit.clone(), Int4, Int4];
    c.add(scalar("overlay", &overlaid[..3], bit.clone(), kernel));
    let kernel = f4::<Str, Str, I32, I32, Str>(overlay);
    c.add(scalar("overlay", &overlaid, bit.clone(), kernel));
    for (name, ty) in [("bit_send", &bit), ("varbit_send", &varbit)] {
        let kernel = f1::<Str, super::kernel::Bytes>(|bits| Ok(sent(bits)));
        c.add(scalar(name, std::slice::from_ref(ty), Type::Bytea, kernel));
    }
    for (name, state) in [
        ("bit_and", fold::<All<'&'>>()),
        ("bit_or", fold::<All<'|'>>()),
        ("bit_xor", fold::<All<'#'>>()),
    ] {
        c.add_aggregate(plain(name, std::slice::from_ref(&bit), bit.clone(), state));
    }
}

fn casts(c: &mut Catalogue) {
    use Context::{Assignment, Explicit, Implicit};
    let (bit, varbit) = (Type::Bit(None), Type::VarBit(None));
    for ty in [&bit, &varbit] {
        let kernel = w1::<Str, Str>(|call, text| Ok(fitted(call.returns, read(text)?)));
        c.cast(Type::Text, ty.clone(), Explicit, kernel);
        c.relabel(ty.clone(), Type::Text, Assignment);
        for to in [&bit, &varbit] {
            let kernel = w1::<Str, Str>(|call, bits| Ok(fitted(call.returns, bits.into())));
            c.cast(ty.clone(), to.clone(), Implicit, kernel);
        }
    }
    let kernel = w1::<I32, Str>(|call, number| of_number(number.into(), call.returns));
    c.cast(Type::Int4, bit.clone(), Explicit, kernel);
    let kernel = w1::<I64, Str>(|call, number| of_number(number, call.returns));
    c.cast(Type::Int8, bit.clone(), Explicit, kernel);
    let kernel = f1::<Str, I32>(|bits| match bits.len() {
        ..=32 => Ok(number(bits) as u32 as i32),
        _ => Err(Error::new("22003", "integer out of range")),
    });
    c.cast(bit.clone(), Type::Int4, Explicit, kernel);
    let kernel = f1::<Str, I64>(|bits| match bits.len() {
        ..=64 => Ok(number(bits) as i64),
        _ => Err(Error::new("22003", "bigint out of range")),
    });
    c.cast(bit, Type::Int8, Explicit, kernel);
}

fn operators(c: &mut Catalogue) {
    let (bit, varbit) = (Type::Bit(None), Type::VarBit(None));
    let pair = [bit.clone(), bit.clone()];
    for symbol in ["&", "|", "#"] {
        let kernel = f2::<Str, Str, Str>(move |a, b| joined(symbol, a, b));
        c.operator(symbol, &pair, bit.clone(), kernel);
    }
    let kernel = f1::<Str, Str>(|bits| {
        let other = |bit| if bit == '1' { '0' } else { '1' };
        Ok(bits.chars().map(other).collect())
    });
    c.operator("~", std::slice::from_ref(&bit), bit.clone(), kernel);
    for (symbol, left) in [("<<", true), (">>", false)] {
        let kernel = f2::<Str, I32, Str>(move |bits, by| Ok(shifted(bits, by, left)));
        c.operator(symbol, &[bit.clone(), Type::Int4], bit.clone(), kernel);
    }
    let kernel = f2::<Str, Str, Str>(|a, b| {
        allowed(a.len().checked_add(b.len()))?;
        Ok(format!("{a}{b}"))
    });
    c.operator("||", &[varbit.clone(), varbit.clone()], varbit, kernel);
}

/// The zeros and ones that a text stands for: `101`, `b101` or `x1F`.
///
/// # Errors
/// `22P02` for other digits.
fn read(text: &str) -> Result<Cow<'_, str>> {
    let digits = match text.as_bytes().first() {
        Some(b'x' | b'X') => return of_hex(&text[1..]).map(Cow::Owned),
        Some(b'b' | b'B') => &text[1..],
        _ => text,
    };
    match digits.chars().find(|digit| !matches!(digit, '0' | '1')) {
        Some(wrong) => {
            let message = format!("\"{wrong}\" is not a valid binary digit");
            Err(Error::new("22P02", message))
        }
        None => Ok(Cow::Borrowed(digits)),
    }
}

/// The zeros and ones of hexadecimal digits.
///
/// # Errors
/// `22P02` for other digits, `54000` for too many.
pub fn of_hex(digits: &str) -> Result<String> {
    allowed(digits.len().checked_mul(4))?;
    let mut bits = String::with_capacity(digits.len() * 4);
    for digit in digits.chars() {
        let value = digit.to_digit(16).ok_or_else(|| {
            let message = format!("\"{digit}\" is not a valid hexadecimal digit");
            Error::new("22P02", message)
        })?;
        bits.push_str(&format!("{value:04b}"));
    }
    Ok(bits)
}

/// Bits as a value of a type: a BIT is cut or filled up on the right, a BIT VARYING cut.
fn fitted(ty: &Type, bits: Cow<'_, str>) -> String {
    let (Type::Bit(Some(length)) | Type::VarBit(Some(length))) = ty else {
        return bits.into_owned();
    };
    let length = *length as usize;
    let mut bits = bits.into_owned();
    bits.truncate(length);
    if let Type::Bit(_) = ty {
        bits.extend(std::iter::repeat_n('0', length - bits.len()));
    }
    bits
}

/// Checks that bits are a value of the type of a column into which they are stored.
///
/// # Errors
/// `22026` for a BIT of another length, `22001` for a BIT VARYING that is too long.
pub fn check_length(ty: &Type, bits: &str) -> Result<()> {
    let length = bits.len();
    match ty {
        Type::Bit(Some(wanted)) if length != *wanted as usize => {
            let message = format!("bit string length {length} does not match type {ty}");
            Err(Error::new("22026", message))
        }
        Type::VarBit(Some(most)) if length > *most as usize => {
            let message = format!("bit string too long for type {ty}");
            Err(Error::new("22001", message))
        }
        _ => Ok(()),
    }
}

/// The lowest bits of a number, its sign before them if there are more.
fn of_number(number: i64, ty: &Type) -> Result<String> {
    let length = match ty {
        Type::Bit(Some(length)) => *length as usize,
        _ => 1,
    };
    allowed(Some(length))?;
    let bits = format!("{number:064b}");
    Ok(match length.checked_sub(bits.len()) {
        Some(more) => {
            let sign = if number < 0 { "1" } else { "0" };
            format!("{}{bits}", sign.repeat(more))
        }
        None => bits[bits.len() - length..].to_owned(),
    })
}

/// The number that at most 64 bits are.
fn number(bits: &str) -> u64 {
    bits.bytes()
        .fold(0, |number, bit| number << 1 | u64::from(bit == b'1'))
}

/// Two bit strings of one length, bit by bit.
fn joined(symbol: &str, a: &str, b: &str) -> Result<String> {
    let (name, of): (_, fn(bool, bool) -> bool) = match symbol {
        "&" => ("AND", |a, b| a && b),
        "|" => ("OR", |a, b| a || b),
        _ => ("XOR", |a, b| a != b),
    };
    if a.len() != b.len() {
        let message = format!("cannot {name} bit strings of different sizes");
        return Err(Error::new("22026", message));
    }
    let pairs = a.bytes().zip(b.bytes());
    let bits = pairs.map(|(a, b)| if of(a == b'1', b == b'1') { '1' } else { '0' });
    Ok(bits.collect())
}

/// Bits moved to the left, or the other way for a negative number.
fn shifted(bits: &str, by: i32, left: bool) -> String {
    let (left, by) = (left == (by >= 0), by.unsigned_abs() as usize);
    let by = by.min(bits.len());
    let zeros = "0".repeat(by);
    match left {
        true => format!("{}{zeros}", &bits[by..]),
        false => format!("{zeros}{}", &bits[..bits.len() - by]),
    }
}

/// A place, from 0, among bits.
fn place(bits: &str, at: i32) -> Result<usize> {
    let within = usize::try_from(at).ok().filter(|at| *at < bits.len());
    within.ok_or_else(|| {
        let last = bits.len() as i64 - 1;
        let message = format!("bit index {at} out of valid range (0..{last})");
        Error::new("2202E", message)
    })
}

fn part(bits: &str, from: i32, length: Option<i32>) -> Result<&str> {
    let places = places(from, length)?;
    let start = places.start.min(bits.len());
    Ok(&bits[start..places.end.clamp(start, bits.len())])
}

fn overlay(bits: &str, new: &str, from: i32, length: i32) -> Result<String> {
    if from <= 0 {
        return Err(Error::new("22011", "negative substring length not allowed"));
    }
    let rest = from.checked_add(length);
    let rest = rest.ok_or_else(|| Error::new("22003", "integer out of range"))?;
    let before = part(bits, 1, Some(from - 1))?;
    let after = part(bits, rest, None)?;
    allowed(Some(before.len() + new.len() + after.len()))?;
    Ok([before, new, after].concat())
}

/// Bits in the binary form of the protocol: how many there are, then eight in each byte.
fn sent(bits: &str) -> Vec<u8> {
    let mut bytes = (bits.len() as i32).to_be_bytes().to_vec();
    for eight in bits.as_bytes().chunks(8) {
        let ones = eight.iter().enumerate().filter(|(_, bit)| **bit == b'1');
        bytes.push(ones.fold(0, |byte, (at, _)| byte | 0x80 >> at));
    }
    bytes
}

/// `bit_and`, `bit_or` and `bit_xor` of bit strings.
#[derive(Default)]
struct All<const OP: char>(Option<String>);

impl<const OP: char> super::aggregates::Fold for All<OP> {
    type In = Str;
    type Out = Str;

    fn step(&mut self, bits: &str) -> Result<()> {
        self.0 = Some(match self.0.take() {
            Some(known) => joined(OP.encode_utf8(&mut [0; 4]), &known, bits)?,
            None => bits.to_owned(),
        });
        Ok(())
    }

    fn finish(&self) -> Result<Option<String>> {
        Ok(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, cast, operate};
    use super::*;

    fn bits(text: &str) -> (Type, Option<&str>) {
        (Type::Bit(None), Some(text))
    }

    #[test]
    fn casts_cut_and_fill_and_assignment_refuses() {
        for (from, text, to, wanted) in [
            (Type::Text, "101", Type::Bit(Some(5)), "10100"),
            (Type::Text, "b101", Type::Bit(Some(2)), "10"),
            (Type::Text, "X1f", Type::VarBit(None), "00011111"),
            (Type::Bit(None), "10111", Type::VarBit(Some(3)), "101"),
            (Type::VarBit(None), "1", Type::VarBit(Some(3)), "1"),
            (Type::Int4, "44", Type::Bit(Some(10)), "0000101100"),
            (Type::Int4, "44", Type::Bit(Some(3)), "100"),
            (Type::Int4, "-1", Type::Bit(Some(66)), &"1".repeat(66)),
            (Type::Bit(None), "1110", Type::Int4, "14"),
            (Type::Bit(None), &"1".repeat(32), Type::Int4, "-1"),
            (Type::Bit(None), &"1".repeat(64), Type::Int8, "-1"),
        ] {
            let found = cast((from, Some(text)), &to);
            assert_eq!(found, Ok(Some(wanted.to_owned())), "{text} as {to}");
        }
        for (ty, bits, sqlstate, message) in [
            (
                Type::Bit(Some(4)),
                "101",
                "22026",
                "bit string length 3 does not match type bit(4)",
            ),
            (
                Type::VarBit(Some(2)),
                "101",
                "22001",
                "bit string too long for type bit varying(2)",
            ),
        ] {
            let error = check_length(&ty, bits).unwrap_err();
            assert_eq!(
                (error.sqlstate, error.message.as_str()),
                (sqlstate, message)
            );
        }
        assert!(check_length(&Type::VarBit(Some(3)), "101").is_ok());
        assert!(check_length(&Type::Bit(None), "101").is_ok());
        let error = cast((Type::Text, Some("102")), &Type::Bit(None)).unwrap_err();
        assert_eq!(error.message, "\"2\" is not a valid binary digit");
        let error = cast(bits(&"0".repeat(33)), &Type::Int4).unwrap_err();
        assert_eq!(error.sqlstate, "22003");
    }

    #[test]
    fn operators_work_bit_by_bit() {
        for (symbol, operands, wanted) in [
            ("&", [bits("1100"), bits("1010")], "1000"),
            ("|", [bits("1100"), bits("1010")], "1110"),
            ("#", [bits("1100"), bits("1010")], "0110"),
            ("||", [bits("11"), bits("0")], "110"),
            ("<<", [bits("10001"), (Type::Int4, Some("3"))], "01000"),
            (">>", [bits("10001"), (Type::Int4, Some("2"))], "00100"),
            (
                "<<",
                [bits("10001"), (Type::Int4, Some("-2147483648"))],
                "00000",
            ),
            ("<", [bits("1"), bits("10")], "true"),
            ("<", [bits("01"), bits("1")], "true"),
        ] {
            let found = operate(symbol, &operands);
            assert_eq!(found, Ok(Some(wanted.to_owned())), "{operands:?} {symbol}");
        }
        assert_eq!(operate("~", &[bits("10")]), Ok(Some("01".to_owned())));
        let error = operate("&", &[bits("1"), bits("11")]).unwrap_err();
        assert_eq!(error.message, "cannot AND bit strings of different sizes");
    }

    #[test]
    fn functions_count_from_the_left() {
        let int = |text| (Type::Int4, Some(text));
        for (name, arguments, wanted) in [
            ("substring", vec![bits("10110"), int("2"), int("3")], "011"),
            ("substring", vec![bits("10110"), int("0"), int("2")], "1"),
            (
                "overlay",
                vec![bits("0101011100"), bits("001"), int("2"), int("3")],
                "0001011100",
            ),
            ("position", vec![bits("1011011"), bits("011")], "2"),
            ("position", vec![bits(""), bits("")], "0"),
            ("position", vec![bits("1"), bits("")], "1"),
            ("get_bit", vec![bits("10"), int("0")], "1"),
            ("set_bit", vec![bits("10"), int("1"), int("1")], "11"),
            ("octet_length", vec![bits("101010101")], "2"),
            ("bit_count", vec![bits("101")], "2"),
            ("bit_send", vec![bits("101")], "\\x00000003a0"),
        ] {
            let found = call(name, &arguments);
            assert_eq!(found, Ok(Some(wanted.to_owned())), "{name}{arguments:?}");
        }
        let error = call("get_bit", &[bits("10"), int("2")]).unwrap_err();
        assert_eq!(error.message, "bit index 2 out of valid range (0..1)");
    }
}
