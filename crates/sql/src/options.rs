//! Settings of a session that decide how its statements run.
//!
//! Other settings concern clients alone, see `settings`.

/// Rows of a batch between operators, unless that is set.
const BATCH_ROWS: usize = 8192;

/// Settings that decide how statements run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Threads of a statement.
    pub(crate) threads: usize,
    /// Rows of a batch between operators.
    pub(crate) batch_rows: usize,
    /// The zone in which instants are read and shown.
    pub(crate) time_zone: String,
    /// How blocks of columns are scanned: single or pipelined (H4).
    pub(crate) column_scanner: String,
    /// Whether a commit waits for the disk: full or relaxed.
    pub(crate) durability: String,
    /// Whether the tuple mover works in the background: running or paused.
    pub(crate) mover: String,
    /// Whether queries are recorded for ADVISE: on or off.
    pub(crate) workload: String,
    /// Whether queries of few rows are looked up by keys: auto or bulk.
    pub(crate) engine: String,
    /// Memory that queries and the cache may take; the limit of the database counts.
    pub(crate) memory_limit: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            batch_rows: BATCH_ROWS,
            time_zone: "UTC".to_owned(),
            column_scanner: "single".to_owned(),
            durability: "full".to_owned(),
            mover: "running".to_owned(),
            workload: "on".to_owned(),
            engine: "auto".to_owned(),
            memory_limit: crate::memory::DEFAULT.to_owned(),
        }
    }
}
