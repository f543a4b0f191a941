//! The search for a table: its rows tried in designs, and what is advised of what was
//! found.

use std::sync::Arc;

use freestone_model::{Candidate, Design, Stored, Workload, gains, mixture, search, total};
use freestone_storage::Table;

use crate::error::{Error, Result};
use crate::names::Name;
use crate::session::Session;
use crate::workload::{Advice, Rows, blocks_of, shown};

/// A design has to save this share of the time, to be worth a rewrite.
const WORTH: f64 = 0.05;
/// How far off predictions are taken to be while neither ledger nor machine file tell: what
/// `freestone calibrate --check` has shown.
const ERROR: f64 = 0.2;

/// What a search came to.
pub(super) enum Found {
    Advice(Box<Advice>),
    /// There is nothing to do, and why.
    Nothing(String),
}

/// Searches a design for a table.
///
/// # Errors
/// `Corrupt` or `Io`; those of reading the machine file.
pub(super) fn found(
    session: &Session,
    (name, table): (&Name, &Arc<Table>),
    workload: &Workload,
) -> Result<Found> {
    let record = session.database().record();
    let Some((now, best)) = searched(session, table, workload)? else {
        let note = "no rows in blocks: VACUUM turns rows that were just written into blocks";
        return Ok(Found::Nothing(note.to_owned()));
    };
    let known = session.known()?;
    let both = (&now.stored, &best.stored);
    let gains = gains(&known.calibration, workload, both);
    let advice = Advice::new((name, table), workload, (&now, &best))?;
    let mut advice = advice.with_gains(&gains, session.threads());
    if advice.saved(&now.total, &best.total) < WORTH || advice.apply.is_empty() {
        let design = shown(table, &now.stored.design);
        return Ok(Found::Nothing(format!("as it is ({design})")));
    }
    let seen = record.median_error().filter(|_| !known.foreign);
    let stated = seen.or(known.calibration.error());
    advice.error = stated.unwrap_or(ERROR);
    Ok(Found::Advice(Box::new(advice)))
}

/// The design of today and the best one that was found; none of a table without blocks.
fn searched(
    session: &Session,
    table: &Arc<Table>,
    workload: &Workload,
) -> Result<Option<(Candidate, Candidate)>> {
    let record = session.database().record();
    let known = session.known()?;
    // What was tried here says nothing of another machine.
    let tried = (!known.foreign).then_some(workload);
    let Some(rows) = Rows::of(table, tried.unwrap_or(&Workload::default()))? else {
        return Ok(None);
    };
    let mut present = (*record.stored(table)?).clone();
    let mut calibration = known.calibration.clone();
    if table.options.auto_layout {
        // Layouts follow by themselves: the one of most blocks is all there is to choose.
        let layout = present.design.layout.as_str();
        let is_its = |name: &str| name.split(' ').next() == Some(layout);
        calibration.costs.layouts.retain(|one| is_its(&one.layout));
    }
    // What only a trial can tell.
    let tried = rows.in_design(&present.design)?;
    (present.write_seconds, present.fetch_seconds) = (tried.write_seconds, tried.fetch_seconds);
    present.tried = tried.tried;
    let mut trial = |design: &_| rows.in_design(design);
    let all = search(&calibration, workload, &present, &mut trial)?;
    let now = all.iter().find(|one| one.stored == present).cloned();
    let (Some(now), Some(best)) = (now, all.into_iter().next()) else {
        return Err(Error::internal("a search without designs"));
    };
    let mixed = mixed(table, workload, &rows, &best.stored.design)?
        .and_then(|designs| {
            let blocks = blocks_of(table);
            mixture(&calibration, workload, &designs, &blocks)
        })
        .map(|stored| Candidate {
            total: total(&calibration, &stored, workload),
            stored,
        });
    let limit = best.total.seconds() * (1.0 - WORTH);
    let mixed = mixed.filter(|mixed| mixed.total.seconds() < limit);
    Ok(Some((now, mixed.unwrap_or(best))))
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
