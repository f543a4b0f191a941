//! `current_user`, `session_user`, `has_table_privilege` and the like: made for each
//! statement, over the catalog that it sees.

use std::sync::Arc;

use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef, BooleanArray, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use freestone_frontend::functions::kernel::{Column, repeated};
use freestone_storage::{Catalog, Object, Privileges, RoleId, Snapshot};

use super::pg_catalog::{object_numbered, schema_numbered, system, system_schema};
use crate::error::{Error, Result};
use crate::functions::OfStatement;
use crate::names::{DEFAULT_SCHEMA, INFORMATION_SCHEMA, PG_CATALOG, PG_TOAST, meant_schema, named};
use crate::relations::unknown_table;
use crate::rights::{Identity, Rights};

/// Their names, and how many arguments they have at least.
const NAMES: [(&str, usize); 8] = [
    ("freestone_current_user", 0),
    ("freestone_session_user", 0),
    ("has_any_column_privilege", 2),
    ("has_column_privilege", 3),
    ("has_schema_privilege", 2),
    ("has_sequence_privilege", 2),
    ("has_table_privilege", 2),
    ("pg_has_role", 2),
];

/// The name of one of these functions, if it is one.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    let mut names = NAMES.into_iter();
    names
        .find(|(known, _)| *known == name)
        .map(|(known, _)| known)
}

/// The function of that name over a catalog; `None` if it is not one of these.
pub(crate) fn function(
    name: &str,
    snapshot: &Snapshot,
    identity: &Arc<Identity>,
) -> Option<Arc<dyn OfStatement>> {
    let (name, least) = NAMES.into_iter().find(|(known, _)| *known == name)?;
    Some(Arc::new(RoleFunction {
        name,
        least,
        catalog: Arc::clone(snapshot.catalog()),
        identity: Arc::clone(identity),
    }))
}

struct RoleFunction {
    name: &'static str,
    least: usize,
    catalog: Arc<Catalog>,
    identity: Arc<Identity>,
}

/// An argument that names something: by its name or its number.
enum Given {
    Text(String),
    Number(i64),
}

impl RoleFunction {
    /// The answers, a row at a time.
    fn asked(&self, args: &[ArrayRef], rows: usize) -> Result<BooleanArray> {
        let mut answers = Vec::with_capacity(rows);
        for row in 0..rows {
            let given = args.iter().map(|column| value(column, row));
            let given: Option<Vec<Given>> = given.collect::<Result<_>>()?;
            answers.push(match given {
                Some(given) => self.answer(&given)?,
                None => None,
            });
        }
        Ok(answers.into())
    }

    /// One answer; `None` about an object of a number that nothing has.
    fn answer(&self, given: &[Given]) -> Result<Option<bool>> {
        let (rights, given) = match given.len() > self.least {
            true => (self.rights_of(&given[0])?, &given[1..]),
            false => (self.identity.rights(&self.catalog), given),
        };
        let [about, .., asked] = given else {
            return Ok(None);
        };
        let Given::Text(asked) = asked else {
            return Err(Error::new("22023", "a privilege is a text"));
        };
        if self.name == "pg_has_role" {
            return Ok(Some(rights.holds(self.role(about)?)));
        }
        if let Some(is_open) = self.of_catalog(about) {
            let mut any = false;
            for word in asked.split(',') {
                any |= may_in_catalog(&rights, self.name, is_open, word)?;
            }
            return Ok(Some(any));
        }
        let object = match self.name {
            "has_schema_privilege" => self.schema(about)?,
            _ => self.relation(about)?,
        };
        let Some(object) = object else {
            return Ok(None);
        };
        let part = match (self.name, given) {
            ("has_any_column_privilege", _) => Part::AnyColumn,
            ("has_column_privilege", [_, column, _]) => match self.column(&object, column)? {
                Some(part) => part,
                None => return Ok(None),
            },
            _ => Part::Whole,
        };
        let mut any = false;
        for word in asked.split(',') {
            any |= holds(&rights, (&object, &part), word)?;
        }
        Ok(Some(any))
    }

    /// The column of a relation that has a name or a number; `None` for a number that none has.
    /// Columns of a view are not looked for.
    fn column(&self, object: &Object, given: &Given) -> Result<Option<Part>> {
        let table = match object {
            Object::Table(id) => self.catalog.table_by_id(*id),
            _ => None,
        };
        let Some(table) = table else {
            return Ok(Some(match given {
                Given::Text(name) => Part::Column(name.clone()),
                Given::Number(_) => Part::Whole,
            }));
        };
        let columns = table.schema.declared();
        let found = match given {
            Given::Text(name) => columns.iter().find(|column| column.name == *name),
            Given::Number(number) => {
                let place = number.checked_sub(1).map(usize::try_from);
                place
                    .and_then(Result::ok)
                    .and_then(|place| columns.get(place))
            }
        };
        match (found, given) {
            (Some(column), _) => Ok(Some(Part::Column(column.name.clone()))),
            (None, Given::Number(_)) => Ok(None),
            (None, Given::Text(name)) => {
                let relation = &table.name;
                let message =
                    format!("column \"{name}\" of relation \"{relation}\" does not exist");
                Err(Error::new("42703", message))
            }
        }
    }

    /// Whether a schema or a relation of the catalog itself is everybody's to read; `None` for
    /// others.
    fn of_catalog(&self, given: &Given) -> Option<bool> {
        if self.name == "has_schema_privilege" {
            let name = match given {
                Given::Number(number) => system_schema(*number)?,
                Given::Text(name) => name,
            };
            return match name {
                PG_CATALOG | INFORMATION_SCHEMA => Some(true),
                PG_TOAST => Some(false),
                _ => None,
            };
        }
        match given {
            Given::Number(number) => {
                let (schema, name) = system::numbered(*number)?;
                system::is_open(schema, name)
            }
            Given::Text(text) => {
                let name = named(text).ok()?;
                match name.schema.as_str() {
                    // Names without a schema are looked up in the catalog first.
                    DEFAULT_SCHEMA if !text.contains('.') => {
                        system::is_open(PG_CATALOG, &name.name)
                    }
                    schema => system::is_open(schema, &name.name),
                }
            }
        }
    }

    fn role(&self, given: &Given) -> Result<RoleId> {
        let roles = self.catalog.roles();
        match given {
            Given::Text(name) if name == "public" => Ok(RoleId::PUBLIC),
            Given::Text(name) => match roles.role(name) {
                Some(role) => Ok(role.id),
                None => {
                    let message = format!("role \"{name}\" does not exist");
                    Err(Error::new("42704", message))
                }
            },
            Given::Number(number) => Ok(RoleId(u64::try_from(*number).unwrap_or(u64::MAX))),
        }
    }

    fn rights_of(&self, given: &Given) -> Result<Rights> {
        Ok(Rights::of_role(&self.catalog, self.role(given)?))
    }

    fn schema(&self, given: &Given) -> Result<Option<Object>> {
        match given {
            Given::Number(number) => Ok(schema_numbered(&self.catalog, *number)),
            Given::Text(name) if self.catalog.has_schema(meant_schema(name)) => {
                Ok(Some(Object::schema(meant_schema(name))))
            }
            Given::Text(name) => {
                let message = format!("schema \"{name}\" does not exist");
                Err(Error::new("3F000", message))
            }
        }
    }

    fn relation(&self, given: &Given) -> Result<Option<Object>> {
        let text = match given {
            Given::Number(number) => return Ok(object_numbered(&self.catalog, *number)),
            // A REGCLASS of nothing is shown as its number.
            Given::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number = text.parse();
                return Ok(number
                    .ok()
                    .and_then(|number| object_numbered(&self.catalog, number)));
            }
            Given::Text(text) => text,
        };
        let name = named(text)?;
        let (schema, called) = (&name.schema, &name.name);
        let table = self.catalog.table(schema, called);
        let sequence = || self.catalog.sequence(schema, called);
        let view = || self.catalog.view(schema, called);
        let found = table.map(|table| table.id.into());
        let found = found.or_else(|| view().map(|_| Object::view(schema, called)));
        let found = found.or_else(|| sequence().map(|sequence| sequence.id.into()));
        match found {
            Some(object) => Ok(Some(object)),
            None => Err(unknown_table(&self.catalog, &name)),
        }
    }
}

/// Whether a privilege is among some rights to a schema or a relation of the catalog itself.
fn may_in_catalog(rights: &Rights, function: &str, is_open: bool, word: &str) -> Result<bool> {
    let word = word.trim().to_uppercase();
    let (right, option) = match word.strip_suffix(" WITH GRANT OPTION") {
        Some(right) => (right, true),
        None => (word.as_str(), false),
    };
    let reads = match function {
        "has_schema_privilege" => "USAGE",
        _ => "SELECT",
    };
    if !["RULE", "TRIGGER", "MAINTAIN"].contains(&right) && Privileges::named(right).is_none() {
        let message = format!("unrecognized privilege type: \"{word}\"");
        return Err(Error::new("22023", message));
    }
    Ok(right != "RULE" && (rights.is_superuser() || is_open && !option && right == reads))
}

/// The part of an object that a question is about.
enum Part {
    Whole,
    Column(String),
    AnyColumn,
}

/// Whether a privilege, as it is written, is among some rights.
fn holds(rights: &Rights, (object, part): (&Object, &Part), word: &str) -> Result<bool> {
    let unknown = |word: &str| {
        let message = format!("unrecognized privilege type: \"{word}\"");
        Error::new("22023", message)
    };
    let word = word.trim().to_uppercase();
    let (word, option) = match word.strip_suffix(" WITH GRANT OPTION") {
        Some(word) => (word.to_owned(), true),
        None => (word, false),
    };
    // PostgreSQL had this one.
    if word == "RULE" && matches!(part, Part::Whole) {
        return Ok(false);
    }
    if matches!(part, Part::Whole) && ["TRIGGER", "MAINTAIN"].contains(&word.as_str()) {
        return Ok(rights.owns(object));
    }
    let known = Privileges::named(&word);
    let known = known.filter(|known| match part {
        Part::Whole => true,
        Part::Column(_) | Part::AnyColumn => Privileges::OF_COLUMNS.contains(*known),
    });
    let known = known.ok_or_else(|| unknown(&word))?;
    if option {
        return Ok(rights.owns(object));
    }
    Ok(match part {
        Part::Whole => rights.may(object, known),
        Part::Column(column) => rights.may_column(object, column, known),
        Part::AnyColumn => rights.may_any(object, known),
    })
}

fn value(column: &ArrayRef, row: usize) -> Result<Option<Given>> {
    if column.is_null(row) {
        return Ok(None);
    }
    Ok(Some(match column.data_type() {
        DataType::Utf8View => Given::Text(column.as_string_view().value(row).to_owned()),
        DataType::Int64 => Given::Number(column.as_primitive::<Int64Type>().value(row)),
        other => return Err(Error::internal(format!("an argument of type {other}"))),
    }))
}

impl OfStatement for RoleFunction {
    fn is_volatile(&self) -> bool {
        false
    }

    fn parameters(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let most = if self.least == 0 { 0 } else { self.least + 1 };
        if !(self.least..=most).contains(&given.len()) {
            let message = format!("function {} has other arguments", self.name);
            return Err(Error::new("42883", message));
        }
        let kinds = given.iter().map(|kind| match kind.is_integer() {
            true => DataType::Int64,
            false => DataType::Utf8View,
        });
        Ok(kinds.collect())
    }

    fn returns(&self) -> DataType {
        match self.least {
            0 => DataType::Utf8View,
            _ => DataType::Boolean,
        }
    }

    fn call(&self, arguments: &[Column], rows: usize) -> Result<ArrayRef> {
        let name = match self.name {
            "freestone_current_user" => Some(self.identity.current()),
            "freestone_session_user" => Some(self.identity.session()),
            _ => None,
        };
        if let Some(who) = name {
            let name = who.name(&self.catalog);
            return Ok(Arc::new(StringViewArray::from_iter_values(
                std::iter::repeat_n(name, rows),
            )));
        }
        let mut columns = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let column = repeated(Arc::clone(&argument.array), rows);
            let kind = match column.data_type().is_integer() {
                true => DataType::Int64,
                false => DataType::Utf8View,
            };
            columns.push(cast(&column, &kind)?);
        }
        Ok(Arc::new(self.asked(&columns, rows)?))
    }
}
