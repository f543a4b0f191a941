//! Settings that concern a client and what it is sent, not how queries run.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;

use super::known::{KNOWN, Known, find};
use super::modes::{AskedModes, Level, Modes};
use super::options::Setting;
use super::path::{OfTemporary, schemas};
use crate::error::{Error, Result};
use crate::values::styles::{self, Styles};

/// Where names without a schema are looked up.
const SEARCH_PATH: &str = "search_path";
/// Settings of a client's own that it may have at a time,
const MOST_OWN: usize = 1_000;
/// and how long the value of one may be.
const LONGEST: usize = 1 << 20;

/// Those of one session.
#[derive(Debug, Default)]
pub(crate) struct ClientSettings {
    kept: Mutex<Kept>,
    /// How often a setting of the session was set, one of these or another.
    changes: AtomicU64,
    /// The schema of the session's temporary tables, once there may be some.
    pub(crate) temporary: OnceLock<String>,
}

#[derive(Debug, Default)]
struct Kept {
    /// What was set, by names in lower case; the default counts where there is nothing.
    set: BTreeMap<String, String>,
    /// The longest that a limit of time may be, which is its default, too.
    most: HashMap<&'static str, Duration>,
    /// What was changed since the transaction began.
    journal: Vec<Change>,
    /// The schemas of `search_path`, if it is not the one that sessions begin with.
    path: Option<Arc<[String]>>,
    /// The place of temporary relations in the path.
    temporary: OfTemporary,
    /// Settings kept elsewhere that are to be set.
    pending: Vec<Setting>,
    /// The modes that `default_transaction_isolation` and its kin have where nobody sets them,
    usual: Modes,
    /// the modes of transactions that say nothing of them,
    modes: Modes,
    /// and those of the statement that runs.
    present: Modes,
    /// How values are shown.
    styles: Styles,
}

/// A change of a setting, which the end of its transaction may take back.
#[derive(Clone, Debug)]
struct Change {
    name: String,
    before: Option<String>,
    after: Option<String>,
    /// Whether it lasts as long as its transaction.
    local: bool,
    /// Whether the setting is kept elsewhere.
    elsewhere: bool,
}

/// What a setting kept elsewhere becomes when a change is taken back.
pub(crate) type Restored = (String, Option<String>);

impl Kept {
    fn value(&self, known: &'static Known) -> String {
        let set = self
            .set
            .get(known.name)
            .map_or(known.default, String::as_str);
        match self.most.get(known.name) {
            Some(most) if self.own(known).is_none_or(|own| own > *most) => written(*most),
            _ => known.shown(set),
        }
    }

    /// The limit of time that was set; `None` if there is none, which is longer than any.
    fn own(&self, known: &Known) -> Option<Duration> {
        let set = self
            .set
            .get(known.name)
            .map_or(known.default, String::as_str);
        let millis = set.parse::<u64>().ok().filter(|millis| *millis > 0);
        millis.map(Duration::from_millis)
    }

    /// The limit of time that counts.
    fn limit(&self, known: &Known) -> Option<Duration> {
        let limits = [self.own(known), self.most.get(known.name).copied()];
        limits.into_iter().flatten().min()
    }

    fn put(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => drop(self.set.insert(name.to_owned(), value)),
            None => drop(self.set.remove(name)),
        }
        if name == SEARCH_PATH {
            let path = self.set.get(SEARCH_PATH);
            self.temporary = path.map(|path| OfTemporary::of(path)).unwrap_or_default();
            self.path = path.and_then(|path| schemas(path)).map(Arc::from);
        }
        if styles::NAMES.contains(&name) {
            self.styles = Styles::of(|name| Some(self.value(find(name)?)));
        }
        if name.starts_with("default_transaction_") {
            let set = self.set.iter();
            let asked = set.filter_map(|(name, value)| match name.starts_with("default_") {
                true => AskedModes::set(name, value),
                false => None,
            });
            self.modes = asked.fold(self.usual, Modes::with);
        }
    }

    /// Takes changes back, the last first, down to a mark; what becomes of settings that are
    /// kept elsewhere.
    fn undo(&mut self, mark: usize) -> Vec<Restored> {
        let undone = self.journal.split_off(mark.min(self.journal.len()));
        let mut elsewhere = Vec::new();
        for change in undone.into_iter().rev() {
            match change.elsewhere {
                true => elsewhere.push((change.name, change.before)),
                false => self.put(&change.name, change.before),
            }
        }
        elsewhere
    }

    /// Ends a transaction that stays: what was set for it alone goes.
    fn settle(&mut self) -> Vec<Restored> {
        let journal = std::mem::take(&mut self.journal);
        // The last change of each that lasts, or what was before all of them.
        let mut last: HashMap<String, (bool, bool, Option<String>)> = HashMap::new();
        for change in journal {
            let entry = last.entry(change.name);
            let entry = entry.or_insert((change.elsewhere, false, change.before));
            entry.1 = change.local;
            if !change.local {
                entry.2 = change.after;
            }
        }
        let mut elsewhere = Vec::new();
        for (name, (is_elsewhere, local, value)) in last {
            match (local, is_elsewhere) {
                (false, _) => {}
                (true, true) => elsewhere.push((name, value)),
                (true, false) => self.put(&name, value),
            }
        }
        elsewhere
    }
}

/// Whether a name is one that a client may give to a setting of its own: words between points.
fn is_own(name: &str) -> bool {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next();
        first.is_some_and(|c| c.is_alphabetic() || c == '_')
            && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    };
    name.contains('.') && name.split('.').all(word)
}

/// Whether a name of a client's own is one of ours that there is not.
fn is_ours(name: &str) -> bool {
    name.starts_with("freestone.")
}

impl ClientSettings {
    /// The value of a setting; `None` if it is none of these.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let name = name.to_lowercase();
        let kept = self.kept.lock();
        if let Some(known) = find(&name) {
            return Some(kept.value(known));
        }
        let shown = match name.starts_with("default_") {
            true => kept.modes.shown(&name),
            false => kept.present.shown(&name),
        };
        let shown = shown.map(str::to_owned);
        shown.or_else(|| kept.set.get(&name).cloned())
    }

    /// Sets one, or brings back its default, for the session or for the present transaction
    /// alone; whether it is one of these.
    ///
    /// # Errors
    /// `22023` for a value that it cannot have.
    pub(crate) fn set(&self, name: &str, value: Option<&str>, local: bool) -> Result<bool> {
        let name = name.to_lowercase();
        let value = match (find(&name), value) {
            (Some(known), Some(value)) => {
                let now = self.kept.lock().value(known);
                Some(known.checked(value, &now)?)
            }
            (Some(_), None) => None,
            (None, _) if is_default_mode(&name) => match value {
                None => None,
                Some(value) => {
                    let asked = AskedModes::set(&name, value);
                    let modes = asked.map(|asked| self.modes().with(asked));
                    let shown = modes.and_then(|modes| modes.shown(&name));
                    let shown = shown.ok_or_else(|| invalid(&name, value))?;
                    Some(shown.to_owned())
                }
            },
            (None, value) if is_own(&name) && !is_ours(&name) => {
                let kept = self.kept.lock();
                let many = kept.set.len() >= KNOWN.len() + MOST_OWN;
                if many && !kept.set.contains_key(&name)
                    || value.is_some_and(|value| value.len() > LONGEST)
                {
                    let message = format!("there is no room for the parameter \"{name}\"");
                    return Err(Error::new("54000", message));
                }
                // It is known from now on.
                Some(value.unwrap_or_default().to_owned())
            }
            (None, _) => return Ok(false),
        };
        let mut kept = self.kept.lock();
        let own = find(&name).is_none() && !is_default_mode(&name);
        let before = kept.set.get(&name).cloned();
        kept.journal.push(Change {
            before: before.or_else(|| own.then(String::new)),
            after: value.clone(),
            local,
            elsewhere: false,
            name: name.clone(),
        });
        kept.put(&name, value);
        drop(kept);
        self.changed();
        Ok(true)
    }

    /// Notes a change of a setting that is kept elsewhere.
    pub(crate) fn note(&self, (name, before): Restored, after: Option<String>, local: bool) {
        self.kept.lock().journal.push(Change {
            name,
            before,
            after,
            local,
            elsewhere: true,
        });
    }

    /// The place in the transaction up to which ROLLBACK TO takes settings back.
    pub(crate) fn mark(&self) -> usize {
        self.kept.lock().journal.len()
    }

    /// Has a setting that is kept elsewhere set before the next statement.
    pub(crate) fn set_later(&self, setting: Setting) {
        let mut kept = self.kept.lock();
        kept.pending.retain(|other| other.name != setting.name);
        kept.pending.push(setting);
    }

    /// Takes settings back that were changed since a mark; see [`Kept::undo`].
    #[must_use]
    pub(crate) fn undo(&self, mark: usize) -> Vec<Restored> {
        let mut kept = self.kept.lock();
        match kept.journal.len() > mark {
            true => {
                self.changed();
                kept.undo(mark)
            }
            false => Vec::new(),
        }
    }

    /// Ends a transaction that stays; see [`Kept::settle`].
    #[must_use]
    pub(crate) fn settle(&self) -> Vec<Restored> {
        let mut kept = self.kept.lock();
        match kept.journal.is_empty() {
            true => Vec::new(),
            false => {
                self.changed();
                kept.settle()
            }
        }
    }

    /// Whether names are looked up along another path than sessions begin with.
    pub(crate) fn has_path(&self) -> bool {
        self.kept.lock().path.is_some()
    }

    /// The schemas of that path.
    pub(crate) fn path(&self) -> Option<Arc<[String]>> {
        self.kept.lock().path.clone()
    }

    /// The place of temporary relations in the path.
    pub(crate) fn of_temporary(&self) -> OfTemporary {
        self.kept.lock().temporary.clone()
    }

    /// The modes of transactions that say nothing of them.
    pub(crate) fn modes(&self) -> Modes {
        self.kept.lock().modes
    }

    /// The modes of the transaction that a statement runs in.
    pub(crate) fn set_present(&self, modes: Modes) {
        self.kept.lock().present = modes;
    }

    /// How values are shown.
    pub(crate) fn styles(&self) -> Styles {
        self.kept.lock().styles
    }

    /// Notes that a setting of the session was changed, one of these or another.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// How often one was changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Brings back all defaults.
    pub(crate) fn reset(&self) -> Result<()> {
        let names: Vec<String> = self.kept.lock().set.keys().cloned().collect();
        for name in names {
            self.set(&name, None, false)?;
        }
        Ok(())
    }

    /// All of them with their values.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let mut all = self.others();
        let kept = self.kept.lock();
        let known = KNOWN.iter();
        all.extend(known.map(|known| (known.name.to_owned(), kept.value(known))));
        all
    }

    /// Modes of transactions, and settings of the client's own.
    pub(crate) fn others(&self) -> Vec<(String, String)> {
        let kept = self.kept.lock();
        let mut all = Vec::new();
        for setting in Modes::SETTINGS {
            for (name, modes) in [
                (format!("default_{setting}"), kept.modes),
                (setting.to_owned(), kept.present),
            ] {
                let shown = modes.shown(setting).unwrap_or_default().to_owned();
                all.push((name, shown));
            }
        }
        let own = kept.set.iter().filter(|(name, _)| is_own(name));
        all.extend(own.map(|(name, value)| (name.clone(), value.clone())));
        all
    }

    /// Known parameters with the values that are kept of them, for `pg_settings`.
    pub(crate) fn known(&self) -> Vec<(&'static Known, String)> {
        let kept = self.kept.lock();
        let known = KNOWN.iter();
        let value = |known: &Known| {
            let set = kept.set.get(known.name);
            set.map_or(known.default, String::as_str).to_owned()
        };
        known.map(|known| (known, value(known))).collect()
    }

    /// Takes the settings that are to be set before the next statement.
    pub(crate) fn take_pending(&self) -> Vec<Setting> {
        std::mem::take(&mut self.kept.lock().pending)
    }

    /// Makes a time the default of a limit and the longest that it may be.
    pub(crate) fn limit(&self, known: &'static Known, most: Duration) {
        self.kept.lock().most.insert(known.name, most);
        self.changed();
    }

    /// Makes READ COMMITTED the level of transactions that say nothing of it.
    pub(crate) fn read_committed(&self) {
        let mut kept = self.kept.lock();
        let asked = AskedModes {
            level: Some(Level::ReadCommitted),
            ..AskedModes::default()
        };
        kept.usual = kept.usual.with(asked);
        kept.modes = kept.modes.with(asked);
    }

    /// A limit of time; `None` if there is none.
    pub(crate) fn timeout(&self, name: &str) -> Option<Duration> {
        let known = find(&name.to_lowercase())?;
        self.kept.lock().limit(known)
    }
}

fn is_default_mode(name: &str) -> bool {
    let mode = name.strip_prefix("default_");
    mode.is_some_and(|mode| Modes::SETTINGS.contains(&mode))
}

pub(crate) fn invalid(name: &str, value: &str) -> Error {
    let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
    Error::new("22023", message)
}

/// A limit of time as SHOW prints it.
fn written(limit: Duration) -> String {
    match limit.as_millis() {
        millis if millis % 1_000 == 0 => format!("{}s", millis / 1_000),
        millis => format!("{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(settings: &ClientSettings, name: &str, value: &str) -> Result<bool> {
        settings.set(name, Some(value), false)
    }

    #[test]
    fn limits_have_units() {
        let settings = ClientSettings::default();
        assert_eq!(settings.timeout("statement_timeout"), None);
        for (text, millis) in [("250", 250), ("3s", 3_000), ("2 min", 120_000)] {
            set(&settings, "Statement_Timeout", text).unwrap();
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
            let error = set(&settings, "statement_timeout", wrong).unwrap_err();
            assert_eq!(error.sqlstate, "22023", "{wrong}");
        }
        settings.set("statement_timeout", None, false).unwrap();
        assert_eq!(settings.get("statement_timeout").unwrap(), "0");
        assert!(!set(&settings, "threads", "3").unwrap());
    }

    #[test]
    fn limits_are_no_longer_than_they_may_be() {
        let settings = ClientSettings::default();
        let most = Duration::from_secs(30);
        settings.kept.lock().most.insert("statement_timeout", most);
        let value = || settings.get("statement_timeout").unwrap();
        assert_eq!(value(), "30s");
        for (given, has) in [("5s", "5s"), ("0", "30s"), ("31s", "30s"), ("30000", "30s")] {
            set(&settings, "statement_timeout", given).unwrap();
            assert_eq!(value(), has, "{given}");
        }
        set(&settings, "statement_timeout", "1ms").unwrap();
        settings.reset().unwrap();
        let limit = settings.timeout("statement_timeout");
        assert_eq!(limit, Some(Duration::from_secs(30)));
        assert_eq!(written(Duration::from_millis(1_500)), "1500ms");
    }

    #[test]
    fn changes_end_with_their_transaction() {
        let settings = ClientSettings::default();
        let value = |name: &str| settings.get(name).unwrap();
        set(&settings, "work_mem", "1MB").unwrap();
        assert!(settings.settle().is_empty());
        settings.set("work_mem", Some("2MB"), true).unwrap();
        settings.set("my.own", Some("x"), true).unwrap();
        assert_eq!(
            (value("work_mem"), value("my.own")),
            ("2MB".into(), "x".into())
        );
        assert!(settings.settle().is_empty());
        assert_eq!(
            (value("work_mem"), value("my.own")),
            ("1MB".into(), String::new())
        );
        // One that lasts, among those that do not.
        settings.set("work_mem", Some("3MB"), true).unwrap();
        set(&settings, "work_mem", "4MB").unwrap();
        let mark = settings.mark();
        settings.set("work_mem", Some("5MB"), true).unwrap();
        assert!(settings.undo(mark).is_empty());
        assert_eq!(value("work_mem"), "4MB");
        settings.set("work_mem", Some("6MB"), true).unwrap();
        assert!(settings.settle().is_empty());
        assert_eq!(value("work_mem"), "4MB");
        set(&settings, "work_mem", "7MB").unwrap();
        assert!(settings.undo(0).is_empty());
        assert_eq!(value("work_mem"), "4MB");
        assert!(!set(&settings, "freestone.nothing", "1").unwrap());
        assert!(!set(&settings, "a.1b", "1").unwrap());
    }
}
