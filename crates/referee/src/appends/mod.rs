//! Lists that clients append to, under kills, and a search for anomalies.
//!
//! A database says which transactions have committed. Only its clients can tell whether that is true:
//! a commit may be gone after a crash, a read may show half of a transaction, two transactions may
//! each read what the other overwrites. Most tables hide this, as a row tells only its last value.
//!
//! A list tells all of its past. Clients append numbers that are unique in the whole history, so that
//! each element names its writer, and the list that is left gives the order of the writers. A read
//! gives a beginning of that list: who wrote its last element comes before the reader, and who wrote
//! the element behind it comes after the reader. A cycle of such edges is an anomaly, and the kinds of
//! its edges tell the levels of isolation that forbid it. Adya's thesis has the levels and their names;
//! Kingsbury and Alvaro's "Elle" (VLDB 2020) has the lists.
//!
//! ```text
//! T1  append 1 to x, read y: nothing            x is 1, y is 2 in the end
//! T2  append 2 to y, read x: nothing
//!
//!     T1 ──rw (y)──▶ T2 ──rw (x)──▶ T1          a write skew: G2, forbidden at SERIALIZABLE
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `draw` | random transactions and the texts of their statements |
//! | `run` | clients, kills, restarts, and the history that comes of them |
//! | `check` | the anomalies of a history |
//! | `cycles` | short cycles of a graph |
//!
//! Left out: reads of ranges, as an element that a predicate misses has no place in a list; deletions;
//! the real order of transactions but for stale reads; power losses, as a killed process leaves its
//! writes to the operating system.

pub mod check;
mod cycles;
pub mod draw;
pub mod run;

use std::fmt::Write as _;

use draw::{Form, Space, Statement};

/// No transaction, no position and no time.
pub const NONE: u32 = u32::MAX;
/// Stands for an element that is no number.
pub const GARBAGE: u32 = u32::MAX;

/// A level of isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// Each statement has a snapshot of its own.
    ReadCommitted,
    /// Each transaction has a snapshot of its own, and of two that change a row one fails.
    RepeatableRead,
    /// Transactions are as if one came after the other.
    Serializable,
}

impl Isolation {
    /// All levels, from the weakest to the strongest.
    pub const ALL: [Self; 3] = [
        Self::ReadCommitted,
        Self::RepeatableRead,
        Self::Serializable,
    ];

    /// The level of a name; words may be joined by hyphens.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', " ").to_lowercase();
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }
}

/// The end of a transaction, as its client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server said that it has committed.
    Committed,
    /// It was rolled back, a statement failed, or the connection was lost before COMMIT was sent.
    Aborted,
    /// The connection was lost while it committed.
    Unknown,
}

impl Outcome {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::Aborted => "aborted",
            Self::Unknown => "unknown",
        }
    }
}

/// A part of a statement that is about one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// The element that is appended.
    Append(u32),
    /// A list that is read; its elements are in the history.
    Read {
        /// The first element.
        start: u32,
        /// How many.
        length: u32,
    },
}

/// Whether a deed has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It has, if its transaction commits.
    Kept,
    /// Its statement was taken back to a savepoint.
    Undone,
    /// The statement found no row to change.
    Void,
}

/// A deed of a statement.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The key.
    pub key: u32,
    /// The deed.
    pub deed: Deed,
    /// The statement's number in its transaction.
    pub statement: u16,
    /// The form of the statement.
    pub form: Form,
    /// Whether it has an effect.
    pub effect: Effect,
}

/// A transaction of a client.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// Its end.
    pub outcome: Outcome,
    /// Whether it is one statement without BEGIN and COMMIT.
    pub alone: bool,
    /// The client.
    pub client: u16,
    /// A time before its first statement was sent.
    pub begun: u32,
    /// A time after its commit was told; [`NONE`] if none was.
    pub ended: u32,
    /// Its first operation.
    first: u32,
}

/// Transactions, and the lists that are left.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The transactions of each client are in order.
    pub transactions: Vec<Transaction>,
    operations: Vec<Operation>,
    /// Elements of all reads.
    elements: Vec<u32>,
    /// Elements of the lists that are left, key by key.
    left: Vec<u32>,
    /// The end of each key's list.
    ends: Vec<u32>,
}

impl History {
    /// Begins a transaction, which is aborted unless it ends otherwise.
    pub fn begin(&mut self, client: u16, alone: bool, begun: u32) {
        self.transactions.push(Transaction {
            outcome: Outcome::Aborted,
            alone,
            client,
            begun,
            ended: NONE,
            first: self.operations.len() as u32,
        });
    }

    /// The last transaction appends an element.
    pub fn append(&mut self, statement: u16, form: Form, key: u32, element: u32) {
        self.operations.push(Operation {
            key,
            deed: Deed::Append(element),
            statement,
            form,
            effect: Effect::Kept,
        });
    }

    /// The last transaction reads a list.
    pub fn read(&mut self, statement: u16, form: Form, key: u32, list: &[u32]) {
        let start = self.elements.len() as u32;
        self.elements.extend_from_slice(list);
        let length = list.len() as u32;
        self.operations.push(Operation {
            key,
            deed: Deed::Read { start, length },
            statement,
            form,
            effect: Effect::Kept,
        });
    }

    /// The operations of the last transaction.
    fn last(&mut self) -> &mut [Operation] {
        let first = self.transactions.last().map_or(0, |last| last.first);
        let operations = self.operations.get_mut(first as usize..);
        operations.unwrap_or_default()
    }

    /// A statement of the last transaction is taken back to a savepoint.
    pub fn undo(&mut self, statement: u16) {
        for operation in self.last() {
            if operation.statement == statement && operation.effect == Effect::Kept {
                operation.effect = Effect::Undone;
            }
        }
    }

    /// A statement of the last transaction found no row of a key to append to, so it read nothing.
    pub fn miss(&mut self, statement: u16, form: Form, key: u32) {
        for operation in self.last() {
            if (operation.statement, operation.key) == (statement, key) {
                operation.effect = Effect::Void;
            }
        }
        self.read(statement, form, key, &[]);
    }

    /// The last transaction ends; `ended` is the time if its commit was told.
    pub fn end(&mut self, outcome: Outcome, ended: u32) {
        if let Some(last) = self.transactions.last_mut() {
            last.outcome = outcome;
            last.ended = match outcome {
                Outcome::Committed => ended,
                Outcome::Aborted | Outcome::Unknown => NONE,
            };
        }
    }

    /// Adds another client's transactions.
    pub fn join(&mut self, other: Self) {
        let first = self.operations.len() as u32;
        let base = self.elements.len() as u32;
        self.elements.extend(other.elements);
        let moved = other.operations.into_iter().map(|mut operation| {
            if let Deed::Read { start, .. } = &mut operation.deed {
                *start += base;
            }
            operation
        });
        self.operations.extend(moved);
        let moved = other
            .transactions
            .into_iter()
            .map(|transaction| Transaction {
                first: transaction.first + first,
                ..transaction
            });
        self.transactions.extend(moved);
    }

    /// Tells the lists that are left, one for each key from 0.
    pub fn leave(&mut self, lists: &[Vec<u32>]) {
        self.left = lists.concat();
        let mut end = 0;
        let ends = lists.iter().map(|list| {
            end += list.len() as u32;
            end
        });
        self.ends = ends.collect();
    }

    /// How many keys have lists.
    pub fn keys(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Where the list of a key lies among all that are left.
    fn place(&self, key: u32) -> std::ops::Range<usize> {
        let end = |key: usize| self.ends.get(key).map_or(0, |end| *end as usize);
        let start = (key as usize).checked_sub(1).map_or(0, end);
        start..end(key as usize).max(start)
    }

    /// The list of a key that is left.
    pub fn list(&self, key: u32) -> &[u32] {
        self.left.get(self.place(key)).unwrap_or_default()
    }

    /// The operations of a transaction.
    pub fn operations(&self, transaction: u32) -> &[Operation] {
        let at = transaction as usize;
        let first = |at: usize| self.transactions.get(at).map(|one| one.first as usize);
        let end = first(at + 1).unwrap_or(self.operations.len());
        let start = first(at).unwrap_or(end);
        self.operations.get(start..end).unwrap_or_default()
    }

    /// The elements of a read; an append has none.
    pub fn elements(&self, deed: Deed) -> &[u32] {
        match deed {
            Deed::Append(_) => &[],
            Deed::Read { start, length } => {
                let (start, length) = (start as usize, length as usize);
                self.elements.get(start..start + length).unwrap_or_default()
            }
        }
    }

    /// How many operations are reads, and how many are appends.
    pub fn counts(&self) -> (usize, usize) {
        let is_append = |one: &&Operation| matches!(one.deed, Deed::Append(_));
        let appends = self.operations.iter().filter(is_append).count();
        (self.operations.len() - appends, appends)
    }

    /// How many transactions ended in a way.
    pub fn ended(&self, outcome: Outcome) -> usize {
        let all = self.transactions.iter();
        all.filter(|one| one.outcome == outcome).count()
    }

    /// The list that a statement goes on from: the last read of its key, and the appends since.
    fn base(&self, operations: &[Operation], statement: &Operation) -> Vec<u32> {
        let mut base = Vec::new();
        let before = operations.iter();
        let before = before.take_while(|one| one.statement != statement.statement);
        let kept = |one: &&Operation| one.key == statement.key && one.effect == Effect::Kept;
        for operation in before.filter(kept) {
            match operation.deed {
                Deed::Append(element) => base.push(element),
                read @ Deed::Read { .. } => base = self.elements(read).to_vec(),
            }
        }
        base
    }

    /// The statements of a transaction, with what they read.
    pub fn shown(&self, transaction: u32, space: Space, level: Isolation) -> String {
        let Some(head) = self.transactions.get(transaction as usize) else {
            return String::new();
        };
        let mut text = format!(
            "T{transaction} of client {}, {}, begun at {}",
            head.client,
            head.outcome.name(),
            head.begun
        );
        if head.ended != NONE {
            let _ = write!(text, ", committed at {}", head.ended);
        }
        if !head.alone {
            let level = level.name().to_uppercase();
            let _ = write!(text, "\n    BEGIN ISOLATION LEVEL {level};");
        }
        let operations = self.operations(transaction);
        for part in operations.chunk_by(|a, b| a.statement == b.statement) {
            let Some(first) = part.first() else { continue };
            let mut targets = Vec::new();
            for operation in part {
                match operation.deed {
                    Deed::Append(element) => targets.push((operation.key, element)),
                    Deed::Read { .. } if first.form.is_append() => {}
                    Deed::Read { .. } => targets.push((operation.key, NONE)),
                }
            }
            let base = match first.form {
                Form::Replace => self.base(operations, first),
                _ => Vec::new(),
            };
            let statement = Statement {
                form: first.form,
                undone: false,
                targets,
                base,
            };
            let statement = statement.text(space);
            let is_undone = part.iter().any(|one| one.effect == Effect::Undone);
            let _ = match is_undone {
                true => write!(text, "\n    SAVEPOINT s; {statement}; ROLLBACK TO s;"),
                false => write!(text, "\n    {statement};"),
            };
            for operation in part {
                let key = operation.key;
                let effect = match operation.effect {
                    Effect::Kept | Effect::Undone => "",
                    Effect::Void => " (no row)",
                };
                let _ = match operation.deed {
                    Deed::Append(element) => {
                        write!(text, "\n        key {key}: append {element}{effect}")
                    }
                    read @ Deed::Read { .. } => {
                        let list = listed(self.elements(read));
                        write!(text, "\n        key {key}: read {list}{effect}")
                    }
                };
            }
        }
        if !head.alone {
            let last = match head.outcome {
                Outcome::Committed => "COMMIT;",
                Outcome::Aborted => "ROLLBACK, or no more;",
                Outcome::Unknown => "COMMIT, without an answer;",
            };
            let _ = write!(text, "\n    {last}");
        }
        text
    }
}

/// A list as text.
pub fn listed(list: &[u32]) -> String {
    let name = |element: &u32| match *element {
        GARBAGE => "?".to_owned(),
        element => element.to_string(),
    };
    let names: Vec<String> = list.iter().map(name).collect();
    format!("[{}]", names.join(" "))
}

/// The elements of a cell, in either kind of table.
pub fn parsed(cell: &str) -> Vec<u32> {
    let inside = cell.trim_start_matches('{').trim_end_matches('}');
    let words = inside.split([' ', ',']).filter(|word| !word.is_empty());
    words.map(|word| word.parse().unwrap_or(GARBAGE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_both_kinds_of_table_are_read() {
        assert_eq!(parsed(" 1 22 3"), [1, 22, 3]);
        assert_eq!(parsed("{1,22,3}"), [1, 22, 3]);
        assert_eq!(parsed("{}"), [0_u32; 0]);
        assert_eq!(parsed(""), [0_u32; 0]);
        assert_eq!(parsed(" 1 2x"), [1, GARBAGE]);
        assert_eq!(parsed("{1,NULL}"), [1, GARBAGE]);
    }

    #[test]
    fn a_transaction_is_shown_with_its_statements() {
        let mut history = History::default();
        history.begin(3, false, 5);
        history.read(0, Form::ForUpdate, 0, &[1, 2]);
        history.append(1, Form::Replace, 0, 7);
        history.append(2, Form::Upsert, 1, 8);
        history.undo(2);
        history.append(3, Form::Update, 2, 9);
        history.miss(3, Form::Update, 2);
        history.end(Outcome::Committed, 6);
        let space = Space {
            places: 4,
            tables: 2,
            length: 8,
        };
        let shown = history.shown(0, space, Isolation::Serializable);
        let expected = [
            "T0 of client 3, committed, begun at 5, committed at 6",
            "    BEGIN ISOLATION LEVEL SERIALIZABLE;",
            "    SELECT v FROM l0 WHERE k = 0 FOR UPDATE;",
            "        key 0: read [1 2]",
            "    UPDATE l0 SET v = ' 1 2 7', n = n + 1 WHERE k = 0;",
            "        key 0: append 7",
            "    SAVEPOINT s; INSERT INTO l1 AS t (k, g, n, v) VALUES (1, -1, 1, ARRAY[8]::bigint[]) \
             ON CONFLICT (k) DO UPDATE SET v = t.v || excluded.v, n = t.n + 1; ROLLBACK TO s;",
            "        key 1: append 8",
            "    UPDATE l0 SET v = v || ' 9', n = n + 1 WHERE k = 2;",
            "        key 2: append 9 (no row)",
            "        key 2: read []",
            "    COMMIT;",
        ];
        assert_eq!(shown, expected.join("\n"));
    }

    #[test]
    fn histories_are_joined_with_their_reads() {
        let one = |key: u32, element: u32| {
            let mut history = History::default();
            history.begin(0, true, 0);
            history.append(0, Form::Upsert, key, element);
            history.end(Outcome::Committed, 1);
            history.begin(0, true, 2);
            history.read(0, Form::Select, key, &[element, element + 1]);
            history.end(Outcome::Committed, 3);
            history
        };
        let mut history = one(0, 10);
        history.join(one(1, 20));
        history.leave(&[vec![10], vec![20]]);
        assert_eq!(history.counts(), (2, 2));
        let reads: Vec<&[u32]> = (0..4)
            .flat_map(|at| history.operations(at))
            .map(|operation| history.elements(operation.deed))
            .collect();
        assert_eq!(reads, [&[][..], &[10, 11], &[], &[20, 21]]);
        assert_eq!(history.list(0), [10]);
        assert_eq!(history.list(1), [20]);
        assert_eq!(history.list(2), [0_u32; 0]);
    }
}
