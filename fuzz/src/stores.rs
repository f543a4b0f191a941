//! Layouts: all sections of a column or of a block.

use crate::input::{Input, read_in_every_way, table};
use arrow_buffer::BooleanBuffer;
use freestone_storage::TableSchema;
use freestone_storage::codec::ArrayForm;
use freestone_storage::codec::CodeTest;
use freestone_storage::layout::{
    BookSections, PaxStore, RowStore, Stripe, StripeSections, TupleStore,
};

/// Conditions on codes: a range, none, and a set.
fn tests() -> [CodeTest; 3] {
    [
        CodeTest::Ranges(vec![-5..=7, 100..=i64::MAX]),
        CodeTest::Ranges(Vec::new()),
        CodeTest::Set(BooleanBuffer::collect_bool(300, |code| code % 3 == 0)),
    ]
}

/// [`Stripe`]: type, codec, rows, a bit for each section, the sections.
pub fn stripe(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let (kind, codec, rows, mask) = (input.kind(), input.codec(), input.rows(), input.byte());
    let sections = StripeSections {
        validity: input.optional(mask, 0),
        codebook: input.optional(mask, 1),
        values: input.optional(mask, 2),
        ends: input.optional(mask, 3),
        bytes: input.optional(mask, 4),
        ..StripeSections::default()
    };
    let Ok(stripe) = Stripe::open(kind, rows, codec, sections) else {
        return false;
    };
    stripe.memory();
    for test in tests() {
        assert_eq!(stripe.test(&test, 0..rows).len(), rows);
    }
    read_in_every_way(kind, rows, |rows| stripe.read_as(rows, ArrayForm::Sql))
}

/// Columns: how many (1 to 4), then of each type, codec, a bit for each section,
/// the sections.
fn columns(input: &mut Input<'_>) -> (TableSchema, Vec<BookSections>) {
    let count = usize::from(input.byte()) % 4 + 1;
    let mut kinds = Vec::new();
    let column = |_| {
        kinds.push(input.kind());
        let (codec, mask) = (input.codec(), input.byte());
        BookSections {
            codec,
            codebook: input.optional(mask, 0),
            fields: input.optional(mask, 1),
        }
    };
    let sections = (0..count).map(column).collect();
    (table(&kinds), sections)
}

fn read_all(store: &impl TupleStore, schema: &TableSchema, rows: usize) -> bool {
    let mut whole = true;
    for (number, column) in schema.columns.iter().enumerate() {
        for test in tests() {
            if let Ok(passing) = store.test(number, &test, 0..rows) {
                assert_eq!(passing.len(), rows);
            }
        }
        whole &= read_in_every_way(column.kind, rows, |rows| store.read(number, rows));
    }
    whole
}

/// [`RowStore`]: rows, columns, tuples with their length, the heap.
pub fn tuples(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let rows = input.rows();
    let (schema, sections) = columns(&mut input);
    let (tuples, heap) = (input.section(), input.rest());
    let Ok(store) = RowStore::open(&schema, rows, tuples, heap, &sections) else {
        return false;
    };
    store.memory();
    read_all(&store, &schema, rows)
}

/// [`PaxStore`]: rows, bytes of a page, columns, the page directory with its
/// length, the pages.
pub fn pages(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let (rows, page_bytes) = (input.rows(), u32::from(input.word()));
    let (schema, sections) = columns(&mut input);
    let (directory, pages) = (input.section(), input.rest());
    let Ok(store) = PaxStore::open(&schema, rows, page_bytes, pages, directory, &sections) else {
        return false;
    };
    store.memory();
    let sound = store.check().is_ok();
    let whole = read_all(&store, &schema, rows);
    assert!(sound || !whole, "what check() refuses cannot be read");
    whole
}
