//! DataFusion's SQL planner over a provider chosen at run time.
//!
//! `SqlToRel` is generic over the provider of names, so whoever calls it
//! compiles the whole planner again: two of three minutes of building the SQL
//! crate. Behind a `dyn` provider in a crate of its own it is compiled once.

use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::file_options::file_type::FileType;
use datafusion::common::{DFSchema, Result, TableReference};
use datafusion::logical_expr::planner::{
    ContextProvider, ExprPlanner, RelationPlanner, TypePlanner,
};
use datafusion::logical_expr::{
    AggregateUDF, Expr, HigherOrderUDF, LogicalPlan, ScalarUDF, TableSource, WindowUDF,
};
use datafusion::sql::parser::Statement;
use datafusion::sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use datafusion::sql::sqlparser::ast;
use std::sync::Arc;

/// Plans a statement with the names that `names` knows.
///
/// # Errors
/// Whatever is wrong with the statement.
pub fn plan_statement(
    names: &dyn ContextProvider,
    options: ParserOptions,
    statement: Statement,
) -> Result<LogicalPlan> {
    SqlToRel::new_with_options(&Names(names), options).statement_to_plan(statement)
}

/// Plans an expression over the columns of `schema`.
///
/// # Errors
/// Whatever is wrong with the expression.
pub fn plan_expression(
    names: &dyn ContextProvider,
    options: ParserOptions,
    expression: ast::Expr,
    schema: &DFSchema,
) -> Result<Expr> {
    let names = Names(names);
    let planner = SqlToRel::new_with_options(&names, options);
    planner.sql_to_expr(expression, schema, &mut PlannerContext::new())
}

/// The one provider that the planner is compiled for.
struct Names<'a>(&'a dyn ContextProvider);

impl ContextProvider for Names<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        self.0.get_table_source(name)
    }

    fn get_file_type(&self, extension: &str) -> Result<Arc<dyn FileType>> {
        self.0.get_file_type(extension)
    }

    fn get_table_function_source(
        &self,
        name: &str,
        arguments: Vec<Expr>,
    ) -> Result<Arc<dyn TableSource>> {
        self.0.get_table_function_source(name, arguments)
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        self.0.create_cte_work_table(name, schema)
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.0.get_expr_planners()
    }

    fn get_relation_planners(&self) -> &[Arc<dyn RelationPlanner>] {
        self.0.get_relation_planners()
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        self.0.get_type_planner()
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.0.get_function_meta(name)
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.0.get_higher_order_meta(name)
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.0.get_aggregate_meta(name)
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.0.get_window_meta(name)
    }

    fn get_variable_type(&self, names: &[String]) -> Option<DataType> {
        self.0.get_variable_type(names)
    }

    fn get_variable_field(&self, names: &[String]) -> Option<FieldRef> {
        self.0.get_variable_field(names)
    }

    fn options(&self) -> &ConfigOptions {
        self.0.options()
    }

    fn udf_names(&self) -> Vec<String> {
        self.0.udf_names()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.0.higher_order_function_names()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.0.udaf_names()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.0.udwf_names()
    }
}
