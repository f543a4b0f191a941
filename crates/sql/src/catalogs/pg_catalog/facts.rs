//! Rows of which only some columns are told; the others have what says nothing.
//!
//! A fact of which no column is told is kept for functions about the catalog.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, ListArray, StringViewArray, TimestampMicrosecondArray,
    new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, IntervalMonthDayNano};

use freestone_frontend::types::Type;
use freestone_frontend::types::arrays::from_lists;

/// The zone that instants are kept in.
const UTC: &str = "+00:00";

/// A value of one column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fact {
    /// A number that is not known.
    Null,
    Number(i64),
    Real(f32),
    /// An interval.
    Seconds(i64),
    Text(String),
    Truth(bool),
    Numbers(Vec<i64>),
    Texts(Vec<String>),
}

impl From<Option<i64>> for Fact {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Number)
    }
}

impl From<i64> for Fact {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Fact {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl From<Vec<String>> for Fact {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

impl From<Vec<i32>> for Fact {
    fn from(numbers: Vec<i32>) -> Self {
        Self::Numbers(numbers.into_iter().map(i64::from).collect())
    }
}

impl From<Vec<i64>> for Fact {
    fn from(numbers: Vec<i64>) -> Self {
        Self::Numbers(numbers)
    }
}

/// A table that is being filled.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    rows: Vec<Vec<(&'static str, Fact)>>,
}

impl Facts {
    /// Adds a row of what is told of it.
    pub(crate) fn add<const N: usize>(&mut self, told: [(&'static str, Fact); N]) {
        self.add_told(told.into());
    }

    /// Adds a row with columns of its own.
    pub(super) fn add_told(&mut self, told: Vec<(&'static str, Fact)>) {
        self.rows.push(told);
    }

    /// Adds what is told under other names of the row of another table in which a column has a
    /// number.
    pub(crate) fn add_of(
        &mut self,
        other: &Facts,
        (key, number): (&str, i64),
        names: &[(&'static str, &str)],
    ) {
        let wanted = Fact::Number(number);
        let is_it = |row: &&Vec<(&'static str, Fact)>| {
            row.iter()
                .any(|(name, fact)| *name == key && *fact == wanted)
        };
        let Some(row) = other.rows.iter().find(is_it) else {
            return;
        };
        let told = names.iter().filter_map(|(name, of)| {
            let (_, fact) = row.iter().find(|(known, _)| known == of)?;
            Some((*name, fact.clone()))
        });
        let told = told.collect();
        self.add_told(told);
    }

    /// Tells something more of the last row.
    pub(super) fn also(&mut self, name: &'static str, fact: Fact) {
        if let Some(row) = self.rows.last_mut() {
            row.push((name, fact));
        }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// What is told of a column or of something else, a row at a time.
    pub(crate) fn told<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Option<&'a Fact>> {
        self.rows.iter().map(move |row| {
            let mut told = row.iter();
            told.find(|(known, _)| *known == name).map(|(_, fact)| fact)
        })
    }

    /// Texts by numbers, in lists.
    pub(crate) fn lists_by(&self, number: &str, list: &str) -> HashMap<i64, Vec<String>> {
        let pairs = self.told(number).zip(self.told(list));
        let pairs = pairs.filter_map(|pair| match pair {
            (Some(Fact::Number(number)), Some(Fact::Texts(texts))) => {
                Some((*number, texts.clone()))
            }
            _ => None,
        });
        pairs.collect()
    }

    /// Texts by numbers.
    pub(crate) fn texts_by(&self, number: &str, text: &str) -> HashMap<i64, String> {
        let pairs = self.told(number).zip(self.told(text));
        let pairs = pairs.filter_map(|pair| match pair {
            (Some(Fact::Number(number)), Some(Fact::Text(text))) => Some((*number, text.clone())),
            _ => None,
        });
        pairs.collect()
    }

    /// The values of a column of a type.
    pub(crate) fn column(&self, name: &str, ty: &Type) -> ArrayRef {
        typed(ty, self.told(name))
    }
}

/// Values of a type of the front. A number that was not told is 0, a truth false, all else
/// NULL.
fn typed<'a>(ty: &Type, facts: impl Iterator<Item = Option<&'a Fact>>) -> ArrayRef {
    let number = |fact: Option<&Fact>| match fact {
        Some(Fact::Number(number)) => *number,
        _ => 0,
    };
    match ty {
        Type::Bool => Arc::new(BooleanArray::from_iter(
            facts.map(|fact| Some(matches!(fact, Some(Fact::Truth(true))))),
        )),
        Type::Int2 => Arc::new(Int16Array::from_iter(facts.map(|fact| match fact {
            Some(Fact::Null) => None,
            fact => Some(number(fact) as i16),
        }))),
        Type::Int4 => Arc::new(Int32Array::from_iter(facts.map(|fact| match fact {
            Some(Fact::Null) => None,
            fact => Some(number(fact) as i32),
        }))),
        ty if ty.arrow() == DataType::Int64 => {
            Arc::new(Int64Array::from_iter(facts.map(|fact| match fact {
                Some(Fact::Null) => None,
                fact => Some(number(fact)),
            })))
        }
        Type::Float4 => Arc::new(Float32Array::from_iter_values(facts.map(
            |fact| match fact {
                Some(Fact::Real(number)) => *number,
                fact => number(fact) as f32,
            },
        ))),
        Type::Float8 => Arc::new(Float64Array::from_iter_values(
            facts.map(|fact| number(fact) as f64),
        )),
        Type::Interval => {
            let spans = facts.map(|fact| match fact {
                Some(Fact::Seconds(seconds)) => {
                    Some(IntervalMonthDayNano::new(0, 0, seconds * 1_000_000_000))
                }
                _ => None,
            });
            Arc::new(IntervalMonthDayNanoArray::from_iter(spans))
        }
        Type::TimestampTz(_) => {
            let micros = facts.map(|fact| match fact {
                Some(Fact::Number(micros)) => Some(*micros),
                _ => None,
            });
            let micros = TimestampMicrosecondArray::from_iter(micros);
            Arc::new(micros.with_timezone(UTC))
        }
        Type::Text | Type::Name | Type::CatalogChar | Type::Varchar(_) | Type::Internal(_) => {
            Arc::new(StringViewArray::from_iter(facts.map(|fact| match fact {
                Some(Fact::Text(text)) => Some(text.as_str()),
                _ => None,
            })))
        }
        Type::Array(_) | Type::Int2Vector | Type::OidVector => lists(ty, facts),
        other => new_null_array(&other.arrow(), facts.count()),
    }
}

fn lists<'a>(ty: &Type, facts: impl Iterator<Item = Option<&'a Fact>>) -> ArrayRef {
    let item = match ty {
        Type::Array(element) => element.innermost().clone(),
        vector => vector.vector_item().unwrap_or(Type::Int2),
    };
    let (mut items, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for fact in facts {
        let before = items.len();
        match fact {
            Some(Fact::Numbers(numbers)) => {
                items.extend(numbers.iter().copied().map(Fact::Number));
            }
            Some(Fact::Texts(texts)) => items.extend(texts.iter().cloned().map(Fact::Text)),
            _ => {}
        }
        lengths.push(items.len() - before);
        // No list of texts of the catalog is empty.
        valid.push(match fact {
            Some(Fact::Numbers(_)) => true,
            Some(Fact::Texts(texts)) => !texts.is_empty(),
            _ => false,
        });
    }
    let values = typed(&item, items.iter().map(Some));
    let field = match ty.arrow() {
        DataType::List(field) => field,
        _ => Arc::new(Field::new("item", values.data_type().clone(), true)),
    };
    let offsets = OffsetBuffer::from_lengths(lengths);
    let nulls = Some(NullBuffer::from(valid.clone()));
    let none = || new_null_array(&ty.arrow(), valid.len());
    match (ListArray::try_new(field, offsets, values, nulls), ty) {
        (Ok(lists), Type::Array(_)) => from_lists(&lists).unwrap_or_else(|_| none()),
        (Ok(lists), _) => Arc::new(lists),
        (Err(_), _) => none(),
    }
}
