//! Damaged pages give an error or some values, never a panic.

use super::*;

fn read_everything(sample: &Sample, pages: Vec<u8>, directory: Vec<u8>) {
    let Ok(store) = sample.open_as(Buffer::from_vec(pages), Buffer::from_vec(directory)) else {
        return;
    };
    let rows = sample.rows();
    let positions: Vec<u32> = (0..rows as u32).step_by(2).collect();
    for column in 0..sample.arrays.len() {
        for array in [
            store.read(column, &Rows::Range(0..rows)),
            store.read(column, &Rows::Range(rows / 2..rows)),
        ]
        .into_iter()
        .flatten()
        {
            array.to_data().validate_full().unwrap();
        }
        if let Ok(array) = store.read(column, &Rows::Positions(&positions)) {
            assert_eq!(array.len(), positions.len());
            array.to_data().validate_full().unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn flips_never_panic(
        sample in samples(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..=255, any::<bool>()), 20),
    ) {
        for (at, mask, in_header) in flips {
            let mut pages = sample.pages.to_vec();
            // Half of the flips in the header of some page: they do more harm.
            let header = PAGE_BYTES + MINIPAGE_BYTES * sample.arrays.len();
            let at = at.index(pages.len());
            let page = sample.options.page_bytes as usize;
            let at = if in_header { at / page * page + at % header } else { at };
            if let Some(byte) = pages.get_mut(at) {
                *byte ^= mask;
            }
            read_everything(&sample, pages, sample.directory.to_vec());
        }
    }

    #[test]
    fn flips_in_the_directory_never_panic(
        sample in samples(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..=255), 20),
    ) {
        for (at, mask) in flips {
            let mut directory = sample.directory.to_vec();
            let at = at.index(directory.len());
            directory[at] ^= mask;
            prop_assert!(sample.open_as(sample.pages.clone(), Buffer::from_vec(directory)).is_err());
        }
    }

    #[test]
    fn cut_sections_are_refused(sample in samples(), cut in any::<prop::sample::Index>()) {
        let pages = sample.pages.slice_with_length(0, cut.index(sample.pages.len()));
        prop_assert!(sample.open_as(pages, sample.directory.clone()).is_err());
        let directory = sample.directory.slice_with_length(0, cut.index(sample.directory.len()));
        prop_assert!(sample.open_as(sample.pages.clone(), directory).is_err());
    }
}

/// Changes one byte of a page of two columns and returns what that leads to.
fn changed(at: usize, byte: u8) -> String {
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int16Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(StringViewArray::from(vec!["a", "é", "c"])),
    ];
    let sample = Sample::new(
        &[(ColumnType::SmallInt, true), (ColumnType::Text, false)],
        arrays,
        options(1024, 5),
    );
    let mut pages = sample.pages.to_vec();
    pages[at] = byte;
    let read = |store: PaxStore| {
        store
            .read(0, &Rows::Range(0..3))
            .and_then(|_| store.read(1, &Rows::Range(0..3)))
    };
    let outcome = sample
        .open_as(Buffer::from_vec(pages), sample.directory.clone())
        .and_then(read);
    outcome
        .err()
        .map_or_else(String::new, |error| error.to_string())
}

#[test]
fn errors_say_what_is_wrong() {
    assert_eq!(
        changed(0, 4),
        "corrupt data: page 0: its header says 4 rows and 1024 bytes, the directory 3 and 1024"
    );
    assert_eq!(
        changed(4, 3),
        "corrupt data: page 0: 3 columns, 981 bytes free"
    );
    assert_eq!(
        changed(6, 3),
        "corrupt data: page 0: end offsets of 3 bytes; 2 or 4 are known"
    );
    assert!(changed(16, 0).contains("page 0: minipage 0 at 0.."));
    assert!(changed(20, 4).contains("page 0: minipage 0 at 28.."));
    assert!(changed(21, 2).contains("page 0: unknown minipage flag 2"));
    assert!(
        changed(1023, 2).contains("page 0: end offset 3 after 513"),
        "{}",
        changed(1023, 2)
    );
    assert!(
        changed(1019, 0x80).contains("page 0: end offset 4 after 3, null true"),
        "{}",
        changed(1019, 0x80)
    );
    assert!(
        changed(1022, 2).contains("is not UTF-8"),
        "{}",
        changed(1022, 2)
    );
}
