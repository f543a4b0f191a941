//! Tables, views, files and functions of the database, as the front asks for them.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use freestone_frontend::bind::{
    Catalog, Domain, Found, Limited, PartColumn, Parts, Seen, SqlAggregate, SqlFunction, View,
};
use freestone_frontend::functions::objects::{NoObjects, Objects};
use freestone_frontend::functions::{Scalar, TableFunction, tid_of_row};
use freestone_frontend::plan::{Expr as Bound, ExprKind, Relation};
use freestone_frontend::types::{Internal, Type};
use freestone_frontend::{Error as FrontError, Position, Result as FrontResult};
use freestone_storage::{Catalog as Stored, Object, Privileges, Sequence};

use super::advisory;
use super::declared::{self, type_of_stored};
use super::expression::terms_of;
use super::functions::{front_error, of_sequences, wrapped};
use super::system::{InstalledCatalogs, SystemCatalogs};
use crate::error::Result;
use crate::expression::Scalar as Constant;
use crate::functions::{sequences, settings};
use crate::lower::{Handle, Term};
use crate::names::{DEFAULT_SCHEMA, INFORMATION_SCHEMA, Name, PG_CATALOG, PUBLIC, meant_schema};
use crate::oids::{row_type_number, table_number, view_number, view_row_number};
use crate::partition;
use crate::relations::updatable::{Through, is_barrier};
use crate::relations::{Given, PLACE, Relations, TABLE, table_functions};
use crate::rights::denied;
use crate::routine;
use crate::scan::{self, ROW_ID, StoredTable};
use crate::sequences::TakenNumbers;
use crate::source::Source;
use crate::statement::parse_one;
use crate::types::type_of;

/// Overloads of a function whose body is SQL.
type SqlFunctions = Vec<Arc<SqlFunction>>;

/// Aggregates of one name in one schema.
type SqlAggregates = Vec<Arc<SqlAggregate>>;

/// The names that a statement may use.
pub(crate) struct Names<'a> {
    relations: &'a Relations<'a>,
    system: OnceCell<Option<Box<dyn SystemCatalogs>>>,
    /// Functions whose body is SQL, by schema and name.
    functions: RefCell<HashMap<(String, String), SqlFunctions>>,
    aggregates: RefCell<HashMap<(String, String), SqlAggregates>>,
    /// Whether relations have columns that tell where their rows are.
    shows_places: Cell<bool>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(relations: &'a Relations<'a>) -> Self {
        Self {
            relations,
            system: OnceCell::new(),
            shows_places: Cell::new(false),
            functions: RefCell::default(),
            aggregates: RefCell::default(),
        }
    }

    /// The system catalogs.
    fn system(&self) -> Option<&dyn SystemCatalogs> {
        let system = self.system.get_or_init(|| {
            let installed = self.relations.state.get::<InstalledCatalogs>();
            installed.map(|installed| (installed.0)())
        });
        system.as_deref()
    }

    /// A table of the catalog with its rows.
    fn catalogued(&self, name: &Name) -> Result<Option<Relation>> {
        let Some(system) = self.system() else {
            return Ok(None);
        };
        let Some(table) = system.table(self.relations, &name.schema, &name.name)? else {
            return Ok(None);
        };
        Ok(Some(Relation {
            schema: name.schema.clone(),
            name: name.name.clone(),
            columns: table.columns,
            hidden: table.hidden,
            key: Vec::new(),
            number: 0,
            handle: Arc::new(Handle::of(Source::of_batch(table.rows))),
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
            handle: Arc::new(Handle::of(Arc::clone(rows))),
        }))
    }

    /// The tables with the rows of a partitioned table. Another table has its own rows, which are
    /// a part where columns tell of their places; else `None`.
    fn parts(
        &self,
        name: &Name,
        source: &Source,
        terms: &Arc<[Term]>,
    ) -> Result<Option<Vec<Leaf>>> {
        let Some(stored) = source.stored() else {
            return Ok(None);
        };
        let (whole, view) = stored.parts();
        let snapshot = &self.relations.snapshot;
        let mut parts = Vec::new();
        if whole.schema.partitioned.is_none() {
            if !self.shows_places.get() {
                return Ok(None);
            }
            let own = StoredTable::new(whole, view.clone()).with_row_ids();
            let part = relation(
                snapshot,
                name,
                Arc::new(Source::Stored(own)),
                Arc::clone(terms),
            );
            let places = (0..part.columns.len()).collect();
            return Ok(Some(vec![(part, table_number(whole), places)]));
        }
        for (schema, leaf) in partition::leaves(snapshot, whole) {
            let view = snapshot.read_view(leaf.id);
            let held = scan::held(snapshot, leaf);
            let mut of = StoredTable::new(leaf, view).holding(held);
            if stored.has_row_ids() {
                of = of.with_row_ids();
            }
            let places = partition::places(whole, leaf)?;
            let called = Name::new(schema, &leaf.name);
            let part = relation(
                snapshot,
                &called,
                Arc::new(Source::Stored(of)),
                Arc::default(),
            );
            parts.push((part, table_number(leaf), places));
        }
        Ok(Some(parts))
    }

    /// Finds a relation by its name. In a view it has the names of the day on which the view was made.
    fn found(&self, name: &Name) -> Result<Option<Found>> {
        let relations = self.relations;
        let read = relations.read(name);
        let now = match &read {
            Some(read) => Name {
                schema: read.now.0.clone(),
                name: read.now.1.clone(),
                position: name.position,
            },
            None => name.clone(),
        };
        if relations.is_without(&now) {
            return Ok(None);
        }
        let Some(found) = self.found_now(&now)? else {
            return Ok(None);
        };
        let found = self.limited(found, &now);
        let less = relations.without_column(&now);
        let mut columns = match (read, less, &found) {
            (Some(read), ..) => read.columns,
            (None, Some(_), Found::Relation(of) | Found::Parts(Parts { whole: of, .. })) => {
                let names = of.columns.iter().map(|(name, _)| name);
                names.map(|name| (name.clone(), name.clone())).collect()
            }
            _ => return Ok(Some(found)),
        };
        columns.retain(|(_, now)| less.is_none_or(|less| less != now));
        let seen = Seen {
            schema: name.schema.clone(),
            name: name.name.clone(),
            columns,
            hidden: Vec::new(),
        };
        Ok(Some(Found::Seen(Box::new(found), seen)))
    }

    /// A table whose rows have numbers, if columns tell of their places.
    fn with_places(&self, source: Arc<Source>) -> Arc<Source> {
        match source.stored() {
            Some(stored) if self.shows_places.get() && !stored.has_row_ids() => {
                let (table, view) = stored.parts();
                let own = StoredTable::new(table, view.clone()).with_row_ids();
                Arc::new(Source::Stored(own))
            }
            _ => source,
        }
    }

    /// A table or view of which only some columns may be read, with these.
    fn limited(&self, found: Found, name: &Name) -> Found {
        let relations = self.relations;
        let snapshot = &relations.snapshot;
        let (kind, object) = match &found {
            Found::View(_) => ("view", Object::view(&name.schema, &name.name)),
            _ => match snapshot.table(&name.schema, &name.name) {
                Some(table) => ("table", table.id.into()),
                None => return found,
            },
        };
        let rights = relations.rights();
        if relations.is_changed(name) || rights.may(&object, Privileges::SELECT) {
            return found;
        }
        let error = denied(kind, &name.name).at(name.position);
        let mut columns = rights.columns(&object, Privileges::SELECT);
        // Row locks read it, and no statement can name it.
        columns.push(ROW_ID.to_owned());
        let limited = Limited {
            columns,
            error: front_error(error),
        };
        Found::Limited(Box::new(found), limited)
    }

    /// The relation that a marked name stands for: a view by which a statement changes rows, one that it is
    /// over, or the table under them.
    fn found_through(&self, through: &Through, level: usize) -> Result<Found> {
        let relations = self.relations;
        let found = match through.level(level) {
            Some(over) => Found::View(View {
                schema: over.name.schema.clone(),
                name: over.name.name.clone(),
                query: Box::new(through.query(level)?),
                hidden: through.hidden(level),
                barrier: {
                    let object = Object::view(&over.name.schema, &over.name.name);
                    !relations.rights().owns(&object) || over.barrier
                },
            }),
            None => self.under_views(through)?,
        };
        let Some(over) = through.over(level) else {
            return Ok(found);
        };
        let hidden = match through.level(level) {
            Some(_) => Vec::new(),
            None => through.of_table(),
        };
        let seen = Seen {
            schema: over.then.0.clone(),
            name: over.then.1.clone(),
            columns: over.visible.clone(),
            hidden,
        };
        Ok(Found::Seen(Box::new(found), seen))
    }

    /// The table under views by which a statement changes rows, or rows in its place.
    fn under_views(&self, through: &Through) -> Result<Found> {
        if let Some(rows) = through.rows() {
            return Ok(self.given(rows)?);
        }
        let (name, table) = through.table();
        let snapshot = &self.relations.snapshot;
        let view = snapshot.read_view(table.id);
        let stored = StoredTable::new(table, view).with_row_ids();
        let source = Arc::new(Source::Stored(stored));
        let terms: Arc<[Term]> = terms_of(self.relations, &table.schema)?.into();
        let parts = self.parts(name, &source, &terms)?;
        let whole = relation(snapshot, name, source, terms);
        Ok(match parts {
            Some(parts) => Found::Parts(in_parts(whole, parts)),
            None => Found::Relation(whole),
        })
    }

    fn found_now(&self, name: &Name) -> Result<Option<Found>> {
        let relations = self.relations;
        let snapshot = &relations.snapshot;
        if relations.has(&name.schema, &name.name) {
            relations.list(name);
        }
        if let Some(view) = snapshot.view(&name.schema, &name.name) {
            let rights = relations.rights();
            rights.use_schema(snapshot, &name.schema)?;
            let object = Object::view(&name.schema, &name.name);
            if !relations.is_changed(name) && !rights.may_any(&object, Privileges::SELECT) {
                return Err(denied("view", &name.name).at(name.position));
            }
            let sqlparser::ast::Statement::Query(query) = parse_one(&view.query.sql)? else {
                return Err(crate::Error::internal("a view that is no query"));
            };
            return Ok(Some(Found::View(View {
                schema: name.schema.clone(),
                name: name.name.clone(),
                query,
                hidden: 0,
                barrier: !rights.owns(&object) || is_barrier(&view.query),
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
        let source = match relations.source(name) {
            Ok(source) => source,
            Err(error) if error.sqlstate == "42P01" && !known => return Ok(None),
            Err(error) => return Err(error),
        };
        let terms: Arc<[Term]> = match snapshot.table(&name.schema, &name.name) {
            Some(table) => terms_of(relations, &table.schema)?.into(),
            None => Arc::default(),
        };
        let source = self.with_places(source);
        let parts = self.parts(name, &source, &terms)?;
        let whole = relation(snapshot, name, source, terms);
        Ok(Some(match parts {
            Some(parts) => Found::Parts(in_parts(whole, parts)),
            None => Found::Relation(whole),
        }))
    }
}

/// A table with rows of a partitioned one, its number, and where the columns are in it.
type Leaf = (Relation, i64, Vec<usize>);

/// A relation whose rows are those of parts, with the number of each row's table and, if rows have
/// numbers, its place.
fn in_parts(mut whole: Relation, parts: Vec<Leaf>) -> Parts {
    let row_ids = whole.hidden.len();
    let row_id = whole.hidden.iter().position(|(name, _)| name == ROW_ID);
    whole.hidden.push((TABLE.to_owned(), Type::Oid));
    if row_id.is_some() {
        let tid = Type::Internal(Internal::Tid);
        whole.hidden.push((PLACE.to_owned(), tid));
    }
    let parts = parts.into_iter().map(|(part, number, places)| {
        let own = part.columns.len();
        let places = places.into_iter().chain(own..own + row_ids);
        let mut places: Vec<PartColumn> = places.map(PartColumn::At).collect();
        let number: ArrayRef = Arc::new(Int64Array::from(vec![number]));
        let number = Bound::new(ExprKind::Literal(number), Type::Oid);
        places.push(PartColumn::Value(number));
        if let Some(row_id) = row_id {
            places.push(PartColumn::Of(tid_of_row(), own + row_id));
        }
        (part, places)
    });
    Parts {
        parts: parts.collect(),
        whole,
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
        handle: Arc::new(Handle::of(Source::of_batch(batch))),
    })
}

/// A source's columns and itself.
fn relation(catalog: &Stored, name: &Name, source: Arc<Source>, terms: Arc<[Term]>) -> Relation {
    let stored = source.stored();
    let schema = source.schema();
    let (mut columns, mut hidden) = (Vec::new(), Vec::new());
    let (mut key, mut number) = (Vec::new(), 0);
    match stored {
        Some(stored) => {
            let (table, _) = stored.parts();
            number = row_type_number(table);
            for column in &table.schema.columns {
                let ty = type_of_stored(catalog, column);
                let list = match column.hidden {
                    None => &mut columns,
                    Some(_) => &mut hidden,
                };
                list.push((column.name.clone(), ty));
            }
            if stored.has_row_ids() {
                // Row ids use all 64 bits, and the language has no unsigned integers.
                hidden.push((ROW_ID.to_owned(), Type::numeric(20, 0)));
            }
            if let Some(primary) = table
                .schema
                .keys
                .iter()
                .find(|key| key.primary && key.deferral.is_never())
            {
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
        handle: Arc::new(Handle { source, terms }),
    }
}

impl Catalog for Names<'_> {
    fn list_of_changes(&self) -> Option<&'static str> {
        self.relations.list_of
    }

    fn show_places(&self) -> bool {
        !self.shows_places.replace(true)
    }

    fn relation(
        &self,
        schema: Option<&str>,
        name: &str,
        position: Option<Position>,
    ) -> FrontResult<Option<Found>> {
        if schema.is_none()
            && let Some((through, level)) = self.relations.through(name)
        {
            let found = self.found_through(&through, level);
            return found.map(Some).map_err(front_error);
        }
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
                let known = self.relations.has(&name.schema, &name.name)
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

    fn row_number_of_view(&self, schema: &str, name: &str) -> i64 {
        let schema = meant_schema(schema);
        let number = view_number(&self.relations.snapshot, schema, name);
        number.and_then(view_row_number).unwrap_or(0)
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
        if self.relations.is_without_type(&name.schema, &name.name) {
            return None;
        }
        declared::named_type(&self.relations.snapshot, &name.schema, &name.name)
    }

    fn domain(&self, schema: Option<&str>, name: &str) -> FrontResult<Option<Arc<Domain>>> {
        let name = Self::name(schema, name, None);
        if self.relations.is_without_type(&name.schema, &name.name) {
            return Ok(None);
        }
        let found = declared::domain(&self.relations.snapshot, &name.schema, &name.name);
        Ok(found.map_err(front_error)?.map(Arc::new))
    }

    fn functions(&self, name: &str) -> Vec<Arc<Scalar>> {
        let relations = self.relations;
        let state = relations.state;
        let catalog = relations.snapshot.catalog();
        let numbers = || state.get::<TakenNumbers>();
        let (rights, own) = (relations.own_rights(), relations.own_schema());
        let found = sequences::function(name, (catalog, rights), own.as_deref(), numbers);
        if let (Some(function), Some(name)) = (found, sequences::known(name)) {
            return of_sequences(name, &function, catalog);
        }
        let found = settings::function(name, state);
        let mut known = settings::NAMES.into_iter().filter(|known| *known == name);
        match (found, known.next()) {
            (Some(function), Some(name)) => vec![wrapped(name, &function)],
            _ if name.contains("_advisory_") => {
                let all = advisory::functions(name, state).into_iter();
                all.map(Arc::new).collect()
            }
            _ => self
                .system()
                .map_or_else(Vec::new, |system| system.functions(relations, name)),
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
        let found = routine::functions(snapshot, (schema, name), self, |signature| {
            !self.relations.is_without_function(schema, signature)
        });
        let found = found.map_err(front_error)?;
        if !found.is_empty() {
            let rights = self.relations.rights();
            rights.use_schema(snapshot, schema).map_err(front_error)?;
        }
        self.functions.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    fn sql_aggregates(&self, schema: Option<&str>, name: &str) -> FrontResult<SqlAggregates> {
        let schema = match (schema, self.relations.path()) {
            (None, Some(path)) => {
                let mut all = Vec::new();
                for schema in path {
                    all.extend(self.sql_aggregates(Some(schema), name)?);
                }
                return Ok(all);
            }
            (None | Some(PUBLIC), _) => DEFAULT_SCHEMA,
            (Some(schema), _) => schema,
        };
        let snapshot = &self.relations.snapshot;
        if snapshot.functions(schema).next().is_none() {
            return Ok(Vec::new());
        }
        let key = (schema.to_owned(), name.to_owned());
        if let Some(known) = self.aggregates.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = routine::aggregates(snapshot, (schema, name), self, |signature| {
            !self.relations.is_without_function(schema, signature)
        });
        let found = found.map_err(front_error)?;
        if !found.is_empty() {
            let rights = self.relations.rights();
            rights.use_schema(snapshot, schema).map_err(front_error)?;
        }
        self.aggregates.borrow_mut().insert(key, found.clone());
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
                let none = || Constant::null(&DataType::Null);
                let value = value.literal();
                values.push(value.map_or_else(none, |value| Constant::of(value, 0)));
            }
            let table = table_functions::table(relations, name, &values)?;
            let catalog = relations.snapshot.catalog();
            Ok(table.map(|table| relation(catalog, &Name::new("", name), table, Arc::default())))
        };
        let found = rows().map_err(front_error)?;
        if found.is_some() && arguments.iter().any(|(name, _)| name.is_some()) {
            let message = format!("function {name} takes no named arguments");
            return Err(FrontError::new("42883", message));
        }
        Ok(found)
    }

    fn tables(&self, name: &str) -> Vec<Arc<TableFunction>> {
        let system = self.system();
        system.map_or_else(Vec::new, |system| {
            system.table_functions(self.relations, name)
        })
    }

    fn objects(&self) -> Arc<dyn Objects> {
        match self.system() {
            Some(system) => system.objects(self.relations),
            None => Arc::new(NoObjects),
        }
    }

    fn file(&self, name: &str) -> FrontResult<Option<Relation>> {
        let file = self.relations.files.get(name);
        Ok(file.map(|file| {
            let name = Name::new("", name);
            {
                let catalog = self.relations.snapshot.catalog();
                relation(catalog, &name, Arc::clone(file), Arc::default())
            }
        }))
    }
}
