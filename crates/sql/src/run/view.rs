//! CREATE VIEW: a query kept as SQL text.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::visit_relations;
use freestone_storage::{ReadRelation, ViewQuery};
use sqlparser::ast::{CreateTableOptions, CreateView, Expr, SqlOption, Statement as Ast, Value};

use super::Run;
use super::redeclare::written;
use crate::dialect::written_query;
use crate::error::{Error, Result};
use crate::front::{self, Logical, columns_of_view};
use crate::grammar::printed;
use crate::names::{Name, file_name, fold, quoted, table_name};
use crate::outcome::Outcome;
use crate::relations::Relations;
use crate::relations::updatable::{NO_COLUMNS, check_option, over, truth};
use crate::statement::parse_one;

impl Run<'_> {
    pub(super) async fn create_view(&self, view: &CreateView) -> Result<Outcome> {
        refuse_clauses(view)?;
        if view.materialized {
            return Box::pin(self.create_materialized(view)).await;
        }
        let name = table_name(&view.name)?;
        let options = options_of(view)?;
        let sql = view_sql(view, &name.name);
        let ast = parse_one(&sql)?;
        refuse_files(&ast)?;
        let plan = self.logical(&Ast::Query(view.query.clone())).await?;
        let given = view.columns.len();
        if given > plan.names.len() {
            return Err(Error::new(
                "42601",
                "CREATE VIEW specifies more column names than columns",
            ));
        }
        let relations = self.relations(&ast).await?.listing();
        let after = front::planned(&relations, &ast)?.renamed()?;
        let query = ViewQuery {
            reads: reads_of(&relations)?,
            sql,
            options,
            defaults: Vec::new(),
        };
        self.must_be_checkable(&name, &query)?;
        if view.or_replace && self.snapshot.view(&name.schema, &name.name).is_some() {
            let before = format!("SELECT * FROM {}", written(&name));
            // One that cannot be read any more is replaced by anything.
            if let Ok(before) = self.logical(&parse_one(&before)?).await {
                keeps_columns(&before, &after)?;
            }
        }
        self.edit(|edit| {
            if edit.catalog().table(&name.schema, &name.name).is_some() {
                let (code, what) = if view.or_replace {
                    ("42809", "is not a view")
                } else {
                    ("42P07", "already exists")
                };
                return Err(Error::new(code, format!("table \"{name}\" {what}")).at(name.position));
            }
            self.has_schema(edit, &name)?;
            if edit.catalog().view(&name.schema, &name.name).is_some() {
                if view.if_not_exists {
                    return Ok(());
                }
                if view.or_replace {
                    let before = edit.catalog().view(&name.schema, &name.name);
                    let defaults = before.map(|before| before.query.defaults.clone());
                    let query = ViewQuery {
                        defaults: defaults.unwrap_or_default(),
                        ..query
                    };
                    edit.replace_view(&name.schema, &name.name, query)?;
                    return Ok(());
                }
            }
            Ok(edit.create_view(&name.schema, &name.name, query)?)
        })?;
        Ok(Outcome::done("CREATE VIEW"))
    }
}

impl Run<'_> {
    /// Refuses a CHECK OPTION of a view whose rows cannot be changed.
    ///
    /// # Errors
    /// `0A000`.
    pub(super) fn must_be_checkable(&self, name: &Name, query: &ViewQuery) -> Result<()> {
        if check_option(query).is_none() {
            return Ok(());
        }
        let catalog = self.snapshot.catalog();
        let detail = match over(catalog, name, query)? {
            Ok(view) if view.has_columns() => return Ok(()),
            Ok(_) => NO_COLUMNS,
            Err(detail) => detail,
        };
        let message = "WITH CHECK OPTION is supported only on automatically updatable views";
        Err(Error::unsupported(message).with_hint(detail))
    }
}

/// The options of a view, each once.
///
/// # Errors
/// `22023` for one that is not known, and for a value that it does not have.
fn options_of(view: &CreateView) -> Result<Vec<(String, String)>> {
    if view.materialized {
        return Ok(Vec::new());
    }
    let written = match &view.options {
        CreateTableOptions::None => return Ok(Vec::new()),
        CreateTableOptions::With(written) | CreateTableOptions::Options(written) => written,
        _ => {
            return Err(Error::unsupported(
                "these options of a view are not supported",
            ));
        }
    };
    let mut options: Vec<(String, String)> = Vec::new();
    for option in written {
        let (name, value) = match option {
            SqlOption::Ident(name) => (fold(name), "true".to_owned()),
            SqlOption::KeyValue { key, value } => (fold(key), text_of(value)),
            other => {
                let message = format!("unrecognized parameter \"{other}\"");
                return Err(Error::new("22023", message));
            }
        };
        if options.iter().any(|(known, _)| *known == name) {
            let message = format!("parameter \"{name}\" specified more than once");
            return Err(Error::new("22023", message));
        }
        options.push(view_option(name, value)?);
    }
    Ok(options)
}

/// The value of an option as text.
fn text_of(value: &Expr) -> String {
    match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => text.clone(),
            other => other.to_string(),
        },
        other => printed(other),
    }
}

/// An option of a view with its value, if it has such a one.
///
/// # Errors
/// `22023`.
pub(super) fn view_option(name: String, value: String) -> Result<(String, String)> {
    let wrong = |message: String| Error::new("22023", message);
    match name.as_str() {
        "check_option" => match value.as_str() {
            "local" | "cascaded" => Ok((name, value)),
            _ => {
                let message = format!("invalid value for enum option \"{name}\": {value}");
                let detail = "Valid values are \"local\" and \"cascaded\".";
                Err(wrong(message).with_detail(detail))
            }
        },
        "security_barrier" | "security_invoker" => match truth(&value) {
            Some(_) => Ok((name, value)),
            None => {
                let message = format!("invalid value for boolean option \"{name}\": {value}");
                Err(wrong(message))
            }
        },
        _ => Err(wrong(format!("unrecognized parameter \"{name}\""))),
    }
}

/// The tables and views that a planned query names, with their columns.
pub(super) fn reads_of(relations: &Relations<'_>) -> Result<Vec<ReadRelation>> {
    let mut reads = Vec::new();
    for name in relations.listed() {
        let (schema, last) = (&name.schema, &name.name);
        let columns: Vec<String> = match relations.snapshot.table(schema, last) {
            Some(table) => {
                let columns = table.schema.declared().iter();
                columns.map(|column| column.name.clone()).collect()
            }
            None if relations.snapshot.view(schema, last).is_some() => {
                let columns = columns_of_view(relations, schema, last)?.into_iter();
                columns.map(|(name, _)| name).collect()
            }
            None => continue,
        };
        let full = (schema.clone(), last.clone());
        let columns = columns.into_iter().map(|name| (name.clone(), name));
        reads.push(ReadRelation {
            then: full.clone(),
            now: full,
            columns: columns.collect(),
        });
    }
    Ok(reads)
}

/// Refuses columns that are other ones than those that a view has had; more are fine.
fn keeps_columns(before: &Logical, after: &Logical) -> Result<()> {
    let wrong = |message: String| Error::new("42P16", message);
    if after.names.len() < before.names.len() {
        return Err(wrong("cannot drop columns from view".to_owned()));
    }
    for (old, new) in before.names.iter().zip(&after.names) {
        if old != new {
            let message = format!("cannot change name of view column \"{old}\" to \"{new}\"");
            return Err(wrong(message).with_hint(
                "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
            ));
        }
    }
    let columns = before
        .names
        .iter()
        .zip(before.types.iter().zip(&after.types));
    for (name, (old, new)) in columns {
        if old.base() != new.base() {
            let message = format!(
                "cannot change data type of view column \"{name}\" from {} to {}",
                old.standard_name(),
                new.standard_name()
            );
            return Err(wrong(message));
        }
    }
    Ok(())
}

/// The view's query, with its column list folded in.
pub(super) fn view_sql(view: &CreateView, name: &str) -> String {
    let query = query_text(view);
    if view.columns.is_empty() {
        return query;
    }
    let columns: Vec<String> = view
        .columns
        .iter()
        .map(|column| quoted(&fold(&column.name)))
        .collect();
    format!(
        "SELECT * FROM ({query}) AS {}({})",
        quoted(name),
        columns.join(", ")
    )
}

/// The query as it was written, unless its names were brought into other schemas since.
fn query_text(view: &CreateView) -> String {
    let text = printed(&*view.query);
    match written_query(view) {
        Some(written) if is_same(written, &text) => written.to_owned(),
        _ => text,
    }
}

fn is_same(written: &str, text: &str) -> bool {
    let same = |ast: &Ast| matches!(ast, Ast::Query(query) if printed(&**query) == text);
    parse_one(written).is_ok_and(|ast| same(&ast))
}

fn refuse_clauses(view: &CreateView) -> Result<()> {
    let clauses = [
        (view.temporary, "TEMPORARY"),
        (view.secure, "SECURE"),
        (view.or_alter, "OR ALTER"),
        (view.to.is_some(), "TO"),
        (view.params.is_some(), "ALGORITHM, DEFINER or SQL SECURITY"),
        (!view.cluster_by.is_empty(), "CLUSTER BY"),
        (view.with_no_schema_binding, "WITH NO SCHEMA BINDING"),
        (
            view.comment.is_some() && written_query(view).is_none(),
            "COMMENT",
        ),
    ];
    match clauses.iter().find(|(present, _)| *present) {
        Some((_, clause)) => Err(Error::unsupported(format!(
            "CREATE VIEW with {clause} is not supported"
        ))),
        None => Ok(()),
    }
}

pub(super) fn refuse_files(ast: &Ast) -> Result<()> {
    let found = visit_relations(ast, |relation| match file_name(relation) {
        Some(file) => ControlFlow::Break(file.to_owned()),
        None => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(file) => Err(Error::unsupported(format!(
            "a view cannot read the file \"{file}\""
        ))
        .with_hint("copy the file into a table first")),
        ControlFlow::Continue(()) => Ok(()),
    }
}
