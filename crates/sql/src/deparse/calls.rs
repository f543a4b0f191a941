//! Calls: of aggregates, of functions over windows, of created functions and of others.

use std::sync::Arc;

use freestone_frontend::bind::{Catalog as _, SqlFunction, SqlReturns};
use freestone_frontend::functions::aggregates::{Aggregate, Kind};
use freestone_frontend::functions::{
    Overload, Returns, Scalar, catalogue, resolve_function, resolve_operator,
};
use freestone_frontend::syntax::marks::{EXCLUDE, PREFIX, VARIADIC, marked, marked_call};
use freestone_frontend::types::{Category, Type};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator,
    FunctionArgumentClause, FunctionArguments, NamedWindowDefinition, NamedWindowExpr, OrderByExpr,
    WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

use super::forms::sub;
use super::read::{Reader, Typed, function_name, meet, plain_call, text_or};
use super::tree::{Bound, Call, Frame, Key, Node, Over, Piece, SubKind, Window};
use crate::names::{DEFAULT_SCHEMA, fold, meant_schema};

/// A positional argument.
pub(super) fn positional(argument: &FunctionArg) -> Option<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
        _ => None,
    }
}

/// The arguments of a call as they are written.
#[derive(Default)]
struct Written<'a> {
    all: Vec<&'a Expr>,
    /// Arguments by their names, behind the others.
    named: Vec<(String, &'a Expr)>,
    star: bool,
    distinct: bool,
    order: Vec<&'a OrderByExpr>,
    variadic: bool,
}

fn written(arguments: &FunctionArguments) -> Option<Written<'_>> {
    let mut written = Written::default();
    let list = match arguments {
        FunctionArguments::None => return Some(written),
        FunctionArguments::Subquery(_) => return None,
        FunctionArguments::List(list) => list,
    };
    for argument in &list.args {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => written.star = true,
            FunctionArg::Named {
                name,
                arg: FunctionArgExpr::Expr(value),
                operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
            }
            | FunctionArg::ExprNamed {
                name: Expr::Identifier(name),
                arg: FunctionArgExpr::Expr(value),
                operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
            } => written.named.push((fold(name), value)),
            argument => {
                let argument = positional(argument)?;
                match marked_call(argument, VARIADIC) {
                    Some((_, inner)) => {
                        written.variadic = true;
                        written.all.push(inner.first().copied()?);
                    }
                    None => written.all.push(argument),
                }
            }
        }
    }
    written.distinct = matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct));
    for clause in &list.clauses {
        match clause {
            FunctionArgumentClause::OrderBy(keys) => written.order.extend(keys),
            _ => return None,
        }
    }
    Some(written)
}

/// A created function.
struct Own(Vec<Type>, usize, Returns);

impl Overload for Own {
    fn parameters(&self) -> &[Type] {
        &self.0
    }
    fn variadic(&self) -> Option<&Type> {
        None
    }
    fn optional(&self) -> usize {
        self.1
    }
    fn returns(&self) -> &Returns {
        &self.2
    }
}

/// An ordered-set aggregate with all its parameters.
struct Joint(Arc<Aggregate>, Vec<Type>);

impl Overload for Joint {
    fn parameters(&self) -> &[Type] {
        &self.1
    }
    fn variadic(&self) -> Option<&Type> {
        None
    }
    fn optional(&self) -> usize {
        0
    }
    fn returns(&self) -> &Returns {
        self.0.returns()
    }
}

impl Reader<'_> {
    /// A call in a query, or of a form that only queries have.
    pub(super) fn any_call(&self, call: &Function) -> Option<Typed> {
        if call.null_treatment.is_some() || !matches!(call.parameters, FunctionArguments::None) {
            return None;
        }
        let (schema, ident) = match call.name.0.as_slice() {
            [name] => (None, name.as_ident()?),
            [schema, name] => (Some(fold(schema.as_ident()?)), name.as_ident()?),
            _ => return None,
        };
        let name = fold(ident);
        if let FunctionArguments::Subquery(query) = &call.args {
            if name != "array" {
                return None;
            }
            let query = self.sub_query(query)?;
            let [(_, ty)] = query.columns.as_slice() else {
                return None;
            };
            let ty = ty.clone().array();
            return Some((sub(SubKind::Array, query), ty));
        }
        if matches!(call.args, FunctionArguments::None) {
            return self.bare_call(ident);
        }
        let written = written(&call.args)?;
        if !written.named.is_empty() {
            let plain = call.filter.is_none() && call.over.is_none() && !written.variadic;
            return match plain && !written.star && call.within_group.is_empty() {
                true => self.with_names(schema.as_deref(), &name, &written),
                false => None,
            };
        }
        if let Some(symbol) = marked(ident, PREFIX) {
            let [operand] = written.all.as_slice() else {
                return None;
            };
            return self.prefixed(symbol, self.node(operand)?);
        }
        if name.starts_with('\u{1}') {
            return None;
        }
        let plain = schema.is_none() && call.filter.is_none() && call.over.is_none();
        if plain && let Some(found) = self.worded(&name, ident.quote_style.is_some(), &written) {
            return found;
        }
        let is_system = schema
            .as_deref()
            .is_none_or(|schema| schema == "pg_catalog");
        if is_system && schema.is_some() && plain_syntax(&name) {
            return self.syntax(&name, &written);
        }
        let all = catalogue();
        let is_aggregate = is_system && !all.aggregates(&name).is_empty();
        let is_window = is_system && !all.windows(&name).is_empty();
        if let Some(over) = &call.over {
            let over = self.over(over)?;
            if written.variadic || !call.within_group.is_empty() {
                return None;
            }
            if is_window {
                let found = self.window_function(&name, &written);
                if let Some((mut node, ty)) = found {
                    node.over = Some(over);
                    return Some((Node::Call(Box::new(node)), ty));
                }
            }
            if !is_aggregate {
                return None;
            }
            let (mut node, ty) = self.aggregate(&name, call, &written)?;
            node.over = Some(over);
            return Some((Node::Call(Box::new(node)), ty));
        }
        if is_aggregate {
            let (node, ty) = self.aggregate(&name, call, &written)?;
            return Some((Node::Call(Box::new(node)), ty));
        }
        let rare = written.star || written.distinct || !written.order.is_empty();
        if rare || call.filter.is_some() || !call.within_group.is_empty() {
            return None;
        }
        let arguments = self.values(&written.all)?;
        self.plain(schema.as_deref(), &name, arguments, written.variadic)
    }

    /// A call with `name => value`.
    fn with_names(&self, schema: Option<&str>, name: &str, written: &Written<'_>) -> Option<Typed> {
        let known = self.known.as_ref()?;
        let values = self.values(&written.all)?;
        let named = written.named.iter();
        let named = named.map(|(name, value)| Some((name.clone(), self.node(value)?)));
        let named: Vec<(String, Typed)> = named.collect::<Option<_>>()?;
        let given = values.len();
        // The place of each name among the parameters.
        let places = |names: &[Option<&str>]| -> Option<Vec<usize>> {
            let place = |(name, _): &(String, Typed)| {
                let mut all = names.iter().enumerate().skip(given);
                all.find(|(_, known)| **known == Some(name.as_str()))
                    .map(|(at, _)| at)
            };
            named.iter().map(place).collect()
        };
        let own = known.names.sql_functions(schema, name).ok()?;
        let mut found = Vec::new();
        for function in &own {
            let names: Vec<Option<&str>> = function
                .parameters
                .iter()
                .map(|one| one.name.as_deref())
                .collect();
            if let (Some(places), SqlReturns::Value(returns)) = (places(&names), &function.returns)
            {
                let types = function.parameters.iter().map(|one| one.ty.clone());
                found.push((
                    places,
                    types.collect::<Option<Vec<Type>>>()?,
                    returns.clone(),
                    true,
                ));
            }
        }
        if own.is_empty() && schema.is_none_or(|schema| schema == "pg_catalog") {
            for function in catalogue().functions(name) {
                let names: Vec<Option<&str>> = function.names.iter().copied().map(Some).collect();
                if let (Some(places), Returns::Type(returns)) = (places(&names), &function.returns)
                {
                    found.push((places, function.parameters.clone(), returns.clone(), false));
                }
            }
        }
        // Of several, the types tell which is meant.
        let [(places, parameters, returns, created)] = <[_; 1]>::try_from(found).ok()?;
        if returns.is_pseudo() || parameters.iter().any(Type::is_pseudo) {
            return None;
        }
        let arguments = values.into_iter().zip(&parameters);
        let arguments = arguments.map(|(one, to)| self.coerced(one, to));
        let by_name = named
            .into_iter()
            .zip(places)
            .map(|((name, value), at)| Some((name, self.coerced(value, parameters.get(at)?)?)));
        let call = Call {
            schema: created.then(|| schema.map_or(DEFAULT_SCHEMA, meant_schema).to_owned()),
            created,
            name: function_name(name),
            arguments: arguments.collect::<Option<_>>()?,
            named: by_name.collect::<Option<_>>()?,
            ..Call::default()
        };
        Some((Node::Call(Box::new(call)), returns))
    }

    fn values(&self, all: &[&Expr]) -> Option<Vec<Typed>> {
        all.iter().map(|one| self.node(one)).collect()
    }

    fn prefixed(&self, symbol: &str, (node, ty): Typed) -> Option<Typed> {
        let types = [ty.base()];
        let found = freestone_frontend::functions::resolve_operator(symbol, &types).ok()?;
        let node = self.coerced((node, ty), found.parameters.first()?)?;
        let node = Node::Operator(symbol.to_owned(), None, Box::new(node));
        Some((node, found.returns))
    }

    /// Functions that are words of the grammar; `None` for others.
    fn worded(&self, name: &str, in_quotes: bool, written: &Written<'_>) -> Option<Option<Typed>> {
        let upper = || name.to_uppercase();
        match name {
            "coalesce" | "greatest" | "least" => Some(self.values(&written.all).and_then(|all| {
                let (all, ty) = self.alike(all)?;
                Some((plain_call(upper(), all), ty))
            })),
            "nullif" => Some(self.values(&written.all).and_then(|all| {
                let [left, right] = <[Typed; 2]>::try_from(all).ok()?;
                let before = left.1.base();
                let types = [before.clone(), right.1.base()];
                let found = resolve_operator("=", &types).ok()?;
                let ty = match meet("=", &types[0], &types[1]) || found.parameters.is_empty() {
                    true => before,
                    false => found.parameters[0].clone(),
                };
                let (both, _) = self.binary("=", left, right)?;
                let Node::Operator(_, Some(left), right) = both else {
                    return None;
                };
                Some((plain_call(upper(), vec![*left, *right]), ty))
            })),
            "grouping" => Some(self.values(&written.all).map(|all| {
                let all = all.into_iter().map(|(node, _)| node).collect();
                (plain_call(upper(), all), Type::Int4)
            })),
            "row" if !written.variadic => Some(self.row(written.all.clone())),
            "current_timestamp" | "localtimestamp" | "current_time" | "localtime" => {
                let digits = match written.all.as_slice() {
                    [Expr::Value(digits)] => format!("({digits})"),
                    _ => return Some(None),
                };
                let precision = digits.trim_matches(['(', ')']).parse().ok();
                let ty = match name {
                    "current_timestamp" => Type::TimestampTz(precision),
                    "localtimestamp" => Type::Timestamp(precision),
                    "current_time" => Type::TimeTz(precision),
                    _ => Type::Time(precision),
                };
                Some(Some((Node::Name(format!("{}{digits}", upper())), ty)))
            }
            "btrim" | "ltrim" | "rtrim" | "position" | "normalize" if in_quotes => {
                Some(self.syntax(name, written))
            }
            _ => None,
        }
    }

    /// A function by a syntax of its own.
    fn syntax(&self, name: &str, written: &Written<'_>) -> Option<Typed> {
        let all = self.values(&written.all)?;
        let types: Vec<Type> = all.iter().map(|(_, ty)| ty.base()).collect();
        let form = match written.all.get(1) {
            Some(Expr::Value(form)) => form.to_string().trim_matches('\'').to_owned(),
            _ => String::new(),
        };
        let is_similar = name == "substring" && types.get(1).is_some_and(|ty| !is_number(ty));
        // The one with a pattern has no syntax of its own there.
        if is_similar && types.len() == 2 {
            return self.plain(None, name, all, false);
        }
        let found = resolve_function(catalogue().functions(name), &types).ok()?;
        let all = all.into_iter().zip(&found.parameters);
        let all = all.map(|(one, to)| self.coerced(one, to));
        let mut all: Vec<Node> = all.collect::<Option<_>>()?;
        let words: &[&str] = match (name, all.len()) {
            ("btrim", _) => &["TRIM(BOTH ", " FROM ", ")"],
            ("ltrim", _) => &["TRIM(LEADING ", " FROM ", ")"],
            ("rtrim", _) => &["TRIM(TRAILING ", " FROM ", ")"],
            ("position", 2) => &["POSITION((", ") IN (", "))"],
            ("normalize", 1) => &["NORMALIZE(", ")"],
            ("normalize", 2) => {
                let node = all.swap_remove(0);
                let pieces = vec![
                    Piece::Words("NORMALIZE(".to_owned()),
                    Piece::Alone(node),
                    Piece::Words(format!(", {form})")),
                ];
                return Some((Node::Syntax(pieces), found.returns));
            }
            ("substring", 3) if is_similar => &["SUBSTRING(", " SIMILAR ", " ESCAPE ", ")"],
            ("substring", 2) => &["SUBSTRING(", " FROM ", ")"],
            ("substring", 3) => &["SUBSTRING(", " FROM ", " FOR ", ")"],
            ("overlay", 3) => &["OVERLAY(", " PLACING ", " FROM ", ")"],
            ("overlay", 4) => &["OVERLAY(", " PLACING ", " FROM ", " FOR ", ")"],
            _ => return None,
        };
        if matches!(name, "btrim" | "ltrim" | "rtrim") && all.len() == 1 {
            let pieces = vec![
                Piece::Words(format!("{}FROM ", words[0])),
                Piece::Alone(all.swap_remove(0)),
                Piece::Words(")".to_owned()),
            ];
            return Some((Node::Syntax(pieces), found.returns));
        }
        // They are written in another order than that of the parameters.
        if matches!(name, "btrim" | "ltrim" | "rtrim" | "position") {
            all.reverse();
        }
        let mut pieces = Vec::new();
        let mut words = words.iter().map(|words| Piece::Words((*words).to_owned()));
        for one in all {
            pieces.extend(words.next());
            pieces.push(Piece::Alone(one));
        }
        pieces.extend(words.next());
        Some((Node::Syntax(pieces), found.returns))
    }

    /// A key of an order.
    pub(super) fn sort_key(&self, key: &OrderByExpr) -> Option<Key> {
        if key.with_fill.is_some() {
            return None;
        }
        let typed = self.node(&key.expr)?;
        let to = text_or(&typed.1);
        Some(Key {
            node: self.coerced(typed, &to)?,
            place: None,
            direction: direction(key),
        })
    }

    fn aggregate(
        &self,
        name: &str,
        call: &Function,
        written: &Written<'_>,
    ) -> Option<(Call, Type)> {
        if written.variadic {
            return None;
        }
        let plain = call.within_group.is_empty();
        let fitting = catalogue().aggregates(name).iter();
        let fitting = fitting.filter(|one| (one.kind == Kind::Plain) == plain);
        let fitting: Vec<Arc<Aggregate>> = fitting.cloned().collect();
        let mut node = Call {
            name: function_name(name),
            distinct: written.distinct,
            star: written.star,
            ..Call::default()
        };
        let values = self.values(&written.all)?;
        let mut types: Vec<Type> = values.iter().map(|(_, ty)| ty.base()).collect();
        let returns = match plain {
            true => {
                if let ("min" | "max", [Type::Varchar(_)]) = (name, types.as_mut_slice()) {
                    types[0] = Type::Text;
                }
                let found = resolve_function(&fitting, &types).ok()?;
                for ((value, to), ty) in values.into_iter().zip(&found.parameters).zip(&types) {
                    let to = match (to, ty) {
                        (Type::Any | Type::AnyElement, known) if *known != Type::Unknown => known,
                        (to, _) => to,
                    };
                    node.arguments.push(self.coerced(value, to)?);
                }
                for key in &written.order {
                    add_key(&mut node.order, self.sort_key(key)?);
                }
                found.returns
            }
            false => {
                node.within = true;
                let keys = call.within_group.iter().map(|key| self.node(&key.expr));
                let keys: Vec<Typed> = keys.collect::<Option<_>>()?;
                types.extend(keys.iter().map(|(_, ty)| ty.base()));
                let first = fitting.first()?;
                if first.kind == Kind::Hypothetical {
                    for ((value, key), written) in
                        values.into_iter().zip(keys).zip(&call.within_group)
                    {
                        let (mut pair, _) = self.alike(vec![key, value])?;
                        node.arguments.push(pair.pop()?);
                        node.order.push(Key {
                            node: pair.pop()?,
                            place: None,
                            direction: direction(written),
                        });
                    }
                    match first.returns() {
                        Returns::Type(ty) => ty.clone(),
                        Returns::Of(of) => of(&types),
                    }
                } else {
                    let joint = fitting.iter().map(|one| {
                        let all = one.direct.iter().chain(&one.parameters);
                        Arc::new(Joint(Arc::clone(one), all.cloned().collect()))
                    });
                    let joint: Vec<Arc<Joint>> = joint.collect();
                    let found = resolve_function(&joint, &types).ok()?;
                    let (direct, ordered) = found.parameters.split_at(values.len());
                    for (value, to) in values.into_iter().zip(direct) {
                        node.arguments.push(self.coerced(value, to)?);
                    }
                    for ((key, to), written) in
                        keys.into_iter().zip(ordered).zip(&call.within_group)
                    {
                        node.order.push(Key {
                            node: self.coerced(key, to)?,
                            place: None,
                            direction: direction(written),
                        });
                    }
                    found.returns
                }
            }
        };
        if let Some(filter) = &call.filter {
            let filter = self.node(filter)?;
            node.filter = Some(self.coerced(filter, &Type::Bool)?);
        }
        Some((node, returns))
    }

    fn window_function(&self, name: &str, written: &Written<'_>) -> Option<(Call, Type)> {
        let values = self.values(&written.all)?;
        let types: Vec<Type> = values.iter().map(|(_, ty)| ty.base()).collect();
        let found = resolve_function(catalogue().windows(name), &types).ok()?;
        let values = values.into_iter().zip(&found.parameters);
        let arguments = values.map(|(value, to)| self.coerced(value, to));
        let call = Call {
            name: function_name(name),
            arguments: arguments.collect::<Option<_>>()?,
            ..Call::default()
        };
        Some((call, found.returns))
    }

    fn over(&self, over: &WindowType) -> Option<Over> {
        Some(match over {
            WindowType::NamedWindow(name) => Over::Named(fold(name)),
            WindowType::WindowSpec(spec) => Over::Window(Box::new(self.window(spec)?)),
        })
    }

    /// A window of a WINDOW clause.
    pub(super) fn named_window(
        &self,
        NamedWindowDefinition(name, window): &NamedWindowDefinition,
    ) -> Option<(String, Window)> {
        match window {
            NamedWindowExpr::WindowSpec(spec) => Some((fold(name), self.window(spec)?)),
            NamedWindowExpr::NamedWindow(_) => None,
        }
    }

    fn window(&self, spec: &WindowSpec) -> Option<Window> {
        let partition = spec.partition_by.iter().map(|key| {
            let typed = self.node(key)?;
            let to = text_or(&typed.1);
            self.coerced(typed, &to)
        });
        let mut parts: Vec<Node> = Vec::new();
        for part in partition {
            let part = part?;
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let mut window = Window {
            base: spec.window_name.as_ref().map(fold),
            partition: parts,
            ..Window::default()
        };
        let mut exclude = None;
        let mut ordered = Type::Unknown;
        for key in &spec.order_by {
            if let Expr::Identifier(ident) = &key.expr
                && let Some(words) = marked(ident, EXCLUDE)
            {
                exclude = match words {
                    "current row" => Some("CURRENT ROW"),
                    "group" => Some("GROUP"),
                    "ties" => Some("TIES"),
                    _ => None,
                };
                continue;
            }
            ordered = self.node(&key.expr)?.1;
            add_key(&mut window.order, self.sort_key(key)?);
        }
        if let Some(frame) = &spec.window_frame {
            window.frame = Some(self.frame(frame, &ordered, exclude)?);
        }
        Some(window)
    }

    fn frame(
        &self,
        frame: &WindowFrame,
        ordered: &Type,
        exclude: Option<&'static str>,
    ) -> Option<Frame> {
        let (units, is_range) = match frame.units {
            WindowFrameUnits::Rows => ("ROWS", false),
            WindowFrameUnits::Range => ("RANGE", true),
            WindowFrameUnits::Groups => ("GROUPS", false),
        };
        let distance = match ordered.category() {
            _ if !is_range => Type::Int8,
            Category::DateTime | Category::Timespan => Type::Interval,
            _ => ordered.clone(),
        };
        let bound = |bound: &WindowFrameBound| {
            let (written, words) = match bound {
                WindowFrameBound::CurrentRow => (None, "CURRENT ROW"),
                WindowFrameBound::Preceding(None) => (None, "UNBOUNDED PRECEDING"),
                WindowFrameBound::Following(None) => (None, "UNBOUNDED FOLLOWING"),
                WindowFrameBound::Preceding(Some(written)) => (Some(written), "PRECEDING"),
                WindowFrameBound::Following(Some(written)) => (Some(written), "FOLLOWING"),
            };
            let distance = match written {
                None => None,
                Some(written) => {
                    let written = match written.as_ref() {
                        Expr::Interval(interval) if interval.leading_field.is_none() => {
                            interval.value.as_ref()
                        }
                        other => other,
                    };
                    let (node, ty) = self.node(written)?;
                    Some(match ty {
                        Type::Unknown => self.coerced((node, ty), &distance)?,
                        _ => node,
                    })
                }
            };
            Some(Bound { distance, words })
        };
        let end = match &frame.end_bound {
            Some(end) => Some(bound(end)?),
            None => None,
        };
        Some(Frame {
            units,
            start: bound(&frame.start_bound)?,
            end,
            exclude,
        })
    }

    /// A function that gives one value, or rows of one column.
    fn plain(
        &self,
        schema: Option<&str>,
        name: &str,
        arguments: Vec<Typed>,
        variadic: bool,
    ) -> Option<Typed> {
        let types: Vec<Type> = arguments.iter().map(|(_, ty)| ty.base()).collect();
        if schema.is_none_or(|schema| schema != "pg_catalog")
            && let Some((mut call, parameters, returns)) = self.created(schema, name, &types)
        {
            let SqlReturns::Value(ty) = returns else {
                return None;
            };
            if variadic {
                return None;
            }
            let arguments = arguments.into_iter().zip(&parameters);
            let arguments = arguments.map(|(one, to)| self.coerced(one, to));
            call.arguments = arguments.collect::<Option<_>>()?;
            return Some((Node::Call(Box::new(call)), ty));
        }
        if schema.is_some_and(|schema| schema != "pg_catalog") {
            return None;
        }
        let known = self.known.as_ref()?;
        if matches!(name, "nextval" | "currval") {
            let mut arguments = arguments.into_iter();
            let class = Type::Reg(freestone_frontend::types::Reg::Class);
            let sequence = self.coerced(arguments.next()?, &class)?;
            return Some((plain_call(name.to_owned(), vec![sequence]), Type::Int8));
        }
        let mut overloads: Vec<Arc<Scalar>> = catalogue().functions(name).to_vec();
        if overloads.is_empty() {
            overloads = known.names.functions(name);
        }
        if variadic {
            // The array is an argument as it is.
            let given = overloads.iter().find(|one| one.variadic.is_some())?;
            let Returns::Type(returns) = &given.returns else {
                return None;
            };
            let count = given.parameters.len();
            let mut nodes = Vec::new();
            for (at, argument) in arguments.into_iter().enumerate() {
                nodes.push(match given.parameters.get(at).filter(|_| at < count) {
                    Some(to) => self.coerced(argument, to)?,
                    None => argument.0,
                });
            }
            if returns.is_pseudo() {
                return None;
            }
            let call = Call {
                name: function_name(name),
                arguments: nodes,
                variadic: true,
                ..Call::default()
            };
            return Some((Node::Call(Box::new(call)), returns.clone()));
        }
        let (arguments, returns) = match resolve_function(&overloads, &types) {
            Ok(found) => (self.arguments(arguments, &found)?, found.returns),
            Err(_) => {
                let found = resolve_function(catalogue().tables(name), &types).ok()?;
                if found.function.columns.len() != 1 {
                    return None;
                }
                (self.arguments(arguments, &found)?, found.returns)
            }
        };
        Some((plain_call(function_name(name), arguments), returns))
    }

    /// The created function that a call means: its call without arguments, its parameters and
    /// its result.
    pub(super) fn created(
        &self,
        schema: Option<&str>,
        name: &str,
        types: &[Type],
    ) -> Option<(Call, Vec<Type>, SqlReturns)> {
        let known = self.known.as_ref()?;
        let all = known.names.sql_functions(schema, name).ok()?;
        let own = |function: &Arc<SqlFunction>| {
            let parameters = function.parameters.iter();
            let simple = function.parameters.iter().all(|one| !one.variadic);
            let parameters: Vec<Type> = parameters
                .map(|one| one.ty.clone())
                .collect::<Option<_>>()?;
            let optional = function
                .parameters
                .iter()
                .filter(|one| one.default.is_some());
            let returns = match &function.returns {
                SqlReturns::Value(ty) => ty.clone(),
                _ => Type::Void,
            };
            let own = Own(parameters, optional.count(), Returns::Type(returns));
            simple.then(|| Arc::new(own))
        };
        let overloads: Vec<Arc<Own>> = all.iter().map(own).collect::<Option<_>>()?;
        let found = resolve_function(&overloads, types).ok()?;
        let at = overloads
            .iter()
            .position(|one| Arc::ptr_eq(one, &found.function))?;
        let returns = match &all.get(at)?.returns {
            SqlReturns::Value(_) => SqlReturns::Value(found.returns),
            SqlReturns::Rows(columns) => SqlReturns::Rows(columns.clone()),
            SqlReturns::Records => SqlReturns::Records,
            SqlReturns::Any | SqlReturns::AnyRows => return None,
        };
        let schema = schema.map_or(DEFAULT_SCHEMA, meant_schema);
        let call = Call {
            schema: Some(schema.to_owned()),
            created: true,
            name: function_name(name),
            ..Call::default()
        };
        Some((call, found.parameters, returns))
    }
}

/// Whether a function is written by a syntax of its own where its schema says so.
fn plain_syntax(name: &str) -> bool {
    matches!(name, "substring" | "overlay")
}

/// Adds a key, unless its expression is one already.
fn add_key(keys: &mut Vec<Key>, key: Key) {
    if keys.iter().all(|known| known.node != key.node) {
        keys.push(key);
    }
}

fn is_number(ty: &Type) -> bool {
    ty.category() == Category::Number
}

/// DESC and the place of NULLs.
pub(super) fn direction(key: &OrderByExpr) -> String {
    let descending = key.options.asc == Some(false);
    let nulls_first = key.options.nulls_first.unwrap_or(descending);
    let text = match (descending, nulls_first) {
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
    };
    text.to_owned()
}
