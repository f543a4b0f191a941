//! Pictures of numbers: `FM999,990.00`, `S9.9EEEE`, `RN`.
//!
//! A picture is read once into its pieces and what they say together: how many digits it has
//! before and behind the point, where zeros are shown, and how the sign is.
//!
//! | pattern | stands for |
//! |---|---|
//! | `9` | a digit; before the number, a blank |
//! | `0` | a digit, also a zero before the number |
//! | `.` `D` | the point |
//! | `,` `G` | a separator of thousands |
//! | `S` | a sign next to the number |
//! | `MI` `PL` `SG` | a minus, a plus or either at this place |
//! | `PR` | a negative number in angle brackets |
//! | `L` | a currency symbol, which is a blank |
//! | `V` | the digits behind it are of a number without a point, that many places larger |
//! | `RN` `rn` | a Roman number |
//! | `TH` `th` | the suffix of an ordinal |
//! | `EEEE` | scientific notation |
//! | `FM` | no blanks, and no zeros behind the point |
//!
//! `B`, `C` and `SP` are read and do nothing. Other characters and texts in double quotes stand
//! for themselves.

use crate::error::{Error, Result};

/// A pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Comma,
    Point,
    Zero,
    Nine,
    Blank,
    Ignored,
    LocalePoint,
    Scientific,
    Fill,
    Group,
    Currency,
    Minus,
    Plus,
    Brackets,
    Roman { upper: bool },
    AnySign,
    Sign,
    Ordinal { upper: bool },
    Shift,
}

/// All patterns; of two of which one begins as the other, the longer one is first.
const PATTERNS: [(&str, Pattern); 36] = [
    (",", Pattern::Comma),
    (".", Pattern::Point),
    ("0", Pattern::Zero),
    ("9", Pattern::Nine),
    ("B", Pattern::Blank),
    ("C", Pattern::Ignored),
    ("D", Pattern::LocalePoint),
    ("EEEE", Pattern::Scientific),
    ("FM", Pattern::Fill),
    ("G", Pattern::Group),
    ("L", Pattern::Currency),
    ("MI", Pattern::Minus),
    ("PL", Pattern::Plus),
    ("PR", Pattern::Brackets),
    ("RN", Pattern::Roman { upper: true }),
    ("SG", Pattern::AnySign),
    ("SP", Pattern::Ignored),
    ("S", Pattern::Sign),
    ("TH", Pattern::Ordinal { upper: true }),
    ("V", Pattern::Shift),
    ("b", Pattern::Blank),
    ("c", Pattern::Ignored),
    ("d", Pattern::LocalePoint),
    ("eeee", Pattern::Scientific),
    ("fm", Pattern::Fill),
    ("g", Pattern::Group),
    ("l", Pattern::Currency),
    ("mi", Pattern::Minus),
    ("pl", Pattern::Plus),
    ("pr", Pattern::Brackets),
    ("rn", Pattern::Roman { upper: false }),
    ("sg", Pattern::AnySign),
    ("sp", Pattern::Ignored),
    ("s", Pattern::Sign),
    ("th", Pattern::Ordinal { upper: false }),
    ("v", Pattern::Shift),
];

/// A piece of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Pattern(Pattern),
    Literal(char),
}

/// Where the sign of `S` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    #[default]
    Nowhere,
    Before,
    Behind,
}

/// A picture and what its pieces say together.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    pub(super) pieces: Vec<Piece>,
    /// Digits before the point.
    pub(super) whole: usize,
    /// Digits behind it.
    pub(super) fraction: usize,
    /// Digits behind `V`.
    pub(super) shift: usize,
    /// The place of the first `0` among the digits before the point.
    pub(super) first_zero: usize,
    /// The number of digits up to the last `0`.
    pub(super) last_zero: usize,
    /// Digits before `S`.
    pub(super) before_sign: usize,
    /// The sign of `S`.
    pub(super) sign: Place,
    pub(super) has_point: bool,
    pub(super) has_shift: bool,
    pub(super) has_zero: bool,
    pub(super) has_blank: bool,
    pub(super) has_sign: bool,
    pub(super) has_minus: bool,
    pub(super) has_plus: bool,
    pub(super) has_brackets: bool,
    pub(super) is_roman: bool,
    pub(super) is_scientific: bool,
    pub(super) is_filled: bool,
}

/// `42601` of patterns that do not go together.
fn bad(message: &str) -> Error {
    Error::new("42601", message)
}

impl Picture {
    /// Reads a picture.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut picture = Self::default();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let known = PATTERNS.iter().find(|(name, _)| rest.starts_with(name));
            if let Some((name, pattern)) = known {
                picture.note(*pattern)?;
                picture.pieces.push(Piece::Pattern(*pattern));
                rest = &rest[name.len()..];
                continue;
            }
            rest = &rest[first.len_utf8()..];
            match first {
                '"' => rest = picture.quoted(rest),
                '\\' if rest.starts_with('"') => {
                    picture.pieces.push(Piece::Literal('"'));
                    rest = &rest[1..];
                }
                other => picture.pieces.push(Piece::Literal(other)),
            }
        }
        Ok(picture)
    }

    /// Adds the characters of a text in quotes and returns what is behind it.
    fn quoted<'a>(&mut self, text: &'a str) -> &'a str {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            let c = match c {
                '"' => break,
                '\\' => chars.next().unwrap_or('\\'),
                other => other,
            };
            self.pieces.push(Piece::Literal(c));
        }
        chars.as_str()
    }

    /// Takes note of a pattern.
    fn note(&mut self, pattern: Pattern) -> Result<()> {
        if self.is_scientific && pattern != Pattern::Scientific {
            return Err(bad("\"EEEE\" must be the last pattern used"));
        }
        match pattern {
            Pattern::Nine => {
                if self.has_brackets {
                    return Err(bad("\"9\" must be ahead of \"PR\""));
                }
                let digits = match (self.has_shift, self.has_point) {
                    (true, _) => &mut self.shift,
                    (_, true) => &mut self.fraction,
                    _ => &mut self.whole,
                };
                *digits += 1;
            }
            Pattern::Zero => {
                if self.has_brackets {
                    return Err(bad("\"0\" must be ahead of \"PR\""));
                }
                if !self.has_zero && !self.has_point {
                    self.has_zero = true;
                    self.first_zero = self.whole;
                }
                match self.has_point {
                    true => self.fraction += 1,
                    false => self.whole += 1,
                }
                self.last_zero = self.whole + self.fraction;
            }
            Pattern::Blank => {
                self.has_blank |= self.whole == 0 && self.fraction == 0 && !self.has_zero;
            }
            Pattern::Point | Pattern::LocalePoint => {
                if self.has_point {
                    return Err(bad("multiple decimal points"));
                }
                if self.has_shift {
                    return Err(bad("cannot use \"V\" and decimal point together"));
                }
                self.has_point = true;
            }
            Pattern::Shift => {
                if self.has_point {
                    return Err(bad("cannot use \"V\" and decimal point together"));
                }
                self.has_shift = true;
            }
            Pattern::Fill => self.is_filled = true,
            Pattern::Sign => self.note_sign()?,
            Pattern::Minus => {
                self.no_sign("MI")?;
                self.has_minus = true;
            }
            Pattern::Plus => {
                self.no_sign("PL")?;
                self.has_plus = true;
            }
            Pattern::AnySign => {
                self.no_sign("SG")?;
                self.has_minus = true;
                self.has_plus = true;
            }
            Pattern::Brackets => {
                if self.has_sign || self.has_plus || self.has_minus {
                    return Err(bad(
                        "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together",
                    ));
                }
                self.has_brackets = true;
            }
            Pattern::Roman { .. } => self.is_roman = true,
            Pattern::Scientific => self.note_scientific()?,
            Pattern::Comma
            | Pattern::Group
            | Pattern::Currency
            | Pattern::Ordinal { .. }
            | Pattern::Ignored => {}
        }
        Ok(())
    }

    fn note_sign(&mut self) -> Result<()> {
        if self.has_sign {
            return Err(bad("cannot use \"S\" twice"));
        }
        if self.has_plus || self.has_minus || self.has_brackets {
            return Err(bad(
                "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together",
            ));
        }
        self.has_sign = true;
        self.before_sign = self.whole;
        self.sign = if self.has_point {
            Place::Behind
        } else {
            Place::Before
        };
        Ok(())
    }

    fn note_scientific(&mut self) -> Result<()> {
        if self.is_scientific {
            return Err(bad("cannot use \"EEEE\" twice"));
        }
        let others = [
            self.has_blank,
            self.is_filled,
            self.has_sign,
            self.has_brackets,
            self.has_minus,
            self.has_plus,
            self.is_roman,
            self.has_shift,
        ];
        if others.contains(&true) {
            let detail =
                "\"EEEE\" may only be used together with digit and decimal point patterns.";
            let error = bad("\"EEEE\" is incompatible with other formats");
            return Err(error.with_detail(detail));
        }
        self.is_scientific = true;
        Ok(())
    }

    /// Refuses a sign of another kind beside `S`.
    fn no_sign(&self, other: &str) -> Result<()> {
        match self.has_sign {
            true => Err(bad(&format!("cannot use \"S\" and \"{other}\" together"))),
            false => Ok(()),
        }
    }
}
