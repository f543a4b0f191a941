//! Statements that sqlparser's grammar does not know, or not in all their forms.
//!
//! [`parse`] reads them before its parser is asked. FETCH becomes a tree of the parser's own; any
//! other stands in the tree as a CALL of a procedure that no user can name (`stand_in`), and is
//! found there again by its kind:
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
mod cursor;
pub(crate) mod define;
mod grant;
mod printed;
mod roles;
mod roles_syntax;
mod stand_in;
mod utility;

use datafusion::sql::sqlparser::ast::Statement as Ast;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};

use crate::routine;

pub(crate) use advice::Asked;
pub(crate) use cursor::gives_rows;
pub(crate) use printed::printed;
pub(crate) use roles::{Kind, On, RoleName, RoleOption, RoleStatement};
pub(crate) use stand_in::StandIn;
pub(crate) use utility::Utility;

/// Reads one of the statements, if the next one is one.
///
/// # Errors
/// Errors in it.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Option<Ast>, ParserError> {
    let readers = [
        advice::parse,
        roles_syntax::parse,
        define::parse,
        cursor::parse,
        routine::parse,
        utility::parse,
    ];
    for read in readers {
        if let Some(statement) = read(parser)? {
            return Ok(Some(statement));
        }
    }
    Ok(None)
}
