//! The values that a path gives for a value.
//!
//! Items are slices of the value where they can be. Each step hands its items on to the next
//! one. Where only existence is asked for there is no list, and the first item ends the work.
//! In lax mode, arrays are unwrapped for steps that are not for arrays, other values count as
//! arrays of one element, and missing parts are no errors.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;

use super::decimal;
use super::layout;
use super::moment::{self, Moment};
use super::tree::{Chain, Head, LAST, Method, Operator, Path, Step};
use crate::error::{Error, Result};
use crate::functions::Session;
use crate::values::json::{
    Elements, Kind, Members, compare_numbers, find, inside, kind, quote, quoted, too_deep, unquoted,
};

/// An item.
#[derive(Clone, Debug)]
pub(super) enum Item<'a> {
    /// JSON in normal form.
    Json(Cow<'a, str>),
    /// A date or a time.
    Moment(Moment),
}

impl<'a> Item<'a> {
    /// Its JSON.
    pub(super) fn json(&self) -> Cow<'_, str> {
        match self {
            Item::Json(text) => Cow::Borrowed(text),
            Item::Moment(moment) => Cow::Owned(format!("\"{}\"", moment.text())),
        }
    }

    fn kind(&self) -> Option<Kind> {
        match self {
            Item::Json(text) => Some(kind(text)),
            Item::Moment(_) => None,
        }
    }

    fn is(&self, wanted: Kind) -> bool {
        self.kind() == Some(wanted)
    }

    fn has_parts(&self) -> bool {
        self.kind() >= Some(Kind::Array)
    }

    fn text(&self) -> &str {
        match self {
            Item::Json(text) => text,
            Item::Moment(_) => "",
        }
    }

    fn owned(text: String) -> Self {
        Item::Json(Cow::Owned(text))
    }

    /// Its elements, or the values of its members.
    fn parts(&self) -> Vec<Item<'a>> {
        fn slices(text: &str) -> Vec<&str> {
            match kind(text) {
                Kind::Object => Members::new(text).map(|(_, value)| value).collect(),
                _ => Elements::new(text).collect(),
            }
        }
        match self {
            Item::Json(Cow::Borrowed(text)) => {
                let parts = slices(text).into_iter();
                parts.map(|part| Item::Json(Cow::Borrowed(part))).collect()
            }
            Item::Json(Cow::Owned(text)) => {
                let parts = slices(text).into_iter();
                parts.map(|part| Item::owned(part.to_owned())).collect()
            }
            Item::Moment(_) => Vec::new(),
        }
    }

    /// The value of a key.
    fn member(&self, key: &str) -> Option<Item<'a>> {
        match self {
            Item::Json(Cow::Borrowed(text)) => {
                find(text, key).map(|value| Item::Json(Cow::Borrowed(value)))
            }
            Item::Json(Cow::Owned(text)) => {
                find(text, key).map(|value| Item::owned(value.to_owned()))
            }
            Item::Moment(_) => None,
        }
    }
}

/// Why evaluation stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// An error that predicates and silent calls pass over.
    Soft(Error),
    /// One that they do not.
    Hard(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Soft(error)
    }
}

fn soft<T>(sqlstate: &'static str, message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Soft(Error::new(sqlstate, message)))
}

/// Whether there was an item.
type Found = Result<bool, Stop>;
/// A truth value, `None` for unknown.
type Truth = Result<Option<bool>, Stop>;
/// The items found, or none if only their existence is asked for.
type Out<'o, 'a> = Option<&'o mut Vec<Item<'a>>>;

/// A call of a path function, but for the value.
pub(super) struct Call<'a> {
    /// The path.
    pub path: &'a Path,
    /// An object of variables.
    pub vars: Option<&'a str>,
    /// Whether the session's time zone may be used.
    pub zone: bool,
    /// Settings.
    pub session: &'a Session,
}

/// Finds the items of a value, which are kept in an error, too; without `all`, only whether
/// there are any.
pub(super) fn evaluate<'a>(
    call: &Call<'a>,
    json: &'a str,
    all: bool,
    found: &mut Vec<Item<'a>>,
) -> Result<bool, Stop> {
    if let Some(vars) = call.vars
        && kind(vars) != Kind::Object
    {
        return Err(Stop::Hard(
            Error::new("22023", "\"vars\" argument is not an object").with_detail(
                "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.",
            ),
        ));
    }
    let root = Item::Json(Cow::Borrowed(json));
    let evaluator = Evaluator {
        call,
        root: json,
        ids: Cell::new(if call.vars.is_some() { 2 } else { 1 }),
    };
    let scope = Scope {
        current: &root,
        size: None,
        forgiving: !call.path.strict,
        base: (json.as_ptr() as usize, json, 0),
        depth: 0,
    };
    let chain = &call.path.root;
    if !all && !call.path.strict {
        return evaluator.chain(&scope, chain, &root, None);
    }
    evaluator.chain(&scope, chain, &root, Some(found))?;
    Ok(!found.is_empty())
}

/// What holds within a part of a path.
#[derive(Clone, Copy)]
struct Scope<'s, 'a> {
    /// `@`.
    current: &'s Item<'a>,
    /// Elements of the array whose subscripts are evaluated.
    size: Option<usize>,
    /// Whether missing parts are no errors.
    forgiving: bool,
    /// The value of which objects get their numbers: its place, its text and its number.
    base: (usize, &'s str, i64),
    /// Steps within one another.
    depth: usize,
}

/// Steps within one another at most.
const MAX_DEPTH: usize = 300;

struct Evaluator<'c, 'a> {
    call: &'c Call<'a>,
    root: &'a str,
    /// The number of the next object that `keyvalue` makes.
    ids: Cell<i64>,
}

impl<'a> Evaluator<'_, 'a> {
    fn lax(&self) -> bool {
        !self.call.path.strict
    }

    /// Evaluates a chain.
    fn chain(
        &self,
        scope: &Scope<'_, 'a>,
        chain: &'a Chain,
        item: &Item<'a>,
        out: Out<'_, 'a>,
    ) -> Found {
        let steps = chain.steps.as_slice();
        if scope.depth > MAX_DEPTH {
            return Err(Stop::Hard(too_deep()));
        }
        let inner = Scope {
            depth: scope.depth + 1,
            ..*scope
        };
        let scope = &inner;
        // The value of a constant counts only if it is asked for.
        let idle = steps.is_empty() && out.is_none();
        match &*chain.head {
            Head::Root => {
                let scope = Scope {
                    base: (self.root.as_ptr() as usize, self.root, 0),
                    ..*scope
                };
                self.next(&scope, steps, Item::Json(Cow::Borrowed(self.root)), out)
            }
            Head::Current => self.next(scope, steps, scope.current.clone(), out),
            Head::Constant(_) if idle => Ok(true),
            Head::Constant(json) => self.next(scope, steps, Item::Json(Cow::Borrowed(json)), out),
            Head::Variable(name) => {
                let value = self.variable(name)?;
                let scope = Scope {
                    base: match self.call.vars {
                        Some(vars) => (vars.as_ptr() as usize, vars, 1),
                        None => scope.base,
                    },
                    ..*scope
                };
                self.next(&scope, steps, Item::Json(Cow::Borrowed(value)), out)
            }
            Head::Last => {
                let Some(size) = scope.size else {
                    return Err(Stop::Hard(Error::internal(
                        "evaluating jsonpath LAST outside of array subscript",
                    )));
                };
                if idle {
                    return Ok(true);
                }
                let last = size as i64 - 1;
                self.next(scope, steps, Item::owned(last.to_string()), out)
            }
            Head::Binary(operator, left, right) if operator.is_arithmetic() => {
                let left = self.unwrapped(scope, left, item, true)?;
                let right = self.unwrapped(scope, right, item, true)?;
                let left = operand(&left, *operator, "left")?;
                let right = operand(&right, *operator, "right")?;
                let result = decimal::arithmetic(*operator, left, right)?;
                if idle {
                    return Ok(true);
                }
                self.next(scope, steps, Item::owned(result), out)
            }
            Head::Sign(minus, operand) => self.sign(scope, *minus, operand, steps, item, out),
            _ => {
                let truth = self.truth(scope, chain, item)?;
                if idle {
                    return Ok(true);
                }
                let word = match truth {
                    None => "null",
                    Some(true) => "true",
                    Some(false) => "false",
                };
                self.next(scope, steps, Item::Json(Cow::Borrowed(word)), out)
            }
        }
    }

    /// Hands an item on to the next step, or gives it.
    fn next(
        &self,
        scope: &Scope<'_, 'a>,
        steps: &'a [Step],
        item: Item<'a>,
        out: Out<'_, 'a>,
    ) -> Found {
        if !steps.is_empty() {
            return self.step(scope, steps, item, out, self.lax());
        }
        if let Some(out) = out {
            out.push(item);
        }
        Ok(true)
    }

    /// Evaluates a step and those behind it.
    fn step(
        &self,
        scope: &Scope<'_, 'a>,
        mut steps: &'a [Step],
        mut item: Item<'a>,
        out: Out<'_, 'a>,
        mut unwrap: bool,
    ) -> Found {
        // Keys follow keys without going deeper.
        while let [Step::Key(key), rest @ ..] = steps
            && let Some(value) = item.member(key)
        {
            item = value;
            steps = rest;
            unwrap = self.lax();
        }
        let [step, rest @ ..] = steps else {
            return self.next(scope, steps, item, out);
        };
        if scope.depth > MAX_DEPTH {
            return Err(Stop::Hard(too_deep()));
        }
        let inner = Scope {
            depth: scope.depth + 1,
            ..*scope
        };
        let scope = &inner;
        let unwraps = match step {
            Step::Key(_) | Step::AnyKey | Step::Filter(_) | Step::Datetime(_) => true,
            Step::Method(method) => !matches!(method, Method::Type | Method::Size),
            _ => false,
        };
        if unwraps && unwrap && item.is(Kind::Array) {
            return self.within(scope, Some(steps), &item, out, (1, 1), false, false);
        }
        match step {
            Step::Key(key) => {
                if scope.forgiving {
                    return Ok(false);
                }
                match item.is(Kind::Object) {
                    true => {
                        let key = unquoted(key);
                        soft(
                            "2203A",
                            format!("JSON object does not contain key \"{key}\""),
                        )
                    }
                    false => soft(
                        "2203A",
                        "jsonpath member accessor can only be applied to an object",
                    ),
                }
            }
            Step::AnyKey => {
                if item.is(Kind::Object) {
                    let rest = (!rest.is_empty()).then_some(rest);
                    return self.within(scope, rest, &item, out, (1, 1), false, self.lax());
                }
                match scope.forgiving {
                    true => Ok(false),
                    false => soft(
                        "2203C",
                        "jsonpath wildcard member accessor can only be applied to an object",
                    ),
                }
            }
            Step::AnyElement => {
                if item.is(Kind::Array) {
                    let rest = (!rest.is_empty()).then_some(rest);
                    return self.within(scope, rest, &item, out, (1, 1), false, self.lax());
                }
                if self.lax() {
                    return self.next(scope, rest, item, out);
                }
                match scope.forgiving {
                    true => Ok(false),
                    false => soft(
                        "22039",
                        "jsonpath wildcard array accessor can only be applied to an array",
                    ),
                }
            }
            Step::Elements(places) => self.elements(scope, places, rest, &item, out),
            Step::Levels(first, last) => self.levels(scope, (*first, *last), rest, &item, out),
            Step::Filter(condition) => {
                let inner = Scope {
                    current: &item,
                    ..*scope
                };
                match self.truth(&inner, condition, &item)? {
                    Some(true) => self.next(scope, rest, item, out),
                    _ => Ok(false),
                }
            }
            Step::Method(method) => self.method(scope, *method, rest, item, out),
            Step::Datetime(template) => {
                if !item.is(Kind::String) {
                    return soft(
                        "22031",
                        "jsonpath item method .datetime() can only be applied to a string",
                    );
                }
                let text = unquoted(inside(item.text()));
                let found = match template {
                    None => moment::read(&text),
                    Some(template) => {
                        moment::read_by(&text, template, self.call.zone, self.call.session)
                    }
                };
                self.next(scope, rest, Item::Moment(found?), out)
            }
        }
    }

    /// Goes through the parts of an item, and theirs, of a range of levels.
    #[allow(
        clippy::too_many_arguments,
        reason = "a step of the walk has that many sides"
    )]
    fn within(
        &self,
        scope: &Scope<'_, 'a>,
        steps: Option<&'a [Step]>,
        item: &Item<'a>,
        mut out: Out<'_, 'a>,
        (first, last): (u32, u32),
        forgiving: bool,
        unwrap: bool,
    ) -> Found {
        let scope = Scope {
            forgiving: scope.forgiving || forgiving,
            ..*scope
        };
        let mut open = Vec::new();
        let mut any = false;
        if last >= 1 {
            open.push(item.parts().into_iter());
        }
        while let Some(parts) = open.last_mut() {
            let Some(part) = parts.next() else {
                open.pop();
                continue;
            };
            let level = u32::try_from(open.len()).unwrap_or(LAST);
            let leaf = first == LAST && last == LAST && !part.has_parts();
            let deeper = level < last && part.has_parts();
            let inner = if deeper { part.parts() } else { Vec::new() };
            if level >= first || leaf {
                match (steps, &mut out) {
                    (Some(steps), _) => {
                        let reborrowed = out.as_deref_mut();
                        any = self.step(&scope, steps, part, reborrowed, unwrap)?;
                        if any && out.is_none() {
                            return Ok(true);
                        }
                    }
                    (None, Some(out)) => {
                        out.push(part);
                        any = true;
                    }
                    (None, None) => return Ok(true),
                }
            }
            if deeper {
                open.push(inner.into_iter());
            }
        }
        Ok(any)
    }

    fn levels(
        &self,
        scope: &Scope<'_, 'a>,
        (first, last): (u32, u32),
        rest: &'a [Step],
        item: &Item<'a>,
        mut out: Out<'_, 'a>,
    ) -> Found {
        let mut any = false;
        if first == 0 {
            let scope = Scope {
                forgiving: true,
                ..*scope
            };
            any = self.next(&scope, rest, item.clone(), out.as_deref_mut())?;
            if any && out.is_none() {
                return Ok(true);
            }
        }
        if item.has_parts() {
            let rest = (!rest.is_empty()).then_some(rest);
            any = self.within(scope, rest, item, out, (first, last), true, self.lax())?;
        }
        Ok(any)
    }

    fn elements(
        &self,
        scope: &Scope<'_, 'a>,
        places: &'a [(Chain, Option<Chain>)],
        rest: &'a [Step],
        item: &Item<'a>,
        mut out: Out<'_, 'a>,
    ) -> Found {
        let is_array = item.is(Kind::Array);
        if !is_array && !self.lax() {
            return match scope.forgiving {
                true => Ok(false),
                false => soft(
                    "22039",
                    "jsonpath array accessor can only be applied to an array",
                ),
            };
        }
        let parts = match is_array {
            true => item.parts(),
            false => vec![item.clone()],
        };
        let size = parts.len() as i64;
        let scope = &Scope {
            size: Some(parts.len()),
            ..*scope
        };
        let mut any = false;
        for (from, to) in places {
            let from = self.place(scope, from, item)?;
            let to = match to {
                Some(to) => self.place(scope, to, item)?,
                None => from,
            };
            if !scope.forgiving && (from < 0 || from > to || to >= size) {
                return soft("22033", "jsonpath array subscript is out of bounds");
            }
            for at in from.max(0)..=to.min(size - 1) {
                if rest.is_empty() && out.is_none() {
                    return Ok(true);
                }
                let Some(part) = usize::try_from(at).ok().and_then(|at| parts.get(at)) else {
                    continue;
                };
                any = self.next(scope, rest, part.clone(), out.as_deref_mut())?;
                if any && out.is_none() {
                    return Ok(true);
                }
            }
        }
        Ok(any)
    }

    /// The place that a subscript means.
    fn place(&self, scope: &Scope<'_, 'a>, chain: &'a Chain, item: &Item<'a>) -> Result<i64, Stop> {
        let mut found = Vec::new();
        self.chain(scope, chain, item, Some(&mut found))?;
        let [one] = found.as_slice() else {
            return soft(
                "22033",
                "jsonpath array subscript is not a single numeric value",
            );
        };
        if !one.is(Kind::Number) {
            return soft(
                "22033",
                "jsonpath array subscript is not a single numeric value",
            );
        }
        let whole = one.text().split('.').next().unwrap_or("");
        match whole.parse::<i32>() {
            Ok(place) => Ok(place.into()),
            Err(_) => soft("22033", "jsonpath array subscript is out of integer range"),
        }
    }

    fn method(
        &self,
        scope: &Scope<'_, 'a>,
        method: Method,
        rest: &'a [Step],
        item: Item<'a>,
        out: Out<'_, 'a>,
    ) -> Found {
        let name = method.name();
        let result = match method {
            Method::Type => {
                let name = match &item {
                    Item::Json(text) => kind(text).name(),
                    Item::Moment(moment) => moment.type_name(),
                };
                Item::owned(format!("\"{name}\""))
            }
            Method::Size => match item.is(Kind::Array) {
                true => Item::owned(Elements::new(item.text()).count().to_string()),
                false if self.lax() => Item::Json(Cow::Borrowed("1")),
                false if scope.forgiving => return Ok(false),
                false => {
                    return soft(
                        "22039",
                        "jsonpath item method .size() can only be applied to an array",
                    );
                }
            },
            Method::Abs | Method::Floor | Method::Ceiling => {
                if !item.is(Kind::Number) {
                    return soft(
                        "22036",
                        format!(
                            "jsonpath item method .{name}() can only be applied to a numeric value"
                        ),
                    );
                }
                if rest.is_empty() && out.is_none() {
                    return Ok(true);
                }
                Item::owned(match method {
                    Method::Abs => decimal::magnitude(item.text()),
                    Method::Floor => decimal::whole(item.text(), false)?,
                    _ => decimal::whole(item.text(), true)?,
                })
            }
            Method::Double => double(item)?,
            Method::KeyValue => return self.key_values(scope, rest, &item, out),
        };
        self.next(scope, rest, result, out)
    }

    /// An object for each member, with the number of the object that it is of.
    fn key_values(
        &self,
        scope: &Scope<'_, 'a>,
        rest: &'a [Step],
        item: &Item<'a>,
        mut out: Out<'_, 'a>,
    ) -> Found {
        if !item.is(Kind::Object) {
            return soft(
                "2203C",
                "jsonpath item method .keyvalue() can only be applied to an object",
            );
        }
        let text = item.text();
        let (base_start, base, number) = scope.base;
        let at = (text.as_ptr() as usize).wrapping_sub(base_start);
        let offset = layout::offset(base, at);
        let id = number * 10_000_000_000 + offset;
        let mut any = false;
        for (key, value) in Members::new(text) {
            if rest.is_empty() && out.is_none() {
                return Ok(true);
            }
            let pair = format!("{{\"id\": {id}, \"key\": \"{key}\", \"value\": {value}}}");
            let number = self.ids.get();
            self.ids.set(number + 1);
            let copy = pair.clone();
            let scope = Scope {
                base: (copy.as_ptr() as usize, &copy, number),
                ..*scope
            };
            any = self.next(&scope, rest, Item::owned(pair), out.as_deref_mut())?;
            if any && out.is_none() {
                return Ok(true);
            }
        }
        Ok(any)
    }

    fn variable(&self, name: &str) -> Result<&'a str, Stop> {
        // Operators have no variables, and take each for null.
        let Some(vars) = self.call.vars else {
            return Ok("null");
        };
        find(vars, &quoted(name)).ok_or_else(|| {
            Stop::Hard(Error::new(
                "42704",
                format!("could not find jsonpath variable \"{name}\""),
            ))
        })
    }

    /// The items of a chain; arrays among them are unwrapped in lax mode, if asked for.
    fn unwrapped(
        &self,
        scope: &Scope<'_, 'a>,
        chain: &'a Chain,
        item: &Item<'a>,
        unwrap: bool,
    ) -> Result<Vec<Item<'a>>, Stop> {
        let mut found = Vec::new();
        self.chain(scope, chain, item, Some(&mut found))?;
        if !unwrap || !self.lax() || !found.iter().any(|item| item.is(Kind::Array)) {
            return Ok(found);
        }
        let mut all = Vec::new();
        for item in found {
            match item.is(Kind::Array) {
                true => all.extend(item.parts()),
                false => all.push(item),
            }
        }
        Ok(all)
    }

    fn sign(
        &self,
        scope: &Scope<'_, 'a>,
        minus: bool,
        operand: &'a Chain,
        rest: &'a [Step],
        item: &Item<'a>,
        mut out: Out<'_, 'a>,
    ) -> Found {
        let idle = rest.is_empty() && out.is_none();
        let mut any = false;
        for value in self.unwrapped(scope, operand, item, true)? {
            if !value.is(Kind::Number) {
                if idle {
                    continue;
                }
                let symbol = if minus { "-" } else { "+" };
                return soft(
                    "2203B",
                    format!("operand of unary jsonpath operator {symbol} is not a numeric value"),
                );
            }
            if idle {
                return Ok(true);
            }
            let value = match minus {
                true => Item::owned(decimal::negated(value.text())),
                false => value,
            };
            if self.next(scope, rest, value, out.as_deref_mut())? {
                if out.is_none() {
                    return Ok(true);
                }
                any = true;
            }
        }
        Ok(any)
    }

    /// The truth value of a predicate.
    fn truth(&self, scope: &Scope<'_, 'a>, chain: &'a Chain, item: &Item<'a>) -> Truth {
        if scope.depth > MAX_DEPTH {
            return Err(Stop::Hard(too_deep()));
        }
        let inner = Scope {
            depth: scope.depth + 1,
            ..*scope
        };
        let scope = &inner;
        match &*chain.head {
            Head::Binary(Operator::And, left, right) => {
                let left = self.truth(scope, left, item)?;
                if left == Some(false) {
                    return Ok(left);
                }
                let right = self.truth(scope, right, item)?;
                Ok(if right == Some(true) { left } else { right })
            }
            Head::Binary(Operator::Or, left, right) => {
                let left = self.truth(scope, left, item)?;
                if left == Some(true) {
                    return Ok(left);
                }
                let right = self.truth(scope, right, item)?;
                Ok(if right == Some(false) { left } else { right })
            }
            Head::Binary(operator, left, right) => {
                let compared = |a: &Item<'a>, b: Option<&Item<'a>>| match b {
                    None => Ok(None),
                    Some(b) if *operator == Operator::StartsWith => Ok(starts_with(a, b)),
                    Some(b) => self.compared(*operator, a, b),
                };
                let unwrap = *operator != Operator::StartsWith;
                self.any_pair(scope, left, Some((right, unwrap)), item, compared)
            }
            Head::Like(operand, pattern) => {
                let matches = |value: &Item<'a>, _: Option<&Item<'a>>| {
                    if !value.is(Kind::String) {
                        return Ok(None);
                    }
                    let text = unquoted(inside(value.text()));
                    pattern.regex.is_match(&text).map(Some).map_err(Stop::Hard)
                };
                self.any_pair(scope, operand, None, item, matches)
            }
            Head::Not(operand) => Ok(self.truth(scope, operand, item)?.map(|truth| !truth)),
            Head::IsUnknown(operand) => Ok(Some(self.truth(scope, operand, item)?.is_none())),
            Head::Exists(operand) => {
                let found = match self.lax() {
                    true => self.chain(scope, operand, item, None),
                    false => {
                        let mut all = Vec::new();
                        let found = self.chain(scope, operand, item, Some(&mut all));
                        found.map(|_| !all.is_empty())
                    }
                };
                match found {
                    Ok(found) => Ok(Some(found)),
                    Err(Stop::Soft(_)) => Ok(None),
                    Err(hard) => Err(hard),
                }
            }
            _ => Err(Stop::Hard(Error::internal(
                "a jsonpath item is no predicate",
            ))),
        }
    }

    /// Whether a predicate holds for one pair of items; in strict mode it must be known for
    /// all of them.
    fn any_pair(
        &self,
        scope: &Scope<'_, 'a>,
        left: &'a Chain,
        right: Option<(&'a Chain, bool)>,
        item: &Item<'a>,
        holds: impl Fn(&Item<'a>, Option<&Item<'a>>) -> Truth,
    ) -> Truth {
        let items = |chain, unwrap| match self.unwrapped(scope, chain, item, unwrap) {
            Ok(items) => Ok(Some(items)),
            Err(Stop::Soft(_)) => Ok(None),
            Err(hard) => Err(hard),
        };
        let Some(lefts) = items(left, true)? else {
            return Ok(None);
        };
        let rights = match right {
            None => None,
            Some((chain, unwrap)) => match items(chain, unwrap)? {
                Some(rights) => Some(rights),
                None => return Ok(None),
            },
        };
        let (mut found, mut unknown) = (false, false);
        for left in &lefts {
            let partners: Vec<Option<&Item<'a>>> = match &rights {
                None => vec![None],
                Some(rights) => rights.iter().map(Some).collect(),
            };
            for right in partners {
                match holds(left, right)? {
                    None if !self.lax() => return Ok(None),
                    None => unknown = true,
                    Some(true) if self.lax() => return Ok(Some(true)),
                    Some(true) => found = true,
                    Some(false) => {}
                }
            }
        }
        Ok(match (found, unknown) {
            (true, _) => Some(true),
            (_, true) => None,
            _ => Some(false),
        })
    }

    fn compared(&self, operator: Operator, a: &Item<'a>, b: &Item<'a>) -> Truth {
        let order = match (a, b) {
            (Item::Moment(a), Item::Moment(b)) => {
                match moment::compare(a, b, self.call.zone, self.call.session) {
                    Ok(Some(order)) => order,
                    Ok(None) => return Ok(None),
                    Err(error) => return Err(Stop::Hard(error)),
                }
            }
            (Item::Json(a), Item::Json(b)) => {
                let (kind_a, kind_b) = (kind(a), kind(b));
                match (kind_a, kind_b) {
                    (a, b) if a != b => {
                        let null = a == Kind::Null || b == Kind::Null;
                        return Ok(null.then_some(operator == Operator::NotEqual));
                    }
                    (Kind::Null, _) => Ordering::Equal,
                    (Kind::Number, _) => compare_numbers(a, b),
                    (Kind::Bool, _) => a.len().cmp(&b.len()).reverse(),
                    (Kind::String, _) => unquoted(inside(a)).cmp(&unquoted(inside(b))),
                    _ => return Ok(None),
                }
            }
            (Item::Json(json), _) | (_, Item::Json(json)) => {
                let null = kind(json) == Kind::Null;
                return Ok(null.then_some(operator == Operator::NotEqual));
            }
        };
        Ok(Some(match operator {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Greater => order.is_gt(),
            _ => order.is_ge(),
        }))
    }
}

/// The number that an operand is.
fn operand<'i>(items: &'i [Item<'_>], operator: Operator, side: &str) -> Result<&'i str, Stop> {
    match items {
        [one] if one.is(Kind::Number) => Ok(one.text()),
        _ => soft(
            "22038",
            format!(
                "{side} operand of jsonpath operator {} is not a single numeric value",
                operator.symbol()
            ),
        ),
    }
}

fn starts_with(whole: &Item<'_>, start: &Item<'_>) -> Option<bool> {
    if !whole.is(Kind::String) || !start.is(Kind::String) {
        return None;
    }
    let whole = unquoted(inside(whole.text()));
    Some(whole.starts_with(&*unquoted(inside(start.text()))))
}

/// `.double()`.
fn double(item: Item<'_>) -> Result<Item<'_>, Stop> {
    match item.kind() {
        Some(Kind::Number) => {
            let text = item.text();
            let value: f64 = text.parse().unwrap_or(f64::INFINITY);
            let vanished = value == 0.0 && text.bytes().any(|b| matches!(b, b'1'..=b'9'));
            match value.is_finite() && !vanished {
                true => Ok(item),
                false => soft(
                    "22036",
                    "numeric argument of jsonpath item method .double() is out of range for \
                     type double precision",
                ),
            }
        }
        Some(Kind::String) => {
            let text = unquoted(inside(item.text()));
            let text = text.trim_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            let digits = text.split(['e', 'E']).next().unwrap_or("");
            let vanished =
                |value: f64| value == 0.0 && digits.bytes().any(|b| matches!(b, b'1'..=b'9'));
            match value {
                Some(value) if !vanished(value) => Ok(Item::owned(decimal::of_float(value)?)),
                _ => soft(
                    "22036",
                    "string argument of jsonpath item method .double() is not a valid \
                     representation of a double precision number",
                ),
            }
        }
        _ => soft(
            "22036",
            "jsonpath item method .double() can only be applied to a string or numeric value",
        ),
    }
}

/// Items as an array.
pub(super) fn array(items: &[Item<'_>]) -> Result<String> {
    let mut out = String::from("[");
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        match item {
            Item::Json(text) => out.push_str(text),
            Item::Moment(moment) => quote(&moment.text(), &mut out),
        }
        if out.len() > 1 << 30 {
            return Err(Error::new("54000", "requested length too large"));
        }
    }
    out.push(']');
    Ok(out)
}
