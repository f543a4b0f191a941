//! ALTER TABLE and ALTER VIEW in forms that the grammar below lacks: SET SCHEMA, the identity of a
//! column, and the names of a view's columns.

use freestone_storage::{Catalog, CatalogEdit, Identity, Object, Privileges, Table, ViewQuery};
use sqlparser::ast::Ident;

use super::Run;
use super::alter_sequence::{changed, renamed};
use super::create::{is_of_pages, unknown_schema};
use super::redeclare::place;
use super::view::view_option;
use crate::error::{Error, Result};
use crate::front::{self, columns_of_view};
use crate::grammar::define::{SequenceChange, TableChange};
use crate::names::{Name, meant_schema, quoted, temporary_schema};
use crate::outcome::Outcome;
use crate::relations::{Relations, unknown_table};
use crate::session::Notice;
use crate::statement::parse_one;

/// Refuses to move something between schemas if one of them is of a session.
///
/// # Errors
/// `0A000`.
pub(super) fn must_stay(from: &str, to: &str) -> Result<()> {
    match [from, to].into_iter().any(temporary_schema) {
        true => {
            let message = "cannot move objects into or out of temporary schemas";
            Err(Error::unsupported(message))
        }
        false => Ok(()),
    }
}

impl Run<'_> {
    /// Runs one change of a table, a view or, by ALTER TABLE, a sequence.
    ///
    /// # Errors
    /// `42P01`, `42501`, `3F000`, `42P07`; those of the change.
    pub(super) fn alter_relation(
        &self,
        view: bool,
        name: &Name,
        if_exists: bool,
        change: &TableChange,
    ) -> Result<Outcome> {
        let run = self.within()?;
        let catalog = run.snapshot.catalog();
        let is_view = catalog.view(&name.schema, &name.name).is_some();
        let tag = match view {
            true => "ALTER VIEW",
            false => "ALTER TABLE",
        };
        let done = || Ok(Outcome::done(tag));
        if is_view {
            self.alter_view(&run, name, change)?;
            return done();
        }
        let Some(table) = catalog.table(&name.schema, &name.name) else {
            if let (Some(_), TableChange::Move(schema)) =
                (catalog.sequence(&name.schema, &name.name), change)
            {
                self.alter_sequence(name, false, &SequenceChange::Move(schema.clone()))?;
                return done();
            }
            if if_exists {
                let text = format!("relation \"{name}\" does not exist");
                self.session.notify(Notice::skipped("00000", text));
                return done();
            }
            return Err(unknown_table(&run.snapshot, name));
        };
        let rights = self.rights(catalog);
        rights.owner("table", &name.name, &table.id.into())?;
        if view {
            let message = format!("\"{}\" is not a view", name.name);
            return Err(Error::new("42809", message));
        }
        match change {
            TableChange::Move(schema) => self.move_table(name, table, schema)?,
            TableChange::Identity {
                column,
                always,
                options,
            } => {
                let at = place(table, &Ident::with_quote('"', column))?;
                let identity = table.schema.columns[at].identity;
                let identity = identity.ok_or_else(|| no_identity(name, column))?;
                self.edit(|edit| {
                    if let Some(always) = *always {
                        let identity = Identity {
                            always,
                            serial: false,
                            ..identity
                        };
                        edit.set_identity(table.id, at, Some(identity))?;
                    }
                    let known = edit.catalog().sequence_by_id(identity.sequence);
                    let known = known.map(|(schema, known)| (schema.to_owned(), known.clone()));
                    let (schema, known) =
                        known.ok_or_else(|| Error::internal("an identity without a sequence"))?;
                    let (definition, position) =
                        changed(edit.catalog(), &schema, &known.definition, options)?;
                    Ok(edit.alter_sequence(&schema, &known.name, definition, position)?)
                })?;
            }
            TableChange::DropIdentity { column, if_exists } => {
                let at = place(table, &Ident::with_quote('"', column))?;
                match table.schema.columns[at].identity {
                    Some(_) => self.edit(|edit| Ok(edit.set_identity(table.id, at, None)?))?,
                    None if *if_exists => {
                        let text = no_identity(name, column).message;
                        self.session.notify(Notice::skipped("00000", text));
                    }
                    None => return Err(no_identity(name, column)),
                }
            }
            TableChange::Reset(names) => {
                if let Some(own) = names.iter().find(|name| !is_of_pages(&name.to_lowercase())) {
                    let message = format!("RESET of the option \"{own}\" is not supported");
                    return Err(Error::unsupported(message).with_hint(
                        "SET gives it another value; those about pages change nothing.",
                    ));
                }
            }
            // All are, but those of a session.
            TableChange::Logged if temporary_schema(&name.schema) => {
                let table = &name.name;
                let message = format!(
                    "cannot change logged status of table \"{table}\" because it is temporary"
                );
                return Err(Error::new("42P16", message));
            }
            TableChange::Logged => {}
            TableChange::Refused(what) => {
                let error = Error::unsupported(format!("ALTER TABLE … {what} is not supported"));
                return Err(match what.as_str() {
                    "CLUSTER ON" | "SET WITHOUT CLUSTER" => {
                        error.with_hint("SET (sort_by = 'column') sorts blocks by a column.")
                    }
                    _ => error,
                });
            }
            TableChange::RenameColumn { .. }
            | TableChange::Constraint { .. }
            | TableChange::ViewOptions(_)
            | TableChange::ViewDefault { .. } => {
                return Err(Error::internal("that is changed elsewhere"));
            }
        }
        done()
    }

    /// A table in another schema, with the sequences of its columns.
    fn move_table(&self, name: &Name, table: &Table, schema: &str) -> Result<()> {
        let to = meant_schema(schema);
        self.may_move(name, to)?;
        if to == name.schema {
            return Ok(());
        }
        let identities = table.schema.columns.iter().filter_map(|c| c.identity);
        let identities: Vec<_> = identities.map(|identity| identity.sequence).collect();
        self.edit(|edit| {
            let own = |catalog: &Catalog| {
                let all = catalog.all_sequences().filter(|(schema, sequence)| {
                    let owner = sequence.definition.owner.as_ref();
                    *schema == name.schema
                        && (identities.contains(&sequence.id)
                            || owner.is_some_and(|(of, _)| *of == table.id))
                });
                all.map(|(_, sequence)| sequence.name.clone())
                    .collect::<Vec<String>>()
            };
            for sequence in own(edit.catalog()) {
                renamed(edit, &Name::new(&name.schema, &sequence), (to, &sequence))?;
            }
            Ok(edit.move_table(&name.schema, &name.name, to)?)
        })
    }

    /// Checks that something may be put into a schema.
    fn may_move(&self, name: &Name, to: &str) -> Result<()> {
        must_stay(&name.schema, to)?;
        let run = self.within()?;
        let catalog = run.snapshot.catalog();
        if !catalog.has_schema(to) {
            return Err(unknown_schema(catalog, to));
        }
        self.rights(catalog).schema(to, Privileges::CREATE)
    }

    fn alter_view(&self, run: &Run<'_>, name: &Name, change: &TableChange) -> Result<()> {
        let catalog = run.snapshot.catalog();
        let object = Object::view(&name.schema, &name.name);
        self.rights(catalog).owner("view", &name.name, &object)?;
        match change {
            TableChange::Move(schema) => {
                let to = meant_schema(schema);
                self.may_move(name, to)?;
                if to == name.schema {
                    return Ok(());
                }
                let to = (to, name.name.as_str());
                self.edit(|edit| Ok(edit.rename_view(&name.schema, &name.name, to)?))
            }
            TableChange::RenameColumn { from, to } => {
                let relations = Relations::new(self.state(), run.snapshot.clone());
                let columns = columns_of_view(&relations, &name.schema, &name.name)?;
                let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                let names = other_names(name, &names, from, to)?;
                self.edit(|edit| {
                    replace_names(edit, name, &names, (from, to))?;
                    edit.tell_views_of((&name.schema, &name.name), from, Some(to));
                    Ok(())
                })
            }
            TableChange::ViewOptions(given) => self.change_view(run, name, |query| {
                for (option, value) in given {
                    let (option, value) = view_option(option.clone(), value.clone())?;
                    query.options.retain(|(known, _)| *known != option);
                    query.options.push((option, value));
                }
                Ok(())
            }),
            TableChange::Reset(given) => self.change_view(run, name, |query| {
                let is_reset = |known: &str| given.iter().any(|one| one.to_lowercase() == *known);
                query.options.retain(|(known, _)| !is_reset(known));
                Ok(())
            }),
            TableChange::ViewDefault { column, default } => {
                let relations = Relations::new(self.state(), run.snapshot.clone());
                let columns = columns_of_view(&relations, &name.schema, &name.name)?;
                let Some((_, ty)) = columns.iter().find(|(known, _)| known == column) else {
                    let view = &name.name;
                    let message =
                        format!("column \"{column}\" of relation \"{view}\" does not exist");
                    return Err(Error::new("42703", message));
                };
                if let Some(default) = default {
                    let query = parse_one(&format!("SELECT {default}"))?;
                    let into = [(column.clone(), ty.clone())];
                    front::planned_into(&relations, &query, &into).map_err(Error::placeless)?;
                }
                self.change_view(run, name, |query| {
                    query.defaults.retain(|(known, _)| known != column);
                    let default = default.iter();
                    let own = default.map(|default| (column.clone(), default.clone()));
                    query.defaults.extend(own);
                    Ok(())
                })
            }
            _ => {
                let message = format!("\"{}\" is not a table", name.name);
                Err(Error::new("42809", message))
            }
        }
    }

    /// Gives a view other options or defaults.
    fn change_view(
        &self,
        run: &Run<'_>,
        name: &Name,
        change: impl FnOnce(&mut ViewQuery) -> Result<()>,
    ) -> Result<()> {
        let view = run.snapshot.view(&name.schema, &name.name);
        let view = view.ok_or_else(|| Error::internal("a view that is not there"))?;
        let mut query = view.query.clone();
        change(&mut query)?;
        run.must_be_checkable(name, &query)?;
        self.edit(|edit| Ok(edit.replace_view(&name.schema, &name.name, query)?))
    }
}

/// The names of a view's columns, of which one is another.
fn other_names(view: &Name, names: &[&str], from: &str, to: &str) -> Result<Vec<String>> {
    if !names.contains(&from) {
        let message = format!("column \"{from}\" does not exist");
        return Err(Error::new("42703", message));
    }
    if names.contains(&to) {
        let view = &view.name;
        let message = format!("column \"{to}\" of relation \"{view}\" already exists");
        return Err(Error::new("42701", message));
    }
    let names = names
        .iter()
        .map(|name| if *name == from { to } else { name });
    Ok(names.map(quoted).collect())
}

/// A view whose columns have other names.
fn replace_names(
    edit: &mut CatalogEdit,
    name: &Name,
    names: &[String],
    (from, to): (&str, &str),
) -> Result<()> {
    let view = edit.catalog().view(&name.schema, &name.name);
    let view = view.ok_or_else(|| Error::internal("a view that is not there"))?;
    let called = quoted(&name.name);
    let list = names.join(", ");
    let query = ViewQuery {
        sql: format!("SELECT * FROM ({}) AS {called} ({list})", view.query.sql),
        defaults: {
            let defaults = view.query.defaults.iter().cloned();
            let renamed = |(column, default): (String, String)| match column == from {
                true => (to.to_owned(), default),
                false => (column, default),
            };
            defaults.map(renamed).collect()
        },
        ..view.query.clone()
    };
    Ok(edit.replace_view(&name.schema, &name.name, query)?)
}

/// `55000` for a column without an identity.
fn no_identity(table: &Name, column: &str) -> Error {
    let table = &table.name;
    let message = format!("column \"{column}\" of relation \"{table}\" is not an identity column");
    Error::new("55000", message)
}
