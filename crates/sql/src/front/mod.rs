//! The language front over this database: its names, its session, and the plans it makes.
//!
//! A query is bound by [`freestone_frontend`], which asks [`Names`] for tables, views and
//! functions; its dependent joins are removed, and the plan is lowered to operators.

mod advisory;
mod declared;
mod digits;
mod evaluation;
mod expression;
mod functions;
mod names;
mod nextval;
mod session;
mod system;
mod views;

use std::sync::Arc;

use arrow::array::RecordBatch;
use freestone_frontend::bind::Binder;
use freestone_frontend::functions::Session;
use freestone_frontend::plan::Plan;
use freestone_frontend::stack;
use sqlparser::ast::Statement as Ast;

use freestone_frontend::types::Type;

use crate::engine::Pipelines;
use crate::error::{Error, Result};
use crate::interrupt::Requests;
use crate::keyed::{self, Form, KeyChange, KeyPlan, Seen};
use crate::lower::{self, Handle, Lowered, Surroundings};
use crate::relations::{Relations, may_read};
use crate::workload::Record;

pub(crate) use declared::{
    declared_by, declared_type, default_of, domain_of, full_name_of_type, has_arrays_of_domain,
    has_domains, is_domain_over_arrays, labels_of, shown_declaration, shown_type, type_of_stored,
    type_to_store,
};

pub(crate) use digits::{Digits, digits_of};
pub(crate) use evaluation::{
    Columns, Compiled, Expressions, columns_in, condition_of, has_query, kind_of, parse_expr,
    with_value,
};
pub(crate) use expression::{
    Purpose, is_immutable, is_same, lowered_expression, type_of_expression, with_types,
};
pub(crate) use functions::wrapped;
pub(crate) use names::Names;

pub(crate) use nextval::{has_numbers_of, nextval_of, takes_numbers_of};
pub(crate) use session::session_of;
pub(crate) use system::{InstalledCatalogs, SystemCatalogs, SystemTable};
pub(crate) use views::{Nothing, columns_of_view};

/// The plan of a query.
pub(crate) struct Logical {
    /// The plan.
    pub(crate) plan: Pipelines,
    /// Names of its columns.
    pub(crate) names: Vec<String>,
    /// Types of its columns.
    pub(crate) types: Vec<Type>,
    /// Types of its parameters, as far as they are known.
    pub(crate) parameters: Vec<Option<Type>>,
    /// Whether it depends on the time at which it was made.
    pub(crate) dated: bool,
    /// The settings under which it was made.
    pub(crate) session: Arc<Session>,
    /// The error of reading it, if it has a materialized view without rows.
    pub(crate) unreadable: Option<Error>,
}

impl Logical {
    /// The plan with its columns as clients are shown them.
    ///
    /// # Errors
    /// Those of building plans.
    pub(crate) fn shown(self) -> Result<Self> {
        let session = Arc::clone(&self.session);
        self.changed(|lowered| lower::output(lowered, &session))
    }

    /// The plan with its columns as storage takes them.
    ///
    /// # Errors
    /// Those of building plans.
    pub(crate) fn stored(self) -> Result<Self> {
        self.changed(lower::stored)
    }

    /// The plan to be run.
    ///
    /// # Errors
    /// The error of reading it, if it has a materialized view without rows.
    pub(crate) fn runnable(&self) -> Result<Pipelines> {
        match &self.unreadable {
            Some(error) => Err(error.clone()),
            None => Ok(self.plan.clone()),
        }
    }

    fn changed(self, change: impl FnOnce(Lowered) -> Result<Lowered>) -> Result<Self> {
        let Lowered { plan, names, types } = change(Lowered {
            plan: self.plan,
            names: self.names,
            types: self.types,
        })?;
        Ok(Self {
            plan,
            names,
            types,
            ..self
        })
    }

    /// The plan with its columns under their names.
    ///
    /// # Errors
    /// `42701` if two have one name.
    pub(crate) fn renamed(self) -> Result<Self> {
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = self.names.iter().find(|name| !seen.insert(name.as_str())) {
            let message = format!("column \"{twice}\" specified more than once");
            return Err(Error::new("42701", message));
        }
        let plan = self.plan.named(&self.names);
        Ok(Self { plan, ..self })
    }
}

/// A query that is planned, or the rows of one that are found by keys.
pub(crate) enum Planned {
    /// Its plan.
    Plan(Box<Logical>),
    /// Its rows, in the form that was asked for.
    Rows(RecordBatch),
}

/// The plan of a query over the names in sight.
///
/// # Errors
/// Whatever is wrong with it.
pub(crate) fn planned(relations: &Relations<'_>, ast: &Ast) -> Result<Logical> {
    planned_for(relations, ast, &[])
}

/// The rows of a query over the names in sight if they are found by keys, or its plan.
///
/// # Errors
/// Whatever is wrong with it; those of finding the rows.
pub(crate) fn found_or_planned(relations: &Relations<'_>, ast: &Ast) -> Result<Planned> {
    found_as(relations, ast, &[], Form::Shown)
}

/// The rows of a query as storage takes them if they are found by keys, or its plan, as
/// [`planned_into`].
///
/// # Errors
/// As [`planned_into`]; those of finding the rows.
pub(crate) fn found_or_planned_into(
    relations: &Relations<'_>,
    ast: &Ast,
    targets: &[(String, Type)],
) -> Result<Planned> {
    Ok(match found_as(relations, ast, targets, Form::Stored)? {
        Planned::Plan(plan) => Planned::Plan(Box::new(match targets.is_empty() {
            true => plan.stored()?,
            // The Arrow form of a record does not tell what its fields are.
            false => plan.changed(lower::stored_records)?,
        })),
        found => found,
    })
}

fn found_as(
    relations: &Relations<'_>,
    ast: &Ast,
    targets: &[(String, Type)],
    form: Form,
) -> Result<Planned> {
    let form = finds_by_keys(relations).then_some(form);
    let found = with_room(relations, || bound_or_found(relations, ast, targets, form))?;
    match &found {
        // The values of a prepared statement are in it by now.
        Planned::Plan(plan) if !plan.parameters.is_empty() => {
            Err(Error::new("42P02", "there is no parameter $1"))
        }
        _ => Ok(found),
    }
}

/// A query over the names in sight with its parameters, bound; `None` if its rows are not found by
/// keys, or its plan would be another one at another time. With a change its rows are in the form
/// that storage takes, of some names and types.
///
/// # Errors
/// Whatever is wrong with it.
pub(crate) fn bound_by_keys(
    relations: &Relations<'_>,
    ast: &Ast,
    into: Option<(KeyChange, &[(String, Type)])>,
) -> Result<Option<keyed::Bound>> {
    let Ast::Query(query) = ast else {
        return Ok(None);
    };
    if !finds_by_keys(relations) {
        return Ok(None);
    }
    with_room(relations, || {
        let session = Arc::new(session_of(relations));
        let names = Names::new(relations);
        let (change, targets) = match &into {
            Some((change, targets)) => (Some(change), *targets),
            None => (None, [].as_slice()),
        };
        let bound = Binder::new(&names, &session).query_into(query, targets)?;
        let types = bound.parameters.iter().cloned().collect::<Option<Vec<_>>>();
        let (Some(types), true) = (types, lower::is_immutable(&bound.plan)) else {
            return Ok(None);
        };
        let levels = bound.plan.levels();
        if bound.dated || operators(&bound.plan) > OPERATORS || levels > FLAT {
            return Ok(None);
        }
        // The plan may read no table any more that the query reads.
        if lower::look_at_relations(&bound.plan, &readable).is_err() {
            return Ok(None);
        }
        let around = Surroundings {
            session,
            parameters: Arc::from(Vec::new()),
        };
        let plan = lower::rewritten(&bound.plan, &around);
        let plan = KeyPlan::of(plan, &bound.columns).ok();
        Ok(plan.map(|plan| keyed::Bound {
            plan: plan.without_handles(),
            types,
            settings: around.session.as_ref().clone(),
            record: relations.state.get::<Record>(),
            form: match change {
                Some(_) => Form::Stored,
                None => Form::Shown,
            },
            change: change.cloned(),
        }))
    })
}

/// Whether queries by keys are looked up in this session, and not planned.
fn finds_by_keys(relations: &Relations<'_>) -> bool {
    relations.state.options().engine != "bulk"
}

/// The plan of a query whose columns are stored in columns of some names and types; none for
/// columns that stay as they are.
///
/// # Errors
/// Whatever is wrong with it, and `42804` for a column that cannot be stored.
pub(crate) fn planned_into(
    relations: &Relations<'_>,
    ast: &Ast,
    targets: &[(String, Type)],
) -> Result<Logical> {
    planned_for(relations, ast, targets)?.changed(lower::stored_records)
}

fn planned_for(
    relations: &Relations<'_>,
    ast: &Ast,
    targets: &[(String, Type)],
) -> Result<Logical> {
    let planned = with_room(relations, || bound_or_found(relations, ast, targets, None))?;
    match planned {
        Planned::Plan(plan) => Ok(*plan),
        Planned::Rows(_) => Err(Error::internal("rows that nobody asked for")),
    }
}

/// Most queries are flat. All others are bound where there is room.
fn with_room<R: Send>(relations: &Relations<'_>, bind: impl Fn() -> Result<R> + Sync) -> Result<R> {
    let requests = relations.state.get::<Requests>();
    let bound = || here_or_where_there_is_room(&bind);
    match requests {
        Some(requests) => requests.planning(bound),
        None => bound(),
    }
}

/// Calls a function again on a great stack if this one is too small.
fn here_or_where_there_is_room<R: Send>(work: impl Fn() -> Result<R> + Sync) -> Result<R> {
    match work() {
        Err(error) if error.sqlstate == "54001" && !stack::is_great() => {
            stack::on_great_stack(&work)
        }
        done => done,
    }
}

/// Operators above each other in a plan, at most: each is a future that polls the one below.
const OPERATORS: usize = 250;
/// Levels of operators and expressions, at most.
const LEVELS: usize = 2_500;
/// Levels of a query that is kept with its parameters, at most.
const FLAT: usize = 100;
/// How much larger the steps of walks here are than those of the front.
const WALKS: usize = 8;

/// Refuses to read a materialized view without rows.
fn readable(relation: &Handle) -> Result<()> {
    match relation.source.stored() {
        Some(stored) => may_read(stored.parts().0),
        None => Ok(()),
    }
}

/// The most operators that stand above each other, counted without recursion.
fn operators(plan: &Plan) -> usize {
    let (mut open, mut most) = (vec![(plan, 1)], 0);
    while let Some((plan, level)) = open.pop() {
        most = most.max(level);
        let inputs = plan.inputs().into_iter();
        open.extend(inputs.map(|input| (input, level + 1)));
    }
    most
}

/// A bound query as its lowered plan or its rows.
enum Made {
    Plan(Lowered),
    Rows(RecordBatch),
}

fn bound_or_found(
    relations: &Relations<'_>,
    ast: &Ast,
    targets: &[(String, Type)],
    finds: Option<Form>,
) -> Result<Planned> {
    let Ast::Query(query) = ast else {
        return Err(Error::internal("only queries have plans"));
    };
    let session = Arc::new(session_of(relations));
    let names = Names::new(relations);
    let bound = Binder::new(&names, &session).query_into(query, targets)?;
    let dated = bound.dated || !lower::is_lasting(&bound.plan);
    let unreadable = lower::look_at_relations(&bound.plan, &readable).err();
    let around = Surroundings {
        session,
        parameters: Arc::from(Vec::new()),
    };
    let levels = bound.plan.levels();
    if operators(&bound.plan) > OPERATORS || levels > LEVELS {
        bound.plan.free_flat();
        return Err(Error::new("54001", "the statement is nested too deeply")
            .with_hint("take it apart, for example by tables that keep what its parts give"));
    }
    let mut lasts = false;
    let made = stack::with_room(levels.saturating_mul(WALKS), || -> Result<Made> {
        let mut plan = lower::rewritten(&bound.plan, &around);
        lasts = lower::is_immutable(&plan);
        if let Some(form) = finds.filter(|_| bound.parameters.is_empty() && unreadable.is_none()) {
            plan = match KeyPlan::of(plan, &bound.columns) {
                Ok(keyed) => {
                    let record = relations.state.get::<Record>();
                    let seen = Seen {
                        snapshot: &relations.snapshot,
                        session: &around.session,
                        record: record.as_deref(),
                    };
                    match keyed.rows(&seen, &keyed::Parameters::default(), form)? {
                        Some(rows) => return Ok(Made::Rows(rows)),
                        None => keyed.into_plan(),
                    }
                }
                Err(plan) => plan,
            };
        }
        Ok(Made::Plan(lower::lowered(&plan, &around)?))
    });
    let Lowered { plan, names, .. } = match made? {
        Made::Plan(lowered) => lowered,
        Made::Rows(rows) => return Ok(Planned::Rows(rows)),
    };
    let types = bound.columns.into_iter().map(|column| column.ty);
    let planned = Logical {
        plan,
        names,
        types: types.collect(),
        parameters: bound.parameters,
        dated: dated || !lasts,
        session: around.session,
        unreadable,
    };
    Ok(Planned::Plan(Box::new(planned)))
}
