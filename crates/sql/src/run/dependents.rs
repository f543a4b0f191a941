//! The dependents of a function or of a type: views, defaults, generated columns, conditions and
//! indexes.
//!
//! Their texts are kept as they were written. Something depends on an object if it can be
//! planned with that object and not without it.

use freestone_storage::{CatalogEdit, Hidden, Table, TableId};

use super::Run;
use super::redeclare::written;
use crate::error::{Error, Result};
use crate::front;
use crate::names::Name;
use crate::plan::expression::{condition_of, printed};
use crate::plan::relations::{Relations, Without};
use crate::session::Notice;
use crate::statement::parse_one;

/// Something that depends on what is to be dropped.
pub(super) struct Dependent {
    /// It as messages tell it.
    pub(super) shown: String,
    what: What,
}

enum What {
    View(Name),
    Default(TableId, usize),
    Index(Name),
    /// A generated column or a condition.
    Other,
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
        // Views over views are told by the names of those.
        let mut words = vec![name.to_lowercase()];
        let mut left: Vec<(Name, String)> = Vec::new();
        for schema in catalog.schemas() {
            for view in catalog.views(schema) {
                left.push((Name::new(schema, &view.name), view.sql.to_lowercase()));
            }
        }
        loop {
            let before = words.len();
            left.retain(|(view, text)| {
                let named = words.iter().any(|word| text.contains(word.as_str()));
                let query = format!("SELECT * FROM {}", written(view));
                if !named || !self.needs(&query, without) {
                    return true;
                }
                words.push(view.name.to_lowercase());
                found.push(Dependent {
                    shown: format!("view {view}"),
                    what: What::View(view.clone()),
                });
                false
            });
            if words.len() == before {
                return found;
            }
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
                    what: What::Index(Name::new(&name.schema, &index.name)),
                }));
            } else if column.generated {
                found.push(Dependent {
                    shown: format!("column {} of table {name}", column.name),
                    what: What::Other,
                });
            } else {
                found.push(Dependent {
                    shown: format!("default value for column {} of table {name}", column.name),
                    what: What::Default(table.id, place),
                });
            }
        }
        let checks = table.schema.checks.iter();
        let checks = checks.filter(|check| needs(&check.condition));
        found.extend(checks.map(|check| Dependent {
            shown: format!("constraint {} on table {name}", check.name),
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

/// Refuses to drop something that others depend on, unless they can be dropped and are to be.
///
/// # Errors
/// `2BP01` without CASCADE; `0A000` for generated columns and conditions.
pub(super) fn may_go(dependents: &[Dependent], of: &str, cascade: bool) -> Result<()> {
    if dependents.is_empty() {
        return Ok(());
    }
    if !cascade {
        let shown = dependents.iter().map(|one| one.shown.as_str());
        return Err(depended_on(of, shown));
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
            What::Default(table, column) => edit.drop_default(*table, *column)?,
            What::Index(index) => edit.drop_index(&index.schema, &index.name)?,
            What::Other => {}
        }
    }
    Ok(())
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
    let text = match dropped {
        [] => return None,
        [only] => format!("drop cascades to {only}"),
        all => format!("drop cascades to {} other objects", all.len()),
    };
    Some(Notice::told("00000", text))
}
