//! `FROM generate_series(1, 9) AS n`: in PostgreSQL the only column is called `n`, too.
//!
//! `FROM unnest(x) AS n` likewise. The column of a series stays `value`, and `n` where a column is asked for becomes `n.value`. A series
//! up to a column, which is one of a query around, becomes
//! `unnest(generate_series(1, outer.k))`: table functions take constants only.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, Select, SelectItem, TableAlias, TableAliasColumnDef, TableFactor,
    visit_expressions, visit_expressions_mut,
};

use super::names::fold_part;

/// The function.
const SERIES: &str = "generate_series";

/// Puts what is asked of such functions in words that are understood.
#[inline(never)]
pub(super) fn named(select: &mut Select) {
    let joined = select.from.iter_mut().flat_map(|from| {
        let others = from.joins.iter_mut().map(|join| &mut join.relation);
        std::iter::once(&mut from.relation).chain(others)
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
fn name_of(table: &mut TableFactor) -> Option<Ident> {
    if let TableFactor::UNNEST {
        alias: Some(alias), ..
    } = table
    {
        name_column(alias);
        return None;
    }
    let TableFactor::Table {
        name,
        alias,
        args: Some(args),
        ..
    } = table
    else {
        return None;
    };
    let function = name.0.last().and_then(fold_part)?;
    if function == "unnest" {
        let arrays: Option<Vec<Expr>> = args.args.iter().map(expression).collect();
        let mut alias = alias.take().unwrap_or_else(|| named_as("unnest"));
        name_column(&mut alias);
        *table = elements(arrays?, alias);
        return None;
    }
    if function != SERIES {
        return None;
    }
    let is_named = alias.as_ref().is_none_or(|alias| alias.columns.is_empty());
    if has_column(&args.args) {
        let mut alias = alias.take().unwrap_or_else(|| named_as(SERIES));
        if is_named {
            alias.columns = vec![TableAliasColumnDef::from_name("value")];
        }
        let name = alias.name.clone();
        *table = elements(vec![series(std::mem::take(&mut args.args))], alias);
        return is_named.then_some(name);
    }
    let alias = alias.as_ref()?;
    is_named.then(|| alias.name.clone())
}

fn has_column(args: &[FunctionArg]) -> bool {
    let found = visit_expressions(&args.to_vec(), |expr| match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

fn expression(arg: &FunctionArg) -> Option<Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    }
}

fn named_as(name: &str) -> TableAlias {
    TableAlias {
        explicit: true,
        name: Ident::new(name),
        columns: Vec::new(),
        at: None,
    }
}

/// Calls the only column what the table is called, unless it has a name.
fn name_column(alias: &mut TableAlias) {
    if alias.columns.is_empty() {
        alias.columns = vec![TableAliasColumnDef {
            name: alias.name.clone(),
            data_type: None,
        }];
    }
}

/// A series as an array.
fn series(args: Vec<FunctionArg>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(SERIES)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The elements of arrays.
fn elements(array_exprs: Vec<Expr>, alias: TableAlias) -> TableFactor {
    TableFactor::UNNEST {
        alias: Some(alias),
        array_exprs,
        with_offset: false,
        with_offset_alias: None,
        with_ordinality: false,
    }
}
