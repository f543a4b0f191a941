//! The fields of composite types: CREATE TYPE … AS (…) and ALTER TYPE … ATTRIBUTE.
//!
//! ```text
//! CREATE TYPE price AS (amount NUMERIC(10,2), currency TEXT)
//! ALTER TYPE price ADD ATTRIBUTE since DATE, DROP ATTRIBUTE currency
//! ```
//!
//! Columns hold records as texts with a value for each field, so that fields neither come nor go
//! while a column is of the type; names may change at any time. The conditions of domains that
//! fields are of do not change either then: rows are not searched for records that break them.

use freestone_storage::{Attribute, Catalog, Modifier, TypeId, UserTypeKind};
use sqlparser::ast::{DataType as Written, Ident, UserDefinedTypeCompositeAttributeDef};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::Run;
use super::identity::serial;
use super::user_type::{Held, Known};
use crate::error::{Error, Result, parser as syntax_error};
use crate::grammar::define::{AttributeChange, CompositeChange};
use crate::names::{Name, fold};
use crate::outcome::Outcome;
use crate::session::Notice;

impl Run<'_> {
    /// The fields that a type is created with.
    ///
    /// # Errors
    /// `42701` for a name that is there twice, `42704` for unknown types.
    pub(super) fn fields(
        &self,
        written: &[UserDefinedTypeCompositeAttributeDef],
    ) -> Result<Vec<Attribute>> {
        let mut fields: Vec<Attribute> = Vec::with_capacity(written.len());
        for one in written {
            let UserDefinedTypeCompositeAttributeDef {
                name,
                data_type,
                collation,
            } = one;
            if collation.is_some() {
                let message = "COLLATE of a field of a composite type is not supported";
                return Err(Error::unsupported(message));
            }
            let field = self.field(name, data_type)?;
            if fields.iter().any(|known| known.name == field.name) {
                let message = format!("column \"{}\" specified more than once", field.name);
                return Err(Error::new("42701", message));
            }
            fields.push(field);
        }
        Ok(fields)
    }

    fn field(&self, name: &Ident, ty: &Written) -> Result<Attribute> {
        if serial(ty).is_some() {
            let name = ty.to_string().to_lowercase();
            return Err(Error::new(
                "42704",
                format!("type \"{name}\" does not exist"),
            ));
        }
        let Held {
            kind,
            modifier,
            declared,
        } = self.held(ty)?;
        if matches!(
            modifier,
            Some(Modifier::Digits { .. } | Modifier::Fields { .. })
        ) {
            let message = format!("a field of a composite type cannot have the type {ty}");
            return Err(Error::unsupported(message).with_hint("Leave out its digits or fields."));
        }
        Ok(Attribute {
            name: fold(name),
            kind,
            modifier,
            declared,
        })
    }

    /// ALTER TYPE … ADD, DROP, ALTER and RENAME ATTRIBUTE.
    pub(super) fn alter_composite(&self, name: &Name, change: &CompositeChange) -> Result<Outcome> {
        let run = self.within()?;
        let no_composite =
            || Error::new("42809", format!("type \"{name}\" is not a composite type"));
        let mut skipped = Vec::new();
        run.edit_type(name, |edit, known| {
            let UserTypeKind::Composite(before) = &known.stored.kind else {
                return Err(no_composite());
            };
            let mut fields = before.clone();
            match change {
                CompositeChange::Rename { from, to } => {
                    let at = place(&fields, from).ok_or_else(|| {
                        Error::new("42703", format!("column \"{from}\" does not exist"))
                    })?;
                    must_be_new(&fields, to, name)?;
                    fields[at].name.clone_from(to);
                }
                CompositeChange::Fields(changes) => {
                    must_be_unused(edit.catalog(), &known, name)?;
                    for change in changes {
                        run.change_field(&mut fields, change, &known, &mut skipped)?;
                    }
                }
            }
            let kind = UserTypeKind::Composite(fields);
            Ok(edit.set_type(&name.schema, &name.name, kind)?)
        })?;
        for text in skipped {
            self.session.notify(Notice::skipped("00000", text));
        }
        Ok(Outcome::done("ALTER TYPE"))
    }

    fn change_field(
        &self,
        fields: &mut Vec<Attribute>,
        change: &AttributeChange,
        known: &Known,
        skipped: &mut Vec<String>,
    ) -> Result<()> {
        let of = &known.name.name;
        let missing = |name: &str| format!("column \"{name}\" of relation \"{of}\" does not exist");
        let read = |name: &str, ty: &str| {
            let ty = Parser::new(&PostgreSqlDialect {})
                .try_with_sql(ty)
                .and_then(|mut parser| parser.parse_data_type())
                .map_err(|error| syntax_error(&error))?;
            let field = self.field(&Ident::with_quote('"', name), &ty)?;
            let made_of = field.declared.map(|id| with_parts(&self.snapshot, id));
            if made_of.is_some_and(|all| all.contains(&known.stored.id)) {
                let message = format!("composite type {of} cannot be made a member of itself");
                return Err(Error::new("42P16", message));
            }
            Ok(field)
        };
        match change {
            AttributeChange::Add { name, ty } => {
                must_be_new(fields, name, &known.name)?;
                fields.push(read(name, ty)?);
            }
            AttributeChange::Drop { name, if_exists } => match place(fields, name) {
                Some(at) => drop(fields.remove(at)),
                None if *if_exists => skipped.push(missing(name)),
                None => return Err(Error::new("42703", missing(name))),
            },
            AttributeChange::Type { name, ty } => match place(fields, name) {
                Some(at) => fields[at] = read(name, ty)?,
                None => return Err(Error::new("42703", missing(name))),
            },
        }
        Ok(())
    }
}

fn place(fields: &[Attribute], name: &str) -> Option<usize> {
    fields.iter().position(|field| field.name == name)
}

fn must_be_new(fields: &[Attribute], name: &str, of: &Name) -> Result<()> {
    match place(fields, name) {
        None => Ok(()),
        Some(_) => {
            let of = &of.name;
            let message = format!("column \"{name}\" of relation \"{of}\" already exists");
            Err(Error::new("42701", message))
        }
    }
}

/// Refuses a type whose records are in a column.
fn must_be_unused(catalog: &Catalog, known: &Known, name: &Name) -> Result<()> {
    for id in with_users(catalog, known.stored.id) {
        if let Some((table, column)) = catalog.columns_of_type(id).first() {
            let column = &table.schema.columns[*column].name;
            let message = format!(
                "cannot alter type \"{}\" because column \"{}.{column}\" uses it",
                name.name, table.name
            );
            return Err(Error::unsupported(message));
        }
    }
    Ok(())
}

/// A type and all that have values of it in theirs.
pub(super) fn with_users(catalog: &Catalog, id: TypeId) -> Vec<TypeId> {
    closure(id, |id| {
        let users = catalog.user_types();
        let users = users.filter(|(_, _, known)| known.parts().contains(&id));
        users.map(|(_, _, known)| known.id).collect()
    })
}

/// A type and all that its values are made of.
fn with_parts(catalog: &Catalog, id: TypeId) -> Vec<TypeId> {
    closure(id, |id| {
        let known = catalog.type_by_id(id);
        known.map_or_else(Vec::new, |(_, _, known)| known.parts())
    })
}

fn closure(first: TypeId, next: impl Fn(TypeId) -> Vec<TypeId>) -> Vec<TypeId> {
    let mut all = vec![first];
    let mut at = 0;
    while let Some(id) = all.get(at).copied() {
        at += 1;
        for id in next(id) {
            if !all.contains(&id) {
                all.push(id);
            }
        }
    }
    all
}

/// A field of a composite type that is of a type or of arrays of it.
pub(super) fn field_of_type(catalog: &Catalog, id: TypeId) -> Option<String> {
    catalog.user_types().find_map(|(_, name, known)| {
        let UserTypeKind::Composite(fields) = &known.kind else {
            return None;
        };
        let field = fields.iter().find(|field| field.declared == Some(id))?;
        Some(format!("column {} of composite type {name}", field.name))
    })
}
