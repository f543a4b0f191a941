//! What a client is told of statements that succeed: warnings, and what they left undone.

use std::collections::VecDeque;
use std::fmt;

use parking_lot::Mutex;

use super::Session;

/// Notices that are kept until somebody takes them; then the oldest go.
const KEPT: usize = 100;

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something was left undone, as the statement allows.
    Notice,
    /// The statement is probably not what was meant.
    Warning,
}

/// What is said of a statement that has succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters.
    pub severity: Severity,
    /// Five-character code, `00000` if there is none for it.
    pub sqlstate: &'static str,
    /// One sentence.
    pub message: String,
    /// More about it, if there is more.
    pub detail: Option<String>,
}

impl Notice {
    /// Something that was left undone.
    pub(crate) fn skipped(sqlstate: &'static str, what: impl fmt::Display) -> Self {
        Self {
            severity: Severity::Notice,
            sqlstate,
            message: format!("{what}, skipping"),
            detail: None,
        }
    }

    /// Something that is told.
    pub(crate) fn told(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Notice,
            sqlstate,
            message: message.into(),
            detail: None,
        }
    }

    /// The notice with more about it.
    pub(crate) fn with_detail(self, detail: impl Into<String>) -> Self {
        Self {
            detail: Some(detail.into()),
            ..self
        }
    }

    /// A warning.
    pub(crate) fn warning(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            sqlstate,
            message: message.into(),
            detail: None,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Notice => "NOTICE",
            Self::Warning => "WARNING",
        })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.message)
    }
}

/// Those of one session that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<VecDeque<Notice>>);

impl Session {
    /// The notices since they were taken last, the oldest first.
    pub fn take_notices(&self) -> Vec<Notice> {
        self.notices.0.lock().drain(..).collect()
    }

    /// Keeps a notice, if `client_min_messages` wants it.
    pub(crate) fn notify(&self, notice: Notice) {
        let least = self.client.get("client_min_messages").unwrap_or_default();
        let wanted = match least.to_lowercase().as_str() {
            "error" | "fatal" | "panic" => false,
            "warning" => notice.severity == Severity::Warning,
            _ => true,
        };
        if wanted {
            let mut kept = self.notices.0.lock();
            if kept.len() == KEPT {
                kept.pop_front();
            }
            kept.push_back(notice);
        }
    }
}
