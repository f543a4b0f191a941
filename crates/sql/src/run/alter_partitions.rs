//! ALTER TABLE, indexes and TRUNCATE of tables that have partitions or are some.
//!
//! Columns and constraints are those of the partitioned table: what changes them there changes
//! all partitions, in one transaction, and a partition refuses to change them alone. Partitions
//! come first, so that messages name the table whose rows do not fit.

use std::sync::Arc;

use freestone_storage::{Table, TableSchema};
use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, ColumnOption, CreateIndex, Ident, TableConstraint,
};

use super::Run;
use super::declare::Declared;
use super::partition_key::check_keys;
use crate::error::{Error, Result};
use crate::front::{columns_in, parse_expr};
use crate::names::{Name, fold};
use crate::outcome::Outcome;
use crate::partition::{leaves, names_of, partitions, same_index};

/// An operation on one table.
pub(super) type Step = (Name, AlterTableOperation);

fn inherited(what: String) -> Error {
    Error::new("42P16", what)
}

impl Run<'_> {
    /// All tables below a partitioned one, the deepest first, each with its parent.
    fn below(&self, table: &Arc<Table>) -> Vec<(Name, Arc<Table>, Arc<Table>)> {
        let mut all = Vec::new();
        for (schema, part) in partitions(&self.snapshot, table) {
            all.extend(self.below(part));
            let name = Name::new(schema, &part.name);
            all.push((name, Arc::clone(part), Arc::clone(table)));
        }
        all
    }

    /// ALTER TABLE of a table that has partitions or is one.
    pub(super) async fn alter_partitions(
        &self,
        name: &Name,
        table: &Arc<Table>,
        operations: &[AlterTableOperation],
    ) -> Result<()> {
        let mut steps = Vec::new();
        for operation in operations {
            self.must_be_own(table, operation)?;
            self.must_keep_keys(name, table, operation)?;
            steps.extend(self.steps(name, table, operation)?);
        }
        self.alter_in_turn(&steps).await
    }

    /// Refuses what a partition has from its parent.
    fn must_be_own(&self, table: &Table, operation: &AlterTableOperation) -> Result<()> {
        let Some(of) = &table.schema.partition else {
            return Ok(());
        };
        let Some(parent) = self.snapshot.table_by_id(of.parent) else {
            return Ok(());
        };
        match operation {
            AlterTableOperation::AddColumn { .. } => {
                Err(Error::new("42809", "cannot add column to a partition"))
            }
            AlterTableOperation::DropColumn { column_names, .. } => {
                let columns = column_names.iter().map(fold);
                let known = columns.filter(|name| table.schema.index_of(name).is_some());
                match known.clone().next() {
                    Some(name) => Err(inherited(format!(
                        "cannot drop inherited column \"{name}\""
                    ))),
                    None => Ok(()),
                }
            }
            AlterTableOperation::RenameColumn {
                old_column_name, ..
            } => {
                let name = fold(old_column_name);
                match table.schema.index_of(&name) {
                    Some(_) => Err(inherited(format!(
                        "cannot rename inherited column \"{name}\""
                    ))),
                    None => Ok(()),
                }
            }
            AlterTableOperation::AlterColumn { column_name, op } => {
                let name = fold(column_name);
                let column = parent.schema.index_of(&name);
                let column = column.and_then(|at| parent.schema.columns.get(at));
                match op {
                    AlterColumnOperation::SetDataType { .. } => Err(inherited(format!(
                        "cannot alter inherited column \"{name}\""
                    ))),
                    AlterColumnOperation::DropNotNull
                        if column.is_some_and(|column| !column.nullable) =>
                    {
                        let message =
                            format!("column \"{name}\" is marked NOT NULL in parent table");
                        Err(inherited(message))
                    }
                    _ => Ok(()),
                }
            }
            AlterTableOperation::DropConstraint { name, .. } => {
                let name = fold(name);
                match has_inherited(&parent.schema, &table.schema, &name, true) {
                    true => Err(inherited(format!(
                        "cannot drop inherited constraint \"{name}\" of relation \"{}\"",
                        table.name
                    ))),
                    false => Ok(()),
                }
            }
            AlterTableOperation::RenameConstraint { old_name, .. } => {
                let name = fold(old_name);
                match has_inherited(&parent.schema, &table.schema, &name, false) {
                    true => Err(inherited(format!(
                        "cannot rename inherited constraint \"{name}\""
                    ))),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Refuses to change columns of partition keys, and keys without their columns.
    fn must_keep_keys(
        &self,
        name: &Name,
        table: &Arc<Table>,
        operation: &AlterTableOperation,
    ) -> Result<()> {
        let (columns, what): (Vec<String>, _) = match operation {
            AlterTableOperation::DropColumn { column_names, .. } => {
                (column_names.iter().map(fold).collect(), "drop")
            }
            AlterTableOperation::AlterColumn {
                column_name,
                op: AlterColumnOperation::SetDataType { .. },
            } => (vec![fold(column_name)], "alter"),
            AlterTableOperation::AddConstraint { constraint, .. } => {
                let below = self.below(table).into_iter().map(|(_, table, _)| table);
                for table in below.chain([Arc::clone(table)]) {
                    let mut declared = Declared::from(self, name, (*table.schema).clone());
                    declared.constraint(constraint)?;
                    check_keys(&declared.schema, &table.name)?;
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        let below = self.below(table).into_iter().map(|(_, table, _)| table);
        for table in below.chain([Arc::clone(table)]) {
            for part in table.schema.partitioned.iter().flat_map(|key| &key.parts) {
                let read = columns_in(&parse_expr(part)?, &table.schema, &Name::new("", ""));
                let read = names_of(&table.schema, &read);
                if let Some(column) = columns.iter().find(|column| read.contains(column)) {
                    return Err(inherited(format!(
                        "cannot {what} column \"{column}\" because it is part of the partition key \
                         of relation \"{}\"",
                        table.name
                    )));
                }
            }
        }
        Ok(())
    }

    /// An operation on a table as operations on all that it is about.
    fn steps(
        &self,
        name: &Name,
        table: &Arc<Table>,
        operation: &AlterTableOperation,
    ) -> Result<Vec<Step>> {
        let own = (name.clone(), operation.clone());
        let below = self.below(table);
        if below.is_empty() {
            return Ok(vec![own]);
        }
        let mut steps = Vec::with_capacity(below.len() + 1);
        match operation {
            AlterTableOperation::DropColumn { .. }
            | AlterTableOperation::RenameColumn { .. }
            | AlterTableOperation::AlterColumn { .. } => {
                steps.extend(
                    below
                        .into_iter()
                        .map(|(name, ..)| (name, operation.clone())),
                );
                steps.push(own);
            }
            AlterTableOperation::AddColumn { column_def, .. } => {
                let numbered = column_def.options.iter().any(|option| {
                    matches!(
                        &option.option,
                        ColumnOption::Generated {
                            generation_expr: None,
                            ..
                        }
                    )
                });
                if numbered || super::identity::serial(&column_def.data_type).is_some() {
                    return Err(Error::unsupported(
                        "ADD COLUMN with numbers of a sequence to a partitioned table is not \
                         supported",
                    ));
                }
                steps.extend(
                    below
                        .into_iter()
                        .map(|(name, ..)| (name, operation.clone())),
                );
                steps.push(own);
            }
            AlterTableOperation::AddConstraint {
                constraint,
                not_valid,
            } => {
                let constraint = self.named_constraint(name, table, constraint)?;
                let add = |constraint: TableConstraint| AlterTableOperation::AddConstraint {
                    constraint,
                    not_valid: *not_valid,
                };
                for (part, ..) in below {
                    let mut constraint = constraint.clone();
                    match &mut constraint {
                        TableConstraint::PrimaryKey(key) => key.name = None,
                        TableConstraint::Unique(key) => key.name = None,
                        _ => {}
                    }
                    steps.push((part, add(constraint)));
                }
                steps.push((name.clone(), add(constraint)));
            }
            AlterTableOperation::DropConstraint {
                if_exists,
                name: constraint,
                drop_behavior,
            } => {
                for (part, of, _) in &below {
                    let known = counterpart(&table.schema, &of.schema, &fold(constraint));
                    if let Some(known) = known {
                        let drop = AlterTableOperation::DropConstraint {
                            if_exists: *if_exists,
                            name: Ident::with_quote('"', known),
                            drop_behavior: *drop_behavior,
                        };
                        steps.push((part.clone(), drop));
                    }
                }
                steps.push(own);
            }
            AlterTableOperation::RenameConstraint { old_name, .. } => {
                let from = fold(old_name);
                let keyed = table.schema.keys.iter().any(|key| key.name == from);
                for (part, of, _) in &below {
                    let known = counterpart(&table.schema, &of.schema, &from);
                    if !keyed && known.as_ref() == Some(&from) {
                        steps.push((part.clone(), operation.clone()));
                    }
                }
                steps.push(own);
            }
            _ => steps.push(own),
        }
        Ok(steps)
    }

    /// A constraint with the name that a table gives it.
    fn named_constraint(
        &self,
        name: &Name,
        table: &Table,
        constraint: &TableConstraint,
    ) -> Result<TableConstraint> {
        let mut named = constraint.clone();
        let finished = || {
            let mut declared = Declared::from(self, name, (*table.schema).clone());
            declared.constraint(constraint)?;
            declared.finished()
        };
        match &mut named {
            TableConstraint::Check(check) if check.name.is_none() => {
                let schema = finished()?;
                let made = schema.checks.last().map(|check| check.name.clone());
                check.name = made.map(|name| Ident::with_quote('"', name));
            }
            TableConstraint::ForeignKey(key) if key.name.is_none() => {
                let schema = finished()?;
                let made = schema.foreign_keys.last().map(|key| key.name.clone());
                key.name = made.map(|name| Ident::with_quote('"', name));
            }
            _ => {}
        }
        Ok(named)
    }

    /// CREATE INDEX on a partitioned table: on all partitions, under names of their own.
    pub(super) async fn index_partitions(
        &self,
        name: &Name,
        table: &Arc<Table>,
        create: &CreateIndex,
    ) -> Result<Outcome> {
        if create.unique {
            let message = "CREATE UNIQUE INDEX on a partitioned table is not supported";
            return Err(Error::unsupported(message)
                .with_hint("ALTER TABLE … ADD UNIQUE adds a key to all partitions."));
        }
        if !self.session.in_transaction() {
            let implicit = super::alter_parts::Implicit::begin(self.session)?;
            self.index_each(name, table, create)?;
            implicit.commit().await?;
        } else {
            self.index_each(name, table, create)?;
        }
        Ok(Outcome::done("CREATE INDEX"))
    }

    fn index_each(&self, name: &Name, table: &Arc<Table>, create: &CreateIndex) -> Result<()> {
        for (part, ..) in self.below(table) {
            let own = CreateIndex {
                name: None,
                ..create.clone()
            };
            self.absorbed(&part)?.create_index_on(&part, &own)?;
        }
        self.absorbed(name)?.create_index_on(name, create)?;
        Ok(())
    }

    /// The indexes that go with one: those of all partitions.
    ///
    /// # Errors
    /// `2BP01` for one that a partitioned table has.
    pub(super) fn indexes_with(&self, name: &Name) -> Result<Vec<Name>> {
        let Some((table, index)) = self.snapshot.index(&name.schema, &name.name) else {
            return Ok(Vec::new());
        };
        let parent = table.schema.partition.as_ref();
        let parent = parent.and_then(|of| self.snapshot.table_by_id(of.parent));
        if let Some(parent) = parent
            && let Some(above) = same_index(&table.schema, index, &parent.schema)
        {
            let message = format!(
                "cannot drop index {} because index {} requires it",
                name.name, above.name
            );
            return Err(Error::new("2BP01", message)
                .with_hint(format!("You can drop index {} instead.", above.name)));
        }
        let below = self.below(table).into_iter();
        let found = below.filter_map(|(part, of, _)| {
            let own = same_index(&table.schema, index, &of.schema)?;
            Some(Name::new(&part.schema, &own.name))
        });
        Ok(found.collect())
    }

    /// The tables that have the rows of some: leaves in the place of partitioned ones.
    pub(super) fn with_leaves(&self, names: Vec<Name>) -> Result<Vec<Name>> {
        let mut all = Vec::with_capacity(names.len());
        for name in names {
            let table = self.stored_table(&name)?;
            match table.schema.partitioned {
                Some(_) => {
                    let found = leaves(&self.snapshot, table).into_iter();
                    all.extend(found.map(|(schema, leaf)| Name::new(schema, &leaf.name)));
                }
                None => all.push(name),
            }
        }
        Ok(all)
    }
}

/// Whether a constraint of a partition is one of its parent's, keys among them or not.
fn has_inherited(parent: &TableSchema, own: &TableSchema, name: &str, keys: bool) -> bool {
    let check = own.checks.iter().any(|check| check.name == name);
    let foreign = own.foreign_keys.iter().any(|key| key.name == name);
    let key = own.keys.iter().find(|key| key.name == name);
    check && parent.checks.iter().any(|check| check.name == name)
        || foreign && parent.foreign_keys.iter().any(|key| key.name == name)
        || key.is_some_and(|key| {
            let columns = names_of(own, &key.columns);
            keys && parent.keys.iter().any(|other| {
                other.primary == key.primary && names_of(parent, &other.columns) == columns
            })
        })
}

/// The constraint of a partition that is one of a table above it.
fn counterpart(above: &TableSchema, below: &TableSchema, name: &str) -> Option<String> {
    if let Some(key) = above.keys.iter().find(|key| key.name == name) {
        let columns = names_of(above, &key.columns);
        let mut keys = below.keys.iter();
        let own =
            keys.find(|own| own.primary == key.primary && names_of(below, &own.columns) == columns);
        return own.map(|own| own.name.clone());
    }
    let check = below.checks.iter().any(|check| check.name == name);
    let foreign = below.foreign_keys.iter().any(|key| key.name == name);
    (check || foreign).then(|| name.to_owned())
}
