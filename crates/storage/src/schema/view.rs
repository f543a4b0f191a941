//! The query of a view, and the relations that it reads.
//!
//! The query is kept as text. Its names mean what they meant when the view was made:
//!
//! ```text
//! CREATE VIEW v AS SELECT * FROM t      v reads t with its columns a and b
//! ALTER TABLE t ADD COLUMN c            v has a and b as before
//! ALTER TABLE t RENAME COLUMN b TO x    v reads x of t, and calls it b
//! ALTER TABLE t RENAME TO u             v reads u, and calls it t
//! ```
//!
//! For each relation there is a note of its name and its columns then and now. Changes of the
//! catalog keep the notes right. Views that were made before there were notes have none: their
//! names mean what they mean now.
//!
//! Options such as `check_option` are kept beside the query, in the order in which they were given,
//! and so are defaults of the view's columns.

use serde::{Deserialize, Serialize};

/// A schema and a name in it.
pub type RelationName = (String, String);

/// The query of a view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct ViewQuery {
    /// Its text.
    pub sql: String,
    /// The relations that it names.
    pub reads: Vec<ReadRelation>,
    /// Options of the view, each with its value.
    pub options: Vec<(String, String)>,
    /// Columns of the view that have a default of their own, each with its expression.
    pub defaults: Vec<(String, String)>,
}

/// A relation that a view reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRelation {
    /// Its name when the view was made.
    pub then: RelationName,
    /// Its name now.
    pub now: RelationName,
    /// The columns that it had then, each with its name then and now; those that are gone are
    /// left out.
    pub columns: Vec<(String, String)>,
}

/// A query without notes is its text alone.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Text(String),
    Noted {
        sql: String,
        reads: Vec<ReadRelation>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<(String, String)>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        defaults: Vec<(String, String)>,
    },
}

impl From<&str> for ViewQuery {
    fn from(sql: &str) -> Self {
        Self {
            sql: sql.to_owned(),
            ..Self::default()
        }
    }
}

impl From<Stored> for ViewQuery {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Text(sql) => Self {
                sql,
                ..Self::default()
            },
            Stored::Noted {
                sql,
                reads,
                options,
                defaults,
            } => Self {
                sql,
                reads,
                options,
                defaults,
            },
        }
    }
}

impl From<ViewQuery> for Stored {
    fn from(query: ViewQuery) -> Self {
        match query.reads.is_empty() && !query.has_options() {
            true => Self::Text(query.sql),
            false => Self::Noted {
                sql: query.sql,
                reads: query.reads,
                options: query.options,
                defaults: query.defaults,
            },
        }
    }
}

impl ViewQuery {
    /// Whether there are options or defaults.
    pub fn has_options(&self) -> bool {
        !self.options.is_empty() || !self.defaults.is_empty()
    }

    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        let mut options = self.options.iter();
        let found = options.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The relation that a name of the query means.
    pub fn read(&self, schema: &str, name: &str) -> Option<&ReadRelation> {
        let mut reads = self.reads.iter();
        reads.find(|read| read.then.0 == schema && read.then.1 == name)
    }

    /// Notes another name of a relation. Whether it is read.
    pub(crate) fn rename(&mut self, from: (&str, &str), to: (&str, &str)) -> bool {
        self.noted(from, |read| {
            read.now = (to.0.to_owned(), to.1.to_owned());
        })
    }

    /// Notes another name of a relation's column, or that it is gone. Whether the relation is
    /// read.
    pub(crate) fn rename_column(
        &mut self,
        relation: (&str, &str),
        from: &str,
        to: Option<&str>,
    ) -> bool {
        self.noted(relation, |read| match to {
            Some(to) => {
                for (_, now) in read.columns.iter_mut().filter(|(_, now)| now == from) {
                    to.clone_into(now);
                }
            }
            None => read.columns.retain(|(_, now)| now != from),
        })
    }

    fn noted(&mut self, name: (&str, &str), note: impl Fn(&mut ReadRelation)) -> bool {
        let reads = self.reads.iter_mut();
        let mut reads = reads.filter(|read| read.now.0 == name.0 && read.now.1 == name.1);
        let first = reads.next();
        let found = first.is_some();
        first.into_iter().chain(reads).for_each(note);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query() -> ViewQuery {
        let name = |name: &str| ("main".to_owned(), name.to_owned());
        let column = |name: &str| (name.to_owned(), name.to_owned());
        ViewQuery {
            sql: "SELECT * FROM t".to_owned(),
            reads: vec![ReadRelation {
                then: name("t"),
                now: name("t"),
                columns: vec![column("a"), column("b")],
            }],
            ..ViewQuery::default()
        }
    }

    #[test]
    fn notes_follow_names() {
        let mut query = query();
        assert!(query.rename_column(("main", "t"), "b", Some("x")));
        assert!(query.rename(("main", "t"), ("main", "u")));
        assert!(!query.rename_column(("main", "t"), "a", None));
        assert!(query.rename_column(("main", "u"), "a", None));
        let read = query.read("main", "t").unwrap();
        assert_eq!(read.now.1, "u");
        assert_eq!(read.columns, [("b".to_owned(), "x".to_owned())]);
    }

    #[test]
    fn a_query_without_notes_is_stored_as_text() {
        let bare = ViewQuery {
            reads: Vec::new(),
            ..query()
        };
        let optional = ViewQuery {
            options: vec![("check_option".to_owned(), "local".to_owned())],
            defaults: vec![("a".to_owned(), "7".to_owned())],
            ..bare.clone()
        };
        assert_eq!(optional.option("check_option"), Some("local"));
        for (query, stored) in [
            (bare, "\"SELECT * FROM t\""),
            (query(), "{\"sql\":"),
            (optional, "{\"sql\":"),
        ] {
            let text = serde_json::to_string(&query).unwrap();
            assert!(text.starts_with(stored), "{text}");
            assert_eq!(serde_json::from_str::<ViewQuery>(&text).unwrap(), query);
        }
    }
}
