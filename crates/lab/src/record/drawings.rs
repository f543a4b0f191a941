//! Plots beside their record, for whoever wants one of them alone.

use super::{Record, replace};
use crate::error::{Error, Result};
use crate::outcome::Plot;
use crate::plot;
use std::fs;
use std::path::Path;

/// Draws all plots of an experiment, and removes what an earlier run drew beyond them.
///
/// # Errors
/// What the disk says.
pub(super) fn write(directory: &Path, id: &str, plots: &[Plot]) -> Result<()> {
    for (number, drawn) in (1..).zip(plots) {
        let path = Record::drawing(directory, id, number);
        replace(&path, &plot::standalone(drawn))?;
    }
    let further = (plots.len() + 1..).map(|number| Record::drawing(directory, id, number));
    for path in further.take_while(|path| path.exists()) {
        fs::remove_file(&path).map_err(|error| {
            let message = format!("cannot remove {}: {error}", path.display());
            Error::new(message, "remove it: an earlier run drew it")
        })?;
    }
    Ok(())
}
