//! An expression for the crate `regex`, which finds quickly where a match begins.
//!
//! The crate prefers other lengths, which is of no account as long as only the place of the first
//! match is asked for. Where a place allows one length only, or one part alone can vary and takes
//! all it can, the crate's match is the match:
//!
//! ```text
//! [0-9]+-([0-9]+)    digits end where the hyphen is
//! a.*b               one part that varies
//! a*.*b              both could take an a: the machine has to say
//! ```

use std::fmt::Write;

use super::parse::{Node, Place};
use super::set::Set;

/// Longest expression that is handed over.
const LENGTH: usize = 100_000;

/// Whether the crate's match is the longest one, groups included.
pub fn is_simple(node: &Node) -> bool {
    let mut items = Vec::new();
    if !flatten(node, &mut items) {
        return false;
    }
    let open = |at: &usize| match items.get(*at) {
        Some((set, least, most)) if *most != Some(*least) => {
            let mut behind = items.iter().skip(at + 1);
            // The end of the expression stops nothing.
            loop {
                match behind.next() {
                    None => break true,
                    Some((next, ..)) if !set.is_apart(next) => break true,
                    Some((_, least, _)) if *least > 0 => break false,
                    Some(_) => {}
                }
            }
        }
        _ => false,
    };
    (0..items.len()).filter(open).count() <= 1
}

/// The sets of an expression that is a row of them, with how often each may come.
fn flatten<'a>(node: &'a Node, items: &mut Vec<(&'a Set, u32, Option<u32>)>) -> bool {
    match node {
        Node::Empty | Node::Place(_) => true,
        Node::Set(set) => {
            items.push((set, 1, Some(1)));
            true
        }
        Node::Concat(parts) => parts.iter().all(|part| flatten(part, items)),
        Node::Group(_, node) => flatten(node, items),
        Node::Repeat {
            node,
            least,
            most,
            lazy,
        } => match node.as_ref() {
            Node::Set(set) if *lazy != Some(true) => {
                items.push((set, *least, *most));
                true
            }
            _ => false,
        },
        Node::Look { .. } | Node::Alt(_) | Node::Same(..) => false,
    }
}

/// The expression for the crate, with its groups; `None` if it is refused.
pub fn quick(node: &Node) -> Option<regex::Regex> {
    let mut pattern = String::new();
    write(node, &mut pattern)?;
    regex::Regex::new(&pattern).ok()
}

fn write(node: &Node, to: &mut String) -> Option<()> {
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
            // A word is not the crate's.
            Place::WordStart | Place::WordEnd | Place::Word | Place::NoWord => return None,
        },
        Node::Look { .. } => return None,
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
            to.push('(');
            write(node, to)?;
            to.push(')');
        }
        // Which text a group has depends on its length.
        Node::Same(..) => return None,
    }
    Some(())
}
