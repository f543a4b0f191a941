//! Machines of states, and all ends that matches from a place can have.
//!
//! A part of an expression is a program of instructions. All states it can be in are followed at
//! once, character by character, by which time is bounded by the length of the text times that
//! of the program, whatever the expression. `a|ab` on `abc` has the ends 1 and 2.
//!
//! A back reference is taken for the group's expression here; `dissect` then compares texts.

use std::sync::Arc;

use super::invalid;
use super::parse::{Node, Parsed, Place};
use super::set::{Class, Set};
use crate::error::{Error, Result};

/// Instructions of all programs of an expression.
const MOST_INSTRUCTIONS: usize = 200_000;
/// Instructions that are executed for one text.
const MOST_STEPS: u64 = 500_000_000;

#[derive(Clone, Debug)]
enum Instruction {
    Set(Arc<Set>),
    Split(usize, usize),
    Jump(usize),
    Place(Place),
    Look(usize),
    Match,
}

/// A program: the place of its first instruction and the number of them.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    start: usize,
    end: usize,
}

struct Look {
    behind: bool,
    negative: bool,
    program: Program,
}

/// All programs of an expression.
pub struct Machine {
    instructions: Vec<Instruction>,
    looks: Vec<Look>,
    bodies: Vec<Option<Node>>,
}

impl Machine {
    /// A machine without programs.
    pub fn new(parsed: &Parsed) -> Self {
        Self {
            instructions: Vec::new(),
            looks: Vec::new(),
            bodies: parsed.bodies.clone(),
        }
    }

    /// Adds the program of a part of the expression.
    ///
    /// # Errors
    /// `2201B` if it is too long.
    pub fn program(&mut self, node: &Node) -> Result<Program> {
        let start = self.instructions.len();
        let mut looks = Vec::new();
        self.emit(node, &mut looks, 0)?;
        self.push(Instruction::Match)?;
        let end = self.instructions.len();
        // Programs of looks stand behind the one they belong to.
        for (at, behind, negative, node) in looks {
            let program = self.program(&node)?;
            if let Some(place) = self.instructions.get_mut(at) {
                *place = Instruction::Look(self.looks.len());
            }
            self.looks.push(Look {
                behind,
                negative,
                program,
            });
        }
        Ok(Program { start, end })
    }

    fn push(&mut self, instruction: Instruction) -> Result<usize> {
        if self.instructions.len() >= MOST_INSTRUCTIONS {
            return Err(invalid("regular expression is too complex"));
        }
        self.instructions.push(instruction);
        Ok(self.instructions.len() - 1)
    }

    fn patch(&mut self, at: usize, instruction: Instruction) {
        if let Some(place) = self.instructions.get_mut(at) {
            *place = instruction;
        }
    }

    fn emit(
        &mut self,
        node: &Node,
        looks: &mut Vec<(usize, bool, bool, Node)>,
        depth: usize,
    ) -> Result<()> {
        if depth > 500 {
            return Err(invalid("regular expression is too complex"));
        }
        let deeper = depth + 1;
        match node {
            Node::Empty => {}
            Node::Set(set) => drop(self.push(Instruction::Set(Arc::clone(set)))?),
            Node::Place(place) => drop(self.push(Instruction::Place(*place))?),
            Node::Look {
                behind,
                negative,
                node,
            } => {
                let at = self.push(Instruction::Match)?;
                looks.push((at, *behind, *negative, node.as_ref().clone()));
            }
            Node::Concat(parts) => {
                for part in parts {
                    self.emit(part, looks, deeper)?;
                }
            }
            Node::Alt(branches) => {
                let mut ends = Vec::new();
                for (at, branch) in branches.iter().enumerate() {
                    if at + 1 == branches.len() {
                        self.emit(branch, looks, deeper)?;
                        continue;
                    }
                    let split = self.push(Instruction::Match)?;
                    self.emit(branch, looks, deeper)?;
                    ends.push(self.push(Instruction::Match)?);
                    let next = self.instructions.len();
                    self.patch(split, Instruction::Split(split + 1, next));
                }
                let end = self.instructions.len();
                for at in ends {
                    self.patch(at, Instruction::Jump(end));
                }
            }
            Node::Repeat {
                node, least, most, ..
            } => {
                for _ in 0..*least {
                    self.emit(node, looks, deeper)?;
                }
                match most {
                    None => {
                        let split = self.push(Instruction::Match)?;
                        self.emit(node, looks, deeper)?;
                        let end = self.push(Instruction::Jump(split))? + 1;
                        self.patch(split, Instruction::Split(split + 1, end));
                    }
                    Some(most) => {
                        let mut splits = Vec::new();
                        for _ in *least..*most {
                            splits.push(self.push(Instruction::Match)?);
                            self.emit(node, looks, deeper)?;
                        }
                        let end = self.instructions.len();
                        for at in splits {
                            self.patch(at, Instruction::Split(at + 1, end));
                        }
                    }
                }
            }
            Node::Group(_, node) => self.emit(node, looks, deeper)?,
            Node::Same(number, _) => {
                let body = self.bodies.get(*number).cloned().flatten();
                let body = body.ok_or_else(|| invalid("invalid backreference number"))?;
                self.emit(&without_places(&body), looks, deeper)?;
            }
        }
        Ok(())
    }
}

/// An expression without its places: the text of a group is compared wherever it stands.
fn without_places(node: &Node) -> Node {
    let all = |parts: &[Node]| parts.iter().map(without_places).collect();
    match node {
        Node::Place(_) | Node::Look { .. } => Node::Empty,
        Node::Empty | Node::Set(_) | Node::Same(..) => node.clone(),
        Node::Concat(parts) => Node::Concat(all(parts)),
        Node::Alt(branches) => Node::Alt(all(branches)),
        Node::Repeat {
            node,
            least,
            most,
            lazy,
        } => Node::Repeat {
            node: Box::new(without_places(node)),
            least: *least,
            most: *most,
            lazy: *lazy,
        },
        Node::Group(_, node) => without_places(node),
    }
}

/// A set of instructions that can be emptied at once.
#[derive(Default)]
struct States {
    list: Vec<usize>,
    /// Where an instruction is in the list, valid if that place has it.
    places: Vec<usize>,
}

impl States {
    fn sized(&mut self, instructions: usize) {
        self.list.clear();
        if self.places.len() < instructions {
            self.places.resize(instructions, 0);
        }
    }

    /// Adds an instruction unless it is there.
    fn add(&mut self, at: usize, base: usize) -> bool {
        let place = self.places[at - base];
        if self.list.get(place) == Some(&at) {
            return false;
        }
        self.places[at - base] = self.list.len();
        self.list.push(at);
        true
    }
}

/// The work on one text.
pub struct Run<'a> {
    machine: &'a Machine,
    /// The text.
    pub text: &'a str,
    steps: u64,
    spare: Vec<(States, States, Vec<usize>)>,
    /// Of each look behind, the places where it is true, once they are known.
    behind: Vec<Option<Vec<bool>>>,
}

impl<'a> Run<'a> {
    /// The work on a text that is not begun.
    pub fn new(machine: &'a Machine, text: &'a str) -> Self {
        Self {
            machine,
            text,
            steps: 0,
            spare: Vec::new(),
            behind: Vec::new(),
        }
    }

    /// Counts steps, of which there are not to be too many.
    ///
    /// # Errors
    /// `54000`.
    pub fn step(&mut self, steps: usize) -> Result<()> {
        self.steps += steps as u64;
        match self.steps > MOST_STEPS {
            true => Err(Error::new("54000", "regular expression is too complex")),
            false => Ok(()),
        }
    }

    /// All places at which a match of a program that begins at `from` can end, up to `to`, in
    /// ascending order.
    ///
    /// # Errors
    /// `54000`.
    pub fn ends(&mut self, program: Program, from: usize, to: usize) -> Result<Vec<usize>> {
        let mut ends = Vec::new();
        self.follow(program, from, to, false, &mut |at| {
            ends.push(at);
            true
        })?;
        Ok(ends)
    }

    /// The last of those places.
    ///
    /// # Errors
    /// `54000`.
    pub fn longest(&mut self, program: Program, from: usize, to: usize) -> Result<Option<usize>> {
        let mut last = None;
        self.follow(program, from, to, false, &mut |at| {
            last = Some(at);
            true
        })?;
        Ok(last)
    }

    /// The first of those places.
    ///
    /// # Errors
    /// `54000`.
    pub fn shortest(&mut self, program: Program, from: usize, to: usize) -> Result<Option<usize>> {
        let mut first = None;
        self.follow(program, from, to, false, &mut |at| {
            first = Some(at);
            false
        })?;
        Ok(first)
    }

    /// Whether a program matches from one place to another.
    ///
    /// # Errors
    /// `54000`.
    pub fn exactly(&mut self, program: Program, from: usize, to: usize) -> Result<bool> {
        Ok(self.longest(program, from, to)? == Some(to))
    }

    /// Follows all states, and says where they match until it is told to stop.
    fn follow(
        &mut self,
        program: Program,
        from: usize,
        to: usize,
        anywhere: bool,
        found: &mut dyn FnMut(usize) -> bool,
    ) -> Result<()> {
        let (mut now, mut next, mut stack) = self.spare.pop().unwrap_or_default();
        let size = program.end - program.start;
        now.sized(size);
        next.sized(size);
        let mut at = from;
        let mut result = self.enter(program, program.start, at, &mut now, &mut stack);
        let mut more = result.is_ok();
        while more {
            let machine = self.machine;
            let matched = now
                .list
                .iter()
                .any(|state| matches!(machine.instructions[*state], Instruction::Match));
            if matched && !found(at) || at >= to || now.list.is_empty() && !anywhere {
                break;
            }
            let Some(c) = self.text[at..].chars().next() else {
                break;
            };
            let after = at + c.len_utf8();
            next.list.clear();
            result = self.step(now.list.len() + 1);
            for state in &now.list {
                if let Instruction::Set(set) = &machine.instructions[*state]
                    && set.has(c)
                    && result.is_ok()
                {
                    result = self.enter(program, state + 1, after, &mut next, &mut stack);
                }
            }
            if anywhere && result.is_ok() {
                result = self.enter(program, program.start, after, &mut next, &mut stack);
            }
            std::mem::swap(&mut now, &mut next);
            at = after;
            more = result.is_ok();
        }
        self.spare.push((now, next, stack));
        result
    }

    /// Adds an instruction and all that follow without a character.
    fn enter(
        &mut self,
        program: Program,
        start: usize,
        at: usize,
        states: &mut States,
        stack: &mut Vec<usize>,
    ) -> Result<()> {
        let machine = self.machine;
        stack.clear();
        stack.push(start);
        while let Some(state) = stack.pop() {
            if !states.add(state, program.start) {
                continue;
            }
            match &machine.instructions[state] {
                Instruction::Set(_) | Instruction::Match => {}
                Instruction::Split(a, b) => stack.extend([*b, *a]),
                Instruction::Jump(to) => stack.push(*to),
                Instruction::Place(place) => {
                    if self.is_at(*place, at) {
                        stack.push(state + 1);
                    }
                }
                Instruction::Look(look) => {
                    if self.sees(*look, at)? {
                        stack.push(state + 1);
                    }
                }
            }
        }
        Ok(())
    }

    fn is_at(&self, place: Place, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        let after = self.text[at..].chars().next();
        let word = |c: Option<char>| c.is_some_and(|c| Class::Word.has(c));
        match place {
            Place::Start => before.is_none(),
            Place::End => after.is_none(),
            Place::LineStart => before.is_none_or(|c| c == '\n'),
            Place::LineEnd => after.is_none_or(|c| c == '\n'),
            Place::WordStart => !word(before) && word(after),
            Place::WordEnd => word(before) && !word(after),
            Place::Word => word(before) != word(after),
            Place::NoWord => word(before) == word(after),
        }
    }

    fn sees(&mut self, number: usize, at: usize) -> Result<bool> {
        let machine = self.machine;
        let look = &machine.looks[number];
        if !look.behind {
            let found = self.shortest(look.program, at, self.text.len())?.is_some();
            return Ok(found != look.negative);
        }
        if self.behind.len() < machine.looks.len() {
            self.behind.resize(machine.looks.len(), None);
        }
        let known = self.behind[number].as_ref();
        let known = known.and_then(|places| places.get(at).copied());
        let found = match known {
            Some(found) => found,
            None => {
                let mut places = vec![false; self.text.len() + 1];
                self.follow(look.program, 0, self.text.len(), true, &mut |at| {
                    places[at] = true;
                    true
                })?;
                let found = places[at];
                self.behind[number] = Some(places);
                found
            }
        };
        Ok(found != look.negative)
    }
}
