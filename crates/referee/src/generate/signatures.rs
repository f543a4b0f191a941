//! The functions, operators and casts that statements may call.
//!
//! `data/signatures.txt` holds the signatures of PostgreSQL's own, without those that only the
//! server itself calls; a statement may call the ones whose name the catalogue has, too.
//! Signatures of pseudo types stand for several of plain types.

use std::collections::HashMap;

use freestone_frontend::functions::catalogue;
use freestone_frontend::types::{Type, named};

/// Kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `f(x)`.
    Function,
    /// `x + y`, `- x`.
    Operator,
    /// `sum(x)`.
    Aggregate,
    /// `mode() WITHIN GROUP (ORDER BY x)`.
    Ordered,
    /// `rank() OVER (…)`.
    Window,
}

/// A function or an operator with types.
#[derive(Clone, Debug)]
pub struct Callable {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Types of its arguments.
    pub arguments: Vec<Type>,
    /// Type of its result.
    pub returns: Type,
}

/// A line of the file.
pub struct Line<'a> {
    /// `function`, `rows`, `operator`, `aggregate`, `ordered`, `hypothetical`, `window`, `cast`.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Types of arguments.
    pub arguments: Vec<&'a str>,
    /// Type of the result.
    pub returns: &'a str,
    /// Further words: `variadic`, `stable`, `volatile`.
    pub words: Vec<&'a str>,
}

/// The lines of the file.
pub fn lines() -> impl Iterator<Item = Line<'static>> {
    include_str!("../../data/signatures.txt")
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let (kind, name) = (words.next()?, words.next()?);
            let arguments = words.next()?;
            let arguments = arguments.split(',').filter(|ty| *ty != "-").collect();
            Some(Line {
                kind,
                name,
                arguments,
                returns: words.next()?,
                words: words.collect(),
            })
        })
}

/// Functions with a syntax of their own, results that differ each time, or arguments that
/// cannot be drawn.
const LEFT_OUT: &[&str] = &[
    "interval",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "text",
    "like",
    "overlaps",
    "extract",
    "position",
    "normalize",
    "is_normalized",
    "similar_escape",
    "to_ascii",
    "random",
    "now",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "timeofday",
    "gen_random_uuid",
    "session_user",
    "decode",
    "convert",
    "convert_from",
    "to_date",
    "to_number",
    "json_populate_record",
    "jsonb_populate_record",
    "json_to_record",
    "jsonb_to_record",
    "json_build_object",
    "jsonb_build_object",
    "concat",
    "concat_ws",
    "format",
    "num_nulls",
    "num_nonnulls",
    "json_build_array",
    "jsonb_build_array",
    "jsonb_path_match",
    "jsonb_path_match_tz",
    "row_to_json",
];

/// All callables by the types of their results.
pub struct Signatures {
    by_result: HashMap<(Kind, Type), Vec<Callable>>,
    /// Types from which there is a cast, by the type to which it leads.
    casts: HashMap<Type, Vec<Type>>,
}

impl Signatures {
    /// Reads the file.
    pub fn read() -> Self {
        let mut by_result: HashMap<(Kind, Type), Vec<Callable>> = HashMap::new();
        let mut casts: HashMap<Type, Vec<Type>> = HashMap::new();
        for line in lines() {
            if line.kind == "cast"
                && let (Some(from), Some(to)) = (
                    named(line.name),
                    line.arguments.first().and_then(|to| named(to)),
                )
            {
                casts.entry(to.base()).or_default().push(from);
            }
            let Some(kind) = kind(&line) else {
                continue;
            };
            for element in elements(&line) {
                let concrete = |name: &&str| concrete(name, &element);
                let arguments: Option<Vec<Type>> = line.arguments.iter().map(concrete).collect();
                let (Some(arguments), Some(returns)) = (arguments, concrete(&line.returns)) else {
                    continue;
                };
                // An array of arrays has more dimensions, and not all of one shape.
                let nested = |ty: &Type| matches!(ty, Type::Array(_));
                if line.name == "array_agg" && arguments.iter().any(nested) {
                    continue;
                }
                let callable = Callable {
                    kind,
                    name: line.name.to_owned(),
                    arguments,
                    returns: returns.clone(),
                };
                by_result.entry((kind, returns)).or_default().push(callable);
            }
        }
        Self { by_result, casts }
    }

    /// The callables of a kind that give a type.
    pub fn giving(&self, kind: Kind, ty: &Type) -> &[Callable] {
        let found = self.by_result.get(&(kind, ty.base()));
        found.map_or(&[], Vec::as_slice)
    }

    /// The types from which there is a cast to a type.
    pub fn cast_to(&self, ty: &Type) -> &[Type] {
        self.casts.get(ty).map_or(&[], Vec::as_slice)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_result.values().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_result.is_empty()
    }
}

/// The kind of a line, if statements may call it.
fn kind(line: &Line<'_>) -> Option<Kind> {
    let all = catalogue();
    let left_out = LEFT_OUT.contains(&line.name) || line.words.contains(&"volatile");
    match line.kind {
        "function" if !left_out && !all.functions(line.name).is_empty() => Some(Kind::Function),
        "operator" if !all.operators(line.name).is_empty() => Some(Kind::Operator),
        "aggregate" if !all.aggregates(line.name).is_empty() => Some(Kind::Aggregate),
        "ordered" if !all.aggregates(line.name).is_empty() => Some(Kind::Ordered),
        "window" if !all.windows(line.name).is_empty() => Some(Kind::Window),
        _ => None,
    }
}

/// The types for which a signature of pseudo types stands; one if it has none.
fn elements(line: &Line<'_>) -> Vec<Type> {
    let mut types = line.arguments.iter().chain([&line.returns]);
    match types.any(|ty| ty.starts_with("any")) {
        true => vec![
            Type::Int4,
            Type::Text,
            Type::Numeric(None),
            Type::Date,
            Type::Jsonb,
            Type::Float8,
            Type::Int8,
            Type::Int2,
            Type::Float4,
            Type::Bool,
            Type::Timestamp(None),
            Type::TimestampTz(None),
            Type::Time(None),
            Type::Interval,
            Type::Bytea,
            Type::Uuid,
            Type::Varchar(None),
            Type::Char(None),
        ],
        false => vec![Type::Int4],
    }
}

fn concrete(name: &str, element: &Type) -> Option<Type> {
    match name {
        "anyelement" | "anynonarray" | "anycompatible" | "anycompatiblenonarray" | "any" => {
            Some(element.clone())
        }
        "anyarray" | "anycompatiblearray" => Some(element.clone().array()),
        "record" | "name" | "char" | "jsonpath" => None,
        name => named(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_found_by_their_results() {
        let all = Signatures::read();
        let texts = all.giving(Kind::Function, &Type::Text);
        assert!(texts.iter().any(|callable| callable.name == "lower"));
        let sums = all.giving(Kind::Operator, &Type::Int4);
        let sum = |callable: &Callable| callable.arguments == [Type::Int4, Type::Int4];
        assert!(
            sums.iter()
                .any(|callable| callable.name == "+" && sum(callable))
        );
        assert!(all.len() > 500, "{}", all.len());
    }

    #[test]
    fn casts_are_done_where_postgresql_does_them() {
        use freestone_frontend::functions::Context;
        let mut differing = Vec::new();
        for line in include_str!("../../data/signatures.txt").lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let ["cast", from, to, context] = words.as_slice() else {
                continue;
            };
            // Casts between types of one name change lengths.
            let (Some(a), Some(b)) = (named(from), named(to)) else {
                continue;
            };
            let expected = match *context {
                "i" => Context::Implicit,
                "a" => Context::Assignment,
                _ => Context::Explicit,
            };
            if let Some(cast) = catalogue().cast_of(&a, &b)
                && cast.context != expected
                && a != b
            {
                differing.push(format!("{from} {to} {context}: {:?}", cast.context));
            }
        }
        assert!(differing.is_empty(), "{differing:#?}");
    }
}
