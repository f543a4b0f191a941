//! Random transactions over a few lists.
//!
//! Few keys are in use at a time, so that transactions meet. A key retires after some appends, so
//! that lists stay short. Its number tells its place among the keys in use and so its table:
//!
//! ```text
//! keys in use     0   1   2   3        4 places, 2 tables: even places are in l0, odd ones in l1
//! later           4   1   6   3        0 and 2 are retired
//! ```
//!
//! Tables with even numbers hold lists as text, the others as arrays. Each list is a row; a statement
//! appends to it in one of many ways, which all lock the row or have to fail. One way writes the whole
//! list that the transaction has read. At READ COMMITTED it needs a lock of a row that is there; at the
//! other levels it has to fail if the row has changed since the snapshot.
//!
//! Left out: tables with a row for each element, because nothing gives their order.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Isolation, NONE};
use crate::random::Random;

/// Most operations of a transaction.
const OPERATIONS: usize = 6;
/// Most keys of a statement.
const KEYS: usize = 3;

/// A form of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// INSERT of a list that must not be there.
    Insert,
    /// UPDATE by the key.
    Update,
    /// UPDATE by the other indexed column.
    UpdateByOther,
    /// UPDATE by the key that gives the new list.
    Returning,
    /// INSERT … ON CONFLICT DO UPDATE of some lists.
    Upsert,
    /// UPDATE … FROM of some lists, which it gives.
    Joined,
    /// MERGE.
    Merge,
    /// UPDATE with the list that was read before and the new element.
    Replace,
    /// SELECT by the key.
    Select,
    /// SELECT by the other indexed column.
    Other,
    /// SELECT by the key and by a column that each append changes.
    Both,
    /// SELECT … FOR UPDATE.
    ForUpdate,
    /// SELECT … FOR SHARE.
    ForShare,
    /// SELECT of several keys.
    Several,
    /// SELECT of several keys by an expression that no index has.
    Scan,
    /// SELECT of several keys of all tables.
    Tables,
}

impl Form {
    /// Forms that append, with how often they are drawn.
    const APPENDS: [(Self, usize); 7] = [
        (Self::Insert, 2),
        (Self::Update, 6),
        (Self::UpdateByOther, 3),
        (Self::Returning, 4),
        (Self::Upsert, 9),
        (Self::Joined, 4),
        (Self::Merge, 3),
    ];
    /// Forms that read, with how often they are drawn.
    const READS: [(Self, usize); 8] = [
        (Self::Select, 6),
        (Self::Other, 3),
        (Self::Both, 2),
        (Self::ForUpdate, 3),
        (Self::ForShare, 1),
        (Self::Several, 5),
        (Self::Scan, 2),
        (Self::Tables, 4),
    ];

    /// Whether it appends.
    pub fn is_append(self) -> bool {
        self == Self::Replace || Self::APPENDS.iter().any(|(form, _)| *form == self)
    }

    /// Whether it locks rows that it reads and does not change.
    pub fn is_lock(self) -> bool {
        matches!(self, Self::ForUpdate | Self::ForShare)
    }

    /// Whether it reads several keys in one snapshot at each level.
    ///
    /// UPDATE is none of them: at READ COMMITTED it gives the newest rows.
    pub fn is_of_one_snapshot(self) -> bool {
        matches!(self, Self::Several | Self::Scan | Self::Tables)
    }

    /// Whether it may be about several keys.
    fn is_wide(self) -> bool {
        self.is_of_one_snapshot() || matches!(self, Self::Upsert | Self::Joined)
    }

    fn drawn(random: &mut Random, forms: &[(Self, usize)]) -> Self {
        let mut at = random.below(forms.iter().map(|(_, weight)| weight).sum());
        for (form, weight) in forms {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return *form,
            }
        }
        Self::Select
    }
}

/// The keys and tables of a run.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Keys in use at a time.
    pub places: usize,
    /// Tables.
    pub tables: usize,
    /// Appends after which a key retires.
    pub length: usize,
}

impl Space {
    /// The table of a key.
    pub fn table(self, key: u32) -> usize {
        key as usize % self.places.max(1) % self.tables.max(1)
    }

    /// The statements that make the tables.
    pub fn setup(self) -> Vec<String> {
        let tables = 0..self.tables;
        let setup = tables.flat_map(|table| {
            let ty = if is_array(table) { "bigint[]" } else { "text" };
            [
                format!(
                    "CREATE TABLE l{table} (k bigint PRIMARY KEY, g bigint NOT NULL, \
                     n int NOT NULL, v {ty} NOT NULL)"
                ),
                format!("CREATE INDEX l{table}_g ON l{table} (g)"),
                format!("CREATE INDEX l{table}_n ON l{table} (n)"),
            ]
        });
        setup.collect()
    }
}

/// Whether a table's lists are arrays.
fn is_array(table: usize) -> bool {
    table % 2 == 1
}

/// A list as a constant of a table.
fn constant(table: usize, list: &[u32]) -> String {
    let numbers: Vec<String> = list.iter().map(u32::to_string).collect();
    match is_array(table) {
        true => format!("ARRAY[{}]::bigint[]", numbers.join(", ")),
        false => format!("' {}'", numbers.join(" ")),
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The form.
    pub form: Form,
    /// Whether it is taken back to a savepoint.
    pub undone: bool,
    /// Keys, each with the element that is appended.
    pub targets: Vec<(u32, u32)>,
    /// The list that [`Form::Replace`] goes on from.
    pub base: Vec<u32>,
}

impl Statement {
    /// The text.
    pub fn text(&self, space: Space) -> String {
        let Some((key, element)) = self.targets.first().copied() else {
            return "SELECT".to_owned();
        };
        let t = space.table(key);
        let new = constant(t, &[element]);
        let keys = |table: usize| {
            let of = self.targets.iter().map(|(key, _)| *key);
            let of = of.filter(|key| space.table(*key) == table);
            of.map(|key| key.to_string()).collect::<Vec<_>>().join(", ")
        };
        let rows = |row: fn(u32, String) -> String| {
            let all = self.targets.iter();
            let all = all.map(|(key, element)| row(*key, constant(t, &[*element])));
            all.collect::<Vec<_>>().join(", ")
        };
        let whole = |key: u32, new: String| format!("({key}, -{key}, 1, {new})");
        let pair = |key: u32, new: String| format!("({key}, {new})");
        let update = format!("UPDATE l{t} SET v = v || {new}, n = n + 1");
        match self.form {
            Form::Insert => format!("INSERT INTO l{t} (k, g, n, v) VALUES {}", rows(whole)),
            Form::Update => format!("{update} WHERE k = {key}"),
            Form::UpdateByOther => format!("{update} WHERE g = -{key}"),
            Form::Returning => format!("{update} WHERE k = {key} RETURNING v"),
            Form::Upsert => format!(
                "INSERT INTO l{t} AS t (k, g, n, v) VALUES {} ON CONFLICT (k) DO UPDATE \
                 SET v = t.v || excluded.v, n = t.n + 1",
                rows(whole)
            ),
            Form::Joined => format!(
                "UPDATE l{t} AS t SET v = t.v || x.v, n = t.n + 1 FROM (VALUES {}) AS x (k, v) \
                 WHERE t.k = x.k RETURNING t.k, t.v",
                rows(pair)
            ),
            Form::Merge => format!(
                "MERGE INTO l{t} AS t USING (VALUES {}) AS x (k, v) ON t.k = x.k \
                 WHEN MATCHED THEN UPDATE SET v = t.v || x.v, n = t.n + 1 \
                 WHEN NOT MATCHED THEN INSERT (k, g, n, v) VALUES (x.k, -x.k, 1, x.v)",
                rows(pair)
            ),
            Form::Replace => {
                let mut list = self.base.clone();
                list.push(element);
                let list = constant(t, &list);
                format!("UPDATE l{t} SET v = {list}, n = n + 1 WHERE k = {key}")
            }
            Form::Select => format!("SELECT v FROM l{t} WHERE k = {key}"),
            Form::Other => format!("SELECT v FROM l{t} WHERE g = -{key}"),
            Form::Both => format!("SELECT v FROM l{t} WHERE k = {key} AND n > 0"),
            Form::ForUpdate => format!("SELECT v FROM l{t} WHERE k = {key} FOR UPDATE"),
            Form::ForShare => format!("SELECT v FROM l{t} WHERE k = {key} FOR SHARE"),
            Form::Several => format!("SELECT k, v FROM l{t} WHERE k IN ({})", keys(t)),
            Form::Scan => format!("SELECT k, v FROM l{t} WHERE k + 0 IN ({})", keys(t)),
            Form::Tables => {
                let tables = (0..space.tables).map(|table| (table, keys(table)));
                let tables = tables.filter(|(_, keys)| !keys.is_empty());
                let parts = tables.map(|(table, keys)| {
                    format!("SELECT k, v::text FROM l{table} WHERE k IN ({keys})")
                });
                parts.collect::<Vec<_>>().join(" UNION ALL ")
            }
        }
    }
}

/// A transaction that a client is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whether its one statement has no BEGIN and no COMMIT.
    pub alone: bool,
    /// Whether it ends with ROLLBACK.
    pub rolled_back: bool,
    /// Its statements.
    pub statements: Vec<Statement>,
}

/// The keys in use, which all clients share.
pub struct Keys {
    space: Space,
    /// A key and its appends for each place.
    places: Mutex<Vec<(u32, usize)>>,
    elements: AtomicU32,
}

impl Keys {
    /// The first keys.
    pub fn new(space: Space) -> Self {
        let places = (0..space.places as u32).map(|key| (key, 0));
        Self {
            space,
            places: Mutex::new(places.collect()),
            elements: AtomicU32::new(0),
        }
    }

    /// A number above all keys that were in use.
    pub fn end(&self) -> u32 {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let last = places.iter().map(|(key, _)| *key).max();
        last.map_or(0, |last| last + 1)
    }

    /// A key in use, of a table if one is given.
    fn drawn(&self, random: &mut Random, table: Option<usize>) -> u32 {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = places.iter().map(|(key, _)| *key);
        let keys = keys.filter(|key| table.is_none_or(|table| self.space.table(*key) == table));
        let keys: Vec<u32> = keys.collect();
        random.pick(&keys).copied().unwrap_or_default()
    }

    /// A new element for a key, which may be its last.
    fn element(&self, key: u32) -> u32 {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let at = key as usize % self.space.places.max(1);
        if let Some((now, appends)) = places.get_mut(at)
            && *now == key
        {
            *appends += 1;
            if *appends >= self.space.length {
                (*now, *appends) = (key + self.space.places as u32, 0);
            }
        }
        self.elements.fetch_add(1, Ordering::Relaxed)
    }

    /// Draws a transaction.
    pub fn transaction(&self, random: &mut Random, level: Isolation) -> Plan {
        let alone = random.percent(20);
        let only = random
            .percent(35)
            .then(|| random.below(self.space.tables.min(self.space.places)));
        let mut left = if alone {
            1
        } else {
            1 + random.below(OPERATIONS)
        };
        let mut statements = Vec::new();
        // Keys whose list a later statement may replace.
        let mut held: Vec<u32> = Vec::new();
        while left > 0 {
            let undone = !alone && random.percent(5);
            let statement = self.statement(random, (alone, only, undone), &held);
            left = left.saturating_sub(statement.targets.len());
            let holds = match level {
                Isolation::ReadCommitted => statement.form.is_lock(),
                _ => !statement.form.is_append(),
            };
            if holds && !undone {
                held.extend(statement.targets.iter().map(|(key, _)| *key));
            }
            statements.push(statement);
        }
        Plan {
            alone,
            rolled_back: !alone && random.percent(8),
            statements,
        }
    }

    fn statement(
        &self,
        random: &mut Random,
        (alone, only, undone): (bool, Option<usize>, bool),
        held: &[u32],
    ) -> Statement {
        let is_append = random.percent(50);
        let form = match is_append {
            true if !held.is_empty() && random.percent(30) => Form::Replace,
            true => Form::drawn(random, &Form::APPENDS),
            false => Form::drawn(random, &Form::READS),
        };
        // An unanswered UPDATE of several keys does not tell which of them were there.
        let form = if alone && form == Form::Joined {
            Form::Upsert
        } else {
            form
        };
        let mut keys = vec![match form {
            Form::Replace => random.pick(held).copied().unwrap_or_default(),
            _ => self.drawn(random, only),
        }];
        let table = keys.first().map(|key| self.space.table(*key));
        let table = if form == Form::Tables { only } else { table };
        if form.is_wide() {
            for _ in 0..random.below(KEYS) + usize::from(!is_append) {
                let key = self.drawn(random, table);
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        let target = |key: u32| match is_append {
            true => (key, self.element(key)),
            false => (key, NONE),
        };
        Statement {
            form,
            undone,
            targets: keys.into_iter().map(target).collect(),
            base: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space {
        places: 4,
        tables: 2,
        length: 8,
    };

    #[test]
    fn keys_retire_and_elements_are_unique() {
        let keys = Keys::new(SPACE);
        let mut random = Random::new(1);
        let mut elements = Vec::new();
        let mut lengths = vec![0; 10_000];
        for _ in 0..500 {
            let plan = keys.transaction(&mut random, Isolation::Serializable);
            assert!(!plan.statements.is_empty());
            for statement in plan.statements {
                for (key, element) in statement.targets {
                    if element != NONE {
                        elements.push(element);
                        lengths[key as usize] += 1;
                    }
                }
            }
        }
        let count = elements.len();
        elements.sort_unstable();
        elements.dedup();
        assert_eq!(elements.len(), count);
        assert!(keys.end() as usize > count / 16);
        // A statement that replaces a list may be about a key that has retired.
        assert!(lengths.iter().all(|length| *length < 16));
    }

    #[test]
    fn statements_but_those_of_all_tables_have_one_table() {
        let keys = Keys::new(SPACE);
        let mut random = Random::new(2);
        let mut forms = Vec::new();
        for _ in 0..2000 {
            let plan = keys.transaction(&mut random, Isolation::RepeatableRead);
            for statement in plan.statements {
                let tables = statement.targets.iter().map(|(key, _)| SPACE.table(*key));
                let mut tables: Vec<usize> = tables.collect();
                tables.dedup();
                assert!(tables.len() == 1 || statement.form == Form::Tables);
                if !forms.contains(&statement.form) {
                    forms.push(statement.form);
                }
            }
        }
        assert_eq!(forms.len(), 16);
    }

    #[test]
    fn a_list_is_written_as_its_table_has_it() {
        let statement = |form, targets: &[(u32, u32)]| Statement {
            form,
            undone: false,
            targets: targets.to_vec(),
            base: vec![5, 6],
        };
        let text = statement(Form::Replace, &[(0, 7)]).text(SPACE);
        assert_eq!(text, "UPDATE l0 SET v = ' 5 6 7', n = n + 1 WHERE k = 0");
        let text = statement(Form::Update, &[(5, 7)]).text(SPACE);
        let expected = "UPDATE l1 SET v = v || ARRAY[7]::bigint[], n = n + 1 WHERE k = 5";
        assert_eq!(text, expected);
        let text = statement(Form::Tables, &[(5, NONE), (2, NONE), (7, NONE)]).text(SPACE);
        let expected = "SELECT k, v::text FROM l0 WHERE k IN (2) UNION ALL \
                        SELECT k, v::text FROM l1 WHERE k IN (5, 7)";
        assert_eq!(text, expected);
    }
}
