//! What makes a table of a design, and what takes that back, as statements.

use freestone_model::{AUTO, Design, Index};
use freestone_storage::{IndexDefinition, Layout, Table, TableOptions};

use super::present::is_of_key;
use crate::error::Result;
use crate::names::{Name, quoted};

/// Statements, each with the one at the same place that takes it back.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) apply: Vec<String>,
    pub(super) undo: Vec<String>,
}

/// The options of a table in a design; what a design does not tell stays, also layouts
/// that follow by themselves.
///
/// # Errors
/// `22023` for a design that cannot be.
pub(crate) fn options_in(table: &Table, design: &Design) -> Result<TableOptions> {
    let mut options = table.options.clone();
    options.auto_layout = design.layout == AUTO;
    if !options.auto_layout {
        options.layout = design.layout.parse::<Layout>()?;
    }
    options.slotted &= options.layout == Layout::Row;
    options.sort_by.clone_from(&design.sort_by);
    let partition = design.partition_by.as_ref();
    let partition = partition.map(|one| format!("range({}, {})", quoted(&one.column), one.ranges));
    options.set("partition_by", &partition.unwrap_or_default())?;
    options.codec = design.codec.parse()?;
    options.block_bytes = design.block_bytes;
    Ok(options)
}

impl Changes {
    /// What leads from a table, whose blocks are in the design `from`, to another.
    ///
    /// # Errors
    /// `22023` for a design that cannot be.
    pub(super) fn between(name: &Name, table: &Table, from: &Design, to: &Design) -> Result<Self> {
        let mut changes = Self::default();
        let target = format!("{}.{}", quoted(&name.schema), quoted(&name.name));
        changes.set_options(&target, table, from, to)?;
        let schema = quoted(&name.schema);
        for index in to.indexes.iter().filter(|one| !from.indexes.contains(one)) {
            let called = quoted(&format!("{}_{}_advised", name.name, index.column));
            let create = created(&called, &target, index);
            let drop = format!("DROP INDEX {schema}.{called}");
            changes.add(create, drop);
        }
        for index in from.indexes.iter().filter(|one| !to.indexes.contains(one)) {
            let Some(known) = definition(table, index) else {
                continue;
            };
            let called = quoted(&known.name);
            let drop = format!("DROP INDEX {schema}.{called}");
            changes.add(drop, created(&called, &target, index));
        }
        Ok(changes)
    }

    fn add(&mut self, apply: String, undo: String) {
        self.apply.push(apply);
        self.undo.push(undo);
    }

    fn set_options(
        &mut self,
        target: &str,
        table: &Table,
        from: &Design,
        to: &Design,
    ) -> Result<()> {
        let (before, after) = (&table.options, options_in(table, to)?);
        let (old, new) = (before.entries(), after.entries());
        let mut names: Vec<&str> = old.iter().chain(&new).map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let lies_otherwise = !after.auto_layout && from.layout != to.layout;
        let (mut apply, mut undo) = (Vec::new(), Vec::new());
        for name in names {
            let (then, now) = (value(&new, name), value(&old, name));
            // Blocks may lie otherwise than the options say of new ones.
            let is_changed = then != now || (name == "layout" && lies_otherwise);
            if is_changed {
                apply.push(setting(name, then));
            }
            // Layouts that follow by themselves give up slots.
            let is_lost = name == "slotted" && after.auto_layout && !before.auto_layout;
            if is_changed || is_lost {
                undo.push(setting(name, now));
            }
        }
        if !apply.is_empty() {
            let set = |list: &[String]| format!("ALTER TABLE {target} SET ({})", list.join(", "));
            self.add(set(&apply), set(&undo));
        }
        Ok(())
    }
}

/// What a list of options says of one of them, or what sets it to what it is without.
fn value<'a>(entries: &'a [(&str, String)], name: &str) -> &'a str {
    let found = entries.iter().find(|(known, _)| *known == name);
    match (found, name) {
        (Some((_, value)), _) => value,
        (None, "slotted") => "false",
        (None, "fill_percent") => "100",
        (None, _) => "",
    }
}

fn setting(name: &str, value: &str) -> String {
    format!("{name} = '{}'", value.replace('\'', "''"))
}

fn created(called: &str, target: &str, index: &Index) -> String {
    let column = quoted(&index.column);
    format!(
        "CREATE INDEX {called} ON {target} USING {} ({column})",
        index.kind
    )
}

/// The index of a table that a design speaks of.
fn definition<'a>(table: &'a Table, index: &Index) -> Option<&'a IndexDefinition> {
    table.schema.indexes.iter().find(|known| {
        let [column] = known.columns.as_slice() else {
            return false;
        };
        let column = table.schema.columns.get(*column);
        !is_of_key(table, known)
            && column.is_some_and(|column| column.name == index.column)
            && known.kind.to_string() == index.kind
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use freestone_model::Partition;

    use crate::database::Database;
    use crate::session::Session;
    use crate::workload::design_of;

    fn run(session: &Session, statement: &str) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let done = runtime.block_on(session.execute(statement));
        done.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    }

    fn table(session: &Session) -> Arc<Table> {
        let snapshot = session.database().store().snapshot();
        Arc::clone(snapshot.table("main", "t").unwrap())
    }

    /// What the statements of advice make of a table with options; what was before is
    /// there again when they are taken back.
    fn advised(options: &str, change: impl FnOnce(&mut Design)) -> TableOptions {
        let session = Database::in_memory().session();
        run(
            &session,
            &format!(
                "CREATE TABLE t (k INT PRIMARY KEY, a INT, \"it's\" TEXT) WITH ({options});
                 CREATE INDEX here ON t (a);
                 INSERT INTO t SELECT value, value, 'x' FROM generate_series(1, 5000) AS g(value)"
            ),
        );
        let before = table(&session);
        let from = design_of(&before);
        let mut to = from.clone();
        change(&mut to);
        let name = Name::new("main", "t");
        let changes = Changes::between(&name, &before, &from, &to).unwrap();
        assert_eq!(changes.apply.len(), changes.undo.len());
        changes.apply.iter().for_each(|one| run(&session, one));
        let after = table(&session);
        assert_eq!(design_of(&after).indexes, to.indexes);
        changes.undo.iter().rev().for_each(|one| run(&session, one));
        let again = table(&session);
        // Bounds of ranges are found anew.
        let (again_says, said) = (again.options.entries(), before.options.entries());
        assert_eq!(again_says, said, "{changes:?}");
        assert_eq!(design_of(&again), from, "{changes:?}");
        after.options.clone()
    }

    #[test]
    fn layouts_that_follow_by_themselves_go_on() {
        let sorted = advised("layout = 'auto', codec = 'none'", |to| {
            (to.layout, to.codec) = (AUTO.to_owned(), "auto".to_owned());
            to.sort_by = Some("it's".to_owned());
        });
        assert!(sorted.auto_layout && sorted.sort_by.as_deref() == Some("it's"));
        let followed = advised("layout = 'row', slotted = true", |to| {
            to.layout = AUTO.to_owned();
        });
        assert!(followed.auto_layout);
    }

    #[test]
    fn slots_are_given_up_with_rows() {
        let options = "layout = 'row', slotted = true, fill_percent = 80, page_bytes = 8192";
        let columns = advised(options, |to| to.layout = "column".to_owned());
        assert_eq!((columns.layout, columns.slotted), (Layout::Column, false));
        assert_eq!((columns.fill_percent, columns.page_bytes), (80, 8192));
    }

    #[test]
    fn codecs_of_columns_stay() {
        let options = "codec = 'small, a none', sort_by = 'a', block_bytes = '2MiB'";
        let fast = advised(options, |to| {
            (to.codec, to.block_bytes) = ("fast".to_owned(), 8 << 20);
            to.sort_by = None;
            to.indexes[0].column = "it's".to_owned();
        });
        assert_eq!((fast.block_bytes, fast.sort_by.as_ref()), (8 << 20, None));
        let text = fast
            .entries()
            .into_iter()
            .find(|(name, _)| *name == "codec");
        assert_eq!(text.unwrap().1, "fast, a none");
    }

    #[test]
    fn ranges_come_and_go() {
        let options = "sort_by = 'a', partition_by = 'range(k, 4)'";
        let other = advised(options, |to| {
            to.partition_by = Some(Partition {
                column: "it's".to_owned(),
                ranges: 8,
            });
        });
        let text = other.entries().into_iter();
        let mut text = text.filter(|(name, _)| *name == "partition_by");
        assert!(text.next().is_some_and(|(_, text)| text.contains("it's")));
        assert_eq!(
            advised(options, |to| to.partition_by = None).partition_by,
            None
        );
    }
}
