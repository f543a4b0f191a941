//! WITH of statements that change rows.
//!
//! ```sql
//! WITH moved AS (DELETE FROM inbox WHERE done RETURNING *)
//! INSERT INTO archive SELECT * FROM moved;
//! ```
//!
//! Statements in WITH that change rows are carried out once each: first those whose rows others
//! read, in the order in which they stand, then the main statement, then the rest. The rows that
//! one returns are a relation of its name for all that stands behind it. All parts of the
//! statement see the tables as they were before it; of two changes of one row the first takes
//! place. Keys and references are checked when all parts are done.
//!
//! Queries in WITH stay where they are: they are put before each part that may name them.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use freestone_frontend::syntax::walk::visit_relations;
use freestone_frontend::types::{Type, formatted};
use futures::TryStreamExt;
use sqlparser::ast::{Cte, ObjectName, Query, Statement as Ast, TableAliasColumnDef, With};

use super::Run;
use super::changes::Touched;
use crate::error::{Error, Result};
use crate::lower::type_of;
use crate::names::fold;
use crate::outcome::Outcome;
use crate::relations::Given;
use crate::statement::changing;
use crate::values::convert::from_shown;

/// Puts queries of WITH before a statement.
pub(crate) fn with_before(ast: Ast, ctes: &[Cte], with: &With) -> Result<Ast> {
    if ctes.is_empty() {
        return Ok(ast);
    }
    let add = |query: &mut Query| {
        let own = query.with.take();
        let mut all = With {
            cte_tables: ctes.to_vec(),
            ..with.clone()
        };
        if let Some(own) = own {
            all.recursive |= own.recursive;
            all.cte_tables.extend(own.cte_tables);
        }
        query.with = Some(all);
    };
    Ok(match ast {
        Ast::Query(mut query) => {
            add(&mut query);
            Ast::Query(query)
        }
        Ast::Insert(mut insert) => {
            if let Some(source) = &mut insert.source {
                add(source);
            }
            Ast::Insert(insert)
        }
        // Their queries are made of their parts, see `plan_of_change`.
        other => other,
    })
}

impl Run<'_> {
    /// Carries out a query that changes rows.
    ///
    /// # Errors
    /// The errors of the statements in WITH and of the main statement.
    pub(super) async fn with_changes(&self, query: &Query) -> Result<Outcome> {
        let Some(with) = &query.with else {
            let Some(ast) = changing(query) else {
                return Err(Error::internal("a query that changes nothing"));
            };
            return Box::pin(self.by_kind(ast)).await;
        };
        *self.parts.lock() = Some(Touched::default());
        let mut ctes: Vec<Cte> = Vec::new();
        // Statements whose rows no other part reads, with the number of queries before each.
        let mut unread: Vec<(Ast, usize)> = Vec::new();
        for cte in &with.cte_tables {
            let Some(ast) = changing(&cte.query) else {
                ctes.push(cte.clone());
                continue;
            };
            if cte.query.with.is_some() {
                return Err(Error::unsupported("WITH inside of a statement in WITH"));
            }
            if !reads(query, &fold(&cte.alias.name)) {
                unread.push((ast.clone(), ctes.len()));
                continue;
            }
            self.set_around(with, &ctes);
            let ast = with_before(ast.clone(), &ctes, with)?;
            let outcome = Box::pin(self.by_kind(&ast)).await?;
            let name = fold(&cte.alias.name);
            let given = given(name, &cte.alias.columns, outcome).await?;
            self.given.lock().push(given);
        }
        self.set_around(with, &ctes);
        let main = match changing(query) {
            Some(ast) => with_before(ast.clone(), &ctes, with)?,
            None => {
                let mut main = query.clone();
                main.with = (!ctes.is_empty()).then(|| With {
                    cte_tables: ctes.clone(),
                    ..with.clone()
                });
                Ast::Query(Box::new(main))
            }
        };
        let outcome = match Box::pin(self.by_kind(&main)).await? {
            // The changes stay only if all rows can be computed.
            Outcome::Rows(rows) => {
                let schema = Arc::clone(&rows.schema);
                let batches: Vec<RecordBatch> = rows.stream.try_collect().await?;
                Outcome::batches(schema, batches)
            }
            done => done,
        };
        for (ast, before) in unread {
            self.set_around(with, &ctes[..before]);
            let ast = with_before(ast, &ctes[..before], with)?;
            if let Outcome::Rows(rows) = Box::pin(self.by_kind(&ast)).await? {
                let _: Vec<RecordBatch> = rows.stream.try_collect().await?;
            }
        }
        let touched = self.parts.lock().take();
        self.settle(touched.unwrap_or_default())?;
        Ok(outcome)
    }

    /// What statements in WITH are taken to have returned.
    pub(crate) fn set_given(&self, given: Vec<Given>) {
        *self.given.lock() = given;
    }

    /// Queries of WITH that those of UPDATE, DELETE and MERGE may name from now on.
    pub(super) fn set_around(&self, with: &With, ctes: &[Cte]) {
        *self.around.lock() = (!ctes.is_empty()).then(|| With {
            cte_tables: ctes.to_vec(),
            ..with.clone()
        });
    }
}

/// Whether a relation of a name is read somewhere in a query.
fn reads(query: &Query, name: &str) -> bool {
    let named = |relation: &ObjectName| match relation.0.as_slice() {
        [part] if part.as_ident().map(fold).as_deref() == Some(name) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    visit_relations(query, named).is_break()
}

/// The rows that a part of a statement has given, under a name, and with names of columns.
pub(crate) async fn given(
    name: String,
    aliases: &[TableAliasColumnDef],
    outcome: Outcome,
) -> Result<Given> {
    let Outcome::Rows(rows) = outcome else {
        return Ok(Given {
            name,
            columns: Vec::new(),
            hidden: Vec::new(),
            rows: None,
        });
    };
    let schema = Arc::clone(&rows.schema);
    let batches: Vec<RecordBatch> = rows.stream.try_collect().await?;
    let types = schema.fields().iter().map(|field| {
        let said = type_of(field).and_then(|name| formatted(&name));
        said.unwrap_or_else(|| crate::types::type_of(field))
    });
    let types: Vec<Type> = types.collect();
    if aliases.len() > types.len() {
        let message = format!(
            "WITH query \"{name}\" has {} columns available but {} columns specified",
            types.len(),
            aliases.len()
        );
        return Err(Error::new("42P10", message));
    }
    let names = schema.fields().iter().enumerate();
    let names = names.map(|(at, field)| match aliases.get(at) {
        Some(alias) => fold(&alias.name),
        None => field.name().clone(),
    });
    let names: Vec<String> = names.collect();
    let fields = names.iter().zip(&types);
    let fields = fields.map(|(name, ty)| Field::new(name, ty.arrow(), true));
    let inner = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let rows = batches.iter().map(|batch| {
        let columns = batch.columns().iter().zip(&types);
        let columns = columns.map(|(array, ty)| from_shown(array, ty));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&inner), columns)?)
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    Given::new(name, names.into_iter().zip(types).collect(), rows)
}
