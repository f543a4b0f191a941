//! Numbers of objects whose names a client was told.
//!
//! A result's column of a type such as REGCLASS holds names, as all clients show them. A client
//! that asks for it in binary takes the object's number instead: `pg_class` is 1259.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use freestone_frontend::functions::objects::Objects;
use freestone_frontend::types::arrays::Arrays;
use freestone_frontend::types::{Reg, Type, formatted};

use super::Session;
use crate::catalogs::Numbers;
use crate::error::{Error, Result};
use crate::relations::Relations;

/// The names and numbers of the objects of a database at one moment.
#[derive(Debug)]
pub struct ObjectNumbers(Box<Numbers>);

impl Session {
    /// The objects that names mean in the session.
    ///
    /// # Errors
    /// `25P02` in a transaction that has failed.
    pub fn object_numbers(&self) -> Result<ObjectNumbers> {
        let snapshot = self.glance()?;
        let state = self.statement_state();
        let relations = Relations::new(&state, snapshot);
        Ok(ObjectNumbers(Box::new(Numbers::of(&relations))))
    }
}

impl ObjectNumbers {
    /// The numbers, as BIGINT, of a column of names or of arrays of them; 0 for an object that is gone. `said` is the
    /// type that the column's field says, such as `regclass`.
    ///
    /// # Errors
    /// `XX000` if the column does not hold texts.
    pub fn of(&self, said: &str, names: &ArrayRef) -> Result<ArrayRef> {
        let other = || Error::internal(format!("{said} in {}", names.data_type()));
        if let Some(element) = said.strip_suffix("[]") {
            let arrays = Arrays::read(names).ok_or_else(other)?;
            let numbers = self.of(element, arrays.values())?;
            return Ok(arrays.with_values(numbers, names.nulls().cloned())?);
        }
        let (Some(Type::Reg(kind)), Some(names)) = (formatted(said), names.as_string_view_opt())
        else {
            return Err(other());
        };
        let numbers = names.iter().map(|name| Some(self.number(kind, name?)));
        Ok(Arc::new(numbers.collect::<Int64Array>()))
    }

    fn number(&self, kind: Reg, name: &str) -> i64 {
        // A number is shown of what has no name.
        let known = self.0.number(kind, name);
        known.or_else(|_| name.parse()).unwrap_or_default()
    }
}
