//! The statements of random transactions.

use super::effects::Effect;
use super::{History, Running, options};
use crate::tables::Dice;
use crate::world::{Cells, ModelTable, array, batch, column, rows, schema};
use freestone_storage::{DEFAULT_SCHEMA, IndexKind, Result, RowId, Snapshot};

fn roll_back(running: &mut Running, dice: &mut Dice) {
    if running.savepoints.is_empty() {
        return;
    }
    let chosen = dice.below(running.savepoints.len());
    running.savepoints.truncate(chosen + 1);
    if let Some((savepoint, world, effects)) = running.savepoints.last() {
        running.transaction.roll_back_to(savepoint);
        running.world = world.clone();
        running.effects.truncate(*effects);
    }
}

impl History {
    /// Runs one statement.
    pub(super) fn change(&mut self, running: &mut Running) -> Result<()> {
        let dice = &mut self.dice;
        let names: Vec<String> = running.world.keys().cloned().collect();
        if names.len() < 2 || (names.len() < 5 && dice.once_in(12)) {
            return self.create(running);
        }
        let name = dice.choose(&names).clone();
        match dice.below(25) {
            0 => self.drop_table(running, name),
            1 => self.add_column(running, name),
            2 => self.drop_column(running, name),
            3 => self.add_index(running, name),
            4 if !running.touches(&name) => self.drop_index(running, name),
            5 | 6 => {
                let world = running.world.clone();
                let savepoint = running.transaction.savepoint();
                let effects = running.effects.len();
                running.savepoints.push((savepoint, world, effects));
                Ok(())
            }
            7 => {
                roll_back(running, dice);
                Ok(())
            }
            8 | 9 => self.add_blocks(running, name),
            10..=15 => self.insert(running, name),
            16..=18 => self.delete(running, name),
            24 => running.transaction.settle_from(0),
            _ => self.update(running, name),
        }
    }

    fn name(&mut self, kind: &str) -> String {
        self.next_name += 1;
        format!("{kind}{}", self.next_name)
    }

    fn cells(&mut self, columns: &[String]) -> Cells {
        let dice = &mut self.dice;
        let cell = |_| (!dice.once_in(4)).then(|| dice.below(100_000) as i64);
        columns.iter().map(cell).collect()
    }

    fn create(&mut self, running: &mut Running) -> Result<()> {
        // Names are few, so that tables take the places of others.
        let name = format!("table{}", self.dice.below(6));
        if running.world.contains_key(&name) {
            return Ok(());
        }
        let columns = vec![self.name("n"), self.name("t")];
        let options = options(&mut self.dice);
        let schema = schema(&columns, &name);
        running.transaction.edit(|edit| {
            let id = edit.create_table(DEFAULT_SCHEMA, &name, schema, options)?;
            Ok(id)
        })?;
        let table = ModelTable {
            columns,
            ..ModelTable::default()
        };
        running.note(Effect::Create(name, table));
        Ok(())
    }

    fn drop_table(&mut self, running: &mut Running, name: String) -> Result<()> {
        if !self.dice.once_in(2) || running.touches(&name) {
            return Ok(());
        }
        running
            .transaction
            .edit(|edit| edit.drop_table(DEFAULT_SCHEMA, &name, false))?;
        running.note(Effect::Drop(name));
        Ok(())
    }

    /// Lets a transaction that has not begun in earnest find all rows in blocks.
    pub(super) fn settle(&mut self, running: &mut Running) -> Result<()> {
        let names: Vec<String> = running.world.keys().cloned().collect();
        for name in names {
            let id = running.id(&name);
            self.tolerate(|history| history.store.move_delta(id).map(drop))?;
        }
        *running = Running::begin(&self.store, &self.committed)?;
        Ok(())
    }

    fn add_column(&mut self, running: &mut Running, name: String) -> Result<()> {
        let kind = *self.dice.choose(&["n", "t"]);
        let (added, value) = (self.name(kind), self.cells(&[String::new()])[0]);
        let id = running.id(&name);
        running.transaction.absorb(id)?;
        let values = array(&added, std::iter::once(value));
        running
            .transaction
            .edit(|edit| edit.add_column(id, column(&added), &values))?;
        running.note(Effect::AddColumn(name, added, value));
        Ok(())
    }

    fn drop_column(&mut self, running: &mut Running, name: String) -> Result<()> {
        let table = &running.world[&name];
        // An index goes with its column; those are left alone for the model's sake.
        if table.columns.len() < 2 || !table.indexes.is_empty() {
            return Ok(());
        }
        let dropped = self.dice.choose(&table.columns).clone();
        let id = running.id(&name);
        running.transaction.absorb(id)?;
        running
            .transaction
            .edit(|edit| edit.drop_column(id, &dropped))?;
        running.note(Effect::DropColumn(name, dropped));
        Ok(())
    }

    fn add_index(&mut self, running: &mut Running, name: String) -> Result<()> {
        let index = self.name("index");
        running.transaction.absorb(running.id(&name))?;
        let snapshot = running.transaction.snapshot();
        let table = snapshot.table(DEFAULT_SCHEMA, &name).unwrap();
        let kind = *self.dice.choose(&[IndexKind::Csb, IndexKind::Inverted]);
        let column = self.dice.below(table.schema.columns.len());
        let built = self
            .store
            .build_index(table, &index, kind, vec![column], 1, &|| true)?;
        running
            .transaction
            .edit(|edit| edit.create_index(DEFAULT_SCHEMA, table, built))?;
        running.note(Effect::AddIndex(name, index));
        Ok(())
    }

    fn drop_index(&mut self, running: &mut Running, name: String) -> Result<()> {
        let Some(index) = running.world[&name].indexes.first().cloned() else {
            return Ok(());
        };
        running
            .transaction
            .edit(|edit| edit.drop_index(DEFAULT_SCHEMA, &index))?;
        running.note(Effect::DropIndex(name, index));
        Ok(())
    }

    fn new_rows(&mut self, columns: &[String], count: usize) -> Vec<(i64, Cells)> {
        let row = |_| {
            self.next_key += 1;
            (self.next_key, self.cells(columns))
        };
        (0..count).map(row).collect()
    }

    fn add_blocks(&mut self, running: &mut Running, name: String) -> Result<()> {
        let columns = running.world[&name].columns.clone();
        let count = 1 + self.dice.below(40);
        let added = self.new_rows(&columns, count);
        let snapshot = running.transaction.snapshot();
        let table = snapshot.table(DEFAULT_SCHEMA, &name).unwrap();
        let mut writer = self.store.writer(&table.schema, &table.options)?;
        writer.push(&batch(&columns, &added))?;
        let blocks = writer.finish()?;
        let id = table.id;
        running.transaction.edit(|edit| edit.append(id, blocks))?;
        for (key, cells) in added {
            running.note(Effect::Put(name.clone(), key, cells));
        }
        Ok(())
    }

    fn put(&mut self, running: &mut Running, name: &str, added: Vec<(i64, Cells)>) -> Result<()> {
        let id = running.id(name);
        let rows = batch(&running.world[name].columns, &added);
        let first = running.transaction.insert(id, &rows)?;
        running.transaction.check_keys(id, first)?;
        for (key, cells) in added {
            running.note(Effect::Put(name.to_string(), key, cells));
        }
        Ok(())
    }

    fn insert(&mut self, running: &mut Running, name: String) -> Result<()> {
        let columns = running.world[&name].columns.clone();
        let count = 1 + self.dice.below(6);
        let mut added = self.new_rows(&columns, count);
        // A key that others may have, too.
        let key = self.dice.below(30) as i64;
        if !running.world[&name].rows.contains_key(&key) {
            added[0].0 = key;
        }
        self.put(running, &name, added)
    }

    fn choose(&mut self, snapshot: &Snapshot, name: &str) -> Option<(i64, RowId)> {
        let found = rows(snapshot, name).into_iter();
        let found: Vec<(i64, RowId)> = found.map(|(key, (id, _))| (key, id)).collect();
        (!found.is_empty()).then(|| *self.dice.choose(&found))
    }

    fn delete(&mut self, running: &mut Running, name: String) -> Result<()> {
        let Some((key, row)) = self.choose(&running.transaction.snapshot(), &name) else {
            return Ok(());
        };
        let id = running.id(&name);
        assert_eq!(running.transaction.delete(id, &[row])?, 1);
        running.note(Effect::Remove(name, key));
        Ok(())
    }

    fn update(&mut self, running: &mut Running, name: String) -> Result<()> {
        let Some((key, row)) = self.choose(&running.transaction.snapshot(), &name) else {
            return Ok(());
        };
        let id = running.id(&name);
        running.transaction.delete(id, &[row])?;
        running.note(Effect::Remove(name.clone(), key));
        let cells = self.cells(&running.world[&name].columns.clone());
        self.put(running, &name, vec![(key, cells)])
    }
}
