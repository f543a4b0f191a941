//! What there is by numbers and names, as the front asks for it: `'t'::regclass`.

use std::collections::HashMap;

use freestone_frontend::Result as FrontResult;
use freestone_frontend::bind::written_type;
use freestone_frontend::functions::objects::{NoObjects, Objects};
use freestone_frontend::types::Reg;
use freestone_storage::UserTypeKind;

use super::information_schema;
use super::pg_catalog::objects::schema_number;
use super::pg_catalog::types::{formatted, number_of_name, of_type};
use super::pg_catalog::{self, procedures, role_number, routines, system};
use crate::front::Nothing;
use crate::names::{
    DEFAULT_SCHEMA, INFORMATION_SCHEMA, PG_CATALOG, PG_TEMP, PG_TOAST, meant_schema, named, quoted,
    shown_schema,
};
use crate::oids::{
    composite_number, relation_numbers, row_type_number, type_number, view_row_number,
};
use crate::relations::Relations;

/// Names and numbers in one snapshot.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Relations: schema and name.
    classes: HashMap<i64, (String, String)>,
    class_numbers: HashMap<(String, String), i64>,
    schemas: HashMap<i64, String>,
    roles: HashMap<i64, String>,
    /// Created types and arrays of them, as they are written.
    types: HashMap<i64, String>,
    /// Created types by schema and name.
    type_numbers: HashMap<(String, String), i64>,
    /// Functions whose body is SQL.
    routines: Vec<Numbered>,
    /// Where names without a schema are looked up.
    path: Vec<String>,
    /// The schema of the session's temporary relations.
    own: Option<String>,
}

/// A function whose body is SQL.
#[derive(Debug)]
struct Numbered {
    number: i64,
    schema: String,
    name: String,
    /// Types of its parameters.
    types: Vec<String>,
}

impl Numbers {
    pub(crate) fn of(relations: &Relations<'_>) -> Self {
        let mut all = Self {
            path: match relations.path() {
                Some(path) => path
                    .iter()
                    .map(|name| meant_schema(name).to_owned())
                    .collect(),
                None => vec![DEFAULT_SCHEMA.to_owned()],
            },
            own: relations.own_schema(),
            ..Self::default()
        };
        let snapshot = &relations.snapshot;
        let system = pg_catalog::numbers().map(|(number, name)| (number, PG_CATALOG, name));
        let views = information_schema::numbers();
        let views = views.map(|(number, name)| (number, INFORMATION_SCHEMA, name));
        for (number, schema, name) in system.chain(views) {
            all.add(number, schema, name);
        }
        for (number, schema, name) in relation_numbers(snapshot) {
            all.add(number, schema, &name);
        }
        for (schema, name, known) in snapshot.user_types() {
            let number = type_number(known.id);
            let full = (schema.to_owned(), name.to_owned());
            all.type_numbers.insert(full, number);
            if let UserTypeKind::Composite(_) = known.kind {
                all.add(composite_number(known.id), schema, name);
            }
        }
        for (schema, table) in snapshot.all_tables() {
            let full = (schema.to_owned(), table.name.clone());
            all.type_numbers.insert(full, row_type_number(table));
        }
        for (number, schema, name) in relation_numbers(snapshot) {
            if let Some(number) = view_row_number(number) {
                all.type_numbers.insert((schema.to_owned(), name), number);
            }
        }
        for ((schema, name), number) in &all.type_numbers {
            let shown = match all.own_type(None, name) == Some(*number) {
                true => quoted(name),
                false => format!("{}.{}", quoted(shown_schema(schema)), quoted(name)),
            };
            all.types.insert(number + 1, format!("{shown}[]"));
            all.types.insert(*number, shown);
        }
        let system = [PG_CATALOG, PG_TOAST, INFORMATION_SCHEMA];
        for name in snapshot.schemas().chain(system) {
            let number = schema_number(relations, name);
            all.schemas.insert(number, shown_schema(name).to_owned());
        }
        for (name, role) in snapshot.roles().all() {
            all.roles.insert(role_number(role.id), name);
        }
        for (schema, routine) in routines::all(relations) {
            all.routines.push(Numbered {
                number: routines::number(schema, &routine),
                schema: schema.to_owned(),
                types: routine.types().map(str::to_owned).collect(),
                name: routine.name,
            });
        }
        all
    }

    /// Functions of a name whose body is SQL: those of a schema, or those of the path that no
    /// other hides.
    fn routines<'n>(&'n self, schema: Option<&'n str>, name: &'n str) -> Vec<&'n Numbered> {
        let schemas: Vec<&str> = match schema {
            Some(schema) => vec![meant_schema(schema)],
            None => self.path.iter().map(String::as_str).collect(),
        };
        let mut found: Vec<&Numbered> = Vec::new();
        for schema in schemas {
            let all = self.routines.iter();
            for one in all.filter(|one| one.schema == schema && one.name == name) {
                if found.iter().all(|known| known.types != one.types) {
                    found.push(one);
                }
            }
        }
        found
    }

    /// A function's name, with its schema where it is not found without.
    fn shown_routine(&self, one: &Numbered, found: bool) -> String {
        match found {
            true => quoted(&one.name),
            false => format!(
                "{}.{}",
                quoted(shown_schema(&one.schema)),
                quoted(&one.name)
            ),
        }
    }

    /// Whether a function is found by its name and its parameters alone; `None` if there is none
    /// of the number.
    pub(super) fn is_visible_routine(&self, number: i64) -> Option<bool> {
        if procedures::by_number(number).is_some() {
            return Some(true);
        }
        let one = self.routines.iter().find(|one| one.number == number)?;
        let found = self.routines(None, &one.name);
        Some(found.iter().any(|known| known.number == number))
    }

    /// The schemas of a relation or a type whose name has the schema, or none, in the order in
    /// which it is looked up.
    fn places<'n>(&'n self, schema: Option<&'n str>) -> Vec<&'n str> {
        let own = self.own.as_deref();
        match schema {
            Some(PG_TEMP) => own.into_iter().collect(),
            Some(schema) => vec![meant_schema(schema)],
            None => {
                let listed = self.path.iter().any(|name| name == PG_CATALOG);
                let system = (!listed).then_some(PG_CATALOG);
                let path = self.path.iter().map(String::as_str);
                own.into_iter().chain(system).chain(path).collect()
            }
        }
    }

    /// The number of a created type or of that of a table's rows.
    fn own_type(&self, schema: Option<&str>, name: &str) -> Option<i64> {
        let mut places = self.places(schema).into_iter();
        places.find_map(|schema| {
            let full = (schema.to_owned(), name.to_owned());
            self.type_numbers.get(&full).copied()
        })
    }

    fn add(&mut self, number: i64, schema: &str, name: &str) {
        let full = (schema.to_owned(), name.to_owned());
        self.classes.insert(number, full.clone());
        self.class_numbers.insert(full, number);
    }

    /// The name of a role.
    pub(super) fn role(&self, number: i64) -> Option<&str> {
        self.roles.get(&number).map(String::as_str)
    }

    /// Whether a relation is found by its name alone; `None` if there is none of the number.
    pub(super) fn is_visible(&self, number: i64) -> Option<bool> {
        let (_, name) = self.classes.get(&number)?;
        Some(self.class(None, name) == Some(number))
    }

    /// Schema and name of a created type, or of that of its arrays.
    pub(crate) fn named_type(&self, number: i64) -> Option<(&str, String)> {
        let mut all = self.type_numbers.iter();
        let (full, known) = all.find(|(_, known)| (0..=1).contains(&(number - **known)))?;
        let array = if *known == number { "" } else { "_" };
        Some((shown_schema(&full.0), format!("{array}{}", full.1)))
    }

    /// Whether a type is found by its name alone; `None` if there is none of the number.
    pub(super) fn is_visible_type(&self, number: i64) -> Option<bool> {
        let mut all = self.type_numbers.iter();
        let own = all.find(|(_, known)| (0..=1).contains(&(number - **known)));
        match own {
            Some(((_, name), known)) => Some(self.own_type(None, name) == Some(*known)),
            None if formatted(number, None) != "???" => Some(number > 0),
            None => system::row_type_numbered(number).map(|(schema, ..)| schema == PG_CATALOG),
        }
    }

    /// The name of a type with its length or digits, as `format_type` gives it.
    pub(super) fn type_name(&self, number: i64, modifier: Option<i64>) -> String {
        match self.types.get(&number) {
            Some(name) => name.clone(),
            None => match formatted(number, modifier) {
                unknown if unknown == "???" => shown_row_type(number).unwrap_or(unknown),
                known => known,
            },
        }
    }

    /// The number of a type by its name.
    pub(crate) fn type_number(&self, text: &str) -> Option<i64> {
        if let Some(known) = type_named(text) {
            return Some(known);
        }
        let (element, is_array) = match text.trim().strip_suffix("[]") {
            Some(element) => (element, true),
            None => (text.trim(), false),
        };
        let (schema, name) = split(element);
        let of = |name: &str| self.own_type(schema.as_deref(), name);
        // The catalog's own relations come before others of their names.
        let system = match schema.as_deref() {
            None => system::row_type_named(PG_CATALOG, &name),
            Some(schema) => system::row_type_named(schema, &name),
        };
        if let Some((row, array)) = system {
            return Some(if is_array { array } else { row });
        }
        let number = of(&name);
        let array = || name.strip_prefix('_').and_then(of).map(|number| number + 1);
        number
            .map(|number| number + i64::from(is_array))
            .or_else(array)
    }

    /// The number of a relation.
    pub(super) fn class(&self, schema: Option<&str>, name: &str) -> Option<i64> {
        let mut places = self.places(schema).into_iter();
        places.find_map(|schema| {
            let full = (schema.to_owned(), name.to_owned());
            self.class_numbers.get(&full).copied()
        })
    }
}

/// Collations and their numbers.
const COLLATIONS: [(&str, i64); 4] = [
    ("default", 100),
    ("C", 950),
    ("POSIX", 951),
    ("ucs_basic", 12_340),
];

/// Whether a schema that a name may have is that of the functions of the language.
fn in_catalog(schema: Option<&str>) -> bool {
    schema.is_none_or(|schema| schema == PG_CATALOG)
}

/// The parts of a name in a text, such as `s.t`.
fn split(text: &str) -> (Option<String>, String) {
    match named(text) {
        Ok(name) => {
            let schema = (text.contains('.')).then(|| name.schema.clone());
            (schema, name.name)
        }
        Err(_) => (None, text.to_owned()),
    }
}

/// The name of the type of the rows of a relation of the catalog, or of their arrays.
fn shown_row_type(number: i64) -> Option<String> {
    let (schema, name, is_array) = system::row_type_numbered(number)?;
    let array = if is_array { "[]" } else { "" };
    Some(match schema {
        PG_CATALOG => format!("{name}{array}"),
        schema => format!("{schema}.{name}{array}"),
    })
}

/// The type of a text.
fn type_named(text: &str) -> Option<i64> {
    if let Some(number) = number_of_name(text.trim_start_matches("pg_catalog.").trim()) {
        return Some(number);
    }
    let expr = freestone_frontend::syntax::expression(&format!("CAST(NULL AS {text})")).ok()?;
    let sqlparser::ast::Expr::Cast { data_type, .. } = expr else {
        return None;
    };
    let ty = written_type(&data_type, &Nothing).ok()?;
    Some(of_type(&ty).0)
}

impl Objects for Numbers {
    fn number(&self, kind: Reg, text: &str) -> FrontResult<i64> {
        let found = match kind {
            Reg::Class => {
                let (schema, name) = split(text);
                self.class(schema.as_deref(), &name)
            }
            Reg::Type => self.type_number(text),
            Reg::Namespace => {
                let (_, name) = split(text);
                let mut all = self.schemas.iter();
                let name = shown_schema(&name);
                all.find(|(_, known)| *known == name)
                    .map(|(number, _)| *number)
            }
            Reg::Role => {
                let (_, name) = split(text);
                let mut all = self.roles.iter();
                all.find(|(_, known)| **known == name)
                    .map(|(number, _)| *number)
            }
            Reg::Collation => {
                let (schema, name) = split(text);
                let mut all = COLLATIONS.iter();
                let found = all.find(|(known, _)| *known == name && in_catalog(schema.as_deref()));
                found.map(|(_, number)| *number)
            }
            Reg::Proc => {
                let (schema, name) = split(text);
                let known = in_catalog(schema.as_deref()).then(|| procedures::named(&name));
                let own = self.routines(schema.as_deref(), &name).into_iter();
                let known = known.into_iter().flatten().map(|one| one.number);
                let mut all = known.chain(own.map(|one| one.number));
                let first = all.next();
                if first.is_some() && all.next().is_some() {
                    let message = format!("more than one function named \"{text}\"");
                    return Err(freestone_frontend::Error::new("42725", message));
                }
                first
            }
            Reg::Procedure => {
                let (name, parameters) = text.split_once('(').unwrap_or((text, ""));
                let (schema, name) = split(name.trim());
                let parameters = parameters.trim().trim_end_matches(')').trim();
                let wanted: Vec<Option<i64>> = match parameters {
                    "" => Vec::new(),
                    some => some
                        .split(',')
                        .map(|ty| self.type_number(ty.trim()))
                        .collect(),
                };
                let known = in_catalog(schema.as_deref()).then(|| procedures::named(&name));
                let mut all = known.into_iter().flatten();
                let found = all.find(|one| {
                    let numbers = one.numbers();
                    numbers.len() == wanted.len()
                        && numbers.iter().zip(&wanted).all(|(a, b)| Some(*a) == *b)
                });
                let mut own = self.routines(schema.as_deref(), &name).into_iter();
                let takes =
                    |one: &&Numbered| {
                        one.types.len() == wanted.len()
                            && one.types.iter().zip(&wanted).all(|(ty, number)| {
                                number.is_some() && self.type_number(ty) == *number
                            })
                    };
                let found = found.map(|one| one.number);
                found.or_else(|| own.find(takes).map(|one| one.number))
            }
        };
        match found {
            Some(number) => Ok(number),
            None => NoObjects.number(kind, text),
        }
    }

    fn name(&self, kind: Reg, number: i64) -> Option<String> {
        match kind {
            Reg::Class => {
                let (schema, name) = self.classes.get(&number)?;
                Some(match self.is_visible(number) {
                    Some(true) => quoted(name),
                    _ => format!("{}.{}", quoted(shown_schema(schema)), quoted(name)),
                })
            }
            Reg::Type => match self.type_name(number, None).as_str() {
                "???" => None,
                name => Some(name.to_owned()),
            },
            Reg::Namespace => self.schemas.get(&number).map(|name| quoted(name)),
            Reg::Role => self.roles.get(&number).map(|name| quoted(name)),
            Reg::Collation => {
                let (name, _) = COLLATIONS.iter().find(|(_, known)| *known == number)?;
                // This word is one of the grammar.
                Some(match *name {
                    "default" => "\"default\"".to_owned(),
                    name => quoted(name),
                })
            }
            Reg::Proc => {
                if let Some(one) = procedures::by_number(number) {
                    return Some(one.name.clone());
                }
                let one = self.routines.iter().find(|one| one.number == number)?;
                let alone = procedures::named(&one.name).next().is_none();
                let found = matches!(self.routines(None, &one.name).as_slice(),
                    [only] if only.number == number);
                Some(self.shown_routine(one, alone && found))
            }
            Reg::Procedure => {
                if let Some(one) = procedures::by_number(number) {
                    return Some(format!("{}({})", one.name, one.types()));
                }
                let one = self.routines.iter().find(|one| one.number == number)?;
                let found = self.is_visible_routine(number) == Some(true);
                let name = self.shown_routine(one, found);
                Some(format!("{name}({})", one.types.join(",")))
            }
        }
    }
}
