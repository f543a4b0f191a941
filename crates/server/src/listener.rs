//! Accepts connections, as many as may be, until the server stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use freestone::{Database, Error, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::cancel::Cancels;
use crate::connection::Connection;
use crate::door::Keys;
use crate::failure::{Failure, response};
use crate::flight::{self, Flight};
use crate::log::Log;
use crate::metrics;
use crate::options::Options;
use crate::startup::Door;
use crate::tls;
use crate::watch::Watch;

/// How long to wait when the system has no more sockets to give.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that listens.
///
/// # Example
/// ```
/// # #[tokio::main] async fn main() -> freestone::Result<()> {
/// use freestone_server::{Options, Server};
///
/// let options = Options::new("127.0.0.1:0".parse().unwrap());
/// let server = Server::listen(freestone::Database::in_memory(), options).await?;
/// println!("listening on {}", server.address());
/// server.serve(async {}).await;
/// # Ok(()) }
/// ```
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    door: Arc<Door>,
    metrics: Option<TcpListener>,
    flight: Option<Flight>,
    options: Options,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// `58030` if the address cannot be had, `F0000` if TLS cannot be set up, `28000` for
    /// an address that others can reach if nobody is asked for a password.
    pub async fn listen(database: Database, options: Options) -> Result<Server> {
        let addresses = [Some(options.address), options.flight];
        let exposed = addresses.iter().flatten().find(|at| !at.ip().is_loopback());
        if let Some(address) = exposed
            && options.users.is_none()
            && !database.passwords().0
        {
            let message = format!(
                "{address} can be reached by other machines, and nobody would be asked for a password"
            );
            let hint =
                "ALTER ROLE freestone PASSWORD '…', or a file with users, or listen on 127.0.0.1";
            return Err(Error::new("28000", message).with_hint(hint));
        }
        let acceptor = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let listener = bind(options.address).await?;
        let metrics = match options.metrics {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        let flight = match options.flight {
            Some(address) => Some(Flight::new(bind(address).await?, &options)?),
            None => None,
        };
        Ok(Server {
            address: at(&listener)?,
            listener,
            door: Arc::new(Door {
                keys: Keys::new(database, options.users.clone(), exposed.is_some()),
                folders: options.files.clone().into(),
                tls: acceptor,
                cancels: Arc::new(Cancels::default()),
                watch: Watch {
                    metrics: Arc::default(),
                    log: Log {
                        format: options.log,
                        slow: options.slow,
                    },
                },
            }),
            metrics,
            flight,
            options,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where its metrics are, if they are anywhere.
    ///
    /// # Errors
    /// `58030` if the system does not say.
    pub fn metrics_address(&self) -> Result<Option<SocketAddr>> {
        self.metrics.as_ref().map(at).transpose()
    }

    /// Where Flight SQL is served, if it is.
    ///
    /// # Errors
    /// `58030` if the system does not say.
    pub fn flight_address(&self) -> Result<Option<SocketAddr>> {
        let flight = self.flight.as_ref();
        flight.map(|flight| at(&flight.listener)).transpose()
    }

    /// Serves clients until `stop` is done. Statements that run then may come to their
    /// end for as long as the options say; after that they are given up.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let all = u32::try_from(self.options.connections).unwrap_or(u32::MAX);
        let places = Arc::new(Semaphore::new(all as usize));
        let (close, closing) = watch::channel(false);
        let (halt, stopping) = watch::channel(false);
        let door = &self.door;
        let metrics = self.metrics.map(|listener| {
            let counts = Arc::clone(&door.watch.metrics);
            tokio::spawn(metrics::answer(
                listener,
                counts,
                door.keys.database.clone(),
            ))
        });
        if let Some(flight) = self.flight {
            let (closing, stopping) = (closing.clone(), stopping.clone());
            let (door, places) = (Arc::clone(door), Arc::clone(&places));
            tokio::spawn(flight::serve(flight, door, places, closing, stopping));
        }
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => accepted,
            };
            let Ok((stream, from)) = accepted else {
                sleep(PAUSE).await;
                continue;
            };
            let client = Client {
                door: Arc::clone(&self.door),
                startup: self.options.startup,
                closing: closing.clone(),
                stopping: stopping.clone(),
            };
            match Arc::clone(&places).try_acquire_owned() {
                Ok(place) => drop(tokio::spawn(client.serve(stream, from, place))),
                Err(_) => {
                    let error = no_place(self.options.connections);
                    self.door.watch.refused(from, &error);
                    drop(tokio::spawn(refuse(stream, error)));
                }
            }
        }
        drop(self.listener);
        let _ = close.send(true);
        if timeout(self.options.shutdown, places.acquire_many(all))
            .await
            .is_err()
        {
            let _ = halt.send(true);
            let _ = timeout(self.options.shutdown, places.acquire_many(all)).await;
        }
        if let Some(metrics) = metrics {
            metrics.abort();
        }
    }
}

/// A connection from its first byte on.
struct Client {
    door: Arc<Door>,
    startup: Duration,
    closing: watch::Receiver<bool>,
    stopping: watch::Receiver<bool>,
}

impl Client {
    async fn serve(self, stream: TcpStream, from: SocketAddr, _place: OwnedSemaphorePermit) {
        let _ = stream.set_nodelay(true);
        let admitted = timeout(self.startup, self.door.admit(Box::new(stream), from));
        match admitted.await {
            Ok(Ok(Some(guest))) => {
                Connection::new(guest, self.closing, self.stopping)
                    .serve()
                    .await;
            }
            Ok(Err((Failure::Told(error) | Failure::Fatal(error), Some(mut messages)))) => {
                self.door.watch.refused(from, &error);
                let _ = messages.put(&response(&error, "", true));
                messages.close().await;
            }
            _ => {}
        }
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| {
        let message = format!("cannot listen on {address}: {error}");
        Error::new("58030", message).with_hint("choose another port, or stop who has it")
    })
}

/// Where a socket listens.
fn at(listener: &TcpListener) -> Result<SocketAddr> {
    let address = listener.local_addr();
    address.map_err(|error| Error::new("58030", format!("a socket has no address: {error}")))
}

fn no_place(most: usize) -> Error {
    let message = format!("too many clients: at most {most} are served");
    Error::new("53300", message).with_hint("wait until others have left")
}

/// Tells a client that there is no place for it.
async fn refuse(mut stream: TcpStream, error: Error) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut bytes = bytes::BytesMut::new();
    if response(&error, "", true).encode(&mut bytes).is_ok() {
        // A client looks for an answer once it has said something.
        let first = stream.read_u8();
        let _ = timeout(PAUSE * 20, first).await;
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
    }
}
