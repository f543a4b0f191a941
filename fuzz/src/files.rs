//! Whole files and what stands at their beginning.

use crate::input::{Input, check_array, table};
use arrow_array::{Array, RecordBatch};
use freestone_storage::block::Sketch;
use freestone_storage::format::{
    HEADER_BYTES, Header, Reader, SECTION_BYTES, Section, Writer, checksum,
};
use freestone_storage::io::{Files, Memory};
use freestone_storage::manifest::{self, Manifest, ManifestTable};
use freestone_storage::{
    BlockId, BlockInfo, ColumnType, CompareOp, DEFAULT_SCHEMA, Error, Layout, Predicate, Result,
    ScanRequest, Store, Table, TableId, TableOptions, Value,
};
use std::sync::Arc;

/// [`Header`] and directory of a block file, with checksums that fit.
pub fn header(bytes: &[u8]) -> bool {
    let mut bytes = bytes.to_vec();
    repair(&mut bytes);
    let Ok(header) = Header::decode(&bytes) else {
        return false;
    };
    // Bytes that mean nothing may be anything; the fields must survive.
    assert_eq!(
        Header::decode(&header.encode()).ok().as_ref(),
        Some(&header)
    );
    let mut reader = Reader::new(&bytes[HEADER_BYTES..]);
    let schema = table(&[ColumnType::Text, ColumnType::Integer]);
    for _ in 0..header.sections {
        let Ok(section) = Section::decode(&mut reader, header.columns, header.file_bytes) else {
            return false;
        };
        assert!(section.offset + section.len <= header.file_bytes);
        assert!(!section.name(&schema.columns).is_empty());
        let mut writer = Writer::default();
        section.encode(&mut writer);
        let again = writer.finish();
        let again = Section::decode(&mut Reader::new(&again), header.columns, header.file_bytes);
        assert_eq!(again.ok(), Some(section));
    }
    true
}

/// [`Sketch`]: two of them, and what they are together.
pub fn sketch(bytes: &[u8]) -> bool {
    let mut reader = Reader::new(bytes);
    let Ok(mut first) = Sketch::decode(&mut reader) else {
        return false;
    };
    first.estimate();
    let mut writer = Writer::default();
    first.encode(&mut writer);
    let again = Sketch::decode(&mut Reader::new(&writer.finish()));
    assert_eq!(again.ok().as_ref(), Some(&first));
    if let Ok(second) = Sketch::decode(&mut reader) {
        first.merge(&second);
        first.estimate();
    }
    true
}

/// Makes header, directory and sections fit their checksums, as far as they can be found.
fn repair(bytes: &mut [u8]) {
    if bytes.len() < HEADER_BYTES {
        return;
    }
    let number = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(std::array::from_fn(|place| bytes[at + place]))
    };
    let claimed = (number(bytes, 40) as u32 as usize).saturating_mul(SECTION_BYTES);
    let end = claimed.saturating_add(HEADER_BYTES).min(bytes.len());
    for entry in (HEADER_BYTES..end).step_by(SECTION_BYTES) {
        if entry + SECTION_BYTES > end {
            break;
        }
        let (start, len) = (number(bytes, entry + 8), number(bytes, entry + 16));
        let section = start as usize..start.saturating_add(len) as usize;
        if let Some(section) = bytes.get(section).map(checksum) {
            bytes[entry + 24..entry + 32].copy_from_slice(&section.to_le_bytes());
        }
    }
    let directory = checksum(&bytes[HEADER_BYTES..end]);
    bytes[48..56].copy_from_slice(&directory.to_le_bytes());
    let sealed = checksum(&bytes[..56]);
    bytes[56..64].copy_from_slice(&sealed.to_le_bytes());
}

/// A block file with fitting checksums in a database that expects what its header
/// says: how many columns (1 to 8), their types, then the file.
pub fn block(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let columns = usize::from(input.byte()) % 8 + 1;
    let kinds: Vec<ColumnType> = (0..columns).map(|_| input.kind()).collect();
    let mut bytes = input.rest().to_vec();
    repair(&mut bytes);
    let Ok(header) = Header::decode(&bytes) else {
        return false;
    };
    let info = BlockInfo {
        id: BlockId(1),
        rows: header.rows.into(),
        bytes: bytes.len() as u64,
        layout: header.layout,
        version: None,
        overlays: Vec::new(),
    };
    // More rows than that are for the clock, not for the decoders.
    if info.rows > 1 << 14 {
        return false;
    }
    let files = Arc::new(Memory::default());
    let written = files.write("blocks/1.block", &[&bytes]);
    let published = manifest::publish(files.as_ref(), &naming(info, &kinds));
    written.and(published).expect("memory takes everything");
    let store = Store::over_files(files).expect("its manifest is sound");
    let catalog = store.snapshot();
    let table = catalog.table(DEFAULT_SCHEMA, "t").expect("it is named");
    let mut sound = true;
    store.verify(|report| sound &= known(report.outcome).is_some());
    let answered = known(ask(table)).is_some();
    assert!(answered || !sound, "what passes verify() can be read");
    answered
}

/// A manifest of a table `t` with one block.
fn naming(info: BlockInfo, kinds: &[ColumnType]) -> Manifest {
    let table = ManifestTable {
        id: TableId(1),
        schema: table(kinds),
        options: TableOptions {
            layout: Layout::Column,
            ..TableOptions::default()
        },
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
    let schema = manifest
        .schemas
        .entry(DEFAULT_SCHEMA.to_string())
        .or_default();
    schema.tables.insert("t".to_string(), table);
    manifest
}

/// The answer, if there is one; an error must be one of stored bytes.
fn known<T>(outcome: Result<T>) -> Option<T> {
    match outcome {
        Ok(answer) => Some(answer),
        Err(Error::Corrupt { file, reason, .. }) => {
            assert!(!file.is_empty(), "no file is named: {reason}");
            None
        }
        Err(other) => panic!("{}: {other}", other.sqlstate()),
    }
}

/// Everything that a table can be asked.
fn ask(table: &Table) -> Result<()> {
    let count = table.schema.columns.len();
    let batches = scan(table, None)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows as u64, table.rows());
    for batch in &batches {
        for (array, column) in batch.columns().iter().zip(&table.schema.columns) {
            check_array(array, column.kind, batch.num_rows());
        }
    }
    for column in 0..count {
        let nulls: usize = batches
            .iter()
            .map(|batch| batch.column(column).null_count())
            .sum();
        let found = scan(table, Some(Predicate::IsNull(column)))?;
        let found: usize = found.iter().map(RecordBatch::num_rows).sum();
        // Zone maps may lie about NULLs, but only by leaving some out.
        assert!(found <= nulls, "{found} of {nulls} NULLs");
        if let Some(value) = constant(table.schema.columns[column].kind) {
            for op in [CompareOp::Lt, CompareOp::Eq, CompareOp::NotEq] {
                let value = value.clone();
                scan(table, Some(Predicate::Compare { column, op, value }))?;
            }
        }
    }
    table.statistics()?;
    for block in table.blocks() {
        block.describe()?;
        block.columns()?;
        block.bytes_of(&[0])?;
    }
    Ok(())
}

fn scan(table: &Table, predicate: Option<Predicate>) -> Result<Vec<RecordBatch>> {
    let request = ScanRequest {
        projection: (0..table.schema.columns.len()).collect(),
        predicate,
        batch_rows: 1000,
        ..ScanRequest::default()
    };
    table.scan(&request)?.worker().collect()
}

/// A value that columns of a type can be compared with.
fn constant(kind: ColumnType) -> Option<Value> {
    Some(match kind {
        ColumnType::Boolean => Value::Bool(true),
        ColumnType::Real | ColumnType::Double => Value::Float(1.5),
        ColumnType::Interval => return None,
        ColumnType::Uuid => Value::Bytes(vec![7; 16]),
        ColumnType::Bytea => Value::Bytes(b"key".to_vec()),
        kind if kind.physical().width().is_none() => Value::Bytes(b"key".to_vec()),
        _ => Value::Int(3),
    })
}

/// The JSON of a manifest, under a first line that fits it, version 1.
pub fn manifest(json: &[u8]) -> bool {
    let files = Arc::new(Memory::default());
    let line = format!("freestone manifest 1 {:016x}\n", checksum(json));
    let name = format!("manifest/{:020}", 1);
    let written = files.write(&name, &[line.as_bytes(), json]);
    written.expect("memory takes everything");
    let Ok(read) = manifest::load(files.as_ref()) else {
        return false;
    };
    let store = Store::over_files(files.clone()).expect("the manifest was read");
    let catalog = store.snapshot();
    for (_, table) in catalog.all_tables() {
        // Block files are missing: anything but a panic.
        let _ = table.statistics();
        let _ = scan(table, None);
    }
    store.verify(|report| drop(report.outcome));
    drop(store);
    let again =
        manifest::publish(files.as_ref(), &read).and_then(|()| manifest::load(files.as_ref()));
    assert_eq!(again.ok(), Some(read));
    true
}
