//! `pg_proc`: the functions of the language, those about the catalog, and those that types are read
//! and written with.
//!
//! A function's number is made of its name and its parameters, so that it stays.

use std::collections::HashMap;
use std::sync::LazyLock;

use freestone_frontend::functions::{Overload, Returns, Volatility, catalogue};
use freestone_frontend::types::{RangeOf, Type};

use super::facts::Facts;
use super::objects::OWNER;
use super::types::{formatted, number_of_name, of_type};

/// A function of the language.
pub(crate) struct Procedure {
    pub(crate) number: i64,
    pub(crate) name: String,
    pub(crate) parameters: Vec<Type>,
    returns: Type,
    kind: &'static str,
    rows: bool,
    strict: bool,
    volatility: &'static str,
    variadic: Option<Type>,
    /// Numbers of the types of its parameters, for those that are not of the language.
    takes: Option<Vec<i64>>,
}

/// The number that a name and parameters make.
pub(super) fn made_number(name: &str, parameters: &str) -> i64 {
    let bytes = name.bytes().chain([0]).chain(parameters.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folded = (hash ^ (hash >> 32)) & 0x3fff_ffff;
    0x4000_0000 + i64::try_from(folded).unwrap_or(0)
}

/// Types whose functions have a low line in their names.
const LINED: [&str; 27] = [
    "array",
    "bit",
    "cash",
    "cidr",
    "cstring",
    "date",
    "domain",
    "enum",
    "inet",
    "interval",
    "json",
    "jsonb",
    "jsonpath",
    "macaddr",
    "macaddr8",
    "multirange",
    "numeric",
    "pg_node_tree",
    "range",
    "record",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "uuid",
    "varbit",
    "void",
];

/// The name of the function by which values of a type are read or written.
fn input_name(ty: &str, what: &str) -> String {
    let ty = if ty == "money" { "cash" } else { ty };
    match LINED.contains(&ty) || ty.starts_with("any") {
        true => format!("{ty}_{what}"),
        false => format!("{ty}{what}"),
    }
}

/// The number of the function by which values of a type are read or written.
pub(super) fn input_number(ty: &str, what: &str) -> i64 {
    match (ty, what) {
        ("array", "in") => 750,
        ("array", "out") => 751,
        ("array", "recv") => 2400,
        ("array", "send") => 2401,
        _ => made_number(&input_name(ty, what), ""),
    }
}

/// The types `internal`, `cstring`, `oid` and `integer` by their numbers.
const INTERNAL: i64 = 2281;
const CSTRING: i64 = 2275;
const OID: i64 = 26;
const INTEGER: i64 = 23;

/// Types with modifiers, or with parts: what reads their values is told more than the text.
const MODIFIED: [&str; 18] = [
    "array",
    "bit",
    "bpchar",
    "domain",
    "interval",
    "numeric",
    "record",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "varbit",
    "varchar",
    "anyarray",
    "anymultirange",
    "anyrange",
    "multirange",
    "range",
];

/// Numbers of the parameters of the function by which values of a type are read or written.
fn taken_by(ty: &str, what: &str) -> Vec<i64> {
    let own = match ty {
        "array" => 2277,
        "enum" => 3500,
        "domain" => 2276,
        "range" => 3831,
        "multirange" => 4537,
        ty => number_of_name(ty).unwrap_or_default(),
    };
    let source = if what == "in" { CSTRING } else { INTERNAL };
    match what {
        "out" | "send" => vec![own],
        _ if MODIFIED.contains(&ty) => vec![source, OID, INTEGER],
        _ if ty == "enum" => vec![source, OID],
        _ => vec![source],
    }
}

/// All functions of the language.
pub(crate) fn procedures() -> &'static [Procedure] {
    static ALL: LazyLock<Vec<Procedure>> = LazyLock::new(all);
    &ALL
}

/// Functions by their numbers.
pub(crate) fn by_number(number: i64) -> Option<&'static Procedure> {
    static PLACES: LazyLock<HashMap<i64, usize>> = LazyLock::new(|| {
        let all = procedures().iter().enumerate();
        all.map(|(place, one)| (one.number, place)).collect()
    });
    procedures().get(*PLACES.get(&number)?)
}

/// Functions of a name.
pub(crate) fn named(name: &str) -> impl Iterator<Item = &'static Procedure> {
    procedures().iter().filter(move |one| one.name == name)
}

fn result(returns: &Returns, parameters: &[Type]) -> Type {
    match returns {
        Returns::Type(ty) => ty.clone(),
        Returns::Of(of) => of(parameters),
    }
}

fn all() -> Vec<Procedure> {
    let known = catalogue();
    let mut names: Vec<&str> = known.names().collect();
    names.sort_unstable();
    names.dedup();
    let mut all: Vec<Procedure> = Vec::new();
    let mut add = |name: &str, one: Procedure| {
        all.push(Procedure {
            name: name.to_owned(),
            number: made_number(name, &shown(&one.parameters)),
            ..one
        });
    };
    for name in names {
        for one in known.functions(name) {
            let volatility = match one.volatility {
                Volatility::Immutable => "i",
                Volatility::Stable => "s",
                Volatility::Volatile => "v",
            };
            add(
                name,
                Procedure {
                    strict: one.strict,
                    volatility,
                    ..described(one.as_ref(), "f")
                },
            );
        }
        for one in known.tables(name) {
            let mut procedure = described(one.as_ref(), "f");
            procedure.rows = true;
            procedure.strict = one.strict;
            if one.columns.len() > 1 {
                procedure.returns = Type::Record([].as_slice().into());
            }
            add(name, procedure);
        }
        for one in known.aggregates(name) {
            add(name, described(one.as_ref(), "a"));
        }
        for one in known.windows(name) {
            add(name, described(one.as_ref(), "w"));
        }
    }
    for one in super::about::all() {
        add(
            one.name,
            Procedure {
                number: 0,
                name: String::new(),
                parameters: one.parameters,
                returns: one.returns,
                kind: "f",
                rows: one.rows,
                strict: one.strict,
                volatility: one.volatility,
                variadic: None,
                takes: None,
            },
        );
    }
    let types = super::types::names().filter_map(|(number, _)| super::types::short_name(number));
    // All ranges have the same functions.
    let types = types.filter(|name| named_range(name).is_none());
    let others = ["array", "domain", "enum", "multirange", "range"].map(str::to_owned);
    for ty in types.chain(others) {
        for what in ["in", "out", "recv", "send"] {
            all.push(Procedure {
                number: input_number(&ty, what),
                name: input_name(&ty, what),
                parameters: Vec::new(),
                returns: Type::Any,
                kind: "f",
                rows: false,
                strict: true,
                volatility: "i",
                variadic: None,
                takes: Some(taken_by(&ty, what)),
            });
        }
    }
    for (.., number, name) in super::classes::ACCESS {
        all.push(Procedure {
            number,
            name: name.to_owned(),
            parameters: Vec::new(),
            returns: Type::Any,
            kind: "f",
            rows: false,
            strict: true,
            volatility: "v",
            variadic: None,
            takes: Some(vec![INTERNAL]),
        });
    }
    all.sort_by_key(|one| one.number);
    all.dedup_by_key(|one| one.number);
    all
}

/// The range or multirange of a name.
fn named_range(name: &str) -> Option<RangeOf> {
    freestone_frontend::types::named(name)?.range()
}

fn described<F: Overload>(function: &F, kind: &'static str) -> Procedure {
    Procedure {
        number: 0,
        name: String::new(),
        parameters: function.parameters().to_vec(),
        returns: result(function.returns(), function.parameters()),
        kind,
        rows: false,
        strict: false,
        volatility: "i",
        variadic: function.variadic().cloned(),
        takes: None,
    }
}

fn shown(types: &[Type]) -> String {
    let names: Vec<String> = types.iter().map(ToString::to_string).collect();
    names.join(", ")
}

impl Procedure {
    /// Numbers of the types of its parameters.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        match &self.takes {
            Some(numbers) => numbers.clone(),
            None => self.parameters.iter().map(|ty| of_type(ty).0).collect(),
        }
    }

    /// The types of its parameters, as `regprocedure` shows them.
    pub(crate) fn types(&self) -> String {
        if let Some(numbers) = &self.takes {
            let types = numbers.iter().map(|number| formatted(*number, None));
            return types.collect::<Vec<_>>().join(",");
        }
        let types = self.parameters.iter().map(ToString::to_string);
        let more = self.variadic.iter().map(ToString::to_string);
        types.chain(more).collect::<Vec<_>>().join(",")
    }

    /// The types of its parameters, as a list.
    pub(crate) fn arguments(&self) -> String {
        let mut arguments = shown(&self.parameters);
        if let Some(more) = &self.variadic {
            if !arguments.is_empty() {
                arguments.push_str(", ");
            }
            arguments.push_str(&format!("VARIADIC {more}"));
        }
        arguments
    }

    /// The type of its result.
    pub(crate) fn result(&self) -> String {
        match self.rows {
            true => format!("SETOF {}", self.returns),
            false => self.returns.to_string(),
        }
    }
}

/// All functions.
pub(super) fn fill(facts: &mut Facts) {
    for one in procedures() {
        let numbers = one.numbers();
        facts.add([
            ("oid", one.number.into()),
            ("proname", one.name.as_str().into()),
            ("pronamespace", 11.into()),
            ("proowner", OWNER.into()),
            ("prolang", 12.into()),
            ("procost", 1.into()),
            ("prorows", if one.rows { 1000 } else { 0 }.into()),
            (
                "provariadic",
                one.variadic.as_ref().map_or(0, |ty| of_type(ty).0).into(),
            ),
            ("prokind", one.kind.into()),
            ("proisstrict", one.strict.into()),
            ("proretset", one.rows.into()),
            ("provolatile", one.volatility.into()),
            ("proparallel", "s".into()),
            ("pronargs", (numbers.len() as i64).into()),
            ("prorettype", of_type(&one.returns).0.into()),
            ("proargtypes", numbers.into()),
            ("prosrc", one.name.as_str().into()),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_numbers_of_their_own() {
        let mut seen = HashMap::new();
        for one in procedures() {
            let call = format!("{}({})", one.name, one.arguments());
            if let Some(other) = seen.insert(one.number, call.clone()) {
                panic!("{other} and {call} have one number");
            }
        }
        assert!(named("lower").count() > 0);
        assert_eq!(
            by_number(750).map(|one| one.name.as_str()),
            Some("array_in")
        );
    }
}
