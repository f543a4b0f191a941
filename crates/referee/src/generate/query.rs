//! Queries: SELECT, set operations, WITH, ORDER BY, LIMIT.

use freestone_frontend::types::Type;

use super::Generator;
use super::scope::{Relation, Scope};
use super::tree::{Sort, Tree, tree};
use super::values::sortable;

impl Generator<'_> {
    /// The outermost query of a statement.
    pub(super) fn query_at_top(&mut self) -> Tree {
        let with = match self.chance(12, "with-queries") {
            true => self.with(),
            false => Tree::nothing(),
        };
        let many = 1 + self.random.below(3);
        let types: Vec<Type> = (0..many).map(|_| self.wanted_type()).collect();
        let body = self.body(&types, false, true);
        let text = body.to_string();
        let words = ["UNION", "INTERSECT", "EXCEPT", "VALUES", "TIES"];
        let locks = self.locks && !words.iter().any(|word| text.contains(word));
        // Where PostgreSQL refuses them, a few are enough.
        let refusing = [
            "DISTINCT", "GROUP BY", "HAVING", " OVER ", "FULL ", "LEFT ", "RIGHT ",
        ];
        let refused = refusing.iter().any(|word| text.contains(word));
        let lock = match locks && self.random.percent(if refused { 1 } else { 8 }) {
            true => {
                let word = self.random.word(&[
                    " FOR UPDATE",
                    " FOR SHARE",
                    " FOR NO KEY UPDATE",
                    " FOR KEY SHARE NOWAIT",
                    " FOR UPDATE SKIP LOCKED",
                ]);
                tree!(Sort::Optional; word)
            }
            false => Tree::nothing(),
        };
        tree!(Sort::Query(types); with, body, lock)
    }

    /// A sub-query that gives columns of some types; `ordered` if the order of its rows
    /// matters.
    pub(super) fn subquery(&mut self, types: &[Type], ordered: bool) -> Tree {
        self.spend();
        let known = self.ctes.len();
        let named = std::mem::take(&mut self.named);
        let with = match self.budget > 2 && self.chance(4, "with-queries") {
            true => self.with(),
            false => Tree::nothing(),
        };
        self.named = named;
        let body = self.body(types, ordered, false);
        self.ctes.truncate(known);
        tree!(Sort::Query(types.to_vec()); with, body)
    }

    /// A sub-query that gives one row at most.
    pub(super) fn subquery_of_one_row(&mut self, ty: &Type) -> Tree {
        let types = std::slice::from_ref(ty);
        let sort = Sort::Query(types.to_vec());
        if sortable(ty) && self.random.percent(50) {
            let inner = self.select(types, false);
            return match std::mem::take(&mut self.ordered) {
                true => tree!(sort; "SELECT * FROM (", inner, ") AS z ORDER BY 1 LIMIT 1"),
                false => tree!(sort; inner, " ORDER BY 1 LIMIT 1"),
            };
        }
        // One group, and so one row.
        let (from, relations) = self.from();
        self.scopes.push(Scope {
            relations,
            ..Scope::default()
        });
        let condition = self.where_clause();
        if let Some(scope) = self.scopes.last_mut() {
            scope.grouped = Some(Vec::new());
            scope.aggregates = true;
        }
        let value = match self.aggregate_call(ty) {
            Some(call) => tree!(Sort::Plain; call),
            None => {
                let value = self.constant(ty);
                tree!(Sort::Plain; value, " FROM (SELECT count(*)")
            }
        };
        let close = if value.to_string().contains(" FROM (SELECT count(*)") {
            ") AS z"
        } else {
            ""
        };
        self.scopes.pop();
        tree!(sort; "SELECT ", value, from, condition, close)
    }

    /// A sub-query with names for its columns.
    pub(super) fn named_query(&mut self) -> (Tree, Vec<(String, Type)>) {
        let many = 1 + self.random.below(3);
        let types: Vec<Type> = (0..many).map(|_| self.wanted_type()).collect();
        self.named = true;
        let query = self.subquery(&types, false);
        let names = (0..types.len()).map(|at| format!("c{at}"));
        (query, names.zip(types).collect())
    }

    fn with(&mut self) -> Tree {
        let many = 1 + self.random.below(2);
        let mut items = Vec::new();
        let mut recursive = "";
        for _ in 0..many {
            let name = self.name("cte");
            if self.random.percent(25) {
                recursive = "RECURSIVE ";
                let (item, columns) = self.recursion(&name);
                items.push(item);
                let unique = None;
                self.ctes.push(Relation {
                    name,
                    columns,
                    unique,
                });
                continue;
            }
            let (query, mut columns) = self.named_query();
            let word = self
                .random
                .word(&["", "", "MATERIALIZED ", "NOT MATERIALIZED "]);
            let mut list = String::new();
            if self.random.percent(25) {
                for (at, (column, _)) in columns.iter_mut().enumerate() {
                    *column = format!("k{at}");
                }
                let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                list = format!(" ({})", names.join(", "));
            }
            items.push(tree!(Sort::Plain; format!("{name}{list} AS {word}("), query, ")"));
            let unique = None;
            self.ctes.push(Relation {
                name,
                columns,
                unique,
            });
        }
        let items = Tree::list(", ", 1, items);
        tree!(Sort::Optional; "WITH ", recursive, items, " ")
    }

    fn recursion(&mut self, name: &str) -> (Tree, Vec<(String, Type)>) {
        // A type without modifiers, which the recursion could change.
        let other = self.sortable_type().base();
        let word = self.random.word(&["UNION ALL", "UNION"]);
        let most = 2 + self.random.below(3);
        let first = self.constant(&other);
        self.scopes.push(Scope {
            relations: vec![Relation {
                name: name.to_owned(),
                columns: vec![
                    ("n".to_owned(), Type::Int4),
                    ("v".to_owned(), other.clone()),
                ],
                unique: None,
            }],
            ..Scope::default()
        });
        let next = self.leaf(&other);
        self.scopes.pop();
        let marks = match self.random.percent(30) {
            true => self.random.word(&[
                " SEARCH DEPTH FIRST BY n SET o",
                " SEARCH BREADTH FIRST BY n, v SET o",
                " CYCLE n SET y USING p",
                " CYCLE n, v SET y TO 'x' DEFAULT 'z' USING p",
            ]),
            false => "",
        };
        // A query in WITH of the recursive term, whose rows are those of each round.
        let (before, behind) = match marks.is_empty() && self.random.percent(40) {
            true => (
                format!(
                    "(WITH w (n, v) AS {}(",
                    self.random.word(&["", "MATERIALIZED "])
                ),
                self.random.word(&[
                    ") SELECT a.n, a.v FROM w AS a JOIN w AS b ON a.n = b.n)",
                    ") SELECT a.n, a.v FROM w AS a WHERE EXISTS (SELECT FROM w WHERE w.n = a.n))",
                    ") SELECT n, v FROM w UNION ALL SELECT n + 1, v FROM w WHERE n > 3)",
                    "), x AS (SELECT * FROM w) SELECT x.n, w.v FROM x, w)",
                ]),
            ),
            false => (String::new(), ""),
        };
        let tree = tree!(
            Sort::Plain;
            format!("{name} (n, v) AS (SELECT 1, "), first,
            format!(" {word} {before}SELECT {name}.n + 1, "),
            next, format!(" FROM {name} WHERE {name}.n < {most}{behind}){marks}")
        );
        (
            tree,
            vec![("n".to_owned(), Type::Int4), ("v".to_owned(), other)],
        )
    }

    /// SELECTs with set operations, an order and a limit.
    fn body(&mut self, types: &[Type], ordered: bool, top: bool) -> Tree {
        let all_sortable = types.iter().all(sortable);
        self.ordered = false;
        // VALUES gives no names.
        let named = std::mem::take(&mut self.named);
        let mut body = match !named && self.random.percent(3) {
            true => self.values(types),
            false => self.select(types, top),
        };
        if self.ordered {
            self.ordered = false;
            return body;
        }
        while all_sortable && self.budget > 0 && self.chance(9, "set-operations") {
            let word = self.random.word(&[
                "UNION",
                "UNION ALL",
                "INTERSECT",
                "INTERSECT ALL",
                "EXCEPT",
                "EXCEPT ALL",
            ]);
            let sort = Sort::Query(types.to_vec());
            let (open, close) = match self.random.percent(30) {
                true => ("(", ")"),
                false => ("", ""),
            };
            let right = match self.random.below(20) {
                0 => self.values(types),
                // Operations within operations, with an order and a limit of their own.
                1..=3 => {
                    let inner = self.body(types, false, false);
                    tree!(Sort::Plain; "(", inner, ")")
                }
                _ => {
                    let inner = self.select(types, false);
                    match std::mem::take(&mut self.ordered) {
                        true => tree!(Sort::Plain; "(", inner, ")"),
                        false => tree!(Sort::Plain; open, inner, close),
                    }
                }
            };
            body = tree!(sort; open, body, close, " ", word, " ", right);
        }
        let wants_limit = self.chance(10, "order-limit");
        if !all_sortable || !(ordered || wants_limit || self.random.percent(20)) {
            return body;
        }
        let keys = (1..=types.len()).map(|at| {
            let direction =
                self.random
                    .word(&["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC"]);
            let direction = match self.random.percent(3) {
                true => self.random.word(&[" USING <", " USING >"]),
                false => direction,
            };
            format!("{at}{direction}")
        });
        let keys = keys.collect::<Vec<_>>().join(", ");
        let limit = match wants_limit {
            false => String::new(),
            true => {
                let (limit, offset) = (self.random.below(5), self.random.below(3));
                let words = [
                    format!(" LIMIT {limit}"),
                    format!(" LIMIT {limit} OFFSET {offset}"),
                    format!(" OFFSET {offset}"),
                    format!(" FETCH FIRST {limit} ROWS ONLY"),
                    format!(" OFFSET {offset} ROWS FETCH NEXT {limit} ROWS WITH TIES"),
                    " LIMIT ALL".to_owned(),
                    " LIMIT NULL OFFSET NULL".to_owned(),
                    " FETCH FIRST ROW ONLY".to_owned(),
                    format!(" LIMIT (SELECT {limit}) OFFSET {offset} + 1"),
                    format!(" FETCH FIRST ({limit} + 1) ROWS WITH TIES"),
                ];
                self.random.pick(&words).cloned().unwrap_or_default()
            }
        };
        let sort = if ordered { Sort::Plain } else { Sort::Optional };
        let order = tree!(sort; format!(" ORDER BY {keys}{limit}"));
        // Clauses behind brackets are those of the query in them.
        match self.random.percent(6) {
            true => tree!(Sort::Plain; "(", body, ")", order),
            false => tree!(Sort::Plain; body, order),
        }
    }

    /// `VALUES (…), (…)`.
    fn values(&mut self, types: &[Type]) -> Tree {
        let many = 1 + self.random.below(3);
        let mut rows = Vec::new();
        for _ in 0..many {
            let items = types.iter().map(|ty| self.leaf(ty)).collect();
            let items = Tree::list(", ", types.len(), items);
            rows.push(tree!(Sort::Plain; "(", items, ")"));
        }
        let rows = Tree::list(", ", 1, rows);
        tree!(Sort::Query(types.to_vec()); "VALUES ", rows)
    }

    pub(super) fn where_clause(&mut self) -> Tree {
        if !self.random.percent(55) {
            return Tree::nothing();
        }
        let condition = self.row_condition(15);
        tree!(Sort::Optional; " WHERE ", condition)
    }

    /// One SELECT.
    fn select(&mut self, types: &[Type], top: bool) -> Tree {
        let sort = Sort::Query(types.to_vec());
        let (from, relations) = self.from();
        self.scopes.push(Scope {
            relations,
            ..Scope::default()
        });
        let condition = self.where_clause();
        let scope = self.scope();
        let grouped = !scope.relations.is_empty() && self.chance(22, "grouping-sets");
        let (group, having) = match grouped {
            true => self.group(),
            false => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.windows = true;
                }
                (Tree::nothing(), Tree::nothing())
            }
        };
        let windows = match self.random.percent(5) {
            true => {
                let ty = self.sortable_type();
                let key = match grouped {
                    true => tree!(Sort::Plain; "1"),
                    false => self.leaf(&ty),
                };
                if let Some(scope) = self.scopes.last_mut() {
                    scope.named_window = true;
                }
                tree!(Sort::Optional; " WINDOW wz AS (PARTITION BY ", key, ")")
            }
            false => Tree::nothing(),
        };
        let mut items = Vec::new();
        let mut rows = false;
        let mut values: Vec<(Type, Tree)> = Vec::new();
        for (at, ty) in types.iter().enumerate() {
            let alike = values.iter().find(|(known, _)| known == ty);
            let alike = alike.map(|(_, value)| value.clone());
            let value = match (grouped || !self.random.percent(2), alike) {
                (true, Some(alike)) if self.random.percent(8) => self.nearly(&alike),
                (true, _) => {
                    let value = self.expr(ty);
                    values.push((ty.clone(), value.clone()));
                    value
                }
                (false, _) => {
                    rows = true;
                    self.rows_of(ty)
                }
            };
            let name = match top && self.random.percent(50) {
                true => String::new(),
                false => format!(" AS c{at}"),
            };
            items.push(tree!(Sort::Plain; value, name));
        }
        let all_sortable = types.iter().all(sortable);
        let distinct = match all_sortable && self.random.percent(9) {
            true => tree!(Sort::Optional; "DISTINCT "),
            false => Tree::nothing(),
        };
        let unique = scope.unique().filter(|unique| !unique.is_empty());
        let plain = distinct.to_string().is_empty() && !rows;
        // An order by an expression, and by all columns where it is the same.
        let order = match all_sortable && plain && self.budget > 0 && self.random.percent(5) {
            true => {
                let ty = self.sortable_type();
                let key = self.expr(&ty);
                let direction = self.random.word(&["", " DESC", " NULLS FIRST"]);
                let rest: Vec<String> = (1..=types.len()).map(|at| at.to_string()).collect();
                let rest = rest.join(", ");
                let limit = self.random.word(&["", "", " LIMIT 2", " OFFSET 1"]);
                Some(tree!(Sort::Plain; " ORDER BY ", key, direction, ", ", rest, limit))
            }
            false => None,
        };
        self.scopes.pop();
        let least = if top { 1 } else { types.len() };
        let least = if order.is_some() { types.len() } else { least };
        let items = Tree::list(", ", least, items);
        let mut select = tree!(
            sort.clone();
            "SELECT ", distinct, items, from, condition, group, having, windows
        );
        self.ordered = order.is_some();
        if let Some(order) = order {
            select.parts.push(super::tree::Part::Node(order));
            return select;
        }
        // DISTINCT ON keeps the first row of an order, which must be total.
        match (unique, grouped, all_sortable && self.random.percent(5)) {
            (Some(unique), false, true)
                if plain && !select.to_string().starts_with("SELECT DISTINCT") =>
            {
                self.distinct_on(select, &scope, &unique)
            }
            _ => select,
        }
    }

    /// An expression that differs from another in one column or constant.
    fn nearly(&mut self, other: &Tree) -> Tree {
        match self.random.pick(&other.leaves()).cloned() {
            Some((place, ty)) => other.with(place, self.leaf(&ty)),
            None => other.clone(),
        }
    }

    fn distinct_on(&mut self, mut select: Tree, scope: &Scope, unique: &[String]) -> Tree {
        let columns = scope.columns();
        let columns: Vec<_> = columns.into_iter().filter(|(_, ty)| sortable(ty)).collect();
        let Some((column, _)) = self.random.pick(&columns).cloned() else {
            return select;
        };
        if let Some(super::tree::Part::Text(text)) = select.parts.first_mut() {
            *text = format!("SELECT DISTINCT ON ({column}) ");
        }
        let order = format!(" ORDER BY {column}, {}", unique.join(", "));
        let name = self.name("o");
        tree!(select.sort.clone(); "SELECT * FROM (", select, order, format!(") AS {name}"))
    }

    /// GROUP BY and HAVING; the scope is one of groups afterwards.
    fn group(&mut self) -> (Tree, Tree) {
        let columns = self.scope().columns();
        let columns: Vec<_> = columns.into_iter().filter(|(_, ty)| sortable(ty)).collect();
        let mut keys: Vec<(String, Type)> = Vec::new();
        for _ in 0..self.random.below(3) {
            let key = match self.random.percent(80) {
                true => self.random.pick(&columns).cloned(),
                false => {
                    let ty = self.sortable_type();
                    let saved = self.budget;
                    self.budget = self.budget.min(2);
                    let text = self.expr(&ty).to_string();
                    self.budget = saved.saturating_sub(2);
                    // A key without columns is a constant, or names a place.
                    let reads = columns.iter().any(|(column, _)| text.contains(column));
                    (reads && !text.contains("SELECT")).then_some((text, ty))
                }
            };
            keys.extend(key.filter(|key| !keys.contains(key)));
        }
        let texts: Vec<String> = keys.iter().map(|(text, _)| text.clone()).collect();
        let all = texts.join(", ");
        // PostgreSQL folds keys of grouping sets before it tells sub-totals by them: a key that
        // becomes a constant or another key has wrong ones. So has a comparison whose negation is
        // asked for: it becomes another comparison.
        let folds = ["CASE ", "coalesce(", " AND ", " OR "];
        let is_column = |text: &String| columns.iter().any(|(column, _)| column == text);
        let mut computed = keys.iter().filter(|(text, _)| !is_column(text));
        let may_fold = folds.iter().any(|part| all.contains(part))
            || computed.any(|(_, ty)| *ty == Type::Bool);
        let clause = match (keys.len(), self.random.below(10)) {
            (0, 0..=5) => String::new(),
            (0, _) => " GROUP BY ()".to_owned(),
            (_, _) if may_fold => format!(" GROUP BY {all}"),
            (_, 0..=4) => format!(" GROUP BY {all}"),
            (_, 5) => format!(" GROUP BY ROLLUP ({all})"),
            (_, 6) => format!(" GROUP BY CUBE ({all})"),
            (1, 7) => format!(" GROUP BY DISTINCT ROLLUP ({all}), CUBE ({all})"),
            (1, _) => format!(" GROUP BY GROUPING SETS (({all}), ())"),
            (_, _) if self.random.percent(12) => {
                format!(
                    " GROUP BY DISTINCT GROUPING SETS (ROLLUP ({all}), ({}))",
                    texts[0]
                )
            }
            (_, 7) => format!(
                " GROUP BY GROUPING SETS (({}), ({}), ())",
                texts[0], texts[1]
            ),
            (_, 8) => format!(" GROUP BY {}, ROLLUP ({})", texts[0], texts[1]),
            _ => format!(" GROUP BY GROUPING SETS (({all}), ({}))", texts[0]),
        };
        let clause = tree!(Sort::Plain; clause);
        if let Some(scope) = self.scopes.last_mut() {
            if !keys.is_empty() {
                keys.push((format!("grouping({all})"), Type::Int4));
            }
            scope.grouped = Some(keys);
            scope.aggregates = true;
        }
        let having = match self.random.percent(25) {
            true => {
                let condition = self.condition();
                tree!(Sort::Optional; " HAVING ", condition)
            }
            false => Tree::nothing(),
        };
        if let Some(scope) = self.scopes.last_mut() {
            scope.windows = true;
        }
        (clause, having)
    }
}
