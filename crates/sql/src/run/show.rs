//! SHOW, DESCRIBE, SET and RESET.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use freestone_frontend::values::datetime::{IntervalStyle, SpanField, SpanFields, read_interval};
use freestone_storage::{Catalog, Object, Privileges, Table};
use sqlparser::ast::{
    ContextModifier, DateTimeField, Expr, Interval as Span, ObjectName, Reset, ResetStatement, Set,
    ShowStatementIn, Statement as Ast, Value,
};

use super::Run;
use super::redeclare::written;
use crate::error::{Error, Result};
use crate::files::open_all;
use crate::front::shown_declaration;
use crate::names::{file_name, quoted, table_name};
use crate::outcome::Outcome;
use crate::rows::{Values, batch};
use crate::session::Notice;
use crate::settings::{
    IDLE, Known, MACHINE, MEMORY, MOVER, Setting, WORKLOAD, all_settings, current, find, spelt,
};
use crate::types::sql_name;

/// Schema, name and, for tables, what it stands for.
type Relation<'a> = (String, String, Option<&'a Arc<Table>>);

impl Run<'_> {
    pub(super) async fn show(&self, ast: &Ast) -> Result<Outcome> {
        match ast {
            Ast::ShowTables { .. } => self.show_tables(true),
            Ast::ShowViews { .. } => self.show_tables(false),
            Ast::ShowSchemas { .. } => {
                let mut names: Vec<&str> = self.snapshot.schemas().collect();
                names.sort_unstable();
                let names = names
                    .into_iter()
                    .map(|name| Some(name.to_owned()))
                    .collect();
                Ok(Outcome::batch(batch(vec![(
                    "schema",
                    Values::Text(names),
                )])?))
            }
            Ast::ShowColumns { show_options, .. } => match &show_options.show_in {
                Some(ShowStatementIn {
                    parent_name: Some(name),
                    ..
                }) => self.describe(name).await,
                _ => Err(Error::new("42601", "SHOW COLUMNS FROM which table?")),
            },
            Ast::ExplainTable {
                table_name: name, ..
            } => self.describe(name).await,
            Ast::ShowVariables { .. } => self.show_all(),
            Ast::ShowVariable { variable } => {
                let words: Vec<String> = variable.iter().map(|i| i.value.to_lowercase()).collect();
                match words
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .as_slice()
                {
                    ["all"] => self.show_all(),
                    ["time", "zone"] => self.show_one("timezone"),
                    ["transaction", "isolation", "level"] => self.show_one("transaction_isolation"),
                    _ => self.show_one(&words.join(".")),
                }
            }
            other => Err(super::refused(other)),
        }
    }

    fn show_one(&self, name: &str) -> Result<Outcome> {
        let own = self.session.client().get(name);
        let own = own.or_else(|| self.session.reading(name));
        let value = match own.or_else(|| self.session.machine(name)) {
            Some(value) => value,
            None => self.as_it_is(&name.to_lowercase(), current(self.state(), name)?),
        };
        let name = spelt(name);
        Ok(Outcome::batch(batch(vec![(
            name,
            Values::Text(vec![Some(value)]),
        )])?))
    }

    /// The value of a setting: those of the whole database whoever set them.
    fn as_it_is(&self, name: &str, value: String) -> String {
        match name {
            MOVER if self.store().is_mover_paused() => "paused".to_owned(),
            MOVER => "running".to_owned(),
            WORKLOAD if self.session.database().record().is_recording() => "on".to_owned(),
            WORKLOAD => "off".to_owned(),
            MEMORY | "freestone.memory_limit" => self.session.database().memory().shown(),
            _ => value,
        }
    }

    fn show_all(&self) -> Result<Outcome> {
        let mut all = all_settings(self.state());
        all.extend(self.session.client().all());
        all.extend(self.session.all_reading());
        let machine = self.session.machine(MACHINE);
        all.extend(machine.map(|file| (MACHINE.to_owned(), file)));
        all.sort();
        let idle = |name: &str| find(name).is_some_and(Known::is_idle);
        let about = all.iter().map(|(name, _)| match idle(name) {
            true => Some(IDLE.to_owned()),
            false => None,
        });
        let about = about.collect();
        let (names, values) = all
            .into_iter()
            .map(|(name, value)| {
                let value = self.as_it_is(&name, value);
                (Some(name), Some(value))
            })
            .unzip();
        Ok(Outcome::batch(batch(vec![
            ("name", Values::Text(names)),
            ("setting", Values::Text(values)),
            ("description", Values::Text(about)),
        ])?))
    }

    /// Tables (with their size) and views that may be read, or views alone.
    fn show_tables(&self, with_tables: bool) -> Result<Outcome> {
        let rights = self.rights(self.snapshot.catalog());
        let mut rows: Vec<Relation<'_>> = Vec::new();
        for schema in self.snapshot.schemas() {
            for table in self.snapshot.tables(schema) {
                if with_tables && rights.reads(schema, &table.id.into()) {
                    rows.push((schema.to_owned(), table.name.clone(), Some(table)));
                }
            }
            for view in self.snapshot.views(schema) {
                if rights.reads(schema, &Object::view(schema, &view.name)) {
                    rows.push((schema.to_owned(), view.name.clone(), None));
                }
            }
        }
        rows.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        let long = |of: fn(&Table) -> u64| {
            Values::Long(
                rows.iter()
                    .map(|row| row.2.and_then(|table| i64::try_from(of(table)).ok()))
                    .collect(),
            )
        };
        let text =
            |of: fn(&Relation<'_>) -> Option<String>| Values::Text(rows.iter().map(of).collect());
        Ok(Outcome::batch(batch(vec![
            ("schema", text(|row| Some(row.0.clone()))),
            ("name", text(|row| Some(row.1.clone()))),
            (
                "type",
                text(|row| Some(if row.2.is_some() { "table" } else { "view" }.to_owned())),
            ),
            ("rows", long(Table::rows)),
            ("bytes", long(Table::bytes)),
            (
                "layout",
                text(|row| row.2.map(|table| table.options.layout_text())),
            ),
        ])?))
    }

    async fn describe(&self, name: &ObjectName) -> Result<Outcome> {
        if let Some(file) = file_name(name) {
            let ast = crate::statement::parse_one(&format!("SELECT * FROM {name}"))?;
            let catalog = self.snapshot.catalog();
            let files = open_all((self.identity(), catalog), &ast)?;
            return match files.get(file) {
                Some(table) => described(&table.schema()),
                None => Err(Error::internal("the file was not opened")),
            };
        }
        let name = table_name(name)?;
        if let Some(table) = self.snapshot.table(&name.schema, &name.name) {
            let rights = self.rights(self.snapshot.catalog());
            rights.table(&name, table, Privileges::SELECT)?;
            return describe_table(&self.snapshot, table);
        }
        let query = format!("SELECT * FROM {}", written(&name));
        self.describe_query(&crate::statement::parse_one(&query)?)
            .await
    }

    /// DESCRIBE SELECT …: the columns of its result.
    pub(super) async fn describe_query(&self, ast: &Ast) -> Result<Outcome> {
        let plan = self.logical(ast).await?;
        let plan = plan.shown()?.renamed()?;
        described(plan.plan.schema())
    }

    pub(super) fn set(&self, set: &Set) -> Result<Outcome> {
        let (name, values, scope) = match set {
            Set::SingleAssignment {
                scope,
                hivevar: false,
                variable,
                values,
            } => (setting_named(variable), values.as_slice(), *scope),
            Set::SetTimeZone { local, value } => {
                let scope = local.then_some(ContextModifier::Local);
                ("timezone".to_owned(), std::slice::from_ref(value), scope)
            }
            Set::SetNames {
                charset_name,
                collation_name: None,
            } => {
                let setting = Setting {
                    name: "client_encoding".to_owned(),
                    value: Some(charset_name.value.clone()),
                    local: false,
                };
                self.session.configure(&setting)?;
                return Ok(Outcome::done("SET"));
            }
            other => return Err(Error::unsupported(format!("{other} is not supported"))),
        };
        let local = match scope {
            None | Some(ContextModifier::Session) => false,
            Some(ContextModifier::Local) => true,
            Some(ContextModifier::Global) => {
                return Err(Error::unsupported("SET GLOBAL is not supported"));
            }
        };
        let list = LISTS.contains(&name.as_str());
        let words: Vec<String> = values
            .iter()
            .map(|value| match (set, value) {
                (Set::SetTimeZone { .. }, Expr::Interval(span)) => hours_of(span),
                (_, Expr::Interval(_)) => Err(Error::new(
                    "42601",
                    "an interval is a value of SET TIME ZONE only",
                )),
                (_, value) => word(value, list),
            })
            .collect::<Result<_>>()?;
        let is_default = |value: &Expr| matches!(value, Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"));
        let value = match (values, words.as_slice()) {
            ([only], _) if is_default(only) => None,
            // The zone that the session has by default.
            ([only], [word])
                if name == "timezone"
                    && word.eq_ignore_ascii_case("local")
                    && matches!(only, Expr::Identifier(_)) =>
            {
                None
            }
            (_, [_]) => Some(words.join(", ")),
            _ if find(&name).is_some() && !list => {
                let message = format!("SET {name} takes only one argument");
                return Err(Error::new("22023", message));
            }
            _ => Some(words.join(", ")),
        };
        if local && !self.session.in_transaction() {
            let text = "SET LOCAL can only be used in transaction blocks";
            self.session.notify(Notice::warning("25P01", text));
        }
        self.session.configure(&Setting { name, value, local })?;
        Ok(Outcome::done("SET"))
    }

    pub(super) fn reset(&self, reset: &ResetStatement) -> Result<Outcome> {
        match &reset.reset {
            Reset::ConfigurationParameter(name) => {
                self.session.configure(&Setting {
                    name: setting_named(name),
                    value: None,
                    local: false,
                })?;
                Ok(Outcome::done("RESET"))
            }
            Reset::ALL => {
                self.session.reset_all()?;
                Ok(Outcome::done("RESET"))
            }
        }
    }
}

/// Settings that are lists of names.
const LISTS: [&str; 3] = ["datestyle", "search_path", "temp_tablespaces"];

/// The name of a setting in lower case.
fn setting_named(name: &ObjectName) -> String {
    let parts = name.0.iter().map(|part| match part.as_ident() {
        Some(ident) => ident.value.to_lowercase(),
        None => part.to_string().to_lowercase(),
    });
    parts.collect::<Vec<_>>().join(".")
}

/// The hours of SET TIME ZONE INTERVAL.
fn hours_of(span: &Span) -> Result<String> {
    use DateTimeField::{Hour, Minute};
    let (first, last) = match (&span.leading_field, &span.last_field) {
        (None, None) => (SpanField::Year, SpanField::Second),
        (Some(Hour), None) => (SpanField::Hour, SpanField::Hour),
        (Some(Minute), None) => (SpanField::Minute, SpanField::Minute),
        (Some(Hour), Some(Minute)) => (SpanField::Hour, SpanField::Minute),
        _ => {
            let message = "time zone interval must be HOUR or HOUR TO MINUTE";
            return Err(Error::new("42601", message));
        }
    };
    let fields = SpanFields {
        first,
        last,
        decimals: None,
    };
    let text = word(&span.value, false)?;
    let read = read_interval(&text, IntervalStyle::Postgres, fields)?;
    let read = fields.restrict(read)?;
    let refuse = |what: &str| {
        let message = "invalid value for parameter \"TimeZone\"";
        Error::new("22023", format!("{message}: \"INTERVAL '{text}'\""))
            .with_detail(format!("Cannot specify {what} in time zone interval."))
    };
    if read.months != 0 {
        return Err(refuse("months"));
    }
    if read.days != 0 {
        return Err(refuse("days"));
    }
    Ok((read.micros as f64 / 3_600_000_000.0).to_string())
}

/// A setting's value as written: a string, a number or a bare word. Names of lists have
/// quotes where they need them.
fn word(expr: &Expr, list: bool) -> Result<String> {
    let name = |text: &str| match list {
        true => quoted_if_needed(text),
        false => text.to_owned(),
    };
    match expr {
        Expr::Value(value) => Ok(match &value.value {
            Value::SingleQuotedString(text)
            | Value::DoubleQuotedString(text)
            | Value::EscapedStringLiteral(text)
            | Value::UnicodeStringLiteral(text) => name(text),
            Value::DollarQuotedString(text) => name(&text.value),
            other => other.to_string(),
        }),
        Expr::Identifier(ident) => Ok(match ident.quote_style {
            Some(_) => name(&ident.value),
            None if list => name(&ident.value.to_lowercase()),
            None => ident.value.clone(),
        }),
        Expr::CompoundIdentifier(_) | Expr::UnaryOp { .. } | Expr::Interval(_) => {
            Ok(expr.to_string())
        }
        other => Err(Error::new(
            "42601",
            format!("a setting takes a plain value, not \"{other}\""),
        )),
    }
}

/// A name as lists of names have it.
fn quoted_if_needed(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next();
    let plain = first.is_some_and(|c| c.is_lowercase() || c == '_')
        && chars.all(|c| c.is_lowercase() || c.is_ascii_digit() || c == '_');
    match plain {
        true => name.to_owned(),
        false => quoted(name),
    }
}

fn describe_table(catalog: &Catalog, table: &Table) -> Result<Outcome> {
    let columns = table.schema.declared();
    let key = |index: usize| {
        let of = |primary: bool| {
            table
                .schema
                .keys
                .iter()
                .any(|key| key.primary == primary && key.columns.contains(&index))
        };
        match (of(true), of(false)) {
            (true, _) => Some("primary key".to_owned()),
            (false, true) => Some("unique".to_owned()),
            (false, false) => None,
        }
    };
    Ok(Outcome::batch(batch(vec![
        (
            "column_name",
            Values::Text(columns.iter().map(|c| Some(c.name.clone())).collect()),
        ),
        (
            "data_type",
            Values::Text(
                columns
                    .iter()
                    .map(|c| Some(shown_declaration(catalog, c)))
                    .collect(),
            ),
        ),
        (
            "is_nullable",
            Values::Text(columns.iter().map(|c| Some(yes_no(c.nullable))).collect()),
        ),
        (
            "column_default",
            Values::Text(columns.iter().map(|c| c.described_default()).collect()),
        ),
        ("key", Values::Text((0..columns.len()).map(key).collect())),
    ])?))
}

fn described(schema: &SchemaRef) -> Result<Outcome> {
    let fields = schema.fields();
    Ok(Outcome::batch(batch(vec![
        (
            "column_name",
            Values::Text(fields.iter().map(|f| Some(f.name().clone())).collect()),
        ),
        (
            "data_type",
            Values::Text(
                fields
                    .iter()
                    .map(|f| Some(sql_name(f.data_type()).to_uppercase()))
                    .collect(),
            ),
        ),
        (
            "is_nullable",
            Values::Text(
                fields
                    .iter()
                    .map(|f| Some(yes_no(f.is_nullable())))
                    .collect(),
            ),
        ),
        ("column_default", Values::Text(vec![None; fields.len()])),
        ("key", Values::Text(vec![None; fields.len()])),
    ])?))
}

fn yes_no(value: bool) -> String {
    if value { "YES" } else { "NO" }.to_owned()
}
