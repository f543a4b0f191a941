//! INSERT … BY NAME: the columns of the query are stored in those of their names.

use freestone_frontend::syntax::marks;
use sqlparser::ast::{Ident, Insert, ObjectName, Statement as Ast};

use super::Run;
use crate::error::Result;

impl Run<'_> {
    /// The statement with the columns that its query has; `None` if they are not taken by name.
    ///
    /// # Errors
    /// Those of planning the query.
    pub(crate) async fn by_name(&self, insert: &Insert) -> Result<Option<Insert>> {
        let [only] = insert.columns.as_slice() else {
            return Ok(None);
        };
        let ident = only.0.last().and_then(|part| part.as_ident());
        if ident.is_none_or(|ident| marks::marked(ident, marks::BY_NAME).is_none()) {
            return Ok(None);
        }
        let mut insert = insert.clone();
        insert.columns = Vec::new();
        if let Some(query) = &insert.source {
            let plan = self.logical(&Ast::Query(query.clone())).await?;
            let names = plan.names.into_iter();
            let names = names.map(|name| ObjectName::from(vec![Ident::with_quote('"', name)]));
            insert.columns = names.collect();
        }
        Ok(Some(insert))
    }
}
