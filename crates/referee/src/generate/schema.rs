//! Tables of a case: their columns and rows, and views by which rows are changed.

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
    /// Places of the columns of its primary key, in the key's order; `id` is one of them.
    pub key: Vec<usize>,
    /// Places of the columns of each of its indexes.
    pub indexes: Vec<Vec<usize>>,
    /// How many rows are there before VACUUM; the others come after it. None if there is no
    /// VACUUM.
    pub vacuumed: Option<usize>,
    /// Whether it is a plain table, not a temporary one.
    pub permanent: bool,
    /// Further rules, as CREATE TABLE writes them behind a column: its place and the rule.
    pub rules: Vec<(usize, String)>,
    /// Literals of its rows.
    pub rows: Vec<Vec<String>>,
    /// Views over it, each after the first over the one before it or over the table.
    pub views: Vec<View>,
}

/// A view by which rows of a table are changed.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Its columns.
    pub items: Vec<Item>,
    /// Its condition, and the place in the table of the column that it is about.
    pub condition: Option<(usize, String)>,
    /// Its CHECK OPTION.
    pub check: &'static str,
    /// Whether it is over the view before it.
    pub over: bool,
}

/// A column of a view.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The place in the table of the column that it is made of.
    pub of: usize,
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether it tells whether that column is NULL, and cannot be changed.
    pub computed: bool,
}

impl Table {
    /// The statements that make it.
    pub fn setup(&self) -> Vec<String> {
        let name = &self.name;
        let column = |(at, (column, ty)): (usize, &(String, Type))| {
            let key = match self.key == [at] {
                true => " PRIMARY KEY",
                false => "",
            };
            let rules = self.rules.iter().filter(|(place, _)| *place == at);
            let rules: String = rules.map(|(_, rule)| rule.as_str()).collect();
            format!("{column} {ty}{key}{rules}")
        };
        let mut columns: Vec<String> = self.columns.iter().enumerate().map(column).collect();
        if self.key.len() > 1 {
            columns.push(format!("PRIMARY KEY ({})", self.names(&self.key)));
        }
        let temporary = if self.permanent { "" } else { "TEMP " };
        let mut statements = vec![
            self.dropped(),
            format!("CREATE {temporary}TABLE {name} ({})", columns.join(", ")),
        ];
        let indexes = self.indexes.iter();
        statements.extend(indexes.map(|of| format!("CREATE INDEX ON {name} ({})", self.names(of))));
        let cut = self.vacuumed.unwrap_or(0).min(self.rows.len());
        let (before, after) = self.rows.split_at(cut);
        statements.extend(self.insert(before));
        if self.vacuumed.is_some() {
            statements.push(format!("VACUUM {name}"));
        }
        statements.extend(self.insert(after));
        for (number, view) in self.views.iter().enumerate() {
            let column = |of: usize| match self.under(number) {
                Some(inner) => {
                    let mut items = self.views[inner].items.iter();
                    let item = items.find(|item| item.of == of && !item.computed);
                    item.map(|item| item.name.as_str())
                }
                None => self.columns.get(of).map(|(name, _)| name.as_str()),
            };
            let items = view.items.iter().filter_map(|item| {
                let of = column(item.of)?;
                Some(match item.computed {
                    true => format!("{of} IS NULL AS {}", item.name),
                    false => format!("{of} AS {}", item.name),
                })
            });
            let items = items.collect::<Vec<_>>().join(", ");
            let condition = view.condition.as_ref();
            let condition = condition.and_then(|(of, rest)| Some((column(*of)?, rest)));
            let condition = condition.map(|(of, rest)| format!(" WHERE {of} {rest}"));
            let (called, from) = (
                self.view_name(number),
                match self.under(number) {
                    Some(inner) => self.view_name(inner),
                    None => name.clone(),
                },
            );
            statements.push(format!(
                "CREATE {temporary}VIEW {called} AS SELECT {items} FROM {from}{}{}",
                condition.unwrap_or_default(),
                view.check
            ));
        }
        statements
    }

    /// The names of columns, as a list.
    fn names(&self, places: &[usize]) -> String {
        let names = places.iter().filter_map(|at| self.columns.get(*at));
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        names.join(", ")
    }

    /// The statement that adds rows, if there are any.
    fn insert(&self, rows: &[Vec<String>]) -> Option<String> {
        if rows.is_empty() {
            return None;
        }
        let rows = rows.iter().map(|row| format!("({})", row.join(", ")));
        let rows = rows.collect::<Vec<_>>().join(", ");
        Some(format!("INSERT INTO {} VALUES {rows}", self.name))
    }

    /// Whether `id` alone is the primary key.
    pub(super) fn is_keyed(&self) -> bool {
        self.key == [0]
    }

    /// The view that a view is over.
    fn under(&self, number: usize) -> Option<usize> {
        let over = self.views.get(number).is_some_and(|view| view.over);
        number.checked_sub(1).filter(|_| over)
    }

    /// The name of a view: that of the table with a number behind it.
    pub(super) fn view_name(&self, number: usize) -> String {
        format!("{}v{number}", self.name)
    }

    /// Adds views by which its rows can be changed.
    pub(super) fn add_views(&mut self, random: &mut Random) {
        for number in 0..random.below(3) {
            let over = number > 0 && random.percent(60);
            let seen: Vec<usize> = match over {
                true => {
                    let items = self.views[number - 1].items.iter();
                    let items = items.filter(|item| !item.computed);
                    items.map(|item| item.of).collect()
                }
                false => (0..self.columns.len()).collect(),
            };
            let mut items = Vec::new();
            for of in &seen {
                let (column, ty) = &self.columns[*of];
                let is_id = *of == 0 && self.numbered;
                if is_id || random.percent(75) || items.is_empty() {
                    let renamed = !is_id && random.percent(30);
                    items.push(Item {
                        of: *of,
                        name: if renamed {
                            format!("{column}x{number}")
                        } else {
                            column.clone()
                        },
                        ty: ty.clone(),
                        computed: false,
                    });
                }
                if random.percent(15) {
                    items.push(Item {
                        of: *of,
                        name: format!("{column}n{number}"),
                        ty: Type::Bool,
                        computed: true,
                    });
                }
            }
            if random.percent(30) {
                items.reverse();
            }
            let place = seen[random.below(seen.len())];
            let tests = ["IS NOT NULL", "IS NULL"];
            let condition = match random.below(4) {
                0 => None,
                1 => Some((place, random.word(&tests).to_owned())),
                _ if self.numbered => {
                    let bound = random.below(9);
                    Some((0, format!("{} {bound}", random.word(&[">", "<>", "<"]))))
                }
                _ => Some((place, "IS NOT NULL".to_owned())),
            };
            let checks = [
                "",
                " WITH CHECK OPTION",
                " WITH LOCAL CHECK OPTION",
                " WITH CASCADED CHECK OPTION",
            ];
            let check = checks[random.below(checks.len())];
            self.views.push(View {
                items,
                condition,
                check,
                over,
            });
        }
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
        format!("DROP TABLE IF EXISTS {} CASCADE", self.name)
    }

    /// Tables that are smaller by a row or a column.
    pub fn smaller(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        if !self.views.is_empty() {
            let mut table = self.clone();
            table.views.pop();
            tables.push(table);
        }
        if self.vacuumed.is_some() {
            let mut table = self.clone();
            table.vacuumed = None;
            tables.push(table);
        }
        for at in 0..self.indexes.len() {
            let mut table = self.clone();
            table.indexes.remove(at);
            tables.push(table);
        }
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
                for places in table.indexes.iter_mut().chain([&mut table.key]) {
                    if places.contains(&at) {
                        places.clear();
                    }
                    for place in places {
                        *place -= usize::from(*place > at);
                    }
                }
                table.indexes.retain(|places| !places.is_empty());
                table.rules.retain(|(place, _)| *place != at);
                for (place, _) in &mut table.rules {
                    *place -= usize::from(*place > at);
                }
                for row in &mut table.rows {
                    row.remove(at);
                }
                for view in &mut table.views {
                    view.items.retain(|item| item.of != at);
                    for item in &mut view.items {
                        item.of -= usize::from(item.of > at);
                    }
                    view.condition.take_if(|(of, _)| *of == at);
                    if let Some((of, _)) = &mut view.condition {
                        *of -= usize::from(*of > at);
                    }
                }
                if table.views.iter().any(|view| view.items.is_empty()) {
                    table.views.clear();
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
    let mut key = Vec::new();
    if numbered && random.percent(50) {
        key.push(0);
        let fitting = (1..columns.len()).filter(|at| indexable(&columns[*at].1));
        let fitting: Vec<usize> = fitting.collect();
        if let (true, Some(other)) = (random.percent(35), random.pick(&fitting)) {
            key.insert(random.below(2), *other);
        }
    }
    let mut indexes = Vec::new();
    let fitting = (0..columns.len()).filter(|at| indexable(&columns[*at].1));
    let fitting: Vec<usize> = fitting.collect();
    while random.percent(25) {
        let mut places = Vec::new();
        for _ in 0..1 + random.below(2) {
            let place = random.pick(&fitting).copied();
            places.extend(place.filter(|place| !places.contains(place)));
        }
        if !places.is_empty() {
            indexes.push(places);
        }
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
        for at in &key {
            while row[*at] == "NULL" {
                row[*at] = stored(random, &columns[*at].1);
            }
        }
        rows.push(row);
    }
    Table {
        name: format!("t{at}"),
        columns,
        numbered,
        key,
        indexes,
        vacuumed: random.percent(15).then(|| random.below(many + 1)),
        permanent: false,
        rules: Vec::new(),
        rows,
        views: Vec::new(),
    }
}

/// Whether columns of a type may stand in keys and indexes of both sides.
fn indexable(ty: &Type) -> bool {
    use Type::*;
    matches!(
        ty,
        Int2 | Int4
            | Int8
            | Text
            | Varchar(_)
            | Char(_)
            | Bool
            | Date
            | Timestamp(_)
            | TimestampTz(_)
            | Uuid
    )
}
