//! Settings that a client is told of when it connects, and again when they have changed.

use freestone::Session;
use pgwire::messages::PgWireBackendMessage as Backend;
use pgwire::messages::startup::ParameterStatus;

use crate::failure::Failure;
use crate::messages::Messages;

/// Their names.
const NAMES: [&str; 8] = [
    "application_name",
    "client_encoding",
    "DateStyle",
    "integer_datetimes",
    "IntervalStyle",
    "server_encoding",
    "standard_conforming_strings",
    "TimeZone",
];

/// What a client knows of its session's settings.
#[derive(Default)]
pub(crate) struct Told {
    /// The session's state of settings when the client was told.
    changes: Option<u64>,
    /// In the order of [`NAMES`].
    values: Vec<String>,
}

impl Told {
    /// Tells it what has changed since.
    ///
    /// # Errors
    /// Those of a setting that cannot be read.
    pub(crate) fn update(
        &mut self,
        messages: &mut Messages,
        session: &Session,
    ) -> Result<(), Failure> {
        let changes = Some(session.setting_changes());
        if self.changes == changes {
            return Ok(());
        }
        for (place, name) in NAMES.into_iter().enumerate() {
            let value = session.setting(&name.to_lowercase());
            let value = match value.map_err(Failure::Fatal)? {
                // Clients know zones by their names.
                value if value == "+00:00" => "UTC".to_owned(),
                value => value,
            };
            match self.values.get_mut(place) {
                Some(known) if *known == value => continue,
                Some(known) => known.clone_from(&value),
                None => self.values.push(value.clone()),
            }
            let status = ParameterStatus::new(name.to_owned(), value);
            messages.put(&Backend::ParameterStatus(status))?;
        }
        self.changes = changes;
        Ok(())
    }
}
