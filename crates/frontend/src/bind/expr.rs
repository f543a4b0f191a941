//! Expressions.

use std::sync::Arc;

use arrow_buffer::IntervalMonthDayNano;
use sqlparser::ast::{
    AccessExpr, Array, CastKind, CeilFloorKind, DataType, DateTimeField, Expr as Ast, Ident,
    Interval, IntervalFields, Subscript, TrimWhereField, TypedString, Value, ValueWithSpan,
};

use super::columns::{each_of, misplaced};
use super::function::Called;
use super::operator::symbol;
use super::scope::{Clause, Named, Scope};
use super::subquery::is_large;
use super::{
    Binder, Coercion, DECLARED_DIGITS, at, fold, many_digits, parts, place, refuse, written_fields,
    written_type,
};
use crate::error::{Error, Position, Result};
use crate::functions::relabelling;
use crate::plan::{Expr, ExprKind};
use crate::syntax::marks::{
    ALL, ANY, ASSIGN, COLUMNS_OF, PREFIX, SPREAD, USING, WHOLE_ROW, marked, marked_call,
};
use crate::types::{Category, Type, modifier};
use crate::values::array_text::{MOST_DIMENSIONS, too_many_dimensions};
use crate::values::datetime::{
    IntervalStyle, SpanField, SpanFields, interval_out_of_range, read_interval,
};

impl Binder<'_> {
    /// An expression, with its types.
    pub(super) fn bind_expr(&mut self, expr: &Ast) -> Result<Expr> {
        self.enter()?;
        let shares = |scope: &Scope| !scope.of_keys.is_empty() && scope.clause != Clause::Where;
        let bound = match self.scopes.last().is_some_and(shares) {
            true => self.bind_shared(expr),
            false => self.bind_inner(expr),
        };
        self.leave();
        bound
    }

    /// An expression of a query whose GROUP BY has sub-queries.
    fn bind_shared(&mut self, expr: &Ast) -> Result<Expr> {
        let own = &mut self.scope()?.of_keys;
        let Some(at) = own.iter().position(|(written, _)| written == expr) else {
            return self.bind_inner(expr);
        };
        if let (_, Some(known)) = &own[at] {
            return Ok(known.clone());
        }
        let bound = self.bind_inner(expr)?;
        self.scope()?.of_keys[at].1 = Some(bound.clone());
        Ok(bound)
    }

    /// A condition.
    pub(super) fn bind_condition(&mut self, expr: &Ast, what: &str) -> Result<Expr> {
        let bound = self.bind_expr(expr)?;
        self.condition(bound, what)
    }

    fn bind_inner(&mut self, expr: &Ast) -> Result<Expr> {
        match expr {
            Ast::Identifier(ident) => self.identifier(ident),
            Ast::CompoundIdentifier(idents) => self.compound(idents),
            Ast::Value(value) => self.literal(value),
            Ast::Nested(inner) => self.bind_expr(inner),
            Ast::BinaryOp { left, op, right } => self.bind_binary(expr, left, op, right),
            Ast::UnaryOp { op, expr } => self.bind_unary(op, expr),
            Ast::IsNull(inner) => self.null_test(inner, true),
            Ast::IsNotNull(inner) => self.null_test(inner, false),
            Ast::Function(call) => match self.prefix_call(expr)? {
                Some(bound) => Ok(bound),
                None => self.bind_call(call),
            },
            Ast::Cast {
                kind,
                expr,
                data_type,
                array,
                format,
            } => {
                refuse(*array, "CAST … ARRAY")?;
                refuse(format.is_some(), "CAST … FORMAT")?;
                self.bind_cast(expr, data_type, kind)
            }
            Ast::TypedString(TypedString {
                data_type,
                value,
                uses_odbc_syntax: _,
            }) => self.typed_string(data_type, value),
            other => self.bind_rare(other),
        }
    }

    /// Forms that are apart, so that the frame of the recursion stays small.
    #[inline(never)]
    fn bind_rare(&mut self, expr: &Ast) -> Result<Expr> {
        match expr {
            Ast::IsTrue(inner) => self.truth_test(inner, Some(true), false),
            Ast::IsNotTrue(inner) => self.truth_test(inner, Some(true), true),
            Ast::IsFalse(inner) => self.truth_test(inner, Some(false), false),
            Ast::IsNotFalse(inner) => self.truth_test(inner, Some(false), true),
            Ast::IsUnknown(inner) => self.truth_test(inner, None, false),
            Ast::IsNotUnknown(inner) => self.truth_test(inner, None, true),
            Ast::IsDistinctFrom(left, right) => {
                let rows = is_row(left) && is_row(right);
                let (left, right) = (self.bind_expr(left)?, self.bind_expr(right)?);
                self.distinct_from(left, right, rows)
            }
            Ast::IsNotDistinctFrom(left, right) => {
                let rows = is_row(left) && is_row(right);
                let (left, right) = (self.bind_expr(left)?, self.bind_expr(right)?);
                Ok(self.distinct_from(left, right, rows)?.not())
            }
            Ast::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let both = self.between(expr, low, high)?;
                Ok(if *negated { both.not() } else { both })
            }
            Ast::InList {
                expr,
                list,
                negated,
            } => self.in_list(expr, list, *negated),
            Ast::InSubquery {
                expr,
                subquery,
                negated,
            } => {
                let found = self.in_subquery(expr, subquery)?;
                Ok(if *negated { found.not() } else { found })
            }
            Ast::Exists { subquery, negated } => {
                let exists = self.exists(subquery)?;
                Ok(if *negated { exists.not() } else { exists })
            }
            Ast::Subquery(query) => self.scalar_subquery(query),
            Ast::AnyOp {
                left,
                compare_op,
                right,
                is_some: _,
            } => self.quantified(left, compare_op, right, false),
            Ast::AllOp {
                left,
                compare_op,
                right,
            } => self.quantified(left, compare_op, right, true),
            Ast::Case {
                case_token: _,
                end_token: _,
                operand,
                conditions,
                else_result,
            } => self.case(operand.as_deref(), conditions, else_result.as_deref()),
            Ast::Like {
                negated,
                any,
                expr,
                pattern,
                escape_char,
            } => {
                if *any {
                    refuse(escape_char.is_some(), "ESCAPE of LIKE ANY")?;
                    let symbol = ["~~", "!~~"][usize::from(*negated)];
                    return self.quantified_by(expr, symbol, pattern, false);
                }
                self.like(
                    (expr, pattern),
                    escape_char.as_ref(),
                    *negated,
                    ["~~", "!~~"],
                )
            }
            Ast::ILike {
                negated,
                any,
                expr,
                pattern,
                escape_char,
            } => {
                if *any {
                    refuse(escape_char.is_some(), "ESCAPE of ILIKE ANY")?;
                    let symbol = ["~~*", "!~~*"][usize::from(*negated)];
                    return self.quantified_by(expr, symbol, pattern, false);
                }
                self.like(
                    (expr, pattern),
                    escape_char.as_ref(),
                    *negated,
                    ["~~*", "!~~*"],
                )
            }
            Ast::SimilarTo {
                negated,
                expr,
                pattern,
                escape_char,
            } => self.similar((expr, pattern), escape_char.as_ref(), *negated),
            Ast::Array(Array { elem, named }) => self.array(elem, *named, None),
            Ast::Tuple(values) => self.row(values.iter()),
            Ast::Interval(interval) => self.interval(interval),
            Ast::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            _ => self.bind_special(expr),
        }
    }

    /// Functions with a syntax of their own.
    #[inline(never)]
    fn bind_special(&mut self, expr: &Ast) -> Result<Expr> {
        match expr {
            Ast::AtTimeZone {
                timestamp,
                time_zone,
            } => {
                let (value, zone) = (self.bind_expr(timestamp)?, self.bind_expr(time_zone)?);
                self.catalogued("timezone", vec![zone, value])
            }
            Ast::Extract {
                field,
                syntax: _,
                expr,
            } => {
                let field = Expr::text(&field_name(field), Type::Text);
                let value = self.bind_expr(expr)?;
                let bound = self.catalogued("extract", vec![field, value]);
                bound.map_err(|mut error| {
                    error.message = error.message.replace("extract(text,", "extract(unknown,");
                    error
                })
            }
            Ast::Ceil { expr, field } => self.ceil_or_floor("ceil", expr, field),
            Ast::Floor { expr, field } => self.ceil_or_floor("floor", expr, field),
            Ast::Position { expr, r#in } => {
                let (part, whole) = (self.bind_expr(expr)?, self.bind_expr(r#in)?);
                self.catalogued("position", vec![whole, part])
            }
            Ast::Substring {
                expr,
                substring_from,
                substring_for,
                special,
                shorthand,
            } => {
                let value = self.bind_expr(expr)?;
                let from = substring_from
                    .as_deref()
                    .map(|from| self.bind_expr(from))
                    .transpose()?;
                let length = substring_for
                    .as_deref()
                    .map(|n| self.bind_expr(n))
                    .transpose()?;
                let mut arguments = vec![value];
                match (from, length) {
                    (None, Some(length)) => arguments.extend([Expr::int4(1), length]),
                    (from, length) => arguments.extend(from.into_iter().chain(length)),
                }
                match *special || *shorthand {
                    true => self.function("substring", arguments),
                    false => self.catalogued("substring", arguments),
                }
            }
            Ast::Trim {
                trim_where,
                trim_what,
                expr,
                trim_characters,
            } => {
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    _ => "btrim",
                };
                let mut arguments = vec![self.bind_expr(expr)?];
                if let Some(what) = trim_what {
                    arguments.push(self.bind_expr(what)?);
                }
                for more in trim_characters.iter().flatten() {
                    arguments.push(self.bind_expr(more)?);
                }
                self.catalogued(name, arguments)
            }
            Ast::Overlay {
                expr,
                overlay_what,
                overlay_from,
                overlay_for,
            } => {
                let mut arguments = vec![
                    self.bind_expr(expr)?,
                    self.bind_expr(overlay_what)?,
                    self.bind_expr(overlay_from)?,
                ];
                if let Some(length) = overlay_for {
                    arguments.push(self.bind_expr(length)?);
                }
                self.catalogued("overlay", arguments)
            }
            Ast::IsNormalized {
                expr,
                form,
                negated,
            } => {
                let form = form.map_or_else(|| "NFC".to_owned(), |form| form.to_string());
                let arguments = vec![self.bind_expr(expr)?, Expr::text(&form, Type::Text)];
                let found = self.function("is_normalized", arguments)?;
                Ok(if *negated { found.not() } else { found })
            }
            Ast::Collate { expr, collation } => {
                let names = parts(collation)?;
                let name = names.last().map_or("", String::as_str);
                if !matches!(name, "C" | "POSIX" | "default" | "ucs_basic" | "binary") {
                    let message = format!("collation \"{name}\" does not exist");
                    return Err(Error::new("42704", message)
                        .with_hint("Texts are ordered by COLLATE \"C\"."));
                }
                let value = self.bind_expr(expr)?;
                if value.ty != Type::Unknown && value.ty.category() != Category::String {
                    return Err(Error::new(
                        "42804",
                        format!("collations are not supported by type {}", value.ty.base()),
                    )
                    .at(super::name_place(collation)));
                }
                Ok(value)
            }
            Ast::Named { expr, name: _ } => self.bind_expr(expr),
            Ast::Prefixed { prefix, value } => self.prefixed(prefix, value),
            Ast::GroupingSets(_) | Ast::Cube(_) | Ast::Rollup(_) => Err(Error::new(
                "42601",
                "GROUPING SETS, CUBE and ROLLUP stand in GROUP BY only",
            )),
            Ast::Wildcard(_) | Ast::QualifiedWildcard(..) => {
                Err(Error::new("42601", "syntax error at or near \"*\""))
            }
            other => Err(Error::unsupported(format!(
                "expressions such as {} are not supported",
                crate::syntax::shown(&shortened(&other.to_string()))
            ))),
        }
    }

    /// `a BETWEEN low AND high`, SYMMETRIC or not.
    fn between(&mut self, expr: &Ast, low: &Ast, high: &Ast) -> Result<Expr> {
        let (rows, low_row, high_row) = (is_row(expr), is_row(low), is_row(high));
        let value = self.bind_expr(expr)?;
        if let Some(low) = symmetric(low) {
            let (low, high) = (self.bind_expr(low)?, self.bind_expr(high)?);
            let within = self.once(value, |binder, value| {
                binder.once(low, |binder, low| {
                    binder.once(high, |binder, high| {
                        binder.between_symmetric(value, low, high)
                    })
                })
            })?;
            return Ok(within);
        }
        let (low, high) = (self.bind_expr(low)?, self.bind_expr(high)?);
        // Both comparisons compute a value that differs from call to call.
        let twice = value.is_volatile() && !is_large(&value);
        let both = move |binder: &mut Self, value: Expr| {
            let again = (binder.copy(&value)?, rows);
            let from = binder.beside(">=", again, (low, low_row))?;
            let to = binder.beside("<=", (value, rows), (high, high_row))?;
            Ok(Expr::and([from, to]))
        };
        let both = match rows || twice {
            true => both(self, value)?,
            false => self.once(value, both)?,
        };
        Ok(both)
    }

    /// A function by a syntax of its own, which is that of PostgreSQL's catalogue.
    fn catalogued(&mut self, name: &str, arguments: Vec<Expr>) -> Result<Expr> {
        self.function(name, arguments).map_err(|mut error| {
            if let Some(rest) = error.message.strip_prefix("function ")
                && !rest.starts_with("pg_catalog.")
            {
                error.message = format!("function pg_catalog.{rest}");
            }
            error
        })
    }

    fn identifier(&mut self, ident: &sqlparser::ast::Ident) -> Result<Expr> {
        match self.named_column(ident) {
            Ok(found) => Ok(found),
            Err(error) => {
                // Functions that are called without brackets.
                match is_bare_function(ident) {
                    true => self.function(&fold(ident), Vec::new()),
                    false if ident.quote_style.is_none() && fold(ident) == "default" => {
                        let message = "DEFAULT is not allowed in this context";
                        Err(Error::new("42601", message).at(place(ident)))
                    }
                    false => Err(error),
                }
            }
        }
    }

    fn compound(&mut self, idents: &[sqlparser::ast::Ident]) -> Result<Expr> {
        if let [before @ .., last] = idents
            && marked(last, WHOLE_ROW).is_some()
        {
            return self.rows_of(before);
        }
        if idents.len() > 4 {
            let shown: Vec<&str> = idents.iter().map(|ident| ident.value.as_str()).collect();
            return Err(Error::new(
                "42601",
                format!(
                    "improper qualified name (too many dotted names): {}",
                    shown.join(".")
                ),
            )
            .at(idents.first().and_then(place)));
        }
        match self.qualified_column(idents) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            // `t.f` may be f(t).
            Err(error) => {
                let function = match idents {
                    [relation, name] if error.sqlstate == "42703" => {
                        // A field is known by the name that the query gives its column.
                        let is_field = |row: &Expr| {
                            matches!(&row.ty, Type::Record(fields)
                                if fields.iter().any(|(field, _)| *field == fold(name)))
                        };
                        let row = self.relation_row(&fold(relation));
                        let row = row.filter(|row| !is_field(row));
                        row.and_then(|row| self.attribute(&fold(name), row))
                    }
                    _ => None,
                };
                return function.ok_or(error);
            }
        }
        // A field of a column that is a record.
        let (last, before) = match idents {
            [before @ .., last] if !before.is_empty() => (last, before),
            _ => return Err(Error::internal("a name without parts")),
        };
        let root = match before {
            [one] => self.named_column(one).ok(),
            more => self.qualified_column(more).ok().flatten(),
        };
        if let Some(root) = root.filter(|root| matches!(root.ty, Type::Record(_))) {
            return self.field(root, &fold(last), place(last));
        }
        let relation = before.last().map(fold).unwrap_or_default();
        Err(self.missing_from(&relation, before.first().and_then(place)))
    }

    /// `t.*` inside an expression: the rows of a relation.
    fn rows_of(&self, idents: &[sqlparser::ast::Ident]) -> Result<Expr> {
        let (name, schema) = match idents {
            [name] => (name, None),
            [.., schema, name] => (name, Some(fold(schema))),
            [] => return Err(Error::internal("a name without parts")),
        };
        let folded = fold(name);
        let named = self
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.names.relation(schema.as_deref(), &folded));
        match named {
            Some(named) => Ok(self.whole_row(named)),
            None => Err(self.missing_from(&folded, idents.first().and_then(place))),
        }
    }

    /// A prefix operator or `ORDER BY … USING`, which the syntax has as calls.
    fn prefix_call(&mut self, expr: &Ast) -> Result<Option<Expr>> {
        if let Some((symbol, operands)) = marked_call(expr, PREFIX) {
            let [operand] = operands.as_slice() else {
                return Err(Error::internal("a prefix operator of several operands"));
            };
            let operand = self.bind_expr(operand)?;
            return self.prefix(symbol, operand).map(Some);
        }
        if let Some((_, operands)) = marked_call(expr, ASSIGN) {
            let [target, value] = operands.as_slice() else {
                return Err(Error::internal("an assignment that is none"));
            };
            return self.assigned_elements(target, value).map(Some);
        }
        if let Some((symbol, operands)) = marked_call(expr, USING) {
            let [operand] = operands.as_slice() else {
                return Err(Error::internal("a key of an order of several values"));
            };
            let operand = self.bind_expr(operand)?;
            self.operator(symbol, &[&operand, &operand])?;
            return Err(Error::new(
                "42809",
                format!("operator {symbol} is not a valid ordering operator"),
            )
            .with_hint(
                "Ordering operators must be \"<\" or \">\" members of btree operator families.",
            ));
        }
        if let Some(bound) = self.columns_call(expr)? {
            return Ok(Some(bound));
        }
        if marked_call(expr, ANY)
            .or_else(|| marked_call(expr, ALL))
            .is_some()
        {
            return Err(Error::new(
                "42809",
                "op ANY/ALL (array) requires operator to yield boolean",
            ));
        }
        Ok(None)
    }

    /// A condition, which may stand for several expressions; COLUMNS stands nowhere else.
    #[inline(never)]
    fn columns_call(&mut self, expr: &Ast) -> Result<Option<Expr>> {
        if let Some(inner) = each_of(expr) {
            return self.each_condition(inner).map(Some);
        }
        match marked_call(expr, COLUMNS_OF).or_else(|| marked_call(expr, SPREAD)) {
            Some(_) => Err(misplaced().at(place_of_call(expr))),
            None => Ok(None),
        }
    }

    /// A function in the notation of a field, if there is one that takes the value.
    fn attribute(&mut self, name: &str, value: Expr) -> Option<Expr> {
        // A row's cast to a text is not written so.
        if matches!(value.ty, Type::Record(_)) && crate::types::named(name).is_some() {
            return None;
        }
        if let Ok(own) = self.catalog.sql_functions(None, name)
            && !own.is_empty()
        {
            let called = self.sql_call(name, &own, vec![value], Vec::new(), None, false);
            return match called.ok()? {
                Called::Value(value) => Some(value),
                Called::Record(plan, row) => Some(self.record_of(plan, row)),
                Called::Rows(..) => None,
            };
        }
        self.function(name, vec![value]).ok()
    }

    pub(super) fn field(
        &mut self,
        root: Expr,
        name: &str,
        position: Option<crate::Position>,
    ) -> Result<Expr> {
        let has = match &root.ty {
            Type::Record(fields) => fields.iter().any(|(field, _)| field == name),
            _ => false,
        };
        if !has && let Some(called) = self.attribute(name, root.clone()) {
            return Ok(called);
        }
        let Type::Record(fields) = &root.ty else {
            return Err(Error::new(
                "42809",
                format!(
                    "column notation .{name} applied to type {}, which is not a composite type",
                    root.ty
                ),
            )
            .at(position));
        };
        let found = fields.iter().position(|(field, _)| field == name);
        let Some(found) = found else {
            let message = match fields.name() {
                Some(ty) => format!("column \"{name}\" not found in data type {ty}"),
                None => format!("could not identify column \"{name}\" in record data type"),
            };
            return Err(Error::new("42703", message).at(position));
        };
        let ty = fields[found].1.clone();
        if let ExprKind::Row(values) = root.kind {
            return values
                .into_iter()
                .nth(found)
                .ok_or_else(|| Error::internal("a record without its field"));
        }
        Ok(Expr::new(ExprKind::Field(Box::new(root), found), ty))
    }

    fn bind_binary(
        &mut self,
        whole: &Ast,
        left: &Ast,
        op: &sqlparser::ast::BinaryOperator,
        right: &Ast,
    ) -> Result<Expr> {
        use sqlparser::ast::BinaryOperator as O;
        match op {
            O::And | O::Or => self.bind_chain(whole, op),
            O::Overlaps => self.overlaps(left, right),
            op => {
                for (mark, all) in [(ANY, false), (ALL, true)] {
                    if let Some((_, operands)) = marked_call(right, mark)
                        && let [operand] = operands.as_slice()
                    {
                        return self.quantified(left, op, operand, all);
                    }
                }
                let symbol = symbol(op)?;
                let rows = is_row(left);
                if let (true, Some(query)) = (rows, subquery(right)) {
                    return self.row_subquery(&symbol, left, query);
                }
                let left = self.bind_expr(left)?;
                let rows = rows && is_row(right);
                let right = self.bind_expr(right)?;
                if rows {
                    return self.written_rows(&symbol, left, right);
                }
                if symbol == "//" {
                    return self.whole_quotient(left, right);
                }
                self.binary(&symbol, left, right)
            }
        }
    }

    /// DuckDB's `a // b`: of integers their quotient, of other numbers its floor.
    fn whole_quotient(&mut self, left: Expr, right: Expr) -> Result<Expr> {
        let is_number =
            |expr: &Expr| matches!(expr.ty.category(), Category::Number | Category::Unknown);
        if !is_number(&left) || !is_number(&right) {
            return self.binary("//", left, right);
        }
        let quotient = self.binary("/", left, right)?;
        match quotient.ty {
            Type::Int2 | Type::Int4 | Type::Int8 => Ok(quotient),
            _ => self.function("floor", vec![quotient]),
        }
    }

    /// A chain of AND or OR, which is a tree in the syntax, without recursion.
    fn bind_chain(&mut self, whole: &Ast, wanted: &sqlparser::ast::BinaryOperator) -> Result<Expr> {
        let is_and = *wanted == sqlparser::ast::BinaryOperator::And;
        let name = if is_and { "AND" } else { "OR" };
        let mut bound = Vec::new();
        let mut open = vec![whole];
        while let Some(term) = open.pop() {
            match term {
                Ast::BinaryOp { left, op, right } if op == wanted => {
                    open.extend([right.as_ref(), left.as_ref()]);
                }
                term => bound.push(self.bind_condition(term, name)?),
            }
        }
        Ok(if is_and {
            Expr::and(bound)
        } else {
            Expr::or(bound)
        })
    }

    fn overlaps(&mut self, left: &Ast, right: &Ast) -> Result<Expr> {
        let (Some(left), Some(right)) = (row_parts(left), row_parts(right)) else {
            return Err(Error::new(
                "42601",
                "wrong number of parameters on left side of OVERLAPS expression",
            ));
        };
        for (row, side) in [(&left, "left"), (&right, "right")] {
            if row.len() != 2 {
                return Err(Error::new(
                    "42601",
                    format!("wrong number of parameters on {side} side of OVERLAPS expression"),
                ));
            }
        }
        let mut arguments = Vec::new();
        for part in left.into_iter().chain(right) {
            arguments.push(self.bind_expr(part)?);
        }
        self.catalogued("overlaps", arguments)
    }

    fn bind_unary(&mut self, op: &sqlparser::ast::UnaryOperator, inner: &Ast) -> Result<Expr> {
        // The least integers are written with a sign.
        if *op == sqlparser::ast::UnaryOperator::Minus
            && let Ast::Value(ValueWithSpan {
                value: Value::Number(digits, false),
                span,
            }) = inner
            && (digits == "9223372036854775808" || digits == "2147483648")
        {
            let value = ValueWithSpan {
                value: Value::Number(format!("-{digits}"), false),
                span: *span,
            };
            return self.literal(&value);
        }
        // A sign binds closer than a power: -2 ^ 2 is 4.
        if let (
            sqlparser::ast::UnaryOperator::Minus | sqlparser::ast::UnaryOperator::Plus,
            Ast::BinaryOp {
                left,
                op: power @ sqlparser::ast::BinaryOperator::PGExp,
                right,
            },
        ) = (op, inner)
        {
            let signed = Ast::UnaryOp {
                op: *op,
                expr: Box::new(copied(left)),
            };
            let whole = Ast::BinaryOp {
                left: Box::new(signed),
                op: power.clone(),
                right: Box::new(copied(right)),
            };
            return self.bind_expr(&whole);
        }
        let operand = self.bind_expr(inner)?;
        self.unary(op, operand)
    }

    fn null_test(&mut self, inner: &Ast, wanted: bool) -> Result<Expr> {
        let value = self.bind_expr(inner)?;
        // A row is NULL if all its fields are, and not NULL if none is.
        if let ExprKind::Row(values) = value.kind {
            let tests = values.into_iter().map(|value| match wanted {
                true => value.is_null(),
                false => value.is_null().not(),
            });
            return Ok(Expr::and(tests));
        }
        let value = self.known_expr(value)?;
        let Type::Record(fields) = &value.ty else {
            return Ok(match wanted {
                true => value.is_null(),
                false => value.is_null().not(),
            });
        };
        // So it is with records that come from elsewhere.
        let types: Vec<Type> = fields.iter().map(|(_, ty)| ty.clone()).collect();
        self.once(value, |binder, value| {
            let mut tests = Vec::with_capacity(types.len());
            for (at, ty) in types.into_iter().enumerate() {
                let record = Box::new(binder.copy(&value)?);
                let is_null = Expr::new(ExprKind::Field(record, at), ty).is_null();
                tests.push(if wanted { is_null } else { is_null.not() });
            }
            let all = Expr::and(tests);
            let whole = value.is_null();
            Ok(match wanted {
                true => Expr::or([whole, all]),
                false => Expr::and([whole.not(), all]),
            })
        })
    }

    /// Whether a value is between two others, the lesser of which may be either.
    fn between_symmetric(&mut self, value: Expr, a: Expr, b: Expr) -> Result<Expr> {
        let mut within = |low: &Expr, high: &Expr| {
            let copies = [self.copy(&value)?, self.copy(&value)?];
            let bounds = [self.copy(low)?, self.copy(high)?];
            let ([first, second], [low, high]) = (copies, bounds);
            let from = self.binary(">=", first, low)?;
            let to = self.binary("<=", second, high)?;
            Ok::<Expr, Error>(Expr::and([from, to]))
        };
        Ok(Expr::or([within(&a, &b)?, within(&b, &a)?]))
    }

    /// An operator between two operands, rows that are written out among them.
    fn beside(
        &mut self,
        symbol: &str,
        (left, left_row): (Expr, bool),
        (right, right_row): (Expr, bool),
    ) -> Result<Expr> {
        match left_row && right_row {
            true => self.written_rows(symbol, left, right),
            false => self.binary(symbol, left, right),
        }
    }

    /// IS [NOT] TRUE, FALSE or UNKNOWN.
    fn truth_test(&mut self, inner: &Ast, wanted: Option<bool>, negated: bool) -> Result<Expr> {
        let not = if negated { " NOT" } else { "" };
        let word = match wanted {
            Some(true) => "TRUE",
            Some(false) => "FALSE",
            None => "UNKNOWN",
        };
        let value = self.bind_condition(inner, &format!("IS{not} {word}"))?;
        let found = match wanted {
            None => value.is_null(),
            Some(wanted) => {
                let value = if wanted { value } else { value.not() };
                Expr::new(
                    ExprKind::Coalesce(vec![value, Expr::bool(false)]),
                    Type::Bool,
                )
            }
        };
        Ok(if negated { found.not() } else { found })
    }

    fn bind_cast(&mut self, inner: &Ast, to: &DataType, kind: &CastKind) -> Result<Expr> {
        if let DataType::Interval { fields, precision } = to
            && (fields.is_some() || precision.is_some())
        {
            return self.interval_cast(inner, fields.as_ref(), *precision, kind);
        }
        if let Some(domain) = self.domain(to)? {
            let value = self.bind_expr(inner)?;
            return match kind {
                CastKind::Cast | CastKind::DoubleColon => self.of_domain(value, &domain),
                CastKind::TryCast | CastKind::SafeCast => {
                    Err(Error::unsupported("TRY_CAST to a domain is not supported"))
                }
            };
        }
        if let Some((precision, scale)) = many_digits(to)? {
            let value = self.bind_expr(inner)?;
            return self.numeric_cast(value, precision, scale, kind);
        }
        let to = written_type(to, self.catalog)?;
        let mut operand = inner;
        while let Ast::Nested(within) = operand {
            operand = within;
        }
        let value = match (operand, &to) {
            (Ast::Array(Array { elem, named }), Type::Array(_)) => {
                self.array(elem, *named, Some(&to))?
            }
            _ => self.bind_expr(inner)?,
        };
        match kind {
            CastKind::Cast | CastKind::DoubleColon => {
                let value = self.coerce(value, &to, Coercion::Explicit)?;
                Ok(self.with_digits_marked(value))
            }
            CastKind::TryCast | CastKind::SafeCast if self.has_domains(&to)? => {
                Err(Error::unsupported("TRY_CAST to a domain is not supported"))
            }
            CastKind::TryCast | CastKind::SafeCast => {
                let value = self.try_cast(value, &to)?;
                Ok(self.with_digits_marked(value))
            }
        }
    }

    /// See [`Binder::marking_digits`].
    pub(super) fn with_digits_marked(&mut self, value: Expr) -> Expr {
        if !self.marks_digits || !matches!(value.ty, Type::Numeric(Some(_))) {
            return value;
        }
        let ty = value.ty.clone();
        let key = (DECLARED_DIGITS.to_owned(), vec![ty.clone()]);
        let made = || Arc::new(relabelling(DECLARED_DIGITS, &ty, &ty));
        let function = Arc::clone(self.shared.entry(key).or_insert_with(made));
        Expr::call(function, vec![value], ty)
    }

    /// A cast to an INTERVAL of some fields or digits, for which its type has no place: literals
    /// are read by them, other values restricted to them.
    fn interval_cast(
        &mut self,
        inner: &Ast,
        fields: Option<&IntervalFields>,
        precision: Option<u64>,
        kind: &CastKind,
    ) -> Result<Expr> {
        let value = self.bind_expr(inner)?;
        if !matches!(kind, CastKind::Cast | CastKind::DoubleColon) {
            return Err(Error::unsupported(
                "TRY_CAST to an INTERVAL of some fields is not supported",
            ));
        }
        let of = written_fields(fields, precision);
        if value.is_literal_null() {
            return Ok(Expr::null(Type::Interval));
        }
        if value.ty == Type::Unknown
            && let Some(text) = value.literal_text()
        {
            return self.interval_literal(text, of);
        }
        let to = match value.ty.is_string() {
            true => Type::Text,
            false => Type::Interval,
        };
        let value = self.coerce(value, &to, Coercion::Explicit)?;
        let fields = Expr::int4(modifier::of_fields(of));
        self.function("interval", vec![value, fields])
    }

    /// A cast to a NUMERIC of digits that its type has no place for.
    fn numeric_cast(
        &mut self,
        value: Expr,
        precision: u32,
        scale: i32,
        kind: &CastKind,
    ) -> Result<Expr> {
        if !matches!(kind, CastKind::Cast | CastKind::DoubleColon) {
            return Err(Error::unsupported(format!(
                "TRY_CAST to NUMERIC({precision},{scale}) is not supported"
            )));
        }
        let value = self.coerce(value, &Type::Numeric(None), Coercion::Explicit)?;
        let digits = Expr::int4(modifier::of_digits(precision, scale));
        self.function("numeric", vec![value, digits])
    }

    fn typed_string(&mut self, ty: &DataType, value: &ValueWithSpan) -> Result<Expr> {
        if let Some(domain) = self.domain(ty)? {
            let literal = self.literal(value)?;
            return self.of_domain(literal, &domain);
        }
        if let Some((precision, scale)) = many_digits(ty)? {
            let literal = self.literal(value)?;
            return self
                .numeric_cast(literal, precision, scale, &CastKind::Cast)
                .map_err(|error| error.at(at(value.span)));
        }
        let to = written_type(ty, self.catalog)?;
        let literal = self.literal(value)?;
        let read = self
            .coerce(literal, &to, Coercion::Explicit)
            .map_err(|error| error.at(at(value.span)))?;
        Ok(self.with_digits_marked(read))
    }

    fn in_list(&mut self, expr: &Ast, list: &[Ast], negated: bool) -> Result<Expr> {
        let rows = is_row(expr);
        let value = self.bind_expr(expr)?;
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            items.push(self.bind_expr(item)?);
        }
        // There is no array of arrays in which the value could be searched.
        let is_array = |expr: &Expr| matches!(expr.ty, Type::Array(_));
        let apart = rows || is_array(&value) || items.iter().any(is_array);
        let types = std::iter::once(&value).chain(&items);
        let types: Vec<Type> = types.map(|item| item.ty.clone()).collect();
        let alike = crate::functions::common_type(&types).is_some();
        let found = if apart || items.len() == 1 || !alike {
            let mut equal = Vec::with_capacity(items.len());
            for (item, written) in items.into_iter().zip(list) {
                let value = (self.copy(&value)?, rows);
                equal.push(self.beside("=", value, (item, is_row(written)))?);
            }
            Expr::or(equal)
        } else {
            let mut all = Vec::with_capacity(items.len() + 1);
            all.push(value);
            all.extend(items);
            let mut all = self.compared(all)?;
            let list = all.split_off(1);
            let value = all
                .pop()
                .ok_or_else(|| Error::internal("IN without a value"))?;
            let equal = self.equality(&value.ty)?;
            let value = Box::new(value);
            Expr::new(ExprKind::InList { value, list, equal }, Type::Bool)
        };
        Ok(if negated { found.not() } else { found })
    }

    fn case(
        &mut self,
        operand: Option<&Ast>,
        conditions: &[sqlparser::ast::CaseWhen],
        otherwise: Option<&Ast>,
    ) -> Result<Expr> {
        let Some(operand) = operand else {
            return self.case_of(None, conditions, otherwise);
        };
        let operand = self.bind_expr(operand)?;
        let operand = self.known_expr(operand)?;
        self.once(operand, |binder, operand| {
            binder.case_of(Some(operand), conditions, otherwise)
        })
    }

    fn case_of(
        &mut self,
        operand: Option<Expr>,
        conditions: &[sqlparser::ast::CaseWhen],
        otherwise: Option<&Ast>,
    ) -> Result<Expr> {
        let (mut whens, mut thens) = (Vec::new(), Vec::new());
        for sqlparser::ast::CaseWhen { condition, result } in conditions {
            whens.push(match &operand {
                None => self.bind_condition(condition, "CASE/WHEN")?,
                Some(operand) => {
                    let value = self.bind_expr(condition)?;
                    let operand = self.copy(operand)?;
                    self.binary("=", operand, value)?
                }
            });
            thens.push(self.bind_expr(result)?);
        }
        let has_otherwise = otherwise.is_some();
        // PostgreSQL looks at ELSE first.
        if let Some(otherwise) = otherwise {
            let bound = self.bind_expr(otherwise)?;
            thens.insert(0, bound);
        }
        let mut thens = self.unified(thens, "CASE")?;
        let otherwise = has_otherwise.then(|| Box::new(thens.remove(0)));
        let ty = thens.first().map_or(Type::Text, |then| then.ty.clone());
        let branches = whens.into_iter().zip(thens).collect();
        Ok(Expr::new(
            ExprKind::Case {
                branches,
                otherwise,
            },
            ty,
        ))
    }

    fn like(
        &mut self,
        (value, pattern): (&Ast, &Ast),
        escape: Option<&ValueWithSpan>,
        negated: bool,
        symbols: [&str; 2],
    ) -> Result<Expr> {
        let rows = is_row(value) && is_row(pattern) && escape.is_none();
        let value = self.bind_expr(value)?;
        let mut pattern = self.bind_expr(pattern)?;
        if rows {
            return self.written_rows(symbols[usize::from(negated)], value, pattern);
        }
        if let Some(escape) = escape {
            let escape = self.literal(escape)?;
            pattern = self.function("like_escape", vec![pattern, escape])?;
        }
        self.binary(symbols[usize::from(negated)], value, pattern)
    }

    fn similar(
        &mut self,
        (value, pattern): (&Ast, &Ast),
        escape: Option<&ValueWithSpan>,
        negated: bool,
    ) -> Result<Expr> {
        let value = self.bind_expr(value)?;
        let mut arguments = vec![self.bind_expr(pattern)?];
        if let Some(escape) = escape {
            arguments.push(self.literal(escape)?);
        }
        let pattern = self.catalogued("similar_to_escape", arguments)?;
        self.binary(if negated { "!~" } else { "~" }, value, pattern)
    }

    /// `ARRAY[…]` and `[…]`. A cast around it says its type; each element is cast then.
    fn array(&mut self, elements: &[Ast], named: bool, to: Option<&Type>) -> Result<Expr> {
        if elements.is_empty() {
            return match to {
                Some(to) => Ok(Expr::new(ExprKind::Array(Vec::new()), to.clone())),
                None => Err(
                    Error::new("42P18", "cannot determine type of empty array").with_hint(
                        "Explicitly cast to the desired type, for example ARRAY[]::integer[].",
                    ),
                ),
            };
        }
        // Within ARRAY, brackets do not stand beside other values.
        let is_bare = |element: &Ast| matches!(element, Ast::Array(Array { named: false, .. }));
        if named && elements.iter().any(is_bare) {
            let first = elements.first().is_some_and(is_bare);
            if let Some(other) = elements.iter().find(|element| is_bare(element) != first) {
                let text = other.to_string();
                let near = match first {
                    true => text.split(' ').next().unwrap_or_default(),
                    false => "[",
                };
                let message = format!("syntax error at or near \"{near}\"");
                return Err(Error::new("42601", message));
            }
        }
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            values.push(match element {
                Ast::Array(inner) => self.array(&inner.elem, named || inner.named, to)?,
                other => self.bind_expr(other)?,
            });
        }
        if let Some(to) = to {
            let is_nested = values
                .iter()
                .any(|value| matches!(value.ty, Type::Array(_)));
            let one = if is_nested { to } else { to.innermost() };
            let values = values.into_iter();
            let values = values.map(|value| self.coerce(value, one, Coercion::Explicit));
            let values = values.collect::<Result<Vec<_>>>()?;
            return Ok(Expr::new(ExprKind::Array(values), to.clone()));
        }
        let values = self.unified(values, "ARRAY")?;
        let ty = values.first().map_or(Type::Text, |value| value.ty.clone());
        let ty = ty.array();
        Ok(Expr::new(ExprKind::Array(values), ty))
    }

    /// ROW(…) and (a, b).
    pub(super) fn row<'q>(&mut self, values: impl Iterator<Item = &'q Ast>) -> Result<Expr> {
        let mut bound = Vec::new();
        for value in values {
            self.row_field(value, &mut bound)?;
        }
        Ok(record(bound))
    }

    /// A field of a row, or the fields that `ROW(t.*)` has: all columns of t.
    pub(super) fn row_field(&mut self, value: &Ast, all: &mut Vec<Expr>) -> Result<()> {
        if let Ast::CompoundIdentifier(idents) = value
            && let [before @ .., last] = idents.as_slice()
            && marked(last, WHOLE_ROW).is_some()
            && let ExprKind::Row(fields) = self.rows_of(before)?.kind
        {
            all.extend(fields);
            return Ok(());
        }
        all.push(self.bind_expr(value)?);
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> Result<Expr> {
        let Interval {
            value,
            leading_field,
            leading_precision,
            last_field,
            fractional_seconds_precision,
        } = interval;
        let value = self.bind_expr(value)?;
        let Some(text) = value.literal_text().map(str::to_owned) else {
            return Err(Error::new(
                "42601",
                "INTERVAL is followed by a text, such as INTERVAL '1 day'",
            )
            .with_hint("Multiply an interval to compute one: n * INTERVAL '1 day'."));
        };
        // The precision of a first field of seconds is that of their fraction.
        let decimals = fractional_seconds_precision.or(*leading_precision);
        let decimals = decimals.map(|digits| digits.min(6) as u8);
        let all = SpanFields::default();
        let of = match (leading_field, last_field) {
            (None, _) => all,
            (Some(first), None) => {
                let field = span_field(first)?;
                SpanFields {
                    first: field,
                    last: field,
                    ..all
                }
            }
            (Some(first), Some(last)) => SpanFields {
                first: span_field(first)?,
                last: span_field(last)?,
                ..all
            },
        };
        self.interval_literal(&text, SpanFields { decimals, ..of })
    }

    /// A literal of an INTERVAL of some fields.
    fn interval_literal(&self, text: &str, of: SpanFields) -> Result<Expr> {
        let style = match self.session.interval_style.as_str() {
            "sql_standard" => IntervalStyle::Standard,
            _ => IntervalStyle::Postgres,
        };
        let value = read_interval(text, style, of)?;
        if !value.is_storable() {
            return Err(interval_out_of_range());
        }
        let array =
            arrow_array::IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::from(value)]);
        Ok(Expr::new(
            ExprKind::Literal(Arc::new(array)),
            Type::Interval,
        ))
    }

    /// Subscripts and fields behind a value.
    fn access(&mut self, root: &Ast, chain: &[AccessExpr]) -> Result<Expr> {
        let of_relation = match chain {
            [AccessExpr::Dot(Ast::Identifier(ident)), ..] => {
                let relation = self.relation_named(root);
                relation.map(|relation| (relation, ident))
            }
            _ => None,
        };
        let (mut value, mut rest) = match of_relation {
            Some((relation, ident)) => {
                let value = self.part_of_relation(root, &relation, ident)?;
                (value, &chain[1..])
            }
            None => (self.bind_expr(root)?, chain),
        };
        while let Some((first, behind)) = rest.split_first() {
            match first {
                AccessExpr::Dot(Ast::Identifier(ident)) if marked(ident, WHOLE_ROW).is_some() => {
                    return Err(Error::unsupported(
                        "the fields of a row stand as items of a SELECT list only",
                    )
                    .at(place(ident)));
                }
                AccessExpr::Dot(Ast::Identifier(ident)) => {
                    value = self.field(value, &fold(ident), place(ident))?;
                    rest = behind;
                }
                AccessExpr::Dot(_) => {
                    return Err(Error::unsupported(
                        "a field of a value that is no name is not supported",
                    ));
                }
                AccessExpr::Subscript(_) => {
                    let is_subscript =
                        |access: &&AccessExpr| matches!(access, AccessExpr::Subscript(_));
                    let count = rest.iter().take_while(is_subscript).count();
                    let (subscripts, behind) = rest.split_at(count);
                    value = match self.friendly_subscripts(value, subscripts)? {
                        Ok(value) => value,
                        Err(value) => self.subscripts(value, subscripts)?,
                    };
                    rest = behind;
                }
            }
        }
        Ok(value)
    }

    /// `(relation).name`: a column by the name that it has in the query, or a function of the row.
    fn part_of_relation(&mut self, root: &Ast, relation: &str, ident: &Ident) -> Result<Expr> {
        let name = fold(ident);
        let named = self.relation_in_sight(relation);
        let columns = named.iter().flat_map(|named| &named.columns);
        let mut columns = columns.filter(|column| column.name == name);
        if let Some(column) = columns.next() {
            return Ok(column.value.clone());
        }
        let missing = || {
            let message = format!("column {relation}.{name} does not exist");
            Error::new("42703", message).at(named_place(root))
        };
        // The type of its rows may have other names.
        let row = self.bind_expr(root)?;
        if matches!(&row.ty, Type::Record(fields) if fields.iter().any(|(field, _)| *field == name))
        {
            return Err(missing());
        }
        let field = self.field(row, &name, place(ident));
        field.map_err(|error| match error.sqlstate == "42703" {
            true => missing(),
            false => error,
        })
    }

    /// Subscripts in a row. If one is a slice, all are: an index n is 1:n then.
    fn subscripts(&mut self, value: Expr, subscripts: &[AccessExpr]) -> Result<Expr> {
        let mut bounds = Vec::new();
        let mut sliced = false;
        for access in subscripts {
            let AccessExpr::Subscript(subscript) = access else {
                continue;
            };
            match subscript {
                Subscript::Index { index } => bounds.push((None, Some(self.bind_expr(index)?))),
                Subscript::Slice {
                    lower_bound,
                    upper_bound,
                    stride,
                } => {
                    refuse(stride.is_some(), "a step in a slice of an array")?;
                    sliced = true;
                    let mut bound = |limit: &Option<Ast>, least: i32| match limit {
                        Some(limit) => self.bind_expr(limit),
                        None => Ok(Expr::int4(least)),
                    };
                    let lower = bound(lower_bound, i32::MIN)?;
                    bounds.push((Some(lower), Some(bound(upper_bound, i32::MAX)?)));
                }
            }
        }
        if !sliced {
            let indices = bounds.into_iter().filter_map(|(_, index)| index);
            return self.subscript(value, indices.collect());
        }
        let value = match value.ty.vector_item() {
            Some(item) => self.coerce(value, &item.array(), Coercion::Implicit)?,
            None => value,
        };
        if !matches!(value.ty, Type::Array(_)) {
            return Err(match value.ty {
                Type::Jsonb => Error::new("42804", "jsonb subscript does not support slices"),
                other => not_subscripted(&other),
            });
        }
        if bounds.len() > MOST_DIMENSIONS {
            return Err(too_many_dimensions(bounds.len()));
        }
        let mut arguments = vec![value];
        for (lower, upper) in bounds {
            for bound in [
                lower.unwrap_or_else(|| Expr::int4(1)),
                upper.unwrap_or_else(|| Expr::int4(i32::MAX)),
            ] {
                arguments.push(self.array_index(bound)?);
            }
        }
        self.function("array_slice", arguments)
    }

    fn array_index(&mut self, index: Expr) -> Result<Expr> {
        let index = self.coerce(index, &Type::Int4, Coercion::Assignment);
        index.map_err(|error| match error.sqlstate {
            "42804" => Error::new("42804", "array subscript must have type integer"),
            _ => error,
        })
    }

    /// A value with other elements: `target` is the value and the subscripts of what gets the
    /// value of an expression.
    fn assigned_elements(&mut self, target: &Ast, value: &Ast) -> Result<Expr> {
        let Ast::CompoundFieldAccess { root, access_chain } = target else {
            return Err(Error::internal("elements without subscripts"));
        };
        let base = self.bind_expr(root)?;
        self.assigned_parts(base, access_chain, value)
    }

    /// A value with another in the place of one of its parts, which may be a part of a part.
    fn assigned_parts(&mut self, base: Expr, path: &[AccessExpr], value: &Ast) -> Result<Expr> {
        self.enter()?;
        let made = match path.first() {
            Some(AccessExpr::Dot(name)) => self.assigned_field(base, name, &path[1..], value),
            _ => self.assigned_subscripts(base, path, value),
        };
        self.leave();
        made
    }

    /// A record with another value in the place of a field, or of a part of it.
    fn assigned_field(
        &mut self,
        base: Expr,
        name: &Ast,
        rest: &[AccessExpr],
        value: &Ast,
    ) -> Result<Expr> {
        let Ast::Identifier(name) = name else {
            return Err(Error::unsupported("* cannot get a value"));
        };
        let name = fold(name);
        let Type::Record(fields) = base.ty.clone() else {
            let message = format!(
                "cannot assign to field \"{name}\" because its type {} is not a composite type",
                base.ty
            );
            return Err(Error::new("42804", message));
        };
        let place = fields.iter().position(|(field, _)| *field == name);
        let place = place.ok_or_else(|| {
            let message = format!(
                "cannot assign to field \"{name}\" because there is no such column in data type {}",
                base.ty
            );
            Error::new("42703", message)
        })?;
        let mut values = Vec::with_capacity(fields.len());
        for (at, (field, ty)) in fields.iter().enumerate() {
            let whole = Box::new(self.copy(&base)?);
            let old = Expr::new(ExprKind::Field(whole, at), ty.clone());
            values.push(match (at == place, rest.is_empty()) {
                (false, _) => old,
                (true, false) => self.assigned_parts(old, rest, value)?,
                (true, true) => {
                    let new = self.bind_expr(value)?;
                    let given = new.ty.standard_name();
                    // Lengths are checked where the record is stored.
                    let new = self.coerce(new, &ty.without_length(), Coercion::Assignment);
                    let mut new = new.map_err(|error| match error.sqlstate {
                        "42846" | "42804" => Error::new(
                            "42804",
                            format!(
                                "subfield \"{field}\" is of type {} but expression is of type \
                                 {given}",
                                ty.standard_name()
                            ),
                        )
                        .with_hint("You will need to rewrite or cast the expression."),
                        _ => error,
                    })?;
                    new.ty = ty.clone();
                    new
                }
            });
        }
        Ok(Expr::new(ExprKind::Row(values), base.ty))
    }

    fn assigned_subscripts(
        &mut self,
        base: Expr,
        path: &[AccessExpr],
        value: &Ast,
    ) -> Result<Expr> {
        let subscripts = path.iter().map_while(|access| match access {
            AccessExpr::Subscript(subscript) => Some(subscript),
            AccessExpr::Dot(_) => None,
        });
        let subscripts: Vec<&Subscript> = subscripts.collect();
        let rest = &path[subscripts.len()..];
        let sliced = subscripts
            .iter()
            .any(|subscript| matches!(subscript, Subscript::Slice { .. }));
        let ty = base.ty.base();
        let value = match (rest.is_empty(), &ty) {
            (true, _) => self.bind_expr(value)?,
            (false, Type::Array(_)) if !sliced => {
                let mut indices = Vec::with_capacity(subscripts.len());
                for subscript in &subscripts {
                    if let Subscript::Index { index } = subscript {
                        indices.push(self.bind_expr(index)?);
                    }
                }
                let whole = self.copy(&base)?;
                let element = self.subscript(whole, indices)?;
                self.assigned_parts(element, rest, value)?
            }
            (false, _) => {
                let message = "a field of a part that is no element of an array gets no value";
                return Err(Error::unsupported(message));
            }
        };
        match &ty {
            Type::Jsonb if sliced => Err(Error::new(
                "42804",
                "jsonb subscript does not support slices",
            )),
            Type::Jsonb => {
                let mut path = Vec::with_capacity(subscripts.len());
                for subscript in subscripts {
                    let Subscript::Index { index } = subscript else {
                        continue;
                    };
                    let index = self.bind_expr(index)?;
                    let whole = self.coerce(index.clone(), &Type::Text, Coercion::Explicit)?;
                    let fits = matches!(
                        index.ty.base(),
                        Type::Text | Type::Unknown | Type::Int4 | Type::Int2 | Type::Varchar(_)
                    );
                    if !fits {
                        let name = index.ty.base();
                        let message = format!("subscript type {name} is not supported");
                        return Err(Error::new("42804", message).with_hint(
                            "jsonb subscript must be coercible to either integer or text.",
                        ));
                    }
                    path.push(whole);
                }
                let path = Expr::new(ExprKind::Array(path), Type::Text.array());
                let value = self.coerce_part(value, &Type::Jsonb)?;
                self.function("jsonb_subscript_set", vec![base, path, value])
            }
            Type::Array(_) => {
                if subscripts.len() > MOST_DIMENSIONS {
                    return Err(too_many_dimensions(subscripts.len()));
                }
                let to = match sliced {
                    true => ty.clone(),
                    false => ty.innermost().clone(),
                };
                let value = self.coerce_part(value, &to)?;
                let mut arguments = vec![base, value];
                for subscript in subscripts {
                    match subscript {
                        Subscript::Index { index } => {
                            if sliced {
                                arguments.push(Expr::int4(1));
                            }
                            let index = self.bind_expr(index)?;
                            arguments.push(self.array_index(index)?);
                        }
                        Subscript::Slice {
                            lower_bound,
                            upper_bound,
                            stride,
                        } => {
                            refuse(stride.is_some(), "a step in a slice of an array")?;
                            for (bound, open) in [(lower_bound, i32::MIN), (upper_bound, i32::MAX)]
                            {
                                let bound = match bound {
                                    Some(bound) => self.bind_expr(bound)?,
                                    None => Expr::int4(open),
                                };
                                arguments.push(self.array_index(bound)?);
                            }
                        }
                    }
                }
                let name = match sliced {
                    true => "array_slice_set",
                    false => "array_subscript_set",
                };
                self.function(name, arguments)
            }
            other => Err(not_subscripted(other)),
        }
    }

    /// An element of an array, or the parts of parts of a JSONB value.
    fn subscript(&mut self, mut value: Expr, mut indices: Vec<Expr>) -> Result<Expr> {
        match value.ty.base() {
            // The array of a vector is counted from 0, too.
            vector @ (Type::Int2Vector | Type::OidVector) => {
                let item = vector.vector_item().unwrap_or(Type::Int2);
                let value = self.coerce(value, &item.clone().array(), Coercion::Implicit)?;
                if indices.len() != 1 {
                    return Ok(Expr::null(item));
                }
                let index = indices.remove(0);
                let index = self.coerce(index, &Type::Int4, Coercion::Assignment)?;
                self.function("array_subscript", vec![value, index])
            }
            Type::Array(_) => {
                if indices.len() > MOST_DIMENSIONS {
                    return Err(too_many_dimensions(indices.len()));
                }
                let mut arguments = vec![value];
                for index in indices {
                    arguments.push(self.array_index(index)?);
                }
                self.function("array_subscript", arguments)
            }
            // A NAME is an array of its bytes, counted from 0.
            Type::Name if indices.len() == 1 => {
                let value = self.coerce(value, &Type::Text, Coercion::Implicit)?;
                let index = self.coerce(indices.remove(0), &Type::Int4, Coercion::Assignment)?;
                let index = self.binary("+", index, Expr::int4(1))?;
                let letter = self.function("substr", vec![value, index, Expr::int4(1)])?;
                self.coerce(letter, &Type::CatalogChar, Coercion::Explicit)
            }
            Type::Jsonb => {
                for index in indices {
                    value = self.function("jsonb_subscript", vec![value, index])?;
                }
                Ok(value)
            }
            other => Err(not_subscripted(&other)),
        }
    }

    /// A value for a part of an array or of a JSONB value.
    fn coerce_part(&mut self, new: Expr, to: &Type) -> Result<Expr> {
        let given = new.ty.standard_name();
        let new = self.coerce(new, to, Coercion::Assignment);
        new.map_err(|error| match error.sqlstate {
            "42846" | "42804" => Error::new(
                "42804",
                format!(
                    "subscripted assignment requires type {} but expression is of type {given}",
                    to.standard_name()
                ),
            )
            .with_hint("You will need to rewrite or cast the expression."),
            _ => error,
        })
    }

    /// The relation whose rows a name in brackets stands for.
    fn relation_named(&self, expr: &Ast) -> Option<String> {
        match expr {
            Ast::Nested(inner) => self.relation_named(inner),
            Ast::Identifier(ident) => {
                let name = fold(ident);
                let columns = self.scopes.iter().rev();
                let mut columns = columns.map(|scope| scope.names.column(&name));
                let is_column = columns.any(|found| !matches!(found, Ok(None)));
                (!is_column && self.relation_in_sight(&name).is_some()).then_some(name)
            }
            _ => None,
        }
    }

    fn ceil_or_floor(&mut self, name: &str, expr: &Ast, field: &CeilFloorKind) -> Result<Expr> {
        match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {
                let value = self.bind_expr(expr)?;
                self.function(name, vec![value])
            }
            _ => Err(Error::unsupported(format!(
                "{name}(… TO …) is not supported"
            ))),
        }
    }

    fn prefixed(&mut self, prefix: &sqlparser::ast::Ident, value: &Ast) -> Result<Expr> {
        let ty = DataType::Custom(prefix.clone().into(), Vec::new());
        if let Some(domain) = self.domain(&ty)? {
            let value = self.bind_expr(value)?;
            return self.of_domain(value, &domain);
        }
        let to = written_type(&ty, self.catalog)?;
        let value = self.bind_expr(value)?;
        self.coerce(value, &to, Coercion::Explicit)
    }

    /// The rows of a relation in sight as records.
    pub(super) fn relation_row(&self, name: &str) -> Option<Expr> {
        let named = self.relation_in_sight(name);
        named.map(|named| self.whole_row(named))
    }

    fn relation_in_sight(&self, name: &str) -> Option<&Named> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.names.relation(None, name))
    }
}

/// Where the name in brackets stands.
fn named_place(expr: &Ast) -> Option<Position> {
    match expr {
        Ast::Nested(inner) => named_place(inner),
        Ast::Identifier(ident) => place(ident),
        _ => None,
    }
}

fn not_subscripted(ty: &Type) -> Error {
    let ty = ty.standard_name();
    let message = format!("cannot subscript type {ty} because it does not support subscripting");
    Error::new("42804", message)
}

/// A copy of a syntax tree, which may be deep.
fn copied(expr: &Ast) -> Ast {
    match expr {
        Ast::Value(_) | Ast::Identifier(_) => expr.clone(),
        deep => crate::stack::with_room(crate::stack::LEVELS, || deep.clone()),
    }
}

/// Whether a row is written out: ROW(…) or (a, b).
pub(super) fn is_row(expr: &Ast) -> bool {
    match expr {
        Ast::Nested(inner) => is_row(inner),
        Ast::Tuple(_) => true,
        Ast::Function(call) => matches!(call.name.0.as_slice(), [name]
            if name.as_ident().is_some_and(|name| name.quote_style.is_none() && fold(name) == "row")),
        _ => false,
    }
}

/// The fields of a row that is written out.
fn row_parts(expr: &Ast) -> Option<Vec<&Ast>> {
    use sqlparser::ast::{FunctionArg, FunctionArgExpr, FunctionArguments};
    match expr {
        Ast::Nested(inner) => row_parts(inner),
        Ast::Tuple(values) => Some(values.iter().collect()),
        Ast::Function(call) if is_row(expr) => match &call.args {
            FunctionArguments::List(list) => {
                let values = list.args.iter().map(|argument| match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => Some(value),
                    _ => None,
                });
                values.collect()
            }
            _ => None,
        },
        _ => None,
    }
}

/// The query of a sub-query, in brackets or not.
fn subquery(expr: &Ast) -> Option<&sqlparser::ast::Query> {
    match expr {
        Ast::Nested(inner) => subquery(inner),
        Ast::Subquery(query) => Some(query),
        _ => None,
    }
}

/// Whether a name is that of a function that is called without brackets.
pub(super) fn is_bare_function(ident: &sqlparser::ast::Ident) -> bool {
    ident.quote_style.is_none()
        && matches!(
            fold(ident).as_str(),
            "current_date"
                | "current_time"
                | "current_timestamp"
                | "localtime"
                | "localtimestamp"
                | "current_user"
                | "session_user"
                | "user"
                | "current_role"
                | "current_catalog"
                | "current_schema"
        )
}

/// The lower bound of BETWEEN SYMMETRIC, which the syntax has as a call.
fn symmetric(low: &Ast) -> Option<&Ast> {
    let (_, arguments) = marked_call(low, crate::syntax::marks::SYMMETRIC)?;
    match arguments.as_slice() {
        [inner] => Some(inner),
        _ => None,
    }
}

/// The place of a call.
fn place_of_call(expr: &Ast) -> Option<crate::Position> {
    match expr {
        Ast::Function(call) => super::name_place(&call.name),
        _ => None,
    }
}

/// A record of values, with PostgreSQL's names of fields.
pub(super) fn record(values: Vec<Expr>) -> Expr {
    let fields = values.iter().zip(1..);
    let fields = fields.map(|(value, number)| (format!("f{number}"), value.ty.clone()));
    let ty = Type::Record(fields.collect());
    Expr::new(ExprKind::Row(values), ty)
}

/// The name of a field of a date.
pub(super) fn field_name(field: &DateTimeField) -> String {
    match field {
        DateTimeField::Custom(ident) => ident.value.to_lowercase(),
        other => other.to_string().to_lowercase(),
    }
}

/// A field of an interval.
fn span_field(field: &DateTimeField) -> Result<SpanField> {
    Ok(match field_name(field).trim_end_matches('s') {
        "year" => SpanField::Year,
        "month" => SpanField::Month,
        "day" => SpanField::Day,
        "hour" => SpanField::Hour,
        "minute" => SpanField::Minute,
        "second" => SpanField::Second,
        other => {
            return Err(Error::new(
                "42601",
                format!("INTERVAL has no field {other}"),
            ));
        }
    })
}

/// The beginning of a long text.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
