//! Partitions that come: what a new one of a partitioned table changes.
//!
//! A new partition may hold rows that the default one has until now: those are looked for. All
//! tables whose rows the change is about are declared anew with it, so that a transaction which
//! writes rows by the bounds that were there before gives way.

use std::sync::Arc;

use freestone_storage::{BoundValue, CatalogEdit, PartitionBound, PartitionOf, Table, TableId};
use futures::StreamExt;
use sqlparser::ast::{CreateTable, ForValues};

use super::Run;
use super::redeclare::written;
use crate::error::{Error, Result};
use crate::names::{Name, quoted};
use crate::partition::{leaves, partitions, shown_value};
use crate::routing::{Divisions, Key};
use crate::statement::parse_one;

/// Times that tables may change under a statement.
const ATTEMPTS: usize = 5;

/// A partition that is to be: its parent and its bound, and the default partition beside it.
pub(super) struct Divided {
    pub(super) parent: Arc<Table>,
    pub(super) bound: PartitionBound,
    /// Partitions that the parent had.
    known: Vec<TableId>,
    /// The default partition, if others come to it, and the tables with its rows.
    default: Vec<Arc<Table>>,
}

pub(super) fn wrong(message: impl Into<String>) -> Error {
    Error::new("42P17", message)
}

impl Run<'_> {
    /// The changes that a new partition with a bound makes.
    ///
    /// # Errors
    /// Whatever is wrong with the bound; `23514` if the default partition has rows of it.
    pub(super) async fn divided(
        &self,
        parent: &Arc<Table>,
        name: &str,
        bound: &ForValues,
    ) -> Result<Divided> {
        let Some(key) = &parent.schema.partitioned else {
            return Err(wrong(format!("\"{}\" is not partitioned", parent.name)));
        };
        let key = Key::of(self.expressions(), key, &parent.schema, &parent.name)?;
        let bound = self.bound(&key, bound)?;
        let all = partitions(&self.snapshot, parent);
        let bounds = all
            .iter()
            .filter_map(|(_, part)| part.schema.partition.as_ref());
        let mut bounds: Vec<&PartitionBound> = bounds.map(|of| &of.bound).collect();
        let default = bounds
            .iter()
            .position(|bound| **bound == PartitionBound::Default);
        if let (PartitionBound::Default, Some(default)) = (&bound, default) {
            let message = format!(
                "partition \"{name}\" conflicts with existing default partition \"{}\"",
                all[default].1.name
            );
            return Err(wrong(message));
        }
        let own = bounds.len();
        bounds.push(&bound);
        let divisions = Divisions::of(&key, bounds.iter().copied())?;
        if divisions.is_empty(own)
            && let PartitionBound::Range { from, to } = &bound
        {
            let message = format!("empty range bound specified for partition \"{name}\"");
            return Err(wrong(message).with_detail(format!(
                "Specified lower bound ({}) is greater than or equal to upper bound ({}).",
                ends(from),
                ends(to)
            )));
        }
        if let PartitionBound::Hash { modulus, .. } = bound {
            must_divide(modulus, &all)?;
        }
        if let Some(other) = divisions.overlapping(own) {
            let message = format!(
                "partition \"{name}\" would overlap partition \"{}\"",
                all[other].1.name
            );
            return Err(wrong(message));
        }
        let mut beside = Vec::new();
        if let Some(default) = default {
            let (schema, default) = all[default];
            let from = Name::new(schema, &default.name);
            if self.has_rows_of(&from, parent, &bounds, own).await? {
                let message = format!(
                    "updated partition constraint for default partition \"{}\" would be violated \
                     by some row",
                    default.name
                );
                return Err(Error::new("23514", message));
            }
            beside.push(Arc::clone(default));
            beside.extend(
                leaves(&self.snapshot, default)
                    .into_iter()
                    .map(|(_, leaf)| leaf.clone()),
            );
        }
        Ok(Divided {
            parent: Arc::clone(parent),
            known: all.iter().map(|(_, part)| part.id).collect(),
            default: beside,
            bound,
        })
    }

    /// Whether a table has rows that a partition of a number would hold.
    async fn has_rows_of(
        &self,
        name: &Name,
        parent: &Table,
        bounds: &[&PartitionBound],
        number: usize,
    ) -> Result<bool> {
        let columns = parent
            .schema
            .columns
            .iter()
            .map(|column| quoted(&column.name));
        let columns: Vec<String> = columns.collect();
        let query = format!("SELECT {} FROM {}", columns.join(", "), written(name));
        let Some(key) = &parent.schema.partitioned else {
            return Ok(false);
        };
        let key = Key::of(self.expressions(), key, &parent.schema, &parent.name)?;
        let divisions = Divisions::of(&key, bounds.iter().copied())?;
        let plan = self.logical(&parse_one(&query)?).await?.stored()?;
        let plan = plan.runnable()?;
        let mut stream = plan.stream(&self.session.run_context())?;
        while let Some(batch) = stream.next().await {
            let batch = self.assigned(parent, &batch?)?;
            let found = divisions.find(&key, &key.values(&batch)?)?;
            if found.contains(&Some(number)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The changes by CREATE TABLE … PARTITION OF.
    ///
    /// # Errors
    /// As [`Run::divided`].
    pub(super) async fn divided_by(
        &self,
        create: &CreateTable,
        parent: &Name,
        name: &Name,
    ) -> Result<Divided> {
        let table = Arc::clone(self.stored_table(parent)?);
        self.must_own(parent, &table)?;
        let Some(bound) = &create.for_values else {
            return Err(Error::new(
                "42601",
                "a partition needs FOR VALUES or DEFAULT",
            ));
        };
        let temporary = |name: &Name| self.session.temporary_schema() == Some(&name.schema);
        let (kind, of) = match (temporary(name), temporary(parent)) {
            (true, false) => ("temporary", "permanent"),
            (false, true) => ("permanent", "temporary"),
            _ => return self.divided(&table, &name.name, bound).await,
        };
        let message = format!(
            "cannot create a {kind} relation as partition of {of} relation \"{}\"",
            parent.name
        );
        Err(Error::new("42809", message))
    }

    /// Refuses to change a table of another role.
    pub(super) fn must_own(&self, name: &Name, table: &Table) -> Result<()> {
        match self.identity().is_limited() {
            true => self
                .rights(&self.snapshot)
                .owner("table", &name.name, &table.id.into()),
            false => Ok(()),
        }
    }
}

impl Run<'_> {
    /// The statement as it goes on when all rows that a new partition is about are in blocks: those
    /// of the default partition, and of the table that becomes one.
    pub(super) fn absorbed_beside(&self, parent: &Name, child: Option<&Name>) -> Result<Run<'_>> {
        if !self.session.in_transaction() {
            return Ok(Run::over(self.session, self.store().snapshot()));
        }
        let whole = self.stored_table(parent)?;
        let default = partitions(&self.snapshot, whole)
            .into_iter()
            .find(|(_, part)| {
                let of = part.schema.partition.as_ref();
                of.is_some_and(|of| of.bound == PartitionBound::Default)
            });
        let default = default.map(|(schema, part)| Name::new(schema, &part.name));
        let mut names: Vec<Name> = default.into_iter().collect();
        if let Some(child) = child {
            self.stored_table(child)?;
            names.push(child.clone());
        }
        let mut run = Run::over(self.session, self.snapshot.clone());
        for name in self.with_leaves(names)? {
            run = self.absorbed(&name)?;
        }
        Ok(run)
    }

    /// Whether a change of partitions that failed may succeed on what others have committed.
    pub(super) fn is_worth_again(&self, error: &Error, attempt: usize) -> bool {
        error.sqlstate == "40001" && attempt < ATTEMPTS && !self.session.in_transaction()
    }
}

impl Divided {
    /// Declares anew what a new partition is about, if it is as it was.
    ///
    /// # Errors
    /// `40001` if it is not.
    pub(super) fn still_holds(&self, edit: &mut CatalogEdit, seen: u64) -> Result<()> {
        let changed = || {
            let message = format!("table \"{}\" was changed meanwhile", self.parent.name);
            Error::new("40001", message)
        };
        let catalog = edit.catalog();
        let parent = catalog.table_by_id(self.parent.id).ok_or_else(changed)?;
        let known: Vec<TableId> = partitions(catalog, parent)
            .iter()
            .map(|(_, t)| t.id)
            .collect();
        if parent.schema != self.parent.schema || known != self.known {
            return Err(changed());
        }
        self.default
            .iter()
            .try_for_each(|table| declare_anew(edit, table, seen))
    }
}

/// Declares a partition anew, whose rows have other bounds now.
pub(super) fn declare_anew(edit: &mut CatalogEdit, table: &Table, seen: u64) -> Result<()> {
    let mut schema = (*table.schema).clone();
    if let Some(of) = &mut schema.partition {
        of.version += 1;
    }
    Ok(edit.declare(table, seen, schema, table.options.clone())?)
}

/// Ends of a range as messages have them.
fn ends(ends: &[BoundValue]) -> String {
    let shown = ends.iter().map(|end| match end {
        BoundValue::Min => "MINVALUE".to_owned(),
        BoundValue::Max => "MAXVALUE".to_owned(),
        BoundValue::Value(text) => shown_value(text),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Each modulus of a hash has to divide the next larger one.
fn must_divide(new: u64, all: &[(&str, &Arc<Table>)]) -> Result<()> {
    let moduli = all
        .iter()
        .filter_map(|(_, part)| match &part.schema.partition {
            Some(PartitionOf {
                bound: PartitionBound::Hash { modulus, .. },
                ..
            }) => Some((*modulus, part.name.as_str())),
            _ => None,
        });
    let moduli: Vec<(u64, &str)> = moduli.collect();
    let refused = |how: &str, modulus: u64, name: &str| {
        let message = "every hash partition modulus must be a factor of the next larger modulus";
        Err(wrong(message).with_detail(format!(
            "The new modulus {new} is not {how} {modulus}, the modulus of existing partition \
             \"{name}\"."
        )))
    };
    let below = moduli
        .iter()
        .filter(|(modulus, _)| *modulus <= new)
        .max_by_key(|(modulus, _)| *modulus);
    let above = moduli
        .iter()
        .filter(|(modulus, _)| *modulus > new)
        .min_by_key(|(modulus, _)| *modulus);
    if let Some((modulus, name)) = below
        && !new.is_multiple_of(*modulus)
    {
        return refused("divisible by", *modulus, name);
    }
    match above {
        Some((modulus, name)) if modulus % new != 0 => refused("a factor of", *modulus, name),
        _ => Ok(()),
    }
}
