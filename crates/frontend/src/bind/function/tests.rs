use std::sync::Arc;

use super::*;
use crate::bind::{Catalog, Found};
use crate::error::Position;
use crate::functions::Session;
use crate::plan::Relation;
use crate::reference::tests::rows;
use crate::syntax;

/// The tables of the reference interpreter's tests, and a few functions.
struct Functions;

/// Name, parameters with types and defaults, type of the result (`*` for rows), body.
/// Name, parameters with their types and defaults, result and body of a function.
type Written = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
    &'static str,
    &'static str,
);

const FUNCTIONS: [Written; 12] = [
    ("twice", &[("a", "int", "")], "int", "select $1 + a"),
    (
        "plus",
        &[("a", "int", ""), ("b", "int", "10")],
        "int",
        "a + b",
    ),
    (
        "top_x",
        &[],
        "int",
        "select x from s order by x desc nulls last",
    ),
    (
        "nothing",
        &[("a", "int", "")],
        "int",
        "select x from s where x = a and false",
    ),
    (
        "best",
        &[("a", "int", "")],
        "int",
        "select max(y) from s where s.x = a",
    ),
    (
        "x",
        &[("x", "int", "")],
        "int",
        "select max(s.x) from s where s.x < x.x",
    ),
    ("loop", &[("a", "int", "")], "int", "loop(a)"),
    (
        "many",
        &[("a", "int", "")],
        "*",
        "select x, y from s where x >= a",
    ),
    ("which", &[("a", "int", "")], "text", "'int'"),
    ("which", &[("a", "text", "")], "text", "'text'"),
    (
        "strict",
        &[("a", "int", ""), ("b", "int", "")],
        "int",
        "coalesce(a, b, 7)",
    ),
    ("macro", &[("a", "", ""), ("b", "", "2")], "", "a || b"),
];

impl Catalog for Functions {
    fn relation(&self, _: Option<&str>, name: &str, _: Option<Position>) -> Result<Option<Found>> {
        Ok(["r", "s", "t"].contains(&name).then(|| {
            let column = |name: &str| (name.to_owned(), Type::Int4);
            Found::Relation(Relation {
                schema: "public".to_owned(),
                name: name.to_owned(),
                columns: vec![column("x"), column("y")],
                hidden: vec![],
                key: vec![],
                number: 0,
                handle: Arc::new(()),
            })
        }))
    }

    fn sql_functions(&self, _: Option<&str>, name: &str) -> Result<Vec<Arc<SqlFunction>>> {
        let all = FUNCTIONS.iter().filter(|(known, ..)| *known == name);
        let all = all.map(|(name, parameters, returns, body)| {
            let parameters = parameters.iter().map(|(name, ty, default)| {
                Ok(SqlParameter {
                    name: Some((*name).to_owned()),
                    ty: crate::types::named(ty),
                    default: match *default {
                        "" => None,
                        text => Some(syntax::expression(text)?),
                    },
                    variadic: false,
                })
            });
            Ok(Arc::new(SqlFunction {
                name: (*name).to_owned(),
                parameters: parameters.collect::<Result<_>>()?,
                returns: match *returns {
                    "" => SqlReturns::Any,
                    "*" => {
                        let column = |name: &str| (name.to_owned(), Type::Int8);
                        SqlReturns::Rows(vec![column("p"), column("q")])
                    }
                    ty => SqlReturns::Value(crate::types::named(ty).unwrap()),
                },
                before: Vec::new(),
                body: match body.starts_with("select") {
                    true => SqlBody::Query(syntax::query(body)?),
                    false => SqlBody::Expr(Box::new(syntax::expression(body)?)),
                },
                row: None,
                single: false,
                strict: *name == "strict",
                volatility: Volatility::Volatile,
            }))
        });
        all.collect()
    }
}

fn bound(sql: &str) -> Result<Plan> {
    let session = Session::default();
    let query = syntax::query(sql)?;
    Ok(Binder::new(&Functions, &session).query(&query)?.plan)
}

/// A query with calls has the rows of one without.
#[test]
fn calls_are_their_bodies() {
    for (calls, plain) in [
        ("select twice(x + 1) from r", "select (x + 1) * 2 from r"),
        ("select twice(twice(x)) from r", "select x * 4 from r"),
        (
            "select plus(x), plus(x, 1), plus(b => 2, a => x) from r",
            "select x + 10, x + 1, x + 2 from r",
        ),
        ("select top_x()", "select max(x) from s"),
        ("select nothing(1)", "select null::int"),
        (
            "select x, best(x) from r",
            "select x, (select max(y) from s where s.x = r.x) from r",
        ),
        (
            "select best(x + 0) from r",
            "select (select max(y) from s where s.x = r.x) from r",
        ),
        ("select x(3)", "select max(x) from s where x < 3"),
        (
            "select * from many(2)",
            "select x::int8, y::int8 from s where x >= 2",
        ),
        (
            "select q from many(1) m where p > 1",
            "select y::int8 from s where x > 1",
        ),
        (
            "select r.x, m.p from r, many(r.x) m",
            "select r.x, s.x::int8 from r, s where s.x >= r.x",
        ),
        (
            "select r.x, m.p from r, many(r.x + 1) m",
            "select r.x, s.x::int8 from r, s where s.x >= r.x + 1",
        ),
        ("select which(1), which('a'::text)", "select 'int', 'text'"),
        (
            "select strict(null, 1), strict(1, 2)",
            "select null::int, 1",
        ),
        (
            "select strict(x, y) from r",
            "select case when y is not null then x end from r",
        ),
        (
            "select macro('a'), macro('a', 'b'), macro(a := 1, b := 'x')",
            "select 'a2', 'ab', '1x'",
        ),
        ("select sum(twice(x)) from r", "select sum(x * 2) from r"),
        (
            "select x from r where twice(x) > 2",
            "select x from r where x > 1",
        ),
    ] {
        let sorted = |sql: &str| {
            let plan = bound(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let mut found = rows(&plan).unwrap_or_else(|error| panic!("{sql}: {error}"));
            found.sort();
            found
        };
        assert_eq!(sorted(calls), sorted(plain), "{calls}");
    }
}

#[test]
fn what_is_wrong_with_calls_is_told() {
    for (sql, state) in [
        ("select loop(1)", "54001"),
        ("select twice()", "42883"),
        ("select twice(1, 2)", "42883"),
        ("select twice('a'::text)", "42883"),
        ("select plus(c => 1)", "42883"),
        ("select plus(a => 1, a => 2)", "42883"),
    ] {
        assert_eq!(bound(sql).unwrap_err().sqlstate, state, "{sql}");
    }
}

/// Arguments that are read twice are computed once.
#[test]
fn volatile_arguments_are_computed_once() {
    let plan = bound("select twice((random() * 1000000)::int) % 2 from r").unwrap();
    for row in rows(&plan).unwrap() {
        assert!(row.contains('0'), "{row}");
    }
    let deep = (0..30).fold("x".to_owned(), |inner, _| format!("twice({inner} + 0)"));
    let plan = bound(&format!("select {deep} from r where false")).unwrap();
    assert!(format!("{plan:?}").len() < 200_000);
}
