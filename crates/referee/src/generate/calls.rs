//! Calls of functions, operators, aggregates and window functions.

use freestone_frontend::types::Type;

use super::Generator;
use super::signatures::{Callable, Kind};
use super::tree::{Sort, Tree, tree};
use super::values::sortable;

/// Aggregates whose results depend on the order of rows.
const ORDERED: [&str; 6] = [
    "array_agg",
    "string_agg",
    "json_agg",
    "jsonb_agg",
    "json_object_agg",
    "jsonb_object_agg",
];

/// Window functions that tell peers apart.
const TELLING: [&str; 7] = [
    "row_number",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
];

impl Generator<'_> {
    fn drawn(&mut self, kind: Kind, ty: &Type) -> Option<Callable> {
        let signatures = self.signatures;
        self.random.pick(signatures.giving(kind, ty)).cloned()
    }

    /// A call of a function or an operator that gives a type.
    pub(super) fn call(&mut self, kind: Kind, ty: &Type) -> Option<Tree> {
        let callable = self.drawn(kind, ty)?;
        let sort = Sort::Expr(ty.clone());
        let mut arguments = Vec::new();
        for (at, of) in callable.arguments.iter().enumerate() {
            arguments.push(match self.argument(&callable, at) {
                Some(special) => special,
                None => self.expr(of),
            });
        }
        if kind == Kind::Function {
            let list = Tree::list(", ", callable.arguments.len(), arguments);
            return Some(tree!(sort; callable.name, "(", list, ")"));
        }
        let mut arguments = arguments.into_iter();
        match (arguments.next(), arguments.next()) {
            (Some(a), Some(b)) => Some(tree!(sort; "(", a, format!(" {} ", callable.name), b, ")")),
            (Some(a), None) => Some(tree!(sort; "(", format!("{} ", callable.name), a, ")")),
            _ => None,
        }
    }

    /// Arguments of an aggregate or a window function: no aggregates or windows in them.
    fn inner(&mut self, types: &[Type], grouped: bool) -> Vec<Tree> {
        let saved = self.scope();
        if let Some(scope) = self.scopes.last_mut() {
            scope.windows = false;
            if !grouped {
                scope.aggregates = false;
                scope.grouped = None;
            }
        }
        let local = self.local;
        self.local |= self.local_aggregates && !grouped;
        let trees = types.iter().map(|ty| self.expr(ty)).collect();
        self.local = local;
        if let Some(scope) = self.scopes.last_mut() {
            *scope = saved;
        }
        trees
    }

    fn filter(&mut self, grouped: bool) -> Tree {
        // The condition of a window's FILTER reads groups, but calls no aggregates.
        if grouped && self.scope().aggregates || !self.random.percent(18) {
            return Tree::nothing();
        }
        let condition = self.inner(&[Type::Bool], grouped);
        let condition = Tree::list("", 1, condition);
        tree!(Sort::Optional; " FILTER (WHERE ", condition, ")")
    }

    /// The call of an aggregate without FILTER and OVER, and its name.
    fn plain_aggregate(&mut self, ty: &Type, grouped: bool) -> Option<(Tree, Callable)> {
        let callable = self.drawn(Kind::Aggregate, ty)?;
        if callable.name == "count" && callable.arguments.is_empty() {
            return Some((tree!(Sort::Plain; "count(*)"), callable));
        }
        let unsortable = callable.arguments.iter().any(|ty| !sortable(ty));
        if unsortable && ORDERED.contains(&callable.name.as_str()) {
            return None;
        }
        let mut arguments = self.inner(&callable.arguments, grouped);
        if callable.name.contains("object_agg") {
            let key = self.random.word(&["'k'", "'m'"]);
            arguments[0] =
                tree!(Sort::Plain; "coalesce((", arguments[0].clone(), ")::text, ", key, ")");
        }
        if callable.name == "string_agg" {
            let literal = if callable.arguments[0] == Type::Bytea {
                "'\\x2c'::bytea"
            } else {
                "','"
            };
            arguments[1] = tree!(Sort::Plain; literal);
        }
        let list = Tree::list(", ", arguments.len(), arguments.clone());
        Some((
            tree!(Sort::Plain; callable.name.clone(), "(", list),
            callable,
        ))
    }

    /// An aggregate that gives a type, in a grouped query.
    pub(super) fn aggregate_call(&mut self, ty: &Type) -> Option<Tree> {
        let sort = Sort::Expr(ty.clone());
        if self.random.percent(12) {
            return self.ordered_set(ty);
        }
        let (head, callable) = self.plain_aggregate(ty, false)?;
        let filter = self.filter(false);
        if callable.arguments.is_empty() {
            return Some(tree!(sort; head, filter));
        }
        let arguments: Vec<String> = match head.parts.last() {
            Some(super::tree::Part::Node(list)) => list
                .parts
                .iter()
                .map(|part| match part {
                    super::tree::Part::Node(tree) => tree.to_string(),
                    super::tree::Part::Text(text) => text.clone(),
                })
                .collect(),
            _ => Vec::new(),
        };
        let head = head.to_string();
        let (name, list) = head.split_once('(')?;
        let all_sortable = callable.arguments.iter().all(sortable);
        // A sub-query is the same value in DISTINCT and ORDER BY only to PostgreSQL.
        let queries = arguments.iter().any(|argument| argument.contains("SELECT"));
        let distinct = all_sortable && !queries && arguments.len() == 1 && self.random.percent(15);
        let ordered = ORDERED.contains(&name);
        let order = match ordered || all_sortable && !distinct && self.random.percent(5) {
            true => {
                let direction =
                    self.random
                        .word(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
                let keys = arguments
                    .iter()
                    .map(|argument| format!("{argument}{direction}"));
                format!(" ORDER BY {}", keys.collect::<Vec<_>>().join(", "))
            }
            false => String::new(),
        };
        let distinct = if distinct { "DISTINCT " } else { "" };
        Some(tree!(sort; format!("{name}({distinct}{list}{order})"), filter))
    }

    fn ordered_set(&mut self, ty: &Type) -> Option<Tree> {
        let sort = Sort::Expr(ty.clone());
        let direction = self
            .random
            .word(&["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
        let fraction = self.random.word(&["0", "0.25", "0.5", "1", "NULL"]);
        let (direct, of) = match ty {
            Type::Float8 if self.random.percent(50) => {
                (format!("percentile_cont({fraction})"), Type::Float8)
            }
            Type::Int8 | Type::Float8 => {
                let word = match ty {
                    Type::Int8 => self.random.word(&["rank", "dense_rank"]),
                    _ => self.random.word(&["percent_rank", "cume_dist"]),
                };
                // Keys of the group are direct arguments, too, NULL where their set has none.
                let mut keys = self.scope().grouped.clone().unwrap_or_default();
                keys.retain(|(_, ty)| sortable(ty));
                let key = self.random.pick(&keys).filter(|_| self.random.percent(60));
                let (value, of) = key.cloned().unwrap_or_else(|| {
                    let of = self.sortable_type();
                    (super::values::literal(&mut self.random, &of), of)
                });
                (format!("{word}({value})"), of)
            }
            Type::Array(element) if **element == Type::Float8 => (
                "percentile_cont(ARRAY[0, 0.5, NULL])".to_owned(),
                Type::Float8,
            ),
            Type::Array(element) if self.random.percent(50) && sortable(element) => (
                "percentile_disc(ARRAY[1, 0.25])".to_owned(),
                (**element).clone(),
            ),
            Type::Array(_) => return None,
            ty if sortable(ty) => match self.random.percent(50) {
                true => ("mode()".to_owned(), ty.clone()),
                false => (format!("percentile_disc({fraction})"), ty.clone()),
            },
            _ => return None,
        };
        // A bare NULL fits several overloads.
        let direct = match direct.starts_with("percentile_disc") {
            true => direct.replace("NULL", "0.75"),
            false => direct,
        };
        let key = Tree::list("", 1, self.inner(&[of], false));
        let filter = self.filter(false);
        Some(tree!(sort; direct, " WITHIN GROUP (ORDER BY ", key, direction, ")", filter))
    }

    /// A call over a window.
    pub(super) fn window_call(&mut self, ty: &Type) -> Option<Tree> {
        let sort = Sort::Expr(ty.clone());
        let scope = self.scope();
        let unique = match scope.grouped {
            Some(_) => None,
            None => scope.unique().filter(|unique| !unique.is_empty()),
        };
        let aggregate = self.random.percent(50);
        let (head, telling) = if aggregate {
            let (head, callable) = self.plain_aggregate(ty, true)?;
            let telling = ORDERED.contains(&callable.name.as_str());
            let close = if callable.arguments.is_empty() {
                ""
            } else {
                ")"
            };
            let filter = self.filter(true);
            (tree!(Sort::Plain; head, close, filter), telling)
        } else {
            let callable = self.drawn(Kind::Window, ty)?;
            let telling = TELLING.contains(&callable.name.as_str());
            let mut arguments = self.inner(&callable.arguments, true);
            for (at, of) in callable.arguments.iter().enumerate() {
                if *of == Type::Int4 && (at == 1 || callable.name == "ntile") {
                    let number = 1 + self.random.below(3);
                    arguments[at] = tree!(Sort::Plain; number.to_string());
                }
            }
            let list = Tree::list(", ", arguments.len(), arguments);
            (tree!(Sort::Plain; callable.name, "(", list, ")"), telling)
        };
        if telling && unique.is_none() {
            return None;
        }
        let window = self.window(unique, telling)?;
        Some(tree!(sort; head, " OVER (", window, ")"))
    }

    fn window(&mut self, unique: Option<Vec<String>>, telling: bool) -> Option<Tree> {
        let named = self.scope().named_window && self.random.percent(60);
        let partition = match !named && self.random.percent(50) {
            true => {
                let types = [self.sortable_type()];
                let keys = Tree::list(", ", 1, self.inner(&types, true));
                tree!(Sort::Optional; "PARTITION BY ", keys)
            }
            false if named => tree!(Sort::Plain; "wz"),
            false => Tree::nothing(),
        };
        let mut total = telling;
        let units = self.random.word(&["ROWS", "RANGE", "GROUPS", ""]);
        total |= units == "ROWS" && unique.is_some();
        let units = if units == "ROWS" && !total {
            "GROUPS"
        } else {
            units
        };
        let number_key = self.random.percent(20);
        let of = match number_key {
            true => self.one_of(&[
                Type::Int4,
                Type::Numeric(None),
                Type::Date,
                Type::Int8,
                Type::Int2,
                Type::Float8,
                Type::Timestamp(None),
                Type::TimestampTz(None),
                Type::Interval,
                Type::Time(None),
                Type::TimeTz(None),
                Type::Float4,
            ]),
            false => self.sortable_type(),
        };
        let key = Tree::list("", 1, self.inner(std::slice::from_ref(&of), true));
        let direction =
            self.random
                .word(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC"]);
        let rest = match (&unique, total) {
            (Some(unique), true) => format!(", {}", unique.join(", ")),
            _ => String::new(),
        };
        let order = tree!(Sort::Plain; " ORDER BY ", key, direction, rest.clone());
        let distance = match (units, &of) {
            ("RANGE", Type::Int2 | Type::Int4 | Type::Int8) if rest.is_empty() => {
                Some(self.random.word(&["1", "2", "0", "(1 + 1)"]))
            }
            ("RANGE", Type::Numeric(_) | Type::Float8 | Type::Float4) if rest.is_empty() => {
                Some(self.random.word(&["1", "0.5", "0", "2.25", "'Infinity'"]))
            }
            (
                "RANGE",
                Type::Date
                | Type::Timestamp(_)
                | Type::TimestampTz(_)
                | Type::Interval
                | Type::Time(_)
                | Type::TimeTz(_),
            ) if rest.is_empty() => Some(self.random.word(&[
                "interval '1 month'",
                "interval '1 day'",
                "interval '90 minutes'",
                "'1 day 1 hour'",
            ])),
            ("RANGE", _) => None,
            _ => Some(self.random.word(&["1", "2", "0"])),
        };
        let frame = match units.is_empty() {
            true => Tree::nothing(),
            false => {
                let start = match (self.random.below(4), distance) {
                    (0, Some(distance)) => format!("{distance} PRECEDING"),
                    (3, Some(distance)) => format!("{distance} FOLLOWING"),
                    (1, _) => "CURRENT ROW".to_owned(),
                    _ => "UNBOUNDED PRECEDING".to_owned(),
                };
                let end = match (self.random.below(4), distance) {
                    (0, Some(distance)) => format!("{distance} FOLLOWING"),
                    (3, Some(distance)) if start.ends_with("PRECEDING") => {
                        format!("{distance} PRECEDING")
                    }
                    (1, _) => "UNBOUNDED FOLLOWING".to_owned(),
                    (_, Some(distance)) if start.ends_with("FOLLOWING") => {
                        format!("{distance} FOLLOWING")
                    }
                    (_, None) | (2.., _) if !start.ends_with("FOLLOWING") => {
                        "CURRENT ROW".to_owned()
                    }
                    _ => "UNBOUNDED FOLLOWING".to_owned(),
                };
                let exclude = self.random.word(&[
                    "",
                    "",
                    " EXCLUDE CURRENT ROW",
                    " EXCLUDE GROUP",
                    " EXCLUDE TIES",
                    " EXCLUDE NO OTHERS",
                ]);
                // Which of the peers is the current row is not fixed, but for each row the
                // others are the same.
                tree!(Sort::Optional; format!(" {units} BETWEEN {start} AND {end}{exclude}"))
            }
        };
        Some(tree!(Sort::Plain; partition, order, frame))
    }
}
