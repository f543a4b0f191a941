//! Roles of a catalog that is being changed, and who owns what is made.

use super::edit::CatalogEdit;
use crate::roles::{Access, FIRST_ROLE, Object, RoleId, Roles};
use std::sync::Arc;

impl CatalogEdit {
    /// Lets what is made from now on belong to a role.
    pub fn make_for(&mut self, owner: RoleId) {
        self.owner = owner;
    }

    /// Roles, owners and grants, to be changed.
    pub fn roles_mut(&mut self) -> &mut Roles {
        self.changed = true;
        Arc::make_mut(&mut self.catalog.roles)
    }

    /// The number of a new role.
    pub fn next_role(&mut self) -> RoleId {
        RoleId(RoleId::FIRST_MADE + self.next_id())
    }

    /// Gives a new object its owner; grants of one that had its name are not its.
    pub(super) fn made(&mut self, object: Object) {
        if self.owner != FIRST_ROLE {
            let access = Access::of(self.owner);
            self.roles_mut().set_access(object, access);
        } else {
            self.forget(&object);
        }
    }

    /// Forgets owner and grants of an object that is no more.
    pub(super) fn forget(&mut self, object: &Object) {
        if self.catalog.roles.knows(object) {
            self.roles_mut().forget(object);
        }
    }
}
