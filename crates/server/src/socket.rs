//! Sockets: where the server listens, and connections as the system keeps them.

use std::net::SocketAddr;
use std::time::Duration;

use freestone::{Error, Result};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

/// How often, and how many times, the system asks a silent client whether it is still there.
const ALIVE: Duration = Duration::from_secs(60);
const TIMES: u32 = 5;

/// Has the system send at once what is written, and find out when nobody is there any more.
pub(crate) fn prepare(stream: &TcpStream) {
    // A connection works without, too.
    let _ = stream.set_nodelay(true);
    let alive = TcpKeepalive::new().with_time(ALIVE).with_interval(ALIVE);
    let _ = SockRef::from(stream).set_tcp_keepalive(&alive.with_retries(TIMES));
}

/// Begins to listen at an address.
///
/// # Errors
/// `58030` if it cannot be had.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| {
        let message = format!("cannot listen on {address}: {error}");
        Error::new("58030", message).with_hint("choose another port, or stop who has it")
    })
}

/// Where a socket listens.
///
/// # Errors
/// `58030` if the system does not say.
pub(crate) fn at(listener: &TcpListener) -> Result<SocketAddr> {
    let address = listener.local_addr();
    address.map_err(|error| Error::new("58030", format!("a socket has no address: {error}")))
}
