//! Types that users create: they come, change and go.

use super::catalog::Catalog;
use super::edit::CatalogEdit;
use crate::error::{Error, Result};
use crate::ids::{TableId, TypeId};
use crate::roles::Object;
use crate::schema::{UserType, UserTypeKind};
use crate::table::Table;
use std::sync::Arc;

impl Catalog {
    /// A created type by schema and name.
    pub fn user_type(&self, schema: &str, name: &str) -> Option<&Arc<UserType>> {
        self.schemas.get(schema)?.types.get(name)
    }

    /// All created types: schema, name and the type.
    pub fn user_types(&self) -> impl Iterator<Item = (&str, &str, &Arc<UserType>)> {
        self.schemas.iter().flat_map(|(schema, entry)| {
            let types = entry.types.iter();
            types.map(move |(name, stored)| (schema.as_str(), name.as_str(), stored))
        })
    }

    /// A created type by its number, with its schema and its name.
    pub fn type_by_id(&self, id: TypeId) -> Option<(&str, &str, &Arc<UserType>)> {
        self.user_types().find(|(_, _, stored)| stored.id == id)
    }

    /// Columns that were declared with a created type: their tables and their places.
    pub fn columns_of_type(&self, id: TypeId) -> Vec<(Arc<Table>, usize)> {
        let tables = self.all_tables().map(|(_, table)| table);
        let columns = tables.flat_map(|table| {
            let columns = table.schema.columns.iter().enumerate();
            let own = columns.filter(|(_, column)| column.declared == Some(id));
            own.map(|(place, _)| (Arc::clone(table), place))
        });
        columns.collect()
    }
}

impl CatalogEdit {
    /// Adds a type.
    ///
    /// # Errors
    /// 3F000; 42710 if there is a type or a relation of that name.
    pub fn create_type(&mut self, schema: &str, name: &str, kind: UserTypeKind) -> Result<TypeId> {
        let id = TypeId(self.next_id());
        self.free_type(schema, name)?;
        let stored = Arc::new(UserType { id, kind });
        self.schema(schema)?.types.insert(name.to_owned(), stored);
        self.made(id.into());
        Ok(id)
    }

    /// Makes a type another; its number stays.
    ///
    /// # Errors
    /// 3F000, 42704.
    pub fn set_type(&mut self, schema: &str, name: &str, kind: UserTypeKind) -> Result<()> {
        let stored = self.schema(schema)?.types.get_mut(name);
        let stored = stored.ok_or_else(|| no_type(name))?;
        *stored = Arc::new(UserType {
            id: stored.id,
            kind,
        });
        Ok(())
    }

    /// Calls a type otherwise, in the same schema or another.
    ///
    /// # Errors
    /// 3F000, 42704; 42710 if there is a type or a relation of the new name.
    pub fn rename_type(&mut self, schema: &str, name: &str, to: (&str, &str)) -> Result<()> {
        if self.schema(schema)?.types.contains_key(name) {
            self.free_type(to.0, to.1)?;
        }
        let stored = self.schema(schema)?.types.remove(name);
        let stored = stored.ok_or_else(|| no_type(name))?;
        self.schema(to.0)?.types.insert(to.1.to_owned(), stored);
        Ok(())
    }

    /// Removes a type. Columns of it must be gone.
    ///
    /// # Errors
    /// 3F000, 42704.
    pub fn drop_type(&mut self, schema: &str, name: &str) -> Result<()> {
        let gone = self.schema(schema)?.types.remove(name);
        let gone = gone.ok_or_else(|| no_type(name))?;
        self.forget(&Object::from(gone.id));
        Ok(())
    }

    /// Gives a column another default.
    ///
    /// # Errors
    /// `Conflict` if the table is gone.
    pub fn set_default(&mut self, table: TableId, column: usize, default: &str) -> Result<()> {
        self.change(table, |table| {
            let mut schema = (*table.schema).clone();
            if let Some(column) = schema.columns.get_mut(column) {
                column.default = Some(default.to_owned());
            }
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })
    }

    fn free_type(&mut self, schema: &str, name: &str) -> Result<()> {
        let entry = self.schema(schema)?;
        if entry.types.contains_key(name) || entry.has_relation(name) {
            let message = format!("type \"{name}\" already exists");
            return Err(Error::invalid("42710", message));
        }
        Ok(())
    }
}

fn no_type(name: &str) -> Error {
    Error::invalid("42704", format!("type \"{name}\" does not exist"))
}
