//! Queries: plan, stream.

use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use crate::memory::Held;
use crate::outcome::RowStream;
use arrow::array::RecordBatch;
use freestone_storage::Snapshot;
use futures::StreamExt;
use sqlparser::ast::Statement as Ast;

use super::Run;
use crate::engine::Pipelines;
use crate::error::{Result, panicked};
use crate::front;
use crate::lower::{self, with_schema};
use crate::outcome::{Outcome, Rows};
use crate::plans::{KnownPlan, lasting};
use crate::values::buffers::Counted;
use crate::workload::{Foreseen, Watching};

/// A plan to run, or rows that are there.
enum Planned {
    Plan(KnownPlan),
    Rows(RecordBatch),
}

impl Run<'_> {
    /// Starts a query.
    pub(crate) async fn query(&self, ast: &Ast) -> Result<Outcome> {
        self.session.database().memory().look_at_delta();
        let KnownPlan {
            plan,
            schema,
            foreseen,
        } = match self.planned(ast).await? {
            Planned::Plan(plan) => plan,
            Planned::Rows(rows) => return Ok(Outcome::batch(rows)),
        };
        let watching = self.watching(&plan, ast, &foreseen);
        let context = self.session.run_context_at(&self.snapshot);
        let stream = guarded(plan.stream(&context)?, &self.snapshot);
        let stream = Watching::over(watching, stream);
        Ok(Outcome::Rows(Rows {
            schema: Arc::clone(&schema),
            stream: with_schema(stream, schema),
        }))
    }

    /// The plan of a query: the one of last time, if nothing has changed since. Of a query by
    /// keys, its rows.
    async fn planned(&self, ast: &Ast) -> Result<Planned> {
        let known = self.session.database().plans();
        let settings = self.session.plan_settings();
        let shared = !self.session.client().has_path();
        if shared && let Some(plan) = known.find(settings, ast, &self.snapshot) {
            return Ok(Planned::Plan(plan));
        }
        let plan = match front::found_or_planned(&self.relations(ast).await?, ast)? {
            front::Planned::Plan(plan) => plan.shown()?,
            front::Planned::Rows(rows) => return Ok(Planned::Rows(rows)),
        };
        let schema = lower::schema(&plan.names, &plan.types, plan.plan.schema());
        // Looked at before the plan is made of them.
        let tables = if shared && !plan.dated {
            lasting(plan.plan.plan())
        } else {
            None
        };
        let planned = KnownPlan {
            plan: plan.runnable()?,
            schema,
            foreseen: Foreseen::default(),
        };
        if let Some(tables) = tables {
            let now = self.session.database().store().snapshot();
            known.keep((settings, ast), &planned, tables, (&self.snapshot, &now));
        }
        Ok(Planned::Plan(planned))
    }

    /// Watches a run of a plan that reads tables, if queries are recorded now: known plans
    /// are asked about at each run. What is foreseen of the plan is kept with it.
    ///
    /// The run begins here: how long it took to make the plan is neither predicted nor
    /// saved by another design, and would differ from run to run with what is known.
    pub(super) fn watching(
        &self,
        plan: &Pipelines,
        statement: &dyn Display,
        foreseen: &Foreseen,
    ) -> Option<Watching> {
        let database = self.session.database();
        // What another machine would take is no matter of the record.
        if !database.record().is_recording() || self.session.asks_of_another() {
            return None;
        }
        let watched = foreseen.get_or_init(|| {
            // Who cannot predict can run it all the same.
            let watched = self.session.watched(plan, statement).ok()?;
            (!watched.uses().is_empty()).then(|| Arc::new(watched))
        });
        Some(Watching::begin(database.record(), plan, watched.clone()?))
    }

    /// The same of a plan that is run once.
    pub(super) fn watched(&self, plan: &Pipelines, statement: &dyn Display) -> Option<Watching> {
        self.watching(plan, statement, &Foreseen::default())
    }

    /// All rows of a plan; the statement keeps the memory that they are counted with.
    ///
    /// # Errors
    /// `53200` if `memory_limit` has no room for them; those of the plan.
    pub(super) async fn collected(
        &self,
        plan: Pipelines,
        watching: Option<Watching>,
    ) -> Result<Vec<RecordBatch>> {
        self.session.database().memory().look_at_delta();
        let context = self.session.run_context();
        let mut held = Held::new(&context.memory, "collecting changed rows");
        let mut stream = Watching::over(watching, plan.stream(&context)?);
        let (mut batches, mut counted) = (Vec::new(), Counted::default());
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            held.grow(counted.bytes(&batch))?;
            batches.push(batch);
        }
        self.held.lock().push(held);
        Ok(batches)
    }
}

/// The stream with panics of operators turned into errors. It keeps what the statement sees:
/// rows that are deleted while somebody reads are forgotten only when nobody sees them.
fn guarded(stream: RowStream, moment: &Snapshot) -> RowStream {
    let moment = moment.clone();
    let stream = AssertUnwindSafe(stream).catch_unwind().map(move |item| {
        let _kept = &moment;
        item.unwrap_or_else(|panic| Err(panicked(panic.as_ref())))
    });
    stream.boxed()
}
