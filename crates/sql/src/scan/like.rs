//! LIKE in the forms that storage knows.

use freestone_storage::{ColumnType, CompareOp, Predicate, Value};

use super::sargable::is_text;

/// `column LIKE pattern`; plain text and plain prefixes in forms that zone maps can judge.
pub(crate) fn like(
    column: usize,
    kind: &ColumnType,
    pattern: &str,
    insensitive: bool,
) -> Option<Predicate> {
    if !is_text(kind) {
        return None;
    }
    let simple = if insensitive {
        None
    } else {
        simple(column, pattern)
    };
    Some(simple.unwrap_or_else(|| Predicate::Like {
        column,
        pattern: pattern.to_owned(),
        insensitive,
    }))
}

fn simple(column: usize, pattern: &str) -> Option<Predicate> {
    let mut prefix = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '_' => return None,
            '%' if chars.all(|rest| rest == '%') => {
                return Some(Predicate::Prefix { column, prefix });
            }
            '%' => return None,
            '\\' => prefix.push(chars.next()?),
            plain => prefix.push(plain),
        }
    }
    Some(Predicate::Compare {
        column,
        op: CompareOp::Eq,
        value: Value::Bytes(prefix.into_bytes()),
    })
}
