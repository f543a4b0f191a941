//! Texts of views.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use freestone_frontend::bind::{Binder, Catalog as _};
use freestone_frontend::plan::Column;
use freestone_frontend::syntax::is_deeper;
use freestone_frontend::types::Type;
use sqlparser::ast::{Query as Written, SelectItem, SetExpr, Statement, TableFactor};

use super::print::{Printer, Shown, quoted};
use super::read::{Known, Reader};
use super::scope::Namespace;
use crate::front::{Names, columns_of_view, session_of};
use crate::names::{DEFAULT_SCHEMA, fold, has_function, meant_schema, shown_schema};
use crate::relations::Relations;
use crate::statement::parse_one;

/// Most levels of a query that is printed.
pub(super) const DEEPEST: usize = 200;

/// Names by the schemas in which they are looked up; `None` for names that are always full.
pub(super) struct Found<'f>(pub(super) &'f Relations<'f>, pub(super) bool);

impl Found<'_> {
    fn is_visible(&self, schema: &str, has: impl Fn(&str) -> bool) -> bool {
        if !self.1 {
            return false;
        }
        if schema == "pg_catalog" || self.0.own_schema().as_deref() == Some(schema) {
            return true;
        }
        let first = match self.0.path() {
            Some(path) => path
                .iter()
                .map(|one| meant_schema(one))
                .find(|one| has(one)),
            None => Some(DEFAULT_SCHEMA),
        };
        first == Some(schema) && !self.0.own_schema().is_some_and(|own| has(&own))
    }
}

impl Shown for Found<'_> {
    fn relation(&self, schema: &str, name: &str, hidden: bool) -> String {
        match !hidden && self.is_visible(schema, |of| self.0.has(of, name)) {
            true => quoted(name),
            false => format!("{}.{}", quoted(shown_schema(schema)), quoted(name)),
        }
    }

    fn function(&self, schema: &str, name: &str) -> String {
        let catalog = self.0.snapshot.catalog();
        match self.is_visible(schema, |of| {
            has_function(catalog, of, name.trim_matches('"'))
        }) {
            true => name.to_owned(),
            false => format!("{}.{name}", quoted(shown_schema(schema))),
        }
    }
}

/// The query of a view as PostgreSQL prints it, and with few brackets; `None` if it has a form that
/// is not known here.
pub(crate) fn view_texts(
    relations: &Relations<'_>,
    (schema, name, sql): (&str, &str, &str),
) -> Option<[String; 2]> {
    // The catalog has no rows meanwhile: views may read it.
    let before = relations.describing.swap(true, Ordering::Relaxed);
    let texts = shown(relations, (schema, name, sql));
    relations.describing.store(before, Ordering::Relaxed);
    texts
}

fn shown(
    relations: &Relations<'_>,
    (schema, name, sql): (&str, &str, &str),
) -> Option<[String; 2]> {
    let columns = columns_of_view(relations, schema, name).ok()?;
    let Statement::Query(query) = parse_one(sql).ok()? else {
        return None;
    };
    let inner = listed(&query, name).unwrap_or(&query);
    if is_deeper(inner, DEEPEST) {
        return None;
    }
    let names = Names::new(relations);
    let reader = Reader {
        known: Some(Known {
            names: &names,
            relations,
            columns: &[],
        }),
        scopes: RefCell::default(),
    };
    names.enter_view(Some(schema), name).ok()?;
    let read = reader.within(Namespace::default(), || reader.query(inner, false));
    names.leave_view();
    let read = read?;
    let scopes = reader.scopes.into_inner();
    let own: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let print = |pretty: bool, visible: bool| {
        let found = Found(relations, visible);
        let mut printer = Printer::new(pretty, &scopes.ranges, &found);
        printer.around = vec!["old".to_owned(), "new".to_owned()];
        printer.query(&read, &own, true);
        printer.text
    };
    // The texts mean what the view does: they are read again, with all names in full.
    let means = |pretty: bool| {
        let Statement::Query(again) = parse_one(&print(pretty, false)).ok()? else {
            return None;
        };
        names.enter_view(Some(schema), name).ok()?;
        relations.forget_reads();
        let session = Arc::new(session_of(relations));
        let bound = Binder::new(&names, &session).query(&again);
        names.leave_view();
        let bound = bound.ok()?.columns;
        let same = |(bound, (name, ty)): (&Column, &(String, Type))| {
            bound.name == *name && is_alike(&bound.ty, ty)
        };
        let all = bound.len() == columns.len() && bound.iter().zip(&columns).all(same);
        all.then_some(())
    };
    means(false)?;
    // A comparison of a comparison cannot be read without its brackets.
    let few = means(true).is_some();
    Some([print(false, true), print(few, true)])
}

/// Whether two types are one; digits of a literal are no part of its type in PostgreSQL.
fn is_alike(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Numeric(_), Type::Numeric(_)) => true,
        (Type::Array(a), Type::Array(b)) => is_alike(a, b),
        (a, b) => a == b,
    }
}

/// The query in one that CREATE VIEW has put around it for its list of columns.
fn listed<'q>(query: &'q Written, name: &str) -> Option<&'q Written> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let ([SelectItem::Wildcard(_)], [only]) =
        (select.projection.as_slice(), select.from.as_slice())
    else {
        return None;
    };
    match &only.relation {
        TableFactor::Derived {
            lateral: false,
            subquery,
            alias: Some(alias),
            sample: None,
        } if fold(&alias.name) == name
            && !alias.columns.is_empty()
            && only.joins.is_empty()
            && select.selection.is_none()
            && query.order_by.is_none()
            && query.limit_clause.is_none()
            && query.with.is_none() =>
        {
            Some(subquery)
        }
        _ => None,
    }
}
