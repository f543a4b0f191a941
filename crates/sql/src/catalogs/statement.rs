//! The system catalogs as one statement sees them.

use std::cell::OnceCell;
use std::sync::Arc;

use freestone_frontend::functions::objects::Objects;
use freestone_frontend::functions::{Scalar, TableFunction};
use freestone_frontend::types::{Internal, Type};

use super::numbers::Numbers;
use super::{about, about_rows, information_schema, pg_catalog, role_functions as roles};
use crate::error::Result;
use crate::front::{InstalledCatalogs, SystemCatalogs, SystemTable, wrapped};
use crate::names::INFORMATION_SCHEMA;
use crate::relations::{Relations, TABLE};
use crate::rights::Identity;

/// The system catalogs for the configuration of a session.
pub(crate) fn installed() -> InstalledCatalogs {
    InstalledCatalogs(|| Box::new(OfStatement::default()))
}

#[derive(Default)]
struct OfStatement {
    numbers: OnceCell<Arc<Numbers>>,
}

impl OfStatement {
    /// Names and numbers of what there is, looked at once.
    fn numbers(&self, relations: &Relations<'_>) -> Arc<Numbers> {
        let numbers = self
            .numbers
            .get_or_init(|| Arc::new(Numbers::of(relations)));
        Arc::clone(numbers)
    }
}

impl SystemCatalogs for OfStatement {
    fn table(
        &self,
        relations: &Relations<'_>,
        schema: &str,
        name: &str,
    ) -> Result<Option<SystemTable>> {
        let (columns, hidden, rows) = match schema {
            INFORMATION_SCHEMA => match information_schema::view(relations, name)? {
                Some((columns, batch)) => (columns, Vec::new(), batch),
                None => return Ok(None),
            },
            _ => match pg_catalog::described(name) {
                Some((_, mut columns)) => {
                    let shown = columns.len();
                    // Some tables show a column of such a name.
                    let version = Type::Internal(Internal::Xid);
                    let all = [(TABLE, Type::Oid), (pg_catalog::VERSION, version)];
                    for (hidden, ty) in all {
                        if columns.iter().all(|(name, _)| name != hidden) {
                            columns.push((hidden.to_owned(), ty));
                        }
                    }
                    let batch = pg_catalog::rows(relations, name, &columns)?;
                    let hidden = columns.split_off(shown);
                    (columns, hidden, batch)
                }
                None => return Ok(None),
            },
        };
        Ok(Some(SystemTable {
            columns,
            hidden,
            rows,
        }))
    }

    fn functions(&self, relations: &Relations<'_>, name: &str) -> Vec<Arc<Scalar>> {
        let identity = relations.state.get::<Identity>();
        let of_roles = identity.and_then(|identity| {
            let name = roles::known(name)?;
            let function = roles::function(name, &relations.snapshot, &identity)?;
            Some(wrapped(name, &function))
        });
        if let Some(function) = of_roles {
            return vec![function];
        }
        let numbers = || self.numbers(relations);
        let found = about::functions(relations, &numbers, name).unwrap_or_default();
        found.into_iter().map(Arc::new).collect()
    }

    fn table_functions(&self, relations: &Relations<'_>, name: &str) -> Vec<Arc<TableFunction>> {
        let numbers = || self.numbers(relations);
        about_rows::tables(relations, &numbers, name).unwrap_or_default()
    }

    fn objects(&self, relations: &Relations<'_>) -> Arc<dyn Objects> {
        self.numbers(relations)
    }
}
