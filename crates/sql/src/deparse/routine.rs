//! Bodies of functions that are kept as statements, and not as a text.
//!
//! ```text
//! BEGIN ATOMIC
//!  SELECT ((a = 'abcd'::text) AND (b > '2001-01-01'::date));
//! END
//! ```
//!
//! Parameters are in sight behind all columns. In a query with a FROM they are written with the
//! name of the function.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use freestone_frontend::bind::{Binder, SqlBody, SqlFunction, SqlReturns};
use freestone_frontend::syntax::is_deeper;
use sqlparser::ast::{Expr, Query as Written};

use super::print::Printer;
use super::read::{Known, Reader};
use super::scope::{Named, Namespace, Scopes, Seen};
use super::tree::Node;
use super::view::{DEEPEST, Found};
use crate::front::{Names, session_of};
use crate::relations::Relations;
use crate::routine::Routine;

/// The statements of the body of a function, each with the indentation that it has between BEGIN
/// ATOMIC and END, or the expression behind RETURN; `None` if a form is not known here.
pub(crate) fn body_texts(relations: &Relations<'_>, routine: &Routine) -> Option<Vec<String>> {
    // The catalog has no rows meanwhile: a function may read it.
    let before = relations.describing.swap(true, Ordering::Relaxed);
    let texts = shown(relations, routine);
    relations.describing.store(before, Ordering::Relaxed);
    texts
}

fn shown(relations: &Relations<'_>, routine: &Routine) -> Option<Vec<String>> {
    let names = Names::new(relations);
    let function = routine.function(&names).ok()?;
    let parameters = parameters(&function)?;
    let print = |visible: bool| -> Option<Vec<String>> {
        let one = Body {
            relations,
            names: &names,
            parameters: &parameters,
            visible,
        };
        match &function.body {
            SqlBody::Query(last) => {
                let all = function.before.iter().chain([last.as_ref()]);
                all.map(|query| one.query(query)).collect()
            }
            SqlBody::Expr(expr) => Some(vec![one.returned(expr, &function)?]),
        }
    };
    // The texts mean what the body does: they are read again, with all names in full.
    let again = Routine {
        body: print(false)?.join(";\n"),
        ..routine.clone()
    };
    let session = Arc::new(session_of(relations));
    let binder = Binder::new(&names, &session);
    binder.check_function(&again.function(&names).ok()?).ok()?;
    print(true)
}

/// The names of parameters that a body sees.
fn parameters(function: &SqlFunction) -> Option<Namespace> {
    let (mut named, mut all) = (Vec::new(), Vec::new());
    for (place, parameter) in function.parameters.iter().enumerate() {
        let number = format!("${}", place + 1);
        let seen = |name: &str| {
            Some(Seen {
                name: name.to_owned(),
                node: Node::Parameter {
                    function: function.name.clone(),
                    name: parameter.name.clone().unwrap_or_else(|| number.clone()),
                },
                ty: parameter.ty.clone()?,
            })
        };
        all.push(seen(&number)?);
        if let Some(name) = &parameter.name {
            named.push(seen(name)?);
        }
    }
    all.extend(named.iter().cloned());
    Some(Namespace {
        relations: vec![Named {
            name: function.name.clone(),
            schema: None,
            columns: named,
            row: None,
        }],
        columns: all,
    })
}

/// A body that is printed.
struct Body<'b> {
    relations: &'b Relations<'b>,
    names: &'b Names<'b>,
    parameters: &'b Namespace,
    /// Whether names are short where they are found so.
    visible: bool,
}

impl Body<'_> {
    fn reader(&self) -> Reader<'_> {
        Reader {
            known: Some(Known {
                names: self.names,
                relations: self.relations,
                columns: &[],
            }),
            scopes: RefCell::default(),
        }
    }

    fn printed(
        &self,
        scopes: &Scopes,
        level: isize,
        print: impl FnOnce(&mut Printer<'_>),
    ) -> String {
        let found = Found(self.relations, self.visible);
        let mut printer = Printer::new(false, &scopes.ranges, &found);
        printer.level = level;
        print(&mut printer);
        printer.text
    }

    fn query(&self, query: &Written) -> Option<String> {
        if is_deeper(query, DEEPEST) {
            return None;
        }
        let reader = self.reader();
        let read = reader.within(self.parameters.clone(), || {
            reader.within(Namespace::default(), || reader.query(query, false))
        })?;
        let scopes = reader.scopes.into_inner();
        Some(self.printed(&scopes, 1, |printer| printer.query(&read, &[], false)))
    }

    /// The expression behind RETURN.
    fn returned(&self, expr: &Expr, function: &SqlFunction) -> Option<String> {
        let reader = self.reader();
        let node = reader.within(self.parameters.clone(), || {
            let typed = reader.node(expr)?;
            match &function.returns {
                SqlReturns::Value(ty) => reader.coerced(typed, ty),
                _ => None,
            }
        })?;
        let scopes = reader.scopes.into_inner();
        Some(self.printed(&scopes, 0, |printer| {
            printer.inline = true;
            printer.node(&node, false);
        }))
    }
}
