//! Plans of queries that were seen before.
//!
//! A plan is used again while the database is as it was when the plan was made: the same
//! catalog, and no commit in between. It is kept only if nothing in it depends on when it
//! runs, such as `now()`, or on anything but tables.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use datafusion::catalog::default_table_source::source_as_provider;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use freestone_storage::{Catalog, Snapshot};
use parking_lot::Mutex;

use crate::advisor::Watched;
use crate::scan::StoredTable;

/// Most plans that are kept.
const PLANS: usize = 256;

/// Tells sessions with different settings apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PlanSettings {
    /// The usual ones, with so many threads.
    Usual(usize),
    /// Those of one session after a change.
    Own(u64),
}

impl PlanSettings {
    /// Settings that nobody else has.
    pub(crate) fn own() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self::Own(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A plan, and the names of its columns.
#[derive(Clone, Debug)]
pub(crate) struct KnownPlan {
    pub(crate) physical: Arc<dyn ExecutionPlan>,
    pub(crate) names: Vec<String>,
    /// What was predicted of it.
    pub(crate) watched: Option<Arc<Watched>>,
}

/// Plans of queries of one database.
#[derive(Debug, Default)]
pub(crate) struct KnownPlans {
    plans: Mutex<Plans>,
}

#[derive(Debug, Default)]
struct Plans {
    /// The database that they were made for.
    catalog: Weak<Catalog>,
    timestamp: u64,
    /// By the hash of their statements, which need not be copied to be looked up.
    by_statement: HashMap<u64, Vec<Known>>,
    count: usize,
}

#[derive(Debug)]
struct Known {
    settings: PlanSettings,
    ast: Ast,
    plan: KnownPlan,
}

impl Plans {
    fn fit(&self, snapshot: &Snapshot) -> bool {
        self.timestamp == snapshot.timestamp()
            && std::ptr::eq(self.catalog.as_ptr(), Arc::as_ptr(snapshot.catalog()))
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
        settings: PlanSettings,
        ast: &Ast,
        snapshot: &Snapshot,
    ) -> Option<KnownPlan> {
        let plans = self.plans.lock();
        if !plans.fit(snapshot) {
            return None;
        }
        let mut alike = plans.by_statement.get(&hash(settings, ast))?.iter();
        let known = alike.find(|known| known.settings == settings && known.ast == *ast)?;
        let KnownPlan {
            physical,
            names,
            watched,
        } = known.plan.clone();
        drop(plans);
        let physical = reset_plan_states(physical).ok()?;
        Some(KnownPlan {
            physical,
            names,
            watched,
        })
    }

    /// Keeps a plan that was made for `snapshot`.
    pub(crate) fn keep(
        &self,
        settings: PlanSettings,
        ast: &Ast,
        plan: &KnownPlan,
        snapshot: &Snapshot,
    ) {
        let mut plans = self.plans.lock();
        if !plans.fit(snapshot) || plans.count >= PLANS {
            plans.clear();
            plans.catalog = Arc::downgrade(snapshot.catalog());
            plans.timestamp = snapshot.timestamp();
        }
        plans.count += 1;
        let alike = plans.by_statement.entry(hash(settings, ast)).or_default();
        alike.push(Known {
            settings,
            ast: ast.clone(),
            plan: plan.clone(),
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

fn hash(settings: PlanSettings, ast: &Ast) -> u64 {
    let mut hasher = DefaultHasher::new();
    settings.hash(&mut hasher);
    ast.hash(&mut hasher);
    hasher.finish()
}

/// Whether a plan gives the same rows whenever it runs on the same tables.
pub(crate) fn is_lasting(plan: &LogicalPlan) -> bool {
    let mut lasting = true;
    let walked = plan.apply_with_subqueries(|node| {
        lasting &= match node {
            LogicalPlan::TableScan(scan) => {
                let provider = source_as_provider(&scan.source);
                provider.is_ok_and(|provider| provider.downcast_ref::<StoredTable>().is_some())
            }
            LogicalPlan::Extension(_) => false,
            _ => true,
        };
        node.apply_expressions(|expr| {
            lasting &= !depends_on_time(expr)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(match lasting {
            true => TreeNodeRecursion::Continue,
            false => TreeNodeRecursion::Stop,
        })
    });
    lasting && walked.is_ok()
}

fn depends_on_time(expr: &Expr) -> DfResult<bool> {
    expr.exists(|expr| {
        Ok(match expr {
            Expr::ScalarFunction(call) => call.func.signature().volatility != Volatility::Immutable,
            Expr::Placeholder(_) => true,
            _ => false,
        })
    })
}
