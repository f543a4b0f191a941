//! Settings of a session that DataFusion has no option for.

use datafusion::common::config::ConfigExtension;

datafusion::common::extensions_options! {
    /// Settings that DataFusion has no option for.
    pub(crate) struct OwnOptions {
        /// How blocks of columns are scanned: single or pipelined (H4).
        pub(crate) column_scanner: String, default = "single".to_owned()
        /// Whether a commit waits for the disk: full or relaxed.
        pub(crate) durability: String, default = "full".to_owned()
        /// Whether the tuple mover works in the background: running or paused.
        pub(crate) mover: String, default = "running".to_owned()
        /// Whether queries are recorded for ADVISE: on or off.
        pub(crate) workload: String, default = "on".to_owned()
        /// Whose operators run queries: freestone or datafusion.
        pub(crate) engine: String, default = "auto".to_owned()
        /// Memory that queries and the cache may take; the limit of the database counts.
        pub(crate) memory_limit: String, default = crate::memory::DEFAULT.to_owned()
    }
}

impl ConfigExtension for OwnOptions {
    const PREFIX: &'static str = "freestone";
}
