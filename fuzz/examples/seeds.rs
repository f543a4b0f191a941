//! Writes a few small valid inputs for each target into `corpus/`:
//! `cargo run --release --example seeds`.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use freestone_fuzz::{KINDS, Output, kind_number, table};
use freestone_storage::block::{self, Sketch};
use freestone_storage::codec::{
    Codes, Dense, DenseData, Encoded, Views, encode, fields, fixed_to_arrow, integers,
};
use freestone_storage::format::{Codec, SectionKind, Writer};
use freestone_storage::index::{AnyCsb, Bloom, InvertedIndex, KeyShape, KeyWidth, RawColumn};
use freestone_storage::layout::{self, SectionData};
use freestone_storage::manifest::{Manifest, ManifestTable};
use freestone_storage::{
    BlockId, BlockInfo, ColumnType, ElementForm, IndexDefinition, IndexForm, IndexKind, Layout,
    Physical, ReadRelation, TableId, TableOptions, ViewQuery, postings,
};
use std::fs;
use std::path::Path;

const ROWS: usize = 24;
const PAGE_BYTES: u16 = 256;

fn main() {
    codecs();
    indexes();
    let stored = [Layout::Column, Layout::Row, Layout::Pax];
    stored.into_iter().for_each(stores);
    Layout::ALL.into_iter().for_each(blocks);
    manifest();
    messages();
}

/// Messages of clients: a kind, and a body.
fn messages() {
    let all: [(&str, &[u8]); 8] = [
        ("query", b"QSELECT 1\0"),
        ("parse", b"Ps\0SELECT $1\0\0\x01\0\0\0\x17"),
        ("bind", b"Bp\0s\0\0\0\0\x01\0\0\0\x02ab\0\0"),
        ("describe", b"DSname\0"),
        ("execute", b"Ep\0\0\0\0\x05"),
        ("start", b"\0\0\x03\0\0user\0ann\0database\0shop\0\0"),
        ("proof", b"\x01SCRAM-SHA-256\0\0\0\0\x05n,,n="),
        ("numeric", b"\x02\0\x01\0\0\0\0\0\0\0\x01"),
    ];
    for (name, bytes) in all {
        write("messages", name, bytes);
    }
}

fn write(target: &str, name: &str, bytes: &[u8]) {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("run by cargo");
    let folder = Path::new(&package).join("corpus").join(target);
    fs::create_dir_all(&folder).expect("a folder for the seeds");
    fs::write(folder.join(name), bytes).expect("a file for the seed");
}

/// A column of a type, in stored form.
fn column(kind: ColumnType, rows: usize, constant: bool, nulls: bool) -> Dense {
    let number = |row: usize| if constant { 5 } else { (row / 3 * 7) as i64 };
    let bytes = |row: usize| -> Vec<u8> {
        match kind.physical() {
            Physical::Bool => vec![(number(row) % 2) as u8],
            Physical::F32 => (number(row) as f32 / 4.0).to_le_bytes().to_vec(),
            // One value that is no decimal.
            Physical::F64 if row == 4 && !constant => 0.1f64.sqrt().to_le_bytes().to_vec(),
            Physical::F64 => (number(row) as f64 / 4.0).to_le_bytes().to_vec(),
            Physical::Bytes { .. } => format!("the value é number {}", number(row)).into_bytes(),
            fixed => i128::from(number(row)).to_le_bytes()[..fixed.width().unwrap_or(0)].to_vec(),
        }
    };
    // A NULL has no bytes, or zeros.
    let present = |row: usize| !nulls || row % 5 != 2;
    let value = |row: usize| match (present(row), kind.physical().width()) {
        (true, _) => bytes(row),
        (false, width) => vec![0; width.unwrap_or(0)],
    };
    let values: Vec<Vec<u8>> = (0..rows).map(value).collect();
    let ends = values.iter().scan(0, |end, value| {
        *end += value.len() as u32;
        Some(*end)
    });
    let ends: Vec<u32> = ends.collect();
    let bytes = Buffer::from_vec(values.concat());
    Dense {
        rows,
        nulls: nulls.then(|| (0..rows).map(present).collect()),
        data: match kind.physical().width() {
            Some(width) => DenseData::Fixed { width, bytes },
            None => DenseData::Variable { ends, bytes },
        },
    }
}

/// Types that are stored in different ways; mutation finds the others.
const SOME: [ColumnType; 8] = [
    ColumnType::Boolean,
    ColumnType::BigInt,
    ColumnType::Real,
    ColumnType::Double,
    KINDS[8],
    ColumnType::Uuid,
    ColumnType::Text,
    ColumnType::Bytea,
];

/// Each codec with the types it can hold.
fn encoded(rows: usize) -> Vec<(ColumnType, Encoded)> {
    let pairs = Codec::ALL
        .into_iter()
        .flat_map(|codec| SOME.map(|kind| (codec, kind)));
    let encoded = pairs.filter_map(|(codec, kind)| {
        let nulls = kind_number(kind) % 2 == 1;
        let dense = column(kind, rows, codec == Codec::Constant, nulls);
        Some((kind, encode(&dense, kind.physical(), codec)?))
    });
    encoded.collect()
}

fn name(kind: ColumnType, codec: Codec) -> String {
    format!("{}-{}", codec.name(), kind_number(kind))
}

fn codecs() {
    let rising: Vec<i64> = (0..1500)
        .map(|row| i64::from(row) * 3 + i64::from(row % 7))
        .collect();
    let runs: Vec<i64> = (0..3000).map(|row| row / 400 * 1000).collect();
    let schemes = [
        Codec::For,
        Codec::BitPack,
        Codec::Truncation,
        Codec::ForDelta,
        Codec::RunLength,
    ];
    for codec in schemes {
        for (shape, values) in [
            ("rising", &rising[..100]),
            ("long", &rising),
            ("runs", &runs),
        ] {
            // Of the long ones, those that become few bytes.
            let stored = integers::build(codec, values);
            if stored.len() < 2500 {
                let seed = Output::default()
                    .codec(codec)
                    .rows(values.len())
                    .rest(&stored);
                write("integers", &format!("{}-{shape}", codec.name()), &seed.0);
            }
            let codes = fields::build(codec, values);
            let seed = Output::default().rows(values.len());
            let seed = seed.section(&codes.header).rest(&[0, 1, 0, 0, 3]);
            write("fields", &format!("{}-{shape}", codec.name()), &seed.0);
        }
    }
    for (kind, column) in encoded(ROWS) {
        let seed = Output::default().kind(kind).codec(column.codec).rows(ROWS);
        let seed = seed.section(&column.codebook).byte(0).rest(&[0, 1, 2]);
        write("codebook", &name(kind, column.codec), &seed.0);
        if let (Codec::Symbols, Codes::Stored(DenseData::Variable { bytes, ends })) =
            (column.codec, &column.codes)
        {
            let seed = Output::default().section(&column.codebook);
            let seed = seed
                .byte(ends[0] as u8 - 1)
                .rest(&bytes[..ends[0] as usize]);
            write("symbols", &name(kind, column.codec), &seed.0);
        }
    }
}

fn find(sections: &[SectionData], kind: SectionKind, column: Option<u16>) -> Option<&Buffer> {
    let mut all = sections.iter();
    let found = all.find(|section| section.kind == kind && section.column == column);
    found.map(|section| &section.bytes)
}

/// A mask of the sections that are there, and these.
fn optional(seed: Output, sections: &[Option<&Buffer>]) -> Output {
    let there = |mask: u8, (bit, section): (usize, &Option<&Buffer>)| {
        mask | u8::from(section.is_some()) << bit
    };
    let seed = seed.byte(sections.iter().enumerate().fold(0, there));
    sections
        .iter()
        .flatten()
        .fold(seed, |seed, bytes| seed.section(bytes))
}

fn options(layout: Layout) -> TableOptions {
    TableOptions {
        layout,
        // Several pages, also of a few rows.
        page_bytes: PAGE_BYTES as u32,
        ..TableOptions::default()
    }
}

fn stores(layout: Layout) {
    for (kind, column) in encoded(ROWS) {
        let (codec, name) = (column.codec, name(kind, column.codec));
        let schema = table(&[kind]);
        let sections = layout::build(&schema, &[], &[column], &options(layout)).expect("small");
        let own = |kind| find(&sections, kind, Some(0));
        let shared = |kind| find(&sections, kind, None).expect("one of the layout");
        let book = [own(SectionKind::Codebook), own(SectionKind::Fields)];
        let of_column = |seed: Output| optional(seed.kind(kind).codec(codec), &book);
        let seed = Output::default();
        match layout {
            Layout::Column => {
                let seed = seed.kind(kind).codec(codec).rows(ROWS);
                let kinds = [
                    SectionKind::Validity,
                    SectionKind::Codebook,
                    SectionKind::Values,
                    SectionKind::Ends,
                    SectionKind::Bytes,
                ];
                write("stripe", &name, &optional(seed, &kinds.map(own)).0);
            }
            Layout::Row => {
                let seed = of_column(seed.rows(ROWS).byte(0));
                let seed = seed.section(shared(SectionKind::Tuples));
                write("tuples", &name, &seed.rest(shared(SectionKind::Heap)).0);
            }
            Layout::Pax => {
                let seed = of_column(seed.rows(ROWS).word(PAGE_BYTES).byte(0));
                let seed = seed.section(shared(SectionKind::PageDirectory));
                write("pages", &name, &seed.rest(shared(SectionKind::Pages)).0);
            }
            Layout::Dsm | Layout::Inverted => {}
        }
    }
}

fn array(kind: ColumnType, dense: &Dense) -> ArrayRef {
    match &dense.data {
        DenseData::Fixed { bytes, .. } => {
            fixed_to_arrow(&kind, dense.rows, bytes.clone(), dense.nulls.clone()).expect("valid")
        }
        DenseData::Variable { ends, bytes } => {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let places: Vec<_> = starts
                .zip(ends)
                .map(|(start, end)| start as usize..*end as usize)
                .collect();
            let text = kind != ColumnType::Bytea;
            let views = Views::new(bytes.clone(), places.into_iter(), text).expect("valid");
            views.slice(0..dense.rows, dense.nulls.clone())
        }
    }
}

fn blocks(layout: Layout) {
    use ColumnType::{Boolean, Double, Integer, Text};
    let kinds = [Integer, Double, Text, Boolean];
    let choices = [
        ("plain", "none"),
        ("auto", "auto"),
        ("steps", "for_delta, c1 alp, c2 symbols"),
        ("runs", "rle, c1 dictionary, c2 dictionary"),
    ];
    for (name, codec) in choices {
        let schema = table(&kinds);
        let arrays = (0..)
            .zip(kinds)
            .map(|(number, kind)| array(kind, &column(kind, ROWS, number == 3, number > 0)));
        let batch = RecordBatch::try_new(schema.arrow(), arrays.collect()).expect("they fit");
        let mut options = options(layout);
        options.set("codec", codec).expect("known codecs");
        let built = block::build(BlockId(1), &schema, &options, &batch).expect("it is small");
        let file = built.pieces().concat();
        let seed = kinds
            .iter()
            .fold(Output::default().byte(3), |seed, kind| seed.kind(*kind));
        write("block", &format!("{layout}-{name}"), &seed.rest(&file).0);
        // Header and directory, padded to where the file's first section begins.
        let head = file[..file.len().min(1024)].to_vec();
        write("header", &format!("{layout}-{name}"), &head);
    }
}

fn indexes() {
    let every: Vec<u32> = (0..1000).step_by(9).collect();
    let mixed: Vec<u32> = (0..60u32).map(|row| row * row).collect();
    let odd: Vec<u32> = (0..400u32)
        .filter(|row| row % 64 < 3 || row % 5 == 1)
        .collect();
    let runs: Vec<u32> = (0..900).filter(|row| row / 100 % 2 == 0).collect();
    for (name, set) in [
        ("every", &every),
        ("mixed", &mixed),
        ("odd", &odd),
        ("runs", &runs),
    ] {
        let mut stored = Vec::new();
        postings::encode(set, &mut stored);
        write(
            "postings",
            name,
            &Output::default().rows(4000).rest(&stored).0,
        );
    }
    for (width, bytes) in [
        (KeyWidth::Four, 4),
        (KeyWidth::Eight, 8),
        (KeyWidth::Sixteen, 16),
    ] {
        let few = (0..40u32).map(|row| (u128::from(row / 3) * 1000, row));
        let many = (0..120u32).map(|row| (u128::from(row * 37 % 120), row));
        let seed = |index: Vec<u8>| Output::default().rows(120).rest(&index).0;
        write(
            "tree",
            &format!("few-{bytes}"),
            &seed(AnyCsb::build(width, few.clone())),
        );
        write(
            "tree",
            &format!("many-{bytes}"),
            &seed(AnyCsb::build(width, many)),
        );
        write(
            "inverted",
            &format!("few-{bytes}"),
            &seed(InvertedIndex::build(width, few)),
        );
    }
    let hashes: Vec<u64> = (1..50u64)
        .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    let seed = Output::default()
        .rest(&hashes[0].to_le_bytes())
        .rest(&Bloom::build(&hashes, 0.01));
    write("bloom", "fifty", &seed.0);
    key_shapes();
    let mut sketches = Writer::default();
    Sketch::of(&column(ColumnType::Text, ROWS, false, false)).encode(&mut sketches);
    Sketch::of(&column(ColumnType::BigInt, 900, false, false)).encode(&mut sketches);
    write("sketch", "two", &sketches.finish());
}

fn key_shapes() {
    let numbers: Vec<i64> = (1000..1100).collect();
    let floats: Vec<f64> = numbers.iter().map(|number| *number as f64 / 8.0).collect();
    let texts: Vec<String> = numbers
        .iter()
        .map(|number| format!("item-{number}"))
        .collect();
    let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let (number, text) = (RawColumn::I64(&numbers), RawColumn::Slices(&texts));
    let columns: [(&str, &[RawColumn<'_>], &[u8]); 4] = [
        ("number", &[number], &1050i64.to_le_bytes()),
        ("text", &[text], b"item-1055"),
        (
            "float",
            &[RawColumn::F64(&floats)],
            &floats[9].to_le_bytes(),
        ),
        ("many", &[text, number, RawColumn::F64(&floats)], b"item"),
    ];
    for (name, columns, constant) in columns {
        let shape = KeyShape::of(columns, 0..100, KeyWidth::Sixteen);
        let seed = Output::default()
            .section(constant)
            .rest(&shape.seal(b"the index"));
        write("key_shape", name, &seed.0);
    }
}

fn manifest() {
    let info = BlockInfo {
        id: BlockId(1),
        rows: 24,
        bytes: 4096,
        layout: Layout::Pax,
        version: None,
        overlays: Vec::new(),
    };
    let stored = ManifestTable {
        id: TableId(1),
        schema: table(&[ColumnType::Varchar(Some(9)), KINDS[6]]),
        options: options(Layout::Pax),
        former: Vec::new(),
        blocks: vec![info],
        delta: 1,
    };
    let mut manifest = Manifest {
        version: 1,
        next_table: 2,
        next_block: 2,
        ..Manifest::default()
    };
    let schema = manifest.schemas.entry("main".to_string()).or_default();
    schema.tables.insert("t".to_string(), stored);
    schema.views.insert("v".to_string(), "SELECT 1".into());
    let name = |name: &str| ("main".to_string(), name.to_string());
    let noted = ViewQuery {
        sql: "SELECT * FROM t".to_string(),
        reads: vec![ReadRelation {
            then: name("t"),
            now: name("u"),
            columns: vec![("a".to_string(), "b".to_string())],
        }],
        ..ViewQuery::default()
    };
    let optional = ViewQuery {
        options: vec![("check_option".to_string(), "local".to_string())],
        defaults: vec![("a".to_string(), "7".to_string())],
        ..noted.clone()
    };
    schema.views.insert("w".to_string(), noted);
    let json = serde_json::to_vec(&manifest).expect("a manifest is JSON");
    write("manifest", "one", &json);
    let schema = manifest.schemas.entry("main".to_string()).or_default();
    schema.views.insert("x".to_string(), optional);
    let json = serde_json::to_vec(&manifest).expect("a manifest is JSON");
    write("manifest", "options", &json);
    let schema = manifest.schemas.entry("main".to_string()).or_default();
    if let Some(table) = schema.tables.get_mut("t") {
        table.schema.indexes.push(IndexDefinition {
            number: 1,
            name: "i".to_string(),
            kind: IndexKind::Csb,
            columns: vec![0],
            form: IndexForm {
                hash: false,
                elements: vec![ElementForm {
                    descending: true,
                    nulls_first: false,
                    collation: Some("C".to_string()),
                    class: Some("text_ops".to_string()),
                }],
                include: vec![1],
            },
        });
    }
    let json = serde_json::to_vec(&manifest).expect("a manifest is JSON");
    write("manifest", "forms", &json);
}
