//! What clients send, read from bytes that may be anything.

use std::collections::BTreeMap;

use bytes::Bytes;

/// A request to have the connection encrypted by TLS, or by GSSAPI; to cancel another's
/// statement: numbers in the place of a version.
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
const CANCEL: u32 = 80_877_102;

/// The first messages of a connection, which have no kind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Tls,
    Gss,
    Cancel {
        number: i32,
        secret: Vec<u8>,
    },
    Start {
        version: (u16, u16),
        parameters: BTreeMap<String, String>,
    },
}

/// A statement or a portal, by its name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Statement(String),
    Portal(String),
}

/// The messages that follow.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Query(String),
    Parse {
        name: String,
        sql: String,
        types: Vec<u32>,
    },
    Bind {
        portal: String,
        statement: String,
        formats: Vec<i16>,
        values: Vec<Option<Bytes>>,
        result_formats: Vec<i16>,
    },
    Describe(Named),
    Execute {
        portal: String,
        /// Rows, 0 for all.
        most: u32,
    },
    Close(Named),
    Flush,
    Sync,
    Terminate,
    CopyData(Bytes),
    CopyDone,
    CopyFail(String),
    /// What a client answers when it is asked who it is.
    Proof(Bytes),
}

impl Request {
    /// Whether it is a part of a statement that `statement_timeout` is about.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(
            self,
            Self::Query(_)
                | Self::Parse { .. }
                | Self::Bind { .. }
                | Self::Describe(_)
                | Self::Execute { .. }
        )
    }

    /// Whether it is one of the extended protocol, after an error of which all is left
    /// out up to the next Sync.
    pub(crate) fn is_extended(&self) -> bool {
        matches!(
            self,
            Self::Parse { .. }
                | Self::Bind { .. }
                | Self::Describe(_)
                | Self::Execute { .. }
                | Self::Close(_)
                | Self::Flush
                | Self::Sync
        )
    }

    /// The message of a kind; `None` if the bytes are none.
    pub(crate) fn read(kind: u8, body: Bytes) -> Option<Request> {
        let mut rest = Rest(body);
        let request = match kind {
            b'Q' => Self::Query(rest.text()?),
            b'P' => Self::Parse {
                name: rest.text()?,
                sql: rest.text()?,
                types: rest.list(|rest| rest.four())?,
            },
            b'B' => Self::Bind {
                portal: rest.text()?,
                statement: rest.text()?,
                formats: rest.list(|rest| rest.two().map(|code| code as i16))?,
                values: rest.list(Rest::value)?,
                result_formats: rest.list(|rest| rest.two().map(|code| code as i16))?,
            },
            b'D' => Self::Describe(rest.named()?),
            b'E' => Self::Execute {
                portal: rest.text()?,
                most: rest.four()?,
            },
            b'C' => Self::Close(rest.named()?),
            b'H' => Self::Flush,
            b'S' => Self::Sync,
            b'X' => Self::Terminate,
            b'd' => Self::CopyData(std::mem::take(&mut rest.0)),
            b'c' => Self::CopyDone,
            b'f' => Self::CopyFail(rest.text()?),
            b'p' => Self::Proof(std::mem::take(&mut rest.0)),
            _ => return None,
        };
        rest.0.is_empty().then_some(request)
    }
}

impl Opening {
    /// The first message; `None` if the bytes are none.
    pub(crate) fn read(body: Bytes) -> Option<Opening> {
        let mut rest = Rest(body);
        let opening = match rest.four()? {
            TLS => Self::Tls,
            GSS => Self::Gss,
            CANCEL => Self::Cancel {
                number: rest.four()? as i32,
                secret: std::mem::take(&mut rest.0).to_vec(),
            },
            version => {
                let mut parameters = BTreeMap::new();
                loop {
                    let name = rest.text()?;
                    if name.is_empty() {
                        break;
                    }
                    parameters.insert(name, rest.text()?);
                }
                Self::Start {
                    version: ((version >> 16) as u16, version as u16),
                    parameters,
                }
            }
        };
        rest.0.is_empty().then_some(opening)
    }
}

/// An answer that begins a proof: the way, and what that way begins with.
pub(crate) fn first_proof(body: Bytes) -> Option<(String, Option<Bytes>)> {
    let mut rest = Rest(body);
    let way = rest.text()?;
    let data = rest.value()?;
    rest.0.is_empty().then_some((way, data))
}

/// What is left of a message.
struct Rest(Bytes);

impl Rest {
    fn take(&mut self, count: usize) -> Option<Bytes> {
        (count <= self.0.len()).then(|| self.0.split_to(count))
    }

    fn two(&mut self) -> Option<u16> {
        let bytes = self.take(2)?;
        Some(u16::from_be_bytes(bytes.as_ref().try_into().ok()?))
    }

    fn four(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        Some(u32::from_be_bytes(bytes.as_ref().try_into().ok()?))
    }

    /// A text up to its zero byte.
    fn text(&mut self) -> Option<String> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = String::from_utf8(self.take(end)?.to_vec()).ok()?;
        self.take(1)?;
        Some(text)
    }

    /// Bytes with their number before them, -1 for NULL.
    fn value(&mut self) -> Option<Option<Bytes>> {
        match self.four()? {
            u32::MAX => Some(None),
            count => Some(Some(self.take(usize::try_from(count).ok()?)?)),
        }
    }

    /// Their number, then so many.
    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.two()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(one(self)?);
        }
        Some(all)
    }

    fn named(&mut self) -> Option<Named> {
        let kind = self.take(1)?;
        let name = self.text()?;
        match kind.as_ref() {
            b"S" => Some(Named::Statement(name)),
            b"P" => Some(Named::Portal(name)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: u8, body: &'static [u8]) -> Option<Request> {
        Request::read(kind, Bytes::from_static(body))
    }

    #[test]
    fn messages_are_read_as_they_are_written() {
        assert_eq!(
            read(b'Q', b"SELECT 1\0"),
            Some(Request::Query("SELECT 1".into()))
        );
        let bind = read(
            b'B',
            b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\0",
        );
        let wanted = Request::Bind {
            portal: "p".into(),
            statement: "s".into(),
            formats: vec![1],
            values: vec![Some(Bytes::from_static(b"ab")), None],
            result_formats: Vec::new(),
        };
        assert_eq!(bind, Some(wanted));
        let start = Opening::read(Bytes::from_static(b"\0\x03\0\0user\0ann\0\0"));
        let Some(Opening::Start {
            version,
            parameters,
        }) = start
        else {
            panic!("{start:?}");
        };
        assert_eq!((version, parameters["user"].as_str()), ((3, 0), "ann"));
    }

    /// Cut anywhere, or with a byte too many, it is no message.
    #[test]
    fn what_is_cut_is_no_message() {
        let all: [(u8, &[u8]); 6] = [
            (b'Q', b"SELECT 1\0"),
            (b'P', b"s\0SELECT $1\0\0\x01\0\0\0\x17"),
            (
                b'B',
                b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x01\0\0",
            ),
            (b'D', b"Sname\0"),
            (b'E', b"p\0\0\0\0\x05"),
            (b'f', b"why\0"),
        ];
        for (kind, body) in all {
            assert!(Request::read(kind, Bytes::copy_from_slice(body)).is_some());
            for end in 0..body.len() {
                let cut = Bytes::copy_from_slice(&body[..end]);
                assert_eq!(Request::read(kind, cut), None, "{kind} {end}");
            }
            let more = [body, b"x"].concat();
            assert_eq!(Request::read(kind, more.into()), None, "{kind}");
        }
        assert_eq!(read(b'?', b""), None);
        let many = [b"\0\0".as_slice(), &[0xff, 0xff], &[0; 100]].concat();
        assert_eq!(Request::read(b'B', many.into()), None);
    }
}
