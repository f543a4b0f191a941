//! PIVOT without IN: the values that become columns are found by a query before the statement
//! is planned.
//!
//! ```text
//! PIVOT sales ON year USING sum(price)
//!     SELECT DISTINCT year FROM sales        2000, 2010
//! PIVOT sales ON year IN ('2000', '2010') USING sum(price)
//! ```
//!
//! Values that come to be between the two queries have no column. The query of a view and the
//! body of a function keep their columns, so that their values are listed.

use std::borrow::Cow;
use std::ops::ControlFlow;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use freestone_frontend::syntax::marks::{PIVOT, PIVOT_ON, QUOTE, marked};
use freestone_frontend::syntax::walk::walk_mut;
use futures::TryStreamExt;
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, Query, SetExpr, Statement as Ast, TableFactor, Value, VisitorMut, With,
};

use crate::error::Result;
use crate::grammar::printed;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::statement::{Statement, changing, parse_one};

/// Values that are looked up at most: the front refuses so many columns.
const MOST: usize = 2_000;

/// The word without which no statement pivots, in lower case.
const WORD: &[u8] = b"pivot";

impl Session {
    /// The statement with the values of its pivots.
    ///
    /// # Errors
    /// Those of the queries that find them.
    pub(crate) async fn with_pivots<'a>(&self, ast: &'a Ast, text: &str) -> Result<Cow<'a, Ast>> {
        let text = text.as_bytes();
        let pivots = |part: &[u8]| part.eq_ignore_ascii_case(WORD);
        let keeps = matches!(ast, Ast::CreateView(_) | Ast::CreateFunction(_));
        if keeps || !text.windows(WORD.len()).any(pivots) {
            return Ok(Cow::Borrowed(ast));
        }
        let mut ast = ast.clone();
        loop {
            let mut open = Open::default();
            let _ = walk_mut(&mut ast, &mut open);
            let Some(query) = open.found else {
                return Ok(Cow::Owned(ast));
            };
            let values = self.values_of(&query).await?;
            let _ = walk_mut(&mut ast, &mut Close(Some(values)));
        }
    }

    /// The only column of a query as texts.
    async fn values_of(&self, query: &str) -> Result<Vec<String>> {
        let statement = Statement::of(parse_one(query)?);
        let mut values = Vec::new();
        let Outcome::Rows(mut rows) = Box::pin(self.run(&statement)).await? else {
            return Ok(values);
        };
        while let Some(batch) = rows.stream.try_next().await? {
            let texts = cast(batch.column(0), &DataType::Utf8)?;
            let texts = texts.as_string::<i32>();
            values.extend(texts.iter().flatten().map(str::to_owned));
        }
        Ok(values)
    }
}

/// The arguments of a call of a mark.
fn arguments<'a>(expr: &'a mut Expr, mark: &str) -> Option<&'a mut Vec<FunctionArg>> {
    let Expr::Function(call) = expr else {
        return None;
    };
    let [part] = call.name.0.as_slice() else {
        return None;
    };
    marked(part.as_ident()?, mark)?;
    match &mut call.args {
        FunctionArguments::List(list) => Some(&mut list.args),
        _ => None,
    }
}

fn expr_of(argument: &mut FunctionArg) -> Option<&mut Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}

/// The source of a pivot, and the first ON of it that has no values.
fn open_on(factor: &mut TableFactor) -> Option<(Query, &mut Vec<FunctionArg>)> {
    let TableFactor::Table {
        name,
        args: Some(args),
        ..
    } = factor
    else {
        return None;
    };
    marked(name.0.first()?.as_ident()?, PIVOT)?;
    let (source, parts) = args.args.split_first_mut()?;
    let Some(Expr::Subquery(source)) = expr_of(source) else {
        return None;
    };
    let ons = parts.iter_mut().filter_map(expr_of);
    let mut ons = ons.filter_map(|part| arguments(part, PIVOT_ON));
    let on = ons.find(|on| on.len() == 1)?;
    Some((source.as_ref().clone(), on))
}

/// Finds the query for the values of the first pivot that has none.
#[derive(Default)]
struct Open {
    with: Vec<Option<With>>,
    found: Option<String>,
}

impl Open {
    fn query(&self, source: &Query, on: &mut [FunctionArg]) -> Option<String> {
        let on = printed(expr_of(on.first_mut()?)?);
        let SetExpr::Select(select) = source.body.as_ref() else {
            return None;
        };
        let from: Vec<String> = select.from.iter().map(printed).collect();
        let ctes = self.with.iter().flatten().flat_map(|with| &with.cte_tables);
        let mut known = Vec::new();
        for cte in ctes {
            let mut inner = Open::default();
            let mut query = cte.query.clone();
            let _ = walk_mut(&mut query, &mut inner);
            if changing(&cte.query).is_none() && inner.found.is_none() {
                known.push(printed(cte));
            }
        }
        let recursive = self.with.iter().flatten().any(|with| with.recursive);
        let with = match known.is_empty() {
            true => String::new(),
            false => {
                let word = if recursive { "RECURSIVE " } else { "" };
                format!("WITH {word}{} ", known.join(", "))
            }
        };
        Some(format!(
            "{with}SELECT v::text FROM (SELECT DISTINCT ({on}) AS v FROM {}) AS q \
             WHERE v IS NOT NULL ORDER BY q.v LIMIT {MOST}",
            from.join(", ")
        ))
    }
}

impl VisitorMut for Open {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.with.push(query.with.clone());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.with.pop();
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let Some((source, on)) = open_on(factor) else {
            return ControlFlow::Continue(());
        };
        self.found = self.query(&source, on);
        ControlFlow::Break(())
    }
}

/// Gives values to the first pivot that has none.
struct Close(Option<Vec<String>>);

impl VisitorMut for Close {
    type Break = ();

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let Some((_, on)) = open_on(factor) else {
            return ControlFlow::Continue(());
        };
        let values = self.0.take().unwrap_or_default();
        let argument = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
        if values.is_empty() {
            // The front knows by it that there are none.
            on.push(argument(nothing()));
        }
        on.extend(values.into_iter().map(|text| {
            let text = Value::SingleQuotedString(text);
            argument(Expr::Value(text.with_empty_span()))
        }));
        ControlFlow::Break(())
    }
}

/// ON without an expression and without values.
fn nothing() -> Expr {
    let name = Ident::with_quote(QUOTE, PIVOT_ON);
    Expr::Function(Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: Vec::new(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
