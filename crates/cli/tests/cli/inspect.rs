//! `freestone inspect`.

use crate::support::{run, sample};

#[test]
fn tables_blocks_and_bytes() {
    let (_folder, db) = sample();
    let tables = run(&["inspect", &db]).ok();
    assert!(
        tables.contains(" t ") && tables.contains("1 pax"),
        "{tables}"
    );
    let blocks = run(&["inspect", &db, "t", "--format", "csv"]).ok();
    let fields: Vec<&str> = blocks.lines().nth(1).expect("a block").split(',').collect();
    assert_eq!((fields[1], fields[2]), ("pax", "3"));
    let (block, size): (&str, u64) = (fields[0], fields[3].parse().expect("bytes"));
    let bytes = run(&["inspect", &db, "main.t", block, "--format", "csv"]).ok();
    let mut at = 0;
    for line in bytes.lines().skip(1) {
        let mut fields = line.splitn(4, ',');
        let mut number = || {
            fields
                .next()
                .and_then(|field| field.parse::<u64>().ok())
                .expect(line)
        };
        let (offset, length) = (number(), number());
        assert_eq!(offset, at, "every byte has a name once: {line}");
        at = offset + length;
    }
    assert_eq!(at, size);
}

#[test]
fn what_is_not_there() {
    let (_folder, db) = sample();
    let err = run(&["inspect", &db, "nosuch"]).failed();
    assert!(err.contains("nosuch") && err.contains("main.t"), "{err}");
    let err = run(&["inspect", &db, "t", "999999"]).failed();
    assert!(err.contains("999999"), "{err}");
    run(&["inspect", "/nonexistent"]).failed();
}
