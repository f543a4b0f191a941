//! `search_path`: where names without a schema are looked up.
//!
//! Names in queries are looked up along the path where they are bound. Names of what a
//! statement makes, changes or drops get their schema before it runs, as do sequences and
//! tables that texts name, such as `nextval('s')`. With the path that a session begins with
//! there is nothing to do.

use std::borrow::Cow;
use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::{visit_expressions_mut, visit_relations_mut};
use freestone_storage::Catalog;
use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, ArrayElemTypeDef, ColumnDef, ColumnOption, DataType,
    Expr, ForeignKeyConstraint, Ident, ObjectName, ObjectNamePart, Query, Statement as Ast,
    TableConstraint,
};

use super::Session;
use super::targets::{self, Object};
use super::texts::{self, Kind};
use crate::error::{Error, Result};
use crate::grammar::{OwnStatement, define};
use crate::names::{fold_part, has_function, has_rows};
use crate::relations::path_of;
use crate::statement::{changing, names_of_with};

impl Session {
    /// Whether names without a schema may be of another than the default one.
    pub(crate) fn has_own_names(&self) -> bool {
        self.has_temporary() || self.client().has_path()
    }

    /// The statement with the schemas of what it makes, changes or drops.
    ///
    /// # Errors
    /// `3F000` if the path has no schema to make something in.
    pub(crate) fn in_path<'a>(&self, ast: Cow<'a, Ast>) -> Result<Cow<'a, Ast>> {
        let adapted = self.looked(|looked| {
            let mut ast = ast.as_ref().clone();
            looked.adapt(&mut ast)?;
            Ok(ast)
        })?;
        Ok(adapted.map_or(ast, Cow::Owned))
    }

    /// A statement of our own with the schemas of what it makes, changes or drops.
    ///
    /// # Errors
    /// As [`Session::in_path`]; syntax errors of names.
    pub(crate) fn own_in_path<'a>(&self, own: &'a OwnStatement) -> Result<Cow<'a, OwnStatement>> {
        if !self.has_own_names() {
            return Ok(Cow::Borrowed(own));
        }
        let mut own = own.clone();
        self.own_targets(&mut own)?;
        self.looked(|looked| looked.adapt_own(&mut own))?;
        Ok(Cow::Owned(own))
    }

    /// Does something with the path; nothing, if it is the one that every session begins with.
    fn looked<T>(&self, work: impl FnOnce(&Looked<'_>) -> Result<T>) -> Result<Option<T>> {
        if !self.client().has_path() {
            return Ok(None);
        }
        let Ok(snapshot) = self.glance() else {
            // The statement will say itself why it does not run.
            return Ok(None);
        };
        let Some(path) = path_of(&self.statement_state(), &snapshot) else {
            return Ok(None);
        };
        let looked = Looked {
            catalog: snapshot.catalog(),
            path: &path,
        };
        work(&looked).map(Some)
    }
}

/// A path over a catalog.
struct Looked<'a> {
    catalog: &'a Catalog,
    path: &'a [String],
}

/// What a name may be of.
type Has = fn(&Catalog, &str, &str) -> bool;

fn has_relation(catalog: &Catalog, schema: &str, name: &str) -> bool {
    catalog.table(schema, name).is_some() || catalog.view(schema, name).is_some()
}

fn has_sequence(catalog: &Catalog, schema: &str, name: &str) -> bool {
    catalog.sequence(schema, name).is_some()
}

fn has_any(catalog: &Catalog, schema: &str, name: &str) -> bool {
    has_rows(catalog, schema, name) || catalog.index(schema, name).is_some()
}

fn has_type(catalog: &Catalog, schema: &str, name: &str) -> bool {
    catalog.user_type(schema, name).is_some()
}

fn has_index(catalog: &Catalog, schema: &str, name: &str) -> bool {
    let mut tables = catalog.tables(schema).into_iter();
    catalog.index(schema, name).is_some()
        || tables.any(|table| table.schema.keys.iter().any(|key| key.name == name))
}

impl Looked<'_> {
    /// The first schema of the path that has something; the first of all if none has.
    fn schema_with(&self, name: &str, has: Has) -> Option<&str> {
        let mut path = self.path.iter().map(String::as_str);
        let found = path.find(|schema| has(self.catalog, schema, name));
        found.or_else(|| self.path.first().map(String::as_str))
    }

    fn qualify(&self, name: &mut ObjectName, has: Has) {
        if let [only] = name.0.as_slice()
            && let Some(folded) = fold_part(only)
            && let Some(schema) = self.schema_with(&folded, has)
        {
            put(name, schema);
        }
    }

    /// The schema of something new.
    fn make(&self, name: &mut ObjectName) -> Result<()> {
        if name.0.len() != 1 {
            return Ok(());
        }
        let mut path = self.path.iter();
        let known = |schema: &&String| self.catalog.schemas().any(|known| known == *schema);
        let schema = path.find(known).ok_or_else(|| {
            let message = "no schema has been selected to create in";
            Error::new("3F000", message)
        })?;
        put(name, schema);
        Ok(())
    }

    /// Gives a name that a statement changes, drops, locks or tells of its schema.
    fn target(&self, name: &mut ObjectName, object: Object) {
        let has: Has = match object {
            Object::Relation => has_relation,
            Object::Sequence => has_sequence,
            Object::Index => has_index,
            Object::Any => has_any,
            Object::Function => has_function,
            Object::Type => has_type,
        };
        self.qualify(name, has);
    }

    fn adapt_own(&self, own: &mut OwnStatement) -> Result<()> {
        targets::own_renamed(own, &mut |name, object| self.target(name, object))?;
        let OwnStatement::Definition(definition) = own else {
            return Ok(());
        };
        define::with_types(definition, |name, is_new| match is_new {
            true => self.make(name),
            false => {
                self.qualify(name, has_type);
                Ok(())
            }
        })
    }

    fn adapt(&self, ast: &mut Ast) -> Result<()> {
        self.texts(ast);
        self.types(ast);
        targets::renamed(ast, &mut |name, object| self.target(name, object));
        match ast {
            Ast::Query(query) => {
                let with = query.with.iter_mut().flat_map(|with| &mut with.cte_tables);
                for cte in with {
                    self.changing(&mut cte.query)?;
                }
                self.changing(query)?;
            }
            Ast::Explain { statement, .. } => self.adapt(statement)?,
            Ast::CreateTable(create) => self.make(&mut create.name)?,
            Ast::CreateView(view) => {
                self.make(&mut view.name)?;
                self.query(&mut view.query);
            }
            Ast::CreateSequence { name, .. } => self.make(name)?,
            Ast::CreateType { name, .. } => self.make(name)?,
            Ast::CreateFunction(create) => self.make(&mut create.name)?,
            _ => {}
        }
        Ok(())
    }

    /// A statement that changes rows and stands where a query may.
    fn changing(&self, query: &mut Query) -> Result<()> {
        use sqlparser::ast::SetExpr;
        if changing(query).is_some()
            && let SetExpr::Insert(ast)
            | SetExpr::Update(ast)
            | SetExpr::Delete(ast)
            | SetExpr::Merge(ast) = query.body.as_mut()
        {
            self.adapt(ast)?;
        }
        Ok(())
    }

    /// The query of a view, which is looked up without the path.
    fn query(&self, query: &mut Query) {
        let given = names_of_with(query);
        let _: ControlFlow<()> = visit_relations_mut(query, |name| {
            let [only] = name.0.as_slice() else {
                return ControlFlow::Continue(());
            };
            let folded = fold_part(only).unwrap_or_default();
            let known = self
                .path
                .iter()
                .any(|schema| has_rows(self.catalog, schema, &folded));
            if known && !given.contains(&folded) {
                self.qualify(name, has_rows);
            }
            ControlFlow::Continue(())
        });
        let _: ControlFlow<()> = visit_expressions_mut(query, |expr| {
            if let Expr::Function(call) = expr
                && let [only] = call.name.0.as_slice()
            {
                let folded = fold_part(only).unwrap_or_default();
                let known = self
                    .path
                    .iter()
                    .any(|schema| has_function(self.catalog, schema, &folded));
                if known {
                    self.qualify(&mut call.name, has_function);
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// Types of casts and of columns that are of a schema of the path.
    fn types(&self, ast: &mut Ast) {
        let _: ControlFlow<()> = visit_expressions_mut(ast, |expr| {
            if let Expr::Cast { data_type, .. } = expr {
                self.type_of_path(data_type);
            }
            ControlFlow::Continue(())
        });
        match ast {
            Ast::CreateTable(create) => {
                let columns = create.columns.iter_mut();
                columns.for_each(|column| self.type_of_path(&mut column.data_type));
            }
            Ast::AlterTable(alter) => {
                for operation in &mut alter.operations {
                    match operation {
                        AlterTableOperation::AddColumn { column_def, .. } => {
                            self.type_of_path(&mut column_def.data_type);
                        }
                        AlterTableOperation::AlterColumn {
                            op: AlterColumnOperation::SetDataType { data_type, .. },
                            ..
                        } => self.type_of_path(data_type),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn type_of_path(&self, data_type: &mut DataType) {
        match data_type {
            DataType::Custom(name, modifiers) if modifiers.is_empty() => {
                let [only] = name.0.as_slice() else {
                    return;
                };
                let folded = fold_part(only).unwrap_or_default();
                let mut path = self.path.iter();
                if let Some(schema) = path.find(|schema| has_type(self.catalog, schema, &folded)) {
                    put(name, schema);
                }
            }
            DataType::Array(
                ArrayElemTypeDef::SquareBracket(element, _)
                | ArrayElemTypeDef::AngleBracket(element),
            ) => self.type_of_path(element),
            _ => {}
        }
    }

    /// Sequences and relations that texts name.
    fn texts(&self, ast: &mut Ast) {
        texts::renamed(ast, |name, kind| {
            let has: Has = match kind {
                Kind::Sequence => has_sequence,
                Kind::Any => has_any,
            };
            let mut path = self.path.iter();
            if let [only] = name.0.as_slice()
                && let Some(folded) = fold_part(only)
                && let Some(schema) = path.find(|schema| has(self.catalog, schema, &folded))
            {
                put(name, schema);
            }
        });
    }
}

/// Lets the table in the name of a column be another one.
pub(crate) fn of_column(column: &mut ObjectName, change: impl FnOnce(&mut ObjectName)) {
    if column.0.len() > 1
        && let Some(last) = column.0.pop()
    {
        change(column);
        column.0.push(last);
    }
}

fn put(name: &mut ObjectName, schema: &str) {
    let schema = ObjectNamePart::Identifier(Ident::with_quote('"', schema));
    name.0.insert(0, schema);
}

/// The foreign keys that a statement declares.
pub(super) fn foreign_keys(ast: &mut Ast) -> Vec<&mut ForeignKeyConstraint> {
    fn of_column(column: &mut ColumnDef) -> Vec<&mut ForeignKeyConstraint> {
        let options = column.options.iter_mut();
        let keys = options.filter_map(|option| match &mut option.option {
            ColumnOption::ForeignKey(key) => Some(key),
            _ => None,
        });
        keys.collect()
    }
    fn of_table(constraint: &mut TableConstraint) -> Option<&mut ForeignKeyConstraint> {
        match constraint {
            TableConstraint::ForeignKey(key) => Some(key),
            _ => None,
        }
    }
    match ast {
        Ast::CreateTable(create) => {
            let columns = create.columns.iter_mut().flat_map(of_column);
            columns
                .chain(create.constraints.iter_mut().filter_map(of_table))
                .collect()
        }
        Ast::AlterTable(alter) => {
            let changes = alter.operations.iter_mut();
            let keys = changes.flat_map(|change| match change {
                AlterTableOperation::AddConstraint { constraint, .. } => {
                    of_table(constraint).into_iter().collect()
                }
                AlterTableOperation::AddColumn { column_def, .. } => of_column(column_def),
                _ => Vec::new(),
            });
            keys.collect()
        }
        _ => Vec::new(),
    }
}
