//! Block files in several directories are found wherever they are, and belong to one
//! database.

use crate::home::{fill_store, ids, one_worker, options};
use crate::model::Model;
use crate::tables::{Nulls, Recipe, Spread, rows, schema};
use freestone_storage::{ColumnType, DEFAULT_SCHEMA, Error, Layout, OpenMode, ScanRequest, Store};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ROWS: usize = 20_000;

/// A place for a database and its further directories.
struct Site {
    place: tempfile::TempDir,
    further: Vec<PathBuf>,
}

fn site() -> Site {
    let place = tempfile::tempdir().unwrap();
    let further = ["b", "c"].map(|name| place.path().join(name)).to_vec();
    Site { place, further }
}

impl Site {
    fn path(&self) -> PathBuf {
        self.place.path().join("a")
    }

    fn create(&self) -> Arc<Store> {
        Store::open_striped(&self.path(), OpenMode::Create, &self.further).unwrap()
    }

    fn open(&self, mode: OpenMode) -> Result<Arc<Store>, Error> {
        Store::open(&self.path(), mode)
    }

    /// Block files in each directory.
    fn blocks(&self) -> Vec<usize> {
        let count = |path: &Path| fs::read_dir(path.join("blocks")).unwrap().count();
        let own = self.path();
        std::iter::once(&own)
            .chain(&self.further)
            .map(|path| count(path))
            .collect()
    }
}

fn fill(store: &Store) {
    let recipe = Recipe {
        kind: ColumnType::Integer,
        nullable: false,
        nulls: Nulls::None,
        spread: Spread::Many,
    };
    let model = Model::new(schema(&[recipe]), rows(&[recipe], ROWS, 3));
    fill_store(store, &model, &[options(Layout::Column, 16 << 10)], 1000);
}

/// The ids in the table, ascending.
fn found(store: &Store) -> Vec<u32> {
    let request = ScanRequest {
        projection: vec![0, 1],
        ..ScanRequest::default()
    };
    let table = store.snapshot().table(DEFAULT_SCHEMA, "t").unwrap().clone();
    ids(&one_worker(&table.scan(&request).unwrap()))
}

fn all() -> Vec<u32> {
    (0..ROWS as u32).collect()
}

fn refused(result: Result<Arc<Store>, Error>, sqlstate: &str, what: &Path) {
    let error = result.unwrap_err();
    assert_eq!(error.sqlstate(), sqlstate, "{error}");
    assert!(
        error.to_string().contains(what.to_str().unwrap()),
        "{error}"
    );
}

#[test]
fn blocks_go_to_each_directory_in_turn() {
    let site = site();
    let store = site.create();
    fill(&store);
    let spread = site.blocks();
    let (least, most) = (spread.iter().min().unwrap(), spread.iter().max().unwrap());
    assert!(*least > 3 && most - least <= 1, "{spread:?}");
    let beside = site.open(OpenMode::ReadOnly).unwrap();
    assert_eq!(found(&beside), all());
    drop(store);
    let store = site.open(OpenMode::ReadWrite).unwrap();
    assert_eq!(found(&store), all());
    store.verify(|report| report.outcome.unwrap());
    store
        .commit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
        .unwrap();
    drop((store, beside));
    site.open(OpenMode::ReadWrite).unwrap();
    assert_eq!(site.blocks(), [0, 0, 0]);
}

#[test]
fn directories_are_added_later() {
    let site = site();
    let store = site.open(OpenMode::Create).unwrap();
    fill(&store);
    let beside = site.open(OpenMode::ReadOnly).unwrap();
    let before = fs::read_dir(site.path().join("blocks")).unwrap().count();
    drop(store);
    let store = site.create();
    assert_eq!(site.blocks(), [before, 0, 0]);
    assert_eq!(found(&store), all());
    store
        .commit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
        .unwrap();
    fill(&store);
    assert!(site.blocks()[1] > 3);
    // A reader that is open learns of them when it needs them.
    assert_eq!(found(&beside), all());
    // Given again, they are the same.
    drop((store, beside));
    assert_eq!(found(&site.create()), all());
}

/// What a crash left in a further directory goes, and what has a name stays.
#[test]
fn strays_are_removed_everywhere() {
    let site = site();
    let store = site.create();
    fill(&store);
    drop(store);
    let before = site.blocks();
    for directory in &site.further {
        fs::write(directory.join("blocks/999999.block"), b"half").unwrap();
    }
    let store = site.open(OpenMode::ReadWrite).unwrap();
    assert_eq!(site.blocks(), before);
    assert_eq!(found(&store), all());
}

#[test]
fn a_missing_directory_is_named_and_salvage_does_without() {
    let site = site();
    let store = site.create();
    fill(&store);
    drop(store);
    let away = site.place.path().join("away");
    let lost = site.blocks()[2];
    fs::rename(&site.further[1], &away).unwrap();
    for mode in [OpenMode::ReadWrite, OpenMode::ReadOnly, OpenMode::Create] {
        refused(site.open(mode), "58P01", &site.further[1]);
    }
    // Back again, it is as if nothing had happened.
    fs::rename(&away, &site.further[1]).unwrap();
    assert_eq!(found(&site.open(OpenMode::ReadWrite).unwrap()), all());
    fs::rename(&site.further[1], &away).unwrap();
    let (store, report) = Store::salvage(&site.path(), false).unwrap();
    let missing = site.further[1].to_str().unwrap();
    assert!(
        report.damage.iter().any(|line| line.contains(missing)),
        "{report:?}"
    );
    assert_eq!(report.blocks.len(), lost);
    let left = found(&store);
    assert!(left.len() < ROWS && !left.is_empty());
    drop(store);
    refused(site.open(OpenMode::ReadWrite), "58P01", &site.further[1]);
    drop(Store::salvage(&site.path(), true).unwrap());
    assert_eq!(found(&site.open(OpenMode::ReadWrite).unwrap()), left);
}

#[test]
fn a_directory_has_one_database() {
    let (site, other) = (site(), site());
    drop(site.create());
    let open = |further: &[PathBuf]| Store::open_striped(&other.path(), OpenMode::Create, further);
    let taken = site.further[0].clone();
    refused(open(std::slice::from_ref(&taken)), "22023", &taken);
    // A database of its own is none, either; its own directory is nothing new.
    refused(open(&[site.path()]), "22023", &site.path());
    let store = open(&[other.path()]).unwrap();
    fill(&store);
    assert_eq!(found(&store), all());
    drop(store);
    let reading = Store::open_striped(&other.path(), OpenMode::ReadOnly, &other.further);
    assert_eq!(reading.unwrap_err().sqlstate(), "25006");
    // Somebody else's mark.
    fs::write(taken.join("DATABASE"), "0123").unwrap();
    refused(site.open(OpenMode::ReadWrite), "22023", &taken);
}

/// A crash at any moment of adding directories leaves a database that opens.
#[test]
fn an_interrupted_addition_is_done_again() {
    let site = site();
    let store = site.open(OpenMode::Create).unwrap();
    fill(&store);
    drop(store);
    let path = site.path();
    drop(site.create());
    let whole = fs::read_to_string(path.join("DIRECTORIES")).unwrap();
    let begun = whole.split("\"directories\"").next().unwrap().to_string();
    // Claimed, and not in the list; the format not yet written.
    fs::write(
        path.join("DIRECTORIES"),
        format!("{begun}\"directories\":[]}}"),
    )
    .unwrap();
    fs::write(path.join("FORMAT"), "freestone 2\n").unwrap();
    assert_eq!(found(&site.open(OpenMode::ReadWrite).unwrap()), all());
    assert_eq!(found(&site.create()), all());
    let format = || fs::read_to_string(path.join("FORMAT")).unwrap();
    assert_eq!(format(), "freestone 3\n");
    // In the list; the format not yet written.
    fs::write(path.join("FORMAT"), "freestone 2\n").unwrap();
    assert_eq!(found(&site.open(OpenMode::ReadWrite).unwrap()), all());
    assert_eq!(format(), "freestone 3\n");
    for damaged in [
        "",
        "{}",
        "{\"version\":9,\"key\":\"\",\"directories\":[]}",
        "\u{0}",
    ] {
        fs::write(path.join("DIRECTORIES"), damaged).unwrap();
        refused(
            site.open(OpenMode::ReadWrite),
            "XX001",
            &path.join("DIRECTORIES"),
        );
    }
    for rewrite in [false, true] {
        let (store, report) = Store::salvage(&path, rewrite).unwrap();
        assert!(!report.damage.is_empty());
        assert_eq!(found(&store), all());
    }
    assert_eq!(found(&site.open(OpenMode::ReadWrite).unwrap()), all());
}
