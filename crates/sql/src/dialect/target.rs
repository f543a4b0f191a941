//! Columns of a changed table that are named by its schema, too.
//!
//! The table that a statement changes is known by its name alone while the statement runs:
//! `DELETE FROM s.t WHERE s.t.k = 1 RETURNING s.t.k` is read as
//! `DELETE FROM s.t WHERE t.k = 1 RETURNING t.k`. A table with an alias has no other name.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::walk_mut;
use sqlparser::ast::{
    Expr, FromTable, ObjectName, SelectItem, SelectItemQualifiedWildcardKind as Qualified, SetExpr,
    Statement as Ast, TableFactor, TableObject, VisitorMut,
};

use crate::names::{Name, column_of, table_name};

/// Drops the schema from columns of the tables that a statement changes.
pub(crate) fn shorten(ast: &mut Ast) {
    match ast {
        Ast::Prepare { statement, .. } | Ast::Explain { statement, .. } => shorten(statement),
        Ast::Query(query) => {
            let with = query.with.iter_mut().flat_map(|with| &mut with.cte_tables);
            for body in with.map(|cte| &mut cte.query.body) {
                if let SetExpr::Insert(ast) | SetExpr::Update(ast) | SetExpr::Delete(ast) =
                    body.as_mut()
                {
                    shorten(ast);
                }
            }
        }
        _ => {
            if let Some(name) = target(ast).and_then(|name| table_name(name).ok()) {
                shorten_wildcards(ast, &name);
                let _: ControlFlow<()> = walk_mut(ast, &mut Shorten(name));
            }
        }
    }
}

/// The table that a statement changes, if it has no alias.
fn target(ast: &Ast) -> Option<&ObjectName> {
    fn plain(factor: &TableFactor) -> Option<&ObjectName> {
        match factor {
            TableFactor::Table {
                name, alias: None, ..
            } => Some(name),
            _ => None,
        }
    }
    match ast {
        Ast::Insert(insert) => match &insert.table {
            TableObject::TableName(name) if insert.table_alias.is_none() => Some(name),
            _ => None,
        },
        Ast::Update(update) => plain(&update.table.relation),
        Ast::Delete(delete) => match &delete.from {
            FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from) => {
                plain(&from.first()?.relation)
            }
        },
        _ => None,
    }
}

/// Drops the schema from `schema.table.*` in RETURNING.
fn shorten_wildcards(ast: &mut Ast, table: &Name) {
    let list = match ast {
        Ast::Insert(insert) => &mut insert.returning,
        Ast::Update(update) => &mut update.returning,
        Ast::Delete(delete) => &mut delete.returning,
        _ => return,
    };
    for item in list.iter_mut().flatten() {
        if let SelectItem::QualifiedWildcard(Qualified::ObjectName(name), _) = item
            && name.0.len() > 1
            && table_name(name).is_ok_and(|named| same_table(&named, table))
            && let Some(last) = name.0.pop()
        {
            name.0 = vec![last];
        }
    }
}

fn same_table(one: &Name, other: &Name) -> bool {
    (&one.schema, &one.name) == (&other.schema, &other.name)
}

struct Shorten(Name);

impl VisitorMut for Shorten {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && parts.len() > 2
            && column_of(parts, &self.0).is_some()
        {
            parts.drain(..parts.len() - 2);
        }
        ControlFlow::Continue(())
    }
}
