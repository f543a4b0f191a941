use super::*;
use crate::schema::{Column, ColumnType, TableSchema};
use proptest::prelude::*;

fn set(value: &str) -> Option<Partitioning> {
    let mut options = TableOptions::default();
    options.set("partition_by", value).unwrap();
    options.partition_by
}

#[test]
fn ranges_are_read() {
    let day = Some(Partitioning::new("day", 16));
    for text in [
        "range(day, 16)",
        "RANGE ( day,16 ) ",
        " Range(\"day\" , 16)",
    ] {
        assert_eq!(set(text), day, "{text}");
    }
    assert_eq!(
        set("range(\"a, (b)\"\"c\", 2)"),
        Some(Partitioning::new("a, (b)\"c", 2))
    );
    assert_eq!(
        set("range(größe, 256)"),
        Some(Partitioning::new("größe", 256))
    );
    assert_eq!(set(" "), None);
    let wrong = [
        "day",
        "range",
        "range(day)",
        "range(day, 1)",
        "range(day, 257)",
        "range(day, x)",
        "range(day, 16",
        "rang(day, 16)",
        "range(, 16)",
        "range(\"\", 16)",
        "range(a\"b, 4)",
        "range(day, -4)",
        "rängé(day, 4)",
        "range(f(day), 4)",
        "range(\"a\"b\", 4)",
    ];
    for text in wrong {
        let error = TableOptions::default()
            .set("partition_by", text)
            .unwrap_err();
        assert_eq!(error.sqlstate(), "22023", "{text}");
        assert!(error.hint().unwrap().contains("range(column, n)"), "{text}");
    }
}

#[test]
fn the_same_ranges_keep_their_bounds() {
    let mut options = TableOptions::default();
    options.set("partition_by", "range(day, 3)").unwrap();
    let bounds = vec![Value::Int(1), Value::Int(7)];
    options.partition_by.as_mut().unwrap().bounds = bounds.clone();
    options.set("PARTITION_BY", "range( \"day\", 3)").unwrap();
    assert_eq!(options.partition_by.as_ref().unwrap().bounds, bounds);
    let plain = TableOptions {
        partition_by: Some(Partitioning::new("day", 3)),
        ..TableOptions::default()
    };
    assert!(options.same_but_bounds(&plain) && options != plain);
    options.set("partition_by", "range(day, 4)").unwrap();
    assert!(!options.partition_by.as_ref().unwrap().is_known());
    assert!(!options.same_but_bounds(&plain));
    options.set("partition_by", "").unwrap();
    assert_eq!(options, TableOptions::default());
}

#[test]
fn entries_are_read_again_without_bounds() {
    for name in ["day", "Day", "a \"b\", c", "größe", "x)"] {
        let options = TableOptions {
            partition_by: Some(Partitioning {
                bounds: vec![Value::Bool(true)],
                ..Partitioning::new(name, 7)
            }),
            ..TableOptions::default()
        };
        let mut copy = TableOptions::default();
        for (key, value) in options.entries() {
            copy.set(key, &value).unwrap();
        }
        assert_eq!(copy.partition_by, Some(Partitioning::new(name, 7)));
        assert!(copy.same_but_bounds(&options));
    }
}

#[test]
fn columns_must_be_there_and_have_an_order() {
    let column = |name: &str, kind| Column {
        name: name.into(),
        kind,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    let schema = TableSchema {
        columns: vec![
            column("day", ColumnType::Date),
            column("long", ColumnType::Interval),
        ],
        ..TableSchema::default()
    };
    let check = |name| {
        let options = TableOptions {
            partition_by: Some(Partitioning::new(name, 4)),
            ..TableOptions::default()
        };
        options.check(&schema)
    };
    check("day").unwrap();
    assert_eq!(check("dya").unwrap_err().sqlstate(), "42703");
    assert_eq!(check("long").unwrap_err().sqlstate(), "42804");
}

/// Options of tables that were there before are read, and written, as they were.
#[test]
fn old_manifests_are_read() {
    let plain = serde_json::to_string(&TableOptions::default()).unwrap();
    assert!(!plain.contains("partition"));
    assert_eq!(
        serde_json::from_str::<TableOptions>(&plain).unwrap(),
        TableOptions::default()
    );
}

#[test]
fn bounds_out_of_order_are_refused() {
    let read = |bounds: &str| {
        let text = format!(r#"{{"column":"a","ranges":3,"bounds":[{bounds}]}}"#);
        serde_json::from_str::<Partitioning>(&text)
    };
    assert!(read("").is_ok());
    assert!(read(r#"{"int":"-5"},{"int":"170141183460469231731687303715884105727"}"#).is_ok());
    let nan = format!(r#"{{"float":{}}}"#, f64::NAN.to_bits());
    let wrong = [
        r#"{"int":"5"},{"int":"5"}"#,
        r#"{"int":"5"},{"int":"4"}"#,
        r#"{"int":"5"},{"bool":true}"#,
        r#"{"int":"1"},{"int":"2"},{"int":"3"}"#,
        r#"{"int":"x"}"#,
        r#"{"bytes":"0"}"#,
        r#"{"bytes":"0g"}"#,
        r#"{"bytes":"ää"}"#,
        &nan,
    ];
    for bounds in wrong {
        assert!(read(bounds).is_err(), "{bounds}");
    }
    let many = r#"{"column":"a","ranges":1}"#;
    assert!(serde_json::from_str::<Partitioning>(many).is_err());
}

fn values() -> impl Strategy<Value = Vec<Value>> {
    let float = any::<f64>().prop_filter("a number", |value| !value.is_nan());
    prop_oneof![
        prop::collection::vec(any::<i128>().prop_map(Value::Int), 0..20),
        prop::collection::vec(float.prop_map(Value::Float), 0..20),
        prop::collection::vec(any::<Vec<u8>>().prop_map(Value::Bytes), 0..20),
        prop::collection::vec(any::<bool>().prop_map(Value::Bool), 0..2),
    ]
}

proptest! {
    /// What is stored is read again to the bit.
    #[test]
    fn bounds_are_stored_exactly(mut bounds in values()) {
        bounds.sort_by(Value::total_order);
        bounds.dedup_by(|a, b| a.compare(b) == Some(std::cmp::Ordering::Equal));
        let options = TableOptions {
            partition_by: Some(Partitioning { bounds, ..Partitioning::new("a", 40) }),
            ..TableOptions::default()
        };
        let stored = serde_json::to_string(&options).unwrap();
        let read: TableOptions = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&read, &options);
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), stored);
    }

    /// No text is too strange to be refused.
    #[test]
    fn any_text_is_read_or_refused(text in "(range)?[(]?[\"a-cä ,()0-9]{0,12}[)]?") {
        let mut options = TableOptions::default();
        if options.set("partition_by", &text).is_ok() && let Some(by) = &options.partition_by {
            prop_assert_eq!(set(&by.to_string()), Some(by.clone()));
        }
    }
}
