//! Who calls.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use freestone::{Error, Login, Result};
use parking_lot::Mutex;
use tonic::metadata::MetadataMap;

use super::handle;
use crate::door::{Proof, RolePlace};
use crate::places::Place;
use crate::startup::Door;
use crate::watch::Watched;

/// How long a client is known after its last call.
pub(super) const KNOWN: Duration = Duration::from_secs(3600);
/// Tokens at a time; then the one that was used the longest ago ends.
const MOST: usize = 10_000;
/// Those of one name, likewise.
const MOST_OF_ONE: usize = 100;
/// Who calls without saying so.
const NOBODY: &str = "freestone";

/// Some clients leave out what fills the last four characters.
const UNPADDED: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A connection, as the calls that come by it know it.
#[derive(Clone, Debug)]
pub(super) struct Link(Arc<Ends>);

#[derive(Debug)]
struct Ends {
    from: SocketAddr,
    /// Who has made the last call.
    client: Mutex<Option<Arc<Client>>>,
    /// Its place among the server's clients, once one has.
    place: Mutex<Option<Place>>,
}

impl Link {
    pub(super) fn new(from: SocketAddr) -> Self {
        Self(Arc::new(Ends {
            from,
            client: Mutex::new(None),
            place: Mutex::new(None),
        }))
    }

    /// Whether somebody has proved who it is.
    pub(super) fn is_known(&self) -> bool {
        self.0.client.lock().is_some()
    }

    /// Has a place among the server's clients from now on.
    ///
    /// # Errors
    /// `53300` if there is none.
    fn enter(&self, door: &Door, superuser: bool) -> Result<()> {
        let mut place = self.0.place.lock();
        if place.is_none() {
            *place = Some(door.places.take(superuser)?);
        }
        Ok(())
    }
}

/// Somebody who has said, and proved if need be, who it is.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: String,
    /// Which role of the catalog it is; one that is no more may do nothing, even if there is
    /// another of the name.
    role: Option<u64>,
    /// What its password was checked against: another password, and it has to sign in again.
    proof: Proof,
    pub(super) watched: Watched,
}

/// Clients by their tokens, and when they called last.
#[derive(Debug, Default)]
pub(super) struct Clients(Mutex<HashMap<String, (Arc<Client>, Instant)>>);

impl Client {
    /// The client as the catalog knows it now, and its place.
    ///
    /// # Errors
    /// `28000` for a role that may not connect or is no more, `53300` for one that is here
    /// too often.
    pub(super) fn admitted(&self, door: &Door) -> Result<(Login, Option<RolePlace>)> {
        let caller = door.keys.caller(&self.name);
        if self.role != caller.role() {
            let message = format!("role \"{}\" does not exist", self.name);
            return Err(Error::new("28000", message).with_hint("sign in again"));
        }
        door.keys.admit(caller)
    }
}

impl Clients {
    /// Who makes a call with these headers.
    ///
    /// # Errors
    /// `28000` and `28P01`: who has a password must give it, and a token must be one of ours;
    /// `53300` if there is no place for the connection.
    pub(super) fn of(
        &self,
        door: &Door,
        headers: &MetadataMap,
        link: &Link,
    ) -> Result<Arc<Client>> {
        let client = self.proved(door, headers, link);
        match &client {
            Ok(client) => *link.0.client.lock() = Some(Arc::clone(client)),
            Err(error) => door.watch.refused(link.0.from, error),
        }
        client
    }

    fn proved(&self, door: &Door, headers: &MetadataMap, link: &Link) -> Result<Arc<Client>> {
        let given = headers.get("authorization").map(|given| given.to_str());
        let given = given.transpose().map_err(|_| unreadable())?;
        match given.map(|given| given.split_once(' ')) {
            Some(Some((kind, token))) if kind.eq_ignore_ascii_case("bearer") => {
                let unknown = || {
                    let message = "the token is unknown, was not used for an hour, or is of a former password";
                    Error::new("28000", message).with_hint("sign in again")
                };
                let client = self.find(token.trim()).ok_or_else(unknown)?;
                let caller = door.keys.caller(&client.name);
                if caller.proof() != client.proof {
                    return Err(unknown());
                }
                link.enter(door, caller.superuser)?;
                Ok(client)
            }
            Some(Some((kind, pair))) if kind.eq_ignore_ascii_case("basic") => {
                let (name, password) = decoded(pair).ok_or_else(unreadable)?;
                entered(door, link, &name, &password)
            }
            Some(_) => Err(unreadable()),
            None => entered(door, link, NOBODY, ""),
        }
    }

    /// A token for somebody who has proved who it is.
    pub(super) fn token(&self, client: Arc<Client>) -> String {
        let token = handle();
        let mut known = self.0.lock();
        let own = |other: &Client| other.name == client.name;
        let count = known.values().filter(|(other, _)| own(other)).count();
        if count >= MOST_OF_ONE || known.len() >= MOST {
            let all = known.iter();
            let those = all.filter(|(_, (other, _))| count < MOST_OF_ONE || own(other));
            let oldest = those.min_by_key(|(_, (_, last))| *last);
            if let Some(oldest) = oldest.map(|(token, _)| token.clone()) {
                known.remove(&oldest);
            }
        }
        known.insert(token.clone(), (client, Instant::now()));
        token
    }

    /// Forgets those who have not called for long.
    pub(super) fn sweep(&self) {
        let mut known = self.0.lock();
        known.retain(|_, (_, last)| last.elapsed() < KNOWN);
    }

    fn find(&self, token: &str) -> Option<Arc<Client>> {
        let mut known = self.0.lock();
        let (client, last) = known.get_mut(token)?;
        if last.elapsed() >= KNOWN {
            return None;
        }
        *last = Instant::now();
        Some(Arc::clone(client))
    }
}

/// Somebody with its password, if one is asked for; the same as before if it has called
/// by this connection.
fn entered(door: &Door, link: &Link, name: &str, password: &str) -> Result<Arc<Client>> {
    let caller = door.keys.caller(name);
    if caller.asked && !door.keys.secret(&caller).accepts(password) {
        let message = format!("password authentication failed for user \"{name}\"");
        return Err(Error::new("28P01", message));
    }
    let proof = caller.proof();
    let before = link.0.client.lock().clone();
    let same = |client: &Arc<Client>| {
        client.name == name && client.role == caller.role() && client.proof == proof
    };
    if let Some(before) = before.filter(same) {
        return Ok(before);
    }
    // Refused before it is counted: somebody unknown who would have to be a role by now, too.
    let (superuser, role) = (caller.superuser, caller.role());
    door.keys.admit(caller)?;
    link.enter(door, superuser)?;
    Ok(Arc::new(Client {
        name: name.to_owned(),
        role,
        proof,
        watched: door.watch.admitted(name.to_owned(), link.0.from),
    }))
}

fn decoded(pair: &str) -> Option<(String, String)> {
    let bytes = UNPADDED.decode(pair.trim()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

fn unreadable() -> Error {
    Error::new("28000", "the authorization header cannot be read")
        .with_hint("send Basic with name and password, or Bearer with a token")
}
