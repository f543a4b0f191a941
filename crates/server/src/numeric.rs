//! Decimals in PostgreSQL's binary form: digits to the base 10,000.

use bytes::{BufMut, BytesMut};

/// The least digit's place value.
const BASE: u128 = 10_000;
/// Decimal places of a digit.
const PLACES: i32 = 4;
const NEGATIVE: u16 = 0x4000;
/// Signs of what is not finite.
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;
/// The places that PostgreSQL writes of the infinities.
const INFINITE_PLACES: u16 = 32;

/// Writes `value` × 10^-`scale`.
pub(crate) fn write(value: i128, scale: i8, out: &mut Vec<u8>) {
    let shown = i32::from(scale.max(0));
    // As many places as whole digits have.
    let padding = (PLACES - shown % PLACES) % PLACES;
    let mut rest = value.unsigned_abs();
    let mut digits: Vec<u16> = Vec::new();
    if scale < 0 {
        rest = rest.saturating_mul(10_u128.saturating_pow(u32::from(scale.unsigned_abs())));
    }
    // The last digit may not have room to be padded in 128 bits: it goes by itself.
    let first = 10_u128.pow((PLACES - padding) as u32);
    if padding > 0 {
        let digit = rest % first * (BASE / first);
        digits.push(digit as u16);
        rest /= first;
    }
    while rest > 0 {
        digits.push((rest % BASE) as u16);
        rest /= BASE;
    }
    let behind = (shown + padding) / PLACES;
    let weight = digits.len() as i32 - behind - 1;
    digits.reverse();
    while digits.last() == Some(&0) {
        digits.pop();
    }
    let leading = digits.iter().take_while(|digit| **digit == 0).count();
    let (digits, weight) = match leading == digits.len() {
        true => (&[][..], 0),
        false => (&digits[leading..], weight - leading as i32),
    };
    let sign = if value < 0 { NEGATIVE } else { 0 };
    for part in [digits.len() as u16, weight as u16, sign, shown as u16] {
        out.extend_from_slice(&part.to_be_bytes());
    }
    digits
        .iter()
        .for_each(|digit| out.extend_from_slice(&digit.to_be_bytes()));
}

/// Writes a number of its digits, as SQL shows it; what is none is written as NaN.
pub(crate) fn write_text(text: &str, out: &mut BytesMut) {
    match text {
        "Infinity" => return put_head(0, 0, INFINITY, INFINITE_PLACES, out),
        "-Infinity" => return put_head(0, 0, NEGATIVE_INFINITY, INFINITE_PLACES, out),
        _ => {}
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (NEGATIVE, digits),
        None => (0, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = whole.bytes().chain(fraction.bytes());
    if digits.is_empty() || !all.clone().all(|byte| byte.is_ascii_digit()) {
        return put_head(0, 0, NAN, 0, out);
    }
    // Whole digits to the base 10,000 on both sides of the point.
    let places = PLACES as usize;
    let padding = (places - whole.len() % places) % places;
    let mut digits: Vec<u16> = Vec::with_capacity((whole.len() + fraction.len()) / places + 2);
    for (place, byte) in all.enumerate() {
        if (place + padding).is_multiple_of(places) || digits.is_empty() {
            digits.push(0);
        }
        if let Some(last) = digits.last_mut() {
            *last = *last * 10 + u16::from(byte - b'0');
        }
    }
    let missing = (places - fraction.len() % places) % places;
    if let Some(last) = digits.last_mut() {
        *last *= 10_u16.pow(missing as u32);
    }
    let before = (whole.len() + padding) / places;
    let leading = digits.iter().take_while(|digit| **digit == 0).count();
    let trailing = digits.iter().rev().take_while(|digit| **digit == 0).count();
    let shown = fraction.len() as u16;
    if leading == digits.len() {
        return put_head(0, 0, 0, shown, out);
    }
    let digits = &digits[leading..digits.len() - trailing];
    let weight = before as i32 - 1 - leading as i32;
    put_head(digits.len(), weight, sign, shown, out);
    digits.iter().for_each(|digit| out.put_u16(*digit));
}

fn put_head(digits: usize, weight: i32, sign: u16, shown: u16, out: &mut BytesMut) {
    for part in [digits as u16, weight as u16, sign, shown] {
        out.put_u16(part);
    }
}

/// The digits of a number, as SQL writes them; `None` for bytes that are none, and for
/// what is not finite.
pub(crate) fn read(bytes: &[u8]) -> Option<String> {
    let mut parts = bytes
        .chunks(2)
        .map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?)));
    let mut next = || parts.next().flatten();
    let (count, weight, sign, shown) = (next()?, next()? as i16, next()?, next()?);
    let digits: Vec<u16> = (0..count).map(|_| next()).collect::<Option<_>>()?;
    let fits = digits.iter().all(|digit| u128::from(*digit) < BASE);
    // No number here has more places than this.
    let sane = weight.unsigned_abs() < 64 && shown < 128;
    if next().is_some() || !fits || !sane || ![0, NEGATIVE].contains(&sign) {
        return None;
    }
    let digit = |place: i32| -> u16 {
        let place = usize::try_from(i32::from(weight) - place).ok();
        place
            .and_then(|place| digits.get(place))
            .copied()
            .unwrap_or(0)
    };
    let mut text = String::from(if sign == NEGATIVE { "-" } else { "" });
    let whole: String = (0..=i32::from(weight).max(0))
        .rev()
        .map(|place| format!("{:04}", digit(place)))
        .collect();
    let whole = whole.trim_start_matches('0');
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if shown > 0 {
        let behind = (i32::from(shown) + PLACES - 1) / PLACES;
        let fraction: String = (1..=behind)
            .map(|place| format!("{:04}", digit(-place)))
            .collect();
        text.push('.');
        text.push_str(&fraction[..usize::from(shown)]);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(parts: &[u16]) -> Vec<u8> {
        parts.iter().flat_map(|part| part.to_be_bytes()).collect()
    }

    #[test]
    fn numbers_are_as_postgresql_writes_them() {
        let written = |value, scale| {
            let mut out = Vec::new();
            write(value, scale, &mut out);
            out
        };
        assert_eq!(written(0, 2), bytes(&[0, 0, 0, 2]));
        assert_eq!(written(15, 1), bytes(&[2, 0, 0, 1, 1, 5000]));
        assert_eq!(
            written(-123_456_789, 2),
            bytes(&[3, 1, NEGATIVE, 2, 123, 4567, 8900])
        );
        assert_eq!(written(5, 5), bytes(&[1, u16::MAX - 1, 0, 5, 5000]));
        assert_eq!(written(10_000, 0), bytes(&[1, 1, 0, 0, 1]));
        assert_eq!(written(12, -2), bytes(&[1, 0, 0, 0, 1200]));
    }

    #[test]
    fn texts_are_written_as_numbers() {
        let written = |text: &str| {
            let mut out = BytesMut::new();
            write_text(text, &mut out);
            out.to_vec()
        };
        assert_eq!(written("0"), bytes(&[0, 0, 0, 0]));
        assert_eq!(written("-0.000"), bytes(&[0, 0, 0, 3]));
        assert_eq!(written("1.5"), bytes(&[2, 0, 0, 1, 1, 5000]));
        let expected = bytes(&[3, 1, NEGATIVE, 2, 123, 4567, 8900]);
        assert_eq!(written("-1234567.89"), expected);
        assert_eq!(written("0.00005"), bytes(&[1, u16::MAX - 1, 0, 5, 5000]));
        assert_eq!(written("10000"), bytes(&[1, 1, 0, 0, 1]));
        let expected = bytes(&[2, 0, 0, 16, 25, 5000]);
        assert_eq!(written("25.5000000000000000"), expected);
        assert_eq!(written("NaN"), bytes(&[0, 0, 0xC000, 0]));
        assert_eq!(written("Infinity"), bytes(&[0, 0, 0xD000, 32]));
        assert_eq!(written("-Infinity"), bytes(&[0, 0, 0xF000, 32]));
        for text in [
            "1",
            "-12.340",
            "99999999",
            "0.1",
            "100000000000000000000.00001",
        ] {
            assert_eq!(read(&written(text)).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for (value, scale, text) in [
            (0, 0, "0"),
            (-1, 3, "-0.001"),
            (120_000, 4, "12.0000"),
            (i128::MAX, 38, "1.70141183460469231731687303715884105727"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
            (99_999_999, 0, "99999999"),
        ] {
            let mut out = Vec::new();
            write(value, scale, &mut out);
            assert_eq!(read(&out).as_deref(), Some(text));
        }
        for wrong in [
            &[][..],
            &[0],
            &bytes(&[1, 0, 0, 0]),
            &bytes(&[1, 0, 0, 0, 10_000]),
        ] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        assert_eq!(read(&bytes(&[0, 0, 0xC000, 0])), None, "NaN");
        assert_eq!(read(&bytes(&[0, 0x7fff, 0, 0])), None);
    }
}
