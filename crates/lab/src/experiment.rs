//! What an experiment is.

use crate::error::Result;
use crate::outcome::Outcome;
use crate::setting::Setting;

/// One figure or table of a document, or several that are measured together.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line: the document's letter and the figure, as `h6`.
    pub id: &'static str,
    /// Where it is from, as `H, figure 6`.
    pub source: &'static str,
    /// What it shows, in a few words.
    pub title: &'static str,
    /// What it needs of the machine; asked before anything runs.
    pub need: fn(&Setting) -> Need,
    /// Measures.
    pub run: fn(&Setting) -> Result<Outcome>,
}

/// What an experiment needs of a machine, and how long it keeps it busy.
#[derive(Clone, Debug, Default)]
pub struct Need {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes on disk.
    pub disk: u64,
    /// Programs that have to be installed, as `valgrind`.
    pub programs: Vec<&'static str>,
    /// Whether it asks by SQL.
    pub sql: bool,
    /// Whether some of its claims are about PostgreSQL.
    pub postgres: bool,
    /// How often it measures each point, if not as often as the setting says.
    pub repetitions: Option<usize>,
}

impl Need {
    /// With so many repetitions of its own.
    pub fn measured(self, repetitions: usize) -> Need {
        Need {
            repetitions: Some(repetitions),
            ..self
        }
    }
}
