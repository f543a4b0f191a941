//! Functions in FROM: `generate_series(1, 10)`, `ROWS FROM (…)`.

use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use freestone_frontend::functions::kernel::{Column as Values, repeated};
use freestone_frontend::plan::{Expr as Bound, TableCall};

use super::super::operator::{Batches, Operator, Run};
use super::super::{Surroundings, evaluated};
use super::set_rows::{Open, Part};
use crate::error::Error;

/// Functions whose rows stand side by side.
#[derive(Debug)]
pub(in super::super) struct Calls {
    calls: Vec<(Part, Vec<Bound>)>,
    numbered: bool,
    about: String,
    around: Surroundings,
}

impl Calls {
    pub(in super::super) fn new(calls: &[TableCall], numbered: bool, around: Surroundings) -> Self {
        let about = calls.iter().map(|call| call.function.name);
        let about = about.collect::<Vec<_>>().join(", ");
        let calls = calls.iter().map(|call| {
            let places = (0..call.arguments.len()).collect();
            (Part::rows(call, places), call.arguments.clone())
        });
        Self {
            calls: calls.collect(),
            numbered,
            about,
            around,
        }
    }
}

impl Operator for Calls {
    fn name(&self) -> &'static str {
        "TableFunction"
    }

    fn describe(&self) -> String {
        self.about.clone()
    }

    // Functions may tell the time.
    fn is_lasting(&self) -> bool {
        false
    }

    fn run(&self, _: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let mut parts = Vec::with_capacity(self.calls.len() + 1);
        for (part, arguments) in &self.calls {
            let arguments = arguments.iter().map(|argument| {
                let value: Values = evaluated::values(argument, &[], &[], 1, &self.around)?;
                let value = repeated(value.array, 1);
                crate::values::with_kind(value, &argument.ty.arrow())
            });
            let arguments = arguments.collect::<Result<Vec<_>, Error>>()?;
            parts.push((part, arguments));
        }
        if self.numbered {
            parts.push((&Part::Number, Vec::new()));
        }
        let mut open = Open::new(parts.into_iter(), false, &self.around)?;
        let batch_rows = run.context.session_config().batch_size();
        Ok(Box::pin(futures::stream::poll_fn(move |_| {
            let next = open.next(batch_rows).transpose();
            std::task::Poll::Ready(next.map(|next| {
                let (columns, rows) = next?;
                run.batch(columns, rows)
            }))
        })))
    }
}
