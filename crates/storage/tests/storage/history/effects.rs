//! What transactions change, as the model sees it.

use crate::world::{Cells, ModelTable, World};

/// A change that a transaction made, to be made to the model when it commits.
#[derive(Clone, Debug)]
pub enum Effect {
    Put(String, i64, Cells),
    Remove(String, i64),
    Create(String, ModelTable),
    Drop(String),
    AddColumn(String, String, Option<i64>),
    DropColumn(String, String),
    AddIndex(String, String),
    DropIndex(String, String),
}

impl Effect {
    fn table(&self) -> &str {
        match self {
            Effect::Put(name, ..)
            | Effect::Remove(name, _)
            | Effect::Create(name, _)
            | Effect::Drop(name)
            | Effect::AddColumn(name, ..)
            | Effect::DropColumn(name, _)
            | Effect::AddIndex(name, _)
            | Effect::DropIndex(name, _) => name,
        }
    }
}

/// Effects without those on tables and rows that came and went: others may have
/// taken their names and keys.
pub fn lasting(effects: Vec<Effect>) -> Vec<Effect> {
    let mut lasting: Vec<Effect> = Vec::new();
    for effect in effects {
        let came = |other: &Effect| match (&effect, other) {
            (Effect::Drop(name), Effect::Create(other, _)) => name == other,
            (Effect::Remove(name, key), Effect::Put(other, other_key, _)) => {
                (name, key) == (other, other_key)
            }
            _ => false,
        };
        match (&effect, lasting.iter().rposition(came)) {
            (Effect::Drop(name), Some(created)) => {
                let mut later = lasting.split_off(created);
                later.retain(|other| other.table() != name);
                lasting.extend(later);
            }
            (Effect::Remove(..), Some(put)) => drop(lasting.remove(put)),
            _ => lasting.push(effect),
        }
    }
    lasting
}

pub fn apply(world: &mut World, effect: &Effect) {
    match effect.clone() {
        Effect::Create(name, table) => drop(world.insert(name, table)),
        Effect::Drop(name) => drop(world.remove(&name)),
        Effect::Put(name, key, cells) => {
            world.get_mut(&name).unwrap().rows.insert(key, cells);
        }
        Effect::Remove(name, key) => drop(world.get_mut(&name).unwrap().rows.remove(&key)),
        Effect::AddColumn(name, column, value) => {
            let table = world.get_mut(&name).unwrap();
            table.columns.push(column);
            table.rows.values_mut().for_each(|row| row.push(value));
        }
        Effect::DropColumn(name, column) => {
            let table = world.get_mut(&name).unwrap();
            let place = table.columns.iter().position(|other| *other == column);
            let place = place.unwrap();
            table.columns.remove(place);
            for row in table.rows.values_mut() {
                row.remove(place);
            }
        }
        Effect::AddIndex(name, index) => {
            world.get_mut(&name).unwrap().indexes.insert(index);
        }
        Effect::DropIndex(name, index) => {
            world.get_mut(&name).unwrap().indexes.remove(&index);
        }
    }
}
