//! What becomes of statements that the grammar has no tree for.

use freestone_storage::Privileges;
use sqlparser::ast::CreateExtension;

use super::Run;
use crate::error::{Error, Result};
use crate::grammar::Utility;
use crate::names::{Name, fold, named};
use crate::outcome::Outcome;
use crate::relations::unknown_table;
use crate::session::Notice;

impl Run<'_> {
    /// Does what there is to do: mostly nothing but to look whether names are there.
    ///
    /// # Errors
    /// `0A000`, `42704`, `42P01`, `42501`.
    pub(super) fn utility(&self, utility: &Utility) -> Result<Outcome> {
        match utility {
            Utility::Reindex {
                kind,
                name,
                concurrently,
            } => {
                if *concurrently {
                    self.must_be_alone("REINDEX CONCURRENTLY")?;
                }
                match (kind.as_str(), name) {
                    ("TABLE", Some(name)) => self.owned_table(&named(name)?)?,
                    ("INDEX", Some(name)) => {
                        let name = named(name)?;
                        if !self.has_index(&name) {
                            let message = format!("relation \"{name}\" does not exist");
                            return Err(Error::new("42P01", message));
                        }
                    }
                    ("SCHEMA", Some(name)) => {
                        // The name of a schema is read as that of a table.
                        let name = crate::names::meant_schema(&named(name)?.name).to_owned();
                        if !self.snapshot.schemas().any(|known| known == name) {
                            let message = format!("schema \"{name}\" does not exist");
                            return Err(Error::new("3F000", message));
                        }
                    }
                    _ => {}
                }
                Ok(Outcome::done("REINDEX"))
            }
            Utility::Cluster { table, index } => {
                if let Some(table) = table {
                    let name = named(table)?;
                    self.owned_table(&name)?;
                    if let Some(index) = index {
                        let index = named(index)?.name;
                        let of = Name::new(&name.schema, &index);
                        if !self.has_index(&of) {
                            let message =
                                format!("index \"{index}\" for table \"{name}\" does not exist");
                            return Err(Error::new("42704", message));
                        }
                    }
                }
                Ok(Outcome::done("CLUSTER"))
            }
            Utility::Drop {
                kind,
                if_exists,
                what,
            } => {
                let text = format!("{kind} {what} does not exist");
                if !if_exists {
                    return Err(Error::new("42704", text));
                }
                self.session.notify(Notice::skipped("00000", text));
                Ok(Outcome::done(format!("DROP {}", kind.to_uppercase())))
            }
            Utility::Checkpoint => {
                if !self.rights(self.snapshot.catalog()).is_superuser() {
                    let message = "must be superuser to do CHECKPOINT";
                    return Err(Error::new("42501", message));
                }
                self.store().checkpoint()?;
                Ok(Outcome::done("CHECKPOINT"))
            }
            Utility::Modes { .. } => Err(Error::internal("modes are set elsewhere")),
            Utility::Do { .. } => Err(Error::internal("blocks are run elsewhere")),
            Utility::Unsupported(what) => {
                let error = Error::unsupported(format!("{what} is not supported"));
                Err(match what.as_str() {
                    "ATTACH" | "DETACH" => error.with_hint(
                        "A session has one database. Files are read by their names, as in \
                         FROM 'x.parquet', and COPY writes them.",
                    ),
                    comment if comment.starts_with("COMMENT ON ") => error.with_hint(
                        "Comments on tables, columns, constraints and indexes are kept.",
                    ),
                    "DROP ROUTINE" => error.with_hint("DROP FUNCTION drops a function."),
                    _ => error,
                })
            }
        }
    }

    /// CREATE EXTENSION: there are none. plpgsql, which PostgreSQL always has, may be asked for by
    /// those who would take it as it is.
    ///
    /// # Errors
    /// `0A000`.
    pub(super) fn create_extension(&self, create: &CreateExtension) -> Result<Outcome> {
        let name = fold(&create.name);
        if name != "plpgsql" || !create.if_not_exists {
            let message = format!("extension \"{name}\" is not available");
            return Err(Error::unsupported(message).with_hint(
                "There are no extensions; gen_random_uuid() and many more functions are built in.",
            ));
        }
        let text = "PL/pgSQL is built in for plain blocks of DO alone";
        self.session.notify(Notice::skipped("42710", text));
        Ok(Outcome::done("CREATE EXTENSION"))
    }

    /// Refuses a statement in a transaction that was opened with BEGIN.
    ///
    /// # Errors
    /// `25001`.
    pub(super) fn must_be_alone(&self, what: &str) -> Result<()> {
        match self.session.transaction().is_declared() {
            false => Ok(()),
            true => {
                let message = format!("{what} cannot run inside a transaction block");
                Err(Error::new("25001", message))
            }
        }
    }

    /// Whether there is an index or a key of a name.
    fn has_index(&self, name: &Name) -> bool {
        let catalog = self.snapshot.catalog();
        let mut tables = catalog.tables(&name.schema).into_iter();
        catalog.index(&name.schema, &name.name).is_some()
            || tables.any(|table| table.schema.keys.iter().any(|key| key.name == name.name))
    }

    /// Refuses what is no table that may be changed.
    fn owned_table(&self, name: &Name) -> Result<()> {
        let catalog = self.snapshot.catalog();
        let Some(table) = catalog.table(&name.schema, &name.name) else {
            return Err(unknown_table(&self.snapshot, name));
        };
        self.rights(catalog).table(name, table, Privileges::SELECT)
    }
}
