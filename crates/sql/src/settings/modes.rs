//! The modes of transactions: isolation, whether they only read, whether they wait for a
//! moment at which reading cannot fail.

use sqlparser::ast::{TransactionAccessMode, TransactionIsolationLevel, TransactionMode};

/// The modes of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    pub(crate) level: Level,
    pub(crate) read_only: bool,
    /// Changes nothing: reading never waits and never fails.
    pub(crate) deferrable: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            level: Level::RepeatableRead,
            read_only: false,
            deferrable: false,
        }
    }
}

/// How far a transaction is isolated from others: at the lower levels each statement sees what
/// was committed before it, at the upper ones all statements see one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Level {
    const ALL: [(Self, &'static str); 4] = [
        (Self::ReadUncommitted, "read uncommitted"),
        (Self::ReadCommitted, "read committed"),
        (Self::RepeatableRead, "repeatable read"),
        (Self::Serializable, "serializable"),
    ];

    /// The level of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|(_, known)| known.eq_ignore_ascii_case(name));
        found.map(|(level, _)| level)
    }

    /// Whether each statement sees what was committed before it.
    pub(crate) fn is_by_statement(self) -> bool {
        matches!(self, Self::ReadUncommitted | Self::ReadCommitted)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|(level, _)| *level == self);
        found.map_or("", |(_, name)| name)
    }
}

/// What a statement asks of modes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AskedModes {
    pub(crate) level: Option<Level>,
    pub(crate) read_only: Option<bool>,
    pub(crate) deferrable: Option<bool>,
}

impl AskedModes {
    /// What a list of modes asks.
    pub(crate) fn of(modes: &[TransactionMode]) -> Self {
        let mut asked = Self::default();
        for mode in modes {
            match mode {
                TransactionMode::IsolationLevel(level) => {
                    asked.level = Some(match level {
                        TransactionIsolationLevel::ReadUncommitted => Level::ReadUncommitted,
                        TransactionIsolationLevel::ReadCommitted => Level::ReadCommitted,
                        TransactionIsolationLevel::RepeatableRead
                        | TransactionIsolationLevel::Snapshot => Level::RepeatableRead,
                        TransactionIsolationLevel::Serializable => Level::Serializable,
                    });
                }
                TransactionMode::AccessMode(access) => {
                    asked.read_only = Some(*access == TransactionAccessMode::ReadOnly);
                }
            }
        }
        asked
    }

    /// What a setting such as `transaction_read_only` asks; `None` if it is none, or has no
    /// such value.
    pub(crate) fn set(setting: &str, value: &str) -> Option<Self> {
        let mut asked = Self::default();
        let truth = || match value.to_lowercase().as_str() {
            "on" | "true" | "yes" | "1" | "t" | "y" => Some(true),
            "off" | "false" | "no" | "0" | "f" | "n" => Some(false),
            _ => None,
        };
        match setting.trim_start_matches("default_") {
            "transaction_isolation" => asked.level = Some(Level::named(value)?),
            "transaction_read_only" => asked.read_only = Some(truth()?),
            "transaction_deferrable" => asked.deferrable = Some(truth()?),
            _ => return None,
        }
        Some(asked)
    }
}

impl Modes {
    /// Settings that show and change them; those of later transactions begin with `default_`.
    pub(crate) const SETTINGS: [&'static str; 3] = [
        "transaction_deferrable",
        "transaction_isolation",
        "transaction_read_only",
    ];

    /// The same with what a statement asks.
    #[must_use]
    pub(crate) fn with(self, asked: AskedModes) -> Self {
        Self {
            level: asked.level.unwrap_or(self.level),
            read_only: asked.read_only.unwrap_or(self.read_only),
            deferrable: asked.deferrable.unwrap_or(self.deferrable),
        }
    }

    /// Whether transactions check that they could have run one after the other.
    pub(crate) fn is_serializable(self) -> bool {
        self.level == Level::Serializable
    }

    /// The value of one of [`Modes::SETTINGS`].
    pub(crate) fn shown(self, setting: &str) -> Option<&'static str> {
        let truth = |on: bool| if on { "on" } else { "off" };
        Some(match setting.trim_start_matches("default_") {
            "transaction_isolation" => self.level.name(),
            "transaction_read_only" => truth(self.read_only),
            "transaction_deferrable" => truth(self.deferrable),
            _ => return None,
        })
    }
}
