//! Names, scopes and types: statements to plans.
//!
//! A [`Binder`] turns a query's syntax tree into a [`Plan`]. Names are looked up in scopes, the
//! innermost first; every operator and function is resolved to one overload, and every
//! conversion is written out.
//!
//! | module | binds |
//! |---|---|
//! | `types` | written types |
//! | `coerce` | conversions: literals, casts, common types |
//! | `collation` | collations of values |
//! | `scope` | what names mean |
//! | `literal` | numbers and texts |
//! | `columns` | COLUMNS and the options of stars |
//! | `structs` | records with names of fields: `struct_pack` |
//! | `pivot` | PIVOT, UNPIVOT, SUMMARIZE |
//! | `sample` | samples of FROM |
//! | `expr`, `operator`, `call`, `variadic`, `lambda`, `subquery` | expressions |
//! | `from` | FROM: tables, joins, functions |
//! | `function` | functions whose body is SQL |
//! | `select` | SELECT, with its groups, windows and sets |
//! | `query` | set operations, WITH, ORDER BY, LIMIT |
//! | `variadic` | calls with VARIADIC |
//! | `cycle` | SEARCH and CYCLE of recursive queries |
//! | `naming` | names of unnamed columns |
//!
//! Nothing that is written is passed over: each struct of the syntax tree is taken apart field
//! by field, and a clause that nothing implements is refused with `0A000` ([`refuse`]).

mod call;
mod coerce;
mod collation;
mod columns;
mod created;
mod cycle;
mod domain;
mod expr;
mod from;
mod function;
mod group;
mod lambda;
mod literal;
mod merge;
mod naming;
mod operator;
mod pivot;
mod query;
mod sample;
mod scope;
mod select;
mod structs;
mod subquery;
#[cfg(test)]
mod tests;
mod types;
mod variadic;
mod window;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart, Query, SetExpr};
use sqlparser::tokenizer::Span;

use crate::error::{Error, Position, Result};
use crate::functions::aggregates::Aggregate;
use crate::functions::objects::{NoObjects, Objects};
use crate::functions::{Scalar, Session, TableFunction};
use crate::plan::{Column, ColumnId, CteId, Expr, Plan, Relation};
use crate::stack;
use crate::types::Type;

use scope::{Clause, NamedCte, Range, Scope};

pub use coerce::Coercion;
pub use created::{FunctionName, SqlAggregate};
pub use domain::Domain;
pub use function::{RowName, SqlBody, SqlFunction, SqlParameter, SqlReturns};
pub use naming::name_of_expression;
pub use types::{bits, many_digits, written_digits, written_fields, written_type};

/// A relation as a statement names it.
#[derive(Debug)]
pub enum Found {
    /// One that is stored or computed by the caller.
    Relation(Relation),
    /// A view.
    View(View),
    /// One whose rows are those of others, such as a partitioned table.
    Parts(Parts),
    /// One of these by the names that it and its columns had when the view was made that reads it.
    Seen(Box<Found>, Seen),
    /// One of these of which not every column may be read.
    Limited(Box<Found>, Limited),
}

/// The columns of a relation that may be read.
#[derive(Clone, Debug)]
pub struct Limited {
    /// Their names.
    pub columns: Vec<String>,
    /// The error of a statement that reads another.
    pub error: Error,
}

/// The names of a relation and of its columns in the query of a view.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Schema.
    pub schema: String,
    /// Name.
    pub name: String,
    /// The columns in sight: each by its name in the query and by its own.
    pub columns: Vec<(String, String)>,
    /// Columns that can be named, too, and that `*` does not show, in the same way.
    pub hidden: Vec<(String, String)>,
}

/// A relation whose rows are those of others.
#[derive(Debug)]
pub struct Parts {
    /// The relation as it is named: its columns and its key.
    pub whole: Relation,
    /// The relations that have its rows, and where each of its columns, hidden ones too, is
    /// found in them.
    pub parts: Vec<(Relation, Vec<PartColumn>)>,
}

/// A column of a relation of parts in one of them.
#[derive(Clone, Debug)]
pub enum PartColumn {
    /// The column at a place, hidden ones behind the others.
    At(usize),
    /// A value that is the same in all rows of the part.
    Value(crate::plan::Expr),
    /// The result of a function of the column at a place.
    Of(Arc<Scalar>, usize),
}

/// A view.
#[derive(Debug)]
pub struct View {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its query.
    pub query: Box<Query>,
    /// How many of the query's last columns `*` does not show.
    pub hidden: usize,
    /// Whether its reader may not see the rows under it.
    pub barrier: bool,
}

/// What there is besides the language: tables, views, types and functions.
pub trait Catalog {
    /// A table or view. The schema is as it was written.
    ///
    /// # Errors
    /// Missing rights, and those of reading it.
    fn relation(
        &self,
        schema: Option<&str>,
        name: &str,
        position: Option<Position>,
    ) -> Result<Option<Found>>;

    /// The number in the catalog of the type of a view's rows; 0 if it has none.
    fn row_number_of_view(&self, schema: &str, name: &str) -> i64 {
        let _ = (schema, name);
        0
    }

    /// The error for a relation that does not exist, with a hint.
    fn unknown_relation(
        &self,
        schema: Option<&str>,
        name: &str,
        position: Option<Position>,
    ) -> Error {
        let full = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
        Error::new("42P01", format!("relation \"{full}\" does not exist")).at(position)
    }

    /// Names in a view are looked up from now on by the rights of its owner.
    ///
    /// # Errors
    /// `42P17` for a view that leads back to itself.
    fn enter_view(&self, _schema: Option<&str>, _name: &str) -> Result<()> {
        Ok(())
    }

    /// The clause of a statement that changes rows whose expressions are the list of the query.
    fn list_of_changes(&self) -> Option<&'static str> {
        None
    }

    /// Lets relations have columns that tell where their rows are, `tableoid` and `ctid`. It tells
    /// whether they had none before, and have some now.
    fn show_places(&self) -> bool {
        false
    }

    /// The end of what [`enter_view`](Self::enter_view) began.
    fn leave_view(&self) {}

    /// A domain that was created.
    ///
    /// # Errors
    /// The errors of reading it.
    fn domain(&self, _schema: Option<&str>, _name: &str) -> Result<Option<Arc<Domain>>> {
        Ok(None)
    }

    /// A type that was created; for a domain the type that it is over.
    fn named_type(&self, _schema: Option<&str>, _name: &str) -> Option<Type> {
        None
    }

    /// The overloads of a function that depends on what is stored, such as `nextval`.
    fn functions(&self, _name: &str) -> Vec<Arc<Scalar>> {
        Vec::new()
    }

    /// Functions of a name whose body is SQL.
    ///
    /// # Errors
    /// Missing rights, and those of reading them.
    fn sql_functions(&self, _schema: Option<&str>, _name: &str) -> Result<Vec<Arc<SqlFunction>>> {
        Ok(Vec::new())
    }

    /// Aggregates of a name that were created.
    ///
    /// # Errors
    /// Missing rights, and those of reading them.
    fn sql_aggregates(&self, _schema: Option<&str>, _name: &str) -> Result<Vec<Arc<SqlAggregate>>> {
        Ok(Vec::new())
    }

    /// A relation that a function of the caller's gives for constants, some by the names of
    /// parameters.
    ///
    /// # Errors
    /// `42883` for other arguments, and those of making it.
    fn table_function(
        &self,
        _name: &str,
        _arguments: &[(Option<String>, crate::plan::Expr)],
    ) -> Result<Option<Relation>> {
        Ok(None)
    }

    /// The overloads of a function that gives rows and depends on what is stored.
    fn tables(&self, _name: &str) -> Vec<Arc<TableFunction>> {
        Vec::new()
    }

    /// The objects of the catalog by number and name, for casts such as `'t'::regclass`.
    fn objects(&self) -> Arc<dyn Objects> {
        Arc::new(NoObjects)
    }

    /// A file or another relation by the text of a quoted name, such as `'x.csv'`.
    ///
    /// # Errors
    /// The errors of reading it.
    fn file(&self, _name: &str) -> Result<Option<Relation>> {
        Ok(None)
    }
}

/// A bound query.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Its plan.
    pub plan: Plan,
    /// Its columns, in order, with the names and types that clients see. The plan has texts
    /// where these are of a type of objects such as REGCLASS.
    pub columns: Vec<Column>,
    /// The types of its parameters, as far as they are known.
    pub parameters: Vec<Option<Type>>,
    /// Whether a literal such as `'today'` was read by the time at which it was bound.
    pub dated: bool,
}

/// Turns syntax trees into plans.
pub struct Binder<'a> {
    catalog: &'a dyn Catalog,
    session: &'a Session,
    columns: u32,
    ctes: u32,
    /// Scopes of the queries around, the innermost last.
    scopes: Vec<Scope>,
    /// All relations of FROM of the queries around, those out of sight too, for messages.
    ranges: Vec<Vec<Range>>,
    /// Common table expressions in sight, the nearest last.
    named: Vec<NamedCte>,
    /// Names and types of the columns in which the next VALUES is stored.
    targets: Vec<(String, Type)>,
    /// The clause that the list of the next SELECT is, if it is no SELECT list.
    list: Option<Clause>,
    /// Types of parameters.
    parameters: Vec<Option<Type>>,
    /// Levels of queries and expressions that are open.
    depth: usize,
    /// See [`Bound::dated`].
    dated: bool,
    /// The last number of a sub-query.
    subqueries: u32,
    /// GREATEST and LEAST of this statement, by type and number of arguments, so
    /// that equal calls are calls of one function.
    made: HashMap<(bool, Type, usize), Arc<Scalar>>,
    /// Further functions made for this statement, by what they do and for which types: those of
    /// VARIADIC and comparisons of records.
    shared: HashMap<(String, Vec<Type>), Arc<Scalar>>,
    /// Created aggregates of this statement by what they are and for which types, and the types
    /// of their results.
    created: HashMap<(String, Vec<Type>), (Arc<Aggregate>, Type)>,
    /// Functions of aggregates around.
    within: usize,
    /// Nodes of expressions that were copied.
    copied: usize,
    /// Whether errors of unknown names look for like names.
    hints: bool,
    /// Values of `$1` and so on in the body of a function.
    arguments: Option<Vec<crate::plan::Expr>>,
    /// Functions whose bodies are being bound.
    open: usize,
    /// Calls of functions whose body is SQL.
    calls: usize,
    /// Columns that windows read which no call uses.
    unused: Vec<ColumnId>,
    /// Columns that may not be read, and what a statement that does is told.
    forbidden: HashMap<ColumnId, Error>,
    /// See [`Markers`].
    markers: Cell<Markers>,
    /// See [`Binder::marking_digits`].
    marks_digits: bool,
}

/// Columns that tell whether an outer join has a row of a relation. Whole rows of relations
/// without a key need them, and are known only when FROM is bound: then the query is bound again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Markers {
    /// Nothing has asked for them.
    None,
    /// Something has.
    Wanted,
    /// Outer joins are bound with them.
    Made,
}

/// Columns that tell where a row is.
const PLACES: [&str; 2] = ["tableoid", "ctid"];

/// Whether an error is about such a column, which is not there.
fn names_a_place(error: &Error) -> bool {
    error.sqlstate == "42703" && PLACES.iter().any(|name| error.message.contains(name))
}

/// The function of [`Binder::marking_digits`].
pub const DECLARED_DIGITS: &str = "declared digits";

/// Most nodes of expressions that a statement's forms may copy, such as BETWEEN, which has its
/// value twice.
const COPIES: usize = 1_000_000;

impl<'a> Binder<'a> {
    /// A binder over a catalog.
    pub fn new(catalog: &'a dyn Catalog, session: &'a Session) -> Self {
        Self {
            catalog,
            session,
            columns: 0,
            ctes: 0,
            scopes: Vec::new(),
            ranges: Vec::new(),
            named: Vec::new(),
            targets: Vec::new(),
            list: None,
            parameters: Vec::new(),
            depth: 0,
            dated: false,
            subqueries: 0,
            made: HashMap::new(),
            created: HashMap::new(),
            forbidden: HashMap::new(),
            within: 0,
            shared: HashMap::new(),
            copied: 0,
            hints: true,
            arguments: None,
            open: 0,
            calls: 0,
            unused: Vec::new(),
            markers: Cell::new(Markers::None),
            marks_digits: false,
        }
    }

    /// Puts a call of [`DECLARED_DIGITS`] around each value that a cast which is written gives
    /// digits of NUMERIC, so that the plan tells them from digits that a value happens to have.
    /// Such plans are not run.
    #[must_use]
    pub fn marking_digits(mut self) -> Self {
        self.marks_digits = true;
        self
    }

    /// Sets the types of the first parameters, as a client gave them.
    #[must_use]
    pub fn with_parameters(mut self, types: Vec<Option<Type>>) -> Self {
        self.parameters = types;
        self
    }

    /// Binds a query.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn query(self, query: &Query) -> Result<Bound> {
        self.query_into(query, &[])
    }

    /// Binds a query whose columns are stored in columns of some names and types, unless it
    /// has more of them. Lengths of VARCHAR and CHAR are checked where the values are stored.
    ///
    /// # Errors
    /// Whatever is wrong with it, and `42804` for a column that cannot be stored.
    pub fn query_into(self, query: &Query, targets: &[(String, Type)]) -> Result<Bound> {
        let mut again = Self::new(self.catalog, self.session);
        again.parameters.clone_from(&self.parameters);
        again.markers.set(Markers::Made);
        again.marks_digits = self.marks_digits;
        let catalog = self.catalog;
        let bound = self.bound_into(query, targets);
        if let Err(error) = &bound
            && names_a_place(error)
            && catalog.show_places()
        {
            // They are made for queries that name them alone: others are planned faster without.
            again.markers.set(Markers::None);
            return again.query_into(query, targets);
        }
        let (bound, markers) = bound?;
        match markers {
            Markers::Wanted => again.bound_into(query, targets).map(|(bound, _)| bound),
            Markers::None | Markers::Made => Ok(bound),
        }
    }

    fn bound_into(mut self, query: &Query, targets: &[(String, Type)]) -> Result<(Bound, Markers)> {
        // Each value of VALUES, or of a clause of MERGE, takes the type of its column, whatever the
        // others hold.
        if matches!(*query.body, SetExpr::Values(_)) || merge::is_merge(&query.body) {
            self.targets = targets.to_vec();
        }
        self.list = self.catalog.list_of_changes().map(Clause::Changes);
        let mut plan = self.bind_query(query)?;
        self.check_forbidden(&plan)?;
        if plan.columns().len() <= targets.len() {
            plan = self.stored(plan, targets)?;
        }
        let plan = self.known(plan)?;
        let plan = shallow(plan)?;
        let columns = plan.columns();
        let plan = self.by_names(plan)?;
        let bound = Bound {
            plan,
            columns,
            parameters: self.parameters,
            dated: self.dated,
        };
        Ok((bound, self.markers.get()))
    }

    /// Binds an expression over the columns of relations, such as a CHECK or a DEFAULT; each has a
    /// name and the number of the type of its rows, or 0. `to` has
    /// the name and the type of the column that it is stored in.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn expression(
        mut self,
        expr: &sqlparser::ast::Expr,
        relations: &[(RowName, Vec<Column>)],
        to: Option<&(String, Type)>,
    ) -> Result<crate::plan::Expr> {
        self.scopes.push(Scope::of_relations(relations)?);
        let bound = self.bind_expr(expr)?;
        match to {
            Some(to) => {
                let to = self.storable(&bound.ty, to)?;
                self.coerce(bound, &to, Coercion::Assignment)
            }
            None => self.known_expr(bound),
        }
    }

    /// The next number of a column.
    fn column(&mut self, name: impl Into<String>, ty: Type) -> Column {
        self.columns += 1;
        Column {
            id: ColumnId(self.columns),
            name: name.into(),
            ty,
        }
    }

    /// The next number of a common table expression.
    fn cte(&mut self) -> CteId {
        self.ctes += 1;
        CteId(self.ctes)
    }

    /// A copy of an expression. Forms that copy what is in them may be nested, so that a short
    /// text would make a great tree.
    ///
    /// # Errors
    /// `54001` for too many copies.
    fn copy(&mut self, expr: &Expr) -> Result<Expr> {
        self.copied += expr.size(COPIES - self.copied.min(COPIES));
        match self.copied >= COPIES {
            true => Err(too_many_copies()),
            false => Ok(expr.clone()),
        }
    }

    /// Goes one level deeper.
    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        match self.depth > stack::LEVELS {
            true => Err(stack::too_complex()),
            false => stack::check(),
        }
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }
}

pub(crate) fn too_many_copies() -> Error {
    Error::new("54001", "statement too complex")
        .with_hint("Expressions that stand for several copies are nested too deep.")
}

/// A plan, if this thread has room for walks over it.
///
/// # Errors
/// `54001`.
pub(crate) fn shallow(plan: Plan) -> Result<Plan> {
    match stack::check_levels(plan.levels()) {
        Ok(()) => Ok(plan),
        Err(error) => {
            plan.free_flat();
            Err(error)
        }
    }
}

/// The identifier as the catalog spells it.
pub(crate) fn fold(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The place of an identifier.
pub(crate) fn place(ident: &Ident) -> Option<Position> {
    at(ident.span)
}

/// The place where a span begins.
pub(crate) fn at(span: Span) -> Option<Position> {
    let start = span.start;
    (start.line > 0).then_some(Position {
        line: start.line,
        column: start.column,
    })
}

/// The parts of a name, folded.
pub(crate) fn parts(name: &ObjectName) -> Result<Vec<String>> {
    let part = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(ident) => Ok(fold(ident)),
        ObjectNamePart::Function(_) => Err(Error::unsupported(format!(
            "names that are computed are not supported: {name}"
        ))),
    };
    name.0.iter().map(part).collect()
}

/// A name as it is written, without quotes.
pub(crate) fn dotted(name: &ObjectName) -> String {
    let parts = name.0.iter().map(|part| match part {
        ObjectNamePart::Identifier(ident) => fold(ident),
        ObjectNamePart::Function(function) => fold(&function.name),
    });
    parts.collect::<Vec<_>>().join(".")
}

/// The place of a name.
pub(crate) fn name_place(name: &ObjectName) -> Option<Position> {
    match name.0.first() {
        Some(ObjectNamePart::Identifier(ident)) => place(ident),
        _ => None,
    }
}

/// `0A000` if a clause that nothing implements is there.
pub(crate) fn refuse(present: bool, clause: &str) -> Result<()> {
    match present {
        true => Err(Error::unsupported(format!("{clause} is not supported"))),
        false => Ok(()),
    }
}
