//! Names that stand for forms which the grammar lacks: their quote is one that no text has.

use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident};

/// A lambda: a call of its names and its body.
pub(crate) const LAMBDA: &str = "lambda ";
/// Functions that take lambdas.
pub(crate) const WITH_LAMBDAS: [&str; 11] = [
    "list_transform",
    "array_transform",
    "list_apply",
    "array_apply",
    "apply",
    "list_filter",
    "array_filter",
    "filter",
    "list_reduce",
    "array_reduce",
    "reduce",
];
/// The only item of an empty SELECT list; the column of DO NOTHING in MERGE.
pub const NOTHING: &str = "nothing ";

/// The alias of a query that the grammar does not have as a sub-query.
pub(crate) const QUERY: &str = "query ";

/// The quote of such a name.
pub const QUOTE: char = '`';

/// EXCLUDE of a frame: the last key of ORDER BY, with the words behind it.
pub(crate) const EXCLUDE: &str = "exclude ";
/// BETWEEN SYMMETRIC: a call around the lower bound.
pub(crate) const SYMMETRIC: &str = "symmetric ";
/// `t.*` inside an expression: the last part of a name.
pub(crate) const WHOLE_ROW: &str = "whole row ";
/// `GROUP BY DISTINCT`: the first key.
pub(crate) const DISTINCT_SETS: &str = "distinct sets ";
/// GROUPING SETS: a call.
pub(crate) const GROUPING_SETS: &str = "grouping sets ";
/// ROLLUP: a call.
pub(crate) const ROLLUP: &str = "rollup ";
/// CUBE: a call.
pub(crate) const CUBE: &str = "cube ";
/// `()` as a key of GROUP BY: a call.
pub(crate) const NO_KEYS: &str = "no keys ";
/// ROWS FROM: a call around the calls.
pub(crate) const ROWS_FROM: &str = "rows from ";
/// A column definition list in ROWS FROM: a call with the call and `name => NULL::type`.
pub(crate) const COLUMNS: &str = "columns ";
/// The alias of `JOIN … USING (…)`: a column in the list, with the name behind it.
pub(crate) const JOIN_ALIAS: &str = "as ";
/// SEARCH and CYCLE: columns of the common table expression, with the parts behind it.
pub(crate) const SEARCH: &str = "search ";
/// See [`SEARCH`].
pub(crate) const CYCLE: &str = "cycle ";
/// Parts of [`SEARCH`] and [`CYCLE`] are separated by it; no name has it.
pub(crate) const PART: char = '\0';
/// `ORDER BY x USING op`: a call, with the operator behind it.
pub(crate) const USING: &str = "using ";
/// A prefix operator: a call, with the operator behind it.
pub(crate) const PREFIX: &str = "prefix ";
/// VARIADIC: a call around the argument.
pub(crate) const VARIADIC: &str = "variadic ";
/// `op ANY (x)`: a call in the place of the right operand.
pub(crate) const ANY: &str = "any ";
/// `op ALL (x)`: a call in the place of the right operand.
pub(crate) const ALL: &str = "all ";

/// An element or a slice that gets a value: a call of it, behind [`BASE`], and the value.
pub const ASSIGN: &str = "assign ";
/// What has elements that get values.
pub const BASE: &str = "base ";
/// Elements of a column of INSERT: a name behind that of the column, with the subscripts as
/// they are written.
pub const TARGET: &str = "target ";

/// The column of INSERT DEFAULT VALUES in MERGE.
pub const DEFAULTS: &str = "defaults ";

/// What follows the mark in a name that stands for a form.
pub(crate) fn marked<'a>(ident: &'a Ident, mark: &str) -> Option<&'a str> {
    match ident.quote_style {
        Some(QUOTE) => ident.value.strip_prefix(mark),
        _ => None,
    }
}

/// What follows the mark in the name of a call that stands for a form, and its arguments.
pub(crate) fn marked_call<'a>(expr: &'a Expr, mark: &str) -> Option<(&'a str, Vec<&'a Expr>)> {
    let Expr::Function(call) = expr else {
        return None;
    };
    let [part] = call.name.0.as_slice() else {
        return None;
    };
    let rest = marked(part.as_ident()?, mark)?;
    let FunctionArguments::List(list) = &call.args else {
        return Some((rest, Vec::new()));
    };
    let arguments = list.args.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    Some((rest, arguments.collect()))
}
