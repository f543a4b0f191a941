//! LINEITEM and ORDERS of H, figure 5: their columns, codecs and generators.
//!
//! Values are drawn as TPC-H draws them, as far as scans can tell: keys from their ranges,
//! orders of 1 to 7 lines, 8 of each 32 order keys in use, texts of fixed length. Decimals
//! and dates are integers of 4 bytes, as in H.

use crate::error::{Error, Result};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringViewArray};
use freestone_calibrate::Random;
use freestone_storage::{CodecChoice, CodecName, Column, ColumnType, TableOptions, TableSchema};
use std::sync::Arc;

/// Tuples of each table in H: LINEITEM at scale factor 10, ORDERS at 40.
pub const TUPLES: f64 = 60e6;

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableName {
    /// 16 attributes, 150 bytes.
    Lineitem,
    /// 7 attributes, 32 bytes.
    Orders,
    /// So many integers, drawn from 1 to 1,000,000.
    Integers(usize),
}

/// A column: its name, and the bytes of its text; none for an integer.
type Attribute = (&'static str, Option<u32>);

const LINEITEM: [Attribute; 16] = [
    ("l_partkey", None),
    ("l_orderkey", None),
    ("l_suppkey", None),
    ("l_linenumber", None),
    ("l_quantity", None),
    ("l_extendedprice", None),
    ("l_returnflag", Some(1)),
    ("l_linestatus", Some(1)),
    ("l_shipinstruct", Some(25)),
    ("l_shipmode", Some(10)),
    ("l_comment", Some(69)),
    ("l_discount", None),
    ("l_tax", None),
    ("l_shipdate", None),
    ("l_commitdate", None),
    ("l_receiptdate", None),
];

const ORDERS: [Attribute; 7] = [
    ("o_orderdate", None),
    ("o_orderkey", None),
    ("o_custkey", None),
    ("o_orderstatus", Some(1)),
    ("o_orderpriority", Some(11)),
    ("o_totalprice", None),
    ("o_shippriority", None),
];

const INTEGERS: [&str; 16] = [
    "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12", "a13", "a14", "a15",
    "a16",
];

/// Part keys at scale factor 10, customer keys at 40, and what integers are drawn from.
const PARTS: i32 = 2_000_000;
const CUSTOMERS: i32 = 6_000_000;
const INTEGER_MAX: i32 = 1_000_000;
/// 1992-01-01 and 1998-08-02, in days since 1970.
const FIRST_DAY: i32 = 8_035;
const LAST_DAY: i32 = 10_440;

impl TableName {
    fn attributes(self) -> Vec<Attribute> {
        match self {
            TableName::Lineitem => LINEITEM.to_vec(),
            TableName::Orders => ORDERS.to_vec(),
            TableName::Integers(count) => INTEGERS
                .iter()
                .take(count)
                .map(|name| (*name, None))
                .collect(),
        }
    }

    /// Its columns.
    pub fn schema(self) -> TableSchema {
        let column = |(name, text): (&str, Option<u32>)| Column {
            name: name.to_owned(),
            kind: match text {
                None => ColumnType::Integer,
                some => ColumnType::Varchar(some),
            },
            nullable: false,
            default: None,
            identity: None,
            modifier: None,
            declared: None,
            generated: false,
            hidden: None,
        };
        TableSchema {
            columns: self.attributes().into_iter().map(column).collect(),
            ..TableSchema::default()
        }
    }

    /// Bytes of each attribute in H.
    pub fn widths(self) -> Vec<u32> {
        let attributes = self.attributes().into_iter();
        attributes.map(|(_, text)| text.unwrap_or(4)).collect()
    }

    /// Which attributes are numbers.
    pub fn numbers(self) -> Vec<bool> {
        let attributes = self.attributes().into_iter();
        attributes.map(|(_, text)| text.is_none()).collect()
    }

    /// About how many bytes a tuple takes here: four more for each text.
    pub fn stored_bytes(self) -> u64 {
        let attributes = self.attributes().into_iter();
        let bytes = attributes.map(|(_, text)| text.map_or(4, |bytes| bytes + 4));
        bytes.map(u64::from).sum()
    }

    /// The largest value of the first attribute in a `share` of the tuples.
    pub fn threshold(self, share: f64) -> i32 {
        let (first, last) = match self {
            TableName::Lineitem => (1, PARTS),
            TableName::Orders => (FIRST_DAY, LAST_DAY),
            TableName::Integers(_) => (1, INTEGER_MAX),
        };
        first - 1 + (share * f64::from(last - first + 1)).round() as i32
    }
}

/// The codecs of ORDERS-Z, with the one that the order key gets: FOR-delta in figure 5.
pub fn orders_z(order_key: CodecName) -> TableOptions {
    let mut options = plain();
    for (name, codec) in [
        ("o_orderdate", CodecName::Bitpack),
        ("o_orderkey", order_key),
        ("o_orderstatus", CodecName::Dictionary),
        ("o_orderpriority", CodecName::Dictionary),
        ("o_shippriority", CodecName::Bitpack),
    ] {
        options
            .column_codecs
            .insert(name.to_owned(), CodecChoice::Named(codec));
    }
    options
}

/// No codecs at all.
pub fn plain() -> TableOptions {
    TableOptions {
        codec: CodecChoice::None,
        ..TableOptions::default()
    }
}

/// Makes the tuples of a table, one batch after the other.
#[derive(Debug)]
pub struct Generator {
    table: TableName,
    random: Random,
    /// What comments are cut from.
    text: String,
    /// Orders so far.
    order: i32,
    /// The current order's date, and its lines so far and in all.
    day: i32,
    line: i32,
    lines: i32,
}

impl Generator {
    /// A generator that begins at the first tuple.
    pub fn new(table: TableName, seed: u64) -> Generator {
        let mut random = Random::new(seed);
        let words = [
            "furiously",
            "final",
            "deposits",
            "sleep",
            "carefully",
            "ironic",
            "packages",
            "the",
            "quickly",
            "even",
            "requests",
            "among",
            "blithely",
            "pending",
            "foxes",
        ];
        let mut text = String::new();
        while text.len() < 64 << 10 {
            text.push_str(random.one_of(&words));
            text.push(' ');
        }
        Generator {
            table,
            random,
            text,
            order: 0,
            day: 0,
            line: 0,
            lines: 0,
        }
    }

    /// The next `rows` tuples.
    ///
    /// # Errors
    /// None that a table of this module can have.
    pub fn batch(&mut self, rows: usize) -> Result<RecordBatch> {
        let columns = match self.table {
            TableName::Lineitem => self.lineitem(rows),
            TableName::Orders => self.orders(rows),
            TableName::Integers(count) => {
                let mut column = || self.integers(rows, |random| random.between(1, INTEGER_MAX));
                (0..count).map(|_| column()).collect()
            }
        };
        RecordBatch::try_new(self.table.schema().arrow(), columns)
            .map_err(|error| Error::new(error.to_string(), ""))
    }

    fn integers(&mut self, rows: usize, mut draw: impl FnMut(&mut Random) -> i32) -> ArrayRef {
        let values = (0..rows).map(|_| draw(&mut self.random));
        Arc::new(Int32Array::from_iter_values(values))
    }

    /// Texts of `values`, each with blanks to be `bytes` long, or cut.
    fn texts(&mut self, rows: usize, bytes: usize, values: &[&str]) -> ArrayRef {
        let padded: Vec<String> = values
            .iter()
            .map(|value| format!("{value:<bytes$.bytes$}"))
            .collect();
        let values: Vec<&str> = padded.iter().map(String::as_str).collect();
        let texts = (0..rows).map(|_| self.random.one_of(&values));
        Arc::new(StringViewArray::from_iter_values(texts))
    }

    fn lineitem(&mut self, rows: usize) -> Vec<ArrayRef> {
        let mut keys = Vec::with_capacity(rows);
        let mut numbers = Vec::with_capacity(rows);
        let mut dates: [Vec<i32>; 3] = Default::default();
        for _ in 0..rows {
            if self.line == self.lines {
                (self.line, self.lines) = (0, self.random.between(1, 7));
                self.order += 1;
                self.day = self.random.between(FIRST_DAY, LAST_DAY - 151);
            }
            self.line += 1;
            keys.push(sparse(self.order));
            numbers.push(self.line);
            let shipped = self.day + self.random.between(1, 121);
            dates[0].push(shipped);
            dates[1].push(self.day + self.random.between(30, 90));
            dates[2].push(shipped + self.random.between(1, 30));
        }
        let mut columns = vec![
            self.integers(rows, |random| random.between(1, PARTS)),
            array(keys),
            self.integers(rows, |random| random.between(1, PARTS / 20)),
            array(numbers),
            self.integers(rows, |random| random.between(1, 50)),
            self.integers(rows, |random| random.between(90_000, 10_494_950)),
            self.texts(rows, 1, &["A", "N", "R"]),
            self.texts(rows, 1, &["F", "O"]),
            self.texts(
                rows,
                25,
                &[
                    "COLLECT COD",
                    "DELIVER IN PERSON",
                    "NONE",
                    "TAKE BACK RETURN",
                ],
            ),
            self.texts(
                rows,
                10,
                &["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"],
            ),
            self.comments(rows, 69),
            self.integers(rows, |random| random.between(0, 10)),
            self.integers(rows, |random| random.between(0, 8)),
        ];
        columns.extend(dates.map(array));
        columns
    }

    fn comments(&mut self, rows: usize, bytes: usize) -> ArrayRef {
        let last = (self.text.len() - bytes) as i32;
        let starts: Vec<usize> = (0..rows)
            .map(|_| self.random.between(0, last) as usize)
            .collect();
        let texts = starts.iter().map(|start| &self.text[*start..start + bytes]);
        Arc::new(StringViewArray::from_iter_values(texts))
    }

    fn orders(&mut self, rows: usize) -> Vec<ArrayRef> {
        // In range: a batch has at most 2^20 rows.
        let keys = (1..=rows as i32).map(|number| sparse(self.order + number));
        let keys = array(keys.collect());
        self.order += rows as i32;
        vec![
            self.integers(rows, |random| random.between(FIRST_DAY, LAST_DAY)),
            keys,
            self.integers(rows, |random| random.between(1, CUSTOMERS)),
            self.texts(rows, 1, &["F", "O", "P"]),
            self.texts(
                rows,
                11,
                &["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"],
            ),
            self.integers(rows, |random| random.between(85_000, 55_000_000)),
            self.integers(rows, |_| 0),
        ]
    }
}

fn array(values: Vec<i32>) -> ArrayRef {
    Arc::new(Int32Array::from(values))
}

/// The key of an order: the first 8 of each 32 are in use.
fn sparse(order: i32) -> i32 {
    (order / 8) * 32 + order % 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;

    /// Figure 5 gives 150 bytes and 16 attributes, and 32 bytes and 7.
    #[test]
    fn tuples_are_as_wide_as_in_the_paper() {
        for (table, attributes, bytes) in
            [(TableName::Lineitem, 16, 150), (TableName::Orders, 7, 32)]
        {
            let widths = table.widths();
            assert_eq!(
                (widths.len(), widths.iter().sum::<u32>()),
                (attributes, bytes)
            );
            let mut generator = Generator::new(table, 1);
            let batch = generator.batch(1_000).unwrap();
            for (column, width) in batch.columns().iter().zip(widths) {
                if let Some(texts) = column.as_string_view_opt() {
                    assert!(
                        texts
                            .iter()
                            .all(|text| text.unwrap().len() == width as usize)
                    );
                }
            }
        }
    }

    #[test]
    fn first_attributes_have_the_selectivity_that_is_asked_for() {
        for table in [
            TableName::Lineitem,
            TableName::Orders,
            TableName::Integers(3),
        ] {
            let batch = Generator::new(table, 7).batch(100_000).unwrap();
            let values = batch.column(0).as_primitive::<Int32Type>();
            for share in [0.1, 0.5] {
                let passing = values
                    .values()
                    .iter()
                    .filter(|value| **value <= table.threshold(share));
                let found = passing.count() as f64 / 1e5;
                assert!((found - share).abs() < 0.01, "{table:?} {share} {found}");
            }
        }
    }

    /// Orders of 4 lines on average, keys that ascend from batch to batch.
    #[test]
    fn lines_belong_to_orders() {
        let mut generator = Generator::new(TableName::Lineitem, 3);
        let mut keys: Vec<i32> = Vec::new();
        for _ in 0..4 {
            let batch = generator.batch(10_000).unwrap();
            keys.extend(batch.column(1).as_primitive::<Int32Type>().values());
        }
        assert!(keys.is_sorted());
        assert!(keys.iter().all(|key| key % 32 < 8));
        keys.dedup();
        assert!((9_500..10_500).contains(&keys.len()), "{}", keys.len());
    }
}
