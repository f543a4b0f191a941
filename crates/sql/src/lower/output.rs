//! Results as they leave the engine.
//!
//! A NUMERIC with a scale for each value becomes text, CHAR(n) is filled up with blanks and a
//! JSONPATH has its canonical text, also in arrays and records, of which the latter say the types of their fields. Each field says its
//! SQL type in its metadata, from which a server knows what a client is to be told. Arrays keep
//! their bounds: [`crate::as_lists`] makes lists of them for those who take Arrow.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::outcome::RowStream;
use arrow::array::{
    Array, ArrayRef, RecordBatch, RecordBatchOptions, StringViewBuilder, StructArray,
    cast::AsArray, new_null_array,
};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use freestone_frontend::functions::Session;
use freestone_frontend::functions::arrays::casts::output as written;
use freestone_frontend::functions::kernel::Column;
use freestone_frontend::functions::objects::{has_names, with_names};
use freestone_frontend::types::arrays::{self, Arrays};
use freestone_frontend::types::{Internal, Type};
use freestone_frontend::values::Numeric;
use futures::StreamExt;

use super::{Lowered, place};
use crate::error::{Error, Result};
use crate::expression::{Call, Expr, Function, only};
use crate::types::{NUMBER_KEY, TYPE_KEY};
use crate::values::DIMENSIONS_KEY;
use crate::values::convert::{as_shown, as_text};

/// The SQL type that a field says, as PostgreSQL's `format_type` names it.
pub(crate) fn type_of(field: &Field) -> Option<String> {
    field.metadata().get(TYPE_KEY).cloned()
}

/// The plan with its columns as clients are shown them.
///
/// # Errors
/// Those of building plans.
pub(crate) fn output(lowered: Lowered, session: &Session) -> Result<Lowered> {
    let Lowered { plan, names, types } = lowered;
    let fields = plan.schema().fields().iter().zip(&types);
    let items = fields.map(|(field, ty)| {
        let value = place(field.name());
        let (value, kind) = match is_shown_otherwise(ty) {
            true => (displayed(value, ty, session), kind(ty)),
            false => (value, field.data_type().clone()),
        };
        let shown = Field::new(field.name(), kind, true).with_metadata(said_by(ty, field));
        (value, Arc::new(shown))
    });
    let plan = plan.projected(items.collect())?;
    Ok(Lowered { plan, names, types })
}

/// A value as storage takes it: one whose Arrow form only the front reads as text.
pub(super) fn storable(value: Expr, ty: &Type) -> Expr {
    match is_text_outside(ty) {
        true => Call::of(Stored(ty.clone()), vec![value]),
        false => value,
    }
}

/// A value as clients of a session are shown it; its field says its type.
pub(super) fn displayed(value: Expr, ty: &Type, session: &Session) -> Expr {
    let shown = Shown {
        ty: ty.clone(),
        session: session.clone(),
    };
    Call::of(shown, vec![value])
}

/// The plan with its columns as storage takes them.
///
/// # Errors
/// Those of building plans.
pub(crate) fn stored(lowered: Lowered) -> Result<Lowered> {
    stored_where(lowered, is_text_outside)
}

/// The same of records, and of arrays of them.
///
/// # Errors
/// Those of building plans.
pub(crate) fn stored_records(lowered: Lowered) -> Result<Lowered> {
    stored_where(lowered, |ty| matches!(ty.innermost(), Type::Record(_)))
}

fn stored_where(lowered: Lowered, are: fn(&Type) -> bool) -> Result<Lowered> {
    let Lowered { plan, names, types } = lowered;
    if !types.iter().any(are) {
        return Ok(Lowered { plan, names, types });
    }
    let fields = plan.schema().fields().iter().zip(&types);
    let items = fields.map(|(field, ty)| {
        let value = place(field.name());
        match are(ty) {
            true => {
                let field = Field::new(field.name(), DataType::Utf8View, true);
                let field = field.with_metadata(said(ty));
                (storable(value, ty), Arc::new(field))
            }
            false => (value, Arc::clone(field)),
        }
    });
    let plan = plan.projected(items.collect())?;
    Ok(Lowered { plan, names, types })
}

/// Whether nobody but the front reads the Arrow form of a type.
fn is_text_outside(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Numeric(None) | Type::TimeTz(_) | Type::Array(_) | Type::Record(_)
    )
}

/// The schema of a result: names and types as the statement has them; its plan knows dimensions.
pub(crate) fn schema(names: &[String], types: &[Type], plan: &Schema) -> SchemaRef {
    let fields = names.iter().zip(types).zip(plan.fields());
    let fields = fields.map(|((name, ty), field)| {
        Field::new(name, sent(ty), true).with_metadata(said_by(ty, field))
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Values as clients are shown them, of columns whose [`shown_field`] is known; `None` if the values
/// of one have another form than those of its type.
///
/// # Errors
/// `XX000` for values of another type.
pub(crate) fn shown_batch(
    schema: &SchemaRef,
    columns: &[(&str, &Type, ArrayRef)],
    rows: usize,
    session: &Session,
) -> Result<Option<RecordBatch>> {
    let mut arrays = Vec::with_capacity(columns.len());
    for (_, ty, values) in columns {
        if *values.data_type() != ty.arrow() {
            return Ok(None);
        }
        arrays.push(shown_values(ty, values, session)?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::clone(schema);
    Ok(Some(RecordBatch::try_new_with_options(
        schema, arrays, &options,
    )?))
}

/// The column of a result whose values [`shown_values`] gives; `None` for a type whose values are
/// shown by what is known of other objects.
pub(crate) fn shown_field(name: &str, ty: &Type) -> Option<Field> {
    let alone = !has_names(ty) && !matches!(ty, Type::Array(_));
    alone.then(|| Field::new(name, kind(ty), true).with_metadata(said(ty)))
}

/// Names, types and values as storage takes them; `None` if the values of a column have another
/// form than those of its type.
///
/// # Errors
/// `XX000` for values of another length.
pub(crate) fn stored_batch(
    columns: &[(&str, &Type, ArrayRef)],
    rows: usize,
) -> Result<Option<RecordBatch>> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, ty, values) in columns {
        if is_text_outside(ty) || *values.data_type() != ty.arrow() {
            return Ok(None);
        }
        fields.push(Field::new(*name, ty.arrow(), true));
        arrays.push(Arc::clone(values));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::new(Schema::new(fields));
    Ok(Some(RecordBatch::try_new_with_options(
        schema, arrays, &options,
    )?))
}

/// A result's stream under its schema: operators may have lost names and metadata.
pub(crate) fn with_schema(stream: RowStream, schema: SchemaRef) -> RowStream {
    let to = Arc::clone(&schema);
    let stream = stream.map(move |batch| {
        let batch = batch?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&to),
            batch.columns().to_vec(),
            &options,
        )?)
    });
    stream.boxed()
}

/// The metadata that says a type.
fn said(ty: &Type) -> HashMap<String, String> {
    // Rows of tables are shown as records.
    let mut shown = ty;
    let mut brackets = "";
    if let Type::Array(_) = ty {
        shown = ty.innermost();
        brackets = "[]";
    }
    let said = match shown {
        Type::Record(_) => format!("record{brackets}"),
        _ => ty.to_string(),
    };
    let mut all = HashMap::from([(TYPE_KEY.to_owned(), said)]);
    let number = match shown {
        Type::Enum(of) => of.number,
        Type::Record(fields) => fields.number(),
        _ => 0,
    };
    if number > 0 {
        // The type of arrays comes next.
        let number = number + i64::from(matches!(ty, Type::Array(_)));
        all.insert(NUMBER_KEY.to_owned(), number.to_string());
    }
    all
}

/// The field of values of a type that clients are shown, in their Arrow type.
pub(crate) fn shown_as(kind: DataType, ty: &Type) -> Field {
    Field::new("shown", kind, true).with_metadata(said(ty))
}

/// The metadata that says a type, and how many dimensions arrays of a field have.
fn said_by(ty: &Type, field: &Field) -> HashMap<String, String> {
    let mut all = said(ty);
    if let Some(dimensions) = field.metadata().get(DIMENSIONS_KEY) {
        all.insert(DIMENSIONS_KEY.to_owned(), dimensions.clone());
    }
    all
}

/// Whether values of a type are shown in another form than they are held.
pub(crate) fn is_shown_otherwise(ty: &Type) -> bool {
    match ty {
        Type::Numeric(None) | Type::Char(Some(_)) | Type::JsonPath | Type::Record(_) => true,
        Type::Inet | Type::Cidr | Type::MacAddr | Type::MacAddr8 | Type::Money => true,
        Type::Range(_) | Type::Multirange(_) => true,
        Type::Internal(Internal::Xid8 | Internal::Tid) => true,
        Type::Array(element) => is_shown_otherwise(element),
        _ => false,
    }
}

/// The Arrow type of a result's column: objects are told by their names.
fn sent(ty: &Type) -> DataType {
    match (ty, ty.innermost()) {
        (Type::Array(_), Type::Reg(_)) => kind(&Type::Text.array()),
        (_, Type::Reg(_)) => kind(&Type::Text),
        _ => kind(ty),
    }
}

/// The Arrow type of values as clients are shown them.
fn kind(ty: &Type) -> DataType {
    match ty {
        Type::Numeric(None)
        | Type::Inet
        | Type::Cidr
        | Type::MacAddr
        | Type::MacAddr8
        | Type::Money
        | Type::Range(_)
        | Type::Internal(Internal::Xid8 | Internal::Tid)
        | Type::Multirange(_) => DataType::Utf8View,
        Type::Array(element) => arrays::data_type(kind(element)),
        Type::Record(fields) => {
            // Objects in records are told by their names.
            let fields = fields.iter().map(|(name, ty)| (name, with_names(ty)));
            let fields =
                fields.map(|(name, ty)| Field::new(name, kind(&ty), true).with_metadata(said(&ty)));
            DataType::Struct(fields.collect::<Fields>())
        }
        other => other.arrow(),
    }
}

/// The form of values that clients are shown.
#[derive(Debug)]
struct Shown {
    ty: Type,
    /// The settings that texts of ranges depend on.
    session: Session,
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        let (session, others) = (&self.session, &other.session);
        self.ty == other.ty
            && session.time_zone == others.time_zone
            && session.date_style == others.date_style
    }
}

impl Eq for Shown {}

impl Hash for Shown {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ty.hash(state);
    }
}

impl Function for Shown {
    fn kind(&self, _: &[DataType]) -> DataType {
        kind(&self.ty)
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        shown_values(&self.ty, only(arguments)?, &self.session)
    }
}

/// Values of a type as clients are shown them.
///
/// # Errors
/// `XX000` for values of another type.
pub(crate) fn shown_values(ty: &Type, array: &ArrayRef, session: &Session) -> Result<ArrayRef> {
    if *array.data_type() == DataType::Null {
        return Ok(new_null_array(&kind(ty), array.len()));
    }
    if !is_shown_otherwise(ty) {
        return Ok(Arc::clone(array));
    }
    match (ty, kind(ty)) {
        (Type::Array(element), _) => {
            let arrays = Arrays::of(array)?;
            let values = shown_values(element, arrays.values(), session)?;
            return Ok(arrays.with_values(values, array.nulls().cloned())?);
        }
        (Type::Record(types), DataType::Struct(fields)) => {
            let Some(records) = array.as_struct_opt() else {
                return Err(Error::internal(format!("{ty} in {}", array.data_type())));
            };
            let pairs = types.iter().zip(records.columns());
            let columns = pairs.map(|((_, ty), column)| shown_values(ty, column, session));
            let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
            let (length, nulls) = (records.len(), records.nulls().cloned());
            let records = StructArray::try_new_with_length(fields, columns, nulls, length)?;
            return Ok(Arc::new(records));
        }
        (Type::JsonPath | Type::Cidr | Type::MacAddr | Type::MacAddr8 | Type::Money, _)
        | (Type::Internal(_), _) => return as_text(array, ty),
        (Type::Inet, _) => return as_shown(array, ty),
        (Type::Range(_) | Type::Multirange(_), _) => return Ok(written(array, ty, session)?),
        _ => {}
    }
    let mut out = StringViewBuilder::with_capacity(array.len());
    match (ty, array.data_type()) {
        (Type::Numeric(_), DataType::BinaryView) => {
            for value in array.as_binary_view() {
                out.append_option(value.map(|value| Numeric::decode(value).to_string()));
            }
        }
        (Type::Char(Some(n)), DataType::Utf8View) => {
            let width = usize::try_from(*n).unwrap_or(usize::MAX);
            let missing = |value: &str| width.saturating_sub(value.chars().count());
            let mut values = array.as_string_view().iter().flatten();
            if values.all(|value| missing(value) == 0) {
                return Ok(Arc::clone(array));
            }
            let (mut blanks, mut padded) = (String::new(), String::new());
            for value in array.as_string_view() {
                let Some(value) = value else {
                    out.append_null();
                    continue;
                };
                let missing = missing(value);
                if blanks.len() < missing {
                    blanks = " ".repeat(missing);
                }
                padded.clear();
                padded.push_str(value);
                padded.push_str(&blanks[..missing]);
                out.append_value(&padded);
            }
        }
        (_, other) => return Err(Error::internal(format!("{ty} in {other}"))),
    }
    Ok(Arc::new(out.finish()))
}

/// The form of values that storage takes: their text.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Stored(Type);

impl Function for Stored {
    fn kind(&self, _: &[DataType]) -> DataType {
        DataType::Utf8View
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        as_text(only(arguments)?, &self.0)
    }
}
