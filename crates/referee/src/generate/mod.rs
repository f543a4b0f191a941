//! Random tables and statements over the whole grammar of queries.
//!
//! A [`Case`] is some tables and statements over them. Statements are well typed by their
//! making: an expression is asked for by its type, and drawn from columns in sight, literals,
//! and the functions and operators that give the type ([`signatures`]). A few are wrong on
//! purpose.
//!
//! | module | holds |
//! |---|---|
//! | `tree` | statements as trees that can be made smaller |
//! | `values` | types and literals |
//! | `settings` | settings of the session |
//! | `schema` | tables |
//! | `signatures` | functions and operators by their results |
//! | `scope` | columns in sight |
//! | `expr`, `calls`, `special`, `forms` | expressions |
//! | `query`, `from` | queries |
//! | `rows` | functions that give rows |
//! | `changes` | INSERT, UPDATE, DELETE, MERGE |
//! | `law` | queries with conditions, for laws |
//!
//! Results must not depend on the order in which rows come: LIMIT has an ORDER BY over all
//! columns, and a window function that tells peers apart is ordered by the rows' numbers.

mod calls;
mod changes;
mod expr;
pub mod forms;
mod from;
pub mod law;
mod query;
mod rows;
mod schema;
mod scope;
mod settings;
pub mod signatures;
mod special;
pub mod tree;
mod values;

pub use schema::Table;
pub use settings::usual_settings;
pub use tree::Tree;

use crate::random::Random;
use scope::{Relation, Scope};
use signatures::Signatures;

/// Tables and statements over them.
#[derive(Clone, Debug)]
pub struct Case {
    /// Statements that set the session up.
    pub settings: Vec<String>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The statements.
    pub statements: Vec<Tree>,
}

/// Draws cases.
pub struct Generator<'a> {
    random: Random,
    signatures: &'a Signatures,
    tables: Vec<Table>,
    /// Common table expressions in sight.
    ctes: Vec<Relation>,
    /// Queries around, the innermost last.
    scopes: Vec<Scope>,
    /// Names that were given.
    names: usize,
    /// Calls and sub-queries that a statement may still have.
    budget: usize,
    /// Whether arguments of aggregates read no outer columns: an aggregate over nothing else is
    /// one of the outer query, which is a query of groups then.
    local_aggregates: bool,
    /// Whether only columns of the innermost query are in sight.
    local: bool,
    /// Whether the SELECT drawn last has an ORDER BY.
    ordered: bool,
    /// Whether the columns of the next sub-query are called by their names.
    named: bool,
    /// A chapter that is drawn more often.
    focus: Option<&'a str>,
    /// Whether statements that change data are drawn.
    changes: bool,
    /// Whether queries that lock rows are drawn.
    locks: bool,
    /// The number that plain tables have in their names.
    permanent: Option<usize>,
}

impl<'a> Generator<'a> {
    /// A generator whose cases depend on a seed.
    pub fn new(seed: u64, signatures: &'a Signatures) -> Self {
        Self {
            random: Random::new(seed),
            signatures,
            tables: Vec::new(),
            ctes: Vec::new(),
            scopes: Vec::new(),
            names: 0,
            budget: 0,
            local_aggregates: false,
            local: false,
            ordered: false,
            named: false,
            focus: None,
            changes: false,
            locks: false,
            permanent: None,
        }
    }

    /// Draws statements of a chapter more often than others.
    #[must_use]
    pub fn with_chapter(mut self, chapter: Option<&'a str>) -> Self {
        self.focus = chapter;
        self
    }

    /// Draws statements that change data, too.
    #[must_use]
    pub fn with_changes(mut self, changes: bool) -> Self {
        self.changes = changes;
        self
    }

    /// Draws queries that lock rows, too.
    #[must_use]
    pub fn with_locks(mut self, locks: bool) -> Self {
        self.locks = locks;
        self
    }

    /// Makes plain tables, with a number in their names: all sessions see them.
    #[must_use]
    pub fn with_permanent(mut self, number: usize) -> Self {
        self.permanent = Some(number);
        self
    }

    /// The next case.
    pub fn case(&mut self, statements: usize) -> Case {
        let settings = settings::settings(&mut self.random);
        self.tables = schema::tables(&mut self.random);
        for table in &mut self.tables {
            if self.changes {
                table.add_rules(&mut self.random);
                table.add_views(&mut self.random);
            }
            if let Some(number) = self.permanent {
                table.permanent = true;
                table.name = format!("{}_{number}", table.name);
            }
        }
        Case {
            settings,
            statements: (0..statements).map(|_| self.statement()).collect(),
            tables: self.tables.clone(),
        }
    }

    /// A statement over the tables.
    fn statement(&mut self) -> Tree {
        self.ctes.clear();
        self.scopes.clear();
        self.names = 0;
        self.budget = 3 + self.random.below(16);
        if self.changes
            && self.random.percent(40)
            && let Some(change) = self.change()
        {
            return change;
        }
        self.query_at_top()
    }

    /// Whether a rare thing is drawn: more often in the chapter that is asked for.
    fn chance(&mut self, percent: usize, chapter: &str) -> bool {
        let more = self.focus.is_some_and(|focus| focus == chapter);
        self.random
            .percent(if more { (percent * 4).min(85) } else { percent })
    }

    /// A new name.
    fn name(&mut self, initial: &str) -> String {
        self.names += 1;
        format!("{initial}{}", self.names)
    }

    /// Takes from the budget; false if it is used up.
    fn spend(&mut self) -> bool {
        let left = self.budget > 0;
        self.budget = self.budget.saturating_sub(1);
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(seed: u64) -> Vec<String> {
        let signatures = Signatures::read();
        let mut generator = Generator::new(seed, &signatures);
        let mut texts = Vec::new();
        for _ in 0..20 {
            let case = generator.case(20);
            texts.extend(case.settings.iter().cloned());
            texts.extend(case.tables.iter().flat_map(Table::setup));
            texts.extend(case.statements.iter().map(Tree::to_string));
        }
        texts
    }

    #[test]
    fn a_seed_repeats_its_statements() {
        assert_eq!(texts(3), texts(3));
        assert_ne!(texts(3), texts(4));
    }

    #[test]
    fn the_whole_grammar_comes_up() {
        let all = (0..8).flat_map(texts).collect::<Vec<_>>().join("\n");
        for word in [
            "LEFT JOIN",
            "FULL JOIN",
            "USING (",
            "NATURAL",
            "LATERAL",
            "EXISTS (",
            " IN (SELECT",
            "ANY (",
            "ALL (",
            "ARRAY(SELECT",
            "ROLLUP",
            "CUBE",
            "GROUPING SETS",
            "HAVING",
            "DISTINCT ON",
            "OVER (",
            "EXCLUDE",
            "UNION ALL",
            "INTERSECT",
            "EXCEPT",
            "WITH ",
            "RECURSIVE",
            "(WITH w",
            "VALUES",
            "LIMIT",
            "OFFSET",
            "WITH TIES",
            "CASE",
            "coalesce(",
            "nullif(",
            "CAST(",
            "FILTER (",
            "WITHIN GROUP",
            "PRIMARY KEY",
            "ROW(",
            "(VALUES (",
            "WITH ORDINALITY",
            "json_each",
            "MATERIALIZED",
            "WINDOW wz",
            "AS character(",
            "SET timezone",
            "ROWS FROM",
            "OVER (wz",
            "GROUP BY DISTINCT",
            "jsonb_path_",
            "OPERATOR(",
            "(TABLE ",
            " SEARCH ",
            " CYCLE ",
            " USING <",
        ] {
            assert!(all.contains(word), "no {word}");
        }
    }

    #[test]
    fn changes_of_all_kinds_come_up() {
        let signatures = Signatures::read();
        let mut generator = Generator::new(5, &signatures).with_changes(true);
        let cases = (0..80).map(|_| generator.case(20));
        let statements = cases.flat_map(|case| case.statements);
        let all: Vec<String> = statements.map(|tree| tree.to_string()).collect();
        let all = all.join("\n");
        for word in [
            "INSERT INTO",
            "ON CONFLICT (id) DO UPDATE SET",
            "DO NOTHING",
            "DEFAULT",
            "UPDATE t",
            "DELETE FROM",
            " USING (",
            "MERGE INTO",
            "WHEN NOT MATCHED",
            "RETURNING",
            "WITH mod",
            "UPDATE t0v0",
            "INTO t0v1",
        ] {
            assert!(all.contains(word), "no {word}");
        }
    }
}
