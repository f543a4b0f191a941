//! `freestone serve`: a database over PostgreSQL's protocol, until it is told to stop.

use std::net::SocketAddr;
use std::time::Duration;

use freestone_server::{LogFormat, Options, Server, TimeLimits, TlsFiles, Users};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{LogArgument, ServeArguments};
use crate::failure::{Failure, Result};

/// Threads of the server beyond one for each core: that many may wait for the disk at once
/// before a core is idle. With 16 clients of TPC-C on two cores, two more threads gave 4 to
/// 12 % more transactions; four or six gave no more.
const WRITING: usize = 2;

/// How many cores there are.
fn available() -> Result<usize> {
    let cores = std::thread::available_parallelism();
    let cores = cores.map_err(|error| Failure::io("cannot count cores", error))?;
    Ok(cores.get())
}

/// Serves until Ctrl-C or a request to terminate.
///
/// # Errors
/// Those of opening the database, and of listening.
pub fn run(arguments: &ServeArguments) -> Result<()> {
    freestone::give_way();
    // A thread that writes the log waits for the disk; others serve its clients meanwhile.
    let threads = arguments.database.threads.map_or_else(available, Ok)?;
    let runtime = crate::runtime(Some(threads.saturating_add(WRITING)))?;
    let database = crate::open(&arguments.database)?;
    for note in database.store().notes() {
        eprintln!("note: {note}");
    }
    let users = arguments.users.as_deref().map(Users::read).transpose()?;
    let files = arguments
        .tls_certificate
        .as_ref()
        .zip(arguments.tls_key.as_ref());
    let options = Options {
        tls: files.map(|(certificate, key)| TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
        }),
        users,
        files: arguments.files.clone(),
        require_tls: arguments.require_tls,
        connections: arguments.connections,
        startup: Duration::from_secs(arguments.startup_seconds),
        send: arguments.send_timeout,
        limits: TimeLimits {
            statement: arguments.statement_timeout,
            idle: arguments.idle_timeout,
            idle_in_transaction: arguments.idle_in_transaction_timeout,
        },
        metrics: arguments.metrics,
        flight: arguments.flight,
        log: match arguments.log {
            LogArgument::Off => LogFormat::Off,
            LogArgument::Text => LogFormat::Text,
            LogArgument::Json => LogFormat::Json,
        },
        slow: arguments.log_slow.map(Duration::from_millis),
        ..Options::new(SocketAddr::new(arguments.host, arguments.port))
    };
    let (shutdown, encrypted) = (options.shutdown, options.tls.is_some());
    runtime.block_on(async {
        let handler =
            |kind| signal(kind).map_err(|error| Failure::io("cannot wait for signals", error));
        let mut interrupted = handler(SignalKind::interrupt())?;
        let mut terminated = handler(SignalKind::terminate())?;
        let server = Server::listen(database, options).await?;
        let address = server.address();
        println!(
            "listening on {address}: psql -h {} -p {}",
            address.ip(),
            address.port()
        );
        if let Some(address) = server.flight_address()? {
            let scheme = if encrypted { "grpc+tls" } else { "grpc" };
            println!("Flight SQL at {scheme}://{address}");
        }
        if let Some(address) = server.metrics_address()? {
            println!("metrics at http://{address}/metrics");
        }
        server
            .serve(async {
                tokio::select! {
                    _ = interrupted.recv() => {}
                    _ = terminated.recv() => {}
                }
                eprintln!(
                    "stopping: statements that run have {} seconds",
                    shutdown.as_secs()
                );
            })
            .await;
        Ok(())
    })
}
