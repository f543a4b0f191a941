//! Marks of expressions: numbers that are the same for expressions that are written alike, so
//! that one is found among many without a comparison with each.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::{Expr, ExprKind};

impl Expr {
    /// Its mark.
    pub fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            discriminant(&expr.kind).hash(&mut hasher);
            match &expr.kind {
                ExprKind::Literal(value) => literal(value, &mut hasher),
                ExprKind::Column(id) => id.hash(&mut hasher),
                ExprKind::Parameter(number) => number.hash(&mut hasher),
                ExprKind::Subquery(subquery) => subquery.id.hash(&mut hasher),
                ExprKind::Call {
                    function,
                    arguments,
                } => {
                    // Casts are alike if they lead from one type to one type.
                    match function.name {
                        "cast" => expr.ty.hash(&mut hasher),
                        _ => (Arc::as_ptr(function) as usize).hash(&mut hasher),
                    }
                    open.extend(arguments);
                }
                _ => open.extend(expr.children()),
            }
        }
        hasher.finish()
    }
}

/// The value of a literal, where it is cheap to read.
fn literal(value: &ArrayRef, hasher: &mut DefaultHasher) {
    if value.is_empty() || value.is_null(0) {
        return;
    }
    match value.data_type() {
        DataType::Int16 => value.as_primitive::<Int16Type>().value(0).hash(hasher),
        DataType::Int32 => value.as_primitive::<Int32Type>().value(0).hash(hasher),
        DataType::Int64 => value.as_primitive::<Int64Type>().value(0).hash(hasher),
        DataType::Decimal128(..) => value.as_primitive::<Decimal128Type>().value(0).hash(hasher),
        DataType::Utf8View => value.as_string_view().value(0).hash(hasher),
        DataType::BinaryView => value.as_binary_view().value(0).hash(hasher),
        _ => {}
    }
}

/// Expressions that are found by their marks.
#[derive(Debug)]
pub struct Marked<'a> {
    exprs: Vec<&'a Expr>,
    places: HashMap<u64, Vec<usize>>,
}

impl<'a> Marked<'a> {
    /// Expressions in an order.
    pub fn of(exprs: impl Iterator<Item = &'a Expr>) -> Self {
        let exprs: Vec<&Expr> = exprs.collect();
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, expr) in exprs.iter().enumerate() {
            places.entry(expr.mark()).or_default().push(at);
        }
        Self { exprs, places }
    }

    /// The place of the first expression that is written like one.
    pub fn position(&self, expr: &Expr) -> Option<usize> {
        let like = self.places.get(&expr.mark())?;
        like.iter().copied().find(|at| self.exprs[*at] == expr)
    }
}
