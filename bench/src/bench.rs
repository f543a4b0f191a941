//! What the sections share: folders, the peer, and databases made on first use.
//!
//! Only the Parquet files outlive a run. Databases are made anew, so that a
//! change of the format or of a codec is always measured.

use crate::Result;
use crate::data::{self, Files};
use crate::engine::{DUCKDB, Engine};
use crate::peer::Peer;
use freestone::{Database, Session, SessionOptions};
use std::path::{Path, PathBuf};
use tokio::runtime::{Builder, Runtime};

/// Threads that each side may use.
pub const THREADS: usize = 2;

/// A run in progress.
pub struct Bench {
    /// Scale factor.
    pub scale: f64,
    /// Measured runs on each side.
    pub rounds: usize,
    /// Runs the statements of Freestone.
    pub runtime: Runtime,
    /// DuckDB, if it could be had.
    pub peer: Option<Peer>,
    /// Memory of Freestone's queries, if it is not what it is by default.
    pub memory_limit: Option<String>,
    /// What names of the advisor's workloads have in them that are measured.
    pub workload: String,
    /// Other engines that were started and not yet asked for.
    others: Vec<Peer>,
    folder: PathBuf,
    files: Option<Files>,
    ours: Option<Database>,
    peer_is_loaded: bool,
}

impl Bench {
    /// Prepares a run in `folder`, which is created.
    ///
    /// # Errors
    /// A folder or threads that the system does not give.
    pub fn new(folder: &Path, scale: f64, rounds: usize) -> Result<Bench> {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        // Absolute, as the peer is another process.
        let folder = folder.canonicalize()?;
        let peer = match Peer::start(Engine::DuckDb) {
            Ok(peer) => Some(peer),
            Err(error) => {
                eprintln!("no DuckDB: {error}");
                eprintln!("only Freestone's own numbers follow");
                None
            }
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()?;
        Ok(Bench {
            scale,
            rounds,
            runtime,
            peer,
            memory_limit: None,
            workload: String::new(),
            others: Vec::new(),
            folder,
            files: None,
            ours: None,
            peer_is_loaded: false,
        })
    }

    /// What the peer is, with its version.
    pub fn peer_name(&self) -> Option<String> {
        self.peer
            .as_ref()
            .map(|_| format!("{} {DUCKDB}", Engine::DuckDb))
    }

    /// Starts another engine than DuckDB, or says why it is left out.
    pub fn start(&mut self, engine: Engine) {
        match Peer::start(engine) {
            Ok(peer) => self.others.push(peer),
            Err(error) => eprintln!("{error}\n{engine} is left out"),
        }
    }

    /// An engine that was started, with a new database of the eight tables; each of
    /// its statements may take `limit` seconds. None if it is left out.
    ///
    /// # Errors
    /// Those of loading.
    pub fn load_peer(&mut self, engine: Engine, limit: u64) -> Result<Option<Peer>> {
        let mut others = self.others.iter();
        let Some(number) = others.position(|peer| peer.engine() == engine) else {
            return Ok(None);
        };
        let mut peer = self.others.swap_remove(number);
        let files = self.files()?;
        eprintln!("loading {engine}");
        data::load_theirs(&mut peer, &self.place(engine.file()), &files)?;
        peer.limit(limit)?;
        Ok(Some(peer))
    }

    /// Ends an engine and removes its database.
    ///
    /// # Errors
    /// What the disk says.
    pub fn end_peer(&self, peer: Peer) -> Result<()> {
        let place = self.place(peer.engine().file());
        drop(peer);
        if place.exists() {
            std::fs::remove_file(place)?;
        }
        Ok(())
    }

    /// The Parquet files, written if they are not there.
    ///
    /// # Errors
    /// What the disk says.
    pub fn files(&mut self) -> Result<Files> {
        if self.files.is_none() {
            let folder = self.folder.join(format!("parquet-{}", self.scale));
            self.files = Some(Files::ensure(&folder, self.scale)?);
        }
        self.files.clone().ok_or_else(|| "no files".into())
    }

    /// Where a database of this run is.
    pub fn place(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Loads Freestone's database anew, with table options as between the
    /// parentheses of WITH; returns it and the seconds.
    ///
    /// # Errors
    /// Those of loading.
    pub fn load_ours(&mut self, name: &str, options: &str) -> Result<(Database, f64)> {
        let files = self.files()?;
        data::load_ours(&self.runtime, &self.place(name), &files, options)
    }

    /// Loads the database that queries use, anew; returns the seconds.
    ///
    /// # Errors
    /// Those of loading.
    pub fn reload_ours(&mut self) -> Result<f64> {
        // Closed before its folder is removed.
        self.ours = None;
        let (database, seconds) = self.load_ours("freestone", "codec = 'auto'")?;
        self.ours = Some(database);
        Ok(seconds)
    }

    /// Loads DuckDB's database anew; returns the seconds, none without DuckDB.
    ///
    /// # Errors
    /// Those of loading.
    pub fn reload_theirs(&mut self) -> Result<Option<f64>> {
        let files = self.files()?;
        let place = self.peer_file();
        let Some(peer) = &mut self.peer else {
            return Ok(None);
        };
        let seconds = data::load_theirs(peer, &place, &files)?;
        self.peer_is_loaded = true;
        Ok(Some(seconds))
    }

    /// Makes sure that both sides hold the data.
    ///
    /// # Errors
    /// Those of loading.
    pub fn load_both(&mut self) -> Result<()> {
        if self.ours.is_none() {
            self.reload_ours()?;
        }
        if !self.peer_is_loaded {
            self.reload_theirs()?;
        }
        Ok(())
    }

    /// Freestone's database, loaded on first use.
    ///
    /// # Errors
    /// Those of loading.
    pub fn ours(&mut self) -> Result<Database> {
        if self.ours.is_none() {
            self.reload_ours()?;
        }
        self.ours
            .clone()
            .ok_or_else(|| "no database of Freestone".into())
    }

    /// A session on Freestone's database.
    ///
    /// # Errors
    /// Those of loading.
    pub fn session(&mut self) -> Result<Session> {
        let database = self.ours()?;
        self.session_on(&database)
    }

    /// A session on another database of Freestone, with the limits of this run.
    ///
    /// # Errors
    /// A memory limit that is none.
    pub fn session_on(&self, database: &Database) -> Result<Session> {
        let session = session(database);
        if let Some(limit) = &self.memory_limit {
            let limit = limit.replace('\'', "''");
            let set = format!("SET memory_limit = '{limit}'");
            self.runtime.block_on(session.execute(&set))?;
        }
        Ok(session)
    }

    /// DuckDB's database file.
    pub fn peer_file(&self) -> PathBuf {
        self.place(Engine::DuckDb.file())
    }
}

/// A session that uses as many threads as the peer.
pub fn session(database: &Database) -> Session {
    database.session_with(SessionOptions {
        threads: Some(THREADS),
    })
}
