//! Functions about enumerations: their first and last labels, and ranges of them.
//!
//! ```text
//! enum_first(NULL::mood)         sad
//! enum_range('ok'::mood, NULL)   {ok,happy}
//! ```
//!
//! The type of the argument says of which enumeration; its value may be NULL.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringViewArray};

use super::kernel::{Call, Kernel, Opt, Str, repeated, w1, w2};
use super::strings::lists::Texts;
use super::{Catalogue, casts, scalar};
use crate::error::{Error, Result};
use crate::types::{EnumType, Type};

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{AnyArray, AnyEnum};
    let end = |last: bool| -> Kernel {
        Arc::new(move |call, _| {
            let of = enumeration(call)?;
            let label = match last {
                false => of.labels.first(),
                true => of.labels.last(),
            };
            let label = label.ok_or_else(|| {
                Error::new("55000", format!("enum {} contains no values", of.name))
            })?;
            let label: ArrayRef = Arc::new(StringViewArray::from(vec![label.as_str()]));
            Ok(repeated(label, call.rows))
        })
    };
    for (name, last) in [("enum_first", false), ("enum_last", true)] {
        c.add(scalar(name, &[AnyEnum], AnyEnum, end(last)).with_nulls());
    }
    let all = w1::<Opt<Str>, Texts>(|call, _| between(enumeration(call)?, None, None));
    c.add(scalar("enum_range", &[AnyEnum], AnyArray, all).with_nulls());
    let some =
        w2::<Opt<Str>, Opt<Str>, Texts>(|call, from, to| between(enumeration(call)?, from, to));
    c.add(scalar("enum_range", &[AnyEnum, AnyEnum], AnyArray, some).with_nulls());
}

/// The labels from one to another; from the first and to the last without them.
fn between(of: &EnumType, from: Option<&str>, to: Option<&str>) -> Result<Vec<Option<String>>> {
    let place = |label: Option<&str>| label.map(|label| casts::place(of, label)).transpose();
    let from = place(from)?.unwrap_or(0);
    let count = match place(to)? {
        Some(to) => (to + 1).saturating_sub(from),
        None => of.labels.len(),
    };
    let labels = of.labels.iter().skip(from).take(count);
    Ok(labels.cloned().map(Some).collect())
}

fn enumeration<'a>(call: &Call<'a>) -> Result<&'a EnumType> {
    let of = call.types.iter().find_map(|ty| match ty {
        Type::Enum(of) => Some(of.as_ref()),
        _ => None,
    });
    of.ok_or_else(|| Error::new("42P18", "could not determine actual enum type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_in_order() {
        let labels = ["a", "b", "c"].map(str::to_owned).to_vec();
        let of = EnumType {
            name: "e".to_owned(),
            labels,
            number: 0,
        };
        for (from, to, wanted) in [
            (None, None, "abc"),
            (Some("b"), None, "bc"),
            (None, Some("b"), "ab"),
            (Some("b"), Some("b"), "b"),
            (Some("c"), Some("a"), ""),
        ] {
            let found = between(&of, from, to).unwrap();
            let found: String = found.into_iter().flatten().collect();
            assert_eq!(found, wanted, "{from:?} to {to:?}");
        }
        assert!(between(&of, Some("d"), None).is_err());
    }
}
