//! Damaged bytes: an error that says where, or the right answer.

use crate::home::{every_form, fill_store};
use crate::model::Model;
use crate::tables::{Nulls, Recipe, Spread, rows, schema};
use arrow_array::{Array, RecordBatch};
use freestone_storage::format::{HEADER_BYTES, Header, Reader, SECTION_BYTES, Section, checksum};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::{
    ColumnType, CompareOp, DEFAULT_SCHEMA, Error, Predicate, Result, ScanRequest, Store,
    TableOptions, TableStatistics, Value,
};
use std::ops::Range;
use std::sync::Arc;

/// Rows of the table: enough for several pages and for runs of NULLs.
const ROWS: usize = 41;

fn model() -> Model {
    let recipe = |kind, nulls, spread| Recipe {
        kind,
        nullable: true,
        nulls,
        spread,
    };
    let recipes = [
        recipe(ColumnType::Boolean, Nulls::Random, Spread::Many),
        recipe(ColumnType::Integer, Nulls::Alternating, Spread::Many),
        recipe(
            ColumnType::Decimal {
                precision: 15,
                scale: 2,
            },
            Nulls::None,
            Spread::Ascending,
        ),
        recipe(ColumnType::Double, Nulls::Random, Spread::Few),
        recipe(ColumnType::Uuid, Nulls::Random, Spread::Many),
        recipe(ColumnType::Text, Nulls::Random, Spread::Many),
        recipe(ColumnType::Bytea, Nulls::Alternating, Spread::Few),
    ];
    Model::new(schema(&recipes), rows(&recipes, ROWS, 3))
}

/// Everything that a table can be asked.
#[derive(Debug, PartialEq)]
struct Answers {
    all: Vec<RecordBatch>,
    some: Vec<RecordBatch>,
    statistics: TableStatistics,
    described: u64,
}

fn ask(files: &Arc<Faulty>) -> Result<Answers> {
    let store = Store::read_files(files.clone())?;
    let catalog = store.snapshot();
    let missing = || Error::corrupt("no table t");
    let table = catalog.table(DEFAULT_SCHEMA, "t").ok_or_else(missing)?;
    let columns = table.schema.columns.len();
    let scan = |predicate| {
        let request = ScanRequest {
            projection: (0..columns).collect(),
            predicate,
            limit: None,
            batch_rows: 10,
            ..ScanRequest::default()
        };
        table
            .scan(&request)?
            .worker()
            .collect::<Result<Vec<RecordBatch>>>()
    };
    let some = Predicate::Or(vec![
        Predicate::Compare {
            column: 0,
            op: CompareOp::Lt,
            value: Value::Int(20),
        },
        Predicate::IsNull(columns - 1),
    ]);
    let mut described = 0;
    for block in table.blocks() {
        described += block.describe()?.iter().map(|range| range.len).sum::<u64>();
        block.columns()?;
    }
    let answers = Answers {
        all: scan(None)?,
        some: scan(Some(some))?,
        statistics: table.statistics()?.clone(),
        described,
    };
    let mut outcome = Ok(());
    store.verify(|report| outcome = std::mem::replace(&mut outcome, Ok(())).and(report.outcome));
    outcome.map(|()| answers)
}

/// Says where the damage was if asking panics.
struct Place<'a>(&'a str, &'a str, usize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} at byte {} of a {} block", self.0, self.2, self.1);
        }
    }
}

/// A database of one block, which can be damaged again and again.
struct Patient {
    files: Arc<Faulty>,
    /// What `Place` and messages say of it.
    layout: String,
    name: String,
    whole: Vec<u8>,
    healthy: Answers,
}

/// Codecs of the columns of one block each; together, every codec there is.
const CODECS: [&str; 4] = [
    "none",
    "auto",
    "auto, c0 rle, c1 for, c2 for_delta, c3 alp, c4 dictionary, c5 symbols, c6 dictionary",
    "auto, c0 truncation, c1 dictionary, c2 rle, c3 dictionary, c4 constant, c5 dictionary, c6 symbols",
];

fn patients() -> impl Iterator<Item = Patient> {
    every_form(16 << 20)
        .into_iter()
        .flat_map(|form| CODECS.map(|codec| Patient::new(&form, codec)))
}

impl Patient {
    fn new(form: &TableOptions, codec: &str) -> Patient {
        let files = Arc::new(Faulty::default());
        let store = Store::over_files(files.clone()).unwrap();
        let mut options = TableOptions {
            page_bytes: 1024,
            ..form.clone()
        };
        let slotted = if form.slotted { "slotted " } else { "" };
        let layout = format!("{slotted}{}, codec {codec}", form.layout);
        options.set("codec", codec).unwrap();
        fill_store(&store, &model(), &[options], 1000);
        drop(store);
        let name = format!("blocks/{}", files.list("blocks").unwrap().remove(0));
        let file = files.open(&name).unwrap();
        let whole = file.read(0, file.len() as usize).unwrap().to_vec();
        let healthy = ask(&files).unwrap();
        assert_eq!(
            healthy.described,
            whole.len() as u64,
            "describe() covers the file"
        );
        Patient {
            files,
            layout,
            name,
            whole,
            healthy,
        }
    }

    fn ask_with(&self, bytes: Vec<u8>, what: &str, at: usize) -> Result<Answers> {
        self.files.corrupt(&self.name, |old| *old = bytes);
        let _place = Place(what, &self.layout, at);
        ask(&self.files)
    }

    /// Damage that no checksum hides: an error with its place, or the same answers.
    fn must_notice(&self, bytes: Vec<u8>, what: &str, at: usize) {
        match self.ask_with(bytes, what, at) {
            Ok(answers) => assert_eq!(
                answers, self.healthy,
                "{what} at byte {at} of {}",
                self.layout
            ),
            Err(Error::Corrupt {
                file,
                block,
                section,
                ..
            }) => {
                assert!(
                    file.ends_with(&self.name),
                    "{what} at {at} of {}: file {file}",
                    self.layout
                );
                assert_eq!(block, Some(1), "{what} at {at} of {}", self.layout);
                assert!(section.is_some(), "{what} at {at} of {}", self.layout);
            }
            Err(other) => panic!("{what} at byte {at} of {}: {other}", self.layout),
        }
    }

    /// Damage with checksums that fit it: an error, or well-formed answers.
    fn must_survive(&self, mut bytes: Vec<u8>, what: &str, at: usize) {
        repair(&mut bytes, &self.sections());
        match self.ask_with(bytes, what, at) {
            Ok(answers) => {
                let place = || format!("{what} at byte {at} of {}", self.layout);
                let found: usize = answers.all.iter().map(RecordBatch::num_rows).sum();
                assert_eq!(found, ROWS, "{}", place());
                for batch in answers.all.iter().chain(&answers.some) {
                    for array in batch.columns() {
                        array
                            .to_data()
                            .validate_full()
                            .unwrap_or_else(|error| panic!("{}: {error}", place()));
                    }
                }
            }
            Err(Error::Corrupt { block, .. }) => assert_eq!(block, Some(1), "{what} at byte {at}"),
            Err(other) => panic!("{what} at byte {at} of {}: {other}", self.layout),
        }
    }

    /// Every byte that means something: all but the padding.
    fn meaningful(&self) -> impl Iterator<Item = usize> {
        let sections = self.sections();
        let head = HEADER_BYTES + SECTION_BYTES * sections.len();
        std::iter::once(0..head).chain(sections).flatten()
    }

    /// Where the sections lie in the whole file.
    fn sections(&self) -> Vec<Range<usize>> {
        let header = Header::decode(&self.whole).unwrap();
        let mut reader = Reader::new(&self.whole[HEADER_BYTES..]);
        let section = |_| Section::decode(&mut reader, header.columns, header.file_bytes).unwrap();
        let place =
            |section: Section| section.offset as usize..(section.offset + section.len) as usize;
        (0..header.sections).map(section).map(place).collect()
    }
}

/// Makes all checksums fit the bytes.
pub fn repair(bytes: &mut [u8], sections: &[Range<usize>]) {
    let set = |bytes: &mut [u8], at: usize, value: u64| {
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes())
    };
    for (number, section) in sections.iter().enumerate() {
        let sum = checksum(&bytes[section.clone()]);
        let entry = HEADER_BYTES + SECTION_BYTES * number;
        set(bytes, entry + 24, sum);
    }
    // As many entries as the header claims by now.
    let claimed = u32::from_le_bytes([bytes[40], bytes[41], bytes[42], bytes[43]]) as usize;
    let end = claimed
        .saturating_mul(SECTION_BYTES)
        .saturating_add(HEADER_BYTES)
        .min(bytes.len());
    let sum = checksum(&bytes[HEADER_BYTES..end]);
    set(bytes, 48, sum);
    let sum = checksum(&bytes[..56]);
    set(bytes, 56, sum);
}

#[test]
fn every_flipped_bit_is_noticed() {
    for patient in patients() {
        let head = HEADER_BYTES + SECTION_BYTES * patient.sections().len();
        for at in 0..patient.whole.len() {
            // Elsewhere one bit of each byte, and all together: checksums see any.
            let one = 1 << (at % 8);
            let masks: &[u8] = if at < head {
                &[1, 2, 4, 8, 16, 32, 64, 128, 255]
            } else {
                &[one, 255]
            };
            for mask in masks {
                let mut bytes = patient.whole.clone();
                bytes[at] ^= *mask;
                patient.must_notice(bytes, &format!("flip {mask:#x}"), at);
            }
        }
    }
}

#[test]
fn every_cut_is_noticed() {
    for patient in patients() {
        for length in 0..patient.whole.len() {
            let answer = patient.ask_with(patient.whole[..length].to_vec(), "cut", length);
            assert!(
                matches!(answer, Err(Error::Corrupt { .. })),
                "cut at {length} of {}",
                patient.layout
            );
        }
        let longer = [patient.whole.as_slice(), &[0]].concat();
        assert!(patient.ask_with(longer, "one byte more", 0).is_err());
        patient.files.remove(&patient.name).unwrap();
        let error = ask(&patient.files).unwrap_err().to_string();
        assert!(
            error.contains(&patient.name) && error.contains("missing"),
            "{error}"
        );
    }
}

/// The decoders' own checks, without a checksum before them.
#[test]
fn flips_behind_good_checksums_never_panic() {
    for patient in patients() {
        for at in patient.meaningful() {
            for mask in [1 << (at % 7), if at % 2 == 0 { 128 } else { 255 }] {
                let mut bytes = patient.whole.clone();
                bytes[at] ^= mask;
                patient.must_survive(bytes, &format!("flip {mask:#x}"), at);
            }
        }
    }
}

/// Numbers that overflow, and that are off by one.
#[test]
fn words_behind_good_checksums_never_panic() {
    for (number, patient) in patients().enumerate() {
        for at in patient
            .meaningful()
            .filter(|at| at + 8 <= patient.whole.len())
        {
            // One of each three; the same field of the next block meets another.
            let turn = (at + number) % 3;
            let mut word = [0; 8];
            word.copy_from_slice(&patient.whole[at..at + 8]);
            let number = u64::from_le_bytes(word);
            let narrow = number as u32;
            for wrong in &[u64::MAX, i64::MAX as u64, number.wrapping_add(1)][turn..=turn] {
                let mut bytes = patient.whole.clone();
                bytes[at..at + 8].copy_from_slice(&wrong.to_le_bytes());
                patient.must_survive(bytes, &format!("{wrong:#x}"), at);
            }
            for wrong in &[i32::MAX as u32, narrow.wrapping_sub(1), 0][turn..=turn] {
                let mut bytes = patient.whole.clone();
                bytes[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
                patient.must_survive(bytes, &format!("{wrong:#x}"), at);
            }
        }
    }
}

/// A manifest that was changed and has a checksum that fits.
#[test]
fn manifests_behind_good_checksums_never_panic() {
    for patient in patients() {
        let name = format!(
            "manifest/{}",
            patient.files.list("manifest").unwrap().pop().unwrap()
        );
        let file = patient.files.open(&name).unwrap();
        let whole = file.read(0, file.len() as usize).unwrap().to_vec();
        let json = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for at in json..whole.len() {
            for byte in [
                whole[at] ^ 1,
                whole[at] ^ 2,
                whole[at] ^ 4,
                b'0',
                b'9',
                b'-',
                b'"',
                0xff,
            ] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let line = format!("freestone manifest 1 {:016x}\n", checksum(&bytes[json..]));
                bytes.splice(..json, line.into_bytes());
                patient.files.corrupt(&name, |old| *old = bytes);
                let _place = Place("manifest", &patient.layout, at);
                // An older manifest may answer, or this one in another way.
                let _ = ask(&patient.files);
            }
        }
    }
}
