//! Plans of queries that were seen before.
//!
//! A plan is used again while the catalog is the one that it was made for; what commits of rows
//! have changed since, its scans see, as they read what the statement sees. Two things of the
//! rows may be in a plan: answers, where a table was as its blocks say (those are planned anew
//! once it is not), and estimates (once there are many more rows outside of blocks). A plan is
//! kept only if nothing in it depends on when it runs, such as `now()`, or on anything but
//! tables.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use arrow::datatypes::SchemaRef;
use freestone_exec::Plan;
use freestone_storage::{Catalog, RoleId, Snapshot, Table};
use parking_lot::Mutex;
use sqlparser::ast::Statement as Ast;

use crate::engine::Pipelines;
use crate::values::Styles;
use crate::workload::Foreseen;

/// Most plans that are kept.
const PLANS: usize = 256;
/// Rows outside of blocks that may come before estimates are out of date, and how many times
/// as many as there were.
const MORE_ROWS: u64 = 4096;
const TIMES_ROWS: u64 = 2;

/// Tells sessions with different settings apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PlanSettings {
    /// The usual ones, with so many threads.
    Usual(usize),
    /// Those of one session after a change.
    Own(u64),
}

/// Settings, the styles of texts in the plan, and the role whose rights were asked for: no other
/// may use the plan. What the role may do is in the catalog, so that plans are out of date when
/// that changes.
pub(crate) type PlannedFor = (PlanSettings, Styles, RoleId);

impl PlanSettings {
    /// Settings that nobody else has.
    pub(crate) fn own() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self::Own(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A plan, and the columns of its result.
#[derive(Clone, Debug)]
pub(crate) struct KnownPlan {
    pub(crate) plan: Pipelines,
    pub(crate) schema: SchemaRef,
    /// What was predicted of it.
    pub(crate) foreseen: Foreseen,
}

/// A table as it was when a plan was made.
#[derive(Debug)]
pub(crate) struct PlannedTable {
    table: Arc<Table>,
    settled: bool,
    loose: u64,
}

impl PlannedTable {
    fn of(table: &Arc<Table>) -> Self {
        Self {
            settled: table.is_settled(),
            loose: table.delta().rows(),
            table: Arc::clone(table),
        }
    }

    /// Whether a plan that was made then is as good now.
    fn holds(&self) -> bool {
        let loose = self.table.delta().rows();
        loose <= self.loose * TIMES_ROWS + MORE_ROWS && (!self.settled || self.table.is_settled())
    }

    /// Whether the statement that sees a snapshot may use the plan: its transaction has changed
    /// nothing of a table whose rows the plan may have answers of, and need not note that it
    /// reads it.
    fn suits(&self, snapshot: &Snapshot) -> bool {
        !self.settled || !snapshot.notes_reads() && !snapshot.has_own_changes(self.table.id)
    }
}

/// Plans of queries of one database.
#[derive(Debug, Default)]
pub(crate) struct KnownPlans {
    plans: Mutex<Plans>,
}

#[derive(Debug, Default)]
struct Plans {
    /// The catalog that they were made for.
    catalog: Weak<Catalog>,
    /// By the hash of their statements, which need not be copied to be looked up.
    by_statement: HashMap<u64, Vec<Known>>,
    count: usize,
}

#[derive(Debug)]
struct Known {
    settings: PlannedFor,
    ast: Ast,
    plan: KnownPlan,
    tables: Vec<PlannedTable>,
}

impl Plans {
    fn fit(&self, snapshot: &Snapshot) -> bool {
        std::ptr::eq(self.catalog.as_ptr(), Arc::as_ptr(snapshot.catalog()))
    }

    fn clear(&mut self) {
        self.by_statement.clear();
        self.count = 0;
    }
}

impl KnownPlans {
    /// The plan of a statement, ready to run.
    pub(crate) fn find(
        &self,
        settings: PlannedFor,
        ast: &Ast,
        snapshot: &Snapshot,
    ) -> Option<KnownPlan> {
        let mut plans = self.plans.lock();
        if !plans.fit(snapshot) {
            return None;
        }
        let alike = plans.by_statement.get_mut(&hash(settings, ast))?;
        let same = |known: &Known| known.settings == settings && known.ast == *ast;
        let place = alike.iter().position(same)?;
        let known = &alike[place];
        if !known.tables.iter().all(PlannedTable::holds) {
            alike.swap_remove(place);
            plans.count -= 1;
            return None;
        }
        // Of rows that the transaction alone sees, and of what it reads, an answer says nothing.
        if !known.tables.iter().all(|planned| planned.suits(snapshot)) {
            return None;
        }
        Some(known.plan.clone())
    }

    /// Keeps a plan that was made for `snapshot`, of tables as they were before. A transaction
    /// that sees an older catalog than others leaves theirs alone, and so does one that would not
    /// find the plan.
    pub(crate) fn keep(
        &self,
        (settings, ast): (PlannedFor, &Ast),
        plan: &KnownPlan,
        tables: Vec<PlannedTable>,
        (snapshot, now): (&Snapshot, &Snapshot),
    ) {
        let suits = tables.iter().all(|planned| planned.suits(snapshot));
        if !suits || !Arc::ptr_eq(snapshot.catalog(), now.catalog()) {
            return;
        }
        let mut plans = self.plans.lock();
        if !plans.fit(snapshot) || plans.count >= PLANS {
            plans.clear();
            plans.catalog = Arc::downgrade(snapshot.catalog());
        }
        plans.count += 1;
        let alike = plans.by_statement.entry(hash(settings, ast)).or_default();
        alike.push(Known {
            settings,
            ast: ast.clone(),
            plan: plan.clone(),
            tables,
        });
    }

    /// Forgets plans that were not made for `now`: nobody will use them again, and they
    /// keep what they read from going.
    pub(crate) fn forget_outdated(&self, now: &Snapshot) {
        let mut plans = self.plans.lock();
        if !plans.fit(now) {
            plans.clear();
        }
    }

    /// Forgets all plans, which keep what they read from going.
    pub(crate) fn clear(&self) {
        self.plans.lock().clear();
    }
}

fn hash(settings: PlannedFor, ast: &Ast) -> u64 {
    let mut hasher = DefaultHasher::new();
    settings.hash(&mut hasher);
    ast.hash(&mut hasher);
    hasher.finish()
}

/// The tables of a plan that gives the same rows whenever it runs on the same rows of them;
/// `None` for any other.
pub(crate) fn lasting(plan: &Plan) -> Option<Vec<PlannedTable>> {
    let tables = plan.tables().into_iter();
    let lasts = plan.is_lasting();
    lasts.then(|| tables.map(|read| PlannedTable::of(&read.table)).collect())
}

#[cfg(test)]
mod tests {
    use crate::testing::{on_runtime, run};
    use crate::{Database, Outcome, Session};
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    use futures::StreamExt;

    /// The number that a query gives.
    fn one(session: &Session, sql: &str) -> i64 {
        on_runtime(async {
            let Ok(Outcome::Rows(mut rows)) =
                session.execute(sql).await.map(|mut all| all.remove(0))
            else {
                panic!("{sql} gives no rows");
            };
            let batch = rows.stream.next().await.unwrap().unwrap();
            batch.column(0).as_primitive::<Int64Type>().value(0)
        })
    }

    /// Whether the plan of a query is known.
    fn knows(session: &Session, sql: &str) -> bool {
        let (database, settings) = (session.database(), session.plan_settings());
        let ast = crate::statement::parse_one(sql).unwrap();
        let snapshot = database.store().snapshot();
        database.plans().find(settings, &ast, &snapshot).is_some()
    }

    #[test]
    fn plans_outlive_changes_of_rows() {
        let database = Database::in_memory();
        let session = database.session();
        let (all, some) = (
            "SELECT count(*) FROM t",
            "SELECT count(*) FROM t WHERE k > 3",
        );
        let table = "CREATE TABLE t AS SELECT value AS k FROM generate_series(1, 1000) AS g(value)";
        run(&session, table);
        run(&session, "VACUUM t");
        run(&session, all);
        assert!(knows(&session, all));
        // The answer is in its plan, as long as all rows are in blocks.
        run(&session, "INSERT INTO t VALUES (1001)");
        assert!(!knows(&session, all));
        for sql in [all, some] {
            run(&session, sql);
            run(&session, "UPDATE t SET k = k + 1 WHERE k = 7");
            run(&session, "INSERT INTO t VALUES (1002)");
            assert!(knows(&session, sql));
        }
        run(
            &session,
            "INSERT INTO t SELECT value FROM generate_series(1, 6000) AS g(value)",
        );
        assert!(!knows(&session, some));
        run(&session, some);
        run(&session, "ALTER TABLE t ADD COLUMN n INTEGER");
        assert!(!knows(&session, some));
    }

    #[test]
    fn transactions_use_plans_and_see_their_own_rows() {
        let database = Database::in_memory();
        let (session, other) = (database.session(), database.session());
        let all = "SELECT count(*) FROM t";
        let table = "CREATE TABLE t AS SELECT value AS k FROM generate_series(1, 1000) AS g(value)";
        run(&session, table);
        run(&session, "VACUUM t");
        run(&session, "BEGIN");
        run(&session, "SELECT max(k) FROM t WHERE k > 3");
        run(&session, all);
        assert!(knows(&session, "SELECT max(k) FROM t WHERE k > 3"));
        assert!(knows(&session, all));
        // The answer that the plan has is that of others.
        run(&session, "INSERT INTO t VALUES (0)");
        let kept = || database.plans().plans.lock().count;
        let before = kept();
        for _ in 0..3 {
            assert_eq!(one(&session, all), 1001);
            assert_eq!(one(&other, all), 1000);
        }
        assert_eq!(kept(), before);
        run(&session, "ALTER TABLE t ADD COLUMN n INTEGER");
        assert_eq!(one(&session, all), 1001);
        run(&session, "ROLLBACK");
        assert_eq!(one(&session, all), 1000);
    }

    #[test]
    fn answers_of_plans_are_reads_of_serializable_transactions() {
        let database = Database::in_memory();
        let (session, other) = (database.session(), database.session());
        let all = "SELECT count(*) FROM t";
        for sql in [
            "CREATE TABLE t AS SELECT value AS k FROM generate_series(1, 1000) AS g(value)",
            "CREATE TABLE u (n BIGINT)",
            "VACUUM t",
            all,
        ] {
            run(&session, sql);
        }
        assert!(knows(&session, all));
        for session in [&session, &other] {
            run(session, "BEGIN ISOLATION LEVEL SERIALIZABLE");
        }
        run(&session, all);
        run(&session, "INSERT INTO u VALUES (1)");
        run(&other, "INSERT INTO t VALUES (0)");
        run(&other, "COMMIT");
        let refused = on_runtime(session.execute("COMMIT")).unwrap_err();
        assert_eq!(refused.sqlstate, "40001");
    }

    #[test]
    fn plans_of_analyses_are_known() {
        let database = Database::in_memory();
        let session = database.session();
        let table = "CREATE TABLE t AS SELECT value AS k, value % 7 AS g, 'x' || value AS s, \
                     date '2024-01-01' + value::int % 100 AS d, \
                     (value * 0.01)::numeric(12, 2) AS n, value * 0.01 AS m \
                     FROM generate_series(1, 1000) AS g(value)";
        run(&session, table);
        run(&session, "VACUUM t");
        // No plan may say what the blocks alone would tell.
        run(&session, "INSERT INTO t (k) VALUES (0)");
        for sql in [
            "SELECT g, count(*), sum(n), avg(n) FROM t WHERE d <= '2024-03-01' GROUP BY g ORDER BY g",
            "SELECT g, count(*) FROM t WHERE d <= date '2024-03-01' - interval '1 month' GROUP BY g",
            "SELECT a.s FROM t a, t b WHERE a.k = b.g ORDER BY a.s LIMIT 10",
            "SELECT s FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.g = a.k) ORDER BY s",
            "SELECT s FROM t a WHERE n = (SELECT max(n) FROM t b WHERE b.g = a.g) ORDER BY s",
            "SELECT s FROM t a WHERE k IN (SELECT g FROM t) AND s LIKE '%x%' ORDER BY s",
            "SELECT extract(year FROM d), sum(CASE WHEN s LIKE 'x1%' THEN n ELSE 0 END) FROM t GROUP BY 1",
            "WITH r AS (SELECT g, sum(n) AS total FROM t GROUP BY g) \
             SELECT g FROM r WHERE total = (SELECT max(total) FROM r)",
            "SELECT substring(s FROM 1 FOR 2), count(DISTINCT k) FROM t GROUP BY 1",
            "SELECT g, sum(m), max(m) FROM t GROUP BY g",
            "SELECT g, m, avg(m) OVER (PARTITION BY g) FROM t",
            "SELECT DISTINCT ON (g) g, m FROM t ORDER BY g, m",
        ] {
            run(&session, sql);
            assert!(knows(&session, sql), "{sql}");
            for other in [
                &format!("EXPLAIN {sql}"),
                "SHOW timezone",
                "BEGIN",
                "COMMIT",
                "INSERT INTO t (k) VALUES (7)",
            ] {
                run(&session, other);
                assert!(knows(&session, sql), "{other}: {sql}");
            }
        }
        run(&session, "TRUNCATE t");
        assert_eq!(database.plans().plans.lock().count, 0);
    }
}
