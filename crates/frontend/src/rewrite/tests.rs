//! Queries over three small tables, and their rows by the reference interpreter.

use std::sync::Arc;

use crate::bind::{Binder, Catalog, Found};
use crate::error::{Position, Result};
use crate::functions::Session;
use crate::plan::{Plan, Relation};
use crate::reference::tests::rows;
use crate::types::Type;

/// The tables r, s and t of the reference interpreter's tests.
struct Tables;

impl Catalog for Tables {
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
}

pub(super) fn bound(sql: &str) -> Result<Plan> {
    let statements = crate::syntax::statements(sql)?;
    let sqlparser::ast::Statement::Query(query) = &statements[0] else {
        panic!("{sql}");
    };
    let session = Session::default();
    Ok(Binder::new(&Tables, &session).query(query)?.plan)
}

/// Requires that a plan has the columns and the rows of another one.
pub(super) fn same_rows(sql: &str, plan: &Plan, new: &Plan) {
    assert_eq!(plan.columns(), new.columns(), "{sql}");
    assert!(new.free().is_empty(), "{sql}: {:?}", new.free());
    let (before, after) = (rows(plan), rows(new));
    match (before, after) {
        (Ok(mut before), Ok(mut after)) => {
            before.sort();
            after.sort();
            assert_eq!(before, after, "{sql}");
        }
        (Err(before), Err(after)) => assert_eq!(before, after, "{sql}"),
        (Err(before), Ok(_)) => panic!("{sql}: {before} before"),
        (Ok(_), Err(after)) => panic!("{sql}: {after} after"),
    }
}

/// Queries by chance, the same at every run.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    /// A number below another one.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// One of some texts.
    pub(super) fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

#[test]
fn tables_are_read_for_the_columns_that_something_reads() {
    /// How many columns scans read, from the left.
    fn read(plan: &Plan) -> Vec<usize> {
        let own = match plan {
            Plan::Scan { columns, .. } => vec![columns.len()],
            _ => Vec::new(),
        };
        let below = plan.inputs().into_iter().flat_map(read);
        own.into_iter().chain(below).collect()
    }
    for (sql, wanted) in [
        ("select x from r", vec![1]),
        ("select count(*) from r", vec![1]),
        ("select x from r where y > 1", vec![2]),
        ("select r.x from r join s on r.x = s.x", vec![1, 1]),
        (
            "select 1 from r where exists (select * from s where s.x = r.y)",
            vec![1, 1],
        ),
        ("select count(*) from (select distinct * from r) q", vec![2]),
        ("select x from r union all select y from s", vec![1, 1]),
        (
            "select q.x from r, lateral (select s.x from s where s.y > r.y) q",
            vec![1, 2],
        ),
    ] {
        let plan = bound(sql).unwrap();
        let new = super::rewritten(plan.clone());
        same_rows(sql, &plan, &new);
        assert_eq!(read(&new), wanted, "{sql}");
    }
}

#[test]
fn limits_of_no_rows() {
    let is_empty = |sql: &str| {
        let plan = super::rewritten(bound(sql).unwrap());
        matches!(&plan, Plan::Values { rows, .. } if rows.is_empty())
    };
    for sql in [
        "select x / 0 from r limit 0",
        "select x from r order by y / 0 offset 3 rows fetch next 0 rows with ties",
        "select * from (select x from r limit 0) q limit 5",
    ] {
        let plan = bound(sql).unwrap();
        same_rows(sql, &plan, &super::rewritten(plan.clone()));
    }
    assert!(is_empty("select x / 0 from r limit 0"));
    assert!(!is_empty("select x from r limit 1"));
}

#[test]
fn aggregates_compute_what_they_alone_read() {
    for (sql, moves) in [
        (
            "select k, sum(v) from (select x + 1 k, x * y v from r) q group by k",
            true,
        ),
        (
            "select k, sum(v), max(v) from (select x + 1 k, x * y v from r) q group by k",
            true,
        ),
        (
            "select count(v), max(v) from (select x * y v from r) q",
            false,
        ),
        (
            "select sum(v) filter (where x > 0) from (select x, 1 / x v from r) q",
            false,
        ),
        (
            "select k, count(*) from (select x + 1 k, y from r where y > 0) q group by k, y",
            true,
        ),
        (
            "select k, count(*) from (select x + 1 k from r) q group by rollup (k)",
            false,
        ),
        ("select sum(k) from (select random() k from r) q", false),
        (
            "select n, count(*) from (select 7 n from r) q group by n",
            false,
        ),
        (
            "select k + 1, sum(z) from (select -r.x, s.y from r, s) q (k, z) group by k + 1",
            false,
        ),
    ] {
        let plan = bound(sql).unwrap();
        let mut new = plan.clone();
        super::nodes::each(&mut new, &mut super::computed::computed);
        assert_eq!(
            format!("{new:?}") != format!("{plan:?}"),
            moves,
            "{sql}: {new:?}"
        );
        if !sql.contains("random") {
            same_rows(sql, &plan, &new);
            same_rows(sql, &plan, &super::rewritten(plan.clone()));
        }
    }
}
