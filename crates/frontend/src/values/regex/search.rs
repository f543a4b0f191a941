//! An expression for the crate `fancy-regex`, which finds quickly where a match begins.
//!
//! The crate prefers other lengths, which is of no account here, as only the place of the first
//! match is asked for.

use std::fmt::Write;

use super::parse::{Node, Place};

/// Longest expression that is handed over.
const LENGTH: usize = 100_000;

/// The expression for the crate; `None` if it is refused.
pub fn quick(node: &Node) -> Option<fancy_regex::Regex> {
    let mut pattern = String::new();
    write(node, &mut pattern)?;
    let mut builder = fancy_regex::RegexBuilder::new(&pattern);
    builder.backtrack_limit(100_000);
    builder.build().ok()
}

fn write(node: &Node, to: &mut String) -> Option<()> {
    const WORD: &str = r"[_\p{Alphabetic}\p{N}]";
    if to.len() > LENGTH {
        return None;
    }
    match node {
        Node::Empty => to.push_str("(?:)"),
        Node::Set(set) => to.push_str(&set.pattern()),
        Node::Place(place) => match place {
            Place::Start => to.push_str(r"\A"),
            Place::End => to.push_str(r"\z"),
            Place::LineStart => to.push_str("(?m:^)"),
            Place::LineEnd => to.push_str("(?m:$)"),
            Place::WordStart => write!(to, "(?<!{WORD})(?={WORD})").ok()?,
            Place::WordEnd => write!(to, "(?<={WORD})(?!{WORD})").ok()?,
            Place::Word => {
                write!(to, "(?:(?<!{WORD})(?={WORD})|(?<={WORD})(?!{WORD}))").ok()?;
            }
            Place::NoWord => {
                write!(to, "(?:(?<!{WORD})(?!{WORD})|(?<={WORD})(?={WORD}))").ok()?;
            }
        },
        // Texts of any length behind a place are not for the crate.
        Node::Look { behind: true, .. } => return None,
        Node::Look { negative, node, .. } => {
            to.push_str(if *negative { "(?!" } else { "(?=" });
            write(node, to)?;
            to.push(')');
        }
        Node::Concat(parts) => {
            for part in parts {
                write(part, to)?;
            }
        }
        Node::Alt(branches) => {
            to.push_str("(?:");
            for (at, branch) in branches.iter().enumerate() {
                if at > 0 {
                    to.push('|');
                }
                write(branch, to)?;
            }
            to.push(')');
        }
        Node::Repeat {
            node, least, most, ..
        } => {
            to.push_str("(?:");
            write(node, to)?;
            to.push(')');
            match most {
                None => write!(to, "{{{least},}}").ok()?,
                Some(most) => write!(to, "{{{least},{most}}}").ok()?,
            }
        }
        Node::Group(_, node) => {
            to.push_str("(?:");
            write(node, to)?;
            to.push(')');
        }
        // Which text a group has depends on its length.
        Node::Same(..) => return None,
    }
    Some(())
}
