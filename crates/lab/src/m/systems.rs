//! What runs the queries.

use super::cold::forget;
use crate::error::{Error, Result};
use crate::setting::Setting;
use crate::sql::{Sql, SqlDatabase};
use freestone_postgres::Cluster;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Columns of foreign keys that PostgreSQL has indexes of, beside those of primary keys:
/// without them some queries take hours.
const REFERENCES: [(&str, &str); 6] = [
    ("lineitem", "l_orderkey"),
    ("lineitem", "l_partkey"),
    ("lineitem", "l_suppkey"),
    ("orders", "o_custkey"),
    ("partsupp", "ps_suppkey"),
    ("customer", "c_nationkey"),
];
const PRIMARY: [(&str, &str); 8] = [
    ("region", "r_regionkey"),
    ("nation", "n_nationkey"),
    ("supplier", "s_suppkey"),
    ("customer", "c_custkey"),
    ("part", "p_partkey"),
    ("partsupp", "ps_partkey, ps_suppkey"),
    ("orders", "o_orderkey"),
    ("lineitem", "l_orderkey, l_linenumber"),
];

/// PostgreSQL's settings for this machine.
fn configuration(setting: &Setting) -> String {
    let megabytes = (setting.memory >> 20).clamp(256, 1 << 15);
    format!(
        "shared_buffers = '{}MB'\neffective_cache_size = '{megabytes}MB'\nwork_mem = '{}MB'\n\
         maintenance_work_mem = '{}MB'\nmax_parallel_workers_per_gather = {}\n\
         max_wal_size = '8GB'\nfsync = off",
        megabytes / 4,
        megabytes / 32,
        megabytes / 16,
        setting.threads.saturating_sub(1),
    )
}

/// A database with TPC-H.
pub(super) enum System {
    /// Freestone, in its process.
    Freestone {
        /// Its tables' layout.
        layout: &'static str,
        directory: PathBuf,
        sql: Arc<dyn Sql>,
        threads: usize,
        open: Option<Box<dyn SqlDatabase>>,
    },
    /// PostgreSQL, as a server.
    Postgres(Cluster),
}

impl System {
    /// Freestone with tables of a layout, in a new directory.
    ///
    /// # Errors
    /// Those of the load.
    pub fn freestone(setting: &Setting, scale: f64, layout: &'static str) -> Result<System> {
        let sql = Arc::clone(setting.sql()?);
        let directory = setting.scratch.join(layout);
        sql.load(&directory, scale, &format!("layout = '{layout}'"))?;
        Ok(System::Freestone {
            layout,
            directory,
            sql,
            threads: setting.threads,
            open: None,
        })
    }

    /// PostgreSQL with the same rows, from Freestone's database `of`; if it cannot be used,
    /// why not.
    ///
    /// # Errors
    /// Those of the load.
    pub fn postgres(setting: &Setting, of: &Path) -> Result<std::result::Result<System, String>> {
        let cluster = match Cluster::new(&setting.scratch, "C", &configuration(setting))? {
            Ok(cluster) => cluster,
            Err(why) => return Ok(Err(why)),
        };
        let sql = setting.sql()?;
        let source = sql.open(of, setting.threads)?;
        let file = setting.scratch.join("rows.csv");
        for table in sql.tables() {
            let name = table.0;
            let path = file.display();
            source.run(&format!(
                "COPY {name} TO '{path}' (FORMAT csv, HEADER false)"
            ))?;
            cluster.load(table, &file)?;
            std::fs::remove_file(&file)?;
        }
        let keys =
            PRIMARY.map(|(table, key)| format!("ALTER TABLE {table} ADD PRIMARY KEY ({key});"));
        let indexes = REFERENCES.map(|(table, key)| format!("CREATE INDEX ON {table} ({key});"));
        let script = [
            keys.join("\n"),
            indexes.join("\n"),
            "VACUUM ANALYZE;".into(),
        ];
        cluster.run(&script.join("\n"))?;
        Ok(Ok(System::Postgres(cluster)))
    }

    /// What plots call it.
    pub fn name(&self) -> String {
        match self {
            System::Freestone { layout, .. } => format!("Freestone, {layout}s"),
            System::Postgres(cluster) => cluster.version(),
        }
    }

    /// Runs a query; its seconds.
    ///
    /// # Errors
    /// Those of the query.
    pub fn run(&mut self, sql: &str) -> Result<f64> {
        match self {
            System::Freestone {
                directory,
                sql: program,
                threads,
                open,
                ..
            } => {
                let database = match open.take() {
                    Some(database) => database,
                    None => program.open(directory, *threads)?,
                };
                Ok(open.insert(database).run(sql)?.0)
            }
            System::Postgres(cluster) => {
                let times = cluster.run(&format!("{sql};"))?;
                let last = times.last().copied();
                last.ok_or_else(|| Error::new("psql told no time", ""))
            }
        }
    }

    /// Begins anew: what ran is closed, and none of its files is in memory.
    ///
    /// # Errors
    /// If it does not stop, or start.
    pub fn cool(&mut self) -> Result<()> {
        match self {
            System::Freestone {
                directory,
                sql,
                threads,
                open,
                ..
            } => {
                *open = None;
                forget(directory)?;
                *open = Some(sql.open(directory, *threads)?);
            }
            System::Postgres(cluster) => {
                cluster.stop()?;
                forget(&cluster.data())?;
                cluster.start()?;
            }
        }
        Ok(())
    }
}
