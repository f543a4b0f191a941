//! Temporary tables, views and sequences: those of a schema of the session's own, `pg_temp_1`,
//! which goes with it. A view that reads one of them is one of them.
//!
//! Names in queries are looked up there first where they are bound. Other names of statements
//! are rewritten before that: a name without a schema that a temporary table has is its name, as
//! is one behind `pg_temp`, also in a text such as `nextval('s')`. Where the path has `pg_temp`,
//! schemas before it come first, and what is new is temporary if it is the first. Rows of such a table are kept
//! as those of others are; what a crash leaves is removed when the database is opened again.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use freestone_frontend::syntax::walk::{visit_relations, visit_relations_mut};
use freestone_storage::{Catalog, OnCommit as Ending, Transaction};
use sqlparser::ast::{CreateTable, Ident, ObjectName, ObjectNamePart, OnCommit, Statement as Ast};

use super::path::foreign_keys;
use super::targets::{self, Object};
use super::texts::{self, Kind};
use super::{Notice, Open, Session};
use crate::error::{Error, Result};
use crate::names::{DEFAULT_SCHEMA, PG_TEMP, TEMPORARY, fold_part, has_rows};
use crate::relations::before_temporary;
use crate::statement::names_of_with;
use crate::{grammar, temporary};

/// Whether a name is one in the session's own schema, as `pg_temp.t`.
fn is_named_own(name: &ObjectName) -> bool {
    let first = name.0.first().filter(|_| name.0.len() == 2);
    first.and_then(fold_part).as_deref() == Some(PG_TEMP)
}

impl Session {
    /// Whether it has made temporary tables.
    pub(crate) fn has_temporary(&self) -> bool {
        self.client().temporary.get().is_some()
    }

    /// The schema of its temporary tables, once there may be some.
    pub(crate) fn temporary_schema(&self) -> Option<&str> {
        self.client().temporary.get().map(String::as_str)
    }

    /// The statement with the full names of the session's temporary tables.
    ///
    /// # Errors
    /// `42P16` for one in another schema; `0A000` for a view that would be left without one, and
    /// for a name of a sequence that has two meanings.
    pub(crate) fn own_tables<'a>(&self, ast: &'a Ast) -> Result<Cow<'a, Ast>> {
        let path = self.client().of_temporary();
        let is_first = |name: &ObjectName| path.first && name.0.len() == 1;
        let makes = match ast {
            Ast::CreateTable(create) => {
                create.temporary || is_named_own(&create.name) || is_first(&create.name)
            }
            Ast::CreateView(view) => view.temporary || !view.materialized && is_first(&view.name),
            Ast::CreateSequence {
                temporary,
                if_not_exists: _,
                name,
                data_type: _,
                sequence_options: _,
                owned_by: _,
            } => *temporary || is_named_own(name) || is_first(name),
            _ => false,
        };
        if !makes && !self.has_temporary() {
            return Ok(Cow::Borrowed(ast));
        }
        let schema = self.client().temporary.get_or_init(|| {
            static NEXT: AtomicU64 = AtomicU64::new(1);
            format!("{TEMPORARY}{}", NEXT.fetch_add(1, Ordering::Relaxed))
        });
        let Ok(snapshot) = self.glance() else {
            // It will say itself why it does not run.
            return Ok(Cow::Borrowed(ast));
        };
        let own = Own {
            schema,
            catalog: snapshot.catalog(),
            before: before_temporary(&self.statement_state(), snapshot.catalog()),
            given: names_of_with(ast),
        };
        let mut ast = ast.clone();
        match &mut ast {
            Ast::CreateTable(create) => create.temporary |= is_first(&create.name),
            Ast::CreateView(view) => {
                view.temporary |= !view.materialized && is_first(&view.name);
            }
            Ast::CreateSequence {
                temporary, name, ..
            } => *temporary |= is_first(name),
            _ => {}
        }
        let makes = own.adapt(&mut ast)?;
        if let Some(view) = makes {
            let text = format!("view \"{view}\" will be a temporary view");
            self.notify(Notice::told("00000", text));
        }
        Ok(Cow::Owned(ast))
    }

    /// The names of its temporary tables in a statement of our own.
    ///
    /// # Errors
    /// Syntax errors of names.
    pub(super) fn own_targets(&self, statement: &mut grammar::OwnStatement) -> Result<()> {
        let (Some(schema), Ok(snapshot)) = (self.temporary_schema(), self.glance()) else {
            return Ok(());
        };
        let own = Own {
            schema,
            catalog: snapshot.catalog(),
            before: before_temporary(&self.statement_state(), snapshot.catalog()),
            given: HashSet::new(),
        };
        targets::own_renamed(statement, &mut |name, object| own.target(name, object))
    }

    /// Does what is to become of its temporary tables when a transaction commits.
    ///
    /// # Errors
    /// Errors of storage.
    pub(super) fn end_temporary(&self, transaction: &mut Transaction) -> Result<()> {
        let Some(schema) = self.temporary_schema() else {
            return Ok(());
        };
        if transaction.is_unchanged() {
            return Ok(());
        }
        let tables = transaction.catalog().tables(schema).into_iter();
        let tables = tables.filter(|table| table.schema.on_commit.is_some());
        let tables: Vec<_> = tables.cloned().collect();
        for table in tables {
            if table.schema.on_commit == Some(Ending::Drop) {
                transaction.edit(|edit| edit.drop_table(schema, &table.name, true))?;
                continue;
            }
            transaction.absorb(table.id)?;
            let now = transaction.catalog().table_by_id(table.id).cloned();
            if let Some(now) = now.filter(|now| now.rows() > 0) {
                let (options, at) = (now.options.clone(), transaction.snapshot().timestamp());
                transaction.edit(|edit| edit.rewrite(now.id, &now, at, options, Vec::new()))?;
            }
        }
        Ok(())
    }

    /// Removes its temporary tables.
    ///
    /// # Errors
    /// Errors of storage.
    pub(crate) fn drop_temporary(&self) -> Result<()> {
        match self.temporary_schema() {
            Some(schema) => temporary::remove(self.database.store(), schema),
            None => Ok(()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.locks().end();
        if self.has_temporary() {
            *self.transaction.lock() = Open::Nothing;
            // The next to open the database removes what cannot be removed now.
            let _ = self.drop_temporary();
        }
    }
}

/// A session's temporary tables, for one statement.
struct Own<'a> {
    schema: &'a str,
    catalog: &'a Catalog,
    /// Schemas in which names are looked up before the session's own.
    before: Vec<String>,
    given: HashSet<String>,
}

impl Own<'_> {
    /// Whether a name is that of a table, view or sequence of the session.
    fn has(&self, relation: &str) -> bool {
        has_rows(self.catalog, self.schema, relation) && !self.is_behind(relation)
    }

    /// Whether a name is that of an index of the session.
    fn has_index(&self, name: &str) -> bool {
        self.catalog.index(self.schema, name).is_some() && !self.is_behind(name)
    }

    /// Whether a name is that of a relation in a schema before the session's own.
    fn is_behind(&self, relation: &str) -> bool {
        let mut before = self.before.iter();
        before.any(|schema| {
            has_rows(self.catalog, schema, relation)
                || self.catalog.index(schema, relation).is_some()
        })
    }

    /// Whether one of its sequences has the name of one that stays.
    fn hides_sequence(&self) -> bool {
        let mut own = self.catalog.all_sequences();
        own.any(|(schema, one)| {
            schema == self.schema && self.catalog.sequence(DEFAULT_SCHEMA, &one.name).is_some()
        })
    }

    /// Gives a name that a statement changes, drops, locks or tells of its full form.
    fn target(&self, name: &mut ObjectName, object: Object) {
        self.qualify(name, |relation| match object {
            Object::Relation | Object::Sequence => self.has(relation),
            Object::Index => self.has_index(relation),
            Object::Any => self.has(relation) || self.has_index(relation),
            // There are no temporary ones.
            Object::Function | Object::Type => false,
        });
    }

    /// Gives the session's own relations their full names; the name of a view that becomes one
    /// of the session's because it reads one.
    fn adapt(&self, ast: &mut Ast) -> Result<Option<String>> {
        if self.hides_sequence() && texts::has_computed(ast) {
            let message =
                "a computed name may be that of a temporary sequence or of one that stays";
            let hint = "write the name as a text, or cast it to regclass with its schema";
            return Err(Error::unsupported(message).with_hint(hint));
        }
        let mut in_texts = false;
        texts::renamed(ast, |name, kind| {
            in_texts |= self.qualify(name, |relation| match kind {
                Kind::Sequence => {
                    self.catalog.sequence(self.schema, relation).is_some()
                        && !self.is_behind(relation)
                }
                Kind::Any => self.has(relation) || self.has_index(relation),
            });
        });
        // What a statement makes is of the default schema, whatever else is called so.
        let makes = match ast {
            Ast::CreateTable(create) if create.temporary || is_named_own(&create.name) => {
                self.make(create)?;
                None
            }
            Ast::CreateTable(create) => Some(create.name.clone()),
            Ast::CreateView(view) if view.temporary => {
                view.temporary = false;
                self.own(&mut view.name)?;
                None
            }
            Ast::CreateView(view) => Some(view.name.clone()),
            _ => None,
        };
        self.referred(ast);
        let _ = visit_relations_mut(ast, |name| {
            let given = match name.0.as_slice() {
                [only] => fold_part(only).is_some_and(|name| self.given.contains(&name)),
                _ => false,
            };
            if !given {
                self.qualify(name, |relation| self.has(relation));
            }
            ControlFlow::<()>::Continue(())
        });
        targets::renamed(ast, &mut |name, object| self.target(name, object));
        match ast {
            Ast::CreateTable(create) => create.name = makes.unwrap_or(create.name.clone()),
            Ast::CreateView(view) => {
                view.name = makes.unwrap_or(view.name.clone());
                let reads = visit_relations(&view.query, |name| match self.is_own(name) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                });
                if reads.is_break() && !self.is_own(&view.name) {
                    let name = view.name.to_string();
                    self.own(&mut view.name)?;
                    return Ok(Some(name));
                }
                if in_texts && !self.is_own(&view.name) {
                    let message = format!(
                        "view \"{}\" would outlive the temporary relation that a text in it names",
                        view.name
                    );
                    return Err(Error::unsupported(message).with_hint("make it a TEMPORARY view"));
                }
            }
            Ast::CreateSequence {
                temporary, name, ..
            } if *temporary || is_named_own(name) => {
                *temporary = false;
                self.own(name)?;
            }
            _ => {}
        }
        Ok(None)
    }

    /// Gives the tables that foreign keys refer to their full names.
    fn referred(&self, ast: &mut Ast) {
        let makes = match ast {
            Ast::CreateTable(create) if self.is_own(&create.name) => {
                create.name.0.last().and_then(fold_part)
            }
            _ => None,
        };
        for key in foreign_keys(ast) {
            self.qualify(&mut key.foreign_table, |relation| {
                makes.as_deref() == Some(relation)
                    || self.catalog.table(self.schema, relation).is_some()
                        && !self.is_behind(relation)
            });
        }
    }

    /// Makes the table a usual one of the session's schema.
    fn make(&self, create: &mut CreateTable) -> Result<()> {
        if create.on_commit == Some(OnCommit::PreserveRows) {
            create.on_commit = None;
        }
        create.temporary = false;
        // LOCAL and GLOBAL say nothing, as in PostgreSQL.
        create.global = None;
        self.own(&mut create.name)
    }

    /// Makes a name one of the session's schema.
    fn own(&self, name: &mut ObjectName) -> Result<()> {
        if !self.qualify(name, |_| true) {
            let message = "cannot create temporary relation in non-temporary schema";
            return Err(Error::new("42P16", message).with_hint("name it without a schema"));
        }
        Ok(())
    }

    /// Puts the session's schema before a name that has none, if it is wanted there, or in the
    /// place of `pg_temp`; whether it has that schema then.
    fn qualify(&self, name: &mut ObjectName, wanted: impl FnOnce(&str) -> bool) -> bool {
        let folded: Option<Vec<String>> = name.0.iter().map(fold_part).collect();
        let own = match folded.as_deref() {
            Some([relation]) => wanted(relation),
            Some([schema, _]) => schema == PG_TEMP,
            _ => false,
        };
        if own {
            let schema = ObjectNamePart::Identifier(Ident::with_quote('"', self.schema));
            let relation = name.0.drain(..).next_back();
            name.0 = std::iter::once(schema).chain(relation).collect();
        }
        own || self.is_own(name)
    }

    fn is_own(&self, name: &ObjectName) -> bool {
        let first = name.0.first().filter(|_| name.0.len() == 2);
        first.and_then(fold_part).as_deref() == Some(self.schema)
    }
}
