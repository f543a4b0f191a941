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

use crate::ids::TableId;
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

/// CHECK: a condition that is FALSE for no row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Constraint name.
    pub name: String,
    /// The condition as SQL.
    pub condition: String,
    /// Positions of the columns in it.
    pub columns: Vec<usize>,
}

/// FOREIGN KEY: columns whose values, unless one is NULL, are a key of a parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Constraint name.
    pub name: String,
    /// Positions of the columns.
    pub columns: Vec<usize>,
    /// The table that is referred to.
    pub parent: TableId,
    /// Positions of a key's columns there, in the order of `columns`.
    pub parent_columns: Vec<usize>,
    /// What becomes of rows whose parent is deleted.
    pub on_delete: ForeignAction,
    /// What becomes of rows whose parent gets another key.
    pub on_update: ForeignAction,
}

/// What becomes of rows whose parent row changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForeignAction {
    /// The change is refused.
    #[default]
    Restrict,
    /// The rows follow.
    Cascade,
    /// Their columns become NULL.
    SetNull,
    /// Their columns get their defaults.
    SetDefault,
}

/// The columns of a table, in order, and its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSchema {
    /// Columns in declaration order; a column's position is its number everywhere.
    pub columns: Vec<Column>,
    /// Keys declared over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Key>,
    /// Conditions on rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// References to other tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
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

    /// Whether rows that are right for this are right for `other`: the columns are
    /// the same, and so is what must hold for them.
    pub fn same_rows(&self, other: &TableSchema) -> bool {
        let column =
            |a: &Column, b: &Column| (&a.name, a.kind, a.nullable) == (&b.name, b.kind, b.nullable);
        let columns = self.columns.len() == other.columns.len()
            && self
                .columns
                .iter()
                .zip(&other.columns)
                .all(|(a, b)| column(a, b));
        columns
            && self.keys == other.keys
            && self.checks == other.checks
            && self.foreign_keys == other.foreign_keys
    }

    /// Whether any of `columns` is part of a key or a foreign key.
    pub fn are_keyed(&self, columns: &[usize]) -> bool {
        let keys = self.keys.iter().map(|key| &key.columns);
        let foreign = self.foreign_keys.iter().map(|key| &key.columns);
        let mut keyed = keys.chain(foreign).flatten();
        keyed.any(|column| columns.contains(column))
    }

    /// Whether an index is there because of a key.
    pub fn is_of_key(&self, index: &IndexDefinition) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|key| key.name == index.name && key.columns == index.columns)
    }
}
