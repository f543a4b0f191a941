//! FROM: tables, sub-queries, functions and joins.

use freestone_frontend::types::Type;

use super::Generator;
use super::scope::{Relation, Scope};
use super::tree::{Sort, Tree, tree};
use super::values::literal;

impl Generator<'_> {
    /// The items of FROM and their relations; none in a few queries.
    pub(super) fn from(&mut self) -> (Tree, Vec<Relation>) {
        let most = if self.scopes.is_empty() { 3 } else { 2 };
        let many = match self.random.below(20) {
            0 => 0,
            1..=14 => 1,
            _ => 1 + self.random.below(most),
        };
        let mut relations: Vec<Relation> = Vec::new();
        let mut items = Vec::new();
        for _ in 0..many {
            let (item, new) = self.item(&relations);
            items.push(item);
            relations.extend(new);
        }
        if items.is_empty() {
            return (Tree::nothing(), relations);
        }
        let items = Tree::list(", ", 1, items);
        (tree!(Sort::Plain; " FROM ", items), relations)
    }

    fn item(&mut self, before: &[Relation]) -> (Tree, Vec<Relation>) {
        let (left, relation) = self.source(before);
        let mut relations = vec![relation];
        let mut tree = left;
        let mut joins = 0;
        while joins < 2 && self.spend() && self.chance(30, "joins") {
            joins += 1;
            tree = self.join(tree, &mut relations, before);
        }
        (tree, relations)
    }

    fn join(&mut self, left: Tree, relations: &mut Vec<Relation>, before: &[Relation]) -> Tree {
        let lateral = self.random.percent(15);
        if lateral {
            let mut seen = before.to_vec();
            seen.extend(relations.iter().cloned());
            let (right, relation) = self.lateral(&seen);
            relations.push(relation);
            return match self.random.below(3) {
                0 => tree!(Sort::Plain; left, " CROSS JOIN ", right),
                1 => tree!(Sort::Plain; left, " LEFT JOIN ", right, " ON true"),
                _ => {
                    let condition = self.over(relations.clone(), Self::condition);
                    tree!(Sort::Plain; left, " JOIN ", right, " ON ", condition)
                }
            };
        }
        if self.random.percent(8) {
            return self.nested_join(left, relations);
        }
        let (right, relation) = self.source(&[]);
        let word = self.random.word(&[
            "JOIN",
            "LEFT JOIN",
            "RIGHT JOIN",
            "FULL JOIN",
            "INNER JOIN",
            "LEFT OUTER JOIN",
        ]);
        let single = relations.len() == 1;
        let common: Vec<String> = relations
            .iter()
            .flat_map(|left| &left.columns)
            .filter(|(column, ty)| {
                super::values::sortable(ty)
                    && relation.columns.iter().any(|(other, _)| other == column)
            })
            .map(|(column, _)| column.clone())
            .collect();
        let same: Vec<String> = relations
            .iter()
            .flat_map(|left| &left.columns)
            .filter(|column| relation.columns.contains(column))
            .map(|(column, _)| column.clone())
            .collect();
        let new = relation.clone();
        let tree = match self.random.below(10) {
            0 => tree!(Sort::Plain; left, " CROSS JOIN ", right),
            1 | 2 if single && !common.is_empty() => {
                let column = self.random.pick(&common).cloned().unwrap_or_default();
                let alias = self.random.percent(15) && !left.to_string().contains(" AS ju");
                let alias = if alias { " AS ju" } else { "" };
                let tail = format!(" USING ({column}){alias}");
                tree!(Sort::Plain; left, " ", word, " ", right, tail)
            }
            3 if single && !common.is_empty() && same.len() == common.len() => {
                tree!(Sort::Plain; left, " NATURAL ", word, " ", right)
            }
            _ => {
                let mut both = relations.clone();
                both.push(relation);
                let full = word.starts_with("FULL");
                let condition = match full || self.random.percent(40) {
                    true => self.equality(relations, &new),
                    false => self.over(both, Self::condition),
                };
                tree!(Sort::Plain; left, " ", word, " ", right, " ON ", condition)
            }
        };
        relations.push(new);
        tree
    }

    /// A join with a join within parentheses.
    fn nested_join(&mut self, left: Tree, relations: &mut Vec<Relation>) -> Tree {
        let (first, relation) = self.source(&[]);
        let mut inner = vec![relation];
        let right = self.join(first, &mut inner, &[]);
        let word = self.random.word(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        relations.extend(inner);
        let condition = self.over(relations.clone(), Self::condition);
        tree!(Sort::Plain; left, " ", word, " (", right, ") ON ", condition)
    }

    /// An equality between two sides, which FULL JOIN needs.
    fn equality(&mut self, left: &[Relation], right: &Relation) -> Tree {
        let mut pairs = Vec::new();
        for relation in left {
            for (a, ty) in &relation.columns {
                for (b, other) in &right.columns {
                    if ty == other && super::values::sortable(ty) {
                        pairs.push(format!("{}.{a} = {}.{b}", relation.name, right.name));
                    }
                }
            }
        }
        let text = self
            .random
            .pick(&pairs)
            .cloned()
            .unwrap_or_else(|| "true".to_owned());
        Tree::expr(&Type::Bool, format!("({text})"))
    }

    /// A tree that is drawn over some relations.
    fn over(&mut self, relations: Vec<Relation>, draw: impl FnOnce(&mut Self) -> Tree) -> Tree {
        self.scopes.push(Scope {
            relations,
            ..Scope::default()
        });
        let tree = draw(self);
        self.scopes.pop();
        tree
    }

    fn lateral(&mut self, seen: &[Relation]) -> (Tree, Relation) {
        self.scopes.push(Scope {
            relations: seen.to_vec(),
            ..Scope::default()
        });
        let (query, columns) = self.named_query();
        self.scopes.pop();
        let name = self.name("q");
        let tree = tree!(Sort::Plain; "LATERAL (", query, format!(") AS {name}"));
        let relation = Relation {
            name,
            columns,
            unique: None,
        };
        (tree, relation)
    }

    /// One relation.
    fn source(&mut self, before: &[Relation]) -> (Tree, Relation) {
        let tables = self.tables.clone();
        let draw = self.random.below(100);
        if draw < 66
            && let Some(table) = self.random.pick(&tables)
        {
            let name = self.name("r");
            let relation = Relation {
                name: name.clone(),
                columns: table.columns.clone(),
                unique: table.numbered.then(|| "id".to_owned()),
            };
            if self.random.percent(5) {
                let names = (0..relation.columns.len()).map(|at| format!("x{at}"));
                let list = names.clone().collect::<Vec<_>>().join(", ");
                let types = relation.columns.iter().map(|(_, ty)| ty.clone());
                let renamed = Relation {
                    columns: names.zip(types).collect(),
                    unique: table.numbered.then(|| "x0".to_owned()),
                    ..relation
                };
                let text = format!("{} AS {name} ({list})", table.name);
                return (tree!(Sort::Plain; text), renamed);
            }
            if self.random.percent(2) {
                let text = format!("(TABLE {}) AS {name}", table.name);
                return (tree!(Sort::Plain; text), relation);
            }
            return (
                tree!(Sort::Plain; format!("{} AS {name}", table.name)),
                relation,
            );
        }
        let ctes = self.ctes.clone();
        if draw < 78
            && let Some(cte) = self.random.pick(&ctes)
        {
            let name = self.name("w");
            let relation = Relation {
                name: name.clone(),
                ..cte.clone()
            };
            return (
                tree!(Sort::Plain; format!("{} AS {name}", cte.name)),
                relation,
            );
        }
        if draw < 84 && !before.is_empty() {
            return self.lateral(before);
        }
        let name = self.name("q");
        if draw < 91 && self.spend() {
            let (query, columns) = self.named_query();
            let relation = Relation {
                name: name.clone(),
                columns,
                unique: None,
            };
            return (
                tree!(Sort::Plain; "(", query, format!(") AS {name}")),
                relation,
            );
        }
        if self.random.percent(45) {
            // Arguments read what stands before, as those of LATERAL do.
            self.scopes.push(Scope {
                relations: before.to_vec(),
                ..Scope::default()
            });
            let rows = self.rows_function(name.clone());
            self.scopes.pop();
            if let Some(rows) = rows {
                return rows;
            }
        }
        match self.random.below(5) {
            4 => self.rows_from(name),
            0 => {
                let end = self.random.below(4);
                let relation = Relation {
                    name: name.clone(),
                    columns: vec![("g".to_owned(), Type::Int4)],
                    unique: Some("g".to_owned()),
                };
                (
                    tree!(Sort::Plain; format!("generate_series(1, {end}) AS {name} (g)")),
                    relation,
                )
            }
            1 => {
                let ty = self.one_of(&[Type::Int4, Type::Text, Type::Numeric(None)]);
                let array = literal(&mut self.random, &ty.clone().array());
                let relation = Relation {
                    name: name.clone(),
                    columns: vec![("e".to_owned(), ty), ("o".to_owned(), Type::Int8)],
                    unique: Some("o".to_owned()),
                };
                let text = format!("unnest({array}) WITH ORDINALITY AS {name} (e, o)");
                (tree!(Sort::Plain; text), relation)
            }
            _ => self.values_list(name),
        }
    }

    /// Several functions side by side; the shorter ones are filled with NULL.
    fn rows_from(&mut self, name: String) -> (Tree, Relation) {
        let ty = self.one_of(&[Type::Int4, Type::Text, Type::Date]);
        let array = literal(&mut self.random, &ty.clone().array());
        let end = self.random.below(4);
        let functions = match self.random.percent(50) {
            true => format!("ROWS FROM (unnest({array}), generate_series(1, {end}))"),
            false => format!("unnest({array}, ARRAY[1, {end}])"),
        };
        let text = format!("{functions} WITH ORDINALITY AS {name} (e, g, o)");
        let columns = [("e", ty), ("g", Type::Int4), ("o", Type::Int8)];
        let columns = columns.map(|(column, ty)| (column.to_owned(), ty));
        let relation = Relation {
            name,
            columns: columns.to_vec(),
            unique: Some("o".to_owned()),
        };
        (tree!(Sort::Plain; text), relation)
    }

    fn values_list(&mut self, name: String) -> (Tree, Relation) {
        let types: Vec<Type> = (0..1 + self.random.below(2))
            .map(|_| self.wanted_type())
            .collect();
        let many = 1 + self.random.below(3);
        let mut rows = Vec::new();
        for _ in 0..many {
            let items = types.iter().map(|ty| self.constant(ty)).collect();
            let items = Tree::list(", ", types.len(), items);
            rows.push(tree!(Sort::Plain; "(", items, ")"));
        }
        let names: Vec<String> = (0..types.len()).map(|at| format!("c{at}")).collect();
        let rows = Tree::list(", ", 1, rows);
        let head = format!(") AS {name} ({})", names.join(", "));
        let relation = Relation {
            name,
            columns: names.into_iter().zip(types).collect(),
            unique: None,
        };
        (tree!(Sort::Plain; "(VALUES ", rows, head), relation)
    }
}
