//! The language front over this database: its names, its session, and the plans it makes.
//!
//! A query is bound by [`freestone_frontend`], which asks [`Names`] for tables, views and
//! functions; its dependent joins are removed, and the plan is lowered to operators. What the
//! front refuses with `0A000` or does not know as a function is asked of DataFusion's planner
//! while that is here.

mod about;
mod convert;
mod expression;
mod functions;
mod names;
mod objects;
mod session;

use std::sync::Arc;

use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use freestone_frontend::bind::Binder;
use freestone_frontend::plan::Plan;
use freestone_frontend::stack;

use freestone_frontend::types::Type;

use crate::error::{Error, Result};
use crate::lower::{self, Lowered, Surroundings};
use crate::plan::naming::{rename_output, result_names};
use crate::plan::relations::Relations;
use crate::session::{OwnOptions, Requests};

pub(crate) use convert::{as_text, from_shown, is_held_as_text, loaded, stored};
pub(crate) use expression::{COLUMN, Purpose, lowered_expression, with_types};
pub(crate) use names::{Names, type_of, type_of_column};
pub(crate) use objects::columns_of_view;
pub(crate) use session::session_of;

/// The plan of a query, by whom it was made.
pub(crate) struct Logical {
    /// The plan.
    pub(crate) plan: LogicalPlan,
    /// Names of its columns.
    pub(crate) names: Vec<String>,
    /// Types of its columns, if the front has made it.
    pub(crate) types: Option<Vec<Type>>,
    /// Types of its parameters, as far as the front knows them.
    pub(crate) parameters: Vec<Option<Type>>,
    /// Whether it depends on the time at which it was made.
    pub(crate) dated: bool,
}

impl Logical {
    /// Whether the front has made it: its types are complete.
    pub(crate) fn is_typed(&self) -> bool {
        self.types.is_some()
    }

    /// The plan with its columns as clients are shown them.
    ///
    /// # Errors
    /// Those of building plans.
    pub(crate) fn shown(self) -> Result<Self> {
        let Some(types) = self.types else {
            return Ok(self);
        };
        let lowered = Lowered {
            plan: self.plan,
            names: self.names,
            types,
        };
        let lowered = lower::output(lowered)?;
        Ok(Self {
            plan: lowered.plan,
            names: lowered.names,
            types: Some(lowered.types),
            parameters: self.parameters,
            dated: self.dated,
        })
    }

    /// The plan with its columns as storage takes them.
    ///
    /// # Errors
    /// Those of building plans.
    pub(crate) fn stored(self) -> Result<Self> {
        let Some(types) = self.types else {
            return Ok(self);
        };
        let lowered = lower::stored(Lowered {
            plan: self.plan,
            names: self.names,
            types,
        })?;
        Ok(Self {
            plan: lowered.plan,
            names: lowered.names,
            types: Some(lowered.types),
            ..self
        })
    }

    /// The plan with its columns under their names.
    ///
    /// # Errors
    /// `42701` if two have one name.
    pub(crate) fn renamed(self, ast: &Ast) -> Result<Self> {
        if self.types.is_none() {
            let plan = rename_output(ast, self.plan)?;
            return Ok(Self { plan, ..self });
        }
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = self.names.iter().find(|name| !seen.insert(name.as_str())) {
            let message = format!("column \"{twice}\" specified more than once");
            return Err(Error::new("42701", message));
        }
        let columns = self.plan.schema().columns().into_iter().zip(&self.names);
        let columns = columns
            .map(|(column, name)| datafusion::logical_expr::Expr::Column(column).alias(name));
        let columns: Vec<_> = columns.collect();
        let plan = datafusion::logical_expr::LogicalPlanBuilder::from(self.plan)
            .project(columns)?
            .build()?;
        Ok(Self { plan, ..self })
    }
}

/// The plan of a query over the names in sight.
///
/// # Errors
/// Whatever is wrong with it.
pub(crate) fn planned(relations: &Relations<'_>, ast: &Ast) -> Result<Logical> {
    planned_into(relations, ast, &[])
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
    let requests = relations.state.config().get_extension::<Requests>();
    // A thread that does not say what stack it has may have little.
    let bound = || match stack::is_declared() {
        true => by_front(relations, ast, targets),
        false => stack::on_great_stack(|| by_front(relations, ast, targets)),
    };
    let bound = match requests {
        Some(requests) => requests.planning(bound),
        None => bound(),
    };
    let refused = match bound {
        Ok(Some(plan)) => return Ok(plan),
        Ok(None) => None,
        Err(error) if matches!(error.sqlstate.as_str(), "0A000" | "42883") => Some(error),
        Err(error) => return Err(error),
    };
    match relations.plan(ast) {
        Ok(plan) => Ok(Logical {
            names: result_names(ast, &plan),
            plan,
            types: None,
            parameters: Vec::new(),
            dated: false,
        }),
        Err(error) => Err(refused.unwrap_or(error)),
    }
}

/// Whether the front binds the session's queries.
pub(crate) fn binds(state: &SessionState) -> bool {
    let own = state.config_options().extensions.get::<OwnOptions>();
    own.is_some_and(|own| own.frontend == "freestone")
}

/// Operators above each other in a plan, at most: each is a future that polls the one below.
const OPERATORS: usize = 250;
/// Levels of operators and expressions, at most.
const LEVELS: usize = 2_500;
/// How much larger the steps of walks here are than those of the front.
const WALKS: usize = 8;

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

/// The front's plan; `None` for statements that are no queries, and where it does not bind.
fn by_front(
    relations: &Relations<'_>,
    ast: &Ast,
    targets: &[(String, Type)],
) -> Result<Option<Logical>> {
    let Ast::Query(query) = ast else {
        return Ok(None);
    };
    if !binds(relations.state) {
        return Ok(None);
    }
    let session = Arc::new(session_of(relations));
    let names = Names::new(relations);
    let bound = Binder::new(&names, &session).query_into(query, targets)?;
    let dated = bound.dated || !lower::is_lasting(&bound.plan);
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
    let lowered = stack::with_room(levels.saturating_mul(WALKS), || {
        lower::lowered(&bound.plan, &around)
    });
    let Lowered { plan, names, types } = lowered?;
    Ok(Some(Logical {
        plan,
        names,
        types: Some(types),
        parameters: bound.parameters,
        dated,
    }))
}
