//! Rights that a statement asks for on a relation that it changes: on all of it, or on columns.
//!
//! ```text
//! UPDATE t SET a = b + 1 WHERE c    UPDATE on a, SELECT on b and c
//! INSERT INTO t (a) VALUES (1)      INSERT on a
//! DELETE FROM t                     DELETE on all of it
//! ```
//!
//! Columns that are read are found by their names in the text. A sub-query may name a column of
//! another relation that is called alike: then the right is asked for, too. Where a part of the
//! statement reads the same relation once more, or the statement is one of a WITH, rights on all
//! columns are asked for.

use std::ops::ControlFlow;

use freestone_frontend::syntax::marks::{NOTHING, is_mark};
use freestone_frontend::syntax::walk::{visit_expressions, visit_relations, walk};
use freestone_storage::Privileges;
use sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Ident, ObjectName, ObjectNamePart, Query, SelectItem,
    SetExpr, TableFactor, Visit, Visitor,
};

use crate::names::fold;
use crate::relations::{PLACE, TABLE};

/// Rights that are asked for.
#[derive(Default)]
pub(crate) struct Asked {
    /// On the whole relation.
    pub(super) whole: Privileges,
    /// On columns.
    pub(super) columns: Vec<(Privileges, Columns)>,
}

/// Some columns of a relation.
pub(crate) enum Columns {
    All,
    /// The first columns, as many as the number says.
    First(usize),
    /// At least one, whichever it is.
    Any,
    /// Columns of these names, as far as there are any.
    Named(Vec<String>),
}

impl From<Privileges> for Asked {
    fn from(whole: Privileges) -> Self {
        Self {
            whole,
            columns: Vec::new(),
        }
    }
}

impl Asked {
    /// All rights that are asked for, on columns or not.
    pub(super) fn all(&self) -> Privileges {
        let of_columns = self.columns.iter();
        of_columns.fold(self.whole, |all, (more, _)| all | *more)
    }

    /// With a right on columns, if they are some.
    pub(super) fn on(mut self, privilege: Privileges, columns: Columns) -> Self {
        if !matches!(&columns, Columns::Named(names) if names.is_empty()) {
            self.columns.push((privilege, columns));
        }
        self
    }
}

/// The columns that rows are put in: those of a list of names or, without one, as many as the rows
/// have, if that is seen.
pub(super) fn inserted(names: &[ObjectName], width: Option<usize>) -> Columns {
    match (listed(names), width) {
        (Columns::All, Some(width)) if names.is_empty() => Columns::First(width),
        (columns, _) => columns,
    }
}

/// How many columns a query has, if its text says so.
pub(super) fn width(query: &Query) -> Option<usize> {
    match query.body.as_ref() {
        SetExpr::Values(values) => values.rows.first().map(|row| row.len()),
        SetExpr::Select(select) => {
            // Other expressions may stand for several, as those with COLUMNS(…) do.
            let is_one = |item: &SelectItem| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    matches!(
                        expr,
                        Expr::Value(_) | Expr::Identifier(_) | Expr::CompoundIdentifier(_)
                    )
                }
                _ => false,
            };
            let items = &select.projection;
            items.iter().all(is_one).then_some(items.len())
        }
        _ => None,
    }
}

/// The columns that a list of names has; an empty list is all of them.
fn listed(names: &[ObjectName]) -> Columns {
    let columns: Vec<String> = names.iter().filter_map(column).collect();
    match columns.as_slice() {
        [] => Columns::All,
        // DO NOTHING in MERGE.
        [one] if one == NOTHING => Columns::Named(Vec::new()),
        _ => plain(columns),
    }
}

/// The columns of some names; any may be one that a form of the grammar is marked by.
fn plain(names: Vec<String>) -> Columns {
    match names.iter().any(|name| is_mark(name)) {
        true => Columns::All,
        false => Columns::Named(names),
    }
}

/// The columns that a list of names has; an empty list is all of them.
pub(super) fn listed_idents(names: &[Ident]) -> Columns {
    match names.is_empty() {
        true => Columns::All,
        false => Columns::Named(names.iter().map(fold).collect()),
    }
}

/// The columns that are assigned to.
pub(super) fn assigned(assignments: &[Assignment]) -> Columns {
    let targets = assignments.iter().flat_map(|one| match &one.target {
        AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
        AssignmentTarget::Tuple(names) => names,
    });
    plain(targets.filter_map(column).collect())
}

fn column(name: &ObjectName) -> Option<String> {
    match name.0.last()? {
        ObjectNamePart::Identifier(ident) => Some(fold(ident)),
        ObjectNamePart::Function(_) => None,
    }
}

/// Finds sub-queries with a star, which may be that of the relation around: `(SELECT t.*)`.
struct Stars;

impl Visitor for Stars {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        match query.to_string().contains('*') {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Columns of a relation that are read.
pub(super) struct Reads {
    /// The relation's name without its schema.
    name: String,
    /// How the relation is called in the statement.
    called: String,
    all: bool,
    names: Vec<String>,
}

impl Reads {
    /// Of a relation by its name and its alias.
    pub(super) fn of(name: &ObjectName, alias: Option<&Ident>) -> Self {
        let name = column(name).unwrap_or_default();
        Self {
            called: alias.map_or_else(|| name.clone(), fold),
            name,
            all: false,
            names: Vec::new(),
        }
    }

    /// Of the target of a statement; `None` if it is no table.
    pub(super) fn of_factor(factor: &TableFactor) -> Option<Self> {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                Some(Self::of(name, alias.as_ref().map(|alias| &alias.name)))
            }
            _ => None,
        }
    }

    /// Notes all columns if a part of the statement reads the relation once more.
    pub(super) fn note_relations<N: Visit>(&mut self, node: &N) {
        let again = visit_relations(node, |name| match column(name) {
            Some(name) if name == self.name => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        self.all |= again.is_break();
    }

    /// Notes the columns that a part of the statement reads.
    pub(super) fn note<N: Visit>(&mut self, node: &N) {
        self.note_relations(node);
        self.all |= walk(node, &mut Stars).is_break();
        let _ = visit_expressions(node, |part| {
            match part {
                Expr::Identifier(ident) => {
                    let name = fold(ident);
                    self.all |= name == self.called || is_mark(&name);
                    self.names.push(name);
                }
                Expr::CompoundIdentifier(parts) => {
                    if let [.., of, column] = parts.as_slice()
                        && fold(of) == self.called
                    {
                        let name = fold(column);
                        self.all |= is_mark(&name);
                        self.names.push(name);
                    }
                }
                Expr::Wildcard(_) | Expr::QualifiedWildcard(..) => self.all = true,
                _ => {}
            }
            ControlFlow::<()>::Continue(())
        });
    }

    /// Notes what RETURNING reads.
    pub(super) fn note_returned(&mut self, items: &[SelectItem]) {
        for item in items {
            match item {
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => self.all = true,
                other => self.note(other),
            }
        }
    }

    /// Notes columns by their names.
    pub(super) fn note_names(&mut self, names: &[Ident]) {
        self.names.extend(names.iter().map(fold));
    }

    /// Notes that any column may be read.
    pub(super) fn note_all(&mut self) {
        self.all = true;
    }

    /// The columns that were noted. Those that tell where a row is are of the whole relation.
    pub(super) fn columns(self) -> Columns {
        let mut names = self.names.iter();
        match self.all || names.any(|name| [TABLE, PLACE].contains(&name.as_str())) {
            true => Columns::All,
            false => Columns::Named(self.names),
        }
    }
}
