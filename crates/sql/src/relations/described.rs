//! Tables and views with their columns, as the system catalogs tell of them.

use std::sync::Arc;

use freestone_frontend::types::Type;
use freestone_storage::{Column, Object, Table};

/// A table or a view, with its columns' names, types and the rest.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) number: i64,
    pub(crate) schema: String,
    pub(crate) name: String,
    /// `None` for a view.
    pub(crate) table: Option<Arc<Table>>,
    pub(crate) columns: Vec<(String, Type, Option<Column>)>,
    pub(crate) definition: Option<String>,
    /// Whether its rows may be read: how many there are, or a view's text, is told to nobody
    /// else.
    pub(crate) readable: bool,
}

impl Described {
    /// Whether it is the view of that name.
    pub(crate) fn is_view(&self, schema: &str, name: &str) -> bool {
        self.table.is_none() && self.schema == schema && self.name == name
    }

    /// Names and types of its columns.
    pub(crate) fn typed_columns(&self) -> impl Iterator<Item = (&str, &Type)> {
        let columns = self.columns.iter();
        columns.map(|(name, ty, _)| (name.as_str(), ty))
    }

    /// Names and types of its columns, as expressions over them have them.
    pub(crate) fn types(&self) -> Vec<(String, Type)> {
        let columns = self.columns.iter();
        columns
            .map(|(name, ty, _)| (name.clone(), ty.clone()))
            .collect()
    }

    /// Its schema and its name.
    pub(crate) fn full_name(&self) -> (&str, &str) {
        (&self.schema, &self.name)
    }

    /// Its name in `information_schema`.
    pub(crate) fn object_type(&self) -> &'static str {
        if self.table.is_some() {
            "TABLE"
        } else {
            "VIEW"
        }
    }

    /// What rights are about.
    pub(crate) fn object(&self) -> Object {
        match &self.table {
            Some(table) => table.id.into(),
            None => Object::view(&self.schema, &self.name),
        }
    }
}
