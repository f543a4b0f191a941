//! CREATE FUNCTION and CREATE MACRO, ALTER FUNCTION, DROP FUNCTION.

use freestone_frontend::bind::{Binder, Catalog as _, SqlFunction, SqlReturns};
use freestone_frontend::types::Type;
use freestone_storage::{Catalog, Privileges};
use sqlparser::ast::{
    ArgMode, ArrayElemTypeDef, CreateFunction, CreateFunctionBody, DataType, DropBehavior,
    DropFunction, Expr, FunctionBehavior, FunctionCalledOnNull, FunctionDefinitionSetParam,
    FunctionParallel, FunctionReturnType, FunctionSecurity, FunctionSetValue, OperateFunctionArg,
    Value,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::Run;
use super::aggregate::{aggregates_with, shown as in_words};
use super::create::unknown_schema;
use super::dependents::{Dependent, cascades, depended_on, drop_all, may_go};
use crate::error::{Error, Result, parser as syntax_error};
use crate::front::{self, Names, full_name_of_type, session_of, shown_type};
use crate::grammar::define::{FunctionChange, FunctionOption};
use crate::grammar::printed;
use crate::names::{Name, fold, meant_schema, quoted, shown_schema, table_name};
use crate::outcome::Outcome;
use crate::relations::{Relations, Without};
use crate::routine::{
    ATOMIC, COST, Declaration, LEAKPROOF, MACRO, Parameter, ROWS, Routine, WINDOW,
    is_dropped_aggregate, of_name, type_of,
};
use crate::session::Notice;
use crate::statement::parse_one;

impl Run<'_> {
    /// CREATE FUNCTION.
    pub(super) fn create_function(&self, create: &CreateFunction) -> Result<Outcome> {
        let name = table_name(&create.name)?;
        let routine = match Declaration::of(create)? {
            Some(declared) => self.aggregate_of(create, &name, &declared)?,
            None => self.routine_of(create, &name)?,
        };
        let is_aggregate = routine.aggregation.is_some();
        let relations = Relations::new(self.state(), self.snapshot.clone());
        let names = Names::new(&relations);
        if !is_aggregate {
            check_polymorphic(&routine.function(&names)?)?;
        }
        // A macro's body is looked at where it is called, and so is one that a dump gives before its
        // tables.
        let client = self.session.client();
        let checks =
            routine.atomic || client.get("check_function_bodies").as_deref() != Some("off");
        if routine.language != MACRO && !is_aggregate && checks {
            let function = routine.function(&names)?;
            let session = session_of(&relations);
            Binder::new(&names, &session).check_function(&function)?;
        }
        let signature = routine.signature();
        let text = serde_json::to_string(&routine);
        let text = text.map_err(|error| Error::internal(error.to_string()))?;
        self.edit(|edit| {
            if !edit.catalog().schemas().any(|known| known == name.schema) {
                return Err(unknown_schema(edit.catalog(), &name.schema));
            }
            let all = of_name(edit.catalog(), &name.schema, &name.name)?;
            let mixed = all
                .iter()
                .any(|one| one.aggregation.is_some() != is_aggregate);
            if mixed && !all.iter().any(|one| one.signature() == signature) {
                let message = "a function and an aggregate of one name are not supported";
                return Err(Error::unsupported(message));
            }
            let is_macro = |one: &Routine| one.language == MACRO;
            // A macro is the only one of its name.
            let other = all.iter().find(|one| {
                one.signature() == signature || is_macro(one) || routine.language == MACRO
            });
            if let Some(other) = other {
                if create.if_not_exists {
                    return Ok(());
                }
                if !create.or_replace {
                    let message = format!(
                        "function \"{}\" already exists with same argument types",
                        name.name
                    );
                    return Err(Error::new("42723", message).at(name.position));
                }
                if other.aggregation.is_some() != is_aggregate {
                    return Err(Error::new("42809", "cannot change routine kind"));
                }
                let same = other.returns == routine.returns && other.rows == routine.rows;
                if !same && routine.language != MACRO {
                    let message = "cannot change return type of existing function";
                    let hint = format!("Use DROP FUNCTION {} first.", other.signature());
                    return Err(Error::new("42P13", message).with_hint(hint));
                }
                edit.drop_function(&name.schema, &other.signature())?;
            }
            Ok(edit.set_function(&name.schema, &signature, &text)?)
        })?;
        Ok(Outcome::done(match routine.language.as_str() {
            MACRO => "CREATE MACRO",
            _ if is_aggregate => "CREATE AGGREGATE",
            _ => "CREATE FUNCTION",
        }))
    }

    /// ALTER FUNCTION.
    pub(super) fn alter_function(
        &self,
        name: &Name,
        (parameters, is_aggregate): (Option<&[String]>, bool),
        change: &FunctionChange,
    ) -> Result<Outcome> {
        let types = parameters.map(|all| {
            let types = all.iter().map(|ty| {
                let ty = Parser::new(&PostgreSqlDialect {})
                    .try_with_sql(ty)
                    .and_then(|mut parser| parser.parse_data_type())
                    .map_err(|error| syntax_error(&error))?;
                self.type_of_argument(&ty)
            });
            types.collect::<Result<Vec<String>>>()
        });
        let types = types.transpose()?;
        self.edit(|edit| {
            let before = match is_aggregate {
                true => Kind::Aggregate.found(edit.catalog(), name, types.as_deref())?,
                false => found(edit.catalog(), name, types.as_deref())?,
            };
            let is_moved = matches!(change, FunctionChange::Rename(_) | FunctionChange::Move(_));
            if is_moved && !aggregates_with(edit.catalog(), &name.schema, &name.name)?.is_empty() {
                let message = "renaming a function that an aggregate calls is not supported";
                return Err(Error::unsupported(message));
            }
            if before.aggregation.is_some() && matches!(change, FunctionChange::Options(_)) {
                let shown = before.signature();
                let message = format!("function {shown} is an aggregate function");
                return Err(Error::new("42809", message));
            }
            // Functions have no owners: who may make them in a schema may change them.
            let rights = self.rights(edit.catalog());
            rights.schema(&name.schema, Privileges::CREATE)?;
            let mut after = before.clone();
            let mut schema = name.schema.as_str();
            match change {
                FunctionChange::Refused(clause) => {
                    let kind = Kind::of(is_aggregate).word().to_uppercase();
                    let message = format!("ALTER {kind} with {clause} is not supported");
                    return Err(Error::unsupported(message));
                }
                FunctionChange::Rename(to) => after.name.clone_from(to),
                FunctionChange::Move(to) => {
                    schema = meant_schema(to);
                    if !edit.catalog().has_schema(schema) {
                        return Err(unknown_schema(edit.catalog(), schema));
                    }
                    rights.schema(schema, Privileges::CREATE)?;
                }
                FunctionChange::Options(options) => {
                    let hints = hints_of(options)?;
                    hints.check(before.is_set())?;
                    if hints.leakproof {
                        self.may_be_leakproof(edit.catalog())?;
                    }
                    for option in options {
                        match option {
                            FunctionOption::Leakproof(to) => after.leakproof = *to,
                            FunctionOption::Parallel(to) => after.parallel = Some(to.clone()),
                            FunctionOption::Cost(_) => after.cost = hints.cost,
                            FunctionOption::Rows(_) => after.estimate = hints.rows,
                            // Every function runs with the rights of its caller.
                            FunctionOption::Invoker => {}
                            FunctionOption::Volatility(to) => after.volatility.clone_from(to),
                            FunctionOption::Strict(to) => after.strict = *to,
                        }
                    }
                }
            }
            let signature = after.signature();
            let moves = (schema, signature.as_str()) != (&name.schema, &before.signature());
            let mut others = of_name(edit.catalog(), schema, &after.name)?.into_iter();
            if moves && others.any(|one| one.signature() == signature) {
                let schema = shown_schema(schema);
                let message = format!("function {signature} already exists in schema \"{schema}\"");
                return Err(Error::new("42723", message));
            }
            let text = serde_json::to_string(&after);
            let text = text.map_err(|error| Error::internal(error.to_string()))?;
            edit.drop_function(&name.schema, &before.signature())?;
            Ok(edit.set_function(schema, &signature, &text)?)
        })?;
        Ok(Outcome::done(match is_aggregate {
            true => "ALTER AGGREGATE",
            false => "ALTER FUNCTION",
        }))
    }

    /// DROP FUNCTION.
    pub(super) fn drop_functions(&self, drop: &DropFunction) -> Result<Outcome> {
        let DropFunction {
            if_exists,
            func_desc,
            drop_behavior,
        } = drop;
        let cascade = matches!(drop_behavior, Some(DropBehavior::Cascade));
        let mut gone = Vec::with_capacity(func_desc.len());
        for one in func_desc {
            let types = one.args.as_ref().map(|args| {
                let given = args.iter().filter(|arg| is_given(arg));
                let types = given.map(|arg| self.type_of_argument(&arg.data_type));
                types.collect::<Result<Vec<String>>>()
            });
            let kind = Kind::of(is_dropped_aggregate(one));
            gone.push((table_name(&one.name)?, types.transpose()?, kind));
        }
        let is_aggregate = gone.iter().any(|(.., kind)| *kind == Kind::Aggregate);
        let mut dependents: Vec<Dependent> = Vec::new();
        let mut shown: Vec<String> = Vec::new();
        for at in 0..gone.len() {
            let (name, types, kind) = gone[at].clone();
            let run = self.within()?;
            let Ok(routine) = kind.found(&run.snapshot, &name, types.as_deref()) else {
                continue;
            };
            let of = format!("function {}", Name::new(&name.schema, &routine.signature()));
            // Aggregates that call it go with it.
            let users = aggregates_with(&run.snapshot, &name.schema, &name.name)?;
            let texts: Vec<String> = users.iter().map(|(of, one)| in_words(of, one)).collect();
            if !cascade && !users.is_empty() {
                return Err(depended_on(&of, texts.iter().map(String::as_str)));
            }
            shown.extend(texts);
            let users = users.into_iter().map(|(schema, one)| {
                let types: Vec<String> = one.types().map(str::to_owned).collect();
                (Name::new(&schema, &one.name), Some(types), Kind::Aggregate)
            });
            let users: Vec<_> = users.filter(|one| !gone.contains(one)).collect();
            let mut all = vec![(name, routine.signature(), of)];
            for (name, types, kind) in &users {
                let one = kind.found(&run.snapshot, name, types.as_deref())?;
                let of = in_words(&name.schema, &one);
                all.push((name.clone(), one.signature(), of));
            }
            gone.extend(users);
            for (name, signature, of) in all {
                let without = Without::Function(name.schema.clone(), signature);
                let found = run.dependents(&without, &name.name);
                may_go(&found, &of, cascade)?;
                dependents.extend(found);
            }
        }
        shown.extend(dependents.iter().map(|one| one.shown.clone()));
        self.edit(|edit| {
            drop_all(edit, &dependents)?;
            for (name, types, kind) in &gone {
                match kind.found(edit.catalog(), name, types.as_deref()) {
                    Ok(routine) => edit.drop_function(&name.schema, &routine.signature())?,
                    Err(error) if *if_exists && error.sqlstate == "42883" => {
                        let types = types.as_deref().unwrap_or_default().join(", ");
                        let kind = kind.word();
                        let text = format!("{kind} {name}({types}) does not exist");
                        self.session.notify(Notice::skipped("00000", text));
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })?;
        if let Some(notice) = cascades(&shown) {
            self.session.notify(notice);
        }
        Ok(Outcome::done(match is_aggregate {
            true => "DROP AGGREGATE",
            false => "DROP FUNCTION",
        }))
    }
}

/// Functions, or aggregates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Function,
    Aggregate,
}

impl Kind {
    fn of(is_aggregate: bool) -> Self {
        match is_aggregate {
            true => Self::Aggregate,
            false => Self::Function,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Aggregate => "aggregate",
        }
    }

    /// The one of a name and of parameters of some types.
    ///
    /// # Errors
    /// Those of [`found`]; `42809` for one of the other kind.
    fn found(self, catalog: &Catalog, name: &Name, types: Option<&[String]>) -> Result<Routine> {
        let found = found(catalog, name, types).map_err(|mut error| {
            let none = types.is_some_and(|types| types.is_empty() && self == Self::Aggregate);
            if let Some(rest) = error.message.strip_prefix("function ") {
                let rest = if none {
                    rest.replace("()", "(*)")
                } else {
                    rest.to_owned()
                };
                error.message = format!("{} {rest}", self.word());
            }
            error
        })?;
        let other = match (self, found.aggregation.is_some()) {
            (Self::Function, false) | (Self::Aggregate, true) => return Ok(found),
            (Self::Function, true) => format!("\"{}\" is an aggregate function", found.name),
            (Self::Aggregate, false) => {
                format!("function {} is not an aggregate", found.signature())
            }
        };
        let error = Error::new("42809", other);
        Err(match self {
            Self::Function => error.with_hint("Use DROP AGGREGATE to drop aggregate functions."),
            Self::Aggregate => error,
        })
    }
}

/// The hints of a statement, which only planners need.
#[derive(Default)]
struct Hints {
    leakproof: bool,
    cost: Option<f32>,
    rows: Option<f32>,
}

impl Hints {
    /// Those among the settings of a statement, where [`crate::routine::adapt`] has put them.
    ///
    /// # Errors
    /// `0A000` for settings, `42601` for one thing said twice.
    fn of(set: &[FunctionDefinitionSetParam]) -> Result<Self> {
        let mut hints = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for FunctionDefinitionSetParam { name, value } in set {
            let name = match name.0.as_slice() {
                [only] => only.as_ident().map_or("", |ident| ident.value.as_str()),
                _ => "",
            };
            let value = match value {
                FunctionSetValue::Values(values) => values.first().map(ToString::to_string),
                _ => None,
            };
            let value = value.unwrap_or_default();
            let number = || value.parse().ok();
            match name {
                LEAKPROOF => hints.leakproof = value == "true",
                COST => hints.cost = number(),
                ROWS => hints.rows = number(),
                other => {
                    let clause = if other == WINDOW { "WINDOW" } else { "SET" };
                    let message = format!("CREATE FUNCTION with {clause} is not supported");
                    return Err(Error::unsupported(message));
                }
            }
            if seen.contains(&name) {
                return Err(redundant());
            }
            seen.push(name);
        }
        Ok(hints)
    }

    /// # Errors
    /// `22023` for numbers that say nothing.
    fn check(&self, is_set: bool) -> Result<()> {
        let wrong = |number: Option<f32>| number.is_some_and(|number| number <= 0.0);
        let message = match self.rows {
            _ if wrong(self.cost) => "COST must be positive",
            _ if wrong(self.rows) => "ROWS must be positive",
            Some(_) if !is_set => "ROWS is not applicable when function does not return a set",
            _ => return Ok(()),
        };
        Err(Error::new("22023", message))
    }
}

fn redundant() -> Error {
    Error::new("42601", "conflicting or redundant options")
}

/// The same of ALTER FUNCTION.
///
/// # Errors
/// `42601` for one thing said twice.
fn hints_of(options: &[FunctionOption]) -> Result<Hints> {
    let mut hints = Hints::default();
    let mut seen = Vec::with_capacity(options.len());
    for option in options {
        match option {
            FunctionOption::Leakproof(to) => hints.leakproof = *to,
            FunctionOption::Cost(to) => hints.cost = to.parse().ok(),
            FunctionOption::Rows(to) => hints.rows = to.parse().ok(),
            _ => {}
        }
        let kind = std::mem::discriminant(option);
        if seen.contains(&kind) {
            return Err(redundant());
        }
        seen.push(kind);
    }
    Ok(hints)
}

/// The function of a name and of parameters of some types; without types the only one of the
/// name.
///
/// # Errors
/// `42883` if there is none, `42725` if there are several.
fn found(catalog: &Catalog, name: &Name, types: Option<&[String]>) -> Result<Routine> {
    let mut all = of_name(catalog, &name.schema, &name.name)?.into_iter();
    let (found, missing) = match types {
        Some(types) => {
            let wanted = format!("{}({})", name.name, types.join(", "));
            let found = all.find(|one| one.signature() == wanted);
            let shown = format!("{}({})", name.name, types.join(","));
            (found, format!("function {shown} does not exist"))
        }
        None => {
            let first = all.next();
            if all.next().is_some() {
                let message = format!("function name \"{name}\" is not unique");
                return Err(Error::new("42725", message)
                    .at(name.position)
                    .with_hint("Specify the argument list to select the function unambiguously."));
            }
            (first, format!("could not find a function named \"{name}\""))
        }
    };
    found.ok_or_else(|| Error::new("42883", missing).at(name.position))
}

fn is_given(arg: &OperateFunctionArg) -> bool {
    !matches!(arg.mode, Some(ArgMode::Out))
}

impl Run<'_> {
    /// What a statement makes.
    fn routine_of(&self, create: &CreateFunction, name: &Name) -> Result<Routine> {
        let CreateFunction {
            or_alter,
            or_replace: _,
            temporary,
            if_not_exists: _,
            name: _,
            args,
            return_type,
            function_body,
            behavior,
            called_on_null,
            parallel,
            security,
            set_params,
            using,
            language,
            determinism_specifier,
            options,
            remote_connection,
        } = create;
        let refused = [
            (*or_alter, "OR ALTER"),
            (*temporary, "TEMPORARY"),
            (
                matches!(security, Some(FunctionSecurity::Definer)),
                "SECURITY DEFINER",
            ),
            (using.is_some(), "USING"),
            (determinism_specifier.is_some(), "DETERMINISTIC"),
            (options.is_some(), "OPTIONS"),
            (remote_connection.is_some(), "REMOTE"),
        ];
        if let Some((_, clause)) = refused.iter().find(|(present, _)| *present) {
            let message = format!("CREATE FUNCTION with {clause} is not supported");
            return Err(Error::unsupported(message));
        }
        let (body, is_query) = body_of(function_body.as_ref())?;
        let hints = Hints::of(set_params)?;
        let language = match language {
            Some(language) => fold(language).to_lowercase(),
            None if is_atomic(function_body.as_ref()) => "sql".to_owned(),
            None => return Err(Error::new("42P13", "no language specified")),
        };
        if language != "sql" && language != MACRO {
            let message = format!("functions in the language \"{language}\" are not supported");
            return Err(Error::unsupported(message)
                .with_hint("Functions are written in SQL: LANGUAGE sql."));
        }
        let (mut parameters, mut results) = (Vec::new(), Vec::new());
        let (mut modes, mut outputs) = (String::new(), Vec::new());
        for arg in args.iter().flatten() {
            let OperateFunctionArg {
                mode,
                name,
                data_type,
                default_expr,
            } = arg;
            let name = name.as_ref().map(fold);
            let ty = match data_type {
                DataType::Unspecified => None,
                written => Some(self.type_text(written)?),
            };
            modes.push(match mode {
                None | Some(ArgMode::In) => 'i',
                Some(ArgMode::Out) => 'o',
                Some(ArgMode::InOut) => 'b',
                Some(ArgMode::Variadic) => 'v',
            });
            match mode {
                Some(ArgMode::Out) => outputs.push((
                    name.clone().unwrap_or_default(),
                    ty.clone().unwrap_or_default(),
                )),
                _ => {
                    if parameters
                        .last()
                        .is_some_and(|last: &Parameter| last.variadic)
                    {
                        let message = "VARIADIC parameter must be the last input parameter";
                        return Err(Error::new("42P13", message));
                    }
                    let variadic = matches!(mode, Some(ArgMode::Variadic));
                    let is_array = ty.as_deref().is_some_and(|ty| {
                        ty.ends_with("[]") || ["anyarray", "anycompatiblearray"].contains(&ty)
                    });
                    if variadic && !is_array {
                        let message = "VARIADIC parameter must be an array";
                        return Err(Error::new("42P13", message));
                    }
                    let twice = |known: &Parameter| known.name.is_some() && known.name == name;
                    if parameters.iter().any(twice) {
                        let name = name.unwrap_or_default();
                        let message = format!("parameter name \"{name}\" used more than once");
                        return Err(Error::new("42P13", message));
                    }
                    let default = default_expr.as_ref().map(printed);
                    let before = parameters
                        .last()
                        .and_then(|last: &Parameter| last.default.as_ref());
                    if before.is_some() && default.is_none() && !variadic {
                        let message = "input parameters after one with a default value must also have defaults";
                        return Err(Error::new("42P13", message));
                    }
                    parameters.push(Parameter {
                        name: name.clone(),
                        ty: ty.clone(),
                        default,
                        variadic,
                    });
                }
            }
            if matches!(mode, Some(ArgMode::Out | ArgMode::InOut)) {
                results.push((name.unwrap_or_default(), ty.unwrap_or_default()));
            }
        }
        let Returned {
            returns,
            rows,
            single,
            records,
            is_table,
        } = self.returned_by(return_type.as_ref(), results, &language)?;
        let is_set = (rows.is_some() || records) && !single;
        let declared = match return_type {
            Some(FunctionReturnType::DataType(DataType::Table(_))) => {
                for column in rows.iter().flatten() {
                    modes.push('t');
                    outputs.push(column.clone());
                }
                None
            }
            Some(FunctionReturnType::DataType(ty) | FunctionReturnType::SetOf(ty))
                if rows.is_some() && outputs.is_empty() =>
            {
                self.row_type_text(ty)?
            }
            _ => None,
        };
        if !modes.contains(|mode| mode != 'i') {
            modes.clear();
        }
        hints.check(is_set)?;
        if hints.leakproof {
            self.may_be_leakproof(&self.snapshot)?;
        }
        if (rows.is_some() || records || is_table) && !is_query {
            return Err(Error::new(
                "42P13",
                "a function that returns rows needs a query as its body",
            ));
        }
        Ok(Routine {
            name: name.name.clone(),
            parameters,
            returns,
            rows,
            single,
            records,
            is_table,
            declared,
            modes,
            outputs,
            body,
            is_query,
            atomic: is_query && is_atomic(function_body.as_ref()),
            leakproof: hints.leakproof,
            parallel: parallel.as_ref().map(|parallel| {
                match parallel {
                    FunctionParallel::Safe => "s",
                    FunctionParallel::Restricted => "r",
                    FunctionParallel::Unsafe => "u",
                }
                .to_owned()
            }),
            aggregation: None,
            cost: hints.cost,
            estimate: hints.rows,
            strict: matches!(
                called_on_null,
                Some(FunctionCalledOnNull::Strict | FunctionCalledOnNull::ReturnsNullOnNullInput)
            ),
            volatility: match behavior {
                Some(FunctionBehavior::Immutable) => "i",
                Some(FunctionBehavior::Stable) => "s",
                Some(FunctionBehavior::Volatile) | None => "v",
            }
            .to_owned(),
            language,
        })
    }
}

/// Whether a body needs no language.
fn is_atomic(body: Option<&CreateFunctionBody>) -> bool {
    match body {
        Some(CreateFunctionBody::Return(_) | CreateFunctionBody::AsReturnExpr(_)) => true,
        Some(CreateFunctionBody::AsBeforeOptions {
            body: Expr::Value(value),
            ..
        }) => matches!(&value.value, Value::DollarQuotedString(text)
            if text.tag.as_deref() == Some(ATOMIC)),
        _ => false,
    }
}

/// The text of a body, and whether it is a query.
fn body_of(body: Option<&CreateFunctionBody>) -> Result<(String, bool)> {
    use CreateFunctionBody as Body;
    match body {
        None => Err(Error::new("42P13", "no function body specified")),
        Some(Body::Return(expr) | Body::AsReturnExpr(expr)) => Ok((printed(expr), false)),
        Some(Body::AsBeforeOptions {
            body: Expr::Value(value),
            link_symbol: None,
        }) => match &value.value {
            Value::SingleQuotedString(text) => Ok((text.clone(), true)),
            Value::DollarQuotedString(text) => Ok((text.value.clone(), true)),
            other => Err(Error::unsupported(format!("{other} as a function's body"))),
        },
        Some(_) => Err(Error::unsupported("this form of a function's body")),
    }
}

/// What a function gives: a value, rows, or, as a macro, anything.
#[derive(Default)]
struct Returned {
    returns: Option<String>,
    rows: Option<Vec<(String, String)>>,
    single: bool,
    records: bool,
    is_table: bool,
}

impl Run<'_> {
    /// Refuses that somebody but a superuser says a function tells nothing of its arguments.
    fn may_be_leakproof(&self, catalog: &Catalog) -> Result<()> {
        match self.rights(catalog).is_superuser() {
            true => Ok(()),
            false => {
                let message = "only superuser can define a leakproof function";
                Err(Error::new("42501", message))
            }
        }
    }

    /// A type whose rows a function gives as functions keep it; `None` if it is no type of rows.
    fn row_type_text(&self, written: &DataType) -> Result<Option<String>> {
        if let Ok(text) = self.type_text(written) {
            return Ok(Some(text));
        }
        let DataType::Custom(name, _) = written else {
            return Ok(None);
        };
        let full = table_name(name)?;
        let relations = Relations::new(self.state(), self.snapshot.clone());
        let schemas = match (name.0.len(), relations.path()) {
            (1, Some(path)) => path.to_vec(),
            _ => vec![full.schema.clone()],
        };
        let known = |schema: &&String| {
            self.snapshot.table(schema, &full.name).is_some()
                || self.snapshot.view(schema, &full.name).is_some()
        };
        let schema = schemas.iter().find(known);
        Ok(schema.map(|schema| shown_type(schema, &full.name)))
    }

    /// A written type as functions keep it.
    ///
    /// # Errors
    /// `42704`; `0A000` for domains, whose conditions a call does not check.
    /// Refuses a type that is not there.
    ///
    /// # Errors
    /// `42704`.
    pub(super) fn known_type(&self, written: &DataType) -> Result<()> {
        let relations = Relations::new(self.state(), self.snapshot.clone());
        type_of(written, &Names::new(&relations))?;
        Ok(())
    }

    pub(super) fn type_text(&self, written: &DataType) -> Result<String> {
        let relations = Relations::new(self.state(), self.snapshot.clone());
        let names = Names::new(&relations);
        let mut element = written;
        while let DataType::Array(
            ArrayElemTypeDef::SquareBracket(inner, _) | ArrayElemTypeDef::AngleBracket(inner),
        ) = element
        {
            element = inner;
        }
        if let DataType::Custom(name, modifiers) = element
            && modifiers.is_empty()
        {
            let full = table_name(name)?;
            let schema = (name.0.len() > 1).then_some(full.schema.as_str());
            if names.domain(schema, &full.name)?.is_some() {
                let message = "parameters and results of functions cannot be of a domain";
                return Err(Error::unsupported(message));
            }
        }
        let ty = type_of(written, &names)?;
        Ok(full_name_of_type(&self.snapshot, &ty.base()))
    }

    /// The fields of a composite type, or the columns of a table or view whose rows a type is;
    /// `None` for any other type.
    fn row_type(&self, ty: &DataType) -> Result<Option<Vec<(String, String)>>> {
        let DataType::Custom(name, modifiers) = ty else {
            return Ok(None);
        };
        let relations = Relations::new(self.state(), self.snapshot.clone());
        let known = type_of(ty, &Names::new(&relations));
        if let Ok(Type::Record(fields)) = &known {
            let text = |ty: &Type| full_name_of_type(&self.snapshot, ty);
            let fields = fields.iter().map(|(name, ty)| (name.clone(), text(ty)));
            return Ok(Some(fields.collect()));
        }
        if !modifiers.is_empty() || known.is_ok() {
            return Ok(None);
        }
        let full = table_name(name)?;
        let schemas = match (name.0.len(), relations.path()) {
            (1, Some(path)) => path.to_vec(),
            _ => vec![full.schema.clone()],
        };
        for schema in schemas {
            let known = self.snapshot.table(&schema, &full.name).is_some()
                || self.snapshot.view(&schema, &full.name).is_some();
            if !known {
                continue;
            }
            let query = format!("SELECT * FROM {}.{}", quoted(&schema), quoted(&full.name));
            let plan = front::planned(&relations, &parse_one(&query)?)?;
            let types = plan.types.iter();
            let types = types.map(|ty| full_name_of_type(&self.snapshot, ty));
            return Ok(Some(plan.names.into_iter().zip(types).collect()));
        }
        Ok(None)
    }

    fn returned_by(
        &self,
        written: Option<&FunctionReturnType>,
        results: Vec<(String, String)>,
        language: &str,
    ) -> Result<Returned> {
        let of = |ty: &DataType| self.type_text(ty);
        let none = Returned::default();
        let (ty, single) = match written {
            Some(FunctionReturnType::SetOf(DataType::Unspecified)) => {
                let is_table = true;
                return Ok(Returned { is_table, ..none });
            }
            Some(FunctionReturnType::DataType(DataType::Table(Some(columns)))) => {
                let mut rows = Vec::with_capacity(columns.len());
                for column in columns {
                    rows.push((fold(&column.name), of(&column.data_type)?));
                }
                let rows = Some(rows);
                return Ok(Returned { rows, ..none });
            }
            Some(FunctionReturnType::SetOf(ty)) => (Some(ty), false),
            Some(FunctionReturnType::DataType(ty)) => (Some(ty), true),
            None if language == MACRO => return Ok(none),
            None => (None, true),
        };
        let is_record = ty.is_some_and(|ty| ty.to_string().eq_ignore_ascii_case("record"));
        match (results.as_slice(), ty) {
            ([_, _, ..], Some(_)) if !is_record => {
                let message = "function result type must be record because of OUT parameters";
                return Err(Error::new("42P13", message));
            }
            ([_, _, ..], _) => {
                let rows = Some(results.clone());
                return Ok(Returned {
                    rows,
                    single,
                    ..none
                });
            }
            ([(_, out)], Some(ty)) if of(ty).is_ok_and(|ty| ty != *out) => {
                let message =
                    format!("function result type must be {out} because of OUT parameters");
                return Err(Error::new("42P13", message));
            }
            ([(name, out)], _) if !single => {
                let rows = Some(vec![(name.clone(), out.clone())]);
                return Ok(Returned { rows, ..none });
            }
            ([(_, out)], _) => {
                let returns = Some(out.clone());
                return Ok(Returned { returns, ..none });
            }
            ([], None) => {
                let message = "function result type must be specified";
                return Err(Error::new("42P13", message));
            }
            ([], Some(_)) => {}
        }
        let Some(ty) = ty else {
            return Err(Error::internal("a function without a result"));
        };
        if is_record {
            let records = true;
            return Ok(Returned {
                records,
                single,
                ..none
            });
        }
        if let Some(columns) = self.row_type(ty)? {
            let rows = Some(columns);
            return Ok(Returned {
                rows,
                single,
                ..none
            });
        }
        Ok(match single {
            true => Returned {
                returns: Some(of(ty)?),
                ..none
            },
            false => Returned {
                rows: Some(vec![(String::new(), of(ty)?)]),
                ..none
            },
        })
    }
}

/// Checks that the types of a result that stands for others follow from those of parameters.
///
/// # Errors
/// `42P13` if one does not.
fn check_polymorphic(function: &SqlFunction) -> Result<()> {
    use Type::{
        AnyArray, AnyCompatible, AnyCompatibleArray, AnyElement, AnyMultirange, AnyNonArray,
        AnyRange,
    };
    let given = |wanted: &[Type]| {
        let types = function.parameters.iter().filter_map(|one| one.ty.as_ref());
        types.into_iter().any(|ty| wanted.contains(ty))
    };
    let check = |ty: &Type| {
        let (given, needed) = match ty {
            AnyRange | AnyMultirange => (
                given(&[AnyRange, AnyMultirange]),
                "anyrange or anymultirange",
            ),
            AnyElement | AnyArray | AnyNonArray => (
                given(&[AnyElement, AnyArray, AnyNonArray, AnyRange, AnyMultirange]),
                "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange",
            ),
            AnyCompatible | AnyCompatibleArray => (
                given(&[AnyCompatible, AnyCompatibleArray]),
                "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or \
                 anycompatiblemultirange",
            ),
            _ => return Ok(()),
        };
        match given {
            true => Ok(()),
            false => Err(
                Error::new("42P13", "cannot determine result data type").with_detail(format!(
                    "A result of type {ty} requires at least one input of type {needed}."
                )),
            ),
        }
    };
    match &function.returns {
        SqlReturns::Value(ty) => check(ty),
        SqlReturns::Rows(columns) => columns.iter().try_for_each(|(_, ty)| check(ty)),
        _ => Ok(()),
    }
}
