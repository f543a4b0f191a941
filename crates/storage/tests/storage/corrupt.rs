//! One damaged block file per kind of damage, and the exact error it gives.
//!
//! Checksums fit the damage, so that the decoders themselves must notice it. An
//! error names file, block and section, from a scan and from `verify()` alike.

use crate::flips::repair;
use crate::home::written;
use SectionKind::*;
use arrow_array::{
    ArrayRef, BinaryViewArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringViewArray,
};
use freestone_storage::format::{
    HEADER_BYTES, Header, Reader, SECTION_BYTES, Section, SectionKind,
};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::{
    Column, ColumnType, CompareOp, DEFAULT_SCHEMA, IndexDefinition, IndexForm, IndexKind, Layout,
    Predicate, Result, ScanRequest, Store, TableOptions, TableSchema, Value,
};
use std::ops::Range;
use std::sync::Arc;

const BLOCK: &str = "blocks/1.block";

/// A database whose table `t` has a column `c` and one block, in memory.
struct Patient {
    files: Arc<Faulty>,
    whole: Vec<u8>,
}

/// A way to ask the database.
type Way = fn(&Arc<Faulty>) -> Result<()>;

/// What is done to a section of the column or, where it has none, of the block.
enum Damage {
    /// Bytes from a place on.
    Put(SectionKind, usize, &'static [u8]),
    /// It gets another length; there are zeros behind it.
    Cut(SectionKind, usize),
    /// Another codec's tag, on all sections of the column.
    Tag(u8),
    /// It is called something else.
    Lose(SectionKind),
}
use Damage::*;

impl Patient {
    fn new(layout: Layout, codec: &str, kind: ColumnType, values: ArrayRef) -> Patient {
        Patient::indexed(layout, codec, kind, values, &[])
    }

    /// With an index over the column for each of `indexes`.
    fn indexed(
        layout: Layout,
        codec: &str,
        kind: ColumnType,
        values: ArrayRef,
        indexes: &[IndexKind],
    ) -> Patient {
        let column = Column {
            name: "c".into(),
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
            columns: vec![column],
            indexes: (1..)
                .zip(indexes)
                .map(|(number, kind)| IndexDefinition {
                    number,
                    name: format!("i_{kind}"),
                    kind: *kind,
                    columns: vec![0],
                    form: IndexForm::default(),
                })
                .collect(),
            ..TableSchema::default()
        };
        let mut options = TableOptions {
            layout,
            page_bytes: 8192,
            ..TableOptions::default()
        };
        options.set("codec", codec).unwrap();
        let files = Arc::new(Faulty::default());
        let store = Store::over_files(files.clone()).unwrap();
        let batch = RecordBatch::try_new(schema.arrow(), vec![values]).unwrap();
        let writer = store.writer(&Arc::new(schema.clone()), &options).unwrap();
        let blocks = written(writer, &batch, usize::MAX);
        let create = |edit: &mut freestone_storage::CatalogEdit| {
            let id = edit.create_table(DEFAULT_SCHEMA, "t", schema, options)?;
            edit.append(id, blocks)
        };
        store.commit(create).unwrap();
        let file = files.open(BLOCK).unwrap();
        let whole = file.read(0, file.len() as usize).unwrap().to_vec();
        Patient { files, whole }
    }

    fn sections(&self) -> Vec<Section> {
        let header = Header::decode(&self.whole).unwrap();
        let mut reader = Reader::new(&self.whole[HEADER_BYTES..]);
        let section = |_| Section::decode(&mut reader, header.columns, header.file_bytes).unwrap();
        (0..header.sections).map(section).collect()
    }

    /// The file with the damages, and checksums that fit them.
    fn damaged(&self, damages: &[Damage]) -> Vec<u8> {
        let mut sections = self.sections();
        let mut bytes = self.whole.clone();
        for damage in damages {
            apply(damage, &mut sections, &mut bytes);
        }
        let place =
            |section: &Section| section.offset as usize..(section.offset + section.len) as usize;
        let places: Vec<Range<usize>> = sections.iter().map(place).collect();
        repair(&mut bytes, &places);
        bytes
    }

    /// Asserts that the damages give this error, from this section.
    fn gives(&self, damages: &[Damage], section: &str, reason: &str) {
        self.gives_by(scan, damages, section, reason);
    }

    /// The same, from another way to ask, and from `verify()`.
    fn gives_by(&self, way: Way, damages: &[Damage], section: &str, reason: &str) {
        let bytes = self.damaged(damages);
        self.files.corrupt(BLOCK, |old| *old = bytes);
        let expected = format!("corrupt data in block 1, {section}, file faulty:{BLOCK}: {reason}");
        for ask in [way, verify] {
            let error = ask(&self.files).expect_err(&expected);
            assert_eq!(error.to_string(), expected);
            assert_eq!(error.sqlstate(), "XX001");
        }
    }
}

fn apply(damage: &Damage, sections: &mut [Section], bytes: &mut [u8]) {
    let find = |kind| {
        sections
            .iter()
            .position(|section| section.kind == kind)
            .unwrap()
    };
    let entry = |number: usize| HEADER_BYTES + SECTION_BYTES * number;
    match *damage {
        Put(kind, at, new) => {
            let at = sections[find(kind)].offset as usize + at;
            bytes[at..at + new.len()].copy_from_slice(new);
        }
        Cut(kind, len) => {
            let number = find(kind);
            let at = entry(number) + 16;
            bytes[at..at + 8].copy_from_slice(&(len as u64).to_le_bytes());
            sections[number].len = len as u64;
        }
        Tag(tag) => {
            let of_column = |(_, section): &(usize, &Section)| section.column.is_some();
            for (number, _) in sections.iter().enumerate().filter(of_column) {
                bytes[entry(number) + 1] = tag;
            }
        }
        Lose(kind) => bytes[entry(find(kind))] = Surrogates as u8,
    }
}

fn scan(files: &Arc<Faulty>) -> Result<()> {
    let store = Store::over_files(files.clone())?;
    let catalog = store.snapshot();
    let request = ScanRequest {
        projection: vec![0],
        ..ScanRequest::default()
    };
    let table = catalog.table(DEFAULT_SCHEMA, "t").unwrap();
    table
        .scan(&request)?
        .worker()
        .try_for_each(|batch| batch.map(drop))
}

fn verify(files: &Arc<Faulty>) -> Result<()> {
    let store = Store::over_files(files.clone())?;
    let mut outcome = Ok(());
    store.verify(|report| outcome = report.outcome);
    outcome
}

/// Values of one type that a codec can hold.
fn integers() -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(
        (0..3000).map(|row| 1000 + row / 40 * 3),
    ))
}

fn floats() -> ArrayRef {
    let value = |row: i32| {
        if row == 75 {
            0.1f64.sqrt()
        } else {
            f64::from(row) / 4.0
        }
    };
    Arc::new(Float64Array::from_iter_values((0..700).map(value)))
}

fn texts() -> ArrayRef {
    let text = |row: i32| format!("the comment of row {}", row % 50);
    Arc::new(StringViewArray::from_iter_values((0..3000).map(text)))
}

fn bytes() -> ArrayRef {
    let value = |row: i32| format!("some bytes {}", row % 50).into_bytes();
    Arc::new(BinaryViewArray::from_iter_values((0..300).map(value)))
}

fn of_integers(layout: Layout, codec: &str) -> Patient {
    Patient::new(layout, codec, ColumnType::BigInt, integers())
}

fn of_texts(layout: Layout, codec: &str) -> Patient {
    Patient::new(layout, codec, ColumnType::Text, texts())
}

fn of_floats(codec: &str) -> Patient {
    Patient::new(Layout::Column, codec, ColumnType::Double, floats())
}

fn of_one_boolean() -> Patient {
    let values = Arc::new(BooleanArray::from(vec![true; 100]));
    Patient::new(Layout::Column, "constant", ColumnType::Boolean, values)
}

#[test]
fn frames() {
    for codec in ["bitpack", "for", "truncation"] {
        let patient = of_integers(Layout::Column, codec);
        let gives = |damage, reason| patient.gives(&[damage], "values of c", reason);
        gives(
            Put(Values, 12, &[65]),
            "chunk 0 has codes of 65 bits; 64 is the most",
        );
        gives(
            Cut(Values, 40),
            "40 bytes for the chunk entries of 3000 values",
        );
    }
    of_integers(Layout::Column, "for").gives(
        &[Put(Values, 24, &[255, 255])],
        "values of c",
        "chunk 1 ends at 66431, there are 2688 packed bytes",
    );
}

#[test]
fn deltas() {
    let patient = of_integers(Layout::Column, "for_delta");
    let gives = |damage, reason| patient.gives(&[damage], "values of c", reason);
    gives(
        Put(Values, 20, &[255]),
        "chunk 0 has codes of 255 bits; 64 is the most",
    );
    gives(
        Put(Values, 40, &[0, 8]),
        "chunk 1 ends at 2304, there are 768 packed bytes",
    );
}

#[test]
fn runs() {
    let patient = of_integers(Layout::Column, "rle");
    let gives = |damage, reason| patient.gives(&[damage], "values of c", reason);
    gives(
        Put(Values, 0, &[74]),
        "the runs have 2960 rows, the block 3000",
    );
    gives(
        Put(Values, 0, &[76]),
        "run 75 of 76 has an impossible length",
    );
    gives(
        Put(Values, 4, &[255, 255]),
        "75 runs with 65535 bytes of values for 3000 rows",
    );
}

#[test]
fn dictionaries() {
    let patient = of_integers(Layout::Column, "dictionary");
    let codebook = |damage, reason| patient.gives(&[damage], "codebook of c", reason);
    codebook(
        Put(Codebook, 0, &[0, 0, 8]),
        "ends early: 4194304 bytes wanted, 600 left",
    );
    codebook(
        Put(Codebook, 4, &[4]),
        "a dictionary of 75 values of 4 bytes; at most 1048576 of 8",
    );
    codebook(
        Put(Codebook, 0, &[76]),
        "ends early: 608 bytes wanted, 600 left",
    );
    codebook(Lose(Codebook), "the section is missing or empty");
    // The base of the first chunk of codes.
    patient.gives(
        &[Put(Values, 0, &[100])],
        "values of c",
        "code 125 in a dictionary of 75",
    );
    let patient = of_texts(Layout::Column, "dictionary");
    let codebook = |damage, reason| patient.gives(&[damage], "codebook of c", reason);
    codebook(
        Put(Codebook, 8, &[255, 255]),
        "a value at 0..65535 lies outside 1040 bytes",
    );
    codebook(Put(Codebook, 208, &[255]), "text at 0..20 is not UTF-8");
}

#[test]
fn constants() {
    let patient = of_one_boolean();
    let two = [Put(Codebook, 0, &[2]), Cut(Codebook, 10)];
    patient.gives(&two, "codebook of c", "a constant of 2 values");
    let none = [Put(Codebook, 0, &[0])];
    let reason = "a constant without value in rows that are not NULL";
    patient.gives(&none, "codebook of c", reason);
}

#[test]
fn decimals_in_disguise() {
    let patient = of_floats("alp");
    let gives = |damage, reason| patient.gives(&[damage], "codebook of c", reason);
    gives(
        Put(Codebook, 0, &[19]),
        "exponents 19 and 14 with 1 exceptions in 20 bytes",
    );
    gives(
        Put(Codebook, 1, &[19]),
        "exponents 16 and 19 with 1 exceptions in 20 bytes",
    );
    gives(
        Put(Codebook, 4, &[2]),
        "exponents 16 and 14 with 2 exceptions in 20 bytes",
    );
    let reason = "the rows of exceptions do not ascend within the block";
    gives(Put(Codebook, 8, &[255, 255]), reason);
    gives(Lose(Codebook), "the section is missing or empty");
}

#[test]
fn symbols() {
    let patient = of_texts(Layout::Column, "symbols");
    let gives = |damage, section: &str, reason| {
        patient.gives(&[damage], &format!("{section} of c"), reason);
    };
    gives(
        Put(Codebook, 0, &[13]),
        "codebook",
        "symbol codes of 13 bits",
    );
    gives(
        Lose(Codebook),
        "codebook",
        "the section is missing or empty",
    );
    gives(Put(Bytes, 0, &[255; 3]), "bytes", "a code without a symbol");
    // Twice the symbol of the byte 255.
    gives(
        Put(Bytes, 0, &[0xff, 0xf0, 0x0f]),
        "bytes",
        "text at 0..2 is not UTF-8",
    );
    // The base of the first chunk of lengths.
    let reason = "a value after row 2048 leaves the 9000 coded bytes";
    gives(Put(Ends, 0, &[4]), "ends", reason);
    let reason = "the values have 7976 coded bytes, the section 9000";
    gives(Put(Ends, 0, &[2]), "ends", reason);
    gives(Lose(Ends), "ends", "the section is missing");
    let whole = Patient::new(Layout::Column, "symbols", ColumnType::Bytea, bytes());
    let uneven = [Put(Ends, 0, &[1]), Cut(Bytes, 300)];
    whole.gives(&uneven, "bytes of c", "a value ends within a symbol code");
}

#[test]
fn values_as_they_are() {
    let numbers = of_integers(Layout::Column, "none");
    let reason = "23992 bytes of values for 3000 rows";
    numbers.gives(&[Cut(Values, 23992)], "values of c", reason);
    numbers.gives(&[Lose(Values)], "values of c", "the section is missing");
    let patient = of_texts(Layout::Column, "none");
    let gives = |damage, section: &str, reason| {
        patient.gives(&[damage], &format!("{section} of c"), reason);
    };
    let reason = "a value at 0..2147483647 lies outside 62400 bytes";
    gives(Put(Ends, 0, &[255, 255, 255, 127]), "bytes", reason);
    gives(
        Cut(Ends, 11996),
        "ends",
        "11996 bytes of end offsets for 3000 rows",
    );
    gives(Put(Bytes, 0, &[255]), "bytes", "text at 0..20 is not UTF-8");
    gives(Lose(Bytes), "bytes", "the section is missing");
}

#[test]
fn tags() {
    let patient = of_integers(Layout::Column, "for");
    let place = "section directory";
    patient.gives(&[Tag(99)], place, "unknown codec tag 99 in section values");
    patient.gives(&[Tag(0)], place, "unknown codec tag 0 in section values");
    let place = "section directory of c";
    for layout in Layout::ALL {
        let numbers = of_integers(layout, "for");
        numbers.gives(&[Tag(9)], place, "codec alp cannot hold BIGINT");
        numbers.gives(&[Tag(10)], place, "codec symbols cannot hold BIGINT");
        let texts = of_texts(layout, "dictionary");
        texts.gives(&[Tag(6)], place, "codec rle cannot hold TEXT");
    }
}

#[test]
fn tuples() {
    let dictionary = of_integers(Layout::Row, "dictionary");
    let gives = |damage, section, reason| dictionary.gives(&[damage], section, reason);
    gives(
        Put(Tuples, 1, &[255]),
        "tuples",
        "code 127 in a dictionary of 75",
    );
    gives(
        Cut(Tuples, 5999),
        "tuples",
        "5999 bytes for 3000 tuples of 2 bytes",
    );
    gives(
        Lose(Codebook),
        "codebook of c",
        "the section is missing or empty",
    );
    gives(Lose(Fields), "fields of c", "the section is missing");
    let reason = "fields of 65 bits with 0 runs in 3000 rows";
    gives(Put(Fields, 1, &[65]), "fields of c", reason);
    gives(
        Put(Fields, 0, &[9]),
        "fields of c",
        "unknown scheme 9 of fields",
    );
    let deltas = of_integers(Layout::Row, "for_delta");
    deltas.gives(
        &[Cut(Fields, 32)],
        "fields of c",
        "16 bytes left for 3 integers",
    );
    let runs = of_integers(Layout::Row, "rle");
    let reason = "fields of 1 bits with 65535 runs in 3000 rows";
    runs.gives(&[Put(Fields, 4, &[255, 255])], "fields of c", reason);
    let plain = of_texts(Layout::Row, "none");
    let reason = "row 0 ends at 2147483647 after 0, in a place for 0..62400";
    plain.gives(&[Put(Tuples, 1, &[255, 255, 255, 127])], "tuples", reason);
    plain.gives(
        &[Put(Heap, 0, &[255])],
        "heap",
        "text at 0..20 is not UTF-8",
    );
    let symbols = of_texts(Layout::Row, "symbols");
    symbols.gives(
        &[Put(Heap, 0, &[255; 3])],
        "heap",
        "a code without a symbol",
    );
}

#[test]
fn pages() {
    let dictionary = of_integers(Layout::Pax, "dictionary");
    let gives = |damage, section, reason| dictionary.gives(&[damage], section, reason);
    gives(
        Put(Pages, 22, &[255]),
        "pages",
        "code 255 in a dictionary of 75",
    );
    gives(
        Lose(Codebook),
        "codebook of c",
        "the section is missing or empty",
    );
    gives(Lose(Fields), "fields of c", "the section is missing");
    let reason = "page 0: its header says 2817 rows and 8192 bytes, the directory 3000 and 8192";
    gives(Put(Pages, 0, &[1]), "pages", reason);
    let reason = "page 0: minipage 0 at 65535..8192 of Shape { width: Some(1), nullable: true }";
    gives(Put(Pages, 16, &[255, 255]), "pages", reason);
    let reason = "a page directory of 8 bytes that begins with Some((0, 1))";
    gives(Put(PageDirectory, 4, &[1]), "page directory", reason);
    let plain = of_texts(Layout::Pax, "none");
    let reason = "page 0: end offset 32767 after 0, null false, with 7454 bytes of values";
    plain.gives(&[Put(Pages, 8190, &[255, 127])], "pages", reason);
    plain.gives(
        &[Put(Pages, 22, &[255])],
        "pages",
        "text at 22..42 is not UTF-8",
    );
    let symbols = of_texts(Layout::Pax, "symbols");
    symbols.gives(
        &[Put(Pages, 22, &[255; 3])],
        "pages",
        "a code without a symbol",
    );
}

/// Looks one value up, by whatever index there is.
fn seek(files: &Arc<Faulty>) -> Result<()> {
    let store = Store::over_files(files.clone())?;
    let catalog = store.snapshot();
    let predicate = Predicate::Compare {
        column: 0,
        op: CompareOp::Eq,
        value: Value::Int(5),
    };
    let request = ScanRequest {
        projection: vec![0],
        predicate: Some(predicate),
        ..ScanRequest::default()
    };
    let table = catalog.table(DEFAULT_SCHEMA, "t").unwrap();
    table
        .scan(&request)?
        .worker()
        .try_for_each(|batch| batch.map(drop))
}

#[test]
fn indexes() {
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values((0..3000).map(|row| row % 500)));
    let patient = |kind| {
        Patient::indexed(
            Layout::Column,
            "for",
            ColumnType::BigInt,
            values.clone(),
            &[kind],
        )
    };
    let tree = patient(IndexKind::Csb);
    tree.gives_by(
        seek,
        &[Put(Index, 0, &[2])],
        "index i_csb",
        "it is no index of kind csb",
    );
    tree.gives_by(
        seek,
        &[Put(Index, 1, &[9])],
        "index i_csb",
        "unknown keys 9 of an index of kind csb",
    );
    let len = tree
        .sections()
        .iter()
        .find(|section| section.kind == Index)
        .unwrap()
        .len as usize;
    tree.gives_by(
        seek,
        &[Cut(Index, 100)],
        "index i_csb",
        "ends early: 47 bytes wanted, 19 left",
    );
    tree.gives_by(
        seek,
        &[Cut(Index, len - 64)],
        "index i_csb",
        "tree index: its length does not fit the number of entries",
    );
    tree.gives_by(
        seek,
        &[Put(Index, len - 4, &[255; 4])],
        "index i_csb",
        "tree index: position beyond the block",
    );
    tree.gives_by(
        seek,
        &[Put(Index, 256, &[255; 4])],
        "index i_csb",
        "tree: separators do not fit the leaves",
    );
    let inverted = patient(IndexKind::Inverted);
    inverted.gives_by(
        seek,
        &[Cut(Index, 200)],
        "index i_inverted",
        "inverted index: its length does not fit its head",
    );
    inverted.gives_by(
        seek,
        &[Put(Index, 256, &[255; 4])],
        "index i_inverted",
        "tree: separators do not fit the leaves",
    );
    let bloom = patient(IndexKind::Bloom);
    bloom.gives_by(
        seek,
        &[Put(Index, 64, &[0])],
        "index i_bloom",
        "Bloom filter: no tag",
    );
    bloom.gives_by(
        seek,
        &[Cut(Index, 130)],
        "index i_bloom",
        "Bloom filter: its length does not fit the number of groups",
    );
}
