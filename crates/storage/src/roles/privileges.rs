//! What may be done with an object.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::BitOr;

/// Some privileges. Stored as PostgreSQL's letters, such as `arw`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Privileges(u16);

/// Each with its letter and its name.
const KNOWN: [(Privileges, char, &str); 8] = [
    (Privileges::INSERT, 'a', "INSERT"),
    (Privileges::SELECT, 'r', "SELECT"),
    (Privileges::UPDATE, 'w', "UPDATE"),
    (Privileges::DELETE, 'd', "DELETE"),
    (Privileges::TRUNCATE, 'D', "TRUNCATE"),
    (Privileges::REFERENCES, 'x', "REFERENCES"),
    (Privileges::USAGE, 'U', "USAGE"),
    (Privileges::CREATE, 'C', "CREATE"),
];

impl Privileges {
    /// None.
    pub const NONE: Self = Self(0);
    /// To read rows, or a sequence's number.
    pub const SELECT: Self = Self(1);
    /// To add rows.
    pub const INSERT: Self = Self(1 << 1);
    /// To change rows, or a sequence's number.
    pub const UPDATE: Self = Self(1 << 2);
    /// To delete rows.
    pub const DELETE: Self = Self(1 << 3);
    /// To delete all rows at once.
    pub const TRUNCATE: Self = Self(1 << 4);
    /// To refer to rows by a foreign key.
    pub const REFERENCES: Self = Self(1 << 5);
    /// To name what is in a schema, to take numbers of a sequence.
    pub const USAGE: Self = Self(1 << 6);
    /// To make something in a schema.
    pub const CREATE: Self = Self(1 << 7);
    /// All that a table or a view has.
    pub const OF_TABLES: Self = Self(0b11_1111);
    /// All that a column has.
    pub const OF_COLUMNS: Self = Self(0b10_0111);
    /// All that a sequence has.
    pub const OF_SEQUENCES: Self = Self(1 | 1 << 2 | 1 << 6);
    /// All that a schema has.
    pub const OF_SCHEMAS: Self = Self(0b1100_0000);

    /// Whether all of `other` are among them.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some of `other` are among them.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Those that are not among `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The privilege of that name, in upper case.
    pub fn named(name: &str) -> Option<Self> {
        let mut known = KNOWN.iter();
        known.find(|known| known.2 == name).map(|known| known.0)
    }

    /// The name of the privilege of a letter, those of PostgreSQL that are none here among them.
    pub fn name_of_letter(letter: char) -> Option<&'static str> {
        let others = [
            ('t', "TRIGGER"),
            ('X', "EXECUTE"),
            ('c', "CONNECT"),
            ('T', "TEMPORARY"),
        ];
        let known = KNOWN.iter().map(|(_, known, name)| (*known, *name));
        let mut all = known.chain(others);
        all.find(|(known, _)| *known == letter)
            .map(|(_, name)| name)
    }

    /// Each of them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = KNOWN.iter().filter(move |known| self.contains(known.0));
        known.map(|known| known.2)
    }
}

impl BitOr for Privileges {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// PostgreSQL's letters.
impl fmt::Display for Privileges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut known = KNOWN.iter().filter(|known| self.contains(known.0));
        known.try_for_each(|known| write!(f, "{}", known.1))
    }
}

impl From<Privileges> for String {
    fn from(privileges: Privileges) -> Self {
        privileges.to_string()
    }
}

impl TryFrom<String> for Privileges {
    type Error = String;

    fn try_from(letters: String) -> Result<Self, String> {
        letters.chars().try_fold(Self::NONE, |all, letter| {
            let known = KNOWN.iter().find(|known| known.1 == letter);
            let known = known.ok_or_else(|| format!("'{letter}' is no privilege"))?;
            Ok(all | known.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_as_they_are_written() {
        let all = Privileges::OF_TABLES | Privileges::OF_SCHEMAS;
        assert_eq!(all.to_string(), "arwdDxUC");
        assert_eq!(Privileges::try_from(all.to_string()), Ok(all));
        assert!(Privileges::try_from("rq".to_owned()).is_err());
        let names: Vec<_> = Privileges::OF_SEQUENCES.names().collect();
        assert_eq!(names, ["SELECT", "UPDATE", "USAGE"]);
        assert_eq!(Privileges::named("DELETE"), Some(Privileges::DELETE));
    }
}
