//! What was put in comes out, in every way of reading.

use super::*;

fn check(sample: &Sample) {
    let (store, rows) = (sample.open(), sample.rows());
    let ranges = [
        0..rows,
        0..0,
        rows..rows,
        rows / 2..rows,
        rows / 3..(rows / 3 + 70).min(rows),
        rows - 1..rows,
    ];
    let every = |step: usize| (0..rows as u32).step_by(step).collect::<Vec<_>>();
    for (column, array) in sample.arrays.iter().enumerate() {
        for range in &ranges {
            let read = store.read(column, &Rows::Range(range.clone())).unwrap();
            assert_eq!(
                &read,
                &array.slice(range.start, range.len()),
                "column {column}, rows {range:?}"
            );
        }
        for positions in [
            every(1),
            every(3),
            every(101),
            vec![],
            vec![rows as u32 - 1],
        ] {
            let wanted =
                arrow_select::take::take(array, &UInt32Array::from(positions.clone()), None)
                    .unwrap();
            assert_eq!(
                &store.read(column, &Rows::Positions(&positions)).unwrap(),
                &wanted,
                "column {column} at {positions:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn every_column_comes_back(sample in samples()) {
        check(&sample);
    }

    #[test]
    fn runs_equal_single_tuples(sample in samples()) {
        let columns = dense(&sample.schema, &sample.arrays);
        let sources = sources(&sample.schema, &columns);
        for run in [1, 3] {
            let filled = fill::fill(&sources, sample.rows(), &sample.options, run).unwrap();
            prop_assert_eq!(&filled.pages[..], sample.pages.as_slice());
            prop_assert_eq!(&filled.directory.finish()[..], sample.directory.as_slice());
            prop_assert_eq!(filled.report, sample.report);
        }
    }

    /// The header's free bytes are those that no value, bit or offset takes.
    #[test]
    fn free_bytes_are_free(sample in samples()) {
        let columns = dense(&sample.schema, &sample.arrays);
        let sources = sources(&sample.schema, &columns);
        let store = sample.open();
        let mut start = 0;
        for page in 0..store.firsts.len() - 1 {
            let header = PageHeader::decode(&mut Reader::new(&sample.pages[start..])).unwrap();
            let rows = store.rows(page);
            let taken: usize = sources.iter()
                .map(|source| source.values(rows.clone()) + source.shape.back(rows.len(), usize::from(header.end_bytes)))
                .sum();
            prop_assert_eq!(header.bytes as usize, header_bytes(sources.len()) + taken + header.free as usize);
            start += header.bytes as usize;
        }
        prop_assert_eq!(start, sample.pages.len());
    }
}

#[test]
fn values_larger_than_a_page_take_pages_of_their_own() {
    let kinds = [
        (ColumnType::Integer, false),
        (ColumnType::Text, true),
        (ColumnType::Bytea, true),
    ];
    let long = "漢".repeat(20_000);
    let text: Vec<Option<&str>> = vec![
        Some("a"),
        Some(&long),
        None,
        Some(""),
        Some(&long[..1500]),
        Some("z"),
    ];
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..6)),
        Arc::new(StringViewArray::from(text.clone())),
        Arc::new(
            text.iter()
                .map(|text| text.map(str::as_bytes))
                .collect::<BinaryViewArray>(),
        ),
    ];
    let sample = Sample::new(&kinds, arrays, options(1024, 5));
    check(&sample);
    assert_eq!(sample.report.pages, 5);
    // 120,000 bytes of values, their ends and the header: 118 pages' worth.
    let store = sample.open();
    assert_eq!(store.firsts, [0, 1, 2, 4, 5, 6]);
    assert_eq!(sample.pages.len(), (1 + 118 + 1 + 3 + 1) * 1024);
}

#[test]
fn a_header_larger_than_a_page_still_holds_a_tuple() {
    let kinds = vec![(ColumnType::SmallInt, true); 1000];
    let arrays = (0..1000)
        .map(|column| Arc::new(Int16Array::from(vec![Some(column), None])) as ArrayRef)
        .collect();
    let sample = Sample::new(&kinds, arrays, options(1024, 5));
    check(&sample);
    assert_eq!(
        sample.report,
        PaxBuildReport {
            pages: 2,
            reorganisations: 0
        }
    );
}

#[test]
fn nulls_and_empty_texts_differ() {
    let values = vec![None, Some(""), None, Some(""), Some("x"), None, Some("")];
    let sample = Sample::new(
        &[(ColumnType::Text, true)],
        vec![Arc::new(StringViewArray::from(values))],
        options(1024, 5),
    );
    check(&sample);
}

/// A column that was declared NOT NULL when the block was written, and is not any more.
#[test]
fn pages_know_themselves_what_may_be_null() {
    let mut sample = Sample::new(
        &[(ColumnType::Integer, false)],
        vec![Arc::new(Int32Array::from(vec![1, 2, 3]))],
        options(1024, 5),
    );
    sample.schema.columns[0].nullable = true;
    check(&sample);
}
