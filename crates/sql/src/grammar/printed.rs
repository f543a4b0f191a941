//! Parts of statements as texts.

use std::fmt::Display;
use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::walk_mut;
use sqlparser::ast::{Value, ValueWithSpan, VisitMut, VisitorMut};

/// A part of a statement as text that is parsed again to the same. The parser's
/// own way to print a string keeps some quotes single.
pub(crate) fn printed<T: VisitMut + Clone + Display>(part: &T) -> String {
    struct Strings;
    impl VisitorMut for Strings {
        type Break = ();

        fn post_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
            if let Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) =
                &value.value
            {
                // A number is printed as it stands.
                let text = format!("'{}'", text.replace('\'', "''"));
                value.value = Value::Number(text, false);
            }
            ControlFlow::Continue(())
        }
    }
    let mut part = part.clone();
    let _ = walk_mut(&mut part, &mut Strings);
    part.to_string()
}
