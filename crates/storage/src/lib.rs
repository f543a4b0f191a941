//! Storage of Freestone: immutable blocks that each choose their own layout.
//!
//! Synchronous, and free of SQL: Arrow arrays go in and come out. Modules
//! import only from those above them in this list.

pub mod block;
pub mod codec;
pub mod delta;
pub mod error;
pub mod format;
pub mod ids;
pub mod index;
pub mod io;
pub mod layout;
pub mod manifest;
pub mod postings;
pub mod predicate;
pub mod roles;
pub mod row;
pub mod scan;
pub mod schema;
pub mod store;
pub mod table;
pub mod wal;

pub use block::{Block, BlockInfo, ByteRange, ColumnFacts};
pub use codec::ArrayForm;
pub use delta::{Delta, ReadView};
pub use error::{Error, Result};
pub use ids::{BlockId, RowId, RowPlace, SequenceId, TableId, TypeId};
pub use io::{ReadMethod, ReadOptions};
pub use predicate::{Bounds, CompareOp, Predicate, Prune, Zone};
pub use roles::{Access, FIRST_ROLE, Object, Privileges, Role, RoleId, Roles, Verifier};
pub use row::Row;
pub use scan::{
    ColumnScanner, Extent, Foremost, FoundRows, KeyLookUp, Scan, ScanMetrics, ScanRequest,
    ScanWorker, Top, ValueTest,
};
pub use schema::{
    Attribute, BoundValue, Check, CodecChoice, CodecName, Column, ColumnType, Comments, Deferral,
    Domain, DomainCheck, ElementForm, ElementType, ForeignAction, ForeignKey, Hidden, Identity,
    IndexDefinition, IndexForm, IndexKind, IntervalField, Key, Label, Layout, Materialized,
    Modifier, Numbers, OnCommit, PartitionBound, PartitionKey, PartitionOf, PartitionStrategy,
    Partitioning, Physical, RangeKind, ReadRelation, RelationName, SequenceDefinition,
    SequencePosition, TableOptions, TableSchema, UserType, UserTypeKind, Value, ViewQuery,
};
pub use store::{
    BlockWriter, Catalog, CatalogEdit, DEFAULT_SCHEMA, Definitions, LockMode, LostBlock,
    LostTransactions, MoverHold, MoverStatus, NewBlock, NewColumns, OpenMode, RowLock,
    SalvageReport, Savepoint, Sequence, Snapshot, Stopped, Store, TableMoves, Transaction,
    VerifyReport, View, Waiting, machine_memory,
};
pub use table::{Activity, ColumnStatistics, Counted, Sample, Table, TableStatistics};
