//! Settings that concern a client and what it is sent, not how queries run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::{Block, MACHINE, Open, Session, Setting, current};
use crate::error::{Error, Result};
use crate::plan::names::{DEFAULT_SCHEMA, PUBLIC};
use crate::rights::told;
use crate::values::styles::{self, BYTEA_OUTPUT, DATE_STYLE, FLOAT_DIGITS, INTERVAL_STYLE, Styles};

/// Their names and defaults.
const DEFAULTS: [(&str, &str); 20] = [
    ("application_name", ""),
    (BYTEA_OUTPUT, "hex"),
    ("check_function_bodies", "on"),
    ("client_min_messages", "notice"),
    (DATE_STYLE, "ISO, MDY"),
    ("default_table_access_method", "heap"),
    ("escape_string_warning", "on"),
    (FLOAT_DIGITS, "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("idle_session_timeout", "0"),
    (INTERVAL_STYLE, "postgres"),
    ("jit", "off"),
    ("lock_timeout", "0"),
    ("quote_all_identifiers", "off"),
    ("row_security", "on"),
    (SEARCH_PATH, "main"),
    ("statement_timeout", "0"),
    ("synchronize_seqscans", "on"),
    ("synchronous_commit", "on"),
    ("transaction_timeout", "0"),
];

/// Where names without a schema are looked up.
const SEARCH_PATH: &str = "search_path";
/// What it may list: the one default schema under its names, and those of the system.
const SEARCHED: [&str; 7] = [
    "",
    "$user",
    DEFAULT_SCHEMA,
    PUBLIC,
    "pg_catalog",
    "pg_temp",
    "information_schema",
];

/// Those of one session.
#[derive(Debug, Default)]
pub(crate) struct ClientSettings {
    kept: Mutex<Kept>,
    /// How often a setting of the session was set, one of these or another.
    changes: AtomicU64,
}

/// In the order of [`DEFAULTS`].
#[derive(Debug, Default)]
struct Kept {
    /// What was set; `None` for the default.
    set: [Option<String>; DEFAULTS.len()],
    /// The longest that a limit of time may be, which is its default, too.
    most: [Option<Duration>; DEFAULTS.len()],
    /// What those of them say that concern how values are shown.
    styles: Styles,
}

impl Kept {
    fn value(&self, place: usize) -> String {
        let set = self.set[place].as_deref().unwrap_or(DEFAULTS[place].1);
        let Some(most) = self.most[place] else {
            return set.to_owned();
        };
        match self.own(place) {
            Some(own) if own <= most => set.to_owned(),
            _ => written(most),
        }
    }

    fn read_styles(&mut self) {
        self.styles = Styles::of(|name| Some(self.value(place(name)?)));
    }

    /// The limit of time that was set; `None` if there is none, which is longer than any.
    fn own(&self, place: usize) -> Option<Duration> {
        let set = self.set[place].as_deref().unwrap_or(DEFAULTS[place].1);
        duration(set).filter(|own| !own.is_zero())
    }

    /// The limit of time that counts.
    fn limit(&self, place: usize) -> Option<Duration> {
        let limits = [self.own(place), self.most[place]];
        limits.into_iter().flatten().min()
    }
}

impl ClientSettings {
    /// The value of a setting; `None` if it is none of these.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let place = place(name)?;
        Some(self.kept.lock().value(place))
    }

    /// Sets one, or brings back its default; whether it is one of these.
    ///
    /// # Errors
    /// `22023` for a value that it cannot have.
    pub(crate) fn set(&self, name: &str, value: Option<&str>) -> Result<bool> {
        let Some(place) = place(name) else {
            return Ok(false);
        };
        if let Some(value) = value
            && name.to_lowercase().ends_with("timeout")
            && duration(value).is_none()
        {
            let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
            let hint = "give milliseconds, or a number with ms, s, min, h or d; 0 for no limit";
            return Err(Error::new("22023", message).with_hint(hint));
        }
        if let Some(value) = value
            && DEFAULTS[place].0 == SEARCH_PATH
        {
            let mut names = value.split(',').map(|name| name.trim().trim_matches('"'));
            if let Some(other) = names.find(|name| !SEARCHED.contains(name)) {
                let message = format!("names are not looked up in the schema \"{other}\"");
                let hint = "names without a schema are of main: write schema.table for others";
                return Err(Error::new("0A000", message).with_hint(hint));
            }
        }
        let mut kept = self.kept.lock();
        let known = DEFAULTS[place].0;
        kept.set[place] = match value {
            Some(value) if styles::NAMES.contains(&known) => {
                Some(styles::checked(known, value, &kept.value(place))?)
            }
            value => value.map(str::to_owned),
        };
        kept.read_styles();
        drop(kept);
        self.changed();
        Ok(true)
    }

    /// Brings back all defaults.
    fn reset(&self) {
        let mut kept = self.kept.lock();
        kept.set = Default::default();
        kept.read_styles();
        drop(kept);
        self.changed();
    }

    /// How values are shown.
    pub(crate) fn styles(&self) -> Styles {
        self.kept.lock().styles
    }

    /// Notes that a setting of the session was set, one of these or another.
    pub(super) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// How often one was set.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// All of them with their values.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let kept = self.kept.lock();
        let names = DEFAULTS.iter().enumerate();
        names
            .map(|(place, (name, _))| ((*name).to_owned(), kept.value(place)))
            .collect()
    }

    /// A limit of time; `None` if there is none.
    pub(crate) fn timeout(&self, name: &str) -> Option<Duration> {
        let place = place(name)?;
        self.kept.lock().limit(place)
    }
}

/// A limit of time as SHOW prints it.
fn written(limit: Duration) -> String {
    match limit.as_millis() {
        millis if millis % 1_000 == 0 => format!("{}s", millis / 1_000),
        millis => format!("{millis}ms"),
    }
}

fn place(name: &str) -> Option<usize> {
    DEFAULTS
        .iter()
        .position(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Milliseconds, or a number with its unit.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let unit = match text[end..].trim() {
        "" | "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.checked_mul(unit)?))
}

impl Session {
    /// Settings that concern its client.
    pub(crate) fn client(&self) -> &ClientSettings {
        &self.client
    }

    /// How values are shown as text, by its settings.
    pub fn styles(&self) -> Styles {
        self.client.styles()
    }

    /// A number that is another one after a setting was changed.
    pub fn setting_changes(&self) -> u64 {
        self.client.changes()
    }

    /// The value of a setting, as SHOW prints it.
    ///
    /// # Errors
    /// `42704` for an unknown setting.
    pub fn setting(&self, name: &str) -> Result<String> {
        let own = self.client.get(name).or_else(|| self.reading(name));
        match own.or_else(|| self.machine(name)) {
            Some(value) => Ok(value),
            None => current(&self.state.read(), name),
        }
    }

    /// Brings back the defaults of the settings that concern a session alone.
    ///
    /// # Errors
    /// Those of [`Session::set`].
    pub(crate) fn reset_all(&self) -> Result<()> {
        self.client.reset();
        let own = [
            "timezone",
            "threads",
            "durability",
            "freestone.engine",
            MACHINE,
        ];
        for name in own {
            self.configure(&Setting {
                name: name.to_owned(),
                value: None,
            })?;
        }
        Ok(())
    }

    /// Changes a setting, as SET does.
    ///
    /// # Errors
    /// `42704` for an unknown setting, `22023` for a value that it cannot have.
    pub fn set(&self, name: &str, value: &str) -> Result<()> {
        self.configure(&Setting {
            name: name.to_owned(),
            value: Some(value.to_owned()),
        })
    }

    /// Fails the open transaction, if there is one: its client did something wrong that no
    /// statement has noticed.
    pub fn fail(&self) {
        self.transaction().leave(true);
    }

    /// Opens a transaction for statements that a client sends as one, unless there is one.
    /// BEGIN makes it one that lasts, COMMIT and ROLLBACK end it.
    ///
    /// # Errors
    /// Those of storage.
    pub fn begin_implicit(&self) -> Result<()> {
        let mut open = self.transaction();
        if let Open::Nothing = *open {
            let (serializable, read_only) = self.modes();
            let mut block = Block::implicit(self.database().store().begin()?);
            block.set(serializable, Some(read_only))?;
            *open = Open::Going(block);
        }
        Ok(())
    }

    /// Commits what [`Session::begin_implicit`] has opened, or takes it back if a statement
    /// has failed in it.
    ///
    /// # Errors
    /// Those of a commit; nothing has changed then.
    pub async fn end_implicit(&self) -> Result<()> {
        let ended = self.transaction().end_implicit();
        let (done, committed) = match ended {
            Some(transaction) => {
                let done = Box::pin(self.commit(transaction)).await;
                let done = done.map_err(|error| told(self, None, error));
                let committed = done.is_ok();
                (done, committed)
            }
            None => (Ok(()), false),
        };
        if !self.in_transaction() {
            self.cursors().end_transaction(committed);
        }
        done
    }

    /// The limit of time that a setting such as `statement_timeout` asks for; `None` if
    /// there is none.
    pub fn timeout(&self, setting: &str) -> Option<Duration> {
        self.client.timeout(setting)
    }

    /// Makes `most` the default of a limit of time such as `statement_timeout`, and the longest
    /// that this session has: SET with 0 or more than that leaves it at that.
    ///
    /// # Errors
    /// `42704` for a setting that is no limit of time.
    pub fn limit(&self, setting: &str, most: Duration) -> Result<()> {
        let place = place(setting).filter(|place| DEFAULTS[*place].0.ends_with("timeout"));
        let place = place.ok_or_else(|| {
            let message = format!("there is no limit of time \"{setting}\"");
            Error::new("42704", message)
        })?;
        self.client.kept.lock().most[place] = Some(most);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_units() {
        let settings = ClientSettings::default();
        assert_eq!(settings.timeout("statement_timeout"), None);
        for (text, millis) in [("250", 250), ("3s", 3_000), ("2 min", 120_000)] {
            settings.set("Statement_Timeout", Some(text)).unwrap();
            let limit = settings.timeout("statement_timeout");
            assert_eq!(limit, Some(Duration::from_millis(millis)));
        }
        for wrong in [
            "",
            "-1",
            "soon",
            "99999999999999999999",
            "9999999999999999d",
        ] {
            let error = settings.set("statement_timeout", Some(wrong)).unwrap_err();
            assert_eq!(error.sqlstate, "22023", "{wrong}");
        }
        settings.set("statement_timeout", None).unwrap();
        assert_eq!(settings.get("statement_timeout").unwrap(), "0");
        assert!(!settings.set("threads", Some("3")).unwrap());
    }

    #[test]
    fn limits_are_no_longer_than_they_may_be() {
        let settings = ClientSettings::default();
        let at = place("statement_timeout").unwrap();
        settings.kept.lock().most[at] = Some(Duration::from_secs(30));
        let value = || settings.get("statement_timeout").unwrap();
        assert_eq!(value(), "30s");
        for (given, has) in [
            ("5s", "5s"),
            ("0", "30s"),
            ("31s", "30s"),
            ("30000", "30000"),
        ] {
            settings.set("statement_timeout", Some(given)).unwrap();
            assert_eq!(value(), has, "{given}");
        }
        settings.set("statement_timeout", Some("1ms")).unwrap();
        settings.reset();
        let limit = settings.timeout("statement_timeout");
        assert_eq!(limit, Some(Duration::from_secs(30)));
        assert_eq!(written(Duration::from_millis(1_500)), "1500ms");
    }
}
