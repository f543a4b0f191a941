//! SET and SHOW: settings of a session.
//!
//! | name | meaning |
//! |---|---|
//! | `threads` (`freestone.threads`) | threads per statement |
//! | `freestone.batch_rows` | rows per batch between operators |
//! | `freestone.column_scanner` | how columns are scanned: `single` or `pipelined` |
//! | `durability` | `full`: a commit waits for the disk; `relaxed`: it is durable within a tenth of a second |
//! | `freestone.engine` | whether queries of few rows are looked up by keys (`auto`), or all run by bulk operators (`bulk`) |
//! | `memory_limit` | what queries and the cache of blocks may take, for the whole database: a size or a share of the machine's |
//! | `freestone.mover` | `running` or `paused`: the tuple mover in the background, for the whole database |
//! | `freestone.machine` | a machine file by which EXPLAIN and ADVISE of the session predict; see `machine` |
//! | `freestone.workload` | `on` or `off`: whether queries are recorded for ADVISE, for the whole database and until that is changed |
//! | `freestone.io_unit`, `freestone.prefetch_depth`, `freestone.direct_reads`, `freestone.read_method` | how blocks are read from disk, for the whole database; see `reading` |
//! | `timezone` | zone in which TIMESTAMP WITH TIME ZONE is read and shown |
//!
//! A few settings that PostgreSQL's clients send on connecting are accepted with
//! the only value they have here; those that concern a client are in `client`.

use crate::state::SessionState;
use freestone_frontend::values::datetime;
use freestone_storage::ColumnScanner;

use crate::error::{Error, Result, did_you_mean};
use crate::options::Options;

/// A change that SET asks for; `None` means the default.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    /// Whether it lasts as long as the present transaction.
    pub(crate) local: bool,
}

/// Settings with one value, known from PostgreSQL.
const FIXED: [(&str, &str); 12] = [
    ("client_encoding", "UTF8"),
    ("default_tablespace", ""),
    ("integer_datetimes", "on"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("server_encoding", "UTF8"),
    ("server_version", "15.0"),
    ("server_version_num", "150000"),
    ("standard_conforming_strings", "on"),
    ("xmloption", "content"),
];

/// The settings among them that tell of the server and are never set.
const INTERNAL: [&str; 8] = [
    "integer_datetimes",
    "lc_collate",
    "lc_ctype",
    "max_identifier_length",
    "max_index_keys",
    "server_encoding",
    "server_version",
    "server_version_num",
];

/// Settings that decide how statements run, and the names that they may have beside.
const OWN: [(&str, &str); 9] = [
    (THREADS, "freestone.threads"),
    (BATCH_ROWS, BATCH_ROWS),
    (ZONE, ZONE),
    (COLUMN_SCANNER, COLUMN_SCANNER),
    (DURABILITY, "freestone.durability"),
    (MOVER, MOVER),
    (WORKLOAD, WORKLOAD),
    (MEMORY, "freestone.memory_limit"),
    (ENGINE, ENGINE),
];

/// Threads that a statement may ask for, for each processor: parts of a statement have as
/// many each, and no role is refused them.
const THREADS_PER_PROCESSOR: usize = 4;
/// What may be asked for on small machines, too.
const FEW_THREADS: usize = 16;

const THREADS: &str = "threads";
const BATCH_ROWS: &str = "freestone.batch_rows";
/// The most rows that a batch may have.
const MOST_ROWS: usize = 1_048_576;
const ZONE: &str = "timezone";
const COLUMN_SCANNER: &str = "freestone.column_scanner";
const DURABILITY: &str = "durability";
const ENGINE: &str = "freestone.engine";
/// One of the whole database, which every session shows as it is.
pub(crate) const MOVER: &str = "freestone.mover";

/// Others of the whole database.
pub(crate) const WORKLOAD: &str = "freestone.workload";
pub(crate) const MEMORY: &str = "memory_limit";

/// The setting of the machine file that a session asks about.
pub(crate) const MACHINE: &str = "freestone.machine";

/// The setting that a name means, if it decides how statements run.
pub(crate) fn option_of(name: &str) -> Option<&'static str> {
    let mut all = OWN.iter();
    all.find(|(own, other)| *own == name || *other == name)
        .map(|(own, _)| *own)
}

/// Whether a setting concerns more than the session: the whole database.
pub(crate) fn of_all(name: &str) -> bool {
    const OTHERS: [&str; 4] = [
        "freestone.io_unit",
        "freestone.prefetch_depth",
        "freestone.direct_reads",
        "freestone.read_method",
    ];
    let own = option_of(name);
    OTHERS.contains(&name) || own.is_some_and(|own| [MOVER, WORKLOAD, MEMORY].contains(&own))
}

/// Applies a change.
///
/// # Errors
/// `42704` for an unknown setting, `22023` for a value it cannot have.
pub(crate) fn change(state: &mut SessionState, setting: &Setting) -> Result<()> {
    let name = setting.name.to_lowercase();
    let refuse = |value: &str, why: &str| {
        Error::new(
            "22023",
            format!("invalid value for parameter \"{name}\": \"{value}\""),
        )
        .with_hint(why.to_owned())
    };
    if let Some((_, only)) = FIXED.iter().find(|(fixed, _)| *fixed == name) {
        let is_other_name =
            |value: &str| name == "client_encoding" && value.eq_ignore_ascii_case("unicode");
        return match &setting.value {
            Some(value) if is_other_name(value) => Ok(()),
            Some(value) if !same_word(value, only) && !only.starts_with(&value.to_uppercase()) => {
                Err(refuse(value, &format!("the only value is '{only}'")))
            }
            _ => Ok(()),
        };
    }
    let Some(option) = option_of(&name) else {
        return Err(unknown(&name));
    };
    let value = match &setting.value {
        Some(value) => value.clone(),
        None => value_of(&Options::default(), option),
    };
    let number = |most: usize| {
        let number = value.parse::<usize>().ok();
        let number = number.filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| refuse(&value, &format!("give a whole number from 1 to {most}")))
    };
    let word = |one: &str, other: &str| match value == one || value == other {
        true => Ok(value.clone()),
        false => Err(refuse(&value, &format!("give '{one}' or '{other}'"))),
    };
    let options = state.options_mut();
    match option {
        THREADS => options.threads = number(most_threads())?,
        BATCH_ROWS => options.batch_rows = number(MOST_ROWS)?,
        ZONE if datetime::zone_exists(&value) => {
            options.time_zone = datetime::shown_zone(&value);
        }
        ZONE => {
            let why = "give a zone's name, such as 'Europe/Berlin', or hours east of UTC";
            return Err(refuse(&value, why));
        }
        COLUMN_SCANNER => {
            value.parse::<ColumnScanner>()?;
            options.column_scanner = value;
        }
        DURABILITY => options.durability = word("full", "relaxed")?,
        MOVER => options.mover = word("running", "paused")?,
        WORKLOAD => options.workload = word("on", "off")?,
        ENGINE => options.engine = word("auto", "bulk")?,
        _ => options.memory_limit = value,
    }
    Ok(())
}

/// The value of a setting that decides how statements run.
fn value_of(options: &Options, option: &str) -> String {
    match option {
        THREADS => options.threads.to_string(),
        BATCH_ROWS => options.batch_rows.to_string(),
        ZONE => options.time_zone.clone(),
        COLUMN_SCANNER => options.column_scanner.clone(),
        DURABILITY => options.durability.clone(),
        MOVER => options.mover.clone(),
        WORKLOAD => options.workload.clone(),
        ENGINE => options.engine.clone(),
        _ => options.memory_limit.clone(),
    }
}

/// The most threads that a statement may be given here.
fn most_threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (processors * THREADS_PER_PROCESSOR).max(FEW_THREADS)
}

fn same_word(a: &str, b: &str) -> bool {
    let plain = |text: &str| {
        text.chars()
            .filter(|c| c.is_ascii_alphanumeric())
            .collect::<String>()
            .to_ascii_lowercase()
    };
    plain(a) == plain(b)
}

/// The value of a setting, as SHOW prints it.
///
/// # Errors
/// `42704` for an unknown setting.
pub(crate) fn current(state: &SessionState, name: &str) -> Result<String> {
    let name = name.to_lowercase();
    if let Some(option) = option_of(&name) {
        return Ok(value_of(state.options(), option));
    }
    let mut fixed = FIXED.iter();
    let found = fixed.find(|(known, _)| *known == name);
    found.map_or_else(|| Err(unknown(&name)), |(_, value)| Ok((*value).to_owned()))
}

/// The name of a setting as PostgreSQL spells it: a few with capitals.
pub(crate) fn spelt(name: &str) -> &str {
    const SPELT: [&str; 3] = ["DateStyle", "IntervalStyle", "TimeZone"];
    let mut all = SPELT.into_iter();
    all.find(|spelt| spelt.eq_ignore_ascii_case(name))
        .unwrap_or(name)
}

/// Whether a setting tells of the server and is never set.
pub(crate) fn is_internal(name: &str) -> bool {
    INTERNAL.contains(&name)
}

/// Every setting and its value, sorted by name.
pub(crate) fn all_settings(state: &SessionState) -> Vec<(String, String)> {
    let fixed = FIXED.iter();
    let fixed = fixed.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let own = OWN.iter().map(|(name, _)| *name);
    let own = own.map(|name| (name.to_owned(), value_of(state.options(), name)));
    let mut all: Vec<(String, String)> = fixed.chain(own).collect();
    all.sort();
    all
}

fn unknown(name: &str) -> Error {
    let all = FIXED.iter().chain(&OWN);
    Error::new(
        "42704",
        format!("unrecognized configuration parameter \"{name}\""),
    )
    .with_hint_opt(did_you_mean(
        "parameter",
        name,
        all.map(|(known, _)| *known),
    ))
}
