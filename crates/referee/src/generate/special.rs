//! Calls with a syntax of their own, and arguments that only few values fit.

use freestone_frontend::types::Type;

use super::Generator;
use super::signatures::{Callable, Kind};
use super::tree::{Sort, Tree, tree};

impl Generator<'_> {
    /// An argument that must be one of few values.
    pub(super) fn argument(&mut self, callable: &Callable, at: usize) -> Option<Tree> {
        let ty = callable.arguments.get(at)?;
        let name = callable.name.as_str();
        let words: &[&str] = match (name, at) {
            ("date_trunc" | "date_part", 0) => &[
                "'year'",
                "'month'",
                "'day'",
                "'hour'",
                "'week'",
                "'quarter'",
                "'decade'",
            ],
            ("date_bin", 0) => &["interval '1 day'", "interval '15 minutes'"],
            ("date_bin", _) => match ty {
                Type::TimestampTz(_) => &["timestamptz '2020-01-01 00:00+00'"],
                _ => &["timestamp '2020-01-01'", "timestamp '2021-03-04 05:06'"],
            },
            ("date_trunc", 2) => &["'UTC'", "'Europe/Berlin'", "'America/New_York'"],
            ("to_char", 1) => match callable.arguments.first()? {
                Type::Timestamp(_) | Type::TimestampTz(_) => &[
                    "'YYYY-MM-DD'",
                    "'Day, DD Mon HH12:MI:SS AM'",
                    "'IYYY-IW Q J'",
                    "'FMMonth FMDDth'",
                ],
                Type::Interval => &["'HH24:MI:SS'", "'DD HH24'"],
                _ => &["'999.99'", "'FM0009'", "'S99D9'", "'L9G999PR'", "'9.9EEEE'"],
            },
            ("encode", 1) => &["'hex'", "'base64'", "'escape'"],
            ("convert_to", 1) => &["'UTF8'", "'SQL_ASCII'"],
            ("length", 1) => &["'UTF8'"],
            ("chr", 0) => &["65", "97", "233", "8364"],
            ("repeat", 1) => &["0", "1", "2", "3", "-1"],
            ("lpad" | "rpad" | "left" | "right", 1) => &["0", "1", "2", "5", "-1"],
            ("substr" | "substring", 1 | 2) if *ty == Type::Int4 => &["0", "1", "2", "5", "7"],
            ("substring", 1) => &["'a.'", "'b(.)'", "'[0-9]+'"],
            ("substring", 2) => &["'#'"],
            ("split_part", 2) => &["1", "2", "3", "-1"],
            (name, 1) if name.starts_with("regexp_") && *ty == Type::Text => &[
                "'a'",
                "'(a)(b)?'",
                "'[bc]+'",
                "'\\\\d'",
                "'^.'",
                "'x*'",
                "'(?:b|c)$'",
            ],
            ("regexp_replace", 2) => &["'X'", "''", "'<\\\\1>'", "'\\\\&\\\\&'"],
            ("regexp_replace", 3) if *ty == Type::Text => &["'g'", "'i'", "'gi'"],
            (name, _) if name.starts_with("regexp_") && at > 1 && *ty == Type::Int4 => match name {
                "regexp_instr" | "regexp_substr" if at == 5 || at == 6 => &["0", "1"],
                "regexp_instr" if at == 4 => &["0", "1"],
                _ => &["1", "2"],
            },
            (name, _) if name.starts_with("regexp_") && at > 1 && *ty == Type::Text => {
                &["'i'", "'c'", "''", "'n'"]
            }
            ("sqrt" | "ln" | "log" | "log10" | "dlog1", _) => {
                return Some(self.number(ty, &["1", "2", "10", "0.5", "100"]));
            }
            ("asin" | "acos" | "asind" | "acosd" | "atanh", _) => {
                return Some(self.number(ty, &["0", "0.5", "-0.5", "0.25"]));
            }
            ("acosh", _) => return Some(self.number(ty, &["1", "2", "10"])),
            ("cot" | "cotd" | "tan" | "tand", _) => {
                return Some(self.number(ty, &["1", "2", "30", "0.5"]));
            }
            ("exp" | "sinh" | "cosh", _) => return Some(self.number(ty, &["0", "1", "-2", "3.5"])),
            ("power" | "pow" | "^", _) => {
                return Some(self.number(ty, &["0", "1", "2", "3", "0.5"]));
            }
            ("/" | "%" | "div" | "mod", 1) if !matches!(ty, Type::Interval) => {
                return Some(self.number(ty, &["1", "2", "3", "-2", "7"]));
            }
            ("*", _) if ty.is_number() && callable.arguments.iter().any(|ty| !ty.is_number()) => {
                return Some(self.number(ty, &["1", "2", "-3"]));
            }
            ("+" | "-", 1) if *ty == Type::Int4 && !callable.returns.is_number() => {
                &["0", "1", "2", "31"]
            }
            ("<<" | ">>", 1) => &["0", "1", "3"],
            ("round" | "trunc", 1) => &["0", "1", "-1", "3"],
            ("|/", _) => return Some(self.number(ty, &["1", "2", "9"])),
            ("gcd" | "lcm", _) => return Some(self.number(ty, &["0", "4", "6", "-9"])),
            ("->" | "->>", 1) if *ty == Type::Text => &["'a'", "'b'", "'zz'"],
            ("->" | "->>", 1) => &["0", "1", "-1"],
            ("#>" | "#>>" | "#-", 1) => &["'{a}'", "'{b,0}'", "'{}'", "'{1}'"],
            (
                "json_extract_path"
                | "jsonb_extract_path"
                | "json_extract_path_text"
                | "jsonb_extract_path_text",
                1,
            ) => return Some(tree!(Sort::Plain; "VARIADIC ARRAY['b', 'a']")),
            ("-", 0) if *ty == Type::Jsonb => &["'{\"a\": 1, \"b\": 2}'::jsonb"],
            ("-", 1) if callable.arguments.first() == Some(&Type::Jsonb) => match ty {
                Type::Text => &["'a'"],
                _ => return None,
            },
            ("?|" | "?&", 1) => &["ARRAY['a', 'c']"],
            ("array_lower" | "array_upper" | "array_length", 1) => &["1", "2"],
            ("make_interval", 6) => &["0.5", "1.25", "59"],
            ("to_hex", 0) => return Some(self.number(ty, &["255", "0", "-1"])),
            ("string_to_array", 1) => &["','", "''", "NULL"],
            ("array_to_string", 1) => &["','", "''"],
            ("bit_count" | "sha224" | "sha256" | "sha384" | "sha512", _) => return None,
            _ => return None,
        };
        let word = self.random.word(words);
        Some(tree!(Sort::Plain; word))
    }

    fn number(&mut self, ty: &Type, words: &[&str]) -> Tree {
        let whole: Vec<&str> = words
            .iter()
            .copied()
            .filter(|word| !word.contains('.'))
            .collect();
        let words = match ty {
            Type::Int2 | Type::Int4 | Type::Int8 => whole.as_slice(),
            _ => words,
        };
        let word = self.random.word(words);
        Tree::expr(ty, format!("'{word}'::{ty}"))
    }

    /// A call with a syntax or values of its own.
    pub(super) fn special(&mut self, ty: &Type) -> Tree {
        use Type::*;
        let sort = Sort::Expr(ty.clone());
        match ty {
            Text => match self.random.below(9) {
                0 => {
                    let side = self.random.word(&["BOTH ", "LEADING ", "TRAILING ", ""]);
                    let value = self.expr(&Text);
                    tree!(sort; "trim(", side, "'a ' FROM ", value, ")")
                }
                1 => {
                    let value = self.expr(&Text);
                    let range =
                        self.random
                            .word(&[" FROM 2", " FOR 2", " FROM 2 FOR 1", " FROM 0"]);
                    tree!(sort; "substring(", value, range, ")")
                }
                2 => {
                    let value = self.expr(&Text);
                    tree!(sort; "overlay(", value, " PLACING 'xx' FROM 2 FOR 1)")
                }
                3 => {
                    let types: Vec<Type> = (0..2).map(|_| self.wanted_type()).collect();
                    let items = types.iter().map(|ty| self.expr(ty)).collect();
                    let items = Tree::list(", ", 1, items);
                    let word = self.random.word(&["concat(", "concat_ws('-', "]);
                    tree!(sort; word, items, ")")
                }
                4 => {
                    let (a, b) = (self.expr(&Text), self.expr(&Int4));
                    let format =
                        self.random
                            .word(&["'%s/%s'", "'%L %s'", "'%2$s %1$10s'", "'%-5s|%s'"]);
                    tree!(sort; "format(", format, ", ", a, ", ", b, ")")
                }
                5 => {
                    let value = self.expr(&Text);
                    tree!(sort; "normalize(", value, ")")
                }
                6 => {
                    let other = self.wanted_type();
                    let (a, b) = (self.expr(&Text), self.expr(&other));
                    let other_is_array = matches!(other, Array(_) | Jsonb | Bytea);
                    match other_is_array {
                        true => tree!(sort; "(", a, " || 'x'::text)"),
                        false => tree!(sort; "(", a, " || ", b, ")"),
                    }
                }
                7 => {
                    let value = self.expr(&Text);
                    tree!(sort; "((", value, ") COLLATE \"C\")")
                }
                _ => {
                    let value = self.expr(&Jsonb);
                    let path = self.random.word(&["'a'", "'b'"]);
                    tree!(sort; "(", value, " ->> ", path, ")")
                }
            },
            Int4 => match self.random.below(4) {
                0 => {
                    let value = self.expr(&Text);
                    tree!(sort; "position('a' IN ", value, ")")
                }
                1 => {
                    let types: Vec<Type> = (0..2).map(|_| self.wanted_type()).collect();
                    let items = types.iter().map(|ty| self.expr(ty)).collect();
                    let items = Tree::list(", ", 1, items);
                    let word = self.random.word(&["num_nulls(", "num_nonnulls("]);
                    tree!(sort; word, items, ")")
                }
                2 => {
                    let of = self.one_of(&[Float8, Numeric(None)]);
                    let value = self.expr(&of);
                    tree!(sort; "width_bucket(", value, ", 0, 10, 4)")
                }
                _ => tree!(sort; "json_array_length('[1, 2]')"),
            },
            Numeric(_) => {
                let moments = [
                    Date,
                    Timestamp(None),
                    TimestampTz(None),
                    Interval,
                    Time(None),
                ];
                let of = self.one_of(&moments);
                let value = self.expr(&of);
                let fields: &[&str] = match of {
                    Time(_) => &["hour", "minute", "second", "epoch"],
                    Interval => &["year", "month", "day", "hour", "second", "epoch"],
                    Date => &[
                        "year", "month", "day", "dow", "doy", "isodow", "isoyear", "week",
                        "quarter", "epoch", "century", "decade", "julian",
                    ],
                    _ => &[
                        "year",
                        "month",
                        "day",
                        "hour",
                        "minute",
                        "second",
                        "dow",
                        "doy",
                        "week",
                        "quarter",
                        "epoch",
                        "milliseconds",
                        "century",
                    ],
                };
                let field = self.random.word(fields);
                tree!(sort; "extract(", field, " FROM ", value, ")")
            }
            Timestamp(_) | TimestampTz(_) => {
                let of = match ty {
                    Timestamp(_) => TimestampTz(None),
                    _ => Timestamp(None),
                };
                let value = self.expr(&of);
                let zone = self.random.word(&[
                    "'UTC'",
                    "'Europe/Berlin'",
                    "'America/New_York'",
                    "interval '-2 hours'",
                ]);
                tree!(sort; "(", value, " AT TIME ZONE ", zone, ")")
            }
            Date => {
                let day = 1 + self.random.below(28);
                let fixed = format!("make_date(2020, 2, {day})");
                let word = self.random.word(&[
                    "to_date('2020-03-01', 'YYYY-MM-DD')",
                    "to_date('1 Mar 21', 'DD Mon YY')",
                ]);
                match self.random.percent(50) {
                    true => tree!(sort; fixed),
                    false => tree!(sort; word),
                }
            }
            Jsonb => {
                let other = self.wanted_type();
                let value = self.expr(&other);
                match self.random.below(4) {
                    0 => tree!(sort; "jsonb_build_object('k', ", value, ", 'l', 1)"),
                    1 => tree!(sort; "jsonb_build_array(", value, ", NULL, 'x')"),
                    2 => tree!(sort; "to_jsonb(", value, ")"),
                    _ => {
                        let base = self.expr(&Jsonb);
                        tree!(sort; "jsonb_set('{\"a\": [1]}', '{a,0}', coalesce(", base, ", '1'))")
                    }
                }
            }
            Json => {
                let other = self.wanted_type();
                let value = self.expr(&other);
                match self.random.below(3) {
                    0 => tree!(sort; "json_build_object('k', ", value, ", 'l', 1)"),
                    1 => tree!(sort; "json_build_array(", value, ", NULL, 'x')"),
                    _ => tree!(sort; "to_json(", value, ")"),
                }
            }
            Bool => self.condition(),
            _ => match self.call(Kind::Operator, ty) {
                Some(call) => call,
                None => self.leaf(ty),
            },
        }
    }
}
