//! Parameters of PostgreSQL that clients set and that change nothing here.
//!
//! Plans are not made of PostgreSQL's operators, and memory is counted for the whole database;
//! a client that sets `enable_seqscan` or `work_mem` is told what PostgreSQL would tell of a
//! value that it cannot have, and sees what it has set. Parameters that would change what
//! statements mean have the one value that is done.

use crate::error::{Error, Result};
use crate::values::styles::{self, BYTEA_OUTPUT, DATE_STYLE, FLOAT_DIGITS, INTERVAL_STYLE};

/// The description of a parameter that changes nothing.
pub(crate) const IDLE: &str = "It is accepted for clients of PostgreSQL and has no effect.";

/// A parameter.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: &'static str,
}

/// The values that a parameter may have.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Bool,
    Int(i64, i64, Unit),
    Real(f64, f64, Unit),
    /// One of some words.
    Word(&'static [&'static str]),
    Text,
    /// How values are shown; see [`styles`].
    Style,
    /// The default, among other values that PostgreSQL has.
    Only(&'static [&'static str]),
}

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    None,
    Bytes,
    Kilobytes,
    /// Blocks of eight kilobytes.
    Blocks,
    Millis,
    Seconds,
}

use Kind::{Bool, Int, Only, Real, Style, Text, Word};
use Unit::{Blocks, Bytes, Kilobytes, Millis, None as Plain, Seconds};

const MOST: i64 = i32::MAX as i64;
const BOOLS: &[&str] = &["on", "off"];
const LEVELS: &[&str] = &[
    "debug5", "debug4", "debug3", "debug2", "debug1", "info", "notice", "warning", "error", "log",
    "fatal", "panic",
];

const fn known(name: &'static str, kind: Kind, default: &'static str) -> Known {
    Known {
        name,
        kind,
        default,
    }
}

/// All of them, sorted by name.
pub(crate) static KNOWN: [Known; 138] = [
    known("allow_in_place_tablespaces", Bool, "off"),
    known("allow_system_table_mods", Only(BOOLS), "off"),
    known("application_name", Text, ""),
    known("array_nulls", Only(BOOLS), "on"),
    known("backend_flush_after", Int(0, 256, Blocks), "0"),
    known(
        "backslash_quote",
        Only(&["safe_encoding", "on", "off"]),
        "safe_encoding",
    ),
    known(BYTEA_OUTPUT, Style, "hex"),
    known("check_function_bodies", Bool, "on"),
    known(
        "client_connection_check_interval",
        Int(0, MOST, Millis),
        "0",
    ),
    known(
        "client_min_messages",
        Word(&[
            "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error",
        ]),
        "notice",
    ),
    known("commit_delay", Int(0, 100_000, Plain), "0"),
    known("commit_siblings", Int(0, 1_000, Plain), "5"),
    known(
        "compute_query_id",
        Word(&["auto", "regress", "on", "off"]),
        "auto",
    ),
    known(
        "constraint_exclusion",
        Word(&["partition", "on", "off"]),
        "partition",
    ),
    known("cpu_index_tuple_cost", Real(0.0, f64::MAX, Plain), "0.005"),
    known("cpu_operator_cost", Real(0.0, f64::MAX, Plain), "0.0025"),
    known("cpu_tuple_cost", Real(0.0, f64::MAX, Plain), "0.01"),
    known("cursor_tuple_fraction", Real(0.0, 1.0, Plain), "0.1"),
    known(DATE_STYLE, Style, "ISO, MDY"),
    known("deadlock_timeout", Int(1, MOST, Millis), "1000"),
    known("debug_pretty_print", Bool, "on"),
    known("debug_print_parse", Bool, "off"),
    known("debug_print_plan", Bool, "off"),
    known("debug_print_rewritten", Bool, "off"),
    known("default_statistics_target", Int(1, 10_000, Plain), "100"),
    known("default_table_access_method", Text, "heap"),
    known("default_text_search_config", Text, "pg_catalog.simple"),
    known("default_toast_compression", Word(&["pglz", "lz4"]), "pglz"),
    // Dumps of old versions of PostgreSQL set it.
    known("default_with_oids", Only(BOOLS), "off"),
    known("effective_cache_size", Int(1, MOST, Blocks), "524288"),
    known("effective_io_concurrency", Int(0, 1_000, Plain), "1"),
    known("enable_async_append", Bool, "on"),
    known("enable_bitmapscan", Bool, "on"),
    known("enable_gathermerge", Bool, "on"),
    known("enable_hashagg", Bool, "on"),
    known("enable_hashjoin", Bool, "on"),
    known("enable_incremental_sort", Bool, "on"),
    known("enable_indexonlyscan", Bool, "on"),
    known("enable_indexscan", Bool, "on"),
    known("enable_material", Bool, "on"),
    known("enable_memoize", Bool, "on"),
    known("enable_mergejoin", Bool, "on"),
    known("enable_nestloop", Bool, "on"),
    known("enable_parallel_append", Bool, "on"),
    known("enable_parallel_hash", Bool, "on"),
    known("enable_partition_pruning", Bool, "on"),
    known("enable_partitionwise_aggregate", Bool, "off"),
    known("enable_partitionwise_join", Bool, "off"),
    known("enable_seqscan", Bool, "on"),
    known("enable_sort", Bool, "on"),
    known("enable_tidscan", Bool, "on"),
    known("escape_string_warning", Bool, "on"),
    known("exit_on_error", Only(BOOLS), "off"),
    known(FLOAT_DIGITS, Int(-15, 3, Plain), "1"),
    known(
        "force_parallel_mode",
        Word(&["off", "on", "regress"]),
        "off",
    ),
    known("from_collapse_limit", Int(1, MOST, Plain), "8"),
    known("geqo", Bool, "on"),
    known("geqo_effort", Int(1, 10, Plain), "5"),
    known("geqo_generations", Int(0, MOST, Plain), "0"),
    known("geqo_pool_size", Int(0, MOST, Plain), "0"),
    known("geqo_seed", Real(0.0, 1.0, Plain), "0"),
    known("geqo_selection_bias", Real(1.5, 2.0, Plain), "2"),
    known("geqo_threshold", Int(2, MOST, Plain), "12"),
    known("gin_fuzzy_search_limit", Int(0, MOST, Plain), "0"),
    known("gin_pending_list_limit", Int(64, MOST, Kilobytes), "4096"),
    known("hash_mem_multiplier", Real(1.0, 1_000.0, Plain), "2"),
    known(
        "idle_in_transaction_session_timeout",
        Int(0, MOST, Millis),
        "0",
    ),
    known("idle_session_timeout", Int(0, MOST, Millis), "0"),
    known(INTERVAL_STYLE, Style, "postgres"),
    known("jit", Bool, "off"),
    known("jit_above_cost", Real(-1.0, f64::MAX, Plain), "100000"),
    known("jit_expressions", Bool, "on"),
    known(
        "jit_inline_above_cost",
        Real(-1.0, f64::MAX, Plain),
        "500000",
    ),
    known(
        "jit_optimize_above_cost",
        Real(-1.0, f64::MAX, Plain),
        "500000",
    ),
    known("jit_tuple_deforming", Bool, "on"),
    known("join_collapse_limit", Int(1, MOST, Plain), "8"),
    known("lc_messages", Text, ""),
    known("lc_monetary", Only(&["C", "POSIX"]), "C"),
    known("lc_numeric", Only(&["C", "POSIX"]), "C"),
    known("lc_time", Only(&["C", "POSIX"]), "C"),
    known("lo_compat_privileges", Bool, "off"),
    known("lock_timeout", Int(0, MOST, Millis), "0"),
    known("log_duration", Bool, "off"),
    known(
        "log_error_verbosity",
        Word(&["terse", "default", "verbose"]),
        "default",
    ),
    known("log_lock_waits", Bool, "off"),
    known("log_min_duration_statement", Int(-1, MOST, Millis), "-1"),
    known("log_min_error_statement", Word(LEVELS), "error"),
    known("log_min_messages", Word(LEVELS), "warning"),
    known(
        "log_parameter_max_length_on_error",
        Int(-1, 1_073_741_823, Bytes),
        "0",
    ),
    known(
        "log_statement",
        Word(&["none", "ddl", "mod", "all"]),
        "none",
    ),
    known("log_statement_stats", Bool, "off"),
    known("log_temp_files", Int(-1, MOST, Kilobytes), "-1"),
    known(
        "logical_decoding_work_mem",
        Int(64, MOST, Kilobytes),
        "65536",
    ),
    known("maintenance_io_concurrency", Int(0, 1_000, Plain), "10"),
    known("maintenance_work_mem", Int(1_024, MOST, Kilobytes), "65536"),
    known(
        "max_parallel_maintenance_workers",
        Int(0, 1_024, Plain),
        "2",
    ),
    known("max_parallel_workers", Int(0, 1_024, Plain), "8"),
    known("max_parallel_workers_per_gather", Int(0, 1_024, Plain), "2"),
    known("max_stack_depth", Int(100, MOST, Kilobytes), "2048"),
    known(
        "min_parallel_index_scan_size",
        Int(0, 715_827_882, Blocks),
        "64",
    ),
    known(
        "min_parallel_table_scan_size",
        Int(0, 715_827_882, Blocks),
        "1024",
    ),
    known("parallel_leader_participation", Bool, "on"),
    known("parallel_setup_cost", Real(0.0, f64::MAX, Plain), "1000"),
    known("parallel_tuple_cost", Real(0.0, f64::MAX, Plain), "0.1"),
    known(
        "password_encryption",
        Only(&["scram-sha-256", "md5"]),
        "scram-sha-256",
    ),
    known(
        "plan_cache_mode",
        Word(&["auto", "force_generic_plan", "force_custom_plan"]),
        "auto",
    ),
    known("quote_all_identifiers", Bool, "off"),
    known("random_page_cost", Real(0.0, f64::MAX, Plain), "4"),
    known("recursive_worktable_factor", Real(0.001, 1e6, Plain), "10"),
    known("row_security", Bool, "on"),
    known("search_path", Text, "\"$user\", public"),
    known("seq_page_cost", Real(0.0, f64::MAX, Plain), "1"),
    known(
        "session_replication_role",
        Only(&["origin", "replica", "local"]),
        "origin",
    ),
    known("statement_timeout", Int(0, MOST, Millis), "0"),
    known(
        "stats_fetch_consistency",
        Word(&["none", "cache", "snapshot"]),
        "cache",
    ),
    known("synchronize_seqscans", Bool, "on"),
    known(
        "synchronous_commit",
        Word(&["local", "remote_write", "remote_apply", "on", "off"]),
        "on",
    ),
    known("tcp_keepalives_count", Int(0, MOST, Plain), "0"),
    known("tcp_keepalives_idle", Int(0, MOST, Seconds), "0"),
    known("tcp_keepalives_interval", Int(0, MOST, Seconds), "0"),
    known("tcp_user_timeout", Int(0, MOST, Millis), "0"),
    known("temp_buffers", Int(100, 1_073_741_823, Blocks), "1024"),
    known("temp_file_limit", Int(-1, MOST, Kilobytes), "-1"),
    known("temp_tablespaces", Text, ""),
    known("track_activities", Bool, "on"),
    known("track_counts", Bool, "on"),
    known("track_functions", Word(&["none", "pl", "all"]), "none"),
    known("track_io_timing", Bool, "off"),
    known("transaction_timeout", Int(0, MOST, Millis), "0"),
    known("transform_null_equals", Only(BOOLS), "off"),
    known("vacuum_cost_delay", Real(0.0, 100.0, Millis), "0"),
    known("vacuum_cost_limit", Int(1, 10_000, Plain), "200"),
    known(
        "vacuum_freeze_min_age",
        Int(0, 1_000_000_000, Plain),
        "50000000",
    ),
    known(
        "vacuum_freeze_table_age",
        Int(0, 2_000_000_000, Plain),
        "150000000",
    ),
    known(
        "wal_compression",
        Word(&["pglz", "lz4", "zstd", "on", "off"]),
        "off",
    ),
    known("work_mem", Int(64, MOST, Kilobytes), "4096"),
    known("xmlbinary", Word(&["base64", "hex"]), "base64"),
    known("zero_damaged_pages", Only(BOOLS), "off"),
];

/// Those that do what they say.
const WITH_EFFECT: [&str; 13] = [
    "application_name",
    "client_min_messages",
    "check_function_bodies",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "lock_timeout",
    "search_path",
    "statement_timeout",
    "transaction_timeout",
    BYTEA_OUTPUT,
    DATE_STYLE,
    FLOAT_DIGITS,
    INTERVAL_STYLE,
];

/// The parameter of a name in lower case.
pub(crate) fn find(name: &str) -> Option<&'static Known> {
    let place = KNOWN.binary_search_by(|known| known.name.cmp(name)).ok()?;
    KNOWN.get(place)
}

impl Unit {
    /// Names of units that numbers may have, and how many of this one each is, the largest
    /// first.
    fn scale(self) -> &'static [(&'static str, f64)] {
        match self {
            Plain => &[],
            Bytes => &[
                ("TB", 1_099_511_627_776.0),
                ("GB", 1_073_741_824.0),
                ("MB", 1_048_576.0),
                ("kB", 1_024.0),
                ("B", 1.0),
            ],
            Kilobytes => &[
                ("TB", 1_073_741_824.0),
                ("GB", 1_048_576.0),
                ("MB", 1_024.0),
                ("kB", 1.0),
                ("B", 1.0 / 1_024.0),
            ],
            Blocks => &[
                ("TB", 134_217_728.0),
                ("GB", 131_072.0),
                ("MB", 128.0),
                ("kB", 0.125),
                ("B", 1.0 / 8_192.0),
            ],
            Millis => &[
                ("d", 86_400_000.0),
                ("h", 3_600_000.0),
                ("min", 60_000.0),
                ("s", 1_000.0),
                ("ms", 1.0),
                ("us", 0.001),
            ],
            Seconds => &[
                ("d", 86_400.0),
                ("h", 3_600.0),
                ("min", 60.0),
                ("s", 1.0),
                ("ms", 0.001),
                ("us", 0.000_001),
            ],
        }
    }

    /// As `pg_settings` has it.
    pub(crate) fn shown(self) -> Option<&'static str> {
        match self {
            Plain => None,
            Bytes => Some("B"),
            Kilobytes => Some("kB"),
            Blocks => Some("8kB"),
            Millis => Some("ms"),
            Seconds => Some("s"),
        }
    }

    /// A number with the largest unit that leaves it whole.
    fn written(self, number: i64) -> String {
        if number <= 0 {
            return number.to_string();
        }
        let units = self.scale().iter();
        let whole = units.filter_map(|(name, size)| match *size >= 1.0 {
            true => {
                let size = *size as i64;
                (number % size == 0).then(|| format!("{}{name}", number / size))
            }
            // A block is eight kilobytes.
            false => {
                let times = (1.0 / size) as i64;
                Some(format!("{}{name}", number.checked_mul(times)?))
            }
        });
        let mut whole = whole;
        whole.next().unwrap_or_else(|| number.to_string())
    }
}

impl Unit {
    /// A number with a fraction, with the largest unit that leaves it whole, or with the
    /// smallest one.
    fn real(self, number: f64) -> String {
        if number <= 0.0 || self.scale().is_empty() {
            return number.to_string();
        }
        let counted = |size: f64| number / size;
        let whole = |size: f64| {
            let count = counted(size);
            let rounded = count.round_ties_even();
            rounded > 0.0 && (count / rounded - 1.0).abs() <= 1e-8
        };
        let mut units = self.scale().iter();
        let found = units.find(|(_, size)| whole(*size)).or(self.scale().last());
        found.map_or_else(String::new, |(name, size)| {
            let count = counted(*size);
            let count = if whole(*size) {
                count.round_ties_even()
            } else {
                count
            };
            format!("{count}{name}")
        })
    }
}

impl Known {
    /// Whether it has no effect.
    pub(crate) fn is_idle(&self) -> bool {
        !WITH_EFFECT.contains(&self.name)
    }

    /// A value as it is kept, of numbers their count of the parameter's unit; `now` is the one
    /// that it has.
    ///
    /// # Errors
    /// `22023` for one that PostgreSQL refuses, `0A000` for one that is not done here.
    pub(crate) fn checked(&self, value: &str, now: &str) -> Result<String> {
        let invalid = || {
            let name = self.name;
            let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
            Error::new("22023", message)
        };
        let outside = |number: String, least: String, most: String| {
            let name = self.name;
            let message = format!(
                "{number} is outside the valid range for parameter \"{name}\" ({least} .. {most})"
            );
            Error::new("22023", message)
        };
        Ok(match self.kind {
            Bool => match truth(value) {
                Some(true) => "on".to_owned(),
                Some(false) => "off".to_owned(),
                None => {
                    let message = format!("parameter \"{}\" requires a Boolean value", self.name);
                    return Err(Error::new("22023", message));
                }
            },
            Int(least, most, unit) => {
                let units: Vec<&str> = unit.scale().iter().map(|(name, _)| *name).collect();
                let bad = || match units.is_empty() {
                    true => invalid(),
                    false => invalid().with_hint(format!(
                        "Valid units for this parameter are {}.",
                        units.join(", ")
                    )),
                };
                let number = number(value, unit).ok_or_else(bad)?.round_ties_even();
                if number < least as f64 || number > most as f64 {
                    let unit = unit
                        .shown()
                        .map_or(String::new(), |unit| format!(" {unit}"));
                    return Err(outside(
                        format!("{number}{unit}"),
                        format!("{least}{unit}"),
                        format!("{most}{unit}"),
                    ));
                }
                (number as i64).to_string()
            }
            Real(least, most, unit) => {
                let number = number(value, unit).ok_or_else(invalid)?;
                if number < least || number > most {
                    return Err(outside(
                        number.to_string(),
                        least.to_string(),
                        most.to_string(),
                    ));
                }
                number.to_string()
            }
            Word(words) | Only(words) => {
                let bools = words.contains(&"on") && words.contains(&"off");
                let by_truth = truth(value).filter(|_| bools);
                let by_truth = by_truth.map(|on| if on { "on" } else { "off" });
                // SHOW never prints this name.
                let value = match value.eq_ignore_ascii_case("debug") {
                    true => "debug2",
                    false => value,
                };
                let mut words = words.iter().copied();
                let word = words.find(|word| word.eq_ignore_ascii_case(value));
                let word = word
                    .or(by_truth)
                    .ok_or_else(|| self.not_a_word(invalid()))?;
                if matches!(self.kind, Only(_)) && word != self.default {
                    if self.name.starts_with("lc_") {
                        return Ok(word.to_owned());
                    }
                    let name = self.name;
                    let message = format!("parameter \"{name}\" can only be \"{}\"", self.default);
                    return Err(Error::unsupported(message));
                }
                word.to_owned()
            }
            Style => styles::checked(self.name, value, now)?,
            Text => value.to_owned(),
        })
    }

    fn not_a_word(&self, error: Error) -> Error {
        match self.kind {
            Word(words) | Only(words) => {
                let words = words.join(", ");
                error.with_hint(format!("Available values: {words}."))
            }
            _ => error,
        }
    }

    /// A kept value as SHOW prints it.
    pub(crate) fn shown(&self, kept: &str) -> String {
        match self.kind {
            Int(_, _, unit) => match kept.parse() {
                Ok(number) => unit.written(number),
                Err(_) => kept.to_owned(),
            },
            Real(_, _, unit) => match kept.parse() {
                Ok(number) => unit.real(number),
                Err(_) => kept.to_owned(),
            },
            _ => kept.to_owned(),
        }
    }

    /// The type as `pg_settings` has it.
    pub(crate) fn vartype(&self) -> &'static str {
        match self.kind {
            Bool => "bool",
            Int(..) => "integer",
            Real(..) => "real",
            Word(_) => "enum",
            Only(words) if words.len() == 2 && words[0] == "on" => "bool",
            Only(words) if words[0] == "C" => "string",
            Only(_) => "enum",
            Style | Text => "string",
        }
    }
}

/// A truth value, or the beginning of its word.
fn truth(value: &str) -> Option<bool> {
    let value = value.trim().to_lowercase();
    let begins = |word: &str, least: usize| value.len() >= least && word.starts_with(&*value);
    match value.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ if begins("true", 1) || begins("yes", 1) || value == "on" => Some(true),
        _ if begins("false", 1) || begins("no", 1) || begins("off", 2) => Some(false),
        _ => None,
    }
}

/// A number with its unit, counted in the parameter's own.
fn number(value: &str, unit: Unit) -> Option<f64> {
    let text = value.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (number, rest) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => {
            let end = hex.find(|c: char| !c.is_ascii_hexdigit());
            let end = end.unwrap_or(hex.len());
            (
                i64::from_str_radix(&hex[..end], 16).ok()? as f64,
                &hex[end..],
            )
        }
        None => {
            let mut end = digits.find(|c: char| !c.is_ascii_digit() && c != '.');
            // An exponent belongs to the number.
            if let Some(at) = end
                && digits[at..].starts_with(['e', 'E'])
            {
                let behind = digits[at + 1..].trim_start_matches(['+', '-']);
                let more = behind.find(|c: char| !c.is_ascii_digit());
                let signs = digits.len() - at - 1 - behind.len();
                let count = more.unwrap_or(behind.len());
                if count > 0 {
                    end = Some(at + 1 + signs + count).filter(|end| *end < digits.len());
                }
            }
            let end = end.unwrap_or(digits.len());
            (digits[..end].parse::<f64>().ok()?, &digits[end..])
        }
    };
    let size = match rest.trim() {
        "" => 1.0,
        name => unit.scale().iter().find(|(known, _)| *known == name)?.1,
    };
    let number = sign * number * size;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(KNOWN.is_sorted_by(|a, b| a.name < b.name));
        for known in &KNOWN {
            assert_eq!(
                known.checked(known.default, known.default).unwrap(),
                known.default
            );
        }
    }

    #[test]
    fn values_are_checked_and_shown() {
        for (name, value, shown) in [
            ("work_mem", "64", "64kB"),
            ("work_mem", "8192", "8MB"),
            ("work_mem", "1.5GB", "1536MB"),
            ("work_mem", "0x40", "64kB"),
            ("effective_cache_size", "16kB", "16kB"),
            ("effective_cache_size", "1GB", "1GB"),
            ("statement_timeout", "90s", "90s"),
            ("statement_timeout", "1.5min", "90s"),
            ("statement_timeout", "1d", "1d"),
            ("lock_timeout", "7", "7ms"),
            ("log_temp_files", "-1", "-1"),
            ("enable_sort", "f", "off"),
            ("enable_sort", "YES", "on"),
            ("random_page_cost", "1.1", "1.1"),
            ("vacuum_cost_delay", "40", "40ms"),
            ("vacuum_cost_delay", "80.1", "80100us"),
            ("vacuum_cost_delay", "0.25ms", "250us"),
            ("vacuum_cost_delay", "0", "0"),
            ("random_page_cost", "2e0", "2"),
            ("synchronous_commit", "false", "off"),
            (
                "plan_cache_mode",
                "FORCE_GENERIC_PLAN",
                "force_generic_plan",
            ),
            ("array_nulls", "true", "on"),
        ] {
            let known = find(name).unwrap();
            let kept = known.checked(value, known.default).unwrap();
            assert_eq!(known.shown(&kept), shown, "{name} {value}");
        }
        for (name, value, state) in [
            ("work_mem", "63kB", "22023"),
            ("work_mem", "much", "22023"),
            ("work_mem", "1s", "22023"),
            ("work_mem", "99999999999999TB", "22023"),
            ("statement_timeout", "-1", "22023"),
            ("statement_timeout", "", "22023"),
            ("enable_sort", "o", "22023"),
            ("enable_sort", "2", "22023"),
            ("geqo_seed", "1.5", "22023"),
            ("geqo_seed", "1ms", "22023"),
            ("vacuum_cost_delay", "1s", "22023"),
            ("geqo_seed", "NaN", "22023"),
            ("plan_cache_mode", "none", "22023"),
            ("array_nulls", "off", "0A000"),
            ("session_replication_role", "replica", "0A000"),
            ("session_replication_role", "other", "22023"),
        ] {
            let error = find(name).unwrap().checked(value, "").unwrap_err();
            assert_eq!(error.sqlstate, state, "{name} {value}");
        }
        assert!(find("threads").is_none());
    }
}
