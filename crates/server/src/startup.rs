//! How a connection begins: encryption, who it is, what it wants to know first.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use freestone::{Error, Login, Result, Session};
use pgwire::api::DefaultClient;
use pgwire::api::auth::mechanism::{AuthMechanism, AuthMechanismFactory, AuthState};
use pgwire::api::auth::sasl::SaslMechanisms;
use pgwire::api::auth::sasl::scram::ScramAuth;
use pgwire::messages::PgWireBackendMessage as Backend;
use pgwire::messages::startup::{
    Authentication, BackendKeyData, NegotiateProtocolVersion, ParameterStatus,
    PasswordMessageFamily as Answer, SASLInitialResponse, SASLResponse, SecretKey,
};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::cancel::{Cancellable, Cancels};
use crate::door::{Keys, RolePlace};
use crate::failure::{Failure, violation};
use crate::messages::{Messages, Stream};
use crate::options::TimeLimits;
use crate::places::{Place, Places, Strangers};
use crate::request::{Opening, Request, first_proof};
use crate::told::Told;
use crate::watch::{Watch, Watched};

/// The PostgreSQL whose clients are served: they look at it to see what they may ask.
pub(crate) const VERSION: &str = "15.0";

/// What a client says when it starts.
struct Start {
    version: (u16, u16),
    parameters: BTreeMap<String, String>,
    encrypted: bool,
}

/// What connections begin with.
pub(crate) struct Door {
    pub(crate) keys: Keys,
    /// Folders whose files statements may name.
    pub(crate) folders: Arc<[PathBuf]>,
    pub(crate) tls: Option<TlsAcceptor>,
    /// Whether nobody comes in without it.
    pub(crate) require_tls: bool,
    /// The certificate in PEM, if proofs can be bound to it.
    pub(crate) certificate: Option<Vec<u8>>,
    pub(crate) places: Places,
    pub(crate) strangers: Arc<Strangers>,
    /// What sessions may take.
    pub(crate) limits: TimeLimits,
    /// How long a client may take nothing of what it is sent.
    pub(crate) send: Duration,
    pub(crate) cancels: Arc<Cancels>,
    pub(crate) watch: Watch,
}

/// A client that has come in.
pub(crate) struct Guest {
    pub(crate) messages: Messages,
    pub(crate) session: Session,
    pub(crate) told: Told,
    pub(crate) cancellable: Cancellable,
    pub(crate) watched: Watched,
    pub(crate) of_role: Option<RolePlace>,
    pub(crate) place: Place,
}

/// Somebody who has proved who it is.
struct Admitted {
    session: Session,
    of_role: Option<RolePlace>,
    place: Place,
}

impl Door {
    /// A session of somebody who has come in, with the server's limits.
    ///
    /// # Errors
    /// Those of [`freestone::Database::session_of`].
    pub(crate) fn session(&self, login: &Login) -> Result<Session> {
        let session = self.keys.database.session_of(login, &self.folders)?;
        session.read_committed();
        self.limits.apply(&session)?;
        Ok(session)
    }

    /// Lets a client in; `None` if it wanted something else, or left.
    ///
    /// # Errors
    /// Why it must not come in.
    pub(crate) async fn admit(
        &self,
        stream: Box<dyn Stream>,
        from: SocketAddr,
    ) -> Result<Option<Guest>, (Failure, Option<Messages>)> {
        let Some((mut messages, start)) = self
            .greet(stream)
            .await
            .map_err(|failure| (failure, None))?
        else {
            return Ok(None);
        };
        match self.authenticated(&mut messages, &start, from).await {
            Ok(admitted) => {
                let session = admitted.session;
                let cancellable = self.cancels.enter();
                let welcome = welcome(&mut messages, &session, &cancellable);
                match welcome.await {
                    Ok(told) => {
                        let user = start.parameters.get("user").cloned().unwrap_or_default();
                        Ok(Some(Guest {
                            messages,
                            session,
                            told,
                            cancellable,
                            watched: self.watch.admitted(user, from),
                            of_role: admitted.of_role,
                            place: admitted.place,
                        }))
                    }
                    Err(failure) => Err((failure, Some(messages))),
                }
            }
            Err(failure) => Err((failure, Some(messages))),
        }
    }

    /// Settles encryption; then the first message, if it is one to start.
    async fn greet(&self, stream: Box<dyn Stream>) -> Result<Option<(Messages, Start)>, Failure> {
        let mut messages = Messages::new(stream, self.send);
        let mut encrypted = false;
        while let Some(opening) = messages.opening().await? {
            match (opening, &self.tls) {
                (Opening::Tls, Some(acceptor)) if !encrypted => {
                    let mut stream = messages.into_stream()?;
                    stream.write_all(b"S").await?;
                    stream.flush().await?;
                    let stream = acceptor.accept(stream).await?;
                    messages = Messages::new(Box::new(stream), self.send);
                    encrypted = true;
                }
                (Opening::Tls | Opening::Gss, _) => messages.output.extend_from_slice(b"N"),
                (Opening::Cancel { number, secret }, _) => {
                    self.cancels.cancel(number, &secret);
                    return Ok(None);
                }
                (
                    Opening::Start {
                        version,
                        parameters,
                    },
                    _,
                ) => {
                    let start = Start {
                        version,
                        parameters,
                        encrypted,
                    };
                    return Ok(Some((messages, start)));
                }
            }
        }
        Ok(None)
    }

    /// Finds out whether a client is who it says.
    async fn authenticated(
        &self,
        messages: &mut Messages,
        start: &Start,
        from: SocketAddr,
    ) -> Result<Admitted, Failure> {
        agree(messages, start)?;
        if self.require_tls && !start.encrypted {
            let error = Error::new("28000", "the connection is not encrypted");
            return Err(Failure::Fatal(
                error.with_hint("connect with sslmode=require"),
            ));
        }
        let parameter = |name: &str| start.parameters.get(name).map(String::as_str);
        let user = parameter("user").unwrap_or_default();
        if user.is_empty() {
            return Err(Failure::Fatal(Error::new(
                "28000",
                "no user name was given",
            )));
        }
        let caller = self.keys.caller(user);
        if caller.asked {
            let mut client: DefaultClient<()> = DefaultClient::new(from, false);
            for (name, value) in &start.parameters {
                client.metadata.insert(name.clone(), value.clone());
            }
            let mut scram = ScramAuth::new(Arc::new(self.keys.secret(&caller)));
            if let Some(certificate) = self.certificate.as_ref().filter(|_| start.encrypted) {
                scram.configure_certificate(certificate)?;
            }
            let mechanism = SaslMechanisms::new(vec![Arc::new(scram)]).create();
            prove(messages, mechanism, &client).await?;
        }
        let superuser = caller.superuser;
        let (login, of_role) = self.keys.admit(caller).map_err(Failure::Fatal)?;
        let place = self.places.take(superuser).map_err(Failure::Fatal)?;
        messages.trust();
        messages.put(&Backend::Authentication(Authentication::Ok))?;
        let session = self.session(&login).map_err(Failure::Fatal)?;
        for (name, value) in &start.parameters {
            let own = ["user", "database", "replication", "options"].contains(&name.as_str());
            if !own && !name.starts_with("_pq_.") {
                session.set(name, value).map_err(Failure::Fatal)?;
            }
        }
        for (name, value) in options(parameter("options").unwrap_or_default()) {
            session.set(name, value).map_err(Failure::Fatal)?;
        }
        Ok(Admitted {
            session,
            of_role,
            place,
        })
    }
}

/// Has a client prove that it knows its password.
async fn prove(
    messages: &mut Messages,
    mut mechanism: Box<dyn AuthMechanism>,
    client: &DefaultClient<()>,
) -> Result<(), Failure> {
    let mut state = mechanism.begin(client).await?;
    let mut first = true;
    loop {
        match state {
            AuthState::InProgress(asked) => messages.put(&Backend::Authentication(asked))?,
            AuthState::Failed(error) => return Err(error.into()),
            AuthState::Ok { final_message, .. } => {
                if let Some(last) = final_message {
                    messages.put(&Backend::Authentication(last))?;
                }
                return Ok(());
            }
        }
        let proof = match messages.next().await? {
            Some(Request::Proof(proof)) => proof,
            Some(_) => return Err(violation("expected a password")),
            None => return Err(Failure::Gone),
        };
        let answer = match std::mem::take(&mut first) {
            true => {
                let begun = first_proof(proof);
                let (way, data) = begun.ok_or_else(|| violation("expected a way to prove it"))?;
                Answer::SASLInitialResponse(SASLInitialResponse::new(way, data))
            }
            false => Answer::SASLResponse(SASLResponse::new(proof)),
        };
        state = mechanism.next(client, answer).await?;
    }
}

/// Settles the version of the protocol: 3.0, whatever newer one is asked for.
fn agree(messages: &mut Messages, start: &Start) -> Result<(), Failure> {
    let (major, minor) = start.version;
    if major != 3 {
        let message = format!("protocol {major}.{minor} is not spoken here: version 3 is");
        return Err(Failure::Fatal(Error::new("0A000", message)));
    }
    let unknown = start.parameters.keys();
    let unknown: Vec<String> = unknown
        .filter(|name| name.starts_with("_pq_."))
        .cloned()
        .collect();
    if minor > 0 || !unknown.is_empty() {
        let newest = NegotiateProtocolVersion::new(0, unknown);
        messages.put(&Backend::NegotiateProtocolVersion(newest))?;
    }
    Ok(())
}

/// Settings of the form `-c name=value`, as the environment gives them.
fn options(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_whitespace().filter_map(|word| {
        let word = word.strip_prefix("-c").unwrap_or(word);
        word.strip_prefix("--").unwrap_or(word).split_once('=')
    })
}

/// Tells a client what it should know before its first statement.
async fn welcome(
    messages: &mut Messages,
    session: &Session,
    cancellable: &Cancellable,
) -> Result<Told, Failure> {
    let version = ParameterStatus::new("server_version".to_owned(), VERSION.to_owned());
    messages.put(&Backend::ParameterStatus(version))?;
    let mut told = Told::default();
    told.update(messages, session)?;
    let secret = SecretKey::I32(
        cancellable
            .secret
            .iter()
            .fold(0, |all, byte| all << 8 | i32::from(*byte)),
    );
    let key = BackendKeyData::new(cancellable.number, secret);
    messages.put(&Backend::BackendKeyData(key))?;
    Ok(told)
}
