//! Regular expressions as PostgreSQL means them: POSIX's, with what is called "advanced" there.
//!
//! Of all matches, the one that begins first counts, and of those the longest, or the shortest if
//! the first quantifier is a non-greedy one. Parts have lengths by the same rule, earlier ones
//! before later ones. That is not the first way a backtracking matcher finds:
//!
//! ```text
//! 'abcd' ~ 'a|ab|abc'         matches 'abc', not 'a'
//! 'xaaay' with '(a*)+'        the group is the empty text that the last round matches
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `parse` | the text of an expression to a tree |
//! | `set` | sets of characters |
//! | `program` | a tree to a machine of states; all ends that matches from a place can have |
//! | `dissect` | which part of a match belongs to which part of the expression |
//! | `search` | an expression for the crate `fancy-regex`, which finds where a match begins |
//!
//! Where a match begins does not depend on the rule of lengths, by which the search can be left
//! to a crate; if that refuses an expression, the machine is tried at all places. Equivalence
//! classes (`[[=a=]]`) have one member, as in the locale `C`.

mod dissect;
mod parse;
mod program;
mod search;
mod set;

use std::ops::Range;

use crate::error::{Error, Result};
use dissect::Tree;
use program::{Machine, Run};

pub use parse::{Options, unknown_option};

/// A compiled expression.
pub struct Regex {
    tree: Tree,
    groups: usize,
    machine: Machine,
    quick: Option<regex::Regex>,
    /// Whether the quick search finds the match itself.
    simple: bool,
}

/// A match: its range of bytes, then those of the groups; `None` for a group without part in it.
pub type Groups = Vec<Option<Range<usize>>>;

fn invalid(why: &str) -> Error {
    Error::new("2201B", format!("invalid regular expression: {why}"))
}

impl Regex {
    /// Compiles an expression.
    ///
    /// # Errors
    /// `2201B`.
    pub fn new(pattern: &str, options: Options) -> Result<Self> {
        let parsed = parse::parse(pattern, options)?;
        let quick = search::quick(&parsed.node);
        let simple = search::is_simple(&parsed.node);
        let mut machine = Machine::new(&parsed);
        let tree = dissect::tree(&mut machine, &parsed.node)?;
        Ok(Self {
            tree,
            groups: parsed.groups,
            machine,
            quick,
            simple,
        })
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Whether a text has a match.
    ///
    /// # Errors
    /// `54000` if it takes too many steps.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        if let Some(quick) = &self.quick {
            return Ok(quick.is_match(text));
        }
        Ok(self.find_at(text, 0)?.is_some())
    }

    /// The first match that begins at a byte or behind it.
    ///
    /// # Errors
    /// `54000` if it takes too many steps.
    pub fn find_at(&self, text: &str, from: usize) -> Result<Option<Groups>> {
        if self.simple
            && let Some(quick) = &self.quick
        {
            let Some(found) = quick.captures_at(text, from) else {
                return Ok(None);
            };
            let groups = (0..=self.groups).map(|group| found.get(group));
            let groups = groups.map(|group| group.map(|group| group.range()));
            return Ok(Some(groups.collect()));
        }
        let mut start = from;
        if let Some(quick) = &self.quick {
            match quick.find_at(text, from) {
                Some(found) => start = found.start(),
                None => return Ok(None),
            }
        }
        let mut run = Run::new(&self.machine, text);
        loop {
            let mut groups = vec![None; self.groups + 1];
            if let Some(end) = self.tree.matched(&mut run, start, &mut groups)? {
                if let Some(whole) = groups.first_mut() {
                    *whole = Some(start..end);
                }
                return Ok(Some(groups));
            }
            match text[start..].chars().next() {
                Some(c) => start += c.len_utf8(),
                None => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests;
