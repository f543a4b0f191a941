//! Plans as they are lowered and run here, against the reference interpreter of the front.
//!
//! Each statement is bound once; the rows of both ways must be the same, and in the same order
//! where the statement has one at its end.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::state::SessionState;
use arrow::array::{Array, ArrayRef, RecordBatch, cast::AsArray, new_null_array};
use arrow::datatypes::{Field, Schema};
use freestone_frontend::bind::{Binder, Catalog, Found, written_type};
use freestone_frontend::functions::kernel::Call;
use freestone_frontend::functions::{Session, cast_between, catalogue};
use freestone_frontend::plan::{Column, Plan, Relation};
use freestone_frontend::types::Type;
use freestone_frontend::{Position, reference, syntax};
use sqlparser::ast::Statement;

use super::{Handle, Surroundings, lowered, rewritten};
use crate::engine::RunContext;
use crate::error::{Error, Result};
use crate::memory::Broker;
use crate::source::Source;

/// Tables in memory, and what runs over them.
struct World {
    tables: RefCell<HashMap<String, Held>>,
    session: Arc<Session>,
    state: SessionState,
}

#[derive(Clone)]
struct Held {
    columns: Vec<(String, Type)>,
    batches: Vec<RecordBatch>,
}

impl Held {
    fn schema(&self) -> Arc<Schema> {
        let fields = self.columns.iter();
        let fields = fields.map(|(name, ty)| Field::new(name, ty.arrow(), true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

impl Catalog for World {
    fn relation(
        &self,
        _: Option<&str>,
        name: &str,
        _: Option<Position>,
    ) -> freestone_frontend::Result<Option<Found>> {
        let tables = self.tables.borrow();
        Ok(tables.get(name).map(|held| {
            let source = Source::Batches(held.schema(), held.batches.clone());
            Found::Relation(Relation {
                schema: "public".to_owned(),
                name: name.to_owned(),
                columns: held.columns.clone(),
                hidden: Vec::new(),
                key: Vec::new(),
                number: 0,
                handle: Arc::new(Handle::of(Arc::new(source))),
            })
        }))
    }
}

type Answer = std::result::Result<Vec<String>, String>;

impl World {
    fn new() -> Self {
        let memory = Broker::new(&freestone_storage::Store::in_memory());
        Self {
            tables: RefCell::default(),
            session: Arc::new(Session::default()),
            state: SessionState::new(memory),
        }
    }

    fn create(&self, text: &str) {
        for statement in syntax::statements(text).unwrap() {
            match statement {
                Statement::CreateTable(create) => {
                    let mut columns = Vec::new();
                    for column in &create.columns {
                        let ty = written_type(&column.data_type, self).unwrap();
                        columns.push((column.name.value.clone(), ty));
                    }
                    let held = Held {
                        columns,
                        batches: Vec::new(),
                    };
                    let name = create.name.to_string();
                    self.tables.borrow_mut().insert(name, held);
                }
                Statement::Insert(insert) => {
                    let name = insert.table.to_string();
                    let held = self.tables.borrow()[&name].clone();
                    let query = insert.source.unwrap();
                    let bound = Binder::new(self, &self.session).query(&query).unwrap();
                    let table = self.reference(&bound.plan).unwrap();
                    let mut arrays = Vec::new();
                    for (from, (_, to)) in bound.plan.columns().iter().zip(&held.columns) {
                        let array = Arc::clone(table.column(from.id).unwrap());
                        arrays.push(self.cast(array, &from.ty, to));
                    }
                    let batch = RecordBatch::try_new(held.schema(), arrays).unwrap();
                    let mut tables = self.tables.borrow_mut();
                    tables.get_mut(&name).unwrap().batches.push(batch);
                }
                other => panic!("{other}"),
            }
        }
    }

    fn reference(&self, plan: &Plan) -> freestone_frontend::Result<reference::Table> {
        let of = |relation: &Relation, columns: &[(Column, usize)]| {
            reference::read(&self.tables.borrow()[&relation.name].batches, columns)
        };
        reference::run(plan, &of, &self.session, &[])
    }

    fn cast(&self, array: ArrayRef, from: &Type, to: &Type) -> ArrayRef {
        if from == to {
            return array;
        }
        if *from == Type::Unknown {
            if array.null_count() == array.len() {
                return new_null_array(&to.arrow(), array.len());
            }
            return self.cast(array, &Type::Text, to);
        }
        let cast = match from.base() == to.base() {
            true => catalogue().cast_of(&from.base(), to).cloned(),
            false => cast_between(&from.base(), &to.base()),
        };
        let Some(function) = cast.and_then(|cast| cast.function) else {
            return array;
        };
        let call = Call {
            rows: array.len(),
            types: std::slice::from_ref(from),
            returns: to,
            session: &self.session,
        };
        let columns = [freestone_frontend::functions::kernel::Column::rows(array)];
        (function.kernel)(&call, &columns).unwrap()
    }

    fn texts(&self, columns: Vec<(ArrayRef, Type)>, rows: usize) -> Vec<String> {
        let columns = columns.into_iter();
        let columns = columns.map(|(array, ty)| self.cast(array, &ty, &Type::Text));
        let columns: Vec<ArrayRef> = columns.collect();
        let row = |row: usize| {
            let cells = columns.iter().map(|column| match column.is_null(row) {
                true => "NULL".to_owned(),
                false => column.as_string_view().value(row).to_owned(),
            });
            cells.collect::<Vec<_>>().join("|")
        };
        (0..rows).map(row).collect()
    }

    async fn ours(&self, plan: &Plan, is_rewritten: bool) -> Result<Vec<String>> {
        let around = Surroundings {
            session: Arc::clone(&self.session),
            parameters: Arc::new([]),
        };
        let lowered = match is_rewritten {
            true => lowered(&rewritten(plan, &around), &around)?,
            false => lowered(plan, &around)?,
        };
        let batches = lowered.plan.collect(&RunContext::of(&self.state)).await?;
        let mut rows = Vec::new();
        for batch in batches {
            let columns = batch.columns().iter().cloned();
            for (array, ty) in columns.clone().zip(&lowered.types) {
                if array.data_type() != &ty.arrow() {
                    let kind = array.data_type();
                    return Err(Error::internal(format!("{ty} as {kind}")));
                }
            }
            let columns = columns.zip(lowered.types.iter().cloned());
            rows.extend(self.texts(columns.collect(), batch.num_rows()));
        }
        Ok(rows)
    }

    /// The answers of the reference, of the plan as it is bound, but for what has no operator, and of
    /// the rewritten one.
    async fn all(&self, text: &str) -> (Answer, [Answer; 2]) {
        let statement = syntax::statements(text).unwrap().remove(0);
        let Statement::Query(query) = statement else {
            panic!("{text}");
        };
        let bound = match Binder::new(self, &self.session).query(&query) {
            Ok(bound) => bound,
            Err(error) => panic!("{text}: {error}"),
        };
        let plan = bound.plan;
        let expected = self.reference(&plan).map(|table| {
            let columns = plan.columns().into_iter();
            let columns = columns.map(|column| {
                let array = Arc::clone(table.column(column.id).unwrap());
                (array, column.ty)
            });
            self.texts(columns.collect(), table.rows)
        });
        let plain = freestone_frontend::rewrite::plain(plan.clone());
        let found = [self.ours(&plain, false).await, self.ours(&plan, true).await];
        (
            expected.map_err(|error| error.sqlstate.to_owned()),
            found.map(|found| {
                found.map_err(|error| format!("{}: {}", error.sqlstate, error.message))
            }),
        )
    }

    /// Statements for which the ways differ.
    async fn differing(&self, statements: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        for text in statements.split(";\n").map(str::trim) {
            if text.is_empty() {
                continue;
            }
            let (mut expected, mut found) = self.all(text).await;
            let last = text.rsplit(')').next().unwrap_or(text).to_lowercase();
            if !last.contains("order by") {
                let answers = std::iter::once(&mut expected).chain(&mut found);
                answers.flatten().for_each(|rows| rows.sort());
            }
            for (found, way) in found.iter().zip(["bound", "rewritten"]) {
                let same = match (&expected, found) {
                    (Ok(a), Ok(b)) => a == b,
                    (Err(a), Err(b)) => b.starts_with(a.as_str()),
                    _ => false,
                };
                if !same {
                    wrong.push(format!(
                        "{text} ({way})\n  expected {expected:?}\n  found    {found:?}"
                    ));
                }
            }
        }
        wrong
    }
}

const TABLES: &str = "
create table t (a int, b bigint, n numeric(10,2), v numeric, f double precision, s text,
    c char(3), d date, ts timestamp, i interval, x int[], p boolean);
insert into t values
    (1, 10, 1.50, 1.5, 1.5, 'one', 'a', '2020-01-01', '2020-01-01 10:00', '1 day', '{1,2}', true),
    (2, 20, 2.25, 2.250, -0.0, 'two', 'b', '2020-02-01', '2020-02-01 11:00', '24 hours', '{}', false),
    (3, null, null, null, 'NaN', 'three', 'a', null, null, null, null, null),
    (4, 20, 2.25, 2.25, 0.0, null, null, '2021-01-01', '2021-01-01 12:00', '1 mon', '{3,NULL}', true),
    (5, 50, -7.00, 'NaN', 1e300, 'five', 'c', '1999-12-31', '1999-12-31', '-1 day', '{1,2}', false);
create table u (a int, k text, w numeric(12,4));
insert into u values (1, 'x', 1.5000), (1, 'y', 2.2500), (2, 'z', 7), (null, 'n', null), (9, 'q', 9.5);
";

/// Runs a test where plans are walked by recursion: on a stack as large as planning has.
fn on_large_stack<F: Future<Output = Vec<String>>>(
    work: impl FnOnce() -> F + Send + 'static,
) -> Vec<String> {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(work())
    };
    let thread = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(run)
        .unwrap();
    thread.join().unwrap()
}

macro_rules! agree {
    ($($name:ident: $statements:expr;)*) => {$(
        #[test]
        fn $name() {
            let wrong = on_large_stack(|| async {
                let world = World::new();
                world.create(TABLES);
                world.differing($statements).await
            });
            assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
        }
    )*};
}

agree! {
    expressions: "
select a + 1, b - a, a * 2, -a, n + v, n * n, n - 1, n / 3, f * 2, s || c from t;
select a from t where n = v;
select a from t where n > 2 and v < 3 or s like 't%';
select a from t where f = 0;
select a from t where f > 1 or f < 0;
select a from t where f <> f;
select a from t where i = interval '1 day';
select a from t where x = array[1,2];
select a from t where c = 'a';
select a, s in ('one', 'two'), n in (1.5, 2.25), a not in (1, 2) from t;
select case when a > 2 then n else 0 end, case when a > 2 then v else n end from t;
select coalesce(s, 'none'), nullif(a, 2), greatest(a, 3), p is true, p and a > 1 from t;
select 1 / (a - 1) from t;
select 2147483647 + a from t;
select a::text, n::int, f::text, d::text, s::varchar(2) from t where a < 3;
select extract(year from d), date_trunc('month', ts), d + 1, ts + i from t;
select a = any (x), a = any (array[1, 3]) from t;
select row(a, s) = row(1, 'one') from t;
select 1, 'x', null, array[1, 2];
values (1, 'a'), (2, null);
";
    joins: "
select t.a, u.k from t join u on t.a = u.a;
select t.a, u.k from t left join u on t.a = u.a;
select t.a, u.k from t right join u on t.a = u.a and u.k <> 'x';
select t.a, u.k from t full join u on t.a = u.a;
select t.a, u.k from t, u where t.n = u.w;
select t.a, u.k from t join u on t.v = u.w;
select x.a, y.a from t x join t y on x.f = y.f;
select x.a, y.a from t x join t y on x.i = y.i;
select x.a, y.a from t x join t y on x.x = y.x;
select t.a, u.a from t join u on t.a < u.a;
select count(*) from t cross join u;
select t.a, g from t, generate_series(1, t.a) g where t.a < 4;
select t.a, e, o from t left join lateral unnest(t.x) with ordinality as z(e, o) on true;
select t.a, q.k from t, lateral (select k from u where u.a = t.a order by k limit 1) q;
select t.a, q.m from t left join lateral (select max(w) m from u where u.a = t.a) q on true;
";
    subqueries: "
select a from t where a in (select a from u);
select a from t where a not in (select a from u);
select a from t where a not in (select a from u where a is not null);
select a from t where exists (select 1 from u where u.a = t.a);
select a from t where not exists (select 1 from u where u.a = t.a);
select a, (select max(w) from u where u.a = t.a) from t;
select a, (select count(*) from u where u.a = t.a) from t;
select a, a in (select a from u), exists (select 1 from u where k = 'zz') from t;
select a, (select k from u where u.a = t.a) from t;
select a, (select k from u where u.a = t.a) from t where a > 1;
select a, array(select k from u where u.a = t.a order by k) from t;
select a from t where b > all (select a from u where a is not null);
select a from t where b > any (select w from u);
select (select 1), (select a from t where false);
";
    aggregates: "
select count(*), count(b), count(distinct b), sum(a), sum(b), sum(n), sum(v), avg(a), avg(n) from t;
select sum(n), min(n), max(s), min(d), max(ts), bool_and(p), bool_or(p) from t;
select min(f), max(f), min(v), max(i), avg(f) from t;
select c, count(*), sum(n) from t group by c;
select f, count(*) from t group by f;
select v, count(*) from t group by v;
select i, count(*) from t group by i;
select x, count(*) from t group by x;
select a % 2, sum(b) filter (where a > 1) from t group by a % 2;
select c, string_agg(s, ',' order by s desc), array_agg(a order by a desc) from t group by c;
select array_agg(distinct b), count(distinct n) from t;
select percentile_cont(0.5) within group (order by a), mode() within group (order by b) from t;
select c, a, sum(b), grouping(c, a) from t group by rollup (c, a);
select c, p, count(*) from t group by cube (c, p);
select sum(a) from t where false;
select c from t group by c having count(*) > 1;
select 1 from t having false;
select sum(case when a > 2 then n else 0 end) from t;
select variance(a), stddev(n), corr(a, b) from t;
select sum(a * n), avg(a * n) from t;
";
    rows: "
select distinct b from t;
select distinct f from t;
select distinct v, i from t;
select distinct on (c) c, a from t order by c, a desc;
select a from t order by a desc;
select a from t order by f, a;
select a from t order by v desc nulls last, a;
select a from t order by i, a;
select a from t order by x, a;
select a from t order by a limit 2 offset 1;
select b from t order by b fetch first 2 rows with ties;
select a from t union select a from u;
select a from t union all select a from u;
select b from t intersect select w::bigint from u;
select a from t except select a from u;
select b from t except all select 20;
select b from t intersect all select b from t where a > 1;
select a, unnest(x) from t;
select generate_series(1, 3), generate_series(1, 2);
select * from generate_series(1, 5) with ordinality;
";
    ctes: "
with q as materialized (select a, n from t) select x.a, y.n from q x join q y on x.a = y.a;
with q as (select a from t where a > 2) select * from q;
with recursive r(i) as (select 1 union all select i + 1 from r where i < 50) select sum(i) from r;
with recursive r(i) as (select 1 union select i % 5 + 1 from r) select * from r;
with recursive r(i, s) as (select 1, 'a'::text union all select i + 1, s || 'a' from r where i < 4)
    select x.i, y.s from r x join r y on x.i = y.i;
";
    windows: "
select a, row_number() over (order by a desc), rank() over (order by b), sum(a) over () from t;
select a, sum(a) over (partition by c order by a), lag(a) over (order by a) from t;
select a, sum(a) over (order by a rows between 1 preceding and 1 following) from t;
select a, count(*) over (order by b range between 10 preceding and current row) from t;
select a, count(*) over (order by ts range between interval '1 year' preceding and current row)
    from t;
select a, first_value(s) over (partition by p order by a), ntile(2) over (order by a) from t;
select a, sum(n) over (order by a groups between 1 preceding and current row exclude ties) from t;
";
}
