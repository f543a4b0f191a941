//! ALTER TABLE … ADD CONSTRAINT and DROP CONSTRAINT.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{ConstraintUsingIndex, TableConstraint};
use freestone_storage::{Deferral, IndexKind, Key, Table, TableSchema};

use super::Run;
use super::declare::{Declared, constraint_names};
use super::redeclare::written;
use super::reference::deferral;
use crate::error::{Error, Result};
use crate::names::{Name, fold, named, quoted};
use crate::session::{Notice, Outcome};

impl Run<'_> {
    /// SET CONSTRAINTS, of some names or of all.
    pub(super) fn set_constraints(
        &self,
        names: Option<&[String]>,
        deferred: bool,
    ) -> Result<Outcome> {
        let mut open = self.session.transaction();
        let transaction = open.changing()?;
        if transaction.is_none() {
            let text = "SET CONSTRAINTS can only be used in transaction blocks";
            self.session.notify(Notice::warning("25P01", text));
        }
        let catalog = match &transaction {
            Some(transaction) => transaction.catalog(),
            None => self.snapshot.catalog(),
        };
        let mut found = Vec::new();
        for name in names.into_iter().flatten() {
            let name = named(name)?;
            let before = found.len();
            let mut refused = None;
            for table in catalog.tables(&name.schema) {
                let schema = &table.schema;
                let foreign = schema.foreign_keys.iter();
                let foreign = foreign.map(|key| (&key.name, key.deferral));
                let keys = schema.keys.iter().map(|key| (&key.name, key.deferral));
                match keys.chain(foreign).find(|(known, _)| **known == name.name) {
                    Some((_, Deferral::Never)) => refused = Some("is not deferrable"),
                    Some((known, _)) => found.push((table.id, known.clone())),
                    None if constraint_names(&table.schema).contains(&name.name) => {
                        refused = Some("is not deferrable");
                    }
                    None => {}
                }
            }
            if found.len() > before {
                continue;
            }
            let (code, what) = match refused {
                Some(what) => ("42809", what),
                None => ("42704", "does not exist"),
            };
            return Err(Error::new(
                code,
                format!("constraint \"{}\" {what}", name.name),
            ));
        }
        if let Some(transaction) = transaction {
            transaction.set_constraints(names.map(|_| found.as_slice()), deferred)?;
        }
        Ok(Outcome::done("SET CONSTRAINTS"))
    }

    /// RENAME CONSTRAINT; the index of a key goes along.
    pub(super) fn rename_constraint(&self, table: &Table, from: &str, to: &str) -> Result<()> {
        let names = constraint_names(&table.schema);
        let relation = &table.name;
        if !names.iter().any(|name| name == from) {
            let message = format!("constraint \"{from}\" for table \"{relation}\" does not exist");
            return Err(Error::new("42704", message));
        }
        if names.iter().any(|name| name == to) {
            let message = format!("constraint \"{to}\" for relation \"{relation}\" already exists");
            return Err(Error::new("42710", message));
        }
        let mut schema = (*table.schema).clone();
        let indexes = schema.indexes.iter_mut();
        let of_keys = schema.keys.iter().any(|key| key.name == from);
        let indexes = indexes.filter(|_| of_keys).map(|index| &mut index.name);
        let keys = schema.keys.iter_mut().map(|key| &mut key.name);
        let checks = schema.checks.iter_mut().map(|check| &mut check.name);
        let foreign = schema.foreign_keys.iter_mut().map(|key| &mut key.name);
        let all = indexes.chain(keys).chain(checks).chain(foreign);
        for name in all.filter(|name| *name == from) {
            to.clone_into(name);
        }
        self.declare(table, schema)
    }

    pub(super) async fn add_constraint(
        &self,
        name: &Name,
        table: &Arc<Table>,
        constraint: &TableConstraint,
    ) -> Result<()> {
        match constraint {
            TableConstraint::UniqueUsingIndex(using) => {
                return self.promote(name, table, using, false).await;
            }
            TableConstraint::PrimaryKeyUsingIndex(using) => {
                return self.promote(name, table, using, true).await;
            }
            _ => {}
        }
        let mut declared = Declared::from(self, name, (*table.schema).clone());
        declared.constraint(constraint)?;
        let schema = declared.finished()?;
        let target = written(name);
        if let Some(check) = schema.checks.get(table.schema.checks.len()) {
            let query = format!(
                "SELECT 1 FROM {target} WHERE NOT ({}) LIMIT 1",
                check.condition
            );
            if self.any(&query).await? {
                let message = format!(
                    "check constraint \"{}\" of relation \"{name}\" is violated by some row",
                    check.name
                );
                return Err(Error::new("23514", message));
            }
        }
        if let Some(key) = schema.foreign_keys.get(table.schema.foreign_keys.len()) {
            let parent = self.snapshot.all_tables().find(|(_, t)| t.id == key.parent);
            let Some((parent_schema, parent)) = parent else {
                return Err(Error::internal("a parent that is not there"));
            };
            let pairs = key.columns.iter().zip(&key.parent_columns);
            let pairs = pairs.map(|(own, other)| {
                let own = quoted(&table.schema.columns[*own].name);
                let other = quoted(&parent.schema.columns[*other].name);
                (
                    format!("c.{own} IS NOT NULL"),
                    format!("p.{other} = c.{own}"),
                )
            });
            let (present, same): (Vec<String>, Vec<String>) = pairs.unzip();
            let query = format!(
                "SELECT 1 FROM {target} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {}.{} AS p \
                 WHERE {}) LIMIT 1",
                present.join(" AND "),
                quoted(parent_schema),
                quoted(&parent.name),
                same.join(" AND ")
            );
            if self.any(&query).await? {
                let message = format!(
                    "insert or update on table \"{name}\" violates foreign key constraint \"{}\"",
                    key.name
                );
                return Err(Error::new("23503", message));
            }
        }
        match schema.keys.get(table.schema.keys.len()).cloned() {
            Some(key) => self.add_key(name, table, schema, key).await,
            None => self.declare(table, schema),
        }
    }

    /// ADD CONSTRAINT … UNIQUE or PRIMARY KEY USING INDEX: the key of a unique index becomes a
    /// constraint.
    async fn promote(
        &self,
        name: &Name,
        table: &Arc<Table>,
        using: &ConstraintUsingIndex,
        primary: bool,
    ) -> Result<()> {
        let index = fold(&using.index_name);
        let mut schema = (*table.schema).clone();
        let known = schema.indexes.iter_mut().find(|known| known.name == index);
        let known = known
            .ok_or_else(|| Error::new("42704", format!("index \"{index}\" does not exist")))?;
        let wrong = |what: &str| {
            let detail = "Cannot create a primary key or unique constraint using such an index.";
            Err(Error::new("42809", what).with_detail(detail))
        };
        let Some(key) = schema.keys.iter_mut().find(|key| key.name == index) else {
            return wrong(&format!("\"{index}\" is not a unique index"));
        };
        if !key.of_index {
            let message = format!("index \"{index}\" is already associated with a constraint");
            return Err(Error::new("55000", message));
        }
        if table.schema.condition(&key.columns).is_some() {
            return wrong(&format!("\"{index}\" is a partial index"));
        }
        let mut columns = key.columns.iter();
        if columns.any(|at| table.schema.columns[*at].hidden.is_some()) {
            return wrong(&format!("index \"{index}\" contains expressions"));
        }
        let called = using.name.as_ref().map_or_else(|| index.clone(), fold);
        if called != index {
            let text = format!(
                "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{index}\" to \
                 \"{called}\""
            );
            self.session.notify(Notice::told("00000", text));
        }
        key.name.clone_from(&called);
        known.name = called;
        (key.of_index, key.primary) = (false, primary);
        key.deferral = deferral(using.characteristics.as_ref())?;
        for at in key.columns.clone().into_iter().filter(|_| primary) {
            self.must_be_present(name, table, at).await?;
            schema.columns[at].nullable = false;
        }
        let schema = Declared::from(self, name, schema).finished()?;
        self.declare(table, schema)
    }

    pub(super) async fn add_key(
        &self,
        name: &Name,
        table: &Arc<Table>,
        mut schema: TableSchema,
        key: Key,
    ) -> Result<()> {
        let columns = key.columns.iter();
        let names: Vec<String> = columns
            .map(|column| quoted(&table.schema.columns[*column].name))
            .collect();
        for column in key.columns.iter().filter(|_| key.primary) {
            self.must_be_present(name, table, *column).await?;
        }
        let present: Vec<String> = names
            .iter()
            .map(|name| format!("{name} IS NOT NULL"))
            .collect();
        let query = format!(
            "SELECT 1 FROM {} WHERE {} GROUP BY {} HAVING count(*) > 1 LIMIT 1",
            written(name),
            present.join(" AND "),
            names.join(", ")
        );
        if self.any(&query).await? {
            let message = format!("could not create unique index \"{}\"", key.name);
            return Err(Error::new("23505", message).with_detail("Some rows have the same key."));
        }
        let threads = self.state().config().target_partitions();
        let (kind, columns) = (IndexKind::Csb, key.columns.clone());
        let goes_on = || self.session.goes_on().is_ok();
        let store = self.store();
        let index = store.build_index(table, &key.name, kind, columns, threads, &goes_on);
        self.session.goes_on()?;
        let index = index?;
        schema.keys.retain(|known| known.name != key.name);
        let seen = self.snapshot.timestamp();
        self.edit(|edit| {
            edit.create_index(&name.schema, table, index)?;
            Ok(edit.add_key(table, seen, key, &schema)?)
        })
    }

    pub(super) fn drop_constraint(
        &self,
        table: &Table,
        constraint: &str,
        if_exists: bool,
        cascade: bool,
    ) -> Result<()> {
        let mut schema = (*table.schema).clone();
        let key = schema.keys.iter().position(|key| key.name == constraint);
        let children = key.map_or(Vec::new(), |key| {
            let columns = &schema.keys[key].columns;
            self.snapshot.referring(table.id, columns)
        });
        if let Some((child, reference)) = children.first()
            && !cascade
        {
            let message = format!(
                "cannot drop constraint \"{constraint}\": foreign key \"{reference}\" of table \
                 \"{}\" needs it",
                child.name
            );
            return Err(Error::new("2BP01", message)
                .with_hint("DROP CONSTRAINT … CASCADE drops the foreign key too"));
        }
        let before = constraint_names(&schema).len();
        if key.is_some() {
            schema.indexes.retain(|index| index.name != constraint);
        }
        schema.keys.retain(|key| key.name != constraint);
        schema.checks.retain(|check| check.name != constraint);
        schema.foreign_keys.retain(|key| key.name != constraint);
        schema.prune_comments();
        if constraint_names(&schema).len() == before {
            if if_exists {
                return Ok(());
            }
            let message = format!(
                "constraint \"{constraint}\" of relation \"{}\" does not exist",
                table.name
            );
            return Err(Error::new("42704", message));
        }
        for (child, reference) in &children {
            if child.id == table.id {
                schema.foreign_keys.retain(|key| key.name != *reference);
            } else {
                self.drop_constraint(child, reference, true, false)?;
            }
        }
        self.declare(table, schema)
    }
}
