//! Groups, and equal rows once.

use std::sync::Arc;

use arrow::datatypes::DataType;
use freestone_exec::expression::{Constant, Expression};
use freestone_exec::vector::Kind;
use freestone_exec::{Aggregate, Grouping, Lead, Limit, Node};
use freestone_frontend::functions::{Scalar as Declared, ordinals};
use freestone_frontend::plan::{AggregateCall, Column, Expr as Bound, ExprKind, Plan};
use freestone_frontend::types::Type;

use super::super::aggregate::{Found as Native, Native as Call, quotient};
use super::super::expression::{EXTRACT, exact};
use super::super::{Typed, canonical, floats, own_name};
use super::join::joins;
use super::sets::Sets;
use super::{Added, Bulk, Part, chosen, field};
use crate::engine::{
    Cluster, Converted, Early, Found, Scope, Simple, added_up, aggregated, cut, early, grouped,
    of_cluster, partial,
};
use crate::error::{Error, Result};
use crate::expression::{Expr, Scalar};

/// A key of groups.
pub(super) struct Key {
    value: Expr,
    pub(super) kind: DataType,
    pub(super) name: String,
}

/// A call that is computed of each group, under a name.
pub(super) struct Asked {
    pub(super) function: Simple,
    argument: Expr,
    filter: Option<Expr>,
    pub(super) distinct: bool,
    pub(super) kind: DataType,
    pub(super) name: String,
}

/// Results that are computed of others.
enum After<'a> {
    /// The quotient of a sum and a count.
    Mean(&'a Column, Column, Column),
    /// The float that an integer stands for.
    Float(&'a Column, Column, DataType),
    /// The field of a date that an integer stands for, by a function.
    Field(&'a Column, Column, Arc<Declared>),
    /// The value of a type that a comparable one stands for.
    Value(&'a Column, Column, DataType),
}

/// The rows that are grouped.
pub(super) enum Below {
    Cluster(Cluster, Found),
    Part(Box<Part>),
}

impl Bulk<'_> {
    pub(super) fn aggregate(
        &self,
        plan: &Plan,
        input: &Plan,
        keys: &[(Column, Bound)],
        calls: &[(Column, AggregateCall)],
        sets: Option<&[Vec<usize>]>,
        marks: &[(Column, Vec<usize>)],
    ) -> Result<Part> {
        if keys.is_empty()
            && sets.is_none()
            && marks.is_empty()
            && let Some(part) = self.told(plan, input, calls)?
        {
            return Ok(part);
        }
        let below = match joins(input) {
            true => {
                let (cluster, found) = self.gathered(input)?;
                Below::Cluster(cluster, found)
            }
            false => Below::Part(Box::new(self.part(input)?)),
        };
        self.groups_of(plan, below, keys, calls, sets, marks)
    }

    /// The groups of some rows, which are the input of a node.
    fn groups_of(
        &self,
        plan: &Plan,
        below: Below,
        keys: &[(Column, Bound)],
        calls: &[(Column, AggregateCall)],
        sets: Option<&[Vec<usize>]>,
        marks: &[(Column, Vec<usize>)],
    ) -> Result<Part> {
        if !self.is_native(&below, keys, calls, sets)? || sets.is_none() && !marks.is_empty() {
            let part = match below {
                Below::Cluster(cluster, found) => self.of_cluster(cluster, &found)?,
                Below::Part(part) => *part,
            };
            return self.folded(plan, part, keys, calls, sets, marks);
        }
        let mut after = Vec::new();
        let mut keys = self.keys(keys, &mut after)?;
        let mut asked = self.asked(calls, &mut after)?;
        let below = self.below(below, &mut keys, &mut asked)?;
        self.spend(plan);
        if keys.is_empty() && asked.is_empty() {
            asked.push(Asked {
                function: Simple::Count,
                argument: Expr::Literal(Scalar::integer(1)),
                filter: None,
                distinct: false,
                kind: DataType::Int64,
                name: own_name(&self.lowering.fresh("count", Type::Int8)),
            });
        }
        let part = match sets {
            None => self.grouped(below, keys, asked),
            Some(sets) => {
                let grouping = marks;
                self.of_sets(below, keys, asked, Sets { sets, grouping })
            }
        };
        let part = part.ok_or_else(|| Error::internal("groups that the bulk engine has not"))?;
        self.after(part, after)
    }

    /// Whether the bulk engine has all calls and compares all keys itself.
    fn is_native(
        &self,
        below: &Below,
        keys: &[(Column, Bound)],
        calls: &[(Column, AggregateCall)],
        sets: Option<&[Vec<usize>]>,
    ) -> Result<bool> {
        let scope = Scope::over(match below {
            Below::Cluster(_, found) => found,
            Below::Part(part) => &part.found,
        });
        let mut known: Vec<Expr> = Vec::with_capacity(keys.len());
        for (_, value) in keys.iter().filter(|(_, value)| numbered(value).is_none()) {
            let typed = self.lowering.expr(value)?;
            let is_same = canonical::kind(&value.ty, &typed.kind).is_none();
            let key = canonical::key(typed, &value.ty);
            // A key that is in a set twice would be NULL in one of two places.
            let is_twice = sets.is_some() && known.contains(&key.expr);
            let is_compared = is_same || canonical::is_value(&value.ty);
            let Some(key) = canonical::comparable(key).filter(|_| !is_twice && is_compared) else {
                return Ok(false);
            };
            known.push(key.expr);
        }
        let (mut plain, mut once) = (true, Vec::new());
        for (_, call) in calls
            .iter()
            .filter(|(column, _)| self.lowering.is_used(column.id))
        {
            let natives = match self.lowering.native_call(call)? {
                None => return Ok(false),
                Some(Native::One(one) | Native::Float(one)) => vec![one],
                Some(Native::Mean(sum, _, count)) => vec![*sum, *count],
            };
            let filter = match &call.filter {
                Some(filter) => Some(self.lowering.condition(filter)?),
                None => None,
            };
            for Call {
                function,
                argument,
                distinct,
                kind,
            } in natives
            {
                if aggregated(&scope, function, &argument, filter.as_ref(), &kind).is_none() {
                    return Ok(false);
                }
                plain &= adds_up(function) && (sets.is_some() || filter.is_none());
                if distinct && !once.contains(&argument) {
                    once.push(argument);
                }
            }
        }
        let of_kind = |value: &Expr| scope.kind_of(value).map(|kind| Kind::of(&kind));
        Ok(match (once.as_slice(), sets) {
            ([], None) => true,
            ([], Some(_)) => plain,
            ([value], None) => plain && of_kind(value).is_some_and(|kind| kind != Kind::Other),
            _ => false,
        })
    }

    /// Groups by states of the language front.
    fn folded(
        &self,
        plan: &Plan,
        part: Part,
        keys: &[(Column, Bound)],
        calls: &[(Column, AggregateCall)],
        sets: Option<&[Vec<usize>]>,
        marks: &[(Column, Vec<usize>)],
    ) -> Result<Part> {
        let parts = self.lowering.general_parts(keys, sets, calls, marks)?;
        let scope = Scope::over(&part.found);
        let values = parts.given.iter().map(|value| scope.expr(value));
        let values = values.collect::<Result<Vec<_>>>()?;
        self.spend(plan);
        let rows = part.rows.plan.estimate;
        let mut distinct: Vec<f64> = values[..keys.len()]
            .iter()
            .map(|key| part.rows.distinct_of(key))
            .collect();
        let groups: f64 = distinct.iter().product();
        let groups = groups.clamp(1.0, rows.max(1.0)) * sets.map_or(1.0, |sets| sets.len() as f64);
        let input = chosen(part.rows, values, parts.operator.given.clone());
        let plan = parts.operator.node(input.plan, groups);
        distinct.resize(plan.types.len(), groups);
        let mut found = Found::new();
        for (at, (column, kind)) in parts.columns.iter().zip(&plan.types).enumerate() {
            let name = self.find(column, kind);
            let field = field(&name, kind.clone());
            found.insert(name, (at, field));
        }
        let rows = Converted {
            plan,
            distinct,
            sampled: None,
        };
        Ok(Part { rows, found })
    }

    /// Keys as the bulk engine compares them, each once, and which of them stand for others.
    fn keys<'a>(
        &self,
        keys: &'a [(Column, Bound)],
        after: &mut Vec<After<'a>>,
    ) -> Result<Vec<Key>> {
        let mut found: Vec<Key> = Vec::with_capacity(keys.len());
        for (given, value) in keys {
            let number = numbered(value).map(|(value, back)| {
                let of = self.lowering.fresh("ordinal", Type::Int8);
                after.push(After::Field(given, of.clone(), back));
                (of, value)
            });
            let (column, value) = match &number {
                Some((of, value)) => (of, value),
                None => (given, value),
            };
            let typed = self.lowering.expr(value)?;
            let is_same = canonical::kind(&value.ty, &typed.kind).is_none();
            if !is_same && !canonical::is_value(&value.ty) {
                return Err(uncompared(&value.ty));
            }
            let mut key = canonical::key(typed, &value.ty);
            let mut stands_for = None;
            if Kind::of(&key.kind) == Kind::Other {
                let of = self.lowering.fresh("key", Type::Text);
                after.push(After::Value(given, of.clone(), key.kind.clone()));
                let lost = || uncompared(&value.ty);
                let comparable = canonical::comparable(key).ok_or_else(lost)?;
                key = comparable;
                stands_for = Some(of);
            }
            let column = stands_for.as_ref().unwrap_or(column);
            let Typed { expr, kind } = key;
            if let Some(known) = found.iter().find(|known| known.value == expr) {
                self.name(&known.name, column.id);
                let place = super::place(&known.name);
                self.lowering.found(column.id, place, kind);
                continue;
            }
            let name = match &expr {
                Expr::Column(place) => {
                    self.name(place, column.id);
                    let typed = expr.clone();
                    self.lowering.found(column.id, typed, kind.clone());
                    place.clone()
                }
                _ => self.find(column, &kind),
            };
            found.push(Key {
                value: expr,
                kind,
                name,
            });
        }
        Ok(found)
    }

    /// Calls as the bulk engine's, each once, and what is made of their results.
    fn asked<'a>(
        &self,
        calls: &'a [(Column, AggregateCall)],
        after: &mut Vec<After<'a>>,
    ) -> Result<Vec<Asked>> {
        let mut asked = Vec::<Asked>::new();
        for (column, call) in calls {
            if !self.lowering.is_used(column.id) {
                continue;
            }
            let native = self.lowering.native_call(call)?;
            let name = &call.function.name;
            let lost = || Error::internal(format!("{name} that the bulk engine has not"));
            let native = native.ok_or_else(lost)?;
            let filter = match &call.filter {
                Some(filter) => Some(self.lowering.condition(filter)?),
                None => None,
            };
            let mut ask = |call: Call, column: &Column| {
                let function = call.function;
                let known = asked.iter().find(|known| {
                    known.function == function
                        && known.argument == call.argument
                        && known.filter == filter
                        && known.distinct == call.distinct
                });
                if let Some(Asked { name, kind, .. }) = known {
                    self.name(name, column.id);
                    let place = super::place(name);
                    self.lowering.found(column.id, place, kind.clone());
                    return;
                }
                asked.push(Asked {
                    function,
                    argument: call.argument,
                    filter: filter.clone(),
                    distinct: call.distinct,
                    name: self.find(column, &call.kind),
                    kind: call.kind,
                });
            };
            match native {
                Native::One(call) => ask(call, column),
                Native::Float(call) => {
                    let kind = call.kind.clone();
                    let of = self.lowering.fresh("ordinal", Type::Int8);
                    ask(call, &of);
                    after.push(After::Float(column, of, kind));
                }
                Native::Mean(sum, ty, count) => {
                    let of = self.lowering.fresh("sum", ty);
                    let by = self.lowering.fresh("count", Type::Int8);
                    ask(*sum, &of);
                    ask(*count, &by);
                    after.push(After::Mean(column, of, by));
                }
            }
        }
        Ok(asked)
    }

    /// The rows with a column for each expression that keys and calls have in common.
    fn below(&self, below: Below, keys: &mut [Key], asked: &mut [Asked]) -> Result<Below> {
        let mut values: Vec<Expr> = keys.iter().map(|key| key.value.clone()).collect();
        values.extend(asked.iter().map(|asked| asked.argument.clone()));
        values.extend(asked.iter().filter_map(|asked| asked.filter.clone()));
        if super::common::none_in(&values) {
            return Ok(below);
        }
        let part = match below {
            Below::Cluster(cluster, found) => self.of_cluster(cluster, &found)?,
            Below::Part(part) => *part,
        };
        let part = self.with_common(part, &mut values)?;
        let of_keys = keys.iter_mut().map(|key| &mut key.value);
        let (arguments, filters): (Vec<_>, Vec<_>) = asked
            .iter_mut()
            .map(|asked| (&mut asked.argument, asked.filter.as_mut()))
            .unzip();
        let places = of_keys
            .chain(arguments)
            .chain(filters.into_iter().flatten());
        for (place, value) in places.zip(values) {
            *place = value;
        }
        Ok(Below::Part(Box::new(part)))
    }

    /// The groups of some rows.
    fn grouped(&self, below: Below, keys: Vec<Key>, asked: Vec<Asked>) -> Option<Part> {
        let scope = Scope::over(match &below {
            Below::Cluster(_, found) => found,
            Below::Part(part) => &part.found,
        });
        if keys.iter().any(|key| Kind::of(&key.kind) == Kind::Other) {
            return None;
        }
        let mut found = Found::new();
        let names = keys.iter().map(|key| (&key.name, &key.kind));
        let names = names.chain(asked.iter().map(|asked| (&asked.name, &asked.kind)));
        for (at, (name, kind)) in names.enumerate() {
            found.insert(name.clone(), (at, field(name, kind.clone())));
        }
        let Some(distinct) = asked.iter().find(|asked| asked.distinct) else {
            let grouping = grouping(&scope, &keys, &asked)?;
            let rows = groups(below, grouping)?;
            return Some(Part { rows, found });
        };
        let mut of_keys = values_of(&scope, &keys)?;
        // Values that count once are keys of groups, and these are grouped again.
        let value = distinct.argument.clone();
        let kind = scope.kind_of(&value)?;
        let first = of_keys.len();
        let fits = |asked: &Asked| {
            let adds_up = adds_up(asked.function);
            asked.filter.is_none() && adds_up && (!asked.distinct || asked.argument == value)
        };
        if Kind::of(&kind) == Kind::Other || !asked.iter().all(fits) {
            return None;
        }
        of_keys.push((scope.program(&value)?, kind.clone()));
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for asked in &asked {
            let one = asked.aggregate(&scope)?;
            if asked.distinct {
                outside.push(Aggregate {
                    argument: Some(Expression::Column(first)),
                    input: kind.clone(),
                    ..one
                });
                continue;
            }
            outside.push(added_up(&one, first + 1 + inside.len()));
            inside.push(partial(one));
        }
        let before = Grouping {
            keys: of_keys,
            aggregates: inside,
            lead: Lead::default(),
        };
        let kinds = before.keys.iter().take(first).enumerate();
        let after = Grouping {
            keys: kinds
                .map(|(at, (_, kind))| (Expression::Column(at), kind.clone()))
                .collect(),
            aggregates: outside,
            lead: Lead::default(),
        };
        let rows = groups(below, before)?;
        let types = types(&after);
        let mut rows = grouped(rows, after, types.clone());
        if first == 0 {
            let values = asked.iter().enumerate().map(|(at, asked)| {
                let value = Expression::Column(at);
                match asked.is_added_up() {
                    true => or_none(value),
                    false => value,
                }
            });
            rows = chosen(rows, values.collect(), types);
        }
        Some(Part { rows, found })
    }

    /// Results that are computed of those of groups.
    fn after(&self, part: Part, after: Vec<After<'_>>) -> Result<Part> {
        if after.is_empty() {
            return Ok(part);
        }
        let mut values = Vec::with_capacity(after.len());
        for after in after {
            values.push(match after {
                After::Mean(column, sum, count) => {
                    let value = self.lowering.evaluated(&quotient(&sum, &count)?)?;
                    let number = Type::Numeric(None);
                    (column, Typed::new(exact(value, &number)?, number.arrow()))
                }
                After::Field(column, of, function) => {
                    let number = Type::Numeric(None);
                    let value = Bound::call(function, vec![of.reference()], number);
                    (column, self.lowering.evaluated(&value)?)
                }
                After::Float(column, of, kind) => {
                    let found = self.lowering.column(of.id)?;
                    (column, floats::float(Typed::new(found.expr, kind)))
                }
                After::Value(column, of, kind) => {
                    let found = self.lowering.column(of.id)?;
                    (column, canonical::restored(found, &kind))
                }
            });
        }
        let scope = Scope::over(&part.found);
        let mut found = Vec::with_capacity(values.len());
        for (column, Typed { expr, kind }) in values {
            let expression = scope.expr(&expr)?;
            found.push((column, expression, kind));
        }
        let mut add = Added::over(self, &part);
        for (column, expression, kind) in found {
            add.push(self.find(column, &kind), expression, kind);
        }
        Ok(add.part(part.rows))
    }

    pub(super) fn distinct(&self, plan: &Plan, input: &Plan) -> Result<Part> {
        let columns = input.columns();
        let part = self.part(input)?;
        self.once(plan, part, &columns)
    }

    /// Equal rows of a node once.
    pub(super) fn once(&self, plan: &Plan, part: Part, columns: &[Column]) -> Result<Part> {
        let compared = |column: &Column| -> Result<bool> {
            let typed = self.lowering.column(column.id)?;
            let is_same = canonical::kind(&column.ty, &typed.kind).is_none();
            Ok(is_same && Kind::of(&typed.kind) != Kind::Other)
        };
        for column in columns {
            if !compared(column)? {
                let keys: Vec<_> = columns
                    .iter()
                    .map(|column| (column.clone(), column.reference()))
                    .collect();
                let below = Below::Part(Box::new(part));
                return self.groups_of(plan, below, &keys, &[], None, &[]);
            }
        }
        self.spend(plan);
        if columns.is_empty() {
            let Part { rows, found } = part;
            let limit = Limit {
                skip: 0,
                fetch: Some(1),
            };
            let rows = cut(rows, 0, Some(1), |plan| Node::Limit(plan, limit));
            return Ok(Part { rows, found });
        }
        let mut keys: Vec<Key> = Vec::with_capacity(columns.len());
        for column in columns {
            let typed = self.lowering.column(column.id)?;
            let is_same = canonical::kind(&column.ty, &typed.kind).is_none();
            let (true, Expr::Column(place)) = (is_same, &typed.expr) else {
                return Err(uncompared(&column.ty));
            };
            if keys.iter().any(|key| key.name == *place) {
                continue;
            }
            keys.push(Key {
                name: place.clone(),
                value: typed.expr,
                kind: typed.kind,
            });
        }
        let rows = self.grouped(Below::Part(Box::new(part)), keys, Vec::new());
        rows.ok_or_else(|| Error::internal("equal rows that the bulk engine has not"))
    }
}

/// The error of values that are compared in another form than they are held in.
fn uncompared(ty: &Type) -> Error {
    Error::internal(format!("values of {ty} that are compared as they are"))
}

/// Whether results of an aggregate's parts can be added up.
fn adds_up(function: Simple) -> bool {
    use Simple::{Count, Greatest, Least, Sum};
    [Count, Sum, Least, Greatest].contains(&function)
}

/// The integer by which values of a field of dates are grouped that are not decimals of one scale,
/// and the function that gives the field's value.
fn numbered(value: &Bound) -> Option<(Bound, Arc<Declared>)> {
    let ExprKind::Call {
        function,
        arguments,
    } = &value.kind
    else {
        return None;
    };
    let [name, of] = arguments.as_slice() else {
        return None;
    };
    if function.name != EXTRACT {
        return None;
    }
    let numbers = ordinals(name.literal_text()?, &of.ty)?;
    let ordinal = Bound::call(numbers.of, arguments.clone(), Type::Int8);
    Some((ordinal, numbers.value))
}

/// A sum of counts; that of none is NULL, and the count 0.
pub(super) fn or_none(sum: Expression) -> Expression {
    let is_null = Expression::IsNull(Box::new(sum.clone()));
    let none = Expression::Constant(Constant::Int(0));
    Expression::Case(vec![(is_null, none)], Some(Box::new(sum)))
}

/// Keys and calls over the columns of a scope.
pub(super) fn grouping(scope: &Scope<'_>, keys: &[Key], asked: &[Asked]) -> Option<Grouping> {
    let aggregates = asked.iter().map(|asked| asked.aggregate(scope));
    Some(Grouping {
        keys: values_of(scope, keys)?,
        aggregates: aggregates.collect::<Option<_>>()?,
        lead: Lead::default(),
    })
}

fn values_of(scope: &Scope<'_>, keys: &[Key]) -> Option<Vec<(Expression, DataType)>> {
    let keys = keys.iter();
    keys.map(|key| Some((scope.program(&key.value)?, key.kind.clone())))
        .collect()
}

impl Asked {
    /// Whether it is a count, of which those of parts are added up.
    pub(super) fn is_added_up(&self) -> bool {
        self.function == Simple::Count && !self.distinct
    }

    fn aggregate(&self, scope: &Scope<'_>) -> Option<Aggregate> {
        let filter = self.filter.as_ref();
        aggregated(scope, self.function, &self.argument, filter, &self.kind)
    }
}

/// Types of the columns of groups.
pub(super) fn types(grouping: &Grouping) -> Vec<DataType> {
    let keys = grouping.keys.iter().map(|(_, kind)| kind.clone());
    let aggregates = grouping.aggregates.iter().map(|one| one.kind.clone());
    keys.chain(aggregates).collect()
}

/// Groups of rows; those of joins before the joins where that is better.
pub(super) fn groups(below: Below, grouping: Grouping) -> Option<crate::engine::Converted> {
    let types = types(&grouping);
    match below {
        Below::Part(part) => Some(grouped(part.rows, grouping, types)),
        Below::Cluster(cluster, _) => {
            let Early { cluster, grouping } = early(cluster, grouping)?;
            of_cluster(cluster, grouping, types)
        }
    }
}
