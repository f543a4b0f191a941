//! How often boundaries move: P4 counts 2.25, 1.14 and 0.85 times a page at
//! thresholds of 0, 5 and 10 %; these rows, on pages of 8 KiB, 1.0, 0.4 and 0.1.

use super::*;

/// Rows with the column widths and text lengths of TPC-H's LINEITEM.
fn lineitem(rows: usize) -> (Vec<(ColumnType, bool)>, Vec<ArrayRef>) {
    let decimal = ColumnType::Decimal {
        precision: 15,
        scale: 2,
    };
    let kinds: Vec<_> = [ColumnType::BigInt; 3]
        .into_iter()
        .chain([ColumnType::Integer, decimal, decimal, decimal, decimal])
        .chain([ColumnType::Char(1); 2])
        .chain([ColumnType::Date; 3])
        .chain([
            ColumnType::Char(25),
            ColumnType::Char(10),
            ColumnType::Varchar(Some(44)),
        ])
        .map(|kind| (kind, false))
        .collect();
    let noise = |seed: usize| xxhash_rust::xxh3::xxh3_64(&seed.to_le_bytes()) >> 8;
    let instruct = [
        "DELIVER IN PERSON",
        "COLLECT COD",
        "NONE",
        "TAKE BACK RETURN",
    ];
    let modes = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
    let words = "carefully final deposits sleep furiously among the even, regular ideas";
    let texts = |value: &dyn Fn(usize) -> &'static str| {
        Arc::new(StringViewArray::from_iter_values((0..rows).map(value))) as ArrayRef
    };
    let arrays = kinds
        .iter()
        .enumerate()
        .map(|(column, (kind, _))| match column {
            8 => texts(&|row| ["R", "A", "N"][noise(16 * row + 8) as usize % 3]),
            9 => texts(&|row| ["O", "F"][noise(16 * row + 9) as usize % 2]),
            13 => texts(&|row| instruct[noise(16 * row + 13) as usize % 4]),
            14 => texts(&|row| modes[noise(16 * row + 14) as usize % 7]),
            // 10 to 43 characters, as dbgen makes them.
            15 => texts(&|row| {
                &words[noise(16 * row) as usize % 20..][..10 + noise(16 * row + 15) as usize % 34]
            }),
            _ => array(
                *kind,
                &(0..rows)
                    .map(|row| Some(noise(16 * row + column)))
                    .collect::<Vec<_>>(),
                0,
            ),
        });
    let arrays = arrays.collect();
    (kinds, arrays)
}

fn per_page(percent: u8) -> f64 {
    let (kinds, arrays) = lineitem(20_000);
    let report = Sample::new(&kinds, arrays, options(8192, percent)).report;
    report.reorganisations as f64 / report.pages as f64
}

#[test]
fn the_higher_the_threshold_the_fewer_reorganisations() {
    let [exhaustive, five, ten, never] = [0, 5, 10, 100].map(per_page);
    assert!(
        exhaustive > five && five > ten && ten > never,
        "{exhaustive} {five} {ten} {never}"
    );
    assert_eq!(never, 0.0);
    assert!(exhaustive < 5.0, "{exhaustive} reorganisations a page");
}

#[test]
fn pages_end_nearly_full() {
    let (kinds, arrays) = lineitem(20_000);
    let sample = Sample::new(&kinds, arrays, options(8192, 5));
    let raw: usize = dense(&sample.schema, &sample.arrays)
        .iter()
        .map(Dense::raw_bytes)
        .sum();
    // Raw sizes count four bytes an end offset, pages two.
    assert!(
        sample.pages.len() < raw * 105 / 100,
        "{} bytes of pages for {raw}",
        sample.pages.len()
    );
}
