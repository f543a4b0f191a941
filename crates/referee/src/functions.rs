//! The functions, operators, aggregates and casts of the front as Markdown: `docs/functions.md`.

use std::collections::BTreeMap;

use freestone_frontend::functions::aggregates::Kind;
use freestone_frontend::functions::{Catalogue, Context, Returns, chapters};
use freestone_frontend::types::Type;

const HEAD: &str = "\
# Functions and operators

All that statements may call, by chapter, with the types of arguments and results. `referee
functions` prints this file from the catalogue of the language front; the text of PostgreSQL's
documentation tells what they do. A type in brackets is one that may be left out; `…` stands for
any number of further arguments. `anyelement` and its kin stand for one type wherever they occur
in a line, `anycompatible` for the one to which all others are cast.

With a syntax of their own: `CASE`, `COALESCE`, `NULLIF`, `GREATEST`, `LEAST`, `GROUPING`, `ROW`,
`ARRAY`, `EXTRACT`, `OVERLAY`, `POSITION`, `SUBSTRING`, `TRIM`, `AT TIME ZONE`, `OVERLAPS`, `IN`,
`ANY`, `ALL`, `EXISTS`, `BETWEEN`, `LIKE`, `ILIKE`, `SIMILAR TO`, `IS DISTINCT FROM`, `IS NULL`,
`IS TRUE`, `IS NORMALIZED`. The server adds those of sequences, settings, roles and its own
catalogue.
";

/// The list as Markdown.
pub fn markdown() -> String {
    let mut text = HEAD.to_owned();
    for (title, chapter) in chapters() {
        let lines = lines(&chapter);
        let casts = casts(&chapter);
        if lines.is_empty() && casts.is_empty() {
            continue;
        }
        text += &format!("\n## {title}\n\n");
        for ((_, name), overloads) in lines {
            text += &format!("- `{name}`: {}\n", overloads.join(", "));
        }
        for (from, to) in casts {
            text += &format!("- cast of `{from}`: {}\n", to.join(", "));
        }
    }
    text
}

/// A chapter's overloads by name, operators first.
fn lines(chapter: &Catalogue) -> BTreeMap<(bool, String), Vec<String>> {
    let mut lines: BTreeMap<(bool, String), Vec<String>> = BTreeMap::new();
    for operator in chapter.every_operator() {
        let result = result(&operator.returns, &operator.parameters);
        let shown = match operator.parameters.as_slice() {
            [right] => format!("`{} {} → {result}`", operator.name, name(right)),
            [left, right] => {
                let (left, right) = (name(left), name(right));
                format!("`{left} {} {right} → {result}`", operator.name)
            }
            _ => continue,
        };
        let key = (false, operator.name.to_owned());
        lines.entry(key).or_default().push(shown);
    }
    let mut add = |function: &str, shown: String| {
        let key = (true, function.to_owned());
        lines.entry(key).or_default().push(shown);
    };
    for function in chapter.every_function() {
        let mut arguments = named(&function.parameters);
        let least = arguments.len().saturating_sub(function.defaults.len());
        for argument in arguments.iter_mut().skip(least) {
            *argument = format!("[{argument}]");
        }
        arguments.extend(further(function.variadic.as_ref()));
        let result = result(&function.returns, &function.parameters);
        add(
            function.name,
            format!("`({}) → {result}`", arguments.join(", ")),
        );
    }
    for function in chapter.every_table() {
        let mut arguments = named(&function.parameters);
        arguments.extend(further(function.variadic.as_ref()));
        let columns = function.columns.iter();
        let columns: Vec<String> = columns
            .map(|(column, ty)| {
                let ty = result(ty, &function.parameters);
                format!("{column} {ty}").trim_start().to_owned()
            })
            .collect();
        let rows = columns.join(", ");
        add(
            function.name,
            format!("`({}) → rows of ({rows})`", arguments.join(", ")),
        );
    }
    for aggregate in chapter.every_aggregate() {
        let mut arguments = named(&aggregate.parameters);
        arguments.extend(further(aggregate.variadic.as_ref()));
        let result = result(&aggregate.returns, &aggregate.parameters);
        let arguments = arguments.join(", ");
        let direct = named(&aggregate.direct).join(", ");
        let shown = match aggregate.kind {
            Kind::Plain => format!("`({arguments}) → {result}`"),
            Kind::OrderedSet => {
                format!("`({direct}) WITHIN GROUP (ORDER BY {arguments}) → {result}`")
            }
            Kind::Hypothetical => format!("`(…) WITHIN GROUP (ORDER BY …) → {result}`"),
        };
        add(&aggregate.name, shown);
    }
    for window in chapter.every_window() {
        let mut arguments = named(&window.parameters);
        let least = arguments.len().saturating_sub(window.optional);
        for argument in arguments.iter_mut().skip(least) {
            *argument = format!("[{argument}]");
        }
        let result = result(&window.returns, &window.parameters);
        let arguments = arguments.join(", ");
        add(window.name, format!("`({arguments}) OVER (…) → {result}`"));
    }
    for overloads in lines.values_mut() {
        overloads.sort();
        overloads.dedup();
    }
    lines
}

/// A chapter's casts by the type that is cast; `*` marks those that are done unasked, `+` those
/// that are done where a value is stored.
fn casts(chapter: &Catalogue) -> BTreeMap<String, Vec<String>> {
    let mut casts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (from, to, context) in chapter.every_cast() {
        let mark = match context {
            Context::Explicit => "",
            Context::Assignment => "+",
            Context::Implicit => "*",
        };
        let to = format!("`{}`{mark}", name(to));
        casts.entry(name(from)).or_default().push(to);
    }
    for to in casts.values_mut() {
        to.sort();
        to.dedup();
    }
    casts
}

fn named(types: &[Type]) -> Vec<String> {
    types.iter().map(name).collect()
}

fn name(ty: &Type) -> String {
    match ty {
        Type::Any => "any".to_owned(),
        ty => ty.standard_name(),
    }
}

fn further(variadic: Option<&Type>) -> Option<String> {
    variadic.map(|ty| format!("{} …", name(ty)))
}

/// The type of a result; one that depends on the arguments' is that for the parameters.
fn result(returns: &Returns, parameters: &[Type]) -> String {
    match returns {
        Returns::Type(ty) => name(ty),
        Returns::Of(of) => name(&of(parameters)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_what_the_catalogue_has() {
        let text = markdown();
        let file = crate::corpus::folder().join("../../../docs/functions.md");
        let written = std::fs::read_to_string(file).unwrap();
        let differs = text.lines().zip(written.lines()).find(|(a, b)| a != b);
        assert_eq!(
            differs, None,
            "`referee functions` writes docs/functions.md"
        );
        assert_eq!(text.len(), written.len());
    }

    #[test]
    fn overloads_stand_behind_their_names() {
        let text = markdown();
        for line in [
            "- `sin`: `(double precision) → double precision`",
            "- `rank`: `(…) WITHIN GROUP (ORDER BY …) → bigint`",
            "- `row_number`: `() OVER (…) → bigint`",
            "- `^@`: `text ^@ text → boolean`",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}");
        }
    }
}
