//! Records whose fields have names, as DuckDB writes them.
//!
//! ```text
//! {'a': 1, 'b': 'x'}      struct_pack(a => 1, b => 'x')      (1,x), with fields a and b
//! s.a    s['a']    struct_extract(s, 'a')    struct_insert(s, c => 2)
//! ```

use sqlparser::ast::{AccessExpr, Expr as Ast, Subscript};

use super::Binder;
use super::naming::{UNNAMED, name_of_expression};
use super::select::fields_of;
use crate::error::{Error, Result};
use crate::plan::{Expr, ExprKind};
use crate::types::Type;

impl Binder<'_> {
    /// A record of named values; those without a name have that of their expression.
    pub(super) fn struct_pack(
        &mut self,
        positional: &[&Ast],
        named: &[(String, &Ast)],
    ) -> Result<Expr> {
        let mut fields = Vec::with_capacity(positional.len() + named.len());
        for value in positional {
            let name = name_of_expression(value);
            if name == UNNAMED {
                let message = "struct_pack takes values with names, such as a => 1";
                return Err(Error::new("42601", message));
            }
            fields.push((name, self.bind_expr(value)?));
        }
        for (name, value) in named {
            fields.push((name.clone(), self.bind_expr(value)?));
        }
        self.named_record(fields)
    }

    /// The record of another one's fields and more.
    pub(super) fn struct_insert(
        &mut self,
        positional: &[&Ast],
        named: &[(String, &Ast)],
    ) -> Result<Expr> {
        let [record] = positional else {
            let message = "struct_insert takes a record and values with names, such as a => 1";
            return Err(Error::new("42601", message));
        };
        let record = self.bind_expr(record)?;
        let fields = fields_of(record)?.into_iter();
        let mut fields: Vec<(String, Expr)> =
            fields.map(|field| (field.name, field.value)).collect();
        for (name, value) in named {
            fields.push((name.clone(), self.bind_expr(value)?));
        }
        self.named_record(fields)
    }

    fn named_record(&mut self, fields: Vec<(String, Expr)>) -> Result<Expr> {
        if fields.is_empty() {
            return Err(Error::new("42601", "a record needs a field"));
        }
        let (mut types, mut values) = (Vec::with_capacity(fields.len()), Vec::new());
        for (name, value) in fields {
            if types.iter().any(|(known, _)| *known == name) {
                let message = format!("field \"{name}\" is there more than once");
                return Err(Error::new("42701", message));
            }
            let value = self.known_expr(value)?;
            types.push((name, value.ty.clone()));
            values.push(value);
        }
        let ty = Type::Record(types.into_iter().collect());
        Ok(Expr::new(ExprKind::Row(values), ty))
    }

    /// A field by a constant that is its name or its place from 1.
    pub(super) fn struct_extract(&mut self, record: Expr, field: Expr) -> Result<Expr> {
        let field = self.constant(field, "the field of a record")?;
        let name = match field.literal_integer() {
            Some(at) => {
                let fields = fields_of(record)?;
                let at = usize::try_from(at - 1).ok();
                let found = at.and_then(|at| fields.into_iter().nth(at));
                return found
                    .map(|field| field.value)
                    .ok_or_else(|| Error::new("42703", "a record has no field at this place"));
            }
            None => field.literal_text().map(str::to_owned),
        };
        let Some(name) = name else {
            return Err(Error::new(
                "42804",
                "a field of a record is a name or a place",
            ));
        };
        self.field(record, &name, None)
    }

    /// `s['a']` of a record, and characters of texts: `t[1]`, `t[2:3]`, `t[-1]`.
    pub(super) fn friendly_subscripts(
        &mut self,
        value: Expr,
        subscripts: &[AccessExpr],
    ) -> Result<Result<Expr, Expr>> {
        let is_text = matches!(
            value.ty.base(),
            Type::Text | Type::Varchar(_) | Type::Char(_)
        );
        let is_record = matches!(value.ty, Type::Record(_));
        match subscripts {
            [AccessExpr::Subscript(Subscript::Index { index })] if is_record => {
                let field = self.bind_expr(index)?;
                self.struct_extract(value, field).map(Ok)
            }
            [AccessExpr::Subscript(Subscript::Index { index })] if is_text => {
                let at = self.bind_expr(index)?;
                self.function("array_extract", vec![value, at]).map(Ok)
            }
            [
                AccessExpr::Subscript(Subscript::Slice {
                    lower_bound,
                    upper_bound,
                    stride: None,
                }),
            ] if is_text => {
                let mut bound = |limit: &Option<Ast>, least: i32| match limit {
                    Some(limit) => self.bind_expr(limit),
                    None => Ok(Expr::int4(least)),
                };
                let low = bound(lower_bound, 1)?;
                let high = bound(upper_bound, -1)?;
                self.function("array_slice", vec![value, low, high]).map(Ok)
            }
            _ => Ok(Err(value)),
        }
    }
}
