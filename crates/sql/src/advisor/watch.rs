//! Queries as they run: what was predicted, what they took, what they used.

use std::fmt;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use freestone_model::{Run, price};
use futures::StreamExt;

use super::predict::{Predicted, Step, predict, spent, steps};
use super::record::{Entry, Known, Record};
use super::uses::{Use, uses};
use crate::database::Database;
use crate::error::Result;
use crate::session::Session;

/// What is known of a plan before it runs, for all of its runs.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    known: Arc<Known>,
    /// What the ledger shows of it.
    statement: String,
    uses: Vec<Use>,
    predicted: Predicted,
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Predicted {
            seconds,
            disk_seconds,
            bound,
        } = self.predicted;
        write!(f, "Predicted time: {:.3} ms", seconds * 1e3)?;
        write!(
            f,
            " (bound by {bound}; from disk {:.3} ms more",
            disk_seconds * 1e3
        )?;
        let calibration = &self.known.calibration;
        if let Some(error) = calibration.error().filter(|_| self.known.measured) {
            write!(f, "; half of all scans within {:.0} %", error * 100.0)?;
        }
        if self.known.foreign {
            write!(f, "; as on \"{}\"", calibration.machine.name)?;
        }
        if !self.known.measured {
            write!(f, "; constants of another machine")?;
        }
        write!(f, ")")
    }
}

impl Watched {
    /// Predicts a plan.
    ///
    /// # Errors
    /// Those of reading the machine file, or what tables consist of.
    pub(crate) fn of(
        session: &Session,
        (plan, statement): (&Arc<dyn ExecutionPlan>, String),
    ) -> Result<Self> {
        let database = session.database();
        let record = database.record();
        let known = session.known()?;
        let uses = uses(plan);
        if uses.iter().any(|used| used.table.options.auto_layout) {
            database.keep_layouts();
        }
        let predicted = predict(record, &known, plan, &uses, session.threads())?;
        Ok(Self {
            known,
            statement,
            uses,
            predicted,
        })
    }

    /// What the plan uses.
    pub(crate) fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// Notes a run that has ended; nothing where another machine was asked about.
    fn note(&self, record: &Record, before: &[Step], after: &[Step], seconds: f64) {
        if self.known.foreign {
            return;
        }
        let mut runs = Vec::new();
        let scans = spent(before, after).filter(|(step, ..)| step.is_scan());
        for (used, (step, _, spent)) in self.uses.iter().zip(scans) {
            // Nobody may have asked for its rows.
            let Some((scanned, selected)) = step.scan else {
                continue;
            };
            let rows = (used.table.rows() as f64).max(1.0);
            let mut run = Run {
                seconds,
                selected: (selected / rows).min(1.0),
                scanned: (scanned / rows).min(1.0),
                shares: used.expected.shares.clone(),
            };
            // A single condition lets through what was counted.
            if let ([share], [_]) = (run.shares.as_mut_slice(), used.usage.tested.as_slice()) {
                *share = run.selected;
            }
            self.learn(record, used, &run, spent);
            runs.push((used.table.id, used.usage.clone(), run));
        }
        for (step, rows, seconds) in spent(before, after) {
            record.learnt(|learnt| step.teach(learnt, rows, seconds));
        }
        let Predicted {
            seconds: predicted,
            bound,
            ..
        } = self.predicted;
        record.query(runs, Entry::new(&self.statement, predicted, seconds, bound));
    }

    /// Corrects the model by what a scan took of all threads together.
    fn learn(&self, record: &Record, used: &Use, run: &Run, spent: f64) {
        let Ok(stored) = record.stored(&used.table) else {
            return;
        };
        let expected = price(&self.known.calibration, &stored, &used.usage, run);
        let Some(expected) = expected.filter(|_| spent > 0.0) else {
            return;
        };
        let rows = stored.rows * run.scanned;
        let layout = &stored.design.layout;
        record.learnt(|learnt| learnt.scan(layout, rows, expected.seconds, spent));
    }
}

/// The stream, noted in the record when its end is reached.
pub(crate) fn watched(
    stream: SendableRecordBatchStream,
    (database, plan): (&Database, Arc<dyn ExecutionPlan>),
    watched: Arc<Watched>,
    begin: Instant,
) -> SendableRecordBatchStream {
    let record = Arc::clone(database.record());
    let before = steps(&plan);
    let schema: SchemaRef = stream.schema();
    let mut end = Some(move || {
        let seconds = begin.elapsed().as_secs_f64();
        watched.note(&record, &before, &steps(&plan), seconds);
    });
    let noted = futures::stream::poll_fn(move |_| {
        end.take().into_iter().for_each(|end| end());
        Poll::Ready(None)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, stream.chain(noted)))
}
