//! Statements bound to values, and how far their results have been sent.

use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use bytes::{Bytes, BytesMut};
use freestone::{
    CopyStream, Description, Error, OBJECT, ObjectNumbers, Outcome, Parameter, Prepared, Rows,
    Session, Styles, said_type,
};
use futures::StreamExt;
use parking_lot::Mutex;
use pgwire::messages::PgWireBackendMessage as Backend;
use pgwire::messages::extendedquery::PortalSuspended;
use pgwire::messages::response::{CommandComplete, EmptyQueryResponse};

use crate::failure::{Failure, notice};
use crate::held::Weighed;
use crate::kinds::Oid;
use crate::limits::Limits;
use crate::messages::Messages;
use crate::output::{Format, Lines, agreed, description, names_objects, sendable};

/// A statement that a client has prepared.
pub(crate) struct Known {
    /// `None` for an empty text.
    pub(crate) prepared: Option<Prepared>,
    /// Its text, to show places in.
    pub(crate) sql: String,
    /// The types of its parameters that the client named.
    pub(crate) named: Vec<Oid>,
    described: Mutex<Option<Arc<Description>>>,
    /// The types of its parameters, once they were asked for.
    parameters: OnceLock<Arc<[Oid]>>,
    /// The form of its last result.
    sent_as: Mutex<Option<Arc<SentAs>>>,
    /// The message that last told its columns, and the formats that it was for.
    told_as: Mutex<Option<(Vec<i16>, Bytes)>>,
}

/// The form in which a result is sent: it is the same for all runs that give the same columns.
struct SentAs {
    /// The columns that come.
    comes: SchemaRef,
    /// The columns that the client was told.
    told: Option<SchemaRef>,
    /// The formats that the client asked for.
    asked: Vec<i16>,
    /// The columns as they are sent.
    schema: SchemaRef,
    formats: Vec<Format>,
    /// Whether names of objects are sent as numbers.
    has_objects: bool,
}

/// A statement with values, ready to run or running.
pub(crate) struct Portal {
    pub(crate) known: Arc<Known>,
    pub(crate) values: Vec<Parameter>,
    /// Bytes of the values.
    pub(crate) bytes: usize,
    /// As the client gave them: for all columns, each, or none.
    pub(crate) formats: Vec<i16>,
    pub(crate) state: State,
}

impl Weighed for Arc<Known> {
    fn bytes(&self) -> usize {
        self.sql.len()
    }
}

impl Weighed for Portal {
    /// With those of the statement, which may be kept by nothing else any more.
    fn bytes(&self) -> usize {
        self.known.bytes() + self.bytes
    }
}

/// How far it is.
pub(crate) enum State {
    Bound,
    Sending(Sending),
    Done,
}

/// A result that is being sent.
pub(crate) struct Sending {
    /// What there is yet to come.
    rows: Option<Rows>,
    /// The columns as they are sent.
    schema: SchemaRef,
    formats: Vec<Format>,
    /// The numbers of objects whose names the result has, if it is sent in binary.
    objects: Option<ObjectNumbers>,
    /// How values are shown in texts.
    styles: Styles,
    /// What is left of a batch that did not go as a whole.
    rest: Option<(RecordBatch, usize)>,
    /// Rows that were sent.
    count: u64,
    /// What the result is of: `SELECT`, or a change that returns rows.
    verb: &'static str,
}

impl Known {
    pub(crate) fn new(prepared: Option<Prepared>, sql: String, named: Vec<Oid>) -> Self {
        Self {
            prepared,
            sql,
            named,
            described: Mutex::default(),
            parameters: OnceLock::new(),
            sent_as: Mutex::default(),
            told_as: Mutex::default(),
        }
    }

    /// What it takes and gives; asked once.
    ///
    /// # Errors
    /// Those of planning it.
    pub(crate) async fn described(&self, session: &Session) -> Result<Arc<Description>, Error> {
        if let Some(known) = self.described.lock().clone() {
            return Ok(known);
        }
        let described = Arc::new(match &self.prepared {
            Some(prepared) => Box::pin(prepared.describe(session)).await?,
            None => Description {
                parameters: Vec::new(),
                said: Vec::new(),
                columns: None,
            },
        });
        *self.described.lock() = Some(Arc::clone(&described));
        Ok(described)
    }

    /// The message that tells its columns, in formats that a client asks for; `columns` are those
    /// that it was described with.
    ///
    /// # Errors
    /// `08P01` for formats of another number of columns.
    pub(crate) fn row_description(
        &self,
        columns: &SchemaRef,
        asked: &[i16],
    ) -> Result<Bytes, Failure> {
        let known = self.told_as.lock().clone();
        if let Some((_, message)) = known.filter(|(formats, _)| formats == asked) {
            return Ok(message);
        }
        let formats = Format::each(asked, columns.fields().len())?;
        let mut message = BytesMut::new();
        Backend::RowDescription(description(columns, &formats)).encode(&mut message)?;
        let message = message.freeze();
        *self.told_as.lock() = Some((asked.to_vec(), message.clone()));
        Ok(message)
    }

    /// The columns that the client was told, if it asked.
    fn told(&self) -> Option<SchemaRef> {
        self.described.lock().as_ref()?.columns.clone()
    }

    /// The type of each parameter: as the client named it, or as it is used.
    ///
    /// # Errors
    /// As [`Known::described`].
    pub(crate) async fn parameters(&self, session: &Session) -> Result<Arc<[Oid]>, Error> {
        if let Some(known) = self.parameters.get() {
            return Ok(Arc::clone(known));
        }
        let parameters = self.types(session).await?.into();
        Ok(Arc::clone(self.parameters.get_or_init(|| parameters)))
    }

    async fn types(&self, session: &Session) -> Result<Vec<Oid>, Error> {
        let count = self.prepared.as_ref().map_or(0, Prepared::parameters);
        let named = |place: usize| {
            let named = self.named.get(place).copied();
            named.filter(|oid| ![Oid::UNKNOWN, Oid::UNKNOWN_TEXT].contains(oid))
        };
        if (0..count).all(|place| named(place).is_some()) {
            return Ok((0..count).filter_map(named).collect());
        }
        let described = self.described(session).await?;
        let each = described.parameters.iter().zip(&described.said).enumerate();
        Ok(each
            .map(|(place, (kind, said))| match named(place) {
                Some(oid) => oid,
                None if *kind == OBJECT => Oid::OID,
                None => Oid::said(said.as_deref(), kind),
            })
            .collect())
    }

    /// The form in which columns that come are sent to a client that asks for formats.
    ///
    /// # Errors
    /// As [`agreed`].
    fn sent_as(&self, comes: &SchemaRef, asked: &[i16]) -> Result<Arc<SentAs>, Error> {
        let told = self.told();
        let is_known = |known: &&Arc<SentAs>| {
            let same = match (&known.told, &told) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            same && are_same(&known.comes, comes) && known.asked == asked
        };
        if let Some(known) = self.sent_as.lock().as_ref().filter(is_known) {
            return Ok(Arc::clone(known));
        }
        let mut formats = Format::each(asked, comes.fields().len())?;
        let schema = agreed(told.as_ref(), comes, &mut formats)?;
        let pairs = schema.fields().iter().zip(&formats);
        let mut binary = pairs.filter(|(_, format)| **format == Format::Binary);
        let has_objects = binary.any(|(field, _)| names_objects(field));
        let sent_as = Arc::new(SentAs {
            comes: Arc::clone(comes),
            told,
            asked: asked.to_vec(),
            has_objects,
            schema,
            formats,
        });
        *self.sent_as.lock() = Some(Arc::clone(&sent_as));
        Ok(sent_as)
    }

    /// The COPY that it is, if it is one with the client.
    ///
    /// # Errors
    /// Those of its options.
    pub(crate) fn copy(&self) -> Result<Option<CopyStream>, Error> {
        match &self.prepared {
            Some(prepared) => CopyStream::of(prepared.statement()),
            None => Ok(None),
        }
    }
}

impl Portal {
    /// Runs it, or goes on, for `most` rows or all, and sends what there is.
    ///
    /// # Errors
    /// Those of the statement, and what ends it.
    pub(crate) async fn execute(
        &mut self,
        session: &Session,
        messages: &mut Messages,
        limits: &mut Limits,
        most: Option<u64>,
    ) -> Result<(), Failure> {
        if let State::Bound = self.state {
            let Some(prepared) = &self.known.prepared else {
                return messages.put(&Backend::EmptyQueryResponse(EmptyQueryResponse::new()));
            };
            // Look-ups are done at once: nothing could end them before.
            let (schema, rest, rows) = match prepared.at_once(session, &self.values)? {
                Some(batch) => (batch.schema(), Some((batch, 0)), None),
                None => {
                    let run = Box::pin(prepared.run_waiting(session, &self.values));
                    let outcome = limits.wait(run).await??;
                    noticed(messages, session)?;
                    match outcome {
                        Outcome::Rows(rows) => (Arc::clone(&rows.schema), None, Some(rows)),
                        Outcome::Done { tag, .. } => {
                            self.state = State::Done;
                            return complete(messages, tag);
                        }
                    }
                }
            };
            let sent_as = self.known.sent_as(&schema, &self.formats)?;
            let objects = match sent_as.has_objects {
                true => Some(session.object_numbers()?),
                false => None,
            };
            self.state = State::Sending(Sending {
                schema: Arc::clone(&sent_as.schema),
                formats: sent_as.formats.clone(),
                objects,
                styles: session.styles(),
                rows,
                rest,
                count: 0,
                verb: session.verb(prepared.statement()),
            });
        }
        let State::Sending(sending) = &mut self.state else {
            let error = Error::new("55000", "the portal has been run to its end");
            return Err(error.into());
        };
        match sending.some(messages, limits, most).await {
            Ok(true) => {
                let tag = sending.tag();
                self.state = State::Done;
                complete(messages, tag)
            }
            Ok(false) => messages.put(&Backend::PortalSuspended(PortalSuspended::new())),
            Err(failure) => {
                self.state = State::Done;
                Err(failure)
            }
        }
    }
}

impl Sending {
    /// A result all of whose columns go as text.
    pub(crate) fn text(rows: Rows, styles: Styles, verb: &'static str) -> Self {
        Self {
            formats: vec![Format::Text; rows.schema.fields().len()],
            objects: None,
            styles,
            schema: Arc::clone(&rows.schema),
            rows: Some(rows),
            rest: None,
            count: 0,
            verb,
        }
    }

    /// Its columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What the client is told at its end.
    pub(crate) fn tag(&self) -> String {
        match self.verb {
            "INSERT" => format!("INSERT 0 {}", self.count),
            "EXPLAIN" | "SHOW" => self.verb.to_owned(),
            verb => format!("{verb} {}", self.count),
        }
    }

    /// Columns with the numbers of objects instead of their names, where they go in binary.
    fn numbered(&self, mut columns: Vec<ArrayRef>) -> Result<Vec<ArrayRef>, Error> {
        let Some(objects) = &self.objects else {
            return Ok(columns);
        };
        let fields = self.schema.fields().iter().zip(&self.formats);
        for (column, (field, format)) in columns.iter_mut().zip(fields) {
            if *format == Format::Binary
                && names_objects(field)
                && let Some(said) = said_type(field)
            {
                *column = objects.of(said, column)?;
            }
        }
        Ok(columns)
    }

    /// Sends `most` rows, or all; whether that was the end.
    ///
    /// # Errors
    /// Those of the statement, and what ends it.
    pub(crate) async fn some(
        &mut self,
        messages: &mut Messages,
        limits: &mut Limits,
        most: Option<u64>,
    ) -> Result<bool, Failure> {
        let mut left = most.unwrap_or(u64::MAX);
        loop {
            let (batch, start) = match self.rest.take() {
                Some(rest) => rest,
                None => match &mut self.rows {
                    None => return Ok(true),
                    Some(rows) => match limits.wait(rows.stream.next()).await? {
                        Some(batch) => (batch?, 0),
                        None => return Ok(true),
                    },
                },
            };
            let columns = self.numbered(sendable(&batch, &self.schema)?)?;
            let lines = Lines::new(&columns, &self.schema, &self.formats, &self.styles);
            let rows = batch.num_rows() - start;
            let now = usize::try_from(left).unwrap_or(usize::MAX).min(rows);
            for row in start..start + now {
                lines.write(row, &mut messages.output);
                // By bytes, not by rows: those may be wide.
                if messages.is_enough() {
                    limits.wait(messages.flush()).await??;
                }
            }
            if messages.is_enough() {
                limits.wait(messages.flush()).await??;
            }
            self.count += now as u64;
            messages.traffic.rows += now as u64;
            left -= now as u64;
            drop(lines);
            if now < rows {
                self.rest = Some((batch, start + now));
            }
            if left == 0 {
                return Ok(false);
            }
        }
    }
}

/// Whether columns are the same fields, which take long to compare by what they say.
fn are_same(known: &SchemaRef, comes: &SchemaRef) -> bool {
    let mut fields = known.fields().iter().zip(comes.fields());
    Arc::ptr_eq(known, comes)
        || known.fields().len() == comes.fields().len()
            && fields.all(|(known, comes)| Arc::ptr_eq(known, comes))
}

/// Tells a client what is said of the statement that has been run.
pub(crate) fn noticed(messages: &mut Messages, session: &Session) -> Result<(), Failure> {
    let notices = session.take_notices();
    notices
        .iter()
        .try_for_each(|one| messages.put(&notice(one)))
}

/// Tells a client that a statement is done.
pub(crate) fn complete(messages: &mut Messages, tag: String) -> Result<(), Failure> {
    messages.put(&Backend::CommandComplete(CommandComplete::new(tag)))
}
