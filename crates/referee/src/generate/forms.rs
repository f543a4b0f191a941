//! Rarer forms of expressions, and how often each form of the grammar is made.

use freestone_frontend::types::Type;

use super::Generator;
use super::tree::{Sort, Tree, tree};

/// Forms of the grammar, each with words of which its statements have one.
pub const FORMS: [(&str, &[&str]); 49] = [
    ("LATERAL", &["LATERAL"]),
    ("outer joins", &["LEFT ", "RIGHT ", "FULL "]),
    ("JOIN USING, NATURAL", &[" USING (", "NATURAL"]),
    ("USING … AS", &["AS ju"]),
    ("ROWS FROM", &["ROWS FROM"]),
    ("functions that give rows", &["unnest(", "generate_series("]),
    ("WITH ORDINALITY", &["WITH ORDINALITY"]),
    ("VALUES", &["VALUES"]),
    ("TABLE", &["(TABLE "]),
    ("WITH", &["WITH cte", "WITH RECURSIVE"]),
    ("WITH RECURSIVE", &["WITH RECURSIVE"]),
    ("SEARCH, CYCLE", &[" SEARCH ", " CYCLE "]),
    ("WITH that changes data", &["WITH mod"]),
    ("GROUP BY", &["GROUP BY"]),
    (
        "GROUPING SETS, ROLLUP, CUBE",
        &["GROUPING SETS", "ROLLUP", "CUBE"],
    ),
    ("GROUP BY DISTINCT", &["GROUP BY DISTINCT"]),
    ("HAVING", &["HAVING"]),
    ("aggregates with DISTINCT", &["(DISTINCT "]),
    ("FILTER", &["FILTER ("]),
    ("WITHIN GROUP", &["WITHIN GROUP"]),
    ("windows", &["OVER ("]),
    ("named windows", &["OVER (wz"]),
    ("ROWS, GROUPS", &[" ROWS BETWEEN", " GROUPS BETWEEN"]),
    ("RANGE", &[" RANGE BETWEEN"]),
    ("EXCLUDE", &[" EXCLUDE "]),
    ("DISTINCT ON", &["DISTINCT ON"]),
    ("set operations", &["UNION", "INTERSECT", "EXCEPT"]),
    ("LIMIT, OFFSET", &["LIMIT ", "OFFSET ", "FETCH "]),
    ("WITH TIES", &["WITH TIES"]),
    ("ORDER BY … USING", &[" USING <", " USING >"]),
    ("FOR UPDATE, FOR SHARE", &[" FOR UPDATE", " FOR SHARE"]),
    ("sub-queries", &["(SELECT "]),
    ("EXISTS", &["EXISTS ("]),
    ("ANY, ALL", &["ANY (", "ALL (", "SOME ("]),
    ("ARRAY(SELECT)", &["ARRAY(SELECT"]),
    ("subscripts", &[")["]),
    ("rows", &["ROW("]),
    ("CASE", &["CASE"]),
    ("casts", &["::", "CAST("]),
    ("paths in JSON", &["jsonb_path", "@?", "@@"]),
    ("AT TIME ZONE", &["AT TIME ZONE"]),
    (
        "interval fields",
        &["' month", "' day", "' year to", "' hour"],
    ),
    ("OPERATOR()", &["OPERATOR("]),
    ("escapes in literals", &["E'", "U&'", "$q$"]),
    ("INSERT", &["INSERT INTO"]),
    ("ON CONFLICT", &["ON CONFLICT"]),
    ("UPDATE", &["UPDATE t"]),
    ("DELETE", &["DELETE FROM"]),
    ("MERGE", &["MERGE INTO"]),
];

/// Paths in JSON that no value makes fail.
const PATHS: [&str; 20] = [
    "$",
    "$.a",
    "$.b[*]",
    "$[*]",
    "$.*",
    "$.**",
    "$.b[0 to 1]",
    "$[last]",
    "$.a.type()",
    "$.b.size()",
    "$[*] ? (@ > 1)",
    "$.b[*] ? (@ == true || @ == \"x\")",
    "$ ? (exists (@.a))",
    "$[*] ? (@.a >= 2)",
    "$.** ? (@ like_regex \"^[a-z]\")",
    "$[0, 2]",
    "$.b[*] ? (@ starts with \"x\")",
    "$ ? (!(@.a == 1))",
    "$.a ? ((@ > 0) is unknown)",
    "$.**{1 to 2}",
];

impl Generator<'_> {
    /// An expression of a rarer form, if the type has one.
    pub(super) fn form(&mut self, ty: &Type) -> Option<Tree> {
        use Type::*;
        let sort = Sort::Expr(ty.clone());
        if self.random.percent(12) {
            // Through text and back.
            let value = self.leaf(ty);
            return Some(tree!(sort; "((", value, ")::text)::", ty.to_string()));
        }
        Some(match ty {
            Text => match self.random.below(4) {
                0 => {
                    let word = self.random.word(&[
                        "E'a\\tb\\x41\\u00e9'",
                        "U&'\\00e9\\+01F600'",
                        "$q$it's$q$",
                        "E'\\\\'",
                        "'it''s'",
                        "U&'d!0061t' UESCAPE '!'",
                    ]);
                    tree!(sort; "(", word, ")::text")
                }
                1 => {
                    let (a, b) = (self.expr(&Text), self.expr(&Text));
                    tree!(sort; "(", a, " OPERATOR(pg_catalog.||) ", b, ")")
                }
                2 => {
                    let value = self.expr(&Jsonb);
                    let path = self.random.word(&PATHS);
                    tree!(sort; "(jsonb_path_query_first(", value, format!(", '{path}') #>> '{{}}')"))
                }
                _ => {
                    let value = self.expr(&Text);
                    let word = self
                        .random
                        .word(&["lower", "upper", "initcap", "reverse", "md5"]);
                    tree!(sort; "pg_catalog.", word, "(", value, ")")
                }
            },
            Jsonb => match self.random.below(4) {
                0 => {
                    let value = self.expr(&Jsonb);
                    let path = self.random.word(&PATHS);
                    let word = self
                        .random
                        .word(&["jsonb_path_query_first", "jsonb_path_query_array"]);
                    tree!(sort; word, "(", value, format!(", '{path}')"))
                }
                1 => {
                    let value = self.expr(&Jsonb);
                    let place = self.random.word(&["['a']", "[0]", "['b'][1]", "[-1]"]);
                    tree!(sort; "(", value, ")", place)
                }
                2 => {
                    let value = self.expr(&Jsonb);
                    tree!(sort; "jsonb_path_query_array(", value,
                        ", '$[*] ? (@ > $x)', '{\"x\": 1}')")
                }
                _ => {
                    let value = self.expr(&Jsonb);
                    tree!(sort; "(", value, " || '{\"z\": [null]}'::jsonb)")
                }
            },
            Bool => match self.random.below(4) {
                0 | 1 => {
                    let value = self.expr(&Jsonb);
                    let path = self.random.word(&PATHS);
                    match self.random.percent(50) {
                        true => tree!(sort; "jsonb_path_exists(", value, format!(", '{path}')")),
                        false => tree!(sort; "(", value, format!(" @? '{path}')")),
                    }
                }
                2 => {
                    let value = self.expr(&Jsonb);
                    let path = self
                        .random
                        .word(&["$.a == 1", "$.b[*] == \"x\"", "exists($.a)"]);
                    tree!(sort; "(", value, format!(" @@ '{path}')"))
                }
                _ => {
                    let ty = self.sortable_type();
                    let operator = self.random.word(&["=", "<", ">=", "<>"]);
                    let (a, b) = (self.expr(&ty), self.expr(&ty));
                    tree!(sort; "(", a, format!(" OPERATOR(pg_catalog.{operator}) "), b, ")")
                }
            },
            Numeric(None) => {
                let word = self.random.word(&[
                    "1e2",
                    ".5",
                    "3.",
                    "1E-3",
                    "0010.50",
                    "12345678901234567890",
                    "-.25e1",
                ]);
                tree!(sort; "(", word, ")::numeric")
            }
            Interval => match self.random.below(4) {
                0 => {
                    let word = self.random.word(&[
                        "interval '1' month",
                        "interval '1-2' year to month",
                        "interval '3' day",
                        "interval '1.5' hour",
                        "interval '1 2:03' day to minute",
                        "interval '01:02:03.45678' hour to second",
                        "interval(2) '1.239 seconds'",
                        "'P1Y2M3DT4H5M6S'::interval",
                        "'1 day 02:03:04.567'::interval day to second(1)",
                    ]);
                    tree!(sort; "(", word, ")")
                }
                1 => {
                    let number = self.number_of_days();
                    tree!(sort; "make_interval(days => ", number, ", hours => -1)")
                }
                2 => {
                    let (a, b) = (self.leaf(&Timestamp(None)), self.leaf(&Timestamp(None)));
                    tree!(sort; "(", a, " - ", b, ")")
                }
                _ => {
                    let value = self.leaf(&Interval);
                    let word = self.random.word(&[
                        "justify_hours",
                        "justify_days",
                        "justify_interval",
                        "-",
                        "+",
                    ]);
                    tree!(sort; word, "(", value, ")")
                }
            },
            TimestampTz(_) | Timestamp(_) => {
                let value = self.leaf(ty);
                let zone = self.random.word(&[
                    "'Asia/Kathmandu'",
                    "'America/New_York'",
                    "'+05:30'",
                    "'CET'",
                    "'EST5EDT'",
                    "interval '05:45'",
                ]);
                let other = self.random.word(&["'UTC'", "'Australia/Lord_Howe'"]);
                tree!(sort; "((", value, " AT TIME ZONE ", zone, ") AT TIME ZONE ", other, ")")
            }
            Time(_) => {
                let value = self.leaf(&Timestamp(None));
                tree!(sort; "CAST(", value, " AS ", ty.to_string(), ")")
            }
            Array(element) => {
                let element = (**element).clone();
                match self.random.below(3) {
                    0 if element.base() == element => {
                        let items: Vec<Tree> = (0..2).map(|_| self.leaf(&element)).collect();
                        let items = Tree::list(", ", 1, items);
                        let array = self.expr(ty);
                        tree!(sort; "(", array, " || ARRAY[", items, "]::", ty.to_string(), ")")
                    }
                    1 => {
                        let array = self.expr(ty);
                        let bounds = self.random.word(&["[:]", "[2:]", "[:1]", "[0:1]"]);
                        tree!(sort; "(", array, ")", bounds)
                    }
                    _ => {
                        let array = self.expr(ty);
                        tree!(sort; "ARRAY(SELECT * FROM unnest(", array, "))::", ty.to_string())
                    }
                }
            }
            _ => return None,
        })
    }

    fn number_of_days(&mut self) -> Tree {
        let number = self.random.below(40);
        Tree::expr(&Type::Int4, number.to_string())
    }
}
