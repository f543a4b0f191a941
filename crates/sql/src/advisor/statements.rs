//! ADVISE, APPLY ADVICE, UNDO ADVICE, RESET WORKLOAD.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use freestone_model::{
    Candidate, Design, HALF_LIFE, Stored, Workload, gains, missing, mixture, search, total,
};
use freestone_storage::{RoleId, Snapshot, Table};

use super::advice::Advice;
use super::record::Record;
use super::report::{Line, answer};
use super::syntax::Asked;
use super::trial::{Rows, blocks_of};
use super::uses::uses;
use super::{exchange, pilot};
use crate::error::{Error, Result};
use crate::plan::names::{Name, named};
use crate::plan::relations::unknown_table;
use crate::run::Run;
use crate::session::{Outcome, Session};

/// A design has to save this share of the time, to be worth a rewrite.
const WORTH: f64 = 0.05;
/// How far off predictions are taken to be while the ledger is too short to tell: what
/// `freestone calibrate --check` has shown.
const ERROR: f64 = 0.2;

/// Runs a statement of the advisor's; `None` for any other.
///
/// # Errors
/// `42P01` for an unknown table, `42704` for advice that was not given, `25001` inside a
/// transaction; those of the statements that are applied.
pub(crate) async fn run(session: &Session, ast: &Ast) -> Result<Option<Outcome>> {
    let Some(asked) = Asked::of(ast) else {
        return Ok(None);
    };
    let database = session.database();
    let record = database.record();
    let snapshot = database.store().snapshot();
    let rights = session.identity().rights(&snapshot);
    match asked {
        Asked::Everything | Asked::Table(_) | Asked::Queries(_) => {
            rights.member(RoleId::MONITOR, "ask for advice")?;
        }
        Asked::Pilot(_) | Asked::Apply(_) | Asked::Undo(_) | Asked::Reset => {
            rights.superuser("take advice")?;
        }
    }
    record.settle(snapshot.catalog());
    Ok(Some(match asked {
        Asked::Everything => {
            let advised = |table: &(Name, Arc<Table>)| {
                let workload = record.workload(table.1.id);
                (!workload.is_empty()).then_some((table.clone(), workload))
            };
            let tables = all_tables(&snapshot);
            advise(session, tables.iter().filter_map(advised).collect())?
        }
        Asked::Table(text) => {
            let name = named(&text)?;
            let table = table_of(&snapshot, &name)?;
            let workload = record.workload(table.id);
            advise(session, vec![((name, table), workload)])?
        }
        Asked::Queries(queries) => {
            let planned = planned(session, &snapshot, &queries).await?;
            advise(session, planned)?
        }
        Asked::Pilot(number) => pilot::run(session, &given(record, number)?)?,
        Asked::Apply(number) => exchange::apply(session, &given(record, number)?).await?,
        Asked::Undo(number) => exchange::undo(session, &given(record, number)?).await?,
        Asked::Reset => {
            record.reset(snapshot.catalog());
            Outcome::done("RESET WORKLOAD")
        }
    }))
}

/// The columns of what a statement of the advisor's answers.
///
/// # Errors
/// None but those of a bug in here.
pub(crate) fn columns(asked: &Asked) -> Result<SchemaRef> {
    let none = match asked {
        Asked::Pilot(_) => pilot::nothing()?,
        _ => answer(&[])?,
    };
    Ok(none.schema())
}

fn all_tables(snapshot: &Snapshot) -> Vec<(Name, Arc<Table>)> {
    let tables = snapshot.catalog().all_tables();
    tables
        .map(|(schema, table)| (Name::new(schema, &table.name), Arc::clone(table)))
        .collect()
}

fn table_of(snapshot: &Snapshot, name: &Name) -> Result<Arc<Table>> {
    let table = snapshot.table(&name.schema, &name.name).cloned();
    table.ok_or_else(|| unknown_table(snapshot, name))
}

fn given(record: &Record, number: u64) -> Result<Advice> {
    let found = record
        .given()
        .into_iter()
        .find(|advice| advice.number == number);
    found.ok_or_else(|| {
        Error::new("42704", format!("there is no advice number {number}"))
            .with_hint("ADVISE gives some.")
    })
}

type Advised = ((Name, Arc<Table>), Workload);

/// What queries would do, by their plans: each counts as often as it takes to be enough.
async fn planned(
    session: &Session,
    snapshot: &Snapshot,
    queries: &[String],
) -> Result<Vec<Advised>> {
    let mut found: Vec<Advised> = Vec::new();
    let tables = all_tables(snapshot);
    for query in queries {
        let run = Run::over(session, snapshot.clone());
        let ast = crate::statement::parse_one(query)?;
        let plan = run.physical(&run.logical(&ast).await?).await?;
        for used in uses(&plan) {
            let place = found
                .iter()
                .position(|((_, table), _)| table.id == used.table.id);
            let place = match place {
                Some(place) => place,
                None => {
                    let known = tables.iter().find(|(_, table)| table.id == used.table.id);
                    let Some(known) = known else { continue };
                    found.push((known.clone(), Workload::default()));
                    found.len() - 1
                }
            };
            // In range: a half-life is some hundreds.
            for _ in 0..(HALF_LIFE / 10.0) as usize {
                found[place].1.query(used.usage.clone(), &used.expected);
            }
        }
    }
    Ok(found)
}

/// Searches designs for tables, and keeps what is found for APPLY.
fn advise(session: &Session, tables: Vec<Advised>) -> Result<Outcome> {
    let record = session.database().record();
    let mut lines = Vec::new();
    let mut all = Vec::new();
    for ((name, table), workload) in tables {
        let more = missing(&workload);
        if more > 0 {
            let known = workload.queries().round();
            lines.push(Line::nothing(
                &name,
                format!("{known} queries are known; {more} more are needed for advice"),
            ));
            continue;
        }
        let (now, best) = searched(session, &table, &workload)?;
        let known = session.known()?;
        let both = (&now.stored, &best.stored);
        let gains = gains(&known.calibration, &workload, both);
        let advice = Advice::new(&name, &table, &now, &best);
        let mut advice = advice.with_gains(&gains, session.threads());
        if advice.saved(&now.total, &best.total) < WORTH || advice.apply.is_empty() {
            lines.push(Line::nothing(
                &name,
                format!("as it is ({})", now.stored.design),
            ));
            continue;
        }
        advice.error = record.median_error().unwrap_or(ERROR);
        all.push(advice);
    }
    if session.known()?.foreign {
        // Nobody applies here what another machine would be better off with.
        lines.extend(all.iter().map(Line::of));
        return Outcome::batch(answer(&lines)?);
    }
    record.advice(|kept| {
        // What was applied can still be undone.
        kept.retain(Advice::is_undoable);
        let mut next = kept.iter().map(|advice| advice.number).max().unwrap_or(0);
        for advice in &mut all {
            next += 1;
            advice.number = next;
        }
        kept.extend(all.iter().cloned());
    });
    lines.extend(all.iter().map(Line::of));
    Outcome::batch(answer(&lines)?)
}

/// The design of today and the best one that was found.
fn searched(
    session: &Session,
    table: &Arc<Table>,
    workload: &Workload,
) -> Result<(Candidate, Candidate)> {
    let record = session.database().record();
    let known = session.known()?;
    // What was tried here says nothing of another machine.
    let tried = (!known.foreign).then_some(workload);
    let rows = Rows::of(table, tried.unwrap_or(&Workload::default()))?;
    let mut present = (*record.stored(table)?).clone();
    // What only a trial can tell.
    let tried = rows.in_design(&present.design)?;
    (present.write_seconds, present.fetch_seconds) = (tried.write_seconds, tried.fetch_seconds);
    present.tried = tried.tried;
    let mut trial = |design: &_| rows.in_design(design);
    let all = search(&known.calibration, workload, &present, &mut trial)?;
    let now = all.iter().find(|one| one.stored == present).cloned();
    let (Some(now), Some(best)) = (now, all.into_iter().next()) else {
        return Err(Error::internal("a search without designs"));
    };
    let mixed = mixed(table, workload, &rows, &best.stored.design)?
        .and_then(|designs| {
            let blocks = blocks_of(table);
            mixture(&known.calibration, workload, &designs, &blocks)
        })
        .map(|stored| Candidate {
            total: total(&known.calibration, &stored, workload),
            stored,
        });
    let limit = best.total.seconds() * (1.0 - WORTH);
    let mixed = mixed.filter(|mixed| mixed.total.seconds() < limit);
    Ok((now, mixed.unwrap_or(best)))
}

/// A design in every layout, if blocks could differ in what suits them: rows of some are
/// asked for one by one, and of others not.
fn mixed(
    table: &Table,
    workload: &Workload,
    rows: &Rows,
    design: &Design,
) -> Result<Option<Vec<Stored>>> {
    let single = workload.looked_up + workload.updated + workload.deleted;
    let heat = table.blocks().iter().map(|block| block.heat());
    let is_even = heat.clone().min() == heat.max();
    if table.options.auto_layout || single == 0.0 || is_even {
        return Ok(None);
    }
    Ok(Some(rows.in_layouts(design)?))
}
