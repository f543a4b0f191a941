//! Queries and expressions as PostgreSQL prints those that it keeps: names with those of their
//! relations, literals with their types, and every cast.
//!
//! ```text
//! name <> 'x'          (name <> 'x'::text)
//! b BETWEEN 1 AND 20   ((b >= 1) AND (b <= 20))
//! worth >= 0           (worth >= (0)::numeric)
//! worth >= 0::numeric  the same with few brackets
//! select a from t      SELECT t.a FROM t
//! ```
//!
//! The text of a view, a DEFAULT or a CHECK is kept as it was written. Its operators and
//! functions are looked up by the types of its columns, as binding looks them up, and casts are
//! written where an operand is of another type. A text of a form that is not known here is shown
//! as it was written.
//!
//! | module | holds |
//! |---|---|
//! | `tree` | what is printed |
//! | `scope` | relations and columns in sight |
//! | `read` | expressions |
//! | `forms` | expressions that queries have, or that are rare |
//! | `calls` | calls of aggregates, windows and created functions |
//! | `query` | queries |
//! | `from` | FROM |
//! | `naming` | names of relations and columns in a query |
//! | `print` | expressions as text |
//! | `layout` | queries as text |
//! | `view`, `routine` | texts of views, and of bodies of functions |

mod calls;
mod forms;
mod from;
mod layout;
mod naming;
mod print;
mod query;
mod read;
mod routine;
mod scope;
mod tree;
mod view;

use std::cell::RefCell;

use freestone_frontend::types::Type;

use self::read::{Known, Reader, text_or};
use crate::front::{Names, parse_expr};
use crate::relations::Relations;

pub(crate) use self::routine::body_texts;
pub(crate) use self::view::view_texts;

/// An expression over some columns as PostgreSQL prints it, as a value of a type if it becomes
/// one. The text itself if it cannot be read so.
pub(crate) fn deparsed(
    relations: &Relations<'_>,
    text: &str,
    columns: &[(String, Type)],
    to: Option<&Type>,
) -> String {
    let names = Names::new(relations);
    let known = Known {
        names: &names,
        relations,
        columns,
    };
    let reader = Reader {
        known: Some(known),
        scopes: RefCell::default(),
    };
    let printed = || {
        let (node, ty) = reader.node(&parse_expr(text).ok()?)?;
        let node = match to {
            Some(to) => reader.coerced((node, ty), to)?,
            None => reader.coerced((node, ty.clone()), &text_or(&ty))?,
        };
        Some(node.shown(false))
    };
    printed().unwrap_or_else(|| text.to_owned())
}

/// The text of [`deparsed`] with brackets only where they are needed.
pub(crate) fn pretty(text: &str) -> String {
    let reader = Reader {
        known: None,
        scopes: RefCell::default(),
    };
    let printed = || Some(reader.node(&parse_expr(text).ok()?)?.0.shown(true));
    printed().unwrap_or_else(|| text.to_owned())
}
