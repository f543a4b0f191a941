//! Tables of a case: their columns and rows.

use freestone_frontend::types::Type;

use super::values::{column_type, initial, stored};
use crate::random::Random;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<(String, Type)>,
    /// Whether its first column is `id`, which counts the rows.
    pub numbered: bool,
    /// Whether that column is declared as the primary key.
    pub keyed: bool,
    /// Whether it is a plain table, not a temporary one.
    pub permanent: bool,
    /// Further rules, as CREATE TABLE writes them behind a column: its place and the rule.
    pub rules: Vec<(usize, String)>,
    /// Literals of its rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The statements that make it.
    pub fn setup(&self) -> Vec<String> {
        let name = &self.name;
        let column = |(at, (column, ty)): (usize, &(String, Type))| {
            let key = if self.keyed && at == 0 {
                " PRIMARY KEY"
            } else {
                ""
            };
            let rules = self.rules.iter().filter(|(place, _)| *place == at);
            let rules: String = rules.map(|(_, rule)| rule.as_str()).collect();
            format!("{column} {ty}{key}{rules}")
        };
        let columns: Vec<String> = self.columns.iter().enumerate().map(column).collect();
        let temporary = if self.permanent { "" } else { "TEMP " };
        let mut statements = vec![
            self.dropped(),
            format!("CREATE {temporary}TABLE {name} ({})", columns.join(", ")),
        ];
        if !self.rows.is_empty() {
            let rows = self.rows.iter().map(|row| format!("({})", row.join(", ")));
            let rows = rows.collect::<Vec<_>>().join(", ");
            statements.push(format!("INSERT INTO {name} VALUES {rows}"));
        }
        statements
    }

    /// Adds rules that rows keep: NOT NULL, CHECK and DEFAULT, where the rows allow them.
    pub(super) fn add_rules(&mut self, random: &mut Random) {
        for (at, (column, ty)) in self.columns.iter().enumerate() {
            let full = self
                .rows
                .iter()
                .all(|row| row.get(at).is_some_and(|cell| cell != "NULL"));
            if full && random.percent(20) {
                self.rules.push((at, " NOT NULL".to_owned()));
            }
            match ty {
                Type::Int4 if at > 0 && random.percent(20) => {
                    self.rules
                        .push((at, format!(" CHECK ({column} > -2147483648)")));
                    self.rows.retain(|row| row[at] != "-2147483648");
                }
                Type::Int4 if at > 0 && random.percent(20) => {
                    self.rules.push((at, " DEFAULT 7".to_owned()));
                }
                Type::Text if random.percent(20) => {
                    self.rules.push((at, format!(" CHECK ({column} <> 'xx')")));
                }
                _ => {}
            }
        }
    }

    /// The statement that drops it.
    pub fn dropped(&self) -> String {
        format!("DROP TABLE IF EXISTS {}", self.name)
    }

    /// Tables that are smaller by a row or a column.
    pub fn smaller(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        if self.rows.len() > 3 {
            for half in [0..self.rows.len() / 2, self.rows.len() / 2..self.rows.len()] {
                let mut table = self.clone();
                table.rows.drain(half);
                tables.push(table);
            }
        }
        for at in 0..self.rows.len() {
            let mut table = self.clone();
            table.rows.remove(at);
            tables.push(table);
        }
        for at in 0..self.columns.len() {
            if self.columns.len() > 1 {
                let mut table = self.clone();
                table.columns.remove(at);
                table.keyed &= at > 0;
                table.rules.retain(|(place, _)| *place != at);
                for (place, _) in &mut table.rules {
                    *place -= usize::from(*place > at);
                }
                for row in &mut table.rows {
                    row.remove(at);
                }
                tables.push(table);
            }
        }
        tables
    }
}

/// Some tables; they are named from `t0` on.
pub(super) fn tables(random: &mut Random) -> Vec<Table> {
    let many = [0, 1, 1, 2, 2, 2, 3, 3, 4];
    let many = random.pick(&many).copied().unwrap_or(1);
    (0..many).map(|at| table(random, at)).collect()
}

fn table(random: &mut Random, at: usize) -> Table {
    let numbered = random.percent(85);
    let mut columns = Vec::new();
    if numbered {
        columns.push(("id".to_owned(), Type::Int4));
    }
    for _ in 0..1 + random.below(5) {
        let ty = column_type(random);
        let initial = match &ty {
            Type::Array(element) => format!("a{}", initial(element)),
            ty => initial(ty).to_owned(),
        };
        let alike = columns.iter().filter(|(_, other)| *other == ty).count();
        let alike = alike - usize::from(numbered && ty == Type::Int4);
        columns.push((format!("{initial}{alike}"), ty));
    }
    let many = if random.percent(10) {
        0
    } else {
        1 + random.below(8)
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for number in 1..=many {
        let mut row: Vec<String> = columns.iter().map(|(_, ty)| stored(random, ty)).collect();
        if let (true, Some(earlier)) = (random.percent(25), random.pick(&rows)) {
            row.clone_from(earlier);
        }
        if numbered {
            row[0] = number.to_string();
        }
        rows.push(row);
    }
    Table {
        name: format!("t{at}"),
        columns,
        numbered,
        keyed: numbered && random.percent(50),
        permanent: false,
        rules: Vec::new(),
        rows,
    }
}
