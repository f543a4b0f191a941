//! DROP TABLE, DROP VIEW, DROP INDEX, DROP SEQUENCE, DROP SCHEMA: all names of a statement, or none.

use std::sync::Arc;

use freestone_storage::{Catalog, CatalogEdit, MoverHold, SequenceId, Table, TableId};
use sqlparser::ast::{AlterTable, ObjectName, ObjectType, Statement as Ast};

use super::Run;
use super::composite::with_users;
use super::create::unknown_schema;
use super::dependents::{Dependent, cascades, drop_all, not_to_go, shown};
use super::redeclare::written;
use super::sequence::drop_sequence;
use crate::error::{Error, Result};
use crate::names::{DEFAULT_SCHEMA, Name, quoted, schema_name, shown_schema, table_name};
use crate::outcome::Outcome;
use crate::partition;
use crate::relations::{Without, unknown_table};
use crate::statement::parse_one;

impl Run<'_> {
    /// DROP INDEX of a unique one: its key goes, which CREATE UNIQUE INDEX has made. `None`
    /// for anything else.
    pub(super) fn unique_index(&self, ast: &Ast) -> Result<Option<AlterTable>> {
        let Ast::Drop {
            object_type: ObjectType::Index,
            names,
            cascade,
            ..
        } = ast
        else {
            return Ok(None);
        };
        for name in names {
            self.goes_alone(&table_name(name)?)?;
        }
        let [name] = names.as_slice() else {
            return Ok(None);
        };
        let name = table_name(name)?;
        let Some((table, _)) = self.snapshot.index(&name.schema, &name.name) else {
            return Ok(None);
        };
        let mut keys = table.schema.keys.iter();
        if !keys.any(|key| key.name == name.name) {
            return Ok(None);
        }
        let text = format!(
            "ALTER TABLE {} DROP CONSTRAINT {}{}",
            written(&Name::new(&name.schema, &table.name)),
            quoted(&name.name),
            if *cascade { " CASCADE" } else { "" }
        );
        match parse_one(&text)? {
            Ast::AlterTable(alter) => Ok(Some(alter)),
            _ => Err(Error::internal("a unique index is no constraint")),
        }
    }

    /// Refuses to drop the index of a constraint.
    ///
    /// # Errors
    /// `2BP01`.
    fn goes_alone(&self, name: &Name) -> Result<()> {
        let Some((table, _)) = self.snapshot.index(&name.schema, &name.name) else {
            return Ok(());
        };
        let mut keys = table.schema.keys.iter();
        match keys.any(|key| key.name == name.name && !key.of_index) {
            true => {
                let of = format!("constraint {} on table {}", name.name, table.name);
                let message = format!("cannot drop index {} because {of} requires it", name.name);
                Err(Error::new("2BP01", message).with_hint(format!("You can drop {of} instead.")))
            }
            false => Ok(()),
        }
    }

    /// Brings rows of tables whose indexes have hidden columns into blocks: those columns go.
    fn columns_may_go(&self, names: &[ObjectName]) -> Result<Vec<MoverHold>> {
        let mut holds = Vec::new();
        for name in names {
            let name = table_name(name)?;
            let Some((table, index)) = self.snapshot.index(&name.schema, &name.name) else {
                continue;
            };
            let mut columns = index.columns.iter();
            if !columns.any(|at| table.schema.columns[*at].hidden.is_some()) {
                continue;
            }
            if self.session.in_transaction() {
                self.absorbed(&Name::new(&name.schema, &table.name))?;
            } else {
                self.store().move_delta(table.id)?;
                holds.push(self.store().hold_mover(table.id));
            }
        }
        Ok(holds)
    }

    /// The views over relations that are to be dropped, but for those among these.
    ///
    /// # Errors
    /// `2BP01` if there are some, unless they may go, too.
    fn views_over_all(
        &self,
        kind: ObjectType,
        names: &[ObjectName],
        cascade: bool,
    ) -> Result<Vec<Dependent>> {
        let run = self.within()?;
        let catalog = run.snapshot.catalog();
        let mut dropped: Vec<(&str, Name)> = Vec::new();
        for name in names {
            match kind {
                ObjectType::Table | ObjectType::MaterializedView => {
                    let name = table_name(name)?;
                    let materialized = kind == ObjectType::MaterializedView;
                    let is_meant =
                        |table: &&Arc<Table>| table.schema.materialized.is_some() == materialized;
                    let table = catalog.table(&name.schema, &name.name);
                    let Some(table) = table.filter(is_meant) else {
                        continue;
                    };
                    let parts = partition::descendants(catalog, table).into_iter();
                    let parts =
                        parts.map(|(schema, part)| ("table", Name::new(schema, &part.name)));
                    let kind = if materialized {
                        "materialized view"
                    } else {
                        "table"
                    };
                    dropped.push((kind, name));
                    dropped.extend(parts);
                }
                ObjectType::View => {
                    let name = table_name(name)?;
                    if catalog.view(&name.schema, &name.name).is_some() {
                        dropped.push(("view", name));
                    }
                }
                ObjectType::Sequence => {
                    let name = table_name(name)?;
                    if catalog.sequence(&name.schema, &name.name).is_some() {
                        dropped.push(("sequence", name));
                    }
                }
                ObjectType::Schema if cascade => {
                    let schema = schema_name(name)?;
                    let tables = catalog.tables(&schema).into_iter();
                    let tables = tables.map(|table| ("table", Name::new(&schema, &table.name)));
                    let views = catalog.views(&schema).into_iter();
                    let views = views.map(|view| ("view", Name::new(&schema, &view.name)));
                    dropped.extend(tables.chain(views));
                    let sequences = catalog.all_sequences().filter(|(of, _)| *of == schema);
                    let sequences = sequences.map(|(of, one)| Name::new(of, &one.name));
                    dropped.extend(sequences.map(|name| ("sequence", name)));
                }
                _ => {}
            }
        }
        let own: Vec<Name> = dropped.iter().map(|(_, name)| name.clone()).collect();
        let mut found: Vec<(String, Vec<Dependent>)> = Vec::new();
        for (kind, name) in &dropped {
            let mut over = run.views_over(&Without::Relation(name.clone()), name);
            let known = |one: &Dependent| {
                let mut found = found.iter().flat_map(|(_, all)| all);
                found.any(|known| known.shown == one.shown)
            };
            over.retain(|one| !one.is_one_of(&own) && !known(one));
            if !over.is_empty() {
                found.push((format!("{kind} {}", shown(name)), over));
            }
        }
        if !cascade && !found.is_empty() {
            let found = found.iter().map(|(of, all)| (of.as_str(), all.as_slice()));
            return Err(not_to_go(&found.collect::<Vec<_>>()));
        }
        Ok(found.into_iter().flat_map(|(_, all)| all).collect())
    }

    pub(super) fn drop(&self, ast: &Ast) -> Result<Outcome> {
        let Ast::Drop {
            object_type,
            if_exists,
            names,
            cascade,
            temporary: false,
            ..
        } = ast
        else {
            return Err(super::refused(ast));
        };
        let mut beside = Vec::new();
        if *object_type == ObjectType::Index {
            for name in names {
                beside.extend(self.indexes_with(&table_name(name)?)?);
            }
        }
        let _holds = match object_type {
            ObjectType::Index => self.columns_may_go(names)?,
            _ => Vec::new(),
        };
        let dependents = self.views_over_all(*object_type, names, *cascade)?;
        let mut gone = Vec::new();
        self.edit(|edit| {
            if *cascade {
                gone = going(edit.catalog(), *object_type, names)?;
            }
            gone.extend(dependents.iter().map(|one| one.shown.clone()));
            drop_all(edit, &dependents)?;
            for index in &beside {
                edit.drop_index(&index.schema, &index.name)?;
            }
            if *object_type == ObjectType::Table {
                return drop_tables(edit, names, *if_exists, *cascade);
            }
            for name in names {
                match object_type {
                    ObjectType::View => {
                        let name = table_name(name)?;
                        let (schema, view) = (&name.schema, &name.name);
                        if edit.catalog().view(schema, view).is_some() {
                            edit.drop_view(schema, view)?;
                        } else if edit.catalog().table(schema, view).is_some() {
                            return Err(another(edit.catalog(), &name, "a view"));
                        } else if !if_exists {
                            let message = format!("view \"{name}\" does not exist");
                            return Err(Error::new("42P01", message).at(name.position));
                        }
                    }
                    ObjectType::MaterializedView => {
                        let name = table_name(name)?;
                        drop_materialized(edit, &name, *if_exists, *cascade)?;
                    }
                    ObjectType::Index => {
                        let name = table_name(name)?;
                        if edit.catalog().index(&name.schema, &name.name).is_some() {
                            edit.drop_index(&name.schema, &name.name)?;
                        } else if !if_exists {
                            let message = format!("index \"{name}\" does not exist");
                            return Err(Error::new("42704", message).at(name.position));
                        }
                    }
                    ObjectType::Schema => {
                        let name = schema_name(name)?;
                        if name == DEFAULT_SCHEMA {
                            return Err(Error::new(
                                "2BP01",
                                format!(
                                    "cannot drop schema \"{}\": it is the default schema",
                                    shown_schema(&name)
                                ),
                            ));
                        }
                        if edit.catalog().schemas().any(|known| known == name) {
                            must_be_own(edit.catalog(), &name)?;
                            edit.drop_schema(&name, *cascade)?;
                        } else if !if_exists {
                            return Err(unknown_schema(edit.catalog(), &name));
                        }
                    }
                    ObjectType::Sequence => drop_sequence(edit, name, *if_exists, *cascade)?,
                    _ => return Err(super::refused(ast)),
                }
            }
            Ok(())
        })?;
        if let Some(notice) = cascades(&gone) {
            self.session.notify(notice);
        }
        Ok(Outcome::done(format!("DROP {object_type}")))
    }
}

/// The objects that go with schemas, and the foreign keys that go with tables.
fn going(catalog: &Catalog, kind: ObjectType, names: &[ObjectName]) -> Result<Vec<String>> {
    let mut gone = Vec::new();
    match kind {
        ObjectType::Schema => {
            for written in names {
                let schema = schema_name(written)?;
                let shown = |name: &str| Name::new(&schema, name);
                let tables = catalog.tables(&schema).into_iter();
                // Partitions go with their tables.
                let tables = tables.filter(|table| table.schema.partition.is_none());
                gone.extend(tables.map(|table| format!("table {}", shown(&table.name))));
                let views = catalog.views(&schema).into_iter();
                gone.extend(views.map(|view| format!("view {}", shown(&view.name))));
                let sequences = catalog
                    .all_sequences()
                    .filter(|(of, sequence)| *of == schema && !numbers_rows(catalog, sequence.id));
                gone.extend(
                    sequences.map(|(_, sequence)| format!("sequence {}", shown(&sequence.name))),
                );
                let types = catalog.user_types().filter(|(of, ..)| *of == schema);
                gone.extend(types.map(|(_, name, _)| format!("type {}", shown(name))));
                let functions = catalog.functions(&schema);
                gone.extend(
                    functions.map(|(signature, _)| format!("function {}", shown(signature))),
                );
            }
        }
        ObjectType::Table => {
            let names = names.iter().map(table_name);
            let names = names.collect::<Result<Vec<Name>>>()?;
            let dropped: Vec<_> = names
                .iter()
                .filter_map(|name| catalog.table(&name.schema, &name.name))
                .map(|table| table.id)
                .collect();
            for (schema, child) in catalog.all_tables() {
                if dropped.contains(&child.id) || child.schema.partition.is_some() {
                    continue;
                }
                let keys = child.schema.foreign_keys.iter();
                let keys = keys.filter(|key| dropped.contains(&key.parent));
                let child = Name::new(schema, &child.name);
                gone.extend(keys.map(|key| format!("constraint {} on table {child}", key.name)));
            }
        }
        _ => {}
    }
    Ok(gone)
}

/// Whether a sequence is that of an identity column.
fn numbers_rows(catalog: &Catalog, sequence: SequenceId) -> bool {
    let mut tables = catalog.all_tables();
    tables.any(|(_, table)| {
        let mut columns = table.schema.columns.iter();
        columns.any(|column| {
            column
                .identity
                .is_some_and(|identity| identity.sequence == sequence)
        })
    })
}

/// Refuses to drop a schema with a type that a column or a type of another is of.
fn must_be_own(catalog: &Catalog, schema: &str) -> Result<()> {
    let types = catalog.user_types().filter(|(of, ..)| *of == schema);
    for (_, name, known) in types {
        for id in with_users(catalog, known.id) {
            let elsewhere = catalog.type_by_id(id).is_some_and(|(of, ..)| of != schema);
            let columns = catalog.columns_of_type(id);
            let foreign = columns.iter().any(|(table, _)| {
                let mut all = catalog.all_tables();
                all.any(|(of, known)| known.id == table.id && of != schema)
            });
            if elsewhere || foreign {
                let message = format!(
                    "cannot drop schema {schema}: its type {name} is used in another schema"
                );
                return Err(Error::new("2BP01", message)
                    .with_hint("DROP TYPE … CASCADE drops its columns."));
            }
        }
    }
    Ok(())
}

/// Drops tables in whatever order their foreign keys allow.
fn drop_tables(
    edit: &mut CatalogEdit,
    names: &[ObjectName],
    if_exists: bool,
    cascade: bool,
) -> Result<()> {
    let names = names.iter().map(table_name);
    let mut left = names.collect::<Result<Vec<Name>>>()?;
    let there =
        |edit: &CatalogEdit, name: &Name| edit.catalog().table(&name.schema, &name.name).is_some();
    let known: Vec<Name> = left
        .iter()
        .filter(|name| there(edit, name))
        .cloned()
        .collect();
    let dropped = known.iter().filter_map(|name| {
        let table = edit.catalog().table(&name.schema, &name.name)?;
        let parts = partition::descendants(edit.catalog(), table).into_iter();
        let ids = parts.map(|(_, part)| part.id).chain([table.id]);
        Some(ids.collect::<Vec<_>>())
    });
    let dropped: Vec<TableId> = dropped.flatten().collect();
    // Foreign keys between tables that go at once go with them.
    let apart = |edit: &CatalogEdit, name: &Name| {
        let catalog = edit.catalog();
        let Some(table) = catalog.table(&name.schema, &name.name) else {
            return false;
        };
        let parts = partition::descendants(catalog, table).into_iter();
        let mut ids = parts.map(|(_, part)| part.id).chain([table.id]);
        ids.all(|id| {
            let mut children = catalog.children(id).into_iter();
            children.all(|child| dropped.contains(&child.id))
        })
    };
    while !left.is_empty() {
        let (before, mut refused) = (left.len(), None);
        let mut waiting = Vec::new();
        for name in left {
            let same = |other: &Name| other.schema == name.schema && other.name == name.name;
            if !there(edit, &name) && known.iter().any(same) {
                // It was a partition of another one of them.
                continue;
            }
            let with_keys = cascade || apart(edit, &name);
            match drop_table(edit, &name, if_exists, with_keys) {
                Err(error) if error.sqlstate == "2BP01" => {
                    refused = Some(error);
                    waiting.push(name);
                }
                done => done?,
            }
        }
        if let Some(error) = refused.filter(|_| waiting.len() == before) {
            return Err(error);
        }
        left = waiting;
    }
    Ok(())
}

fn drop_table(edit: &mut CatalogEdit, name: &Name, if_exists: bool, cascade: bool) -> Result<()> {
    let (schema, table) = (&name.schema, &name.name);
    let known = edit.catalog().table(schema, table);
    if known.is_some_and(|known| known.schema.materialized.is_none()) {
        edit.drop_table(schema, table, cascade)?;
    } else if is_something(edit.catalog(), name) {
        return Err(another(edit.catalog(), name, "a table"));
    } else if !if_exists {
        return Err(unknown_table(edit.catalog(), name));
    }
    Ok(())
}

fn drop_materialized(
    edit: &mut CatalogEdit,
    name: &Name,
    if_exists: bool,
    cascade: bool,
) -> Result<()> {
    let (schema, view) = (&name.schema, &name.name);
    let known = edit.catalog().table(schema, view);
    if known.is_some_and(|known| known.schema.materialized.is_some()) {
        edit.drop_table(schema, view, cascade)?;
    } else if is_something(edit.catalog(), name) {
        return Err(another(edit.catalog(), name, "a materialized view"));
    } else if !if_exists {
        let message = format!("materialized view \"{name}\" does not exist");
        return Err(Error::new("42P01", message).at(name.position));
    }
    Ok(())
}

/// Whether there is a table, a view or a sequence of that name.
fn is_something(catalog: &Catalog, name: &Name) -> bool {
    let (schema, name) = (&name.schema, &name.name);
    catalog.table(schema, name).is_some()
        || catalog.view(schema, name).is_some()
        || catalog.sequence(schema, name).is_some()
}

/// Something is of another kind than the one that is to be dropped.
fn another(catalog: &Catalog, name: &Name, wanted: &str) -> Error {
    let table = catalog.table(&name.schema, &name.name);
    let view = catalog.view(&name.schema, &name.name);
    let hint = match (table, view) {
        (Some(table), _) if table.schema.materialized.is_some() => {
            "Use DROP MATERIALIZED VIEW to remove a materialized view."
        }
        (Some(_), _) => "Use DROP TABLE to remove a table.",
        (None, Some(_)) => "Use DROP VIEW to remove a view.",
        (None, None) => "Use DROP SEQUENCE to remove a sequence.",
    };
    Error::new("42809", format!("\"{name}\" is not {wanted}"))
        .at(name.position)
        .with_hint(hint)
}
