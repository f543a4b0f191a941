//! Queries and expressions as they are printed.

/// A part of an expression, as it is printed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A word such as CURRENT_DATE, or a column of the only relation there is.
    Name(String),
    /// A parameter of a function.
    Parameter {
        function: String,
        name: String,
    },
    /// A column of a range, or its whole row with the name of its type.
    Column {
        range: usize,
        column: Option<usize>,
        row: String,
    },
    /// A text in quotes whose type nothing has told yet.
    Untyped(String),
    /// A literal with the name of its type, if it is written.
    Literal(String, Option<String>),
    Cast {
        inner: Box<Node>,
        ty: String,
        /// Whether the context asks for it: it is left out where that is seen.
        implicit: bool,
        /// Whether it is no call of a function.
        relabels: bool,
        /// Whether a literal in it is written without its type: it is of the same one, but for
        /// its modifiers.
        bare: bool,
    },
    Call(Box<Call>),
    /// A function with a syntax of its own.
    Syntax(Vec<Piece>),
    Operator(String, Option<Box<Node>>, Box<Node>),
    /// AND or OR.
    Logic(&'static str, Vec<Node>),
    Not(Box<Node>),
    /// A test such as IS NULL, and whether it shows the casts of its operand.
    Test(Box<Node>, &'static str, bool),
    Distinct(Box<Node>, Box<Node>),
    /// An operator with ANY or ALL elements of an array; the type of the array is written behind
    /// a sub-query.
    Any {
        symbol: String,
        value: Box<Node>,
        array: Box<Node>,
        word: &'static str,
        ty: String,
    },
    Array(Vec<Node>),
    Row(Vec<Node>),
    /// A comparison of rows that are written out.
    Rows(Vec<Node>, String, Vec<Node>),
    Case {
        operand: Option<Box<Node>>,
        branches: Vec<(Node, Node)>,
        otherwise: Option<Box<Node>>,
    },
    Collate(Box<Node>, String),
    /// An element or a slice of an array.
    Subscript(Box<Node>, Vec<Bounds>),
    /// A field of a record.
    Field(Box<Node>, String),
    Query(Box<Sub>),
}

/// The subscript of an element, or the bounds of a slice.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bounds {
    Element(Node),
    Slice(Option<Node>, Option<Node>),
}

/// A part of a function with a syntax of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Words(String),
    /// An argument that stands alone.
    Alone(Node),
    /// An argument in brackets, if it needs them.
    Operand(Node),
}

/// A call of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Call {
    /// The schema of a created function.
    pub(super) schema: Option<String>,
    /// Its name, in quotes if it needs them.
    pub(super) name: String,
    /// Whether the function is created, and its schema is written where it is not found without.
    pub(super) created: bool,
    pub(super) distinct: bool,
    pub(super) star: bool,
    pub(super) arguments: Vec<Node>,
    /// Names of arguments, behind those that have none.
    pub(super) named: Vec<(String, Node)>,
    /// Whether the last argument is VARIADIC.
    pub(super) variadic: bool,
    pub(super) order: Vec<Key>,
    /// Whether the order stands in WITHIN GROUP.
    pub(super) within: bool,
    pub(super) filter: Option<Node>,
    pub(super) over: Option<Over>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Over {
    Named(String),
    Window(Box<Window>),
}

/// A window.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Window {
    /// The window that it adds to.
    pub(super) base: Option<String>,
    pub(super) partition: Vec<Node>,
    pub(super) order: Vec<Key>,
    pub(super) frame: Option<Frame>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) units: &'static str,
    pub(super) start: Bound,
    pub(super) end: Option<Bound>,
    pub(super) exclude: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    /// The distance, or `None` for CURRENT ROW and UNBOUNDED.
    pub(super) distance: Option<Node>,
    pub(super) words: &'static str,
}

/// A key of an order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    pub(super) node: Node,
    /// Its place in the list of the query, counted from 1.
    pub(super) place: Option<usize>,
    pub(super) direction: String,
}

/// A sub-query in an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sub {
    pub(super) kind: SubKind,
    pub(super) query: Query,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum SubKind {
    Value,
    Array,
    Exists,
    /// Values that are compared by an operator with ANY or ALL rows, or with the only one.
    Compared {
        left: Vec<Node>,
        symbol: String,
        /// ANY, ALL, or nothing.
        word: &'static str,
    },
}

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    pub(super) recursive: bool,
    pub(super) with: Vec<Cte>,
    pub(super) body: Body,
    pub(super) order: Vec<Key>,
    pub(super) offset: Option<Node>,
    pub(super) limit: Option<Node>,
    pub(super) ties: bool,
    pub(super) locks: Vec<Lock>,
    /// Names and types of its columns.
    pub(super) columns: Vec<(String, freestone_frontend::types::Type)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cte {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    pub(super) materialized: &'static str,
    pub(super) query: Query,
    /// SEARCH and CYCLE.
    pub(super) clauses: Vec<Clause>,
}

/// A clause behind a recursive query.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause {
    Search {
        order: &'static str,
        columns: Vec<String>,
        sequence: String,
    },
    Cycle {
        columns: Vec<String>,
        mark: String,
        /// The values of the mark, unless they are true and false.
        values: Option<[Node; 2]>,
        path: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lock {
    pub(super) words: &'static str,
    pub(super) range: usize,
    pub(super) wait: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Select(Box<Select>),
    /// VALUES: the range that its columns are of.
    Values(usize, Vec<Vec<Node>>),
    Set(Box<Set>),
}

/// A set operation or one of its queries.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Set {
    Leaf(Box<Query>),
    Both {
        words: &'static str,
        left: Box<Set>,
        right: Box<Set>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Distinct {
    All,
    On(Vec<Node>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Select {
    pub(super) distinct: Option<Distinct>,
    pub(super) items: Vec<Item>,
    /// Its relations and joins, in the order in which they are written.
    pub(super) ranges: Vec<usize>,
    pub(super) from: Vec<From>,
    pub(super) condition: Option<Node>,
    pub(super) group_distinct: bool,
    pub(super) groups: Vec<Group>,
    pub(super) having: Option<Node>,
    pub(super) windows: Vec<(String, Window)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) node: Node,
    pub(super) name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Group {
    Key(Node),
    /// Keys in brackets.
    Keys(Vec<Node>),
    Sets(&'static str, Vec<Group>),
}

/// A part of FROM.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum From {
    Range(usize),
    Join {
        range: usize,
        kind: &'static str,
        left: Box<From>,
        right: Box<From>,
        on: Option<Node>,
    },
}

/// A relation of FROM.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) kind: RangeKind,
    pub(super) alias: Option<String>,
    pub(super) renamed: Vec<String>,
    /// Its name where nothing gives it an alias.
    pub(super) name: String,
    /// Names of its columns without an alias.
    pub(super) columns: Vec<String>,
    pub(super) lateral: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum RangeKind {
    Relation {
        schema: String,
        only: bool,
        sample: Option<Box<Sample>>,
    },
    Query(Box<Query>),
    Values,
    Cte,
    Functions {
        calls: Vec<RowsCall>,
        ordinality: bool,
    },
    Join(Joined),
}

/// A sample of a relation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) method: &'static str,
    pub(super) share: Node,
    pub(super) seed: Option<Node>,
}

/// A call in FROM.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowsCall {
    pub(super) node: Node,
    /// Whether it is the language's UNNEST of one array.
    pub(super) unnest: bool,
    /// Its column definition list.
    pub(super) defined: Vec<(String, String)>,
}

/// How the columns of a join are found in its sides.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Joined {
    pub(super) left: usize,
    pub(super) right: usize,
    /// Places in the sides, those of USING first.
    pub(super) places: Vec<(Option<usize>, Option<usize>)>,
    /// How many columns of USING there are.
    pub(super) using: usize,
    /// The alias of these columns.
    pub(super) using_alias: Option<String>,
    /// Whether a column of USING is none of either side.
    pub(super) computed: bool,
}
