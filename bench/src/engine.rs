//! The engines that Freestone is put beside: their scripts and their packages.

use std::fmt;

/// The version of DuckDB that is compared with.
pub const DUCKDB: &str = "2.0.0";

/// What all scripts begin with.
const COMMON: &str = include_str!("../peers/common.py");

/// Reads the Parquet files, and takes the results of DuckDB as Arrow batches.
const PYARROW: Package = Package {
    name: "pyarrow",
    module: "pyarrow",
    version: "26.0.1",
};

/// A package of Python.
#[derive(Debug)]
pub struct Package {
    /// As it is installed.
    pub name: &'static str,
    /// As it is imported.
    pub module: &'static str,
    /// The only version that will do.
    pub version: &'static str,
}

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// In the peer's process.
    DuckDb,
    /// A server that comes with its package.
    Hyper,
    /// A server that the machine must have.
    Postgres,
    /// In the peer's process, as Python has it.
    Sqlite,
}

impl Engine {
    /// The program that speaks for it.
    pub fn script(self) -> String {
        let own = match self {
            Engine::DuckDb => include_str!("../peers/duckdb.py"),
            Engine::Hyper => include_str!("../peers/hyper.py"),
            Engine::Postgres => include_str!("../peers/postgres.py"),
            Engine::Sqlite => include_str!("../peers/sqlite.py"),
        };
        format!("{COMMON}\n\n{own}")
    }

    /// What the program imports.
    pub fn packages(self) -> &'static [Package] {
        match self {
            Engine::DuckDb => &[
                Package {
                    name: "duckdb",
                    module: "duckdb",
                    version: DUCKDB,
                },
                PYARROW,
            ],
            Engine::Hyper => &[Package {
                name: "tableauhyperapi",
                module: "tableauhyperapi",
                version: "0.0.26963",
            }],
            // The second is the first one's library, compiled.
            Engine::Postgres => &[
                Package {
                    name: "psycopg",
                    module: "psycopg",
                    version: "3.3.9",
                },
                Package {
                    name: "psycopg-binary",
                    module: "psycopg",
                    version: "3.3.9",
                },
                PYARROW,
            ],
            Engine::Sqlite => &[PYARROW],
        }
    }

    /// Name of its database file; PostgreSQL has a folder of its own elsewhere.
    pub fn file(self) -> &'static str {
        match self {
            Engine::DuckDb => "duckdb.db",
            Engine::Hyper => "tpch.hyper",
            Engine::Postgres => "postgres",
            Engine::Sqlite => "sqlite-tpch.db",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::DuckDb => "DuckDB",
            Engine::Hyper => "Hyper",
            Engine::Postgres => "PostgreSQL",
            Engine::Sqlite => "SQLite",
        })
    }
}
