//! EXPLAIN and EXPLAIN ANALYZE: one column, `QUERY PLAN`, one line per row, or one row of JSON.
//!
//! EXPLAIN shows the plan. ANALYZE runs the
//! query, throws its rows away and adds what each operator counted; the counts of
//! a scan tell how many blocks were pruned and read. Of a statement that changes rows, the
//! query for those rows is explained, and ANALYZE carries the statement out. Of CREATE
//! TABLE AS, DECLARE and COPY (query) TO, the query is explained.
//!
//! Options of PostgreSQL that say nothing here (BUFFERS, WAL, SETTINGS) are taken and
//! change nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use futures::StreamExt;
use serde_json::{Map, Value, json};
use sqlparser::ast::{
    AnalyzeFormat, AnalyzeFormatKind, CopySource, DescribeAlias, Statement as Ast, UtilityOption,
};

use super::Run;
use super::locking::without_locks;
use super::with::with_before;
use crate::engine::{self, Pipelines};
use crate::error::{Error, Result};
use crate::names::{Name, position, table_name};
use crate::outcome::Outcome;
use crate::rows::{Values, batch};
use crate::statement::{changing, changing_query};
use crate::types::TYPE_KEY;
use crate::workload::{Foreseen, Watching};

/// What an EXPLAIN is to show.
#[derive(Default)]
struct Wanted {
    analyze: bool,
    verbose: bool,
    /// Whether what the plan is predicted to cost is left out.
    without_costs: bool,
    /// Whether times of operators are left out.
    without_times: bool,
    /// Whether times of the whole are told; as ANALYZE says by default.
    summary: Option<bool>,
    json: bool,
}

/// An explained statement, so far.
#[derive(Default)]
struct Shown {
    /// The plan, a line for each operator.
    plan: Vec<String>,
    /// What it is predicted to cost.
    predicted: Vec<String>,
    planned: Duration,
    /// Rows and time of a run.
    ran: Option<(u64, Duration)>,
}

impl Run<'_> {
    pub(super) async fn explain(&self, ast: &Ast) -> Result<Outcome> {
        let Ast::Explain {
            analyze: _,
            verbose: _,
            query_plan,
            estimate,
            statement,
            format: _,
            options: _,
            describe_alias,
        } = ast
        else {
            return Err(Error::internal("not an EXPLAIN"));
        };
        if *query_plan || *estimate {
            return Err(Error::unsupported(
                "EXPLAIN QUERY PLAN and EXPLAIN ESTIMATE are not supported",
            )
            .with_hint("use EXPLAIN"));
        }
        let wanted = wanted(ast)?;
        if *describe_alias != DescribeAlias::Explain
            && let Ast::Query(_) = statement.as_ref()
        {
            return self.describe_query(statement).await;
        }
        let shown = match statement.as_ref() {
            Ast::Query(query) if changing_query(statement).is_some() => {
                let Some(with) = &query.with else {
                    return Err(Error::internal("a query that changes nothing"));
                };
                match (changing(query), wanted.analyze) {
                    (Some(main), _)
                        if with
                            .cte_tables
                            .iter()
                            .all(|cte| changing(&cte.query).is_none()) =>
                    {
                        let main = with_before(main.clone(), &with.cte_tables, with)?;
                        self.set_around(with, &with.cte_tables);
                        Box::pin(self.explain_change(&main, &wanted)).await?
                    }
                    (_, true) => {
                        let mut shown = Shown::default();
                        self.explain_run(statement, &mut shown).await?;
                        shown
                    }
                    (_, false) => {
                        let message = "EXPLAIN of a statement in WITH that changes rows";
                        return Err(Error::unsupported(format!("{message} is not supported"))
                            .with_hint("EXPLAIN ANALYZE carries it out and tells its time"));
                    }
                }
            }
            Ast::Insert(_) | Ast::Update(_) | Ast::Delete(_) | Ast::Merge(_) => {
                Box::pin(self.explain_change(statement, &wanted)).await?
            }
            _ => {
                let query = explained(statement)?;
                let creates = matches!(statement.as_ref(), Ast::CreateTable(_));
                match statement.as_ref() {
                    Ast::Query(_) | Ast::Declare { .. } => {}
                    Ast::CreateTable(_) if wanted.analyze => {}
                    _ if wanted.analyze => {
                        return Err(Error::unsupported(
                            "EXPLAIN ANALYZE of COPY and CREATE VIEW is not supported",
                        )
                        .with_hint("use EXPLAIN without ANALYZE"));
                    }
                    _ => {}
                }
                let run = wanted.analyze && !creates;
                let mut shown = Box::pin(self.explain_query(&query, run)).await?;
                if wanted.analyze && creates {
                    self.explain_run(statement, &mut shown).await?;
                }
                shown
            }
        };
        Ok(Outcome::batch(shown.answer(&wanted)?))
    }

    /// Plans a query, and runs it if that is wanted.
    async fn explain_query(&self, ast: &Ast, run: bool) -> Result<Shown> {
        let begin = Instant::now();
        let plan = self.logical(ast).await?;
        let physical = plan.runnable()?;
        let mut shown = Shown {
            planned: begin.elapsed(),
            ..Shown::default()
        };
        let watched = self.session.watched(&physical, ast)?;
        // As it is now: a run may bring into memory what it reads.
        shown.predicted = watched.prediction()?.into_iter().collect();
        if run {
            let begin = Instant::now();
            let watched = (!watched.uses().is_empty()).then(|| Arc::new(watched));
            let known = Foreseen::new(watched.into());
            let watching = self.watching(&physical, ast, &known);
            let rows = self.drain(&physical, watching).await?;
            shown.ran = Some((rows, begin.elapsed()));
        }
        shown.plan.extend(lines_of(&physical));
        Ok(shown)
    }

    /// Plans a statement that changes rows, and carries it out if that is wanted.
    async fn explain_change(&self, ast: &Ast, wanted: &Wanted) -> Result<Shown> {
        let begin = Instant::now();
        let (head, plans) = match ast {
            Ast::Insert(insert) => {
                let (name, plan) = self.explained_insert(insert).await?;
                (head("Insert", &name), plan.into_iter().collect())
            }
            Ast::Update(update) => {
                let understood = self.understood_update(update)?;
                let (name, plan) = self.explained_change(understood).await?;
                (head("Update", &name), vec![plan])
            }
            Ast::Delete(delete) => {
                let understood = self.understood_delete(delete)?;
                let (name, plan) = self.explained_change(understood).await?;
                (head("Delete", &name), vec![plan])
            }
            Ast::Merge(merge) => {
                let merging = self.merging(merge)?;
                let plan = self.plan_of_change(&merging.target, &merging.query).await?;
                (head("Merge", &merging.target.name), vec![plan])
            }
            other => return Err(super::refused(other)),
        };
        let mut shown = Shown {
            planned: begin.elapsed(),
            plan: vec![head],
            ..Shown::default()
        };
        let lines = plans.iter().flat_map(lines_of);
        shown.plan.extend(lines.map(|line| format!("  {line}")));
        if wanted.analyze {
            self.explain_run(ast, &mut shown).await?;
        }
        Ok(shown)
    }

    /// Carries a statement out, and throws away the rows that it returns.
    async fn explain_run(&self, ast: &Ast, shown: &mut Shown) -> Result<()> {
        let begin = Instant::now();
        let rows = match Box::pin(self.by_kind(ast)).await? {
            Outcome::Done { rows, .. } => rows,
            Outcome::Rows(rows) => {
                let (mut stream, mut count) = (rows.stream, 0);
                while let Some(batch) = stream.next().await {
                    count += batch?.num_rows() as u64;
                }
                count
            }
        };
        shown.ran = Some((rows, begin.elapsed()));
        Ok(())
    }

    async fn drain(&self, physical: &Pipelines, watching: Option<Watching>) -> Result<u64> {
        let stream = physical.stream(&self.session.run_context())?;
        let mut stream = Watching::over(watching, stream);
        let mut rows = 0;
        while let Some(batch) = stream.next().await {
            rows += batch?.num_rows() as u64;
        }
        Ok(rows)
    }
}

impl Shown {
    /// The rows that are answered.
    fn answer(mut self, wanted: &Wanted) -> Result<RecordBatch> {
        if wanted.without_costs {
            self.predicted.clear();
        }
        if wanted.without_times {
            self.plan.iter_mut().for_each(without_times);
        }
        let summary = wanted.summary.unwrap_or(wanted.analyze);
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        if wanted.json {
            let mut whole = Map::new();
            whole.insert("Plan".to_owned(), tree(&self.plan));
            if !self.predicted.is_empty() {
                whole.insert("Prediction".to_owned(), json!(self.predicted));
            }
            if summary {
                whole.insert("Planning Time".to_owned(), json!(millis(self.planned)));
            }
            if let Some((rows, time)) = self.ran {
                whole.insert("Rows".to_owned(), json!(rows));
                if summary {
                    whole.insert("Execution Time".to_owned(), json!(millis(time)));
                }
            }
            let text = serde_json::to_string_pretty(&json!([whole]));
            let text = text.map_err(|error| Error::internal(error.to_string()))?;
            return answer(vec![text], true);
        }
        let mut lines = self.plan;
        lines.extend(self.ran.map(|(rows, _)| format!("Rows: {rows}")));
        if summary {
            lines.push(format!("Planning time: {:.3} ms", millis(self.planned)));
            let ran = self.ran.map(|(_, time)| millis(time));
            lines.extend(ran.map(|ran| format!("Execution time: {ran:.3} ms")));
        }
        lines.extend(self.predicted);
        answer(lines, false)
    }
}

/// The first line of a statement that changes rows.
fn head(what: &str, name: &Name) -> String {
    format!("{what} on {name}")
}

fn answer(lines: Vec<String>, json: bool) -> Result<RecordBatch> {
    let lines = lines.into_iter().map(Some).collect();
    let batch = batch(vec![("QUERY PLAN", Values::Text(lines))])?;
    if !json {
        return Ok(batch);
    }
    let shown = batch.schema();
    let fields = shown.fields().iter().map(|field| {
        let said = [(TYPE_KEY.to_owned(), "json".to_owned())].into();
        field.as_ref().clone().with_metadata(said)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    Ok(RecordBatch::try_new(schema, batch.columns().to_vec())?)
}

/// The columns of what an EXPLAIN of a plan answers; `None` for any other statement.
///
/// # Errors
/// Those of its options.
pub(crate) fn columns(ast: &Ast) -> Result<Option<SchemaRef>> {
    match ast {
        Ast::Explain {
            statement,
            describe_alias,
            ..
        } if *describe_alias == DescribeAlias::Explain
            || !matches!(statement.as_ref(), Ast::Query(_)) =>
        {
            let json = wanted(ast)?.json;
            Ok(Some(answer(Vec::new(), json)?.schema()))
        }
        _ => Ok(None),
    }
}

/// Whether a statement is an EXPLAIN that carries out what it explains.
pub(super) fn carries_out(ast: &Ast) -> bool {
    // Wrong options are told of when it runs.
    wanted(ast).is_ok_and(|wanted| wanted.analyze)
}

/// What an EXPLAIN is to show, by its words or its options.
fn wanted(ast: &Ast) -> Result<Wanted> {
    let Ast::Explain {
        analyze,
        verbose,
        format,
        options,
        ..
    } = ast
    else {
        return Ok(Wanted::default());
    };
    let mut wanted = Wanted {
        analyze: *analyze,
        verbose: *verbose,
        ..Wanted::default()
    };
    match format {
        None => {}
        Some(
            AnalyzeFormatKind::Keyword(AnalyzeFormat::JSON)
            | AnalyzeFormatKind::Assignment(AnalyzeFormat::JSON),
        ) => wanted.json = true,
        Some(
            AnalyzeFormatKind::Keyword(AnalyzeFormat::TEXT)
            | AnalyzeFormatKind::Assignment(AnalyzeFormat::TEXT),
        ) => {}
        Some(_) => {
            return Err(Error::unsupported("EXPLAIN has the formats TEXT and JSON"));
        }
    }
    let options = options.as_deref().unwrap_or_default();
    read_options(&mut wanted, options)?;
    Ok(wanted)
}

/// Whether an option is on.
fn truth(option: &UtilityOption) -> Result<bool> {
    let Some(arg) = &option.arg else {
        return Ok(true);
    };
    match word(&arg.to_string()).as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => {
            let name = option.name.value.to_lowercase();
            Err(Error::new(
                "42601",
                format!("{name} requires a Boolean value"),
            ))
        }
    }
}

/// A value of an option without its quotes.
fn word(text: &str) -> String {
    text.trim_matches(['\'', '"']).to_lowercase()
}

fn read_options(wanted: &mut Wanted, options: &[UtilityOption]) -> Result<()> {
    let (mut wal, mut timing) = (false, None);
    for option in options {
        match option.name.value.to_lowercase().as_str() {
            "analyze" | "analyse" => wanted.analyze = truth(option)?,
            "verbose" => wanted.verbose = truth(option)?,
            "costs" => wanted.without_costs = !truth(option)?,
            "summary" => wanted.summary = Some(truth(option)?),
            "timing" => timing = Some(truth(option)?),
            "wal" => wal = truth(option)?,
            "buffers" | "settings" => {
                truth(option)?;
            }
            "format" => {
                let format = option.arg.as_ref().map(ToString::to_string);
                match word(format.as_deref().unwrap_or_default()).as_str() {
                    "text" => wanted.json = false,
                    "json" => wanted.json = true,
                    "" => {
                        return Err(Error::new("42601", "format requires a parameter"));
                    }
                    other @ ("xml" | "yaml") => {
                        let other = other.to_uppercase();
                        let message = format!("EXPLAIN with FORMAT {other} is not supported");
                        let hint = "the formats are TEXT and JSON";
                        return Err(Error::unsupported(message).with_hint(hint));
                    }
                    other => {
                        let message = format!(
                            "unrecognized value for EXPLAIN option \"format\": \"{other}\""
                        );
                        return Err(Error::new("22023", message).at(position(&option.name)));
                    }
                }
            }
            other => {
                return Err(Error::new(
                    "42601",
                    format!("unrecognized EXPLAIN option \"{other}\""),
                )
                .at(position(&option.name))
                .with_hint("the options are ANALYZE, VERBOSE, COSTS, TIMING, SUMMARY and FORMAT"));
            }
        }
    }
    for (given, name) in [(wal, "WAL"), (timing == Some(true), "TIMING")] {
        if given && !wanted.analyze {
            let message = format!("EXPLAIN option {name} requires ANALYZE");
            return Err(Error::new("22023", message));
        }
    }
    wanted.without_times = timing == Some(false);
    Ok(())
}

/// The query inside the explained statement.
fn explained(statement: &Ast) -> Result<Ast> {
    match statement {
        Ast::Query(_) => Ok(without_locks(statement)),
        Ast::CreateTable(create) => match &create.query {
            Some(query) => Ok(Ast::Query(query.clone())),
            None => Err(Error::unsupported(
                "EXPLAIN of CREATE TABLE without a query",
            )),
        },
        Ast::CreateView(view) => Ok(Ast::Query(view.query.clone())),
        Ast::Declare { stmts } => match stmts.first().and_then(|one| one.for_query.as_ref()) {
            Some(query) => Ok(Ast::Query(query.clone())),
            None => Err(super::refused(statement)),
        },
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

/// The lines of a plan that has not run.
fn lines_of(plan: &Pipelines) -> Vec<String> {
    let text = engine::explained(plan.plan());
    text.lines().map(str::to_owned).collect()
}

/// Takes the times that an operator took out of its line.
fn without_times(line: &mut String) {
    // `; 5 in 0.123 ms`
    if let Some(at) = line.find(" ms").filter(|_| line.contains("  (about "))
        && let Some(from) = line[..at].rfind(" in ")
    {
        line.replace_range(from..at + " ms".len(), "");
    }
}

/// The lines of a plan as a tree: each has those below it that stand further right.
fn tree(lines: &[String]) -> Value {
    // Nodes that are open, with how far right they stand.
    let mut open: Vec<(usize, Map<String, Value>)> = Vec::new();
    let mut roots = Vec::new();
    let close = |open: &mut Vec<(usize, Map<String, Value>)>, roots: &mut Vec<Value>| {
        let Some((_, node)) = open.pop() else {
            return;
        };
        match open.last_mut() {
            Some((_, above)) => {
                let below = above.entry("Plans").or_insert_with(|| json!([]));
                if let Value::Array(below) = below {
                    below.push(Value::Object(node));
                }
            }
            None => roots.push(Value::Object(node)),
        }
    };
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        while open.last().is_some_and(|(other, _)| *other >= indent) {
            close(&mut open, &mut roots);
        }
        let parts = match text.split_once("  (") {
            Some((name, rest)) => Some((name, rest.strip_suffix(')').unwrap_or(rest))),
            None => text
                .split_once(": ")
                .filter(|(name, _)| !name.contains(' ')),
        };
        let (name, details) = parts.map_or((text, None), |(name, rest)| (name, Some(rest)));
        let mut node = Map::new();
        node.insert("Node Type".to_owned(), json!(name));
        if let Some(details) = details {
            node.insert("Details".to_owned(), json!(details));
        }
        open.push((indent, node));
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    match roots.len() {
        1 => roots.remove(0),
        _ => json!({ "Plans": roots }),
    }
}
