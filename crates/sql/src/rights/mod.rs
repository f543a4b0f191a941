//! Who a session is, and what its roles may do.
//!
//! ```text
//! names of a query ── Relations ─────────────┐
//! targets of DML, DDL ── permissions ────────┼─ Rights ─ Roles of the catalog
//! rows by a key, known plans ── may_… ───────┘
//! ```
//!
//! Whoever may do everything is told from the others by one comparison. Rights are those of
//! the catalog that a statement sees, so that a REVOKE counts from the next one on.

mod identity;
mod login;
mod password;

use std::collections::BTreeSet;
use std::sync::Arc;

use freestone_storage::{Catalog, FIRST_ROLE, Object, Privileges, RoleId, Roles, Table};

use crate::error::{Error, Result};
use crate::names::{Name, shown_schema};

pub(crate) use identity::{Confined, Identity, Who};
pub use login::Login;
pub(crate) use password::verifier;

/// What somebody may do in one catalog.
#[derive(Clone, Debug)]
pub(crate) enum Rights {
    /// Everything.
    All,
    /// What a role was granted.
    Of(Arc<Granted>),
}

/// A role and all that it is a member of.
#[derive(Debug)]
pub(crate) struct Granted {
    roles: Arc<Roles>,
    superuser: bool,
    held: BTreeSet<RoleId>,
}

impl Granted {
    pub(crate) fn of(roles: &Arc<Roles>, role: RoleId) -> Self {
        let known = roles.role_by_id(role);
        Self {
            roles: Arc::clone(roles),
            superuser: known.is_some_and(|role| role.superuser),
            held: roles.held(role, true),
        }
    }
}

impl Rights {
    /// Those of a role.
    pub(crate) fn of_role(catalog: &Catalog, role: RoleId) -> Self {
        if role == FIRST_ROLE {
            return Self::All;
        }
        let granted = Granted::of(catalog.roles(), role);
        match granted.superuser {
            true => Self::All,
            false => Self::Of(Arc::new(granted)),
        }
    }

    /// None.
    pub(crate) fn none() -> Self {
        Self::Of(Arc::new(Granted {
            roles: Arc::default(),
            superuser: false,
            held: BTreeSet::new(),
        }))
    }

    /// Those of whoever owns an object.
    pub(crate) fn of_owner(catalog: &Catalog, object: &Object) -> Self {
        Self::of_role(catalog, catalog.roles().access(object).owner)
    }

    /// Whether they are all there are.
    pub(crate) fn is_superuser(&self) -> bool {
        match self {
            Self::All => true,
            Self::Of(granted) => granted.superuser,
        }
    }

    /// Whether those of another role are among them.
    pub(crate) fn holds(&self, role: RoleId) -> bool {
        match self {
            Self::All => true,
            Self::Of(granted) => granted.superuser || granted.held.contains(&role),
        }
    }

    /// Whether something may be done with an object, wherever it is.
    pub(crate) fn may(&self, object: &Object, asked: Privileges) -> bool {
        let Self::Of(granted) = self else {
            return true;
        };
        let (mut asked, everywhere) = (asked, granted.everywhere(object));
        asked = asked.without(everywhere);
        granted.superuser || asked.is_empty() || granted.roles.may(&granted.held, object, asked)
    }

    /// Whether something may be done with a column of an object.
    pub(crate) fn may_column(&self, object: &Object, column: &str, asked: Privileges) -> bool {
        self.may(object, asked)
            || match self {
                Self::All => true,
                Self::Of(granted) => {
                    let asked = asked.without(granted.everywhere(object));
                    let roles = &granted.roles;
                    roles
                        .may_column(&granted.held, object, column)
                        .contains(asked)
                }
            }
    }

    /// The columns of an object with which something may be done that may not be done with all of
    /// them.
    pub(crate) fn columns(&self, object: &Object, asked: Privileges) -> Vec<String> {
        let Self::Of(granted) = self else {
            return Vec::new();
        };
        let access = granted.roles.access(object);
        let mut columns: Vec<String> = access.columns.into_keys().collect();
        columns.retain(|column| self.may_column(object, column, asked));
        columns
    }

    /// Whether an object is theirs.
    pub(crate) fn owns(&self, object: &Object) -> bool {
        match self {
            Self::All => true,
            Self::Of(granted) => granted.superuser || granted.roles.owns(&granted.held, object),
        }
    }

    /// Whether something may be done with a table or view of a schema.
    pub(crate) fn within(&self, schema: &str, object: &Object, asked: Privileges) -> bool {
        matches!(self, Self::All)
            || (self.may(&Object::schema(schema), Privileges::USAGE) && self.may(object, asked))
    }

    /// Whether a table or view of a schema may be read.
    pub(crate) fn reads(&self, schema: &str, object: &Object) -> bool {
        self.within(schema, object, Privileges::SELECT)
    }

    /// Whether anything may be done with an object.
    pub(crate) fn sees(&self, object: &Object) -> bool {
        let some = |one: Privileges| self.may(object, one);
        let all = Privileges::OF_TABLES | Privileges::OF_SCHEMAS;
        self.owns(object) || all.names().filter_map(Privileges::named).any(some)
    }

    /// Refuses to name what is in a schema without USAGE on it.
    ///
    /// # Errors
    /// `42501`.
    pub(crate) fn use_schema(&self, catalog: &Catalog, schema: &str) -> Result<()> {
        match catalog.has_schema(schema) {
            true => self.schema(schema, Privileges::USAGE),
            false => Ok(()),
        }
    }

    /// Refuses what may not be done with a schema.
    ///
    /// # Errors
    /// `42501`.
    pub(crate) fn schema(&self, schema: &str, asked: Privileges) -> Result<()> {
        match self.may(&Object::schema(schema), asked) {
            true => Ok(()),
            false => Err(denied("schema", shown_schema(schema))),
        }
    }

    /// Refuses what may not be done with a table of that name.
    ///
    /// # Errors
    /// `42501`.
    pub(crate) fn table(&self, name: &Name, table: &Table, asked: Privileges) -> Result<()> {
        self.use_table(name)?;
        match self.may(&table.id.into(), asked) {
            true => Ok(()),
            false => Err(denied("table", &name.name).at(name.position)),
        }
    }

    /// Refuses what may not be done with some columns of a table of that name.
    ///
    /// # Errors
    /// `42501`.
    pub(crate) fn columns_of_table(
        &self,
        name: &Name,
        table: &Table,
        (asked, columns): (Privileges, &[String]),
    ) -> Result<()> {
        self.use_table(name)?;
        let object = table.id.into();
        let mut columns = columns.iter();
        match columns.all(|column| self.may_column(&object, column, asked)) {
            true => Ok(()),
            false => Err(denied("table", &name.name).at(name.position)),
        }
    }

    /// Refuses what may be done with no column of a table of that name.
    ///
    /// # Errors
    /// `42501`.
    pub(crate) fn any_column(&self, name: &Name, table: &Table, asked: Privileges) -> Result<()> {
        self.use_table(name)?;
        match self.may_any(&table.id.into(), asked) {
            true => Ok(()),
            false => Err(denied("table", &name.name).at(name.position)),
        }
    }

    /// Whether something may be done with an object or one of its columns.
    pub(crate) fn may_any(&self, object: &Object, asked: Privileges) -> bool {
        self.may(object, asked) || !self.columns(object, asked).is_empty()
    }

    /// Refuses to name what is in the schema of a table.
    fn use_table(&self, name: &Name) -> Result<()> {
        self.schema(&name.schema, Privileges::USAGE)
    }

    /// Refuses what only the owner of an object may do.
    ///
    /// # Errors
    /// `42501`.
    pub(crate) fn owner(&self, kind: &str, name: &str, object: &Object) -> Result<()> {
        match self.owns(object) {
            true => Ok(()),
            false => {
                let message = format!("must be owner of {kind} {name}");
                Err(Error::new("42501", message))
            }
        }
    }

    /// Refuses what only superusers may do.
    ///
    /// # Errors
    /// `42501`.
    pub(crate) fn superuser(&self, what: &str) -> Result<()> {
        match self.is_superuser() {
            true => Ok(()),
            false => {
                let message = format!("permission denied: only superusers may {what}");
                Err(Error::new("42501", message))
            }
        }
    }

    /// Refuses what only members of a role may do.
    ///
    /// # Errors
    /// `42501`.
    pub(crate) fn member(&self, role: RoleId, what: &str) -> Result<()> {
        if self.holds(role) {
            return Ok(());
        }
        let name = Roles::default().name(role).unwrap_or_default().to_owned();
        Err(Error::new("42501", format!("permission denied to {what}"))
            .with_detail(format!("Only members of {name} may.")))
    }
}

impl Granted {
    /// What may be done with every object of a kind.
    fn everywhere(&self, object: &Object) -> Privileges {
        let reads = self.held.contains(&RoleId::READ_ALL_DATA);
        let writes = self.held.contains(&RoleId::WRITE_ALL_DATA);
        let (read, write) = match object {
            Object::Schema(_) | Object::Type(_) => (Privileges::USAGE, Privileges::USAGE),
            Object::Table(_) | Object::View(..) => (
                Privileges::SELECT,
                Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE,
            ),
            Object::Sequence(_) => (Privileges::SELECT, Privileges::USAGE | Privileges::UPDATE),
        };
        let some = |has: bool, what: Privileges| if has { what } else { Privileges::NONE };
        some(reads, read) | some(writes, write)
    }
}

/// What somebody without a right is told.
pub(crate) fn denied(kind: &str, name: &str) -> Error {
    Error::new("42501", format!("permission denied for {kind} {name}"))
}
