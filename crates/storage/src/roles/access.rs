//! Objects, their owners and what others were granted.

use super::{FIRST_ROLE, Privileges, RoleId};
use crate::ids::{SequenceId, TableId, TypeId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The schema that everybody may name things in.
const OPEN_SCHEMA: &str = "main";

/// Something that has an owner. Tables and sequences keep theirs under another name;
/// schemas and views are their names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Object {
    /// A schema.
    Schema(String),
    /// A table.
    Table(TableId),
    /// A view, by schema and name.
    View(String, String),
    /// A sequence.
    Sequence(SequenceId),
    /// A type that was created.
    Type(TypeId),
}

impl Object {
    /// A view by schema and name.
    pub fn view(schema: &str, name: &str) -> Self {
        Self::View(schema.to_owned(), name.to_owned())
    }

    /// A schema by its name.
    pub fn schema(name: &str) -> Self {
        Self::Schema(name.to_owned())
    }
}

/// Who owns an object, and what others may do with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Who may do everything with it.
    pub owner: RoleId,
    /// What others may; [`RoleId::PUBLIC`] is everybody.
    #[serde(default)]
    pub grants: Grants,
    /// Rights of others on single columns of a table or view, by the columns' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Grants>,
}

/// Privileges by the role that has them.
pub type Grants = BTreeMap<RoleId, Privileges>;

/// The privileges of some roles, with those of everybody.
fn of_roles(grants: &Grants, held: &BTreeSet<RoleId>) -> Privileges {
    let grants = grants.iter();
    let mine = grants.filter(|(role, _)| **role == RoleId::PUBLIC || held.contains(role));
    mine.fold(Privileges::NONE, |all, (_, more)| all | *more)
}

fn granted(grants: &mut Grants, role: RoleId, privileges: Privileges) {
    let had = grants.get(&role).copied().unwrap_or_default();
    grants.insert(role, had | privileges);
}

fn revoked(grants: &mut Grants, role: RoleId, privileges: Privileges) {
    let had = grants.get(&role).copied().unwrap_or_default();
    match had.without(privileges) {
        Privileges::NONE => grants.remove(&role),
        left => grants.insert(role, left),
    };
}

impl Access {
    /// Of an object about which nothing was said.
    pub fn by_default(object: &Object) -> Self {
        let open = matches!(object, Object::Schema(name) if name == OPEN_SCHEMA);
        let grants = open.then_some((RoleId::PUBLIC, Privileges::USAGE));
        Self {
            owner: FIRST_ROLE,
            grants: grants.into_iter().collect(),
            columns: BTreeMap::new(),
        }
    }

    /// Of an object that `owner` has made.
    pub fn of(owner: RoleId) -> Self {
        Self {
            owner,
            grants: BTreeMap::new(),
            columns: BTreeMap::new(),
        }
    }

    /// Lets a role do more.
    pub fn grant(&mut self, role: RoleId, privileges: Privileges) {
        granted(&mut self.grants, role, privileges);
    }

    /// Lets a role do less, with the whole object and with each of its columns.
    pub fn revoke(&mut self, role: RoleId, privileges: Privileges) {
        revoked(&mut self.grants, role, privileges);
        let columns = self.columns.values_mut();
        columns.for_each(|grants| revoked(grants, role, privileges));
        self.columns.retain(|_, grants| !grants.is_empty());
    }

    /// Lets a role do more with a column.
    pub fn grant_column(&mut self, column: &str, role: RoleId, privileges: Privileges) {
        let grants = self.columns.entry(column.to_owned()).or_default();
        granted(grants, role, privileges);
    }

    /// Lets a role do less with a column. What it may do with the whole object it still may.
    pub fn revoke_column(&mut self, column: &str, role: RoleId, privileges: Privileges) {
        if let Some(grants) = self.columns.get_mut(column) {
            revoked(grants, role, privileges);
        }
        self.columns.retain(|_, grants| !grants.is_empty());
    }

    /// Takes everything back that a role was granted. Tells whether that was something.
    pub fn revoke_all(&mut self, role: RoleId) -> bool {
        let mut had = self.grants.remove(&role).is_some();
        for grants in self.columns.values_mut() {
            had |= grants.remove(&role).is_some();
        }
        self.columns.retain(|_, grants| !grants.is_empty());
        had
    }

    /// Whether a role was granted something.
    pub fn names(&self, role: RoleId) -> bool {
        let columns = self.columns.values();
        self.grants.contains_key(&role) || columns.into_iter().any(|one| one.contains_key(&role))
    }

    /// A column is called otherwise from now on or, without another name, is no more.
    pub(crate) fn rename_column(&mut self, column: &str, to: Option<&str>) {
        let grants = self.columns.remove(column);
        if let (Some(grants), Some(to)) = (grants, to) {
            self.columns.insert(to.to_owned(), grants);
        }
    }

    /// Whether roles that are `held` together may do all that is `asked`.
    pub fn allows(&self, held: &BTreeSet<RoleId>, asked: Privileges) -> bool {
        self.granted(held).contains(asked)
    }

    /// All that roles that are `held` together may do.
    pub fn granted(&self, held: &BTreeSet<RoleId>) -> Privileges {
        if held.contains(&self.owner) {
            return Privileges::OF_TABLES | Privileges::OF_SCHEMAS;
        }
        of_roles(&self.grants, held)
    }

    /// All that roles that are `held` together may do with a column.
    pub fn granted_column(&self, held: &BTreeSet<RoleId>, column: &str) -> Privileges {
        let own = self.columns.get(column);
        self.granted(held) | own.map_or(Privileges::NONE, |grants| of_roles(grants, held))
    }
}
