//! How large experiments are, and how often they measure.

use crate::sql::Sql;
use std::path::PathBuf;
use std::sync::Arc;

/// How much an experiment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A few seconds: tables that leave the caches, few repetitions.
    Quick,
    /// As large as the documents, where memory and disk allow it.
    Full,
}

/// What all experiments of a run have in common.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How much they do.
    pub scale: Scale,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Directory for files that an experiment needs while it runs.
    pub scratch: PathBuf,
    /// Threads of experiments that use several.
    pub threads: usize,
    /// Bytes of memory that an experiment may fill.
    pub memory: u64,
    /// What makes databases that are asked by SQL.
    pub sql: Option<Arc<dyn Sql>>,
}

impl Setting {
    /// `quick` or `full`, by the scale.
    pub fn by_scale<T>(&self, quick: T, full: T) -> T {
        match self.scale {
            Scale::Quick => quick,
            Scale::Full => full,
        }
    }

    /// How often each point is measured; the documents measure three to five times.
    pub fn repetitions(&self) -> usize {
        5
    }
}
