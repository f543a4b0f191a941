//! A server on a free port, as a process, and clients of it.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio_postgres::{Client, NoTls};

/// A server, killed when it is dropped.
pub struct Served {
    pub address: SocketAddr,
    pub child: Child,
}

/// The program that is tested.
pub fn program() -> Command {
    let path = std::env::var_os("FREESTONE").expect("FREESTONE names the program");
    let mut command = Command::new(path);
    command
        .arg("serve")
        .args(["--port", "0"])
        .kill_on_drop(true);
    command
}

impl Served {
    pub async fn new() -> Served {
        Self::with(&[]).await
    }

    pub async fn with(options: &[&str]) -> Served {
        let mut child = program()
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().unwrap_or_default();
        // listening on ADDRESS: how to connect
        let address = line
            .strip_prefix("listening on ")
            .and_then(|rest| rest.split_once(": "))
            .and_then(|(address, _)| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("it does not listen: {line}"));
        Served { address, child }
    }

    pub fn settings(&self) -> tokio_postgres::Config {
        let mut settings = tokio_postgres::Config::new();
        settings
            .host(self.address.ip().to_string())
            .port(self.address.port())
            .user("somebody");
        settings
    }

    pub async fn client(&self) -> Client {
        let (client, connection) = self.settings().connect(NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// A client, as soon as there is a place for it.
    pub async fn place(&self) -> Client {
        for _ in 0..1000 {
            if let Ok((client, connection)) = self.settings().connect(NoTls).await {
                tokio::spawn(connection);
                return client;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the place of a client that left is not given again");
    }

    pub async fn socket(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Tells it to stop, and waits until it has.
    pub async fn stop(&mut self) {
        let process = self.child.id().unwrap().to_string();
        let told = Command::new("kill").args(["-TERM", &process]).status();
        assert!(told.await.unwrap().success());
        self.child.wait().await.unwrap();
    }
}

/// The SQLSTATE of an error.
pub fn state<T: std::fmt::Debug>(result: Result<T, tokio_postgres::Error>) -> String {
    let error = result.unwrap_err();
    match error.code() {
        Some(code) => code.code().to_owned(),
        None => panic!("{error:?}"),
    }
}

/// The message that begins a connection.
pub fn hello() -> Vec<u8> {
    let mut body = 196_608_u32.to_be_bytes().to_vec();
    body.extend_from_slice(b"user\0somebody\0\0");
    framed(None, &body)
}

/// A message with its length.
pub fn framed(kind: Option<u8>, body: &[u8]) -> Vec<u8> {
    let mut message: Vec<u8> = kind.into_iter().collect();
    message.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    message.extend_from_slice(body);
    message
}

/// What a server says up to its end, or until it has been silent for a while.
pub async fn answer(socket: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut all = Vec::new();
    let quiet = Duration::from_millis(500);
    while let Ok(Ok(1..)) = tokio::time::timeout(quiet, socket.read_buf(&mut all)).await {}
    all
}

/// Whether an answer has an error of a SQLSTATE.
pub fn says(answer: &[u8], state: &str) -> bool {
    let code = format!("C{state}\0");
    answer
        .windows(code.len())
        .any(|part| part == code.as_bytes())
}

/// A connection that has come as far as its first statement.
pub async fn ready(served: &Served) -> TcpStream {
    let mut socket = served.socket().await;
    socket.write_all(&hello()).await.unwrap();
    let mut all = Vec::new();
    while !all.ends_with(b"Z\0\0\0\x05I") {
        assert!(socket.read_buf(&mut all).await.unwrap() > 0);
    }
    socket
}
