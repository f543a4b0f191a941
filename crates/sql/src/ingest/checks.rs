//! What must hold for rows: CHECK constraints, and the types that columns are declared with.
//!
//! Generated columns are computed here, too: from the other columns of a row, when these are as
//! they are to be stored. Records are brought to their one form, which texts such as `( 1,now)`
//! are not.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use freestone_frontend::types::arrays::Arrays;
use freestone_frontend::types::{EnumType, Type};
use freestone_storage::{Column, ColumnType, TableSchema};

use crate::error::{Error, Result};
use crate::front::{
    self, Columns, Compiled, Expressions, domain_of, labels_of, parse_expr, with_value,
};
use crate::names::quoted;
use crate::routing::Membership;
use crate::types::type_held;
use crate::values::{assign, convert, show, show_of};

/// The checks of a table, ready to be computed.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    table: String,
    /// Its columns that people are shown.
    shown: Vec<Column>,
    conditions: Vec<(String, Compiled)>,
    /// Columns that are computed from others.
    generated: Vec<(usize, Column, Compiled)>,
    /// Columns with created types.
    declared: Vec<Declared>,
    /// Columns of composite types, or of arrays of them, and their types.
    records: Vec<(usize, Type)>,
    /// Casts of such columns to their types, which check the domains of fields.
    of_domains: Vec<Compiled>,
    /// The test for rows of a partition.
    membership: Membership,
}

/// What must hold for a column because of its type.
#[derive(Debug)]
struct Declared {
    column: usize,
    /// The type's name.
    name: String,
    not_null: bool,
    /// Names and conditions, each over all columns of the table.
    conditions: Vec<(String, Compiled)>,
    /// Whether what must hold does for each element of arrays.
    elements: Option<Column>,
    labels: Option<Labels>,
}

/// The labels of an enumeration.
#[derive(Debug)]
struct Labels {
    of: Arc<EnumType>,
    known: HashSet<String>,
    of_arrays: bool,
}

/// A row of some columns, as messages show it.
pub(crate) fn shown_row(columns: &[Column], rows: &RecordBatch, row: usize) -> String {
    let values = rows.columns().iter().zip(columns);
    let values = values.map(|(array, column)| match array.is_null(row) {
        true => "null".to_owned(),
        false => show_of(array, row, column),
    });
    let values: Vec<String> = values.collect();
    values.join(", ")
}

impl Checks {
    /// Whether there is anything to be done for rows of a table.
    pub(crate) fn are_needed(schema: &TableSchema) -> bool {
        let mut columns = schema.columns.iter();
        !schema.checks.is_empty()
            || columns.any(|column| column.declared.is_some() || column.generated)
    }

    /// Those of a table.
    ///
    /// # Errors
    /// Whatever is wrong with the conditions.
    pub(crate) fn of(
        expressions: Expressions<'_>,
        schema: &TableSchema,
        table: &str,
    ) -> Result<Self> {
        if !Self::are_needed(schema) {
            return Ok(Self::default());
        }
        let columns = Columns::of(schema, table);
        let conditions = schema.checks.iter().map(|check| {
            let condition = expressions.compiled(&parse_expr(&check.condition)?, &columns)?;
            Ok((check.name.clone(), condition))
        });
        let conditions = conditions.collect::<Result<_>>()?;
        let mut all = Self {
            table: table.to_owned(),
            shown: schema.declared().to_vec(),
            conditions,
            ..Self::default()
        };
        for (at, column) in schema.columns.iter().enumerate() {
            if column.generated
                && let Some(text) = &column.default
            {
                let value = expressions.compiled_for(&parse_expr(text)?, &columns, column)?;
                all.generated.push((at, column.clone(), value));
            }
            let ty = front::type_of_stored(expressions.snapshot, column);
            if let Type::Record(_) = ty.innermost() {
                if front::has_domains(&ty) {
                    let name = front::full_name_of_type(expressions.snapshot, &ty);
                    let column = quoted(&column.name);
                    let cast = parse_expr(&format!("CAST(CAST({column} AS text) AS {name})"))?;
                    let cast = expressions.compiled(&cast, &columns)?;
                    all.of_domains.push(cast);
                }
                all.records.push((at, ty));
            }
            if let Some(declared) = Declared::of(expressions, at, column, &columns)? {
                all.declared.push(declared);
            }
        }
        Ok(all)
    }

    /// These checks, and that rows belong to a partition.
    pub(crate) fn within(mut self, table: &str, membership: Membership) -> Self {
        table.clone_into(&mut self.table);
        self.membership = membership;
        self
    }

    /// Rows with records in their one form, and with the values of generated columns.
    ///
    /// # Errors
    /// Those of reading records and computing values.
    pub(crate) fn completed(&self, rows: RecordBatch) -> Result<RecordBatch> {
        if self.generated.is_empty() && self.records.is_empty() {
            return Ok(rows);
        }
        let mut done = rows;
        if !self.records.is_empty() {
            let mut arrays = done.columns().to_vec();
            for (at, ty) in &self.records {
                if let Some(place) = arrays.get_mut(*at) {
                    *place = convert::normal_records(place, ty)?;
                }
            }
            done = RecordBatch::try_new(done.schema(), arrays)?;
        }
        let schema = done.schema();
        for (at, column, value) in &self.generated {
            // A hidden column may read one that is generated before it.
            let value = value.evaluate(&done)?;
            let value = assign(&value, column).map_err(|bad| bad.error)?;
            let mut arrays = done.columns().to_vec();
            if let Some(place) = arrays.get_mut(*at) {
                *place = value;
            }
            done = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
        }
        Ok(done)
    }

    /// Checks rows of all columns of the table.
    ///
    /// # Errors
    /// `23514`, naming the constraint and the row; `23502` and `22P02` of types.
    pub(crate) fn check(&self, rows: &RecordBatch) -> Result<()> {
        for declared in &self.declared {
            declared.check(rows)?;
        }
        for cast in &self.of_domains {
            cast.evaluate(rows)?;
        }
        for (name, condition) in &self.conditions {
            if let Some(row) = failed(condition, name, rows)? {
                let values = shown_row(&self.shown, rows, row);
                return Err(Error::new(
                    "23514",
                    format!(
                        "new row for relation \"{}\" violates check constraint \"{name}\"",
                        self.table
                    ),
                )
                .with_detail(format!("Failing row contains ({values}).")));
            }
        }
        if let Some(row) = self.membership.stranger(rows)? {
            let values = rows.columns().iter().map(|column| show(column, row));
            let values: Vec<String> = values.collect();
            let message = format!(
                "new row for relation \"{}\" violates partition constraint",
                self.table
            );
            return Err(Error::new("23514", message)
                .with_detail(format!("Failing row contains ({}).", values.join(", "))));
        }
        Ok(())
    }
}

/// The first row for which a condition is FALSE.
fn failed(condition: &Compiled, name: &str, rows: &RecordBatch) -> Result<Option<usize>> {
    let met = condition.evaluate(rows)?;
    let met = met
        .as_boolean_opt()
        .ok_or_else(|| Error::internal(format!("CHECK \"{name}\" is no condition")))?;
    Ok((0..met.len()).find(|row| met.is_valid(*row) && !met.value(*row)))
}

impl Declared {
    fn of(
        expressions: Expressions<'_>,
        at: usize,
        column: &Column,
        columns: &Columns,
    ) -> Result<Option<Self>> {
        let Some(id) = column.declared else {
            return Ok(None);
        };
        let of_elements = front::has_arrays_of_domain(expressions.snapshot, column);
        let labels = labels_of(expressions.snapshot, column);
        let labels = labels.map(|of| Labels {
            known: of.labels.iter().cloned().collect(),
            // Elements of a domain are checked as values of their own.
            of_arrays: matches!(column.kind, ColumnType::Array { .. }) && !of_elements,
            of,
        });
        let mut declared = Self {
            column: at,
            name: String::new(),
            not_null: false,
            conditions: Vec::new(),
            elements: None,
            labels,
        };
        if let Some(domain) = domain_of(expressions.snapshot, id)? {
            let element = element_of(column).filter(|_| of_elements);
            let alone = element.clone().map(|element| {
                let schema = TableSchema {
                    columns: vec![element],
                    ..TableSchema::default()
                };
                Columns::of(&schema, "domain")
            });
            let (name_of_value, columns) = match &alone {
                Some(columns) => (VALUE, columns),
                None => (column.name.as_str(), columns),
            };
            for (name, condition) in &domain.checks {
                let condition = with_value(condition, name_of_value);
                let condition = expressions.compiled(&condition, columns)?;
                declared.conditions.push((name.clone(), condition));
            }
            declared.elements = element;
            declared.not_null = domain.not_null;
            declared.name = domain.name;
        }
        Ok(Some(declared))
    }

    fn check(&self, rows: &RecordBatch) -> Result<()> {
        if let Some(element) = &self.elements {
            let elements = elements_of(rows.column(self.column), element)?;
            return self.check_values(elements.column(0), &elements);
        }
        self.check_values(rows.column(self.column), rows)
    }

    /// Checks values, which are in a column of some rows.
    fn check_values(&self, values: &ArrayRef, rows: &RecordBatch) -> Result<()> {
        if self.not_null && values.null_count() > 0 {
            let message = format!("domain {} does not allow null values", self.name);
            return Err(Error::new("23502", message));
        }
        if let Some(labels) = &self.labels {
            labels.check(values)?;
        }
        for (name, condition) in &self.conditions {
            if failed(condition, name, rows)?.is_some() {
                let message = format!(
                    "value for domain {} violates check constraint \"{name}\"",
                    self.name
                );
                return Err(Error::new("23514", message));
            }
        }
        Ok(())
    }
}

/// The column in which elements stand while the conditions of their domain are checked.
const VALUE: &str = "value";

/// The elements of a column of arrays as a column of their own.
fn element_of(column: &Column) -> Option<Column> {
    let ColumnType::Array { element, .. } = column.kind else {
        return None;
    };
    Some(Column {
        name: VALUE.to_owned(),
        kind: element.into(),
        ..column.clone()
    })
}

/// All elements of stored arrays, in the only column of some rows.
fn elements_of(arrays: &ArrayRef, element: &Column) -> Result<RecordBatch> {
    let held = type_held(element);
    let arrays = convert::loaded(arrays, &held.clone().array())?;
    let values = Arrays::of(&arrays)?.values();
    let values = match convert::is_held_as_text(&held) {
        true => convert::as_text(values, &held)?,
        false => Arc::clone(values),
    };
    let values = assign(&values, element).map_err(|bad| bad.error)?;
    Ok(RecordBatch::try_from_iter_with_nullable([(
        VALUE, values, true,
    )])?)
}

impl Labels {
    /// Checks that values, or the elements of arrays, are labels.
    fn check(&self, values: &ArrayRef) -> Result<()> {
        if self.of_arrays {
            // They are read as arrays of the enumeration.
            return convert::loaded(values, &Type::Enum(Arc::clone(&self.of)).array()).map(|_| ());
        }
        let mut texts = values.as_string_view_opt().into_iter().flatten().flatten();
        match texts.find(|text| !self.known.contains(*text)) {
            None => Ok(()),
            Some(text) => {
                let message = format!("invalid input value for enum {}: \"{text}\"", self.of.name);
                Err(Error::new("22P02", message))
            }
        }
    }
}
