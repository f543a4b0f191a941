//! Statements about definitions that the grammar below does not know whole: CREATE, ALTER and DROP
//! DOMAIN, DROP TYPE, ALTER TYPE … SET SCHEMA and … ATTRIBUTE; SET SCHEMA of tables and views;
//! identities of columns; ALTER FUNCTION, ALTER INDEX, ALTER SEQUENCE, ALTER CONSTRAINT and SET
//! CONSTRAINTS; ALTER TABLE … ATTACH and DETACH PARTITION; CREATE SCHEMA with elements; REFRESH and
//! ALTER MATERIALIZED VIEW.

mod syntax;

use crate::error::Result;
use crate::names::written_name;
use sqlparser::ast::ObjectName;

pub(crate) use syntax::parse;

/// One of the statements; names, types and expressions are as they were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Definition {
    CreateDomain {
        name: String,
        ty: String,
        default: Option<String>,
        constraints: Vec<DomainConstraint>,
    },
    AlterDomain {
        name: String,
        change: DomainChange,
    },
    /// ALTER TYPE … ATTRIBUTE.
    AlterComposite {
        name: String,
        change: CompositeChange,
    },
    /// ALTER FUNCTION or AGGREGATE; without the types of parameters for the only one of a name.
    AlterFunction {
        name: String,
        parameters: Option<Vec<String>>,
        is_aggregate: bool,
        change: FunctionChange,
    },
    /// DROP TYPE, or DROP DOMAIN.
    Drop {
        domains: bool,
        names: Vec<String>,
        if_exists: bool,
        cascade: bool,
    },
    /// CREATE SCHEMA with statements that make what is in it.
    CreateSchema {
        /// The statement without them.
        head: String,
        elements: Vec<String>,
    },
    /// SET CONSTRAINTS; all of them without names.
    SetConstraints {
        names: Option<Vec<String>>,
        deferred: bool,
    },
    AlterSequence {
        name: String,
        if_exists: bool,
        change: SequenceChange,
    },
    /// ALTER INDEX … RENAME TO.
    RenameIndex {
        name: String,
        if_exists: bool,
        to: String,
    },
    /// ALTER TABLE … ATTACH PARTITION, with the bound, or DETACH PARTITION without one.
    Partition {
        parent: String,
        partition: String,
        bound: Option<String>,
        if_exists: bool,
    },
    /// REFRESH MATERIALIZED VIEW; `empty` WITH NO DATA.
    Refresh {
        name: String,
        concurrently: bool,
        empty: bool,
    },
    /// ALTER MATERIALIZED VIEW, with the change as ALTER TABLE has it.
    AlterMaterialized {
        name: String,
        if_exists: bool,
        change: String,
    },
    /// ALTER TABLE, or ALTER VIEW.
    AlterTable {
        view: bool,
        name: String,
        if_exists: bool,
        change: TableChange,
    },
    /// ALTER TYPE or DOMAIN … SET SCHEMA.
    Move {
        domain: bool,
        name: String,
        schema: String,
    },
}

/// Lets the names of the types that a statement makes, changes or drops be other ones; `change`
/// is told whether there is to be a new one of the name.
///
/// # Errors
/// Syntax errors of the names; those of `change`.
pub(crate) fn with_types(
    definition: &mut Definition,
    mut change: impl FnMut(&mut ObjectName, bool) -> Result<()>,
) -> Result<()> {
    let is_new = matches!(definition, Definition::CreateDomain { .. });
    let names = match definition {
        Definition::CreateDomain { name, .. }
        | Definition::AlterDomain { name, .. }
        | Definition::AlterComposite { name, .. }
        | Definition::Move { name, .. } => std::slice::from_mut(name),
        Definition::Drop { names, .. } => names.as_mut_slice(),
        _ => return Ok(()),
    };
    for written in names {
        let mut name = written_name(written)?;
        change(&mut name, is_new)?;
        *written = name.to_string();
    }
    Ok(())
}

/// A constraint of a domain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DomainConstraint {
    pub(crate) name: Option<String>,
    pub(crate) kind: ConstraintKind,
    /// Without NOT VALID.
    pub(crate) valid: bool,
}

/// The kind of a domain's constraint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConstraintKind {
    NotNull,
    Null,
    Check(String),
}

/// An action of ALTER DOMAIN.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DomainChange {
    /// SET DEFAULT, or DROP DEFAULT.
    Default(Option<String>),
    /// SET NOT NULL, or DROP NOT NULL.
    NotNull(bool),
    Add(DomainConstraint),
    DropConstraint {
        name: String,
        if_exists: bool,
    },
    RenameConstraint {
        name: String,
        to: String,
    },
    Validate(String),
    Rename(String),
}

/// The changes of fields by ALTER TYPE.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CompositeChange {
    Fields(Vec<AttributeChange>),
    Rename { from: String, to: String },
}

/// An action of ALTER TYPE on one field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AttributeChange {
    Add { name: String, ty: String },
    Drop { name: String, if_exists: bool },
    Type { name: String, ty: String },
}

/// An action of ALTER TABLE or ALTER VIEW.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TableChange {
    /// SET SCHEMA.
    Move(String),
    /// ALTER COLUMN … SET GENERATED, SET option and RESTART.
    Identity {
        column: String,
        always: Option<bool>,
        options: Vec<SequenceOption>,
    },
    /// ALTER COLUMN … DROP IDENTITY.
    DropIdentity { column: String, if_exists: bool },
    /// RESET of options.
    Reset(Vec<String>),
    /// RENAME COLUMN of a view.
    RenameColumn { from: String, to: String },
    /// ALTER CONSTRAINT: whether it is deferrable, and whether it is deferred at first.
    Constraint {
        name: String,
        deferrable: bool,
        deferred: bool,
    },
    /// SET (…) of a view: options, each with its value.
    ViewOptions(Vec<(String, String)>),
    /// ALTER COLUMN … SET DEFAULT of a view; DROP DEFAULT without one.
    ViewDefault {
        column: String,
        default: Option<String>,
    },
    /// SET LOGGED.
    Logged,
    /// A change that is not supported, by its words.
    Refused(String),
}

/// The changes by ALTER FUNCTION.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FunctionChange {
    Rename(String),
    Move(String),
    Options(Vec<FunctionOption>),
    /// A change that is not supported, by its words.
    Refused(String),
}

/// An option of a function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FunctionOption {
    /// `i`, `s` or `v`.
    Volatility(String),
    Strict(bool),
    Leakproof(bool),
    /// `s`, `r` or `u`.
    Parallel(String),
    Cost(String),
    Rows(String),
    /// SECURITY INVOKER.
    Invoker,
}

/// An action of ALTER SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SequenceChange {
    Options(Vec<SequenceOption>),
    Rename(String),
    Move(String),
}

/// An option of a sequence; numbers are as they were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SequenceOption {
    As(String),
    Increment(String),
    /// Without a number NO MINVALUE.
    Min(Option<String>),
    Max(Option<String>),
    Start(String),
    /// Without a number from the start.
    Restart(Option<String>),
    Cache(String),
    Cycle(bool),
    /// Without a column OWNED BY NONE.
    OwnedBy(Option<String>),
}

impl Definition {
    /// The columns that a sequence is to go with, as `table.column`.
    pub(crate) fn owners_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let options = match self {
            Self::AlterSequence {
                name: _,
                if_exists: _,
                change: SequenceChange::Options(options),
            } => options.as_mut_slice(),
            _ => &mut [],
        };
        options.iter_mut().filter_map(|option| match option {
            SequenceOption::OwnedBy(column) => column.as_mut(),
            _ => None,
        })
    }
}
