//! Objects that statements about rights name.

use freestone_storage::{Catalog, Object, Privileges, RoleId};

use super::create::unknown_schema;
use crate::error::{Error, Result};
use crate::functions::sequences::no_sequence;
use crate::grammar::{GrantedPrivilege, Kind, On};
use crate::names::{Name, meant_schema, named};
use crate::relations::unknown_table;

/// An object that was found, and how messages call it.
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) object: Object,
}

/// A table with the sequences of its identity columns.
pub(super) fn with_sequences(catalog: &Catalog, object: Object) -> Vec<Object> {
    let table = match &object {
        Object::Table(id) => catalog.table_by_id(*id),
        _ => None,
    };
    let columns = table.iter().flat_map(|table| &table.schema.columns);
    let sequences = columns.filter_map(|column| column.identity);
    let sequences: Vec<Object> = sequences.map(|one| one.sequence.into()).collect();
    std::iter::once(object).chain(sequences).collect()
}

impl Found {
    pub(super) fn word(&self) -> &'static str {
        match self.kind {
            Kind::Table => "table",
            Kind::View => "view",
            Kind::Sequence => "sequence",
            Kind::Schema => "schema",
            Kind::Type => "type",
        }
    }

    /// The privileges of some names that such an object has, each with the column that it is
    /// about, if it is not about the whole object. `known` are its columns.
    ///
    /// # Errors
    /// `0LP01` for one that it has not, `42703` for a column that it has not.
    pub(super) fn privileges(
        &self,
        known: &[String],
        asked: &[GrantedPrivilege],
    ) -> Result<Vec<(Privileges, Option<String>)>> {
        let of_relation = matches!(self.kind, Kind::Table | Kind::View);
        let own = match self.kind {
            Kind::Table | Kind::View => Privileges::OF_TABLES,
            Kind::Sequence => Privileges::OF_SEQUENCES,
            Kind::Schema | Kind::Type => Privileges::OF_SCHEMAS,
        };
        let mut all = Vec::new();
        for GrantedPrivilege { name, columns } in asked {
            let wrong = |message: String| Error::new("0LP01", message);
            if !columns.is_empty() && !of_relation {
                let message = "column privileges are only valid for relations";
                return Err(wrong(message.to_owned()));
            }
            let (own, called) = match columns.is_empty() {
                true => (own, self.word()),
                false => (Privileges::OF_COLUMNS, "column"),
            };
            let privileges = match name {
                None => own,
                Some(name) => {
                    let known = Privileges::named(name).filter(|known| own.contains(*known));
                    known.ok_or_else(|| {
                        wrong(format!("invalid privilege type {name} for {called}"))
                    })?
                }
            };
            if columns.is_empty() {
                all.push((privileges, None));
            }
            for column in columns {
                if !known.contains(column) {
                    let message = format!(
                        "column \"{column}\" of relation \"{}\" does not exist",
                        self.name
                    );
                    return Err(Error::new("42703", message));
                }
                all.push((privileges, Some(column.clone())));
            }
        }
        Ok(all)
    }
}

/// The objects that are granted on.
pub(super) fn objects(catalog: &Catalog, on: &On) -> Result<Vec<Found>> {
    match on {
        On::Named(kind, names) => {
            let found = names.iter().map(|name| find(catalog, *kind, name));
            found.collect()
        }
        On::AllIn(kind, schemas) => {
            let mut all = Vec::new();
            for schema in schemas {
                let schema = meant_schema(&named(schema)?.name).to_owned();
                if !catalog.has_schema(&schema) {
                    return Err(unknown_schema(catalog, &schema));
                }
                match kind {
                    Kind::Sequence => {
                        let mine = catalog.all_sequences().filter(|(of, _)| *of == schema);
                        all.extend(mine.map(|(_, sequence)| {
                            (Kind::Sequence, sequence.name.clone(), sequence.id.into())
                        }));
                    }
                    _ => {
                        let tables = catalog.tables(&schema).into_iter();
                        all.extend(
                            tables.map(|table| (Kind::Table, table.name.clone(), table.id.into())),
                        );
                        let views = catalog.views(&schema).into_iter();
                        all.extend(views.map(|view| {
                            (
                                Kind::View,
                                view.name.clone(),
                                Object::view(&schema, &view.name),
                            )
                        }));
                    }
                }
            }
            let found = all
                .into_iter()
                .map(|(kind, name, object)| Found { kind, name, object });
            Ok(found.collect())
        }
    }
}

pub(super) fn find(catalog: &Catalog, kind: Kind, text: &str) -> Result<Found> {
    let name = named(text)?;
    let (schema, called) = (&name.schema, &name.name);
    let found = |kind: Kind, object: Object| {
        Ok(Found {
            kind,
            name: called.clone(),
            object,
        })
    };
    let table = catalog.table(schema, called).map(|table| table.id);
    let view = catalog.view(schema, called).is_some();
    let sequence = catalog.sequence(schema, called).map(|one| one.id);
    match (kind, table, view, sequence) {
        (Kind::Type, ..) => match catalog.user_type(schema, called) {
            Some(known) => found(kind, known.id.into()),
            None => {
                let message = format!("type \"{name}\" does not exist");
                Err(Error::new("42704", message))
            }
        },
        (Kind::Schema, ..) => {
            let schema = meant_schema(called);
            match catalog.has_schema(schema) {
                true => found(kind, Object::schema(schema)),
                false => Err(unknown_schema(catalog, schema)),
            }
        }
        (Kind::Table, Some(table), ..) => found(kind, table.into()),
        (Kind::Table | Kind::View, _, true, _) => found(Kind::View, Object::view(schema, called)),
        (Kind::Table | Kind::Sequence, _, _, Some(sequence)) => {
            found(Kind::Sequence, sequence.into())
        }
        (Kind::View, Some(_), ..) => Err(Error::new("42809", format!("\"{name}\" is not a view"))),
        (Kind::Sequence, ..) => Err(no_sequence(catalog, &name)),
        (Kind::Table | Kind::View, ..) => Err(missing(catalog, &name)),
    }
}

fn missing(catalog: &Catalog, name: &Name) -> Error {
    unknown_table(catalog, name)
}

/// The schema that an object is in.
pub(super) fn schema_of(catalog: &Catalog, object: &Object) -> Option<String> {
    match object {
        Object::Schema(name) => Some(name.clone()),
        Object::View(schema, _) => Some(schema.clone()),
        Object::Table(id) => {
            let mut all = catalog.all_tables();
            all.find(|(_, table)| table.id == *id)
                .map(|(schema, _)| schema.to_owned())
        }
        Object::Type(id) => {
            let found = catalog.type_by_id(*id);
            found.map(|(schema, ..)| schema.to_owned())
        }
        Object::Sequence(id) => {
            let found = catalog.sequence_by_id(*id);
            found.map(|(schema, _)| schema.to_owned())
        }
    }
}

/// How messages call an object.
fn described(catalog: &Catalog, object: &Object) -> Option<String> {
    Some(match object {
        Object::Schema(name) => format!("schema {name}"),
        Object::View(schema, name) => format!("view {}", Name::new(schema, name)),
        Object::Table(id) => {
            let table = catalog.table_by_id(*id)?;
            let schema = schema_of(catalog, object)?;
            format!("table {}", Name::new(&schema, &table.name))
        }
        Object::Type(id) => {
            let (schema, name, _) = catalog.type_by_id(*id)?;
            format!("type {}", Name::new(schema, name))
        }
        Object::Sequence(id) => {
            let (schema, sequence) = catalog.sequence_by_id(*id)?;
            format!("sequence {}", Name::new(schema, &sequence.name))
        }
    })
}

/// What a role owns and was granted.
pub(super) fn uses(catalog: &Catalog, role: RoleId) -> Vec<String> {
    let mut uses = Vec::new();
    for (object, access) in catalog.roles().objects() {
        let Some(described) = described(catalog, object) else {
            continue;
        };
        if access.owner == role {
            uses.push(format!("owner of {described}"));
        } else if access.names(role) {
            uses.push(format!("privileges for {described}"));
        }
    }
    uses
}
