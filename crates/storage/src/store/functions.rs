//! Functions that come, change and go: each is the statement that made it.

use super::edit::CatalogEdit;
use crate::error::{Error, Result};

impl CatalogEdit {
    /// Adds a function under its name and the types of its parameters, in the place of one
    /// that is there.
    ///
    /// # Errors
    /// 3F000.
    pub fn set_function(&mut self, schema: &str, signature: &str, sql: &str) -> Result<()> {
        let functions = &mut self.schema(schema)?.functions;
        functions.insert(signature.to_string(), sql.to_string());
        Ok(())
    }

    /// Removes a function.
    ///
    /// # Errors
    /// 3F000, 42883.
    pub fn drop_function(&mut self, schema: &str, signature: &str) -> Result<()> {
        match self.schema(schema)?.functions.remove(signature) {
            Some(_) => Ok(()),
            None => {
                let message = format!("function {signature} does not exist");
                Err(Error::invalid("42883", message))
            }
        }
    }
}
