//! Comparison, containment and existence of keys of JSONB.

use std::cmp::Ordering;

use super::texts;
use crate::error::Result;
use crate::functions::kernel::{Bool, I32, List, Str, f2};
use crate::functions::{Catalogue, scalar};
use crate::types::Type;
use crate::values::json::{Elements, Kind, compare, contains, find, inside, kind, quoted};

/// An operator, its function and the orders for which it is true.
type Comparison = (&'static str, &'static str, fn(Ordering) -> bool);

const COMPARISONS: [Comparison; 6] = [
    ("=", "jsonb_eq", Ordering::is_eq),
    ("<>", "jsonb_ne", Ordering::is_ne),
    ("<", "jsonb_lt", Ordering::is_lt),
    ("<=", "jsonb_le", Ordering::is_le),
    (">", "jsonb_gt", Ordering::is_gt),
    (">=", "jsonb_ge", Ordering::is_ge),
];

pub(super) fn register(c: &mut Catalogue) {
    use Type::{Int4, Jsonb, Text};
    let boolean = Type::Bool;
    for (symbol, name, holds) in COMPARISONS {
        let kernel = f2::<Str, Str, Bool>(move |a, b| Ok(holds(compare(a, b))));
        c.operator(symbol, &[Jsonb, Jsonb], boolean.clone(), kernel.clone());
        c.add(scalar(name, &[Jsonb, Jsonb], boolean.clone(), kernel));
    }
    let order = f2::<Str, Str, I32>(|a, b| Ok(compare(a, b) as i32));
    c.add(scalar("jsonb_cmp", &[Jsonb, Jsonb], Int4, order));

    let holds = f2::<Str, Str, Bool>(contains);
    c.operator("@>", &[Jsonb, Jsonb], boolean.clone(), holds.clone());
    c.add(scalar(
        "jsonb_contains",
        &[Jsonb, Jsonb],
        boolean.clone(),
        holds,
    ));
    let held = f2::<Str, Str, Bool>(|a, b| contains(b, a));
    c.operator("<@", &[Jsonb, Jsonb], boolean.clone(), held.clone());
    c.add(scalar(
        "jsonb_contained",
        &[Jsonb, Jsonb],
        boolean.clone(),
        held,
    ));

    let one = f2::<Str, Str, Bool>(|json, key| Ok(exists(json, key)));
    c.operator("?", &[Jsonb, Text], boolean.clone(), one.clone());
    c.add(scalar("jsonb_exists", &[Jsonb, Text], boolean.clone(), one));
    let keys = [Jsonb, Text.array()];
    let any = f2::<Str, List, Bool>(|json, keys| {
        let keys = texts(&keys)?;
        Ok(keys.iter().flatten().any(|key| exists(json, key)))
    });
    c.operator("?|", &keys, boolean.clone(), any.clone());
    c.add(scalar("jsonb_exists_any", &keys, boolean.clone(), any));
    let all = f2::<Str, List, Bool>(|json, keys| -> Result<bool> {
        let keys = texts(&keys)?;
        Ok(keys.iter().flatten().all(|key| exists(json, key)))
    });
    c.operator("?&", &keys, boolean.clone(), all.clone());
    c.add(scalar("jsonb_exists_all", &keys, boolean, all));
}

/// Whether a text is a key of an object, an element of an array, or the value.
fn exists(json: &str, key: &str) -> bool {
    let key = quoted(key);
    let is_key = |value: &str| kind(value) == Kind::String && inside(value) == key;
    match kind(json) {
        Kind::Object => find(json, &key).is_some(),
        Kind::Array => Elements::new(json).any(is_key),
        _ => is_key(json),
    }
}
