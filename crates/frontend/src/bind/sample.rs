//! Samples of FROM: `USING SAMPLE 10%`, `TABLESAMPLE reservoir (50 ROWS) REPEATABLE (42)`.
//!
//! The rows of FROM are sampled before WHERE. A share by `bernoulli` or `system` takes each row
//! with that probability; a number of rows, or a share by `reservoir`, is the beginning of the rows in
//! a random order. With REPEATABLE the order is that of a digest of each row and the seed, so
//! that equal rows in whatever order give equal samples.

use sqlparser::ast::{Expr as Ast, FunctionArg, FunctionArgExpr, TableFactor, Value};

use super::expr::record;
use super::from::Part;
use super::{Binder, Coercion};
use crate::error::{Error, Result};
use crate::plan::{Expr, Plan, SortKey};
use crate::syntax::marks::{SAMPLE, marked};
use crate::types::Type;

/// The arguments of a sample that stands in the place of a relation.
pub(super) fn sample_of(factor: &TableFactor) -> Option<&[FunctionArg]> {
    let TableFactor::Table {
        name,
        args: Some(args),
        ..
    } = factor
    else {
        return None;
    };
    marked(name.0.first()?.as_ident()?, SAMPLE)?;
    Some(&args.args)
}

impl Binder<'_> {
    /// A sample of rows.
    pub(super) fn sampled(&mut self, part: Part, args: &[FunctionArg]) -> Result<Part> {
        let (plan, names) = part;
        let text = |at: usize| match args.get(at) {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Ast::Value(value)))) => {
                match &value.value {
                    Value::SingleQuotedString(text) | Value::Number(text, _) => Some(text.as_str()),
                    _ => None,
                }
            }
            _ => None,
        };
        let (Some(method), Some(size), Some(unit)) = (text(0), text(1), text(2)) else {
            return Err(Error::internal("a sample without a size"));
        };
        let (percent, seed) = (unit == "percent", text(3));
        if !percent && matches!(method, "bernoulli" | "system") {
            let message = format!(
                "a sample of a number of rows by {method} is not supported: reservoir takes so many"
            );
            return Err(Error::unsupported(message));
        }
        let number: f64 = size.parse().unwrap_or(f64::NAN);
        if percent && !(0.0..=100.0).contains(&number) {
            return Err(Error::new(
                "2202H",
                "sample percentage must be between 0 and 100",
            ));
        }
        if percent && method != "reservoir" && seed.is_none() {
            let random = self.function("random", Vec::new())?;
            let share = Expr::text(&(number / 100.0).to_string(), Type::Unknown);
            let condition = self.binary("<", random, share)?;
            let input = Box::new(plan);
            return Ok((Plan::Filter { input, condition }, names));
        }
        let count = Expr::text(size, Type::Unknown);
        let to = if percent { Type::Float8 } else { Type::Int8 };
        let count = self.coerce(count, &to, Coercion::Explicit)?;
        let columns = plan.columns();
        let key = match seed {
            None => self.function("random", Vec::new())?,
            Some(seed) => {
                let row = record(
                    names
                        .columns
                        .iter()
                        .map(|column| column.value.clone())
                        .collect(),
                );
                let row = self.coerce(row, &Type::Text, Coercion::Explicit)?;
                let seed = Expr::text(seed, Type::Text);
                let text = self.binary("||", row, seed)?;
                self.function("md5", vec![text])?
            }
        };
        let order = self.column("order", key.ty.clone());
        let items = columns.into_iter().map(|column| {
            let value = column.reference();
            (column, value)
        });
        let items = items.chain([(order.clone(), key)]).collect();
        let key = SortKey {
            expr: order.reference(),
            descending: false,
            nulls_first: false,
        };
        let input = Box::new(Plan::Project {
            input: Box::new(plan),
            items,
        });
        let input = Box::new(Plan::Sort {
            input,
            keys: vec![key],
        });
        let plan = Plan::Limit {
            input,
            limit: Some(count),
            offset: None,
            ties: None,
            percent,
        };
        Ok((plan, names))
    }
}
