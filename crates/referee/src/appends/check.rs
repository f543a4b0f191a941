//! Finds the anomalies of a history.
//!
//! First each element is looked up: who appended it, where it is in the list that is left, whether its
//! writer has committed. A transaction with an unknown end has committed if anybody else saw one of its
//! elements. Then each read is compared with the list that is left, without the reader's own elements
//! at its end. Last, edges connect the transactions:
//!
//! ```text
//! list that is left      1   2   3   4        elements of T1 T2 T3 T4
//! R reads                1   2
//!
//! ww   T1 ▶ T2 ▶ T3 ▶ T4      each writer before the next one
//! wr   T2 ▶ R                 the writer of the last element that was read
//! rw   R ▶ T3                 the writer of the element behind it
//! ```
//!
//! A cycle is an anomaly if its level forbids it. `cycles` finds short ones.
//!
//! | level | graph |
//! |---|---|
//! | all | ww alone; ww and wr |
//! | READ COMMITTED | each statement that reads several keys is a node with wr and rw edges |
//! | REPEATABLE READ | all edges, but an rw edge does not follow an rw edge |
//! | SERIALIZABLE | all edges |
//!
//! The graph of REPEATABLE READ has each node twice: reached by an rw edge, which no rw edge may leave,
//! and reached by another edge. Under snapshots each cycle has two rw edges in a row: Fekete et al.,
//! "Making Snapshot Isolation Serializable" (TODS 2005).
//!
//! Reads of transactions that did not commit are compared with the lists, too, as their snapshots are
//! like those of others. They have no place in the graph.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cycles::{Cycle, Edge, Graph, Label, View};
use super::{Deed, Effect, History, Isolation, NONE, Outcome, listed};

/// Most anomalies of a kind that are kept.
const KEPT: usize = 10;

/// A kind of anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A committed append is not in the list that is left.
    Lost,
    /// A part of a transaction is left.
    Torn,
    /// An element that its transaction did not append to this list.
    Garbage,
    /// An element is twice in a list.
    Duplicate,
    /// An element of a transaction or statement that was rolled back.
    Aborted,
    /// The last element is not the last one of its transaction.
    Intermediate,
    /// A list that is no beginning of the one that is left.
    NoPrefix,
    /// A transaction does not see its own appends, or sees them too early.
    Internal,
    /// A transaction with one snapshot reads two lists of one key.
    Unrepeatable,
    /// A statement sees a part of a transaction.
    Fractured,
    /// A read does not see what was committed before its transaction began.
    Stale,
    /// A cycle of ww edges.
    G0,
    /// A cycle of ww and wr edges.
    G1c,
    /// A cycle with one rw edge.
    GSingle,
    /// A cycle with several rw edges, none behind another.
    GNonadjacent,
    /// A cycle with two rw edges in a row.
    G2,
}

impl Kind {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost append",
            Self::Torn => "torn transaction",
            Self::Garbage => "garbage element",
            Self::Duplicate => "duplicate element",
            Self::Aborted => "G1a, aborted read",
            Self::Intermediate => "G1b, intermediate read",
            Self::NoPrefix => "incompatible order",
            Self::Internal => "internal inconsistency",
            Self::Unrepeatable => "unrepeatable read",
            Self::Fractured => "fractured read",
            Self::Stale => "stale read",
            Self::G0 => "G0, write cycle",
            Self::G1c => "G1c, circular information flow",
            Self::GSingle => "G-single, read skew or lost update",
            Self::GNonadjacent => "G-nonadjacent",
            Self::G2 => "G2, write skew",
        }
    }
}

/// An anomaly.
#[derive(Clone, Debug)]
pub struct Anomaly {
    /// The kind.
    pub kind: Kind,
    /// The sentence.
    pub text: String,
    /// The transactions that it is about.
    pub transactions: Vec<u32>,
    /// The keys that it is about.
    pub keys: Vec<u32>,
}

/// The anomalies of a history.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The first ones of each kind; cycles are in order of their lengths.
    pub anomalies: Vec<Anomaly>,
    /// How many of each kind were met.
    pub counts: BTreeMap<Kind, usize>,
}

impl Verdict {
    fn tell(&mut self, anomaly: Anomaly) {
        let count = self.counts.entry(anomaly.kind).or_default();
        *count += 1;
        if *count <= KEPT {
            self.anomalies.push(anomaly);
        }
    }
}

/// An element, as far as the history tells of it.
#[derive(Clone, Copy)]
struct Written {
    /// Who appends it; [`NONE`] if nobody does.
    transaction: u32,
    key: u32,
    /// The place in the list that is left.
    position: u32,
    effect: Effect,
    /// Whether its transaction appends nothing to the key after it.
    last: bool,
}

const UNWRITTEN: Written = Written {
    transaction: NONE,
    key: NONE,
    position: NONE,
    effect: Effect::Kept,
    last: false,
};

/// Finds the anomalies that a level forbids.
pub fn check(history: &History, level: Isolation) -> Verdict {
    let mut check = Check {
        history,
        level,
        written: Vec::new(),
        committed: Vec::new(),
        soonest: Vec::new(),
        statements: Vec::new(),
        edges: [Vec::new(), Vec::new(), Vec::new()],
        verdict: Verdict::default(),
    };
    check.learn();
    check.place();
    check.resolve();
    check.compare_lists();
    check.compare_reads();
    check.search();
    let mut verdict = check.verdict;
    verdict.anomalies.sort_by_key(|anomaly| anomaly.kind);
    verdict
}

struct Check<'h> {
    history: &'h History,
    level: Isolation,
    /// By element.
    written: Vec<Written>,
    /// By transaction.
    committed: Vec<bool>,
    /// The soonest end of a writer at or behind each place of the lists that are left.
    soonest: Vec<u32>,
    /// Statements that are nodes behind those of the transactions.
    statements: Vec<(u32, u16)>,
    /// ww, wr and rw edges.
    edges: [Vec<Edge>; 3],
    verdict: Verdict,
}

impl Check<'_> {
    fn transactions(&self) -> Range<u32> {
        0..self.history.transactions.len() as u32
    }

    fn written(&self, element: u32) -> Written {
        let written = self.written.get(element as usize);
        written.copied().unwrap_or(UNWRITTEN)
    }

    fn is_committed(&self, transaction: u32) -> bool {
        self.committed.get(transaction as usize) == Some(&true)
    }

    fn tell(&mut self, kind: Kind, text: String, transactions: &[u32], keys: &[u32]) {
        let of = |all: &[u32]| {
            let mut of = Vec::new();
            for one in all {
                if *one != NONE && !of.contains(one) {
                    of.push(*one);
                }
            }
            of
        };
        self.verdict.tell(Anomaly {
            kind,
            text,
            transactions: of(transactions),
            keys: of(keys),
        });
    }

    /// Learns who appends each element.
    fn learn(&mut self) {
        let mut behind: Vec<u32> = Vec::new();
        for transaction in self.transactions() {
            behind.clear();
            for operation in self.history.operations(transaction).iter().rev() {
                let Deed::Append(element) = operation.deed else {
                    continue;
                };
                let at = element as usize;
                if at >= self.written.len() {
                    self.written.resize(at + 1, UNWRITTEN);
                }
                let last = !behind.contains(&operation.key);
                self.written[at] = Written {
                    transaction,
                    key: operation.key,
                    position: NONE,
                    effect: operation.effect,
                    last,
                };
                if operation.effect == Effect::Kept {
                    behind.push(operation.key);
                }
            }
        }
    }

    /// Finds the place of each element in the lists that are left.
    fn place(&mut self) {
        for key in 0..self.history.keys() {
            for (at, element) in self.history.list(key).iter().enumerate() {
                let written = self.written(*element);
                if written.transaction == NONE || written.key != key {
                    let text = format!("the list of key {key} ends up with {element}");
                    self.tell(Kind::Garbage, text, &[written.transaction], &[key]);
                } else if written.position != NONE {
                    let text = format!("the list of key {key} ends up with {element} twice");
                    self.tell(Kind::Duplicate, text, &[written.transaction], &[key]);
                } else {
                    self.written[*element as usize].position = at as u32;
                }
            }
        }
    }

    /// Finds out which transactions have committed.
    fn resolve(&mut self) {
        let mut seen = vec![false; self.history.transactions.len()];
        let mut see = |written: Written| {
            if let Some(seen) = seen.get_mut(written.transaction as usize) {
                *seen |= written.effect == Effect::Kept;
            }
        };
        for written in &self.written {
            if written.position != NONE {
                see(*written);
            }
        }
        for transaction in self.transactions() {
            for operation in self.history.operations(transaction) {
                for element in self.history.elements(operation.deed) {
                    let written = self.written(*element);
                    if written.transaction != transaction && written.key == operation.key {
                        see(written);
                    }
                }
            }
        }
        let ends = self.history.transactions.iter().zip(seen);
        let committed = ends.map(|(transaction, seen)| match transaction.outcome {
            Outcome::Committed => true,
            Outcome::Aborted => false,
            Outcome::Unknown => seen,
        });
        self.committed = committed.collect();
    }

    /// Compares the lists that are left with what was committed, and makes the ww edges.
    fn compare_lists(&mut self) {
        for transaction in self.transactions() {
            if self.is_committed(transaction) {
                self.find_lost(transaction);
            }
        }
        for key in 0..self.history.keys() {
            let mut before = NONE;
            for (at, element) in self.history.list(key).iter().enumerate() {
                let written = self.written(*element);
                if written.transaction == NONE || written.position != at as u32 {
                    continue;
                }
                if !self.is_committed(written.transaction) || written.effect != Effect::Kept {
                    let text = format!("the list of key {key} ends up with {element}");
                    self.tell(Kind::Aborted, text, &[written.transaction], &[key]);
                    continue;
                }
                self.connect(before, written.transaction, Label::Ww, key);
                before = written.transaction;
            }
            let start = self.soonest.len();
            let ends = self.history.list(key).iter().map(|element| {
                let transaction = self.written(*element).transaction;
                let transaction = self.history.transactions.get(transaction as usize);
                transaction.map_or(NONE, |transaction| transaction.ended)
            });
            let ends: Vec<u32> = ends.collect();
            self.soonest.extend(ends);
            let mut soonest = NONE;
            for end in self.soonest[start..].iter_mut().rev() {
                soonest = soonest.min(*end);
                *end = soonest;
            }
        }
    }

    /// Finds appends of a committed transaction that are not left.
    fn find_lost(&mut self, transaction: u32) {
        let (mut lost, mut left) = (Vec::new(), 0);
        for operation in self.history.operations(transaction) {
            if let (Deed::Append(element), Effect::Kept) = (operation.deed, operation.effect) {
                match self.written(element).position {
                    NONE => lost.push((operation.key, element)),
                    _ => left += 1,
                }
            }
        }
        if lost.is_empty() {
            return;
        }
        let head = self.history.transactions.get(transaction as usize);
        let is_told = head.is_some_and(|head| head.outcome == Outcome::Committed);
        let kind = match !is_told && left > 0 {
            true => Kind::Torn,
            false => Kind::Lost,
        };
        let why = match is_told {
            true => "was told that it committed",
            false => "was seen",
        };
        let names = lost
            .iter()
            .map(|(key, element)| format!("{element} of key {key}"));
        let names: Vec<String> = names.collect();
        let text = format!(
            "T{transaction} {why}, {left} of its appends are left, but not {}",
            names.join(", ")
        );
        let keys: Vec<u32> = lost.iter().map(|(key, _)| *key).collect();
        let mut transactions = vec![transaction];
        let told = self.verdict.counts.get(&kind);
        if let Some(first) = lost.first()
            && told.is_none_or(|told| *told < KEPT)
        {
            transactions.extend(self.around_lost(*first));
        }
        self.tell(kind, text, &transactions, &keys);
    }

    /// A reader of a lost element, and the writer of the element that is left in its place.
    fn around_lost(&self, (key, element): (u32, u32)) -> Vec<u32> {
        for reader in self.transactions() {
            for operation in self.history.operations(reader) {
                let read = self.history.elements(operation.deed);
                let at = read.iter().position(|one| *one == element);
                let Some(at) = at.filter(|_| operation.key == key) else {
                    continue;
                };
                let left = self.history.list(key).get(at);
                let writer = left.map(|left| self.written(*left).transaction);
                return [Some(reader), writer].into_iter().flatten().collect();
            }
        }
        Vec::new()
    }

    /// Compares each read with the list that is left, and makes the wr and rw edges.
    fn compare_reads(&mut self) {
        let mut own: Vec<(u32, u32, Effect, u16)> = Vec::new();
        let mut mine: Vec<u32> = Vec::new();
        let mut lengths: Vec<(u32, u32)> = Vec::new();
        let mut together: Vec<(u32, u32)> = Vec::new();
        let history = self.history;
        for transaction in self.transactions() {
            own.clear();
            lengths.clear();
            let operations = history.operations(transaction);
            for part in operations.chunk_by(|a, b| a.statement == b.statement) {
                together.clear();
                for operation in part {
                    let key = operation.key;
                    if let Deed::Append(element) = operation.deed {
                        own.push((key, element, operation.effect, operation.statement));
                        continue;
                    }
                    let is_there = |(of, _, effect, statement): &&(u32, u32, Effect, u16)| {
                        let here = *statement == operation.statement;
                        let kept = *effect == Effect::Kept || *effect == Effect::Undone && here;
                        *of == key && kept
                    };
                    mine.clear();
                    mine.extend(own.iter().filter(is_there).map(|(_, element, ..)| element));
                    let list = history.elements(operation.deed);
                    let Some(length) = self.compare_read(transaction, key, list, &mine) else {
                        continue;
                    };
                    together.push((key, length));
                    match lengths.iter().find(|(of, _)| *of == key) {
                        None => lengths.push((key, length)),
                        Some((_, before)) if *before == length => {}
                        Some((_, before)) if self.level > Isolation::ReadCommitted => {
                            let text = format!(
                                "T{transaction} reads {before} elements of key {key} and then \
                                 {length}, without its own"
                            );
                            self.tell(Kind::Unrepeatable, text, &[transaction], &[key]);
                        }
                        Some(_) => {}
                    }
                    if self.is_committed(transaction) {
                        let is_of_one = self.level > Isolation::ReadCommitted;
                        self.connect_read(transaction, (key, length), is_of_one);
                    }
                }
                if together.len() > 1
                    && let Some(first) = part.first()
                    && first.form.is_of_one_snapshot()
                {
                    self.compare_statement(transaction, first.statement, &together);
                }
            }
        }
    }

    /// Compares a read with the list that is left; how many of its elements are not the reader's own.
    fn compare_read(&mut self, reader: u32, key: u32, list: &[u32], own: &[u32]) -> Option<u32> {
        let reads = || format!("T{reader} reads {} of key {key}", listed(list));
        if !list.ends_with(own) {
            let text = format!("{} after it has appended {}", reads(), listed(own));
            self.tell(Kind::Internal, text, &[reader], &[key]);
            return None;
        }
        let others = &list[..list.len() - own.len()];
        for (at, element) in others.iter().enumerate() {
            let written = self.written(*element);
            let writer = written.transaction;
            let is_committed = self.is_committed(writer) && written.effect == Effect::Kept;
            let is_in_place = written.key == key && written.position == at as u32;
            if is_committed && is_in_place && writer != reader {
                continue;
            }
            let left = self.history.list(key);
            let kind = if writer == NONE || written.key != key {
                Kind::Garbage
            } else if others[..at].contains(element) {
                Kind::Duplicate
            } else if written.effect != Effect::Kept {
                Kind::Aborted
            } else if writer == reader {
                Kind::Internal
            } else if !is_committed {
                Kind::Aborted
            } else if written.position == NONE {
                // The writer's append is told to be lost.
                return None;
            } else {
                Kind::NoPrefix
            };
            let text = match kind {
                Kind::NoPrefix => format!("{}, but {} is left", reads(), listed(left)),
                Kind::Garbage | Kind::Duplicate => format!("{}, with {element}", reads()),
                _ => format!("{}, with {element} of T{writer}", reads()),
            };
            self.tell(kind, text, &[reader, writer], &[key]);
            return None;
        }
        let length = others.len() as u32;
        if let Some(last) = others.last() {
            let written = self.written(*last);
            if !written.last {
                let writer = written.transaction;
                let text = format!("{}, but T{writer} appends more than {last}", reads());
                self.tell(Kind::Intermediate, text, &[reader, writer], &[key]);
            }
        }
        if self.is_committed(reader) {
            for (at, element) in (length..).zip(own) {
                let position = self.written(*element).position;
                if position != NONE && position != at {
                    let left = listed(self.history.list(key));
                    let text = format!("{}, but {left} is left", reads());
                    self.tell(Kind::NoPrefix, text, &[reader], &[key]);
                    return None;
                }
            }
        }
        let place = self.history.place(key);
        let next = place.start + others.len();
        let begun = self.history.transactions.get(reader as usize);
        let begun = begun.map_or(0, |reader| reader.begun);
        if next < place.end && self.soonest.get(next).is_some_and(|end| *end < begun) {
            let missing = self
                .history
                .list(key)
                .get(others.len()..)
                .unwrap_or_default();
            let writers = missing
                .iter()
                .map(|element| self.written(*element).transaction);
            let mut writers = writers.filter(|writer| {
                let writer = self.history.transactions.get(*writer as usize);
                writer.is_some_and(|writer| writer.ended < begun)
            });
            let writer = writers.next().unwrap_or(NONE);
            let text = format!("{}, but T{writer} had committed before", reads());
            self.tell(Kind::Stale, text, &[reader, writer], &[key]);
        }
        Some(length)
    }

    /// Compares the reads of a statement with each other.
    fn compare_statement(&mut self, reader: u32, statement: u16, reads: &[(u32, u32)]) {
        'statement: for (key, length) in reads {
            let seen = self.history.list(*key).get(..*length as usize);
            for element in seen.unwrap_or_default() {
                let writer = self.written(*element).transaction;
                if writer == reader {
                    continue;
                }
                for operation in self.history.operations(writer) {
                    let (Deed::Append(other), Effect::Kept) = (operation.deed, operation.effect)
                    else {
                        continue;
                    };
                    let position = self.written(other).position;
                    let is_missed = |(of, length): &&(u32, u32)| {
                        *of == operation.key && position != NONE && position >= *length
                    };
                    if reads.iter().any(|read| is_missed(&read)) {
                        let text = format!(
                            "a statement of T{reader} reads {element} of key {key}, but not \
                             {other} of key {}, which T{writer} appended, too",
                            operation.key
                        );
                        let keys = [*key, operation.key];
                        self.tell(Kind::Fractured, text, &[reader, writer], &keys);
                        break 'statement;
                    }
                }
            }
        }
        if self.level == Isolation::ReadCommitted {
            let node = (self.history.transactions.len() + self.statements.len()) as u32;
            self.statements.push((reader, statement));
            for read in reads {
                self.connect_read(node, *read, true);
            }
        }
    }

    /// Connects a node with the writers around the end of what it read.
    fn connect_read(&mut self, node: u32, (key, length): (u32, u32), with_rw: bool) {
        let list = self.history.list(key);
        let at = length as usize;
        let before = at.checked_sub(1).and_then(|at| list.get(at));
        if let Some(before) = before {
            let writer = self.written(*before).transaction;
            self.connect(writer, node, Label::Wr, key);
        }
        if let Some(next) = list.get(at)
            && with_rw
        {
            let written = self.written(*next);
            if written.position == length && written.effect == Effect::Kept {
                self.connect(node, written.transaction, Label::Rw, key);
            }
        }
    }

    /// Adds an edge between committed transactions, or statements.
    fn connect(&mut self, from: u32, to: u32, label: Label, key: u32) {
        let is_node = |node: u32| {
            let transactions = self.history.transactions.len();
            let is_statement = node != NONE && node as usize >= transactions;
            is_statement || self.is_committed(node)
        };
        if from != to && is_node(from) && is_node(to) {
            self.edges[label as usize].push(Edge { from, to, key });
        }
    }

    /// Searches for cycles.
    fn search(&mut self) {
        let nodes = self.history.transactions.len() + self.statements.len();
        let graph = Graph::new(nodes, &std::mem::take(&mut self.edges));
        let views: &[View] = match self.level {
            Isolation::ReadCommitted | Isolation::RepeatableRead => {
                &[View::Ww, View::WwWr, View::Spaced]
            }
            Isolation::Serializable => &[View::Ww, View::WwWr, View::Spaced, View::All],
        };
        for view in views {
            for cycle in graph.cycles(*view) {
                let kind = match kind(&cycle) {
                    Kind::GSingle | Kind::GNonadjacent
                        if self.level == Isolation::ReadCommitted =>
                    {
                        Kind::Fractured
                    }
                    kind => kind,
                };
                // A cycle that the view before has is told already.
                let is_new = match view {
                    View::Ww => true,
                    View::WwWr => kind != Kind::G0,
                    View::Spaced => kind > Kind::G1c || kind == Kind::Fractured,
                    View::All => kind == Kind::G2,
                };
                if is_new {
                    self.tell_cycle(kind, &cycle);
                }
            }
        }
    }

    fn tell_cycle(&mut self, kind: Kind, cycle: &Cycle) {
        let all = self.history.transactions.len();
        let statement = |node: u32| {
            let at = (node as usize).checked_sub(all)?;
            self.statements.get(at).copied()
        };
        let name = |node: u32| match statement(node) {
            Some((transaction, number)) => format!("statement {number} of T{transaction}"),
            None => format!("T{node}"),
        };
        let mut text = String::new();
        for (edge, label) in cycle {
            let (from, label, key) = (name(edge.from), label.name(), edge.key);
            text.push_str(&format!("{from} ──{label}, key {key}──▶ "));
        }
        if let Some((edge, _)) = cycle.first() {
            text.push_str(&name(edge.from));
        }
        let transaction = |(edge, _): &(Edge, Label)| {
            statement(edge.from).map_or(edge.from, |(transaction, _)| transaction)
        };
        let transactions: Vec<u32> = cycle.iter().map(transaction).collect();
        let mut keys: Vec<u32> = cycle.iter().map(|(edge, _)| edge.key).collect();
        keys.sort_unstable();
        self.tell(kind, text, &transactions, &keys);
    }
}

/// The kind of a cycle.
fn kind(cycle: &Cycle) -> Kind {
    let count = |label: Label| cycle.iter().filter(|(_, of)| *of == label).count();
    let next = cycle.iter().cycle().skip(1);
    let mut pairs = cycle.iter().zip(next);
    let in_a_row = pairs.any(|((_, a), (_, b))| (*a, *b) == (Label::Rw, Label::Rw));
    match (count(Label::Rw), count(Label::Wr)) {
        (0, 0) => Kind::G0,
        (0, _) => Kind::G1c,
        (1, _) => Kind::GSingle,
        _ if in_a_row => Kind::G2,
        _ => Kind::GNonadjacent,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::draw::Form;
    use super::*;
    use crate::random::Random;
    use Kind::{G2, GSingle};
    use Outcome::{Aborted, Committed, Unknown};

    /// Transactions, the lists that are left, and the kinds that each level finds.
    ///
    /// `x+1` appends 1 to x, `x~1` does that and takes it back to a savepoint, `x=1,2` reads x, and
    /// `x=1&y=` reads x and y in one statement.
    type Case = (&'static [&'static str], &'static str, [&'static [Kind]; 3]);

    /// A key and the numbers behind it.
    fn part(text: &str) -> (u32, Vec<u32>) {
        let (key, numbers) = text.split_at(1);
        let key = key.bytes().next().unwrap() - b'x';
        let numbers = numbers[1..].split(',').filter(|number| !number.is_empty());
        let numbers = numbers.map(|number| number.parse().unwrap());
        (u32::from(key), numbers.collect())
    }

    fn forged(transactions: &[&str], left: &str) -> History {
        let mut history = History::default();
        for transaction in transactions {
            let mut words = transaction.split(' ');
            let outcomes = [Committed, Aborted, Unknown].into_iter();
            let name = words.next().unwrap();
            let outcome = outcomes.into_iter().find(|one| one.name() == name).unwrap();
            history.begin(0, false, 0);
            for (number, word) in (0..).zip(words) {
                let form = match word.contains('&') {
                    true => Form::Several,
                    false => Form::Select,
                };
                for one in word.split('&') {
                    let (key, numbers) = part(one);
                    match one.contains('=') {
                        true => history.read(number, form, key, &numbers),
                        false => history.append(number, Form::Upsert, key, numbers[0]),
                    }
                }
                if word.contains('~') {
                    history.undo(number);
                }
            }
            history.end(outcome, 1000);
        }
        let mut lists = Vec::new();
        for (key, list) in left.split_whitespace().map(part) {
            assert_eq!(key as usize, lists.len());
            lists.push(list);
        }
        history.leave(&lists);
        history
    }

    fn kinds(history: &History, level: Isolation) -> Vec<Kind> {
        check(history, level).counts.into_keys().collect()
    }

    fn found_as_expected(cases: &[Case]) {
        for (transactions, left, found) in cases {
            let history = forged(transactions, left);
            for (level, expected) in Isolation::ALL.into_iter().zip(found) {
                let found = kinds(&history, level);
                assert_eq!(found, *expected, "{transactions:?} {left:?} {level:?}");
            }
        }
    }

    const fn all(kinds: &'static [Kind]) -> [&'static [Kind]; 3] {
        [kinds; 3]
    }

    const fn snapshots(kinds: &'static [Kind]) -> [&'static [Kind]; 3] {
        [&[], kinds, kinds]
    }

    #[test]
    fn valid_histories_have_no_anomaly() {
        found_as_expected(&[
            (
                &[
                    "committed x+1 x+2 x=1,2 y+3",
                    "committed x=1,2 x+4 x=1,2,4&y=3",
                ],
                "x=1,2,4 y=3",
                all(&[]),
            ),
            (
                &[
                    "aborted x+1 x=1",
                    "unknown x+2 y+3",
                    "unknown x+4 y+5",
                    "committed x= x+6 x~7 x=6 x+8",
                    "aborted x=6,8 y+9 y=9",
                ],
                "x=6,8,4 y=5",
                all(&[]),
            ),
        ]);
    }

    #[test]
    fn appends_that_are_not_left_are_lost() {
        found_as_expected(&[
            (&["committed x+1 y+2"], "x=1 y=", all(&[Kind::Lost])),
            (&["unknown x+1", "committed x=1"], "x=", all(&[Kind::Lost])),
            // There is no row.
            (&["committed z+1"], "", all(&[Kind::Lost])),
        ]);
    }

    #[test]
    fn a_part_of_a_transaction_is_torn() {
        found_as_expected(&[(&["unknown x+1 y+2"], "x=1 y=", all(&[Kind::Torn]))]);
    }

    #[test]
    fn garbage_is_found() {
        const GARBAGE: [&[Kind]; 3] = all(&[Kind::Garbage]);
        found_as_expected(&[
            (&["committed x+1"], "x=1,99", GARBAGE),
            (&["committed x+1", "committed x=1,99"], "x=1", GARBAGE),
            (&["committed x+1 y+2", "committed x=2"], "x=1 y=2", GARBAGE),
        ]);
    }

    #[test]
    fn duplicates_are_found() {
        const DUPLICATE: [&[Kind]; 3] = all(&[Kind::Duplicate]);
        found_as_expected(&[
            (&["committed x+1"], "x=1,1", DUPLICATE),
            (&["committed x+1", "committed x=1,1"], "x=1", DUPLICATE),
        ]);
    }

    #[test]
    fn aborted_elements_are_found() {
        const ABORTED: [&[Kind]; 3] = all(&[Kind::Aborted]);
        found_as_expected(&[
            (&["aborted x+1"], "x=1", ABORTED),
            (&["aborted x+1", "committed x=1"], "x=", ABORTED),
            (&["committed x+1 x~2"], "x=1,2", ABORTED),
            (&["committed x~2 x=2"], "x=", ABORTED),
        ]);
    }

    #[test]
    fn intermediate_reads_are_found() {
        // The reader is between two appends of a transaction, which is a cycle, too.
        let found: [&[Kind]; 3] = [
            &[Kind::Intermediate],
            &[Kind::Intermediate, GSingle],
            &[Kind::Intermediate, GSingle],
        ];
        found_as_expected(&[(&["committed x+1 x+2", "committed x=1"], "x=1,2", found)]);
        let aborted = all(&[Kind::Intermediate]);
        found_as_expected(&[(&["committed x+1 x+2", "aborted x=1"], "x=1,2", aborted)]);
    }

    #[test]
    fn other_orders_are_found() {
        const NO_PREFIX: [&[Kind]; 3] = all(&[Kind::NoPrefix]);
        found_as_expected(&[
            (
                &["committed x+1", "committed x+2", "committed x=2,1"],
                "x=1,2",
                NO_PREFIX,
            ),
            (&["committed x+1", "committed x+2 x=2"], "x=1,2", NO_PREFIX),
        ]);
    }

    #[test]
    fn reads_see_the_own_appends() {
        const INTERNAL: [&[Kind]; 3] = all(&[Kind::Internal]);
        found_as_expected(&[
            (&["committed x+1 x="], "x=1", INTERNAL),
            (&["aborted x+1 x="], "x=", INTERNAL),
            (&["committed x=1 x+1"], "x=1", INTERNAL),
        ]);
    }

    #[test]
    fn a_snapshot_repeats_its_reads() {
        let found = snapshots(&[Kind::Unrepeatable]);
        found_as_expected(&[(&["committed x+1", "aborted x= x=1"], "x=1", found)]);
    }

    #[test]
    fn a_statement_sees_all_of_a_transaction() {
        found_as_expected(&[
            (
                &["committed x+1 y+2", "aborted x=1&y="],
                "x=1 y=2",
                all(&[Kind::Fractured]),
            ),
            // The second transaction has read the first.
            (
                &["committed x+1", "committed x=1 y+2", "committed x=&y=2"],
                "x=1 y=2",
                [&[Kind::Fractured], &[GSingle], &[GSingle]],
            ),
            // Two statements need not agree.
            (
                &["committed x+1 y+2", "committed x= y=2"],
                "x=1 y=2",
                snapshots(&[GSingle]),
            ),
        ]);
    }

    #[test]
    fn a_read_sees_what_was_committed_before() {
        let history = |begun: u32| {
            let mut history = History::default();
            for (element, ended) in [(1, 5), (2, 9)] {
                history.begin(0, true, ended - 1);
                history.append(0, Form::Upsert, 0, element);
                history.end(Committed, ended);
            }
            history.begin(0, true, begun);
            history.read(0, Form::Select, 0, &[1]);
            history.end(Committed, 20);
            history.leave(&[vec![1, 2]]);
            history
        };
        for level in Isolation::ALL {
            assert_eq!(kinds(&history(9), level), []);
            assert_eq!(kinds(&history(10), level), [Kind::Stale]);
        }
    }

    #[test]
    fn cycles_of_writes_are_found() {
        const G0: [&[Kind]; 3] = all(&[Kind::G0]);
        found_as_expected(&[
            (
                &["committed x+1 y+2", "committed x+3 y+4"],
                "x=1,3 y=4,2",
                G0,
            ),
            (&["committed x+1 x+2", "committed x+3"], "x=1,3,2", G0),
        ]);
    }

    #[test]
    fn circular_information_is_found() {
        let found = all(&[Kind::G1c]);
        found_as_expected(&[(
            &["committed x+1 y=2", "committed y+2 x=1"],
            "x=1 y=2",
            found,
        )]);
    }

    #[test]
    fn lost_updates_and_read_skews_are_found() {
        found_as_expected(&[
            (
                &["committed x= x+1", "committed x= x+2"],
                "x=1,2",
                snapshots(&[GSingle]),
            ),
            (
                &["committed x+1", "committed x=1 y+2", "committed y=2 x="],
                "x=1 y=2",
                snapshots(&[GSingle]),
            ),
        ]);
    }

    #[test]
    fn long_forks_have_no_rw_edges_in_a_row() {
        found_as_expected(&[(
            &[
                "committed x+1",
                "committed y+2",
                "committed x=1 y=",
                "committed x= y=2",
            ],
            "x=1 y=2",
            snapshots(&[Kind::GNonadjacent]),
        )]);
    }

    #[test]
    fn write_skews_are_forbidden_at_serializable_alone() {
        found_as_expected(&[
            (
                &["committed x= y+1", "committed y= x+2"],
                "x=2 y=1",
                [&[], &[], &[G2]],
            ),
            // A reader sees an order that the writers do not have.
            (
                &["committed x= y+1", "committed x+2", "committed x=2 y="],
                "x=2 y=1",
                [&[], &[], &[G2]],
            ),
            (
                &["committed x= y+1", "unknown y= x+2"],
                "x=2 y=1",
                [&[], &[], &[G2]],
            ),
            (&["committed x= y+1", "unknown y= x+2"], "x= y=1", all(&[])),
            (&["committed x= y+1", "aborted y= x+2"], "x= y=1", all(&[])),
        ]);
    }

    #[test]
    fn the_shortest_cycle_is_told_first() {
        let transactions = [
            "committed x+1 z+6",
            "committed x+2 y+3",
            "committed y+4 z+5",
            "committed {+7 |+8",
            "committed {+9 |+10",
        ];
        let history = forged(&transactions, "x=1,2 y=3,4 z=5,6 {=7,9 |=10,8");
        let verdict = check(&history, Isolation::ReadCommitted);
        let anomalies = verdict.anomalies.iter();
        let lengths: Vec<usize> = anomalies.map(|one| one.transactions.len()).collect();
        assert_eq!(lengths, [2, 3]);
        let text = "T3 ──ww, key 3──▶ T4 ──ww, key 4──▶ T3";
        assert_eq!(verdict.anomalies[0].text, text);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let mut history = History::default();
        let count = 200_000;
        for element in 0..count {
            history.begin(0, true, 0);
            history.append(0, Form::Upsert, 0, element);
            history.end(Committed, 1);
        }
        let list: Vec<u32> = (0..count).collect();
        history.leave(std::slice::from_ref(&list));
        assert_eq!(kinds(&history, Isolation::Serializable), []);
        // The last writer comes before the first one in another list.
        history.begin(0, true, 0);
        history.append(0, Form::Upsert, 1, count);
        history.end(Committed, 1);
        history.begin(0, false, 0);
        history.append(0, Form::Upsert, 0, count + 1);
        history.append(0, Form::Upsert, 1, count + 2);
        history.end(Committed, 1);
        history.leave(&[[list, vec![count + 1]].concat(), vec![count + 2, count]]);
        assert_eq!(kinds(&history, Isolation::Serializable), []);
    }

    /// The rules of a store in memory.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Store {
        /// Statements have snapshots, and an append to a list of an open transaction fails.
        Statements,
        /// Transactions have snapshots, and an append to a list that has changed fails, too.
        Snapshots,
        /// Transactions have snapshots, and appends never fail.
        Unchecked,
        /// There are no snapshots: reads see the appends of open transactions.
        Dirty,
    }

    /// A transaction that a client of the store is in.
    #[derive(Default)]
    struct Open {
        /// Lengths of the lists in use in its snapshot; later ones are empty in it.
        lengths: Vec<(u32, usize)>,
        own: Vec<(u32, u32)>,
        statement: u16,
        left: usize,
    }

    /// Lists in use.
    const LISTS: usize = 5;

    /// A history of a store, with its transactions interleaved.
    ///
    /// A list is no longer in use when it has some elements.
    fn simulated(seed: u64, store: Store, count: usize, longest: usize) -> History {
        let mut random = Random::new(seed);
        let mut lists = vec![Vec::<u32>::new(); LISTS];
        let mut keys: Vec<u32> = (0..LISTS as u32).collect();
        let mut clients: Vec<(History, Option<Open>)> = Vec::new();
        clients.resize_with(6, Default::default);
        let (mut element, mut time, mut begun) = (0, 0, 0);
        while begun < count || clients.iter().any(|(_, open)| open.is_some()) {
            time += 1;
            let at = random.below(clients.len());
            let lengths = || {
                let length = |key: &u32| (*key, lists[*key as usize].len());
                keys.iter().map(length).collect::<Vec<_>>()
            };
            let Some(mut open) = clients[at].1.take() else {
                if begun < count {
                    begun += 1;
                    clients[at].0.begin(at as u16, false, time);
                    clients[at].1 = Some(Open {
                        lengths: lengths(),
                        left: 1 + random.below(5),
                        ..Open::default()
                    });
                }
                continue;
            };
            if open.left == 0 {
                let commits = random.percent(90);
                let outcome = match commits {
                    _ if random.percent(5) => Unknown,
                    true => Committed,
                    false => Aborted,
                };
                for (key, element) in open.own.iter().filter(|_| commits) {
                    lists[*key as usize].push(*element);
                }
                for key in &mut keys {
                    if lists[*key as usize].len() >= longest {
                        *key = lists.len() as u32;
                        lists.push(Vec::new());
                    }
                }
                clients[at].0.end(outcome, time);
                continue;
            }
            if store == Store::Statements {
                open.lengths = lengths();
            }
            let visible = |key: u32| {
                let length = open.lengths.iter().find(|(of, _)| *of == key);
                length.map_or(0, |(_, length)| *length)
            };
            let place = random.below(LISTS);
            let key = keys[place];
            if random.percent(40) {
                clients[at]
                    .0
                    .append(open.statement, Form::Update, key, element);
                element += 1;
                let holds = |(_, other): &(History, Option<Open>)| {
                    let mut own = other.iter().flat_map(|other| &other.own);
                    own.any(|(of, _)| *of == key)
                };
                let is_newer = visible(key) < lists[key as usize].len();
                if matches!(store, Store::Statements | Store::Snapshots)
                    && (clients.iter().any(holds) || is_newer)
                {
                    clients[at].0.end(Aborted, time);
                    continue;
                }
                open.own.push((key, element - 1));
            } else {
                let wide = random.percent(40);
                let form = if wide { Form::Several } else { Form::Select };
                let mut read = vec![key];
                read.extend(wide.then(|| keys[(place + 1) % LISTS]));
                for key in read {
                    let mut list = lists[key as usize].clone();
                    let mut own = open.own.clone();
                    if store == Store::Dirty {
                        let others = clients.iter().filter_map(|(_, other)| other.as_ref());
                        own.splice(..0, others.flat_map(|other| other.own.clone()));
                    } else {
                        list.truncate(visible(key));
                    }
                    list.extend(own.iter().filter(|(of, _)| *of == key).map(|(_, one)| one));
                    clients[at].0.read(open.statement, form, key, &list);
                }
            }
            open.statement += 1;
            open.left -= 1;
            clients[at].1 = Some(open);
        }
        let mut history = History::default();
        for (one, _) in clients {
            history.join(one);
        }
        history.leave(&lists);
        history
    }

    #[test]
    fn simulated_snapshots_have_write_skews_alone() {
        for seed in 0..10 {
            let history = simulated(seed, Store::Snapshots, 600, 40);
            assert!(history.ended(Committed) > 200);
            assert_eq!(kinds(&history, Isolation::ReadCommitted), []);
            assert_eq!(kinds(&history, Isolation::RepeatableRead), []);
            assert_eq!(kinds(&history, Isolation::Serializable), [G2]);
        }
    }

    #[test]
    fn simulated_statements_have_no_snapshot_of_their_transaction() {
        for seed in 0..10 {
            let history = simulated(seed, Store::Statements, 600, 40);
            assert_eq!(kinds(&history, Isolation::ReadCommitted), []);
            let found = kinds(&history, Isolation::RepeatableRead);
            assert!(found.contains(&GSingle), "{found:?}");
            assert!(found.contains(&Kind::Unrepeatable), "{found:?}");
        }
    }

    #[test]
    fn simulated_faults_are_found() {
        for seed in 0..10 {
            let history = simulated(seed, Store::Unchecked, 600, 40);
            let found = kinds(&history, Isolation::RepeatableRead);
            assert!(found.contains(&GSingle), "{found:?}");
            let history = simulated(seed, Store::Dirty, 600, 40);
            let found = kinds(&history, Isolation::ReadCommitted);
            assert!(found.contains(&Kind::Aborted), "{found:?}");
            assert!(found.contains(&Kind::Intermediate), "{found:?}");
        }
    }

    #[test]
    fn a_fault_in_a_simulated_list_is_found() {
        let mut random = Random::new(7);
        let mut met = BTreeSet::new();
        for seed in 0..30 {
            let mut history = simulated(seed, Store::Snapshots, 300, 1000);
            let keys = 0..history.keys();
            let mut lists: Vec<Vec<u32>> = keys.map(|key| history.list(key).to_vec()).collect();
            let list = &mut lists[random.below(LISTS)];
            // The last elements may be of unknown ends that nobody saw.
            let at = random.below(list.len() / 2);
            match seed % 3 {
                0 => _ = list.remove(at),
                1 => list.insert(at, list[at]),
                _ => list.swap(at, at + 1),
            }
            history.leave(&lists);
            let found = kinds(&history, Isolation::ReadCommitted);
            assert_ne!(found, [], "{seed}");
            met.extend(found);
        }
        assert!(met.contains(&Kind::Lost) && met.contains(&Kind::Duplicate));
        assert!(met.contains(&Kind::NoPrefix));
    }

    /// It takes five seconds, and half a minute without optimisation.
    #[test]
    fn a_million_transactions() {
        let history = simulated(1, Store::Snapshots, 1_000_000, 64);
        for level in Isolation::ALL {
            let started = std::time::Instant::now();
            let found = kinds(&history, level);
            println!("{level:?}: {found:?} in {:?}", started.elapsed());
            let expected: &[Kind] = match level {
                Isolation::Serializable => &[G2],
                _ => &[],
            };
            assert_eq!(found, expected);
        }
    }
}
