//! CREATE DOMAIN and ALTER DOMAIN.

use arrow::datatypes::DataType;
use freestone_storage::{Catalog, Column, Domain, DomainCheck, TableSchema, TypeId, UserTypeKind};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::Run;
use super::composite::with_users;
use super::redeclare::written as full_name;
use super::user_type::Held;
use super::user_type::{Known, with_domains_over};
use crate::error::{Error, Result, parser as syntax_error};
use crate::front;
use crate::front::{Columns, has_query, parse_expr, with_value};
use crate::grammar::define::{ConstraintKind, DomainChange, DomainConstraint};
use crate::grammar::printed;
use crate::names::{Name, Parts, quoted};
use crate::outcome::Outcome;
use crate::session::Notice;

/// The name of elements while conditions on them are looked at.
const ELEMENT: &str = "element of a domain";

impl Run<'_> {
    pub(super) fn create_domain(
        &self,
        name: &Name,
        ty: &str,
        default: Option<&str>,
        constraints: &[DomainConstraint],
    ) -> Result<Outcome> {
        let ty = Parser::new(&PostgreSqlDialect {})
            .try_with_sql(ty)
            .and_then(|mut parser| parser.parse_data_type())
            .map_err(|error| syntax_error(&error))?;
        let Held {
            kind,
            modifier,
            declared,
        } = self.held(&ty)?;
        if modifier.is_some() {
            let message = format!("a domain over {ty} is not supported");
            return Err(Error::unsupported(message)
                .with_hint("leave out the digits or the fields, or say the type of the columns"));
        }
        let mut domain = Domain {
            kind,
            declared,
            nullable: true,
            default: default.map(str::to_owned),
            checks: Vec::new(),
        };
        let nulls = |kind: &ConstraintKind| {
            constraints
                .iter()
                .any(|constraint| constraint.kind == *kind)
        };
        if nulls(&ConstraintKind::NotNull) && nulls(&ConstraintKind::Null) {
            let message = "conflicting NULL/NOT NULL constraints";
            return Err(Error::new("42601", message));
        }
        for constraint in constraints {
            self.constrain(&mut domain, &name.name, constraint)?;
        }
        self.check_default(&column_of(&domain))?;
        self.add_type(name, UserTypeKind::Domain(domain))?;
        Ok(Outcome::done("CREATE DOMAIN"))
    }

    /// Adds a constraint to a domain.
    fn constrain(
        &self,
        domain: &mut Domain,
        name: &str,
        constraint: &DomainConstraint,
    ) -> Result<()> {
        let condition = match &constraint.kind {
            ConstraintKind::NotNull => {
                domain.nullable = false;
                return Ok(());
            }
            ConstraintKind::Null => return Ok(()),
            ConstraintKind::Check(condition) => parse_expr(condition)?,
        };
        if has_query(&condition) {
            return Err(Error::unsupported("a sub-query in CHECK is not supported"));
        }
        let schema = TableSchema {
            columns: vec![column_of(domain)],
            ..TableSchema::default()
        };
        let columns = Columns::of(&schema, "domain");
        let compiled = self.expressions().compiled(&condition, &columns)?;
        let kind = compiled.kind();
        if !matches!(kind, DataType::Boolean | DataType::Null) {
            let message = "argument of CHECK must be type boolean";
            return Err(Error::new("42804", message));
        }
        let taken = |name: &str| domain.checks.iter().any(|check| check.name == name);
        let chosen = match &constraint.name {
            Some(given) if taken(given) => {
                let message =
                    format!("constraint \"{given}\" for domain \"{name}\" already exists");
                return Err(Error::new("42710", message));
            }
            Some(given) => given.clone(),
            None => {
                let parts = Parts {
                    table: name,
                    columns: None,
                    kind: "check",
                };
                parts.free(taken)
            }
        };
        domain.checks.push(DomainCheck {
            name: chosen,
            condition: printed(&condition),
            valid: constraint.valid,
        });
        Ok(())
    }

    pub(super) async fn alter_domain(&self, name: &Name, change: &DomainChange) -> Result<Outcome> {
        let done = || Ok(Outcome::done("ALTER DOMAIN"));
        let known = Known::of(&self.snapshot, name.clone())?;
        let UserTypeKind::Domain(before) = &known.stored.kind else {
            return Err(Error::new("42809", format!("\"{name}\" is not a domain")));
        };
        let rights = self.rights(&self.snapshot);
        rights.owner("type", &name.name, &known.stored.id.into())?;
        let mut domain = before.clone();
        let place = |wanted: &str| before.checks.iter().position(|check| check.name == *wanted);
        let no_constraint = |wanted: &str| {
            let name = &name.name;
            let message = format!("constraint \"{wanted}\" of domain \"{name}\" does not exist");
            Error::new("42704", message)
        };
        match change {
            DomainChange::Default(default) => {
                domain.default.clone_from(default);
                self.check_default(&column_of(&domain))?;
            }
            DomainChange::NotNull(not_null) => {
                if *not_null {
                    self.values_must(&known, None).await?;
                }
                domain.nullable = !not_null;
            }
            DomainChange::Add(constraint) => {
                self.constrain(&mut domain, &name.name, constraint)?;
                match &constraint.kind {
                    ConstraintKind::NotNull => self.values_must(&known, None).await?,
                    ConstraintKind::Null => domain.nullable = true,
                    ConstraintKind::Check(condition) if constraint.valid => {
                        self.values_must(&known, Some(condition)).await?;
                    }
                    ConstraintKind::Check(_) => {}
                }
            }
            DomainChange::DropConstraint {
                name: gone,
                if_exists,
            } => match place(gone) {
                Some(place) => drop(domain.checks.remove(place)),
                None if *if_exists => {
                    let name = &name.name;
                    let text = format!("constraint \"{gone}\" of domain \"{name}\" does not exist");
                    self.session.notify(Notice::skipped("00000", text));
                    return done();
                }
                None => return Err(no_constraint(gone)),
            },
            DomainChange::RenameConstraint { name: from, to } => {
                let place = place(from).ok_or_else(|| no_constraint(from))?;
                if before.checks.iter().any(|check| check.name == *to) {
                    let name = &name.name;
                    let message =
                        format!("constraint \"{to}\" for domain \"{name}\" already exists");
                    return Err(Error::new("42710", message));
                }
                domain.checks[place].name.clone_from(to);
            }
            DomainChange::Validate(wanted) => {
                let place = place(wanted).ok_or_else(|| no_constraint(wanted))?;
                let condition = before.checks[place].condition.clone();
                self.values_must(&known, Some(&condition)).await?;
                domain.checks[place].valid = true;
            }
            DomainChange::Rename(to) => {
                self.rename_type(name, to)?;
                return done();
            }
        }
        self.edit_type(name, |edit, _| {
            Ok(edit.set_type(&name.schema, &name.name, UserTypeKind::Domain(domain))?)
        })?;
        done()
    }

    /// Refuses a condition, or without one NOT NULL, that rows do not meet.
    async fn values_must(&self, known: &Known, condition: Option<&str>) -> Result<()> {
        let domains = with_domains_over(&self.snapshot, known.stored.id);
        must_be_in_no_record(&self.snapshot, &known.name, &domains)?;
        for id in domains {
            for (table, place) in self.snapshot.columns_of_type(id) {
                let mut all = self.snapshot.all_tables();
                let Some((schema, _)) = all.find(|(_, one)| one.id == table.id) else {
                    continue;
                };
                let column = &table.schema.columns[place].name;
                let target = full_name(&Name::new(schema, &table.name));
                let is_array =
                    front::has_arrays_of_domain(&self.snapshot, &table.schema.columns[place]);
                let (value, from) = match is_array {
                    false => (column.as_str(), target),
                    true => (
                        ELEMENT,
                        format!(
                            "{target}, unnest({}) AS elements ({})",
                            quoted(column),
                            quoted(ELEMENT)
                        ),
                    ),
                };
                let wrong = match condition {
                    None => format!("{} IS NULL", quoted(value)),
                    Some(condition) => {
                        let condition = with_value(&parse_expr(condition)?, value);
                        format!("NOT ({})", printed(&condition))
                    }
                };
                let query = format!("SELECT 1 FROM {from} WHERE {wrong} LIMIT 1");
                if !Box::pin(self.any(&query)).await? {
                    continue;
                }
                let name = &table.name;
                let (code, what) = match condition {
                    None => ("23502", "null values"),
                    Some(_) => ("23514", "values that violate the new constraint"),
                };
                let message = format!("column \"{column}\" of table \"{name}\" contains {what}");
                return Err(Error::new(code, message));
            }
        }
        Ok(())
    }
}

/// Refuses a change of domains that fields of records in a column are of.
fn must_be_in_no_record(catalog: &Catalog, name: &Name, domains: &[TypeId]) -> Result<()> {
    let users = domains.iter().flat_map(|id| with_users(catalog, *id));
    for id in users.filter(|id| !domains.contains(id)) {
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

/// The value that conditions of a domain are about, as a column of the type that it is over.
fn column_of(domain: &Domain) -> Column {
    Column {
        name: "value".to_owned(),
        kind: domain.kind,
        nullable: true,
        default: domain.default.clone(),
        identity: None,
        modifier: None,
        declared: domain.declared,
        generated: false,
        hidden: None,
    }
}
