//! `pg_proc`, and texts about functions, for functions whose body is SQL.
//!
//! ```text
//! CREATE FUNCTION s.f(a int, b int DEFAULT 1) RETURNS int LANGUAGE sql STABLE AS 'SELECT a + b'
//!
//! 's.f'::regproc                  the number that the schema, the name and the parameters make
//! pg_get_function_arguments       a integer, b integer DEFAULT 1
//! pg_get_functiondef              CREATE OR REPLACE FUNCTION s.f(a integer, b integer DEFAULT 1)…
//! ```
//!
//! Bodies that are statements are shown as PostgreSQL prints its own tree of them. A function that gets another name gets another number.

use freestone_frontend::bind::FunctionName;
use freestone_frontend::types::formatted;

use super::facts::{Fact, Facts};
use super::objects::{OWNER, schema_number};
use super::procedures::made_number;
use crate::catalogs::Numbers;
use crate::deparse::{body_texts, deparsed};
use crate::names::{quoted, shown_schema};
use crate::relations::Relations;
use crate::routine::{ANY, Argument, Routine, of_name, statements};

/// PostgreSQL's number of the language.
const LANGUAGE: i64 = 14;

/// PostgreSQL's number of the type `"any"`.
const ANY_TYPE: i64 = 2276;

/// PostgreSQL's number of the language of functions that are built in.
const INTERNAL: i64 = 12;

/// The cost of a function of which none is said.
const COST: f32 = 100.0;

/// The rows of a function of which no number is said.
const ROWS: f32 = 1000.0;

/// All functions whose body is SQL, with their schemas.
pub(crate) fn all<'r>(relations: &'r Relations<'_>) -> impl Iterator<Item = (&'r str, Routine)> {
    let snapshot = &relations.snapshot;
    snapshot.schemas().flat_map(move |schema| {
        let all = snapshot.functions(schema);
        all.filter_map(move |(_, text)| Some((schema, Routine::read(text).ok()?)))
    })
}

/// A function's number.
pub(crate) fn number(schema: &str, routine: &Routine) -> i64 {
    let types: Vec<&str> = routine.types().collect();
    let name = format!("{}.{}", quoted(schema), quoted(&routine.name));
    made_number(&name, &types.join(", "))
}

/// The default of an argument as PostgreSQL prints it; as it was written over a created type.
pub(crate) fn default_of(relations: &Relations<'_>, one: &Argument<'_>) -> Option<String> {
    let text = one.default?;
    Some(match formatted(one.ty) {
        Some(ty) => deparsed(relations, text, &[], Some(&ty)),
        None => text.to_owned(),
    })
}

fn shown(one: &Argument<'_>, defaults: Option<&Relations<'_>>) -> String {
    let mut parts = Vec::new();
    match one.mode {
        'o' => parts.push("OUT".to_owned()),
        'b' => parts.push("INOUT".to_owned()),
        'v' => parts.push("VARIADIC".to_owned()),
        _ => {}
    }
    if !one.name.is_empty() {
        parts.push(quoted(one.name));
    }
    parts.push(one.ty.to_owned());
    if let Some(default) = defaults.and_then(|relations| default_of(relations, one)) {
        parts.push(format!("DEFAULT {default}"));
    }
    parts.join(" ")
}

fn listed(routine: &Routine, of_table: bool, defaults: Option<&Relations<'_>>) -> String {
    let all = routine.arguments().into_iter();
    let all = all.filter(|one| (one.mode == 't') == of_table);
    let all: Vec<String> = all.map(|one| shown(&one, defaults)).collect();
    all.join(", ")
}

/// The arguments of a function, as its definition lists them; with their defaults if relations
/// are given, which those may read.
pub(crate) fn arguments(routine: &Routine, defaults: Option<&Relations<'_>>) -> String {
    listed(routine, false, defaults)
}

/// The result of a function, as its definition names it.
pub(crate) fn result(routine: &Routine) -> String {
    if routine.modes.contains('t') {
        return format!("TABLE({})", listed(routine, true, None));
    }
    match routine.is_set() {
        true => format!("SETOF {}", routine.result()),
        false => routine.result().to_owned(),
    }
}

/// The body of a function that is no text; `None` of one that is.
pub(crate) fn sql_body(relations: &Relations<'_>, routine: &Routine) -> Option<String> {
    match (routine.is_query, routine.atomic) {
        (false, _) => Some(format!("RETURN {}", returned(relations, routine))),
        (true, true) => {
            let all = body_texts(relations, routine).unwrap_or_else(|| {
                let all = statements(&routine.body).unwrap_or_default().into_iter();
                all.map(|one| format!(" {one}")).collect()
            });
            let all: String = all.iter().map(|one| format!("{one};\n")).collect();
            Some(format!("BEGIN ATOMIC\n{all}END"))
        }
        (true, false) => None,
    }
}

/// The expression of RETURN as PostgreSQL prints it; as it was written in a macro, and where that
/// has a form of its own.
fn returned(relations: &Relations<'_>, routine: &Routine) -> String {
    let shown = body_texts(relations, routine).and_then(|mut all| all.pop());
    shown.unwrap_or_else(|| routine.body.clone())
}

/// The statement that would make a function.
pub(crate) fn definition(relations: &Relations<'_>, schema: &str, routine: &Routine) -> String {
    let name = format!("{}.{}", quoted(shown_schema(schema)), quoted(&routine.name));
    let arguments = arguments(routine, Some(relations));
    let returns = result(routine);
    let language = &routine.language;
    let head = format!("CREATE OR REPLACE FUNCTION {name}({arguments})\n RETURNS {returns}\n");
    let mut text = format!("{head} LANGUAGE {language}\n");
    let mut options = String::new();
    match routine.volatility.as_str() {
        "i" => options.push_str(" IMMUTABLE"),
        "s" => options.push_str(" STABLE"),
        _ => {}
    }
    match routine.parallel.as_deref() {
        Some("s") => options.push_str(" PARALLEL SAFE"),
        Some("r") => options.push_str(" PARALLEL RESTRICTED"),
        _ => {}
    }
    if routine.strict {
        options.push_str(" STRICT");
    }
    if routine.leakproof {
        options.push_str(" LEAKPROOF");
    }
    if let Some(cost) = routine.cost.filter(|cost| *cost != COST) {
        options.push_str(&format!(" COST {cost}"));
    }
    if let Some(rows) = routine.estimate.filter(|rows| *rows != ROWS) {
        options.push_str(&format!(" ROWS {rows}"));
    }
    if !options.is_empty() {
        text.push_str(&options);
        text.push('\n');
    }
    match sql_body(relations, routine) {
        Some(body) => text.push_str(&body),
        None => {
            let mut tag = "$function".to_owned();
            while routine.body.contains(&tag) {
                tag.push('x');
            }
            text.push_str(&format!("AS {tag}${}{tag}$", routine.body));
        }
    }
    text.push('\n');
    text
}

/// Their rows in `pg_proc`.
pub(super) fn fill(relations: &Relations<'_>, facts: &mut Facts) {
    if all(relations).next().is_none() {
        return;
    }
    let numbers = Numbers::of(relations);
    let of_type = |ty: &str| match ty {
        ANY => ANY_TYPE,
        ty => numbers.type_number(ty).unwrap_or_default(),
    };
    for (schema, one) in all(relations) {
        let arguments = one.arguments();
        let inputs: Vec<i64> = one.types().map(of_type).collect();
        let variadic = one.parameters.last().filter(|last| last.variadic);
        let variadic = variadic.and_then(|last| last.ty.as_deref());
        let element = variadic.and_then(|ty| match ty {
            "anyarray" => Some(of_type("anyelement")),
            "anycompatiblearray" => Some(of_type("anycompatible")),
            ty => Some(of_type(ty.strip_suffix("[]")?)),
        });
        let defaults = arguments.iter().filter(|one| one.default.is_some()).count();
        let rows = match one.is_set() {
            true => one.estimate.unwrap_or(ROWS),
            false => 0.0,
        };
        let is_text = one.is_query && !one.atomic;
        let (kind, language, cost) = match one.aggregation {
            None => ("f", LANGUAGE, COST),
            Some(_) => ("a", INTERNAL, 1.0),
        };
        let source = if is_text { one.body.as_str() } else { "" };
        facts.add([
            ("oid", number(schema, &one).into()),
            ("proname", one.name.as_str().into()),
            ("pronamespace", schema_number(relations, schema).into()),
            ("proowner", OWNER.into()),
            ("prolang", language.into()),
            ("procost", Fact::Real(one.cost.unwrap_or(cost))),
            ("prorows", Fact::Real(rows)),
            ("provariadic", element.unwrap_or_default().into()),
            ("prokind", kind.into()),
            ("proleakproof", one.leakproof.into()),
            ("proisstrict", one.strict.into()),
            ("proretset", one.is_set().into()),
            ("provolatile", one.volatility.as_str().into()),
            ("proparallel", one.parallel.as_deref().unwrap_or("u").into()),
            ("pronargs", (inputs.len() as i64).into()),
            ("pronargdefaults", (defaults as i64).into()),
            ("prorettype", of_type(one.result()).into()),
            ("proargtypes", inputs.into()),
            ("prosrc", source.into()),
        ]);
        if arguments.iter().any(|one| one.mode != 'i') {
            let types: Vec<i64> = arguments.iter().map(|one| of_type(one.ty)).collect();
            let modes: Vec<String> = arguments.iter().map(|one| one.mode.to_string()).collect();
            facts.also("proallargtypes", types.into());
            facts.also("proargmodes", modes.into());
        }
        if arguments.iter().any(|one| !one.name.is_empty()) {
            let names = arguments.iter().map(|one| one.name.to_owned());
            facts.also("proargnames", names.collect::<Vec<_>>().into());
        }
        let defaults = arguments.iter();
        let defaults: Vec<String> = defaults
            .filter_map(|one| default_of(relations, one))
            .collect();
        if !defaults.is_empty() {
            facts.also("proargdefaults", defaults.join(", ").into());
        }
        if let Some(body) = sql_body(relations, &one) {
            facts.also("prosqlbody", body.into());
        }
    }
}

/// Rows of `pg_aggregate` for aggregates that were created.
pub(super) fn aggregates(relations: &Relations<'_>, facts: &mut Facts) {
    let numbers = Numbers::of(relations);
    let of_type = |ty: &str| match ty {
        ANY => ANY_TYPE,
        ty => numbers.type_number(ty).unwrap_or_default(),
    };
    let catalog = relations.snapshot.catalog();
    let number_of = |name: &FunctionName, types: &[&str]| {
        let (schema, name) = name;
        match schema {
            None => made_number(name, &types.join(", ")),
            Some(schema) => {
                let all = of_name(catalog, schema, name).unwrap_or_default();
                let fits = |one: &&Routine| one.types().count() == types.len();
                let found = all.iter().find(fits).or(all.first());
                found.map_or(0, |one| number(schema, one))
            }
        }
    };
    for (schema, one) in all(relations) {
        let Some(of) = &one.aggregation else {
            continue;
        };
        let mut types = vec![of.state.as_str()];
        types.extend(one.types());
        let last = if of.extra { types.len() } else { 1 };
        let finish = of.finish.as_ref();
        let finish = finish.map_or(0, |name| number_of(name, &types[..last]));
        let combine = of.combine.as_ref();
        let combine = combine.map_or(0, |name| number_of(name, &[&of.state, &of.state]));
        facts.add([
            ("aggfnoid", number(schema, &one).into()),
            ("aggkind", "n".into()),
            ("aggtransfn", number_of(&of.step, &types).into()),
            ("aggfinalfn", finish.into()),
            ("aggcombinefn", combine.into()),
            ("aggfinalextra", of.extra.into()),
            ("aggfinalmodify", of.modify.as_str().into()),
            ("aggmfinalmodify", "r".into()),
            ("aggtranstype", of_type(&of.state).into()),
            ("aggtransspace", of.space.into()),
        ]);
        if let Some(initial) = &of.initial {
            facts.also("agginitval", initial.as_str().into());
        }
    }
}
