//! Statements that change data: INSERT, UPDATE, DELETE and MERGE.
//!
//! They end the same whatever the order of rows: a row of the table is matched by its number,
//! and a join that could match it twice is made of groups.

use freestone_frontend::types::Type;

use super::Generator;
use super::schema::{Item, Table};
use super::scope::{Relation, Scope};
use super::tree::{Sort, Tree, tree};

/// A name in the place of the table's, and the table, or a view over it.
struct Target {
    table: Table,
    name: String,
    is_view: bool,
    /// Columns of a view that cannot be changed.
    computed: Vec<(String, Type)>,
}

impl Target {
    fn relation(&self) -> Relation {
        Relation {
            name: self.name.clone(),
            columns: [self.table.columns.as_slice(), &self.computed].concat(),
            unique: self.table.numbered.then(|| "id".to_owned()),
        }
    }
}

impl Generator<'_> {
    /// A statement that changes a table, if there is one.
    pub(super) fn change(&mut self) -> Option<Tree> {
        let tables = self.tables.clone();
        let table = self.random.pick(&tables)?.clone();
        let name = self.name("g");
        let target = match table.views.is_empty() || self.random.percent(50) {
            true => Target {
                table,
                name,
                is_view: false,
                computed: Vec::new(),
            },
            false => self.view_of(&table, name),
        };
        if self.random.percent(12) {
            return Some(self.change_within(&target));
        }
        let change = match self.random.below(10) {
            0..=3 => self.insert(&target),
            4..=6 => self.update(&target),
            7 | 8 => self.delete(&target),
            // MERGE takes no views.
            _ if target.is_view => self.update(&target),
            _ => self.merge(&target),
        };
        Some(change)
    }

    /// A view over a table in its place.
    fn view_of(&mut self, table: &Table, name: String) -> Target {
        let number = self.random.below(table.views.len());
        let items = &table.views[number].items;
        let (computed, columns): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.computed);
        let typed = |items: Vec<&Item>| {
            let items = items.into_iter();
            items
                .map(|item| (item.name.clone(), item.ty.clone()))
                .collect()
        };
        Target {
            table: Table {
                name: table.view_name(number),
                columns: typed(columns),
                views: Vec::new(),
                ..table.clone()
            },
            name,
            is_view: true,
            computed: typed(computed),
        }
    }

    /// A change within WITH. The query reads what it returns, and the table as it was before.
    fn change_within(&mut self, target: &Target) -> Tree {
        let change = match self.random.below(3) {
            0 => self.insert(target),
            1 => self.update(target),
            _ => self.delete(target),
        };
        let text = change.to_string();
        let before = match text.rfind(" RETURNING ") {
            Some(at) => text[..at].to_owned(),
            None => text,
        };
        let Target { table, name, .. } = target;
        let columns = &table.columns;
        let list = columns.iter().map(|(column, _)| format!("{name}.{column}"));
        let list = list.collect::<Vec<_>>().join(", ");
        let table_name = &table.name;
        let rest = match self.random.below(4) {
            0 => "SELECT * FROM mod".to_owned(),
            1 if table.numbered => {
                format!("SELECT mod.* FROM mod, {table_name} AS old WHERE old.id = mod.id")
            }
            2 => "SELECT count(*) FROM mod".to_owned(),
            _ => format!(
                "SELECT (SELECT count(*) FROM mod) AS a, (SELECT count(*) FROM {table_name}) AS b"
            ),
        };
        tree!(Sort::Plain; format!("WITH mod AS ({before} RETURNING {list}) {rest}"))
    }

    /// Columns of the target that get a value, with their places.
    fn columns_to_set(&mut self, table: &Table, all: bool) -> Vec<(String, Type)> {
        let mut columns = table.columns.clone();
        columns.retain(|_| all || self.random.percent(50));
        match columns.is_empty() {
            true => table.columns.iter().take(1).cloned().collect(),
            false => columns,
        }
    }

    /// A value for a column: of its type, or of one that is cast by assignment.
    fn assigned(&mut self, ty: &Type) -> Tree {
        use Type::*;
        if self.random.percent(4) {
            return tree!(Sort::Plain; "DEFAULT");
        }
        let other: &[Type] = match ty {
            Int2 => &[Int4, Int8, Numeric(None)],
            Int4 => &[Int8, Int2, Numeric(None), Float8],
            Int8 => &[Int4, Numeric(None), Float8],
            Numeric(_) => &[Int4, Float8, Numeric(None)],
            Float4 => &[Float8, Int4, Numeric(None)],
            Float8 => &[Int4, Numeric(None), Float4],
            Text | Varchar(_) | Char(_) => &[Text, Varchar(None), Int4, Date, Bool, Char(Some(4))],
            Date => &[Timestamp(None), TimestampTz(None)],
            Timestamp(_) => &[Date, TimestampTz(None), Timestamp(None)],
            TimestampTz(_) => &[Date, Timestamp(None)],
            Time(_) => &[Timestamp(None), Interval],
            Interval => &[Time(None)],
            Json => &[Jsonb],
            Jsonb => &[Json],
            _ => return self.expr(ty),
        };
        match self.random.below(10) {
            0..=4 => self.expr(ty),
            5 => {
                let text = super::values::untyped(&mut self.random, ty);
                tree!(Sort::Plain; text)
            }
            _ => {
                let other = self.one_of(other);
                self.expr(&other)
            }
        }
    }

    fn returning(&mut self, relations: Vec<Relation>) -> Tree {
        if self.random.percent(55) {
            return Tree::nothing();
        }
        if self.random.percent(25) {
            return tree!(Sort::Optional; " RETURNING *");
        }
        self.scopes.push(Scope {
            relations,
            ..Scope::default()
        });
        let types: Vec<Type> = (0..1 + self.random.below(2))
            .map(|_| self.wanted_type())
            .collect();
        let items = types.iter().map(|ty| self.expr(ty)).collect();
        self.scopes.pop();
        let items = Tree::list(", ", 1, items);
        tree!(Sort::Optional; " RETURNING ", items)
    }

    fn insert(&mut self, target: &Target) -> Tree {
        let Target { table, name, .. } = target;
        let all = self.random.percent(50);
        let columns = self.columns_to_set(table, all);
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        // Without a list the columns that are computed would get values, too.
        let whole = all && target.computed.is_empty();
        let list = match whole && self.random.percent(50) {
            true => String::new(),
            false => format!(" ({})", names.join(", ")),
        };
        let source = match self.random.below(10) {
            0 => tree!(Sort::Plain; "DEFAULT VALUES"),
            1..=5 => {
                let many = 1 + self.random.below(3);
                let mut rows = Vec::new();
                for number in 0..many {
                    let mut items = Vec::new();
                    for (column, ty) in &columns {
                        let key = column == "id" && self.random.percent(80);
                        let fresh = 100 + number * 10 + self.random.below(9);
                        items.push(match key {
                            true => Tree::expr(ty, fresh.to_string()),
                            false => self.assigned(ty),
                        });
                    }
                    let items = Tree::list(", ", columns.len(), items);
                    rows.push(tree!(Sort::Plain; "(", items, ")"));
                }
                let rows = Tree::list(", ", 1, rows);
                tree!(Sort::Plain; "VALUES ", rows)
            }
            _ => {
                let types: Vec<Type> = columns.iter().map(|(_, ty)| ty.clone()).collect();
                self.subquery(&types, false)
            }
        };
        let defaults = source.to_string().starts_with("DEFAULT");
        let list = if defaults { String::new() } else { list };
        let conflict = match table.is_keyed() && self.random.percent(40) {
            true => self.on_conflict(target),
            false => Tree::nothing(),
        };
        let returning = self.returning(vec![target.relation()]);
        tree!(
            Sort::Plain;
            format!("INSERT INTO {} AS {name}{list} ", table.name), source, conflict, returning
        )
    }

    fn on_conflict(&mut self, target: &Target) -> Tree {
        let words = [" ON CONFLICT DO NOTHING", " ON CONFLICT (id) DO NOTHING"];
        if self.random.percent(40) {
            return tree!(Sort::Optional; self.random.word(&words));
        }
        let excluded = Relation {
            name: "excluded".to_owned(),
            ..target.relation()
        };
        self.scopes.push(Scope {
            relations: vec![target.relation(), excluded],
            ..Scope::default()
        });
        let assignments = self.assignments(&target.table, false);
        let condition = self.where_clause();
        self.scopes.pop();
        tree!(Sort::Optional; " ON CONFLICT (id) DO UPDATE SET ", assignments, condition)
    }

    /// `a = x, b = y`; the key stays, unless it is asked for.
    fn assignments(&mut self, table: &Table, key: bool) -> Tree {
        let mut columns = self.columns_to_set(table, false);
        if !key {
            columns.retain(|(name, _)| name != "id");
        }
        if columns.is_empty() {
            columns = table.columns.iter().rev().take(1).cloned().collect();
        }
        let mut items = Vec::new();
        for (column, ty) in &columns {
            if let Type::Array(element) = ty
                && self.random.percent(30)
            {
                let value = self.expr(element);
                let place = 1 + self.random.below(3);
                items.push(tree!(Sort::Plain; format!("{column}[{place}] = "), value));
                continue;
            }
            let value = self.assigned(ty);
            items.push(tree!(Sort::Plain; format!("{column} = "), value));
        }
        if columns.len() == 2 && self.random.percent(20) {
            let types: Vec<Type> = columns.iter().map(|(_, ty)| ty.clone()).collect();
            let values: Vec<Tree> = types.iter().map(|ty| self.expr(ty)).collect();
            let values = Tree::list(", ", 2, values);
            let names = format!("({}, {}) = ROW(", columns[0].0, columns[1].0);
            return tree!(Sort::Plain; names, values, ")");
        }
        Tree::list(", ", 1, items)
    }

    /// A source whose rows each match a row of the target at most: its columns are grouped by a
    /// key.
    fn source_by_key(&mut self) -> (Tree, Relation) {
        let other = self.sortable_type();
        let name = self.name("u");
        let value = super::values::literal(&mut self.random, &other);
        let more = super::values::literal(&mut self.random, &other);
        let tables: Vec<Table> = self.tables.iter().filter(|t| t.numbered).cloned().collect();
        let relation = Relation {
            name: name.clone(),
            columns: vec![
                ("k".to_owned(), Type::Int4),
                ("v".to_owned(), other.clone()),
            ],
            unique: Some("k".to_owned()),
        };
        let text = match self.random.pick(&tables) {
            Some(table) => {
                let column = table.columns.iter().find(|(_, ty)| *ty == other);
                let value = column.map_or(value, |(column, _)| column.clone());
                format!(
                    "(SELECT id AS k, {value} AS v FROM {}) AS {name}",
                    table.name
                )
            }
            None => format!("(VALUES (1, {value}), (2, {more}), (200, NULL)) AS {name} (k, v)"),
        };
        (tree!(Sort::Plain; text), relation)
    }

    fn update(&mut self, target: &Target) -> Tree {
        let Target { table, name, .. } = target;
        let mut relations = vec![target.relation()];
        let joined = table.numbered && self.random.percent(35);
        let (from, on) = match joined {
            true => {
                let (source, relation) = self.source_by_key();
                let on = format!("{name}.id = {}.k", relation.name);
                relations.push(relation);
                (tree!(Sort::Plain; " FROM ", source), on)
            }
            false => (Tree::nothing(), String::new()),
        };
        self.scopes.push(Scope {
            relations: relations.clone(),
            ..Scope::default()
        });
        let key = self.random.percent(10);
        let assignments = self.assignments(table, key);
        let condition = self.row_condition(30);
        self.scopes.pop();
        let condition = match (joined, self.random.percent(60)) {
            (true, true) => tree!(Sort::Plain; " WHERE ", on, " AND ", condition),
            (true, false) => tree!(Sort::Plain; " WHERE ", on),
            (false, true) => tree!(Sort::Optional; " WHERE ", condition),
            (false, false) => Tree::nothing(),
        };
        let returning = self.returning(relations);
        tree!(
            Sort::Plain;
            format!("UPDATE {} AS {name} SET ", table.name), assignments, from, condition, returning
        )
    }

    fn delete(&mut self, target: &Target) -> Tree {
        let Target { table, name, .. } = target;
        let mut relations = vec![target.relation()];
        let joined = table.numbered && self.random.percent(35);
        let (using, on) = match joined {
            true => {
                let (source, relation) = self.source_by_key();
                let on = format!("{name}.id = {}.k", relation.name);
                relations.push(relation);
                (tree!(Sort::Plain; " USING ", source), on)
            }
            false => (Tree::nothing(), String::new()),
        };
        self.scopes.push(Scope {
            relations: relations.clone(),
            ..Scope::default()
        });
        let condition = self.row_condition(30);
        self.scopes.pop();
        let condition = match joined {
            true => tree!(Sort::Plain; " WHERE ", on, " AND ", condition),
            false => tree!(Sort::Optional; " WHERE ", condition),
        };
        let returning = self.returning(relations);
        tree!(
            Sort::Plain;
            format!("DELETE FROM {} AS {name}", table.name), using, condition, returning
        )
    }

    fn merge(&mut self, target: &Target) -> Tree {
        let Target { table, name, .. } = target;
        if !table.numbered {
            return self.delete(target);
        }
        let (source, relation) = self.source_by_key();
        let on = format!(" ON {name}.id = {}.k", relation.name);
        let both = Scope {
            relations: vec![target.relation(), relation.clone()],
            ..Scope::default()
        };
        // Rows without a match have the source's names alone, which need no table before them.
        let alone = self.random.percent(40);
        let only = Scope {
            relations: vec![Relation {
                name: match alone {
                    true => String::new(),
                    false => relation.name.clone(),
                },
                ..relation
            }],
            ..Scope::default()
        };
        let mut branches = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let matched = self.random.percent(60);
            self.scopes
                .push(if matched { both.clone() } else { only.clone() });
            let condition = match self.random.percent(40) {
                true => {
                    let condition = self.condition();
                    tree!(Sort::Optional; " AND ", condition)
                }
                false => Tree::nothing(),
            };
            let action = match (matched, self.random.below(4)) {
                (_, 0) => tree!(Sort::Plain; "DO NOTHING"),
                (true, 1) => tree!(Sort::Plain; "DELETE"),
                (true, _) => {
                    let assignments = self.assignments(table, false);
                    tree!(Sort::Plain; "UPDATE SET ", assignments)
                }
                (false, _) => {
                    let columns = self.columns_to_set(table, false);
                    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                    let mut items = Vec::new();
                    for (_, ty) in &columns {
                        items.push(self.assigned(ty));
                    }
                    let items = Tree::list(", ", columns.len(), items);
                    let head = format!("INSERT ({}) VALUES (", names.join(", "));
                    tree!(Sort::Plain; head, items, ")")
                }
            };
            self.scopes.pop();
            let word = if matched {
                " WHEN MATCHED"
            } else {
                " WHEN NOT MATCHED"
            };
            branches.push(tree!(Sort::Plain; word, condition, " THEN ", action));
        }
        let branches = Tree::list("", 1, branches);
        tree!(
            Sort::Plain;
            format!("MERGE INTO {} AS {name} USING ", table.name), source, on, branches
        )
    }
}
