//! Accepts connections, as many as may be, until the server stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use freestone::{Database, Error, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::cancel::Cancels;
use crate::connection::Connection;
use crate::door::Keys;
use crate::failure::{Failure, response};
use crate::flight::{self, Flight};
use crate::log::Log;
use crate::metrics;
use crate::options::Options;
use crate::places::{Places, Stranger, Strangers};
use crate::socket::{at, bind, prepare};
use crate::startup::Door;
use crate::tls;
use crate::watch::Watch;

/// How long to wait when the system has no more sockets to give.
const PAUSE: Duration = Duration::from_millis(100);
/// Connections of strangers at a time, unless there are places for more clients.
const STRANGERS: usize = 100;
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
    /// `58030` if the address cannot be had, `F0000` if TLS cannot be set up, or is required
    /// and not set up, `28000` for an address that others can reach if nobody is asked for a
    /// password, or passwords would come to Flight SQL as they are.
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
        if let Some(address) = options.flight.filter(|at| !at.ip().is_loopback())
            && options.tls.is_none()
        {
            let message = format!("passwords would come to Flight SQL at {address} as they are");
            let hint = "give a certificate and a key for TLS, or listen on 127.0.0.1";
            return Err(Error::new("28000", message).with_hint(hint));
        }
        if options.require_tls == Some(true) && options.tls.is_none() {
            let error = Error::new(
                "F0000",
                "TLS is required, and there is no certificate for it",
            );
            return Err(error.with_hint("give a certificate and a key"));
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
                require_tls: acceptor.is_some()
                    && options
                        .require_tls
                        .unwrap_or(!options.address.ip().is_loopback()),
                certificate: options.tls.as_ref().and_then(tls::certificate),
                tls: acceptor,
                places: Places::new(options.connections, options.reserved),
                strangers: Arc::new(Strangers::new(options.connections.max(STRANGERS))),
                limits: options.limits,
                send: options.send,
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
            tokio::spawn(flight::serve(flight, Arc::clone(door), closing, stopping));
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
            let stranger = self.door.strangers.enter();
            drop(tokio::spawn(client.serve(stream, from, stranger)));
        }
        drop(self.listener);
        let _ = close.send(true);
        let places = &self.door.places;
        if timeout(self.options.shutdown, places.empty())
            .await
            .is_err()
        {
            let _ = halt.send(true);
            let _ = timeout(self.options.shutdown, places.empty()).await;
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
    async fn serve(self, stream: TcpStream, from: SocketAddr, stranger: Stranger) {
        prepare(&stream);
        let admitted = timeout(self.startup, self.door.admit(Box::new(stream), from));
        let admitted = tokio::select! {
            admitted = admitted => admitted,
            () = stranger.leave() => {
                let message = "others came before it had said who it is";
                return self.door.watch.refused(from, &Error::new("53300", message));
            }
        };
        match admitted {
            Ok(Ok(Some(guest))) => {
                drop(stranger);
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
