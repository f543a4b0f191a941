//! ADVISE, APPLY ADVICE, UNDO ADVICE, RESET WORKLOAD.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use freestone_model::{HALF_LIFE, QUERIES, Workload, missing};
use freestone_storage::{RoleId, Snapshot, Table, TableId};

use super::report::{Line, answer};
use super::searched::{Found, found};
use super::{compared, exchange, pilot};
use crate::error::{Error, Result};
use crate::grammar::Asked;
use crate::names::{Name, named};
use crate::outcome::Outcome;
use crate::relations::unknown_table;
use crate::run::Run;
use crate::session::Session;
use crate::workload::{Advice, Record, uses};

/// Why there may be too few.
const OFF: &str = "; nothing is recorded: SET freestone.workload = 'on'";

impl Session {
    /// Runs a statement of the advisor's.
    ///
    /// # Errors
    /// As [`run`].
    pub(crate) async fn advised(&self, asked: &Asked) -> Result<Outcome> {
        run(self, asked).await
    }
}

/// Runs a statement of the advisor's.
///
/// # Errors
/// `42P01` for an unknown table, `42704` for advice that was not given, `55000` for advice
/// that was replaced, `25001` inside a transaction; those of the statements that are
/// applied.
async fn run(session: &Session, asked: &Asked) -> Result<Outcome> {
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
    Ok(match asked {
        Asked::Everything => {
            let advised = |table: &(Name, Arc<Table>)| {
                let workload = record.workload(table.1.id);
                (!workload.is_empty()).then_some((table.clone(), workload))
            };
            let tables: Vec<_> = all_tables(&snapshot).iter().filter_map(advised).collect();
            let off = if record.is_recording() { "" } else { OFF };
            let none = format!("no queries are known; {QUERIES} of a table are needed{off}");
            advise(session, &tables, &none)?
        }
        Asked::Table(text) => {
            let name = named(text)?;
            let table = table_of(&snapshot, &name)?;
            let workload = record.workload(table.id);
            advise(session, &[((name, table), workload)], "")?
        }
        Asked::Queries(queries) => {
            let planned = planned(session, &snapshot, queries).await?;
            advise(session, &planned, "the queries read no table")?
        }
        Asked::Pilot(number) => pilot::run(session, &given(record, *number)?)?,
        Asked::Apply(number) => exchange::apply(session, &given(record, *number)?).await?,
        Asked::Undo(number) => exchange::undo(session, &given(record, *number)?).await?,
        Asked::Reset => {
            record.reset(snapshot.catalog());
            Outcome::done("RESET WORKLOAD")
        }
    })
}

/// The columns of what a statement of the advisor's answers.
///
/// # Errors
/// None but those of a bug in here.
pub(crate) fn columns(asked: &Asked) -> Result<SchemaRef> {
    let none = match asked {
        Asked::Pilot(_) => compared::report(&[], "")?,
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
    let all = record.given();
    let mut standing = all.iter().filter(|advice| !advice.replaced);
    if let Some(advice) = standing.find(|advice| advice.number == number) {
        return Ok(advice.clone());
    }
    let last = all.iter().map(|advice| advice.number).max();
    Err(
        match last.is_some_and(|last| (1..=last).contains(&number)) {
            true => Error::new(
                "55000",
                format!("advice {number} was replaced by later advice"),
            )
            .with_hint("SELECT * FROM freestone_advice() shows which advice stands."),
            false => Error::new("42704", format!("there is no advice number {number}"))
                .with_hint("ADVISE gives some."),
        },
    )
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
        let plan = run.logical(&ast).await?.runnable()?;
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
fn advise(session: &Session, tables: &[Advised], of_none: &str) -> Result<Outcome> {
    let record = session.database().record();
    let mut lines = Vec::new();
    let (mut all, mut searched) = (Vec::new(), Vec::new());
    for ((name, table), workload) in tables {
        if missing(workload) > 0 {
            lines.push(Line::nothing(name, known(record, workload)));
            continue;
        }
        match found(session, (name, table), workload)? {
            Found::Advice(advice) => all.push(*advice),
            Found::Nothing(note) => lines.push(Line::nothing(name, note)),
        }
        searched.push(table.id);
    }
    if tables.is_empty() {
        lines.push(Line::of_no_table(of_none.to_owned()));
    }
    if session.known()?.foreign {
        // Nobody applies here what another machine would be better off with.
        lines.extend(all.iter().map(Line::of));
        return Ok(Outcome::batch(answer(&lines)?));
    }
    record.advice(|kept| replace(kept, &searched, &mut all));
    lines.extend(all.iter().map(Line::of));
    Ok(Outcome::batch(answer(&lines)?))
}

/// What is known of a table that is not enough.
fn known(record: &Record, workload: &Workload) -> String {
    // A sum of nothing is -0.
    let (queries, more) = (workload.queries().round() as u64, missing(workload));
    let others = match workload.statements.round() as u64 {
        0 => String::new(),
        single => format!(" and {single} statements about single rows"),
    };
    let off = if record.is_recording() { "" } else { OFF };
    format!("{queries} queries{others} are known; {more} more are needed for advice{off}")
}

/// Keeps new advice under numbers that never come again. Advice that was given for the
/// same tables before does not stand any more, unless it was applied or tried: that can
/// still be undone.
fn replace(kept: &mut Vec<Advice>, searched: &[TableId], new: &mut [Advice]) {
    let mut last = kept.iter().map(|advice| advice.number).max().unwrap_or(0);
    for old in kept.iter_mut() {
        old.replaced |= !old.is_undoable() && searched.contains(&old.table_id());
    }
    for advice in new.iter_mut() {
        last += 1;
        advice.number = last;
    }
    kept.extend(new.iter().cloned());
    // The last number is remembered by whatever had it.
    kept.retain(|advice| !advice.replaced || advice.number == last);
}
