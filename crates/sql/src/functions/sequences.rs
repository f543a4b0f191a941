//! `nextval`, `currval`, `lastval` and `setval`: made for each statement, over the
//! catalog that it sees.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayRef, Int64Array, Int64Builder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use freestone_storage::{Catalog, Column, Object, Privileges, Sequence};

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
) -> Option<Arc<ScalarUDF>> {
    let name = known(name)?;
    let signature = match name {
        "lastval" => Signature::nullary(Volatility::Volatile),
        _ => Signature::user_defined(Volatility::Volatile),
    };
    Some(Arc::new(ScalarUDF::from(SequenceFunction {
        name,
        catalog: Arc::clone(catalog),
        rights,
        own: own.map(str::to_owned),
        numbers: numbers()?,
        signature,
    })))
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
    signature: Signature,
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

    fn set(&self, args: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
        let array = |place: usize, kind: &DataType| -> Result<Option<ArrayRef>> {
            let value = args.get(place).map(|value| value.to_array(rows));
            let array = value.transpose()?.map(|array| cast(&array, kind));
            Ok(array.transpose()?)
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

impl ScalarUDFImpl for SequenceFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> DfResult<Vec<DataType>> {
        let kinds = match (self.name, given.len()) {
            ("setval", 2) => vec![DataType::Utf8View, DataType::Int64],
            ("setval", 3) => vec![DataType::Utf8View, DataType::Int64, DataType::Boolean],
            ("nextval" | "currval", 1) => vec![DataType::Utf8View],
            _ => {
                let usage = match self.name {
                    "setval" => "setval('sequence', number [, is_called])".to_owned(),
                    name => format!("{name}('sequence')"),
                };
                let message = format!("function {} has other arguments", self.name);
                let hint = format!("it is called {usage}");
                return Err(Error::new("42883", message).with_hint(hint).into());
            }
        };
        Ok(kinds)
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        let values = match (self.name, args.args.as_slice()) {
            ("lastval", _) => {
                let last = ScalarValue::Int64(Some(self.numbers.last(&self.catalog)?));
                return Ok(ColumnarValue::Scalar(last));
            }
            ("setval", given) => self.set(given, rows)?,
            (_, [ColumnarValue::Scalar(name)]) => match name.try_as_str().flatten() {
                Some(name) => self.of_name(name, rows)?,
                None => return Ok(ColumnarValue::Scalar(ScalarValue::Int64(None))),
            },
            (_, [ColumnarValue::Array(names)]) => self.of_names(names)?,
            _ => return Err(Error::internal("a sequence function without argument").into()),
        };
        Ok(ColumnarValue::Array(values))
    }
}

impl fmt::Debug for SequenceFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for SequenceFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.numbers, &other.numbers)
    }
}

impl Eq for SequenceFunction {}

impl Hash for SequenceFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
