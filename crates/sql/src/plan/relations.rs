//! What the names in a query stand for, in one snapshot.
//!
//! DataFusion's planner asks here for every table, view, file and function. Views
//! are planned from their SQL whenever they are named. Nothing is looked up
//! anywhere else, so a statement sees exactly one version of the catalog.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::catalog::{TableFunctionArgs, TableProvider};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, TableReference};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::error::Result as DfResult;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner, TypePlanner};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    AggregateUDF, Expr, HigherOrderUDF, LogicalPlan, ScalarUDF, TableSource, WindowUDF,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::scalar::ScalarValue;
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::planner::ParserOptions;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use freestone_storage::{Catalog, Object, Privileges, Snapshot};
use parking_lot::Mutex;

use super::given::Given;
use super::names::{DEFAULT_SCHEMA, INFORMATION_SCHEMA, Name, of_reference};
use super::pg_catalog::objects::Described;
use super::pg_catalog::{self, PG_CATALOG};
use super::{information_schema, naming, rewrite, table_functions};
use crate::barrier::barred;
use crate::error::{Error, Result, did_you_mean};
use crate::functions::{roles, sequences, settings};
use crate::rights::{Identity, Rights, denied};
use crate::scan::StoredTable;
use crate::session::{Lent, TakenNumbers};
use crate::statement::parse_one;
use crate::types::Types;

/// Views inside views, at most.
const VIEW_DEPTH: usize = 32;

/// The tables, views, files and functions that a statement can name.
pub(crate) struct Relations<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) snapshot: Snapshot,
    /// Tables of `FROM 'file'`, by the text between the quotes.
    pub(crate) files: HashMap<String, Arc<dyn TableProvider>>,
    /// Rows that statements in WITH have returned.
    pub(crate) given: Vec<Given>,
    /// Schema and name of the table whose row ids the query may name.
    pub(crate) row_ids: Option<(String, String)>,
    /// Tables and views with their columns, for the catalog.
    pub(crate) described: OnceLock<Vec<Described>>,
    /// Whether columns of views are being looked for: the catalog has no rows then.
    pub(crate) describing: AtomicBool,
    /// Names of the views being expanded.
    open_views: Mutex<Vec<String>>,
    /// What the session may do, then the owner of each of those views.
    rights: Mutex<Vec<Rights>>,
}

impl<'a> Relations<'a> {
    pub(crate) fn new(state: &'a SessionState, snapshot: Snapshot) -> Self {
        let identity = state.config().get_extension::<Identity>();
        let own = identity.map_or_else(Rights::none, |identity| identity.rights(&snapshot));
        Self {
            rights: Mutex::new(vec![own]),
            state,
            snapshot,
            files: HashMap::new(),
            given: Vec::new(),
            row_ids: None,
            open_views: Mutex::default(),
            described: OnceLock::new(),
            describing: AtomicBool::new(false),
        }
    }

    /// Plans a query.
    ///
    /// A SELECT list with two columns of one name (`SELECT 1, 1`) is fine in SQL
    /// and an error in DataFusion: it is planned again with names of our own.
    ///
    /// # Errors
    /// Whatever is wrong with the query.
    pub(crate) fn plan(&self, ast: &Ast) -> Result<LogicalPlan> {
        let mut named = ast.clone();
        naming::name_inner_columns(&mut named);
        rewrite::rewrite(&mut named)?;
        match self.plan_once(named.clone()).map_err(Error::from) {
            Err(error) if matches!(error.sqlstate.as_str(), "42701" | "42702") => {
                naming::name_every_column(&mut named);
                self.plan_once(named).map_err(|_| error)
            }
            other => other,
        }
    }

    fn plan_once(&self, ast: Ast) -> DfResult<LogicalPlan> {
        let statement = DfStatement::Statement(Box::new(ast));
        freestone_binder::plan_statement(self, parser_options(self.state), statement)
    }

    /// The table or view of that name.
    pub(crate) fn provider(&self, name: &Name) -> Result<Arc<dyn TableProvider>> {
        let rights = self.rights();
        rights.use_schema(&self.snapshot, &name.schema)?;
        if let Some(table) = self.snapshot.table(&name.schema, &name.name) {
            let view = self.snapshot.read_view(table.id);
            let mut stored = StoredTable::new(table, &name.schema, view);
            let changed = self.row_ids.as_ref();
            if changed.is_some_and(|(schema, table)| *schema == name.schema && *table == name.name)
            {
                stored = stored.with_row_ids();
            }
            // A statement says itself what it needs of the table that it changes.
            let is_changed = stored.has_row_ids() && self.open_views.lock().is_empty();
            if !is_changed {
                rights.table(name, table, Privileges::SELECT)?;
            }
            return Ok(Arc::new(stored));
        }
        if let Some(view) = self.snapshot.view(&name.schema, &name.name) {
            let object = Object::view(&name.schema, &name.name);
            if !rights.may(&object, Privileges::SELECT) {
                return Err(denied("view", &name.name).at(name.position));
            }
            // What is in it, its owner must be able to read.
            let owner = Rights::of_owner(&self.snapshot, &object);
            self.rights.lock().push(owner);
            let plan = self.view_plan(name, &view.sql);
            self.rights.lock().pop();
            // Whoever owns it can read what is in it.
            let plan = match rights.owns(&object) {
                true => plan?,
                false => barred(plan?),
            };
            return Ok(Arc::new(ViewTable::new(plan, Some(view.sql.clone()))));
        }
        if name.schema == INFORMATION_SCHEMA
            && let Some(table) = information_schema::table(self, &name.name)?
        {
            return Ok(table);
        }
        // As in PostgreSQL, its catalog need not be named.
        if (name.schema == PG_CATALOG || name.schema == DEFAULT_SCHEMA)
            && let Some(table) = pg_catalog::table(self, &name.name)?
        {
            return Ok(table);
        }
        if name.schema == DEFAULT_SCHEMA
            && let Some(lent) = self.state.config().get_extension::<Lent>()
            && let Some(frame) = lent.table(&name.name)
        {
            return Ok(frame);
        }
        Err(self.unknown(name))
    }

    /// The plan of a view, whose own views may not lead back to it.
    fn view_plan(&self, name: &Name, sql: &str) -> Result<LogicalPlan> {
        let full = format!("{}.{}", name.schema, name.name);
        {
            let mut open = self.open_views.lock();
            if open.contains(&full) || open.len() >= VIEW_DEPTH {
                return Err(Error::new(
                    "42P17",
                    format!("infinite recursion detected in view \"{name}\""),
                ));
            }
            open.push(full);
        }
        let plan = parse_one(sql).and_then(|ast| {
            let plan = self.plan(&ast)?;
            Ok(naming::rename_output(&ast, plan)?)
        });
        self.open_views.lock().pop();
        plan.map_err(|mut error| {
            error.position = None;
            error.with_detail(format!("in view \"{name}\""))
        })
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
        let object = Object::view(&name.schema, &name.name);
        let owner = Rights::of_owner(&self.snapshot, &object);
        self.rights.lock().push(owner);
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
        self.rights.lock().pop();
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

/// The parser options that make DataFusion's planner follow PostgreSQL.
pub(crate) fn parser_options(state: &SessionState) -> ParserOptions {
    let options = &state.config_options().sql_parser;
    ParserOptions::new()
        .with_parse_float_as_decimal(options.parse_float_as_decimal)
        .with_enable_ident_normalization(true)
        .with_collect_spans(true)
        .with_default_null_ordering(options.default_null_ordering.as_str().into())
}

impl ContextProvider for Relations<'_> {
    fn get_table_source(&self, reference: TableReference) -> DfResult<Arc<dyn TableSource>> {
        if let TableReference::Bare { table } = &reference
            && let Some(file) = self.files.get(table.as_ref())
        {
            return Ok(provider_as_source(Arc::clone(file)));
        }
        let provider = self.provider(&of_reference(&reference)?)?;
        Ok(provider_as_source(provider))
    }

    fn get_table_function_source(
        &self,
        name: &str,
        args: Vec<Expr>,
    ) -> DfResult<Arc<dyn TableSource>> {
        let name = name.trim_matches('"').to_lowercase();
        let context = SimplifyContext::builder()
            .with_config_options(Arc::clone(self.state.config_options()))
            .with_query_execution_start_time(
                self.state.execution_props().query_execution_start_time,
            )
            .build();
        let simplifier = ExprSimplifier::new(context);
        let empty = DFSchema::empty();
        let args = args
            .into_iter()
            .map(|arg| simplifier.simplify(simplifier.coerce(arg, &empty)?))
            .collect::<DfResult<Vec<Expr>>>()?;
        if let Some(table) = table_functions::table(self, &name, &args)? {
            return Ok(provider_as_source(table));
        }
        let Some(function) = self.state.table_functions().get(&name) else {
            let known = self.state.table_functions().keys().map(String::as_str);
            let hint = did_you_mean("function", &name, known.chain(table_functions::NAMES));
            return Err(
                Error::new("42883", format!("table function {name} does not exist"))
                    .with_hint_opt(hint)
                    .into(),
            );
        };
        let args: Vec<Expr> = args.into_iter().map(widened).collect();
        let args = TableFunctionArgs::new(&args, self.state);
        Ok(provider_as_source(
            function.create_table_provider_with_args(args)?,
        ))
    }

    fn create_cte_work_table(
        &self,
        name: &str,
        schema: SchemaRef,
    ) -> DfResult<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(
            name, schema,
        ))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.state.expr_planners()
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(Types))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        let numbers = || self.state.config().get_extension::<TakenNumbers>();
        let own = sequences::function(name, (self.snapshot.catalog(), self.own_rights()), numbers);
        let about = || {
            let identity = self.state.config().get_extension::<Identity>()?;
            roles::function(name, &self.snapshot, &identity)
        };
        own.or_else(about)
            .or_else(|| settings::function(name, self.state))
            .or_else(|| self.state.scalar_functions().get(name).cloned())
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.state.higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.state.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.state.window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.state.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        let names = self.state.scalar_functions().keys().cloned();
        let own = sequences::NAMES.into_iter().chain(settings::NAMES);
        names.chain(own.map(str::to_owned)).collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.state
            .higher_order_functions()
            .keys()
            .cloned()
            .collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.state.aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.state.window_functions().keys().cloned().collect()
    }
}

/// A short whole number as a BIGINT: `generate_series` takes no other.
fn widened(arg: Expr) -> Expr {
    match arg {
        Expr::Literal(
            value @ (ScalarValue::Int8(_) | ScalarValue::Int16(_) | ScalarValue::Int32(_)),
            metadata,
        ) => {
            let wide = value.cast_to(&DataType::Int64).unwrap_or(value);
            Expr::Literal(wide, metadata)
        }
        other => other,
    }
}
