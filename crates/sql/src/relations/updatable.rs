//! Views by which rows of the table under them can be changed, as PostgreSQL has them.
//!
//! ```text
//! CREATE VIEW v AS SELECT a AS x, a + b AS y FROM t WHERE a > 0
//!
//! UPDATE v reads         SELECT a AS x, a + b AS y, rowid, a, b FROM t WHERE a > 0
//! RETURNING reads        SELECT a AS x, a + b AS y, place, a, b, (a > 0) FROM the changed rows
//! ```
//!
//! A statement names the view as ever. Its queries name it by a mark, which stands for the view's
//! query with more columns behind its own, that `*` does not show: the row's id and the columns of
//! the table. The columns of the view keep their meaning wherever they are named, so that there
//! is nothing to put in their place. A view over a view is such a query over another mark; the
//! last one is the table, or rows of it that are at hand.
//!
//! The table is read by the rights of the view's owner. So marks, and the names of the hidden
//! columns, have a random number in them that is another one for each statement: no statement
//! can name what it is not to see.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::ControlFlow;
use std::sync::Arc;

use freestone_frontend::bind::name_of_expression;
use freestone_frontend::syntax::marks;
use freestone_frontend::syntax::walk::{visit_expressions, visit_expressions_mut};
use freestone_storage::{Catalog, Table, ViewQuery};
use sqlparser::ast::{
    AccessExpr, Expr, GroupByExpr, Ident, ObjectName, Query, Select, SelectFlavor, SelectItem,
    SelectItemQualifiedWildcardKind as Qualified, SetExpr, Statement as Ast, TableFactor,
    WildcardAdditionalOptions,
};

use super::TABLE;
use super::calls::{Gives, expressions_of};
use super::given::Given;
use crate::error::{Error, Result};
use crate::names::{Name, fold, table_name};
use crate::scan::ROW_ID;
use crate::statement::parse_one;

/// Views inside views, at most.
const DEPTH: usize = 32;
/// The begin of the name of a view by which rows are changed.
const THROUGH: &str = "\u{1}through ";
/// The begin of the name of a column of the table beside the columns of the view.
const OF_TABLE: &str = "\u{1}of table ";
/// The begin of the name of the column that has the truth of the condition of a view.
const CHECK: &str = "\u{1}check ";
/// The column by which rows at hand are numbered.
pub(crate) const PLACE: &str = "place of the row";

/// The ways in which a statement changes the rows of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Insert,
    Update,
    Delete,
}

impl Command {
    /// "update view", "update column", and how triggers would do it.
    fn words(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Insert => (
                "insert into view",
                "insert into",
                "inserting into",
                "INSERT",
            ),
            Self::Update => ("update view", "update", "updating", "UPDATE"),
            Self::Delete => ("delete from view", "delete", "deleting from", "DELETE"),
        }
    }

    /// `55000` for a view whose rows cannot be changed.
    fn refused(self, view: &Name, detail: &str) -> Error {
        let (does, _, doing, event) = self.words();
        let view = &view.name;
        Error::new("55000", format!("cannot {does} \"{view}\""))
            .with_detail(detail)
            .with_hint(format!(
                "To enable {doing} the view, provide an INSTEAD OF {event} trigger or an \
                 unconditional ON {event} DO INSTEAD rule."
            ))
    }

    /// `0A000` for a column that cannot be changed.
    fn refused_column(self, column: &str, view: &Name, detail: &str) -> Error {
        let (_, does, ..) = self.words();
        let view = &view.name;
        let message = format!("cannot {does} column \"{column}\" of view \"{view}\"");
        Error::unsupported(message).with_detail(detail)
    }
}

/// The views whose conditions have to hold for a new row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckOption {
    /// The view itself.
    Local,
    /// The view, and those under it.
    Cascaded,
}

/// The CHECK OPTION of a view.
pub(crate) fn check_option(query: &ViewQuery) -> Option<CheckOption> {
    match query.option("check_option")? {
        "local" => Some(CheckOption::Local),
        _ => Some(CheckOption::Cascaded),
    }
}

/// Whether conditions of a query stay outside of a view.
pub(crate) fn is_barrier(query: &ViewQuery) -> bool {
    query.option("security_barrier").is_some_and(is_on)
}

/// Whether the rights of a view's reader count for the relations under it.
pub(crate) fn is_of_invoker(query: &ViewQuery) -> bool {
    query.option("security_invoker").is_some_and(is_on)
}

fn is_on(value: &str) -> bool {
    truth(value) == Some(true)
}

/// The truth value that the text of an option means.
pub(crate) fn truth(text: &str) -> Option<bool> {
    let text = text.to_lowercase();
    let begins = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    if begins("true", 1) || begins("yes", 1) || text == "on" || text == "1" {
        return Some(true);
    }
    let no = begins("false", 1) || begins("no", 1) || begins("off", 2) || text == "0";
    no.then_some(false)
}

/// A column of a view.
#[derive(Debug)]
pub(crate) struct ViewColumn {
    pub(crate) name: String,
    expr: Expr,
    /// The column of the relation under the view that it is, or why it is none.
    of: std::result::Result<String, &'static str>,
}

/// A view over one table or view, row by row.
#[derive(Debug)]
pub(crate) struct ViewOver {
    pub(crate) name: Name,
    pub(crate) columns: Vec<ViewColumn>,
    pub(crate) barrier: bool,
    check: Option<CheckOption>,
    defaults: Vec<(String, String)>,
    /// The relation under it, by its name in the query and by its name now.
    pub(crate) then: (String, String),
    pub(crate) under: Name,
    /// The columns of that relation in sight, by their names in the query and now.
    pub(crate) visible: Vec<(String, String)>,
    select: Select,
}

impl ViewOver {
    /// Whether some column can be changed.
    pub(crate) fn has_columns(&self) -> bool {
        self.columns.iter().any(|column| column.of.is_ok())
    }
}

/// Why a view over columns that are none of its table cannot be changed.
pub(crate) const NO_COLUMNS: &str =
    "Views that have no updatable columns are not automatically updatable.";
const NOT_ONE: &str =
    "Views that do not select from a single table or view are not automatically updatable.";
const COMPUTED: &str =
    "View columns that are not columns of their base relation are not updatable.";
const SYSTEM: &str = "View columns that refer to system columns are not updatable.";
const WHOLE_ROW: &str = "View columns that return whole-row references are not updatable.";
const EXPANDED: &str = "Views whose list of columns has EXCLUDE, REPLACE, RENAME or a record's fields are not \
     automatically updatable.";

/// A view over one table or view, or why it is none.
///
/// # Errors
/// Errors of reading its query.
pub(crate) fn view_over(
    catalog: &Catalog,
    name: &Name,
) -> Result<std::result::Result<ViewOver, &'static str>> {
    let Some(view) = catalog.view(&name.schema, &name.name) else {
        return Err(Error::internal("a view that is not there"));
    };
    over(catalog, name, &view.query)
}

/// As [`view_over`], of the query of a view that is yet to be made.
///
/// # Errors
/// Errors of reading the query.
pub(crate) fn over(
    catalog: &Catalog,
    name: &Name,
    view: &ViewQuery,
) -> Result<std::result::Result<ViewOver, &'static str>> {
    let Ast::Query(query) = parse_one(&view.sql)? else {
        return Err(Error::internal("a view that is no query"));
    };
    let mut renamed: Vec<Vec<String>> = Vec::new();
    let mut query = *query;
    while let Some((inner, names)) = listed(&query) {
        renamed.push(names);
        query = inner;
    }
    if let SetExpr::Table(table) = query.body.as_ref() {
        let Ast::Query(all) = parse_one(&format!("SELECT * FROM {}", printed_table(table)))? else {
            return Err(Error::internal("a view that is no query"));
        };
        query.body = all.body;
    }
    let select = match plain_select(&query) {
        Ok(select) => select,
        Err(detail) => return Ok(Err(detail)),
    };
    if let Some(detail) = returned_sets(catalog, select)? {
        return Ok(Err(detail));
    }
    let [item] = select.from.as_slice() else {
        return Ok(Err(NOT_ONE));
    };
    let TableFactor::Table {
        name: written,
        alias,
        args: None,
        sample,
        ..
    } = &item.relation
    else {
        return Ok(Err(NOT_ONE));
    };
    if !item.joins.is_empty() {
        return Ok(Err(NOT_ONE));
    }
    let Ok(then) = table_name(written) else {
        return Ok(Err(NOT_ONE));
    };
    let noted = view.read(&then.schema, &then.name);
    let under = match noted {
        Some(read) => Name::new(&read.now.0, &read.now.1),
        None => Name::new(&then.schema, &then.name),
    };
    let is_plain = |table: &Arc<Table>| table.schema.materialized.is_none();
    let table = catalog.table(&under.schema, &under.name);
    let is_relation = match table {
        Some(table) => is_plain(table),
        None => catalog.view(&under.schema, &under.name).is_some(),
    };
    if !is_relation {
        return Ok(Err(NOT_ONE));
    }
    if sample.is_some() {
        return Ok(Err(
            "Views containing TABLESAMPLE are not automatically updatable.",
        ));
    }
    let visible: Vec<(String, String)> = match (noted, table) {
        (Some(read), _) => read.columns.clone(),
        (None, Some(table)) => {
            let names = table.schema.declared().iter();
            names
                .map(|column| (column.name.clone(), column.name.clone()))
                .collect()
        }
        (None, None) => match view_over(catalog, &under)? {
            Ok(inner) => {
                let names = inner.columns.into_iter();
                names
                    .map(|column| (column.name.clone(), column.name))
                    .collect()
            }
            Err(detail) => return Ok(Err(detail)),
        },
    };
    let called = alias.as_ref().map(|alias| fold(&alias.name));
    let called = called.unwrap_or_else(|| then.name.clone());
    let mut names: Vec<String> = visible.iter().map(|(then, _)| then.clone()).collect();
    let given = alias.iter().flat_map(|alias| &alias.columns);
    for (name, given) in names.iter_mut().zip(given) {
        *name = fold(&given.name);
    }
    let base = Base {
        called: &called,
        names: &names,
        visible: &visible,
    };
    let mut columns = match base.columns(select) {
        Ok(columns) => columns,
        Err(detail) => return Ok(Err(detail)),
    };
    for names in renamed.iter().rev() {
        for (column, name) in columns.iter_mut().zip(names) {
            column.name.clone_from(name);
        }
    }
    Ok(Ok(ViewOver {
        name: name.clone(),
        columns,
        barrier: is_barrier(view),
        check: check_option(view),
        defaults: view.defaults.clone(),
        then: (then.schema, then.name),
        under,
        select: select.clone(),
        visible,
    }))
}

fn printed_table(table: &sqlparser::ast::Table) -> String {
    let quoted = |name: &Option<String>| name.clone().unwrap_or_default();
    match &table.schema_name {
        Some(schema) => format!("{schema}.{}", quoted(&table.table_name)),
        None => quoted(&table.table_name),
    }
}

/// The query in one that only gives its columns other names, and these.
fn listed(query: &Query) -> Option<(Query, Vec<String>)> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let ([SelectItem::Wildcard(options)], [only]) =
        (select.projection.as_slice(), select.from.as_slice())
    else {
        return None;
    };
    let TableFactor::Derived {
        lateral: false,
        subquery,
        alias: Some(alias),
        sample: None,
    } = &only.relation
    else {
        return None;
    };
    let bare = *options == WildcardAdditionalOptions::default()
        && !alias.columns.is_empty()
        && only.joins.is_empty()
        && select.selection.is_none()
        && plain_select(query).is_ok()
        && query.order_by.is_none();
    let names = alias.columns.iter().map(|column| fold(&column.name));
    bare.then(|| (subquery.as_ref().clone(), names.collect()))
}

/// The SELECT of a query that has nothing else, or why it has.
fn plain_select(query: &Query) -> std::result::Result<&Select, &'static str> {
    let limited = "Views containing LIMIT or OFFSET are not automatically updatable.";
    let select = match query.body.as_ref() {
        SetExpr::Select(select) => select,
        SetExpr::Query(inner) if query.with.is_none() && query.limit_clause.is_none() => {
            return plain_select(inner);
        }
        SetExpr::SetOperation { .. } => {
            return Err(
                "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.",
            );
        }
        _ => return Err(NOT_ONE),
    };
    let grouped = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(list, modifiers) => !list.is_empty() || !modifiers.is_empty(),
    };
    let clauses = [
        (
            select.distinct.is_some(),
            "Views containing DISTINCT are not automatically updatable.",
        ),
        (
            grouped,
            "Views containing GROUP BY are not automatically updatable.",
        ),
        (
            select.having.is_some(),
            "Views containing HAVING are not automatically updatable.",
        ),
        (
            query.with.is_some(),
            "Views containing WITH are not automatically updatable.",
        ),
        (
            query.limit_clause.is_some() || query.fetch.is_some(),
            limited,
        ),
        (
            select.qualify.is_some(),
            "Views that return window functions are not automatically updatable.",
        ),
        (
            select.exclude.is_some() || select.flavor != SelectFlavor::Standard,
            EXPANDED,
        ),
    ];
    match clauses.iter().find(|(present, _)| *present) {
        Some((_, detail)) => Err(detail),
        None => Ok(select),
    }
}

/// Why a list of columns does not give one row for each row of a table.
fn returned_sets(catalog: &Catalog, select: &Select) -> Result<Option<&'static str>> {
    let gives = Gives::of(catalog, expressions_of(&select.projection))?;
    let kinds = [
        (
            gives.aggregates,
            "Views that return aggregate functions are not automatically updatable.",
        ),
        (
            gives.windows,
            "Views that return window functions are not automatically updatable.",
        ),
        (
            gives.sets,
            "Views that return set-returning functions are not automatically updatable.",
        ),
    ];
    let found = kinds.iter().find(|(present, _)| *present);
    Ok(found.map(|(_, detail)| *detail))
}

/// The relation under a view, as the view's query names it.
struct Base<'a> {
    called: &'a str,
    /// Names of its columns.
    names: &'a [String],
    /// The columns in sight: each by its name in the view's query, without the alias, and by its
    /// name now.
    visible: &'a [(String, String)],
}

impl Base<'_> {
    fn columns(&self, select: &Select) -> std::result::Result<Vec<ViewColumn>, &'static str> {
        let mut columns = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::Wildcard(options)
                | SelectItem::QualifiedWildcard(Qualified::ObjectName(_), options)
                    if *options == WildcardAdditionalOptions::default() =>
                {
                    for name in self.names {
                        let parts = [self.called, name];
                        let parts = parts.map(|part| Ident::with_quote('"', part));
                        let expr = Expr::CompoundIdentifier(parts.to_vec());
                        columns.push(self.column(name.clone(), expr));
                    }
                }
                SelectItem::UnnamedExpr(expr) if !is_of_columns(expr) => {
                    columns.push(self.column(name_of_expression(expr), expr.clone()));
                }
                SelectItem::ExprWithAlias { expr, alias } if !is_of_columns(expr) => {
                    columns.push(self.column(fold(alias), expr.clone()));
                }
                _ => return Err(EXPANDED),
            }
        }
        Ok(columns)
    }

    fn column(&self, name: String, expr: Expr) -> ViewColumn {
        let mut inner = &expr;
        while let Expr::Nested(nested) = inner {
            inner = nested;
        }
        let of = match inner {
            Expr::Identifier(ident) => self.named(&fold(ident)),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., table, column] if fold(table) == self.called => {
                    match marks::marked(column, marks::WHOLE_ROW) {
                        Some(_) => Err(WHOLE_ROW),
                        None => self.named(&fold(column)),
                    }
                }
                _ => Err(COMPUTED),
            },
            _ => Err(COMPUTED),
        };
        ViewColumn { name, expr, of }
    }

    /// The column of a name.
    fn named(&self, name: &str) -> std::result::Result<String, &'static str> {
        match self.names.iter().position(|known| known == name) {
            Some(at) => Ok(self.visible[at].1.clone()),
            None if name == self.called => Err(WHOLE_ROW),
            None if name == TABLE => Err(SYSTEM),
            None => Err(COMPUTED),
        }
    }
}

/// Whether an item of a list stands for several columns.
fn is_of_columns(expr: &Expr) -> bool {
    if let Expr::CompoundFieldAccess { access_chain, .. } = expr
        && let Some(AccessExpr::Dot(Expr::Wildcard(_))) = access_chain.last()
    {
        return true;
    }
    let found = visit_expressions(expr, |part| match part {
        Expr::Function(call)
            if call
                .name
                .0
                .last()
                .and_then(|part| part.as_ident())
                .is_some_and(|ident| marks::marked(ident, marks::COLUMNS).is_some()) =>
        {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

/// Views by which a statement changes rows of a table, and what its queries read of them.
#[derive(Clone, Debug)]
pub(crate) struct Through {
    /// The number that no statement can guess.
    secret: u64,
    /// Tells those of one statement from each other.
    number: usize,
    /// The view that is named, then those under it.
    views: Arc<[ViewOver]>,
    name: Name,
    table: Arc<Table>,
    /// Rows of the table in its place.
    rows: Option<Given>,
}

impl Through {
    /// The views over a table by which its rows are changed.
    ///
    /// # Errors
    /// `55000` for a view that has no such table.
    pub(crate) fn of(catalog: &Catalog, name: &Name, command: Command) -> Result<Self> {
        let mut views: Vec<ViewOver> = Vec::new();
        let mut under = name.clone();
        loop {
            let over = match view_over(catalog, &under)? {
                Ok(over) => over,
                Err(detail) => return Err(command.refused(&under, detail)),
            };
            if command != Command::Delete && !over.has_columns() {
                return Err(command.refused(&under, NO_COLUMNS));
            }
            under = over.under.clone();
            views.push(over);
            if let Some(table) = catalog.table(&under.schema, &under.name) {
                return Ok(Self {
                    secret: RandomState::new().build_hasher().finish(),
                    number: 0,
                    views: views.into(),
                    name: under,
                    table: Arc::clone(table),
                    rows: None,
                });
            }
            if views.len() >= DEPTH {
                let message = format!("infinite recursion detected in view \"{name}\"");
                return Err(Error::new("42P17", message));
            }
        }
    }

    /// A copy with another number, for another part of the statement.
    pub(crate) fn numbered(&self, number: usize) -> Self {
        Self {
            number,
            ..self.clone()
        }
    }

    /// A copy with another number whose last view reads rows at hand in place of the table.
    pub(crate) fn over_rows(&self, number: usize, rows: Given) -> Self {
        Self {
            number,
            rows: Some(rows),
            ..self.clone()
        }
    }

    /// The table under the views.
    pub(crate) fn table(&self) -> (&Name, &Arc<Table>) {
        (&self.name, &self.table)
    }

    /// The rows in its place.
    pub(crate) fn rows(&self) -> Option<&Given> {
        self.rows.as_ref()
    }

    /// The name of the view in the queries of the statement.
    pub(crate) fn called(&self) -> String {
        self.called_at(0)
    }

    fn called_at(&self, level: usize) -> String {
        format!("{THROUGH}{:x} {} {level}", self.secret, self.number)
    }

    /// Which of the views, or of what is under them, has a marked name.
    pub(crate) fn level_called(&self, name: &str) -> Option<usize> {
        let (_, level) = name.strip_prefix(THROUGH)?.rsplit_once(' ')?;
        let level = level.parse().ok()?;
        let meant = level <= self.views.len() && name == self.called_at(level);
        meant.then_some(level)
    }

    /// A view; `None` for the table under them.
    pub(crate) fn level(&self, level: usize) -> Option<&ViewOver> {
        self.views.get(level)
    }

    /// The view over a view or over the table.
    pub(crate) fn over(&self, level: usize) -> Option<&ViewOver> {
        self.views.get(level.checked_sub(1)?)
    }

    /// The columns of the table by the names that they have beside those of the views.
    pub(crate) fn of_table(&self) -> Vec<(String, String)> {
        let columns = self.table.schema.columns.iter();
        let columns = columns.map(|column| column.name.clone());
        columns.map(|name| (self.in_sight(&name), name)).collect()
    }

    /// The name that a column of the table has beside the columns of the views.
    pub(crate) fn in_sight(&self, column: &str) -> String {
        format!("{OF_TABLE}{:x} {column}", self.secret)
    }

    /// The name of the column that has the truth of the condition of a view.
    fn check(&self, level: usize) -> String {
        format!("{CHECK}{:x} {level}", self.secret)
    }

    /// How many columns of the query of a view are hidden.
    pub(crate) fn hidden(&self, level: usize) -> usize {
        self.passed(level).len()
    }

    /// The hidden columns of a view: the expressions and their names.
    fn passed(&self, level: usize) -> Vec<(Option<&Expr>, String)> {
        let mut names: Vec<(Option<&Expr>, String)> = Vec::new();
        match self.rows {
            None => {
                names.push((None, ROW_ID.to_owned()));
                if self.table.schema.partitioned.is_some() {
                    names.push((None, TABLE.to_owned()));
                }
            }
            Some(_) => {
                names.push((None, PLACE.to_owned()));
                for (number, view) in self.views.iter().enumerate().skip(level) {
                    if let Some(condition) = &view.select.selection {
                        let own = (number == level).then_some(condition);
                        names.push((own, self.check(number)));
                    }
                }
            }
        }
        let columns = self.table.schema.columns.iter();
        names.extend(columns.map(|column| (None, self.in_sight(&column.name))));
        names
    }

    /// The query of a view with the hidden columns behind its own.
    ///
    /// # Errors
    /// None but those of a bug in here.
    pub(crate) fn query(&self, level: usize) -> Result<Query> {
        let wrong = || Error::internal("a view that is not there");
        let over = self.views.get(level).ok_or_else(wrong)?;
        let Ast::Query(mut query) = parse_one("SELECT 1")? else {
            return Err(wrong());
        };
        let mut select = over.select.clone();
        let alias = |name: &str| Ident::with_quote('"', name);
        let own = over.columns.iter().map(|column| SelectItem::ExprWithAlias {
            expr: column.expr.clone(),
            alias: alias(&column.name),
        });
        let passed = self.passed(level);
        let hidden = passed.iter().map(|(expr, name)| SelectItem::ExprWithAlias {
            expr: match expr {
                Some(condition) => {
                    Expr::IsTrue(Box::new(Expr::Nested(Box::new((*condition).clone()))))
                }
                None => Expr::Identifier(alias(name)),
            },
            alias: alias(name),
        });
        select.projection = own.chain(hidden).collect();
        if self.rows.is_some() {
            select.selection = None;
        }
        if let Some(item) = select.from.first_mut()
            && let TableFactor::Table { name, .. } = &mut item.relation
        {
            *name = ObjectName::from(vec![alias(&self.called_at(level + 1))]);
        }
        *query.body = SetExpr::Select(Box::new(select));
        Ok(*query)
    }

    /// Whether the view that is named has a column.
    pub(crate) fn has_column(&self, name: &str) -> bool {
        self.views[0]
            .columns
            .iter()
            .any(|column| column.name == name)
    }

    /// The columns of the view that is named.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.views[0]
            .columns
            .iter()
            .map(|column| column.name.as_str())
    }

    /// The view that is named.
    pub(crate) fn view(&self) -> &Name {
        &self.views[0].name
    }

    /// The column of the table that a column of the view is.
    ///
    /// # Errors
    /// `42703` for no column of the view, `0A000` for one that is computed.
    pub(crate) fn column(&self, name: &str, command: Command) -> Result<String> {
        let mut name = name.to_owned();
        for view in self.views.iter() {
            let found = view.columns.iter().find(|column| column.name == name);
            let found = found.ok_or_else(|| {
                let view = &view.name.name;
                let message = format!("column \"{name}\" of relation \"{view}\" does not exist");
                Error::new("42703", message)
            })?;
            name = match &found.of {
                Ok(of) => of.clone(),
                Err(detail) => return Err(command.refused_column(&name, &view.name, detail)),
            };
        }
        Ok(name)
    }

    /// The default that the view that is named has for a column.
    pub(crate) fn default_of(&self, name: &str) -> Option<&str> {
        let mut defaults = self.views[0].defaults.iter();
        let found = defaults.find(|(column, _)| column == name);
        found.map(|(_, default)| default.as_str())
    }

    /// The columns of the table that have defaults in the views, of which the outermost counts.
    ///
    /// # Errors
    /// `0A000` for a default of a column that is computed.
    pub(crate) fn defaults(&self, command: Command) -> Result<Vec<(String, String)>> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (level, view) in self.views.iter().enumerate() {
            for (column, default) in &view.defaults {
                let mut name = column.clone();
                for inner in self.views.iter().skip(level) {
                    let found = inner.columns.iter().find(|known| known.name == name);
                    match found.map(|found| &found.of) {
                        Some(Ok(of)) => name.clone_from(of),
                        Some(Err(detail)) => {
                            return Err(command.refused_column(&name, &inner.name, detail));
                        }
                        None => break,
                    }
                }
                if self.table.schema.index_of(&name).is_some()
                    && all.iter().all(|(known, _)| *known != name)
                {
                    all.push((name, default.clone()));
                }
            }
        }
        Ok(all)
    }

    /// The views whose conditions new rows have to meet, from the innermost one on: the hidden
    /// column that tells it, and the view.
    pub(crate) fn checks(&self) -> Vec<(String, &Name)> {
        let (mut checks, mut cascaded) = (Vec::new(), false);
        for (level, view) in self.views.iter().enumerate() {
            cascaded |= view.check == Some(CheckOption::Cascaded);
            let checked = cascaded || view.check.is_some();
            if checked && view.select.selection.is_some() {
                checks.push((self.check(level), &view.name));
            }
        }
        checks.reverse();
        checks
    }

    /// An expression over columns of the view as one over those of the table.
    pub(crate) fn in_table(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        for view in self.views.iter() {
            let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |part| {
                let name = match part {
                    Expr::Identifier(ident) => fold(ident),
                    Expr::CompoundIdentifier(parts) => match parts.last() {
                        Some(last) => fold(last),
                        None => return ControlFlow::Continue(()),
                    },
                    _ => return ControlFlow::Continue(()),
                };
                if let Some(column) = view.columns.iter().find(|column| column.name == name) {
                    *part = match &column.of {
                        Ok(of) => Expr::Identifier(Ident::with_quote('"', of)),
                        Err(_) => Expr::Nested(Box::new(column.expr.clone())),
                    };
                }
                ControlFlow::Continue(())
            });
        }
        expr
    }
}

/// The changes that rows of a table or view allow, in bits: UPDATE is 4, INSERT 8 and DELETE
/// 16.
pub(crate) fn events_of(catalog: &Catalog, schema: &str, name: &str) -> i32 {
    events_within(catalog, &Name::new(schema, name), None, DEPTH)
}

/// The same, with columns as far as one of these is concerned.
fn events_within(catalog: &Catalog, name: &Name, columns: Option<&[String]>, depth: usize) -> i32 {
    if let Some(table) = catalog.table(&name.schema, &name.name) {
        return if table.schema.materialized.is_some() {
            0
        } else {
            28
        };
    }
    if depth == 0 || catalog.view(&name.schema, &name.name).is_none() {
        return 0;
    }
    let Ok(Ok(over)) = view_over(catalog, name) else {
        return 0;
    };
    let asked = |column: &&ViewColumn| columns.is_none_or(|asked| asked.contains(&column.name));
    let found = over.columns.iter().filter(asked);
    let found: Vec<String> = found.filter_map(|column| column.of.clone().ok()).collect();
    let own = if found.is_empty() { 16 } else { 28 };
    own & events_within(catalog, &over.under, Some(&found), depth - 1)
}

/// Which columns of a view can be changed.
pub(crate) fn columns(catalog: &Catalog, schema: &str, name: &str) -> Vec<bool> {
    let name = Name::new(schema, name);
    let Ok(Ok(over)) = view_over(catalog, &name) else {
        return Vec::new();
    };
    let can = |column: &ViewColumn| {
        let asked = std::slice::from_ref(&column.name);
        events_within(catalog, &name, Some(asked), DEPTH) & 20 == 20
    };
    over.columns.iter().map(can).collect()
}

/// The table of a name, or that under the view of it.
pub(crate) fn table_under<'c>(catalog: &'c Catalog, name: &Name) -> Option<&'c Arc<Table>> {
    let mut name = name.clone();
    for _ in 0..DEPTH {
        if let Some(table) = catalog.table(&name.schema, &name.name) {
            return Some(table);
        }
        catalog.view(&name.schema, &name.name)?;
        name = view_over(catalog, &name).ok()?.ok()?.under;
    }
    None
}
