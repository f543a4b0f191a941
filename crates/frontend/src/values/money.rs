//! Amounts of money: hundredths in 64 bits, read and written as in the locale `C`.
//!
//! ```text
//! $1,234.50    -$0.05    read also from 1234.5, ($1,234.50), 1234.50- and their like
//! ```
//!
//! They are held in eight bytes that have their order.

use crate::error::{Error, Result};

/// Hundredths of one unit.
const UNIT: u64 = 100;
/// The bit that tells negative numbers.
const SIGN: u64 = 1 << 63;

/// The bytes that hold an amount.
pub fn encode(hundredths: i64) -> Vec<u8> {
    ((hundredths as u64) ^ SIGN).to_be_bytes().to_vec()
}

/// The amount that bytes hold, in hundredths.
pub fn decode(bytes: &[u8]) -> i64 {
    let bytes = <[u8; 8]>::try_from(bytes).unwrap_or(SIGN.to_be_bytes());
    (u64::from_be_bytes(bytes) ^ SIGN) as i64
}

/// `22003` for results of arithmetic.
pub fn out_of_range() -> Error {
    Error::new("22003", "money out of range")
}

/// Reads an amount, in hundredths. Digits behind the second of the fraction round it; commas
/// are passed over; a parenthesis or a sign in front, or a minus behind, make it negative.
///
/// # Errors
/// `22P02` for a text that is none, `22003` for one that is too large.
pub fn read(text: &str) -> Result<i64> {
    let invalid = || {
        let message = format!("invalid input syntax for type money: \"{text}\"");
        Error::new("22P02", message)
    };
    let too_large = || {
        let message = format!("value \"{text}\" is out of range for type money");
        Error::new("22003", message)
    };
    let blanks = |text: &'_ str| {
        let is_blank = |c: char| c.is_ascii_whitespace() || c == '\x0b';
        text.len() - text.trim_start_matches(is_blank).len()
    };
    let mut rest = text;
    let symbol = |rest: &mut &str| {
        *rest = &rest[blanks(rest)..];
        *rest = rest.strip_prefix('$').unwrap_or(rest);
        *rest = &rest[blanks(rest)..];
    };
    symbol(&mut rest);
    let mut negative = rest.starts_with(['-', '(']);
    rest = rest.strip_prefix(['-', '(', '+']).unwrap_or(rest);
    symbol(&mut rest);
    // The least number has no counterpart, so that the amount is summed up below zero.
    let mut value: i64 = 0;
    let mut decimals = None;
    let mut bytes = rest.bytes();
    let last = loop {
        match (bytes.next(), decimals) {
            (Some(digit @ b'0'..=b'9'), None | Some(0 | 1)) => {
                let wider = value.checked_mul(10);
                let wider = wider.and_then(|value| value.checked_sub((digit - b'0').into()));
                value = wider.ok_or_else(too_large)?;
                decimals = decimals.map(|count: u32| count + 1);
            }
            (Some(b'.'), None) => decimals = Some(0),
            (Some(b','), _) => {}
            (other, _) => break other,
        }
    };
    for _ in decimals.unwrap_or(0)..2 {
        value = value.checked_mul(10).ok_or_else(too_large)?;
    }
    if let Some(b'5'..=b'9') = last {
        value = value.checked_sub(1).ok_or_else(too_large)?;
    }
    let mut behind = last.into_iter().chain(bytes).peekable();
    while behind.next_if(u8::is_ascii_digit).is_some() {}
    for byte in behind {
        match byte {
            b')' | b'+' | b'$' | b'\x0b' => {}
            b'-' => negative = true,
            byte if byte.is_ascii_whitespace() => {}
            _ => return Err(invalid()),
        }
    }
    match negative {
        true => Ok(value),
        false => value.checked_neg().ok_or_else(too_large),
    }
}

/// An amount as it is written.
pub fn shown(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, part) = (
        hundredths.unsigned_abs() / UNIT,
        hundredths.unsigned_abs() % UNIT,
    );
    let digits = whole.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}${grouped}.{part:02}")
}

/// An amount in English words.
pub fn words(hundredths: i64) -> String {
    let amount = hundredths.unsigned_abs();
    let whole = amount / UNIT;
    let mut words = String::new();
    if hundredths < 0 {
        words.push_str("minus ");
    }
    let mut any = false;
    for (power, name) in [
        (5, "quadrillion"),
        (4, "trillion"),
        (3, "billion"),
        (2, "million"),
        (1, "thousand"),
    ] {
        let part = whole / 1000u64.pow(power) % 1000;
        if part > 0 {
            words.push_str(&format!("{} {name} ", below_thousand(part)));
            any = true;
        }
    }
    match whole % 1000 {
        0 if any => {}
        part => words.push_str(&below_thousand(part)),
    }
    let (dollars, cents) = (whole, amount % UNIT);
    words.push_str(if dollars == 1 {
        " dollar and "
    } else {
        " dollars and "
    });
    words.push_str(&below_thousand(cents));
    words.push_str(if cents == 1 { " cent" } else { " cents" });
    // Words are ASCII.
    words[..1].make_ascii_uppercase();
    words
}

/// A number below thousand in words, as PostgreSQL puts them.
fn below_thousand(number: u64) -> String {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] = [
        "", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    let small = |number: u64| SMALL[number as usize % SMALL.len()];
    let tens = |number: u64| TENS[number as usize % TENS.len()];
    let (hundreds, rest) = (number / 100, number % 100);
    let below = match (rest / 10, rest % 10) {
        (0 | 1, _) => small(rest).to_owned(),
        (ten, 0) => tens(ten).to_owned(),
        (ten, one) => format!("{} {}", tens(ten), small(one)),
    };
    match (hundreds, rest) {
        (0, _) => below,
        (_, 0) => format!("{} hundred", small(hundreds)),
        (_, 1..20) => format!("{} hundred and {below}", small(hundreds)),
        _ => format!("{} hundred {below}", small(hundreds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_order_of_amounts() {
        let amounts = [i64::MIN, -100, -1, 0, 1, 255, 256, i64::MAX];
        let held = amounts.map(encode);
        assert!(held.is_sorted());
        assert_eq!(held.map(|bytes| decode(&bytes)), amounts);
    }

    #[test]
    fn texts_are_read_and_written() {
        for (text, amount) in [
            ("$1,234.567", "$1,234.57"),
            (" ( $ 12.344 ) ", "-$12.34"),
            ("1.2,3", "$1.23"),
            ("5-", "-$5.00"),
            ("$+.5 ", "$0.50"),
            ("", "$0.00"),
            ("-.005", "-$0.01"),
            ("-92233720368547758.08", "-$92,233,720,368,547,758.08"),
            ("92233720368547758.074", "$92,233,720,368,547,758.07"),
        ] {
            assert_eq!(read(text).map(shown).as_deref(), Ok(amount), "{text}");
        }
        for (text, code) in [
            ("--1", "22P02"),
            ("12 3", "22P02"),
            ("1.2.3", "22P02"),
            ("1e3", "22P02"),
            ("92233720368547758.075", "22003"),
            ("92233720368547758.08", "22003"),
            ("99999999999999999999", "22003"),
        ] {
            assert_eq!(read(text).unwrap_err().sqlstate, code, "{text}");
        }
    }

    #[test]
    fn amounts_have_words() {
        for (amount, expected) in [
            (0, "Zero dollars and zero cents"),
            (101, "One dollar and one cent"),
            (11_010, "One hundred and ten dollars and ten cents"),
            (
                -12_032,
                "Minus one hundred twenty dollars and thirty two cents",
            ),
            (100_000_000, "One million  dollars and zero cents"),
        ] {
            assert_eq!(words(amount), expected);
        }
    }
}
