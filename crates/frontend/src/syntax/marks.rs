//! Names that stand for forms which the grammar lacks: they begin with a character that no name
//! has. They are quoted names, so that a tree is read again from the text that it is printed as.

use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident};

use super::expression;
use crate::error::{Error, Result};

/// A lambda: a call of its names and its body.
pub(crate) const LAMBDA: &str = "\u{1}lambda ";
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
pub const NOTHING: &str = "\u{1}nothing ";

/// The alias of a query that the grammar does not have as a sub-query.
pub const QUERY: &str = "\u{1}query ";

/// The quote of such a name.
pub const QUOTE: char = '"';

/// The first character of such a name.
pub(super) const FIRST: char = '\u{1}';

/// Whether a name is such a one.
pub fn is_mark(name: &str) -> bool {
    name.starts_with(FIRST)
}

/// EXCLUDE of a frame: the last key of ORDER BY, with the words behind it.
pub const EXCLUDE: &str = "\u{1}exclude ";
/// BETWEEN SYMMETRIC: a call around the lower bound.
pub const SYMMETRIC: &str = "\u{1}symmetric ";
/// `t.*` inside an expression: the last part of a name.
pub const WHOLE_ROW: &str = "\u{1}whole row ";
/// `GROUP BY DISTINCT`: the first key.
pub const DISTINCT_SETS: &str = "\u{1}distinct sets ";
/// GROUPING SETS: a call.
pub const GROUPING_SETS: &str = "\u{1}grouping sets ";
/// ROLLUP: a call.
pub const ROLLUP: &str = "\u{1}rollup ";
/// CUBE: a call.
pub const CUBE: &str = "\u{1}cube ";
/// `()` as a key of GROUP BY: a call.
pub const NO_KEYS: &str = "\u{1}no keys ";
/// ROWS FROM: a call around the calls.
pub const ROWS_FROM: &str = "\u{1}rows from ";
/// ONLY before a table: a hint behind it.
pub const ONLY: &str = "\u{1}only ";
/// A column definition list in ROWS FROM: a call with the call and `name => NULL::type`.
pub const COLUMNS: &str = "\u{1}columns ";
/// The alias of `JOIN … USING (…)`: a column in the list, with the name behind it.
pub const JOIN_ALIAS: &str = "\u{1}as ";
/// SEARCH and CYCLE: columns of the common table expression, with the parts behind it.
pub const SEARCH: &str = "\u{1}search ";
/// See [`SEARCH`].
pub const CYCLE: &str = "\u{1}cycle ";
/// Parts of [`SEARCH`] and [`CYCLE`] are separated by it; no name has it.
pub const PART: char = '\0';
/// `ORDER BY x USING op`: a call, with the operator behind it.
pub const USING: &str = "\u{1}using ";
/// A prefix operator: a call, with the operator behind it.
pub const PREFIX: &str = "\u{1}prefix ";
/// `FETCH FIRST (…) ROWS WITH TIES`: a call around the count in LIMIT.
pub const TIES: &str = "\u{1}ties ";
/// FOR KEY SHARE and FOR NO KEY UPDATE: the first part of the name behind OF.
pub(super) const KEY: &str = "\u{1}key ";
/// VARIADIC: a call around the argument.
pub const VARIADIC: &str = "\u{1}variadic ";
/// `op ANY (x)`: a call in the place of the right operand.
pub const ANY: &str = "\u{1}any ";
/// `op ALL (x)`: a call in the place of the right operand.
pub const ALL: &str = "\u{1}all ";

/// An element, a slice or a field that gets a value: a call of it, behind [`BASE`], and the value.
pub const ASSIGN: &str = "\u{1}assign ";
/// Stands for the array, record or JSONB value whose parts get values.
pub const BASE: &str = "\u{1}base ";
/// Parts of a column of INSERT: a name behind that of the column, with the subscripts and fields
/// as they are written.
pub const TARGET: &str = "\u{1}target ";

/// A clause of MERGE in the list of the query for its rows: a call with the rows that it is of
/// behind it ([`WHEN_MATCHED`] and so on), of its condition and the values of all columns. Without
/// values the clause deletes rows; a clause that leaves its rows alone is [`WHEN_NOTHING`].
pub const WHEN: &str = "\u{1}when ";
/// Rows of the target that match rows of the source.
pub const WHEN_MATCHED: &str = "matched";
/// Rows of the target that match none.
pub const WHEN_TARGET: &str = "target";
/// Rows of the source that match none.
pub const WHEN_SOURCE: &str = "source";
/// Behind one of these: the clause changes nothing.
pub const WHEN_NOTHING: &str = " nothing";

/// The column of INSERT DEFAULT VALUES in MERGE.
pub const DEFAULTS: &str = "\u{1}defaults ";

/// BY NAME of INSERT: the only column of the list.
pub const BY_NAME: &str = "\u{1}by name ";
/// An element of ON CONFLICT that is no column: a name, with the element as it is written.
pub const INFERRED: &str = "\u{1}inferred ";
/// The condition behind the elements of ON CONFLICT: the last of them.
pub const INFERRED_WHERE: &str = "\u{1}inferred where ";

/// EXECUTE in CREATE TABLE AS: a call, with the name of the statement behind it.
pub const EXECUTE: &str = "\u{1}execute ";

/// `COLUMNS (…)`, or a star with options: a call of what selects the columns, in order.
pub(crate) const COLUMNS_OF: &str = "\u{1}columns of ";
/// The relation of the star: a call of its name.
pub(crate) const OF: &str = "\u{1}of ";
/// EXCLUDE of a star: a call of the names.
pub(crate) const WITHOUT: &str = "\u{1}without ";
/// REPLACE of a star: a call of the value, with the name of the column behind it.
pub(crate) const REPLACED: &str = "\u{1}replaced ";
/// RENAME of a star: a call of the name, with the new name behind it.
pub(crate) const RENAMED: &str = "\u{1}renamed ";
/// A call around what may stand for several expressions, one for each column.
pub(crate) const EACH: &str = "\u{1}each ";
/// `*COLUMNS (…)`: a call around it.
pub(crate) const SPREAD: &str = "\u{1}spread ";
/// The name of each column, by a pattern that is behind it: an alias.
pub(crate) const PATTERN: &str = "\u{1}pattern ";
/// A value with a label, which is behind it: a call.
pub(crate) const NAMED: &str = "\u{1}named ";
/// PIVOT in FROM: a call of a sub-query that selects from what is pivoted, and of its parts.
pub const PIVOT: &str = "\u{1}pivot ";
/// An expression of ON, and the values that it may have: a call in [`PIVOT`]; without values all
/// that there are.
pub const PIVOT_ON: &str = "\u{1}pivot on ";
/// USING: a call in [`PIVOT`].
pub(crate) const PIVOT_USING: &str = "\u{1}pivot using ";
/// GROUP BY: a call in [`PIVOT`].
pub(crate) const PIVOT_BY: &str = "\u{1}pivot by ";
/// UNPIVOT in FROM: a call of a sub-query, of the names in [`UNPIVOT_INTO`], and of its items.
pub(crate) const UNPIVOT: &str = "\u{1}unpivot ";
/// UNPIVOT … INCLUDE NULLS.
pub(crate) const UNPIVOT_NULLS: &str = "\u{1}nulls unpivot ";
/// Names of the new columns: a call in [`UNPIVOT`].
pub(crate) const UNPIVOT_INTO: &str = "\u{1}into ";
/// SUMMARIZE in FROM: a call of a sub-query.
pub(crate) const SUMMARIZE: &str = "\u{1}summarize ";
/// A sample of FROM: a call in it, of the words of the sample.
pub(crate) const SAMPLE: &str = "\u{1}sample ";
/// POSITIONAL JOIN: the condition of a full join.
pub const POSITIONAL: &str = "\u{1}positional ";
/// A column that a form stands for: the number of its scope, its own number there, and its name,
/// separated by [`PART`].
pub(crate) const PICKED: &str = "\u{1}picked ";

/// What follows the mark in a name that stands for a form.
pub fn marked<'a>(ident: &'a Ident, mark: &str) -> Option<&'a str> {
    match ident.quote_style {
        Some(QUOTE) => ident.value.strip_prefix(mark),
        _ => None,
    }
}

/// A call of a mark, and what follows it, of some arguments.
///
/// # Errors
/// `XX000` if the syntax of calls is another one.
pub fn call(mark: &str, behind: &str, arguments: Vec<Expr>) -> Result<Expr> {
    let mut written = expression(&format!("{QUOTE}{mark}{behind}{QUOTE}()"))?;
    if let Expr::Function(call) = &mut written
        && let FunctionArguments::List(list) = &mut call.args
    {
        let arguments = arguments.into_iter();
        let arguments = arguments.map(|value| FunctionArg::Unnamed(FunctionArgExpr::Expr(value)));
        list.args = arguments.collect();
        return Ok(written);
    }
    Err(Error::internal("a call that is none"))
}

/// What follows the mark in the name of a call that stands for a form, and its arguments.
pub fn marked_call<'a>(expr: &'a Expr, mark: &str) -> Option<(&'a str, Vec<&'a Expr>)> {
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
