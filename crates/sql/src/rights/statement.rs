//! Statements about roles and rights, which stand in the tree as a CALL of a procedure
//! that nobody else can name.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectName, Statement as Ast,
    Value,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use serde::{Deserialize, Serialize};

/// A name that an identifier of a user cannot be: it is not in quotes.
const PROCEDURE: &str = "grant it";

/// A role as a statement names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Table,
    View,
    Sequence,
    Schema,
    Type,
}

/// Objects that are granted on; names are as in SQL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum On {
    Named(Kind, Vec<String>),
    /// All tables and views, or all sequences, of schemas.
    AllIn(Kind, Vec<String>),
}

/// A statement about roles or rights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// GRANT, or REVOKE, of privileges; `None` for all.
    Privileges {
        grant: bool,
        privileges: Option<Vec<String>>,
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

impl RoleStatement {
    /// Its place in a tree.
    ///
    /// # Errors
    /// None but those of a bug in here.
    pub(super) fn in_tree(&self) -> Result<Ast, ParserError> {
        let wrong = |error: serde_json::Error| ParserError::ParserError(error.to_string());
        let text = serde_json::to_string(self).map_err(wrong)?;
        let text = format!("CALL p('{}')", text.replace('\'', "''"));
        let mut parsed = Parser::parse_sql(&PostgreSqlDialect {}, &text)?;
        match parsed.pop() {
            Some(Ast::Call(mut call)) => {
                call.name = ObjectName::from(vec![PROCEDURE.into()]);
                Ok(Ast::Call(call))
            }
            _ => Err(ParserError::ParserError("a CALL was expected".to_owned())),
        }
    }

    /// The statement in a tree, if it is one of them.
    pub(crate) fn of(call: &Function) -> Option<Self> {
        let [name] = call.name.0.as_slice() else {
            return None;
        };
        let name = name.as_ident()?;
        if name.value != PROCEDURE || name.quote_style.is_some() {
            return None;
        }
        let FunctionArguments::List(list) = &call.args else {
            return None;
        };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))] =
            list.args.as_slice()
        else {
            return None;
        };
        match &value.value {
            Value::SingleQuotedString(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }
}
