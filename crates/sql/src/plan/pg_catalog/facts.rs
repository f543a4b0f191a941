//! Rows of which only some columns are told; the others have what says nothing.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int32Builder, Int64Array, ListArray, ListBuilder,
    RecordBatch, StringBuilder, StringViewArray, StructArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema};

use crate::error::Result;
use crate::types::VECTOR;

/// A value of one column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    Number(i64),
    Text(String),
    Truth(bool),
    Numbers(Vec<i32>),
    Texts(Vec<String>),
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
        Self::Numbers(numbers)
    }
}

/// A table that is being filled.
pub(super) struct Facts {
    /// Names, each perhaps with `:t` for text, `:b` for truth, `:a` for a list of
    /// numbers, `:l` for one of texts, which is NULL if it is empty, `:s` for one with
    /// places; numbers else.
    columns: Vec<(&'static str, char)>,
    rows: Vec<Vec<Option<Fact>>>,
}

impl Facts {
    pub(super) fn new(columns: &'static str) -> Self {
        let columns = columns.split_whitespace().map(|column| {
            let (name, kind) = column.split_once(':').unwrap_or((column, "i"));
            (name, kind.chars().next().unwrap_or('i'))
        });
        Self {
            columns: columns.collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of what is told of it.
    pub(super) fn add<const N: usize>(&mut self, told: [(&str, Fact); N]) {
        let mut row = vec![None; self.columns.len()];
        for (name, fact) in told {
            let place = self.columns.iter().position(|(known, _)| *known == name);
            debug_assert!(place.is_some(), "there is no column {name}");
            if let Some(place) = place {
                row[place] = Some(fact);
            }
        }
        self.rows.push(row);
    }

    /// The rows. What was not told is 0, false, or NULL for texts and lists.
    pub(super) fn batch(&self) -> Result<RecordBatch> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (place, (name, kind)) in self.columns.iter().enumerate() {
            let array = array(*kind, self.rows.iter().map(|row| row[place].as_ref()));
            fields.push(Field::new(*name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        Ok(RecordBatch::try_new(schema, arrays)?)
    }
}

/// Lists of numbers, each with its place from 1 on.
fn with_places<'a>(
    mut numbers: ListBuilder<Int32Builder>,
    facts: impl Iterator<Item = Option<&'a Fact>>,
) -> ListArray {
    let mut places: Vec<i32> = Vec::new();
    for fact in facts {
        if let Some(Fact::Numbers(list)) = fact {
            numbers.values().append_slice(list);
            places.extend((1..).take(list.len()));
        }
        numbers.append(matches!(fact, Some(Fact::Numbers(_))));
    }
    let (_, offsets, numbers, nulls) = numbers.finish().into_parts();
    let field = |name: &str| Arc::new(Field::new(name, DataType::Int32, true));
    let places: ArrayRef = Arc::new(Int32Array::from(places));
    let pairs = StructArray::from(vec![(field("x"), numbers), (field("n"), places)]);
    let item = Field::new_list_field(pairs.data_type().clone(), true);
    ListArray::new(Arc::new(item), offsets, Arc::new(pairs), nulls)
}

fn array<'a>(kind: char, facts: impl Iterator<Item = Option<&'a Fact>>) -> ArrayRef {
    match kind {
        't' => Arc::new(StringViewArray::from_iter(facts.map(|fact| match fact {
            Some(Fact::Text(text)) => Some(text.as_str()),
            _ => None,
        }))),
        'b' => Arc::new(BooleanArray::from_iter(
            facts.map(|fact| Some(matches!(fact, Some(Fact::Truth(true))))),
        )),
        'a' | 'v' => {
            let mut lists = ListBuilder::new(Int32Builder::new());
            if kind == 'v' {
                lists = lists.with_field(Field::new(VECTOR, DataType::Int32, true));
            }
            for fact in facts {
                if let Some(Fact::Numbers(numbers)) = fact {
                    lists.values().append_slice(numbers);
                }
                lists.append(matches!(fact, Some(Fact::Numbers(_))));
            }
            Arc::new(lists.finish())
        }
        's' => {
            let numbers = ListBuilder::new(Int32Builder::new());
            Arc::new(with_places(numbers, facts))
        }
        'l' => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for fact in facts {
                let texts = match fact {
                    Some(Fact::Texts(texts)) => texts.as_slice(),
                    _ => &[],
                };
                texts
                    .iter()
                    .for_each(|text| lists.values().append_value(text));
                lists.append(!texts.is_empty());
            }
            Arc::new(lists.finish())
        }
        _ => Arc::new(Int64Array::from_iter_values(facts.map(|fact| match fact {
            Some(Fact::Number(number)) => *number,
            _ => 0,
        }))),
    }
}
