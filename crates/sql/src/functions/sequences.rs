//! `nextval`, `currval`, `lastval` and `setval`: made for each statement, over the
//! catalog that it sees.

use std::sync::Arc;

use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef, Int64Array, Int64Builder, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use freestone_frontend::functions::kernel::{Column as Argument, repeated};
use freestone_storage::{Catalog, Column, Object, Privileges, Sequence};

use super::OfStatement;
use crate::error::{Error, Result};
use crate::names::{Name, PG_TEMP, named};
use crate::relations::unknown_sequence;
use crate::rights::{Rights, denied};
use crate::sequences::TakenNumbers;

/// Their names.
const NAMES: [&str; 4] = ["nextval", "currval", "lastval", "setval"];

/// The name, if it is one of theirs.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|known| *known == name)
}

/// The function of that name over a catalog; `None` if it is not one of these. `own` is the
/// schema of the session's temporary sequences.
pub(crate) fn function(
    name: &str,
    (catalog, rights): (&Arc<Catalog>, Rights),
    own: Option<&str>,
    numbers: impl FnOnce() -> Option<Arc<TakenNumbers>>,
) -> Option<Arc<dyn OfStatement>> {
    Some(Arc::new(SequenceFunction {
        name: known(name)?,
        catalog: Arc::clone(catalog),
        rights,
        own: own.map(str::to_owned),
        numbers: numbers()?,
    }))
}

/// The sequence of a name.
///
/// # Errors
/// `42P01`; `42809` for a table or view.
pub(crate) fn sequence_named<'a>(catalog: &'a Catalog, name: &Name) -> Result<&'a Arc<Sequence>> {
    let found = catalog.sequence(&name.schema, &name.name);
    found.ok_or_else(|| no_sequence(catalog, name))
}

/// The sequence of a name, if a function may be called on it.
///
/// # Errors
/// `42501`; those of [`sequence_named`].
pub(crate) fn usable<'a>(
    rights: &Rights,
    catalog: &'a Catalog,
    name: &Name,
    function: &str,
) -> Result<&'a Arc<Sequence>> {
    let sequence = sequence_named(catalog, name)?;
    if rights.is_superuser() {
        return Ok(sequence);
    }
    rights.use_schema(catalog, &name.schema)?;
    let any: &[Privileges] = match function {
        "nextval" => &[Privileges::USAGE, Privileges::UPDATE],
        "currval" => &[Privileges::USAGE, Privileges::SELECT],
        _ => &[Privileges::UPDATE],
    };
    let object = Object::Sequence(sequence.id);
    let granted = any.iter().any(|one| rights.may(&object, *one));
    let takes = ["nextval", "currval"].contains(&function);
    match granted || (takes && may_number_rows(rights, catalog, sequence)) {
        true => Ok(sequence),
        false => Err(denied("sequence", &sequence.name)),
    }
}

/// Whether a sequence numbers the rows of a table that may be added to. Whoever may do
/// that takes its numbers, but does not set where it goes on.
fn may_number_rows(rights: &Rights, catalog: &Catalog, sequence: &Sequence) -> bool {
    let takes = |column: &Column| {
        column
            .identity
            .is_some_and(|own| own.sequence == sequence.id)
    };
    let mut tables = catalog.all_tables();
    let table = tables.find(|(_, table)| table.schema.columns.iter().any(takes));
    table.is_some_and(|(_, table)| rights.may(&table.id.into(), Privileges::INSERT))
}

/// Why there is no such sequence.
pub(crate) fn no_sequence(catalog: &Catalog, name: &Name) -> Error {
    let other = catalog.table(&name.schema, &name.name).is_some()
        || catalog.view(&name.schema, &name.name).is_some();
    if other {
        return Error::new("42809", format!("\"{name}\" is not a sequence")).at(name.position);
    }
    unknown_sequence(catalog, name)
}

struct SequenceFunction {
    name: &'static str,
    catalog: Arc<Catalog>,
    rights: Rights,
    own: Option<String>,
    numbers: Arc<TakenNumbers>,
}

impl SequenceFunction {
    /// The sequence that a text such as `'s'` or `'"My schema".s'` names, if the function may be
    /// called on it. Texts of a statement have the full names of temporary sequences by now; one
    /// that is computed means one of them if nothing that stays has its name.
    fn sequence(&self, text: &str) -> Result<&Arc<Sequence>> {
        let mut name = named(text)?;
        if let Some(own) = &self.own {
            let found = |schema: &str| self.catalog.sequence(schema, &name.name).is_some();
            let computed = !text.contains('.') && !found(&name.schema) && found(own);
            if computed || name.schema == PG_TEMP {
                name.schema.clone_from(own);
            }
        }
        usable(&self.rights, &self.catalog, &name, self.name)
    }

    fn value(&self, sequence: &Sequence) -> Result<i64> {
        match self.name {
            "currval" => self.numbers.current(sequence),
            _ => {
                let numbers = self.numbers.next(sequence, 1)?;
                let number = numbers.into_iter().next();
                number.ok_or_else(|| Error::internal("a sequence without a number"))
            }
        }
    }

    /// `nextval` or `currval` of each name.
    fn of_names(&self, names: &ArrayRef) -> Result<ArrayRef> {
        let names = cast(names, &DataType::Utf8View)?;
        let values = names.as_string_view().iter().map(|name| {
            let sequence = name.map(|name| self.sequence(name));
            sequence
                .transpose()?
                .map(|known| self.value(known))
                .transpose()
        });
        let values = values.collect::<Result<Int64Array>>()?;
        Ok(Arc::new(values))
    }

    /// `nextval` or `currval` of one name for many rows.
    fn of_name(&self, name: &str, rows: usize) -> Result<ArrayRef> {
        let sequence = self.sequence(name)?;
        let values = match self.name {
            "currval" => vec![self.numbers.current(sequence)?; rows],
            _ => self.numbers.next(sequence, rows)?,
        };
        Ok(Arc::new(Int64Array::from(values)))
    }

    fn set(&self, args: &[Argument], rows: usize) -> Result<ArrayRef> {
        let array = |place: usize, kind: &DataType| -> Result<Option<ArrayRef>> {
            let value = args.get(place);
            let value = value.map(|value| repeated(Arc::clone(&value.array), rows));
            Ok(value.map(|array| cast(&array, kind)).transpose()?)
        };
        let names = array(0, &DataType::Utf8View)?;
        let values = array(1, &DataType::Int64)?;
        let given = array(2, &DataType::Boolean)?;
        let (Some(names), Some(values)) = (names, values) else {
            return Err(Error::internal("setval without arguments"));
        };
        let (names, numbers) = (names.as_string_view(), values.as_primitive::<Int64Type>());
        let given = given.as_ref().map(|given| given.as_boolean());
        let mut set = Int64Builder::with_capacity(rows);
        for row in 0..rows {
            let known = given.is_none_or(|given| given.is_valid(row));
            if !known || names.is_null(row) || numbers.is_null(row) {
                set.append_null();
                continue;
            }
            let given = given.is_none_or(|given| given.value(row));
            let sequence = self.sequence(names.value(row))?;
            self.numbers.set(sequence, numbers.value(row), given)?;
            set.append_value(numbers.value(row));
        }
        Ok(Arc::new(set.finish()))
    }
}

impl OfStatement for SequenceFunction {
    fn is_volatile(&self) -> bool {
        true
    }

    fn parameters(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        Ok(match (self.name, given.len()) {
            ("setval", 2) => vec![DataType::Utf8View, DataType::Int64],
            ("setval", 3) => vec![DataType::Utf8View, DataType::Int64, DataType::Boolean],
            ("nextval" | "currval", 1) => vec![DataType::Utf8View],
            ("lastval", 0) => Vec::new(),
            _ => {
                let usage = match self.name {
                    "setval" => "setval('sequence', number [, is_called])".to_owned(),
                    "lastval" => "lastval()".to_owned(),
                    name => format!("{name}('sequence')"),
                };
                let message = format!("function {} has other arguments", self.name);
                let hint = format!("it is called {usage}");
                return Err(Error::new("42883", message).with_hint(hint));
            }
        })
    }

    fn returns(&self) -> DataType {
        DataType::Int64
    }

    fn call(&self, arguments: &[Argument], rows: usize) -> Result<ArrayRef> {
        match (self.name, arguments) {
            ("lastval", _) => Ok(Arc::new(Int64Array::from(vec![
                self.numbers
                    .last(&self.catalog)?;
                rows
            ]))),
            ("setval", given) => self.set(given, rows),
            (_, [name]) if name.constant => {
                let name = name.array.as_string_view();
                match name.is_valid(0) {
                    true => self.of_name(name.value(0), rows),
                    false => Ok(new_null_array(&DataType::Int64, rows)),
                }
            }
            (_, [names]) => self.of_names(&names.array),
            _ => Err(Error::internal("a sequence function without argument")),
        }
    }
}
