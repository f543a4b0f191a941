//! Parts of statements that are described: what they name, assign and cast.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::DataType;
use freestone_frontend::syntax::walk::visit_expressions;
use freestone_frontend::types::Type;
use freestone_storage::Table;
use sqlparser::ast::{
    ArrayElemTypeDef, Assignment, DataType as SqlType, Expr, Insert, ObjectName, SelectItem,
    Statement as Ast,
};

use crate::error::Result;
use crate::front::{self, Logical};
use crate::grammar::printed;
use crate::names::{Name, fold_part};
use crate::parameter;
use crate::relations::updatable::{Command, Through};
use crate::run::locking::without_locks;
use crate::run::{Run, column_values, inserted_elements};
use crate::session::Session;

/// The type of a parameter: its Arrow type, or that of texts and its name.
pub(super) type Kind = (DataType, Option<String>);

/// What is told of a parameter of a type that is held as an Arrow type.
pub(super) fn kind_of(ty: &Type, held: DataType) -> Kind {
    match ty.innermost() {
        // One of these alone is told as a number, which clients give as such.
        Type::Oid if matches!(ty, Type::Array(_)) => {
            (DataType::Utf8View, Some(ty.base().to_string()))
        }
        Type::Bit(_)
        | Type::VarBit(_)
        | Type::Inet
        | Type::Cidr
        | Type::MacAddr
        | Type::Money
        | Type::MacAddr8
        | Type::Internal(_)
        | Type::Range(_)
        | Type::Multirange(_) => (DataType::Utf8View, Some(ty.base().to_string())),
        // Their values are held as texts are.
        Type::Varchar(_) | Type::Char(_) | Type::Name if !matches!(ty, Type::Array(_)) => {
            (held, Some(ty.base().to_string()))
        }
        _ => (held, None),
    }
}

/// What parameters are cast to, as they are.
pub(super) fn casts(ast: &Ast) -> HashMap<usize, Kind> {
    let mut types = HashMap::new();
    let _: ControlFlow<()> = visit_expressions(ast, |expr| {
        if let Expr::Cast {
            expr, data_type, ..
        } = expr
            && let Some(number) = parameter::number_of(expr)
            && let Ok(kind) = parameter_type(data_type)
        {
            types.entry(number).or_insert(kind);
        }
        ControlFlow::Continue(())
    });
    types
}

/// The type of a parameter that is cast: one of columns, or an array of it.
pub(super) fn parameter_type(written: &SqlType) -> Result<Kind> {
    let held = match written {
        SqlType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => {
            DataType::new_list(crate::types::computed_type(element)?, true)
        }
        written => crate::types::computed_type(written)?,
    };
    Ok(match crate::types::type_of_written(written) {
        Some(ty) => kind_of(&ty, held),
        None => (held, None),
    })
}

/// The plan of a query, with `changed` as the table that a statement changes.
pub(super) async fn planned_over(
    run: &Run<'_>,
    ast: &Ast,
    changed: Option<&Name>,
) -> Result<Logical> {
    let ast = &without_locks(ast);
    let mut relations = run.relations(ast).await?;
    relations.list_of = changed.map(|_| "UPDATE");
    relations.row_ids = changed.map(|name| (name.schema.clone(), name.name.clone()));
    front::planned(&relations, ast)?.shown()
}

/// The table that a statement changes, or that under the view by which it does.
pub(super) struct Target {
    pub(super) name: Name,
    pub(super) table: Arc<Table>,
    through: Option<Through>,
}

impl Target {
    pub(super) fn of(session: &Session, name: Name, command: Command) -> Result<Self> {
        let run = Run::planning(session)?;
        if run.snapshot.view(&name.schema, &name.name).is_some() {
            let through = Through::of(run.snapshot.catalog(), &name, command)?;
            return Ok(Self {
                name,
                table: Arc::clone(through.table().1),
                through: Some(through),
            });
        }
        let table = Arc::clone(run.stored_table(&name)?);
        let through = None;
        Ok(Self {
            name,
            table,
            through,
        })
    }

    /// The column of the table that a column of the statement is.
    pub(super) fn column(&self, name: &str) -> String {
        let through = self.through.as_ref();
        let of = through.and_then(|through| through.column(name, Command::Update).ok());
        of.unwrap_or_else(|| name.to_owned())
    }

    /// An INSERT that gives values to elements of columns as one that gives them to columns.
    pub(super) fn by_element(&self, run: &Run<'_>, insert: &Insert) -> Result<Option<Insert>> {
        if self.through.is_some() {
            return Ok(None);
        }
        inserted_elements(insert, run.snapshot.catalog(), &self.table, &self.name)
    }

    /// The columns that SET names, each with the value that it gets.
    pub(super) fn values(
        &self,
        assignments: &[Assignment],
        called: &str,
    ) -> Result<Vec<(String, Expr)>> {
        let has_column = |name: &str| match &self.through {
            Some(through) => through.has_column(name),
            None => self.table.schema.index_of(name).is_some(),
        };
        column_values(assignments, called, &has_column)
    }

    /// The columns that an INSERT names, or all, as the table calls them.
    pub(super) fn named_or_all(&self, named: &[ObjectName]) -> Vec<String> {
        match &self.through {
            Some(through) if named.is_empty() => {
                through.columns().map(|name| self.column(name)).collect()
            }
            _ => {
                let names = named_or_all(&self.table, named).into_iter();
                names.map(|name| self.column(&name)).collect()
            }
        }
    }
}

/// The columns that an INSERT names, or all.
pub(super) fn named_or_all(table: &Table, named: &[ObjectName]) -> Vec<String> {
    let all = table.schema.declared().iter();
    let last = |name: &ObjectName| name.0.last().and_then(fold_part).unwrap_or_default();
    match named.is_empty() {
        true => all.map(|column| column.name.clone()).collect(),
        false => named.iter().map(last).collect(),
    }
}

pub(super) fn place(from: &str, selection: Option<&Expr>) -> String {
    match selection {
        Some(selection) => format!("{from} WHERE {}", printed(selection)),
        None => from.to_owned(),
    }
}

pub(super) fn listed(items: &[SelectItem]) -> String {
    let items: Vec<String> = items.iter().map(printed).collect();
    items.join(", ")
}
