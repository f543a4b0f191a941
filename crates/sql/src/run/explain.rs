//! EXPLAIN and EXPLAIN ANALYZE: one column, `QUERY PLAN`, one line per row.
//!
//! EXPLAIN shows the physical plan, VERBOSE also the logical one. ANALYZE runs the
//! query, throws its rows away and adds what each operator counted; the counts of
//! a scan tell how many blocks were pruned and read. Of INSERT … SELECT, CREATE
//! TABLE AS and COPY (query) TO, the query is explained.

use std::sync::Arc;
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::sql::sqlparser::ast::{CopySource, DescribeAlias, Statement as Ast, UtilityOption};
use futures::StreamExt;

use super::Run;
use super::locking::without_locks;
use crate::advisor::{Foreseen, Watched, Watching};
use crate::engine::INDENT;
use crate::error::{Error, Result};
use crate::plan::names::{position, table_name};
use crate::plan::rows::{Values, batch};
use crate::session::Outcome;

#[derive(Default)]
struct Wanted {
    analyze: bool,
    verbose: bool,
}

impl Run<'_> {
    pub(super) async fn explain(&self, ast: &Ast) -> Result<Outcome> {
        let Ast::Explain {
            analyze,
            verbose,
            query_plan,
            estimate,
            statement,
            format,
            options,
            describe_alias,
        } = ast
        else {
            return Err(Error::internal("not an EXPLAIN"));
        };
        if *query_plan || *estimate || format.is_some() {
            return Err(Error::unsupported(
                "EXPLAIN has the options ANALYZE and VERBOSE",
            ));
        }
        let mut wanted = Wanted {
            analyze: *analyze,
            verbose: *verbose,
        };
        read_options(&mut wanted, options.as_deref().unwrap_or_default())?;
        if *describe_alias != DescribeAlias::Explain
            && let Ast::Query(_) = statement.as_ref()
        {
            return self.describe_query(statement).await;
        }
        let query = explained(statement)?;
        if wanted.analyze && !matches!(statement.as_ref(), Ast::Query(_)) {
            return Err(Error::unsupported("EXPLAIN ANALYZE is for queries only")
                .with_hint("use EXPLAIN without ANALYZE"));
        }
        self.explain_query(&query, &wanted).await
    }

    async fn explain_query(&self, ast: &Ast, wanted: &Wanted) -> Result<Outcome> {
        let begin = Instant::now();
        let plan = self.logical(ast).await?;
        let physical = self.physical(&plan).await?;
        let planned = begin.elapsed();
        let watched = Watched::of(self.session, (&physical, ast))?;
        // As it is now: a run may bring into memory what it reads.
        let predicted = watched.prediction()?;
        let mut lines = Vec::new();
        if wanted.verbose {
            let optimized = crate::lower::optimize(plan.plan.clone(), self.state())?;
            let shown = optimized.display_indent_schema().to_string();
            lines.extend(shown.lines().map(str::to_owned));
            lines.push(String::new());
        }
        if wanted.analyze {
            let begin = Instant::now();
            let watched = (!watched.uses().is_empty()).then(|| Arc::new(watched));
            let known = Foreseen::new(watched.into());
            let watching = self.watching(&physical, ast, &known);
            let rows = self.drain(&physical, watching).await?;
            let ran = begin.elapsed();
            let shown = DisplayableExecutionPlan::with_metrics(physical.as_ref());
            lines.extend(aligned(&shown.indent(wanted.verbose).to_string()));
            lines.push(format!("Rows: {rows}"));
            lines.push(format!(
                "Planning time: {:.3} ms",
                planned.as_secs_f64() * 1e3
            ));
            lines.push(format!("Execution time: {:.3} ms", ran.as_secs_f64() * 1e3));
        } else {
            let shown = DisplayableExecutionPlan::new(physical.as_ref());
            lines.extend(aligned(&shown.indent(wanted.verbose).to_string()));
        }
        lines.extend(predicted);
        Outcome::batch(answer(lines)?)
    }

    async fn drain(
        &self,
        physical: &Arc<dyn ExecutionPlan>,
        watching: Option<Watching>,
    ) -> Result<usize> {
        let stream = execute_stream(Arc::clone(physical), self.session.task_context())?;
        let mut stream = Watching::over(watching, stream);
        let mut rows = 0;
        while let Some(batch) = stream.next().await {
            rows += batch?.num_rows();
        }
        Ok(rows)
    }
}

fn answer(lines: Vec<String>) -> Result<RecordBatch> {
    let lines = lines.into_iter().map(Some).collect();
    batch(vec![("QUERY PLAN", Values::Text(lines))])
}

/// The columns of what an EXPLAIN of a plan answers; `None` for any other statement.
///
/// # Errors
/// None but those of a bug in here.
pub(crate) fn columns(ast: &Ast) -> Result<Option<SchemaRef>> {
    match ast {
        Ast::Explain {
            statement,
            describe_alias,
            ..
        } if *describe_alias == DescribeAlias::Explain
            || !matches!(statement.as_ref(), Ast::Query(_)) =>
        {
            Ok(Some(answer(Vec::new())?.schema()))
        }
        _ => Ok(None),
    }
}

fn read_options(wanted: &mut Wanted, options: &[UtilityOption]) -> Result<()> {
    for option in options {
        let on = match &option.arg {
            None => true,
            Some(arg) => match arg.to_string().trim_matches('\'').to_lowercase().as_str() {
                "true" | "on" | "1" => true,
                "false" | "off" | "0" => false,
                other => {
                    return Err(Error::new(
                        "22023",
                        format!("{} requires a Boolean value, not \"{other}\"", option.name),
                    ));
                }
            },
        };
        match option.name.value.to_lowercase().as_str() {
            "analyze" => wanted.analyze = on,
            "verbose" => wanted.verbose = on,
            other => {
                return Err(Error::new(
                    "42601",
                    format!("unrecognized EXPLAIN option \"{other}\""),
                )
                .at(position(&option.name))
                .with_hint("the options are ANALYZE and VERBOSE"));
            }
        }
    }
    Ok(())
}

/// The query inside the explained statement.
fn explained(statement: &Ast) -> Result<Ast> {
    match statement {
        Ast::Query(_) => Ok(without_locks(statement)),
        Ast::Insert(insert) => match &insert.source {
            Some(query) => Ok(Ast::Query(query.clone())),
            None => Err(Error::unsupported("EXPLAIN of INSERT … DEFAULT VALUES")),
        },
        Ast::CreateTable(create) => match &create.query {
            Some(query) => Ok(Ast::Query(query.clone())),
            None => Err(Error::unsupported(
                "EXPLAIN of CREATE TABLE without a query",
            )),
        },
        Ast::CreateView(view) => Ok(Ast::Query(view.query.clone())),
        Ast::Copy {
            source: CopySource::Query(query),
            ..
        } => Ok(Ast::Query(query.clone())),
        Ast::Copy {
            source: CopySource::Table {
                table_name: name, ..
            },
            to: true,
            ..
        } => {
            table_name(name)?;
            crate::statement::parse_one(&format!("SELECT * FROM {name}"))
        }
        other => Err(super::refused(other)),
    }
}

/// The lines of a plan, those of our operators below the node that they belong to.
fn aligned(plan: &str) -> Vec<String> {
    let mut indent = "";
    let lines = plan.lines().map(|line| match line.strip_prefix(INDENT) {
        Some(own) => format!("{indent}{own}"),
        None => {
            indent = &line[..line.len() - line.trim_start().len()];
            line.to_owned()
        }
    });
    lines.collect()
}
