//! Messages of the wire protocol, decoded by the server's own files.

use bytes::Bytes;

#[path = "../../crates/server/src/numeric.rs"]
#[allow(dead_code)]
mod numeric;
#[path = "../../crates/server/src/request.rs"]
#[allow(dead_code)]
mod request;

use request::{Named, Opening, Request};

/// The first byte is the kind of a message, 0 of one that opens a connection, 1 of a proof
/// and 2 of a decimal; the rest is its body. What is accepted is the only way to write what
/// was understood.
pub fn messages(bytes: &[u8]) -> bool {
    let Some((kind, body)) = bytes.split_first() else {
        return false;
    };
    let shared = || Bytes::copy_from_slice(body);
    match kind {
        0 => Opening::read(shared()).is_some_and(|opening| same_opening(&opening, body)),
        1 => request::first_proof(shared()).is_some_and(|(way, data)| {
            let mut written = Written::default();
            written.text(&way);
            written.value(data.as_deref());
            assert_eq!(written.0, body);
            true
        }),
        2 => numeric::read(body).is_some_and(|text| {
            let digits = text.trim_start_matches('-');
            assert!(
                digits
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.')
            );
            true
        }),
        kind => Request::read(*kind, shared()).is_some_and(|request| same(&request, body)),
    }
}

/// Bytes of a message as a client would write them.
#[derive(Default)]
struct Written(Vec<u8>);

impl Written {
    fn two(&mut self, number: u16) {
        self.0.extend(number.to_be_bytes());
    }

    fn four(&mut self, number: u32) {
        self.0.extend(number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.0.extend(text.bytes());
        self.0.push(0);
    }

    fn value(&mut self, value: Option<&[u8]>) {
        self.four(value.map_or(u32::MAX, |value| value.len() as u32));
        self.0.extend(value.unwrap_or_default());
    }

    fn named(&mut self, named: &Named) {
        let (kind, name) = match named {
            Named::Statement(name) => (b'S', name),
            Named::Portal(name) => (b'P', name),
        };
        self.0.push(kind);
        self.text(name);
    }

    fn codes(&mut self, codes: &[i16]) {
        self.two(codes.len() as u16);
        codes.iter().for_each(|code| self.two(*code as u16));
    }
}

fn same(request: &Request, body: &[u8]) -> bool {
    let mut written = Written::default();
    match request {
        Request::Query(text) | Request::CopyFail(text) => written.text(text),
        Request::Parse { name, sql, types } => {
            written.text(name);
            written.text(sql);
            written.two(types.len() as u16);
            types.iter().for_each(|kind| written.four(*kind));
        }
        Request::Bind {
            portal,
            statement,
            formats,
            values,
            result_formats,
        } => {
            written.text(portal);
            written.text(statement);
            written.codes(formats);
            written.two(values.len() as u16);
            values
                .iter()
                .for_each(|value| written.value(value.as_deref()));
            written.codes(result_formats);
        }
        Request::Describe(named) | Request::Close(named) => written.named(named),
        Request::Execute { portal, most } => {
            written.text(portal);
            written.four(*most);
        }
        Request::CopyData(bytes) | Request::Proof(bytes) => written.0.extend(bytes),
        Request::Flush | Request::Sync | Request::Terminate | Request::CopyDone => {}
    }
    assert_eq!(written.0, body);
    let _ = request.is_extended();
    true
}

/// Parameters may come in any order, and twice: only their bytes are counted.
fn same_opening(opening: &Opening, body: &[u8]) -> bool {
    if let Opening::Start { parameters, .. } = opening {
        let pairs = parameters.iter();
        let bytes: usize = pairs
            .map(|(name, value)| name.len() + value.len() + 2)
            .sum();
        assert!(4 + bytes < body.len());
    }
    true
}
