//! Sets of characters: ranges and classes, or all but these.

use std::fmt::Write;

/// A named class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Letters and numbers.
    Alnum,
    /// Letters.
    Alpha,
    /// ASCII.
    Ascii,
    /// Blank and tab.
    Blank,
    /// Control characters.
    Cntrl,
    /// The digits 0 to 9.
    Digit,
    /// Visible characters.
    Graph,
    /// Letters in lower case.
    Lower,
    /// Visible characters and blanks.
    Print,
    /// Signs: visible, but no letters or numbers.
    Punct,
    /// White space.
    Space,
    /// Letters in upper case.
    Upper,
    /// Hexadecimal digits.
    Xdigit,
    /// Letters, numbers and the underscore.
    Word,
}

impl Class {
    /// The class of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "alnum" => Class::Alnum,
            "alpha" => Class::Alpha,
            "ascii" => Class::Ascii,
            "blank" => Class::Blank,
            "cntrl" => Class::Cntrl,
            "digit" => Class::Digit,
            "graph" => Class::Graph,
            "lower" => Class::Lower,
            "print" => Class::Print,
            "punct" => Class::Punct,
            "space" => Class::Space,
            "upper" => Class::Upper,
            "xdigit" => Class::Xdigit,
            "word" => Class::Word,
            _ => return None,
        })
    }

    /// Whether a character is in it.
    pub fn has(self, c: char) -> bool {
        match self {
            Class::Alnum => c.is_alphanumeric(),
            Class::Alpha => c.is_alphabetic(),
            Class::Ascii => c.is_ascii(),
            Class::Blank => c == ' ' || c == '\t',
            Class::Cntrl => c.is_control(),
            Class::Digit => c.is_ascii_digit(),
            Class::Graph => !c.is_control() && !c.is_whitespace(),
            Class::Lower => c.is_lowercase(),
            Class::Print => !c.is_control() && (c == ' ' || !c.is_whitespace()),
            Class::Punct => !c.is_control() && !c.is_whitespace() && !c.is_alphanumeric(),
            Class::Space => c.is_whitespace(),
            Class::Upper => c.is_uppercase(),
            Class::Xdigit => c.is_ascii_hexdigit(),
            Class::Word => c == '_' || c.is_alphanumeric(),
        }
    }

    /// The class for the crate that searches, within brackets.
    fn pattern(self) -> &'static str {
        match self {
            Class::Alnum => r"\p{Alphabetic}\p{N}",
            Class::Alpha => r"\p{Alphabetic}",
            Class::Ascii => r"\x{0}-\x{7f}",
            Class::Blank => r" \t",
            Class::Cntrl => r"\p{Cc}",
            Class::Digit => "0-9",
            Class::Graph => r"[^\p{Cc}\p{White_Space}]",
            Class::Lower => r"\p{Lowercase}",
            Class::Print => r"[^\p{Cc}\p{White_Space}] ",
            Class::Punct => r"[^\p{Cc}\p{White_Space}\p{Alphabetic}\p{N}]",
            Class::Space => r"\p{White_Space}",
            Class::Upper => r"\p{Uppercase}",
            Class::Xdigit => "0-9A-Fa-f",
            Class::Word => r"_\p{Alphabetic}\p{N}",
        }
    }
}

/// A set of characters.
#[derive(Clone, Debug, Default)]
pub struct Set {
    ranges: Vec<(char, char)>,
    classes: Vec<(Class, bool)>,
    /// Whether it has all characters but those.
    negated: bool,
    /// Whether the newline is not in it, though it would be.
    no_newline: bool,
    /// Its members below 128, as bits.
    ascii: u128,
}

impl Set {
    /// A set of one character.
    pub fn one(c: char, any_case: bool) -> Self {
        let mut set = Self::default();
        set.add(c, c, any_case);
        set.finish()
    }

    /// All characters, or all but the newline.
    pub fn all(no_newline: bool) -> Self {
        let mut set = Self::default();
        set.negate(no_newline);
        set.finish()
    }

    /// Adds a range.
    pub fn add(&mut self, from: char, to: char, any_case: bool) {
        self.ranges.push((from, to));
        if any_case {
            // Ranges beyond a few thousand characters have most of their letters in both cases.
            for c in (from..=to).take(4096) {
                for other in cases(c) {
                    if other < from || other > to {
                        self.ranges.push((other, other));
                    }
                }
            }
        }
    }

    /// Adds a class, or all that is not in it.
    pub fn add_class(&mut self, class: Class, negated: bool) {
        self.classes.push((class, negated));
    }

    /// Makes it the set of all others, perhaps without the newline.
    pub fn negate(&mut self, no_newline: bool) {
        self.negated = true;
        self.no_newline = no_newline;
    }

    /// Makes it ready to be asked.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.ascii = (0..128u8)
            .filter(|byte| self.found(char::from(*byte)))
            .fold(0, |bits, byte| bits | 1 << byte);
        self
    }

    fn found(&self, c: char) -> bool {
        if c == '\n' && self.no_newline {
            return false;
        }
        let within = self
            .ranges
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&c));
        let within = within || self.classes.iter().any(|(class, not)| class.has(c) != *not);
        within != self.negated
    }

    /// Whether a character is in it.
    #[inline]
    pub fn has(&self, c: char) -> bool {
        match u32::from(c) {
            code @ 0..128 => self.ascii >> code & 1 == 1,
            _ => self.found(c),
        }
    }

    /// Whether it surely has no character in common with another.
    pub fn is_apart(&self, other: &Set) -> bool {
        self.ascii & other.ascii == 0 && (self.is_ascii() || other.is_ascii())
    }

    /// Whether it surely has characters below 128 only.
    fn is_ascii(&self) -> bool {
        let few = |(class, not): &(Class, bool)| {
            matches!(
                class,
                Class::Ascii | Class::Blank | Class::Digit | Class::Xdigit
            ) && !not
        };
        !self.negated
            && self.ranges.iter().all(|(_, to)| to.is_ascii())
            && self.classes.iter().all(few)
    }

    /// The set for the crate that searches.
    pub fn pattern(&self) -> String {
        let mut inner = String::new();
        for (from, to) in &self.ranges {
            let _ = write!(inner, r"\x{{{:x}}}-\x{{{:x}}}", *from as u32, *to as u32);
        }
        for (class, negated) in &self.classes {
            match negated {
                true => drop(write!(inner, "[^{}]", class.pattern())),
                false => inner.push_str(class.pattern()),
            }
        }
        match (self.negated, inner.is_empty()) {
            (true, true) if self.no_newline => r"[^\n]".to_owned(),
            (true, true) => "(?s:.)".to_owned(),
            (false, true) => r"[^\x{0}-\x{10ffff}]".to_owned(),
            (true, false) if self.no_newline => format!(r"[^{inner}\n]"),
            (true, false) => format!("[^{inner}]"),
            (false, false) => format!("[{inner}]"),
        }
    }
}

/// The other cases of a character, as far as they are one character each.
pub fn cases(c: char) -> impl Iterator<Item = char> {
    let one = |mut all: Box<dyn Iterator<Item = char>>| match (all.next(), all.next()) {
        (Some(one), None) if one != c => Some(one),
        _ => None,
    };
    let lower = one(Box::new(c.to_lowercase()));
    let upper = one(Box::new(c.to_uppercase()));
    lower.into_iter().chain(upper)
}
