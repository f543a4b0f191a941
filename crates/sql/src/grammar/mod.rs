//! Statements that sqlparser's grammar does not know, or not in all their forms.
//!
//! [`parse`] reads them before its parser is asked. FETCH, MOVE and a few others become trees of
//! sqlparser's; all others are statements of our own, [`OwnStatement`]:
//!
//! | module | statements | kind |
//! |---|---|---|
//! | `advice` | ADVISE, PILOT, APPLY and UNDO ADVICE, RESET WORKLOAD | [`Asked`] |
//! | `roles`, `roles_syntax`, `grant` | CREATE ROLE, GRANT, OWNER TO … | [`RoleStatement`] |
//! | `define` | domains, ALTER SEQUENCE, ATTACH PARTITION, REFRESH … | [`define::Definition`] |
//! | `utility` | REINDEX, CLUSTER, CHECKPOINT, DO, and what is refused by name | [`Utility`] |
//! | `cursor` | FETCH and MOVE | |
//!
//! Clauses that the parser does not know within statements that it does are marked in the tokens
//! before (`dialect`), and statements about functions are those of `routine`.

mod advice;
mod clauses;
mod cursor;
pub(crate) mod define;
mod grant;
mod printed;
mod roles;
mod roles_syntax;
mod utility;

use sqlparser::ast::Statement as Ast;
use sqlparser::parser::{Parser, ParserError};

use self::define::Definition;
use crate::routine;

pub(crate) use advice::Asked;
pub(crate) use clauses::told;
pub(crate) use cursor::gives_rows;
pub(crate) use printed::printed;
pub(crate) use roles::{GrantedPrivilege, Kind, On, RoleName, RoleOption, RoleStatement};
pub(crate) use utility::Utility;

/// The tree of a statement.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "most are the large one, and all are behind a pointer"
)]
pub(crate) enum Tree {
    /// Of sqlparser's grammar.
    Sql(Ast),
    /// Of ours.
    Own(OwnStatement),
}

/// A statement of our own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnStatement {
    Advice(Asked),
    Role(RoleStatement),
    Definition(Definition),
    Utility(Utility),
}

/// Reads one of the statements, if the next one is one.
///
/// # Errors
/// Errors in it.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Option<Tree>, ParserError> {
    let own = |own| Ok(Some(Tree::Own(own)));
    if let Some(asked) = advice::parse(parser)? {
        return own(OwnStatement::Advice(asked));
    }
    if let Some(statement) = roles_syntax::parse(parser)? {
        return own(OwnStatement::Role(statement));
    }
    if let Some(definition) = define::parse(parser)? {
        return own(OwnStatement::Definition(definition));
    }
    for read in [cursor::parse, routine::parse] {
        if let Some(ast) = read(parser)? {
            return Ok(Some(Tree::Sql(ast)));
        }
    }
    utility::parse(parser)
}
