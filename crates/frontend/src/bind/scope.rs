//! What names mean: relations and columns in sight.

use super::{Binder, Markers, RowName, fold, place};
use crate::error::{Error, Position, Result};
use crate::plan::{
    AggregateCall, Column, CteId, Expr, ExprKind, FrameUnits, SortKey, TableCall, WindowCall,
};
use crate::types::{Fields, Type};
use sqlparser::ast::{Ident, WindowSpec};

/// A relation in sight.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// Schema, where the name may be written with it.
    pub(super) schema: Option<String>,
    /// The name it has in the query; empty for a sub-query without one.
    pub(super) alias: String,
    /// Its columns.
    pub(super) columns: Vec<ScopeColumn>,
    /// Columns that `*` does not give.
    pub(super) hidden: Vec<ScopeColumn>,
    /// Columns that all others depend on: its primary key.
    pub(super) key: Vec<usize>,
    /// The name of the type of its rows, that of a table or view, and its number in the catalog.
    pub(super) row_type: Option<RowName>,
    /// Schema and name of the view that it is, whose type has a number that is asked for when it
    /// is needed.
    pub(super) view: Option<(String, String)>,
    /// Names of the columns before an alias gave them others: those of the fields of that type.
    pub(super) fields: Vec<String>,
    /// Whether its rows are values: those of a function that gives no records.
    pub(super) is_scalar: bool,
    /// Whether an outer join may have no row of it.
    pub(super) nullable: bool,
    /// TRUE in each of its rows, and NULL where an outer join has none: see
    /// [`Binder::with_marker`].
    pub(super) marker: Option<Expr>,
}

/// A relation of FROM, which may be out of sight.
#[derive(Debug)]
pub(super) struct Range {
    /// The name it has in the query.
    pub(super) alias: String,
    /// The name it is known by elsewhere, if it is no sub-query.
    pub(super) relation: Option<String>,
}

/// A column in sight.
#[derive(Clone, Debug)]
pub(super) struct ScopeColumn {
    /// Its name.
    pub(super) name: String,
    /// Its value: a column, or that of a column merged by FULL JOIN … USING.
    pub(super) value: Expr,
}

/// The relations and columns that FROM puts in sight.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespace {
    /// Relations, by their names.
    pub(super) relations: Vec<Named>,
    /// Columns in the order of `*`, merged ones once.
    pub(super) columns: Vec<ScopeColumn>,
}

/// Where in a query an expression stands, which decides on what it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    /// The SELECT list and ORDER BY.
    List,
    /// HAVING.
    Having,
    /// WHERE.
    Where,
    /// JOIN … ON.
    On,
    /// GROUP BY.
    GroupBy,
    /// FROM: arguments of functions.
    From,
    /// FROM: sub-queries behind LATERAL.
    FromQuery,
    /// VALUES.
    Values,
    /// LIMIT.
    Limit,
    /// OFFSET.
    Offset,
    /// QUALIFY.
    Qualify,
    /// An argument of an aggregate.
    Aggregate,
    /// FILTER of an aggregate.
    Filter,
    /// An argument of a call over a window.
    WindowArgument,
    /// PARTITION BY or ORDER BY of a window.
    Window,
    /// A distance of a window's frame, in units.
    Frame(FrameUnits),
    /// An expression without a query.
    Alone,
    /// The list of a statement that changes rows, by the name that it has there.
    Changes(&'static str),
}

impl Clause {
    /// Its name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Clause::List => "SELECT",
            Clause::Having => "HAVING",
            Clause::Where => "WHERE",
            Clause::On => "JOIN conditions",
            Clause::GroupBy => "GROUP BY",
            Clause::From => "functions in FROM",
            Clause::FromQuery => "FROM clause of their own query level",
            Clause::Values => "VALUES",
            Clause::Limit => "LIMIT",
            Clause::Offset => "OFFSET",
            Clause::Qualify => "QUALIFY",
            Clause::Aggregate => "aggregate function calls",
            Clause::Filter => "FILTER",
            Clause::WindowArgument => "window function calls",
            Clause::Window => "window definitions",
            Clause::Frame(FrameUnits::Rows) => "window ROWS",
            Clause::Frame(FrameUnits::Range) => "window RANGE",
            Clause::Frame(FrameUnits::Groups) => "window GROUPS",
            Clause::Alone => "this expression",
            Clause::Changes(name) => name,
        }
    }

    /// Whether aggregates and GROUPING may stand there.
    pub(super) fn has_aggregates(self) -> bool {
        matches!(
            self,
            Clause::List
                | Clause::Having
                | Clause::Qualify
                | Clause::Window
                | Clause::WindowArgument
        )
    }
}

/// A window of a WINDOW clause.
#[derive(Clone, Debug)]
pub(super) struct NamedWindow {
    pub(super) name: String,
    pub(super) spec: WindowSpec,
    /// Its keys, with those of the window that it is based on.
    pub(super) keys: WindowKeys,
}

/// The keys of a window, bound.
#[derive(Clone, Debug)]
pub(super) struct WindowKeys {
    pub(super) partition: Vec<Expr>,
    pub(super) order: Vec<SortKey>,
}

/// One query's names, and what its expressions have brought up so far.
#[derive(Debug)]
pub(super) struct Scope {
    /// Names.
    pub(super) names: Namespace,
    /// Names of the SELECT list that may stand for their values elsewhere.
    pub(super) aliases: Vec<(String, Expr)>,
    /// Whether they may here.
    pub(super) shows_aliases: bool,
    /// The clause being bound.
    pub(super) clause: Clause,
    /// The clause that the SELECT list is.
    pub(super) list: Clause,
    /// Calls of aggregates, and the columns that stand for them.
    pub(super) aggregates: Vec<(Column, AggregateCall)>,
    /// Calls of GROUPING.
    pub(super) groupings: Vec<(Column, Vec<Expr>)>,
    /// Calls over windows.
    pub(super) windows: Vec<(Column, WindowCall)>,
    /// Calls of functions that give rows, in the order in which they are to be computed.
    pub(super) sets: Vec<TableCall>,
    /// Whether its names are parameters of a function, whose values are no rows.
    pub(super) parameters: bool,
    /// Whether an aggregate over its rows stands in the aggregate that is being bound.
    pub(super) nested: bool,
    /// Windows by name.
    pub(super) named_windows: Vec<NamedWindow>,
    /// Faults of windows, which are told after all others of the query; `None` if they are told at
    /// once.
    pub(super) window_faults: Option<Vec<Error>>,
    /// Columns that forms such as COLUMNS stand for.
    pub(super) picked: Vec<ScopeColumn>,
    /// Sub-queries that stand in GROUP BY, and their values once they are bound: those that are
    /// written alike in the list or HAVING are the keys' own.
    pub(super) of_keys: Vec<(sqlparser::ast::Expr, Option<Expr>)>,
}

impl Scope {
    pub(super) fn new(names: Namespace, clause: Clause) -> Self {
        Self {
            names,
            aliases: Vec::new(),
            shows_aliases: false,
            clause,
            list: Clause::List,
            aggregates: Vec::new(),
            groupings: Vec::new(),
            windows: Vec::new(),
            sets: Vec::new(),
            parameters: false,
            nested: false,
            named_windows: Vec::new(),
            window_faults: None,
            picked: Vec::new(),
            of_keys: Vec::new(),
        }
    }

    /// The scope of an expression over relations.
    pub(super) fn of_relations(relations: &[(RowName, Vec<Column>)]) -> Result<Self> {
        let mut names = Namespace::default();
        for ((alias, number), columns) in relations {
            let named = Named {
                schema: None,
                alias: alias.clone(),
                columns: scope_columns(columns),
                fields: columns.iter().map(|column| column.name.clone()).collect(),
                hidden: Vec::new(),
                key: Vec::new(),
                row_type: Some((alias.clone(), *number)),
                view: None,
                is_scalar: false,
                nullable: false,
                marker: None,
            };
            names = names.join(Namespace::of(named))?;
        }
        Ok(Self::new(names, Clause::Alone))
    }
}

/// Columns with their own names.
pub(super) fn scope_columns(columns: &[Column]) -> Vec<ScopeColumn> {
    let columns = columns.iter();
    let columns = columns.map(|column| ScopeColumn {
        name: column.name.clone(),
        value: column.reference(),
    });
    columns.collect()
}

impl Namespace {
    /// That of one relation.
    pub(super) fn of(named: Named) -> Self {
        Self {
            columns: named.columns.clone(),
            relations: vec![named],
        }
    }

    /// The names of two sides of a join.
    ///
    /// # Errors
    /// `42712` if both have a relation of one name.
    pub(super) fn join(mut self, other: Namespace) -> Result<Self> {
        self.check_aliases(&other)?;
        self.relations.extend(other.relations);
        self.columns.extend(other.columns);
        Ok(self)
    }

    /// Takes away the names of relations that others have, too.
    pub(super) fn hide(&mut self, nearer: &Namespace) {
        for named in &mut self.relations {
            let is_same = |other: &Named| other.alias == named.alias;
            if nearer.relations.iter().any(is_same) {
                named.alias.clear();
            }
        }
    }

    /// Whether no relation of two sides has the name of another.
    ///
    /// # Errors
    /// `42712`.
    pub(super) fn check_aliases(&self, other: &Namespace) -> Result<()> {
        for named in &other.relations {
            let twice = self.relations.iter().any(|known| {
                // Tables without aliases differ by their schemas.
                let differ = known.schema.is_some()
                    && named.schema.is_some()
                    && known.schema != named.schema;
                !named.alias.is_empty() && known.alias == named.alias && !differ
            });
            if twice {
                return Err(Error::new(
                    "42712",
                    format!("table name \"{}\" specified more than once", named.alias),
                ));
            }
        }
        Ok(())
    }

    /// The relation of a name.
    pub(super) fn relation(&self, schema: Option<&str>, name: &str) -> Option<&Named> {
        self.relations.iter().find(|named| {
            named.alias == name
                && schema.is_none_or(|schema| named.schema.as_deref() == Some(schema))
        })
    }

    /// The column of a name, if there is one; `Err` if there are several.
    pub(super) fn column(&self, name: &str) -> Result<Option<&ScopeColumn>, ()> {
        let mut found = self.columns.iter().filter(|column| column.name == name);
        let first = found.next();
        match found.next() {
            Some(_) => Err(()),
            None if first.is_some() => Ok(first),
            None => {
                let hidden = self.relations.iter().flat_map(|named| &named.hidden);
                let mut found = hidden.filter(|column| column.name == name);
                let first = found.next();
                match found.next() {
                    Some(_) => Err(()),
                    None => Ok(first),
                }
            }
        }
    }
}

/// A common table expression in sight.
#[derive(Clone, Debug)]
pub(super) struct NamedCte {
    /// Its name.
    pub(super) name: String,
    /// Its number.
    pub(super) id: CteId,
    /// Its columns, by their names here.
    pub(super) columns: Vec<Column>,
    /// Whether the recursive term of it is being bound.
    pub(super) recursing: bool,
    /// Columns at the end that `*` does not give.
    pub(super) hidden: usize,
    /// The number of scopes around the query that has it.
    pub(super) depth: usize,
}

impl Binder<'_> {
    /// The innermost scope.
    ///
    /// # Errors
    /// `XX000` if there is none.
    pub(super) fn scope(&mut self) -> Result<&mut Scope> {
        self.scopes
            .last_mut()
            .ok_or_else(|| Error::internal("an expression without a scope"))
    }

    /// The value of a column by its unqualified name.
    pub(super) fn named_column(&mut self, ident: &Ident) -> Result<Expr> {
        if let Some(value) = self.picked(ident) {
            return Ok(value);
        }
        let name = fold(ident);
        let mut of_list: Option<Expr> = None;
        for scope in self.scopes.iter().rev() {
            match scope.names.column(&name) {
                Ok(Some(column)) => return Ok(column.value.clone()),
                Ok(None) => {}
                Err(()) => {
                    return Err(Error::new(
                        "42702",
                        format!("column reference \"{name}\" is ambiguous"),
                    )
                    .at(place(ident)));
                }
            }
            // A name of the SELECT list, where PostgreSQL would find nothing.
            let mut aliases = scope.aliases.iter();
            let alias = aliases.find(|(alias, _)| scope.shows_aliases && *alias == name);
            if let Some((_, value)) = alias {
                self.copied += value.size(super::COPIES - self.copied.min(super::COPIES));
                of_list = Some(value.clone()).filter(|_| self.copied < super::COPIES);
                if of_list.is_none() {
                    return Err(super::too_many_copies());
                }
                break;
            }
            // A relation's name stands for its rows.
            if let Some(named) = scope.names.relation(None, &name) {
                return Ok(self.whole_row(named));
            }
        }
        match of_list {
            Some(value) => Ok(value),
            None => Err(self.unknown_column(&name, place(ident))),
        }
    }

    /// The value of a column by its qualified name.
    pub(super) fn qualified_column(&self, idents: &[Ident]) -> Result<Option<Expr>> {
        let (relation, column) = match idents {
            [relation, column] => ((None, fold(relation)), fold(column)),
            [schema, relation, column] => {
                ((Some(schema_name(schema)), fold(relation)), fold(column))
            }
            [database, schema, relation, column] => {
                if fold(database) != self.session.database {
                    return Err(Error::unsupported(format!(
                        "cross-database references are not implemented: {}",
                        dotted(idents)
                    ))
                    .at(place(database)));
                }
                ((Some(schema_name(schema)), fold(relation)), fold(column))
            }
            [first, _, _, _, ..] => {
                return Err(Error::new(
                    "42601",
                    format!(
                        "improper qualified name (too many dotted names): {}",
                        dotted(idents)
                    ),
                )
                .at(place(first)));
            }
            _ => return Ok(None),
        };
        for scope in self.scopes.iter().rev() {
            let Some(named) = scope.names.relation(relation.0.as_deref(), &relation.1) else {
                continue;
            };
            let all = named.columns.iter().chain(&named.hidden);
            let mut found = all.filter(|known| known.name == column);
            let Some(first) = found.next() else {
                let full = format!("{}.{column}", relation.1);
                let known = named.columns.iter().map(|column| column.name.as_str());
                return Err(Error::new("42703", format!("column {full} does not exist"))
                    .with_hint_opt(near("column", &column, known))
                    .at(idents.first().and_then(place)));
            };
            if found.next().is_some() {
                return Err(Error::new(
                    "42702",
                    format!("column reference \"{column}\" is ambiguous"),
                )
                .at(idents.first().and_then(place)));
            }
            return Ok(Some(first.value.clone()));
        }
        Ok(None)
    }

    /// `42P10` for an expression that reads columns of the innermost query where it may not.
    pub(super) fn check_constant(&mut self, expr: &Expr, clause: &str) -> Result<()> {
        let reads = expr.reads();
        if reads.is_empty() {
            return Ok(());
        }
        let names = &self.scope()?.names;
        let all = names.relations.iter();
        let all = all.flat_map(|named| named.columns.iter().chain(&named.hidden));
        let own = all
            .chain(&names.columns)
            .any(|column| !column.value.reads().is_disjoint(&reads));
        match own {
            true => Err(Error::new(
                "42P10",
                format!("argument of {clause} must not contain variables"),
            )),
            false => Ok(()),
        }
    }

    /// `42P01` for a relation that FROM does not have.
    pub(super) fn missing_from(&self, name: &str, position: Option<Position>) -> Error {
        let all = self.ranges.iter().rev().flatten();
        let mut all = all.filter(|range| !range.alias.is_empty());
        let known =
            all.find(|range| range.alias == name || range.relation.as_deref() == Some(name));
        if let Some(Range { alias, .. }) = known {
            let seen = |scope: &Scope| scope.names.relation(None, alias).is_some();
            let hint = match alias != name && self.scopes.iter().any(seen) {
                true => format!("Perhaps you meant to reference the table alias \"{alias}\"."),
                false => format!(
                    "There is an entry for table \"{name}\", but it cannot be referenced from \
                     this part of the query."
                ),
            };
            let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
            return Error::new("42P01", message).with_hint(hint).at(position);
        }
        Error::new(
            "42P01",
            format!("missing FROM-clause entry for table \"{name}\""),
        )
        .at(position)
    }

    fn unknown_column(&self, name: &str, position: Option<Position>) -> Error {
        let error = Error::new("42703", format!("column \"{name}\" does not exist")).at(position);
        if !self.hints {
            return error;
        }
        let known = self
            .scopes
            .iter()
            .rev()
            .flat_map(|scope| &scope.names.columns);
        let known = known.map(|column| column.name.as_str());
        error.with_hint_opt(near("column", name, known))
    }
}

impl Binder<'_> {
    /// The rows of a relation as records, or the values of a function. Where an outer join has
    /// none, there is no record: its key is NULL, or else its marker, which the query is bound
    /// again for.
    pub(super) fn whole_row(&self, named: &Named) -> Expr {
        if named.nullable && named.key.is_empty() && named.marker.is_none() {
            self.markers.set(Markers::Wanted);
        }
        let number = named.row_type.as_ref().map_or(0, |(_, number)| *number);
        let number = match &named.view {
            Some((schema, name)) if number == 0 => self.catalog.row_number_of_view(schema, name),
            _ => number,
        };
        whole_row(named, number)
    }
}

/// The rows of a relation as records of a type with a number.
fn whole_row(named: &Named, number: i64) -> Expr {
    if let ([column], true) = (named.columns.as_slice(), named.is_scalar) {
        return column.value.clone();
    }
    let values: Vec<Expr> = named
        .columns
        .iter()
        .map(|column| column.value.clone())
        .collect();
    let of_type = match &named.row_type {
        Some(_) => named.fields.as_slice(),
        None => &[],
    };
    let fields = named.columns.iter().enumerate();
    let fields = fields.map(|(at, column)| {
        let name = of_type.get(at).unwrap_or(&column.name);
        (name.clone(), column.value.ty.clone())
    });
    let fields: Fields = fields.collect();
    let ty = Type::Record(match &named.row_type {
        Some((name, _)) => fields.with_name(name, number),
        None => fields,
    });
    let key = named.key.iter().filter_map(|at| values.get(*at));
    let key: Vec<Expr> = key.cloned().collect();
    let told = if key.is_empty() {
        named.marker.as_slice()
    } else {
        &key
    };
    let absent = told.iter().map(|value| value.clone().is_null());
    let absent: Vec<Expr> = absent.collect();
    let row = Expr::new(ExprKind::Row(values), ty.clone());
    if !named.nullable || absent.is_empty() {
        return row;
    }
    let nothing = Expr::null(ty.clone());
    let kind = ExprKind::Case {
        branches: vec![(Expr::and(absent), nothing)],
        otherwise: Some(Box::new(row)),
    };
    Expr::new(kind, ty)
}

/// A name of several parts.
fn dotted(idents: &[Ident]) -> String {
    let parts: Vec<String> = idents.iter().map(fold).collect();
    parts.join(".")
}

fn schema_name(ident: &Ident) -> String {
    one_name(fold(ident))
}

/// The name of a schema that has two: the default one is PostgreSQL's `public` and `main`.
pub(super) fn one_name(schema: String) -> String {
    match schema.as_str() {
        "main" => "public".to_owned(),
        _ => schema,
    }
}

/// The candidate nearest to a name, as advice.
pub(super) fn near<'n>(
    kind: &str,
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<String> {
    let wanted = name.to_lowercase();
    let (distance, best) = candidates
        .map(|candidate| (edit_distance(&wanted, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    let allowed = (wanted.chars().count() / 3).max(1);
    (distance <= allowed && best != name)
        .then(|| format!("Perhaps you mean the {kind} \"{best}\"."))
}

/// Levenshtein distance, counted in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
