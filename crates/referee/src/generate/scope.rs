//! Columns in sight.

use freestone_frontend::types::Type;

use super::Generator;

/// A relation of FROM.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// The name by which its columns go; without one they stand alone.
    pub name: String,
    /// Its columns.
    pub columns: Vec<(String, Type)>,
    /// A column that tells its rows apart.
    pub unique: Option<String>,
}

/// The columns and the rights of a query's expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The relations of FROM.
    pub relations: Vec<Relation>,
    /// In a grouped query: the expressions that stand for a group.
    pub grouped: Option<Vec<(String, Type)>>,
    /// Whether aggregates may be called.
    pub aggregates: bool,
    /// Whether window functions may be called.
    pub windows: bool,
    /// Whether the query has a window `wz`, of partitions without an order.
    pub named_window: bool,
}

impl Relation {
    /// A column as it is written.
    pub fn column(&self, column: &str) -> String {
        match self.name.as_str() {
            "" => column.to_owned(),
            name => format!("{name}.{column}"),
        }
    }
}

impl Scope {
    /// Columns, or groups' keys, by their texts.
    pub fn leaves(&self) -> Vec<(String, Type)> {
        match &self.grouped {
            Some(keys) => keys.clone(),
            None => self.columns(),
        }
    }

    /// Columns of the relations.
    pub fn columns(&self) -> Vec<(String, Type)> {
        let relations = self.relations.iter();
        let columns = relations.flat_map(|relation| {
            let columns = relation.columns.iter();
            columns.map(|(column, ty)| (relation.column(column), ty.clone()))
        });
        columns.collect()
    }

    /// Columns that tell the rows apart, if each relation has one.
    pub fn unique(&self) -> Option<Vec<String>> {
        let relations = self.relations.iter();
        let unique = relations.map(|relation| Some(relation.column(relation.unique.as_ref()?)));
        unique.collect()
    }
}

impl Generator<'_> {
    /// A column in sight of a type, mostly of the innermost query.
    pub(super) fn column_of(&mut self, ty: &Type) -> Option<String> {
        let outer = self.scopes.len() > 1 && !self.local && self.random.percent(25);
        let scopes = self.scopes.len();
        let at = match outer {
            true => self.random.below(scopes - 1),
            false => scopes.checked_sub(1)?,
        };
        let leaves = self.scopes.get(at)?.leaves();
        // A group's key that is no column is known in its own query only.
        let known = |text: &str| {
            !outer
                || text
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '.' || c == '_')
        };
        let fitting: Vec<_> = leaves
            .into_iter()
            .filter(|(text, of)| of == ty && known(text))
            .collect();
        self.random.pick(&fitting).map(|(text, _)| text.clone())
    }

    /// A type to ask an expression for: often that of a column in sight.
    pub(super) fn wanted_type(&mut self) -> Type {
        let leaves = self.scopes.last().map(Scope::leaves).unwrap_or_default();
        match self.random.percent(65) {
            true => match self.random.pick(&leaves) {
                Some((_, ty)) => ty.clone(),
                None => super::values::any_type(&mut self.random),
            },
            false => super::values::any_type(&mut self.random),
        }
    }

    /// The innermost scope.
    pub(super) fn scope(&self) -> Scope {
        self.scopes.last().cloned().unwrap_or_default()
    }
}
