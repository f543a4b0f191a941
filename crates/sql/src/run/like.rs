//! CREATE TABLE … (LIKE other INCLUDING …): columns of another table or view.

use freestone_storage::{Column, IndexDefinition, IndexForm, Key, Object, Privileges, Table};
use sqlparser::ast::ObjectName;

use super::declare::Declared;
use super::identity::NewIdentity;
use crate::error::{Error, Result};
use crate::front::{columns_of_view, declared_by, parse_expr};
use crate::names::table_name;
use crate::relations::{Relations, unknown_table};
use crate::rights::denied;
use crate::types::{column_type_of_type, declared_of_type};

/// What is taken over besides names, types and NOT NULL.
#[derive(Default)]
struct Including {
    comments: bool,
    constraints: bool,
    defaults: bool,
    generated: bool,
    identity: bool,
    indexes: bool,
}

impl Including {
    /// Reads options such as `+ALL` and `-INDEXES`; the later counts.
    fn of(options: &[String]) -> Self {
        let mut all = Self::default();
        for option in options {
            let (sign, what) = option.split_at(option.len().min(1));
            let wanted = sign == "+";
            let mut set = |name: &str, place: fn(&mut Self) -> &mut bool| {
                if what == name || what == "ALL" {
                    *place(&mut all) = wanted;
                }
            };
            set("COMMENTS", |all| &mut all.comments);
            set("CONSTRAINTS", |all| &mut all.constraints);
            set("DEFAULTS", |all| &mut all.defaults);
            set("GENERATED", |all| &mut all.generated);
            set("IDENTITY", |all| &mut all.identity);
            set("INDEXES", |all| &mut all.indexes);
            // Storage, compression and statistics are the table's own affair here.
        }
        all
    }
}

impl Declared<'_> {
    /// Adds the columns of another table or view.
    ///
    /// # Errors
    /// `42P01` if there is none of that name; `42501`.
    pub(super) fn like(&mut self, written: &ObjectName, options: &[String]) -> Result<()> {
        let name = table_name(written)?;
        let including = Including::of(options);
        let run = self.run;
        let snapshot = &run.snapshot;
        let rights = run.rights(snapshot);
        rights.use_schema(snapshot, &name.schema)?;
        if let Some(table) = snapshot.table(&name.schema, &name.name) {
            rights.table(&name, table, Privileges::SELECT)?;
            let table = table.clone();
            return self.like_table(&table, &including);
        }
        if snapshot.view(&name.schema, &name.name).is_none() {
            return Err(unknown_table(snapshot, &name));
        }
        let object = Object::view(&name.schema, &name.name);
        if !rights.may(&object, Privileges::SELECT) {
            return Err(denied("view", &name.name));
        }
        let relations = Relations::new(run.state(), snapshot.clone());
        for (column, ty) in columns_of_view(&relations, &name.schema, &name.name)? {
            self.schema.columns.push(Column {
                name: column,
                kind: column_type_of_type(&ty)?,
                nullable: true,
                default: None,
                identity: None,
                modifier: declared_of_type(&ty),
                declared: declared_by(&ty),
                generated: false,
                hidden: None,
            });
        }
        Ok(())
    }

    fn like_table(&mut self, table: &Table, including: &Including) -> Result<()> {
        let first = self.schema.columns.len();
        for column in table.schema.declared() {
            let at = self.schema.columns.len();
            let generated = column.generated && including.generated;
            let plain = column.identity.is_none() && !column.generated;
            let kept = generated || plain && including.defaults;
            if let Some(identity) = column.identity.filter(|_| including.identity) {
                let sequence = self.run.snapshot.sequence_by_id(identity.sequence);
                let (_, sequence) =
                    sequence.ok_or_else(|| Error::internal("an identity without a sequence"))?;
                let definition = sequence.definition.clone();
                let identity = NewIdentity::like(at, identity.always, definition);
                self.identities.push(identity);
            }
            self.schema.columns.push(Column {
                default: column.default.clone().filter(|_| kept),
                identity: None,
                generated,
                ..column.clone()
            });
        }
        let shifted = |columns: &[usize]| {
            columns
                .iter()
                .map(|column| column + first)
                .collect::<Vec<_>>()
        };
        if including.constraints {
            for check in &table.schema.checks {
                let condition = parse_expr(&check.condition)?;
                self.add_check(Some(check.name.clone()), condition);
            }
        }
        if including.indexes {
            let schema = &table.schema;
            if schema.declared().len() < schema.columns.len() {
                let message =
                    "LIKE with indexes over expressions or with a condition is not supported";
                return Err(Error::unsupported(message)
                    .with_hint("Leave INDEXES out, and make the indexes by CREATE INDEX."));
            }
            for key in &table.schema.keys {
                self.schema.keys.push(Key {
                    name: String::new(),
                    columns: shifted(&key.columns),
                    primary: key.primary,
                    of_index: key.of_index,
                    deferral: key.deferral,
                    nulls_equal: key.nulls_equal,
                });
            }
            let own = table.schema.indexes.iter();
            for index in own.filter(|index| !table.schema.is_of_key(index)) {
                let columns = shifted(&index.columns);
                let included = shifted(&index.form.include);
                let name = self.free_index(&[columns.as_slice(), included.as_slice()].concat());
                self.schema.index_numbers += 1;
                self.schema.indexes.push(IndexDefinition {
                    number: self.schema.index_numbers,
                    name,
                    kind: index.kind,
                    columns,
                    form: IndexForm {
                        include: included,
                        ..index.form.clone()
                    },
                });
            }
        }
        if including.comments {
            for (column, text) in &table.schema.comments.columns {
                let comments = &mut self.schema.comments.columns;
                comments.insert(column + first, text.clone());
            }
        }
        Ok(())
    }

    /// The name of an index, with a number behind it if it is taken.
    fn free_index(&self, columns: &[usize]) -> String {
        let catalog = &self.run.snapshot;
        let schema = &self.name.schema;
        let taken = |name: &str| {
            catalog.index(schema, name).is_some()
                || catalog.table(schema, name).is_some()
                || self.schema.indexes.iter().any(|index| index.name == *name)
        };
        self.named_after(Some(columns), "idx", taken)
    }
}
