//! The system catalogs as the front asks for them.
//!
//! Rows of the system catalogs tell of views, whose columns are found by binding their queries, and
//! queries may read the system catalogs: each needs the other. The catalogs know the front; the
//! front finds them in the configuration of a session, where they are installed.

use std::sync::Arc;

use arrow::array::RecordBatch;
use freestone_frontend::functions::objects::Objects;
use freestone_frontend::functions::{Scalar, TableFunction};
use freestone_frontend::types::Type;

use crate::error::Result;
use crate::relations::Relations;

/// A table of the system catalogs.
pub(crate) struct SystemTable {
    /// Names and types of its columns.
    pub(crate) columns: Vec<(String, Type)>,
    /// Names and types of columns behind those, which `*` does not show.
    pub(crate) hidden: Vec<(String, Type)>,
    pub(crate) rows: RecordBatch,
}

/// The system catalogs for one statement, whose relations are given each time.
pub(crate) trait SystemCatalogs {
    /// The table of a name, if there is one.
    ///
    /// # Errors
    /// Errors of reading the catalog.
    fn table(
        &self,
        relations: &Relations<'_>,
        schema: &str,
        name: &str,
    ) -> Result<Option<SystemTable>>;

    /// The overloads of a function about the catalog; none if it is not one.
    fn functions(&self, relations: &Relations<'_>, name: &str) -> Vec<Arc<Scalar>>;

    /// The overloads of such a function that gives rows.
    fn table_functions(&self, relations: &Relations<'_>, name: &str) -> Vec<Arc<TableFunction>>;

    /// Names and numbers of objects.
    fn objects(&self, relations: &Relations<'_>) -> Arc<dyn Objects>;
}

/// The system catalogs that a session has, as an extension of its configuration.
pub(crate) struct InstalledCatalogs(pub(crate) fn() -> Box<dyn SystemCatalogs>);
