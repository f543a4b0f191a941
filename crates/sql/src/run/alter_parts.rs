//! ALTER TABLE with several operations, done one after the other in one transaction.
//!
//! A column that is added with constraints is two kinds of operations: the column
//! comes first, then each constraint, asked of the rows with the column's default.

use freestone_frontend::syntax::walk::visit_expressions;
use freestone_storage::TableSchema;
use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, ColumnDef, ColumnOption, ColumnOptionDef, Expr,
    GeneratedExpressionMode, Ident, RenameTableNameKind, TableConstraint, Value,
};
use std::ops::ControlFlow;

use super::Run;
use super::alter_partitions::Step;
use super::identity::serial;
use crate::error::{Error, Result};
use crate::front::nextval_of;
use crate::names::{Name, fold, table_name};
use crate::session::{Block, Open, Session};

/// Times that a table may change under the statement.
const ATTEMPTS: usize = 5;

/// The operations of a statement, with the constraints of new columns as operations
/// of their own, and without columns that are there already, if they may be.
pub(super) fn apart(
    schema: &TableSchema,
    operations: &[AlterTableOperation],
) -> Vec<AlterTableOperation> {
    let mut all = Vec::with_capacity(operations.len());
    let add = |constraint| AlterTableOperation::AddConstraint {
        constraint,
        not_valid: false,
    };
    for operation in operations {
        let mut operation = operation.clone();
        let mut constraints = Vec::new();
        if let AlterTableOperation::AddColumn {
            if_not_exists,
            column_def,
            ..
        } = &mut operation
        {
            if *if_not_exists && schema.index_of(&fold(&column_def.name)).is_some() {
                continue;
            }
            constraints = taken_out(column_def);
            if let Some(expr) = generation_taken_out(column_def) {
                let (name, ty) = (column_def.name.clone(), column_def.data_type.clone());
                all.push(operation);
                let alter = |op| AlterTableOperation::AlterColumn {
                    column_name: name.clone(),
                    op,
                };
                all.push(alter(AlterColumnOperation::SetDataType {
                    data_type: ty,
                    using: Some(expr.clone()),
                    had_set: false,
                }));
                all.push(alter(AlterColumnOperation::SetDefault {
                    value: Expr::Named {
                        expr: Box::new(expr),
                        name: Ident::new(GENERATED),
                    },
                }));
                all.extend(constraints.into_iter().map(add));
                continue;
            }
            if takes_numbers(column_def) && !schema.is_in_partitions() {
                let column_name = column_def.name.clone();
                let alter = |op| AlterTableOperation::AlterColumn {
                    column_name: column_name.clone(),
                    op,
                };
                let before = column_def.options.len();
                let not_null = |option: &ColumnOptionDef| option.option == ColumnOption::NotNull;
                column_def.options.retain(|option| !not_null(option));
                let present = column_def.options.len() < before;
                all.push(operation);
                all.push(alter(AlterColumnOperation::SetDefault {
                    value: Expr::Named {
                        expr: Box::new(Expr::value(Value::Null)),
                        name: Ident::new(NUMBERED),
                    },
                }));
                all.extend(present.then(|| alter(AlterColumnOperation::SetNotNull)));
                all.extend(constraints.into_iter().map(add));
                continue;
            }
        }
        all.push(operation);
        all.extend(constraints.into_iter().map(add));
    }
    all
}

/// Marks the default of a column that becomes a generated one: no identifier of a user has this
/// name without quotes.
const GENERATED: &str = "generated it";

/// Marks that rows that are there get what a new column's default gives for each of them.
const NUMBERED: &str = "number them";

/// Whether a default stands for the numbers that rows of a new column get.
pub(super) fn is_numbering(default: &Expr) -> bool {
    matches!(default, Expr::Named { name, .. }
        if name.value == NUMBERED && name.quote_style.is_none())
}

/// Whether a new column has other values in each row: numbers of a sequence.
fn takes_numbers(column: &ColumnDef) -> bool {
    serial(&column.data_type).is_some()
        || column.options.iter().any(|option| match &option.option {
            ColumnOption::Generated {
                generation_expr: None,
                ..
            } => true,
            ColumnOption::Default(expr) => {
                let found = visit_expressions(expr, |part| match nextval_of(part) {
                    Some(_) => ControlFlow::Break(()),
                    None => ControlFlow::Continue(()),
                });
                found.is_break()
            }
            _ => false,
        })
}

/// The expression of a column that becomes a generated one.
pub(super) fn generation_of(default: &Expr) -> Option<&Expr> {
    match default {
        Expr::Named { expr, name } if name.value == GENERATED && name.quote_style.is_none() => {
            Some(expr)
        }
        _ => None,
    }
}

/// Takes the expression of a generated column out of its declaration.
fn generation_taken_out(column: &mut ColumnDef) -> Option<Expr> {
    let mut found = None;
    column.options.retain(|option| match &option.option {
        ColumnOption::Generated {
            generation_expr: Some(expr),
            generation_expr_mode,
            ..
        } if *generation_expr_mode != Some(GeneratedExpressionMode::Virtual) => {
            found = Some(expr.clone());
            false
        }
        _ => true,
    });
    found
}

/// Takes the constraints out of a column's declaration.
pub(super) fn taken_out(column: &mut ColumnDef) -> Vec<TableConstraint> {
    let mut constraints = Vec::new();
    let name = column.name.clone();
    column.options.retain(
        |ColumnOptionDef {
             name: named,
             option,
         }| {
            let constraint = match option.clone() {
                ColumnOption::PrimaryKey(mut key) => {
                    key.columns = vec![name.clone().into()];
                    key.name = key.name.or_else(|| named.clone());
                    TableConstraint::PrimaryKey(key)
                }
                ColumnOption::Unique(mut key) => {
                    key.columns = vec![name.clone().into()];
                    key.name = key.name.or_else(|| named.clone());
                    TableConstraint::Unique(key)
                }
                ColumnOption::ForeignKey(mut key) => {
                    key.columns = vec![name.clone()];
                    key.name = key.name.or_else(|| named.clone());
                    TableConstraint::ForeignKey(key)
                }
                ColumnOption::Check(mut check) => {
                    check.name = check.name.or_else(|| named.clone());
                    TableConstraint::Check(check)
                }
                _ => return true,
            };
            constraints.push(constraint);
            false
        },
    );
    constraints
}

impl<'a> Run<'a> {
    /// The statement as it goes on when all rows of a table that the session's
    /// transaction sees are in blocks; outside of a transaction as it is.
    pub(super) fn absorbed(&self, name: &Name) -> Result<Run<'a>> {
        let mut open = self.session.transaction();
        let snapshot = match open.changing()? {
            None => self.snapshot.clone(),
            Some(transaction) => {
                let table = transaction.catalog().table(&name.schema, &name.name);
                if let Some(id) = table.map(|table| table.id) {
                    transaction.absorb(id)?;
                }
                transaction.snapshot()
            }
        };
        drop(open);
        Ok(Run::over(self.session, snapshot))
    }

    /// Runs operations on tables one after the other: all of them or none.
    pub(super) async fn alter_in_turn(&self, steps: &[Step]) -> Result<()> {
        if self.session.in_transaction() {
            return self.each(steps).await;
        }
        self.session.must_write()?;
        for attempt in 1.. {
            for (name, _) in steps {
                if let Some(table) = self.store().snapshot().table(&name.schema, &name.name) {
                    // Rows in no block have the columns of today.
                    self.store().move_delta(table.id)?;
                }
            }
            let implicit = Implicit::begin(self.session)?;
            let done = match self.each(steps).await {
                Ok(()) => implicit.commit().await,
                Err(error) => Err(error),
            };
            match done {
                Err(error) if error.sqlstate == "40001" && attempt < ATTEMPTS => {}
                done => return done,
            }
        }
        Ok(())
    }

    async fn each(&self, steps: &[Step]) -> Result<()> {
        let mut renamed: Vec<(Name, String)> = Vec::new();
        for (written, operation) in steps {
            let mut name = written.clone();
            let same =
                |(of, _): &&(Name, String)| of.schema == written.schema && of.name == written.name;
            if let Some((_, to)) = renamed.iter().rev().find(same) {
                name.name.clone_from(to);
            }
            let run = self.absorbed(&name)?;
            run.alter_once(&name, operation).await?;
            if let AlterTableOperation::RenameTable {
                table_name: RenameTableNameKind::To(to) | RenameTableNameKind::As(to),
            } = operation
            {
                renamed.push((written.clone(), table_name(to)?.name));
            }
        }
        Ok(())
    }
}

/// A transaction that the session has open for one statement; dropping it undoes it.
pub(super) struct Implicit<'a> {
    session: &'a Session,
}

impl<'a> Implicit<'a> {
    pub(super) fn begin(session: &'a Session) -> Result<Self> {
        let transaction = session.database().store().begin()?;
        *session.transaction() = Open::Going(Block::new(transaction, session.modes()));
        Ok(Self { session })
    }

    pub(super) async fn commit(self) -> Result<()> {
        let ended = self.session.transaction().end()?;
        let transaction = ended.ok_or_else(|| Error::internal("a statement failed unnoticed"))?;
        self.session.commit(transaction).await
    }
}

impl Drop for Implicit<'_> {
    fn drop(&mut self) {
        *self.session.transaction() = Open::Nothing;
    }
}
