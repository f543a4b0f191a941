//! CREATE AGGREGATE and DROP AGGREGATE, and aggregates as the database keeps them: functions with
//! the names of those that lead from state to state and make the result.
//!
//! ```text
//! CREATE AGGREGATE f(integer) (SFUNC = g, STYPE = bigint, INITCOND = '0')
//! CREATE AGGREGATE f(BASETYPE = integer, SFUNC = g, STYPE = bigint)          the older form
//! DROP AGGREGATE f(integer), h(*)
//! ```
//!
//! In a tree they are statements about functions: the language and an argument that comes out
//! tell them.

use std::sync::Arc;

use freestone_frontend::bind::{Catalog as Known, FunctionName, SqlAggregate};
use freestone_frontend::functions::Returns;
use freestone_frontend::types::Type;
use freestone_storage::Catalog;
use serde::{Deserialize, Serialize};
use sqlparser::ast::{
    ArgMode, CreateFunction, CreateFunctionBody, DataType, DropBehavior, DropFunction, Expr,
    FunctionDesc, Ident, OperateFunctionArg, Statement as Ast, Value,
};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::syntax::{next_are, quoted, skip};
use super::{Routine, of_name, type_named};
use crate::error::{Error, Result};
use crate::names::fold;

/// The language of aggregates, and the name of the argument that tells a DROP of one.
pub(crate) const AGGREGATE: &str = "\u{1}aggregate";

/// How `"any"` is kept, the type of an argument of any type.
pub(crate) const ANY: &str = "\"any\"";

/// The definition of a created aggregate, as the catalog keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Aggregation {
    /// The function that leads from state to state.
    pub(crate) step: FunctionName,
    /// The type of states.
    pub(crate) state: String,
    /// The text of the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) initial: Option<String>,
    /// The function that makes the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) finish: Option<FunctionName>,
    /// Whether that is given a NULL for each argument, too.
    #[serde(default)]
    pub(crate) extra: bool,
    /// The function that would join two states, which nothing calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) combine: Option<FunctionName>,
    /// Bytes that a state is said to take.
    #[serde(default)]
    pub(crate) space: i64,
    /// FINALFUNC_MODIFY: `r`, `s` or `w`, as in `pg_aggregate`.
    pub(crate) modify: String,
}

/// The definition of an aggregate as it was written.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Declaration {
    /// Whether the input stands among the options.
    pub(crate) is_old: bool,
    /// A form that is not supported.
    pub(crate) refused: Option<String>,
    /// Names and values of options; a value that is a text in quotes is its text.
    pub(crate) options: Vec<(String, String)>,
}

impl Declaration {
    /// The definition in a statement that makes an aggregate; `None` in any other.
    ///
    /// # Errors
    /// None but those of a bug in here.
    pub(crate) fn of(create: &CreateFunction) -> Result<Option<Self>> {
        let is_aggregate = |language: &Ident| language.value == AGGREGATE;
        if !create.language.as_ref().is_some_and(is_aggregate) {
            return Ok(None);
        }
        if let Some(CreateFunctionBody::AsBeforeOptions {
            body: Expr::Value(value),
            link_symbol: None,
        }) = &create.function_body
            && let Value::DollarQuotedString(text) = &value.value
        {
            let read = serde_json::from_str(&text.value);
            return read
                .map(Some)
                .map_err(|error| Error::internal(error.to_string()));
        }
        Err(Error::internal("an aggregate without a definition"))
    }
}

/// Whether a statement drops an aggregate by this description.
pub(crate) fn is_dropped_aggregate(one: &FunctionDesc) -> bool {
    let mut args = one.args.iter().flatten();
    args.any(|arg| {
        arg.name
            .as_ref()
            .is_some_and(|name| name.value == AGGREGATE)
    })
}

/// A statement about an aggregate; `None` for any other.
///
/// # Errors
/// Those of the grammar.
pub(super) fn parse(parser: &mut Parser<'_>) -> std::result::Result<Option<Ast>, ParserError> {
    for (words, or_replace) in [
        (["create", "aggregate"].as_slice(), false),
        (&["create", "or", "replace", "aggregate"], true),
    ] {
        if next_are(parser, words) {
            skip(parser, words.len());
            return create(parser, or_replace).map(Some);
        }
    }
    match next_are(parser, &["drop", "aggregate"]) {
        true => {
            skip(parser, 2);
            dropped(parser).map(Some)
        }
        false => Ok(None),
    }
}

fn create(parser: &mut Parser<'_>, or_replace: bool) -> std::result::Result<Ast, ParserError> {
    let name = parser.parse_object_name(false)?;
    let mut definition = Declaration {
        is_old: matches!(parser.peek_nth_token_ref(2).token, Token::Eq),
        ..Declaration::default()
    };
    let mut args = Vec::new();
    if !definition.is_old {
        (args, definition.refused) = arguments(parser)?;
    }
    parser.expect_token(&Token::LParen)?;
    loop {
        let option = fold(&parser.parse_identifier()?);
        let value = match parser.consume_token(&Token::Eq) {
            true => value(parser),
            false => "true".to_owned(),
        };
        definition.options.push((option, value));
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    parser.expect_token(&Token::RParen)?;
    let text = serde_json::to_string(&definition);
    let text = text.map_err(|error| ParserError::ParserError(error.to_string()))?;
    Ok(Ast::CreateFunction(CreateFunction {
        or_alter: false,
        or_replace,
        temporary: false,
        if_not_exists: false,
        name,
        args: Some(args),
        return_type: None,
        function_body: Some(CreateFunctionBody::AsBeforeOptions {
            body: quoted(text),
            link_symbol: None,
        }),
        behavior: None,
        called_on_null: None,
        parallel: None,
        security: None,
        set_params: Vec::new(),
        using: None,
        language: Some(Ident::new(AGGREGATE)),
        determinism_specifier: None,
        options: None,
        remote_connection: None,
    }))
}

/// The value of an option, up to the next comma or the end of the list.
fn value(parser: &mut Parser<'_>) -> String {
    let mut parts = Vec::new();
    let mut open = 0_usize;
    loop {
        match &parser.peek_token_ref().token {
            Token::EOF => break,
            Token::Comma | Token::RParen if open == 0 => break,
            Token::LParen => open += 1,
            Token::RParen => open = open.saturating_sub(1),
            _ => {}
        }
        parts.push(parser.next_token().token);
    }
    match parts.as_slice() {
        [Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text)] => text.clone(),
        parts => {
            let texts: Vec<String> = parts.iter().map(ToString::to_string).collect();
            texts.join(" ")
        }
    }
}

/// The types of arguments in brackets, and a form that is not supported.
fn arguments(
    parser: &mut Parser<'_>,
) -> std::result::Result<(Vec<OperateFunctionArg>, Option<String>), ParserError> {
    parser.expect_token(&Token::LParen)?;
    let mut args = Vec::new();
    let mut refused = None;
    if parser.consume_token(&Token::Mul) {
        parser.expect_token(&Token::RParen)?;
        return Ok((args, refused));
    }
    loop {
        if next_are(parser, &["order", "by"]) {
            skip(parser, 2);
            refused = Some("ORDER BY among its arguments".to_owned());
        }
        if next_are(parser, &["variadic"]) {
            skip(parser, 1);
            refused = refused.or(Some("VARIADIC".to_owned()));
        }
        let named = parser.maybe_parse(|parser| {
            let name = parser.parse_identifier()?;
            Ok((name, parser.parse_data_type()?))
        })?;
        let (name, data_type) = match named {
            Some((name, ty)) => (Some(name), ty),
            None => (None, parser.parse_data_type()?),
        };
        args.push(OperateFunctionArg {
            mode: None,
            name,
            data_type,
            default_expr: None,
        });
        if parser.consume_token(&Token::RParen) {
            return Ok((args, refused));
        }
        if !next_are(parser, &["order", "by"]) {
            parser.expect_token(&Token::Comma)?;
        }
    }
}

fn dropped(parser: &mut Parser<'_>) -> std::result::Result<Ast, ParserError> {
    let if_exists = next_are(parser, &["if", "exists"]);
    if if_exists {
        skip(parser, 2);
    }
    let mut func_desc = Vec::new();
    loop {
        let name = parser.parse_object_name(false)?;
        let (mut args, _) = arguments(parser)?;
        args.push(OperateFunctionArg {
            mode: Some(ArgMode::Out),
            name: Some(Ident::new(AGGREGATE)),
            data_type: DataType::Unspecified,
            default_expr: None,
        });
        let args = Some(args);
        func_desc.push(FunctionDesc { name, args });
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    let cascade = next_are(parser, &["cascade"]);
    if cascade || next_are(parser, &["restrict"]) {
        skip(parser, 1);
    }
    Ok(Ast::DropFunction(DropFunction {
        if_exists,
        func_desc,
        drop_behavior: cascade.then_some(DropBehavior::Cascade),
    }))
}

impl Routine {
    /// The aggregate as the front binds calls of it; `None` for a function.
    ///
    /// # Errors
    /// `42704` of types that are none.
    pub(crate) fn aggregate(
        &self,
        schema: &str,
        known: &dyn Known,
    ) -> Result<Option<SqlAggregate>> {
        let Some(aggregation) = &self.aggregation else {
            return Ok(None);
        };
        let read = |ty: &str| match ty {
            ANY => Ok(Type::Any),
            ty => type_named(ty, known),
        };
        Ok(Some(SqlAggregate {
            name: self.name.clone(),
            identity: format!("{schema}.{}", self.signature()),
            parameters: self.types().map(read).collect::<Result<_>>()?,
            step: aggregation.step.clone(),
            state: Returns::Type(read(&aggregation.state)?),
            initial: aggregation.initial.clone(),
            finish: aggregation.finish.clone(),
            extra: aggregation.extra,
        }))
    }

    /// Whether an aggregate calls a function of a schema and a name.
    pub(crate) fn calls(&self, schema: &str, name: &str) -> bool {
        let is = |one: &FunctionName| one.0.as_deref() == Some(schema) && one.1 == name;
        let Some(Aggregation {
            step,
            finish,
            combine,
            ..
        }) = &self.aggregation
        else {
            return false;
        };
        [Some(step), finish.as_ref(), combine.as_ref()]
            .into_iter()
            .flatten()
            .any(is)
    }
}

/// The aggregates of a name in a schema, as the front binds calls of them.
///
/// # Errors
/// Those of [`of_name`] and [`Routine::aggregate`].
pub(crate) fn aggregates(
    catalog: &Catalog,
    (schema, name): (&str, &str),
    known: &dyn Known,
    is_there: impl Fn(&str) -> bool,
) -> Result<Vec<Arc<SqlAggregate>>> {
    let mut found = Vec::new();
    for routine in of_name(catalog, schema, name)? {
        if is_there(&routine.signature()) {
            found.extend(routine.aggregate(schema, known)?.map(Arc::new));
        }
    }
    Ok(found)
}
