//! Relations and columns in sight of an expression.

use freestone_frontend::types::Type;
use sqlparser::ast::Ident;

use super::read::{Reader, Typed};
use super::tree::{Node, Range};
use crate::names::fold;

/// A column by its name.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) name: String,
    pub(super) node: Node,
    pub(super) ty: Type,
}

/// A relation by its name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) schema: Option<String>,
    pub(super) columns: Vec<Seen>,
    /// Its whole row; `None` if that has no form of its own.
    pub(super) row: Option<(Node, Type)>,
}

/// What a query sees of its FROM.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespace {
    pub(super) relations: Vec<Named>,
    pub(super) columns: Vec<Seen>,
}

impl Namespace {
    pub(super) fn join(&mut self, other: Namespace) {
        self.relations.extend(other.relations);
        self.columns.extend(other.columns);
    }

    pub(super) fn relation(&self, schema: Option<&str>, name: &str) -> Option<&Named> {
        let fits = |one: &&Named| {
            one.name == name && schema.is_none_or(|schema| one.schema.as_deref() == Some(schema))
        };
        self.relations.iter().find(fits)
    }
}

/// A common table expression in sight.
#[derive(Clone, Debug)]
pub(super) struct SeenCte {
    pub(super) name: String,
    pub(super) columns: Vec<(String, Type)>,
}

/// Queries that are open, and the relations of all.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// What each query sees, the innermost last.
    pub(super) open: Vec<Namespace>,
    pub(super) ctes: Vec<SeenCte>,
    pub(super) ranges: Vec<Range>,
    /// The ranges of the SELECTs that are open.
    pub(super) own: Vec<Vec<usize>>,
    /// The ranges that columns were read of.
    pub(super) reads: Vec<usize>,
}

impl Reader<'_> {
    /// Adds a range to the innermost SELECT.
    pub(super) fn add_range(&self, range: Range) -> usize {
        let mut scopes = self.scopes.borrow_mut();
        let at = scopes.ranges.len();
        scopes.ranges.push(range);
        if let Some(own) = scopes.own.last_mut() {
            own.push(at);
        }
        at
    }

    /// Reads something with more names in sight.
    pub(super) fn within<T>(
        &self,
        names: Namespace,
        read: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        self.scopes.borrow_mut().open.push(names);
        let done = read();
        self.scopes.borrow_mut().open.pop();
        done
    }

    /// Notes that the column of a range was read.
    fn noted(&self, found: Typed) -> Typed {
        if let Node::Column { range, .. } = &found.0 {
            self.scopes.borrow_mut().reads.push(*range);
        }
        found
    }

    /// Whether a column of the innermost query was read since some reads.
    pub(super) fn reads_own(&self, before: usize) -> bool {
        let scopes = self.scopes.borrow();
        let own = scopes.own.last().map_or(&[][..], Vec::as_slice);
        let read = scopes.reads.get(before..).unwrap_or_default();
        read.iter().any(|range| own.contains(range))
    }

    /// A column by its name alone, or else the row of a relation.
    pub(super) fn named_column(&self, ident: &Ident) -> Option<Typed> {
        let name = fold(ident);
        let find = || {
            let scopes = self.scopes.borrow();
            for names in scopes.open.iter().rev() {
                if names.columns.iter().any(|seen| seen.name == name) {
                    return Some(only(&names.columns, &name));
                }
            }
            let mut rows = scopes.open.iter().rev();
            let row = rows.find_map(|names| names.relation(None, &name))?;
            Some(row.row.clone())
        };
        match find() {
            Some(found) => Some(self.noted(found?)),
            None => self.bare_call(ident),
        }
    }

    /// A parameter by its number.
    pub(super) fn parameter(&self, number: &str) -> Option<Typed> {
        let scopes = self.scopes.borrow();
        only(&scopes.open.first()?.columns, number)
    }

    /// A column by its name and that of its relation.
    pub(super) fn qualified(
        &self,
        schema: Option<&str>,
        relation: &str,
        column: &str,
    ) -> Option<Typed> {
        let find = || {
            let scopes = self.scopes.borrow();
            let mut all = scopes.open.iter().rev();
            let found = all.find_map(|names| names.relation(schema, relation))?;
            only(&found.columns, column)
        };
        find().map(|found| self.noted(found))
    }

    /// The row of a relation.
    pub(super) fn whole_row(&self, schema: Option<&str>, relation: &str) -> Option<Typed> {
        let find = || {
            let scopes = self.scopes.borrow();
            let mut all = scopes.open.iter().rev();
            let found = all.find_map(|names| names.relation(schema, relation))?;
            found.row.clone()
        };
        find().map(|found| self.noted(found))
    }
}

/// The only column of a name.
fn only(columns: &[Seen], name: &str) -> Option<Typed> {
    let mut found = columns.iter().filter(|seen| seen.name == name);
    let first = found.next()?;
    match found.next() {
        Some(_) => None,
        None => Some((first.node.clone(), first.ty.clone())),
    }
}
