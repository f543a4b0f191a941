//! Statements and tables are made smaller while a property stays.
//!
//! ```text
//! SELECT a, b + 1 FROM t WHERE c ORDER BY 1     differs
//! SELECT b + 1 FROM t WHERE c ORDER BY 1        differs
//! SELECT b FROM t WHERE c ORDER BY 1            does not
//! SELECT b + 1 FROM t ORDER BY 1                differs …
//! ```

use crate::generate::{Table, Tree};

/// A statement and its tables, as small as it gets.
#[derive(Clone, Debug)]
pub struct Least {
    /// The tables.
    pub tables: Vec<Table>,
    /// The statement.
    pub statement: Tree,
}

/// Which of some candidates keeps the property: the first that does. The tables are given if
/// they changed.
pub type Keeps<'a> = dyn FnMut(Option<&[Table]>, &[String]) -> Option<usize> + 'a;

/// Makes a statement, then its tables smaller. So many candidates are tried at most.
pub fn shrink(least: &mut Least, mut patience: usize, keeps: &mut Keeps<'_>) {
    let mut again = true;
    while again && patience > 0 {
        again = false;
        let mut place = 0;
        while place < least.statement.size() && patience > 0 {
            let mut smaller = least.statement.smaller(place);
            let whole = least.statement.to_string();
            smaller.retain(|tree| {
                let text = tree.to_string();
                text.len() < whole.len() && (takes_any(&whole) || !takes_any(&text))
            });
            smaller.sort_by_key(Tree::size);
            let texts: Vec<String> = smaller.iter().map(Tree::to_string).collect();
            patience = patience.saturating_sub(texts.len());
            match keeps(None, &texts) {
                Some(at) if !texts.is_empty() => {
                    least.statement = smaller.swap_remove(at);
                    again = true;
                }
                _ => place += 1,
            }
        }
    }
    let text = least.statement.to_string();
    let named = |table: &Table| text.contains(&format!("{} ", table.name));
    let mut tables: Vec<Table> = least
        .tables
        .iter()
        .filter(|table| named(table))
        .cloned()
        .collect();
    let mut at = 0;
    while at < tables.len() && patience > 0 {
        let smaller = tables.get(at).map(Table::smaller).unwrap_or_default();
        let mut found = false;
        for table in smaller {
            let mut fewer = tables.clone();
            fewer[at] = table;
            patience = patience.saturating_sub(1);
            if keeps(Some(&fewer), std::slice::from_ref(&text)).is_some() {
                tables = fewer;
                found = true;
                break;
            }
        }
        at += usize::from(!found);
    }
    least.tables = tables;
}

/// Whether a statement may take some rows of many without an order that says which: then two
/// systems differ without a fault.
fn takes_any(statement: &str) -> bool {
    let count = |words: &str| statement.matches(words).count();
    count("DISTINCT ON").max(count("LIMIT ")) > count("ORDER BY")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::tree::{Sort, tree};
    use freestone_frontend::types::Type;

    #[test]
    fn rows_are_not_taken_without_an_order() {
        let order = tree!(Sort::Optional; " ORDER BY a, b");
        let filter = tree!(Sort::Optional; " WHERE c");
        let mut least = Least {
            tables: Vec::new(),
            statement: tree!(Sort::Plain; "SELECT DISTINCT ON (a) b FROM t", filter, order),
        };
        let mut keeps = |_: Option<&[Table]>, texts: &[String]| (!texts.is_empty()).then_some(0);
        shrink(&mut least, 1000, &mut keeps);
        let text = "SELECT DISTINCT ON (a) b FROM t ORDER BY a, b";
        assert_eq!(least.statement.to_string(), text);
    }

    #[test]
    fn a_statement_keeps_only_what_the_property_needs() {
        let one = Tree::expr(&Type::Int4, "culprit");
        let other = Tree::expr(&Type::Int4, "other");
        let sum = tree!(Sort::Expr(Type::Int4); "(", one, " + ", other.clone(), ")");
        let items = Tree::list(", ", 1, vec![other.clone(), sum]);
        let filter = tree!(Sort::Optional; " WHERE ", other);
        let mut least = Least {
            tables: vec![Table {
                views: Vec::new(),
                name: "t0".to_owned(),
                columns: vec![("a".to_owned(), Type::Int4), ("b".to_owned(), Type::Text)],
                numbered: false,
                key: Vec::new(),
                indexes: Vec::new(),
                vacuumed: None,
                permanent: false,
                rules: Vec::new(),
                rows: vec![vec!["1".to_owned(), "'x'".to_owned()]; 6],
            }],
            statement: tree!(Sort::Plain; "SELECT ", items, " FROM t0 AS r", filter),
        };
        let mut rows = 6;
        let mut keeps = |tables: Option<&[Table]>, texts: &[String]| {
            if let Some([table]) = tables {
                if table.rows.is_empty() {
                    return None;
                }
                rows = table.rows.len();
            }
            texts.iter().position(|text| text.contains("culprit"))
        };
        shrink(&mut least, 1000, &mut keeps);
        assert_eq!(least.statement.to_string(), "SELECT culprit FROM t0 AS r");
        assert_eq!(rows, 1);
        assert_eq!(least.tables[0].columns.len(), 1);
    }
}
