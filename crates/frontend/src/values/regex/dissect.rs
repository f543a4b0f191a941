//! Which part of a match belongs to which part of the expression.
//!
//! Only groups and back references need to know. Parts without them stay whole, and have their
//! length as a whole; around a group, the parts before it, it and those behind it are divided:
//! those before take as much as they can (or as little, by their first quantifier) so that the
//! rest still matches the rest.
//!
//! ```text
//! (a*)(a*)       on aa    aa and nothing
//! (a*?)(a*)      on aa    nothing and aa
//! (a|ab)(c|bcd)  on abcd  a and bcd, though b alone is longer for the first
//! ```

use super::Groups;
use super::parse::Node;
use super::program::{Machine, Program, Run};
use crate::error::Result;

/// The texts that a part and the parts of it match.
pub struct Tree {
    program: Program,
    /// Whether it is as short as can be.
    lazy: bool,
    kind: Kind,
}

enum Kind {
    /// Nothing within needs to be known.
    Whole,
    Concat(Box<Tree>, Box<Tree>),
    Alt(Vec<Tree>),
    Group(usize, Box<Tree>),
    /// The text of a group, a number of times.
    Same {
        group: usize,
        any_case: bool,
        least: usize,
        most: usize,
    },
    Repeat {
        least: usize,
        most: usize,
        of: Box<Tree>,
    },
}

/// How lengths within a part go, and whether it has groups or back references.
#[derive(Clone, Copy, Default)]
struct Traits {
    /// Its own preference: lazy or not.
    lazy: Option<bool>,
    longer: bool,
    shorter: bool,
    group: bool,
    same: bool,
}

impl Traits {
    fn is_divided(self) -> bool {
        self.group || self.same || self.longer && self.shorter
    }

    fn and(self, other: Traits) -> Traits {
        Traits {
            lazy: self.lazy.or(other.lazy),
            longer: self.longer || other.longer,
            shorter: self.shorter || other.shorter,
            group: self.group || other.group,
            same: self.same || other.same,
        }
    }

    fn preferring(lazy: bool) -> Traits {
        Traits {
            lazy: Some(lazy),
            longer: !lazy,
            shorter: lazy,
            ..Traits::default()
        }
    }

    fn of(node: &Node) -> Traits {
        match node {
            Node::Empty | Node::Set(_) | Node::Place(_) | Node::Look { .. } => Traits::default(),
            Node::Concat(parts) => Traits::of_all(parts),
            Node::Alt(branches) => Traits::preferring(false).and(Traits::of_all(branches)),
            Node::Repeat { node, lazy, .. } => {
                let own = lazy.map(Traits::preferring).unwrap_or_default();
                own.and(Traits::of(node))
            }
            Node::Group(_, node) => Traits {
                group: true,
                ..Traits::of(node)
            },
            Node::Same(..) => Traits {
                same: true,
                ..Traits::default()
            },
        }
    }

    fn of_all(parts: &[Node]) -> Traits {
        let start = Traits::default();
        parts
            .iter()
            .fold(start, |all, part| all.and(Traits::of(part)))
    }
}

/// The tree of an expression, with programs for its parts.
///
/// # Errors
/// `2201B` if they are too long.
pub fn tree(machine: &mut Machine, node: &Node) -> Result<Tree> {
    let traits = Traits::of(node);
    let lazy = traits.lazy == Some(true);
    let kind = match node {
        _ if !traits.is_divided() => Kind::Whole,
        Node::Concat(parts) => return sequence(machine, parts),
        Node::Alt(branches) => {
            let branches = branches.iter().map(|branch| tree(machine, branch));
            Kind::Alt(branches.collect::<Result<_>>()?)
        }
        Node::Group(number, node) => Kind::Group(*number, Box::new(tree(machine, node)?)),
        Node::Repeat {
            node,
            least,
            most,
            lazy,
        } => return repeated(machine, node, *least, *most, *lazy),
        Node::Same(group, any_case) => Kind::Same {
            group: *group,
            any_case: *any_case,
            least: 1,
            most: 1,
        },
        Node::Empty | Node::Set(_) | Node::Place(_) | Node::Look { .. } => Kind::Whole,
    };
    Ok(Tree {
        program: machine.program(node)?,
        lazy,
        kind,
    })
}

/// Parts one after the other: those that stay whole, the first that is divided, the rest.
fn sequence(machine: &mut Machine, parts: &[Node]) -> Result<Tree> {
    let mut before = Traits::default();
    let mut whole = 0;
    for part in parts {
        before = before.and(Traits::of(part));
        if before.is_divided() {
            break;
        }
        whole += 1;
    }
    let (first, rest) = match whole {
        0 => parts.split_at(1.min(parts.len())),
        _ => parts.split_at(whole),
    };
    let of = |parts: &[Node]| match parts {
        [one] => one.clone(),
        many => Node::Concat(many.to_vec()),
    };
    let left = tree(machine, &of(first))?;
    if rest.is_empty() {
        return Ok(left);
    }
    let right = tree(machine, &of(rest))?;
    Ok(Tree {
        program: machine.program(&of(parts))?,
        lazy: Traits::of_all(parts).lazy == Some(true),
        kind: Kind::Concat(Box::new(left), Box::new(right)),
    })
}

fn repeated(
    machine: &mut Machine,
    node: &Node,
    least: u32,
    most: Option<u32>,
    lazy: Option<bool>,
) -> Result<Tree> {
    let again = |least: u32, most: Option<u32>| Node::Repeat {
        node: Box::new(node.clone()),
        least,
        most,
        lazy,
    };
    let whole = again(least, most);
    let traits = Traits::of(&whole);
    let is_lazy = traits.lazy == Some(true);
    let limit = most.map_or(usize::MAX, |most| most as usize);
    let kind = match node {
        _ if most == Some(0) => Kind::Whole,
        Node::Same(group, any_case) => Kind::Same {
            group: *group,
            any_case: *any_case,
            least: least as usize,
            most: limit,
        },
        _ if least == 1 && most == Some(1) => {
            let mut tree = tree(machine, node)?;
            tree.lazy = is_lazy;
            return Ok(tree);
        }
        // Only the last round's groups are kept; those before it stay whole.
        _ if least > 0 && !traits.same => {
            let before = again(least - 1, most.map(|most| most - 1));
            let left = Tree {
                program: machine.program(&before)?,
                lazy: is_lazy,
                kind: Kind::Whole,
            };
            Kind::Concat(Box::new(left), Box::new(tree(machine, node)?))
        }
        _ => Kind::Repeat {
            least: least as usize,
            most: limit,
            of: Box::new(tree(machine, node)?),
        },
    };
    Ok(Tree {
        program: machine.program(&whole)?,
        lazy: is_lazy,
        kind,
    })
}

impl Tree {
    /// The end of the match that begins at a place, whose groups are noted.
    ///
    /// # Errors
    /// `54000`.
    pub fn matched(
        &self,
        run: &mut Run<'_>,
        start: usize,
        groups: &mut Groups,
    ) -> Result<Option<usize>> {
        let to = run.text.len();
        if let Kind::Whole = self.kind {
            return match self.lazy {
                true => run.shortest(self.program, start, to),
                false => run.longest(self.program, start, to),
            };
        }
        for end in self.candidates(run, start, to)? {
            let before = groups.clone();
            if self.divided(run, start, end, groups)? {
                return Ok(Some(end));
            }
            *groups = before;
        }
        Ok(None)
    }

    /// Takes the texts of all groups within away.
    fn forget(&self, groups: &mut Groups) {
        match &self.kind {
            Kind::Whole | Kind::Same { .. } => {}
            Kind::Concat(left, right) => {
                left.forget(groups);
                right.forget(groups);
            }
            Kind::Alt(branches) => branches.iter().for_each(|branch| branch.forget(groups)),
            Kind::Group(number, tree) => {
                if let Some(group) = groups.get_mut(*number) {
                    *group = None;
                }
                tree.forget(groups);
            }
            Kind::Repeat { of, .. } => of.forget(groups),
        }
    }

    /// Ends of matches from a place, the preferred ones first.
    fn candidates(&self, run: &mut Run<'_>, from: usize, to: usize) -> Result<Vec<usize>> {
        let mut ends = run.ends(self.program, from, to)?;
        if !self.lazy {
            ends.reverse();
        }
        Ok(ends)
    }

    /// Divides a text that the program matches; `false` if that cannot be done.
    fn divided(
        &self,
        run: &mut Run<'_>,
        from: usize,
        to: usize,
        groups: &mut Groups,
    ) -> Result<bool> {
        match &self.kind {
            Kind::Whole => Ok(true),
            Kind::Group(number, tree) => {
                if !tree.divided(run, from, to, groups)? {
                    return Ok(false);
                }
                if let Some(group) = groups.get_mut(*number) {
                    *group = Some(from..to);
                }
                Ok(true)
            }
            Kind::Concat(left, right) => {
                for middle in left.candidates(run, from, to)? {
                    if !run.exactly(right.program, middle, to)? {
                        continue;
                    }
                    let before = groups.clone();
                    if left.divided(run, from, middle, groups)?
                        && right.divided(run, middle, to, groups)?
                    {
                        return Ok(true);
                    }
                    *groups = before;
                }
                Ok(false)
            }
            Kind::Alt(branches) => {
                for branch in branches {
                    if run.exactly(branch.program, from, to)? {
                        let before = groups.clone();
                        if branch.divided(run, from, to, groups)? {
                            return Ok(true);
                        }
                        *groups = before;
                    }
                }
                Ok(false)
            }
            Kind::Same {
                group,
                any_case,
                least,
                most,
            } => {
                let Some(Some(range)) = groups.get(*group) else {
                    return Ok(false);
                };
                let (wanted, found) = (&run.text[range.clone()], &run.text[from..to]);
                Ok(is_repeated(wanted, found, *any_case, *least, *most))
            }
            Kind::Repeat { least, most, of } => rounds(of, run, from..to, *least, *most, groups),
        }
    }
}

fn is_repeated(wanted: &str, found: &str, any_case: bool, least: usize, most: usize) -> bool {
    if found.is_empty() && least == 0 {
        return true;
    }
    if wanted.is_empty() {
        return found.is_empty();
    }
    if !any_case && !found.len().is_multiple_of(wanted.len()) {
        return false;
    }
    let mut rest = found;
    let mut times = 0;
    while !rest.is_empty() {
        let next = match any_case {
            false => rest.strip_prefix(wanted),
            true => without(rest, wanted),
        };
        let Some(next) = next else {
            return false;
        };
        rest = next;
        times += 1;
    }
    (least..=most).contains(&times)
}

/// A text without its beginning, whatever the case of that.
fn without<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for wanted in start.chars() {
        let c = rest.next()?;
        if c != wanted && !super::set::cases(c).any(|other| other == wanted) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Divides a text into rounds of a part, each of which is as long (or as short) as can be.
fn rounds(
    tree: &Tree,
    run: &mut Run<'_>,
    range: std::ops::Range<usize>,
    least: usize,
    most: usize,
    groups: &mut Groups,
) -> Result<bool> {
    let (from, to) = (range.start, range.end);
    if from == to && least == 0 {
        // One round that matches nothing, if there can be one and rounds are not lazy.
        if tree.lazy {
            return Ok(true);
        }
        let before = groups.clone();
        let one = run.exactly(tree.program, from, to)? && tree.divided(run, from, to, groups)?;
        if !one {
            *groups = before;
        }
        return Ok(true);
    }
    let least = least.max(1);
    // Ends that are left to be tried for each round, the next one last.
    let mut tries: Vec<Vec<usize>> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    let open = |run: &mut Run<'_>, at: usize| -> Result<Vec<usize>> {
        let mut candidates = tree.candidates(run, at, to)?;
        candidates.reverse();
        run.step(candidates.len())?;
        Ok(candidates)
    };
    tries.push(open(run, from)?);
    while let Some(last) = tries.last_mut() {
        let Some(end) = last.pop() else {
            tries.pop();
            ends.pop();
            continue;
        };
        let round = tries.len();
        ends.truncate(round - 1);
        let start = ends.last().copied().unwrap_or(from);
        // An empty round is of use only where rounds are missing.
        if end == start && (round >= least || least - round < to - end) {
            continue;
        }
        ends.push(end);
        if end < to || round < least {
            if round < most {
                tries.push(open(run, end)?);
            }
            continue;
        }
        let before = groups.clone();
        let mut start = from;
        let mut all = true;
        for end in &ends {
            // A round does not keep what the one before it matched.
            tree.forget(groups);
            if !tree.divided(run, start, *end, groups)? {
                all = false;
                break;
            }
            start = *end;
        }
        if all {
            return Ok(true);
        }
        *groups = before;
    }
    Ok(false)
}
