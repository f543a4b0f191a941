use super::directory::SECTION_FIELDS;
use super::header::HEADER_FIELDS;
use super::*;
use crate::ids::BlockId;
use crate::schema::Layout;

const DOCUMENT: &str = include_str!("../../../../docs/format.md");

/// The rows of the table after `<!-- byte-table: name -->`.
fn documented(name: &str) -> Vec<(usize, usize, String)> {
    let marker = format!("<!-- byte-table: {name} -->");
    let (_, rest) = DOCUMENT
        .split_once(&marker)
        .expect("docs/format.md has the table");
    rest.trim_start()
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            (
                cells[0].parse().unwrap(),
                cells[1].parse().unwrap(),
                cells[2].to_string(),
            )
        })
        .collect()
}

/// Holds a table in `docs/format.md` against the constants in the code.
pub(crate) fn check_table(name: &str, fields: &[(usize, usize, &str)], bytes: usize) {
    let mut end = 0;
    for (offset, len, field) in fields {
        assert_eq!(*offset, end, "{name}: {field} leaves a gap");
        end += len;
    }
    assert_eq!(end, bytes, "{name}: fields add up to its size");
    let fields: Vec<_> = fields
        .iter()
        .map(|(o, l, f)| (*o, *l, f.to_string()))
        .collect();
    assert_eq!(documented(name), fields, "docs/format.md, {name}");
}

fn header() -> Header {
    Header {
        layout: Layout::Pax,
        rows: 70_000,
        id: BlockId(17),
        file_bytes: 1 << 20,
        page_bytes: 8192,
        columns: 16,
        sort_column: Some(3),
        sections: 2,
        directory_checksum: 99,
    }
}

#[test]
fn byte_table_block_header() {
    check_table("block-header", HEADER_FIELDS, HEADER_BYTES);
    assert_eq!(header().encode().len(), HEADER_BYTES);
}

#[test]
fn byte_table_section() {
    check_table("section", SECTION_FIELDS, SECTION_BYTES);
}

#[test]
fn header_round_trip_and_every_flip_is_seen() {
    let bytes = header().encode();
    assert_eq!(Header::decode(&bytes).unwrap(), header());
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut bad = bytes.clone();
            bad[position] ^= 1 << bit;
            assert!(Header::decode(&bad).is_err(), "byte {position}, bit {bit}");
        }
    }
    for len in 0..bytes.len() {
        assert!(Header::decode(&bytes[..len]).is_err());
    }
}

#[test]
fn a_section_outside_the_file_is_refused() {
    let section = Section {
        kind: SectionKind::Values,
        codec: Codec::Plain,
        column: Some(3),
        unit_rows: UNIT_ROWS,
        offset: 128,
        len: 1000,
        checksum: 5,
    };
    let mut writer = Writer::default();
    section.encode(&mut writer);
    let bytes = writer.finish();
    assert_eq!(bytes.len(), SECTION_BYTES);
    assert_eq!(
        Section::decode(&mut Reader::new(&bytes), 4, 1128).unwrap(),
        section
    );
    assert!(Section::decode(&mut Reader::new(&bytes), 4, 1127).is_err());
    assert!(Section::decode(&mut Reader::new(&bytes), 3, 1128).is_err());
}
