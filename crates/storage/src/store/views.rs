//! Views that come, change and go.

use std::sync::Arc;

use super::catalog::View;
use super::edit::CatalogEdit;
use crate::error::{Error, Result};
use crate::ids::TableId;
use crate::roles::Object;
use crate::schema::{Materialized, ViewQuery};
use crate::table::Table;

impl CatalogEdit {
    /// Adds a view.
    ///
    /// # Errors
    /// 3F000, 42P07.
    pub fn create_view(
        &mut self,
        schema: &str,
        name: &str,
        query: impl Into<ViewQuery>,
    ) -> Result<()> {
        let view = View {
            name: name.to_string(),
            query: query.into(),
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
    pub fn replace_view(
        &mut self,
        schema: &str,
        name: &str,
        query: impl Into<ViewQuery>,
    ) -> Result<()> {
        let view = self.schema(schema)?.views.get_mut(name);
        let view = view.ok_or_else(|| no_view(name))?;
        view.query = query.into();
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
        self.tell_views(|query| query.rename((schema, name), to));
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

    /// Tells the views over a relation, and the rights on its columns, that one of them is called
    /// otherwise, or, without another name, is no more.
    pub fn tell_views_of(&mut self, relation: (&str, &str), column: &str, to: Option<&str>) {
        let table = self.catalog.table(relation.0, relation.1);
        let object = match table {
            Some(table) => Object::Table(table.id),
            None => Object::view(relation.0, relation.1),
        };
        if self.catalog.roles.has_columns(&object) {
            self.roles_mut().rename_column(&object, column, to);
        }
        self.tell_views(|query| query.rename_column(relation, column, to));
    }

    /// Lets all views, materialized ones too, take note of a change; `note` says whether one did.
    pub(super) fn tell_views(&mut self, note: impl Fn(&mut ViewQuery) -> bool) {
        for entry in self.catalog.schemas.values_mut() {
            for view in entry.views.values_mut() {
                note(&mut view.query);
            }
            for table in entry.tables.values_mut() {
                let Some(view) = &table.schema.materialized else {
                    continue;
                };
                let mut query = view.query.clone();
                if note(&mut query) {
                    let view = Materialized {
                        query,
                        ..view.clone()
                    };
                    *table = Arc::new(with_query(table, view));
                }
            }
        }
    }

    /// Tells the views over a table of a number.
    pub fn tell_views_of_table(&mut self, table: TableId, column: &str, to: Option<&str>) {
        let is_meant = |(_, known): &(&str, &Arc<Table>)| known.id == table;
        let known = self.catalog.all_tables().find(is_meant);
        let known = known.map(|(schema, known)| (schema.to_owned(), known.name.clone()));
        if let Some((schema, name)) = known {
            self.tell_views_of((&schema, &name), column, to);
        }
    }
}

fn with_query(table: &Table, view: Materialized) -> Table {
    let mut schema = (*table.schema).clone();
    schema.materialized = Some(view);
    table.with_schema(Arc::new(schema), table.blocks().to_vec())
}

fn no_view(name: &str) -> Error {
    Error::invalid("42P01", format!("view \"{name}\" does not exist"))
}
