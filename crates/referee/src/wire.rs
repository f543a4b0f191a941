//! A server that is asked over PostgreSQL's protocol.
//!
//! Statements are sent one after the other without waiting for answers; each has a `Sync` of
//! its own, so that it fails alone. The description of a statement gives the types of its
//! columns in the same round.
//!
//! ```text
//! Parse Describe Bind Execute Sync   Parse Describe Bind Execute Sync …  ──▶
//!                     ◀──  1 T 2 D D C Z   1 n 2 C Z   E Z …
//! ```

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::answer::{Answer, Cell, Failure, Side};

/// Longest wait for more output.
const PATIENCE: Duration = Duration::from_secs(120);

/// Settings of a session: those under which the language front runs, and limits.
const SETTINGS: [&str; 7] = [
    "SET timezone = 'UTC'",
    "SET datestyle = 'ISO, MDY'",
    "SET intervalstyle = 'postgres'",
    "SET bytea_output = 'hex'",
    "SET extra_float_digits = 1",
    "SET statement_timeout = 10000",
    "SET jit = off",
];

/// A place where a server listens, and who asks.
#[derive(Clone, Debug)]
pub struct Address {
    /// Host name, or the folder of a Unix socket.
    pub host: String,
    /// Port.
    pub port: u16,
    /// User.
    pub user: String,
    /// Database.
    pub database: String,
}

/// A connection.
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn open(address: &Address) -> io::Result<Self> {
        if address.host.starts_with('/') {
            let path = format!("{}/.s.PGSQL.{}", address.host, address.port);
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            return Ok(Self::Unix(stream));
        }
        let stream = TcpStream::connect((address.host.as_str(), address.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }

    fn again(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
        }
    }
}

/// A column as the protocol describes it: its name, the OID of its type and its modifier.
type Described = (String, u32, i32);

/// A server.
pub struct Wire {
    address: Address,
    input: BufReader<Stream>,
    output: Stream,
    /// Names of types by OID and modifier.
    names: HashMap<(u32, i32), String>,
}

impl Wire {
    /// Connects and sets the session up.
    ///
    /// # Errors
    /// Nobody listens, or a password is asked for that `PGPASSWORD` does not hold.
    pub fn connect(address: &Address) -> io::Result<Self> {
        let output = Stream::open(address)?;
        let mut wire = Self {
            address: address.clone(),
            input: BufReader::with_capacity(1 << 16, output.again()?),
            output,
            names: HashMap::new(),
        };
        let mut body = 196_608_u32.to_be_bytes().to_vec();
        let settings = [
            ("user", address.user.as_str()),
            ("database", &address.database),
            ("client_encoding", "UTF8"),
        ];
        for (name, value) in settings {
            push_text(&mut body, name);
            push_text(&mut body, value);
        }
        body.push(0);
        let mut message = length(&body).to_vec();
        message.extend(body);
        wire.output.write_all(&message)?;
        wire.log_in()?;
        // A server may not know all settings.
        wire.round(&SETTINGS.map(str::to_owned))?;
        Ok(wire)
    }

    fn log_in(&mut self) -> io::Result<()> {
        loop {
            let (kind, body) = self.message()?;
            match kind {
                b'R' => match Reader(&body).number() {
                    0 => {}
                    3 => {
                        let mut password = Vec::new();
                        push_text(
                            &mut password,
                            &std::env::var("PGPASSWORD").unwrap_or_default(),
                        );
                        let mut out = Vec::new();
                        push_message(&mut out, b'p', &password);
                        self.output.write_all(&out)?;
                    }
                    _ => {
                        let reason = "the server asks for a password that is not sent in clear; \
                                      let this user in without one";
                        return Err(io::Error::other(reason));
                    }
                },
                b'E' => {
                    let failure = failure(&body);
                    return Err(io::Error::other(failure.message));
                }
                b'Z' => return Ok(()),
                _ => {}
            }
        }
    }

    /// The next message: its kind and its body.
    fn message(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.input.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = u32::from_be_bytes(length).saturating_sub(4);
        let mut body = vec![0; length as usize];
        self.input.read_exact(&mut body)?;
        Ok((kind, body))
    }

    /// Asks statements and reads their answers; types are not named yet.
    fn round(&mut self, statements: &[String]) -> io::Result<Vec<(Vec<Described>, Answer)>> {
        let mut out = Vec::new();
        for statement in statements {
            push_statement(&mut out, statement);
        }
        let mut writer = self.output.again()?;
        std::thread::scope(|scope| {
            // The server stops reading while nobody reads its answers, so that long rounds are
            // written beside the reading.
            let short = out.len() < 1 << 14;
            let written = match short {
                true => {
                    writer.write_all(&out)?;
                    None
                }
                false => Some(scope.spawn(move || writer.write_all(&out))),
            };
            let answers: io::Result<Vec<_>> = statements.iter().map(|_| self.answer()).collect();
            if let Some(written) = written {
                written
                    .join()
                    .map_err(|_| io::Error::other("the writer panicked"))??;
            }
            answers
        })
    }

    /// The answer to one statement, up to the server's word that it is ready.
    fn answer(&mut self) -> io::Result<(Vec<Described>, Answer)> {
        self.answer_to(None)
    }

    /// The answer to one statement, which may read rows.
    fn answer_to(&mut self, input: Option<&str>) -> io::Result<(Vec<Described>, Answer)> {
        let mut columns = Vec::new();
        let mut described = false;
        let mut rows = Vec::new();
        let mut done = None;
        let mut failed = None;
        loop {
            let (kind, body) = self.message()?;
            let mut body = Reader(&body);
            match kind {
                b'T' => {
                    described = true;
                    columns = (0..body.short()).map(|_| body.described()).collect();
                }
                b'D' => rows.push((0..body.short()).map(|_| body.cell()).collect::<Vec<_>>()),
                // A line of COPY TO STDOUT.
                b'd' => {
                    let line = String::from_utf8_lossy(body.0);
                    rows.push(vec![Some(line.trim_end_matches('\n').to_owned())]);
                }
                b'G' => {
                    let mut out = Vec::new();
                    match input {
                        Some(rows) => {
                            push_message(&mut out, b'd', rows.as_bytes());
                            push_message(&mut out, b'c', &[]);
                        }
                        None => {
                            push_message(&mut out, b'f', b"no rows\0");
                            // The one before was read as part of the rows.
                            push_message(&mut out, b'S', &[]);
                        }
                    }
                    self.output.write_all(&out)?;
                }
                b'C' => done = Some(body.text()),
                b'E' => failed = Some(failure(body.0)),
                b'Z' => break,
                _ => {}
            }
        }
        let answer = match failed {
            Some(failure) => Answer {
                columns: None,
                rows: Err(failure),
                done: None,
            },
            None => Answer {
                columns: described.then(Vec::new),
                rows: Ok(rows),
                done: done.filter(|_| !described || columns.is_empty()),
            },
        };
        Ok((columns, answer))
    }

    /// Asks a COPY FROM STDIN and sends its rows.
    ///
    /// # Errors
    /// The side is gone.
    pub fn copy(&mut self, statement: &str, rows: &str) -> io::Result<Answer> {
        let mut out = Vec::new();
        let mut query = Vec::new();
        push_text(&mut query, statement);
        push_message(&mut out, b'Q', &query);
        self.output.write_all(&out)?;
        Ok(self.answer_to(Some(rows))?.1)
    }

    /// Learns the names of types that answers have.
    fn learn(&mut self, answers: &[(Vec<Described>, Answer)]) -> io::Result<()> {
        let mut new: Vec<(u32, i32)> = Vec::new();
        for (_, oid, modifier) in answers.iter().flat_map(|(columns, _)| columns) {
            let key = (*oid, *modifier);
            if !self.names.contains_key(&key) && !new.contains(&key) {
                new.push(key);
            }
        }
        let ask = |(oid, modifier): &(u32, i32)| {
            format!("SELECT pg_catalog.format_type({oid}, {modifier})")
        };
        let asked: Vec<String> = new.iter().map(ask).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let named = self.round(&asked)?;
        for (key, (_, answer)) in new.into_iter().zip(named) {
            let rows = answer.rows.unwrap_or_default();
            let name = rows.into_iter().flatten().flatten().next();
            self.names
                .insert(key, name.unwrap_or_else(|| format!("type {}", key.0)));
        }
        Ok(())
    }
}

impl Side for Wire {
    fn ask(&mut self, statements: &[String]) -> io::Result<Vec<Answer>> {
        let answers = self.round(statements)?;
        self.learn(&answers)?;
        let named = answers.into_iter().map(|(columns, mut answer)| {
            if answer.columns.is_some() {
                let name = |(name, oid, modifier): Described| {
                    let ty = self.names.get(&(oid, modifier)).cloned();
                    (name, ty.unwrap_or_default())
                };
                answer.columns = Some(columns.into_iter().map(name).collect());
            }
            answer
        });
        Ok(named.collect())
    }

    fn reset(&mut self) -> io::Result<()> {
        *self = Self::connect(&self.address.clone())?;
        Ok(())
    }
}

fn length(body: &[u8]) -> [u8; 4] {
    (body.len() as u32 + 4).to_be_bytes()
}

fn push_text(body: &mut Vec<u8>, text: &str) {
    body.extend(text.bytes().filter(|byte| *byte != 0));
    body.push(0);
}

fn push_message(out: &mut Vec<u8>, kind: u8, body: &[u8]) {
    out.push(kind);
    out.extend(length(body));
    out.extend(body);
}

/// The messages that run a statement and describe its columns.
fn push_statement(out: &mut Vec<u8>, statement: &str) {
    let mut parse = vec![0];
    push_text(&mut parse, statement.trim().trim_end_matches(';'));
    parse.extend([0, 0]);
    push_message(out, b'P', &parse);
    // The statement is described, not the portal, whose types have what planning found out.
    push_message(out, b'D', b"S\0");
    // The portal and the statement without names: no parameters, and all columns as text.
    push_message(out, b'B', &[0, 0, 0, 0, 0, 0, 0, 0]);
    push_message(out, b'E', &[0, 0, 0, 0, 0]);
    push_message(out, b'S', &[]);
}

/// Reads a message's body; what is missing is zero or empty.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, count: usize) -> &[u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn number(&mut self) -> i32 {
        self.take(4)
            .iter()
            .fold(0, |number, byte| number << 8 | i32::from(*byte))
    }

    fn short(&mut self) -> i32 {
        self.take(2)
            .iter()
            .fold(0, |number, byte| number << 8 | i32::from(*byte))
    }

    fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0);
        let text = self.take(end.unwrap_or(self.0.len()));
        let text = String::from_utf8_lossy(text).into_owned();
        self.take(1);
        text
    }

    fn described(&mut self) -> Described {
        let name = self.text();
        self.take(6);
        let oid = self.number() as u32;
        self.take(2);
        let modifier = self.number();
        self.take(2);
        (name, oid, modifier)
    }

    fn cell(&mut self) -> Cell {
        let length = usize::try_from(self.number()).ok()?;
        Some(String::from_utf8_lossy(self.take(length)).into_owned())
    }
}

/// The failure that the body of an error tells.
fn failure(body: &[u8]) -> Failure {
    let mut reader = Reader(body);
    let mut failure = Failure {
        sqlstate: String::new(),
        message: String::new(),
    };
    while let [field, ..] = *reader.take(1) {
        let text = reader.text();
        match field {
            b'C' => failure.sqlstate = text,
            b'M' => failure.message = text,
            _ => {}
        }
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_to_their_end_and_no_further() {
        let mut reader = Reader(b"a\0\x00\x00\x00\x02xy\xff\xff\xff\xff\x00\x07");
        assert_eq!(reader.text(), "a");
        assert_eq!(reader.cell(), Some("xy".to_owned()));
        assert_eq!(reader.cell(), None);
        assert_eq!(reader.short(), 7);
        assert_eq!((reader.number(), reader.text()), (0, String::new()));
    }

    #[test]
    fn a_failure_has_its_state_and_message() {
        let failure = failure(b"SERROR\0C22012\0Mdivision by zero\0\0");
        assert_eq!(failure.sqlstate, "22012");
        assert_eq!(failure.message, "division by zero");
    }

    #[test]
    fn each_message_tells_its_length() {
        let mut out = Vec::new();
        push_statement(&mut out, " SELECT 1; ");
        let parse = b"P\0\0\0\x10\0SELECT 1\0\0\0D";
        assert_eq!(out.get(..parse.len()), Some(parse.as_slice()));
        assert!(out.ends_with(b"S\0\0\0\x04"));
    }
}
