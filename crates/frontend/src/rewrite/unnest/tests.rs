use std::collections::HashMap;
use std::sync::Arc;

use super::super::tests::{Chance, bound, same_rows};
use super::unnest;
use crate::bind::{Binder, Catalog, Found};
use crate::error::{Position, Result};
use crate::functions::Session;
use crate::plan::{ExprKind, JoinKind, Plan, Relation};
use crate::rewrite::rewritten;
use crate::types::Type;

/// Dependent joins, sub-queries in expressions and scans of domains in a plan.
fn left(plan: &Plan) -> (usize, usize, usize) {
    let dependent = matches!(plan, Plan::Join { lateral: true, .. });
    let domain = matches!(plan, Plan::CteScan { name, .. } if name.starts_with("domain"));
    let mut subqueries = 0;
    for expr in plan.expressions() {
        expr.any(&mut |expr| {
            subqueries += usize::from(matches!(expr.kind, ExprKind::Subquery(_)));
            false
        });
    }
    let mut all = (usize::from(dependent), subqueries, usize::from(domain));
    for input in plan.inputs() {
        let below = left(input);
        all = (all.0 + below.0, all.1 + below.1, all.2 + below.2);
    }
    all
}

/// Columns that come to a join from both of its sides, or that a projection makes twice.
fn repeated(plan: &Plan) -> Vec<String> {
    let mut all = Vec::new();
    for input in plan.inputs() {
        all.extend(repeated(input));
    }
    let columns = plan.columns();
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].iter().any(|other| other.id == column.id) {
            all.push(format!("{}:{}", column.name, column.id.0));
        }
    }
    all
}

/// Compares the rows of a query before and after; the plan after.
fn check(sql: &str) -> Plan {
    let (plan, new) = unnested(sql);
    same_rows(sql, &plan, &rewritten(plan.clone()));
    new
}

/// Compares the rows after unnesting alone: later rewritings let other errors come.
fn unnested(sql: &str) -> (Plan, Plan) {
    let plan = bound(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let new = unnest(plan.clone());
    same_rows(sql, &plan, &new);
    (plan, new)
}

#[test]
fn queries_whose_conditions_are_pulled() {
    for sql in [
        "select * from r where exists (select 1 from s where s.x = r.x)",
        "select * from r where not exists (select 1 / 0 from s where s.x = r.x and s.y > 10)",
        "select * from r where exists (select 1 from s where s.x = r.x and s.y <> r.y limit 1)",
        "select * from r where x in (select x from s where s.y = r.y)",
        "select * from r where x in (select x + r.y from s)",
        "select * from r where x not in (select x from s where s.y = r.y)",
        "select * from r where x not in (select x from s)",
        "select * from r where x <> all (select x from s where s.y = r.y)",
        "select * from r where x >= all (select x from s where s.y < r.y) or y is null",
        "select x, exists (select 1 from s where s.x = r.x), x in (select y from s) from r",
        "select x, x = any (select x from s where s.y >= r.y) from r",
        "select x, (select y from t where t.x = r.x and t.y = 3) from r",
        "select * from r, lateral (select s.y + r.y as z from s where s.x = r.x) q",
        "select * from r left join lateral (select s.y from s where s.x = r.x) q on q.y > 10",
        "select * from r where exists (select 1 from s, t where s.x = t.x and t.x = r.x)",
        "select * from r where exists (select 1 from s left join t on s.x = t.x
           where s.x = r.x and t.y is null)",
        "select (select r.x + 1) from r",
        "select * from r, lateral (select r.x + 1 as z) q where z > 2",
        "select * from r where exists (select distinct y from s where s.x = r.x)",
    ] {
        assert_eq!(left(&check(sql)), (0, 0, 0), "{sql}");
    }
}

#[test]
fn equalities_take_the_place_of_the_domain() {
    for sql in [
        "select x, (select max(y) from s where s.x = r.x) from r",
        "select x, (select sum(y) * 0.2 from s where s.x = r.x) from r",
        "select * from r where y > (select avg(y) from s where s.x = r.x)",
        "select * from r where x in (select max(x) from s where s.y = r.y group by s.x)",
        "select * from r left join lateral
           (select s.y, count(*) from s where s.x = r.x group by s.y) q on true",
        "select x, (select y from s where s.x = r.x and y > 0 order by y limit 1) from r",
        "select * from r, lateral (select distinct y from s where s.x = r.x) q",
        "select * from r, lateral (select y, row_number() over (order by y) from s
           where s.x = r.x) q",
    ] {
        assert_eq!(left(&check(sql)), (0, 0, 0), "{sql}");
    }
}

#[test]
fn domains_pass_all_operators() {
    let mut without = Vec::new();
    for sql in [
        "select x, (select count(*) from s where s.x = r.x) from r",
        "select x, (select count(*) + 1 from s where s.x > r.x and s.y < r.y) from r",
        "select x, array(select y from s where s.x = r.x order by y desc) from r",
        "select x, array(select distinct y from s where s.x > r.x) from r",
        "select x, (select sum(y) from (select y from s where s.x >= r.x
           union all select r.y union select y from t where t.x = r.x) u) from r",
        "select * from r where x in (select x from s where s.x > r.x
           intersect select t.x from t where t.y <> r.y)",
        "select x, (select count(*) from (select y from s except all
           select y from t where t.x <> r.x) u) from r",
        "select * from r, lateral (select * from s where s.x > r.x order by y limit 2 offset 1) q",
        "select * from r, lateral (select * from s where s.x > r.x
           order by x fetch first 1 row with ties) q",
        "select x, exists (select 1 from s where s.y <> r.y
           order by 1 offset 1 rows fetch first 0 rows with ties) from r",
        "select * from r, lateral (select distinct on (x) x, y from s where s.y >= r.y
           order by x, y) q",
        "select * from r, lateral (values (r.x), (r.y)) q",
        "select * from r, lateral (select x, sum(y) over (partition by x order by y) from s
           where s.y <> r.y) q",
        "select x, (select count(*) from s full join t on s.x = t.x and s.y <> r.x) from r",
        "select x, (select count(t.y) from s right join t on s.x = t.x and s.y <> r.x) from r",
        "select x, (select count(*) from s left join t on s.x = t.x and t.y = r.x) from r",
        "select x, (select count(*) from s where s.x > r.x and
           exists (select 1 from t where t.x = s.x and t.y <> r.y)) from r",
        "select x, (select max(s.y + (select count(*) from t where t.x < r.x)) from s
           where s.x <> r.x) from r",
        "select * from r left join lateral (select s.x, q.y from s,
           lateral (select * from t where t.x = s.x and t.y <> r.y) q) p on p.x = r.x",
        "select x, (select count(*) from s where (s.x, r.x) in (select t.x, t.y from t)) from r",
        "select x, (select count(*) from s where s.y <> r.y group by grouping sets ((x), (x, y))
           having count(*) > r.x limit 1) from r",
        "select n::text, (select count(*) from s where s.x < a.n) from
           (values (1.0), (1.00), (2.5)) a(n)",
        "select * from r where r.y = (select min(y) from s
           where s.x = (select max(x) from t where t.x <= r.x))",
    ] {
        let (dependent, subqueries, domains) = left(&check(sql));
        assert_eq!((dependent, subqueries), (0, 0), "{sql}");
        if domains == 0 {
            without.push(sql);
        }
    }
    assert_eq!(without, Vec::<&str>::new());
}

/// Sub-queries that no row of the other side guards.
#[test]
fn subqueries_without_guards() {
    for sql in [
        "select r.x, s.y from r right join s on case when r.x > 1 then (select true from t limit 1)
           end",
        "select r.x, s.y from r right join s on case when r.x > 1
           then (select 10 / (x + 100) > 0 from t limit 1) end",
        "select r.x, s.y from r full join s on (r.x, s.y) > ((select max(x) from t), 1)",
        "select x, (x, (select x from s where s.x = r.x and s.y = 3 limit 1))
           in (select x, y from s) from r",
        "select x from r where (null::int, (select max(y) from s group by rollup (x) limit 1))
           in (select 4, y from s)",
        "select r.x, s.y from r left join s on s.y > 1 or (select count(*) from t) > r.x",
    ] {
        let (dependent, subqueries, _) = left(&check(sql));
        assert_eq!((dependent, subqueries), (0, 0), "{sql}");
    }
}

#[test]
fn places_of_sub_queries() {
    for sql in [
        "values ((select max(x) from r)), ((select min(x) from s))",
        "select y, sum((select count(*) from s where s.x = r.x)) from r
           group by y order by (select count(*) from t where t.y > r.y), 1",
        "select x, count(*) filter (where exists (select 1 from s where s.x = r.y / 10)) from r
           group by x having count(*) > (select count(*) from t where t.x = r.x) - 1",
        "select x, sum(y) over (partition by (select max(y) from s where s.x = r.x) order by y)
           from r",
        "select * from r left join s on r.x = s.x and exists (select 1 from t where t.x = s.x)",
        "select * from r left join s on r.x = s.x and exists (select 1 from t where t.x = r.x)",
        "select * from r right join s on exists (select 1 from t where t.x = r.x and t.y = s.x)",
        "select * from r join s on r.x = (select max(t.x) from t where t.x <= s.x)",
        "select * from r full join s on r.x = s.x and s.x in (select x from t)",
        "select x, generate_series(1, (select count(*) from s where s.x = r.x)) from r",
        "select * from generate_series(1, (select count(*) from s)) g",
        "select * from r order by (select max(y) from s where s.x = r.x), x, y
           limit (select 3)",
        "with w as (select x, y from r) select x, (select count(*) from w v where v.x = w.x)
           from w where exists (select 1 from w v where v.y > w.y)",
        "with recursive w(n) as (select 1 union all select n + 1 from w where n <
           (select max(x) from t where t.x >= w.n)) select * from w",
        "select x, (with recursive w(n) as (select 1 union all select n + 1 from w
           where n < r.x) select sum(n) from w) from r",
    ] {
        check(sql);
    }
}

#[test]
fn errors_come_when_they_must_and_not_before() {
    for sql in [
        "select x, (select y from s where s.x = r.x) from r",
        "select x, (select y from s where s.x = r.x) from r where x > 1",
        "select case when x <> 1 then (select y from s where s.x = r.x) end from r",
        "select coalesce(x, (select 1 / (count(*) - 1) from s where s.x is null)) from r",
        "select x = 1 or (select y from s where s.x = r.x) > 10 from r",
        "select x <> 1 and (select y from s where s.x = r.x) > 10 from r",
        "select case when x > 2 then (select max(1 / (s.x - 2)) from s where s.x = r.x) end
           from r",
        "select (select max(1 / (s.y - 50)) from s where s.x = r.x) from r",
        "select (select max(1 / (s.y - 10)) from s where s.x = r.x) from r",
        "select * from r where exists (select 1 from s where s.x = r.x and 1 / (s.y - 50) < 9)",
        "select * from r, lateral (select 1 / (s.y - 50) from s where s.x = r.x) q",
        "select case when x > 10 then (select 1 / 0) else x end from r",
        "select * from r where x > 10 and (select 1 / 0) = 1",
        "select x, (select 7 / count(*) from s where s.x = r.x) from r where r.x in (1, 2, 4)",
        "select x, (select 7 / count(*) from s where s.x = r.x) from r",
    ] {
        unnested(sql);
    }
}

#[test]
fn dependent_joins_that_stay() {
    for sql in [
        // Values that are equal and not the same.
        "select n::text, (select a.n::text || count(*)::text from s where s.x < a.n) from
           (values (1.0), (1.00), (2.5)) a(n)",
        "select x, g, o from r, generate_series(1, x) with ordinality f(g, o)",
        "select x, (with w as (select x from s where s.x > r.x) select count(*) from w v, w)
           from r",
    ] {
        let (dependent, subqueries, _) = left(&check(sql));
        assert_eq!((dependent, subqueries), (1, 0), "{sql}");
    }
    let series = "select x, g from r, generate_series(1, x) g where g <> y";
    assert_eq!(left(&check(series)), (0, 0, 0));
}

#[test]
fn volatile_sub_queries_stay_dependent() {
    let plan = bound("select x, (select count(*) from s where s.x + random() > r.x) from r");
    let (dependent, _, domains) = left(&unnest(plan.unwrap()));
    assert_eq!((dependent, domains), (1, 0));
    // One that does not depend on the row is computed once.
    let plan = unnest(bound("select x, (select random()) from r").unwrap());
    let mut single = false;
    let mut look = vec![&plan];
    while let Some(plan) = look.pop() {
        single |= matches!(
            plan,
            Plan::Join {
                kind: JoinKind::Single,
                lateral: false,
                condition: None,
                ..
            }
        );
        look.extend(plan.inputs());
    }
    assert!(single);
}

impl Chance {
    /// A column of one of the tables in sight, mostly the nearest.
    fn column(&mut self, sight: &[String]) -> String {
        let far = self.below(3) == 0;
        let at = match far {
            true => self.below(sight.len() as u64) as usize,
            false => sight.len() - 1,
        };
        format!("{}.{}", sight[at], self.of(&["x", "y"]))
    }

    fn value(&mut self, sight: &[String], depth: u32) -> String {
        match self.below(if depth > 0 { 9 } else { 6 }) {
            0 => self.of(&["0", "1", "2", "10", "null::int"]).to_owned(),
            1 => format!("{} + {}", self.column(sight), self.column(sight)),
            2 => format!("coalesce({}, {})", self.column(sight), self.column(sight)),
            6 => {
                let call = self.of(&["count(*)", "max(@)", "sum(@)", "count(distinct @)"]);
                let (from, inside) = self.from(sight, depth - 1);
                let own = &inside[inside.len() - 1..];
                let call = call.replace('@', &self.column(own));
                format!("(select {call}::int {from})")
            }
            7 => {
                let (from, inside) = self.from(sight, depth - 1);
                let value = self.column(&inside);
                format!("(select {value} {from} order by 1 limit 1)")
            }
            8 => format!(
                "case when {} then {} else {} end",
                self.condition(sight, depth - 1),
                self.value(sight, depth - 1),
                self.value(sight, 0)
            ),
            _ => self.column(sight),
        }
    }

    fn condition(&mut self, sight: &[String], depth: u32) -> String {
        match self.below(if depth > 0 { 11 } else { 4 }) {
            0 => format!("{} is not null", self.column(sight)),
            4 | 5 => {
                let not = self.of(&["", "not "]);
                let (from, inside) = self.from(sight, depth - 1);
                format!("{not}exists (select {} {from})", self.column(&inside))
            }
            6 | 7 => {
                let not = self.of(&["", "not "]);
                let value = self.value(sight, depth - 1);
                let (from, inside) = self.from(sight, depth - 1);
                let other = self.value(&inside, 0);
                let tail = self.of(&["", " limit 2", "", " group by 1"]);
                // Which rows a limit leaves must not depend on the plan.
                let tail = match tail {
                    " limit 2" => " order by 1 limit 2",
                    " group by 1" => " union select 10",
                    tail => tail,
                };
                format!("{value} {not}in (select {other} {from}{tail})")
            }
            8 => {
                let quantifier = self.of(&["any", "all"]);
                let op = self.of(&["<", ">", "=", "<>", ">="]);
                let value = self.value(sight, 0);
                let (from, inside) = self.from(sight, depth - 1);
                let other = self.column(&inside);
                format!("{value} {op} {quantifier} (select {other} {from})")
            }
            9 => format!(
                "({} or {})",
                self.condition(sight, depth - 1),
                self.condition(sight, depth - 1)
            ),
            10 => format!("not ({})", self.condition(sight, depth - 1)),
            _ => {
                let op = self.of(&["=", "=", "=", "<", ">", "<>"]);
                let left = self.column(sight);
                format!("{left} {op} {}", self.value(sight, depth))
            }
        }
    }

    /// FROM and WHERE, and the tables in sight within.
    fn from(&mut self, sight: &[String], depth: u32) -> (String, Vec<String>) {
        let mut inside = sight.to_vec();
        let name = format!("q{}", self.below(1_000_000_000));
        let table = self.of(&["r", "s", "t"]);
        let mut from = format!("from {table} {name}");
        inside.push(name.clone());
        if self.below(3) == 0 {
            let other = format!("q{}", self.below(1_000_000_000));
            let kind = self.of(&["join", "left join", "join lateral", "left join lateral"]);
            let kind = if kind.ends_with("lateral") && depth == 0 {
                "join"
            } else {
                kind
            };
            if kind.ends_with("lateral") {
                let (inner, within) = self.from(&inside, depth - 1);
                let columns = match self.below(3) {
                    0 => {
                        let (a, b) = (self.value(&within, 0), self.value(&within, 0));
                        format!("select {a} as x, {b} as y {inner}")
                    }
                    1 => {
                        let (a, b) = (self.column(&within), &within[within.len() - 1]);
                        format!("select {a} as x, count({b}.y)::int as y {inner} group by 1")
                    }
                    _ => {
                        let (a, b) = (self.column(&within), self.column(&within));
                        format!("select distinct {a} as x, {b} as y {inner} order by 1, 2 limit 2")
                    }
                };
                from += &format!(" {kind} ({columns}) {other} on ");
            } else {
                from += &format!(" {kind} {} {other} on ", self.of(&["r", "s", "t"]));
            }
            inside.push(other);
            from += &self.condition(&inside, depth.min(1));
        }
        let mut conditions = vec![self.condition(&inside, depth)];
        if self.below(2) == 0 {
            conditions.push(self.condition(&inside, depth));
        }
        (format!("{from} where {}", conditions.join(" and ")), inside)
    }
}

#[test]
fn queries_by_chance() {
    let mut chance = Chance(7);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let many = std::env::var("UNNEST_QUERIES")
        .ok()
        .and_then(|n| n.parse().ok());
    for _ in 0..many.unwrap_or(300) {
        let (from, inside) = chance.from(&[], 2);
        let values = (0..2).map(|_| chance.value(&inside, 1));
        let values: Vec<String> = values.collect();
        let sql = format!("select {} {from}", values.join(", "));
        let (dependent, subqueries, domains) = left(&check(&sql));
        *counts.entry("dependent").or_default() += usize::from(dependent > 0);
        *counts.entry("domain").or_default() += usize::from(domains > 0);
        assert_eq!(subqueries, 0, "{sql}");
    }
    assert!(
        counts["domain"] > 20 && counts["dependent"] == 0,
        "{counts:?}"
    );
}

/// The tables of TPC-H: names, and types by a letter each.
const TPCH: [(&str, &str); 8] = [
    ("region", "r_regionkey:i r_name:t r_comment:t"),
    ("nation", "n_nationkey:i n_name:t n_regionkey:i n_comment:t"),
    (
        "supplier",
        "s_suppkey:i s_name:t s_address:t s_nationkey:i s_phone:t s_acctbal:n s_comment:t",
    ),
    (
        "customer",
        "c_custkey:i c_name:t c_address:t c_nationkey:i c_phone:t c_acctbal:n c_mktsegment:t \
         c_comment:t",
    ),
    (
        "part",
        "p_partkey:i p_name:t p_mfgr:t p_brand:t p_type:t p_size:i p_container:t \
         p_retailprice:n p_comment:t",
    ),
    (
        "partsupp",
        "ps_partkey:i ps_suppkey:i ps_availqty:i ps_supplycost:n ps_comment:t",
    ),
    (
        "orders",
        "o_orderkey:i o_custkey:i o_orderstatus:t o_totalprice:n o_orderdate:d \
         o_orderpriority:t o_clerk:t o_shippriority:i o_comment:t",
    ),
    (
        "lineitem",
        "l_orderkey:i l_partkey:i l_suppkey:i l_linenumber:i l_quantity:n l_extendedprice:n \
         l_discount:n l_tax:n l_returnflag:t l_linestatus:t l_shipdate:d l_commitdate:d \
         l_receiptdate:d l_shipinstruct:t l_shipmode:t l_comment:t",
    ),
];

struct Tpch;

impl Catalog for Tpch {
    fn relation(&self, _: Option<&str>, name: &str, _: Option<Position>) -> Result<Option<Found>> {
        let found = TPCH.iter().find(|(table, _)| *table == name);
        Ok(found.map(|(name, columns)| {
            let column = |column: &str| {
                let (name, ty) = column.split_once(':').unwrap();
                let ty = match ty {
                    "i" => Type::Int8,
                    "n" => Type::numeric(15, 2),
                    "d" => Type::Date,
                    _ => Type::Text,
                };
                (name.to_owned(), ty)
            };
            Found::Relation(Relation {
                schema: "public".to_owned(),
                name: name.to_string(),
                columns: columns.split_whitespace().map(column).collect(),
                hidden: vec![],
                key: vec![],
                number: 0,
                handle: Arc::new(()),
            })
        }))
    }
}

#[test]
fn tpch_has_no_domains() {
    let folder = "../../data/tpch/queries";
    let session = Session::default();
    let fold = crate::evaluate::fold::Fold {
        session: &session,
        stable: true,
        parameters: &[],
    };
    let mut with_subqueries = 0;
    for number in 1..=22 {
        let mut text = std::fs::read_to_string(format!("{folder}/q{number:02}.sql")).unwrap();
        text = text.replace(":FRACTION", "0.0001");
        for unit in ["day", "month", "year"] {
            text = text.replace(&format!("' {unit}"), &format!(" {unit}'"));
        }
        let statements = crate::syntax::statements(&text).unwrap();
        let sqlparser::ast::Statement::Query(query) = &statements[0] else {
            panic!("{number}");
        };
        let bound = Binder::new(&Tpch, &session).query(query);
        let mut plan = bound
            .unwrap_or_else(|error| panic!("{number}: {error}"))
            .plan;
        with_subqueries += usize::from(left(&plan).1 > 0);
        fold.plan(&mut plan);
        assert_eq!(left(&unnest(plan)), (0, 0, 0), "query {number}");
    }
    assert_eq!(with_subqueries, 10);
}

#[test]
fn columns_of_the_outer_row_come_once() {
    for sql in [
        "SELECT 1 FROM r, LATERAL (SELECT r.x AS a, r.x AS b FROM (SELECT (SELECT 1 FROM s
         WHERE s.x > r.x LIMIT 1) AS c FROM t) q) q2",
        "SELECT 1 FROM r, LATERAL (SELECT r.x AS a, r.x AS b, r.x AS c FROM (SELECT (SELECT 1 FROM s
         WHERE s.x > r.x LIMIT 1) AS c FROM t) q WHERE q.c > 0) q2",
        "SELECT 1 FROM (SELECT x FROM r LIMIT 3) r, LATERAL (SELECT r.x AS a, r.x AS b FROM
         (SELECT (SELECT 1 FROM s WHERE s.x > r.x LIMIT 1) AS c FROM t) q) q2",
        "SELECT 1 FROM generate_series(1, 3) r (x), LATERAL (SELECT r.x AS a, r.x AS b FROM
         (SELECT (SELECT 1 FROM s WHERE s.x > r.x LIMIT 1) AS c FROM t) q) q2",
        "SELECT a, b FROM r, LATERAL (SELECT r.x AS a, q.b FROM (SELECT s.y AS b FROM s, LATERAL
         (SELECT t.x FROM t WHERE t.y > r.x LIMIT 1) l) q) q2",
    ] {
        let plan = check(sql);
        assert_eq!(repeated(&plan), Vec::<String>::new(), "{sql}\n{plan:#?}");
    }
}
