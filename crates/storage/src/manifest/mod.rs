//! The manifest: which tables, views and blocks make up the database.
//!
//! Every checkpoint writes a whole new manifest under the next number: write,
//! sync, rename, sync the directory. The newest one is the truth; the one before
//! it is kept for the case that it is damaged. A manifest is a line
//! `freestone manifest 2 <checksum, 16 hex digits>` and JSON, so that a person
//! can read what a database consists of. One with roles says 3 instead, one with functions 4, one with
//! created types or generated columns 5, one with partitioned tables or with indexes over
//! expressions or conditions 6, one with constraints that are not validated and the like 7, one with
//! views that note what they read 8, one with options or defaults of views 9, one with indexes whose
//! statements say more than their kinds and columns 10.

use crate::block::BlockInfo;
use crate::error::{Error, Result};
use crate::format::checksum;
use crate::ids::{SequenceId, TableId};
use crate::io::Files;
use crate::roles::{Access, Object, Role};
use crate::schema::{
    Column, ForeignAction, ForeignKey, FormerColumns, SequenceDefinition, SequencePosition,
    TableOptions, TableSchema, UserType, ViewQuery,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the manifest's own format: 2 may have overlays and sequences, which a
/// program that does not know them must not pass over.
pub const MANIFEST_VERSION: u32 = 2;
/// Version of a manifest with roles or grants, which a program that does not know them
/// would lose.
pub const ROLES_VERSION: u32 = 3;
/// Version of a manifest with functions, which a program that does not know them would lose.
pub const FUNCTIONS_VERSION: u32 = 4;
/// Version of a manifest with created types or generated columns, which a program that does not
/// know them would store wrong values in.
pub const TYPES_VERSION: u32 = 5;
/// Version of a manifest with partitioned tables, which a program that does not know them would
/// take for empty ones, or with columns that are there for indexes, which it would show.
pub const PARTITIONED_VERSION: u32 = 6;
/// Version of a manifest with constraints that are not validated, keys in which NULLs are equal,
/// tables whose foreign keys are left alone, or indexes that are names: a program that does not
/// know them would take them for others.
pub const CONSTRAINTS_VERSION: u32 = 7;
/// Version of a manifest with views that note what they read, which a program that does not know
/// the notes could not read.
pub const VIEWS_VERSION: u32 = 8;
/// Version of a manifest with options or defaults of views, which a program that does not know them
/// would not heed.
pub const VIEW_OPTIONS_VERSION: u32 = 9;
/// Version of a manifest with forms of indexes, which a program that does not know them would lose.
pub const INDEX_FORMS_VERSION: u32 = 10;
/// The newest that is read.
const NEWEST_VERSION: u32 = INDEX_FORMS_VERSION;
/// The oldest that is read.
const OLDEST_VERSION: u32 = 1;
const DIRECTORY: &str = "manifest";

/// The schema that exists in every database.
pub const DEFAULT_SCHEMA: &str = "main";

/// A manifest as stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Counts manifests.
    pub version: u64,
    /// Counts changes of the catalog; 0 in manifests that were one each.
    #[serde(default)]
    pub catalog: u64,
    /// Number of the next table.
    pub next_table: u64,
    /// Number of the next block; block files may go beyond it after a crash.
    pub next_block: u64,
    /// The last commit that the manifest has in it.
    #[serde(default)]
    pub timestamp: u64,
    /// Where the log goes on, if there is one; the checkpoint of this number has
    /// the rows that are in no block, and the deletes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<u64>,
    /// Schemas by name.
    pub schemas: BTreeMap<String, ManifestSchema>,
    /// Roles by name, but for those that are as in every database.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, Role>,
    /// Owners and grants of objects that have others than by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<(Object, Access)>,
}

/// A schema as stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifestSchema {
    /// Tables by name.
    pub tables: BTreeMap<String, ManifestTable>,
    /// Queries of views by name.
    pub views: BTreeMap<String, ViewQuery>,
    /// Text of functions by name and types of parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<String, String>,
    /// Sequences by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sequences: BTreeMap<String, ManifestSequence>,
    /// Types that were created, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, UserType>,
}

/// A sequence as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestSequence {
    /// The sequence's number.
    pub id: SequenceId,
    /// What numbers it gives.
    #[serde(flatten)]
    pub definition: SequenceDefinition,
    /// Where it goes on: behind all numbers that may have been given.
    pub position: SequencePosition,
}

/// A table as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestTable {
    /// The table's number.
    pub id: TableId,
    /// Columns and keys.
    #[serde(flatten)]
    pub schema: TableSchema,
    /// Physical options.
    pub options: TableOptions,
    /// Columns of blocks that were written before columns were added or dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerColumns>,
    /// Its blocks.
    pub blocks: Vec<BlockInfo>,
    /// Number of the first row that is in none of them.
    #[serde(default = "first_number")]
    pub delta: u64,
}

impl Manifest {
    /// The version of its form.
    fn format(&self) -> u32 {
        let tables = || {
            self.schemas
                .values()
                .flat_map(|schema| schema.tables.values())
        };
        let mut indexes = tables().flat_map(|table| &table.schema.indexes);
        if indexes.any(|index| !index.form.is_plain()) {
            return INDEX_FORMS_VERSION;
        }
        let views = || {
            let schemas = self.schemas.values();
            schemas.flat_map(|schema| schema.views.values())
        };
        if views().any(ViewQuery::has_options) {
            return VIEW_OPTIONS_VERSION;
        }
        let materialized = |table: &ManifestTable| {
            let view = table.schema.materialized.as_ref();
            view.is_some_and(|view| !view.query.reads.is_empty())
        };
        if views().any(|view| !view.reads.is_empty()) || tables().any(materialized) {
            return VIEWS_VERSION;
        }
        let is_new_key = |key: &ForeignKey| {
            key.unvalidated || [key.on_delete, key.on_update].contains(&ForeignAction::Restrict)
        };
        let is_new = |schema: &TableSchema| {
            schema.unreferenced
                || schema.checks.iter().any(|check| check.unvalidated)
                || schema.foreign_keys.iter().any(is_new_key)
                || schema.keys.iter().any(|key| key.nulls_equal)
                || schema.indexes.iter().any(|index| !index.kind.has_parts())
        };
        if tables().any(|table| is_new(&table.schema)) {
            return CONSTRAINTS_VERSION;
        }
        let columns = || tables().flat_map(|table| &table.schema.columns);
        let hidden = columns().any(|column| column.hidden.is_some());
        if hidden || tables().any(|table| table.schema.is_in_partitions()) {
            return PARTITIONED_VERSION;
        }
        let mut schemas = self.schemas.values();
        let is_new = |column: &Column| column.declared.is_some() || column.generated;
        if schemas.any(|schema| !schema.types.is_empty()) || columns().any(is_new) {
            return TYPES_VERSION;
        }
        let mut schemas = self.schemas.values();
        if schemas.any(|schema| !schema.functions.is_empty()) {
            return FUNCTIONS_VERSION;
        }
        match self.roles.is_empty() && self.access.is_empty() {
            true => MANIFEST_VERSION,
            false => ROLES_VERSION,
        }
    }

    /// That of a database in which nothing was done yet.
    pub fn first() -> Manifest {
        let schemas = [(DEFAULT_SCHEMA.to_string(), ManifestSchema::default())];
        Manifest {
            version: 1,
            next_table: 1,
            next_block: 1,
            schemas: schemas.into(),
            ..Manifest::default()
        }
    }
}

fn first_number() -> u64 {
    1
}

fn name(version: u64) -> String {
    format!("{DIRECTORY}/{version:020}")
}

/// Versions of the manifests that are there, newest first.
///
/// # Errors
/// `Io`.
pub fn versions(files: &dyn Files) -> Result<Vec<u64>> {
    let mut versions: Vec<u64> = files
        .list(DIRECTORY)?
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    Ok(versions)
}

/// The number of the newest manifest, if there is one.
///
/// # Errors
/// `Io`.
pub fn newest(files: &dyn Files) -> Result<Option<u64>> {
    Ok(versions(files)?.first().copied())
}

/// Reads the newest manifest.
///
/// # Errors
/// `Corrupt` if there is none or it is damaged, `Io`.
pub fn load(files: &dyn Files) -> Result<Manifest> {
    let none = || Error::corrupt("there is no manifest").at(&files.show(DIRECTORY), None, None);
    read(files, newest(files)?.ok_or_else(none)?)
}

/// Reads one manifest.
///
/// # Errors
/// `Corrupt` or `Io`.
pub fn read(files: &dyn Files, version: u64) -> Result<Manifest> {
    let file = name(version);
    let decode = || {
        let file = files.open(&file)?;
        let len = usize::try_from(file.len()).map_err(|_| Error::corrupt("too long"))?;
        decode(file.read(0, len)?.as_slice(), version)
    };
    decode().map_err(|error| error.at(&files.show(&file), None, Some("manifest")))
}

fn decode(bytes: &[u8], version: u64) -> Result<Manifest> {
    let split = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or_else(|| Error::corrupt("the first line is missing"))?;
    let (line, json) = (&bytes[..split], &bytes[split + 1..]);
    let line =
        std::str::from_utf8(line).map_err(|_| Error::corrupt("the first line is not text"))?;
    let mut words = line.split(' ');
    if (words.next(), words.next()) != (Some("freestone"), Some("manifest")) {
        return Err(Error::corrupt(
            "the first line does not begin with \"freestone manifest\"",
        ));
    }
    let format = words.next().unwrap_or_default();
    let known = format.parse().ok();
    let Some(format) = known.filter(|format| (OLDEST_VERSION..=NEWEST_VERSION).contains(format))
    else {
        return Err(Error::corrupt(format!(
            "manifest format {format}; this program reads {OLDEST_VERSION} to {NEWEST_VERSION}"
        )));
    };
    if words.next() != Some(format!("{:016x}", checksum(json)).as_str()) {
        return Err(Error::corrupt("checksum mismatch"));
    }
    let manifest: Manifest =
        serde_json::from_slice(json).map_err(|error| Error::corrupt(error.to_string()))?;
    if manifest.version != version {
        return Err(Error::corrupt(format!(
            "it calls itself version {}",
            manifest.version
        )));
    }
    // The line is no part of what the checksum is of.
    if (format == ROLES_VERSION) != (manifest.format() == ROLES_VERSION) {
        return Err(Error::corrupt(format!(
            "it calls itself format {format}, which does not fit what is in it"
        )));
    }
    Ok(manifest)
}

/// Makes `manifest` the newest one; durable when it returns.
///
/// # Errors
/// `Full` or `Io`. The manifest may then have become the newest one or not.
pub fn publish(files: &dyn Files, manifest: &Manifest) -> Result<()> {
    let json =
        serde_json::to_vec(manifest).map_err(|error| Error::invalid("XX000", error.to_string()))?;
    let line = format!(
        "freestone manifest {} {:016x}\n",
        manifest.format(),
        checksum(&json)
    );
    let (target, draft) = (name(manifest.version), format!("{DIRECTORY}/draft"));
    files.write(&draft, &[line.as_bytes(), &json])?;
    files.rename(&draft, &target)?;
    files.sync_directory(DIRECTORY)
}

/// Removes manifests older than the one before the newest.
///
/// # Errors
/// `Io`.
pub fn prune(files: &dyn Files) -> Result<()> {
    let versions = versions(files)?;
    let mut older = versions.into_iter().skip(2);
    older.try_for_each(|version| files.remove(&name(version)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Faulty;

    fn published(versions: std::ops::RangeInclusive<u64>) -> Faulty {
        let files = Faulty::default();
        for version in versions {
            publish(
                &files,
                &Manifest {
                    version,
                    ..Manifest::default()
                },
            )
            .unwrap();
        }
        files
    }

    #[test]
    fn the_newest_manifest_counts_and_the_one_before_stays() {
        let files = published(1..=3);
        assert_eq!(load(&files).unwrap().version, 3);
        prune(&files).unwrap();
        assert_eq!(versions(&files).unwrap(), [3, 2]);
        files.corrupt(&name(3), |bytes| bytes[70] ^= 1);
        assert_eq!(load(&files).unwrap_err().sqlstate(), "XX001");
        assert_eq!(read(&files, 2).unwrap().version, 2);
    }

    #[test]
    fn a_manifest_with_roles_says_so() {
        let line = |manifest: &Manifest| {
            let files = Faulty::default();
            publish(&files, manifest).unwrap();
            assert_eq!(load(&files).unwrap(), *manifest);
            let file = files.open(&name(manifest.version)).unwrap();
            file.read(0, 20).unwrap().as_slice().to_vec()
        };
        let mut manifest = Manifest::first();
        assert_eq!(line(&manifest), b"freestone manifest 2");
        let view = Object::view("s", "v");
        manifest
            .access
            .push((view, Access::of(crate::roles::RoleId(16_400))));
        assert_eq!(line(&manifest), b"freestone manifest 3");
        manifest.access.clear();
        manifest.roles.insert("ann".into(), Role::default());
        assert_eq!(line(&manifest), b"freestone manifest 3");
    }

    #[test]
    fn every_flip_and_every_cut_is_noticed() {
        let whole = published(1..=1);
        let len = whole.open(&name(1)).unwrap().len() as usize;
        for position in 0..len {
            let files = published(1..=1);
            files.corrupt(&name(1), |bytes| bytes[position] ^= 1);
            assert!(load(&files).is_err(), "flip at {position}");
            let files = published(1..=1);
            files.corrupt(&name(1), |bytes| bytes.truncate(position));
            assert!(load(&files).is_err(), "cut at {position}");
        }
    }
}
