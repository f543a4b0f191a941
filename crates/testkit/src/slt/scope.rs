//! Which records Freestone cannot be asked yet, because they need UPDATE,
//! DELETE or CREATE UNIQUE INDEX.
//!
//! The statement itself is left out, and so is every query over a table that
//! such a statement would have changed: its answer depends on it.

use std::collections::HashSet;

/// What a statement needs that Freestone does not have yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// UPDATE, DELETE or REPLACE: later answers depend on it.
    Change,
    /// CREATE UNIQUE INDEX, REINDEX.
    Index,
}

/// Follows one file and says which of its records are out of scope.
#[derive(Debug, Default)]
pub struct Scope {
    changed: HashSet<String>,
    /// Unique indexes that were not created.
    indexes: HashSet<String>,
}

impl Scope {
    /// Whether the record with this SQL is left out. A statement that is
    /// expected to fail changes no table.
    pub fn leaves_out(&mut self, sql: &str, expected_to_fail: bool) -> bool {
        let words = words(sql);
        match need(&words) {
            Some((Need::Change, table)) => {
                if !expected_to_fail {
                    self.changed.insert(table);
                }
                true
            }
            Some((Need::Index, index)) => {
                self.indexes.insert(index);
                true
            }
            None if first_two(&words) == ("drop", "index") => {
                words.iter().any(|word| self.indexes.contains(word))
            }
            None => {
                if matches!(first_two(&words), ("drop" | "create", "table")) {
                    self.changed.retain(|table| !words.contains(table));
                    return false;
                }
                words.iter().any(|word| self.changed.contains(word))
            }
        }
    }
}

fn first_two(words: &[String]) -> (&str, &str) {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    (word(0), word(1))
}

/// What a statement needs, and the table it changes.
fn need(words: &[String]) -> Option<(Need, String)> {
    let after = |word: &str| {
        let at = words.iter().position(|w| w == word)?;
        words.get(at + 1).cloned()
    };
    match first_two(words) {
        ("update", table) => Some((Need::Change, table.to_string())),
        ("delete", _) => Some((Need::Change, after("from").unwrap_or_default())),
        ("replace", _) | ("insert", "or") => {
            Some((Need::Change, after("into").unwrap_or_default()))
        }
        ("create", "unique") | ("reindex", _) => {
            Some((Need::Index, after("index").unwrap_or_default()))
        }
        _ => None,
    }
}

fn words(sql: &str) -> Vec<String> {
    sql.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Scope;

    #[test]
    fn changes_taint_their_table_until_it_goes() {
        let mut scope = Scope::default();
        assert!(!scope.leaves_out("SELECT count(*) FROM t1", false));
        assert!(scope.leaves_out("UPDATE t1 SET z='foo'", true));
        assert!(!scope.leaves_out("SELECT count(*) FROM t1", false));
        assert!(scope.leaves_out("UPDATE t1 SET x=1 WHERE x>0", false));
        assert!(scope.leaves_out("SELECT count(*) FROM T1 WHERE x=3", false));
        assert!(!scope.leaves_out("SELECT count(*) FROM t11", false));
        assert!(!scope.leaves_out("DROP TABLE t1", false));
        assert!(!scope.leaves_out("SELECT count(*) FROM t1", false));
    }

    #[test]
    fn an_index_changes_no_answer() {
        let mut scope = Scope::default();
        assert!(scope.leaves_out("CREATE UNIQUE INDEX i ON tab1 (col0 DESC)", false));
        assert!(scope.leaves_out("DROP INDEX i", true));
        assert!(!scope.leaves_out("SELECT col0 FROM tab1", false));
    }

    #[test]
    fn replacing_is_a_change() {
        for sql in [
            "INSERT OR REPLACE INTO t VALUES(1)",
            "REPLACE INTO t VALUES(1)",
            "DELETE FROM t WHERE a",
        ] {
            let mut scope = Scope::default();
            assert!(scope.leaves_out(sql, false));
            assert!(scope.leaves_out("SELECT * FROM t", false));
        }
    }
}
