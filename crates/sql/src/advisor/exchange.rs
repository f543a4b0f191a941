//! APPLY ADVICE and UNDO ADVICE: the statements of advice, all of them or none.

use super::pilot;
use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::session::Session;
use crate::workload::Advice;

/// Makes a table what advice says.
///
/// # Errors
/// `55000` if that was done, or the table is not the one that was advised; those of the
/// statements, after which the table is what it was.
pub(super) async fn apply(session: &Session, advice: &Advice) -> Result<Outcome> {
    may_begin(session, "APPLY ADVICE")?;
    if advice.applied {
        let message = format!("advice {} was applied already", advice.number);
        return Err(Error::new("55000", message));
    }
    advice.table_in(&session.database().store().snapshot())?;
    let pairs = advice.apply.iter().zip(&advice.undo);
    all_or_none(session, &pairs.collect::<Vec<_>>()).await?;
    change(session, advice, |known| known.applied = true);
    Ok(Outcome::done("APPLY ADVICE"))
}

/// Makes a table what it was before advice was applied, or tried.
///
/// # Errors
/// As [`apply`].
pub(super) async fn undo(session: &Session, advice: &Advice) -> Result<Outcome> {
    may_begin(session, "UNDO ADVICE")?;
    if !advice.is_undoable() {
        let message = format!("advice {} is not applied", advice.number);
        return Err(Error::new("55000", message));
    }
    if advice.applied {
        advice.table_in(&session.database().store().snapshot())?;
        // The last one first. All blocks are written, also those of a trial.
        let pairs = advice.undo.iter().zip(&advice.apply).rev();
        all_or_none(session, &pairs.collect::<Vec<_>>()).await?;
    } else {
        pilot::undo(session, advice)?;
    }
    change(session, advice, |known| {
        known.applied = false;
        known.piloted.clear();
    });
    Ok(Outcome::done("UNDO ADVICE"))
}

/// Refuses what cannot be part of a transaction.
pub(super) fn may_begin(session: &Session, statement: &str) -> Result<()> {
    if session.in_transaction() {
        let message = format!("{statement} cannot run inside a transaction block");
        return Err(Error::new("25001", message));
    }
    Ok(())
}

/// Changes what is known of advice, and keeps that; also of advice that another session
/// has had replaced meanwhile, as it is to be undone.
pub(super) fn change(session: &Session, advice: &Advice, with: impl FnOnce(&mut Advice)) {
    session.database().record().advice(|all| {
        let mut changed = advice.clone();
        let place = all.iter().position(|known| known.number == advice.number);
        if let Some(place) = place {
            changed = all.swap_remove(place);
        }
        with(&mut changed);
        changed.replaced &= !changed.is_undoable();
        all.push(changed);
        all.sort_by_key(|known| known.number);
    });
}

/// Runs statements, each given with the one that takes it back: they rewrite tables, so
/// that they cannot be one transaction.
async fn all_or_none(session: &Session, pairs: &[(&String, &String)]) -> Result<()> {
    for (done, (statement, _)) in pairs.iter().enumerate() {
        let Err(mut error) = run(session, statement).await else {
            continue;
        };
        for (_, back) in pairs[..done].iter().rev() {
            if let Err(second) = run(session, back).await {
                let left = format!("{back} failed as well: {}", second.message);
                error = error.with_hint(left);
                break;
            }
        }
        return Err(error);
    }
    Ok(())
}

async fn run(session: &Session, statement: &str) -> Result<()> {
    for parsed in session.parse(statement)? {
        Box::pin(crate::run::statement(session, &parsed)).await?;
    }
    Ok(())
}
