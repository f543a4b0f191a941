//! Freestone: an embedded analytical SQL database whose blocks choose their own
//! layout.
//!
//! A [`Database`] holds tables as immutable blocks; each block is cut as rows,
//! as columns or as PAX minipages, and SQL never knows. A [`Session`] parses and
//! runs statements:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> freestone::Result<()> {
//! use freestone::Database;
//!
//! let session = Database::in_memory().session();
//! session
//!     .execute(
//!         "CREATE TABLE stones (name TEXT, mohs DECIMAL(3,1)) WITH (layout = 'pax');
//!          INSERT INTO stones VALUES ('talc', 1), ('quartz', 7), ('diamond', 10)",
//!     )
//!     .await?;
//! let batches = session.query("SELECT max(mohs) FROM stones").await?;
//! assert_eq!(batches[0].num_rows(), 1);
//! # Ok(()) }
//! ```
//!
//! Queries are bound by the language front (`freestone-frontend`), whose plans are lowered to
//! those of the bulk engine (`freestone-exec`). SQL means what PostgreSQL means by it; `docs/sql.md` lists what is missing.

mod advisor;
mod advisory_locks;
mod catalogs;
mod database;
mod deparse;
mod dialect;
mod engine;
mod error;
mod execution;
mod expression;
mod files;
mod frames;
mod front;
mod functions;
mod grammar;
mod ingest;
mod interrupt;
mod keyed;
mod lower;
mod memory;
mod names;
mod oids;
mod options;
mod outcome;
mod outline;
mod parameter;
mod partition;
mod permissions;
mod plans;
mod progress;
mod relations;
mod rights;
mod routine;
mod routing;
mod rows;
mod run;
mod scan;
mod sequences;
mod session;
mod settings;
mod source;
mod state;
mod statement;
mod temporary;
#[cfg(test)]
mod testing;
mod transaction_number;
mod types;
mod values;
mod workload;

pub use advisor::operator_costs;
pub use database::Database;
pub use error::{Error, Position, Result};
pub use execution::Description;
pub use frames::Frame;
pub use freestone_exec::give_way;
pub use freestone_frontend::functions::read_tid;
pub use freestone_frontend::types::RangeOf;
pub use freestone_frontend::types::arrays::{Arrays, element_type};
pub use freestone_frontend::values::money;
pub use freestone_frontend::values::network::{Inet, mac_shown};
pub use freestone_frontend::values::range;
pub use freestone_storage::{Row, Value};
pub use outcome::{Outcome, Rows};
pub use parameter::Parameter;
pub use progress::{Progress, ScanCounts};
pub use rights::Login;
pub use run::{CopyStream, Incoming, Lines, Outgoing};
pub use session::{Notice, ObjectNumbers, Prepared, Session, SessionOptions, Severity};
pub use statement::{Forgets, Statement};
pub use types::{
    JSON, OBJECT, TYPE_KEY, VECTOR, said_of_element, said_of_elements, said_type, type_name,
    type_name_of, type_number,
};
pub use values::{Cells, Styles, as_lists, lists_schema};
