//! Tables, views, files and functions of the database, as the front asks for them.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use datafusion::catalog::TableProvider;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr as Lowered;
use freestone_frontend::bind::{Catalog, Domain, Found, SqlFunction, View};
use freestone_frontend::functions::Scalar;
use freestone_frontend::functions::objects::Objects;
use freestone_frontend::plan::{Expr as Bound, Relation};
use freestone_frontend::types::Type;
use freestone_frontend::types::arrays::element_type;
use freestone_frontend::{Error as FrontError, Position, Result as FrontResult};
use freestone_storage::{
    Catalog as Stored, Column, ColumnType, Modifier, Object, Privileges, Sequence,
};

use super::about;
use super::declared::{self, type_of_stored};
use super::functions::{front_error, wrapped};
use super::objects::Numbers;
use crate::error::Result;
use crate::functions::{roles, sequences, settings};
use crate::lower::Handle;
use crate::plan::given::Given;
use crate::plan::information_schema;
use crate::plan::names::{DEFAULT_SCHEMA, INFORMATION_SCHEMA, Name, PUBLIC};
use crate::plan::pg_catalog::objects::row_type_number;
use crate::plan::pg_catalog::{self, PG_CATALOG};
use crate::plan::relations::Relations;
use crate::plan::rows::table as rows_table;
use crate::plan::table_functions;
use crate::rights::{Identity, denied};
use crate::routine;
use crate::scan::{ROW_ID, StoredTable};
use crate::session::TakenNumbers;
use crate::statement::parse_one;

/// Overloads of a function whose body is SQL.
type SqlFunctions = Vec<Arc<SqlFunction>>;

/// The names that a statement may use.
pub(crate) struct Names<'a> {
    relations: &'a Relations<'a>,
    numbers: OnceCell<Arc<Numbers>>,
    /// Functions whose body is SQL, by schema and name.
    functions: RefCell<HashMap<(String, String), SqlFunctions>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(relations: &'a Relations<'a>) -> Self {
        Self {
            relations,
            numbers: OnceCell::new(),
            functions: RefCell::default(),
        }
    }

    /// Names and numbers of what there is, looked at once.
    fn numbers(&self) -> Arc<Numbers> {
        let numbers = self
            .numbers
            .get_or_init(|| Arc::new(Numbers::of(self.relations)));
        Arc::clone(numbers)
    }

    /// A table of the catalog with its rows.
    fn catalogued(&self, name: &Name) -> Result<Option<Relation>> {
        let relations = self.relations;
        let (columns, mut hidden, batch) = match name.schema.as_str() {
            INFORMATION_SCHEMA => match information_schema::view(relations, &name.name)? {
                Some((columns, batch)) => (columns, Vec::new(), batch),
                None => return Ok(None),
            },
            _ => match pg_catalog::described(&name.name) {
                Some((_, mut columns)) => {
                    let shown = columns.len();
                    columns.push((pg_catalog::TABLE.to_owned(), Type::Oid));
                    let batch = pg_catalog::rows(relations, &name.name, &columns)?;
                    let hidden = columns.split_off(shown);
                    (columns, hidden, batch)
                }
                None => return Ok(None),
            },
        };
        // A file of the catalog has no rows of two versions.
        hidden.retain(|(hidden, _)| columns.iter().all(|(name, _)| name != hidden));
        Ok(Some(Relation {
            schema: name.schema.clone(),
            name: name.name.clone(),
            columns,
            hidden,
            key: Vec::new(),
            number: 0,
            handle: Arc::new(Handle(rows_table(batch)?)),
        }))
    }

    fn name(schema: Option<&str>, name: &str, position: Option<Position>) -> Name {
        let schema = match schema {
            None | Some(PUBLIC) => DEFAULT_SCHEMA,
            Some(schema) => schema,
        };
        Name {
            schema: schema.to_owned(),
            name: name.to_owned(),
            position: position.map(|place| crate::Position {
                line: place.line,
                column: place.column,
            }),
        }
    }

    /// Functions about the catalog.
    fn about(&self, name: &str) -> Vec<Arc<Scalar>> {
        let relations = self.relations;
        let identity = relations.state.config().get_extension::<Identity>();
        let of_roles = identity.and_then(|identity| {
            let name = roles::known(name)?;
            let function = roles::function(name, &relations.snapshot, &identity)?;
            Some(wrapped(name, &function))
        });
        if let Some(function) = of_roles {
            return vec![function];
        }
        let numbers = || self.numbers();
        let found = about::functions(relations, &numbers, name).unwrap_or_default();
        found.into_iter().map(Arc::new).collect()
    }

    /// Rows that a statement in WITH has returned.
    fn given(&self, given: &Given) -> FrontResult<Found> {
        let Some(rows) = &given.rows else {
            let name = &given.name;
            let message = format!("WITH query \"{name}\" does not have a RETURNING clause");
            return Err(FrontError::new("0A000", message));
        };
        Ok(Found::Relation(Relation {
            schema: String::new(),
            name: given.name.clone(),
            columns: given.columns.clone(),
            hidden: given.hidden.clone(),
            key: Vec::new(),
            number: 0,
            handle: Arc::new(Handle(Arc::clone(rows))),
        }))
    }

    fn found(&self, name: &Name) -> Result<Option<Found>> {
        let relations = self.relations;
        let snapshot = &relations.snapshot;
        if let Some(view) = snapshot.view(&name.schema, &name.name) {
            let rights = relations.rights();
            rights.use_schema(snapshot, &name.schema)?;
            let object = Object::view(&name.schema, &name.name);
            if !rights.may(&object, Privileges::SELECT) {
                return Err(denied("view", &name.name).at(name.position));
            }
            let datafusion::sql::sqlparser::ast::Statement::Query(query) = parse_one(&view.sql)?
            else {
                return Err(crate::Error::internal("a view that is no query"));
            };
            return Ok(Some(Found::View(View {
                query,
                names: Vec::new(),
                barrier: !rights.owns(&object),
            })));
        }
        if let Some(sequence) = snapshot.sequence(&name.schema, &name.name) {
            let rights = relations.rights();
            rights.use_schema(snapshot, &name.schema)?;
            if !rights.may(&sequence.id.into(), Privileges::SELECT) {
                return Err(denied("sequence", &name.name).at(name.position));
            }
            return Ok(Some(Found::Relation(position_of(name, sequence)?)));
        }
        let known = snapshot.table(&name.schema, &name.name).is_some();
        let in_catalog = [INFORMATION_SCHEMA, PG_CATALOG].contains(&name.schema.as_str());
        // As in PostgreSQL, its catalog need not be named.
        if in_catalog || !known && name.schema == DEFAULT_SCHEMA {
            let found = self.catalogued(name)?;
            if in_catalog || found.is_some() {
                return Ok(found.map(Found::Relation));
            }
        }
        let provider = match relations.provider(name) {
            Ok(provider) => provider,
            Err(error) if error.sqlstate == "42P01" && !known => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Found::Relation(relation(snapshot, name, provider))))
    }
}

/// Where a sequence is, as a relation of one row.
fn position_of(name: &Name, sequence: &Sequence) -> Result<Relation> {
    let columns = [
        ("last_value", Type::Int8),
        ("log_cnt", Type::Int8),
        ("is_called", Type::Bool),
    ];
    let position = sequence.position();
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![position.value])),
        Arc::new(Int64Array::from(vec![0])),
        Arc::new(BooleanArray::from(vec![position.given])),
    ];
    let fields = columns
        .iter()
        .map(|(name, ty)| Field::new(*name, ty.arrow(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let batch = RecordBatch::try_new(schema, arrays)?;
    Ok(Relation {
        schema: name.schema.clone(),
        name: name.name.clone(),
        columns: columns.map(|(name, ty)| (name.to_owned(), ty)).into(),
        hidden: Vec::new(),
        key: Vec::new(),
        number: 0,
        handle: Arc::new(Handle(rows_table(batch)?)),
    })
}

/// A provider's columns and itself.
fn relation(catalog: &Stored, name: &Name, provider: Arc<dyn TableProvider>) -> Relation {
    let stored = provider.downcast_ref::<StoredTable>();
    let schema = provider.schema();
    let (mut columns, mut hidden) = (Vec::new(), Vec::new());
    let (mut key, mut number) = (Vec::new(), 0);
    match stored {
        Some(stored) => {
            let (table, _) = stored.parts();
            number = row_type_number(table);
            for column in &table.schema.columns {
                let ty = type_of_stored(catalog, column);
                columns.push((column.name.clone(), ty));
            }
            if stored.has_row_ids() {
                // Row ids use all 64 bits, and the language has no unsigned integers.
                hidden.push((ROW_ID.to_owned(), Type::numeric(20, 0)));
            }
            if let Some(primary) = table.schema.keys.iter().find(|key| key.primary) {
                key.clone_from(&primary.columns);
            }
        }
        None => {
            let fields = schema.fields().iter();
            columns.extend(fields.map(|field| (field.name().clone(), type_of(field))));
        }
    }
    Relation {
        schema: name.schema.clone(),
        name: name.name.clone(),
        columns,
        hidden,
        key,
        number,
        handle: Arc::new(Handle(provider)),
    }
}

/// The front's type of a column, but for a created type.
pub(crate) fn type_held(column: &Column) -> Type {
    modified(type_of_column(&column.kind), column.modifier)
}

/// The front's type of values that are held as a type, as far as it has a place for modifiers.
fn modified(held: Type, modifier: Option<Modifier>) -> Type {
    match (held, modifier) {
        (Type::Array(element), modifier) => modified(*element, modifier).array(),
        (Type::Time(_), Some(Modifier::Seconds(digits))) => Type::Time(Some(digits)),
        (Type::TimeTz(_), Some(Modifier::Seconds(digits))) => Type::TimeTz(Some(digits)),
        (Type::Timestamp(_), Some(Modifier::Seconds(digits))) => Type::Timestamp(Some(digits)),
        (Type::TimestampTz(_), Some(Modifier::Seconds(digits))) => Type::TimestampTz(Some(digits)),
        (Type::Text, Some(Modifier::Name)) => Type::Name,
        (Type::Text, Some(Modifier::JsonPath)) => Type::JsonPath,
        (Type::Text, Some(Modifier::InternalChar)) => Type::CatalogChar,
        (Type::Int8, Some(Modifier::Oid)) => Type::Oid,
        (held, _) => held,
    }
}

/// The front's type of what a column is held as.
pub(crate) fn type_of_column(kind: &ColumnType) -> Type {
    match kind {
        ColumnType::Boolean => Type::Bool,
        ColumnType::SmallInt => Type::Int2,
        ColumnType::Integer => Type::Int4,
        ColumnType::BigInt => Type::Int8,
        ColumnType::Real => Type::Float4,
        ColumnType::Double => Type::Float8,
        ColumnType::Decimal { precision, scale } => {
            Type::numeric((*precision).into(), scale.unsigned_abs().into())
        }
        ColumnType::Date => Type::Date,
        ColumnType::Time => Type::Time(None),
        ColumnType::Timestamp => Type::Timestamp(None),
        ColumnType::TimestampTz => Type::TimestampTz(None),
        ColumnType::Interval => Type::Interval,
        ColumnType::Uuid => Type::Uuid,
        ColumnType::Varchar(length) => Type::Varchar(*length),
        ColumnType::Char(length) => Type::Char(Some(*length)),
        ColumnType::Text => Type::Text,
        ColumnType::Bytea => Type::Bytea,
        ColumnType::Json => Type::Json,
        ColumnType::Numeric => Type::Numeric(None),
        ColumnType::Jsonb => Type::Jsonb,
        ColumnType::TimeTz => Type::TimeTz(None),
        // Its created type says which fields it has.
        ColumnType::Record => Type::Text,
        ColumnType::Array { element, dims } => {
            let element = type_of_column(&(*element).into());
            (0..*dims).fold(element, |ty, _| ty.array())
        }
    }
}

/// The front's type of an Arrow field.
pub(crate) fn type_of(field: &Field) -> Type {
    if let Some(named) = crate::lower::type_of(field)
        && let Some(ty) = freestone_frontend::types::formatted(&named)
    {
        return ty;
    }
    match field.data_type() {
        DataType::Boolean => Type::Bool,
        DataType::Int8 | DataType::UInt8 | DataType::Int16 => Type::Int2,
        DataType::UInt16 | DataType::Int32 => Type::Int4,
        DataType::UInt32 | DataType::Int64 => Type::Int8,
        DataType::UInt64 => Type::numeric(20, 0),
        DataType::Float16 | DataType::Float32 => Type::Float4,
        DataType::Float64 => Type::Float8,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s)
            if *s >= 0 =>
        {
            Type::numeric((*p).into(), s.unsigned_abs().into())
        }
        DataType::Decimal256(..) => Type::Numeric(None),
        DataType::Date32 | DataType::Date64 => Type::Date,
        DataType::Time32(_) | DataType::Time64(_) => Type::Time(None),
        DataType::Timestamp(
            TimeUnit::Second | TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond,
            zone,
        ) => match zone {
            Some(_) => Type::TimestampTz(None),
            None => Type::Timestamp(None),
        },
        DataType::Interval(_) | DataType::Duration(_) => Type::Interval,
        DataType::FixedSizeBinary(16) => Type::Uuid,
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => Type::Bytea,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            type_of(item).array()
        }
        DataType::Struct(fields) => {
            if let Some(element) = element_type(field.data_type()) {
                return type_of(&Field::new("", element.clone(), true)).array();
            }
            let fields = fields.iter();
            Type::Record(
                fields
                    .map(|field| (field.name().clone(), type_of(field)))
                    .collect(),
            )
        }
        DataType::Dictionary(_, values) => type_of(&Field::new("", values.as_ref().clone(), true)),
        _ => Type::Text,
    }
}

impl Catalog for Names<'_> {
    fn relation(
        &self,
        schema: Option<&str>,
        name: &str,
        position: Option<Position>,
    ) -> FrontResult<Option<Found>> {
        if schema.is_none()
            && let Some(given) = self.relations.given(name)
        {
            return self.given(given).map(Some);
        }
        if schema.is_none()
            && let Some(name) = self.relations.temporary(name)
        {
            return self.found(&name).map_err(front_error);
        }
        if schema.is_none()
            && let Some(path) = self.relations.path()
        {
            for schema in path.iter().map(String::as_str).chain([PG_CATALOG]) {
                let name = Self::name(Some(schema), name, position);
                let known = self
                    .relations
                    .snapshot
                    .table(&name.schema, &name.name)
                    .is_some()
                    || self
                        .relations
                        .snapshot
                        .view(&name.schema, &name.name)
                        .is_some()
                    || [PG_CATALOG, INFORMATION_SCHEMA].contains(&schema);
                if known && let Some(found) = self.found(&name).map_err(front_error)? {
                    return Ok(Some(found));
                }
            }
            return Ok(None);
        }
        let name = Self::name(schema, name, position);
        self.found(&name).map_err(front_error)
    }

    fn unknown_relation(
        &self,
        schema: Option<&str>,
        name: &str,
        position: Option<Position>,
    ) -> FrontError {
        let name = Self::name(schema, name, position);
        front_error(self.relations.unknown(&name))
    }

    fn enter_view(&self, schema: Option<&str>, name: &str) -> FrontResult<()> {
        let name = Self::name(schema, name, None);
        self.relations.enter_view(&name).map_err(front_error)
    }

    fn leave_view(&self) {
        self.relations.leave_view();
    }

    fn named_type(&self, schema: Option<&str>, name: &str) -> Option<Type> {
        let name = Self::name(schema, name, None);
        declared::named_type(&self.relations.snapshot, &name.schema, &name.name)
    }

    fn domain(&self, schema: Option<&str>, name: &str) -> FrontResult<Option<Arc<Domain>>> {
        let name = Self::name(schema, name, None);
        let found = declared::domain(&self.relations.snapshot, &name.schema, &name.name);
        Ok(found.map_err(front_error)?.map(Arc::new))
    }

    fn functions(&self, name: &str) -> Vec<Arc<Scalar>> {
        let relations = self.relations;
        let state = relations.state;
        let catalog = relations.snapshot.catalog();
        let numbers = || state.config().get_extension::<TakenNumbers>();
        let found = sequences::function(name, (catalog, relations.own_rights()), numbers);
        let found = found.or_else(|| settings::function(name, state));
        let names = sequences::NAMES.into_iter().chain(settings::NAMES);
        let mut known = names.filter(|known| *known == name);
        match (found, known.next()) {
            (Some(function), Some(name)) => vec![wrapped(name, &function)],
            _ => self.about(name),
        }
    }

    fn sql_functions(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> FrontResult<Vec<Arc<SqlFunction>>> {
        let schema = match schema {
            None => {
                if let Some(path) = self.relations.path() {
                    let mut all = Vec::new();
                    for schema in path {
                        all.extend(self.sql_functions(Some(schema), name)?);
                    }
                    return Ok(all);
                }
                DEFAULT_SCHEMA
            }
            Some(PUBLIC) => DEFAULT_SCHEMA,
            Some(schema) => schema,
        };
        let snapshot = &self.relations.snapshot;
        if snapshot.functions(schema).next().is_none() {
            return Ok(Vec::new());
        }
        let key = (schema.to_owned(), name.to_owned());
        if let Some(known) = self.functions.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = routine::functions(snapshot, (schema, name), self).map_err(front_error)?;
        if !found.is_empty() {
            let rights = self.relations.rights();
            rights.use_schema(snapshot, schema).map_err(front_error)?;
        }
        self.functions.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    fn table_function(
        &self,
        name: &str,
        arguments: &[(Option<String>, Bound)],
    ) -> FrontResult<Option<Relation>> {
        let relations = self.relations;
        let rows = || -> Result<Option<Relation>> {
            let mut values = Vec::with_capacity(arguments.len());
            for (_, value) in arguments {
                // What is no constant is no argument that any of them takes.
                let value = match value.literal() {
                    Some(value) => ScalarValue::try_from_array(value, 0)?,
                    None => ScalarValue::Null,
                };
                values.push(Lowered::Literal(value, None));
            }
            let table = table_functions::table(relations, name, &values)?;
            let catalog = relations.snapshot.catalog();
            Ok(table.map(|table| relation(catalog, &Name::new("", name), table)))
        };
        let found = rows().map_err(front_error)?;
        if found.is_some() && arguments.iter().any(|(name, _)| name.is_some()) {
            let message = format!("function {name} takes no named arguments");
            return Err(FrontError::new("42883", message));
        }
        Ok(found)
    }

    fn objects(&self) -> Arc<dyn Objects> {
        self.numbers()
    }

    fn file(&self, name: &str) -> FrontResult<Option<Relation>> {
        let file = self.relations.files.get(name);
        Ok(file.map(|file| {
            let name = Name::new("", name);
            relation(self.relations.snapshot.catalog(), &name, Arc::clone(file))
        }))
    }
}
