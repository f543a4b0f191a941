//! Templates of `to_char`, `to_date` and `to_timestamp`, such as `YYYY-MM-DD HH24:MI`.
//!
//! A template is a row of nodes: patterns, with modifiers before (`FM`, `TM`) and behind
//! (`TH`), and other characters. Text in double quotes has no patterns. Of the patterns that
//! begin at a place the longest is meant, in capital or in small letters.

use std::cell::RefCell;
use std::rc::Rc;

/// A pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// `AD` and `BC`.
    Era,
    /// `A.D.` and `B.C.`.
    EraDotted,
    /// `AM` and `PM`.
    Noon,
    /// `A.M.` and `P.M.`.
    NoonDotted,
    /// `CC`.
    Century,
    /// `DAY`.
    DayName,
    /// `DY`.
    DayShort,
    /// `DDD`.
    DayOfYear,
    /// `DD`.
    Day,
    /// `D`.
    Weekday,
    /// `FF1` to `FF6`.
    Fraction(u8),
    /// `FX`.
    Fixed,
    /// `HH24`.
    Hour24,
    /// `HH12` and `HH`.
    Hour12,
    /// `IDDD`.
    IsoDayOfYear,
    /// `ID`.
    IsoWeekday,
    /// `IW`.
    IsoWeek,
    /// `IYYY` to `I`, by their digits.
    IsoYear(u8),
    /// `J`.
    Julian,
    /// `MI`.
    Minute,
    /// `MM`.
    Month,
    /// `MONTH`.
    MonthName,
    /// `MON`.
    MonthShort,
    /// `MS`.
    Millisecond,
    /// `OF`.
    Offset,
    /// `Q`.
    Quarter,
    /// `RM`.
    Roman,
    /// `SSSSS` and `SSSS`.
    SecondOfDay,
    /// `SS`.
    Second,
    /// `TZH`.
    ZoneHour,
    /// `TZM`.
    ZoneMinute,
    /// `TZ`.
    Zone,
    /// `US`.
    Microsecond,
    /// `WW`.
    Week,
    /// `W`.
    WeekOfMonth,
    /// `Y,YYY`.
    YearComma,
    /// `YYYY` to `Y`, by their digits.
    Year(u8),
}

/// Patterns in capital letters; longer ones stand before those that they begin with.
const KEYS: &[(&str, Key)] = &[
    ("A.D.", Key::EraDotted),
    ("A.M.", Key::NoonDotted),
    ("AD", Key::Era),
    ("AM", Key::Noon),
    ("B.C.", Key::EraDotted),
    ("BC", Key::Era),
    ("CC", Key::Century),
    ("DAY", Key::DayName),
    ("DDD", Key::DayOfYear),
    ("DD", Key::Day),
    ("DY", Key::DayShort),
    ("D", Key::Weekday),
    ("FF1", Key::Fraction(1)),
    ("FF2", Key::Fraction(2)),
    ("FF3", Key::Fraction(3)),
    ("FF4", Key::Fraction(4)),
    ("FF5", Key::Fraction(5)),
    ("FF6", Key::Fraction(6)),
    ("FX", Key::Fixed),
    ("HH24", Key::Hour24),
    ("HH12", Key::Hour12),
    ("HH", Key::Hour12),
    ("IDDD", Key::IsoDayOfYear),
    ("ID", Key::IsoWeekday),
    ("IW", Key::IsoWeek),
    ("IYYY", Key::IsoYear(4)),
    ("IYY", Key::IsoYear(3)),
    ("IY", Key::IsoYear(2)),
    ("I", Key::IsoYear(1)),
    ("J", Key::Julian),
    ("MI", Key::Minute),
    ("MM", Key::Month),
    ("MONTH", Key::MonthName),
    ("MON", Key::MonthShort),
    ("MS", Key::Millisecond),
    ("OF", Key::Offset),
    ("P.M.", Key::NoonDotted),
    ("PM", Key::Noon),
    ("Q", Key::Quarter),
    ("RM", Key::Roman),
    ("SSSSS", Key::SecondOfDay),
    ("SSSS", Key::SecondOfDay),
    ("SS", Key::Second),
    ("TZH", Key::ZoneHour),
    ("TZM", Key::ZoneMinute),
    ("TZ", Key::Zone),
    ("US", Key::Microsecond),
    ("WW", Key::Week),
    ("W", Key::WeekOfMonth),
    ("Y,YYY", Key::YearComma),
    ("YYYY", Key::Year(4)),
    ("YYY", Key::Year(3)),
    ("YY", Key::Year(2)),
    ("Y", Key::Year(1)),
];

/// The letters of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// `MONDAY`.
    Capital,
    /// `monday`.
    Small,
    /// `Monday`.
    Title,
}

/// An ordinal's ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// None.
    None,
    /// `st`, `nd`, `rd`, `th`.
    Small,
    /// `ST`, `ND`, `RD`, `TH`.
    Capital,
}

/// A pattern with its modifiers.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// Its meaning.
    pub(super) key: Key,
    /// As it is written in the template.
    pub(super) name: String,
    /// The letters it is written in.
    pub(super) letters: Letters,
    /// `FM`: no zeros and blanks.
    pub(super) fill: bool,
    /// `TM`: names in the session's language, without blanks.
    pub(super) translated: bool,
    /// `TH`.
    pub(super) ending: Ending,
}

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A pattern.
    Pattern(Pattern),
    /// A blank outside quotes.
    Space(char),
    /// Punctuation outside quotes.
    Separator(char),
    /// Another character.
    Other(char),
}

impl Key {
    /// Whether values are digits only.
    fn is_digits(self) -> bool {
        !matches!(
            self,
            Key::Era
                | Key::EraDotted
                | Key::Noon
                | Key::NoonDotted
                | Key::DayName
                | Key::DayShort
                | Key::Fixed
                | Key::MonthName
                | Key::MonthShort
                | Key::Offset
                | Key::Roman
                | Key::ZoneHour
                | Key::Zone
        )
    }
}

/// Whether an integer ends where its digits do, so that it may have any number of them: the
/// node behind it, if there is one, is no digit.
pub(super) fn ends_by_itself(nodes: &[Node], at: usize) -> bool {
    if let Some(Node::Pattern(pattern)) = nodes.get(at)
        && pattern.ending != Ending::None
    {
        return true;
    }
    match nodes.get(at + 1) {
        None => true,
        Some(Node::Pattern(next)) => !next.key.is_digits(),
        Some(Node::Space(c) | Node::Separator(c) | Node::Other(c)) => !c.is_ascii_digit(),
    }
}

/// Punctuation.
pub(super) fn is_separator(c: char) -> bool {
    c.is_ascii_punctuation()
}

/// White space as C has it.
pub(super) fn is_space(c: char) -> bool {
    c == ' ' || ('\t'..='\r').contains(&c)
}

/// The pattern at the beginning of a text.
fn key(text: &str) -> Option<(Key, usize, Letters)> {
    let small = |name: &str| {
        text.as_bytes()
            .iter()
            .zip(name.bytes())
            .all(|(a, b)| *a == b.to_ascii_lowercase())
    };
    for (name, key) in KEYS {
        let Some(head) = text.as_bytes().get(..name.len()) else {
            continue;
        };
        if head == name.as_bytes() {
            return Some((*key, name.len(), Letters::Capital));
        }
        if small(name) {
            return Some((*key, name.len(), Letters::Small));
        }
        let names = matches!(
            key,
            Key::DayName | Key::DayShort | Key::MonthName | Key::MonthShort
        );
        if names && head[0] == name.as_bytes()[0] && {
            let rest = head[1..].iter().zip(name.bytes().skip(1));
            rest.into_iter().all(|(a, b)| *a == b.to_ascii_lowercase())
        } {
            return Some((*key, name.len(), Letters::Title));
        }
    }
    None
}

/// The nodes of a template.
fn parse(template: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut rest = template;
    while !rest.is_empty() {
        let (mut fill, mut translated) = (false, false);
        if let Some(more) = rest.strip_prefix("FM").or(rest.strip_prefix("fm")) {
            (fill, rest) = (true, more);
        } else if let Some(more) = rest.strip_prefix("TM").or(rest.strip_prefix("tm")) {
            (translated, rest) = (true, more);
        }
        if let Some((key, length, letters)) = key(rest) {
            let (name, more) = rest.split_at(length);
            rest = more;
            let mut ending = Ending::None;
            if let Some(more) = rest.strip_prefix("TH") {
                (ending, rest) = (Ending::Capital, more);
            } else if let Some(more) = rest.strip_prefix("th") {
                (ending, rest) = (Ending::Small, more);
            } else if let Some(more) = rest.strip_prefix("SP") {
                rest = more;
            }
            nodes.push(Node::Pattern(Pattern {
                key,
                name: name.to_owned(),
                letters,
                fill,
                translated,
                ending,
            }));
            continue;
        }
        if let Some(more) = rest.strip_prefix('"') {
            rest = more;
            let mut chars = rest.char_indices();
            let mut end = rest.len();
            while let Some((at, c)) = chars.next() {
                match c {
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    '\\' => nodes.push(Node::Other(chars.next().map_or('\\', |(_, c)| c))),
                    c => nodes.push(Node::Other(c)),
                }
            }
            rest = &rest[end..];
            continue;
        }
        if rest.starts_with("\\\"") {
            rest = &rest[1..];
        }
        let Some(c) = rest.chars().next() else {
            break;
        };
        rest = &rest[c.len_utf8()..];
        nodes.push(match c {
            c if is_separator(c) => Node::Separator(c),
            c if is_space(c) => Node::Space(c),
            c => Node::Other(c),
        });
    }
    nodes
}

/// A template's text and nodes.
type Parsed = (String, Rc<[Node]>);

thread_local! {
    /// The template that was read last, so that it is not read for every row.
    static LAST: RefCell<Option<Parsed>> = const { RefCell::new(None) };
}

/// The nodes of a template.
pub(super) fn nodes(template: &str) -> Rc<[Node]> {
    LAST.with_borrow_mut(|last| {
        if let Some((text, nodes)) = last
            && text == template
        {
            return Rc::clone(nodes);
        }
        let nodes: Rc<[Node]> = parse(template).into();
        *last = Some((template.to_owned(), Rc::clone(&nodes)));
        nodes
    })
}

/// Names of months.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Names of days, from Sunday.
pub(super) const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// Roman numerals of months.
pub(super) const ROMAN: [&str; 12] = [
    "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII",
];
