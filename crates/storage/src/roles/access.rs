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
    pub grants: BTreeMap<RoleId, Privileges>,
}

impl Access {
    /// Of an object about which nothing was said.
    pub fn by_default(object: &Object) -> Self {
        let open = matches!(object, Object::Schema(name) if name == OPEN_SCHEMA);
        let grants = open.then_some((RoleId::PUBLIC, Privileges::USAGE));
        Self {
            owner: FIRST_ROLE,
            grants: grants.into_iter().collect(),
        }
    }

    /// Of an object that `owner` has made.
    pub fn of(owner: RoleId) -> Self {
        Self {
            owner,
            grants: BTreeMap::new(),
        }
    }

    /// Lets a role do more.
    pub fn grant(&mut self, role: RoleId, privileges: Privileges) {
        let had = self.grants.get(&role).copied().unwrap_or_default();
        self.grants.insert(role, had | privileges);
    }

    /// Lets a role do less.
    pub fn revoke(&mut self, role: RoleId, privileges: Privileges) {
        let had = self.grants.get(&role).copied().unwrap_or_default();
        match had.without(privileges) {
            Privileges::NONE => self.grants.remove(&role),
            left => self.grants.insert(role, left),
        };
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
        let grants = self.grants.iter();
        let mine = grants.filter(|(role, _)| **role == RoleId::PUBLIC || held.contains(role));
        mine.fold(Privileges::NONE, |all, (_, more)| all | *more)
    }
}
