//! Names of relations and columns in a printed query.
//!
//! Relations of one query, and of those around it, have different names, and so have the columns
//! of a relation. A column of `JOIN … USING` has one name in both sides.

use std::collections::HashMap;

use super::tree::{From, Joined, Range, RangeKind};

/// Bytes of the longest name.
const LONGEST: usize = 63;

/// Names of a relation or a join.
#[derive(Clone, Debug, Default)]
pub(super) struct Naming {
    /// Its own, which a join without an alias lacks.
    pub(super) name: Option<String>,
    pub(super) columns: Vec<String>,
    /// Whether the names of its columns are written behind its own.
    pub(super) listed: bool,
    /// Those of the columns of USING.
    pub(super) using: Vec<String>,
}

/// The names of the ranges of a query; `around` are those of the queries around it.
pub(super) fn names(
    all: &[Range],
    own: &[usize],
    from: &[From],
    around: &[String],
) -> HashMap<usize, Naming> {
    let mut made = Made {
        all,
        columns: HashMap::new(),
        above: HashMap::new(),
        using: HashMap::new(),
        unique: from.iter().any(|one| is_computed(all, one)),
        global: Vec::new(),
    };
    for one in from {
        made.pushed(one, &[]);
    }
    let mut used: HashMap<String, usize> = around.iter().map(|name| (name.clone(), 0)).collect();
    let mut found: HashMap<usize, Naming> = HashMap::new();
    for at in own {
        let range = &all[*at];
        let name = match (&range.alias, &range.kind) {
            (Some(alias), _) => Some(alias.clone()),
            (None, RangeKind::Join(_)) => None,
            (None, _) => Some(range.name.clone()),
        };
        let name = name.map(|name| unused(name, &mut used));
        let (columns, listed) = match &range.kind {
            RangeKind::Join(join) => made.of_join(*at, join, &found),
            _ => made.of_relation(*at),
        };
        let using = made.using.remove(at).unwrap_or_default();
        let naming = Naming {
            name,
            columns,
            listed,
            using,
        };
        found.insert(*at, naming);
    }
    found
}

/// A name that no other relation has.
fn unused(name: String, used: &mut HashMap<String, usize>) -> String {
    if !used.contains_key(&name) {
        used.insert(name.clone(), 0);
        return name;
    }
    loop {
        let count = used.entry(name.clone()).or_default();
        *count += 1;
        let other = numbered(&name, *count);
        if !used.contains_key(&other) {
            used.insert(other.clone(), 0);
            return other;
        }
    }
}

/// A name with a number behind it, as long as names may be.
fn numbered(name: &str, number: usize) -> String {
    let behind = format!("_{number}");
    let mut end = name.len().min(LONGEST.saturating_sub(behind.len()));
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{behind}", &name[..end])
}

/// Whether a join without an alias has a column of USING that is no column of its sides.
fn is_computed(all: &[Range], from: &From) -> bool {
    let From::Join {
        range, left, right, ..
    } = from
    else {
        return false;
    };
    let range = &all[*range];
    let own = matches!(&range.kind, RangeKind::Join(join) if join.computed);
    range.alias.is_none() && own || is_computed(all, left) || is_computed(all, right)
}

struct Made<'n> {
    all: &'n [Range],
    /// Names that are known already, by range.
    columns: HashMap<usize, Vec<Option<String>>>,
    /// Names of the columns of USING of the joins above.
    above: HashMap<usize, Vec<String>>,
    using: HashMap<usize, Vec<String>>,
    /// Whether names of USING are unique in the query.
    unique: bool,
    global: Vec<String>,
}

impl Made<'_> {
    fn given(&mut self, range: usize, column: usize, name: &str) {
        let all = self.columns.entry(range).or_default();
        if all.len() <= column {
            all.resize(column + 1, None);
        }
        all[column] = Some(name.to_owned());
    }

    /// A name that no other column has.
    fn unique(&self, name: &str, range: usize) -> String {
        let own = self.columns.get(&range).map_or(&[][..], Vec::as_slice);
        let above = self.above.get(&range).map_or(&[][..], Vec::as_slice);
        let is_used = |name: &str| {
            own.iter().flatten().any(|known| known == name)
                || self.global.iter().chain(above).any(|known| known == name)
        };
        if !is_used(name) {
            return name.to_owned();
        }
        let numbers = 1..;
        let mut others = numbers.map(|number| numbered(name, number));
        others.find(|other| !is_used(other)).unwrap_or_default()
    }

    /// Chooses the names of the columns of USING, and gives them to the sides.
    fn pushed(&mut self, from: &From, above: &[String]) {
        let From::Join {
            range: at,
            left,
            right,
            ..
        } = from
        else {
            return;
        };
        let all = self.all;
        let range = &all[*at];
        let RangeKind::Join(join) = &range.kind else {
            return;
        };
        let give = |made: &mut Self, column: usize, name: &str| {
            let Some((of_left, of_right)) = join.places.get(column) else {
                return;
            };
            if let Some(place) = of_left {
                made.given(join.left, *place, name);
            }
            if let Some(place) = of_right {
                made.given(join.right, *place, name);
            }
        };
        if range.alias.is_none() {
            let known = self.columns.get(at).cloned().unwrap_or_default();
            for (column, name) in known.iter().enumerate() {
                if let Some(name) = name {
                    give(self, column, name);
                }
            }
        }
        let mut above = above.to_vec();
        for column in 0..join.using {
            let known = self.columns.get(at);
            let known = known.and_then(|known| known.get(column).cloned().flatten());
            let name = match known {
                Some(name) => name,
                None => {
                    let own = range.columns.get(column).cloned().unwrap_or_default();
                    let written = range.renamed.get(column).cloned().unwrap_or(own);
                    let name = self.unique(&written, *at);
                    if self.unique {
                        self.global.push(name.clone());
                    }
                    self.given(*at, column, &name);
                    name
                }
            };
            self.using.entry(*at).or_default().push(name.clone());
            above.push(name.clone());
            give(self, column, &name);
        }
        self.above.insert(join.left, above.clone());
        self.above.insert(join.right, above.clone());
        self.pushed(left, &above);
        self.pushed(right, &above);
    }

    fn of_relation(&mut self, at: usize) -> (Vec<String>, bool) {
        let all = self.all;
        let range = &all[at];
        let mut changed = false;
        for (column, real) in range.columns.iter().enumerate() {
            let known = self.columns.get(&at);
            let known = known.and_then(|known| known.get(column).cloned().flatten());
            let name = known.unwrap_or_else(|| {
                let written = range.renamed.get(column).unwrap_or(real);
                self.unique(written, at)
            });
            changed |= name != *real;
            self.given(at, column, &name);
        }
        let listed = match range.kind {
            RangeKind::Relation { .. } => changed,
            RangeKind::Functions { .. } => true,
            _ => changed || !range.renamed.is_empty(),
        };
        let columns = self.columns.remove(&at).unwrap_or_default();
        (columns.into_iter().flatten().collect(), listed)
    }

    fn of_join(
        &mut self,
        at: usize,
        join: &Joined,
        found: &HashMap<usize, Naming>,
    ) -> (Vec<String>, bool) {
        let all = self.all;
        let range = &all[at];
        let mut changed = false;
        let child = |of: usize, place: Option<usize>| {
            let naming = found.get(&of)?;
            naming.columns.get(place?).cloned()
        };
        for (column, (left, right)) in join.places.iter().enumerate() {
            let real = child(join.left, *left).or_else(|| child(join.right, *right));
            let real = real.unwrap_or_default();
            let known = self.columns.get(&at);
            let known = known.and_then(|known| known.get(column).cloned().flatten());
            let name = match known {
                Some(name) => name,
                None if range.alias.is_none() => real.clone(),
                None => {
                    let written = range.renamed.get(column).unwrap_or(&real);
                    self.unique(written, at)
                }
            };
            // Names of USING are those of the sides.
            changed |= column >= join.using && name != real;
            self.given(at, column, &name);
        }
        let columns = self.columns.remove(&at).unwrap_or_default();
        let columns = columns.into_iter().flatten().collect();
        (columns, range.alias.is_some() && changed)
    }
}
