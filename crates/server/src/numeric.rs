//! Decimals in PostgreSQL's binary form: digits to the base 10,000.

/// The least digit's place value.
const BASE: u128 = 10_000;
/// Decimal places of a digit.
const PLACES: i32 = 4;
const NEGATIVE: u16 = 0x4000;

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
