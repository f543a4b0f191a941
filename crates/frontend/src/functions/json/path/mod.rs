//! The SQL/JSON path language: its type, operators and functions.
//!
//! ```text
//! jsonb_path_query('{"a": [1, 5]}', '$.a[*] ? (@ > 2)')   →   5
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `tree` | a path as a tree, and its canonical text |
//! | `lex`, `parse` | text to tree |
//! | `eval` | the items that a path gives for a value |
//! | `decimal` | arithmetic |
//! | `moment` | dates and times |
//! | `layout` | numbers of objects for `keyvalue` |
//!
//! A path is kept as the text that was given, and read once for a constant. The canonical text,
//! which is its output, may lack brackets that it needs.

mod decimal;
mod eval;
mod layout;
mod lex;
mod moment;
mod parse;
mod tree;

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};

use crate::error::{Error, Result};
use crate::functions::kernel::{self, Column, Input, Kernel, Str, f1, repeated};
use crate::functions::{Catalogue, Context, Returns, Scalar, TableFunction, scalar};
use crate::types::Type;
use eval::{Call, Item, Stop, evaluate};
use tree::Path;

pub(super) fn register(c: &mut Catalogue) {
    use Type::{JsonPath, Jsonb, Text};
    let boolean = Type::Bool;
    let read = f1::<Str, Str>(|text| {
        parse::parse(text)?;
        Ok(text.to_owned())
    });
    c.cast(Text, JsonPath, Context::Explicit, read);
    let shown = f1::<Str, Str>(|text| Ok(parse::parse(text)?.text()));
    c.cast(JsonPath, Text, Context::Assignment, shown);

    let exists = results(Wanted::Exists, Mode::OPERATOR);
    c.operator("@?", &[Jsonb, JsonPath], boolean.clone(), exists.clone());
    c.add(scalar(
        "jsonb_path_exists_opr",
        &[Jsonb, JsonPath],
        boolean.clone(),
        exists,
    ));
    let matches = results(Wanted::Match, Mode::OPERATOR);
    c.operator("@@", &[Jsonb, JsonPath], boolean.clone(), matches.clone());
    c.add(scalar(
        "jsonb_path_match_opr",
        &[Jsonb, JsonPath],
        boolean.clone(),
        matches,
    ));

    let functions = [
        (
            "jsonb_path_exists",
            "jsonb_path_exists_tz",
            Wanted::Exists,
            boolean.clone(),
        ),
        (
            "jsonb_path_match",
            "jsonb_path_match_tz",
            Wanted::Match,
            boolean,
        ),
        (
            "jsonb_path_query_array",
            "jsonb_path_query_array_tz",
            Wanted::Array,
            Jsonb,
        ),
        (
            "jsonb_path_query_first",
            "jsonb_path_query_first_tz",
            Wanted::First,
            Jsonb,
        ),
    ];
    for (plain, with_zone, wanted, returns) in functions {
        let kernel = results(
            wanted,
            Mode {
                zone: false,
                quiet: false,
            },
        );
        c.add(with_defaults(plain, returns.clone(), kernel));
        let kernel = results(
            wanted,
            Mode {
                zone: true,
                quiet: false,
            },
        );
        c.add(with_defaults(with_zone, returns, kernel).stable());
    }
    for (name, zone) in [("jsonb_path_query", false), ("jsonb_path_query_tz", true)] {
        // A table function has no defaults: each number of arguments is an overload.
        for count in 2..=4 {
            c.add_table(query(name, zone, count));
        }
    }
}

fn with_defaults(name: &'static str, returns: Type, kernel: Kernel) -> Scalar {
    use Type::{Bool, JsonPath, Jsonb};
    scalar(name, &[Jsonb, JsonPath, Jsonb, Bool], returns, kernel)
        .named(&["target", "path", "vars", "silent"], &["{}", "false"])
}

/// The parameters of `jsonb_path_query`.
pub(in crate::functions) const PARAMETERS: [(&str, Option<&str>); 4] = [
    ("target", None),
    ("path", None),
    ("vars", Some("{}")),
    ("silent", Some("false")),
];

/// What a function gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Exists,
    Match,
    Array,
    First,
}

/// How a function works.
#[derive(Clone, Copy)]
struct Mode {
    /// Whether the session's time zone may be used.
    zone: bool,
    /// Whether errors are passed over without being asked to.
    quiet: bool,
}

impl Mode {
    const OPERATOR: Mode = Mode {
        zone: false,
        quiet: true,
    };
}

/// The paths of a column, each read once as long as it stays the same.
struct Paths<'a> {
    texts: &'a StringViewArray,
    paths: Vec<Path>,
    /// The path of each place.
    places: Vec<usize>,
}

impl<'a> Paths<'a> {
    fn new(array: &'a ArrayRef) -> Result<Self> {
        let texts = array.as_string_view_opt();
        let texts = texts.ok_or_else(|| Error::internal("a path was wanted"))?;
        let mut paths = Vec::new();
        let mut places = Vec::with_capacity(texts.len());
        let mut last = None;
        for text in texts {
            if let Some(text) = text
                && last != Some(text)
            {
                paths.push(parse::parse(text)?);
                last = Some(text);
            }
            places.push(paths.len().saturating_sub(1));
        }
        Ok(Self {
            texts,
            paths,
            places,
        })
    }

    fn get(&self, at: usize) -> Option<&Path> {
        match self.texts.is_null(at) {
            true => None,
            false => self.paths.get(*self.places.get(at)?),
        }
    }
}

/// The kernel of a function that gives a value for each row.
fn results(wanted: Wanted, mode: Mode) -> Kernel {
    Arc::new(move |call: &kernel::Call<'_>, columns: &[Column]| {
        let [json, path, more @ ..] = columns else {
            return Err(Error::internal("a function is short of arguments"));
        };
        let paths = Paths::new(&path.array)?;
        let jsons = Str::reader(&json.array)?;
        let vars = more
            .first()
            .map(|column| Str::reader(&column.array))
            .transpose()?;
        let rows = super::rows(call.rows, columns);
        let mut truths = BooleanBuilder::new();
        let mut texts = StringViewBuilder::new();
        let is_bool = matches!(wanted, Wanted::Exists | Wanted::Match);
        for row in 0..rows {
            let found = match columns.iter().any(|column| column.is_null(row)) {
                true => Given::Null,
                false => {
                    let Some(found) = paths.get(path.at(row)) else {
                        return Err(Error::internal("a path is missing"));
                    };
                    let vars = vars.zip(more.first());
                    let vars = vars.map(|(texts, column)| texts.value(column.at(row)));
                    let silent = more.get(1).is_some_and(|column| silent(column, row));
                    let one = Call {
                        path: found,
                        vars,
                        zone: mode.zone,
                        session: call.session,
                    };
                    let quiet = mode.quiet || silent;
                    result(&one, jsons.value(json.at(row)), wanted, quiet)?
                }
            };
            match (is_bool, found) {
                (true, Given::Truth(truth)) => truths.append_value(truth),
                (true, _) => truths.append_null(),
                (false, Given::Json(text)) => texts.append_value(text),
                (false, _) => texts.append_null(),
            }
        }
        let array: ArrayRef = match is_bool {
            true => Arc::new(truths.finish()),
            false => Arc::new(texts.finish()),
        };
        Ok(repeated(array, call.rows))
    })
}

fn silent(column: &Column, row: usize) -> bool {
    let values = column.array.as_boolean_opt();
    values.is_some_and(|values| values.value(column.at(row)))
}

/// A result.
enum Given {
    Null,
    Truth(bool),
    Json(String),
}

fn result(call: &Call<'_>, json: &str, wanted: Wanted, quiet: bool) -> Result<Given> {
    let mut items = Vec::new();
    let any = match evaluate(call, json, wanted != Wanted::Exists, &mut items) {
        Ok(any) => any,
        Err(Stop::Soft(_)) if quiet && wanted == Wanted::Exists => return Ok(Given::Null),
        Err(Stop::Soft(_)) if quiet => false,
        Err(Stop::Soft(error) | Stop::Hard(error)) => return Err(error),
    };
    Ok(match wanted {
        Wanted::Exists => Given::Truth(any),
        Wanted::Array => Given::Json(eval::array(&items)?),
        Wanted::First => match items.first() {
            Some(item) => Given::Json(item.json().into_owned()),
            None => Given::Null,
        },
        Wanted::Match => match items.as_slice() {
            [Item::Json(json)] if json == "true" => Given::Truth(true),
            [Item::Json(json)] if json == "false" => Given::Truth(false),
            [Item::Json(json)] if json == "null" => Given::Null,
            _ if quiet => Given::Null,
            _ => return Err(Error::new("22038", "single boolean result is expected")),
        },
    })
}

/// `jsonb_path_query` with a number of arguments.
fn query(name: &'static str, zone: bool, count: usize) -> TableFunction {
    use Type::{Bool, JsonPath, Jsonb};
    let mut parameters = vec![Jsonb, JsonPath, Jsonb, Bool];
    parameters.truncate(count);
    let rows = Arc::new(move |call: &kernel::Call<'_>, arguments: &[ArrayRef]| {
        let columns: Vec<_> = arguments.iter().cloned().map(Column::constant).collect();
        let [json, path, more @ ..] = columns.as_slice() else {
            return Err(Error::internal("a function is short of arguments"));
        };
        let empty: super::rows::Rows = Box::new(std::iter::empty());
        let paths = Paths::new(&path.array)?;
        let Some(found) = paths
            .get(0)
            .filter(|_| !columns.iter().any(|c| c.is_null(0)))
        else {
            return Ok(empty);
        };
        let vars = more
            .first()
            .map(|column| Str::reader(&column.array))
            .transpose()?;
        let one = Call {
            path: found,
            vars: Some(vars.map_or("{}", |texts| texts.value(0))),
            zone,
            session: call.session,
        };
        let quiet = more.get(1).is_some_and(|column| silent(column, 0));
        let json = Str::reader(&json.array)?;
        let mut items = Vec::new();
        match evaluate(&one, json.value(0), true, &mut items) {
            Err(Stop::Soft(_)) if quiet => {}
            Err(Stop::Soft(error) | Stop::Hard(error)) => return Err(error),
            Ok(_) => {}
        }
        let texts = items.iter().map(|item| Some(item.json()));
        let array: ArrayRef = Arc::new(texts.collect::<StringViewArray>());
        let rows: super::rows::Rows = Box::new(std::iter::once(Ok(vec![array])));
        Ok(rows)
    });
    TableFunction {
        name,
        parameters,
        variadic: None,
        columns: vec![("", Returns::Type(Jsonb))],
        strict: true,
        rows,
    }
}
