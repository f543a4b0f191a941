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
//! | `datafusion.…` | every option of DataFusion, unchanged |
//!
//! A few settings that PostgreSQL's clients send on connecting are accepted with
//! the only value they have here; those that concern a client are in `client`.

use datafusion::common::config::ConfigEntry;
use datafusion::execution::session_state::SessionState;
use freestone_frontend::values::datetime;
use freestone_storage::ColumnScanner;

use crate::error::{Error, Result, did_you_mean};

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

/// Our own settings and the DataFusion options behind them.
const OWN: [(&str, &str); 9] = [
    ("threads", "datafusion.execution.target_partitions"),
    ("freestone.batch_rows", "datafusion.execution.batch_size"),
    ("timezone", "datafusion.execution.time_zone"),
    (COLUMN_SCANNER, COLUMN_SCANNER),
    ("durability", DURABILITY),
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

/// An option of our own, kept among DataFusion's.
const COLUMN_SCANNER: &str = "freestone.column_scanner";
/// Another.
const DURABILITY: &str = "freestone.durability";
/// A third.
const ENGINE: &str = "freestone.engine";
/// One of the whole database, which every session shows as it is.
pub(crate) const MOVER: &str = "freestone.mover";

/// Others of the whole database.
pub(crate) const WORKLOAD: &str = "freestone.workload";
pub(crate) const MEMORY: &str = "memory_limit";

/// The setting of the machine file that a session asks about.
pub(crate) const MACHINE: &str = "freestone.machine";

pub(crate) fn option_of(name: &str) -> Option<&'static str> {
    let name = match name {
        "freestone.threads" => "threads",
        DURABILITY => "durability",
        "freestone.memory_limit" => MEMORY,
        name => name,
    };
    OWN.iter()
        .find(|(own, _)| *own == name)
        .map(|(_, option)| *option)
}

/// Whether a setting concerns more than the session: those of the whole database, and all
/// that DataFusion has.
pub(crate) fn of_all(name: &str) -> bool {
    const OTHERS: [&str; 4] = [
        "freestone.io_unit",
        "freestone.prefetch_depth",
        "freestone.direct_reads",
        "freestone.read_method",
    ];
    let own = option_of(name);
    name.starts_with("datafusion.")
        || OTHERS.contains(&name)
        || [MOVER, WORKLOAD, "freestone.memory_limit"]
            .iter()
            .any(|shared| own == Some(*shared))
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
    let option = match option_of(&name) {
        Some(option) => option,
        None if name.starts_with("datafusion.") => name.as_str(),
        None => return Err(unknown(state, &name)),
    };
    let value = match &setting.value {
        Some(value) => value.clone(),
        None => default_of(option).unwrap_or_default(),
    };
    let most = match name.as_str() {
        "threads" | "freestone.threads" => Some(most_threads()),
        "freestone.batch_rows" => Some(1_048_576),
        _ => None,
    };
    if let Some(most) = most
        && !value
            .parse::<usize>()
            .is_ok_and(|number| (1..=most).contains(&number))
    {
        return Err(refuse(
            &value,
            &format!("give a whole number from 1 to {most}"),
        ));
    }
    if name == COLUMN_SCANNER {
        value.parse::<ColumnScanner>()?;
    }
    if option == DURABILITY && value != "full" && value != "relaxed" {
        return Err(refuse(&value, "give 'full' or 'relaxed'"));
    }
    if option == ENGINE && value != "auto" && value != "bulk" {
        return Err(refuse(&value, "give 'auto' or 'bulk'"));
    }
    if name == "timezone" && !datetime::zone_exists(&value) {
        let why = "give a zone's name, such as 'Europe/Berlin', or hours east of UTC";
        return Err(refuse(&value, why));
    }
    let value = match name == "timezone" {
        true => datetime::shown_zone(&value),
        false => value,
    };
    if option == MOVER && value != "running" && value != "paused" {
        return Err(refuse(&value, "give 'running' or 'paused'"));
    }
    if option == WORKLOAD && value != "on" && value != "off" {
        return Err(refuse(&value, "give 'on' or 'off'"));
    }
    state
        .config_mut()
        .options_mut()
        .set(option, &value)
        .map_err(|error| refuse(&value, &Error::from(error).message))
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

fn default_of(option: &str) -> Option<String> {
    let fresh = crate::template::template(None);
    entries(&fresh)
        .into_iter()
        .find(|entry| entry.key == option)?
        .value
}

/// The value of a setting, as SHOW prints it.
///
/// # Errors
/// `42704` for an unknown setting.
pub(crate) fn current(state: &SessionState, name: &str) -> Result<String> {
    let name = name.to_lowercase();
    // Asked for by every statement: the list of all settings is long.
    if name == "timezone" {
        let zone = &state.config_options().execution.time_zone;
        return Ok(zone.clone().unwrap_or_default());
    }
    if let Some((_, value)) = FIXED.iter().find(|(known, _)| *known == name) {
        return Ok((*value).to_owned());
    }
    all_settings(state)
        .into_iter()
        .find(|(known, _)| *known == name || (name == "freestone.threads" && known == "threads"))
        .map(|(_, value)| value)
        .ok_or_else(|| unknown(state, &name))
}

/// DataFusion's options and ours; it lists ours without their prefix.
fn entries(state: &SessionState) -> Vec<ConfigEntry> {
    let mut entries = state.config_options().entries();
    for entry in &mut entries {
        if !entry.key.contains('.') {
            entry.key = format!("freestone.{}", entry.key);
        }
    }
    entries
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
    let entries = entries(state);
    let mut all: Vec<(String, String)> = FIXED
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    for (own, option) in OWN {
        if let Some(entry) = entries.iter().find(|entry| entry.key == option) {
            all.push((own.to_owned(), entry.value.clone().unwrap_or_default()));
        }
    }
    all.extend(
        entries
            .into_iter()
            .map(|entry| (entry.key, entry.value.unwrap_or_default())),
    );
    all.sort();
    all.dedup();
    all
}

fn unknown(state: &SessionState, name: &str) -> Error {
    let all = all_settings(state);
    Error::new(
        "42704",
        format!("unrecognized configuration parameter \"{name}\""),
    )
    .with_hint_opt(did_you_mean(
        "parameter",
        name,
        all.iter().map(|(known, _)| known.as_str()),
    ))
}
