//! The extended query protocol: Parse, Bind, Describe, Execute, Close.

use std::sync::Arc;

use bytes::Bytes;
use freestone::{Error, Forgets, Parameter, Prepared, Statement};
use pgwire::messages::PgWireBackendMessage as Backend;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{BindComplete, CloseComplete, ParseComplete};

use crate::connection::Connection;
use crate::failure::Failure;
use crate::held::Weighed;
use crate::kinds::Oid;
use crate::output::{Format, description};
use crate::parameters;
use crate::portal::{Known, Portal, State, complete};
use crate::request::Named;

impl Connection {
    /// Prepares a statement.
    ///
    /// # Errors
    /// `42601`; `42P05` if the name is taken; `53200` if too much is kept.
    pub(crate) fn parse(
        &mut self,
        name: String,
        sql: String,
        types: Vec<u32>,
    ) -> Result<(), Failure> {
        // Another without a name takes its place.
        if name.is_empty() {
            self.statements.remove(&name);
        } else if self.statements.contains(&name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(Error::new("42P05", message).into());
        }
        self.room(sql.len())?;
        self.sql.clone_from(&sql);
        let mut statements = self.session.parse(&sql)?;
        if statements.len() > 1 {
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(Error::new("42601", message).into());
        }
        let named: Vec<Oid> = types.into_iter().map(Oid).collect();
        let types = named.iter().map(|oid| oid.sql());
        let types = types.collect::<Result<Vec<_>, Error>>()?;
        let prepared = match statements.pop() {
            Some(statement) => Some(Prepared::new(statement)?.with_types(&types)?),
            None => None,
        };
        let known = Known::new(prepared, sql, named);
        self.statements.insert(name, Arc::new(known));
        let done = ParseComplete::new();
        self.messages.put(&Backend::ParseComplete(done))
    }

    /// Binds a statement to values, which have formats.
    ///
    /// # Errors
    /// `26000`; `08P01` for too few values or too many; `53200` if too much is kept; those of
    /// values.
    pub(crate) async fn bind(
        &mut self,
        portal: String,
        statement: &str,
        (formats, values): (&[i16], &[Option<Bytes>]),
        result_formats: Vec<i16>,
    ) -> Result<(), Failure> {
        self.portals.remove(&portal);
        let known = self.known(statement)?;
        let count = known.prepared.as_ref().map_or(0, Prepared::parameters);
        if values.len() != count {
            let given = values.len();
            let message = format!(
                "bind message supplies {given} parameters, but the statement requires {count}"
            );
            return Err(Error::new("08P01", message).into());
        }
        let bytes = values.iter().flatten().map(Bytes::len).sum();
        self.room(known.bytes().saturating_add(bytes))?;
        let formats = Format::each(formats, count)?;
        let oids = match count {
            0 => Arc::default(),
            _ => known.parameters(&self.session).await?,
        };
        let oids = oids.iter().copied();
        let each = values.iter().zip(oids).zip(formats).enumerate();
        let values = each.map(|(number, ((bytes, oid), format))| {
            parameters::value(number, bytes.as_deref(), oid, format)
        });
        let bound = Portal {
            values: values.collect::<Result<Vec<Parameter>, Error>>()?,
            known,
            bytes,
            formats: result_formats,
            state: State::Bound,
        };
        self.portals.insert(portal, bound);
        self.messages
            .put(&Backend::BindComplete(BindComplete::new()))
    }

    /// Says what a statement takes and gives, or a portal.
    ///
    /// # Errors
    /// `26000`, `34000`; those of planning.
    pub(crate) async fn describe(&mut self, named: &Named) -> Result<(), Failure> {
        // What DECLARE has opened is described as a portal, too.
        if let Named::Portal(name) = named
            && !self.portals.contains(name)
            && let Some(schema) = self.session.cursor(name)
        {
            let columns = description(&schema, &[]);
            return self.messages.put(&Backend::RowDescription(columns));
        }
        let (known, codes) = match named {
            Named::Statement(name) => (self.known(name)?, Vec::new()),
            Named::Portal(name) => {
                let portal = self.portals.get(name).ok_or_else(|| no_portal(name))?;
                (Arc::clone(&portal.known), portal.formats.clone())
            }
        };
        self.sql.clone_from(&known.sql);
        let described = known.described(&self.session).await?;
        if let Named::Statement(_) = named {
            let types = known.parameters(&self.session).await?;
            let types = types.iter().map(|oid| oid.0).collect();
            let description = ParameterDescription::new(types);
            self.messages
                .put(&Backend::ParameterDescription(description))?;
        }
        match &described.columns {
            None => self.messages.put(&Backend::NoData(NoData::new())),
            Some(schema) => {
                let columns = known.row_description(schema, &codes)?;
                self.messages.output.extend_from_slice(&columns);
                Ok(())
            }
        }
    }

    /// Runs a portal, or goes on with it, for so many rows; 0 is all.
    ///
    /// # Errors
    /// `34000`; those of the statement.
    pub(crate) async fn execute(&mut self, name: String, most: u32) -> Result<(), Failure> {
        let mut portal = self.portals.remove(&name).ok_or_else(|| no_portal(&name))?;
        self.sql.clone_from(&portal.known.sql);
        // What comes before a Sync is done as one.
        if !self.session.in_transaction() {
            let follows = self.limits.wait(self.messages.sync_follows()).await??;
            if !follows {
                self.session.begin_implicit()?;
            }
        }
        if let State::Bound = portal.state
            && let Some(copy) = portal.known.copy()?
        {
            portal.state = State::Done;
            Box::pin(self.copy(copy)).await?;
        } else if let State::Bound = portal.state
            && let Some(prepared) = &portal.known.prepared
            && self.forget(prepared.statement())
        {
            portal.state = State::Done;
            complete(&mut self.messages, "DEALLOCATE".to_owned())?;
        } else {
            let most = (most > 0).then_some(u64::from(most));
            portal
                .execute(&self.session, &mut self.messages, &mut self.limits, most)
                .await?;
        }
        self.portals.insert(name, portal);
        Ok(())
    }

    /// Forgets what DEALLOCATE names of the statements that were prepared by messages; whether
    /// that was all there is to do.
    pub(crate) fn forget(&mut self, statement: &Statement) -> bool {
        if self.session.transaction_failed() {
            return false;
        }
        match statement.forgets() {
            Some(Forgets::Named(name)) => self.statements.remove(&name).is_some(),
            Some(Forgets::All) => {
                let unnamed = self.statements.remove("");
                self.statements.clear();
                if let Some(unnamed) = unnamed {
                    self.statements.insert(String::new(), unnamed);
                }
                false
            }
            None => false,
        }
    }

    /// Forgets a statement, or a portal; it is no error if there is none.
    ///
    /// # Errors
    /// Of the protocol.
    pub(crate) fn close(&mut self, named: &Named) -> Result<(), Failure> {
        match named {
            Named::Statement(name) => drop(self.statements.remove(name)),
            Named::Portal(name) => drop(self.portals.remove(name)),
        }
        self.messages
            .put(&Backend::CloseComplete(CloseComplete::new()))
    }

    fn known(&self, name: &str) -> Result<Arc<Known>, Error> {
        self.statements.get(name).cloned().ok_or_else(|| {
            let message = format!("prepared statement \"{name}\" does not exist");
            Error::new("26000", message)
        })
    }
}

fn no_portal(name: &str) -> Error {
    Error::new("34000", format!("portal \"{name}\" does not exist"))
}
