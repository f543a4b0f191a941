//! Storage of Freestone: immutable blocks that each choose their own layout.
//!
//! Synchronous, and free of SQL: Arrow arrays go in and come out. Modules
//! import only from those above them in this list.

pub mod ids;
pub mod error;
pub mod schema;
pub mod io;
pub mod format;
pub mod predicate;
pub mod layout;
pub mod block;
pub mod manifest;
pub mod scan;
pub mod table;
pub mod store;

pub use error::{Error, Result};
pub use ids::{BlockId, TableId};
pub use predicate::{Bounds, CompareOp, Predicate, Prune, Zone};
pub use schema::{Column, ColumnType, Key, Layout, Physical, TableOptions, TableSchema, Value};
pub use block::{Block, BlockInfo, ByteRange, ColumnFacts};
pub use scan::{Scan, ScanMetrics, ScanRequest, ScanWorker};
pub use store::{BlockWriter, Catalog, CatalogEdit, DEFAULT_SCHEMA, NewBlock, OpenMode, Store, VerifyReport, View};
pub use table::{ColumnStatistics, Table, TableStatistics};
