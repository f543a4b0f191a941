//! COMMENT ON: what people note about tables.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::TableSchema;

/// Notes about a table and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comments {
    /// About the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// About columns, by their positions in [`TableSchema::columns`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<usize, String>,
    /// About constraints, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constraints: BTreeMap<String, String>,
    /// About indexes, by their numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub indexes: BTreeMap<u32, String>,
}

impl Comments {
    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Tells that a column goes away; numbers behind it move up.
    pub(crate) fn shift(&mut self, number: usize) {
        let columns = std::mem::take(&mut self.columns).into_iter();
        let columns = columns.filter(|(column, _)| *column != number);
        self.columns = columns
            .map(|(column, text)| (column - usize::from(column > number), text))
            .collect();
    }
}

impl TableSchema {
    /// Whether a key, a condition or a reference is called so.
    pub fn has_constraint(&self, name: &str) -> bool {
        self.keys.iter().any(|key| key.name == name)
            || self.checks.iter().any(|check| check.name == name)
            || self.foreign_keys.iter().any(|key| key.name == name)
    }

    /// Forgets the notes about constraints and indexes that are no more.
    pub fn prune_comments(&mut self) {
        let mut comments = std::mem::take(&mut self.comments);
        comments
            .constraints
            .retain(|name, _| self.has_constraint(name));
        let is_there = |number: &u32| self.indexes.iter().any(|index| index.number == *number);
        comments.indexes.retain(|number, _| is_there(number));
        self.comments = comments;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Check;

    #[test]
    fn comments_go_with_what_they_are_about() {
        let texts = |pairs: &[(usize, &str)]| -> BTreeMap<usize, String> {
            let pairs = pairs.iter();
            pairs.map(|(at, text)| (*at, text.to_string())).collect()
        };
        let mut comments = Comments {
            columns: texts(&[(0, "a"), (1, "b"), (3, "d")]),
            ..Comments::default()
        };
        comments.shift(1);
        assert_eq!(comments.columns, texts(&[(0, "a"), (2, "d")]));

        let mut schema = TableSchema {
            checks: vec![Check {
                name: "kept".into(),
                condition: "true".into(),
                columns: Vec::new(),
                unvalidated: false,
            }],
            comments,
            ..TableSchema::default()
        };
        for name in ["kept", "gone"] {
            let constraints = &mut schema.comments.constraints;
            constraints.insert(name.into(), "text".into());
        }
        schema.comments.indexes.insert(7, "text".into());
        schema.prune_comments();
        let names: Vec<&String> = schema.comments.constraints.keys().collect();
        assert_eq!(names, ["kept"]);
        assert!(schema.comments.indexes.is_empty());

        let text = serde_json::to_string(&schema.comments).unwrap();
        assert_eq!(
            text,
            r#"{"columns":{"0":"a","2":"d"},"constraints":{"kept":"text"}}"#
        );
        let read: Comments = serde_json::from_str(&text).unwrap();
        assert_eq!(read, schema.comments);
    }
}
