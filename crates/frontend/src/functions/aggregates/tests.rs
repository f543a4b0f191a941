//! Aggregates against recorded answers. Each line of `cases.txt` is one of PostgreSQL 15's:
//!
//! ```text
//! name ⇥ direct arguments ⇥ arguments ⇥ type of the result ⇥ answer
//! sum  ⇥                  ⇥ int4:1|2|NULL ⇥ int8 ⇥ 3
//! ```
//!
//! Arguments are columns, `type:value|value`, with semicolons between them. Intervals are
//! written as months, days and microseconds.

use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, UInt64Array};

use super::{Aggregate, Direction, Kind};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Input, Num, Output, Span};
use crate::functions::ordering::comparator;
use crate::functions::resolve::resolve_function;
use crate::functions::{Session, catalogue};
use crate::types::Type;
use crate::values::{Interval, Numeric};

/// A column of values.
pub(crate) type Values = (Type, ArrayRef);

/// A type by the name that cases use.
pub(crate) fn type_named(name: &str) -> Type {
    if let Some(element) = name.strip_suffix("[]") {
        return type_named(element).array();
    }
    if let Some(digits) = name.strip_prefix("numeric(") {
        let (precision, scale) = digits.trim_end_matches(')').split_once(',').unwrap();
        return Type::numeric(precision.parse().unwrap(), scale.parse().unwrap());
    }
    match name {
        "bool" => Type::Bool,
        "int2" => Type::Int2,
        "int4" => Type::Int4,
        "int8" => Type::Int8,
        "float4" => Type::Float4,
        "float8" => Type::Float8,
        "numeric" => Type::Numeric(None),
        "text" => Type::Text,
        "json" => Type::Json,
        "jsonb" => Type::Jsonb,
        "bytea" => Type::Bytea,
        "interval" => Type::Interval,
        other => panic!("no type {other}"),
    }
}

fn float<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().unwrap()
}

/// A column of a type.
pub(crate) fn column(ty: &Type, values: &[Option<&str>]) -> ArrayRef {
    macro_rules! primitive {
        ($arrow:ident) => {
            Arc::new(arrow_array::PrimitiveArray::<$arrow>::from_iter(
                values.iter().map(|v| v.map(|v| float(v))),
            ))
        };
    }
    match ty {
        Type::Bool => Arc::new(arrow_array::BooleanArray::from_iter(
            values.iter().map(|v| v.map(|v| v == "t")),
        )),
        Type::Int2 => primitive!(Int16Type),
        Type::Int4 => primitive!(Int32Type),
        Type::Int8 => primitive!(Int64Type),
        Type::Float4 => primitive!(Float32Type),
        Type::Float8 => primitive!(Float64Type),
        Type::Numeric(_) => {
            let mut writer = Num::writer(ty, values.len());
            for value in values {
                match value {
                    Some(value) => Num::put(&mut writer, Numeric::parse(value).unwrap()).unwrap(),
                    None => Num::null(&mut writer),
                }
            }
            Num::finish(writer)
        }
        Type::Interval => {
            let mut writer = Span::writer(ty, values.len());
            for value in values {
                let Some(value) = value else {
                    Span::null(&mut writer);
                    continue;
                };
                let mut fields = value.split(' ');
                let mut next = || fields.next().unwrap();
                let value = Interval {
                    months: float(next()),
                    days: float(next()),
                    micros: float(next()),
                };
                Span::put(&mut writer, value).unwrap();
            }
            Span::finish(writer)
        }
        Type::Bytea => {
            let mut writer = BinaryViewBuilder::new();
            for value in values {
                writer.append_option(value.map(|v| {
                    let digits = v.trim_start_matches("\\x").as_bytes();
                    let pairs = digits.chunks(2).map(|d| std::str::from_utf8(d).unwrap());
                    let bytes = pairs.map(|d| u8::from_str_radix(d, 16).unwrap());
                    bytes.collect::<Vec<u8>>()
                }));
            }
            Arc::new(writer.finish())
        }
        Type::Array(element) => {
            let mut all = Vec::new();
            let mut lengths = Vec::new();
            for value in values {
                let value = value.unwrap().trim_matches(['{', '}']);
                let parts = value.split(',').filter(|part| !part.is_empty());
                let before = all.len();
                all.extend(parts.map(|part| (part != "NULL").then_some(part)));
                lengths.push(all.len() - before);
            }
            let mut maker = crate::types::arrays::Maker::new(lengths.len());
            for length in lengths {
                maker.plain(length).unwrap();
            }
            maker.finish(column(element, &all), None).unwrap()
        }
        _ => {
            let mut writer = StringViewBuilder::new();
            values.iter().for_each(|v| writer.append_option(*v));
            Arc::new(writer.finish())
        }
    }
}

/// The text of a value.
pub(crate) fn shown(ty: &Type, array: &ArrayRef, at: usize) -> String {
    assert_eq!(array.data_type(), &ty.arrow());
    if array.is_null(at) {
        return "NULL".to_owned();
    }
    match ty {
        Type::Bool => (if array.as_boolean().value(at) {
            "t"
        } else {
            "f"
        })
        .to_owned(),
        Type::Int2 => array.as_primitive::<Int16Type>().value(at).to_string(),
        Type::Int4 => array.as_primitive::<Int32Type>().value(at).to_string(),
        Type::Int8 => array.as_primitive::<Int64Type>().value(at).to_string(),
        Type::Float4 => array.as_primitive::<Float32Type>().value(at).to_string(),
        Type::Float8 => array.as_primitive::<Float64Type>().value(at).to_string(),
        Type::Numeric(_) => Num::get(&Num::reader(array).unwrap(), array, at).to_string(),
        Type::Interval => {
            let value = Span::get(&Span::reader(array).unwrap(), array, at);
            format!("{} {} {}", value.months, value.days, value.micros)
        }
        Type::Bytea => {
            let bytes = array.as_binary_view().value(at).iter();
            let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
            format!("\\x{digits}")
        }
        Type::Array(element) => {
            let values = crate::types::arrays::Arrays::of(array)
                .unwrap()
                .elements(at);
            let parts = (0..values.len()).map(|at| shown(element, &values, at));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
        }
        _ => array.as_string_view().value(at).to_owned(),
    }
}

/// Columns as cases write them.
pub(crate) fn columns(text: &str) -> Vec<Values> {
    let columns = text.split(';').filter(|column| !column.is_empty());
    let columns = columns.map(|column| {
        let (ty, values) = column.split_once(':').unwrap();
        let ty = type_named(ty);
        // An array's values are not told apart from the row's where one is empty.
        let values = values.split('|').filter(|value| *value != "NOROW");
        let values: Vec<_> = values.map(|v| (v != "NULL").then_some(v)).collect();
        let array = column_of(&ty, &values);
        (ty, array)
    });
    columns.collect()
}

fn column_of(ty: &Type, values: &[Option<&str>]) -> ArrayRef {
    match ty {
        Type::Array(_) if values == [None] => arrow_array::new_null_array(&ty.arrow(), 1),
        _ => column(ty, values),
    }
}

/// Whether an answer is the text of a result, with floats by value.
pub(crate) fn agrees(ty: &Type, result: &str, answer: &str) -> bool {
    let known = |text: &str| match ty {
        Type::Float4 | Type::Float8 if text != "NULL" && !text.starts_with("ERROR") => {
            shown(ty, &column(ty, &[Some(text)]), 0)
        }
        Type::Array(element) if text.starts_with('{') => {
            let parts = text.trim_matches(['{', '}']).split(',');
            let parts = parts.map(|part| match (&**element, part) {
                (Type::Float8, "NULL") => part.to_owned(),
                (Type::Float8, part) if !part.is_empty() => {
                    part.parse::<f64>().unwrap().to_string()
                }
                _ => part.to_owned(),
            });
            parts.collect::<Vec<_>>().join(",")
        }
        _ => text.to_owned(),
    };
    known(result) == known(answer)
}

/// The overload that a call means, of those with WITHIN GROUP or of those without.
fn overload(name: &str, direct: &[Values], arguments: &[Values]) -> Result<(Arc<Aggregate>, Type)> {
    let sets = direct.len() + usize::from(name == "mode_within");
    let name = name.trim_end_matches("_within");
    let all = catalogue().aggregates(name).iter().filter(|aggregate| {
        let bases = direct.iter().map(|(ty, _)| ty.base());
        (aggregate.kind != Kind::Plain) == (sets > 0)
            && (aggregate.kind != Kind::OrderedSet || aggregate.direct.iter().cloned().eq(bases))
    });
    let all: Vec<_> = all.cloned().collect();
    let types: Vec<Type> = arguments.iter().map(|(ty, _)| ty.clone()).collect();
    let found = resolve_function(&all, &types);
    let found = found.map_err(|why| Error::new("42883", format!("{name}: {why:?}")))?;
    Ok((found.function, found.returns))
}

/// An aggregate's result over columns, which are given in two parts.
fn computed(name: &str, direct: &[Values], arguments: &[Values]) -> Result<(Type, ArrayRef)> {
    let (aggregate, returns) = overload(name, direct, arguments)?;
    let rows = arguments.first().map_or(3, |(_, array)| array.len());
    let mut kept: Vec<usize> = (0..rows).collect();
    if aggregate.skips_nulls {
        kept.retain(|row| arguments.iter().all(|(_, array)| !array.is_null(*row)));
    }
    if let (true, Some((ty, array))) = (aggregate.kind != Kind::Plain, arguments.first()) {
        let compare = comparator(ty)?;
        kept.sort_by(|a, b| match (array.is_null(*a), array.is_null(*b)) {
            (false, false) => compare(array, *a, array, *b),
            (a, b) => a.cmp(&b),
        });
    }
    let types = direct.iter().chain(arguments).map(|(ty, _)| ty.clone());
    let types: Vec<Type> = types.collect();
    let session = Session::default();
    let mut call = Call {
        rows: 1,
        types: &types,
        returns: &returns,
        session: &session,
    };
    let direct: Vec<ArrayRef> = direct.iter().map(|(_, array)| Arc::clone(array)).collect();
    let mut state = (aggregate.state)(&call, &direct)?;
    state.set_order(&[Direction::default()]);
    let (first, second) = kept.split_at(kept.len() / 3);
    for rows in [first, second] {
        let rows = UInt64Array::from_iter_values(rows.iter().map(|row| *row as u64));
        let part = arguments
            .iter()
            .map(|(_, array)| arrow_select::take::take(array, &rows, None).unwrap());
        call.rows = rows.len();
        state.add(&call, &part.collect::<Vec<_>>())?;
        // A result that is asked for early changes nothing.
        state.result(&call)?;
    }
    assert!(state.size() > 0);
    let result = state.result(&call)?;
    assert_eq!(result.len(), 1);
    Ok((returns, result))
}

fn run(name: &str, direct: &str, arguments: &str) -> (Type, String) {
    match computed(name, &columns(direct), &columns(arguments)) {
        Ok((ty, result)) => {
            let text = shown(&ty, &result, 0);
            (ty, text)
        }
        Err(error) => (Type::Text, error.to_string()),
    }
}

#[test]
fn postgresql_gives_these_answers() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("cases.txt").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[name, direct, arguments, ty, answer] = fields.as_slice() else {
            panic!("{line}");
        };
        count += 1;
        let (found, result) = run(name, direct, arguments);
        let same_type = answer.starts_with("ERROR") || found.base() == type_named(ty).base();
        if !same_type || !agrees(&found, &result, &answer.replace("\\n", "\n")) {
            wrong.push(format!("{line}\n    gives {found} {result}"));
        }
    }
    assert!(count > 100, "{count} cases");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Aggregates that PostgreSQL does not have.
#[test]
fn friendly_aggregates() {
    let cases = [
        ("any_value", "int4:NULL|7|8", "7"),
        ("first", "int4:NULL|7|8", "NULL"),
        ("first", "text:a|b", "a"),
        ("last", "int4:1|7|NULL", "NULL"),
        ("last", "int4:NOROW", "NULL"),
        ("arg_max", "text:a|b|c|d;int4:1|9|9|NULL", "b"),
        ("min_by", "text:a|NULL|c;float8:NaN|1|5", "c"),
        ("list", "int4:1|NULL|3", "{1,NULL,3}"),
        ("mode", "int4:3|5|3|5|1|NULL|NULL|NULL", "3"),
        ("mode", "text:NULL", "NULL"),
        ("median", "float8:9|1|NULL|4", "4"),
        ("median", "interval:0 0 5|0 4 0", "0 2 3"),
        ("quantile_cont", "float8:10|0|20;float8:0.25|0.25|0.25", "5"),
        ("quantile_disc", "text:c|a|b;float8:0.5|0.5|0.5", "b"),
        ("quantile", "int4:NOROW;float8:NOROW", "NULL"),
        ("product", "float8:2|3|NULL|-4", "-24"),
        ("string_agg", "text:a|NULL|b", "a,b"),
        ("count_if", "bool:t|f|NULL|t", "2"),
        ("count_if", "bool:NOROW", "0"),
        ("approx_count_distinct", "text:a|b|a|NULL", "2"),
        ("fsum", "float8:1e100|1|-1e100|1", "2"),
        ("favg", "float8:1e100|1|-1e100|1", "0.5"),
        ("geomean", "float8:1|4|16", "4"),
        ("entropy", "int4:1|1|2|2", "1"),
        ("entropy", "int4:NOROW", "0"),
        ("skewness", "float8:1|2", "NULL"),
        ("skewness", "float8:2|2|2", "NULL"),
        ("kurtosis", "float8:1|2|3", "NULL"),
        ("max", "bool:f|t|NULL", "t"),
    ];
    for (name, arguments, answer) in cases {
        let (ty, result) = run(name, "", arguments);
        assert!(
            agrees(&ty, &result, answer),
            "{name} {arguments}: {result}, not {answer}"
        );
    }
    let (_, skewness) = run("skewness", "", "float8:1|2|10");
    assert!(
        (skewness.parse::<f64>().unwrap() - 1.652_0).abs() < 1e-3,
        "{skewness}"
    );
    let (_, kurtosis) = run("kurtosis", "", "float8:1|2|3|4|100");
    assert!(
        (kurtosis.parse::<f64>().unwrap() - 4.986_87).abs() < 1e-3,
        "{kurtosis}"
    );
}

/// Types that PostgreSQL's modifiers do not say.
#[test]
fn results_keep_the_scale_of_numeric() {
    let (ty, result) = run("sum", "", "numeric(5,2):1.50|2.25");
    assert_eq!((ty, result.as_str()), (Type::numeric(38, 2), "3.75"));
    let (ty, _) = run("sum", "", "int8:1");
    assert_eq!(ty, Type::numeric(38, 0));
    let (ty, _) = run("max", "", "numeric(5,2):1.50");
    assert_eq!(ty, Type::numeric(5, 2));
    let nines = "9".repeat(38);
    let (_, result) = run("sum", "", &format!("numeric(38,0):{nines}|1"));
    assert_eq!(result, "ERROR 22003: numeric field overflow");
}
