//! Queries and changes by keys that are bound once and run with other values each time.
//!
//! Binding and rewriting such a query takes many times as long as finding its rows. A prepared
//! statement keeps the plan with its parameters in it:
//!
//! ```text
//! SELECT tax FROM district WHERE w_id = $1 AND id = $2
//!
//! bound once    district by ($1, $2)
//! each run      the values of $1 and $2 as BIGINT, one look-up
//! ```
//!
//! UPDATE and DELETE keep the query for the ids and the new values of the rows that they change.
//!
//! A plan is kept only if all its functions are immutable. It serves one session until a setting
//! or a definition in the catalog changes; rows that move to other blocks change none. A value
//! that is not of its parameter's type, such as a number beyond the range of an INTEGER, is not
//! taken: the statement is then bound with the values in it, as one that is run once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, StringViewArray, new_null_array,
};
use freestone_frontend::functions::{Session as Settings, read};
use freestone_frontend::types::Type;
use freestone_storage::{Definitions, Row, RowId, Snapshot, Table};

use super::given::{One, Parameters};
use super::{Form, KeyPlan, Seen};
use crate::error::Result;
use crate::names::Name;
use crate::parameter::Parameter;
use crate::plans::PlannedFor;
use crate::settings::ClientSettings;
use crate::workload::Record;

/// A query that is bound with its parameters.
#[derive(Debug)]
pub(crate) struct KeyQuery {
    /// The session that it was bound in, and how often a setting of it had changed.
    client: Weak<ClientSettings>,
    changes: u64,
    settings: PlannedFor,
    definitions: Arc<Definitions>,
    /// Whether a run has seen other definitions.
    outdated: AtomicBool,
    /// `None` if its rows are not found by keys.
    bound: Option<Bound>,
}

/// The plan of a query by keys.
pub(crate) struct Bound {
    pub(crate) plan: KeyPlan,
    /// Types of its parameters.
    pub(crate) types: Vec<Type>,
    /// The settings that its functions see.
    pub(crate) settings: Settings,
    /// Where uses of indexes are noted.
    pub(crate) record: Option<Arc<Record>>,
    /// The form of its rows.
    pub(crate) form: Form,
    /// The rows that it is for, if a statement changes them.
    pub(crate) change: Option<KeyChange>,
}

impl Bound {
    fn seen<'a>(&'a self, snapshot: &'a Snapshot) -> Seen<'a> {
        Seen {
            snapshot,
            session: &self.settings,
            record: self.record.as_deref(),
        }
    }
}

/// An UPDATE or a DELETE whose rows are found by keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyChange {
    /// The table.
    pub(crate) name: Name,
    /// The name by which the statement calls it.
    pub(crate) called: String,
    /// The columns that get values; none for DELETE.
    pub(crate) columns: Vec<usize>,
    /// Whether a row may be found several times, of which the first counts.
    pub(crate) is_joined: bool,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bound")
    }
}

/// A query with values for its parameters.
pub(crate) struct Keyed<'a> {
    pub(crate) query: &'a KeyQuery,
    pub(crate) values: Parameters<'a>,
}

impl KeyQuery {
    /// A query that was bound over a snapshot, with the settings of a session.
    pub(crate) fn new(
        (client, settings): (&Arc<ClientSettings>, PlannedFor),
        snapshot: &Snapshot,
        bound: Option<Bound>,
    ) -> Self {
        Self {
            client: Arc::downgrade(client),
            changes: client.changes(),
            settings,
            definitions: Arc::clone(snapshot.definitions()),
            outdated: AtomicBool::new(false),
            bound,
        }
    }

    /// Whether the session with some settings may run it.
    pub(crate) fn fits(&self, (client, settings): (&Arc<ClientSettings>, PlannedFor)) -> bool {
        !self.outdated.load(Ordering::Relaxed)
            && std::ptr::eq(self.client.as_ptr(), Arc::as_ptr(client))
            && self.changes == client.changes()
            && self.settings == settings
    }

    /// Whether its rows are found by keys.
    pub(crate) fn is_by_keys(&self) -> bool {
        self.bound.is_some()
    }

    /// The parameters as values of their types; `None` if one is of another type.
    pub(crate) fn values<'a>(&self, parameters: &'a [Parameter]) -> Option<Parameters<'a>> {
        let bound = self.bound.as_ref()?;
        if parameters.len() != bound.types.len() {
            return None;
        }
        let mut each = Vec::with_capacity(parameters.len());
        for (given, ty) in parameters.iter().zip(&bound.types) {
            each.push(value(given, ty, &bound.settings)?);
        }
        Some(Parameters::new(each))
    }
}

impl Keyed<'_> {
    /// The change that its rows are for.
    pub(crate) fn change(&self) -> Option<&KeyChange> {
        self.query.bound.as_ref()?.change.as_ref()
    }

    /// The bound plan, if all is defined in the snapshot as it was when it was bound.
    fn bound(&self, snapshot: &Snapshot) -> Option<&Bound> {
        if !Arc::ptr_eq(&self.query.definitions, snapshot.definitions()) {
            self.query.outdated.store(true, Ordering::Relaxed);
            return None;
        }
        self.query.bound.as_ref()
    }

    /// The rows that a snapshot sees; `None` if they have to be found in another way.
    ///
    /// # Errors
    /// As [`KeyPlan::rows`].
    pub(crate) fn rows(&self, snapshot: &Snapshot) -> Result<Option<RecordBatch>> {
        let Some(bound) = self.bound(snapshot) else {
            return Ok(None);
        };
        let seen = bound.seen(snapshot);
        bound.plan.rows(&seen, &self.values, bound.form)
    }

    /// The ids of rows of a table and their new versions, if keys alone decide which rows they
    /// are.
    ///
    /// # Errors
    /// As [`KeyPlan::versions`].
    pub(crate) fn versions(
        &self,
        snapshot: &Snapshot,
        table: &Table,
    ) -> Result<Option<Vec<(RowId, Row)>>> {
        match self.bound(snapshot) {
            Some(bound) => bound
                .plan
                .versions(&bound.seen(snapshot), &self.values, table),
            None => Ok(None),
        }
    }

    /// The rows of a query as they are stored, if nothing has to be computed.
    ///
    /// # Errors
    /// As [`KeyPlan::stored_rows`].
    pub(crate) fn stored_rows(&self, snapshot: &Snapshot) -> Result<Option<Vec<Row>>> {
        match self.bound(snapshot) {
            Some(bound) => bound.plan.stored_rows(&bound.seen(snapshot), &self.values),
            None => Ok(None),
        }
    }
}

/// A parameter as a value of a type; `None` for one that is not simply of it.
fn value<'a>(given: &'a Parameter, ty: &Type, settings: &Settings) -> Option<One<'a>> {
    let array: ArrayRef = match (given, ty) {
        (Parameter::Integer(given), Type::Int2) => {
            return i16::try_from(*given).ok().map(One::Int2);
        }
        (Parameter::Integer(given), Type::Int4) => {
            return i32::try_from(*given).ok().map(One::Int4);
        }
        (Parameter::Integer(given), Type::Int8) => return Some(One::Int8(*given)),
        (Parameter::Text(text), Type::Text) => return Some(One::Text(text)),
        (Parameter::Null, _) => new_null_array(&ty.arrow(), 1),
        (Parameter::Boolean(given), Type::Bool) => Arc::new(BooleanArray::from(vec![*given])),
        (Parameter::Double(given), Type::Float8) => Arc::new(Float64Array::from(vec![*given])),
        (Parameter::Decimal(digits), Type::Numeric(None)) => of_text(digits, ty, settings)?,
        (Parameter::Text(text), _) if !may_name_a_moment(text, ty) => of_text(text, ty, settings)?,
        _ => return None,
    };
    Some(One::Array(array))
}

/// Whether a text may stand for a time that depends on when it is read, such as `now`.
fn may_name_a_moment(text: &str, ty: &Type) -> bool {
    is_dated(ty) && !text.starts_with(|first: char| first.is_ascii_digit())
}

fn is_dated(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Date | Type::Time(_) | Type::TimeTz(_) | Type::Timestamp(_) | Type::TimestampTz(_)
    )
}

/// Whether a text is a value of a type whatever else there is in the database.
fn is_read_alone(ty: &Type) -> bool {
    match ty {
        Type::Bool
        | Type::Int2
        | Type::Int4
        | Type::Int8
        | Type::Float4
        | Type::Float8
        | Type::Numeric(_)
        | Type::Text
        | Type::Varchar(_)
        | Type::Char(_)
        | Type::Name
        | Type::Bytea
        | Type::Bit(_)
        | Type::VarBit(_)
        | Type::Inet
        | Type::Cidr
        | Type::MacAddr
        | Type::MacAddr8
        | Type::Money
        | Type::Date
        | Type::Time(_)
        | Type::Timestamp(_)
        | Type::TimestampTz(_)
        | Type::Interval
        | Type::Uuid
        | Type::Json
        | Type::Jsonb => true,
        // Each element may name a moment.
        Type::Array(element) => is_read_alone(element) && !is_dated(element),
        _ => false,
    }
}

fn of_text(text: &str, ty: &Type, settings: &Settings) -> Option<ArrayRef> {
    if !is_read_alone(ty) {
        return None;
    }
    let text: ArrayRef = Arc::new(StringViewArray::from(vec![text]));
    // A text that is no value of the type fails where it is a literal.
    read(settings, ty, text).ok()
}
