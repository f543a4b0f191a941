//! A PostgreSQL of our own, to compare with.
//!
//! The referee asks it what statements mean, and the lab how long they take. Its files are in a
//! temporary directory, it listens on a socket that nobody else knows, and both are gone
//! afterwards. Where it is not installed, [`usable`] says so and what would mend it.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! let scratch = std::env::temp_dir();
//! match freestone_postgres::Cluster::new(&scratch, "C", "fsync = off")? {
//!     Ok(cluster) => drop(cluster.run("SELECT 1")?),
//!     Err(why) => println!("not compared: {why}"),
//! }
//! # Ok(())
//! # }
//! ```

mod cluster;
mod installed;

pub use cluster::{Cluster, PORT, USER};
pub use installed::usable;
