//! Expressions over named columns, as plans are made of them.
//!
//! `lower` makes them of the expressions of bound statements: operations of Arrow where these mean
//! what SQL means, calls of functions elsewhere. `scan` takes over conditions that storage decides,
//! and `engine` makes programs of the rest.
//!
//! ```text
//! a < 3 AND b LIKE 'x%'      Binary(Binary(Column a, Lt, Literal 3), And, Like(Column b, 'x%'))
//! ```
//!
//! Operands have one type: `lower` casts them before.

mod function;
mod kernels;
mod scalar;

use arrow::datatypes::DataType;

pub(crate) use function::{Call, Function, only};
pub(crate) use kernels::{Cast, Compared, Computed, Matched, Negated, OneOf, Prefixed, Repeated};
pub(crate) use scalar::Scalar;

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    And,
    Or,
    Eq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
    Plus,
    Minus,
    Multiply,
}

impl Operator {
    /// The comparison seen from the other side: `5 < x` is `x > 5`.
    pub(crate) fn swap(self) -> Option<Self> {
        Some(match self {
            Self::Eq => Self::Eq,
            Self::NotEq => Self::NotEq,
            Self::Lt => Self::Gt,
            Self::LtEq => Self::GtEq,
            Self::Gt => Self::Lt,
            Self::GtEq => Self::LtEq,
            _ => return None,
        })
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    /// A column by its name.
    Column(String),
    Literal(Scalar),
    Binary(Box<Expr>, Operator, Box<Expr>),
    Not(Box<Expr>),
    IsNull(Box<Expr>),
    Negative(Box<Expr>),
    /// The value of the first branch whose condition is TRUE; else another one, or NULL.
    Case(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    InList(Box<Expr>, Vec<Scalar>),
    Like {
        text: Box<Expr>,
        pattern: String,
        negated: bool,
    },
    /// Whether a text begins with another.
    Prefix(Box<Expr>, String),
    Cast(Box<Expr>, DataType),
    Call(Call),
}

impl Expr {
    /// The parts that it consists of.
    fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Column(_) | Expr::Literal(_) => Vec::new(),
            Expr::Binary(left, _, right) => vec![left, right],
            Expr::Not(inner)
            | Expr::IsNull(inner)
            | Expr::Negative(inner)
            | Expr::InList(inner, _)
            | Expr::Like { text: inner, .. }
            | Expr::Prefix(inner, _)
            | Expr::Cast(inner, _) => vec![inner],
            Expr::Case(branches, otherwise) => {
                let branches = branches.iter().flat_map(|(when, then)| [when, then]);
                branches.chain(otherwise.as_deref()).collect()
            }
            Expr::Call(call) => call.arguments.iter().collect(),
        }
    }

    fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Column(_) | Expr::Literal(_) => Vec::new(),
            Expr::Binary(left, _, right) => vec![left, right],
            Expr::Not(inner)
            | Expr::IsNull(inner)
            | Expr::Negative(inner)
            | Expr::InList(inner, _)
            | Expr::Like { text: inner, .. }
            | Expr::Prefix(inner, _)
            | Expr::Cast(inner, _) => vec![inner],
            Expr::Case(branches, otherwise) => {
                let branches = branches.iter_mut().flat_map(|(when, then)| [when, then]);
                branches.chain(otherwise.as_deref_mut()).collect()
            }
            Expr::Call(call) => call.arguments.iter_mut().collect(),
        }
    }

    /// Calls `visit` for it and its parts, outermost first; parts of one for which it is false are
    /// passed over.
    pub(crate) fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr) -> bool) {
        if visit(self) {
            for child in self.children() {
                child.visit(visit);
            }
        }
    }

    /// Calls `change` for it and its parts, outermost first; parts of one for which it is false
    /// are passed over.
    pub(crate) fn change(&mut self, change: &mut dyn FnMut(&mut Expr) -> bool) {
        if change(self) {
            for child in self.children_mut() {
                child.change(change);
            }
        }
    }

    /// Whether it reads a column.
    pub(crate) fn reads(&self, column: &str) -> bool {
        let mut reads = false;
        self.visit(&mut |part| {
            reads |= matches!(part, Expr::Column(name) if name == column);
            !reads
        });
        reads
    }

    /// Whether it reads no column.
    pub(crate) fn is_constant(&self) -> bool {
        let mut reads = false;
        self.visit(&mut |part| {
            reads |= matches!(part, Expr::Column(_));
            !reads
        });
        !reads
    }

    /// Whether it may have another value each time that it is computed.
    pub(crate) fn is_volatile(&self) -> bool {
        let mut changes = false;
        self.visit(&mut |part| {
            changes |= matches!(part, Expr::Call(call) if call.function.is_volatile());
            !changes
        });
        changes
    }
}
