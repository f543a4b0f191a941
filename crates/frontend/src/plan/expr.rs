//! Typed expressions.

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, new_null_array};
use arrow_schema::DataType;

use super::{ColumnId, Plan};
use crate::functions::{Scalar, Volatility, relabelling};
use crate::types::Type;

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its form.
    pub kind: ExprKind,
    /// Its type, with modifiers.
    pub ty: Type,
}

/// Forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A value: an array of one row.
    Literal(ArrayRef),
    /// A column.
    Column(ColumnId),
    /// A parameter of the statement, from 1.
    Parameter(usize),
    /// A call of a function, an operator or a cast; arguments have the parameters' types.
    Call {
        /// The function.
        function: Arc<Scalar>,
        /// Arguments.
        arguments: Vec<Expr>,
    },
    /// TRUE if all are.
    And(Vec<Expr>),
    /// TRUE if one is.
    Or(Vec<Expr>),
    /// The other truth value.
    Not(Box<Expr>),
    /// Whether a value is NULL.
    IsNull(Box<Expr>),
    /// The value of the first branch whose condition is TRUE.
    Case {
        /// Conditions and values.
        branches: Vec<(Expr, Expr)>,
        /// The value if there is none.
        otherwise: Option<Box<Expr>>,
    },
    /// The first value that is not NULL.
    Coalesce(Vec<Expr>),
    /// Whether a value equals one of a list, by an operator `=`.
    InList {
        /// The value.
        value: Box<Expr>,
        /// The list, of the value's type.
        list: Vec<Expr>,
        /// The operator.
        equal: Arc<Scalar>,
    },
    /// `value op ANY (array)` or `ALL`.
    Any {
        /// The operator, of the value and an element.
        operator: Arc<Scalar>,
        /// The value.
        value: Box<Expr>,
        /// The array.
        array: Box<Expr>,
        /// Whether all elements must do.
        all: bool,
    },
    /// An array of values.
    Array(Vec<Expr>),
    /// A record of values.
    Row(Vec<Expr>),
    /// A field of a record, by position.
    Field(Box<Expr>, usize),
    /// A sub-query.
    Subquery(Box<Subquery>),
}

/// A sub-query in an expression.
#[derive(Clone, Debug)]
pub struct Subquery {
    /// How its rows become a value.
    pub kind: SubqueryKind,
    /// Its plan.
    pub plan: Plan,
    /// The number by which it is known: two of one number are copies of one.
    pub id: u32,
}

/// How a sub-query's rows become a value.
#[derive(Clone, Debug)]
pub enum SubqueryKind {
    /// The only column of the only row; NULL without rows; an error for several.
    Scalar,
    /// Whether there are rows.
    Exists,
    /// All values of its only column, as an array.
    Array,
    /// Whether `comparison` holds for any or all rows, by three-valued logic. It reads the
    /// columns of the plan and of the outer query.
    Compare {
        /// The comparison of the outer row with one of the sub-query.
        comparison: Box<Expr>,
        /// Any or all.
        quantifier: Quantifier,
    },
}

/// ANY or ALL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// One row must do.
    Any,
    /// All rows must do.
    All,
}

impl Expr {
    /// An expression of a form and a type.
    pub fn new(kind: ExprKind, ty: Type) -> Expr {
        Expr { kind, ty }
    }

    /// A call.
    pub fn call(function: Arc<Scalar>, arguments: Vec<Expr>, ty: Type) -> Expr {
        let kind = ExprKind::Call {
            function,
            arguments,
        };
        Expr { kind, ty }
    }

    /// A truth value.
    pub fn bool(value: bool) -> Expr {
        let array: ArrayRef = Arc::new(BooleanArray::from(vec![value]));
        Expr::new(ExprKind::Literal(array), Type::Bool)
    }

    /// A text.
    pub fn text(value: &str, ty: Type) -> Expr {
        let mut builder = StringViewBuilder::with_capacity(1);
        builder.append_value(value);
        Expr::new(ExprKind::Literal(Arc::new(builder.finish())), ty)
    }

    /// NULL of a type.
    pub fn null(ty: Type) -> Expr {
        Expr::new(ExprKind::Literal(new_null_array(&ty.arrow(), 1)), ty)
    }

    /// An INTEGER.
    pub fn int4(value: i32) -> Expr {
        let array: ArrayRef = Arc::new(arrow_array::Int32Array::from(vec![value]));
        Expr::new(ExprKind::Literal(array), Type::Int4)
    }

    /// The value as one of another type whose values are held in the same way, such as a CHAR(3)
    /// as TEXT.
    #[must_use]
    pub fn relabelled(mut self, to: &Type) -> Expr {
        // A call reads the modifiers of its result type, such as the length of a VARCHAR.
        let has_modifiers = matches!(self.kind, ExprKind::Call { .. }) && self.ty != self.ty.base();
        if has_modifiers && self.ty != *to {
            let function = Arc::new(relabelling("cast", &self.ty, to));
            return Expr::call(function, vec![self], to.clone());
        }
        self.ty = to.clone();
        self
    }

    /// The value as one of another type, if values of both are held in the same way; else as it is.
    #[must_use]
    pub fn read_as(self, to: &Type) -> Expr {
        match self.ty.base() != to.base() && self.ty.arrow() == to.arrow() {
            true => self.relabelled(to),
            false => self,
        }
    }

    /// The negation.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Expr {
        Expr::new(ExprKind::Not(Box::new(self)), Type::Bool)
    }

    /// Whether it is NULL.
    #[must_use]
    pub fn is_null(self) -> Expr {
        Expr::new(ExprKind::IsNull(Box::new(self)), Type::Bool)
    }

    /// All of some conditions; chains are flattened, so that their depth stays small.
    pub fn and(conditions: impl IntoIterator<Item = Expr>) -> Expr {
        let mut all = Vec::new();
        for condition in conditions {
            match condition.kind {
                ExprKind::And(inner) => all.extend(inner),
                _ => all.push(condition),
            }
        }
        match all.len() {
            1 => all.swap_remove(0),
            0 => Expr::bool(true),
            _ => Expr::new(ExprKind::And(all), Type::Bool),
        }
    }

    /// One of some conditions, flattened as in [`Expr::and`].
    pub fn or(conditions: impl IntoIterator<Item = Expr>) -> Expr {
        let mut all = Vec::new();
        for condition in conditions {
            match condition.kind {
                ExprKind::Or(inner) => all.extend(inner),
                _ => all.push(condition),
            }
        }
        match all.len() {
            1 => all.swap_remove(0),
            0 => Expr::bool(false),
            _ => Expr::new(ExprKind::Or(all), Type::Bool),
        }
    }

    /// Its conditions, if it is a conjunction, or itself.
    pub fn conjuncts(self) -> Vec<Expr> {
        match self.kind {
            ExprKind::And(all) => all,
            _ => vec![self],
        }
    }

    /// The value, if it is a literal.
    pub fn literal(&self) -> Option<&ArrayRef> {
        match &self.kind {
            ExprKind::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// Whether it is the literal NULL.
    pub fn is_literal_null(&self) -> bool {
        self.literal().is_some_and(|value| value.is_null(0))
    }

    /// The text of a literal in quotes.
    pub fn literal_text(&self) -> Option<&str> {
        let value = self.literal()?;
        (value.data_type() == &DataType::Utf8View && !value.is_null(0)).then_some(())?;
        let () = ();
        Some(value.as_string_view().value(0))
    }

    /// The integer of a literal.
    pub fn literal_integer(&self) -> Option<i64> {
        let value = self.literal()?;
        if value.is_null(0) {
            return None;
        }
        match value.data_type() {
            DataType::Int16 => Some(value.as_primitive::<Int16Type>().value(0).into()),
            DataType::Int32 => Some(value.as_primitive::<Int32Type>().value(0).into()),
            DataType::Int64 => Some(value.as_primitive::<Int64Type>().value(0)),
            _ => None,
        }
    }

    /// Whether it, and what is in it but not in its sub-queries, may give another value at
    /// every call.
    pub fn is_volatile(&self) -> bool {
        self.any(&mut |expr| match &expr.kind {
            ExprKind::Call { function, .. } => function.volatility == Volatility::Volatile,
            _ => false,
        })
    }
}

impl PartialEq for Expr {
    /// Whether both are written alike. Sub-queries are if they are copies of one, and casts if
    /// they lead from one type to one type.
    fn eq(&self, other: &Self) -> bool {
        use ExprKind as K;
        self.ty == other.ty
            && match (&self.kind, &other.kind) {
                (K::Literal(a), K::Literal(b)) => a.as_ref() == b.as_ref(),
                (K::Column(a), K::Column(b)) => a == b,
                (K::Parameter(a), K::Parameter(b)) => a == b,
                (K::Subquery(a), K::Subquery(b)) => a.id == b.id,
                (
                    K::Call {
                        function: f,
                        arguments: a,
                    },
                    K::Call {
                        function: g,
                        arguments: b,
                    },
                ) => (Arc::ptr_eq(f, g) || f.name == "cast" && g.name == "cast") && a == b,
                (K::And(a), K::And(b)) | (K::Or(a), K::Or(b)) => a == b,
                (K::Coalesce(a), K::Coalesce(b))
                | (K::Array(a), K::Array(b))
                | (K::Row(a), K::Row(b)) => a == b,
                (K::Not(a), K::Not(b)) | (K::IsNull(a), K::IsNull(b)) => a == b,
                (K::Field(a, i), K::Field(b, j)) => i == j && a == b,
                (
                    K::Case {
                        branches: a,
                        otherwise: x,
                    },
                    K::Case {
                        branches: b,
                        otherwise: y,
                    },
                ) => a == b && x == y,
                (
                    K::InList {
                        value: a, list: x, ..
                    },
                    K::InList {
                        value: b, list: y, ..
                    },
                ) => a == b && x == y,
                (
                    K::Any {
                        operator: f,
                        value: a,
                        array: x,
                        all: p,
                    },
                    K::Any {
                        operator: g,
                        value: b,
                        array: y,
                        all: q,
                    },
                ) => Arc::ptr_eq(f, g) && p == q && a == b && x == y,
                _ => false,
            }
    }
}
