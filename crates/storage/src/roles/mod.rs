//! Roles, and who may do what with which object.
//!
//! An object without an entry belongs to the first role, and nobody else may do anything
//! with it; but everybody may name what is in the default schema.

mod access;
mod privileges;
mod role;

pub use access::{Access, Grants, Object};
pub use privileges::Privileges;
pub use role::{FIRST_ROLE, Role, RoleId, Verifier};

use crate::ids::{SequenceId, TableId, TypeId};
use std::collections::{BTreeMap, BTreeSet};

/// The roles of a database and what they were granted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roles {
    /// Those that were made or changed; [`Role::built_in`] has the others.
    pub(crate) roles: BTreeMap<String, Role>,
    /// Owners and grants of objects that have others than by default.
    pub(crate) access: BTreeMap<Object, Access>,
}

impl Roles {
    /// A role by its name.
    pub fn role(&self, name: &str) -> Option<Role> {
        self.roles
            .get(name)
            .cloned()
            .or_else(|| Role::built_in(name))
    }

    /// The name of a role.
    pub fn name(&self, id: RoleId) -> Option<&str> {
        let mut own = self.roles.iter();
        let own = own.find(|(_, role)| role.id == id);
        own.map(|(name, _)| name.as_str())
            .or_else(|| Role::built_in_name(id))
    }

    /// A role by its number.
    pub fn role_by_id(&self, id: RoleId) -> Option<Role> {
        self.role(self.name(id)?)
    }

    /// All roles by name.
    pub fn all(&self) -> BTreeMap<String, Role> {
        let built_in = Role::built_in_names();
        let built_in = built_in.filter_map(|name| Some((name.to_owned(), Role::built_in(name)?)));
        let mut all: BTreeMap<String, Role> = built_in.collect();
        all.extend(
            self.roles
                .iter()
                .map(|(name, role)| (name.clone(), role.clone())),
        );
        all
    }

    /// Adds a role, or puts another in the place of the one of that name.
    pub fn put(&mut self, name: &str, role: Role) {
        self.roles.insert(name.to_owned(), role);
    }

    /// Calls a role something else.
    pub fn rename(&mut self, name: &str, to: &str) {
        if let Some(role) = self.roles.remove(name) {
            self.roles.insert(to.to_owned(), role);
        }
    }

    /// Takes a role away, and its memberships.
    pub fn remove(&mut self, name: &str) -> Option<Role> {
        let role = self.roles.remove(name)?;
        for other in self.roles.values_mut() {
            other.member_of.remove(&role.id);
        }
        Some(role)
    }

    /// Owner and grants of an object.
    pub fn access(&self, object: &Object) -> Access {
        self.access
            .get(object)
            .cloned()
            .unwrap_or_else(|| Access::by_default(object))
    }

    /// Gives an object other grants, or another owner.
    pub fn set_access(&mut self, object: Object, access: Access) {
        if access == Access::by_default(&object) {
            self.access.remove(&object);
        } else {
            self.access.insert(object, access);
        }
    }

    /// Every object whose owner or grants are not those by default.
    pub fn objects(&self) -> impl Iterator<Item = (&Object, &Access)> {
        self.access.iter()
    }

    /// The roles that `role` is, by its memberships in any depth: all of them, or those
    /// whose rights it has without asking.
    pub fn held(&self, role: RoleId, inherited: bool) -> BTreeSet<RoleId> {
        let mut held = BTreeSet::from([role]);
        let mut next = vec![role];
        while let Some(id) = next.pop() {
            let Some(role) = self.role_by_id(id) else {
                continue;
            };
            if inherited && !role.inherit {
                continue;
            }
            let new = role.member_of.keys().copied();
            next.extend(new.filter(|id| held.insert(*id)));
        }
        held
    }

    /// Whether a role may add members to another.
    pub fn administers(&self, role: RoleId, of: RoleId) -> bool {
        let held = self.held(role, true).into_iter();
        let mut held = held.filter_map(|id| self.role_by_id(id));
        held.any(|role| role.member_of.get(&of) == Some(&true))
    }

    /// Whether one of the roles in `held` owns an object, or was granted it all.
    pub fn may(&self, held: &BTreeSet<RoleId>, object: &Object, asked: Privileges) -> bool {
        match self.access.get(object) {
            Some(access) => access.allows(held, asked),
            None => Access::by_default(object).allows(held, asked),
        }
    }

    /// The privileges that the roles in `held` have on a column of an object.
    pub fn may_column(&self, held: &BTreeSet<RoleId>, object: &Object, column: &str) -> Privileges {
        match self.access.get(object) {
            Some(access) => access.granted_column(held, column),
            None => Access::by_default(object).granted(held),
        }
    }

    /// Whether something was granted on single columns of an object.
    pub fn has_columns(&self, object: &Object) -> bool {
        let access = self.access.get(object);
        access.is_some_and(|access| !access.columns.is_empty())
    }

    /// A column of an object is called otherwise or, without another name, is no more.
    pub(crate) fn rename_column(&mut self, object: &Object, column: &str, to: Option<&str>) {
        if let Some(access) = self.access.get_mut(object) {
            access.rename_column(column, to);
        }
    }

    /// Whether one of the roles in `held` owns an object.
    pub fn owns(&self, held: &BTreeSet<RoleId>, object: &Object) -> bool {
        let access = self.access.get(object);
        held.contains(&access.map_or(FIRST_ROLE, |access| access.owner))
    }

    /// Forgets an object that is no more.
    pub(crate) fn forget(&mut self, object: &Object) {
        self.access.remove(object);
    }

    pub(crate) fn knows(&self, object: &Object) -> bool {
        self.access.contains_key(object)
    }
}

impl From<TableId> for Object {
    fn from(id: TableId) -> Self {
        Self::Table(id)
    }
}

impl From<SequenceId> for Object {
    fn from(id: SequenceId) -> Self {
        Self::Sequence(id)
    }
}

impl From<TypeId> for Object {
    fn from(id: TypeId) -> Self {
        Self::Type(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(id: u64, member_of: &[u64]) -> Role {
        Role {
            id: RoleId(id),
            member_of: member_of.iter().map(|id| (RoleId(*id), false)).collect(),
            ..Role::default()
        }
    }

    #[test]
    fn rights_come_by_membership_in_any_depth() {
        let mut roles = Roles::default();
        for (name, role) in [("a", role(20, &[21])), ("b", role(21, &[22, 20]))] {
            roles.put(name, role);
        }
        roles.put("c", role(22, &[]));
        let held = roles.held(RoleId(20), true);
        assert_eq!(held, [20, 21, 22].map(RoleId).into());
        let object = Object::Table(TableId(5));
        let mut access = roles.access(&object);
        access.grant(RoleId(22), Privileges::SELECT);
        roles.set_access(object.clone(), access);
        assert!(roles.may(&held, &object, Privileges::SELECT));
        assert!(!roles.may(&held, &object, Privileges::SELECT | Privileges::INSERT));
        assert!(!roles.owns(&held, &object));
        let mut b = roles.role("b").unwrap();
        b.inherit = false;
        roles.put("b", b);
        assert!(!roles.may(&roles.held(RoleId(20), true), &object, Privileges::SELECT));
        assert!(roles.held(RoleId(20), false).contains(&RoleId(22)));
    }

    #[test]
    fn columns_have_rights_of_their_own() {
        let mut roles = Roles::default();
        let object = Object::Table(TableId(5));
        let (role, held) = (RoleId(20), BTreeSet::from([RoleId(20)]));
        let mut access = roles.access(&object);
        access.grant_column("a", role, Privileges::SELECT | Privileges::UPDATE);
        access.grant_column("b", RoleId::PUBLIC, Privileges::SELECT);
        access.grant(role, Privileges::INSERT);
        roles.set_access(object.clone(), access.clone());
        let of = |roles: &Roles, column| roles.may_column(&held, &object, column).to_string();
        assert_eq!(
            ["a", "b", "c"].map(|column| of(&roles, column)),
            ["arw", "ar", "a"]
        );
        assert!(!roles.may(&held, &object, Privileges::SELECT));
        roles.rename_column(&object, "a", Some("c"));
        assert_eq!(
            ["a", "b", "c"].map(|column| of(&roles, column)),
            ["a", "ar", "arw"]
        );
        roles.rename_column(&object, "b", None);
        assert_eq!(of(&roles, "b"), "a");
        // Of the whole object they are taken from its columns, too.
        access.revoke(role, Privileges::SELECT);
        assert_eq!(access.granted_column(&held, "a").to_string(), "aw");
        access.revoke_column("a", role, Privileges::UPDATE);
        assert_eq!(access.granted_column(&held, "a").to_string(), "a");
        let text = serde_json::to_string(&access).unwrap();
        assert_eq!(serde_json::from_str::<Access>(&text).unwrap(), access);
    }

    #[test]
    fn everybody_may_name_what_is_in_the_default_schema() {
        let roles = Roles::default();
        let nobody = BTreeSet::from([RoleId(77)]);
        let main = Object::Schema("main".into());
        assert!(roles.may(&nobody, &main, Privileges::USAGE));
        assert!(!roles.may(&nobody, &main, Privileges::CREATE));
        let other = Object::Schema("other".into());
        assert!(!roles.may(&nobody, &other, Privileges::USAGE));
        assert!(roles.owns(&[FIRST_ROLE].into(), &other));
    }
}
