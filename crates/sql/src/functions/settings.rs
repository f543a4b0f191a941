//! `current_setting` and `set_config`, made for each statement over its session's settings;
//! `pg_size_pretty`.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayRef, StringViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result as DfResult;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::error::{Error, Result};
use crate::settings::{ClientSettings, Modes, Setting, all_settings, change, current, of_all};

/// Their names.
pub(crate) const NAMES: [&str; 2] = ["current_setting", "set_config"];

/// The function of that name over a session's settings; `None` if it is not one of these.
pub(crate) fn function(name: &str, state: &SessionState) -> Option<Arc<ScalarUDF>> {
    let name = NAMES.into_iter().find(|known| *known == name)?;
    Some(Arc::new(ScalarUDF::from(OfSettings {
        name,
        client: state.config().get_extension::<ClientSettings>()?,
        others: all_settings(state),
        state: state.clone(),
        signature: Signature::user_defined(Volatility::Volatile),
    })))
}

struct OfSettings {
    name: &'static str,
    client: Arc<ClientSettings>,
    others: Vec<(String, String)>,
    state: SessionState,
    signature: Signature,
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

impl ScalarUDFImpl for OfSettings {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> DfResult<Vec<DataType>> {
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
                return Err(Error::new("42883", message).with_hint(hint).into());
            }
        })
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let text = |place: usize, row: usize| -> Option<&str> {
            let array = arrays.get(place)?.as_string_view_opt()?;
            array.is_valid(row).then(|| array.value(row))
        };
        let truth = |place: usize, row: usize| {
            let array = arrays.get(place).and_then(|array| array.as_boolean_opt());
            array.is_some_and(|array| array.is_valid(row) && array.value(row))
        };
        let rows = arrays.first().map_or(args.number_rows, |array| array.len());
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
        let values: ArrayRef = Arc::new(StringViewArray::from_iter(values));
        Ok(ColumnarValue::Array(values))
    }
}

impl fmt::Debug for OfSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for OfSettings {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.client, &other.client)
    }
}

impl Eq for OfSettings {}

impl Hash for OfSettings {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
