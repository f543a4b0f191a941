//! COPY with the client: rows come and go as data of the protocol.

use std::sync::Arc;

use bytes::Bytes;
use freestone::{CopyStream, Error, Outcome, Outgoing};
use pgwire::messages::PgWireBackendMessage as Backend;
use pgwire::messages::copy::{CopyData, CopyDone, CopyInResponse, CopyOutResponse};

use crate::connection::Connection;
use crate::copy_binary;
use crate::failure::{Failure, violation};
use crate::portal::complete;
use crate::request::Request;

impl Connection {
    /// Does a COPY as a whole.
    ///
    /// # Errors
    /// That of the statement.
    pub(crate) async fn copy(&mut self, copy: CopyStream) -> Result<(), Failure> {
        match copy.is_to_client() {
            true => self.copy_out(copy).await,
            false => self.copy_in(copy).await,
        }
    }

    async fn copy_out(&mut self, copy: CopyStream) -> Result<(), Failure> {
        let binary = copy.is_binary();
        let mut outgoing = self.limits.wait(copy.send(&self.session)).await??;
        let count = outgoing.schema().fields().len();
        if binary {
            let response = CopyOutResponse::new(1, count as i16, vec![1; count]);
            self.messages.put(&Backend::CopyOutResponse(response))?;
            self.binary_out(&mut outgoing).await?;
            self.messages.put(&Backend::CopyDone(CopyDone::new()))?;
            return complete(&mut self.messages, format!("COPY {}", outgoing.count));
        }
        let response = CopyOutResponse::new(0, count as i16, vec![0; count]);
        self.messages.put(&Backend::CopyOutResponse(response))?;
        while let Some(lines) = self.limits.wait(outgoing.next()).await?? {
            for line in lines.iter() {
                let data = CopyData::new(Bytes::copy_from_slice(line));
                self.messages.put(&Backend::CopyData(data))?;
                self.limits.wait(self.messages.flush_some()).await??;
            }
        }
        self.messages.put(&Backend::CopyDone(CopyDone::new()))?;
        complete(&mut self.messages, format!("COPY {}", outgoing.count))
    }

    async fn binary_out(&mut self, outgoing: &mut Outgoing) -> Result<(), Failure> {
        let schema = Arc::clone(outgoing.schema());
        let data = |bytes| Backend::CopyData(CopyData::new(bytes));
        self.messages.put(&data(copy_binary::head()))?;
        while let Some(batch) = self.limits.wait(outgoing.next_batch()).await?? {
            for row in copy_binary::rows(&batch, &schema)? {
                self.messages.put(&data(row))?;
                self.limits.wait(self.messages.flush_some()).await??;
            }
        }
        self.messages.put(&data(copy_binary::end()))
    }

    async fn copy_in(&mut self, copy: CopyStream) -> Result<(), Failure> {
        let count = copy.columns(&self.session)?;
        let mut binary = match copy.is_binary() {
            true => Some(copy_binary::Incoming::new(&copy.kinds(&self.session)?)),
            false => None,
        };
        let mut incoming = copy.receive()?;
        let format = i8::from(binary.is_some());
        let formats = vec![i16::from(format); count];
        let response = CopyInResponse::new(format, count as i16, formats);
        self.messages.put(&Backend::CopyInResponse(response))?;
        loop {
            let message = self.limits.wait(self.messages.next()).await??;
            match message {
                Some(Request::CopyData(data)) => match &mut binary {
                    Some(rows) => incoming.push(&rows.push(&data)?)?,
                    None => incoming.push(&data)?,
                },
                Some(Request::CopyDone) => break,
                Some(Request::CopyFail(why)) => {
                    let message = format!("COPY from stdin failed: {why}");
                    return Err(Error::new("57014", message).into());
                }
                // Clients may send these before they know that it is a COPY.
                Some(Request::Flush | Request::Sync) => {}
                Some(_) => return Err(violation("expected rows of a COPY")),
                None => return Err(Failure::Gone),
            }
        }
        if let Some(rows) = &binary {
            rows.finish()?;
        }
        let outcome = self.limits.wait(incoming.finish(&self.session)).await??;
        match outcome {
            Outcome::Done { tag, .. } => complete(&mut self.messages, tag),
            Outcome::Rows(_) => Err(Error::internal("a COPY with a result").into()),
        }
    }
}
