//! A stored table as a DataFusion `TableProvider`.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use freestone_storage::{Predicate, ReadView, Table};

use super::excluded::Held;
use super::exec::FreestoneScan;
use super::logical::predicate;
use super::source::ScanSource;
use crate::error::Error;

/// One table in one snapshot.
#[derive(Debug)]
pub(crate) struct StoredTable {
    table: Arc<Table>,
    /// Qualified name, for EXPLAIN.
    name: String,
    schema: SchemaRef,
    view: ReadView,
    /// Conditions on its columns that its bound makes, for a partition that is read as a part.
    held: Vec<Held>,
}

impl StoredTable {
    pub(crate) fn new(table: &Arc<Table>, schema: &str, view: ReadView) -> Self {
        Self {
            view,
            table: Arc::clone(table),
            name: format!("{schema}.{}", table.name),
            schema: table.schema.arrow(),
            held: Vec::new(),
        }
    }

    /// The table, and what the reader sees of it.
    pub(crate) fn parts(&self) -> (&Arc<Table>, &ReadView) {
        (&self.table, &self.view)
    }

    /// The table with what its bounds say of its columns.
    pub(crate) fn holding(self, held: Vec<Held>) -> Self {
        Self { held, ..self }
    }

    /// Whether its bounds say something of its columns.
    pub(super) fn is_bounded(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether its bounds say that no row of it meets a condition.
    pub(crate) fn excludes(&self, predicate: &Predicate) -> bool {
        self.held.iter().any(|held| held.excludes(predicate))
    }

    /// What filters that were taken over ask of rows; `None` for others.
    pub(crate) fn predicate_of(&self, filters: &[Expr]) -> Option<Option<Predicate>> {
        let terms = filters.iter();
        let terms = terms.map(|filter| predicate(&self.table.schema, filter));
        let mut terms = terms.collect::<Option<Vec<_>>>()?;
        Some(match terms.len() {
            0 => None,
            1 => terms.pop(),
            _ => Some(Predicate::And(terms)),
        })
    }

    /// Whether its row ids are a column of it.
    pub(crate) fn has_row_ids(&self) -> bool {
        self.schema
            .fields()
            .iter()
            .any(|field| field.name() == ROW_ID)
    }

    /// The table with its row ids as one column more.
    pub(crate) fn with_row_ids(self) -> Self {
        let mut fields = self.schema.fields().to_vec();
        fields.push(Arc::new(row_id_field()));
        Self {
            schema: Arc::new(Schema::new(fields)),
            ..self
        }
    }
}

/// Name of the column of row ids; no table has one of that name.
pub(crate) const ROW_ID: &str = "rowid$";

pub(super) fn row_id_field() -> Field {
    Field::new(ROW_ID, DataType::UInt64, false)
}

#[async_trait]
impl TableProvider for StoredTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(filters
            .iter()
            .map(|filter| match predicate(&self.table.schema, filter) {
                Some(_) => TableProviderFilterPushDown::Exact,
                None => TableProviderFilterPushDown::Unsupported,
            })
            .collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let predicate = self
            .predicate_of(filters)
            .ok_or_else(|| Error::internal("the scan was given a filter it refused".to_owned()))?;
        let projection = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let source = Arc::new(ScanSource {
            table: Arc::clone(&self.table),
            name: self.name.clone(),
            view: self.view.clone(),
        });
        let partitions = state.config().target_partitions();
        let scan = FreestoneScan::new(source, projection, predicate, limit, partitions)?;
        Ok(Arc::new(scan))
    }
}
