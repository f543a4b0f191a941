//! Accepts connections for Flight SQL, among as many as the server serves.

use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use freestone::{Error, Result};
use futures::{Stream, stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Sleep, interval, sleep};
use tonic::Request;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::server::Connected;
use tonic::transport::{Identity, Server, ServerTlsConfig};

use super::clients::{Clients, Link};
use super::prepared::Statements;
use super::service::Service;
use super::work::Transactions;
use crate::options::Options;
use crate::startup::Door;

/// Bytes of a message that a client may send: its batches are no larger.
const MESSAGE: usize = 256 << 20;
/// How often what is not used any more is looked for.
const SWEEP: Duration = Duration::from_secs(30);
/// How long to wait when there is no place, or no socket.
const PAUSE: Duration = Duration::from_millis(100);

/// Calls of one connection at a time.
const CALLS: usize = 64;
/// How often a client that is silent is asked whether it is still there.
const ALIVE: Duration = Duration::from_secs(60);

/// Where Flight SQL is served, and how.
pub(crate) struct Flight {
    pub(crate) listener: TcpListener,
    server: Server,
    /// How long a client may take to say who it is.
    startup: Duration,
}

impl Flight {
    /// A socket with the server's encryption.
    ///
    /// # Errors
    /// `F0000` if TLS cannot be set up.
    pub(crate) fn new(listener: TcpListener, options: &Options) -> Result<Flight> {
        let read = |path: &std::path::Path| {
            std::fs::read(path).map_err(|error| {
                let message = format!("cannot read \"{}\" for TLS: {error}", path.display());
                Error::new("F0000", message)
            })
        };
        let mut server = Server::builder()
            .concurrency_limit_per_connection(CALLS)
            .http2_keepalive_interval(Some(ALIVE));
        if let Some(files) = &options.tls {
            let identity = Identity::from_pem(read(&files.certificate)?, read(&files.key)?);
            let encrypted = server.tls_config(ServerTlsConfig::new().identity(identity));
            server = encrypted.map_err(|error| {
                Error::new(
                    "F0000",
                    format!("cannot set up TLS for Flight SQL: {error}"),
                )
            })?;
        }
        Ok(Flight {
            listener,
            server,
            startup: options.startup,
        })
    }
}

/// Serves calls until the server closes; those that run then may end.
pub(crate) async fn serve(
    flight: Flight,
    door: Arc<Door>,
    places: Arc<Semaphore>,
    mut closing: watch::Receiver<bool>,
    stopping: watch::Receiver<bool>,
) {
    let service = Arc::new(Service {
        door,
        stopping,
        clients: Clients::default(),
        transactions: Transactions::default(),
        statements: Statements::default(),
    });
    let sweeper = tokio::spawn(sweep(Arc::clone(&service)));
    let calls = FlightServiceServer::from_arc(Arc::clone(&service))
        .max_decoding_message_size(MESSAGE)
        .max_encoding_message_size(MESSAGE);
    let calls = InterceptedService::new(calls, move |call: Request<()>| service.known_caller(call));
    let Flight {
        listener,
        mut server,
        startup,
    } = flight;
    let close = async move {
        let _ = closing.wait_for(|closing| *closing).await;
    };
    let incoming = accepted(listener, places, startup);
    let _ = server
        .add_service(calls)
        .serve_with_incoming_shutdown(incoming, close)
        .await;
    sweeper.abort();
}

async fn sweep(service: Arc<Service>) {
    let mut turns = interval(SWEEP);
    loop {
        turns.tick().await;
        service.clients.sweep();
        service.transactions.sweep();
        service.statements.sweep();
    }
}

/// Connections, each with its place among all that the server serves.
fn accepted(
    listener: TcpListener,
    places: Arc<Semaphore>,
    startup: Duration,
) -> impl Stream<Item = std::io::Result<Placed>> {
    stream::unfold((listener, places), move |(listener, places)| async move {
        loop {
            let Ok((stream, from)) = listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            // One more than may be is closed at once, which clients take for unavailable.
            if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                let placed = Placed {
                    stream,
                    link: Link::new(from),
                    late: Some(Box::pin(sleep(startup))),
                    _place: place,
                };
                return Some((Ok(placed), (listener, places)));
            }
        }
    })
}

/// A connection that holds its place.
struct Placed {
    stream: TcpStream,
    link: Link,
    /// When nobody may be unknown any more.
    late: Option<Pin<Box<Sleep>>>,
    _place: OwnedSemaphorePermit,
}

impl Connected for Placed {
    type ConnectInfo = Link;

    fn connect_info(&self) -> Link {
        self.link.clone()
    }
}

impl AsyncRead for Placed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.link.is_known() {
            self.late = None;
        }
        if let Some(late) = &mut self.late
            && late.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Placed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
