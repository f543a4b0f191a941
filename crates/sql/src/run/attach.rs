//! ALTER TABLE … ATTACH PARTITION and DETACH PARTITION.
//!
//! A table becomes a partition as it is, with its rows and its blocks: it must have the columns
//! and conditions of its parent, and only rows of its bound.

use std::sync::Arc;

use freestone_storage::{PartitionBound, PartitionOf, Table};
use futures::StreamExt;
use sqlparser::ast::{CreateTable, Statement as Ast};

use super::Run;
use super::partition::{Divided, declare_anew, wrong};
use super::redeclare::written;
use crate::error::{Error, Result};
use crate::front::parse_expr;
use crate::names::{Name, quoted};
use crate::outcome::Outcome;
use crate::partition::{ancestors, leaves, names_of, partitions};
use crate::routing::{Divisions, Key, Membership};
use crate::statement::parse_one;

impl Run<'_> {
    /// ALTER TABLE … ATTACH PARTITION, tried again where rows came meanwhile.
    pub(super) async fn attach(&self, parent: &Name, child: &Name, bound: &str) -> Result<Outcome> {
        for attempt in 1.. {
            let run = self.absorbed_beside(parent, Some(child))?;
            match Box::pin(run.attach_once(parent, child, bound)).await {
                Err(error) if self.is_worth_again(&error, attempt) => {}
                done => return done,
            }
        }
        Err(Error::internal("a statement that was never run"))
    }

    /// ALTER TABLE … ATTACH PARTITION.
    pub(super) async fn attach_once(
        &self,
        parent: &Name,
        child: &Name,
        bound: &str,
    ) -> Result<Outcome> {
        let parent_table = Arc::clone(self.stored_table(parent)?);
        let table = Arc::clone(self.stored_table(child)?);
        for (name, table) in [(parent, &parent_table), (child, &table)] {
            self.must_own(name, table)?;
        }
        if parent_table.schema.partitioned.is_none() {
            let message = format!("table \"{}\" is not partitioned", parent.name);
            return Err(wrong(message));
        }
        if table.schema.partition.is_some() {
            let message = format!("\"{}\" is already a partition", child.name);
            return Err(Error::new("42809", message));
        }
        let above = ancestors(&self.snapshot, &parent_table);
        if table.id == parent_table.id || above.iter().any(|(_, known)| known.id == table.id) {
            return Err(
                Error::new("42P07", "circular inheritance not allowed").with_detail(format!(
                    "\"{}\" is already a child of \"{}\".",
                    parent.name, child.name
                )),
            );
        }
        let text = format!("CREATE TABLE t PARTITION OF t {bound}");
        let Ast::CreateTable(CreateTable {
            for_values: Some(bound),
            ..
        }) = parse_one(&text)?
        else {
            return Err(Error::internal("a bound that is none"));
        };
        must_fit(&parent_table, &table)?;
        let divided = self.divided(&parent_table, &child.name, &bound).await?;
        let mut schema = (*table.schema).clone();
        schema.partition = Some(PartitionOf {
            parent: parent_table.id,
            bound: divided.bound.clone(),
            version: 0,
        });
        self.must_be_members(child, &parent_table, &divided).await?;
        let missing = parent_table.schema.keys.iter().filter(|key| {
            let columns = names_of(&parent_table.schema, &key.columns);
            !table.schema.keys.iter().any(|own| {
                own.primary == key.primary && names_of(&table.schema, &own.columns) == columns
            })
        });
        if let Some(key) = missing.clone().next() {
            return Err(Error::unsupported(format!(
                "ATTACH PARTITION of a table without the key of constraint \"{}\" is not supported",
                key.name
            ))
            .with_hint("Add a key of the same columns to the table first."));
        }
        let seen = self.snapshot.timestamp();
        let (below, options) = (leaves(&self.snapshot, &table), table.options.clone());
        let below: Vec<Arc<Table>> = below.into_iter().map(|(_, leaf)| leaf.clone()).collect();
        self.edit(|edit| {
            divided.still_holds(edit, seen)?;
            edit.declare(&table, seen, schema, options)?;
            below
                .iter()
                .try_for_each(|leaf| declare_anew(edit, leaf, seen))
        })?;
        Ok(Outcome::done("ALTER TABLE"))
    }

    /// Checks that all rows of a table may be in a new partition.
    async fn must_be_members(&self, name: &Name, parent: &Table, divided: &Divided) -> Result<()> {
        let all = partitions(&self.snapshot, parent);
        let bounds = all
            .iter()
            .filter_map(|(_, part)| part.schema.partition.as_ref());
        let mut bounds: Vec<&PartitionBound> = bounds.map(|of| &of.bound).collect();
        bounds.push(&divided.bound);
        let columns = parent
            .schema
            .columns
            .iter()
            .map(|column| quoted(&column.name));
        let columns: Vec<String> = columns.collect();
        let query = format!("SELECT {} FROM {}", columns.join(", "), written(name));
        let Some(key) = &parent.schema.partitioned else {
            return Ok(());
        };
        let key = Key::of(self.expressions(), key, &parent.schema, &parent.name)?;
        let divisions = Divisions::of(&key, bounds.iter().copied())?;
        let above = Membership::of(self.expressions(), parent)?;
        let plan = self.logical(&parse_one(&query)?).await?.stored()?;
        let plan = plan.runnable()?;
        let mut stream = plan.stream(&self.session.run_context())?;
        while let Some(batch) = stream.next().await {
            let batch = self.assigned(parent, &batch?)?;
            let found = divisions.find(&key, &key.values(&batch)?)?;
            let own = Some(bounds.len() - 1);
            if found.iter().any(|found| *found != own) || above.stranger(&batch)?.is_some() {
                let message = format!(
                    "partition constraint of relation \"{}\" is violated by some row",
                    name.name
                );
                return Err(Error::new("23514", message));
            }
        }
        Ok(())
    }

    /// ALTER TABLE … DETACH PARTITION.
    pub(super) fn detach(&self, parent: &Name, child: &Name) -> Result<Outcome> {
        let parent_table = Arc::clone(self.stored_table(parent)?);
        self.must_own(parent, &parent_table)?;
        if parent_table.schema.partitioned.is_none() {
            let message = format!("table \"{}\" is not partitioned", parent.name);
            return Err(wrong(message));
        }
        let table = Arc::clone(self.stored_table(child)?);
        let of = table.schema.partition.as_ref();
        if of.is_none_or(|of| of.parent != parent_table.id) {
            let message = format!(
                "relation \"{}\" is not a partition of relation \"{}\"",
                child.name, parent.name
            );
            return Err(Error::new("42P01", message));
        }
        let mut schema = (*table.schema).clone();
        schema.partition = None;
        let (seen, options) = (self.snapshot.timestamp(), table.options.clone());
        let below = leaves(&self.snapshot, &table);
        let below: Vec<Arc<Table>> = below.into_iter().map(|(_, leaf)| leaf.clone()).collect();
        self.edit(|edit| {
            edit.declare(&table, seen, schema, options)?;
            below
                .iter()
                .try_for_each(|leaf| declare_anew(edit, leaf, seen))
        })?;
        Ok(Outcome::done("ALTER TABLE"))
    }
}

/// Checks that a table has the columns and conditions of one whose partition it becomes.
fn must_fit(parent: &Table, child: &Table) -> Result<()> {
    if child.schema.columns.iter().any(|own| own.hidden.is_some()) {
        let message = format!(
            "table \"{}\" has an index over an expression or with WHERE, which partitions have not",
            child.name
        );
        return Err(Error::unsupported(message).with_hint("DROP INDEX removes it."));
    }
    for column in &child.schema.columns {
        if parent.schema.index_of(&column.name).is_none() {
            let message = format!(
                "table \"{}\" contains column \"{}\" not found in parent \"{}\"",
                child.name, column.name, parent.name
            );
            return Err(Error::new("42804", message)
                .with_detail("The new partition may contain only the columns present in parent."));
        }
    }
    for column in &parent.schema.columns {
        let found = child
            .schema
            .columns
            .iter()
            .find(|own| own.name == column.name);
        let Some(own) = found else {
            let message = format!("child table is missing column \"{}\"", column.name);
            return Err(Error::new("42804", message));
        };
        let same = (own.kind, own.modifier, own.declared)
            == (column.kind, column.modifier, column.declared);
        if !same {
            let message = format!(
                "child table \"{}\" has different type for column \"{}\"",
                child.name, column.name
            );
            return Err(Error::new("42804", message));
        }
        if !column.nullable && own.nullable {
            let message = format!(
                "column \"{}\" in child table must be marked NOT NULL",
                column.name
            );
            return Err(Error::new("42804", message));
        }
        if column.generated != own.generated {
            let message = match column.generated {
                true => format!(
                    "column \"{}\" in child table must be a generated column",
                    own.name
                ),
                false => {
                    format!(
                        "column \"{}\" in child table must not be a generated column",
                        own.name
                    )
                }
            };
            return Err(Error::new("42804", message));
        }
    }
    for check in &parent.schema.checks {
        let own = child
            .schema
            .checks
            .iter()
            .find(|own| own.name == check.name);
        let Some(own) = own else {
            let message = format!("child table is missing constraint \"{}\"", check.name);
            return Err(Error::new("42804", message));
        };
        if parse_expr(&own.condition)? != parse_expr(&check.condition)? {
            let message = format!(
                "child table \"{}\" has different definition for check constraint \"{}\"",
                child.name, check.name
            );
            return Err(Error::new("42804", message));
        }
    }
    if !parent.schema.foreign_keys.is_empty() {
        return Err(Error::unsupported(
            "ATTACH PARTITION to a table with foreign keys is not supported",
        ));
    }
    Ok(())
}
