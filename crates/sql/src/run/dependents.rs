//! The dependents of a function, a type, a relation or a column: views, defaults, generated
//! columns, conditions and indexes.
//!
//! ```text
//! CREATE VIEW v AS SELECT f(a) FROM t      v depends on f, on t and on its column a
//! CREATE VIEW w AS SELECT * FROM v         w depends on v
//! DROP TABLE t                             refused: v depends on it
//! DROP TABLE t CASCADE                     w, v and t go
//! ```
//!
//! Their texts are kept as they were written. Something depends on an object if it can be
//! planned with that object, and without it not, or not with the same columns.

use freestone_storage::{CatalogEdit, Hidden, Table, TableId, ViewQuery};

use super::Run;
use super::redeclare::written;
use crate::error::{Error, Result};
use crate::front;
use crate::front::{condition_of, has_numbers_of};
use crate::grammar::printed;
use crate::names::{Name, temporary_schema};
use crate::relations::{Relations, Without};
use crate::session::Notice;
use crate::statement::parse_one;

/// Something that depends on what is to be dropped.
pub(super) struct Dependent {
    /// Its kind and name, for messages.
    pub(super) shown: String,
    /// The dependent through which it is one.
    on: Option<String>,
    what: What,
}

enum What {
    View(Name),
    Materialized(Name),
    Default(TableId, usize),
    Index(Name),
    /// A generated column or a condition.
    Other,
}

/// A view, which may be a materialized one.
struct ViewOf {
    name: Name,
    query: ViewQuery,
    materialized: bool,
}

impl ViewOf {
    /// Whether the view may need relations of some names; `words` are in lower case.
    fn mentions(&self, relations: &[&Name], words: &[String]) -> bool {
        let reads = self.query.reads.iter();
        let mut reads = reads.map(|read| (read.now.0.as_str(), read.now.1.as_str()));
        let is = |now: (&str, &str)| {
            let mut relations = relations.iter();
            relations.any(|name| now == (name.schema.as_str(), name.name.as_str()))
        };
        let text = self.query.sql.to_lowercase();
        reads.any(is) || words.iter().any(|word| text.contains(word.as_str()))
    }

    fn shown(&self) -> String {
        let kind = if self.materialized {
            "materialized view"
        } else {
            "view"
        };
        format!("{kind} {}", shown(&self.name))
    }
}

impl What {
    fn is_view(&self, name: &Name) -> bool {
        match self {
            Self::View(view) | Self::Materialized(view) => {
                view.schema == name.schema && view.name == name.name
            }
            _ => false,
        }
    }
}

impl Dependent {
    /// Whether it is one of some relations.
    pub(super) fn is_one_of(&self, relations: &[Name]) -> bool {
        relations.iter().any(|name| self.what.is_view(name))
    }
}

impl Run<'_> {
    /// The dependents of a function or a type, whose name has this last part.
    pub(super) fn dependents(&self, without: &Without, name: &str) -> Vec<Dependent> {
        let mut found = Vec::new();
        let catalog = self.snapshot.catalog();
        for (schema, table) in catalog.all_tables() {
            self.in_table(
                &Name::new(schema, &table.name),
                table,
                without,
                name,
                &mut found,
            );
        }
        self.views(without, (None, name), &mut found);
        found
    }

    /// The views over a relation, or over a column of one, and those over these.
    pub(super) fn views_over(&self, without: &Without, relation: &Name) -> Vec<Dependent> {
        let mut found = Vec::new();
        self.views(without, (Some(relation), &relation.name), &mut found);
        found
    }

    /// Adds the views that need something.
    fn views(
        &self,
        without: &Without,
        (relation, word): (Option<&Name>, &str),
        found: &mut Vec<Dependent>,
    ) {
        let mut left = self.all_views();
        let is_known = |view: &ViewOf, found: &[Dependent]| {
            found.iter().any(|one| one.what.is_view(&view.name))
        };
        left.retain(|view| !is_known(view, found));
        let mut words = vec![word.to_lowercase()];
        let mut over: Vec<Name> = relation.into_iter().cloned().collect();
        loop {
            let before = found.len();
            left.retain(|view| {
                let relations: Vec<&Name> = over.iter().collect();
                if !view.mentions(&relations, &words) || !self.view_needs(view, without) {
                    return true;
                }
                let reads = |of: &Dependent| {
                    let mut reads = view.query.reads.iter();
                    reads.any(|read| of.what.is_view(&Name::new(&read.now.0, &read.now.1)))
                };
                let on = found.iter().find(|of| reads(of)).map(|of| of.shown.clone());
                words.push(view.name.name.to_lowercase());
                over.push(view.name.clone());
                found.push(Dependent {
                    shown: view.shown(),
                    on,
                    what: match view.materialized {
                        true => What::Materialized(view.name.clone()),
                        false => What::View(view.name.clone()),
                    },
                });
                false
            });
            // Plans of others read the rows of a materialized view, not its query.
            let stored: Vec<Name> = found[before..]
                .iter()
                .filter_map(|one| match &one.what {
                    What::Materialized(name) => Some(name.clone()),
                    _ => None,
                })
                .collect();
            for name in stored {
                let without = Without::Relation(name.clone());
                self.views(&without, (Some(&name), &name.name), found);
            }
            if found.len() == before {
                return;
            }
            left.retain(|view| !is_known(view, found));
        }
    }

    fn all_views(&self) -> Vec<ViewOf> {
        let catalog = self.snapshot.catalog();
        let mut all = Vec::new();
        for schema in catalog.schemas() {
            all.extend(catalog.views(schema).into_iter().map(|view| ViewOf {
                name: Name::new(schema, &view.name),
                query: view.query.clone(),
                materialized: false,
            }));
        }
        for (schema, table) in catalog.all_tables() {
            if let Some(view) = &table.schema.materialized {
                all.push(ViewOf {
                    name: Name::new(schema, &table.name),
                    query: view.query.clone(),
                    materialized: true,
                });
            }
        }
        all
    }

    /// Whether a view has other columns, or cannot be planned, without something.
    fn view_needs(&self, view: &ViewOf, without: &Without) -> bool {
        let columns = |without: Option<&Without>| {
            let relations = Relations::of_all(self.state(), self.snapshot.clone(), without);
            let (text, relations) = match view.materialized {
                true => (view.query.sql.clone(), relations.noting(&view.query.reads)),
                false => (format!("SELECT * FROM {}", written(&view.name)), relations),
            };
            let planned = front::planned(&relations, &parse_one(&text).ok()?).ok()?;
            Some(planned.names)
        };
        if let Without::Relation(sequence) = without
            && parse_one(&view.query.sql).is_ok_and(|query| has_numbers_of(&query, sequence))
        {
            return true;
        }
        match columns(None) {
            Some(all) => columns(Some(without)) != Some(all),
            None => false,
        }
    }

    /// Adds those in a table.
    fn in_table(
        &self,
        name: &Name,
        table: &Table,
        without: &Without,
        word: &str,
        found: &mut Vec<Dependent>,
    ) {
        let needs = |text: &str| {
            text.to_lowercase().contains(&word.to_lowercase())
                && self.needs(&format!("SELECT ({text}) FROM {}", written(name)), without)
        };
        for (place, column) in table.schema.columns.iter().enumerate() {
            let Some(default) = &column.default else {
                continue;
            };
            let text = match column.hidden {
                Some(Hidden::Condition) => condition_of(column).map(|expr| printed(&expr)),
                _ => Ok(default.clone()),
            };
            if !text.is_ok_and(|text| needs(&text)) {
                continue;
            }
            if column.hidden.is_some() {
                let indexes = table.schema.indexes.iter();
                let indexes = indexes.filter(|index| index.columns.contains(&place));
                found.extend(indexes.map(|index| Dependent {
                    shown: format!("index {}", index.name),
                    on: None,
                    what: What::Index(Name::new(&name.schema, &index.name)),
                }));
            } else if column.generated {
                found.push(Dependent {
                    shown: format!("column {} of table {name}", column.name),
                    on: None,
                    what: What::Other,
                });
            } else {
                found.push(Dependent {
                    shown: format!("default value for column {} of table {name}", column.name),
                    on: None,
                    what: What::Default(table.id, place),
                });
            }
        }
        let checks = table.schema.checks.iter();
        let checks = checks.filter(|check| needs(&check.condition));
        found.extend(checks.map(|check| Dependent {
            shown: format!("constraint {} on table {name}", check.name),
            on: None,
            what: What::Other,
        }));
    }

    /// Whether a query can be planned with something, and not without it.
    fn needs(&self, query: &str, without: &Without) -> bool {
        let Ok(ast) = parse_one(query) else {
            return false;
        };
        let planned = |without: Option<&Without>| {
            let relations = Relations::of_all(self.state(), self.snapshot.clone(), without);
            front::planned(&relations, &ast).is_ok()
        };
        !planned(Some(without)) && planned(None)
    }
}

/// The name of a relation as messages tell it; that of a session's own is without its schema.
pub(super) fn shown(name: &Name) -> String {
    match temporary_schema(&name.schema) {
        true => name.name.clone(),
        false => name.to_string(),
    }
}

/// Refuses to drop something that others depend on, unless they can be dropped and are to be.
///
/// # Errors
/// `2BP01` without CASCADE; `0A000` for generated columns and conditions.
pub(super) fn may_go(dependents: &[Dependent], of: &str, cascade: bool) -> Result<()> {
    if dependents.is_empty() {
        return Ok(());
    }
    if !cascade {
        return Err(not_to_go(&[(of, dependents)]));
    }
    let mut all = dependents.iter();
    match all.find(|one| matches!(one.what, What::Other)) {
        None => Ok(()),
        Some(other) => {
            let message = format!("{} would have to go with {of}", other.shown);
            Err(Error::unsupported(message).with_hint("Drop it first, with ALTER TABLE."))
        }
    }
}

/// Drops what depends on something.
///
/// # Errors
/// Errors of storage.
pub(super) fn drop_all(edit: &mut CatalogEdit, dependents: &[Dependent]) -> Result<()> {
    for one in dependents {
        match &one.what {
            What::View(view) => edit.drop_view(&view.schema, &view.name)?,
            What::Materialized(view) => edit.drop_table(&view.schema, &view.name, true)?,
            What::Default(table, column) => edit.drop_default(*table, *column)?,
            What::Index(index) => edit.drop_index(&index.schema, &index.name)?,
            What::Other => {}
        }
    }
    Ok(())
}

/// Why objects, each with its dependents, cannot be dropped.
pub(super) fn not_to_go(objects: &[(&str, &[Dependent])]) -> Error {
    let mut lines = Vec::new();
    for (of, dependents) in objects {
        let on = |one: &Dependent| one.on.clone().unwrap_or_else(|| (*of).to_owned());
        let dependents = dependents.iter();
        lines.extend(dependents.map(|one| format!("{} depends on {}", one.shown, on(one))));
    }
    let of = match objects {
        [(of, _)] => of,
        _ => "desired object(s)",
    };
    let others = match objects {
        [_] => "other objects depend on it",
        _ => "other objects depend on them",
    };
    Error::new("2BP01", format!("cannot drop {of} because {others}"))
        .with_detail(lines.join("\n"))
        .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

/// Why something cannot be dropped.
pub(super) fn depended_on<'a>(of: &str, dependents: impl Iterator<Item = &'a str>) -> Error {
    let lines = dependents.map(|one| format!("{one} depends on {of}"));
    let detail = lines.collect::<Vec<_>>().join("\n");
    let message = format!("cannot drop {of} because other objects depend on it");
    Error::new("2BP01", message)
        .with_detail(detail)
        .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

/// The notice of what CASCADE has dropped, if that is anything.
pub(super) fn cascades(dropped: &[String]) -> Option<Notice> {
    let told = |text: String| Some(Notice::told("00000", text));
    match dropped {
        [] => None,
        [only] => told(format!("drop cascades to {only}")),
        all => {
            let lines = all.iter().map(|one| format!("drop cascades to {one}"));
            let detail = lines.collect::<Vec<_>>().join("\n");
            let text = format!("drop cascades to {} other objects", all.len());
            told(text).map(|notice| notice.with_detail(detail))
        }
    }
}
