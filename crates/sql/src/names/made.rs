//! Names for constraints, indexes and sequences that nobody gives one: those of PostgreSQL.
//!
//! ```text
//! t, primary key                     t_pkey
//! t, unique a and b                  t_a_b_key, or t_a_b_key1 if that is taken
//! long_table_name…, a_long_column…   long_table_n_a_long_colum_key: 63 bytes
//! ```

/// Bytes of the longest name that is made.
const LONGEST: usize = 63;

/// The parts of a name: the table's, that of columns if it has them, and its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) table: &'a str,
    pub(crate) columns: Option<&'a str>,
    pub(crate) kind: &'a str,
}

impl Parts<'_> {
    /// The name, with the least number behind it with which it is not taken.
    pub(crate) fn free(self, taken: impl Fn(&str) -> bool) -> String {
        let numbered = (1..).map(|number| self.joined(&format!("{}{number}", self.kind)));
        let mut names = std::iter::once(self.joined(self.kind)).chain(numbered);
        let free = names.find(|name| !taken(name));
        free.unwrap_or_else(|| self.joined(self.kind))
    }

    /// Table, columns and kind: the longer of the first two is cut.
    fn joined(self, kind: &str) -> String {
        let columns = self.columns.unwrap_or_default();
        let between = usize::from(self.columns.is_some());
        let room = LONGEST.saturating_sub(kind.len() + 1 + between);
        let (mut first, mut second) = (self.table.len(), columns.len());
        while first + second > room {
            match first > second {
                true => first -= 1,
                false => second -= 1,
            }
        }
        let mut name = clipped(self.table, first).to_owned();
        if self.columns.is_some() {
            name.push('_');
            name.push_str(clipped(columns, second));
        }
        name.push('_');
        name.push_str(kind);
        name
    }
}

/// The first bytes of a text, whole characters only.
fn clipped(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut() {
        let long = "a_very_very_long_table_name_that_is_long";
        let column = "a_very_very_long_column_name_to_exceed_63_characters";
        let parts = Parts {
            table: long,
            columns: Some(column),
            kind: "key",
        };
        let first = "a_very_very_long_table_name_t_a_very_very_long_column_name__key";
        let second = "a_very_very_long_table_name_t_a_very_very_long_column_name_key1";
        assert_eq!(parts.free(|_| false), first);
        assert_eq!(parts.free(|name| name == first), second);
        let parts = Parts {
            table: "t",
            columns: None,
            kind: "pkey",
        };
        assert_eq!(parts.free(|_| false), "t_pkey");
        let parts = Parts {
            table: &"é".repeat(40),
            ..parts
        };
        assert_eq!(parts.free(|_| false), format!("{}_pkey", "é".repeat(29)));
    }
}
