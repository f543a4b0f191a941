//! Opening joins: the build side is collected and put into a table before rows of the probe
//! side can flow.

use crate::Result;
use crate::context::Context;
use crate::drive::Pipeline;
use crate::expression::Expression;
use crate::join::{BuildRows, Builder, Built, JoinTable, KeyTest, Probe, Waiting};
use crate::plan::{Join, JoinKind, Metrics};
use crate::scan::{Filter, Test, by_keys};
use crate::source::Source;
use crate::step::Step;
use crate::threads::Workers;
use crate::vector::Values;
use std::sync::Arc;
use std::time::Instant;

impl Context<'_> {
    /// The rows of a join.
    pub(super) fn join<'a>(
        &'a self,
        join: &'a Join,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<Pipeline<'a>> {
        join.check()?;
        let width = join.probe.types.len();
        let pairs = join.kind.gives_pairs();
        // A partner is missed where rows come without one, and NULL may be among the first.
        let filters = match join.kind {
            JoinKind::Inner => filters.to_vec(),
            _ => by_keys(filters),
        };
        let (to_probe, to_build): (Vec<Filter>, Vec<Filter>) = match pairs {
            true => filters
                .into_iter()
                .partition(|filter| filter.column < width),
            false if join.kind.gives_build_rows() => (Vec::new(), filters),
            false => (filters, Vec::new()),
        };
        let to_build: Vec<Filter> = to_build
            .into_iter()
            .filter(|_| join.kind.may_skip_build() || !pairs)
            .map(|filter| Filter {
                column: filter.column - if pairs { width } else { 0 },
                test: filter.test,
            })
            .collect();
        let built = self.build(join, &to_build)?;
        let start = Instant::now();
        // No row has a partner: those of the other side are not asked for.
        let is_empty = built.aside.is_none() && built.batches.iter().all(|batch| batch.rows == 0);
        if is_empty && join.kind.may_skip_probe() {
            return Ok(Pipeline::of(Source::of(Vec::new(), built.held)));
        }
        let (table, keys) = JoinTable::new(join, &built.batches, built.held, self.threads)?;
        drop(built.batches);
        self.held(metrics, table.held());
        let mut to_probe = to_probe;
        // What was set aside is not among the keys.
        let all_here = built.aside.is_none();
        if all_here && join.kind.may_skip_probe() && !join.null_equal {
            for ((_, of_probe, _), key) in join.keys.iter().zip(&keys) {
                if let (Expression::Column(column), Values::Int(values)) = (of_probe, &key.values) {
                    to_probe.push(Filter {
                        column: *column,
                        test: Test::Keys(Arc::new(KeyTest::new(values, self.threads))),
                    });
                }
            }
        }
        drop(keys);
        metrics.add(0, start);
        let mut pipeline = self.open(&join.probe, &to_probe)?;
        let probe = Probe {
            join,
            table: Arc::new(table),
            waiting: built.aside.map(Waiting::new),
            contents: built.contents,
            space: self.space,
            stop: self.stop,
        };
        pipeline.steps.push((Step::Probe(probe), metrics));
        Ok(pipeline)
    }

    /// All rows of the build side of a join.
    fn build(&self, join: &Join, filters: &[Filter]) -> Result<Built> {
        let pipeline = self.open(&join.build, filters)?;
        let builder = Builder::new(join);
        let rows = self.drive(
            &pipeline,
            Workers::Pooled,
            || Ok(builder.rows(self.space)),
            |built: &mut BuildRows, rows| builder.push(built, rows.whole()?, self.space),
        )?;
        drop(pipeline);
        builder.finish(rows, self.space)
    }
}
