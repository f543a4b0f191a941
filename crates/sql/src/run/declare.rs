//! Columns and constraints as written, for CREATE TABLE and ALTER TABLE.

use std::ops::ControlFlow;

use arrow::datatypes::DataType;
use freestone_frontend::syntax::walk::visit_expressions_mut;
use freestone_storage::{Check, Column, Deferral, Key, TableSchema};
use sqlparser::ast::{
    ColumnDef, ColumnOption, Expr, ForeignKeyConstraint, GeneratedExpressionMode, Ident,
    IndexColumn, NullsDistinctOption, ObjectName, TableConstraint,
};

use super::Run;
use super::alter_parts::taken_out;
use super::identity::{NewIdentity, serial};
use super::reference::deferral;
use super::user_type::Held;
use crate::dialect::is_untyped;
use crate::error::{Error, Result};
use crate::front::{Columns, columns_in, has_query, is_immutable, parse_expr, type_of_stored};
use crate::grammar::printed;
use crate::names::{Name, Parts, column_of, fold, fold_part, position};
use crate::relations::{Relations, TABLE};
use crate::values::check_assignable;

/// A table being declared.
pub(super) struct Declared<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) name: &'a Name,
    /// Whether there will be a new table, also in the place of one of that name.
    pub(super) creating: bool,
    pub(super) schema: TableSchema,
    /// Resolved when all columns and keys are known.
    checks: Vec<(Option<String>, Expr)>,
    references: Vec<ForeignKeyConstraint>,
    /// Identity columns; their sequences are made with the table.
    pub(super) identities: Vec<NewIdentity>,
}

impl<'a> Declared<'a> {
    /// A new table.
    pub(super) fn new(run: &'a Run<'a>, name: &'a Name) -> Self {
        Self {
            creating: true,
            ..Self::from(run, name, TableSchema::default())
        }
    }

    /// Goes on from what is declared already.
    pub(super) fn from(run: &'a Run<'a>, name: &'a Name, schema: TableSchema) -> Self {
        Self {
            run,
            name,
            creating: false,
            schema,
            checks: Vec::new(),
            references: Vec::new(),
            identities: Vec::new(),
        }
    }

    /// Adds a column.
    pub(super) fn column(&mut self, definition: &ColumnDef) -> Result<()> {
        let at = position(&definition.name);
        let index = self.schema.columns.len();
        let serial = serial(&definition.data_type);
        let kind = match serial {
            Some(kind) => Ok(Held::plain(kind)),
            None => self.run.held(&definition.data_type),
        };
        let Held {
            kind,
            modifier,
            declared,
        } = kind.map_err(|error| error.at(at))?;
        let identities = self.identities.len();
        if serial.is_some() {
            self.identities.push(NewIdentity::of_serial(index, kind)?);
        }
        let mut column = Column {
            name: fold(&definition.name),
            kind,
            nullable: true,
            default: None,
            identity: None,
            modifier,
            declared,
            generated: false,
            hidden: None,
        };
        check_system_name(&column.name)?;
        let says = |what: fn(&ColumnOption) -> bool| {
            let mut options = definition.options.iter();
            options.any(|option| what(&option.option))
        };
        let fills = serial.is_some()
            || says(|option| match option {
                ColumnOption::Generated {
                    generation_expr, ..
                } => generation_expr.is_none(),
                option => matches!(option, ColumnOption::NotNull),
            });
        if fills && says(|option| matches!(option, ColumnOption::Null)) {
            let message = format!(
                "conflicting NULL/NOT NULL declarations for column \"{}\" of table \"{}\"",
                column.name, self.name.name
            );
            return Err(Error::new("42601", message).at(at));
        }
        let mut generated = None;
        for option in &definition.options {
            let named = option.name.as_ref().map(fold);
            match &option.option {
                ColumnOption::Null => column.nullable = true,
                ColumnOption::NotNull => column.nullable = false,
                ColumnOption::Default(expr) => column.default = Some(printed(expr)),
                ColumnOption::PrimaryKey(_) | ColumnOption::Unique(_) => {
                    let deferral = deferral(match &option.option {
                        ColumnOption::PrimaryKey(key) => key.characteristics.as_ref(),
                        ColumnOption::Unique(key) => key.characteristics.as_ref(),
                        _ => None,
                    })?;
                    self.schema.keys.push(Key {
                        name: named.unwrap_or_default(),
                        columns: vec![index],
                        primary: matches!(option.option, ColumnOption::PrimaryKey(_)),
                        deferral,
                        ..Key::default()
                    });
                }
                ColumnOption::ForeignKey(written) => {
                    let mut written = written.clone();
                    written.columns = vec![definition.name.clone()];
                    written.name = written.name.or_else(|| option.name.clone());
                    self.references.push(written);
                }
                ColumnOption::Check(check) => {
                    let named = check.name.as_ref().map(fold).or(named);
                    self.checks.push((named, (*check.expr).clone()));
                }
                ColumnOption::Collation(collation) => {
                    self.check_collation(collation, &column)
                        .map_err(|error| error.at(at))?;
                }
                ColumnOption::Generated {
                    generation_expr: Some(expr),
                    generation_expr_mode,
                    generated_as: _,
                    sequence_options: _,
                    generated_keyword: _,
                } => {
                    if *generation_expr_mode == Some(GeneratedExpressionMode::Virtual) {
                        let message = "VIRTUAL generated columns are not supported";
                        return Err(Error::unsupported(message)
                            .at(at)
                            .with_hint("GENERATED ALWAYS AS (…) STORED keeps the values."));
                    }
                    if column.generated {
                        let name = &column.name;
                        let message =
                            format!("multiple generation clauses specified for column \"{name}\"");
                        return Err(Error::new("42601", message).at(at));
                    }
                    column.generated = true;
                    generated = Some(expr.clone());
                }
                other => {
                    let identity = NewIdentity::of_option(index, kind, other);
                    let identity = identity.map_err(|error| error.at(at))?;
                    let unknown = || {
                        let message = format!("the column option {other} is not supported");
                        Error::unsupported(message).at(at)
                    };
                    self.identities.push(identity.ok_or_else(unknown)?);
                }
            }
        }
        if let Some(expr) = generated {
            let other = match (&column.default, self.identities.len() > identities) {
                (Some(_), _) => Some("default"),
                (None, true) => Some("identity"),
                (None, false) => None,
            };
            if let Some(other) = other {
                let name = &column.name;
                let message = format!(
                    "both {other} and generation expression specified for column \"{name}\""
                );
                return Err(Error::new("42601", message).at(at));
            }
            column.default = Some(printed(&self.without_table(&expr)));
        }
        match self.identities.len() - identities {
            0 => {}
            1 if column.default.is_none() => column.nullable = false,
            number => return Err(both(number, &column.name).at(at)),
        }
        self.schema.columns.push(column);
        Ok(())
    }

    /// A partition's declaration of a column that it has from its parent.
    ///
    /// # Errors
    /// `42703` for another column; those of its constraints.
    pub(super) fn column_of_partition(&mut self, definition: &ColumnDef) -> Result<()> {
        let mut definition = definition.clone();
        let at = position(&definition.name);
        let name = fold(&definition.name);
        if !is_untyped(&definition) {
            let message = format!("syntax error at or near \"{}\"", definition.data_type);
            return Err(Error::new("42601", message).at(at));
        }
        let Some(index) = self.schema.index_of(&name) else {
            let message = format!("column \"{name}\" does not exist");
            return Err(Error::new("42703", message).at(at));
        };
        for constraint in taken_out(&mut definition) {
            self.constraint(&constraint)?;
        }
        for option in &definition.options {
            let column = &mut self.schema.columns[index];
            match &option.option {
                ColumnOption::NotNull => column.nullable = false,
                // Demands of the parent stay.
                ColumnOption::Null => {}
                ColumnOption::Default(expr) => column.default = Some(printed(expr)),
                other => {
                    let message = format!("the column option {other} is not supported");
                    return Err(Error::unsupported(message).at(at));
                }
            }
        }
        Ok(())
    }

    /// Adds a constraint over columns that are there.
    pub(super) fn constraint(&mut self, constraint: &TableConstraint) -> Result<()> {
        match constraint {
            TableConstraint::PrimaryKey(key) => {
                let deferral = deferral(key.characteristics.as_ref())?;
                self.key(key.name.as_ref(), &key.columns, true, deferral)?;
            }
            TableConstraint::Unique(key) => {
                let deferral = deferral(key.characteristics.as_ref())?;
                self.key(key.name.as_ref(), &key.columns, false, deferral)?;
                if let Some(declared) = self.schema.keys.last_mut() {
                    declared.nulls_equal = key.nulls_distinct == NullsDistinctOption::NotDistinct;
                }
            }
            TableConstraint::ForeignKey(written) => self.references.push(written.clone()),
            TableConstraint::Check(check) => {
                let named = check.name.as_ref().map(fold);
                self.checks.push((named, (*check.expr).clone()));
            }
            other => {
                return Err(Error::unsupported(format!(
                    "the constraint \"{other}\" is not supported"
                )));
            }
        }
        Ok(())
    }

    fn key(
        &mut self,
        name: Option<&Ident>,
        columns: &[IndexColumn],
        primary: bool,
        deferral: Deferral,
    ) -> Result<()> {
        let mut indexes = Vec::with_capacity(columns.len());
        for column in columns {
            let Expr::Identifier(ident) = &column.column.expr else {
                return Err(Error::unsupported("a key is made of plain columns"));
            };
            let place = self.place(ident, "key")?;
            if indexes.contains(&place) {
                let kind = if primary { "primary key" } else { "unique" };
                let name = fold(ident);
                let message = format!("column \"{name}\" appears twice in {kind} constraint");
                return Err(Error::new("42701", message).at(position(ident)));
            }
            indexes.push(place);
        }
        self.schema.keys.push(Key {
            name: name.map(fold).unwrap_or_default(),
            columns: indexes,
            primary,
            deferral,
            ..Key::default()
        });
        Ok(())
    }

    pub(super) fn place(&self, ident: &Ident, of: &str) -> Result<usize> {
        let name = fold(ident);
        self.schema.index_of(&name).ok_or_else(|| {
            let message = format!("column \"{name}\" named in {of} does not exist");
            Error::new("42703", message).at(position(ident))
        })
    }

    /// The declaration of a column alone.
    ///
    /// # Errors
    /// `XX000` for one with constraints, which are added after it.
    pub(super) fn schema_of_column(self) -> Result<TableSchema> {
        let plain = self.schema.keys.is_empty() && self.checks.is_empty();
        if plain && self.references.is_empty() {
            return Ok(self.schema);
        }
        Err(Error::internal("a constraint of a column that is added"))
    }

    /// The declaration, with a name for every constraint.
    ///
    /// # Errors
    /// `42P16` for two primary keys, `42710` for two constraints of one name; whatever
    /// is wrong with conditions and references.
    pub(super) fn finished(mut self) -> Result<TableSchema> {
        if self.schema.keys.iter().filter(|key| key.primary).count() > 1 {
            let message = format!(
                "multiple primary keys for table \"{}\" are not allowed",
                self.name
            );
            return Err(Error::new("42P16", message));
        }
        let primary = self.schema.keys.iter().filter(|key| key.primary);
        let primary: Vec<usize> = primary.flat_map(|key| key.columns.clone()).collect();
        for index in primary {
            self.schema.columns[index].nullable = false;
        }
        self.schema.check_keys()?;
        self.name_keys();
        for (name, condition) in std::mem::take(&mut self.checks) {
            let check = self.check(name, &condition)?;
            self.schema.checks.push(check);
        }
        for written in std::mem::take(&mut self.references) {
            let key = self.reference(&written)?;
            self.schema.foreign_keys.push(key);
        }
        self.check_generated()?;
        let names = constraint_names(&self.schema);
        for (number, name) in names.iter().enumerate() {
            if names[..number].contains(name) {
                let message = format!(
                    "constraint \"{name}\" of table \"{}\" already exists",
                    self.name
                );
                return Err(Error::new("42710", message));
            }
        }
        Ok(self.schema)
    }

    /// PostgreSQL's names for keys without one: `t_pkey`, `t_a_b_key`.
    fn name_keys(&mut self) {
        for number in 0..self.schema.keys.len() {
            let key = &self.schema.keys[number];
            if key.name.is_empty() {
                let name = match key.primary {
                    true => self.free(None, "pkey"),
                    false => self.free(Some(&key.columns), "key"),
                };
                self.schema.keys[number].name = name;
            }
        }
    }

    /// A name of the table, columns and a kind.
    pub(super) fn named_after(
        &self,
        columns: Option<&[usize]>,
        kind: &str,
        taken: impl Fn(&str) -> bool,
    ) -> String {
        let columns = columns.map(|columns| {
            let names = columns.iter();
            let names = names.map(|column| self.schema.columns[*column].name.as_str());
            names.collect::<Vec<_>>().join("_")
        });
        let parts = Parts {
            table: &self.name.name,
            columns: columns.as_deref(),
            kind,
        };
        parts.free(taken)
    }

    /// A name that no constraint of the table has.
    pub(super) fn free(&self, columns: Option<&[usize]>, kind: &str) -> String {
        let taken = constraint_names(&self.schema);
        self.named_after(columns, kind, |name| {
            taken.iter().any(|known| known == name)
        })
    }

    /// Adds a condition.
    pub(super) fn add_check(&mut self, name: Option<String>, condition: Expr) {
        self.checks.push((name, condition));
    }

    /// An expression without the table's name, which may change.
    pub(super) fn without_table(&self, expr: &Expr) -> Expr {
        let mut plain = expr.clone();
        let _: ControlFlow<()> = visit_expressions_mut(&mut plain, |part| {
            if let Expr::CompoundIdentifier(parts) = part
                && let Some(column) = column_of(parts, self.name)
            {
                *part = Expr::Identifier(column.clone());
            }
            ControlFlow::Continue(())
        });
        plain
    }

    /// Refuses collations other than by bytes, and of values that are no texts.
    fn check_collation(&self, collation: &ObjectName, column: &Column) -> Result<()> {
        let ty = type_of_stored(&self.run.snapshot, column);
        if !ty.innermost().is_string() {
            let message = format!(
                "collations are not supported by type {}",
                ty.standard_name()
            );
            return Err(Error::new("42804", message));
        }
        check_bytewise(collation)
    }

    /// Checks the expressions of generated columns.
    fn check_generated(&self) -> Result<()> {
        let columns = self.schema.columns.iter();
        let computed: Vec<&Column> = columns.filter(|column| column.generated).collect();
        if computed.is_empty() {
            return Ok(());
        }
        let schema = Columns::of(&self.schema, &self.name.name);
        for column in computed {
            let text = column.default.as_deref().unwrap_or_default();
            let expr = parse_expr(text)?;
            if has_query(&expr) {
                let message = "cannot use subquery in column generation expression";
                return Err(Error::unsupported(message));
            }
            for read in columns_in(&expr, &self.schema, self.name) {
                if self.schema.columns[read].generated && column.hidden.is_none() {
                    let name = &self.schema.columns[read].name;
                    let message = format!(
                        "cannot use generated column \"{name}\" in column generation expression"
                    );
                    return Err(Error::new("42P17", message).with_detail(
                        "A generated column cannot reference another generated column.",
                    ));
                }
            }
            let expressions = self.run.expressions();
            let value = expressions.compiled_for(&expr, &schema, column)?;
            let relations = Relations::new(self.run.state(), self.run.snapshot.clone());
            if !is_immutable(&relations, &expr, &schema)? {
                let message = "generation expression is not immutable";
                return Err(Error::new("42P17", message));
            }
            check_assignable(value.kind(), column)?;
        }
        Ok(())
    }

    fn check(&self, name: Option<String>, condition: &Expr) -> Result<Check> {
        if has_query(condition) {
            return Err(Error::unsupported("a sub-query in CHECK is not supported"));
        }
        let mut columns = Vec::new();
        let mut plain = condition.clone();
        let found = visit_expressions_mut(&mut plain, |part| {
            // Without the table's name, which may change.
            if let Expr::CompoundIdentifier(parts) = part
                && let Some(column) = column_of(parts, self.name)
            {
                *part = Expr::Identifier(column.clone());
            }
            let ident = match part {
                Expr::Identifier(ident) => Some(&*ident),
                _ => None,
            };
            let column = ident.and_then(|ident| self.schema.index_of(&fold(ident)));
            columns.extend(column.filter(|column| !columns.contains(column)));
            let system = ident.filter(|_| column.is_none()).map(fold);
            match system.filter(|name| SYSTEM_COLUMNS.contains(&name.as_str())) {
                Some(name) => ControlFlow::Break(name),
                None => ControlFlow::Continue(()),
            }
        });
        if let ControlFlow::Break(name) = found {
            let message =
                format!("system column \"{name}\" reference in check constraint is invalid");
            return Err(Error::new("42P10", message));
        }
        let schema = Columns::of(&self.schema, &self.name.name);
        let compiled = self.run.expressions().compiled(&plain, &schema)?;
        let kind = compiled.kind();
        if !matches!(kind, DataType::Boolean | DataType::Null) {
            return Err(Error::new(
                "42804",
                "argument of CHECK must be type boolean",
            ));
        }
        let unnamed = || match columns.as_slice() {
            [_] => self.free(Some(&columns), "check"),
            _ => self.free(None, "check"),
        };
        Ok(Check {
            name: name.unwrap_or_else(unnamed),
            condition: printed(&plain),
            columns,
            unvalidated: false,
        })
    }
}

/// Refuses collations other than by bytes.
pub(super) fn check_bytewise(collation: &ObjectName) -> Result<()> {
    let name = collation.0.last().and_then(fold_part).unwrap_or_default();
    match ["C", "POSIX", "default", "ucs_basic"].contains(&name.as_str()) {
        true => Ok(()),
        false => {
            let message = format!("collation \"{name}\" for encoding \"UTF8\" does not exist");
            Err(Error::new("42704", message)
                .with_hint("Texts are in the order of their bytes: COLLATE \"C\"."))
        }
    }
}

/// Columns that PostgreSQL has of its own in each table, but for `tableoid`, which a condition
/// may read.
const SYSTEM_COLUMNS: [&str; 5] = ["ctid", "xmin", "xmax", "cmin", "cmax"];

/// Refuses a column of a table that is called as one that PostgreSQL has of its own.
///
/// # Errors
/// `42701`.
pub(super) fn check_system_name(name: &str) -> Result<()> {
    match name == TABLE || SYSTEM_COLUMNS.contains(&name) {
        true => {
            let message = format!("column name \"{name}\" conflicts with a system column name");
            Err(Error::new("42701", message))
        }
        false => Ok(()),
    }
}

/// `42601` for a column with an identity and another, or a DEFAULT.
fn both(identities: usize, column: &str) -> Error {
    let what = match identities {
        1 => "both default and identity",
        _ => "multiple identities",
    };
    Error::new("42601", format!("{what} specified for column \"{column}\""))
}

/// The names of all constraints of a table.
pub(super) fn constraint_names(schema: &TableSchema) -> Vec<String> {
    let keys = schema.keys.iter().map(|key| &key.name);
    let checks = schema.checks.iter().map(|check| &check.name);
    let references = schema.foreign_keys.iter().map(|key| &key.name);
    let all = keys.chain(checks).chain(references);
    all.filter(|name| !name.is_empty()).cloned().collect()
}
