//! Functions whose body is SQL, and macros, as the database keeps them.
//!
//! ```text
//! f(integer)      {"name":"f","parameters":[{"name":"a","ty":"integer"}],"returns":"integer",
//!                  "body":"select a + 1","is_query":true,…}
//! ```
//!
//! `aggregate` has aggregates, which are functions, too. `syntax` reads what the grammar does not: macros, and bodies between BEGIN ATOMIC and END.
//! `block` reads the blocks of DO, and `conditions` has the names of their errors.

mod aggregate;
pub(crate) mod block;
mod conditions;
mod syntax;

use std::sync::Arc;

use freestone_frontend::bind::{
    Catalog as Known, Found, SqlBody, SqlFunction, SqlParameter, SqlReturns, written_type,
};
use freestone_frontend::functions::Volatility;
use freestone_frontend::types::Type;
use freestone_frontend::{Position, Result as FrontResult, syntax as grammar};
use freestone_storage::Catalog;
use serde::{Deserialize, Serialize};
use sqlparser::ast::{DataType, Expr, Query, Statement as Ast};

use crate::error::{Error, Result};

pub(crate) use aggregate::{ANY, Aggregation, Declaration, aggregates, is_dropped_aggregate};
pub(crate) use syntax::{ATOMIC, COST, LEAKPROOF, MACRO, ROWS, WINDOW, adapt, parse};

/// A function as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Routine {
    /// Its name.
    pub(crate) name: String,
    /// Its parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// The type of its value; none of a macro.
    pub(crate) returns: Option<String>,
    /// Names and types of the columns of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<Vec<(String, String)>>,
    /// Whether it gives one row of several columns.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) single: bool,
    /// Whether its columns are named by each call.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) records: bool,
    /// Whether it is a macro of rows.
    #[serde(default)]
    pub(crate) is_table: bool,
    /// The type behind RETURNS, where it says more than `returns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) declared: Option<String>,
    /// How arguments are given, one letter each, as in `pg_proc`; empty if all go in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) modes: String,
    /// Names and types of the arguments that only come out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<(String, String)>,
    /// Its body.
    pub(crate) body: String,
    /// Whether that is a query, and not an expression.
    pub(crate) is_query: bool,
    /// Whether that stood between BEGIN ATOMIC and END.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) atomic: bool,
    /// Whether it is NULL if an argument is.
    #[serde(default)]
    pub(crate) strict: bool,
    /// Whether it is said to tell nothing of its arguments.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) leakproof: bool,
    /// `s`, `r` or `u`, as in `pg_proc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parallel: Option<String>,
    /// How much a call is said to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f32>,
    /// How many rows it is said to give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<f32>,
    /// `i`, `s` or `v`, as in `pg_proc`.
    pub(crate) volatility: String,
    /// `sql`, `macro` or, of an aggregate, `internal`.
    pub(crate) language: String,
    /// Its definition if it is an aggregate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) aggregation: Option<Aggregation>,
}

/// A parameter as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameter {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Its type; none of a macro.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ty: Option<String>,
    /// Its value where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<String>,
    /// Whether it stands for any number of arguments, which it has as an array.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) variadic: bool,
}

fn is_false(truth: &bool) -> bool {
    !truth
}

/// An argument of a function as the catalog tells it.
pub(crate) struct Argument<'r> {
    /// `i`, `o`, `b`, `v` or `t`, as in `pg_proc`.
    pub(crate) mode: char,
    /// Its name; empty if it has none.
    pub(crate) name: &'r str,
    /// Its type.
    pub(crate) ty: &'r str,
    /// Its value where it is left out.
    pub(crate) default: Option<&'r str>,
}

/// Types that are the language's own.
struct OwnTypes;

impl Known for OwnTypes {
    fn relation(
        &self,
        _: Option<&str>,
        _: &str,
        _: Option<Position>,
    ) -> FrontResult<Option<Found>> {
        Ok(None)
    }
}

/// A type that a statement names.
///
/// # Errors
/// `42704`.
pub(crate) fn type_of(written: &DataType, known: &dyn Known) -> Result<Type> {
    let pseudo = match written.to_string().to_lowercase().as_str() {
        "anyelement" => Some(Type::AnyElement),
        "anyarray" => Some(Type::AnyArray),
        "anynonarray" => Some(Type::AnyNonArray),
        "anyrange" => Some(Type::AnyRange),
        "anymultirange" => Some(Type::AnyMultirange),
        "anycompatible" => Some(Type::AnyCompatible),
        "anycompatiblearray" => Some(Type::AnyCompatibleArray),
        _ => None,
    };
    match pseudo {
        Some(ty) => Ok(ty),
        None => Ok(written_type(written, known)?),
    }
}

/// A type by its name.
///
/// # Errors
/// `42704`.
fn type_named(name: &str, known: &dyn Known) -> Result<Type> {
    match grammar::expression(&format!("CAST(NULL AS {name})"))? {
        Expr::Cast { data_type, .. } => type_of(&data_type, known),
        _ => Err(Error::internal("a cast that is none")),
    }
}

/// Whether a letter of [`Routine::modes`] is of an argument that a call gives.
fn goes_in(mode: char) -> bool {
    !matches!(mode, 'o' | 't')
}

impl Routine {
    /// All its arguments, those that come out among them.
    pub(crate) fn arguments(&self) -> Vec<Argument<'_>> {
        let mut parameters = self.parameters.iter();
        let mut outputs = self.outputs.iter();
        let modes = match self.modes.is_empty() {
            true => self
                .parameters
                .iter()
                .map(|one| if one.variadic { 'v' } else { 'i' })
                .collect(),
            false => self.modes.clone(),
        };
        let all = modes.chars().filter_map(|mode| match goes_in(mode) {
            true => parameters.next().map(|one| Argument {
                mode,
                name: one.name.as_deref().unwrap_or_default(),
                ty: one.ty.as_deref().unwrap_or("any"),
                default: one.default.as_deref(),
            }),
            false => outputs.next().map(|(name, ty)| Argument {
                mode,
                name,
                ty,
                default: None,
            }),
        });
        all.collect()
    }

    /// The types of its parameters.
    pub(crate) fn types(&self) -> impl Iterator<Item = &str> {
        let parameters = self.parameters.iter();
        parameters.map(|parameter| parameter.ty.as_deref().unwrap_or("any"))
    }

    /// Whether it gives any number of rows.
    pub(crate) fn is_set(&self) -> bool {
        (self.rows.is_some() || self.records || self.is_table) && !self.single
    }

    /// The type of its result, as it was declared.
    pub(crate) fn result(&self) -> &str {
        let only = match self.rows.as_deref() {
            Some([(_, ty)]) => Some(ty.as_str()),
            _ => None,
        };
        let known = self
            .declared
            .as_deref()
            .or(self.returns.as_deref())
            .or(only);
        known.unwrap_or(match self.language.as_str() {
            MACRO => "any",
            _ => "record",
        })
    }

    /// Its name with the types of its parameters, by which it is kept.
    pub(crate) fn signature(&self) -> String {
        let types = self.parameters.iter();
        let types = types.map(|parameter| match &parameter.ty {
            // Created types are kept by the names that they are shown by.
            Some(ty) => {
                let known = type_named(ty, &OwnTypes);
                known.map_or_else(|_| ty.clone(), |ty| ty.base().to_string())
            }
            None => "any".to_owned(),
        });
        let types: Vec<String> = types.collect();
        format!("{}({})", self.name, types.join(", "))
    }

    /// The function as the front binds calls of it.
    ///
    /// # Errors
    /// `42601` and `42704` of a body or types that are none.
    pub(crate) fn function(&self, known: &dyn Known) -> Result<SqlFunction> {
        let type_named = |name: &str| type_named(name, known);
        let mut parameters = Vec::with_capacity(self.parameters.len());
        for parameter in &self.parameters {
            let default = parameter.default.as_deref();
            parameters.push(SqlParameter {
                name: parameter.name.clone(),
                ty: parameter.ty.as_deref().map(type_named).transpose()?,
                variadic: parameter.variadic,
                default: default.map(grammar::expression).transpose()?,
            });
        }
        let returns = match (&self.rows, &self.returns) {
            _ if self.records => SqlReturns::Records,
            (Some(columns), _) => {
                // Of several outputs those without a name are called by their places.
                let many = columns.len() > 1;
                let columns = columns.iter().zip(1..);
                let columns = columns.map(|((name, ty), place)| {
                    let name = match name.is_empty() && many {
                        true => format!("column{place}"),
                        false => name.clone(),
                    };
                    Ok((name, type_named(ty)?))
                });
                SqlReturns::Rows(columns.collect::<Result<_>>()?)
            }
            (None, Some(ty)) => SqlReturns::Value(type_named(ty)?),
            (None, None) if self.is_table => SqlReturns::AnyRows,
            (None, None) => SqlReturns::Any,
        };
        let mut before = Vec::new();
        let body = match self.is_query {
            true => {
                before = queries(&self.body)?;
                match before.pop() {
                    Some(last) => SqlBody::Query(Box::new(last)),
                    None => return Err(Error::internal("a body without a query")),
                }
            }
            false => SqlBody::Expr(Box::new(grammar::expression(&self.body)?)),
        };
        Ok(SqlFunction {
            name: self.name.clone(),
            parameters,
            returns,
            before,
            body,
            row: self
                .declared
                .as_deref()
                .and_then(|ty| match type_named(ty) {
                    Ok(Type::Record(fields)) => Some((fields.name()?.to_owned(), fields.number())),
                    _ => None,
                }),
            single: self.single,
            strict: self.strict,
            volatility: match self.volatility.as_str() {
                "i" => Volatility::Immutable,
                "s" => Volatility::Stable,
                _ => Volatility::Volatile,
            },
        })
    }

    /// The routine of a text that is kept.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let routine = serde_json::from_str(text);
        routine.map_err(|error| Error::new("XX001", format!("a function is damaged: {error}")))
    }
}

/// The queries of a body, of which there is at least one.
fn queries(body: &str) -> Result<Vec<Query>> {
    let all = grammar::statements(body)?;
    if all.is_empty() {
        return Err(Error::new(
            "42P13",
            "return type mismatch in function: the body has no statement",
        ));
    }
    let all = all.into_iter().map(|one| match one {
        Ast::Query(query) => Ok(*query),
        _ => Err(Error::unsupported(
            "a function whose body is anything but queries is not supported",
        )),
    });
    all.collect()
}

/// Statements of a body as they are written between BEGIN ATOMIC and END.
///
/// # Errors
/// `42601`.
pub(crate) fn statements(body: &str) -> Result<Vec<String>> {
    let all = grammar::statements(body)?.into_iter();
    Ok(all.map(|one| one.to_string()).collect())
}

/// The routines of a name in a schema.
///
/// # Errors
/// `XX001` for one that cannot be read.
pub(crate) fn of_name(catalog: &Catalog, schema: &str, name: &str) -> Result<Vec<Routine>> {
    let mut found = Vec::new();
    for (signature, text) in catalog.functions(schema) {
        let rest = signature.strip_prefix(name);
        if rest.is_some_and(|rest| rest.starts_with('(')) {
            let routine = Routine::read(text)?;
            if routine.name == name {
                found.push(routine);
            }
        }
    }
    Ok(found)
}

/// The functions of a name in a schema, as the front binds calls of them.
///
/// # Errors
/// Those of [`of_name`] and [`Routine::function`].
pub(crate) fn functions(
    catalog: &Catalog,
    (schema, name): (&str, &str),
    known: &dyn Known,
    is_there: impl Fn(&str) -> bool,
) -> Result<Vec<Arc<SqlFunction>>> {
    let all = of_name(catalog, schema, name)?;
    let all = all
        .iter()
        .filter(|routine| routine.aggregation.is_none() && is_there(&routine.signature()))
        .map(|routine| Ok(Arc::new(routine.function(known)?)));
    all.collect()
}
