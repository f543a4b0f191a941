//! The session as the front's functions see it.

use freestone_frontend::functions::Session;

use crate::names::{CATALOG, PG_CATALOG, PG_TEMP, shown_schema};
use crate::relations::Relations;
use crate::rights::Identity;
use crate::settings::{Begun, ClientSettings, current, listed};

/// Settings and the time of a statement.
pub(crate) fn session_of(relations: &Relations<'_>) -> Session {
    let state = relations.state;
    let own = Session::default();
    let time = state.began().unwrap_or(own.statement_time);
    let transaction = state.get::<Begun>();
    let client = state.get::<ClientSettings>();
    let setting = |name: &str| {
        let client = client.as_ref().and_then(|client| client.get(name));
        client.or_else(|| current(state, name).ok())
    };
    let zone = setting("timezone").filter(|zone| !zone.is_empty());
    let identity = state.get::<Identity>();
    let catalog = relations.snapshot.catalog();
    let user = identity.as_ref().map(|own| own.current().name(catalog));
    let session_user = identity.as_ref().map(|own| own.session().name(catalog));
    Session {
        transaction_time: transaction.map_or(time, |begun| begun.0),
        statement_time: time,
        time_zone: zone.unwrap_or(own.time_zone),
        bytea_escape: setting("bytea_output").is_some_and(|value| value == "escape"),
        interval_style: setting("intervalstyle").unwrap_or(own.interval_style),
        date_style: setting("datestyle").unwrap_or(own.date_style),
        extra_float_digits: setting("extra_float_digits")
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(own.extra_float_digits),
        session_user: session_user.unwrap_or(own.session_user),
        user: user.clone().unwrap_or(own.user),
        database: CATALOG.to_owned(),
        search_path: match setting("search_path").map(|path| listed(&path)) {
            Some(path) if relations.path().is_some() || path.iter().any(|name| name == PG_TEMP) => {
                let path = path.into_iter().map(|schema| match schema.as_str() {
                    "$user" => user.clone().unwrap_or_default(),
                    PG_TEMP => relations.own_schema().unwrap_or_default(),
                    _ => schema,
                });
                let known = |schema: &String| {
                    schema == PG_CATALOG || catalog.schemas().any(|known| known == schema)
                };
                let path = path.filter(known);
                path.map(|schema| shown_schema(&schema).to_owned())
                    .collect()
            }
            _ => own.search_path,
        },
    }
}
