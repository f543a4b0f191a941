//! The command line.

use crate::render::Format;
use clap::{Args, Parser, Subcommand, ValueEnum};
use freestone_lab::Scale;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  freestone                                   a database in memory
  freestone sales                             the database in the directory 'sales'; created if new
  freestone -c \"SELECT count(*) FROM 'trips.parquet'\"
  freestone sales -f report.sql --format csv > report.csv
  freestone serve sales                       serve it: psql -h 127.0.0.1
  freestone tpch --scale 1                    generate, load, query and verify TPC-H";

/// A read-optimised embedded SQL database whose blocks each choose their own layout
#[derive(Debug, Parser)]
#[command(name = "freestone", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    /// What to do instead of opening a shell
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The shell's own options
    #[command(flatten)]
    pub shell: ShellArguments,
}

/// The other things the program does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve a database to clients of PostgreSQL
    Serve(ServeArguments),
    /// Show tables, a table's blocks, or every byte range of a block
    Inspect(InspectArguments),
    /// Check every checksum of a database
    Verify(VerifyArguments),
    /// Say what of a damaged database is lost, and keep what remains
    Salvage(SalvageArguments),
    /// Generate TPC-H, load it, run the 22 queries and check every answer
    Tpch(TpchArguments),
    /// Measure what this machine's clock, memory, disk and scans cost, for the model
    Calibrate(CalibrateArguments),
    /// Repeat the experiments of the papers that Freestone is built on
    Lab(LabArguments),
}

/// Which database, and how it is opened.
#[derive(Debug, Args)]
pub struct DatabaseArguments {
    /// Directory of the database, created if it is not there; without it, or as `:memory:`, a
    /// database in memory
    pub db: Option<PathBuf>,
    /// Keep blocks in this directory too, on another disk, say; may be given several times, and
    /// is remembered
    #[arg(
        long,
        value_name = "DIR",
        requires = "db",
        conflicts_with = "read_only"
    )]
    pub stripe: Vec<PathBuf>,
    /// Open the database for reading only
    #[arg(long)]
    pub read_only: bool,
    /// Threads per query [default: one per core]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
}

impl DatabaseArguments {
    /// The database's directory; none of one in memory.
    pub fn directory(&self) -> Option<&Path> {
        let named = self.db.as_deref();
        named.filter(|name| *name != Path::new(":memory:"))
    }
}

/// Options of the shell and of scripts.
#[derive(Debug, Args)]
pub struct ShellArguments {
    /// Which database
    #[command(flatten)]
    pub database: DatabaseArguments,
    /// Run this SQL and leave; may be given several times
    #[arg(short = 'c', long = "command", value_name = "SQL")]
    pub commands: Vec<String>,
    /// Run this file and leave; - is standard input; may be given several times
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Rows of a table shown at a terminal, 0 for all
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub max_rows: usize,
}

/// `freestone serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Which database
    #[command(flatten)]
    pub database: DatabaseArguments,
    /// Address to listen on; beyond this machine somebody needs a password
    #[arg(long, default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Port to listen on, 0 for any that is free
    #[arg(long, default_value_t = 5432)]
    pub port: u16,
    /// File of users beside the database's roles, name:password on each line
    #[arg(long, value_name = "FILE")]
    pub users: Option<PathBuf>,
    /// Folder whose files statements may name; several times for several
    #[arg(long, value_name = "DIR")]
    pub files: Vec<PathBuf>,
    /// Certificate for TLS, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// Private key for TLS, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Refuse connections that are not encrypted [default: where other machines reach it and there
    /// is TLS]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub require_tls: Option<bool>,
    /// Connections at a time; three of them are kept for superusers
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
    pub connections: usize,
    /// Seconds that a client may take to say who it is
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub startup_seconds: u64,
    /// Seconds that a client may take nothing of what it is sent
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub send_timeout: Duration,
    /// Seconds that a statement may take; sessions may lower it
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub statement_timeout: Option<Duration>,
    /// Seconds that a session may wait for its client; sessions may lower it
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub idle_timeout: Option<Duration>,
    /// Seconds that it may wait within a transaction; sessions may lower it
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub idle_in_transaction_timeout: Option<Duration>,
    /// Show metrics for Prometheus at http://ADDRESS/metrics
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Serve Flight SQL at ADDRESS as well, for ADBC and drivers of Arrow
    #[arg(long, value_name = "ADDRESS")]
    pub flight: Option<SocketAddr>,
    /// Tell of connections, errors and slow statements on standard error
    #[arg(long, value_enum, default_value_t = LogArgument::Off)]
    pub log: LogArgument,
    /// Milliseconds from which on a statement is slow
    #[arg(long, value_name = "N")]
    pub log_slow: Option<u64>,
}

/// How a server's log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogArgument {
    /// Nothing is told
    Off,
    /// Lines to read
    Text,
    /// A JSON object a line
    Json,
}

/// `freestone inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// Directory of the database
    pub db: PathBuf,
    /// Show the blocks of this table: NAME or SCHEMA.NAME
    pub table: Option<String>,
    /// Show every byte range of this block
    pub block: Option<u64>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// `freestone verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Directory of the database
    pub db: PathBuf,
}

/// `freestone salvage`.
#[derive(Debug, Args)]
pub struct SalvageArguments {
    /// Directory of the database; copy it before you rewrite it
    pub db: PathBuf,
    /// Make the directory a whole database of what remains
    #[arg(long)]
    pub rewrite: bool,
    /// Write the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Layout of the TPC-H tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TpchLayout {
    /// Dense rows
    Row,
    /// One stripe per column
    Column,
    /// Pages of minipages
    Pax,
    /// Every table has blocks of all three
    Mixed,
}

/// `freestone tpch`.
#[derive(Debug, Args)]
pub struct TpchArguments {
    /// Scale factor; answers are checked at 1 and 0.01
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,
    /// Directory of the database [default: tpch-FACTOR-LAYOUT]; used again when it holds the same
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,
    /// Layout of every table
    #[arg(long, value_enum, default_value_t = TpchLayout::Column)]
    pub layout: TpchLayout,
    /// Best of so many runs of each query, after one that does not count; without it one run
    #[arg(long, value_name = "N", value_parser = positive)]
    pub runs: Option<usize>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T", value_parser = positive)]
    pub threads: Option<usize>,
    /// Memory for the queries, such as 1GB [default: 80% of the machine's]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
    /// Only these queries
    #[arg(long, value_name = "1,6,…", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=22))]
    pub queries: Vec<u8>,
    /// Write the results to this file as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Keep the tables as Parquet files here, written if they are not there yet, and measure loading alone
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
}

/// `freestone calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// The machine file that is written
    #[arg(long, value_name = "FILE", default_value = "machine.json")]
    pub out: PathBuf,
    /// Keep it in this database, too, whose queries are predicted by it
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,
    /// What the machine is called in it
    #[arg(long, default_value = "this machine")]
    pub name: String,
    /// Measure nothing, take this machine file
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub from: Option<PathBuf>,
    /// Then draw so many queries, run each on every layout, hot and cold, and compare
    #[arg(long, value_name = "QUERIES", default_value_t = 0)]
    pub check: usize,
    /// Directory for files that are read, on the disk that counts [default: the database of
    /// --db, else that of temporary files]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

/// `freestone lab`.
#[derive(Debug, Args)]
pub struct LabArguments {
    /// What to do
    #[command(subcommand)]
    pub command: LabCommand,
}

/// What the lab does.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// List the experiments
    List,
    /// Run experiments and keep what they find
    Run {
        /// Names of experiments, or all
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// How large their tables are: quick (seconds for each), full (as in the papers, where
        /// memory allows it), or a number: so many times those of quick, up to full
        #[arg(long, default_value = "full", value_name = "quick|full|FACTOR")]
        scale: Scale,
        /// Short for --scale quick
        #[arg(long, conflicts_with = "scale")]
        quick: bool,
        /// Seed of everything that is drawn
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Directory for what is found, a file for each experiment
        #[arg(long, value_name = "DIR", default_value = "lab")]
        out: PathBuf,
    },
    /// Run a workload of CODB's generator: a line of CSV for each request
    Codb(CodbArguments),
    /// Make one page of what was found
    Report {
        /// Directory of what was found
        #[arg(long, value_name = "DIR", default_value = "lab")]
        from: PathBuf,
        /// The page
        #[arg(long, value_name = "FILE", default_value = "lab.html")]
        out: PathBuf,
    },
}

/// `freestone lab codb`.
#[derive(Debug, Args)]
pub struct CodbArguments {
    /// Share of requests that read, 0 to 1; the others add a record
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub read_ratio: f64,
    /// Bytes of an entry: so many, or LEAST-MOST, each as likely
    #[arg(long, value_name = "BYTES", default_value = "32")]
    pub entry_size: String,
    /// How many different entries there are, 0 for any number
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub entropy: u64,
    /// Columns that each request touches
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub columns: usize,
    /// Requests of a run that are measured
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    pub requests: usize,
    /// Requests before them that are not
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub warm_up: usize,
    /// Threads that make requests at once
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
    /// How often all of it is done
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub runs: usize,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Directory for the database [default: that of temporary files]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

/// A time of a thousandth of a second or more.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
    match seconds {
        Some(Ok(time)) if time >= Duration::from_millis(1) => Ok(time),
        _ => Err("expected a number of seconds, such as 30 or 0.5".into()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number from 1".into()),
        Ok(count) => Ok(count),
    }
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 1000.0 => Ok(scale),
        _ => Err("expected a number above 0, up to 1000".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_database_or_a_command() {
        let shell = Arguments::try_parse_from(["freestone", "sales", "-c", "a", "-c", "b"]);
        let shell = shell.expect("valid").shell;
        assert_eq!(shell.database.db, Some(PathBuf::from("sales")));
        assert_eq!(shell.commands, ["a", "b"]);
        for in_memory in [&["freestone"][..], &["freestone", ":memory:"]] {
            let shell = Arguments::try_parse_from(in_memory).expect("valid").shell;
            assert_eq!(shell.database.directory(), None);
        }
        let tpch = ["freestone", "tpch", "--queries", "1,6", "--layout", "mixed"];
        match Arguments::try_parse_from(tpch).expect("valid").command {
            Some(Command::Tpch(tpch)) => assert_eq!(tpch.queries, [1, 6]),
            other => panic!("{other:?}"),
        }
        let serve = [
            "freestone",
            "serve",
            "--statement-timeout",
            "0.5",
            "--require-tls",
            "sales",
        ];
        match Arguments::try_parse_from(serve).expect("valid").command {
            Some(Command::Serve(serve)) => {
                let limits = (serve.statement_timeout, serve.idle_timeout);
                assert_eq!(limits, (Some(Duration::from_millis(500)), None));
                assert_eq!(serve.require_tls, Some(true));
                assert_eq!(serve.database.db, Some(PathBuf::from("sales")));
            }
            other => panic!("{other:?}"),
        }
        for bad in [
            "--send-timeout=0",
            "--idle-timeout=-1",
            "--require-tls=maybe",
        ] {
            assert!(
                Arguments::try_parse_from(["freestone", "serve", bad]).is_err(),
                "{bad}"
            );
        }
        for bad in [
            "--scale=0",
            "--queries=23",
            "--threads=0",
            "--layout=diagonal",
        ] {
            assert!(
                Arguments::try_parse_from(["freestone", "tpch", bad]).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn experiments_have_a_scale() {
        let parse = |given: &[&str]| {
            let arguments = [&["freestone", "lab", "run", "all"], given].concat();
            Arguments::try_parse_from(arguments)
        };
        for (given, expected, short) in [
            (&[][..], Scale::Full, false),
            (&["--scale", "full"], Scale::Full, false),
            (&["--scale", "quick"], Scale::Quick, false),
            (&["--scale", "6"], Scale::Times(6.0), false),
            (&["--quick"], Scale::Full, true),
        ] {
            match parse(given).expect("valid").command {
                Some(Command::Lab(LabArguments {
                    command: LabCommand::Run { scale, quick, .. },
                })) => assert_eq!((scale, quick), (expected, short)),
                other => panic!("{other:?}"),
            }
        }
        assert!(parse(&["--quick", "--scale", "6"]).is_err());
        let error = parse(&["--scale", "0.5"]).unwrap_err().to_string();
        assert!(
            error.contains("how many times as large as quick"),
            "{error}"
        );
    }
}
