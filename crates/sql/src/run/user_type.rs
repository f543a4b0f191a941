//! CREATE TYPE, ALTER TYPE of enumerations, DROP TYPE, and where a type is used.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::visit_expressions_mut;
use freestone_storage::{
    Catalog, CatalogEdit, ColumnType, Deferral, Label, Modifier, Privileges, Table, TypeId,
    UserType, UserTypeKind,
};
use sqlparser::ast::{
    AlterType, AlterTypeAddValuePosition, AlterTypeOperation, ArrayElemTypeDef,
    DataType as Written, Expr, Ident, ObjectName, Statement as Ast, UserDefinedTypeRepresentation,
    Value,
};

use super::Run;
use super::alter_parts::Implicit;
use super::composite::field_of_type;
use super::create::unknown_schema;
use super::dependents::{cascades, depended_on, drop_all, may_go};
use super::redeclare::{Redeclaring, written as full_name};
use crate::error::{Error, Result};
use crate::front::{is_domain_over_arrays, parse_expr};
use crate::grammar::define::{Definition, TableChange};
use crate::grammar::printed;
use crate::names::{Name, fold, named, quoted, table_name};
use crate::outcome::Outcome;
use crate::relations::Without;
use crate::session::Notice;
use crate::statement::parse_one;
use crate::types::declared_type;

/// Bytes of a label, at most, as in PostgreSQL.
const LABEL_BYTES: usize = 63;

/// How values of a written type are held.
pub(super) struct Held {
    pub(super) kind: ColumnType,
    /// The part of the type that `kind` does not tell.
    pub(super) modifier: Option<Modifier>,
    /// The created type.
    pub(super) declared: Option<TypeId>,
}

impl Held {
    /// The values of a type that is told by its kind.
    pub(super) fn plain(kind: ColumnType) -> Self {
        Self {
            kind,
            modifier: None,
            declared: None,
        }
    }
}

/// A created type with its name.
pub(super) struct Known {
    pub(super) name: Name,
    pub(super) stored: UserType,
}

impl Known {
    /// The type of a name.
    ///
    /// # Errors
    /// `42704`.
    pub(super) fn of(catalog: &Catalog, name: Name) -> Result<Known> {
        match catalog.user_type(&name.schema, &name.name) {
            Some(stored) => Ok(Known {
                stored: stored.as_ref().clone(),
                name,
            }),
            None => Err(missing(&name)),
        }
    }

    /// Its labels, if it is an enumeration.
    fn labels(&self) -> Result<&Vec<Label>> {
        match &self.stored.kind {
            UserTypeKind::Enum(labels) => Ok(labels),
            UserTypeKind::Domain(_) | UserTypeKind::Composite(_) => {
                let message = format!("{} is not an enum", self.name);
                Err(Error::new("42809", message))
            }
        }
    }
}

fn missing(name: &Name) -> Error {
    Error::new("42704", format!("type \"{name}\" does not exist")).at(name.position)
}

impl Run<'_> {
    /// How a column of a written type is stored, and the created type that it is declared with.
    ///
    /// # Errors
    /// `42704` for a type that is not there; `0A000` for one that no column has.
    pub(super) fn held(&self, written: &Written) -> Result<Held> {
        let error = match declared_type(written) {
            Ok((kind, modifier)) => {
                return Ok(Held {
                    kind,
                    modifier,
                    declared: None,
                });
            }
            Err(error) => error,
        };
        match written {
            Written::Custom(name, modifiers) if modifiers.is_empty() => {
                let name = table_name(name)?;
                match self.snapshot.user_type(&name.schema, &name.name) {
                    Some(known) => Ok(Held {
                        kind: match &known.kind {
                            UserTypeKind::Enum(_) => ColumnType::Text,
                            UserTypeKind::Domain(domain) => domain.kind,
                            UserTypeKind::Composite(_) => ColumnType::Record,
                        },
                        modifier: None,
                        declared: Some(known.id),
                    }),
                    None if self.snapshot.table(&name.schema, &name.name).is_some() => {
                        let message =
                            format!("a column cannot have the type {name}, that of a table's rows");
                        Err(Error::unsupported(message)
                            .with_hint("CREATE TYPE … AS (…) with the same fields"))
                    }
                    None => Err(error),
                }
            }
            Written::Array(
                ArrayElemTypeDef::SquareBracket(element, _)
                | ArrayElemTypeDef::AngleBracket(element),
            ) => {
                let Held {
                    kind,
                    modifier,
                    declared,
                } = self.held(element)?;
                let known = declared.and_then(|id| self.snapshot.type_by_id(id));
                if known.is_some_and(|(_, _, known)| is_domain_over_arrays(known)) {
                    let message = "columns of arrays of a domain over arrays are not supported";
                    return Err(Error::unsupported(message));
                }
                let array = match kind {
                    ColumnType::Array { element, dims } => Some(ColumnType::Array {
                        element,
                        dims: dims.saturating_add(1),
                    }),
                    plain => plain.array(1),
                };
                let array = array.map(|kind| Held {
                    kind,
                    modifier,
                    declared,
                });
                array.ok_or(error)
            }
            _ => Err(error),
        }
    }

    /// CREATE TYPE.
    pub(super) fn create_type(
        &self,
        written: &ObjectName,
        representation: Option<&UserDefinedTypeRepresentation>,
    ) -> Result<Outcome> {
        let name = table_name(written)?;
        let labels = match representation {
            Some(UserDefinedTypeRepresentation::Enum { labels }) => labels,
            Some(UserDefinedTypeRepresentation::Composite { attributes }) => {
                let kind = UserTypeKind::Composite(self.fields(attributes)?);
                self.add_type(&name, kind)?;
                return Ok(Outcome::done("CREATE TYPE"));
            }
            _ => {
                let message = "only enumerations and composite types can be created";
                return Err(Error::unsupported(message)
                    .with_hint("CREATE TYPE … AS ENUM ('a', 'b') or AS (a INTEGER, b TEXT)"));
            }
        };
        let mut all: Vec<Label> = Vec::with_capacity(labels.len());
        for label in labels {
            let label = label_of(label)?;
            if all.iter().any(|known| known.name == label) {
                let message = "duplicate key value violates unique constraint \
                               \"pg_enum_typid_label_index\"";
                return Err(Error::new("23505", message)
                    .with_detail(format!("The label \"{label}\" is there twice.")));
            }
            all.push(Label {
                name: label,
                order: (all.len() + 1) as f32,
                number: all.len() as u32,
            });
        }
        self.add_type(&name, UserTypeKind::Enum(all))?;
        Ok(Outcome::done("CREATE TYPE"))
    }

    /// Adds a type to the catalog.
    pub(super) fn add_type(&self, name: &Name, kind: UserTypeKind) -> Result<()> {
        self.edit(|edit| {
            if !edit.catalog().has_schema(&name.schema) {
                return Err(unknown_schema(edit.catalog(), &name.schema));
            }
            let rights = self.rights(edit.catalog());
            rights.schema(&name.schema, Privileges::CREATE)?;
            edit.create_type(&name.schema, &name.name, kind)?;
            Ok(())
        })
    }

    /// Changes a type that the session owns.
    pub(super) fn edit_type<T>(
        &self,
        name: &Name,
        change: impl FnOnce(&mut CatalogEdit, Known) -> Result<T>,
    ) -> Result<T> {
        self.edit(|edit| {
            let known = Known::of(edit.catalog(), name.clone())?;
            let rights = self.rights(edit.catalog());
            rights.owner("type", &name.name, &known.stored.id.into())?;
            change(edit, known)
        })
    }

    /// ALTER TYPE.
    pub(super) async fn alter_type(&self, alter: &AlterType) -> Result<Outcome> {
        let name = table_name(&alter.name)?;
        match &alter.operation {
            AlterTypeOperation::Rename(rename) => {
                self.rename_type(&name, &fold(&rename.new_name))?
            }
            AlterTypeOperation::AddValue(add) => {
                let label = label_of(&add.value)?;
                let added = self.edit_type(&name, |edit, known| {
                    let mut labels = known.labels()?.clone();
                    if labels.iter().any(|known| known.name == label) {
                        if add.if_not_exists {
                            return Ok(false);
                        }
                        let message = format!("enum label \"{label}\" already exists");
                        return Err(Error::new("42710", message));
                    }
                    insert_label(&mut labels, label.clone(), add.position.as_ref())?;
                    let kind = UserTypeKind::Enum(labels);
                    edit.set_type(&name.schema, &name.name, kind)?;
                    Ok(true)
                })?;
                if !added {
                    let text = format!("enum label \"{label}\" already exists");
                    self.session.notify(Notice::skipped("42710", text));
                }
            }
            AlterTypeOperation::RenameValue(rename) => {
                let (from, to) = (label_of(&rename.from)?, label_of(&rename.to)?);
                let implicit = match self.session.in_transaction() {
                    true => None,
                    false => {
                        self.session.must_write()?;
                        Some(Implicit::begin(self.session)?)
                    }
                };
                Box::pin(self.rename_label(&name, &from, &to)).await?;
                if let Some(implicit) = implicit {
                    implicit.commit().await?;
                }
            }
        }
        Ok(Outcome::done("ALTER TYPE"))
    }

    pub(super) fn rename_type(&self, name: &Name, to: &str) -> Result<()> {
        self.edit_type(name, |edit, _| {
            let to = (name.schema.as_str(), to);
            Ok(edit.rename_type(&name.schema, &name.name, to)?)
        })
    }

    /// Renames a label, in rows and defaults too, which have its text.
    async fn rename_label(&self, name: &Name, from: &str, to: &str) -> Result<()> {
        let known = Known::of(&self.snapshot, name.clone())?;
        if let Some(field) = field_of_type(&self.snapshot, known.stored.id) {
            let message = format!("renaming a label that {field} may have is not supported");
            return Err(Error::unsupported(message));
        }
        // While rows change, both are labels.
        let id = self.edit_type(name, |edit, known| {
            let mut labels = known.labels()?.clone();
            let Some(at) = labels.iter().position(|label| label.name == from) else {
                return Err(no_label(from));
            };
            if labels.iter().any(|label| label.name == to) {
                let message = format!("enum label \"{to}\" already exists");
                return Err(Error::new("42710", message));
            }
            let both = Label {
                name: to.to_owned(),
                ..labels[at].clone()
            };
            labels.insert(at + 1, both);
            edit.set_type(&name.schema, &name.name, UserTypeKind::Enum(labels))?;
            Ok(known.stored.id)
        })?;
        let columns = self.within()?.snapshot.columns_of_type(id);
        for (table, column) in &columns {
            let run = self.within()?;
            let mut all = run.snapshot.all_tables();
            let Some((schema, table)) = all.find(|(_, known)| known.id == table.id) else {
                continue;
            };
            let target = full_name(&Name::new(schema, &table.name));
            let (column, is_array) = {
                let column = &table.schema.columns[*column];
                let is_array = matches!(column.kind, ColumnType::Array { .. });
                (quoted(&column.name), is_array)
            };
            let [old, new] = [from, to].map(|text| format!("'{}'", text.replace('\'', "''")));
            let text = match is_array {
                false => format!("UPDATE {target} SET {column} = {new} WHERE {column} = {old}"),
                true => format!(
                    "UPDATE {target} SET {column} = array_replace({column}, {old}, {new}) \
                     WHERE {old} = ANY ({column})"
                ),
            };
            let Ast::Update(update) = parse_one(&text)? else {
                return Err(Error::internal("an UPDATE that is none"));
            };
            let updated = Box::pin(run.update(&update)).await;
            updated.map_err(|error| match error.sqlstate.as_str() {
                "23503" => Error::unsupported(format!(
                    "renaming the label \"{from}\", which a foreign key refers to, is not supported"
                ))
                .with_hint("Drop the foreign key, and add it again afterwards."),
                _ => error,
            })?;
        }
        self.rename_in_defaults(&columns, from, to)?;
        self.edit_type(name, |edit, known| {
            let mut labels = known.labels()?.clone();
            labels.retain(|label| label.name != from);
            Ok(edit.set_type(&name.schema, &name.name, UserTypeKind::Enum(labels))?)
        })
    }

    fn rename_in_defaults(
        &self,
        columns: &[(std::sync::Arc<Table>, usize)],
        from: &str,
        to: &str,
    ) -> Result<()> {
        for (table, place) in columns {
            let Some(default) = &table.schema.columns[*place].default else {
                continue;
            };
            let mut expr = parse_expr(default)?;
            let mut found = false;
            let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |part| {
                if let Expr::Value(value) = part
                    && let Value::SingleQuotedString(text) = &mut value.value
                    && text == from
                {
                    to.clone_into(text);
                    found = true;
                }
                ControlFlow::Continue(())
            });
            if found {
                let default = printed(&expr);
                self.edit(|edit| Ok(edit.set_default(table.id, *place, &default)?))?;
            }
        }
        Ok(())
    }

    /// The statement as it goes on, with what its transaction has done so far.
    pub(super) fn within(&self) -> Result<Run<'_>> {
        let mut open = self.session.transaction();
        let snapshot = match open.changing()? {
            None => self.snapshot.clone(),
            Some(transaction) => transaction.snapshot(),
        };
        drop(open);
        Ok(Run::over(self.session, snapshot))
    }

    /// Statements about domains, and DROP TYPE.
    pub(super) async fn define(&self, statement: &Definition) -> Result<Outcome> {
        match statement {
            Definition::CreateDomain {
                name,
                ty,
                default,
                constraints,
            } => self.create_domain(&named(name)?, ty, default.as_deref(), constraints),
            Definition::CreateSchema { .. } => {
                Err(Error::internal("the elements of a schema are statements"))
            }
            Definition::AlterDomain { name, change } => {
                Box::pin(self.alter_domain(&named(name)?, change)).await
            }
            Definition::Drop {
                domains,
                names,
                if_exists,
                cascade,
            } => {
                for name in names {
                    self.drop_type(&named(name)?, *domains, *if_exists, *cascade)?;
                }
                let tag = if *domains { "DROP DOMAIN" } else { "DROP TYPE" };
                Ok(Outcome::done(tag))
            }
            Definition::AlterComposite { name, change } => {
                self.alter_composite(&named(name)?, change)
            }
            Definition::RenameIndex {
                name,
                if_exists,
                to,
            } => Box::pin(self.rename_index(&named(name)?, *if_exists, to)).await,
            Definition::AlterTable {
                name,
                change:
                    TableChange::Constraint {
                        name: constraint,
                        deferrable,
                        deferred,
                    },
                if_exists,
                view: _,
            } => {
                let deferral = match (deferrable, deferred) {
                    (false, _) => Deferral::Never,
                    (true, false) => Deferral::Possible,
                    (true, true) => Deferral::Initial,
                };
                let name = named(name)?;
                // It says what is wrong with the table, or is not there.
                self.alter_relation(false, &name, *if_exists, &TableChange::Logged)?;
                if self.snapshot.table(&name.schema, &name.name).is_some() {
                    let change = Redeclaring::Deferral(constraint, deferral);
                    Box::pin(self.redone(&name, &change)).await?;
                }
                Ok(Outcome::done("ALTER TABLE"))
            }
            Definition::Refresh {
                name,
                concurrently,
                empty,
            } => Box::pin(self.refresh(&named(name)?, (*concurrently, *empty))).await,
            Definition::AlterMaterialized {
                name,
                if_exists,
                change,
            } => Box::pin(self.alter_materialized(&named(name)?, *if_exists, change)).await,
            Definition::AlterTable {
                view,
                name,
                if_exists,
                change,
            } => self.alter_relation(*view, &named(name)?, *if_exists, change),
            Definition::AlterFunction {
                name,
                parameters,
                is_aggregate,
                change,
            } => {
                let which = (parameters.as_deref(), *is_aggregate);
                self.alter_function(&named(name)?, which, change)
            }
            Definition::AlterSequence {
                name,
                if_exists,
                change,
            } => self.alter_sequence(&named(name)?, *if_exists, change),
            Definition::SetConstraints { names, deferred } => {
                self.set_constraints(names.as_deref(), *deferred)
            }
            Definition::Partition {
                parent,
                partition,
                bound,
                if_exists,
            } => {
                let (parent, partition) = (named(parent)?, named(partition)?);
                if *if_exists && self.snapshot.table(&parent.schema, &parent.name).is_none() {
                    return Ok(Outcome::done("ALTER TABLE"));
                }
                match bound {
                    Some(bound) => self.attach(&parent, &partition, bound).await,
                    None => self.detach(&parent, &partition),
                }
            }
            Definition::Move {
                domain,
                name,
                schema,
            } => {
                let name = named(name)?;
                let schema = crate::names::meant_schema(schema);
                self.edit_type(&name, |edit, _| {
                    if !edit.catalog().has_schema(schema) {
                        return Err(unknown_schema(edit.catalog(), schema));
                    }
                    let rights = self.rights(edit.catalog());
                    rights.schema(schema, Privileges::CREATE)?;
                    let to = (schema, name.name.as_str());
                    Ok(edit.rename_type(&name.schema, &name.name, to)?)
                })?;
                let tag = if *domain {
                    "ALTER DOMAIN"
                } else {
                    "ALTER TYPE"
                };
                Ok(Outcome::done(tag))
            }
        }
    }

    fn drop_type(&self, name: &Name, domain: bool, if_exists: bool, cascade: bool) -> Result<()> {
        let run = self.within()?;
        let catalog = run.snapshot.catalog();
        let Some(known) = catalog.user_type(&name.schema, &name.name) else {
            if !if_exists {
                return Err(missing(name));
            }
            let text = format!("type \"{name}\" does not exist");
            self.session.notify(Notice::skipped("00000", text));
            return Ok(());
        };
        if domain && !matches!(known.kind, UserTypeKind::Domain(_)) {
            return Err(Error::new("42809", format!("\"{name}\" is not a domain")));
        }
        let ids = with_domains_over(catalog, known.id);
        let columns: Vec<_> = ids
            .iter()
            .flat_map(|id| catalog.columns_of_type(*id))
            .collect();
        let mut users = users_of(catalog, &ids, &columns);
        let without = Without::Type(name.schema.clone(), name.name.clone());
        let dependents = run.dependents(&without, &name.name);
        if !cascade {
            users.extend(dependents.iter().map(|one| one.shown.clone()));
            if !users.is_empty() {
                let users = users.iter().map(String::as_str);
                return Err(depended_on(&format!("type {name}"), users));
            }
        }
        may_go(&dependents, &format!("type {name}"), cascade)?;
        users.extend(dependents.iter().map(|one| one.shown.clone()));
        if let Some(field) = field_of_type(catalog, known.id) {
            let message = format!("{field} would have to go with type {name}");
            return Err(Error::unsupported(message).with_hint("ALTER TYPE … DROP ATTRIBUTE first."));
        }
        // Rows in no block have the columns of today.
        for (table, _) in &columns {
            if self.session.in_transaction() {
                self.absorbed(&Name::in_catalog(catalog, table))?;
            } else {
                self.store().move_delta(table.id)?;
            }
        }
        self.edit(|edit| {
            let known = Known::of(edit.catalog(), name.clone())?;
            let rights = self.rights(edit.catalog());
            rights.owner("type", &name.name, &known.stored.id.into())?;
            drop_all(edit, &dependents)?;
            for (table, place) in &columns {
                edit.drop_column(table.id, &table.schema.columns[*place].name)?;
            }
            for id in ids.iter().rev() {
                let found = edit.catalog().type_by_id(*id);
                if let Some((schema, name, _)) = found {
                    let (schema, name) = (schema.to_owned(), name.to_owned());
                    edit.drop_type(&schema, &name)?;
                }
            }
            Ok(())
        })?;
        if let Some(notice) = cascades(&users) {
            self.session.notify(notice);
        }
        Ok(())
    }
}

/// A type and all domains over it.
pub(super) fn with_domains_over(catalog: &Catalog, id: TypeId) -> Vec<TypeId> {
    let mut all = vec![id];
    let mut at = 0;
    while let Some(id) = all.get(at).copied() {
        at += 1;
        for (_, _, known) in catalog.user_types() {
            let over = match &known.kind {
                UserTypeKind::Domain(domain) => domain.declared == Some(id),
                UserTypeKind::Enum(_) | UserTypeKind::Composite(_) => false,
            };
            if over && !all.contains(&known.id) {
                all.push(known.id);
            }
        }
    }
    all
}

/// Columns, fields and domains that use a type.
fn users_of(
    catalog: &Catalog,
    ids: &[TypeId],
    columns: &[(std::sync::Arc<Table>, usize)],
) -> Vec<String> {
    let columns = columns.iter().map(|(table, place)| {
        let column = &table.schema.columns[*place].name;
        format!(
            "column {column} of table {}",
            Name::in_catalog(catalog, table)
        )
    });
    let fields = ids.iter().filter_map(|id| field_of_type(catalog, *id));
    let domains = ids.iter().skip(1).filter_map(|id| {
        let (schema, name, _) = catalog.type_by_id(*id)?;
        Some(format!("type {}", Name::new(schema, name)))
    });
    columns.chain(fields).chain(domains).collect()
}

/// The text of a label.
fn label_of(written: &Ident) -> Result<String> {
    let label = &written.value;
    if label.len() > LABEL_BYTES || label.is_empty() && written.quote_style != Some('\'') {
        return Err(
            Error::new("42602", format!("invalid enum label \"{label}\""))
                .with_detail(format!("Labels must be {LABEL_BYTES} bytes or less.")),
        );
    }
    Ok(label.clone())
}

fn no_label(label: &str) -> Error {
    Error::new(
        "22023",
        format!("\"{label}\" is not an existing enum label"),
    )
}

/// Puts a label before or behind another, or at the end.
fn insert_label(
    labels: &mut Vec<Label>,
    name: String,
    position: Option<&AlterTypeAddValuePosition>,
) -> Result<()> {
    let place = |other: &Ident| {
        let other = &other.value;
        let found = labels.iter().position(|label| label.name == *other);
        found.ok_or_else(|| no_label(other))
    };
    let at = match position {
        None => labels.len(),
        Some(AlterTypeAddValuePosition::Before(other)) => place(other)?,
        Some(AlterTypeAddValuePosition::After(other)) => place(other)? + 1,
    };
    let order = |at: usize| labels.get(at).map(|label| label.order);
    let before = at.checked_sub(1).and_then(order);
    let order = match (before, order(at)) {
        (None, None) => 1.0,
        (Some(before), None) => before + 1.0,
        (None, Some(after)) => after - 1.0,
        (Some(before), Some(after)) => before + (after - before) / 2.0,
    };
    let number = labels.iter().map(|label| label.number + 1).max();
    let label = Label {
        name,
        order,
        number: number.unwrap_or(0),
    };
    labels.insert(at, label);
    // There is no number between two that are next to each other.
    let distinct = labels.windows(2).all(|pair| pair[0].order < pair[1].order);
    if !distinct {
        for (label, place) in labels.iter_mut().zip(1u16..) {
            label.order = place.into();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_between_others_never_run_out() {
        let mut labels = Vec::new();
        insert_label(&mut labels, "a".into(), None).unwrap();
        insert_label(&mut labels, "z".into(), None).unwrap();
        let before = AlterTypeAddValuePosition::Before(Ident::new("z"));
        for number in 0..100 {
            insert_label(&mut labels, format!("l{number}"), Some(&before)).unwrap();
        }
        assert_eq!(labels.len(), 102);
        assert!(labels.windows(2).all(|pair| pair[0].order < pair[1].order));
        let names: Vec<&str> = labels.iter().map(|label| label.name.as_str()).collect();
        assert_eq!(
            (names[0], names[1], names[100], names[101]),
            ("a", "l0", "l99", "z")
        );
        let mut numbers: Vec<u32> = labels.iter().map(|label| label.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 102);
    }
}
