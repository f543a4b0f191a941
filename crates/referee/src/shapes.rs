//! Statements of great size or depth, each made of one form that is repeated.
//!
//! Each is to be answered, or refused with a sentence, in a time that grows with its text and
//! no faster, on a thread with the stack that threads have by default.
//!
//! ```text
//! or 10000            SELECT false OR false OR …
//! brackets 3000       SELECT ((( … 1 … )))
//! ```

use std::fmt::{self, Write};
use std::io;
use std::time::Duration;

use crate::answer::Side;
use crate::front::{Front, Stages};

/// Bytes of a thread's stack by default.
const STACK: usize = 2 << 20;

/// Most time that a statement may take in all.
const MOST: Duration = Duration::from_secs(1);

/// A form of statements of any size.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// How often its form is repeated in a great statement.
    pub size: usize,
    /// Statements before it.
    pub setup: fn(usize) -> Vec<String>,
    /// The statement of a size.
    pub text: fn(usize) -> String,
}

/// How a statement fared.
#[derive(Debug)]
pub struct Outcome {
    name: &'static str,
    size: usize,
    bytes: usize,
    /// The times, and the number of rows or the error.
    pub stages: Stages,
}

impl Outcome {
    /// The names of the columns of its text.
    pub const HEADER: &'static str =
        "shape                 size      bytes  parse   bind   fold rewrite    run   free (ms)";

    /// Whether it was answered or refused in time and in order.
    pub fn is_good(&self) -> bool {
        let in_order = match &self.stages.rows {
            Ok(_) => true,
            Err(error) => !matches!(error.sqlstate, "XX000" | "42601"),
        };
        in_order && self.planning() <= MOST
    }

    /// The time of all stages.
    pub fn planning(&self) -> Duration {
        let s = &self.stages;
        s.parse + s.bind + s.fold + s.rewrite + s.run + s.free
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.stages;
        write!(f, "{:20} {:6} {:10}", self.name, self.size, self.bytes)?;
        for (time, width) in [
            (s.parse, 6),
            (s.bind, 6),
            (s.fold, 6),
            (s.rewrite, 7),
            (s.run, 6),
            (s.free, 6),
        ] {
            write!(f, " {:width$.0}", time.as_secs_f64() * 1e3)?;
        }
        match &s.rows {
            Ok(rows) => write!(f, "  {rows} rows")?,
            Err(error) => {
                let message: String = error.message.chars().take(60).collect();
                write!(f, "  {} {message}", error.sqlstate)?;
            }
        }
        match self.is_good() {
            true => Ok(()),
            false => f.write_str("  !"),
        }
    }
}

/// Plans and runs a statement on a thread of its own, with the stack of any thread or with so
/// many bytes.
///
/// # Errors
/// A thread that cannot be started, or that panics.
pub fn tried(shape: &Shape, size: usize, stack: Option<usize>) -> io::Result<Outcome> {
    let shape = *shape;
    let work = move || -> io::Result<Outcome> {
        let mut front = Front::default();
        for statement in (shape.setup)(size) {
            front.ask(&[statement])?;
        }
        let text = (shape.text)(size);
        let stages = front.stages(&text, true);
        Ok(Outcome {
            name: shape.name,
            size,
            bytes: text.len(),
            stages,
        })
    };
    let worker = std::thread::Builder::new().stack_size(stack.unwrap_or(STACK));
    let worker = worker.spawn(work)?;
    let gone = |_| io::Error::other(format!("{} panicked", shape.name));
    worker.join().map_err(gone)?
}

/// A chain of a term with a word between.
fn chain(term: &str, between: &str, n: usize) -> String {
    vec![term; n].join(between)
}

/// A text around another, many times.
fn nested(open: &str, inner: &str, close: &str, n: usize) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

/// Numbered texts with a text between.
fn listed(n: usize, between: &str, item: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for at in 0..n {
        if at > 0 {
            text.push_str(between);
        }
        let _ = write!(text, "{}", item(at));
    }
    text
}

fn none(_: usize) -> Vec<String> {
    Vec::new()
}

fn table(_: usize) -> Vec<String> {
    vec![
        "CREATE TABLE t (a int, b int)".to_owned(),
        "INSERT INTO t VALUES (1, 2), (3, 4)".to_owned(),
    ]
}

fn wide(_: usize) -> Vec<String> {
    let columns = listed(1_600, ", ", |at| format!("c{at} int"));
    vec![format!("CREATE TABLE w ({columns})")]
}

fn views(n: usize) -> Vec<String> {
    let mut all = wide(n);
    all.push("CREATE VIEW v0 AS SELECT * FROM w".to_owned());
    for at in 1..n {
        all.push(format!("CREATE VIEW v{at} AS SELECT * FROM v{}", at - 1));
    }
    all
}

/// All shapes.
pub fn all() -> Vec<Shape> {
    let shape = |name, size, text| Shape {
        name,
        size,
        setup: none,
        text,
    };
    let over = |setup, name, size, text| Shape {
        name,
        size,
        setup,
        text,
    };
    vec![
        shape("or", 10_000, |n| {
            format!("SELECT {}", chain("false", " OR ", n))
        }),
        shape("and", 10_000, |n| {
            format!("SELECT {}", chain("true", " AND ", n))
        }),
        over(table, "or of columns", 10_000, |n| {
            format!(
                "SELECT * FROM t WHERE {}",
                listed(n, " OR ", |at| format!("a = {at}"))
            )
        }),
        over(table, "and or", 10_000, |n| {
            let terms = listed(n, "", |at| {
                format!(
                    "{} a = {at} ",
                    if at % 2 == 0 { "AND b > 0 OR" } else { "AND" }
                )
            });
            format!("SELECT * FROM t WHERE true {terms}")
        }),
        shape("plus", 10_000, |n| {
            format!("SELECT {}", chain("1", " + ", n))
        }),
        over(table, "plus of columns", 10_000, |n| {
            format!("SELECT {} FROM t", chain("a", " + ", n))
        }),
        shape("concat", 10_000, |n| {
            format!("SELECT {}", chain("'a'", " || ", n))
        }),
        over(table, "concat of columns", 10_000, |n| {
            format!("SELECT {} FROM t", chain("a::text", " || ", n))
        }),
        shape("union", 5_000, |n| {
            listed(n, " UNION ", |at| format!("SELECT {at}"))
        }),
        shape("union all", 5_000, |n| {
            listed(n, " UNION ALL ", |at| format!("SELECT {at}"))
        }),
        shape("union mixed", 5_000, |n| {
            listed(n, "", |at| match at {
                0 => "SELECT 0".to_owned(),
                at if at % 2 == 0 => format!(" UNION SELECT {at}"),
                at => format!(" UNION ALL SELECT {at}"),
            })
        }),
        shape("except", 2_000, |n| {
            listed(n, " EXCEPT ", |at| format!("SELECT {at}"))
        }),
        over(table, "in", 100_000, |n| {
            format!(
                "SELECT * FROM t WHERE a IN ({})",
                listed(n, ", ", |at| at.to_string())
            )
        }),
        over(table, "in of texts", 100_000, |n| {
            format!(
                "SELECT * FROM t WHERE a::text IN ({})",
                listed(n, ", ", |at| format!("'{at}'"))
            )
        }),
        over(table, "in of rows", 10_000, |n| {
            format!(
                "SELECT * FROM t WHERE (a, b) IN ({})",
                listed(n, ", ", |at| format!("({at}, {at})"))
            )
        }),
        shape("values", 100_000, |n| {
            format!("VALUES {}", listed(n, ", ", |at| format!("({at}, 'x')")))
        }),
        over(table, "insert", 100_000, |n| {
            format!(
                "SELECT count(*) FROM (VALUES {}) v(a, b)",
                listed(n, ", ", |at| format!("({at}, {at})"))
            )
        }),
        shape("brackets", 3_000, |n| {
            format!("SELECT {}", nested("(", "1", ")", n))
        }),
        shape("brackets around add", 3_000, |n| {
            format!("SELECT {}", nested("(1 + ", "1", ")", n))
        }),
        shape("calls", 3_000, |n| {
            format!("SELECT {}", nested("abs(", "1", ")", n))
        }),
        over(table, "calls of columns", 3_000, |n| {
            format!("SELECT {} FROM t", nested("abs(", "a", ")", n))
        }),
        shape("coalesce", 3_000, |n| {
            format!("SELECT {}", nested("coalesce(null, ", "1", ")", n))
        }),
        over(table, "greatest", 3_000, |n| {
            format!(
                "SELECT greatest({}) FROM t",
                listed(n, ", ", |at| format!("a + {at}"))
            )
        }),
        over(table, "greatest nested", 30, |n| {
            format!("SELECT {} FROM t", nested("greatest(b, ", "a", ")", n))
        }),
        over(table, "nullif nested", 30, |n| {
            format!("SELECT {} FROM t", nested("nullif(", "a", ", 5)", n))
        }),
        over(table, "between nested", 30, |n| {
            format!(
                "SELECT {} FROM t",
                nested("(", "a", " BETWEEN 0 AND 5)::int", n)
            )
        }),
        over(table, "distinct from nested", 30, |n| {
            format!(
                "SELECT {} FROM t",
                nested("(", "a", " IS DISTINCT FROM 5)::int", n)
            )
        }),
        over(table, "rows compared", 2_000, |n| {
            let row = |name: &str| listed(n, ", ", |_| name.to_owned());
            format!("SELECT ({}) < ({}) FROM t", row("a"), row("b"))
        }),
        shape("casts", 3_000, |n| {
            format!("SELECT 1{}", "::int::bigint".repeat(n / 2))
        }),
        over(table, "casts of columns", 3_000, |n| {
            format!("SELECT a{} FROM t", "::int::bigint".repeat(n / 2))
        }),
        shape("cases nested", 3_000, |n| {
            format!("SELECT {}", nested("CASE WHEN true THEN ", "1", " END", n))
        }),
        over(table, "cases of columns", 3_000, |n| {
            format!(
                "SELECT {} FROM t",
                nested("CASE WHEN a > 0 THEN ", "1", " END", n)
            )
        }),
        shape("not", 3_000, |n| format!("SELECT {}true", "NOT ".repeat(n))),
        shape("minus", 3_000, |n| format!("SELECT {}1", "- ".repeat(n))),
        over(table, "minus of columns", 3_000, |n| {
            format!("SELECT {}a FROM t", "- ".repeat(n))
        }),
        shape("is null", 3_000, |n| {
            format!("SELECT 1{}", " IS NOT NULL".repeat(n))
        }),
        shape("arrays", 3_000, |n| {
            format!("SELECT {}", nested("ARRAY[", "1", "]", n))
        }),
        shape("subscripts", 3_000, |n| {
            format!("SELECT a{} FROM (SELECT ARRAY[1] a) x", "[1]".repeat(n))
        }),
        shape("rows", 3_000, |n| {
            format!("SELECT {}", nested("ROW(", "1", ")", n))
        }),
        shape("from", 3_000, |n| {
            format!(
                "SELECT * FROM {}",
                nested("(SELECT * FROM ", "(SELECT 1 a) x", ") x", n)
            )
        }),
        over(table, "from 100", 100, |n| {
            format!("SELECT * FROM {}", nested("(SELECT * FROM ", "t", ") x", n))
        }),
        shape("in sub-queries", 3_000, |n| {
            format!("SELECT {}", nested("1 IN (SELECT ", "1", ")", n))
        }),
        over(table, "in where", 300, |n| {
            format!(
                "SELECT * FROM t WHERE a IN {}",
                nested("(SELECT a FROM t WHERE a IN ", "(1, 2)", ")", n)
            )
        }),
        over(table, "exists", 100, |n| {
            let mut text = "SELECT * FROM t t0 WHERE ".to_owned();
            for at in 1..=n {
                let _ = write!(
                    text,
                    "EXISTS (SELECT * FROM t t{at} WHERE t{at}.a = t{}.a AND ",
                    at - 1
                );
            }
            format!("{text}true{}", ")".repeat(n))
        }),
        shape("scalars", 3_000, |n| {
            format!("SELECT {}", nested("(SELECT ", "1", ")", n))
        }),
        over(table, "scalars of columns", 10, |n| {
            format!(
                "SELECT {} FROM t",
                nested("(SELECT max(b) FROM t WHERE a = ", "a", ")", n)
            )
        }),
        over(table, "many scalars", 300, |n| {
            format!(
                "SELECT {} FROM t x",
                listed(n, ", ", |_| "(SELECT max(b) FROM t WHERE a = x.a)"
                    .to_owned())
            )
        }),
        shape("commas", 1_000, |n| {
            format!(
                "SELECT t1.a FROM {}",
                listed(n.max(2), ", ", |at| format!("(SELECT 1 a) t{at}"))
            )
        }),
        over(table, "joins", 1_000, |n| {
            let joins = listed(n, " ", |at| {
                format!("JOIN t t{} ON t{}.a = t{at}.a", at + 1, at + 1)
            });
            format!("SELECT t0.a FROM t t0 {joins}")
        }),
        over(table, "joins using", 1_000, |n| {
            let joins = listed(n, " ", |at| format!("JOIN t t{} USING (a, b)", at + 1));
            format!("SELECT a FROM t t0 {joins}")
        }),
        over(table, "natural joins", 500, |n| {
            let joins = listed(n, " ", |at| format!("NATURAL LEFT JOIN t t{}", at + 1));
            format!("SELECT a FROM t t0 {joins}")
        }),
        over(table, "joins in brackets", 1_000, |n| {
            let joins = listed(n, " ", |at| format!("CROSS JOIN (SELECT 1 c) t{at})"));
            format!("SELECT t0.c FROM {}t {joins}", "(".repeat(n))
        }),
        over(table, "laterals", 200, |n| {
            let joins = listed(n, " ", |at| {
                format!("CROSS JOIN LATERAL (SELECT t{at}.a + 1 AS a) t{}", at + 1)
            });
            format!("SELECT count(*) FROM t t0 {joins}")
        }),
        shape("ctes", 1_000, |n| {
            let ctes = listed(n, "", |at| {
                format!(", c{} AS (SELECT * FROM c{at})", at + 1)
            });
            format!("WITH c0 AS (SELECT 1 a){ctes} SELECT * FROM c{n}")
        }),
        shape("ctes kept", 1_000, |n| {
            let ctes = listed(n, "", |at| {
                format!(", c{} AS MATERIALIZED (SELECT * FROM c{at})", at + 1)
            });
            format!("WITH c0 AS (SELECT 1 a){ctes} SELECT * FROM c{n}")
        }),
        shape("ctes unused", 1_000, |n| {
            let ctes = listed(n, ", ", |at| format!("c{at} AS (SELECT {at} a)"));
            format!("WITH {ctes} SELECT 1")
        }),
        shape("ctes doubled", 30, |n| {
            let ctes = listed(n, "", |at| {
                format!(", c{} AS (SELECT x.a FROM c{at} x, c{at} y)", at + 1)
            });
            format!("WITH c0 AS (SELECT 1 a){ctes} SELECT * FROM c{n}")
        }),
        shape("withs nested", 300, |n| {
            let mut text = "SELECT 1 a".to_owned();
            for _ in 0..n {
                text = format!("WITH c AS ({text}) SELECT * FROM c");
            }
            text
        }),
        over(views, "views", 100, |n| {
            format!("SELECT * FROM v{}", n.max(1) - 1)
        }),
        over(wide, "wide from", 100, |n| {
            format!("SELECT * FROM {}", nested("(SELECT * FROM ", "w", ") x", n))
        }),
        over(wide, "wide joins", 100, |n| {
            format!(
                "SELECT t1.c0 FROM {}",
                listed(n.max(2), ", ", |at| format!("w t{at}"))
            )
        }),
        over(wide, "wide names", 1_600, |n| {
            format!("SELECT {} FROM w", listed(n, ", ", |at| format!("c{at}")))
        }),
        over(wide, "wide sorted", 1_600, |n| {
            let names = listed(n, ", ", |at| format!("c{at}"));
            format!("SELECT DISTINCT {names} FROM w ORDER BY {names}")
        }),
        over(wide, "wide grouped", 1_600, |n| {
            let names = listed(n, ", ", |at| format!("c{at}"));
            format!("SELECT {names}, count(*) FROM w GROUP BY {names}")
        }),
        over(wide, "aggregates", 1_600, |n| {
            format!(
                "SELECT {} FROM w",
                listed(n, ", ", |at| format!("sum(c{at})"))
            )
        }),
        over(wide, "windows", 300, |n| {
            format!(
                "SELECT {} FROM w",
                listed(n, ", ", |at| format!("sum(c{at}) OVER (ORDER BY c{at})"))
            )
        }),
        shape("case arms", 10_000, |n| {
            format!(
                "SELECT CASE 5 {} END",
                listed(n, " ", |at| format!("WHEN {at} THEN {at}"))
            )
        }),
        over(table, "case of columns", 10_000, |n| {
            format!(
                "SELECT CASE a {} END FROM t",
                listed(n, " ", |at| format!("WHEN {at} THEN {at}"))
            )
        }),
        shape("list", 10_000, |n| {
            format!("SELECT {}", listed(n, ", ", |at| at.to_string()))
        }),
        shape("list allowed", 1_600, |n| {
            format!("SELECT {}", listed(n, ", ", |at| at.to_string()))
        }),
        shape("order by", 5_000, |n| {
            format!(
                "SELECT 1 FROM (SELECT 1 a) x ORDER BY {}",
                listed(n, ", ", |at| format!("a + {at}"))
            )
        }),
        shape("group by", 5_000, |n| {
            format!(
                "SELECT count(*) FROM (SELECT 1 a) x GROUP BY {}",
                listed(n, ", ", |at| format!("a + {at}"))
            )
        }),
        shape("arguments", 10_000, |n| {
            format!("SELECT concat({})", listed(n, ", ", |at| at.to_string()))
        }),
        shape("array elements", 100_000, |n| {
            format!("SELECT ARRAY[{}]", listed(n, ", ", |at| at.to_string()))
        }),
        shape("row fields", 10_000, |n| {
            format!("SELECT ROW({})", listed(n, ", ", |at| at.to_string()))
        }),
        shape("any of array", 100_000, |n| {
            format!(
                "SELECT 5 = ANY (ARRAY[{}])",
                listed(n, ", ", |at| at.to_string())
            )
        }),
        shape("identifier", 1_000_000, |n| {
            format!("SELECT 1 AS {}", "a".repeat(n))
        }),
        shape("literal", 100_000_000, |n| {
            format!("SELECT '{}'", "a".repeat(n))
        }),
        shape("literal of quotes", 10_000_000, |n| {
            format!("SELECT '{}'", "''".repeat(n))
        }),
        shape("escapes", 10_000_000, |n| {
            format!("SELECT E'{}'", "\\n".repeat(n))
        }),
        shape("dollars", 10_000_000, |n| {
            format!("SELECT $$a{}$$", "$ ".repeat(n / 2))
        }),
        shape("literals side by side", 10_000, |n| {
            format!("SELECT {}", chain("'a'", "\n", n))
        }),
        shape("digits", 100_000, |n| format!("SELECT {}", "1".repeat(n))),
        shape("fraction", 100_000, |n| {
            format!("SELECT 0.{} + 1", "1".repeat(n))
        }),
        shape("digits multiplied", 100_000, |n| {
            format!("SELECT {0} * {0}", "1".repeat(n))
        }),
        shape("digits divided", 100_000, |n| {
            format!("SELECT {} / {}", "1".repeat(n), "7".repeat(n / 2 + 1))
        }),
        shape("hexadecimal", 100_000, |n| {
            format!("SELECT {}", chain("0x1", " , ", n.min(1_600)))
        }),
        shape("based numbers", 100_000, |n| {
            format!("SELECT 1 IN ({})", chain("0b1", ", ", n))
        }),
        shape("power", 100_000, |n| format!("SELECT 2::numeric ^ {n}")),
        shape("power great", 1_000_000_000, |n| {
            format!("SELECT 2::numeric ^ {n}")
        }),
        shape("factorial", 100_000, |n| format!("SELECT factorial({n})")),
        shape("repeat", 2_000_000_000, |n| {
            format!("SELECT length(repeat('x', {n}))")
        }),
        shape("repeats", 7, |n| {
            format!(
                "SELECT length({})",
                nested("repeat(", "'xxxxxxxxxx'", ", 10)", n)
            )
        }),
        shape("padding", 1_000_000_000, |n| {
            format!("SELECT length(lpad('x', {n}, 'ab'))")
        }),
        shape("doubling", 20, |n| {
            format!(
                "SELECT length({})",
                nested("replace(", "'a'", ", 'a', 'aa')", n)
            )
        }),
        shape("array filled", 1_000_000_000, |n| {
            format!("SELECT array_length(array_fill(1, ARRAY[{n}]), 1)")
        }),
        shape("series", 1_000_000_000, |n| {
            format!("SELECT count(*) FROM generate_series(1, {n})")
        }),
        shape("pattern", 10_000, |n| {
            format!("SELECT 'a' ~ '{}'", nested("(", "a", ")", n))
        }),
        shape("pattern repeated", 10_000, |n| {
            format!("SELECT 'a' ~ '{}'", nested("(", "a", "){1,9}", n.min(30)))
        }),
        shape("like", 100_000, |n| {
            format!("SELECT '{}' LIKE '{}b'", "a".repeat(n), "%a".repeat(20))
        }),
        shape("cube 12", 12, |n| {
            let names = |before: &str| listed(n, ", ", |at| format!("{before}c{at}"));
            format!(
                "SELECT count(*) FROM (SELECT {}) x GROUP BY CUBE ({})",
                names("1 AS "),
                names("")
            )
        }),
        shape("cube 13", 13, |n| {
            let names = |before: &str| listed(n, ", ", |at| format!("{before}c{at}"));
            format!(
                "SELECT count(*) FROM (SELECT {}) x GROUP BY CUBE ({})",
                names("1 AS "),
                names("")
            )
        }),
        shape("rollup", 1_000, |n| {
            let names = |before: &str| listed(n, ", ", |at| format!("{before}c{at}"));
            format!(
                "SELECT count(*) FROM (SELECT {}) x GROUP BY ROLLUP ({})",
                names("1 AS "),
                names("")
            )
        }),
        shape("grouping sets", 5_000, |n| {
            format!(
                "SELECT count(*) FROM (SELECT 1 a) x GROUP BY GROUPING SETS ({})",
                chain("(a)", ", ", n)
            )
        }),
        shape("grouping sets nested", 1_000, |n| {
            format!(
                "SELECT count(*) FROM (SELECT 1 a) x GROUP BY {}",
                nested("GROUPING SETS (", "a", ")", n)
            )
        }),
        shape("json", 100_000, |n| {
            format!("SELECT '{}'::jsonb", nested("[", "1", "]", n))
        }),
        shape("json path", 10_000, |n| {
            format!("SELECT '{}'::jsonpath", nested("(", "1", ")", n))
        }),
        shape("json objects", 100_000, |n| {
            format!(
                "SELECT '{{{}}}'::jsonb",
                listed(n, ",", |at| format!("\"a{at}\":1"))
            )
        }),
        shape("array text", 100_000, |n| {
            format!("SELECT '{}'::int[]", nested("{", "1", "}", n))
        }),
        shape("array text wide", 100_000, |n| {
            format!("SELECT '{{{}}}'::int[]", chain("1", ",", n))
        }),
        shape("types nested", 10_000, |n| {
            format!("SELECT NULL::int{}", "[]".repeat(n))
        }),
        shape("comments", 100_000, |n| {
            format!("SELECT 1 {}", nested("/*", " ", "*/", n))
        }),
        shape("operators", 100_000, |n| {
            format!("SELECT 1 {} 1", "+".repeat(n))
        }),
        shape("open brackets", 100_000, |n| {
            format!("SELECT {}", "(".repeat(n))
        }),
        shape("open arrays", 100_000, |n| {
            format!("SELECT {}", "ARRAY[".repeat(n))
        }),
        shape("from open", 100_000, |n| {
            format!("SELECT * FROM {}", "(".repeat(n))
        }),
        shape("select open", 100_000, |n| "SELECT (".repeat(n)),
        shape("between symmetric", 10_000, |n| {
            format!("SELECT 1 {}", "BETWEEN SYMMETRIC 1 ".repeat(n))
        }),
        shape("semicolons", 100_000, |n| {
            format!("{}SELECT 1", ";".repeat(n))
        }),
        shape("named windows", 2_000, |n| {
            let windows = listed(n, ", ", |at| match at {
                0 => "w0 AS (ORDER BY a)".to_owned(),
                at => format!("w{at} AS (w{})", at - 1),
            });
            format!(
                "SELECT count(*) OVER w{} FROM (SELECT 1 a) x WINDOW {windows}",
                n - 1
            )
        }),
        shape("aliases", 1_600, |n| {
            format!(
                "SELECT 1 AS a0{}",
                listed(n, "", |at| format!(", a{at} + 1 AS a{}", at + 1))
            )
        }),
        shape("aliases doubled", 25, |n| {
            format!(
                "SELECT 1 AS a0{}",
                listed(n, "", |at| format!(", a{at} + a{at} AS a{}", at + 1))
            )
        }),
        over(table, "aliases of columns", 25, |n| {
            format!(
                "SELECT a AS a0{} FROM t",
                listed(n, "", |at| format!(", a{at} + a{at} AS a{}", at + 1))
            )
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements of a size that a build without optimization plans in seconds; those that
    /// would grow exponentially are small as they are.
    #[test]
    fn great_statements_are_answered_or_refused() {
        for shape in all() {
            let size = (shape.size / 50).max(shape.size.min(40));
            let outcome = tried(&shape, size, None).unwrap();
            if let Err(error) = &outcome.stages.rows {
                assert_ne!(error.sqlstate, "XX000", "{outcome}");
            }
            assert!(outcome.planning() < Duration::from_secs(30), "{outcome}");
        }
    }

    /// Needs a build with optimization.
    #[test]
    #[ignore = "full size takes a minute; the reduced sizes run always"]
    fn great_statements_take_a_second_at_most() {
        for shape in all() {
            let outcome = tried(&shape, shape.size, None).unwrap();
            assert!(outcome.is_good(), "{outcome}");
        }
    }
}
