//! FOREIGN KEY as written, and the key of the parent that it refers to.

use freestone_frontend::types::Type;
use freestone_storage::{Column, ColumnType, Deferral, ForeignAction, ForeignKey, TableId};
use sqlparser::ast::{
    ConstraintCharacteristics, ConstraintReferenceMatchKind, DeferrableInitial,
    ForeignKeyConstraint, Ident, ReferentialAction,
};

use super::declare::Declared;
use crate::error::{Error, Result};
use crate::front::type_of_stored;
use crate::names::{fold, position, table_name};
use crate::relations::unknown_table;

impl Declared<'_> {
    /// The foreign key that a constraint declares.
    ///
    /// # Errors
    /// `42830` without such a key in the parent, `42804` for other types; `42P01`.
    pub(super) fn reference(&self, written: &ForeignKeyConstraint) -> Result<ForeignKey> {
        // Of one column all kinds say the same.
        let simple = matches!(
            written.match_kind,
            None | Some(ConstraintReferenceMatchKind::Simple)
        );
        let partial = written.match_kind == Some(ConstraintReferenceMatchKind::Partial);
        if partial || !simple && written.columns.len() > 1 {
            return Err(Error::unsupported(
                "MATCH FULL over several columns and MATCH PARTIAL are not supported",
            ));
        }
        let columns = written.columns.iter();
        let columns = columns.map(|ident| self.place(ident, "foreign key"));
        let columns = columns.collect::<Result<Vec<usize>>>()?;
        let parent_name = table_name(&written.foreign_table)?;
        let own = parent_name.schema == self.name.schema && parent_name.name == self.name.name;
        let known = self
            .run
            .snapshot
            .table(&parent_name.schema, &parent_name.name);
        let (parent, schema) = match (own, known) {
            (true, Some(table)) if !self.creating => (table.id, &self.schema),
            (true, _) => (TableId::ITSELF, &self.schema),
            (false, Some(table)) => (table.id, table.schema.as_ref()),
            (false, None) => return Err(unknown_table(&self.run.snapshot, &parent_name)),
        };
        let temporary = self.run.session.temporary_schema();
        let is_temporary = |schema: &String| temporary == Some(schema.as_str());
        let ours = is_temporary(&self.name.schema);
        if ours != is_temporary(&parent_name.schema) {
            let kind = if ours { "temporary" } else { "permanent" };
            let message = format!("constraints on {kind} tables may reference only {kind} tables");
            return Err(Error::new("42P16", message));
        }
        let whole = known.is_some_and(|table| table.schema.partitioned.is_some());
        if whole || own && self.schema.partitioned.is_some() {
            return Err(Error::unsupported(
                "a foreign key to a partitioned table is not supported",
            )
            .with_hint("Refer to one of its partitions, or to a table with all keys."));
        }
        let wanted = match written.referred_columns.as_slice() {
            [] => {
                let mut keys = schema.keys.iter();
                let primary = keys.find(|key| key.primary);
                let missing = || {
                    let message =
                        format!("there is no primary key for referenced table \"{parent_name}\"");
                    Error::new("42830", message)
                };
                primary.ok_or_else(missing)?.columns.clone()
            }
            names => {
                let place = |ident: &Ident| {
                    schema.index_of(&fold(ident)).ok_or_else(|| {
                        let message = format!(
                            "column \"{}\" referenced in foreign key constraint does not exist",
                            fold(ident)
                        );
                        Error::new("42703", message).at(position(ident))
                    })
                };
                names.iter().map(place).collect::<Result<Vec<usize>>>()?
            }
        };
        if wanted.len() != columns.len() {
            let message = "number of referencing and referenced columns for foreign key disagree";
            return Err(Error::new("42830", message));
        }
        // Look-ups name the columns in the order of the parent's key.
        let sorted = |columns: &[usize]| {
            let mut columns = columns.to_vec();
            columns.sort_unstable();
            columns
        };
        let mut keys = schema.keys.iter();
        let key = keys.find(|key| sorted(&key.columns) == sorted(&wanted));
        let key = key.ok_or_else(|| {
            let message = format!(
                "there is no unique constraint matching given keys for referenced table \
                 \"{parent_name}\""
            );
            Error::new("42830", message)
        })?;
        if !key.deferral.is_never() {
            let message = format!(
                "cannot use a deferrable unique constraint for referenced table \"{parent_name}\""
            );
            return Err(Error::new("55000", message));
        }
        let pairs = wanted.iter().zip(&columns);
        let mine = |parent: &usize| {
            let mut pairs = pairs.clone();
            pairs.find_map(|(known, own)| (known == parent).then_some(*own))
        };
        let ordered: Option<Vec<usize>> = key.columns.iter().map(mine).collect();
        let ordered = ordered.unwrap_or(columns);
        for (own, parent) in ordered.iter().zip(&key.columns) {
            let (own, parent) = (&self.schema.columns[*own], &schema.columns[*parent]);
            let enumeration = |column: &Column| {
                let ty = type_of_stored(&self.run.snapshot, column);
                matches!(ty, Type::Enum(_)).then_some(ty)
            };
            let alike = enumeration(own) == enumeration(parent);
            if !alike || !comparable(own, parent) {
                let message = format!(
                    "foreign key columns \"{}\" and \"{}\" are of different types: {} and {}",
                    own.name,
                    parent.name,
                    own.type_name(),
                    parent.type_name()
                );
                return Err(Error::new("42804", message));
            }
        }
        let unnamed = || self.free(Some(&ordered), "fkey");
        Ok(ForeignKey {
            name: written.name.as_ref().map_or_else(unnamed, fold),
            parent,
            parent_columns: key.columns.clone(),
            on_delete: action(written.on_delete.as_ref()),
            on_update: action(written.on_update.as_ref()),
            columns: ordered.clone(),
            deferral: deferral(written.characteristics.as_ref())?,
            unvalidated: false,
        })
    }
}

/// When a constraint is to be checked.
///
/// # Errors
/// `42601` for what contradicts itself; `0A000` for NOT ENFORCED.
pub(super) fn deferral(written: Option<&ConstraintCharacteristics>) -> Result<Deferral> {
    let Some(ConstraintCharacteristics {
        deferrable,
        initially,
        enforced,
    }) = written
    else {
        return Ok(Deferral::Never);
    };
    if *enforced == Some(false) {
        return Err(Error::unsupported("NOT ENFORCED is not supported"));
    }
    let deferred = *initially == Some(DeferrableInitial::Deferred);
    match (deferrable, deferred) {
        (Some(false), true) => Err(Error::new(
            "42601",
            "constraint declared INITIALLY DEFERRED must be DEFERRABLE",
        )),
        (_, true) => Ok(Deferral::Initial),
        (Some(true), false) => Ok(Deferral::Possible),
        (_, false) => Ok(Deferral::Never),
    }
}

/// Whether equal values of both types are stored alike, as look-ups need.
pub(super) fn comparable(own: &Column, parent: &Column) -> bool {
    if own.family() != parent.family() {
        return false;
    }
    let (own, parent) = (&own.kind, &parent.kind);
    let whole = |kind: &ColumnType| {
        matches!(
            kind,
            ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt
        )
    };
    let text = |kind: &ColumnType| matches!(kind, ColumnType::Text | ColumnType::Varchar(_));
    own == parent || (whole(own) && whole(parent)) || (text(own) && text(parent))
}

fn action(written: Option<&ReferentialAction>) -> ForeignAction {
    match written {
        None | Some(ReferentialAction::NoAction) => ForeignAction::NoAction,
        Some(ReferentialAction::Restrict) => ForeignAction::Restrict,
        Some(ReferentialAction::Cascade) => ForeignAction::Cascade,
        Some(ReferentialAction::SetNull) => ForeignAction::SetNull,
        Some(ReferentialAction::SetDefault) => ForeignAction::SetDefault,
    }
}
