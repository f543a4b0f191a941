//! Statements about roles and rights.

/// A role as a statement names it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RoleName {
    Named(String),
    /// CURRENT_USER or CURRENT_ROLE.
    Current,
    /// SESSION_USER.
    Session,
    /// PUBLIC: everybody.
    Public,
}

/// What CREATE ROLE and ALTER ROLE say of a role.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RoleOption {
    Login(bool),
    Superuser(bool),
    Inherit(bool),
    /// `None` takes it away.
    Password(Option<String>),
    /// Below 0 for none.
    ConnectionLimit(i64),
    ValidUntil(String),
    InRole(Vec<RoleName>),
    /// Its members, and whether they may add others.
    Members(Vec<RoleName>, bool),
    /// One that says what is so anyway.
    Nothing,
}

/// Kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Table,
    View,
    Sequence,
    Schema,
    Type,
}

/// Objects that are granted on; names are as in SQL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum On {
    Named(Kind, Vec<String>),
    /// All tables and views, or all sequences, of schemas.
    AllIn(Kind, Vec<String>),
}

/// A privilege that is granted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GrantedPrivilege {
    /// Its name, in upper case; `None` for all that there are.
    pub(crate) name: Option<String>,
    /// The columns that it is granted on, if not on the whole object.
    pub(crate) columns: Vec<String>,
}

/// A statement about roles or rights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RoleStatement {
    Create {
        name: RoleName,
        options: Vec<RoleOption>,
    },
    Alter {
        name: RoleName,
        options: Vec<RoleOption>,
    },
    Rename {
        name: RoleName,
        to: String,
    },
    /// ALTER ROLE … SET memory_limit; `None` resets it.
    Memory {
        name: RoleName,
        limit: Option<String>,
    },
    Drop {
        names: Vec<RoleName>,
        if_exists: bool,
    },
    /// GRANT, or REVOKE, of privileges.
    Privileges {
        grant: bool,
        privileges: Vec<GrantedPrivilege>,
        on: On,
        roles: Vec<RoleName>,
    },
    /// GRANT, or REVOKE, of roles. With `only_option` what is revoked is to add members.
    Membership {
        grant: bool,
        roles: Vec<RoleName>,
        members: Vec<RoleName>,
        admin: bool,
        only_option: bool,
        /// ALTER GROUP … ADD or DROP USER.
        of_group: bool,
    },
    Owner {
        kind: Kind,
        name: String,
        if_exists: bool,
        to: RoleName,
    },
    /// REASSIGN OWNED.
    Reassign {
        from: Vec<RoleName>,
        to: RoleName,
    },
    /// DROP OWNED.
    DropOwned {
        by: Vec<RoleName>,
    },
    /// SET ROLE; `None` for the session's own.
    SetRole(Option<String>),
    /// SET SESSION AUTHORIZATION; `None` for who has connected.
    SetSession(Option<String>),
    /// RESET ROLE.
    ResetRole,
    /// RESET SESSION AUTHORIZATION.
    ResetSession,
    /// What is understood and refused.
    Unsupported(String),
}
