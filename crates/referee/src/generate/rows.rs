//! Functions that give rows, in FROM and in SELECT lists.

use freestone_frontend::functions::catalogue;
use freestone_frontend::types::{Type, named};

use super::Generator;
use super::scope::Relation;
use super::signatures::lines;
use super::tree::{Sort, Tree, tree};

impl Generator<'_> {
    /// An item of a SELECT list that gives rows.
    pub(super) fn rows_of(&mut self, ty: &Type) -> Tree {
        let sort = Sort::Expr(ty.clone());
        match ty {
            Type::Int4 | Type::Int8 | Type::Numeric(None) if self.random.percent(50) => {
                let end = self.random.below(4);
                let text = format!("generate_series('1'::{ty}, '{end}'::{ty})");
                tree!(sort; text)
            }
            Type::Text if self.random.percent(50) => {
                let text = self.expr(&Type::Text);
                let word = self
                    .random
                    .word(&["regexp_split_to_table(", "string_to_table("]);
                tree!(sort; word, text, ", ',')")
            }
            Type::Array(_) | Type::Json | Type::Jsonb | Type::Char(_) | Type::Varchar(Some(_)) => {
                self.expr(ty)
            }
            _ if ty.base() == *ty => {
                let array = self.expr(&ty.clone().array());
                tree!(sort; "unnest(", array, ")")
            }
            _ => self.expr(ty),
        }
    }

    /// A function of the catalogue that gives rows, as an item of FROM.
    pub(super) fn rows_function(&mut self, name: String) -> Option<(Tree, Relation)> {
        let known: Vec<_> = lines()
            .filter(|line| line.kind == "rows" && !catalogue().tables(line.name).is_empty())
            .collect();
        let line = self.random.pick(&known)?;
        let element = self.one_of(&[
            Type::Int4,
            Type::Text,
            Type::Numeric(None),
            Type::Date,
            Type::Jsonb,
        ]);
        let of = |name: &str| match name {
            "anyarray" => Some(element.clone().array()),
            "anyelement" => Some(element.clone()),
            "jsonpath" => None,
            name => named(name),
        };
        let types: Option<Vec<Type>> = line.arguments.iter().map(|ty| of(ty)).collect();
        let types = types?;
        let mut items = Vec::new();
        for (at, ty) in types.iter().enumerate() {
            let words: &[&str] = match (line.name, at, ty) {
                ("generate_series", 0, Type::Timestamp(_)) => &["timestamp '2020-01-30'"],
                ("generate_series", 0, Type::TimestampTz(_)) => &["timestamptz '2020-03-28 12:00'"],
                ("generate_series", 1, Type::Timestamp(_)) => {
                    &["timestamp '2020-02-02'", "timestamp '2020-01-01'", "NULL"]
                }
                ("generate_series", 1, Type::TimestampTz(_)) => &["timestamptz '2020-03-31'"],
                ("generate_series", 2, Type::Interval) => &[
                    "interval '1 day'",
                    "interval '18 hours'",
                    "interval '1 mon'",
                ],
                ("generate_series", 2, _) => &["1", "2", "-1"],
                ("generate_series", _, Type::Int8) => &["1::bigint", "3::bigint", "-1::bigint"],
                ("generate_series", _, Type::Numeric(_)) => &["1.5", "0.5", "2", "NULL::numeric"],
                ("generate_series", ..) => &["1", "3", "0", "NULL::integer"],
                ("generate_subscripts", 1, _) => &["1", "2"],
                ("generate_subscripts", 2, _) => &["true", "false"],
                ("json_each" | "json_each_text" | "json_object_keys", ..) => &[
                    "'{\"a\": 1, \"b\": [true, \"x\"], \"a\": null}'::json",
                    "'{}'::json",
                ],
                ("jsonb_each" | "jsonb_each_text" | "jsonb_object_keys", ..) => &[
                    "'{\"a\": 1, \"b\": [true, \"x\"], \"c\": null}'::jsonb",
                    "'{}'::jsonb",
                ],
                ("json_array_elements" | "json_array_elements_text", ..) => {
                    &["'[1, null, \"a b\", {\"k\" : 2}]'::json", "'[]'::json"]
                }
                ("jsonb_array_elements" | "jsonb_array_elements_text", ..) => {
                    &["'[1, null, \"a b\", {\"k\" : 2}]'::jsonb", "'[]'::jsonb"]
                }
                (_, 1, Type::Text) => &["','", "'[a-c]'", "'(a)|(b)'", "''", "NULL"],
                (_, 2, Type::Text) => &["'g'", "'i'", "''"],
                _ => &[],
            };
            items.push(match words.is_empty() {
                true => self.leaf(ty),
                false => tree!(Sort::Plain; self.random.word(words)),
            });
        }
        let columns = match (line.name, line.returns) {
            ("json_each", _) => vec![("k", Type::Text), ("v", Type::Json)],
            ("jsonb_each", _) => vec![("k", Type::Text), ("v", Type::Jsonb)],
            (_, "record") => vec![("k", Type::Text), ("v", Type::Text)],
            (_, returns) => vec![("v", of(returns)?)],
        };
        let mut columns: Vec<(String, Type)> = columns
            .into_iter()
            .map(|(name, ty)| (name.to_owned(), ty))
            .collect();
        let ordinality = self.random.percent(40);
        let word = if ordinality { " WITH ORDINALITY" } else { "" };
        if ordinality {
            columns.push(("o".to_owned(), Type::Int8));
        }
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let list = Tree::list(", ", items.len(), items);
        let tail = format!("){word} AS {name} ({})", names.join(", "));
        let relation = Relation {
            name,
            columns,
            unique: ordinality.then(|| "o".to_owned()),
        };
        Some((tree!(Sort::Plain; line.name, "(", list, tail), relation))
    }
}
