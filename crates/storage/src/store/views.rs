//! Views that come, change and go.

use super::catalog::View;
use super::edit::CatalogEdit;
use crate::error::{Error, Result};
use crate::roles::Object;

impl CatalogEdit {
    /// Adds a view.
    ///
    /// # Errors
    /// 3F000, 42P07.
    pub fn create_view(&mut self, schema: &str, name: &str, sql: &str) -> Result<()> {
        let view = View {
            name: name.to_string(),
            sql: sql.to_string(),
        };
        self.free_name(schema, name)?
            .views
            .insert(name.to_string(), view);
        self.made(Object::view(schema, name));
        Ok(())
    }

    /// Gives a view another query; its owner and what others were granted stay.
    ///
    /// # Errors
    /// 3F000, 42P01.
    pub fn replace_view(&mut self, schema: &str, name: &str, sql: &str) -> Result<()> {
        let view = self.schema(schema)?.views.get_mut(name);
        let view = view.ok_or_else(|| no_view(name))?;
        view.sql = sql.to_string();
        Ok(())
    }

    /// Calls a view otherwise, maybe in another schema; its owner and what others were granted
    /// stay.
    ///
    /// # Errors
    /// 3F000, 42P01, 42P07.
    pub fn rename_view(&mut self, schema: &str, name: &str, to: (&str, &str)) -> Result<()> {
        self.free_name(to.0, to.1)?;
        let view = self.schema(schema)?.views.remove(name);
        let view = view.ok_or_else(|| no_view(name))?;
        let renamed = View {
            name: to.1.to_string(),
            ..view
        };
        self.schema(to.0)?.views.insert(to.1.to_string(), renamed);
        let (from, to) = (Object::view(schema, name), Object::view(to.0, to.1));
        if self.catalog.roles.knows(&from) {
            let access = self.catalog.roles.access(&from);
            let roles = self.roles_mut();
            roles.forget(&from);
            roles.set_access(to, access);
        }
        Ok(())
    }

    /// Removes a view.
    ///
    /// # Errors
    /// 3F000, 42P01.
    pub fn drop_view(&mut self, schema: &str, name: &str) -> Result<()> {
        match self.schema(schema)?.views.remove(name) {
            Some(_) => {
                self.forget(&Object::view(schema, name));
                Ok(())
            }
            None => Err(no_view(name)),
        }
    }
}

fn no_view(name: &str) -> Error {
    Error::invalid("42P01", format!("view \"{name}\" does not exist"))
}
