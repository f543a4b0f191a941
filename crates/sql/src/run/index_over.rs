//! The subject of an index: columns, expressions, and the rows that a condition holds for.
//!
//! Indexes and keys are over columns alone. An expression is a column of the table that is
//! generated and hidden; so is the condition of a partial index: TRUE, or NULL, and rows with a
//! NULL are in no key. `CREATE UNIQUE INDEX ON t (lower(a)) WHERE b > 0` is a key over two
//! hidden columns, `lower(a)` and `CASE WHEN b > 0 THEN true END`.
//!
//! Two indexes over one expression have one column. Not here: which queries an index is for
//! (`lower::indexed`), and the columns' values (`ingest::checks`).

use freestone_frontend::types::Type;
use freestone_storage::{Column, ElementForm, Hidden, IndexForm, Table, TableSchema};
use sqlparser::ast::{CreateIndex, Expr, IndexColumn, ObjectName, OrderByOptions};

use super::Run;
use super::declare::{Declared, check_bytewise};
use crate::error::{Error, Result};
use crate::front::{
    Columns, declared_by, has_query, is_immutable, is_same, parse_expr, type_of_expression,
    type_of_stored,
};
use crate::grammar::printed;
use crate::names::{Name, fold, fold_part, position};
use crate::relations::Relations;
use crate::types::{column_type_of_type, declared_of_type};

/// The columns of an index, and the table's schema with those that are hidden.
pub(super) struct Over {
    pub(super) schema: TableSchema,
    pub(super) columns: Vec<usize>,
    /// The clauses that change nothing in blocks.
    pub(super) form: IndexForm,
}

impl Over {
    /// Whether the table lacks one of the columns.
    pub(super) fn is_new(&self, table: &Table) -> bool {
        self.schema.columns.len() > table.schema.columns.len()
    }
}

impl Run<'_> {
    /// The index that CREATE INDEX asks for.
    ///
    /// # Errors
    /// `42703`, `42P17`, `42804`, `0A000`.
    pub(super) fn index_over(
        &self,
        name: &Name,
        table: &Table,
        create: &CreateIndex,
    ) -> Result<Over> {
        let mut over = Over {
            schema: (*table.schema).clone(),
            columns: Vec::new(),
            form: form_of(create)?,
        };
        for element in &create.columns {
            let (at, ty) = match element_of(&element.column.expr)? {
                Expr::Identifier(ident) => {
                    let at = declared_place(table, fold(ident), position(ident))?;
                    let column = &table.schema.columns[at];
                    (at, type_of_stored(&self.snapshot, column))
                }
                expr => self.hidden(name, &mut over.schema, expr, Hidden::Expression)?,
            };
            check_class(element, &ty)?;
            over.columns.push(at);
        }
        if let Some(condition) = &create.predicate {
            let (at, _) = self.hidden(name, &mut over.schema, condition, Hidden::Condition)?;
            over.columns.push(at);
        }
        for ident in &create.include {
            let at = declared_place(table, fold(ident), position(ident))?;
            over.form.include.push(at);
        }
        if over.is_new(table) && table.schema.is_in_partitions() {
            let message = "an index over an expression or with WHERE is not supported on a \
                           partitioned table or a partition";
            return Err(Error::unsupported(message)
                .with_hint("An index over columns is, as is a generated column."));
        }
        over.schema.check_keys()?;
        Ok(over)
    }

    /// The place and the type of a hidden column, which is added unless it is there.
    fn hidden(
        &self,
        name: &Name,
        schema: &mut TableSchema,
        expr: &Expr,
        why: Hidden,
    ) -> Result<(usize, Type)> {
        let what = match why {
            Hidden::Expression => "expression",
            Hidden::Condition => "predicate",
        };
        if has_query(expr) {
            let message = format!("cannot use subquery in index {what}");
            return Err(Error::unsupported(message));
        }
        let mut expr = Declared::from(self, name, TableSchema::default()).without_table(expr);
        // Brackets that are shown around a condition are none of it.
        while let Expr::Nested(inner) = expr {
            expr = *inner;
        }
        let columns = Columns::of(schema, &name.name);
        let relations = Relations::new(self.state(), self.snapshot.clone());
        let ty = type_of_expression(&relations, &expr, &columns)?;
        if !is_immutable(&relations, &expr, &columns)? {
            let message = format!("functions in index {what} must be marked IMMUTABLE");
            return Err(Error::new("42P17", message));
        }
        let text = match why {
            Hidden::Expression => printed(&expr),
            Hidden::Condition if matches!(ty, Type::Bool | Type::Unknown) => {
                format!("CASE WHEN {} THEN true END", printed(&expr))
            }
            Hidden::Condition => {
                let message = format!("argument of WHERE must be type boolean, not type {ty}");
                return Err(Error::new("42804", message));
            }
        };
        for (at, column) in schema.columns.iter().enumerate() {
            let known = column
                .default
                .as_deref()
                .filter(|_| column.hidden == Some(why));
            if let Some(known) = known
                && is_same(
                    &relations,
                    (&parse_expr(known)?, &parse_expr(&text)?),
                    &columns,
                )?
            {
                return Ok((at, ty));
            }
        }
        let kind = match why {
            Hidden::Expression => column_type_of_type(&ty)?,
            Hidden::Condition => column_type_of_type(&Type::Bool)?,
        };
        if !kind.has_order() {
            let message = format!("an index over an expression of type {ty} is not supported");
            return Err(Error::unsupported(message));
        }
        let declared = why == Hidden::Expression;
        schema.columns.push(Column {
            name: free_name(schema, &text),
            kind,
            nullable: true,
            default: Some(text),
            identity: None,
            modifier: declared_of_type(&ty).filter(|_| declared),
            declared: declared_by(&ty).filter(|_| declared),
            generated: true,
            hidden: Some(why),
        });
        Ok((schema.columns.len() - 1, ty))
    }
}

impl Run<'_> {
    /// Gives a hidden column the type that its expression has over columns of other types.
    ///
    /// # Errors
    /// `42P17` if the expression is not immutable any more, `0A000` if it has no order; `42883`.
    pub(super) fn retype_hidden(
        &self,
        name: &Name,
        schema: &mut TableSchema,
        at: usize,
    ) -> Result<()> {
        let hidden = &schema.columns[at];
        let expr = parse_expr(hidden.default.as_deref().unwrap_or_default())?;
        let columns = Columns::of(schema, &name.name);
        let relations = Relations::new(self.state(), self.snapshot.clone());
        let ty = type_of_expression(&relations, &expr, &columns)?;
        if !is_immutable(&relations, &expr, &columns)? {
            let message = "functions in index expression must be marked IMMUTABLE";
            return Err(Error::new("42P17", message));
        }
        let kind = column_type_of_type(&ty)?;
        if !kind.has_order() {
            let message = format!("an index over an expression of type {ty} is not supported");
            return Err(Error::unsupported(message));
        }
        let hidden = &mut schema.columns[at];
        if hidden.hidden == Some(Hidden::Expression) {
            hidden.kind = kind;
            hidden.modifier = declared_of_type(&ty);
            hidden.declared = declared_by(&ty);
        }
        Ok(())
    }
}

/// How the elements of an index are written; nothing if all are in the usual form.
///
/// # Errors
/// `0A000` for an order, or columns behind INCLUDE, of an index that has no order.
fn form_of(create: &CreateIndex) -> Result<IndexForm> {
    let mut elements = Vec::with_capacity(create.columns.len());
    let (mut sorted, mut with_nulls) = (false, false);
    for IndexColumn {
        column,
        operator_class,
    } in &create.columns
    {
        let OrderByOptions { asc, nulls_first } = column.options;
        sorted |= asc.is_some();
        with_nulls |= nulls_first.is_some();
        let mut expr = &column.expr;
        while let Expr::Nested(inner) = expr {
            expr = inner;
        }
        let collation = match expr {
            Expr::Collate { collation, .. } => collation.0.last().and_then(fold_part),
            _ => None,
        };
        let descending = asc == Some(false);
        elements.push(ElementForm {
            descending,
            nulls_first: nulls_first.unwrap_or(descending),
            collation: collation.filter(|name| name != "default"),
            class: operator_class
                .as_ref()
                .and_then(|class| class.0.last().and_then(fold_part)),
        });
    }
    let method = create
        .using
        .as_ref()
        .map(|kind| kind.to_string().to_lowercase());
    let hash = method.as_deref() == Some("hash");
    if let Some(method) = method.filter(|method| !matches!(method.as_str(), "btree" | "csb")) {
        let has_included = !create.include.is_empty();
        for (said, what) in [
            (create.unique, "unique indexes"),
            (
                method == "hash" && create.columns.len() > 1,
                "multicolumn indexes",
            ),
            (has_included, "included columns"),
            (sorted, "ASC/DESC options"),
            (with_nulls, "NULLS FIRST/LAST options"),
        ] {
            if said {
                let message = format!("access method \"{method}\" does not support {what}");
                return Err(Error::unsupported(message));
            }
        }
    }
    if elements
        .iter()
        .all(|element| *element == ElementForm::default())
    {
        elements.clear();
    }
    Ok(IndexForm {
        hash,
        elements,
        include: Vec::new(),
    })
}

/// The expression of an element, without brackets and without a collation by bytes.
fn element_of(expr: &Expr) -> Result<&Expr> {
    match expr {
        Expr::Nested(inner) => element_of(inner),
        Expr::Collate { expr, collation } => {
            check_bytewise(collation)?;
            element_of(expr)
        }
        expr => Ok(expr),
    }
}

/// The place of a column that was declared.
fn declared_place(table: &Table, name: String, at: Option<crate::Position>) -> Result<usize> {
    let mut columns = table.schema.declared().iter();
    columns
        .position(|column| column.name == name)
        .ok_or_else(|| {
            let table = &table.name;
            let message = format!("column \"{name}\" of table \"{table}\" does not exist");
            Error::new("42703", message).at(at)
        })
}

/// A name for a hidden column: its expression, which is no name of another.
pub(super) fn free_name(schema: &TableSchema, text: &str) -> String {
    let mut name = text.to_owned();
    while schema.index_of(&name).is_some() {
        name.push(' ');
    }
    name
}

/// Whether a class is for a type.
type Takes = fn(&Type) -> bool;

/// Operator classes whose order is the type's own, and the types they are for. Texts are in the
/// order of their bytes, so that those for patterns are no other.
const CLASSES: [(&str, Takes); 36] = [
    ("array_ops", |ty| matches!(ty, Type::Array(_))),
    ("bit_ops", |ty| matches!(ty, Type::Bit(_))),
    ("bool_ops", |ty| *ty == Type::Bool),
    ("bpchar_ops", |ty| matches!(ty, Type::Char(_))),
    ("bpchar_pattern_ops", |ty| matches!(ty, Type::Char(_))),
    ("bytea_ops", |ty| *ty == Type::Bytea),
    ("char_ops", |ty| *ty == Type::CatalogChar),
    ("cidr_ops", is_address),
    ("date_ops", |ty| *ty == Type::Date),
    ("enum_ops", |ty| matches!(ty, Type::Enum(_))),
    ("float4_ops", |ty| *ty == Type::Float4),
    ("float8_ops", |ty| *ty == Type::Float8),
    ("inet_ops", is_address),
    ("int2_ops", |ty| *ty == Type::Int2),
    ("int4_ops", |ty| *ty == Type::Int4),
    ("int8_ops", |ty| *ty == Type::Int8),
    ("interval_ops", |ty| *ty == Type::Interval),
    ("jsonb_ops", |ty| *ty == Type::Jsonb),
    ("macaddr_ops", |ty| *ty == Type::MacAddr),
    ("money_ops", |ty| *ty == Type::Money),
    ("macaddr8_ops", |ty| *ty == Type::MacAddr8),
    ("name_ops", |ty| *ty == Type::Name),
    ("numeric_ops", |ty| matches!(ty, Type::Numeric(_))),
    ("oid_ops", |ty| *ty == Type::Oid),
    ("multirange_ops", |ty| matches!(ty, Type::Multirange(_))),
    ("range_ops", |ty| matches!(ty, Type::Range(_))),
    ("text_ops", is_text),
    ("text_pattern_ops", is_text),
    ("time_ops", |ty| matches!(ty, Type::Time(_))),
    ("timetz_ops", |ty| matches!(ty, Type::TimeTz(_))),
    ("timestamp_ops", |ty| matches!(ty, Type::Timestamp(_))),
    ("timestamptz_ops", |ty| matches!(ty, Type::TimestampTz(_))),
    ("uuid_ops", |ty| *ty == Type::Uuid),
    ("varbit_ops", |ty| matches!(ty, Type::VarBit(_))),
    ("varchar_ops", is_text),
    ("varchar_pattern_ops", is_text),
];

fn is_address(ty: &Type) -> bool {
    matches!(ty, Type::Inet | Type::Cidr)
}

fn is_text(ty: &Type) -> bool {
    matches!(ty, Type::Text | Type::Varchar(_) | Type::Unknown)
}

/// Checks the operator class of an element.
fn check_class(element: &IndexColumn, ty: &Type) -> Result<()> {
    match &element.operator_class {
        Some(class) => check_class_of(class, ty),
        None => Ok(()),
    }
}

/// The same by its name.
///
/// # Errors
/// `42704` if there is none of that name, `42804` if it is for another type.
pub(super) fn check_class_of(class: &ObjectName, ty: &Type) -> Result<()> {
    let name = class.0.last().and_then(fold_part).unwrap_or_default();
    match CLASSES.iter().find(|(known, _)| *known == name) {
        Some((_, takes)) if takes(ty) => Ok(()),
        Some(_) => {
            let ty = ty.standard_name();
            let message = format!("operator class \"{name}\" does not accept data type {ty}");
            Err(Error::new("42804", message))
        }
        None => {
            let message =
                format!("operator class \"{name}\" does not exist for access method \"btree\"");
            Err(Error::new("42704", message))
        }
    }
}
