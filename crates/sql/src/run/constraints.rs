//! ALTER TABLE … ADD, ALTER, VALIDATE, RENAME and DROP CONSTRAINT.

use std::sync::Arc;

use freestone_storage::{
    Check, Deferral, ForeignKey, IndexForm, IndexKind, Key, Table, TableSchema,
};
use sqlparser::ast::{AlterTableOperation, ConstraintUsingIndex, Ident, TableConstraint};

use super::Run;
use super::declare::{Declared, constraint_names};
use super::index::taken;
use super::redeclare::written;
use super::reference::deferral;
use crate::error::{Error, Result};
use crate::names::{Name, fold, named, quoted};
use crate::outcome::Outcome;
use crate::session::Notice;

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
        let of_keys = table.schema.keys.iter().any(|key| key.name == from);
        let schema_name = self.schema_of(table)?;
        if of_keys && taken(&self.snapshot, &schema_name, to) {
            let message = format!("relation \"{to}\" already exists");
            return Err(Error::new("42P07", message));
        }
        let mut schema = (*table.schema).clone();
        let notes = &mut schema.comments.constraints;
        if let Some(note) = notes.remove(from) {
            notes.insert(to.to_owned(), note);
        }
        let indexes = schema.indexes.iter_mut();
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

    /// The schema that a table is in.
    fn schema_of(&self, table: &Table) -> Result<String> {
        let mut all = self.snapshot.all_tables();
        let found = all.find(|(_, known)| known.id == table.id);
        let found = found.map(|(schema, _)| schema.to_owned());
        found.ok_or_else(|| Error::internal("a table that is in no schema"))
    }

    /// ALTER INDEX … RENAME TO; the constraint of a key goes along.
    ///
    /// # Errors
    /// `42P01`, `42809` for what is no index, `42P07` for a name that is taken, `42501`.
    pub(super) async fn rename_index(
        &self,
        name: &Name,
        if_exists: bool,
        to: &str,
    ) -> Result<Outcome> {
        let done = || Ok(Outcome::done("ALTER INDEX"));
        let catalog = self.snapshot.catalog();
        let mut tables = catalog.tables(&name.schema).into_iter();
        let has = |table: &&Arc<Table>| {
            let mut keys = table.schema.keys.iter();
            let mut indexes = table.schema.indexes.iter();
            keys.any(|key| key.name == name.name) || indexes.any(|index| index.name == name.name)
        };
        let Some(table) = tables.find(has) else {
            if taken(catalog, &name.schema, &name.name) {
                let message = format!("\"{}\" is not an index", name.name);
                return Err(Error::new("42809", message));
            }
            let message = format!("relation \"{name}\" does not exist");
            if if_exists {
                self.session.notify(Notice::skipped("00000", message));
                return done();
            }
            return Err(Error::new("42P01", message).at(name.position));
        };
        let object = table.id.into();
        self.rights(catalog).owner("index", &name.name, &object)?;
        let of_key = table.schema.keys.iter().any(|key| key.name == name.name);
        match of_key {
            true => {
                let of = Name::new(&name.schema, &table.name);
                let rename = AlterTableOperation::RenameConstraint {
                    old_name: Ident::with_quote('"', &name.name),
                    new_name: Ident::with_quote('"', to),
                };
                self.redeclare(&of, &rename).await?;
            }
            false => self.edit(|edit| Ok(edit.rename_index(&name.schema, &name.name, to)?))?,
        }
        done()
    }

    /// ALTER CONSTRAINT: when a foreign key is checked, of the snapshot that the statement has.
    pub(super) fn defer_constraint(
        &self,
        name: &Name,
        constraint: &str,
        deferral: Deferral,
    ) -> Result<()> {
        let table = Arc::clone(self.stored_table(name)?);
        let mut schema = (*table.schema).clone();
        let mut keys = schema.foreign_keys.iter_mut();
        let key = keys.find(|key| key.name == constraint);
        let key = key.ok_or_else(|| no_such_constraint(&table, constraint, "a foreign key"))?;
        key.deferral = deferral;
        self.declare(&table, schema)
    }

    /// VALIDATE CONSTRAINT.
    pub(super) async fn validate(
        &self,
        name: &Name,
        table: &Arc<Table>,
        constraint: &str,
    ) -> Result<()> {
        let mut schema = (*table.schema).clone();
        let mut checks = schema.checks.iter_mut();
        let mut keys = schema.foreign_keys.iter_mut();
        if let Some(check) = checks.find(|check| check.name == constraint) {
            if !std::mem::take(&mut check.unvalidated) {
                return Ok(());
            }
            self.must_hold(name, check).await?;
        } else if let Some(key) = keys.find(|key| key.name == constraint) {
            if !std::mem::take(&mut key.unvalidated) {
                return Ok(());
            }
            self.must_refer(name, table, key).await?;
        } else {
            return Err(no_such_constraint(
                table,
                constraint,
                "a foreign key or check",
            ));
        }
        self.declare(table, schema)
    }

    /// Checks a condition on all rows that are there.
    async fn must_hold(&self, name: &Name, check: &Check) -> Result<()> {
        let (target, condition) = (written(name), &check.condition);
        let query = format!("SELECT 1 FROM {target} WHERE NOT ({condition}) LIMIT 1");
        if self.any(&query).await? {
            let message = format!(
                "check constraint \"{}\" of relation \"{name}\" is violated by some row",
                check.name
            );
            return Err(Error::new("23514", message));
        }
        Ok(())
    }

    /// Checks that all rows that are there find their parents.
    async fn must_refer(&self, name: &Name, table: &Table, key: &ForeignKey) -> Result<()> {
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
            "SELECT 1 FROM {} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {}.{} AS p WHERE {}) \
             LIMIT 1",
            written(name),
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
        Ok(())
    }

    pub(super) async fn add_constraint(
        &self,
        name: &Name,
        table: &Arc<Table>,
        constraint: &TableConstraint,
        valid: bool,
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
        let mut schema = declared.finished()?;
        if let Some(check) = schema.checks.get_mut(table.schema.checks.len()) {
            check.unvalidated = !valid;
            if valid {
                self.must_hold(name, check).await?;
            }
        }
        if let Some(key) = schema.foreign_keys.get_mut(table.schema.foreign_keys.len()) {
            key.unvalidated = !valid;
            if valid {
                self.must_refer(name, table, key).await?;
            }
        }
        if let Some(key) = schema.keys.get(table.schema.keys.len()).filter(|_| !valid) {
            let what = if key.primary { "PRIMARY KEY" } else { "UNIQUE" };
            let message = format!("{what} constraints cannot be marked NOT VALID");
            return Err(Error::unsupported(message));
        }
        match schema.keys.get(table.schema.keys.len()).cloned() {
            Some(key) => {
                self.add_key(name, table, (schema, IndexForm::default()), key)
                    .await
            }
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
        (mut schema, form): (TableSchema, IndexForm),
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
        // The rows of a partial index have no NULL in its condition.
        let condition = table.schema.condition(&key.columns).is_some();
        let present = match (key.nulls_equal, condition) {
            (false, _) => present.join(" AND "),
            (true, false) => "true".to_owned(),
            (true, true) => present.last().cloned().unwrap_or_default(),
        };
        let query = format!(
            "SELECT 1 FROM {} WHERE {present} GROUP BY {} HAVING count(*) > 1 LIMIT 1",
            written(name),
            names.join(", ")
        );
        if self.any(&query).await? {
            let message = format!("could not create unique index \"{}\"", key.name);
            return Err(Error::new("23505", message).with_detail("Some rows have the same key."));
        }
        let threads = self.state().options().threads;
        let (kind, columns) = (IndexKind::Csb, key.columns.clone());
        let goes_on = || self.session.goes_on().is_ok();
        let store = self.store();
        let index = store.build_index(table, &key.name, kind, columns, threads, &goes_on);
        self.session.goes_on()?;
        let index = index?.with_form(form);
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

/// The error for a constraint that is not there, or is of another kind.
fn no_such_constraint(table: &Table, constraint: &str, wanted: &str) -> Error {
    let relation = &table.name;
    if table.schema.has_constraint(constraint) {
        let message = format!(
            "constraint \"{constraint}\" of relation \"{relation}\" is not {wanted} constraint"
        );
        return Error::new("42809", message);
    }
    let message = format!("constraint \"{constraint}\" of relation \"{relation}\" does not exist");
    Error::new("42704", message)
}
