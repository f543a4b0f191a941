//! Regular expressions: the operators `~`, `~*`, `!~`, `!~*` and the functions `regexp_…`.
//!
//! ```text
//! regexp_match('foobar', 'o(.)b')                   {o}
//! regexp_replace('foobar', 'o(.)', '[\1]', 'g')     f[o]bar
//! regexp_split_to_array('a, b', ',\s*')             {a,b}
//! ```
//!
//! Each thread keeps the expressions that it compiled last.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::ListBuilder;
use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, StringViewArray};

use super::super::casts::padded;
use super::super::kernel::{Bool, Call, I32, Kernel, Opt, Str};
use super::super::kernel::{f1, f2, f3, f4, f5, f6, f7, w2};
use super::super::strings::lists::{Texts, argument};
use super::super::strings::{allowed, count, from_start};
use super::super::{Catalogue, TableFunction, scalar};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::regex::{Groups, Options, Regex, unknown_option};

/// Expressions that a thread keeps.
const KEPT: usize = 32;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Bool as Boolean, Int4, Text};
    for (symbol, any_case, negated) in [
        ("~", false, false),
        ("!~", false, true),
        ("~*", true, false),
        ("!~*", true, true),
    ] {
        for ty in [Text, Type::Char(None)] {
            c.operator(symbol, &[ty, Text], Boolean, matching(any_case, negated));
        }
    }
    let kernel = f2::<Str, Str, Opt<Str>>(part);
    c.add(scalar("substring", &[Text, Text], Text, kernel));

    let kernel = f2::<Str, Str, Opt<Texts>>(|text, pattern| first(text, pattern, ""));
    c.add(scalar("regexp_match", &[Text, Text], Text.array(), kernel));
    let kernel = f3::<Str, Str, Str, Opt<Texts>>(first);
    c.add(scalar(
        "regexp_match",
        &[Text, Text, Text],
        Text.array(),
        kernel,
    ));
    let kernel = f2::<Str, Str, Texts>(|text, pattern| split(text, pattern, "", ARRAY));
    c.add(scalar(
        "regexp_split_to_array",
        &[Text, Text],
        Text.array(),
        kernel,
    ));
    let kernel =
        f3::<Str, Str, Str, Texts>(|text, pattern, flags| split(text, pattern, flags, ARRAY));
    c.add(scalar(
        "regexp_split_to_array",
        &[Text, Text, Text],
        Text.array(),
        kernel,
    ));

    let kernel = f2::<Str, Str, Bool>(|text, pattern| like(text, pattern, ""));
    c.add(scalar("regexp_like", &[Text, Text], Boolean, kernel));
    let kernel = f3::<Str, Str, Str, Bool>(like);
    c.add(scalar("regexp_like", &[Text, Text, Text], Boolean, kernel));

    let kernel = f2::<Str, Str, I32>(|text, pattern| counted(text, pattern, 1, ""));
    c.add(scalar("regexp_count", &[Text, Text], Int4, kernel));
    let kernel = f3::<Str, Str, I32, I32>(|text, pattern, start| counted(text, pattern, start, ""));
    c.add(scalar("regexp_count", &[Text, Text, Int4], Int4, kernel));
    let kernel = f4::<Str, Str, I32, Str, I32>(counted);
    c.add(scalar(
        "regexp_count",
        &[Text, Text, Int4, Text],
        Int4,
        kernel,
    ));
    replacing(c);
    extracting(c);
    finding(c);
    rows(c);
}

fn replacing(c: &mut Catalogue) {
    use Type::{Int4, Text};
    let all = [Text, Text, Text, Int4, Int4, Text];
    let kernel =
        f3::<Str, Str, Str, Str>(|text, pattern, new| replace(text, pattern, new, 1, Some(1), ""));
    c.add(scalar("regexp_replace", &all[..3], Text, kernel));
    let kernel = f4::<Str, Str, Str, Str, Str>(|text, pattern, new, flags| {
        if let Some(digit) = flags.chars().next().filter(char::is_ascii_digit) {
            let hint = "If you meant to use regexp_replace() with a start parameter, cast the \
                fourth argument to integer explicitly.";
            return Err(unknown_option(digit).with_hint(hint));
        }
        replace(text, pattern, new, 1, None, flags)
    });
    c.add(scalar(
        "regexp_replace",
        &[Text, Text, Text, Text],
        Text,
        kernel,
    ));
    let kernel = f4::<Str, Str, Str, I32, Str>(|text, pattern, new, start| {
        replace(text, pattern, new, start, Some(1), "")
    });
    c.add(scalar("regexp_replace", &all[..4], Text, kernel));
    let kernel = f5::<Str, Str, Str, I32, I32, Str>(|text, pattern, new, start, n| {
        replace(text, pattern, new, start, Some(n), "")
    });
    c.add(scalar("regexp_replace", &all[..5], Text, kernel));
    let kernel = f6::<Str, Str, Str, I32, I32, Str, Str>(|text, pattern, new, start, n, flags| {
        replace(text, pattern, new, start, Some(n), flags)
    });
    c.add(scalar("regexp_replace", &all, Text, kernel));
}

/// DuckDB's functions of the text of a match or of a group in it.
fn extracting(c: &mut Catalogue) {
    use Type::{Bool as Boolean, Int4, Text};
    let all = [Text, Text, Int4];
    // A text that does not match has an empty one.
    let one = |text: &str, pattern: &str, group: i32| {
        Ok(found(text, pattern, 1, 1, "", group)?.unwrap_or_default())
    };
    let kernel = f2::<Str, Str, Str>(move |text, pattern| one(text, pattern, 0));
    c.add(scalar("regexp_extract", &all[..2], Text, kernel));
    c.add(scalar(
        "regexp_extract",
        &all,
        Text,
        f3::<Str, Str, I32, Str>(one),
    ));
    let kernel = f2::<Str, Str, Texts>(|text, pattern| extracted(text, pattern, 0));
    c.add(scalar(
        "regexp_extract_all",
        &all[..2],
        Text.array(),
        kernel,
    ));
    let kernel = f3::<Str, Str, I32, Texts>(extracted);
    c.add(scalar("regexp_extract_all", &all, Text.array(), kernel));
    let kernel = f2::<Str, Str, Bool>(|text, pattern| {
        let regex = compiled(&format!("^(?:{pattern})$"), Options::default())?;
        regex.is_match(text)
    });
    c.add(scalar("regexp_full_match", &all[..2], Boolean, kernel));
    let kernel = f1::<Str, Str>(|text| {
        let plain = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii();
        let parts = text.chars().map(|c| {
            if plain(c) {
                c.to_string()
            } else {
                format!("\\{c}")
            }
        });
        Ok(parts.collect())
    });
    c.add(scalar("regexp_escape", &[Text], Text, kernel));
    for name in ["string_split_regex", "str_split_regex"] {
        c.synonym(name, "regexp_split_to_array");
    }
}

/// The texts of all matches, or of a group in each.
fn extracted(text: &str, pattern: &str, group: i32) -> Result<Vec<Option<String>>> {
    let group = usize::try_from(group).map_err(|_| out_of_range("group", group))?;
    let regex = compiled(pattern, Options::default())?;
    if group > regex.groups() {
        let message = format!("the regular expression has no group {group}");
        return Err(Error::new("22023", message));
    }
    let all = matches(&regex, text, 0, true, false)?.into_iter();
    let part = |groups: Groups| groups.get(group).cloned().flatten();
    Ok(all
        .map(|groups| Some(part(groups).map_or("", |part| &text[part]).to_owned()))
        .collect())
}

fn finding(c: &mut Catalogue) {
    use Type::{Int4, Text};
    let name = "regexp_instr";
    let all = [Text, Text, Int4, Int4, Int4, Text, Int4];
    let mut add = |arguments: usize, kernel: Kernel| {
        c.add(scalar(name, &all[..arguments], Int4, kernel));
    };
    add(2, f2::<Str, Str, I32>(|t, p| place(t, p, 1, 1, 0, "", 0)));
    add(
        3,
        f3::<Str, Str, I32, I32>(|t, p, s| place(t, p, s, 1, 0, "", 0)),
    );
    add(
        4,
        f4::<Str, Str, I32, I32, I32>(|t, p, s, n| place(t, p, s, n, 0, "", 0)),
    );
    let kernel = f5::<Str, Str, I32, I32, I32, I32>(|t, p, s, n, e| place(t, p, s, n, e, "", 0));
    add(5, kernel);
    let kernel =
        f6::<Str, Str, I32, I32, I32, Str, I32>(|t, p, s, n, e, f| place(t, p, s, n, e, f, 0));
    add(6, kernel);
    add(7, f7::<Str, Str, I32, I32, I32, Str, I32, I32>(place));
    let all = [Text, Text, Int4, Int4, Text, Int4];
    let mut add = |arguments: usize, kernel: Kernel| {
        c.add(scalar("regexp_substr", &all[..arguments], Text, kernel));
    };
    add(2, f2::<Str, Str, Opt<Str>>(|t, p| found(t, p, 1, 1, "", 0)));
    add(
        3,
        f3::<Str, Str, I32, Opt<Str>>(|t, p, s| found(t, p, s, 1, "", 0)),
    );
    add(
        4,
        f4::<Str, Str, I32, I32, Opt<Str>>(|t, p, s, n| found(t, p, s, n, "", 0)),
    );
    add(
        5,
        f5::<Str, Str, I32, I32, Str, Opt<Str>>(|t, p, s, n, f| found(t, p, s, n, f, 0)),
    );
    add(6, f6::<Str, Str, I32, I32, Str, I32, Opt<Str>>(found));
}

/// The functions that give rows.
fn rows(c: &mut Catalogue) {
    use Type::Text;
    for parameters in [vec![Text; 2], vec![Text; 3]] {
        c.add_table(TableFunction {
            name: "regexp_split_to_table",
            parameters: parameters.clone(),
            variadic: None,
            columns: vec![("", Text.into())],
            strict: true,
            rows: Arc::new(|_: &Call<'_>, arguments: &[ArrayRef]| {
                let (text, pattern, flags) = texts(arguments)?;
                let parts = split(text, pattern, flags, "regexp_split_to_table()")?;
                let parts: ArrayRef = Arc::new(parts.iter().collect::<StringViewArray>());
                Ok(Box::new(std::iter::once(Ok(vec![parts]))))
            }),
        });
        c.add_table(TableFunction {
            name: "regexp_matches",
            parameters,
            variadic: None,
            columns: vec![("", Text.array().into())],
            strict: true,
            rows: Arc::new(|_: &Call<'_>, arguments: &[ArrayRef]| {
                let (text, pattern, flags) = texts(arguments)?;
                let (options, all) = options(flags)?;
                let regex = compiled(pattern, options)?;
                let mut lists = ListBuilder::new(StringViewBuilder::new());
                for groups in matches(&regex, text, 0, all, false)? {
                    lists.append_value(parts_of(text, &groups));
                }
                let arrays = crate::types::arrays::plain(&lists.finish())?;
                Ok(Box::new(std::iter::once(Ok(vec![arrays]))))
            }),
        });
    }
}

fn texts(arguments: &[ArrayRef]) -> Result<(&str, &str, &str)> {
    let of = |at: usize| Ok::<_, Error>(argument(arguments, at)?.unwrap_or_default());
    Ok((of(0)?, of(1)?, of(2)?))
}

/// The expression, compiled now or before.
fn compiled(pattern: &str, options: Options) -> Result<Arc<Regex>> {
    type Known = (String, Options, Arc<Regex>);
    thread_local! {
        static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
    }
    KNOWN.with_borrow_mut(|known| {
        let same = |(text, with, _): &Known| *with == options && text == pattern;
        if let Some(at) = known.iter().position(same) {
            known.swap(0, at);
            return Ok(Arc::clone(&known[0].2));
        }
        let regex = Arc::new(Regex::new(pattern, options)?);
        known.truncate(KEPT - 1);
        known.insert(0, (pattern.to_owned(), options, Arc::clone(&regex)));
        Ok(regex)
    })
}

/// The options that letters stand for, and whether `g` is among them.
fn options(flags: &str) -> Result<(Options, bool)> {
    let mut options = Options::default();
    let mut all = false;
    for letter in flags.chars() {
        if letter == 'g' {
            all = true;
        } else if !options.set(letter) {
            return Err(unknown_option(letter));
        }
    }
    Ok((options, all))
}

/// The options that letters stand for, of a function that has no use for `g`.
fn options_of(flags: &str, function: &str) -> Result<Options> {
    match options(flags)? {
        (options, false) => Ok(options),
        (_, true) => {
            let message = format!("{function} does not support the \"global\" option");
            let error = Error::new("22023", message);
            Err(match function {
                "regexp_match()" => error.with_hint("Use the regexp_matches function instead."),
                _ => error,
            })
        }
    }
}

fn matching(any_case: bool, negated: bool) -> Kernel {
    let options = Options {
        any_case,
        ..Options::default()
    };
    w2::<Str, Str, Bool>(move |call, text, pattern| {
        let ty = call.types.first().unwrap_or(&Type::Text);
        Ok(compiled(pattern, options)?.is_match(&padded(ty, text))? != negated)
    })
}

/// All matches behind a place, or the first. Those that are left out, if that is asked for, are
/// empty and stand at an end of the text or just behind another match.
fn matches(
    regex: &Regex,
    text: &str,
    from: usize,
    all: bool,
    no_empty: bool,
) -> Result<Vec<Groups>> {
    let mut found = Vec::new();
    let mut start = from;
    let mut before = 0;
    while let Some(groups) = regex.find_at(text, start)? {
        let whole = whole(&groups);
        if !no_empty || whole.start < text.len() && whole.end > before {
            found.push(groups);
        }
        before = whole.end;
        if !all {
            break;
        }
        match next_start(text, &whole) {
            Some(next) => start = next,
            None => break,
        }
    }
    Ok(found)
}

fn whole(groups: &Groups) -> Range<usize> {
    groups.first().cloned().flatten().unwrap_or_default()
}

/// The place from which the next match is searched for.
fn next_start(text: &str, whole: &Range<usize>) -> Option<usize> {
    if !whole.is_empty() {
        return Some(whole.end);
    }
    let next = text[whole.end..].chars().next()?;
    Some(whole.end + next.len_utf8())
}

/// The texts of a match's groups, or of it all if there are none.
fn parts_of(text: &str, groups: &Groups) -> Vec<Option<String>> {
    let parts = if groups.len() > 1 {
        &groups[1..]
    } else {
        groups
    };
    let text = |part: &Option<Range<usize>>| part.clone().map(|part| text[part].to_owned());
    parts.iter().map(text).collect()
}

/// SUBSTRING: the text of the first group, or of the match if there is none.
pub(super) fn part(text: &str, pattern: &str) -> Result<Option<String>> {
    let found = compiled(pattern, Options::default())?.find_at(text, 0)?;
    Ok(found.and_then(|groups| parts_of(text, &groups).into_iter().next().flatten()))
}

fn first(text: &str, pattern: &str, flags: &str) -> Result<Option<Vec<Option<String>>>> {
    let options = options_of(flags, "regexp_match()")?;
    let found = compiled(pattern, options)?.find_at(text, 0)?;
    Ok(found.map(|groups| parts_of(text, &groups)))
}

const ARRAY: &str = "regexp_split_to_array()";

fn split(text: &str, pattern: &str, flags: &str, function: &str) -> Result<Vec<Option<String>>> {
    let regex = compiled(pattern, options_of(flags, function)?)?;
    let mut parts = Vec::new();
    let mut start = 0;
    for groups in matches(&regex, text, 0, true, true)? {
        let whole = whole(&groups);
        parts.push(Some(text[start..whole.start].to_owned()));
        start = whole.end;
    }
    parts.push(Some(text[start..].to_owned()));
    Ok(parts)
}

fn like(text: &str, pattern: &str, flags: &str) -> Result<bool> {
    compiled(pattern, options_of(flags, "regexp_like()")?)?.is_match(text)
}

fn out_of_range(parameter: &str, value: i32) -> Error {
    let message = format!("invalid value for parameter \"{parameter}\": {value}");
    Error::new("22023", message)
}

/// The byte of a place in characters, from 1; `None` if it is behind the text.
fn byte_of(text: &str, start: i32) -> Result<Option<usize>> {
    let bad = || out_of_range("start", start);
    let before = usize::try_from(start)
        .ok()
        .and_then(|start| start.checked_sub(1));
    let before = before.ok_or_else(bad)?;
    let at = from_start(text, before);
    if at == text.len() && before > text.chars().count() {
        return Ok(None);
    }
    Ok(Some(at))
}

fn counted(text: &str, pattern: &str, start: i32, flags: &str) -> Result<i32> {
    let from = byte_of(text, start)?;
    let regex = compiled(pattern, options_of(flags, "regexp_count()")?)?;
    match from {
        Some(from) => count(matches(&regex, text, from, true, false)?.len()),
        None => Ok(0),
    }
}

/// The range of the n-th match, or of one of its groups.
fn nth(
    regex: &Regex,
    text: &str,
    from: Option<usize>,
    n: i32,
    group: i32,
) -> Result<Option<Range<usize>>> {
    let mut start = match from {
        Some(start) => start,
        None => return Ok(None),
    };
    // Without groups, the first is the match.
    let group = match usize::try_from(group).unwrap_or(usize::MAX) {
        1 if regex.groups() == 0 => 0,
        group => group,
    };
    for round in 1..=n {
        let Some(groups) = regex.find_at(text, start)? else {
            return Ok(None);
        };
        if round == n {
            return Ok(groups.get(group).cloned().flatten());
        }
        match next_start(text, &whole(&groups)) {
            Some(next) => start = next,
            None => return Ok(None),
        }
    }
    Ok(None)
}

fn place(
    text: &str,
    pattern: &str,
    start: i32,
    n: i32,
    end: i32,
    flags: &str,
    group: i32,
) -> Result<i32> {
    let from = byte_of(text, start)?;
    if n <= 0 {
        return Err(out_of_range("n", n));
    }
    if !(0..=1).contains(&end) {
        return Err(out_of_range("endoption", end));
    }
    if group < 0 {
        return Err(out_of_range("subexpr", group));
    }
    let regex = compiled(pattern, options_of(flags, "regexp_instr()")?)?;
    match nth(&regex, text, from, n, group)? {
        Some(range) => {
            let at = if end == 1 { range.end } else { range.start };
            count(text[..at].chars().count() + 1)
        }
        None => Ok(0),
    }
}

fn found(
    text: &str,
    pattern: &str,
    start: i32,
    n: i32,
    flags: &str,
    group: i32,
) -> Result<Option<String>> {
    let from = byte_of(text, start)?;
    if n <= 0 {
        return Err(out_of_range("n", n));
    }
    if group < 0 {
        return Err(out_of_range("subexpr", group));
    }
    let regex = compiled(pattern, options_of(flags, "regexp_substr()")?)?;
    let range = nth(&regex, text, from, n, group)?;
    Ok(range.map(|range| text[range].to_owned()))
}

/// Replaces the n-th match, or all for 0; `None` leaves that to the flag `g`.
pub(super) fn replace(
    text: &str,
    pattern: &str,
    new: &str,
    start: i32,
    n: Option<i32>,
    flags: &str,
) -> Result<String> {
    let from = byte_of(text, start)?;
    if let Some(n) = n.filter(|n| *n < 0) {
        return Err(out_of_range("n", n));
    }
    let (options, all) = options(flags)?;
    let regex = compiled(pattern, options)?;
    let n = n.unwrap_or(if all { 0 } else { 1 });
    let Some(mut start) = from else {
        return Ok(text.to_owned());
    };
    let mut to = String::new();
    let mut copied = 0;
    let mut round = 0;
    while let Some(groups) = regex.find_at(text, start)? {
        let whole = whole(&groups);
        round += 1;
        if n == 0 || n == round {
            to.push_str(&text[copied..whole.start]);
            fill(new, text, &groups, &mut to);
            allowed(Some(to.len()))?;
            copied = whole.end;
        }
        if n == round {
            break;
        }
        match next_start(text, &whole) {
            Some(next) => start = next,
            None => break,
        }
    }
    to.push_str(&text[copied..]);
    allowed(Some(to.len()))?;
    Ok(to)
}

/// Adds a replacement: `\1` to `\9` are groups, `\&` the match, `\\` a backslash.
fn fill(new: &str, text: &str, groups: &Groups, to: &mut String) {
    let mut rest = new;
    while let Some(at) = rest.find('\\') {
        to.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let group = match after.chars().next() {
            Some('&') => Some(0),
            Some(c @ '1'..='9') => c.to_digit(10).map(|digit| digit as usize),
            Some('\\') => {
                to.push('\\');
                rest = &after[1..];
                continue;
            }
            _ => None,
        };
        let Some(group) = group else {
            to.push('\\');
            rest = after;
            continue;
        };
        if let Some(Some(range)) = groups.get(group) {
            to.push_str(&text[range.clone()]);
        }
        rest = &after[1..];
    }
    to.push_str(rest);
}
