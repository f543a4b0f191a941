//! Each format over one small result, and what long and odd results do.

use super::*;
use arrow::array::{Array, Int64Array, ListArray, StringViewArray, StructArray};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema};
use std::sync::Arc;

fn sample() -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("note", DataType::Utf8View, true),
    ]);
    let ids = Int64Array::from(vec![Some(1), None, Some(300)]);
    let notes = StringViewArray::from(vec![Some("a|b,\"c\""), Some(""), None]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(notes)]).expect("valid")
}

fn rendered(format: Format, target: Target, batches: &[RecordBatch]) -> String {
    let mut out = Vec::new();
    let mut renderer = format.renderer(target);
    renderer
        .start(&mut out, &batches[0].schema())
        .expect("no I/O");
    for batch in batches {
        renderer.batch(&mut out, batch).expect("no I/O");
    }
    renderer.finish(&mut out).expect("no I/O");
    String::from_utf8(out).expect("text")
}

fn plain(format: Format) -> String {
    rendered(format, Target::default(), &[sample()])
}

#[test]
fn table_to_a_file_looks_like_psql() {
    let expected =
        "  id  |   note\n------+---------\n    1 | a|b,\"c\"\n NULL |\n  300 | NULL\n(3 rows)\n";
    assert_eq!(plain(Format::Table), expected);
}

#[test]
fn csv_tells_null_from_empty() {
    assert_eq!(
        plain(Format::Csv),
        "id,note\n1,\"a|b,\"\"c\"\"\"\n,\"\"\n300,\n"
    );
}

#[test]
fn json_and_jsonl() {
    assert_eq!(
        plain(Format::Jsonl),
        "{\"id\": 1, \"note\": \"a|b,\\\"c\\\"\"}\n{\"id\": null, \"note\": \"\"}\n{\"id\": 300, \"note\": null}\n"
    );
    let array: serde_json::Value = serde_json::from_str(&plain(Format::Json)).expect("valid");
    assert_eq!(array[2]["id"], 300);
    let none = rendered(Format::Json, Target::default(), &[sample().slice(0, 0)]);
    assert_eq!(none, "[]\n");
}

#[test]
fn nested_values_are_json() {
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None])]);
    let field = Arc::new(Field::new("a", DataType::Utf8View, true));
    let text: arrow::array::ArrayRef = Arc::new(StringViewArray::from(vec!["x"]));
    let object = StructArray::from(vec![(field, text)]);
    let columns: [(&str, arrow::array::ArrayRef); 2] =
        [("l", Arc::new(list)), ("s", Arc::new(object))];
    let batch = RecordBatch::try_from_iter(columns).expect("valid");
    let text = rendered(Format::Jsonl, Target::default(), &[batch]);
    assert_eq!(text, "{\"l\": [1, null], \"s\": {\"a\": \"x\"}}\n");
}

#[test]
fn arrays_are_arrays_of_arrays() {
    let list = |values: Vec<Option<i64>>| {
        ListArray::from_iter_primitive::<Int64Type, _, _>([Some(values)])
    };
    let bounds = |values: Vec<i32>| {
        let values = values.into_iter().map(Some);
        ListArray::from_iter_primitive::<Int32Type, _, _>([Some(values)])
    };
    for (elements, lengths, json, text) in [
        (
            vec![Some(1), None],
            vec![2, 1, 1, 1],
            "[[1], [null]]",
            "{{1},{NULL}}",
        ),
        (vec![Some(1), Some(2)], vec![2, 5], "[1, 2]", "[5:6]={1,2}"),
        (vec![], vec![], "[]", "{}"),
    ] {
        let (elements, bounds) = (list(elements), bounds(lengths));
        let field = |name: &str, list: &ListArray| {
            Arc::new(Field::new(name, list.data_type().clone(), true))
        };
        let array: arrow::array::ArrayRef = Arc::new(StructArray::from(vec![
            (
                field("elements", &elements),
                Arc::new(elements.clone()) as arrow::array::ArrayRef,
            ),
            (field("bounds", &bounds), Arc::new(bounds.clone())),
        ]));
        let batch = [RecordBatch::try_from_iter([("a", array)]).expect("valid")];
        let rendered = |format| rendered(format, Target::default(), &batch);
        assert_eq!(rendered(Format::Jsonl), format!("{{\"a\": {json}}}\n"));
        assert!(rendered(Format::Line).contains(text), "{text}");
    }
}

fn said(name: &str, said: &str) -> Field {
    let metadata = [(freestone::TYPE_KEY.to_owned(), said.to_owned())];
    Field::new(name, DataType::Utf8View, true).with_metadata(metadata.into())
}

#[test]
fn columns_are_of_the_types_that_they_say() {
    let schema = Schema::new(vec![said("n", "numeric"), said("j", "jsonb")]);
    let numbers = StringViewArray::from(vec!["25.50", "NaN"]);
    let texts = StringViewArray::from(vec!["{\"a\":\n[1]}", "no json"]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(numbers), Arc::new(texts)]);
    let batch = [batch.expect("valid")];
    assert_eq!(
        rendered(Format::Jsonl, Target::default(), &batch),
        "{\"n\": 25.50, \"j\": {\"a\": [1]}}\n{\"n\": \"NaN\", \"j\": \"no json\"}\n"
    );
    let text = rendered(Format::Markdown, Target::default(), &batch);
    assert!(text.starts_with("| n | j |\n|---:|---|\n"), "{text}");
}

#[test]
fn markdown_escapes_its_bars() {
    let expected = "| id | note |\n|---:|---|\n| 1 | a\\|b,\"c\" |\n| NULL |  |\n| 300 | NULL |\n";
    assert_eq!(plain(Format::Markdown), expected);
}

#[test]
fn line_gives_each_value_a_line() {
    let text = plain(Format::Line);
    assert!(text.starts_with("-[ RECORD 1 ]------"), "{text}");
    assert!(
        text.contains("\nid   | 300\nnote | NULL\n(3 rows)\n"),
        "{text}"
    );
}

#[test]
fn a_terminal_shows_some_rows_and_counts_all() {
    let target = Target {
        terminal_width: Some(40),
        max_rows: Some(2),
        ..Target::default()
    };
    let text = rendered(Format::Table, target, &[sample(), sample()]);
    assert!(text.ends_with("(6 rows, 2 shown)\n"), "{text}");
    assert!(text.starts_with('╭'), "{text}");
}

#[test]
fn windows_keep_the_widths_of_the_first() {
    let numbers = |from: i64| {
        let values: arrow::array::ArrayRef =
            Arc::new(Int64Array::from_iter_values(from..from + 8_000));
        RecordBatch::try_from_iter([("a_long_name", values)]).expect("valid")
    };
    let text = rendered(
        Format::Table,
        Target::default(),
        &[numbers(0), numbers(8_000)],
    );
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2 + 16_000 + 1);
    assert_eq!(lines[2].len(), lines[16_001].len());
    assert_eq!(lines[16_001].trim(), "15999");
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("a_long_name"))
            .count(),
        1
    );
}

#[test]
fn data_cannot_drive_the_terminal() {
    assert_eq!(printable("\u{1b}[31mred\r\n\tx"), "\\x1b[31mred\\r\n    x");
}
