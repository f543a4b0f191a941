//! Indexes as declared: `CREATE INDEX name ON table USING kind (columns)`.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What an index is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum IndexKind {
    /// CSB+-tree: equality and ranges, keys that seldom repeat (Q5).
    Csb = 1,
    /// Each key once with the set of its rows: equality on keys that repeat.
    Inverted = 2,
    /// Blocked Bloom filter: rules out blocks for equality.
    Bloom = 3,
    /// A name for the zone maps that every block has: no block has a part of it.
    Brin = 4,
}

impl IndexKind {
    /// Every kind that blocks have parts of.
    pub const ALL: [IndexKind; 3] = [IndexKind::Csb, IndexKind::Inverted, IndexKind::Bloom];

    /// Whether every block has its own part of such an index.
    pub fn has_parts(self) -> bool {
        self != IndexKind::Brin
    }
}

impl fmt::Display for IndexKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IndexKind::Csb => "csb",
            IndexKind::Inverted => "inverted",
            IndexKind::Bloom => "bloom",
            IndexKind::Brin => "brin",
        })
    }
}

impl FromStr for IndexKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<IndexKind> {
        match text.to_ascii_lowercase().as_str() {
            // What PostgreSQL's tools write.
            "csb" | "btree" | "hash" => Ok(IndexKind::Csb),
            "inverted" => Ok(IndexKind::Inverted),
            "bloom" => Ok(IndexKind::Bloom),
            "brin" => Ok(IndexKind::Brin),
            _ => Err(
                Error::invalid("42704", format!("there is no index of kind \"{text}\""))
                    .with_hint("Valid kinds: csb (also btree and hash), inverted, bloom, brin."),
            ),
        }
    }
}

/// An index of a table; every block has its own part of it, if its kind has parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDefinition {
    /// Number, unique in the table for all time.
    pub number: u32,
    /// Name, unique in the schema.
    pub name: String,
    /// What it is made of.
    pub kind: IndexKind,
    /// Positions in [`TableSchema::columns`](super::TableSchema::columns).
    pub columns: Vec<usize>,
    /// The clauses of its statement that change nothing in blocks.
    #[serde(default, skip_serializing_if = "IndexForm::is_plain")]
    pub form: IndexForm,
}

/// The clauses of CREATE INDEX that change nothing in blocks, which are read in any order and
/// hold all columns. The catalog tells them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexForm {
    /// USING hash: an index of the kind of ordered ones that the catalog calls so.
    #[serde(default, skip_serializing_if = "is_not")]
    pub hash: bool,
    /// How the columns are written, in their order; none if all are in the usual form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<ElementForm>,
    /// Positions of the columns behind INCLUDE.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<usize>,
}

fn is_not(said: &bool) -> bool {
    !said
}

impl IndexForm {
    /// Whether nothing is said.
    pub fn is_plain(&self) -> bool {
        *self == IndexForm::default()
    }

    /// The form of the element of a place.
    pub fn element(&self, place: usize) -> ElementForm {
        self.elements.get(place).cloned().unwrap_or_default()
    }
}

/// How one column of an index is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ElementForm {
    /// DESC.
    pub descending: bool,
    /// Whether NULLs come first: by NULLS FIRST, or by DESC without NULLS LAST.
    pub nulls_first: bool,
    /// The name behind COLLATE.
    pub collation: Option<String>,
    /// The name of the operator class.
    pub class: Option<String>,
}
