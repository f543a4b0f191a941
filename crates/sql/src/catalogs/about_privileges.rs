//! `has_type_privilege` and its kin: rights on kinds of objects that everybody may use here.
//!
//! An object, a role or a privilege that is not there is refused by its name; about an object by
//! a number that nothing has the answer is NULL.

use std::collections::HashMap;
use std::sync::Arc;

use freestone_frontend::functions::kernel::{Bool, I64, Kernel, Opt, Str, f2, f3};
use freestone_frontend::functions::objects::Objects;
use freestone_frontend::functions::{Scalar, scalar};
use freestone_frontend::types::{Reg, Type};
use freestone_frontend::{Error as Unbound, Result as FrontResult};

use super::Numbers;
use super::pg_catalog;
use crate::error::Result;
use crate::relations::Relations;

/// A kind of objects.
pub(super) struct Kind {
    /// The name of the function.
    function: &'static str,
    /// The word for an object in errors.
    called: &'static str,
    /// The SQLSTATE of an object that is not there.
    state: &'static str,
    /// The table of the catalog that has the objects, and its column of names.
    table: Option<(&'static str, &'static str)>,
    /// The objects by their names, where those have a form of their own.
    reg: Option<Reg>,
    privileges: &'static [&'static str],
}

const KINDS: [Kind; 8] = [
    Kind {
        function: "has_database_privilege",
        called: "database",
        state: "3D000",
        table: Some(("pg_database", "datname")),
        reg: None,
        privileges: &["CREATE", "TEMPORARY", "TEMP", "CONNECT"],
    },
    Kind {
        function: "has_foreign_data_wrapper_privilege",
        called: "foreign-data wrapper",
        state: "42704",
        table: None,
        reg: None,
        privileges: &["USAGE"],
    },
    Kind {
        function: "has_function_privilege",
        called: "function",
        state: "42883",
        table: Some(("pg_proc", "proname")),
        reg: Some(Reg::Procedure),
        privileges: &["EXECUTE"],
    },
    Kind {
        function: "has_language_privilege",
        called: "language",
        state: "42704",
        table: Some(("pg_language", "lanname")),
        reg: None,
        privileges: &["USAGE"],
    },
    Kind {
        function: "has_parameter_privilege",
        called: "parameter",
        state: "42704",
        table: None,
        reg: None,
        privileges: &["SET", "ALTER SYSTEM"],
    },
    Kind {
        function: "has_server_privilege",
        called: "server",
        state: "42704",
        table: None,
        reg: None,
        privileges: &["USAGE"],
    },
    Kind {
        function: "has_tablespace_privilege",
        called: "tablespace",
        state: "42704",
        table: Some(("pg_tablespace", "spcname")),
        reg: None,
        privileges: &["CREATE"],
    },
    Kind {
        function: "has_type_privilege",
        called: "type",
        state: "42704",
        table: Some(("pg_type", "typname")),
        reg: Some(Reg::Type),
        privileges: &["USAGE"],
    },
];

/// The kind that a function of a name is about.
pub(super) fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.function == name)
}

/// The objects of a kind.
struct Known {
    kind: &'static Kind,
    numbers: Arc<Numbers>,
    names: HashMap<i64, String>,
}

/// The overloads of the function about a kind.
///
/// # Errors
/// Errors of reading the catalog.
pub(super) fn functions(
    relations: &Relations<'_>,
    numbers: &dyn Fn() -> Arc<Numbers>,
    kind: &'static Kind,
) -> Result<Vec<Scalar>> {
    use Type::{Oid, Text};
    let names = match kind.table {
        Some((table, column)) => pg_catalog::facts(relations, table)?.texts_by("oid", column),
        None => HashMap::new(),
    };
    let known = Arc::new(Known {
        kind,
        numbers: numbers(),
        names,
    });
    let all: [(&[Type], Kernel); 6] = [
        (&[Text, Text], {
            let known = Arc::clone(&known);
            f2::<Str, Str, Opt<Bool>>(move |object, asked| {
                known.named(object)?;
                known.asked(asked, true)
            })
        }),
        (&[Oid, Text], {
            let known = Arc::clone(&known);
            f2::<I64, Str, Opt<Bool>>(move |object, asked| known.asked(asked, known.has(object)))
        }),
        (&[Text, Text, Text], {
            let known = Arc::clone(&known);
            f3::<Str, Str, Str, Opt<Bool>>(move |role, object, asked| {
                known.role(role)?;
                known.named(object)?;
                known.asked(asked, true)
            })
        }),
        (&[Text, Oid, Text], {
            let known = Arc::clone(&known);
            f3::<Str, I64, Str, Opt<Bool>>(move |role, object, asked| {
                known.role(role)?;
                known.asked(asked, known.has(object))
            })
        }),
        (&[Oid, Text, Text], {
            let known = Arc::clone(&known);
            f3::<I64, Str, Str, Opt<Bool>>(move |_, object, asked| {
                known.named(object)?;
                known.asked(asked, true)
            })
        }),
        (&[Oid, Oid, Text], {
            f3::<I64, I64, Str, Opt<Bool>>(move |_, object, asked| {
                known.asked(asked, known.has(object))
            })
        }),
    ];
    let all = all
        .into_iter()
        .map(|(parameters, kernel)| scalar(kind.function, parameters, Type::Bool, kernel).stable());
    Ok(all.collect())
}

impl Known {
    /// Whether an object has a number.
    fn has(&self, number: i64) -> bool {
        self.names.contains_key(&number)
    }

    /// Refuses a name that no object has.
    fn named(&self, name: &str) -> FrontResult<()> {
        if let Some(reg) = self.kind.reg {
            return self.numbers.number(reg, name).map(|_| ());
        }
        let is_parameter = self.kind.called == "parameter";
        if is_parameter || self.names.values().any(|known| known == name) {
            return Ok(());
        }
        let message = format!("{} \"{name}\" does not exist", self.kind.called);
        Err(Unbound::new(self.kind.state, message))
    }

    /// Refuses a name that no role has.
    fn role(&self, name: &str) -> FrontResult<()> {
        match name {
            "public" => Ok(()),
            name => {
                let quoted = format!("\"{}\"", name.replace('"', "\"\""));
                let found = self.numbers.number(Reg::Role, &quoted);
                let unknown = |_| Unbound::new("42704", format!("role \"{name}\" does not exist"));
                found.map(|_| ()).map_err(unknown)
            }
        }
    }

    /// The answer about an object that is there, or is not.
    fn asked(&self, asked: &str, there: bool) -> FrontResult<Option<bool>> {
        for word in asked.split(',') {
            let word = word.trim();
            let upper = word.to_uppercase();
            let right = upper.strip_suffix(" WITH GRANT OPTION").unwrap_or(&upper);
            if !self.kind.privileges.contains(&right) {
                let message = format!("unrecognized privilege type: \"{word}\"");
                return Err(Unbound::new("22023", message));
            }
        }
        Ok(there.then_some(true))
    }
}
