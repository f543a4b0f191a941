//! What a statement as a whole needs: rights on what it changes, and to do it at all.
//!
//! Tables that are read are looked at where their names are found, in `Relations`; the
//! table of an UPDATE, DELETE or MERGE is read by the statement itself, so that SELECT on
//! it is asked for here. What is not listed only superusers may do.

mod alter;
mod comment;

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, CascadeOption, ConflictTarget, CopySource, Delete, Expr, FromTable, Insert,
    Merge, MergeAction, ObjectName, OnConflictAction, OnInsert, Statement as Ast, TableFactor,
    TableObject, Truncate, Update, Visit,
};
use freestone_frontend::syntax::walk::{visit_expressions, visit_relations};
use freestone_storage::{Catalog, Object, Privileges, TableId};

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
            Ast::Insert(insert) => self.insert(catalog, insert),
            Ast::Update(update) => self.update(catalog, update),
            Ast::Delete(delete) => self.delete(catalog, delete),
            Ast::Merge(merge) => self.merge(catalog, merge),
            Ast::Truncate(truncate) => self.truncate(catalog, truncate),
            Ast::Copy { source, to, .. } => self.copy(catalog, source, *to),
            Ast::Query(query) if changing_query(ast).is_some() => {
                parts(query).try_for_each(|part| self.check(catalog, part))
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
        asked: Privileges,
    ) -> Result<()> {
        self.on_relation(catalog, &table_name(written)?, asked)
    }

    fn on_relation(&self, catalog: &Catalog, name: &Name, asked: Privileges) -> Result<()> {
        self.use_schema(catalog, &name.schema)?;
        match catalog.table(&name.schema, &name.name) {
            Some(table) => {
                if CHANGES.iter().any(|one| asked.contains(*one)) {
                    may_change(name, table)?;
                }
                self.table(name, table, asked)
            }
            None => {
                let object = Object::view(&name.schema, &name.name);
                let Some(view) = catalog.view(&name.schema, &name.name) else {
                    return Ok(());
                };
                if !self.may(&object, asked) {
                    return Err(denied("view", &name.name).at(name.position));
                }
                let changes = [Privileges::INSERT, Privileges::UPDATE, Privileges::DELETE];
                if !changes.iter().any(|one| asked.contains(*one)) {
                    return Ok(());
                }
                // Why a view cannot be changed is told later.
                let Ok(Ok(over)) = view_over(catalog, name) else {
                    return Ok(());
                };
                if is_of_invoker(&view.query) {
                    return self.on_relation(catalog, &over.under, asked);
                }
                Self::of_owner(catalog, &object).on_relation(catalog, &over.under, asked)
            }
        }
    }

    fn insert(&self, catalog: &Catalog, insert: &Insert) -> Result<()> {
        let TableObject::TableName(name) = &insert.table else {
            return Ok(());
        };
        let mut asked = Privileges::INSERT;
        if insert.overwrite {
            asked = asked | Privileges::DELETE;
        }
        if insert.returning.is_some() {
            asked = asked | Privileges::SELECT;
        }
        match &insert.on {
            None => {}
            Some(OnInsert::OnConflict(on)) => {
                let named = !matches!(on.conflict_target, None | Some(ConflictTarget::Columns(_)));
                if let OnConflictAction::DoUpdate(_) = on.action {
                    asked = asked | Privileges::UPDATE | Privileges::SELECT;
                } else if on.conflict_target.is_some() || named {
                    asked = asked | Privileges::SELECT;
                }
            }
            Some(_) => asked = asked | Privileges::UPDATE | Privileges::SELECT,
        }
        self.on_table(catalog, name, asked)
    }

    fn update(&self, catalog: &Catalog, update: &Update) -> Result<()> {
        let reads = update.from.is_some()
            || update.returning.is_some()
            || update.selection.is_some()
            || update.assignments.iter().any(|one| {
                reads_columns(&one.value) || !matches!(one.target, AssignmentTarget::ColumnName(_))
            });
        let asked = match reads {
            true => Privileges::UPDATE | Privileges::SELECT,
            false => Privileges::UPDATE,
        };
        self.on_factor(catalog, &update.table.relation, asked)
    }

    fn delete(&self, catalog: &Catalog, delete: &Delete) -> Result<()> {
        let reads =
            delete.using.is_some() || delete.returning.is_some() || delete.selection.is_some();
        let asked = match reads {
            true => Privileges::DELETE | Privileges::SELECT,
            false => Privileges::DELETE,
        };
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let each = &mut from.iter();
        each.try_for_each(|one| self.on_factor(catalog, &one.relation, asked))
    }

    fn merge(&self, catalog: &Catalog, merge: &Merge) -> Result<()> {
        let actions = merge.clauses.iter().map(|clause| match clause.action {
            MergeAction::Insert(_) => Privileges::INSERT,
            MergeAction::Update(_) => Privileges::UPDATE,
            MergeAction::Delete { .. } => Privileges::DELETE,
        });
        let asked = actions.fold(Privileges::SELECT, |all, one| all | one);
        self.on_factor(catalog, &merge.table, asked)
    }

    fn on_factor(&self, catalog: &Catalog, factor: &TableFactor, asked: Privileges) -> Result<()> {
        match factor {
            TableFactor::Table { name, .. } => self.on_table(catalog, name, asked),
            // Nothing else is changed; whatever it reads is asked for all the same.
            other => {
                let mut found = Ok(());
                let _ = visit_relations(other, |name| {
                    found = self.on_table(catalog, name, asked);
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
            Some(datafusion::sql::sqlparser::ast::TruncateIdentityOption::Restart) => {
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
            CopySource::Table { table_name, .. } => {
                self.on_table(catalog, table_name, Privileges::INSERT)
            }
            CopySource::Query(_) => Err(Error::new("42601", "COPY FROM needs a table")),
        }
    }
}

/// Whether an expression may read a column.
fn reads_columns<E: Visit>(expr: &E) -> bool {
    visit_expressions(expr, |part| match part {
        Expr::Value(_) | Expr::Nested(_) | Expr::UnaryOp { .. } | Expr::Cast { .. } => {
            ControlFlow::Continue(())
        }
        Expr::Identifier(ident)
            if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default") =>
        {
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Break(()),
    })
    .is_break()
}
