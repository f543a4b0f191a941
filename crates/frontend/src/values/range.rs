//! Ranges and multiranges, and the bytes that they are held in.
//!
//! ```text
//! [1,5)     1 to 5 without 5      (,5]     all up to 5      empty     no value
//! {[1,5),[7,9)}                   a multirange: ranges in their order that do not touch
//! ```
//!
//! A range is held in bytes whose order is that of ranges: the empty one, then by lower bounds, then
//! by upper ones. So keys, indexes, sorting, grouping and statistics of blocks compare bytes:
//!
//! ```text
//! empty       0
//! lower       1: none         2 | value | 0: inclusive, 1: exclusive
//! upper       2: none         1 | value | 0: exclusive, 1: inclusive
//! ```
//!
//! A value is an integer whose greatest byte comes first and whose sign bit is turned, of 4 bytes for
//! INTEGER and DATE, else of 8; or the key of a NUMERIC. A multirange is its ranges, none of them
//! empty, and a 0. Behind the bytes of ranges of NUMERIC come the scales of their bounds, of two bytes
//! each, and how many they are, in four bytes. Scales are no part of the order: [`key`] is without them.
//!
//! Ranges of INTEGER, BIGINT and DATE have a canonical form: they include the lower bound and exclude
//! the upper one.

use std::cmp::Ordering;

use super::Numeric;
use super::datetime::{date_from, is_finite_date};
use crate::error::{Error, Result};

/// A range by the type of its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RangeOf {
    /// INT4RANGE, of INTEGER.
    Int4,
    /// INT8RANGE, of BIGINT.
    Int8,
    /// NUMRANGE, of NUMERIC.
    Numeric,
    /// TSRANGE, of TIMESTAMP.
    Timestamp,
    /// TSTZRANGE, of TIMESTAMP WITH TIME ZONE.
    TimestampTz,
    /// DATERANGE, of DATE.
    Date,
}

impl RangeOf {
    /// All of them.
    pub const ALL: [RangeOf; 6] = [
        RangeOf::Int4,
        RangeOf::Int8,
        RangeOf::Numeric,
        RangeOf::Timestamp,
        RangeOf::TimestampTz,
        RangeOf::Date,
    ];

    /// Whether equal values may differ in what they show: bounds of NUMERIC have scales.
    pub fn has_scales(self) -> bool {
        self == RangeOf::Numeric
    }

    /// Whether texts of its values depend on settings.
    pub fn is_of_time(self) -> bool {
        matches!(
            self,
            RangeOf::Timestamp | RangeOf::TimestampTz | RangeOf::Date
        )
    }
}

/// A value that a bound has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// An integer, days or microseconds.
    Int(i64),
    /// A NUMERIC.
    Num(Numeric),
}

/// An end of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Its value; `None` if the range has no end there.
    pub value: Option<Value>,
    /// Whether the value is in the range.
    pub inclusive: bool,
    is_lower: bool,
}

/// The place of a bound among all bounds: how far it is beyond all values, its value, and whether
/// it is right before or right behind that.
type Place<'a> = (i8, Option<&'a Value>, i8);

impl Bound {
    /// A lower bound. One without a value is not inclusive.
    pub fn lower(value: Option<Value>, inclusive: bool) -> Bound {
        Bound {
            inclusive: inclusive && value.is_some(),
            value,
            is_lower: true,
        }
    }

    /// An upper bound. One without a value is not inclusive.
    pub fn upper(value: Option<Value>, inclusive: bool) -> Bound {
        Bound {
            is_lower: false,
            ..Bound::lower(value, inclusive)
        }
    }

    /// The other kind of bound at the same place: where `[x` begins, `x)` ends.
    fn turned(&self) -> Bound {
        Bound {
            value: self.value.clone(),
            inclusive: !self.inclusive,
            is_lower: !self.is_lower,
        }
    }

    fn place(&self) -> Place<'_> {
        let side = if self.is_lower { 1 } else { -1 };
        match &self.value {
            None => (-side, None, 0),
            Some(value) => (0, Some(value), if self.inclusive { 0 } else { side }),
        }
    }

    /// Whether a range that ends here and one that begins there have nothing between them and
    /// nothing in common.
    fn touches(&self, lower: &Bound) -> bool {
        self.value.is_some() && self.value == lower.value && self.inclusive != lower.inclusive
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bound {
    /// The order of bounds, of which each may be a lower or an upper one.
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

/// A range that is not empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Where it begins.
    pub lower: Bound,
    /// Where it ends.
    pub upper: Bound,
}

impl Span {
    /// The range between two bounds in canonical form; `None` if it is empty.
    ///
    /// # Errors
    /// `22000` if the lower bound is above the upper one, `22003` or `22008` if a canonical bound is
    /// out of range.
    pub fn new(of: RangeOf, lower: Bound, upper: Bound) -> Result<Option<Span>> {
        let Some(span) = Self::checked(lower, upper)? else {
            return Ok(None);
        };
        let Span {
            mut lower,
            mut upper,
        } = span;
        if let (Some(value), false) = (&lower.value, lower.inclusive)
            && let Some(next) = next(of, value)?
        {
            lower = Bound::lower(Some(next), true);
        }
        if let (Some(value), true) = (&upper.value, upper.inclusive)
            && let Some(next) = next(of, value)?
        {
            upper = Bound::upper(Some(next), false);
        }
        Self::checked(lower, upper)
    }

    fn checked(lower: Bound, upper: Bound) -> Result<Option<Span>> {
        if let (Some(from), Some(to)) = (&lower.value, &upper.value) {
            match from.cmp(to) {
                Ordering::Greater => {
                    let message =
                        "range lower bound must be less than or equal to range upper bound";
                    return Err(Error::new("22000", message));
                }
                Ordering::Equal if !(lower.inclusive && upper.inclusive) => return Ok(None),
                _ => {}
            }
        }
        Ok(Some(Span { lower, upper }))
    }

    /// Whether a value is in the range.
    pub fn has(&self, value: &Value) -> bool {
        let place = (0, Some(value), 0);
        self.lower.place() <= place && place <= self.upper.place()
    }

    /// Whether all values of another range are in it.
    pub fn contains(&self, other: &Span) -> bool {
        self.lower <= other.lower && other.upper <= self.upper
    }

    /// Whether two ranges have a value in common.
    pub fn overlaps(&self, other: &Span) -> bool {
        self.lower <= other.upper && other.lower <= self.upper
    }

    /// Whether it ends before another begins.
    pub fn is_before(&self, other: &Span) -> bool {
        self.upper < other.lower
    }

    /// Whether nothing is between two ranges, and nothing in both.
    pub fn is_adjacent(&self, other: &Span) -> bool {
        self.upper.touches(&other.lower) || other.upper.touches(&self.lower)
    }

    /// The least range that has all values of two. Of equal bounds it has those of the other.
    pub fn merged(&self, other: &Span) -> Span {
        Span {
            lower: other.lower.clone().min(self.lower.clone()),
            upper: self.upper.clone().max(other.upper.clone()),
        }
    }

    /// The values that are in both; `None` if there are none. Of equal bounds it has its own.
    pub fn common(&self, other: &Span) -> Option<Span> {
        self.overlaps(other).then(|| Span {
            lower: other.lower.clone().max(self.lower.clone()),
            upper: self.upper.clone().min(other.upper.clone()),
        })
    }

    /// The part that comes before another range, and the part that comes behind it.
    fn parts_around(&self, other: &Span) -> (Option<Span>, Option<Span>) {
        if !self.overlaps(other) {
            return match self.is_before(other) {
                true => (Some(self.clone()), None),
                false => (None, Some(self.clone())),
            };
        }
        let before = (self.lower < other.lower).then(|| Span {
            lower: self.lower.clone(),
            upper: other.lower.turned(),
        });
        let behind = (self.upper > other.upper).then(|| Span {
            lower: other.upper.turned(),
            upper: self.upper.clone(),
        });
        (before, behind)
    }

    /// The values that are not in another range.
    ///
    /// # Errors
    /// `22000` if they are two ranges.
    pub fn without(&self, other: &Span) -> Result<Option<Span>> {
        match self.parts_around(other) {
            (Some(_), Some(_)) => {
                let message = "result of range difference would not be contiguous";
                Err(Error::new("22000", message))
            }
            (before, behind) => Ok(before.or(behind)),
        }
    }

    /// The values of two ranges.
    ///
    /// # Errors
    /// `22000` if there is something between them.
    pub fn with(&self, other: &Span) -> Result<Span> {
        if !self.overlaps(other) && !self.is_adjacent(other) {
            let message = "result of range union would not be contiguous";
            return Err(Error::new("22000", message));
        }
        Ok(self.merged(other))
    }
}

/// The value that follows another in a type whose values can be counted.
fn next(of: RangeOf, value: &Value) -> Result<Option<Value>> {
    let Value::Int(value) = value else {
        return Ok(None);
    };
    let far = |name: &str| Error::new("22003", format!("{name} out of range"));
    let next = match of {
        RangeOf::Int4 => {
            let next = i32::try_from(value.saturating_add(1));
            next.map_err(|_| far("integer"))?.into()
        }
        RangeOf::Int8 => value.checked_add(1).ok_or_else(|| far("bigint"))?,
        RangeOf::Date => {
            if !i32::try_from(*value).is_ok_and(is_finite_date) {
                return Ok(None);
            }
            date_from(value + 1)?.into()
        }
        RangeOf::Numeric | RangeOf::Timestamp | RangeOf::TimestampTz => return Ok(None),
    };
    Ok(Some(Value::Int(next)))
}

/// The ranges of some as a multirange has them: in their order, those that touch made one.
pub fn normal(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort();
    let mut made: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match made.last_mut() {
            Some(last) if !last.is_before(&span) || last.is_adjacent(&span) => {
                *last = last.merged(&span);
            }
            _ => made.push(span),
        }
    }
    made
}

/// The values that are in both of two multiranges.
pub fn common(left: &[Span], right: &[Span]) -> Vec<Span> {
    let (mut at, mut other) = (0, 0);
    let mut made = Vec::new();
    while let (Some(a), Some(b)) = (left.get(at), right.get(other)) {
        made.extend(a.common(b));
        match a.upper <= b.upper {
            true => at += 1,
            false => other += 1,
        }
    }
    made
}

/// The values of a multirange that are not in another.
pub fn difference(left: &[Span], right: &[Span]) -> Vec<Span> {
    let mut made = Vec::new();
    let mut from = 0;
    for span in left {
        while right.get(from).is_some_and(|other| other.is_before(span)) {
            from += 1;
        }
        let mut rest = Some(span.clone());
        for other in &right[from..] {
            let Some(left) = rest.take() else {
                break;
            };
            if left.is_before(other) {
                rest = Some(left);
                break;
            }
            let (before, behind) = left.parts_around(other);
            made.extend(before);
            rest = behind;
        }
        made.extend(rest);
    }
    made
}

/// The range from the first to the last value of a multirange; `None` for none.
pub fn whole(spans: &[Span]) -> Option<Span> {
    let (first, last) = (spans.first()?, spans.last()?);
    Some(Span {
        lower: first.lower.clone(),
        upper: last.upper.clone(),
    })
}

const END: u8 = 0;
const LOW: u8 = 1;
const HIGH: u8 = 2;

/// Writes bytes, and scales that come behind them.
struct Writer {
    of: RangeOf,
    bytes: Vec<u8>,
    scales: Vec<u16>,
}

impl Writer {
    fn new(of: RangeOf) -> Writer {
        Writer {
            of,
            bytes: Vec::with_capacity(18),
            scales: Vec::new(),
        }
    }

    fn span(&mut self, span: &Span) {
        self.bound(&span.lower);
        self.bound(&span.upper);
    }

    fn bound(&mut self, bound: &Bound) {
        let (none, some) = if bound.is_lower {
            (LOW, HIGH)
        } else {
            (HIGH, LOW)
        };
        let Some(value) = &bound.value else {
            self.bytes.push(none);
            return;
        };
        self.bytes.push(some);
        match (value, self.of) {
            (Value::Int(value), RangeOf::Int4 | RangeOf::Date) => {
                let value = *value as i32 ^ i32::MIN;
                self.bytes.extend(value.to_be_bytes());
            }
            (Value::Int(value), _) => self.bytes.extend((value ^ i64::MIN).to_be_bytes()),
            (Value::Num(value), _) => {
                self.bytes.extend(Numeric::key(&value.encode()));
                self.scales.push(value.scale() as u16);
            }
        }
        self.bytes.push((bound.inclusive != bound.is_lower).into());
    }

    fn finish(mut self) -> Vec<u8> {
        if self.of.has_scales() {
            let count = self.scales.len() as u32;
            let scales = self.scales.iter().flat_map(|scale| scale.to_be_bytes());
            self.bytes.extend(scales);
            self.bytes.extend(count.to_be_bytes());
        }
        self.bytes
    }
}

/// The bytes that a range is held in; `None` is the empty one.
pub fn encode(of: RangeOf, span: Option<&Span>) -> Vec<u8> {
    let mut writer = Writer::new(of);
    match span {
        Some(span) => writer.span(span),
        None => writer.bytes.push(END),
    }
    writer.finish()
}

/// The bytes that a multirange is held in.
pub fn encode_many(of: RangeOf, spans: &[Span]) -> Vec<u8> {
    let mut writer = Writer::new(of);
    spans.iter().for_each(|span| writer.span(span));
    writer.bytes.push(END);
    writer.finish()
}

/// The part of the bytes of a range or a multirange that equal ones have in common.
pub fn key(of: RangeOf, bytes: &[u8]) -> &[u8] {
    split(of, bytes).0
}

/// The key, and the scales.
fn split(of: RangeOf, bytes: &[u8]) -> (&[u8], &[u8]) {
    if !of.has_scales() {
        return (bytes, &[]);
    }
    let Some((rest, count)) = bytes.split_last_chunk::<4>() else {
        return (bytes, &[]);
    };
    let count = u32::from_be_bytes(*count) as usize;
    let at = rest.len().checked_sub(count.saturating_mul(2));
    at.map_or((rest, &[]), |at| rest.split_at(at))
}

/// Reads bytes.
struct Reader<'a> {
    of: RangeOf,
    bytes: &'a [u8],
    scales: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(of: RangeOf, bytes: &'a [u8]) -> Reader<'a> {
        let (bytes, scales) = split(of, bytes);
        Reader { of, bytes, scales }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn taken(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.of {
            RangeOf::Int4 | RangeOf::Date => {
                let value = i32::from_be_bytes(self.taken(4)?.try_into().ok()?);
                Value::Int((value ^ i32::MIN).into())
            }
            RangeOf::Numeric => {
                let key = self.taken(Numeric::key_length(self.bytes)?)?;
                let (scale, rest) = self.scales.split_first_chunk::<2>()?;
                self.scales = rest;
                Value::Num(Numeric::of_key(key, u16::from_be_bytes(*scale).into()))
            }
            _ => {
                let value = i64::from_be_bytes(self.taken(8)?.try_into().ok()?);
                Value::Int(value ^ i64::MIN)
            }
        })
    }

    /// The next range; `None` at the end.
    fn span(&mut self) -> Option<Span> {
        let lower = match self.byte()? {
            LOW => Bound::lower(None, false),
            HIGH => Bound::lower(Some(self.value()?), self.byte()? == 0),
            _ => return None,
        };
        let upper = match self.byte()? {
            HIGH => Bound::upper(None, false),
            _ => Bound::upper(Some(self.value()?), self.byte()? == 1),
        };
        Some(Span { lower, upper })
    }
}

/// The range that bytes hold; `None` for the empty one, and for bytes that hold none.
pub fn decode(of: RangeOf, bytes: &[u8]) -> Option<Span> {
    Reader::new(of, bytes).span()
}

/// The multirange that bytes hold.
pub fn decode_many(of: RangeOf, bytes: &[u8]) -> Vec<Span> {
    let mut reader = Reader::new(of, bytes);
    std::iter::from_fn(|| reader.span()).collect()
}

/// Whether bytes are those that a range is held in.
pub fn is_range(of: RangeOf, bytes: &[u8]) -> bool {
    let span = decode(of, bytes);
    let same = span
        .clone()
        .map(|span| Span::new(of, span.lower, span.upper));
    let canonical = same.is_none_or(|same| same.is_ok_and(|same| same == span));
    canonical && encode(of, span.as_ref()) == bytes
}

/// Whether bytes are those that a multirange is held in.
pub fn is_multirange(of: RangeOf, bytes: &[u8]) -> bool {
    let spans = decode_many(of, bytes);
    let canonical = spans.iter().all(|span| {
        let same = Span::new(of, span.lower.clone(), span.upper.clone());
        same.is_ok_and(|same| same.as_ref() == Some(span))
    });
    canonical && normal(spans.clone()) == spans && encode_many(of, &spans) == bytes
}

/// How the value of a bound is read.
pub type ReadValue<'a> = dyn Fn(&str) -> Result<Value> + 'a;

/// The flags of a constructor: whether the lower and whether the upper bound is inclusive.
///
/// # Errors
/// `42601` for others than `[]`, `[)`, `(]` and `()`.
pub fn read_flags(flags: &str) -> Result<(bool, bool)> {
    match flags {
        "[]" => Ok((true, true)),
        "[)" => Ok((true, false)),
        "(]" => Ok((false, true)),
        "()" => Ok((false, false)),
        _ => Err(Error::new("42601", "invalid range bound flags")
            .with_hint("Valid values are \"[]\", \"[)\", \"(]\", and \"()\".")),
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

const EMPTY: &str = "empty";

/// The rest of a text behind the word `empty`; `None` if the text begins otherwise.
fn after_empty(text: &str) -> Option<&str> {
    let (word, rest) = text.split_at_checked(EMPTY.len())?;
    word.eq_ignore_ascii_case(EMPTY).then_some(rest)
}

/// The range that a text stands for.
///
/// # Errors
/// `22P02` for a text that is none, and errors of its bounds.
pub fn read(of: RangeOf, text: &str, value: &ReadValue<'_>) -> Result<Option<Span>> {
    let malformed = |detail: &str| {
        let message = format!("malformed range literal: \"{text}\"");
        Error::new("22P02", message).with_detail(detail.to_owned())
    };
    let rest = trimmed(text);
    if let Some(rest) = after_empty(rest) {
        return match trimmed(rest) {
            "" => Ok(None),
            _ => Err(malformed("Junk after \"empty\" key word.")),
        };
    }
    let mut rest = rest.chars();
    let lower_inclusive = match rest.next() {
        Some('[') => true,
        Some('(') => false,
        _ => return Err(malformed("Missing left parenthesis or bracket.")),
    };
    let ended = || malformed("Unexpected end of input.");
    let (lower, rest) = read_bound(rest.as_str()).ok_or_else(ended)?;
    let rest = rest.strip_prefix(',');
    let rest = rest.ok_or_else(|| malformed("Missing comma after lower bound."))?;
    let (upper, rest) = read_bound(rest).ok_or_else(ended)?;
    let mut rest = rest.chars();
    let upper_inclusive = match rest.next() {
        Some(']') => true,
        Some(')') => false,
        _ => return Err(malformed("Too many commas.")),
    };
    if !trimmed(rest.as_str()).is_empty() {
        return Err(malformed("Junk after right parenthesis or bracket."));
    }
    let lower = lower.map(|text| value(&text)).transpose()?;
    let upper = upper.map(|text| value(&text)).transpose()?;
    let (lower, upper) = (
        Bound::lower(lower, lower_inclusive),
        Bound::upper(upper, upper_inclusive),
    );
    Span::new(of, lower, upper)
}

/// The text of a bound without its quotes, and what follows; `None` if the text ends before.
fn read_bound(text: &str) -> Option<(Option<String>, &str)> {
    if text.starts_with([',', ')', ']']) {
        return Some((None, text));
    }
    let mut bound = String::new();
    let mut quoted = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            ',' | ')' | ']' if !quoted => return Some((Some(bound), &text[at..])),
            '\\' => bound.push(chars.next()?.1),
            '"' if !quoted => quoted = true,
            '"' => match chars.next_if(|(_, next)| *next == '"') {
                Some(_) => bound.push('"'),
                None => quoted = false,
            },
            other => bound.push(other),
        }
    }
    None
}

/// The multirange that a text stands for.
///
/// # Errors
/// `22P02` for a text that is none, and errors of its ranges.
pub fn read_many(of: RangeOf, text: &str, value: &ReadValue<'_>) -> Result<Vec<Span>> {
    let malformed = |detail: &str| {
        let message = format!("malformed multirange literal: \"{text}\"");
        Error::new("22P02", message).with_detail(detail.to_owned())
    };
    let rest = trimmed(text).strip_prefix('{');
    let mut rest = trimmed(rest.ok_or_else(|| malformed("Missing left brace."))?);
    let mut spans = Vec::new();
    if let Some(after) = rest.strip_prefix('}') {
        rest = after;
    } else {
        loop {
            if let Some(after) = after_empty(rest) {
                rest = after;
            } else if rest.starts_with(['[', '(']) {
                let length = range_length(rest);
                let length = length.ok_or_else(|| malformed("Unexpected end of input."))?;
                let (range, after) = rest.split_at(length);
                spans.extend(read(of, range, value)?);
                rest = after;
            } else {
                return Err(malformed(match rest {
                    "" => "Unexpected end of input.",
                    _ => "Expected range start.",
                }));
            }
            rest = trimmed(rest);
            if let Some(after) = rest.strip_prefix('}') {
                rest = after;
                break;
            }
            rest = match rest.strip_prefix(',') {
                Some(after) => trimmed(after),
                None if rest.is_empty() => return Err(malformed("Unexpected end of input.")),
                None => return Err(malformed("Expected comma or end of multirange.")),
            };
        }
    }
    match trimmed(rest) {
        "" => Ok(normal(spans)),
        _ => Err(malformed("Junk after closing right brace.")),
    }
}

/// How many bytes of a text are the range that it begins with.
fn range_length(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            // Two quotes in a quoted text end it and begin it again.
            '"' => quoted = !quoted,
            ')' | ']' if !quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// How the value of a bound is shown.
pub type ShowValue<'a> = dyn Fn(&Value) -> String + 'a;

/// The text of a range; `None` is the empty one.
pub fn write(span: Option<&Span>, show: &ShowValue<'_>) -> String {
    let mut text = String::new();
    match span {
        Some(span) => write_span(&mut text, span, show),
        None => text.push_str(EMPTY),
    }
    text
}

/// The text of a multirange.
pub fn write_many(spans: &[Span], show: &ShowValue<'_>) -> String {
    let mut text = String::from("{");
    for (at, span) in spans.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        write_span(&mut text, span, show);
    }
    text.push('}');
    text
}

fn write_span(text: &mut String, span: &Span, show: &ShowValue<'_>) {
    text.push(if span.lower.inclusive { '[' } else { '(' });
    if let Some(value) = &span.lower.value {
        write_bound(text, &show(value));
    }
    text.push(',');
    if let Some(value) = &span.upper.value {
        write_bound(text, &show(value));
    }
    text.push(if span.upper.inclusive { ']' } else { ')' });
}

/// Writes a bound, in quotes if it has characters that mean something in a range.
fn write_bound(text: &mut String, value: &str) {
    let special = |c: char| matches!(c, '"' | '\\' | '(' | ')' | '[' | ']' | ',') || is_space(c);
    if !value.is_empty() && !value.contains(special) {
        text.push_str(value);
        return;
    }
    text.push('"');
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            text.push(c);
        }
        text.push(c);
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(of: RangeOf) -> impl Fn(&str) -> Result<Value> {
        move |text| match of.has_scales() {
            true => Numeric::parse(text).map(Value::Num),
            false => {
                let number = text.trim().parse::<i64>();
                number
                    .map(Value::Int)
                    .map_err(|error| Error::new("22P02", error.to_string()))
            }
        }
    }

    fn show(value: &Value) -> String {
        match value {
            Value::Int(value) => value.to_string(),
            Value::Num(value) => value.to_string(),
        }
    }

    fn span(of: RangeOf, text: &str) -> Option<Span> {
        read(of, text, &value(of)).unwrap()
    }

    fn shown(of: RangeOf, text: &str) -> String {
        match read(of, text, &value(of)) {
            Ok(span) => write(span.as_ref(), &show),
            Err(error) => error.detail.unwrap_or(error.message),
        }
    }

    #[test]
    fn texts_are_read_and_written() {
        for (text, written) in [
            ("[1,5)", "[1,5)"),
            (" ( 1 , 5 ] ", "[2,6)"),
            ("(,5]", "(,6)"),
            ("[1,]", "[1,)"),
            ("(,)", "(,)"),
            (" EMPTY ", "empty"),
            ("(4,5)", "empty"),
            ("[\"1\",\\5)", "[1,5)"),
            ("empty x", "Junk after \"empty\" key word."),
            ("1,5)", "Missing left parenthesis or bracket."),
            ("[1)", "Missing comma after lower bound."),
            ("[1,5", "Unexpected end of input."),
            ("[\"1,5)", "Unexpected end of input."),
            ("[1,5,6)", "Too many commas."),
            ("[1,5) x", "Junk after right parenthesis or bracket."),
            (
                "[5,1)",
                "range lower bound must be less than or equal to range upper bound",
            ),
            ("[1,2147483647]", "integer out of range"),
        ] {
            assert_eq!(shown(RangeOf::Int4, text), written, "{text}");
        }
        assert_eq!(shown(RangeOf::Numeric, "(1.10,2.0]"), "(1.10,2.0]");
        assert_eq!(shown(RangeOf::Numeric, "[NaN,NaN]"), "[NaN,NaN]");
        let text = write(span(RangeOf::Int4, "[1,5)").as_ref(), &|_| {
            "a \"b".to_owned()
        });
        assert_eq!(text, "[\"a \"\"b\",\"a \"\"b\")");
    }

    #[test]
    fn texts_of_multiranges_are_read_and_written() {
        let of = RangeOf::Int4;
        for (text, written) in [
            ("{}", "{}"),
            (" { [1,3) , [7,9] } ", "{[1,3),[7,10)}"),
            ("{[5,9),empty,[1,5),[20,30)}", "{[1,9),[20,30)}"),
            ("{(,5),[3,)}", "{(,)}"),
            ("{[\"1\",\"\"\"\")}", "invalid digit found in string"),
            ("[1,3)", "Missing left brace."),
            ("{[1,3)", "Unexpected end of input."),
            ("{[1,3),}", "Expected range start."),
            ("{[1,3) [4,5)}", "Expected comma or end of multirange."),
            ("{[1,3)} x", "Junk after closing right brace."),
            ("{[1", "Unexpected end of input."),
        ] {
            let found = match read_many(of, text, &value(of)) {
                Ok(spans) => write_many(&spans, &show),
                Err(error) => error.detail.unwrap_or(error.message),
            };
            assert_eq!(found, written, "{text}");
        }
    }

    #[test]
    fn bytes_have_the_order_of_ranges() {
        for (of, texts) in [
            (
                RangeOf::Int4,
                &[
                    "empty", "(,-5)", "(,3)", "(,)", "[-7,-6)", "[-1,0)", "[1,2)", "[1,5)", "[1,)",
                    "[2,3)",
                ][..],
            ),
            (
                RangeOf::Numeric,
                &[
                    "empty",
                    "(,1)",
                    "(,1]",
                    "(,)",
                    "[-12.5,0)",
                    "[-1.5,-1.25]",
                    "[0,0]",
                    "[1,2)",
                    "[1,2]",
                    "[1,2.01)",
                    "[1,)",
                    "(1,2)",
                    "(1,NaN]",
                    "[1e50,1e60)",
                ],
            ),
        ] {
            let all: Vec<Vec<u8>> = texts
                .iter()
                .map(|text| encode(of, span(of, text).as_ref()))
                .collect();
            for (bytes, text) in all.iter().zip(texts) {
                assert_eq!(write(decode(of, bytes).as_ref(), &show), shown(of, text));
                assert!(is_range(of, bytes), "{text}");
                assert!(!is_range(of, &bytes[1..]), "{text}");
            }
            for pair in all.windows(2) {
                assert!(key(of, &pair[0]) < key(of, &pair[1]), "{pair:?}");
            }
            let spans: Vec<Span> = texts.iter().filter_map(|text| span(of, text)).collect();
            assert!(spans.is_sorted());
            let many = normal(spans);
            let bytes = encode_many(of, &many);
            assert_eq!(decode_many(of, &bytes), many);
            assert!(is_multirange(of, &bytes));
            assert!(key(of, &encode_many(of, &[])) < key(of, &bytes));
        }
        let of = RangeOf::Numeric;
        let [a, b] = ["[1.0,2)", "[1,2.00)"].map(|text| encode(of, span(of, text).as_ref()));
        assert_ne!(a, b);
        assert_eq!(key(of, &a), key(of, &b));
    }

    #[test]
    fn ranges_are_joined_cut_and_compared() {
        let of = RangeOf::Numeric;
        let range = |text: &str| span(of, text).unwrap();
        let (a, b, c) = (range("[1,5)"), range("[5,7]"), range("(2,3]"));
        assert!(a.is_adjacent(&b) && b.is_adjacent(&a) && !a.overlaps(&b));
        assert!(a.is_before(&b) && a.contains(&c) && a.overlaps(&c));
        assert!(!range("[1,5)").is_adjacent(&range("(5,6)")));
        assert!(range("(,)").contains(&a) && !range("(,)").is_adjacent(&a));
        let text = |span: Option<Span>| write(span.as_ref(), &show);
        assert_eq!(text(a.with(&b).ok()), "[1,7]");
        assert!(c.with(&b).is_err() && a.without(&c).is_err());
        assert_eq!(text(c.without(&a).unwrap()), "empty");
        assert_eq!(text(a.without(&range("[3,9]")).unwrap()), "[1,3)");
        assert_eq!(text(a.without(&range("[0,3]")).unwrap()), "(3,5)");
        assert_eq!(text(a.common(&range("[3,9]"))), "[3,5)");
        let many = |texts: &[&str]| normal(texts.iter().map(|text| range(text)).collect());
        let (left, right) = (
            many(&["[1,5)", "[10,20]", "[30,)"]),
            many(&["(2,3]", "[4,12)", "(15,16]", "[40,50)"]),
        );
        assert_eq!(
            write_many(&difference(&left, &right), &show),
            "{[1,2],(3,4),[12,15],(16,20],[30,40),[50,)}"
        );
        assert_eq!(
            write_many(&common(&left, &right), &show),
            "{(2,3],[4,5),[10,12),(15,16],[40,50)}"
        );
    }
}
