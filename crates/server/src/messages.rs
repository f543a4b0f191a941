//! Messages of one connection, in and out.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use freestone::Error;
use futures::FutureExt;
use pgwire::messages::PgWireBackendMessage as Backend;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::failure::{Failure, violation};
use crate::request::{Opening, Request};
use crate::watch::Traffic;

/// Bytes of the longest message of a client that has said who it is. Rows of COPY come in
/// messages of some kilobytes; a statement this long would be parsed for minutes.
pub(crate) const LONGEST: usize = 64 << 20;
/// Bytes of the longest message before.
const LONGEST_OF_STRANGERS: usize = 10_000;
/// Bytes that are asked for at a time, and fewest that a read has room for: a message that does not
/// fit takes another read.
const READ: usize = 4 << 10;
const READ_LEAST: usize = 1 << 10;
/// Bytes that are sent at once.
const ENOUGH: usize = 64 << 10;
/// How long the end of a connection may take: nobody may be there any more.
const FAREWELL: Duration = Duration::from_secs(5);
/// The kind of a Sync.
const SYNC: u8 = b'S';
/// Bytes of a length.
const LENGTH: usize = 4;

/// What bytes come and go through.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Messages of one connection.
pub(crate) struct Messages {
    stream: Box<dyn Stream>,
    input: BytesMut,
    /// What was not sent yet.
    pub(crate) output: BytesMut,
    /// Bytes of the longest message that is taken.
    longest: usize,
    /// How long the client may take nothing of what it is sent.
    patience: Duration,
    /// Whether it has taken nothing for so long.
    stuck: bool,
    /// What went to and fro.
    pub(crate) traffic: Traffic,
}

impl Messages {
    pub(crate) fn new(stream: Box<dyn Stream>, patience: Duration) -> Self {
        Self {
            stream,
            input: BytesMut::new(),
            output: BytesMut::new(),
            longest: LONGEST_OF_STRANGERS,
            patience,
            stuck: false,
            traffic: Traffic::default(),
        }
    }

    /// What they come through: encryption begins.
    ///
    /// # Errors
    /// `Fatal` if the client has sent more than it should have: what comes before the
    /// encryption must not be taken for what comes after it.
    pub(crate) fn into_stream(self) -> Result<Box<dyn Stream>, Failure> {
        match self.input.is_empty() {
            true => Ok(self.stream),
            false => Err(violation("bytes after the request for TLS")),
        }
    }

    /// From now on longer messages are taken: the client has said who it is.
    pub(crate) fn trust(&mut self) {
        self.longest = LONGEST;
    }

    /// The first message, or one of them; `None` at the end.
    ///
    /// # Errors
    /// `Gone` if the client is; `Fatal` for what is no message, or too long.
    pub(crate) async fn opening(&mut self) -> Result<Option<Opening>, Failure> {
        let Some((_, body)) = self.message(0).await? else {
            return Ok(None);
        };
        let opening = Opening::read(body);
        Ok(Some(opening.ok_or_else(|| {
            violation("expected a message to start with")
        })?))
    }

    /// The next message; `None` at the end. What waits to be sent is sent before anybody
    /// is waited for.
    ///
    /// # Errors
    /// As [`Messages::opening`].
    pub(crate) async fn next(&mut self) -> Result<Option<Request>, Failure> {
        let Some((kind, body)) = self.message(1).await? else {
            return Ok(None);
        };
        let request = Request::read(kind, body);
        Ok(Some(request.ok_or_else(|| {
            violation(format!("bytes that are no message of kind {kind}"))
        })?))
    }

    /// Whether the next message is a Sync. A client waits for nothing before it has sent
    /// that or another one.
    ///
    /// # Errors
    /// `Gone` if the client is.
    pub(crate) async fn sync_follows(&mut self) -> Result<bool, Failure> {
        while self.input.is_empty() {
            if !self.read().await? {
                return Err(Failure::Gone);
            }
        }
        Ok(self.input[0] == SYNC)
    }

    /// The kind of the next message, if it has one, and its bytes.
    async fn message(&mut self, kind: usize) -> Result<Option<(u8, Bytes)>, Failure> {
        loop {
            if let Some(length) = self.input.get(kind..kind + LENGTH) {
                let length = length
                    .iter()
                    .fold(0, |all, byte| all << 8 | usize::from(*byte));
                if !(LENGTH..=self.longest).contains(&length) {
                    let longest = self.longest;
                    let message =
                        format!("a message of {length} bytes; at most {longest} are taken");
                    return Err(violation(message));
                }
                if self.input.len() >= kind + length {
                    let name = self.input[0];
                    let mut body = self.input.split_to(kind + length).freeze();
                    body.advance(kind + LENGTH);
                    return Ok(Some((name, body)));
                }
            }
            if !self.read().await? {
                return Ok(None);
            }
        }
    }

    /// Waits for more of what the client sends, having sent what waits for it; whether
    /// there is more.
    async fn read(&mut self) -> Result<bool, Failure> {
        self.flush().await?;
        if self.input.capacity() - self.input.len() < READ_LEAST {
            self.input.reserve(READ);
        }
        let more = self.stream.read_buf(&mut self.input).await?;
        self.traffic.received += more as u64;
        Ok(more > 0)
    }

    /// Adds a message to what is to be sent.
    ///
    /// # Errors
    /// `Fatal` for a message that is too long.
    pub(crate) fn put(&mut self, message: &Backend) -> Result<(), Failure> {
        Ok(message.encode(&mut self.output)?)
    }

    /// Sends what there is if it is enough.
    ///
    /// # Errors
    /// `Gone` if the client is.
    pub(crate) async fn flush_some(&mut self) -> Result<(), Failure> {
        match self.is_enough() {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    /// Whether what waits to be sent is enough to send it.
    pub(crate) fn is_enough(&self) -> bool {
        self.output.len() >= ENOUGH
    }

    /// Sends all there is. What was sent when this is given up is not sent again.
    ///
    /// # Errors
    /// `Gone` if the client is; `Fatal` if it takes nothing for too long.
    pub(crate) async fn flush(&mut self) -> Result<(), Failure> {
        while !self.output.is_empty() {
            let sent = self.stream.write(&self.output);
            let Ok(sent) = patient(self.patience, sent).await else {
                return Err(self.give_up());
            };
            let sent = sent?;
            if sent == 0 {
                return Err(io::Error::from(io::ErrorKind::WriteZero).into());
            }
            self.output.advance(sent);
            self.traffic.sent += sent as u64;
        }
        let flushed = patient(self.patience, self.stream.flush()).await;
        Ok(flushed.map_err(|_| self.give_up())??)
    }

    /// Nothing more is sent.
    fn give_up(&mut self) -> Failure {
        self.stuck = true;
        let seconds = self.patience.as_secs_f64();
        let message = format!("terminating connection: the client took nothing for {seconds} s");
        Failure::Fatal(Error::new("08006", message))
    }

    /// Ends the connection as far as it can be told.
    pub(crate) async fn close(&mut self) {
        if self.stuck {
            return;
        }
        let told = async {
            let _ = self.flush().await;
            let _ = self.stream.shutdown().await;
        };
        let _ = timeout(FAREWELL, told).await;
    }
}

/// Waits for so long; no clock is set for what is done at once.
async fn patient<T>(patience: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut work = pin!(work);
    match work.as_mut().now_or_never() {
        Some(done) => Ok(done),
        None => timeout(patience, work).await,
    }
}
