//! CREATE INDEX: every block of the table gets its own part.
//!
//! Blocks are indexed in parallel beside the old ones, and exchanged in one
//! commit; when the table changed meanwhile, the build starts again. An index that is unique
//! comes with a key; one over expressions or with a condition comes with hidden columns
//! (`index_over`), for which all rows are written again.

use std::sync::Arc;

use freestone_frontend::bind::name_of_expression;
use freestone_storage::{
    Catalog, Column, IndexDefinition, IndexForm, IndexKind, Key, Snapshot, Table,
};
use sqlparser::ast::{CreateIndex, Expr, IndexType};

use super::Run;
use super::index_over::Over;
use super::redeclare::{Redeclaring, value_of};
use crate::error::{Error, Result};
use crate::names::{Name, Parts, table_name};
use crate::outcome::Outcome;
use crate::session::Notice;

/// Builds begun before giving up on a table that keeps changing.
const ATTEMPTS: usize = 5;

impl Run<'_> {
    pub(super) async fn create_index(&self, create: &CreateIndex) -> Result<Outcome> {
        refuse_clauses(create)?;
        if create.concurrently {
            self.must_be_alone("CREATE INDEX CONCURRENTLY")?;
        }
        let name = table_name(&create.table_name)?;
        if self.is_partitioned(&name) {
            let table = self.stored_table(&name)?.clone();
            return self.index_partitions(&name, &table, create).await;
        }
        let table = self.stored_table(&name)?;
        if !create.include.is_empty() {
            let message = "INCLUDE changes nothing: blocks hold all columns beside an index";
            self.session.notify(Notice::told("00000", message));
        }
        if create.unique || self.index_over(&name, table, create)?.is_new(table) {
            self.redone(&name, &Redeclaring::Index(create)).await?;
            return Ok(Outcome::done("CREATE INDEX"));
        }
        self.absorbed(&name)?.create_index_on(&name, create)
    }

    /// An index with its key or its hidden columns, of the snapshot that the statement has.
    pub(super) async fn index_once(&self, name: &Name, create: &CreateIndex) -> Result<()> {
        let kind = kind_of(create.using.as_ref())?;
        if create.unique && kind != IndexKind::Csb {
            return Err(Error::unsupported("a unique index is of the kind csb"));
        }
        let table = Arc::clone(self.stored_table(name)?);
        let over = self.index_over(name, &table, create)?;
        let index = self.index_name(create, &table, &over, &name.schema)?;
        if taken(&self.newest(), &name.schema, &index) {
            if create.if_not_exists {
                return Ok(());
            }
            let message = format!("relation \"{index}\" already exists");
            return Err(Error::new("42P07", message));
        }
        let key = Key {
            name: index.clone(),
            columns: over.columns.clone(),
            of_index: true,
            nulls_equal: create.nulls_distinct == Some(false),
            ..Key::default()
        };
        if !over.is_new(&table) {
            return match create.unique {
                true => {
                    let of = (over.schema, over.form);
                    self.add_key(name, &table, of, key).await
                }
                false => {
                    let of = (over.columns, over.form);
                    self.build_index(&table, (&name.schema, &index), kind, of)
                }
            };
        }
        let mut schema = over.schema;
        schema.index_numbers += 1;
        schema.indexes.push(IndexDefinition {
            number: schema.index_numbers,
            name: index.clone(),
            kind,
            columns: over.columns,
            form: over.form,
        });
        schema.keys.extend(create.unique.then_some(key));
        let value = |_: usize, column: &Column| value_of(column);
        let done = self.with_rows(name, &table, schema, &value).await;
        done.map_err(|error| match error.sqlstate.as_str() {
            "23505" => {
                let message = format!("could not create unique index \"{index}\"");
                let detail = error.detail.as_deref().unwrap_or_default();
                let detail = detail.replace(" already exists.", " is duplicated.");
                Error::new("23505", message).with_detail(detail)
            }
            _ => error,
        })
    }

    /// The transaction's snapshot, or the newest one outside of a transaction.
    fn newest(&self) -> Snapshot {
        match self.session.in_transaction() {
            true => self.snapshot.clone(),
            false => self.store().snapshot(),
        }
    }

    pub(super) fn create_index_on(&self, name: &Name, create: &CreateIndex) -> Result<Outcome> {
        let kind = kind_of(create.using.as_ref())?;
        for attempt in 1.. {
            let table = self.stored_table(name)?;
            let over = self.index_over(name, table, create)?;
            let index = self.index_name(create, table, &over, &name.schema)?;
            let is_there = self.newest().index(&name.schema, &index).is_some();
            if create.if_not_exists && is_there {
                break;
            }
            let of = (over.columns, over.form);
            match self.build_index(table, (&name.schema, &index), kind, of) {
                Err(error) if error.sqlstate == "40001" && attempt < ATTEMPTS => {}
                done => {
                    done?;
                    break;
                }
            }
        }
        Ok(Outcome::done("CREATE INDEX"))
    }

    fn build_index(
        &self,
        table: &Table,
        (schema, name): (&str, &str),
        kind: IndexKind,
        (columns, form): (Vec<usize>, IndexForm),
    ) -> Result<()> {
        if !kind.has_parts() {
            let text = "zone maps, which every block has, do what BRIN does: the index is kept by \
                        its name";
            self.session.notify(Notice::told("00000", text));
            let named = (name, kind);
            return self.edit(|edit| Ok(edit.name_index(schema, table.id, named, columns, form)?));
        }
        let progress = self.session.progress();
        progress.add_total(table.blocks().len() as u64);
        let threads = self.state().options().threads;
        let done = || {
            progress.add_done(1);
            self.session.goes_on().is_ok()
        };
        let store = self.store();
        let index = store.build_index(table, name, kind, columns, threads, &done);
        self.session.goes_on()?;
        let index = index?.with_form(form);
        self.edit(|edit| Ok(edit.create_index(schema, table, index)?))
    }

    /// The name given, or one made of table and columns that is free.
    fn index_name(
        &self,
        create: &CreateIndex,
        table: &Table,
        over: &Over,
        schema: &str,
    ) -> Result<String> {
        if let Some(given) = &create.name {
            return Ok(table_name(given)?.name);
        }
        let elements = create.columns.iter().zip(over.schema.shown(&over.columns));
        let mut names: Vec<String> = Vec::new();
        let included = over.form.include.iter();
        let included = included.filter_map(|at| over.schema.columns.get(*at));
        let stems = elements.map(|(element, column)| match column.hidden {
            None => column.name.clone(),
            Some(_) => stem_of(&element.column.expr),
        });
        for name in stems.chain(included.map(|column| column.name.clone())) {
            // As PostgreSQL numbers what would be called alike.
            let numbered = (1..).map(|number| format!("{name}{number}"));
            let mut all = std::iter::once(name.clone()).chain(numbered);
            names.extend(all.find(|name| !names.contains(name)));
        }
        let parts = Parts {
            table: &table.name,
            columns: Some(&names.join("_")),
            kind: "idx",
        };
        let snapshot = self.newest();
        Ok(parts.free(|name| taken(&snapshot, schema, name)))
    }
}

/// Whether an index, a table or a view is called so.
pub(super) fn taken(catalog: &Catalog, schema: &str, name: &str) -> bool {
    catalog.index(schema, name).is_some()
        || catalog.table(schema, name).is_some()
        || catalog.view(schema, name).is_some()
}

fn kind_of(using: Option<&IndexType>) -> Result<IndexKind> {
    match using {
        None => Ok(IndexKind::Csb),
        Some(written) => {
            let kind = written.to_string().to_lowercase();
            match kind.as_str() {
                "gin" | "gist" | "spgist" => {
                    let message = format!("indexes of the kind {kind} are not supported");
                    Err(Error::unsupported(message).with_hint(
                        "Conditions on parts of values are answered by scans. Kinds of indexes \
                         are csb (also btree and hash), inverted, bloom and brin.",
                    ))
                }
                kind => Ok(kind.parse()?),
            }
        }
    }
}

/// The name of an expression in that of its index.
fn stem_of(expr: &Expr) -> String {
    match expr {
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => stem_of(inner),
        Expr::Cast { expr: inner, .. } if !matches!(**inner, Expr::Value(_)) => stem_of(inner),
        expr => match name_of_expression(expr) {
            name if name == "?column?" => "expr".to_owned(),
            name => name,
        },
    }
}

fn refuse_clauses(create: &CreateIndex) -> Result<()> {
    let refuse = |what: &str, hint: &str| Err(Error::unsupported(what).with_hint(hint));
    if !create.index_options.is_empty() {
        return refuse("indexes have no options", "leave out the options");
    }
    if !create.with.is_empty() {
        // A kind that there is not is told before its options.
        kind_of(create.using.as_ref())?;
    }
    let method = create.using.as_ref().map(ToString::to_string);
    let method = method.map_or_else(|| "btree".to_owned(), |method| method.to_lowercase());
    create
        .with
        .iter()
        .try_for_each(|option| check_option(&method, option))
}

/// Checks an option of how PostgreSQL keeps the pages of an index, of which there are none here.
///
/// # Errors
/// `22023` for one that the method has not, or a value that is none of it.
fn check_option(method: &str, option: &Expr) -> Result<()> {
    let (name, value) = match option {
        Expr::BinaryOp { left, right, .. } => (left.to_string(), Some(right.to_string())),
        other => (other.to_string(), None),
    };
    let name = name.to_lowercase();
    let value = value.map(|value| value.trim_matches('\'').to_lowercase());
    let invalid = |message: String| Err(Error::new("22023", message));
    let truths = ["on", "off", "true", "false", "yes", "no", "1", "0"];
    let range = match (name.as_str(), method) {
        ("fillfactor", "btree" | "hash") => 10..=100_i64,
        ("pages_per_range", "brin") => 1..=131_072,
        ("deduplicate_items", "btree") | ("autosummarize", "brin") => {
            return match value.as_deref() {
                None => Ok(()),
                Some(value) if truths.contains(&value) => Ok(()),
                Some(value) => {
                    let message = format!("invalid value for boolean option \"{name}\"");
                    invalid(format!("{message}: {value}"))
                }
            };
        }
        _ => return invalid(format!("unrecognized parameter \"{name}\"")),
    };
    let value = value.unwrap_or_default();
    match value.parse::<i64>() {
        Ok(number) if range.contains(&number) => Ok(()),
        Ok(_) => invalid(format!("value {value} out of bounds for option \"{name}\"")),
        Err(_) => {
            let message = format!("invalid value for integer option \"{name}\"");
            invalid(format!("{message}: {value}"))
        }
    }
}
