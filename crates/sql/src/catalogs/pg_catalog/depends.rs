//! `pg_depend`: which object needs which other one. A view needs its relations through a rule in
//! `pg_rewrite`.
//!
//! pg_dump makes a view after the tables, sequences and functions that it reads, and the
//! sequence of an identity column with its table. Left out are types.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::{visit_expressions, visit_relations};
use sqlparser::ast::{Expr, ObjectName, ObjectNamePart, Statement};

use super::facts::Facts;
use super::objects::described;
use super::{CLASSES, routines};
use crate::names::{DEFAULT_SCHEMA, fold, meant_schema};
use crate::oids::{SEQUENCES, VIEWS, default_number, relation_numbers};
use crate::relations::{Described, Relations, query_of_view};
use crate::statement::{names_of_with, parse_one};

/// The number of `pg_rewrite` among tables, of `pg_proc`,
const RULES: i64 = 2618;
const FUNCTIONS: i64 = 1255;
/// of `pg_attrdef`,
const DEFAULTS: i64 = 2604;
/// and that of the rule of the first view.
const FIRST_RULE: i64 = 0xd000_0000;

fn rule_of(view: &Described) -> i64 {
    FIRST_RULE + view.number - VIEWS
}

fn views<'a>(relations: &'a Relations<'_>) -> impl Iterator<Item = &'a Described> {
    described(relations)
        .iter()
        .filter(|one| one.table.is_none())
}

/// The rule of each view.
pub(super) fn rules(relations: &Relations<'_>, facts: &mut Facts) {
    for view in views(relations) {
        facts.add([
            ("oid", rule_of(view).into()),
            ("rulename", "_RETURN".into()),
            ("ev_class", view.number.into()),
            ("ev_type", "1".into()),
            ("ev_enabled", "O".into()),
            ("is_instead", true.into()),
        ]);
    }
}

/// Sequences of columns, defaults, constraints and indexes, and the relations and functions that
/// views read.
pub(super) fn dependencies(relations: &Relations<'_>, facts: &mut Facts) {
    let mut add =
        |(class, object): (i64, i64), (of, referred, part): (i64, i64, i64), kind: &str| {
            facts.add([
                ("classid", class.into()),
                ("objid", object.into()),
                ("objsubid", 0.into()),
                ("refclassid", of.into()),
                ("refobjid", referred.into()),
                ("refobjsubid", part.into()),
                ("deptype", kind.into()),
            ]);
        };
    for one in described(relations) {
        let Some(table) = &one.table else { continue };
        for ((_, _, column), part) in one.columns.iter().zip(1..) {
            let Some(column) = column else { continue };
            let default = default_number(one.number, part as usize - 1);
            let sequences = relations.snapshot.all_sequences().zip(SEQUENCES..);
            for ((_, sequence), number) in sequences {
                let owner = sequence.definition.owner.as_ref();
                let owns =
                    owner.is_some_and(|(of, named)| *of == table.id && *named == column.name);
                match column.identity {
                    Some(identity) if identity.sequence == sequence.id => {
                        let kind = if identity.serial { "a" } else { "i" };
                        add((CLASSES, number), (CLASSES, one.number, part), kind);
                        if identity.serial {
                            add((DEFAULTS, default), (CLASSES, number, 0), "n");
                        }
                    }
                    _ if owns => add((CLASSES, number), (CLASSES, one.number, part), "a"),
                    _ => {}
                }
            }
            if super::objects::default(column).is_some() {
                // A generated column goes with its expression, which reads others.
                let kind = if column.generated { "i" } else { "a" };
                add((DEFAULTS, default), (CLASSES, one.number, part), kind);
            }
            if column.generated {
                for read in super::keys::read_by_default(table, part as usize - 1) {
                    add(
                        (DEFAULTS, default),
                        (CLASSES, one.number, read as i64 + 1),
                        "n",
                    );
                }
            }
        }
        for (class, object, part, kind) in super::keys::needed_columns(relations, table) {
            add((class, object), part, kind);
        }
    }
    for view in views(relations) {
        let rule = (RULES, rule_of(view));
        add(rule, (CLASSES, view.number, 0), "i");
        let Some(query) = view
            .definition
            .as_deref()
            .and_then(|text| parse_one(text).ok())
        else {
            continue;
        };
        for (class, number) in read_by(relations, view, &query) {
            add(rule, (class, number, 0), "n");
        }
    }
}

/// Numbers of the relations that a view reads.
pub(crate) fn tables_read_by(relations: &Relations<'_>, view: &Described) -> Vec<i64> {
    let query = view.definition.as_deref();
    let Some(query) = query.and_then(|text| parse_one(text).ok()) else {
        return Vec::new();
    };
    let read = read_by(relations, view, &query).into_iter();
    read.filter(|(class, _)| *class == CLASSES)
        .map(|(_, number)| number)
        .collect()
}

/// The relations and the functions of users that a query reads, by table and number.
fn read_by(relations: &Relations<'_>, view: &Described, query: &Statement) -> Vec<(i64, i64)> {
    let given = names_of_with(query);
    let known = query_of_view(&relations.snapshot, &view.schema, &view.name);
    let (mut tables, mut functions) = (Vec::new(), Vec::new());
    let _ = visit_relations(query, |name| {
        if let Some((schema, name)) = parts(name)
            && (schema.is_some() || !given.contains(&name))
        {
            let meant = meant_schema(schema.as_deref().unwrap_or(DEFAULT_SCHEMA));
            let read = known.and_then(|query| query.read(meant, &name));
            tables.push(match read {
                Some(read) => (Some(read.now.0.clone()), read.now.1.clone()),
                None => (schema, name),
            });
        }
        ControlFlow::<()>::Continue(())
    });
    let _ = visit_expressions(query, |expr| {
        if let Expr::Function(call) = expr {
            functions.extend(parts(&call.name));
        }
        ControlFlow::<()>::Continue(())
    });
    let is = |known: (&str, &str), named: &(Option<String>, String)| {
        let schema = named.0.as_deref().unwrap_or(DEFAULT_SCHEMA);
        meant_schema(schema) == known.0 && named.1 == known.1
    };
    let mut found = Vec::new();
    for (number, schema, name) in relation_numbers(&relations.snapshot) {
        if tables.iter().any(|named| is((schema, &name), named)) {
            found.push((CLASSES, number));
        }
    }
    for (schema, routine) in routines::all(relations) {
        if functions
            .iter()
            .any(|named| is((schema, &routine.name), named))
        {
            found.push((FUNCTIONS, routines::number(schema, &routine)));
        }
    }
    found
}

/// The schema, if it is there, and the name of a relation or a function.
fn parts(name: &ObjectName) -> Option<(Option<String>, String)> {
    let part = |part: &ObjectNamePart| part.as_ident().map(fold);
    match name.0.as_slice() {
        [only] => Some((None, part(only)?)),
        [schema, last] => Some((part(schema), part(last)?)),
        _ => None,
    }
}
