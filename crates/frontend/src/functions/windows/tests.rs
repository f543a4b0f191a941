//! Window functions against recorded answers. Each line of `cases.txt` is one of PostgreSQL
//! 15's, of a table with a partition's rows in their order:
//!
//! ```text
//! name ⇥ arguments ⇥ order column ⇥ order ⇥ frame ⇥ type of the results ⇥ answers
//! rank ⇥           ⇥ int4:1|1|2   ⇥ asc   ⇥ RANGE UP CR - ⇥ int8 ⇥ 1|1|3
//! ```
//!
//! The order is `asc` or `desc`, with `first` behind it where NULLs come first; a frame is its
//! mode, its ends (`UP`, `UF`, `CR`, `2P`, `2F`) and the rows that EXCLUDE leaves out.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Time64MicrosecondType;
use arrow_array::{Array, ArrayRef, BooleanArray};

use super::Partition;
use super::aggregate::over_frames;
use super::frame::{Bound, Exclude, Frame, Frames, Mode, Ranges, boundary, frames, peers};
use crate::error::{Error, Result};
use crate::functions::aggregates::Direction;
use crate::functions::aggregates::tests::{Values, agrees, column, columns, shown, type_named};
use crate::functions::kernel::Call;
use crate::functions::ordering::comparator;
use crate::functions::resolve::resolve_function;
use crate::functions::{Session, catalogue};
use crate::types::Type;

/// A frame clause, with the texts of the offsets of RANGE.
fn frame_of(text: &str) -> (Frame, [Option<&str>; 2]) {
    let words: Vec<&str> = text.split(' ').collect();
    let &[mode, start, end, exclude] = words.as_slice() else {
        panic!("{text}");
    };
    let mode = match mode {
        "ROWS" => Mode::Rows,
        "RANGE" => Mode::Range,
        _ => Mode::Groups,
    };
    let exclude = match exclude {
        "ROW" => Exclude::CurrentRow,
        "GROUP" => Exclude::Group,
        "TIES" => Exclude::Ties,
        _ => Exclude::NoOthers,
    };
    let mut offsets = [None, None];
    let mut bounds = [Bound::CurrentRow; 2];
    for (at, word) in [start, end].into_iter().enumerate() {
        let (number, preceding) = word.split_at(word.len() - 1);
        bounds[at] = match word {
            "CR" => Bound::CurrentRow,
            "UP" => Bound::UnboundedPreceding,
            "UF" => Bound::UnboundedFollowing,
            _ => {
                offsets[at] = Some(number);
                let number = number.parse().ok();
                match preceding {
                    "P" => Bound::Preceding(number),
                    _ => Bound::Following(number),
                }
            }
        };
    }
    let [start, end] = bounds;
    let frame = Frame {
        mode,
        start,
        end,
        exclude,
    };
    (frame, offsets)
}

/// The frames and the peers of the rows of a partition.
fn framed(order: &Values, how: &str, clause: &str) -> Result<(Frames, Vec<Range<usize>>)> {
    let (ty, keys) = order;
    let compare = comparator(ty)?;
    let peers = peers(keys.len(), |row| compare(keys, row, keys, row - 1).is_eq());
    let (frame, offsets) = frame_of(clause);
    let direction = Direction {
        descending: how.starts_with("desc"),
        nulls_first: how.ends_with("first"),
    };
    let mut ends: [Option<ArrayRef>; 2] = [None, None];
    if frame.mode == Mode::Range {
        for (at, offset) in offsets.into_iter().enumerate() {
            let Some(offset) = offset else { continue };
            let offset = column(ty, &[(offset != "NULL").then_some(offset)]);
            let bound = if at == 0 { frame.start } else { frame.end };
            let preceding = matches!(bound, Bound::Preceding(_));
            ends[at] = boundary(keys, &offset, at == 0, preceding, direction)?;
        }
    }
    let ranges = Ranges {
        keys,
        start: ends[0].as_ref(),
        end: ends[1].as_ref(),
        compare: &compare,
        direction,
    };
    Ok((frames(&frame, &peers, Some(&ranges))?, peers))
}

/// The results of a window function or an aggregate, and their type.
fn computed(
    name: &str,
    arguments: &[Values],
    frames: &Frames,
    peers: &[Range<usize>],
) -> Result<(Type, ArrayRef)> {
    let types: Vec<Type> = arguments.iter().map(|(ty, _)| ty.clone()).collect();
    let arrays: Vec<ArrayRef> = arguments
        .iter()
        .map(|(_, array)| Arc::clone(array))
        .collect();
    let session = Session::default();
    let call = |returns| Call {
        rows: peers.len(),
        types: &types,
        returns,
        session: &session,
    };
    let (name, ignore_nulls) = match name.strip_suffix(" IGNORE NULLS") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let none = |why| Error::new("42883", format!("{name}: {why:?}"));
    if !catalogue().windows(name).is_empty() {
        let found = resolve_function(catalogue().windows(name), &types).map_err(none)?;
        assert!(found.function.nulls || !ignore_nulls);
        let partition = Partition {
            rows: peers.len(),
            arguments: &arrays,
            peers,
            frame: &|row| {
                assert!(found.function.framed, "{name}");
                frames.ranges(row)
            },
            ignore_nulls,
        };
        let result = (found.function.kernel)(&call(&found.returns), &partition)?;
        return Ok((found.returns, result));
    }
    let (name, filtered) = match name.strip_suffix(" FILTER") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let found = resolve_function(catalogue().aggregates(name), &types).map_err(none)?;
    // FILTER keeps the rows with an even number, from 0.
    let filter = BooleanArray::from_iter((0..peers.len()).map(|row| Some(row % 2 == 0)));
    let filter = filtered.then_some(&filter);
    let result = over_frames(
        &call(&found.returns),
        &found.function,
        &arrays,
        filter,
        frames,
    )?;
    Ok((found.returns, result))
}

fn run(name: &str, arguments: &str, order: &str, how: &str, frame: &str) -> (Type, Vec<String>) {
    let order = columns(order).remove(0);
    let result = framed(&order, how, frame)
        .and_then(|(frames, peers)| computed(name, &columns(arguments), &frames, &peers));
    match result {
        Ok((ty, result)) => {
            assert_eq!(result.len(), order.1.len(), "{name}");
            let texts = (0..result.len()).map(|row| shown(&ty, &result, row));
            let texts = texts.collect();
            (ty, texts)
        }
        Err(error) => (Type::Text, vec![error.to_string()]),
    }
}

#[test]
fn postgresql_gives_these_answers() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("cases.txt").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[name, arguments, order, how, frame, ty, answers] = fields.as_slice() else {
            panic!("{line}");
        };
        count += 1;
        let (found, results) = run(name, arguments, order, how, frame);
        let answers: Vec<&str> = answers.split('|').collect();
        let same_type = answers[0].starts_with("ERROR") || found.base() == type_named(ty).base();
        let mut pairs = results.iter().zip(&answers);
        if !same_type
            || results.len() != answers.len()
            || !pairs.all(|(result, answer)| agrees(&found, result, answer))
        {
            wrong.push(format!("{line}\n    gives {found} {}", results.join("|")));
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

/// IGNORE NULLS, which PostgreSQL 15 does not have.
#[test]
fn nulls_are_ignored() {
    let running = "ROWS UP CR -";
    let cases = [
        ("lag", "int4:1|NULL|NULL|4|5", running, "NULL|1|1|1|4"),
        ("lead", "int4:1|NULL|NULL|4|5", running, "4|4|4|5|NULL"),
        (
            "lag",
            "int4:1|NULL|3|NULL|5;int4:2|2|2|2|2",
            running,
            "NULL|NULL|NULL|1|1",
        ),
        (
            "lag",
            "int4:1|NULL|3;int4:1|0|-1;int4:7|8|9",
            running,
            "7|NULL|9",
        ),
        ("first_value", "int4:NULL|2|NULL|4", running, "NULL|2|2|2"),
        ("last_value", "int4:NULL|2|NULL|4", running, "NULL|2|2|4"),
        (
            "last_value",
            "int4:NULL|2|NULL|4",
            "ROWS CR UF ROW",
            "4|4|4|NULL",
        ),
        (
            "first_value",
            "int4:1|2|NULL|4",
            "ROWS UP UF ROW",
            "2|1|1|1",
        ),
        (
            "nth_value",
            "int4:NULL|2|NULL|4;int4:2|2|2|1",
            "ROWS UP UF -",
            "4|4|4|2",
        ),
        (
            "nth_value",
            "int4:NULL|NULL;int4:1|NULL",
            "ROWS UP UF -",
            "NULL|NULL",
        ),
    ];
    for (name, arguments, frame, answer) in cases {
        let rows = columns(arguments)[0].1.len();
        let order: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
        let order = format!("int4:{}", order.join("|"));
        let name = format!("{name} IGNORE NULLS");
        let (_, results) = run(&name, arguments, &order, "asc", frame);
        assert_eq!(results.join("|"), answer, "{name} {arguments} {frame}");
    }
}

/// A default may have another scale than the values.
#[test]
fn lag_gives_one_kind_of_numeric() {
    let arguments = "numeric(2,1):1.5|2.5;int4:1|1;numeric(10,2):7.25|8.00";
    let (ty, results) = run("lag", arguments, "int4:1|2", "asc", "ROWS UP CR -");
    assert_eq!(
        (ty, results.join("|")),
        (Type::Numeric(None), "7.25|1.5".to_owned())
    );
}

/// Frames of times of day do not go on at midnight.
#[test]
fn boundaries_of_times_do_not_wrap() {
    let keys: ArrayRef = Arc::new(arrow_array::Time64MicrosecondArray::from(vec![
        Some(3_600_000_000),
        Some(84_600_000_000),
        None,
    ]));
    let two_hours = column(&Type::Interval, &[Some("0 0 7200000000")]);
    let asc = Direction::default();
    let found = boundary(&keys, &two_hours, true, true, asc)
        .unwrap()
        .unwrap();
    let found = found.as_primitive::<Time64MicrosecondType>();
    let found: Vec<Option<i64>> = found.iter().collect();
    assert_eq!(found, [Some(-3_600_000_000), Some(77_400_000_000), None]);
    let negative = column(&Type::Interval, &[Some("1 0 -1")]);
    let error = boundary(&keys, &negative, true, true, asc).unwrap_err();
    assert_eq!(error.sqlstate, "22013");
}

/// Work that grows with the square of the rows would take minutes here.
#[test]
fn long_partitions_take_linear_time() {
    let rows = 100_000;
    let peers = peers(rows, |row| row % 3 != 0);
    let values: ArrayRef = Arc::new(arrow_array::Int32Array::from_iter(
        (0..rows).map(|row| (row % 1000 == 0).then_some(row as i32)),
    ));
    let arguments = [(Type::Int4, values)];
    for clause in [
        "ROWS UP CR -",
        "ROWS 50000P 10F -",
        "GROUPS 9000P 3F -",
        "ROWS CR UF -",
    ] {
        let (frame, _) = frame_of(clause);
        let frames = frames(&frame, &peers, None).unwrap();
        for name in ["sum", "count", "avg", "max", "last_value IGNORE NULLS"] {
            let (_, result) = computed(name, &arguments, &frames, &peers).unwrap();
            assert_eq!(result.len(), rows, "{name} {clause}");
        }
    }
}
