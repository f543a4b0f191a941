//! `FROM generate_series(1, 9) AS n`: in PostgreSQL the only column is called `n`, too.
//!
//! The column stays `value`, and `n` where a column is asked for becomes `n.value`.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Select, SelectItem, TableFactor, visit_expressions_mut,
};

use super::names::fold_part;

/// Puts what is asked of such functions in words that are understood.
#[inline(never)]
pub(super) fn named(select: &mut Select) {
    let joined = select.from.iter().flat_map(|from| {
        let others = from.joins.iter().map(|join| &join.relation);
        std::iter::once(&from.relation).chain(others)
    });
    let names: Vec<Ident> = joined.filter_map(name_of).collect();
    if names.is_empty() {
        return;
    }
    let is_name = |ident: &Ident| {
        let same = |name: &&Ident| name.value.eq_ignore_ascii_case(&ident.value);
        names.iter().find(same).cloned()
    };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(Expr::Identifier(ident)) = item
            && let Some(name) = is_name(ident)
        {
            *item = SelectItem::ExprWithAlias {
                expr: Expr::Identifier(ident.clone()),
                alias: name,
            };
        }
    }
    let _: ControlFlow<()> = visit_expressions_mut(select, |expr| {
        let name = match expr {
            Expr::Identifier(ident) => is_name(ident),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, column] if table.value.eq_ignore_ascii_case(&column.value) => {
                    is_name(table)
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(name) = name {
            *expr = Expr::CompoundIdentifier(vec![name, Ident::new("value")]);
        }
        ControlFlow::Continue(())
    });
}

/// What a function that makes a series is called; `None` for anything else.
fn name_of(table: &TableFactor) -> Option<Ident> {
    let TableFactor::Table {
        name,
        alias: Some(alias),
        args: Some(_),
        ..
    } = table
    else {
        return None;
    };
    let function = name.0.last().and_then(fold_part)?;
    (function == "generate_series" && alias.columns.is_empty()).then(|| alias.name.clone())
}
