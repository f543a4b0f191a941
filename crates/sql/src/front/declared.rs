//! Types that users have created, as the front knows them.
//!
//! A column of an enumeration stores labels as texts, and says of which enumeration they are; one
//! of a composite type stores the texts of records. A domain is the type that it is over: its conditions are checked by casts and where rows are
//! stored.

use std::sync::Arc;

use freestone_frontend::bind::Domain;
use freestone_frontend::types::{EnumType, FieldDomain, Fields, Type};
use freestone_storage::{
    Attribute, Catalog, Column, ColumnType, Label, Modifier, TypeId, UserType, UserTypeKind,
};

use super::parse_expr;
use crate::error::Result;
use crate::names::{DEFAULT_SCHEMA, quoted, shown_schema};
use crate::oids::{numbered_type, row_type_number, type_number};
use crate::types::{type_held, type_of_column};

/// Domains over domains, and composite types in composite types, at most.
const DEPTH: usize = 100;

/// The front's type of a stored column.
pub(crate) fn type_of_stored(catalog: &Catalog, column: &Column) -> Type {
    match column.declared {
        None => type_held(column),
        declared => declared_type(catalog, &column.kind, declared),
    }
}

/// The front's type of values that are to be stored in a column.
pub(crate) fn type_to_store(catalog: &Catalog, column: &Column) -> Type {
    match column.modifier {
        // A number with other digits than the column's is refused where it is stored. A cast would
        // round it.
        Some(Modifier::AnyDigits) => Type::Numeric(None),
        _ => type_of_stored(catalog, column),
    }
}

/// The front's type of values that are stored as a kind and declared with a created type.
pub(crate) fn declared_type(
    catalog: &Catalog,
    kind: &ColumnType,
    declared: Option<TypeId>,
) -> Type {
    let plain = type_of_column(kind);
    let mut declared = declared;
    for _ in 0..DEPTH {
        let Some((schema, name, known)) = declared.and_then(|id| catalog.type_by_id(id)) else {
            return plain;
        };
        match &known.kind {
            UserTypeKind::Domain(domain) => declared = domain.declared,
            UserTypeKind::Enum(labels) => {
                return arrayed(enumeration(schema, name, known, labels), &plain);
            }
            UserTypeKind::Composite(fields) => {
                return arrayed(composite(catalog, (schema, name), known, fields), &plain);
            }
        }
    }
    plain
}

/// A type, or arrays of it where the values that are held are arrays.
fn arrayed(ty: Type, held: &Type) -> Type {
    match held {
        Type::Array(_) => ty.array(),
        _ => ty,
    }
}

/// An enumeration.
fn enumeration(schema: &str, name: &str, known: &UserType, labels: &[Label]) -> Type {
    Type::Enum(Arc::new(EnumType {
        name: shown_type(schema, name),
        labels: labels.iter().map(|label| label.name.clone()).collect(),
        number: type_number(known.id),
    }))
}

/// A composite type.
fn composite(
    catalog: &Catalog,
    (schema, name): (&str, &str),
    known: &UserType,
    fields: &[Attribute],
) -> Type {
    let types = fields.iter().map(|field| {
        let ty = type_of_stored(catalog, &field.column());
        (field.name.clone(), ty)
    });
    let types: Fields = types.collect();
    let domains = fields
        .iter()
        .map(|field| domain_of_field(catalog, &field.column()));
    let number = type_number(known.id);
    Type::Record(
        types
            .with_domains(domains.collect())
            .with_name(&shown_type(schema, name), number),
    )
}

/// The domain that the values of a field, or the elements of its arrays, are of.
fn domain_of_field(catalog: &Catalog, field: &Column) -> Option<FieldDomain> {
    let (schema, name, known) = catalog.type_by_id(field.declared?)?;
    matches!(known.kind, UserTypeKind::Domain(_)).then(|| FieldDomain {
        schema: Some(schema.to_owned()),
        name: name.to_owned(),
        of_elements: has_arrays_of_domain(catalog, field),
    })
}

/// Whether records of a type, or those in its values, have fields of domains.
pub(crate) fn has_domains(ty: &Type) -> bool {
    match ty {
        Type::Array(element) => has_domains(element),
        Type::Record(fields) => {
            fields.has_domains() || fields.iter().any(|(_, ty)| has_domains(ty))
        }
        _ => false,
    }
}

/// A created type's name as `format_type` writes it.
pub(crate) fn shown_type(schema: &str, name: &str) -> String {
    match schema == DEFAULT_SCHEMA {
        true => quoted(name),
        false => format!("{}.{}", quoted(shown_schema(schema)), quoted(name)),
    }
}

/// A type as it is written where it is found again by its name: created types and the types of
/// tables' rows with their schemas.
pub(crate) fn full_name_of_type(catalog: &Catalog, ty: &Type) -> String {
    match ty {
        Type::Array(element) => format!("{}[]", full_name_of_type(catalog, element)),
        Type::Record(fields) if fields.number() > 0 => {
            let mut tables = catalog.all_tables();
            match tables.find(|(_, table)| row_type_number(table) == fields.number()) {
                Some((schema, table)) => shown_type(schema, &table.name),
                None => ty.to_string(),
            }
        }
        _ => ty.to_string(),
    }
}

/// The created type that a column of a type is declared with.
pub(crate) fn declared_by(ty: &Type) -> Option<TypeId> {
    match ty.innermost() {
        Type::Enum(of) if of.number > 0 => numbered_type(of.number),
        Type::Record(fields) if fields.number() > 0 => numbered_type(fields.number()),
        _ => None,
    }
}

/// The type of a name; for a domain the one that it is over.
pub(crate) fn named_type(catalog: &Catalog, schema: &str, name: &str) -> Option<Type> {
    let known = catalog.user_type(schema, name)?;
    Some(match &known.kind {
        UserTypeKind::Enum(labels) => enumeration(schema, name, known, labels),
        UserTypeKind::Composite(fields) => composite(catalog, (schema, name), known, fields),
        UserTypeKind::Domain(domain) => declared_type(catalog, &domain.kind, domain.declared),
    })
}

/// The domain of a name.
///
/// # Errors
/// Those of reading its conditions.
pub(crate) fn domain(catalog: &Catalog, schema: &str, name: &str) -> Result<Option<Domain>> {
    match catalog.user_type(schema, name) {
        Some(known) => domain_of(catalog, known.id),
        None => Ok(None),
    }
}

/// The domain of a number, with the conditions of those that it is over.
///
/// # Errors
/// Those of reading its conditions.
pub(crate) fn domain_of(catalog: &Catalog, id: TypeId) -> Result<Option<Domain>> {
    let mut found: Option<Domain> = None;
    let mut next = Some(id);
    for _ in 0..DEPTH {
        let Some((schema, name, known)) = next.and_then(|id| catalog.type_by_id(id)) else {
            break;
        };
        let UserTypeKind::Domain(stored) = &known.kind else {
            break;
        };
        let mut checks = Vec::with_capacity(stored.checks.len());
        for check in &stored.checks {
            checks.push((check.name.clone(), parse_expr(&check.condition)?));
        }
        match &mut found {
            Some(found) => {
                found.not_null |= !stored.nullable;
                checks.append(&mut found.checks);
                found.checks = checks;
            }
            None => {
                found = Some(Domain {
                    name: shown_type(schema, name),
                    base: declared_type(catalog, &stored.kind, stored.declared),
                    not_null: !stored.nullable,
                    checks,
                });
            }
        }
        next = stored.declared;
    }
    Ok(found)
}

/// The type that a column was declared with, as it is shown.
pub(crate) fn shown_declaration(catalog: &Catalog, column: &Column) -> String {
    let known = column.declared.and_then(|id| catalog.type_by_id(id));
    match (known, &column.kind) {
        (None, _) => column.type_name(),
        (Some((schema, name, known)), ColumnType::Array { dims, .. })
            if !is_domain_over_arrays(known) =>
        {
            shown_type(schema, name) + &"[]".repeat(usize::from(*dims))
        }
        (Some((schema, name, _)), _) => shown_type(schema, name),
    }
}

/// Whether a type is a domain whose values are arrays. A column of arrays is declared with such
/// a domain, or with the type of its elements.
pub(crate) fn is_domain_over_arrays(known: &UserType) -> bool {
    matches!(&known.kind, UserTypeKind::Domain(domain)
        if matches!(domain.kind, ColumnType::Array { .. }))
}

/// Whether a column has arrays of a domain.
pub(crate) fn has_arrays_of_domain(catalog: &Catalog, column: &Column) -> bool {
    let known = column.declared.and_then(|id| catalog.type_by_id(id));
    matches!(column.kind, ColumnType::Array { .. })
        && known.is_some_and(|(_, _, known)| {
            matches!(known.kind, UserTypeKind::Domain(_)) && !is_domain_over_arrays(known)
        })
}

/// The default of a column: its own, else that of its domain; none for a generated column.
pub(crate) fn default_of<'a>(catalog: &'a Catalog, column: &'a Column) -> Option<&'a str> {
    // Values of a generated column come when the others of the row are there.
    if column.generated {
        return None;
    }
    if let Some(default) = &column.default {
        return Some(default);
    }
    // That of a domain is none of arrays of it.
    if has_arrays_of_domain(catalog, column) {
        return None;
    }
    let mut next = column.declared;
    for _ in 0..DEPTH {
        let (_, _, known) = catalog.type_by_id(next?)?;
        let UserTypeKind::Domain(domain) = &known.kind else {
            return None;
        };
        if let Some(default) = &domain.default {
            return Some(default);
        }
        next = domain.declared;
    }
    None
}

/// The labels of the enumeration that a column's values, or the elements of its arrays, are of.
pub(crate) fn labels_of(catalog: &Catalog, column: &Column) -> Option<Arc<EnumType>> {
    match type_of_stored(catalog, column).innermost() {
        Type::Enum(of) => Some(Arc::clone(of)),
        _ => None,
    }
}
