//! `to_char` of numbers and `to_number`.
//!
//! ```text
//! to_char(-1234.5, '9,999.99')   → "-1,234.50"
//! to_char(12, 'FM000')           → "012"
//! to_char(485, 'RN')             → "        CDLXXXV"
//! to_number('1,234.5-', '9,999.9S') = -1234.5
//! ```
//!
//! `to_char` first writes the number with as many digits behind the point as the picture has,
//! and then walks along the picture, a pattern for a digit taking a digit of the number each;
//! places before the first digit are blanks or zeros. A number that has more digits before the
//! point than the picture is shown as `#`. Decimal point and separator are those of the C
//! locale.

use super::picture::{Pattern, Picture, Piece, Place};
use crate::error::{Error, Result};
use crate::functions::kernel::{F32, F64, I32, I64, Num, Opt, Str, f2};
use crate::functions::numeric::out_of_range;
use crate::functions::{Catalogue, scalar};
use crate::types::Type;
use crate::values::Numeric;

/// A number as text without its sign, and its sign.
struct Shown {
    digits: String,
    negative: bool,
}

impl Shown {
    fn of(text: &str) -> Self {
        Self {
            digits: text.trim_start_matches('-').to_owned(),
            negative: text.starts_with('-'),
        }
    }
}

/// Text of a number that does not fit in scientific notation.
fn no_scientific(picture: &Picture) -> String {
    let length = picture.whole + picture.fraction + 6;
    let mark = |at: usize| match at {
        0 => ' ',
        _ if at == picture.whole + 1 => '.',
        _ => '#',
    };
    (0..length).map(mark).collect()
}

/// C's `%e` with a blank in the place of a plus.
fn scientific_double(value: f64, picture: &Picture) -> String {
    if !value.is_finite() {
        return no_scientific(picture);
    }
    // A double has no more digits than these.
    const MOST: usize = 1100;
    let text = format!("{value:.*e}", picture.fraction.min(MOST));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let zeros = "0".repeat(picture.fraction.saturating_sub(MOST));
    scientific(&format!("{mantissa}{zeros}"), exponent.parse().unwrap_or(0))
}

fn scientific(mantissa: &str, exponent: i64) -> String {
    let blank = if mantissa.starts_with('-') { "" } else { " " };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{blank}{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// Scientific notation of a NUMERIC.
fn scientific_numeric(value: &Numeric, picture: &Picture) -> Result<String> {
    if !value.is_finite() {
        return Ok(no_scientific(picture));
    }
    let exponent = value.lead().unwrap_or(0);
    // Dividing by a power of ten moves the point only.
    let text = value
        .moved(-exponent)?
        .round(picture.fraction as i32)?
        .to_string();
    Ok(scientific(&text, exponent))
}

/// A Roman number of 1 to 3999.
fn roman(value: Option<i64>) -> String {
    const PARTS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let Some(mut left) = value.filter(|value| (1..4000).contains(value)) else {
        return "#".repeat(15);
    };
    let mut text = String::new();
    for (part, letters) in PARTS {
        while left >= part {
            text.push_str(letters);
            left -= part;
        }
    }
    text
}

/// The suffix of an ordinal.
fn ordinal(number: &str) -> Result<&'static str> {
    let bytes = number.as_bytes();
    let last = bytes.last().copied().unwrap_or(0);
    if !last.is_ascii_digit() {
        return Err(Error::new("22P02", format!("\"{number}\" is not a number")));
    }
    let teen = bytes.len() > 1 && bytes[bytes.len() - 2] == b'1';
    Ok(match last {
        b'1' if !teen => "st",
        b'2' if !teen => "nd",
        b'3' if !teen => "rd",
        _ => "th",
    })
}

/// Writes a number along a picture.
struct Writer<'a> {
    picture: Picture,
    number: &'a [u8],
    /// `+`, `-`, or 0 for Roman numbers.
    sign: u8,
    /// The place in the number.
    at: usize,
    /// Patterns of digits that the number is shorter by.
    blanks: usize,
    /// Patterns of digits so far.
    current: usize,
    /// Patterns of digits in all, by which the last one is known.
    count: usize,
    /// The last digit that is shown; with FM zeros behind it are not.
    last: Option<usize>,
    sign_done: bool,
    in_number: bool,
    out: Vec<u8>,
    /// A character that ends a text in C was written, so that nothing follows.
    ended: bool,
}

impl<'a> Writer<'a> {
    fn new(mut picture: Picture, shown: &'a str, sign: u8, blanks: usize) -> Self {
        if picture.is_roman {
            let pieces = std::mem::take(&mut picture.pieces);
            let is_filled = picture.is_filled;
            picture = Picture {
                pieces,
                is_filled,
                is_roman: true,
                ..Picture::default()
            };
        }
        let sign_done = match picture.has_plus || picture.has_minus {
            true => picture.has_minus,
            false => {
                if sign != b'-' && picture.is_filled {
                    picture.has_brackets = false;
                }
                if picture.sign == Place::Before && picture.whole == picture.before_sign {
                    picture.sign = Place::Behind;
                }
                sign == b'+' && picture.is_filled && !picture.has_sign
            }
        };
        let number = shown.as_bytes();
        let mut last = None;
        if picture.is_filled && picture.has_point {
            last = last_shown(number);
            if picture.last_zero > blanks {
                let zero = (picture.last_zero - blanks).min(number.len().saturating_sub(1));
                last = last.map(|last| last.max(zero));
            }
        }
        let mut count = picture.fraction + picture.whole;
        if !sign_done && blanks == 0 {
            count += 1;
        }
        Self {
            picture,
            number,
            sign,
            at: 0,
            blanks,
            current: 0,
            count,
            last,
            sign_done,
            in_number: false,
            out: Vec::new(),
            ended: false,
        }
    }

    fn put(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.put_byte(byte));
    }

    fn put_byte(&mut self, byte: u8) {
        self.ended |= byte == 0;
        if !self.ended {
            self.out.push(byte);
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.number.get(at).copied().unwrap_or(0)
    }

    /// Whether the number's first digit is the zero of a number below 1, which is not shown.
    fn hides_zero(&self) -> bool {
        !self.picture.has_zero && self.at == 0 && self.byte(0) == b'0' && self.picture.fraction != 0
    }

    /// Whether nothing is shown behind the point.
    fn ends_at_point(&self) -> bool {
        self.last.is_some_and(|last| self.byte(last) == b'.')
    }

    fn write(mut self) -> Result<String> {
        let pieces = std::mem::take(&mut self.picture.pieces);
        for piece in pieces {
            match piece {
                Piece::Pattern(pattern) => self.pattern(pattern)?,
                Piece::Literal(c) => self.put(c.encode_utf8(&mut [0; 4])),
            }
        }
        Ok(String::from_utf8_lossy(&self.out).into_owned())
    }

    fn pattern(&mut self, pattern: Pattern) -> Result<()> {
        let filled = self.picture.is_filled;
        match pattern {
            Pattern::Nine | Pattern::Zero | Pattern::Point | Pattern::LocalePoint => {
                self.digit(pattern);
            }
            Pattern::Comma | Pattern::Group if self.in_number => self.put(","),
            Pattern::Comma | Pattern::Group if !filled => self.put(" "),
            Pattern::Currency => self.put(" "),
            Pattern::Roman { upper } => {
                let text = String::from_utf8_lossy(self.number).into_owned();
                let text = if upper {
                    text
                } else {
                    text.to_ascii_lowercase()
                };
                match filled {
                    true => self.put(&text),
                    false => self.put(&format!("{text:>15}")),
                }
            }
            Pattern::Ordinal { upper } => {
                let none = self.picture.is_roman
                    || self.byte(0) == b'#'
                    || self.sign == b'-'
                    || self.picture.has_point;
                if !none {
                    let suffix = ordinal(&String::from_utf8_lossy(self.number))?;
                    match upper {
                        true => self.put(&suffix.to_ascii_uppercase()),
                        false => self.put(suffix),
                    }
                }
            }
            Pattern::Minus if self.sign == b'-' => self.put("-"),
            Pattern::Plus if self.sign == b'+' => self.put("+"),
            Pattern::Minus | Pattern::Plus if !filled => self.put(" "),
            Pattern::AnySign => self.put_byte(self.sign),
            _ => {}
        }
        Ok(())
    }

    /// The sign next to the number, if its first digit comes now.
    fn sign_before(&mut self) {
        let begins = self.current >= self.blanks
            || self.picture.has_zero && self.picture.first_zero == self.current;
        if self.sign_done || !begins || self.hides_zero() && !self.ends_at_point() {
            return;
        }
        let negative = self.sign == b'-';
        if self.picture.has_sign {
            if self.picture.sign == Place::Before {
                self.put(if negative { "-" } else { "+" });
                self.sign_done = true;
            }
        } else if self.picture.has_brackets {
            self.put(if self.sign == b'+' { " " } else { "<" });
            self.sign_done = true;
        } else if self.sign == b'+' {
            if !self.picture.is_filled {
                self.put(" ");
            }
            self.sign_done = true;
        } else if negative {
            self.put("-");
            self.sign_done = true;
        }
    }

    /// A pattern for a digit or the point.
    fn digit(&mut self, pattern: Pattern) {
        if self.picture.is_roman {
            return;
        }
        self.in_number = false;
        self.sign_before();
        let zeros = self.picture.has_zero && self.picture.first_zero <= self.current;
        if self.current < self.blanks {
            match zeros {
                true => {
                    self.put("0");
                    self.in_number = true;
                }
                false if !self.picture.is_filled => self.put(" "),
                false => {}
            }
        } else {
            self.digit_of_number(pattern);
            if self.at < self.number.len() {
                self.at += 1;
            }
        }
        let mut end =
            self.count + usize::from(self.blanks > 0) + usize::from(self.picture.has_point);
        if self.last == Some(self.at) {
            end = self.current + 1;
        }
        if self.current + 2 == end {
            self.sign_behind();
        }
        self.current += 1;
    }

    fn digit_of_number(&mut self, pattern: Pattern) {
        let byte = self.byte(self.at);
        if byte == b'.' {
            // With FM a point is shown even with nothing behind it.
            if !self.ends_at_point() || self.picture.is_filled {
                self.put(".");
            }
        } else if self.last.is_some_and(|last| self.at > last) && pattern != Pattern::Zero {
            // A zero at the end.
        } else if self.hides_zero() {
            if !self.picture.is_filled {
                self.put(" ");
            } else if self.ends_at_point() {
                self.put("0");
            }
        } else {
            self.put_byte(byte);
            self.in_number = true;
        }
    }

    /// The sign or the bracket behind the last digit.
    fn sign_behind(&mut self) {
        if self.sign_done && self.picture.has_brackets {
            self.put(if self.sign == b'+' { " " } else { ">" });
        } else if self.picture.has_sign && self.picture.sign == Place::Behind {
            self.put(if self.sign == b'-' { "-" } else { "+" });
        }
    }
}

/// The point or the last digit behind it that is not zero.
fn last_shown(number: &[u8]) -> Option<usize> {
    let point = number.iter().position(|byte| *byte == b'.')?;
    let last = number[point + 1..].iter().rposition(|byte| *byte != b'0');
    Some(last.map_or(point, |last| point + 1 + last))
}

/// Writes a number with its sign by a picture.
fn laid_out(picture: Picture, mut shown: Shown) -> Result<String> {
    let length = shown.digits.find('.').unwrap_or(shown.digits.len());
    if length > picture.whole {
        let marks = "#".repeat(picture.whole);
        shown.digits = format!("{marks}.{}", "#".repeat(picture.fraction));
    }
    let blanks = picture.whole.saturating_sub(length);
    let sign = if shown.negative { b'-' } else { b'+' };
    Writer::new(picture, &shown.digits, sign, blanks).write()
}

fn laid_out_roman(picture: Picture, value: Option<i64>) -> Result<String> {
    Writer::new(picture, &roman(value), 0, 0).write()
}

/// The digits of an integer, with zeros behind the point.
fn integer(mut picture: Picture, value: i64, name: &str, most: i64) -> Result<String> {
    if picture.is_roman {
        return laid_out_roman(picture, Some(value));
    }
    let mut value = value;
    if picture.has_shift {
        let factor = u32::try_from(picture.shift)
            .ok()
            .and_then(|n| 10i64.checked_pow(n));
        let factor = factor.filter(|factor| *factor <= most);
        let product = factor.and_then(|factor| value.checked_mul(factor));
        let product = product.filter(|product| (-most - 1..=most).contains(product));
        value = product.ok_or_else(|| out_of_range(name))?;
        picture.whole += picture.shift;
    }
    let mut shown = Shown::of(&value.to_string());
    if picture.fraction > 0 {
        shown.digits.push('.');
        shown.digits.push_str(&"0".repeat(picture.fraction));
    }
    laid_out(picture, shown)
}

fn int4_to_char(value: i32, picture: &str) -> Result<String> {
    let picture = Picture::parse(picture)?;
    match picture.is_scientific {
        true => Ok(scientific_double(value.into(), &picture)),
        false => integer(picture, value.into(), "integer", i32::MAX.into()),
    }
}

fn int8_to_char(value: i64, picture: &str) -> Result<String> {
    let picture = Picture::parse(picture)?;
    if picture.is_roman && i32::try_from(value).is_err() {
        return Err(out_of_range("integer"));
    }
    match picture.is_scientific {
        true => scientific_numeric(&value.into(), &picture),
        false => integer(picture, value, "bigint", i64::MAX),
    }
}

fn numeric_to_char(value: &Numeric, picture: &str) -> Result<String> {
    let mut picture = Picture::parse(picture)?;
    if picture.is_roman {
        if !value.is_finite() {
            let kind = if value.is_nan() { "NaN" } else { "infinity" };
            return Err(Error::unsupported(format!(
                "cannot convert {kind} to integer"
            )));
        }
        let value = value.to_i128(0).and_then(|value| i32::try_from(value).ok());
        let value = value.ok_or_else(|| out_of_range("integer"))?;
        return laid_out_roman(picture, Some(value.into()));
    }
    if picture.is_scientific {
        return scientific_numeric(value, &picture);
    }
    let mut value = value.clone();
    if picture.has_shift {
        value = value.moved(picture.shift as i64)?;
        picture.whole += picture.shift;
    }
    let fraction = i32::try_from(picture.fraction).unwrap_or(i32::MAX);
    let text = value.round(fraction)?.to_string();
    laid_out(picture, Shown::of(&text))
}

/// A double or, with 6 digits, a real.
fn float_to_char(value: f64, picture: &str, digits: usize) -> Result<String> {
    let mut picture = Picture::parse(picture)?;
    if picture.is_roman {
        // One that is no integer is out of a Roman number's range.
        return laid_out_roman(picture, Some(value.round_ties_even() as i64));
    }
    if picture.is_scientific {
        return Ok(scientific_double(value, &picture));
    }
    let mut value = value;
    if picture.has_shift {
        value *= 10f64.powi(i32::try_from(picture.shift).unwrap_or(i32::MAX));
        if digits == 6 {
            value = f64::from(value as f32);
        }
        picture.whole += picture.shift;
    }
    // No more digits are shown than the type has.
    let whole = plain(value.abs(), 0).len();
    picture.fraction = picture.fraction.min(digits.saturating_sub(whole));
    laid_out(picture.clone(), Shown::of(&plain(value, picture.fraction)))
}

/// C's `%f` as PostgreSQL writes it.
fn plain(value: f64, fraction: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    format!("{value:.fraction$}")
}

/// Reads a number along a picture.
struct Reader<'a> {
    picture: &'a Picture,
    text: &'a [u8],
    at: usize,
    /// Blank, plus or minus.
    sign: u8,
    digits: Vec<u8>,
    whole: usize,
    fraction: usize,
    has_point: bool,
}

impl Reader<'_> {
    fn ended(&self) -> bool {
        self.at >= self.text.len()
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// Goes behind the character that begins here.
    fn skip_char(&mut self) {
        self.at += 1;
        while self.byte(self.at) & 0xC0 == 0x80 {
            self.at += 1;
        }
    }

    /// Goes behind up to `count` characters that are no part of a number.
    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            if self.ended() || b"0123456789.,+-".contains(&self.byte(self.at)) {
                break;
            }
            self.skip_char();
        }
    }

    /// Takes one of some signs.
    fn take_sign(&mut self, signs: &[u8]) {
        let byte = self.byte(self.at);
        match signs.contains(&byte) {
            true => {
                self.sign = byte;
                self.at += 1;
            }
            false => self.skip(1),
        }
    }

    fn pattern(&mut self, pattern: Pattern) {
        match pattern {
            Pattern::Nine | Pattern::Zero => self.digit(true),
            Pattern::Point | Pattern::LocalePoint => self.digit(false),
            // With FM PostgreSQL takes a separator for one before the number.
            Pattern::Comma | Pattern::Group
                if !self.picture.is_filled && self.byte(self.at) == b',' =>
            {
                self.at += 1;
            }
            Pattern::Currency => self.skip(1),
            Pattern::Ordinal { .. } if !self.picture.has_point => self.skip(2),
            Pattern::Minus => self.take_sign(b"-"),
            Pattern::Plus => self.take_sign(b"+"),
            Pattern::AnySign => self.take_sign(b"+-"),
            _ => {}
        }
    }

    /// A digit or the point, and a sign next to it.
    fn digit(&mut self, is_digit: bool) {
        let read = self.digit_here(is_digit);
        if let Some(read) = read {
            self.sign_behind(read);
        }
        self.at += 1;
    }

    /// Whether something was read; `None` if no sign is looked for.
    fn digit_here(&mut self, is_digit: bool) -> Option<bool> {
        if self.byte(self.at) == b' ' {
            self.at += 1;
        }
        if self.ended() {
            return None;
        }
        if self.sign == b' ' && is_digit && self.whole + self.fraction == 0 {
            let byte = self.byte(self.at);
            // Without a place for it, a sign is taken, too.
            if byte == b'-' || self.picture.has_brackets && byte == b'<' {
                self.sign = b'-';
                self.at += 1;
            } else if byte == b'+' {
                self.sign = b'+';
                self.at += 1;
            }
        }
        if self.ended() {
            return None;
        }
        let byte = self.byte(self.at);
        if byte.is_ascii_digit() {
            if self.has_point && self.fraction == self.picture.fraction {
                return None;
            }
            self.digits.push(byte);
            match self.has_point {
                true => self.fraction += 1,
                false => self.whole += 1,
            }
            return Some(true);
        }
        if self.picture.has_point && !self.has_point && byte == b'.' {
            self.digits.push(b'.');
            self.has_point = true;
            return Some(true);
        }
        Some(false)
    }

    /// A sign behind the last digit.
    fn sign_behind(&mut self, read: bool) {
        if self.sign != b' ' || self.whole + self.fraction == 0 {
            return;
        }
        let next = self.byte(self.at + 1);
        if self.picture.has_sign && read {
            if self.at + 1 < self.text.len() && matches!(next, b'+' | b'-') {
                self.at += 1;
                self.sign = next;
            }
            return;
        }
        // A picture with a place for a sign finds it behind fewer digits, too.
        let free = !self.picture.has_sign && (self.picture.has_plus || self.picture.has_minus);
        let byte = self.byte(self.at);
        if !read && free && matches!(byte, b'+' | b'-') {
            self.sign = byte;
        }
    }
}

/// The number of a text by a picture; NULL without one.
fn to_number(text: &str, picture: &str) -> Result<Option<Numeric>> {
    if picture.is_empty() {
        return Ok(None);
    }
    let picture = Picture::parse(picture)?;
    if picture.is_scientific {
        return Err(Error::unsupported("\"EEEE\" not supported for input"));
    }
    if picture.is_roman {
        return Err(Error::unsupported("\"RN\" not supported for input"));
    }
    let mut reader = Reader {
        picture: &picture,
        text: text.as_bytes(),
        at: 0,
        sign: b' ',
        digits: Vec::new(),
        whole: 0,
        fraction: 0,
        has_point: false,
    };
    for piece in &picture.pieces {
        if reader.ended() {
            break;
        }
        match piece {
            Piece::Pattern(pattern) => reader.pattern(*pattern),
            Piece::Literal(_) => reader.skip_char(),
        }
    }
    let scale = reader.fraction as u32;
    let mut number = vec![reader.sign];
    number.extend(reader.digits.strip_suffix(b".").unwrap_or(&reader.digits));
    let number = Numeric::parse(&String::from_utf8_lossy(&number))?.rescaled(scale);
    let whole = (picture.whole + picture.shift) as i64;
    if number.lead().is_some_and(|lead| lead >= whole) {
        let precision = whole + i64::from(scale);
        let bound = if whole == 0 {
            "1".to_owned()
        } else {
            format!("10^{whole}")
        };
        let detail = format!(
            "A field with precision {precision}, scale {scale} must round to an absolute \
             value less than {bound}."
        );
        return Err(Error::new("22003", "numeric field overflow").with_detail(detail));
    }
    if !picture.has_shift {
        return Ok(Some(number));
    }
    let shift = Numeric::from(-(picture.shift as i64));
    let factor = Numeric::from(10).power(&shift)?;
    number.mul(&factor).map(Some)
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Float4, Float8, Int4, Int8, Text};
    let kernel = f2::<I32, Str, Str>(int4_to_char);
    c.add(scalar("to_char", &[Int4, Text], Text, kernel).stable());
    let kernel = f2::<I64, Str, Str>(int8_to_char);
    c.add(scalar("to_char", &[Int8, Text], Text, kernel).stable());
    let kernel = f2::<F32, Str, Str>(|value, picture| float_to_char(value.into(), picture, 6));
    c.add(scalar("to_char", &[Float4, Text], Text, kernel).stable());
    let kernel = f2::<F64, Str, Str>(|value, picture| float_to_char(value, picture, 15));
    c.add(scalar("to_char", &[Float8, Text], Text, kernel).stable());
    let kernel = f2::<Num, Str, Str>(|value, picture| numeric_to_char(&value, picture));
    c.add(scalar("to_char", &[Type::Numeric(None), Text], Text, kernel).stable());
    let kernel = f2::<Str, Str, Opt<Num>>(to_number);
    c.add(scalar("to_number", &[Text, Text], Type::Numeric(None), kernel).stable());
}
