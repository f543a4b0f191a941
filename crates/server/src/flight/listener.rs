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
use tokio::sync::watch;
use tokio::time::{interval, sleep};
use tonic::Request;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::server::Connected;
use tonic::transport::{Identity, Server, ServerTlsConfig};

use super::clients::{Clients, Link};
use super::prepared::Statements;
use super::service::Service;
use super::work::{IDLE, Transactions};
use crate::options::Options;
use crate::places::{Stranger, Strangers};
use crate::socket::prepare;
use crate::startup::Door;

/// Bytes of a message that a client may send: its batches are no larger.
const MESSAGE: usize = 256 << 20;
/// How often what is not used any more is looked for.
const SWEEP: Duration = Duration::from_secs(30);
/// How long to wait when there is no place, or no socket.
const PAUSE: Duration = Duration::from_millis(100);

/// Calls of one connection at a time.
const CALLS: usize = 16;
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
    mut closing: watch::Receiver<bool>,
    stopping: watch::Receiver<bool>,
) {
    let strangers = Arc::clone(&door.strangers);
    let idle = door.limits.idle_in_transaction.unwrap_or(IDLE);
    let service = Arc::new(Service {
        door,
        stopping,
        clients: Clients::default(),
        transactions: Transactions::new(idle.min(IDLE)),
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
    let incoming = accepted(listener, strangers, startup);
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

/// Connections, each of a stranger at first.
fn accepted(
    listener: TcpListener,
    strangers: Arc<Strangers>,
    startup: Duration,
) -> impl Stream<Item = std::io::Result<Placed>> {
    stream::unfold(
        (listener, strangers),
        move |(listener, strangers)| async move {
            loop {
                let Ok((stream, from)) = listener.accept().await else {
                    sleep(PAUSE).await;
                    continue;
                };
                prepare(&stream);
                let stranger = strangers.enter();
                let leave = stranger.leave();
                let late = async move {
                    tokio::select! {
                        () = sleep(startup) => {}
                        () = leave => {}
                    }
                };
                let placed = Placed {
                    stream,
                    link: Link::new(from),
                    unknown: Some((stranger, Box::pin(late))),
                    ended: false,
                };
                return Some((Ok(placed), (listener, strangers)));
            }
        },
    )
}

/// As long as nobody has said who it is: until when that may be.
type Unknown = (Stranger, Pin<Box<dyn Future<Output = ()> + Send>>);

/// A connection that has its place among those of strangers, and then of clients.
struct Placed {
    stream: TcpStream,
    link: Link,
    unknown: Option<Unknown>,
    /// Whether nobody has said it in time.
    ended: bool,
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
            self.unknown = None;
        }
        if let Some((_, late)) = &mut self.unknown
            && late.as_mut().poll(context).is_ready()
        {
            self.unknown = None;
            self.ended = true;
        }
        if self.ended {
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
