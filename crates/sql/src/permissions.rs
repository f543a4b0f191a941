//! What a statement as a whole needs: rights on what it changes, and to do it at all.
//!
//! Tables that are read are looked at where their names are found, in `Relations`; the
//! table of an UPDATE, DELETE or MERGE is read by the statement itself, so that SELECT on
//! it is asked for here. What is not listed only superusers may do.

mod alter;
mod asked;
mod comment;

use std::collections::HashSet;
use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::visit_relations;
use freestone_storage::{Catalog, Object, Privileges, TableId};
use sqlparser::ast::{
    CascadeOption, ConflictTarget, CopySource, Delete, FromTable, Insert, Merge, MergeAction,
    MergeInsertKind, ObjectName, OnConflictAction, OnInsert, Statement as Ast, TableFactor,
    TableObject, Truncate, Update, With,
};

use self::asked::{Asked, Columns, Reads, assigned, inserted, listed_idents, width};
use crate::error::{Error, Result};
use crate::names::{Name, table_name};
use crate::relations::may_change;
use crate::relations::updatable::{is_of_invoker, view_over};
use crate::rights::{Rights, denied};
use crate::statement::{changing_query, parts};

pub(crate) use comment::{CONSTRAINT, commented, part_of_table};

/// Rights to change rows.
const CHANGES: [Privileges; 4] = [
    Privileges::INSERT,
    Privileges::UPDATE,
    Privileges::DELETE,
    Privileges::TRUNCATE,
];

impl Rights {
    /// Refuses a statement that they do not reach for.
    ///
    /// # Errors
    /// `42501`; those of names.
    pub(crate) fn check(&self, catalog: &Catalog, ast: &Ast) -> Result<()> {
        self.check_within(catalog, ast, None)
    }

    /// As [`Rights::check`], of a statement beside common table expressions.
    fn check_within(&self, catalog: &Catalog, ast: &Ast, with: Option<&With>) -> Result<()> {
        let changes = matches!(
            ast,
            Ast::Explain { .. }
                | Ast::Insert(_)
                | Ast::Update(_)
                | Ast::Delete(_)
                | Ast::Merge(_)
                | Ast::Truncate(_)
                | Ast::Copy { .. }
                | Ast::Query(_)
        );
        // Some tables are changed by nobody.
        if self.is_superuser() && !changes {
            return Ok(());
        }
        match ast {
            Ast::Explain { statement, .. } => self.check(catalog, statement),
            Ast::Insert(insert) => self.insert(catalog, insert, with),
            Ast::Update(update) => self.update(catalog, update, with),
            Ast::Delete(delete) => self.delete(catalog, delete, with),
            Ast::Merge(merge) => self.merge(catalog, merge, with),
            Ast::Truncate(truncate) => self.truncate(catalog, truncate),
            Ast::Copy { source, to, .. } => self.copy(catalog, source, *to),
            Ast::Query(query) if changing_query(ast).is_some() => {
                let with = query.with.as_ref();
                parts(query).try_for_each(|part| self.check_within(catalog, part, with))
            }
            // Settings, roles and names say for themselves what they need.
            Ast::Query(_)
            | Ast::Call(_)
            | Ast::Set(_)
            | Ast::Reset(_)
            | Ast::ShowTables { .. }
            | Ast::ShowViews { .. }
            | Ast::ShowSchemas { .. }
            | Ast::ShowColumns { .. }
            | Ast::ShowVariable { .. }
            | Ast::ShowVariables { .. }
            | Ast::ExplainTable { .. }
            // The query of a cursor says for itself what it needs.
            | Ast::Declare { .. }
            | Ast::Fetch { .. }
            | Ast::Close { .. }
            | Ast::Analyze(_)
            | Ast::Discard { .. }
            | Ast::UNLISTEN { .. } => Ok(()),
            Ast::Lock(lock) => {
                let mut tables = lock.tables.iter();
                tables.try_for_each(|one| self.on_table(catalog, &one.name, Privileges::SELECT))
            }
            other => alter::check(self, catalog, other),
        }
    }

    /// Rights on the table or view of that name; what is none is told later.
    pub(super) fn on_table(
        &self,
        catalog: &Catalog,
        written: &ObjectName,
        asked: impl Into<Asked>,
    ) -> Result<()> {
        self.on_relation(catalog, &table_name(written)?, &asked.into())
    }

    fn on_relation(&self, catalog: &Catalog, name: &Name, asked: &Asked) -> Result<()> {
        self.use_schema(catalog, &name.schema)?;
        let all = asked.all();
        match catalog.table(&name.schema, &name.name) {
            Some(table) => {
                if CHANGES.iter().any(|one| all.contains(*one)) {
                    may_change(name, table)?;
                }
                self.table(name, table, asked.whole)?;
                let mut columns = asked.columns.iter();
                columns.try_for_each(|(privilege, columns)| {
                    let known = table.schema.declared().iter().map(|column| &column.name);
                    let columns: Vec<String> = match columns {
                        Columns::Any => return self.any_column(name, table, *privilege),
                        Columns::All => known.cloned().collect(),
                        Columns::First(width) => known.take(*width).cloned().collect(),
                        Columns::Named(names) => known
                            .filter(|known| names.contains(known))
                            .cloned()
                            .collect(),
                    };
                    self.columns_of_table(name, table, (*privilege, &columns))
                })
            }
            None => {
                let object = Object::view(&name.schema, &name.name);
                let Some(view) = catalog.view(&name.schema, &name.name) else {
                    return Ok(());
                };
                let mut columns = asked.columns.iter();
                let may = self.may(&object, asked.whole)
                    && columns.all(|(privilege, columns)| match columns {
                        Columns::All | Columns::First(_) => self.may(&object, *privilege),
                        Columns::Any => self.may_any(&object, *privilege),
                        Columns::Named(names) => {
                            let mut names = names.iter();
                            names.all(|name| self.may_column(&object, name, *privilege))
                        }
                    });
                if !may {
                    return Err(denied("view", &name.name).at(name.position));
                }
                let changes = [Privileges::INSERT, Privileges::UPDATE, Privileges::DELETE];
                if !changes.iter().any(|one| all.contains(*one)) {
                    return Ok(());
                }
                // Why a view cannot be changed is told later.
                let Ok(Ok(over)) = view_over(catalog, name) else {
                    return Ok(());
                };
                let under = Asked::from(all);
                if is_of_invoker(&view.query) {
                    return self.on_relation(catalog, &over.under, &under);
                }
                Self::of_owner(catalog, &object).on_relation(catalog, &over.under, &under)
            }
        }
    }

    fn insert(&self, catalog: &Catalog, insert: &Insert, with: Option<&With>) -> Result<()> {
        let TableObject::TableName(name) = &insert.table else {
            return Ok(());
        };
        if self.is_superuser() {
            return self.on_table(catalog, name, Privileges::INSERT);
        }
        let alias = insert.table_alias.as_ref().map(|alias| &alias.alias);
        let mut reads = Reads::of(name, alias);
        if insert.on.is_some() {
            with.iter().for_each(|with| reads.note_relations(*with));
            insert
                .source
                .iter()
                .for_each(|rows| reads.note_relations(rows));
        }
        let mut asked = Asked::default();
        if insert.overwrite {
            asked.whole = Privileges::DELETE;
        }
        if let Some(items) = &insert.returning {
            reads.note_returned(items);
        }
        match &insert.on {
            None => {}
            Some(OnInsert::OnConflict(on)) => {
                match &on.conflict_target {
                    None => {}
                    Some(ConflictTarget::Columns(columns)) => reads.note_names(columns),
                    Some(ConflictTarget::OnConstraint(_)) => reads.note_all(),
                }
                if let OnConflictAction::DoUpdate(update) = &on.action {
                    let values = update.assignments.iter().map(|one| &one.value);
                    values
                        .chain(&update.selection)
                        .for_each(|part| reads.note(part));
                    asked = asked.on(Privileges::UPDATE, assigned(&update.assignments));
                }
            }
            Some(_) => asked.whole = asked.whole | Privileges::UPDATE | Privileges::SELECT,
        }
        let columns = match &insert.source {
            Some(rows) => inserted(&insert.columns, width(rows)),
            None => Columns::Any,
        };
        let asked = asked.on(Privileges::INSERT, columns);
        self.on_table(catalog, name, asked.on(Privileges::SELECT, reads.columns()))
    }

    fn update(&self, catalog: &Catalog, update: &Update, with: Option<&With>) -> Result<()> {
        let target = &update.table.relation;
        let Some(mut reads) = self.reads_of(target) else {
            return self.on_factor(catalog, target, Privileges::UPDATE | Privileges::SELECT);
        };
        with.iter().for_each(|with| reads.note_relations(*with));
        let values = update.assignments.iter().map(|one| &one.value);
        values
            .chain(&update.selection)
            .for_each(|part| reads.note(part));
        if let Some(from) = &update.from {
            reads.note(from);
        }
        reads.note_returned(update.returning.as_deref().unwrap_or_default());
        let asked = Asked::default().on(Privileges::UPDATE, assigned(&update.assignments));
        self.on_factor(
            catalog,
            target,
            asked.on(Privileges::SELECT, reads.columns()),
        )
    }

    fn delete(&self, catalog: &Catalog, delete: &Delete, with: Option<&With>) -> Result<()> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let each = &mut from.iter();
        each.try_for_each(|one| {
            let Some(mut reads) = self.reads_of(&one.relation) else {
                let asked = Privileges::DELETE | Privileges::SELECT;
                return self.on_factor(catalog, &one.relation, asked);
            };
            with.iter().for_each(|with| reads.note_relations(*with));
            delete.selection.iter().for_each(|part| reads.note(part));
            delete.using.iter().for_each(|part| reads.note(part));
            reads.note_returned(delete.returning.as_deref().unwrap_or_default());
            let asked = Asked::from(Privileges::DELETE);
            let asked = asked.on(Privileges::SELECT, reads.columns());
            self.on_factor(catalog, &one.relation, asked)
        })
    }

    fn merge(&self, catalog: &Catalog, merge: &Merge, with: Option<&With>) -> Result<()> {
        let Some(mut reads) = self.reads_of(&merge.table) else {
            let all = [Privileges::INSERT, Privileges::UPDATE, Privileges::DELETE];
            let all = all
                .into_iter()
                .fold(Privileges::SELECT, |all, one| all | one);
            return self.on_factor(catalog, &merge.table, all);
        };
        with.iter().for_each(|with| reads.note_relations(*with));
        reads.note_relations(&merge.source);
        reads.note(&merge.on);
        reads.note(&merge.clauses);
        let mut asked = Asked::default();
        for clause in &merge.clauses {
            asked = match &clause.action {
                MergeAction::Insert(insert) => {
                    let width = match &insert.kind {
                        MergeInsertKind::Values(values) => values.rows.first().map(|row| row.len()),
                        MergeInsertKind::Row => None,
                    };
                    asked.on(Privileges::INSERT, inserted(&insert.columns, width))
                }
                MergeAction::Update(update) => {
                    asked.on(Privileges::UPDATE, assigned(&update.assignments))
                }
                MergeAction::Delete { .. } => Asked {
                    whole: asked.whole | Privileges::DELETE,
                    ..asked
                },
            };
        }
        let asked = asked.on(Privileges::SELECT, reads.columns());
        self.on_factor(catalog, &merge.table, asked)
    }

    /// The columns that a change of a relation reads, to be noted; `None` if they are not asked
    /// for, as of a superuser.
    fn reads_of(&self, changed: &TableFactor) -> Option<Reads> {
        match self.is_superuser() {
            true => None,
            false => Reads::of_factor(changed),
        }
    }

    fn on_factor(
        &self,
        catalog: &Catalog,
        factor: &TableFactor,
        asked: impl Into<Asked>,
    ) -> Result<()> {
        let asked = asked.into();
        match factor {
            TableFactor::Table { name, .. } => self.on_table(catalog, name, asked),
            // Nothing else is changed; what it reads is asked for all the same.
            other => {
                let mut found = Ok(());
                let _ = visit_relations(other, |name| {
                    found = self.on_table(catalog, name, asked.all());
                    match found {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                });
                found
            }
        }
    }

    fn truncate(&self, catalog: &Catalog, truncate: &Truncate) -> Result<()> {
        let mut names = truncate.table_names.iter();
        names.try_for_each(|target| self.on_table(catalog, &target.name, Privileges::TRUNCATE))?;
        if truncate.cascade == Some(CascadeOption::Cascade) {
            self.truncate_referring(catalog, truncate)?;
        }
        match truncate.identity {
            Some(sqlparser::ast::TruncateIdentityOption::Restart) => {
                let mut names = truncate.table_names.iter();
                names.try_for_each(|target| alter::owned_table(self, catalog, &target.name))
            }
            _ => Ok(()),
        }
    }

    /// Asks for TRUNCATE on all tables whose foreign keys lead to one that is truncated.
    fn truncate_referring(&self, catalog: &Catalog, truncate: &Truncate) -> Result<()> {
        let mut open = Vec::new();
        for target in &truncate.table_names {
            let name = table_name(&target.name)?;
            open.extend(
                catalog
                    .table(&name.schema, &name.name)
                    .map(|table| table.id),
            );
        }
        let mut seen: HashSet<TableId> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            for child in catalog.children(id) {
                if seen.insert(child.id) {
                    let name = Name::in_catalog(catalog, &child);
                    self.table(&name, &child, Privileges::TRUNCATE)?;
                    open.push(child.id);
                }
            }
        }
        Ok(())
    }

    fn copy(&self, catalog: &Catalog, source: &CopySource, to: bool) -> Result<()> {
        match source {
            // Its rows are those of a query.
            _ if to => Ok(()),
            CopySource::Table {
                table_name,
                columns,
            } => {
                let asked = Asked::default().on(Privileges::INSERT, listed_idents(columns));
                self.on_table(catalog, table_name, asked)
            }
            CopySource::Query(_) => Err(Error::new("42601", "COPY FROM needs a table")),
        }
    }
}
