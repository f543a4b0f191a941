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
            ("overlay", 2) => &["1", "2", "3"],
            ("overlay", 3) => &["0", "1", "2"],
            ("get_byte" | "set_byte" | "get_bit" | "set_bit", 0) => {
                &["'\\x6162'::bytea", "'\\xff00fe'::bytea"]
            }
            ("get_byte" | "set_byte" | "get_bit" | "set_bit", _) => &["0", "1"],
            ("to_timestamp", 0) if *ty == Type::Text => &["'2020-03-01 04'", "'2021-12-31 23'"],
            ("to_timestamp", 1) => &["'YYYY-MM-DD HH24'"],
            ("array_fill", 1) => &["ARRAY[2]", "ARRAY[1,2]", "ARRAY[0]", "'{}'"],
            ("trim_array", 1) => &["0", "0", "1"],
            ("json_object" | "jsonb_object", 0) if callable.arguments.len() == 1 => &[
                "'{a,1,b,NULL}'::text[]",
                "'{{a,1},{b,x}}'::text[]",
                "'{}'::text[]",
            ],
            ("json_object" | "jsonb_object", 0) => &["'{a,b}'::text[]"],
            ("json_object" | "jsonb_object", 1) => &["'{1,NULL}'::text[]", "'{x,\"y z\"}'::text[]"],
            ("parse_ident", 0) => &["'a.b'", "'\"X\".y'", "'Abc'"],
            ("unistr", 0) => &["'a\\0041'", "'\\+01F600'", "'x'"],
            ("json_array_length" | "jsonb_array_length", 0) => match ty {
                Type::Json => &["'[1,2]'::json", "'[]'::json"],
                _ => &["'[1,[2]]'::jsonb", "'[]'::jsonb"],
            },
            ("width_bucket", 1) if callable.arguments.len() > 2 => &["0", "-3", "10"],
            ("width_bucket", 2) => &["5", "100"],
            ("width_bucket", 3) => &["1", "4", "100"],
            ("make_date", 0) | ("make_timestamp" | "make_timestamptz", 0) => {
                &["2020", "1999", "-44"]
            }
            ("make_date" | "make_timestamp" | "make_timestamptz", 1) => &["1", "2", "12"],
            ("make_date" | "make_timestamp" | "make_timestamptz", 2) => &["1", "28", "29"],
            ("make_time", 0) | ("make_timestamp" | "make_timestamptz", 3) => &["0", "13", "23"],
            ("make_time", 1) | ("make_timestamp" | "make_timestamptz", 4) => &["0", "59"],
            ("make_time", 2) | ("make_timestamp" | "make_timestamptz", 5) => {
                &["0", "59.999", "1.5"]
            }
            ("make_timestamptz", 6) => &["'UTC'", "'Europe/Berlin'", "'-03:30'"],
            ("factorial", 0) => &["0", "5", "20", "25"],
            ("jsonb_insert" | "jsonb_set" | "jsonb_set_lax", 0) => &[
                "'{\"a\": 1, \"b\": [1, 2]}'::jsonb",
                "'[1, {\"a\": 2}]'::jsonb",
            ],
            ("jsonb_insert" | "jsonb_set" | "jsonb_set_lax", 1) => &["'{a}'", "'{b,0}'", "'{1}'"],
            ("jsonb_set_lax", 4) => &["'use_json_null'", "'delete_key'", "'return_target'"],
            ("timezone", 0) if *ty == Type::Text => {
                &["'UTC'", "'Europe/Berlin'", "'EST'", "'+03:30'"]
            }
            ("timezone", 0) => &["interval '2 hours'", "interval '-03:30'"],
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

    /// A call with a row of a relation.
    fn whole_row(&mut self, ty: &Type) -> Option<Tree> {
        let scope = self.scope();
        let relation = match scope.grouped {
            None => self.random.pick(&scope.relations)?.clone(),
            Some(_) => return None,
        };
        let row = &relation.name;
        if row.is_empty() {
            return None;
        }
        let typed = relation
            .columns
            .iter()
            .all(|(_, ty)| super::values::sortable(ty));
        let text = match ty {
            Type::Text => format!("{row}::text"),
            Type::Jsonb => format!("to_jsonb({row})"),
            Type::Json => format!("row_to_json({row})"),
            Type::Bool if typed => format!("({row} = {row})"),
            Type::Bool => format!("({row} IS NOT NULL)"),
            _ => return None,
        };
        Some(Tree::expr(ty, text))
    }

    /// A call with a syntax or values of its own.
    pub(super) fn special(&mut self, ty: &Type) -> Tree {
        use Type::*;
        if self.random.percent(4)
            && let Some(row) = self.whole_row(ty)
        {
            return row;
        }
        let sort = Sort::Expr(ty.clone());
        match ty {
            Text => match self.random.below(12) {
                9 => {
                    let types: Vec<Type> = (0..2).map(|_| self.wanted_type()).collect();
                    let items = types.iter().map(|ty| self.expr(ty)).collect();
                    let items = Tree::list(", ", 1, items);
                    let word = self.random.word(&["row_to_json", "to_json", "to_jsonb"]);
                    tree!(sort; word, "(ROW(", items, "))::text")
                }
                10 => {
                    let value = self.expr(&Text);
                    let rest = self.random.word(&[
                        " SIMILAR 'a#\"%#\"c' ESCAPE '#'",
                        " FROM 'a(.)'",
                        " FROM 'a#\"%#\"c' FOR '#'",
                    ]);
                    tree!(sort; "substring(", value, rest, ")")
                }
                11 => {
                    let types: Vec<Type> = (0..2).map(|_| self.wanted_type()).collect();
                    let items = types.iter().map(|ty| self.expr(ty)).collect();
                    let items = Tree::list(", ", 1, items);
                    tree!(sort; "ROW(", items, ")::text")
                }
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
            Bytea => match self.random.below(4) {
                0 => {
                    let value = self.expr(&Bytea);
                    let word = self.random.word(&["hex", "base64", "escape"]);
                    tree!(sort; "decode(encode(", value, format!(", '{word}'), '{word}')"))
                }
                1 => {
                    let value = self.expr(&Bytea);
                    let side = self.random.word(&["BOTH ", "LEADING ", "TRAILING ", ""]);
                    tree!(sort; "trim(", side, "'\\x61'::bytea FROM ", value, ")")
                }
                2 => {
                    let value = self.expr(&Bytea);
                    let range = self.random.word(&[" FROM 2", " FOR 2", " FROM 2 FOR 1"]);
                    tree!(sort; "substring(", value, range, ")")
                }
                _ => {
                    let value = self.expr(&Text);
                    tree!(sort; "convert_to(", value, ", 'UTF8')")
                }
            },
            Float8 | Int8 | Int2 | Float4 if self.random.percent(50) => self.mixed(ty),
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
            Numeric(_) if self.random.percent(30) => match self.random.percent(50) {
                true => self.mixed(ty),
                false => {
                    let word = self.random.word(&[
                        "to_number('-12,345.6', 'S99G999D9')",
                        "to_number(' 42', '99')",
                        "to_number('0.5', '9.9')",
                    ]);
                    tree!(sort; word)
                }
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

    /// Arithmetic of two types that have one in common.
    fn mixed(&mut self, ty: &Type) -> Tree {
        use Type::*;
        let sort = Sort::Expr(ty.clone());
        let narrower: &[Type] = match ty {
            Int2 => &[Int2],
            Int8 => &[Int2, Int4],
            Float4 => &[Float4],
            Numeric(_) => &[Int2, Int4, Int8],
            Float8 => &[Int2, Int4, Int8, Numeric(None), Float4],
            _ => return self.leaf(ty),
        };
        let other = self.one_of(narrower);
        let operator = self.random.word(&["+", "-", "*", "/"]);
        let base = ty.base();
        let (a, b) = match operator {
            "/" => {
                let divisor = self.number(&other, &["1", "2", "-3"]);
                (self.expr(&base), divisor)
            }
            _ if self.random.percent(50) => (self.expr(&base), self.expr(&other)),
            _ => (self.expr(&other), self.expr(&base)),
        };
        tree!(sort; "(", a, format!(" {operator} "), b, ")")
    }
}
