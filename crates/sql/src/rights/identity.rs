//! Who a session is: by login, by SET SESSION AUTHORIZATION, by SET ROLE.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use freestone_storage::{Catalog, FIRST_ROLE, RoleId};
use parking_lot::Mutex;

use super::{Granted, Rights};

/// Somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// One who may do everything: the first role, or one whom the catalog does not know.
    Anybody(Arc<str>),
    /// A role of the catalog.
    Role(RoleId),
}

impl Who {
    /// The first role.
    pub(crate) fn first() -> Self {
        Self::Anybody("freestone".into())
    }

    /// A role of the catalog.
    pub(crate) fn role(role: RoleId) -> Self {
        match role {
            FIRST_ROLE => Self::first(),
            role => Self::Role(role),
        }
    }

    /// The role that owns what somebody makes.
    pub(crate) fn owner(&self) -> RoleId {
        match self {
            Self::Anybody(_) => FIRST_ROLE,
            Self::Role(role) => *role,
        }
    }

    /// What somebody is called.
    pub(crate) fn name(&self, catalog: &Catalog) -> String {
        match self {
            Self::Anybody(name) => (**name).to_owned(),
            Self::Role(role) => {
                let name = catalog.roles().name(*role);
                name.map_or_else(|| format!("unknown (OID={})", role.0), str::to_owned)
            }
        }
    }
}

/// Which files statements may name.
#[derive(Debug)]
pub(crate) struct Confined {
    /// Those in these folders,
    pub(crate) folders: Arc<[PathBuf]>,
    /// but not the database's own.
    pub(crate) own: Vec<PathBuf>,
}

#[derive(Debug)]
struct Names {
    login: Who,
    session: Who,
    current: Who,
}

/// Who a session is.
#[derive(Debug)]
pub(crate) struct Identity {
    /// Whether the current role may do only what it was granted.
    limited: AtomicBool,
    names: Mutex<Names>,
    /// What the current role may do, for the roles that it was found out for.
    known: Mutex<Option<Arc<Granted>>>,
    /// Which files statements may name; any if it is not set.
    confined: OnceLock<Confined>,
    /// A file with rows that the client has sent.
    incoming: Mutex<Option<PathBuf>>,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            limited: AtomicBool::new(false),
            names: Mutex::new(Names {
                login: Who::first(),
                session: Who::first(),
                current: Who::first(),
            }),
            known: Mutex::default(),
            confined: OnceLock::new(),
            incoming: Mutex::default(),
        }
    }
}

impl Identity {
    /// Whether it has to be asked what the session may do.
    pub(crate) fn is_limited(&self) -> bool {
        self.limited.load(Ordering::Relaxed)
    }

    /// What the session may do.
    pub(crate) fn rights(&self, catalog: &Catalog) -> Rights {
        if !self.is_limited() {
            return Rights::All;
        }
        let current = self.names.lock().current.clone();
        let Who::Role(role) = current else {
            return Rights::All;
        };
        let mut known = self.known.lock();
        match &*known {
            Some(granted) if Arc::ptr_eq(&granted.roles, catalog.roles()) => {
                Rights::Of(Arc::clone(granted))
            }
            _ => {
                let granted = Arc::new(Granted::of(catalog.roles(), role));
                *known = Some(Arc::clone(&granted));
                Rights::Of(granted)
            }
        }
    }

    /// The role that known plans are for: everybody who may do everything shares them.
    pub(crate) fn planned_for(&self) -> RoleId {
        match self.is_limited() {
            true => self.current().owner(),
            false => RoleId::PUBLIC,
        }
    }

    pub(crate) fn current(&self) -> Who {
        self.names.lock().current.clone()
    }

    pub(crate) fn session(&self) -> Who {
        self.names.lock().session.clone()
    }

    pub(crate) fn login(&self) -> Who {
        self.names.lock().login.clone()
    }

    /// Who has connected.
    pub(crate) fn enter(&self, who: &Who) {
        self.names.lock().login = who.clone();
        self.set_session(who);
    }

    /// SET SESSION AUTHORIZATION.
    pub(crate) fn set_session(&self, who: &Who) {
        self.names.lock().session = who.clone();
        self.set_current(who);
    }

    /// SET ROLE.
    pub(crate) fn set_current(&self, who: &Who) {
        let mut names = self.names.lock();
        names.current = who.clone();
        *self.known.lock() = None;
        let limited = matches!(who, Who::Role(_));
        self.limited.store(limited, Ordering::Relaxed);
    }

    /// Lets statements name only files in these folders, and none of the database's `own`,
    /// from now on and for good.
    pub(crate) fn confine(&self, folders: Arc<[PathBuf]>, own: Vec<PathBuf>) {
        let _ = self.confined.set(Confined { folders, own });
    }

    pub(crate) fn confined(&self) -> Option<&Confined> {
        self.confined.get()
    }

    /// Lets the next COPY read what the client has sent.
    pub(crate) fn receive(&self, file: Option<PathBuf>) {
        *self.incoming.lock() = file;
    }

    pub(crate) fn received(&self) -> Option<PathBuf> {
        self.incoming.lock().clone()
    }
}
