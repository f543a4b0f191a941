//! The catalogue of functions, operators and casts, by chapter.
//!
//! Each chapter of PostgreSQL's documentation is a module with a function `register` that adds
//! its functions to the [`Catalogue`]: name, parameter types, result type and a kernel
//! (`kernel`). `resolve` finds the overload that a call means, by PostgreSQL's rules.
//!
//! ```text
//! c.add(scalar("left", &[Text, Int4], Text, f2::<Str, I32, Str>(|text, n| Ok(left(text, n)))));
//! c.operator("||", &[Text, Text], Text, f2::<Str, Str, Str>(|a, b| Ok(format!("{a}{b}"))));
//! c.cast(Text, Int4, Context::Explicit, f1::<Str, I32>(read_int4));
//! ```

pub mod kernel;
pub mod ordering;
mod resolve;
#[cfg(test)]
pub(crate) mod testing;

pub mod arrays;
mod binary;
mod bits;
pub mod boolean;
mod casts;
mod compare;
mod datetime;
mod encodings;
mod enumerations;
pub mod extremes;
mod format;
mod formatting;
mod internal;
mod json;
mod keywords;
mod math;
mod money;
mod network;
mod numeric;
pub mod objects;
mod patterns;
mod printf;
mod ranges;
pub mod records;
mod series;
mod steps;
mod strings;
mod system;

pub mod aggregates;
pub mod windows;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::error::Result;
use crate::types::{RangeOf, Type};
use kernel::Kernel;

pub use binary::read_bytes;
pub use bits::of_hex as bits_of_hex;
pub(crate) use casts::relabelling;
pub use casts::{must_fit, read};
pub use datetime::{Ordinals, digits_of_field, ordinals};
pub use internal::{read_tid, read_xid, tid_of_row};
pub use keywords::is_unreserved;
pub use numeric::read_oid;
pub use ranges::read_text as read_range;
pub use resolve::{
    Overload, Resolved, Unresolved, cast_between, common_type, resolve_function, resolve_operator,
};
pub use system::read_uuid;

/// How often a function may give another result for the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Volatility {
    /// Never.
    Immutable,
    /// Not within a statement.
    Stable,
    /// At every call.
    Volatile,
}

/// Settings and the time, as functions see them.
#[derive(Clone, Debug)]
pub struct Session {
    /// Microseconds since 1970-01-01 UTC at which the transaction began: `now()`.
    pub transaction_time: i64,
    /// The same of the statement.
    pub statement_time: i64,
    /// Name of the time zone, such as `Europe/Berlin` or `UTC`.
    pub time_zone: String,
    /// `bytea_output`: hex or escape.
    pub bytea_escape: bool,
    /// `IntervalStyle`, one of postgres, postgres_verbose, sql_standard, iso_8601.
    pub interval_style: String,
    /// `DateStyle`, such as `ISO, MDY`.
    pub date_style: String,
    /// `extra_float_digits`.
    pub extra_float_digits: i32,
    /// The role whose rights count.
    pub user: String,
    /// The role that logged in.
    pub session_user: String,
    /// The database.
    pub database: String,
    /// The schemas in which names without one are looked for.
    pub search_path: Vec<String>,
}

impl Default for Session {
    fn default() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |since| {
            i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
        });
        Self {
            transaction_time: now,
            statement_time: now,
            time_zone: "UTC".to_owned(),
            bytea_escape: false,
            interval_style: "postgres".to_owned(),
            date_style: "ISO, MDY".to_owned(),
            extra_float_digits: 1,
            user: "freestone".to_owned(),
            session_user: "freestone".to_owned(),
            database: "freestone".to_owned(),
            search_path: vec!["public".to_owned()],
        }
    }
}

/// The type of a result.
#[derive(Clone)]
pub enum Returns {
    /// A type, which may be one of the pseudo types of the parameters.
    Type(Type),
    /// A type that depends on those of the arguments, modifiers included.
    Of(Arc<ReturnType>),
}

/// The type of a result by the types of the arguments.
pub type ReturnType = dyn Fn(&[Type]) -> Type + Send + Sync;

impl From<Type> for Returns {
    fn from(ty: Type) -> Self {
        Self::Type(ty)
    }
}

/// One overload of a function or an operator, or a cast.
#[derive(Clone)]
pub struct Scalar {
    /// Its name; an operator's symbol.
    pub name: &'static str,
    /// Parameter types, without modifiers.
    pub parameters: Vec<Type>,
    /// The type of any number of further arguments.
    pub variadic: Option<Type>,
    /// Names of the parameters, if it can be called with `name => value`.
    pub names: &'static [&'static str],
    /// Texts of the values of the last parameters where they are left out.
    pub defaults: &'static [&'static str],
    /// Result type.
    pub returns: Returns,
    /// Whether results may differ for the same arguments.
    pub volatility: Volatility,
    /// Whether it is NULL if one of its arguments is.
    pub strict: bool,
    /// Its work; arguments have the parameters' Arrow types, NUMERIC of either form.
    pub kernel: Kernel,
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// A strict, immutable function.
pub fn scalar(
    name: &'static str,
    parameters: &[Type],
    returns: impl Into<Returns>,
    kernel: Kernel,
) -> Scalar {
    Scalar {
        name,
        parameters: parameters.to_vec(),
        variadic: None,
        names: &[],
        defaults: &[],
        returns: returns.into(),
        volatility: Volatility::Immutable,
        strict: true,
        kernel,
    }
}

impl Scalar {
    /// With a kernel that is also called for NULLs.
    #[must_use]
    pub fn with_nulls(mut self) -> Self {
        self.strict = false;
        self
    }

    /// Depends on settings or the time.
    #[must_use]
    pub fn stable(mut self) -> Self {
        self.volatility = Volatility::Stable;
        self
    }

    /// May give another result at every call.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.volatility = Volatility::Volatile;
        self
    }

    /// Takes any number of further arguments of a type.
    #[must_use]
    pub fn variadic(mut self, ty: Type) -> Self {
        self.variadic = Some(ty);
        self
    }

    /// Names its parameters, and gives the texts of values of the last of them.
    #[must_use]
    pub fn named(
        mut self,
        names: &'static [&'static str],
        defaults: &'static [&'static str],
    ) -> Self {
        self.names = names;
        self.defaults = defaults;
        self
    }
}

/// Where a cast is done without being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Context {
    /// Nowhere.
    Explicit,
    /// Where a value is stored in a column.
    Assignment,
    /// Everywhere.
    Implicit,
}

/// A cast between two base types.
#[derive(Clone, Debug)]
pub struct Cast {
    /// Where it is done.
    pub context: Context,
    /// The work; the result type with its modifiers is that of the call. `None` if the values
    /// stay as they are.
    pub function: Option<Arc<Scalar>>,
}

/// Whether a cast depends on settings: on the zone, on DateStyle and its kin.
fn depends_on_settings(from: &Type, to: &Type) -> bool {
    let zoned = |ty: &Type| matches!(ty, Type::TimestampTz(_) | Type::TimeTz(_));
    let shown = |ty: &Type| {
        matches!(
            ty,
            Type::Date
                | Type::Time(_)
                | Type::Timestamp(_)
                | Type::Interval
                | Type::Bytea
                | Type::Float4
                | Type::Float8
        ) || ty.range().is_some_and(RangeOf::is_of_time)
    };
    zoned(from)
        || zoned(to)
        || shown(from) && (to.is_string() || matches!(to, Type::Json | Type::Jsonb))
        || shown(to) && from.is_string()
}

/// A function that gives rows: `generate_series(1, 3)`.
#[derive(Clone)]
pub struct TableFunction {
    /// Its name.
    pub name: &'static str,
    /// Parameter types.
    pub parameters: Vec<Type>,
    /// The type of any number of further arguments.
    pub variadic: Option<Type>,
    /// Names and types of its columns; with one column its name is that of the function where
    /// it is left empty, and its type may be a pseudo type of the parameters.
    pub columns: Vec<(&'static str, Returns)>,
    /// Whether it gives no row if one of its arguments is NULL.
    pub strict: bool,
    /// The columns of the rows of one call; every argument has one row. All have one length.
    pub rows: TableKernel,
}

impl fmt::Debug for TableFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// The work of a [`TableFunction`]. Rows come in parts, so that a long series takes no memory:
/// the closure that it returns is called until it gives `None`.
pub type TableKernel = Arc<
    dyn Fn(
            &kernel::Call<'_>,
            &[arrow_array::ArrayRef],
        ) -> Result<Box<dyn Iterator<Item = Result<Vec<arrow_array::ArrayRef>>> + Send>>
        + Send
        + Sync,
>;

/// All functions, operators and casts.
#[derive(Default)]
pub struct Catalogue {
    functions: HashMap<&'static str, Vec<Arc<Scalar>>>,
    operators: HashMap<&'static str, Vec<Arc<Scalar>>>,
    casts: HashMap<(Type, Type), Cast>,
    tables: HashMap<&'static str, Vec<Arc<TableFunction>>>,
    aggregates: HashMap<Cow<'static, str>, Vec<Arc<aggregates::Aggregate>>>,
    windows: HashMap<&'static str, Vec<Arc<windows::WindowFunction>>>,
}

impl Catalogue {
    /// Adds a function.
    pub fn add(&mut self, function: Scalar) {
        let name = function.name;
        self.functions
            .entry(name)
            .or_default()
            .push(Arc::new(function));
    }

    /// Adds another name for the functions of a name that were added before.
    pub fn synonym(&mut self, name: &'static str, of: &str) {
        let known = self.functions.get(of).cloned().unwrap_or_default();
        let named = known.iter().map(|function| {
            let function = Scalar::clone(function);
            Arc::new(Scalar { name, ..function })
        });
        let named: Vec<Arc<Scalar>> = named.collect();
        self.functions.entry(name).or_default().extend(named);
    }

    /// Adds a strict, immutable operator; one of one parameter stands before its operand.
    pub fn operator(
        &mut self,
        symbol: &'static str,
        parameters: &[Type],
        returns: impl Into<Returns>,
        kernel: Kernel,
    ) {
        self.add_operator(scalar(symbol, parameters, returns, kernel));
    }

    /// Adds an operator.
    pub fn add_operator(&mut self, operator: Scalar) {
        let symbol = operator.name;
        self.operators
            .entry(symbol)
            .or_default()
            .push(Arc::new(operator));
    }

    /// Adds a cast.
    pub fn cast(&mut self, from: Type, to: Type, context: Context, kernel: Kernel) {
        let mut function = scalar("cast", std::slice::from_ref(&from), to.clone(), kernel);
        if depends_on_settings(&from, &to) {
            function = function.stable();
        }
        let function = Some(Arc::new(function));
        self.casts.insert((from, to), Cast { context, function });
    }

    /// Adds a cast that leaves values as they are.
    pub fn relabel(&mut self, from: Type, to: Type, context: Context) {
        let function = None;
        self.casts.insert((from, to), Cast { context, function });
    }

    /// Adds a function that gives rows.
    pub fn add_table(&mut self, function: TableFunction) {
        let name = function.name;
        self.tables
            .entry(name)
            .or_default()
            .push(Arc::new(function));
    }

    /// Adds an aggregate.
    pub fn add_aggregate(&mut self, aggregate: aggregates::Aggregate) {
        let name = aggregate.name.clone();
        self.aggregates
            .entry(name)
            .or_default()
            .push(Arc::new(aggregate));
    }

    /// Adds a window function.
    pub fn add_window(&mut self, function: windows::WindowFunction) {
        let name = function.name;
        self.windows
            .entry(name)
            .or_default()
            .push(Arc::new(function));
    }

    /// The overloads of a function.
    pub fn functions(&self, name: &str) -> &[Arc<Scalar>] {
        self.functions.get(name).map_or(&[], Vec::as_slice)
    }

    /// The overloads of an operator.
    pub fn operators(&self, symbol: &str) -> &[Arc<Scalar>] {
        self.operators.get(symbol).map_or(&[], Vec::as_slice)
    }

    /// The overloads of a function that gives rows.
    pub fn tables(&self, name: &str) -> &[Arc<TableFunction>] {
        self.tables.get(name).map_or(&[], Vec::as_slice)
    }

    /// The overloads of an aggregate.
    pub fn aggregates(&self, name: &str) -> &[Arc<aggregates::Aggregate>] {
        self.aggregates.get(name).map_or(&[], Vec::as_slice)
    }

    /// The overloads of a window function.
    pub fn windows(&self, name: &str) -> &[Arc<windows::WindowFunction>] {
        self.windows.get(name).map_or(&[], Vec::as_slice)
    }

    /// The cast between two base types that the catalogue names.
    pub fn cast_of(&self, from: &Type, to: &Type) -> Option<&Cast> {
        self.casts.get(&(from.base(), to.base()))
    }

    /// Every overload of every function that gives a value.
    pub fn every_function(&self) -> impl Iterator<Item = &Scalar> {
        self.functions.values().flatten().map(AsRef::as_ref)
    }

    /// Every overload of every operator.
    pub fn every_operator(&self) -> impl Iterator<Item = &Scalar> {
        self.operators.values().flatten().map(AsRef::as_ref)
    }

    /// Every overload of every function that gives rows.
    pub fn every_table(&self) -> impl Iterator<Item = &TableFunction> {
        self.tables.values().flatten().map(AsRef::as_ref)
    }

    /// Every overload of every aggregate.
    pub fn every_aggregate(&self) -> impl Iterator<Item = &aggregates::Aggregate> {
        self.aggregates.values().flatten().map(AsRef::as_ref)
    }

    /// Every overload of every window function.
    pub fn every_window(&self) -> impl Iterator<Item = &windows::WindowFunction> {
        self.windows.values().flatten().map(AsRef::as_ref)
    }

    /// Every cast between two base types.
    pub fn every_cast(&self) -> impl Iterator<Item = (&Type, &Type, Context)> {
        let casts = self.casts.iter();
        casts.map(|((from, to), cast)| (from, to, cast.context))
    }

    /// All names of functions of any kind.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        let scalars = self.functions.keys().chain(self.tables.keys());
        scalars
            .chain(self.windows.keys())
            .copied()
            .chain(self.aggregates.keys().filter_map(|name| match name {
                Cow::Borrowed(name) => Some(*name),
                Cow::Owned(_) => None,
            }))
    }
}

/// Adds a chapter to a catalogue.
type Register = fn(&mut Catalogue);

/// Titles of the chapters, and what adds their functions.
const CHAPTERS: [(&str, Register); 26] = [
    ("Comparison", compare::register),
    ("Truth values", boolean::register),
    ("Numbers", numeric::register),
    ("Mathematics", math::register),
    ("Strings", strings::register),
    ("Binary strings", binary::register),
    ("Bit strings", bits::register),
    ("Network addresses", network::register),
    ("Money", money::register),
    ("Steps of aggregates", steps::register),
    ("Patterns", patterns::register),
    ("Format", format::register),
    ("Formatting of numbers", formatting::register),
    ("Dates and times", datetime::register),
    ("JSON", json::register),
    ("Arrays", arrays::register),
    ("Enumerations", enumerations::register),
    ("Ranges", ranges::register),
    ("Rows", records::register),
    ("Series", series::register),
    ("Casts", casts::register),
    ("Aggregates", aggregates::register),
    ("Window functions", windows::register),
    ("System information", system::register),
    ("Objects of the catalog", objects::register),
    ("Types of the catalog", internal::register),
];

/// The chapters with their titles, each as a catalogue of its own.
pub fn chapters() -> impl Iterator<Item = (&'static str, Catalogue)> {
    CHAPTERS.iter().map(|(title, register)| {
        let mut chapter = Catalogue::default();
        register(&mut chapter);
        (*title, chapter)
    })
}

/// The parameters of a function that gives rows, each with its name and its default, if they
/// have names.
pub(crate) fn names_of_rows(name: &str) -> Option<&'static [(&'static str, Option<&'static str>)]> {
    match name {
        "jsonb_path_query" | "jsonb_path_query_tz" => Some(&json::PATH_PARAMETERS),
        _ => None,
    }
}

/// The catalogue of every session.
pub fn catalogue() -> &'static Catalogue {
    static ALL: LazyLock<Catalogue> = LazyLock::new(|| {
        let mut all = Catalogue::default();
        for (_, register) in CHAPTERS {
            register(&mut all);
        }
        all
    });
    &ALL
}
