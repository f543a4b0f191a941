//! `current_setting` and `set_config`, made for each statement over its session's settings;
//! `pg_size_pretty`.

use std::sync::Arc;

use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef, StringViewArray};
use arrow::datatypes::DataType;
use freestone_frontend::functions::kernel::{Column, repeated};

use super::OfStatement;
use crate::error::{Error, Result};
use crate::settings::{ClientSettings, Modes, Setting, all_settings, change, current, of_all};
use crate::state::SessionState;

/// Their names.
pub(crate) const NAMES: [&str; 2] = ["current_setting", "set_config"];

/// The function of that name over a session's settings; `None` if it is not one of these.
pub(crate) fn function(name: &str, state: &SessionState) -> Option<Arc<dyn OfStatement>> {
    let name = NAMES.into_iter().find(|known| *known == name)?;
    Some(Arc::new(OfSettings {
        name,
        client: state.get::<ClientSettings>()?,
        others: all_settings(state),
        state: state.clone(),
    }))
}

struct OfSettings {
    name: &'static str,
    client: Arc<ClientSettings>,
    others: Vec<(String, String)>,
    state: SessionState,
}

impl OfSettings {
    fn current(&self, name: &str, missing: bool) -> Result<Option<String>> {
        let wanted = name.to_lowercase();
        let other = || {
            let mut others = self.others.iter();
            let found = others.find(|(known, _)| *known == wanted);
            found.map(|(_, value)| value.clone())
        };
        match self.client.get(name).or_else(other) {
            None if !missing => {
                let message = format!("unrecognized configuration parameter \"{name}\"");
                Err(Error::new("42704", message).with_hint("SHOW ALL lists them"))
            }
            found => Ok(found),
        }
    }

    fn set(&self, name: &str, value: Option<&str>, local: bool) -> Result<Option<String>> {
        if self.client.set(name, value, local)? {
            return Ok(self.client.get(name));
        }
        let setting = Setting {
            name: name.to_lowercase(),
            value: value.map(str::to_owned),
            local,
        };
        if of_all(&setting.name) || Modes::SETTINGS.contains(&setting.name.as_str()) {
            let message = format!("set_config cannot set \"{name}\"");
            return Err(Error::unsupported(message).with_hint("use SET"));
        }
        // It is tried here, and set before the session's next statement.
        let mut state = self.state.clone();
        change(&mut state, &setting)?;
        let value = current(&state, &setting.name)?;
        self.client.set_later(setting);
        Ok(Some(value))
    }
}

impl OfStatement for OfSettings {
    fn is_volatile(&self) -> bool {
        true
    }

    fn parameters(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        Ok(match (self.name, given.len()) {
            ("current_setting", 1) => vec![DataType::Utf8View],
            ("current_setting", 2) => vec![DataType::Utf8View, DataType::Boolean],
            ("set_config", 3) => vec![DataType::Utf8View, DataType::Utf8View, DataType::Boolean],
            _ => {
                let usage = match self.name {
                    "set_config" => "set_config('name', 'value', is_local)",
                    _ => "current_setting('name' [, missing_ok])",
                };
                let message = format!("function {} has other arguments", self.name);
                let hint = format!("it is called {usage}");
                return Err(Error::new("42883", message).with_hint(hint));
            }
        })
    }

    fn returns(&self) -> DataType {
        DataType::Utf8View
    }

    fn call(&self, arguments: &[Column], rows: usize) -> Result<ArrayRef> {
        let arrays = arguments.iter();
        let arrays = arrays.map(|column| repeated(Arc::clone(&column.array), rows));
        let arrays: Vec<ArrayRef> = arrays.collect();
        let text = |place: usize, row: usize| -> Option<&str> {
            let array = arrays.get(place)?.as_string_view_opt()?;
            array.is_valid(row).then(|| array.value(row))
        };
        let truth = |place: usize, row: usize| {
            let array = arrays.get(place).and_then(|array| array.as_boolean_opt());
            array.is_some_and(|array| array.is_valid(row) && array.value(row))
        };
        let values = (0..rows).map(|row| match (self.name, text(0, row)) {
            ("set_config", None) => {
                let message = "SET requires parameter name";
                Err(Error::new("22004", message))
            }
            (_, None) => Ok(None),
            ("set_config", Some(name)) => self.set(name, text(1, row), truth(2, row)),
            (_, Some(name)) => self.current(name, truth(1, row)),
        });
        let values = values.collect::<Result<Vec<Option<String>>>>()?;
        Ok(Arc::new(StringViewArray::from_iter(values)))
    }
}
