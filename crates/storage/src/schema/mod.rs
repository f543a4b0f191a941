//! What a table looks like: its columns, keys and physical options.

mod codecs;
mod index;
mod options;
mod types;
mod value;

pub use codecs::{CodecChoice, CodecName};
pub use index::{IndexDefinition, IndexKind};
pub use options::{
    BLOCK_BYTES_MAX, BLOCK_BYTES_MIN, Layout, PAGE_BYTES_MAX, PAGE_BYTES_MIN, TableOptions,
};
pub use types::{ColumnType, Physical};
pub use value::Value;

use arrow_schema::{Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most columns a table may have: their number is a `u16` in the block header.
pub const COLUMNS_MAX: usize = 4096;

/// One column as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Name, in the case it was declared with.
    pub name: String,
    /// Declared SQL type.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// SQL text of the DEFAULT expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// PRIMARY KEY or UNIQUE over some columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Constraint name.
    pub name: String,
    /// Positions in [`TableSchema::columns`].
    pub columns: Vec<usize>,
    /// Whether it is the primary key.
    pub primary: bool,
}

/// The columns of a table, in order, and its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSchema {
    /// Columns in declaration order; a column's position is its number everywhere.
    pub columns: Vec<Column>,
    /// Keys declared over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Key>,
    /// Indexes over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<IndexDefinition>,
    /// Numbers that indexes were given so far; none is given twice.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub index_numbers: u32,
}

/// Where a table's column is found in older blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the block's own column of this number.
    Stored(usize),
    /// Nowhere: every row has this value, in stored form as hex digits, or NULL.
    Missing(Option<String>),
}

/// Columns that a table had once, and where today's are among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerColumns {
    /// Those that blocks of this version were written with.
    pub columns: Vec<Column>,
    /// One place for each column of today.
    pub places: Vec<Place>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl TableSchema {
    /// The Arrow schema that scans produce and writers accept.
    pub fn arrow(&self) -> SchemaRef {
        Arc::new(Schema::new(
            self.columns
                .iter()
                .map(|column| Field::new(&column.name, column.kind.arrow(), column.nullable))
                .collect::<Vec<_>>(),
        ))
    }

    /// Position of the column called `name` (exact case).
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Gives each key an index of its name, where its columns can have one: what
    /// keeps a key unique is a probe, not a scan.
    pub fn index_keys(&mut self) {
        for key in &self.keys {
            let indexed = self.indexes.iter().any(|index| index.name == key.name);
            let mut kinds = key.columns.iter();
            let can = kinds.all(|column| self.columns[*column].kind.physical().has_order());
            if !indexed && can {
                self.index_numbers += 1;
                self.indexes.push(IndexDefinition {
                    number: self.index_numbers,
                    name: key.name.clone(),
                    kind: IndexKind::Csb,
                    columns: key.columns.clone(),
                });
            }
        }
    }

    /// Whether an index is there because of a key.
    pub fn is_of_key(&self, index: &IndexDefinition) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|key| key.name == index.name && key.columns == index.columns)
    }
}
