//! CREATE AGGREGATE.

use freestone_frontend::bind::{Binder, FunctionName};
use freestone_storage::Catalog;
use sqlparser::ast::{CreateFunction, DataType};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::Run;
use crate::error::{Error, Result, parser as syntax_error};
use crate::front::{Names, full_name_of_type, session_of};
use crate::names::{DEFAULT_SCHEMA, Name, fold, fold_part, meant_schema, quoted};
use crate::relations::Relations;
use crate::routine::{ANY, Aggregation, Declaration, Parameter, Routine, of_name};

fn invalid(message: &str) -> Error {
    Error::new("42P13", message)
}

impl Run<'_> {
    /// The aggregate that a statement makes.
    ///
    /// # Errors
    /// `42P13` for a definition that lacks something, `42601` for options that there are not,
    /// `0A000` for those that are not supported; those of the functions that it names.
    pub(super) fn aggregate_of(
        &self,
        create: &CreateFunction,
        name: &Name,
        definition: &Declaration,
    ) -> Result<Routine> {
        if let Some(form) = &definition.refused {
            let message = format!("an aggregate with {form} is not supported");
            return Err(Error::unsupported(message));
        }
        let (mut step, mut state, mut base) = (None, None, None);
        let (mut finish, mut combine) = (None, None);
        let (mut initial, mut extra, mut space) = (None, false, 0);
        let (mut modify, mut parallel) = ("r", None);
        for (option, value) in &definition.options {
            let is_true = || !matches!(value.to_lowercase().as_str(), "false" | "off" | "0");
            match option.as_str() {
                "sfunc" | "sfunc1" => step = Some(self.function_named(value)?),
                "stype" | "stype1" => state = Some(self.type_of_state(value)?),
                "initcond" | "initcond1" => initial = Some(value.clone()),
                "finalfunc" => finish = Some(self.function_named(value)?),
                "finalfunc_extra" => extra = is_true(),
                "combinefunc" => combine = Some(self.function_named(value)?),
                "basetype" => base = Some(value.as_str()),
                "sspace" | "sspace1" => {
                    let number = value.parse();
                    space = number.map_err(|_| {
                        Error::new("42601", format!("{option} requires an integer value"))
                    })?;
                }
                "finalfunc_modify" => {
                    modify = match value.to_lowercase().as_str() {
                        "read_only" => "r",
                        "shareable" => "s",
                        "read_write" => "w",
                        _ => {
                            let message = "parameter \"finalfunc_modify\" must be READ_ONLY, \
                                           SHAREABLE, or READ_WRITE";
                            return Err(Error::new("42601", message));
                        }
                    }
                }
                "parallel" => {
                    parallel = Some(match value.to_lowercase().as_str() {
                        "safe" => "s".to_owned(),
                        "restricted" => "r".to_owned(),
                        "unsafe" => "u".to_owned(),
                        _ => {
                            let message =
                                "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE";
                            return Err(Error::new("42601", message));
                        }
                    });
                }
                "sortop" | "serialfunc" | "deserialfunc" | "hypothetical" | "msfunc"
                | "minvfunc" | "mstype" | "msspace" | "mfinalfunc" | "mfinalfunc_extra"
                | "mfinalfunc_modify" | "minitcond" => {
                    let option = option.to_uppercase();
                    let message = format!("an aggregate with {option} is not supported");
                    return Err(Error::unsupported(message));
                }
                other => {
                    let message = format!("aggregate attribute \"{other}\" not recognized");
                    return Err(Error::new("42601", message));
                }
            }
        }
        let state = state.ok_or_else(|| invalid("aggregate stype must be specified"))?;
        let step = step.ok_or_else(|| invalid("aggregate sfunc must be specified"))?;
        let mut parameters = Vec::new();
        match (definition.is_old, base) {
            (true, None) => return Err(invalid("aggregate input type must be specified")),
            (false, Some(_)) => {
                let message = "basetype is redundant with aggregate input type specification";
                return Err(invalid(message));
            }
            (true, Some(ty)) if ty.eq_ignore_ascii_case("any") || ty == ANY => {}
            (true, Some(ty)) => parameters.push(Parameter {
                name: None,
                ty: Some(self.type_of_state(ty)?),
                default: None,
                variadic: false,
            }),
            (false, None) => {
                for arg in create.args.iter().flatten() {
                    parameters.push(Parameter {
                        name: arg.name.as_ref().map(fold),
                        ty: Some(self.type_of_argument(&arg.data_type)?),
                        default: None,
                        variadic: false,
                    });
                }
            }
        }
        let mut routine = Routine {
            name: name.name.clone(),
            parameters,
            body: "aggregate_dummy".to_owned(),
            is_query: true,
            volatility: "i".to_owned(),
            language: "internal".to_owned(),
            parallel,
            aggregation: Some(Aggregation {
                step,
                state,
                initial,
                finish,
                extra,
                combine,
                space,
                modify: modify.to_owned(),
            }),
            ..Routine::default()
        };
        let relations = Relations::new(self.state(), self.snapshot.clone());
        let names = Names::new(&relations);
        let Some(aggregate) = routine.aggregate(&name.schema, &names)? else {
            return Err(Error::internal("an aggregate that is none"));
        };
        let session = session_of(&relations);
        let returns = Binder::new(&names, &session).check_aggregate(&aggregate)?;
        routine.returns = Some(full_name_of_type(&self.snapshot, &returns.base()));
        Ok(routine)
    }

    /// The type of an argument of an aggregate as it is kept.
    ///
    /// # Errors
    /// `42704`.
    pub(super) fn type_of_argument(&self, written: &DataType) -> Result<String> {
        match written.to_string().as_str() {
            ANY => Ok(ANY.to_owned()),
            _ => self.type_text(written),
        }
    }

    fn type_of_state(&self, text: &str) -> Result<String> {
        if text.eq_ignore_ascii_case("internal") {
            let message = "aggregates whose states are of the type internal are not supported";
            return Err(Error::unsupported(message));
        }
        let written = Parser::new(&PostgreSqlDialect {})
            .try_with_sql(text)
            .and_then(|mut parser| parser.parse_data_type())
            .map_err(|error| syntax_error(&error))?;
        self.type_of_argument(&written)
    }

    /// A function by the name that a definition has, which may be followed by types: the first one
    /// of the search path, else one of the language.
    fn function_named(&self, text: &str) -> Result<FunctionName> {
        let name = Parser::new(&PostgreSqlDialect {})
            .try_with_sql(text)
            .and_then(|mut parser| parser.parse_object_name(false))
            .map_err(|error| syntax_error(&error))?;
        let mut path: Vec<String> = name.0.iter().filter_map(fold_part).collect();
        let last = path.pop().unwrap_or_default();
        match path.pop() {
            Some(schema) if schema == "pg_catalog" => return Ok((None, last)),
            Some(schema) => return Ok((Some(meant_schema(&schema).to_owned()), last)),
            None => {}
        }
        let relations = Relations::new(self.state(), self.snapshot.clone());
        let schemas = match relations.path() {
            Some(path) => path.to_vec(),
            None => vec![DEFAULT_SCHEMA.to_owned()],
        };
        for schema in schemas {
            let all = of_name(&self.snapshot, &schema, &last)?;
            if all.iter().any(|one| one.aggregation.is_none()) {
                return Ok((Some(schema), last));
            }
        }
        Ok((None, last))
    }
}

/// Aggregates that call a function of a schema and a name, with their schemas.
///
/// # Errors
/// `XX001` for a function that cannot be read.
pub(super) fn aggregates_with(
    catalog: &Catalog,
    schema: &str,
    name: &str,
) -> Result<Vec<(String, Routine)>> {
    let mut found = Vec::new();
    for of in catalog.schemas() {
        for (_, text) in catalog.functions(of) {
            let routine = Routine::read(text)?;
            if routine.calls(schema, name) {
                found.push((of.to_owned(), routine));
            }
        }
    }
    Ok(found)
}

/// How an aggregate is told that depends on a function.
pub(super) fn shown(schema: &str, routine: &Routine) -> String {
    match schema == DEFAULT_SCHEMA {
        true => format!("function {}", routine.signature()),
        false => format!("function {}.{}", quoted(schema), routine.signature()),
    }
}
