//! What the names in a query stand for, in one snapshot.
//!
//! The front asks here for every table, view and file. Nothing is looked up anywhere else, so
//! that a statement sees exactly one version of the catalog.

mod calls;
mod described;
mod given;
mod materialized;
pub(crate) mod table_functions;
pub(crate) mod updatable;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use crate::state::SessionState;
use freestone_storage::{Catalog, Object, Privileges, ReadRelation, Snapshot, TableId, ViewQuery};
use parking_lot::Mutex;

use self::updatable::{Through, is_of_invoker};
use crate::error::{Error, Result, did_you_mean};
use crate::frames::Lent;
use crate::names::{DEFAULT_SCHEMA, Name, temporary_schema};
use crate::rights::{Identity, Rights};
use crate::scan::StoredTable;
use crate::settings::ClientSettings;
use crate::source::Source;

pub(crate) use calls::{Gives, expressions_of};
pub(crate) use described::Described;
pub(crate) use given::Given;
pub(crate) use materialized::{may_change, may_read};

/// The column with the number of a row's table.
pub(crate) const TABLE: &str = "tableoid";
/// The hidden column that tells where a row is.
pub(crate) const PLACE: &str = "ctid";

/// Views inside views, at most.
const VIEW_DEPTH: usize = 32;

/// A function, a type or a relation by its schema and its signature or name, or a column of a
/// relation.
#[derive(Clone, Debug)]
pub(crate) enum Without {
    Function(String, String),
    Type(String, String),
    Relation(Name),
    Column(Name, String),
}

/// The tables, views, files and functions that a statement can name.
pub(crate) struct Relations<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) snapshot: Snapshot,
    /// Tables of `FROM 'file'`, by the text between the quotes.
    pub(crate) files: HashMap<String, Arc<Source>>,
    /// Rows that statements in WITH have returned.
    pub(crate) given: Vec<Given>,
    /// Schema and name of the table whose row ids the query may name.
    pub(crate) row_ids: Option<(String, String)>,
    /// The clause of a statement that changes rows whose expressions are the list of the query.
    pub(crate) list_of: Option<&'static str>,
    /// Views by which the statement changes rows.
    pub(crate) through: Vec<Arc<Through>>,
    /// Tables whose rows the query locks: their row ids may be named, too.
    pub(crate) locked: Vec<TableId>,
    /// Tables and views with their columns, for the catalog.
    pub(crate) described: OnceLock<Vec<Described>>,
    /// Whether columns of views are being looked for: the catalog has no rows then.
    pub(crate) describing: AtomicBool,
    /// The object that is planned as if it were not there.
    pub(crate) without: Option<Without>,
    /// Where names without a schema are looked up, if not in the default one.
    path: Option<Vec<String>>,
    /// Names of the views being expanded.
    open_views: Mutex<Vec<String>>,
    /// The notes of the materialized view whose query this is, if it is one; then those of each
    /// open view.
    reads: Mutex<Vec<Vec<ReadRelation>>>,
    /// The tables and views that the query itself names, if that is asked for.
    named: Option<Mutex<Vec<Name>>>,
    /// What the session may do, then the owner of each of those views.
    rights: Mutex<Vec<Rights>>,
}

impl<'a> Relations<'a> {
    pub(crate) fn new(state: &'a SessionState, snapshot: Snapshot) -> Self {
        let identity = state.get::<Identity>();
        let own = identity.map_or_else(Rights::none, |identity| identity.rights(&snapshot));
        Self {
            path: path_of(state, &snapshot),
            rights: Mutex::new(vec![own]),
            state,
            snapshot,
            files: HashMap::new(),
            given: Vec::new(),
            row_ids: None,
            list_of: None,
            through: Vec::new(),
            locked: Vec::new(),
            open_views: Mutex::default(),
            reads: Mutex::new(vec![Vec::new()]),
            named: None,
            described: OnceLock::new(),
            describing: AtomicBool::new(false),
            without: None,
        }
    }

    /// Everything, whoever may read it, but for one object.
    pub(crate) fn of_all(
        state: &'a SessionState,
        snapshot: Snapshot,
        without: Option<&Without>,
    ) -> Self {
        Self {
            rights: Mutex::new(vec![Rights::All]),
            without: without.cloned(),
            ..Self::new(state, snapshot)
        }
    }

    /// With notes of the relations that a query reads.
    pub(crate) fn noting(self, reads: &[ReadRelation]) -> Self {
        Self {
            reads: Mutex::new(vec![reads.to_vec()]),
            ..self
        }
    }

    /// With a list of the tables and views that the query names.
    pub(crate) fn listing(self) -> Self {
        Self {
            named: Some(Mutex::default()),
            ..self
        }
    }

    /// The tables and views that the query has named.
    pub(crate) fn listed(&self) -> Vec<Name> {
        let named = self.named.as_ref().map(|named| named.lock().clone());
        named.unwrap_or_default()
    }

    /// Lists a table or view that the query names.
    pub(crate) fn list(&self, name: &Name) {
        let Some(named) = &self.named else {
            return;
        };
        if !self.open_views.lock().is_empty() {
            return;
        }
        let mut named = named.lock();
        let same = |known: &Name| known.schema == name.schema && known.name == name.name;
        if !named.iter().any(same) {
            named.push(Name::new(&name.schema, &name.name));
        }
    }

    /// The relation that a name in a view means.
    pub(crate) fn read(&self, name: &Name) -> Option<ReadRelation> {
        let reads = self.reads.lock();
        let mut reads = reads.last()?.iter();
        let meant = |read: &&ReadRelation| read.then.0 == name.schema && read.then.1 == name.name;
        reads.find(meant).cloned()
    }

    /// Whether a relation is planned as if it were not there.
    pub(crate) fn is_without(&self, name: &Name) -> bool {
        matches!(&self.without, Some(Without::Relation(of))
            if of.schema == name.schema && of.name == name.name)
    }

    /// The column that a relation is planned without, in views.
    pub(crate) fn without_column(&self, name: &Name) -> Option<&str> {
        match &self.without {
            Some(Without::Column(of, column))
                if of.schema == name.schema && of.name == name.name =>
            {
                Some(column)
            }
            _ => None,
        }
    }

    /// Whether a function of a schema is planned as if it were not there.
    pub(crate) fn is_without_function(&self, schema: &str, signature: &str) -> bool {
        matches!(&self.without, Some(Without::Function(of, known)) if of == schema && known == signature)
    }

    /// Whether a type of a schema is.
    pub(crate) fn is_without_type(&self, schema: &str, name: &str) -> bool {
        matches!(&self.without, Some(Without::Type(of, known)) if of == schema && known == name)
    }

    /// The schemas in which a name without one is looked up; `None` for the default one. The
    /// path of the session is nothing to what stands in a view.
    pub(crate) fn path(&self) -> Option<&[String]> {
        let path = self.path.as_deref()?;
        self.open_views.lock().is_empty().then_some(path)
    }

    /// The schema of the session's temporary relations, once there may be some.
    pub(crate) fn own_schema(&self) -> Option<String> {
        let client = self.state.get::<ClientSettings>()?;
        client.temporary.get().cloned()
    }

    /// Whether a schema is that of another session's temporary relations.
    pub(crate) fn is_of_other(&self, schema: &str) -> bool {
        temporary_schema(schema) && self.own_schema().as_deref() != Some(schema)
    }

    /// Whether there is a table, view or sequence of a name.
    pub(crate) fn has(&self, schema: &str, name: &str) -> bool {
        let snapshot = &self.snapshot;
        snapshot.table(schema, name).is_some()
            || snapshot.view(schema, name).is_some()
            || snapshot.sequence(schema, name).is_some()
    }

    /// The name of the session's temporary relation that a name without a schema means, if there
    /// is one. What stands in a view means none.
    pub(crate) fn temporary(&self, name: &str) -> Option<Name> {
        let schema = self.own_schema()?;
        if !self.has(&schema, name) {
            return None;
        }
        let before = before_temporary(self.state, self.snapshot.catalog());
        if before.iter().any(|schema| self.has(schema, name)) {
            return None;
        }
        self.open_views
            .lock()
            .is_empty()
            .then(|| Name::new(&schema, name))
    }

    fn has_row_ids(&self, name: &Name) -> bool {
        let changed = self.row_ids.as_ref();
        changed.is_some_and(|(schema, table)| *schema == name.schema && *table == name.name)
    }

    /// Whether a name is that of what the statement changes, which says itself what it needs of
    /// it.
    pub(crate) fn is_changed(&self, name: &Name) -> bool {
        self.has_row_ids(name) && self.open_views.lock().is_empty()
    }

    /// The views that a marked name stands for, and which of them.
    pub(crate) fn through(&self, name: &str) -> Option<(Arc<Through>, usize)> {
        let mut all = self.through.iter();
        all.find_map(|one| Some((Arc::clone(one), one.level_called(name)?)))
    }

    /// The table of that name, one that is stored or one that was lent.
    pub(crate) fn source(&self, name: &Name) -> Result<Arc<Source>> {
        let rights = self.rights();
        rights.use_schema(&self.snapshot, &name.schema)?;
        if let Some(table) = self.snapshot.table(&name.schema, &name.name) {
            let view = self.snapshot.read_view(table.id);
            let mut stored = StoredTable::new(table, view);
            let changed = self.has_row_ids(name);
            if changed || self.locked.contains(&table.id) {
                stored = stored.with_row_ids();
            }
            if !self.is_changed(name) {
                rights.any_column(name, table, Privileges::SELECT)?;
            }
            return Ok(Arc::new(Source::Stored(stored)));
        }
        if name.schema == DEFAULT_SCHEMA
            && let Some(lent) = self.state.get::<Lent>()
            && let Some(frame) = lent.table(&name.name)
        {
            return Ok(frame);
        }
        Err(self.unknown(name))
    }

    /// Names in a view are looked up by the rights of its owner from now on.
    ///
    /// # Errors
    /// `42P17` for a view that leads back to itself.
    pub(crate) fn enter_view(&self, name: &Name) -> Result<()> {
        let full = format!("{}.{}", name.schema, name.name);
        let mut open = self.open_views.lock();
        if open.contains(&full) || open.len() >= VIEW_DEPTH {
            let message = format!("infinite recursion detected in view \"{name}\"");
            return Err(Error::new("42P17", message));
        }
        open.push(full);
        let query = query_of_view(&self.snapshot, &name.schema, &name.name);
        let reads = query.map_or_else(Vec::new, |query| query.reads.clone());
        self.reads.lock().push(reads);
        let rights = match query.is_some_and(is_of_invoker) {
            true => self.rights(),
            false => {
                let object = Object::view(&name.schema, &name.name);
                Rights::of_owner(&self.snapshot, &object)
            }
        };
        self.rights.lock().push(rights);
        Ok(())
    }

    /// The rows of that name that a statement in WITH has returned.
    pub(crate) fn given(&self, name: &str) -> Option<&Given> {
        match self.open_views.lock().is_empty() {
            true => self.given.iter().rev().find(|given| given.name == name),
            false => None,
        }
    }

    /// The end of [`Relations::enter_view`].
    pub(crate) fn leave_view(&self) {
        self.open_views.lock().pop();
        self.reads.lock().pop();
        self.rights.lock().pop();
    }

    /// Names in the view that was entered last mean what they mean now.
    pub(crate) fn forget_reads(&self) {
        if let Some(reads) = self.reads.lock().last_mut() {
            reads.clear();
        }
    }

    /// What may be done with what is named now.
    pub(crate) fn rights(&self) -> Rights {
        let rights = self.rights.lock();
        rights.last().cloned().unwrap_or_else(Rights::none)
    }

    /// What the session may do, in views too.
    pub(crate) fn own_rights(&self) -> Rights {
        let rights = self.rights.lock();
        rights.first().cloned().unwrap_or_else(Rights::none)
    }

    /// "does not exist", with the nearest name that does.
    pub(crate) fn unknown(&self, name: &Name) -> Error {
        unknown_table(&self.snapshot, name)
    }
}

/// The query of a view, which may be a materialized one.
pub(crate) fn query_of_view<'c>(
    catalog: &'c Catalog,
    schema: &str,
    name: &str,
) -> Option<&'c ViewQuery> {
    match catalog.view(schema, name) {
        Some(view) => Some(&view.query),
        None => {
            let view = catalog.table(schema, name)?.schema.materialized.as_ref()?;
            Some(&view.query)
        }
    }
}

/// The schemas of a session's path, if it is not the one that every session begins with.
pub(crate) fn path_of(state: &SessionState, snapshot: &Snapshot) -> Option<Vec<String>> {
    let client = state.get::<ClientSettings>()?;
    let path = client.path()?;
    let identity = state.get::<Identity>();
    let path = path.iter().filter_map(|schema| match schema.as_str() {
        "$user" => {
            let user = identity.as_ref()?.current().name(snapshot.catalog());
            snapshot
                .schemas()
                .any(|known| known == user)
                .then_some(user)
        }
        schema => Some(schema.to_owned()),
    });
    let path: Vec<String> = path.collect();
    (path != [DEFAULT_SCHEMA]).then_some(path)
}

/// The schemas of a session's path in which names are looked up before its temporary relations.
pub(crate) fn before_temporary(state: &SessionState, catalog: &Catalog) -> Vec<String> {
    let client = state.get::<ClientSettings>();
    let Some(client) = client else {
        return Vec::new();
    };
    let of_temporary = client.of_temporary();
    if of_temporary.behind.is_empty() {
        return Vec::new();
    }
    let identity = state.get::<Identity>();
    let user = identity.map(|identity| identity.current().name(catalog));
    of_temporary.schemas(catalog, user.as_deref())
}

/// `42P01` for a table or view, with the nearest name as a hint.
pub(crate) fn unknown_table(snapshot: &Catalog, name: &Name) -> Error {
    let tables = snapshot.tables(&name.schema);
    let views = snapshot.views(&name.schema);
    let names = tables
        .iter()
        .map(|table| table.name.as_str())
        .chain(views.iter().map(|view| view.name.as_str()));
    let function = table_functions::called(&name.name);
    let mut hint = function.or_else(|| did_you_mean("table", &name.name, names));
    if hint.is_none() && !snapshot.schemas().any(|schema| schema == name.schema) {
        hint = did_you_mean("schema", &name.schema, snapshot.schemas());
    }
    Error::new("42P01", format!("table \"{name}\" does not exist"))
        .at(name.position)
        .with_hint_opt(hint)
}

/// `42P01` for a sequence, with the nearest name as a hint.
pub(crate) fn unknown_sequence(catalog: &Catalog, name: &Name) -> Error {
    let known = catalog.all_sequences();
    let known = known.filter(|(schema, _)| *schema == name.schema);
    let names = known.map(|(_, sequence)| sequence.name.as_str());
    Error::new("42P01", format!("sequence \"{name}\" does not exist"))
        .at(name.position)
        .with_hint_opt(did_you_mean("sequence", &name.name, names))
}
