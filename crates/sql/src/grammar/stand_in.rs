//! Statements that the grammar does not know, in its tree.
//!
//! Each stands there as a CALL of a procedure that no user can name, with the statement as JSON
//! for its argument:
//!
//! ```text
//! REINDEX TABLE t     CALL utility statement('{"Reindex": …}')
//! ```

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectName, Statement as Ast,
    Value,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Statements of one kind.
pub(crate) trait StandIn: Serialize + DeserializeOwned {
    /// The name of the procedure: with a blank in it and without quotes, so that no identifier
    /// of a user is it.
    const PROCEDURE: &'static str;

    /// Its place in a tree.
    ///
    /// # Errors
    /// None but those of a bug in here.
    fn in_tree(&self) -> Result<Ast, ParserError> {
        let wrong = |error: serde_json::Error| ParserError::ParserError(error.to_string());
        let text = serde_json::to_string(self).map_err(wrong)?;
        let text = format!("CALL p('{}')", text.replace('\'', "''"));
        let mut parsed = Parser::parse_sql(&PostgreSqlDialect {}, &text)?;
        match parsed.pop() {
            Some(Ast::Call(mut call)) => {
                call.name = ObjectName::from(vec![Self::PROCEDURE.into()]);
                Ok(Ast::Call(call))
            }
            _ => Err(ParserError::ParserError("a CALL was expected".to_owned())),
        }
    }

    /// The statement in a tree, if it is one of the kind.
    fn of(call: &Function) -> Option<Self> {
        let [name] = call.name.0.as_slice() else {
            return None;
        };
        let name = name.as_ident()?;
        if name.value != Self::PROCEDURE || name.quote_style.is_some() {
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
