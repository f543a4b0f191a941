//! Physical options of a table: what `CREATE TABLE … WITH (…)` may say.

use super::{CodecChoice, Partitioning, TableSchema};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Smallest block target, bytes of raw tuples (Q2).
pub const BLOCK_BYTES_MIN: u64 = 128 << 10;
/// Largest block target, bytes of raw tuples (Q2).
pub const BLOCK_BYTES_MAX: u64 = 256 << 20;
/// Smallest PAX or slotted page.
pub const PAGE_BYTES_MIN: u32 = 1 << 10;
/// Largest PAX or slotted page.
pub const PAGE_BYTES_MAX: u32 = 1 << 20;

/// How the tuples of a block lie; the number is the tag in the block header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Layout {
    /// Dense tuples: fixed part, then a heap of variable values (H1).
    Row = 1,
    /// One stripe per column (H2, Q4).
    Column = 2,
    /// Pages of minipages (P3).
    Pax = 3,
    /// One relation of row and value per column (P2, C1).
    Dsm = 4,
    /// Per column each distinct value once, with the rows that hold it (C2).
    Inverted = 5,
}

impl Layout {
    /// Every layout, in the order of their tags.
    pub const ALL: [Layout; 5] = [
        Layout::Row,
        Layout::Column,
        Layout::Pax,
        Layout::Dsm,
        Layout::Inverted,
    ];

    /// The layout with this tag; 0 is never valid.
    pub fn from_tag(tag: u8) -> Option<Layout> {
        Layout::ALL.into_iter().find(|layout| *layout as u8 == tag)
    }

    /// Whether a tuple's values lie together, so that a block is opened as a
    /// whole; else each column is stored, and opened, apart.
    pub fn keeps_tuples(self) -> bool {
        matches!(self, Layout::Row | Layout::Pax)
    }

    /// Whether a NULL takes no space.
    pub fn is_sparse(self) -> bool {
        matches!(self, Layout::Dsm | Layout::Inverted)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layout::Row => "row",
            Layout::Column => "column",
            Layout::Pax => "pax",
            Layout::Dsm => "dsm",
            Layout::Inverted => "inverted",
        })
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Layout> {
        let wanted = text.to_ascii_lowercase();
        Layout::ALL
            .into_iter()
            .find(|layout| layout.to_string() == wanted)
            .ok_or_else(|| {
                let names: Vec<String> = Layout::ALL.iter().map(Layout::to_string).collect();
                Error::invalid("22023", format!("unknown layout \"{text}\""))
                    .with_hint(format!("Valid layouts: {}, {AUTO}.", names.join(", ")))
            })
    }
}

/// Physical options of one table; new blocks are written by them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableOptions {
    /// Layout of new blocks.
    pub layout: Layout,
    /// Whether that, and the layout of each block, follows what is done to the table.
    #[serde(default, skip_serializing_if = "is_false")]
    pub auto_layout: bool,
    /// Column that each block is sorted on.
    pub sort_by: Option<String>,
    /// Ranges of a column whose rows share no block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_by: Option<Partitioning>,
    /// Target size of a block in bytes of raw tuples.
    pub block_bytes: u64,
    /// Size of a PAX or slotted page in bytes.
    pub page_bytes: u32,
    /// Free space in percent of a PAX page from which minipage boundaries are
    /// moved for one more tuple (P4: 0, 5 or 10 in the paper).
    pub reorganise_percent: u8,
    /// Rows in slotted pages instead of dense tuples (P1); of the layout `row` only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub slotted: bool,
    /// Percent of a slotted page up to which it is filled.
    #[serde(default = "full", skip_serializing_if = "is_full")]
    pub fill_percent: u8,
    /// Which codecs the columns get.
    #[serde(default)]
    pub codec: CodecChoice,
    /// Columns that get another choice.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub column_codecs: BTreeMap<String, CodecChoice>,
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions {
            layout: Layout::Column,
            auto_layout: false,
            sort_by: None,
            partition_by: None,
            block_bytes: 16 << 20,
            page_bytes: 32 << 10,
            reorganise_percent: 5,
            slotted: false,
            fill_percent: full(),
            codec: CodecChoice::Auto,
            column_codecs: BTreeMap::new(),
        }
    }
}

/// The layout that is none of its own.
const AUTO: &str = "auto";

const NAMES: &str = "layout, sort_by, partition_by, block_bytes, page_bytes, \
     reorganise_percent, slotted, fill_percent, codec";

fn full() -> u8 {
    100
}

// Serde hands over references.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_full(percent: &u8) -> bool {
    *percent == full()
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !value
}

impl TableOptions {
    /// Sets one option from its SQL text.
    ///
    /// # Errors
    /// 22023 for an unknown option or value; the hint lists the valid ones.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key.to_ascii_lowercase().as_str() {
            "layout" => {
                self.auto_layout = value.eq_ignore_ascii_case(AUTO);
                if !self.auto_layout {
                    self.layout = value.parse()?;
                }
            }
            "sort_by" => {
                let name = value.trim().trim_matches('"');
                self.sort_by = (!name.is_empty()).then(|| name.to_string());
            }
            "partition_by" => self.set_partitioning(value)?,
            "block_bytes" => {
                self.block_bytes = bounded(
                    key,
                    value,
                    BLOCK_BYTES_MIN,
                    BLOCK_BYTES_MAX,
                    "128KiB",
                    "256MiB",
                )?;
            }
            "page_bytes" => {
                let bytes = bounded(
                    key,
                    value,
                    PAGE_BYTES_MIN.into(),
                    PAGE_BYTES_MAX.into(),
                    "1KiB",
                    "1MiB",
                )?;
                self.page_bytes = u32::try_from(bytes).unwrap_or(PAGE_BYTES_MAX);
            }
            "reorganise_percent" => {
                let percent = bounded(key, value, 0, 100, "0", "100")?;
                self.reorganise_percent = u8::try_from(percent).unwrap_or(100);
            }
            "slotted" => {
                self.slotted = match value.trim().to_ascii_lowercase().as_str() {
                    "true" | "on" | "yes" | "1" => true,
                    "false" | "off" | "no" | "0" => false,
                    _ => {
                        let message = format!("slotted cannot be \"{value}\"");
                        return Err(
                            Error::invalid("22023", message).with_hint("Give true or false.")
                        );
                    }
                };
            }
            "fill_percent" => {
                let percent = bounded(key, value, 1, 100, "1", "100")?;
                self.fill_percent = u8::try_from(percent).unwrap_or(full());
            }
            "codec" => self.set_codecs(value)?,
            _ => {
                return Err(
                    Error::invalid("22023", format!("unknown table option \"{key}\""))
                        .with_hint(format!("Valid options: {NAMES}.")),
                );
            }
        }
        Ok(())
    }

    /// The layout as [`TableOptions::set`] reads it.
    pub fn layout_text(&self) -> String {
        match self.auto_layout {
            true => AUTO.to_owned(),
            false => self.layout.to_string(),
        }
    }

    /// Whether the same blocks would be written with other options.
    pub fn writes_as(&self, other: &TableOptions) -> bool {
        let plain = |options: &TableOptions| TableOptions {
            auto_layout: false,
            ..options.clone()
        };
        plain(self) == plain(other)
    }

    /// Whether blocks consist of pages of `page_bytes`.
    pub fn has_pages(&self) -> bool {
        self.layout == Layout::Pax || (self.layout == Layout::Row && self.slotted)
    }

    /// The choice of a column.
    pub fn codec_of(&self, column: &str) -> CodecChoice {
        self.column_codecs
            .get(column)
            .copied()
            .unwrap_or(self.codec)
    }

    /// Reads `small`, or `auto, comment symbols, price none`: a choice for the
    /// table, and others for some columns.
    fn set_codecs(&mut self, value: &str) -> Result<()> {
        let (mut table, mut columns) = (CodecChoice::Auto, BTreeMap::new());
        for part in value
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            match part.rsplit_once(char::is_whitespace) {
                None => table = part.parse()?,
                Some((column, choice)) => {
                    columns.insert(column.trim().trim_matches('"').to_string(), choice.parse()?);
                }
            }
        }
        (self.codec, self.column_codecs) = (table, columns);
        Ok(())
    }

    fn codec_text(&self) -> String {
        let columns = self
            .column_codecs
            .iter()
            .map(|(column, choice)| format!(", {column} {choice}"));
        std::iter::once(self.codec.to_string())
            .chain(columns)
            .collect()
    }

    /// The options as `(name, value)` in the form that [`TableOptions::set`] reads.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let mut entries = vec![("layout", self.layout_text())];
        if let Some(name) = &self.sort_by {
            entries.push(("sort_by", name.clone()));
        }
        if let Some(partitioning) = &self.partition_by {
            entries.push(("partition_by", partitioning.to_string()));
        }
        entries.push(("block_bytes", self.block_bytes.to_string()));
        entries.push(("page_bytes", self.page_bytes.to_string()));
        entries.push(("reorganise_percent", self.reorganise_percent.to_string()));
        if self.slotted {
            entries.push(("slotted", "true".into()));
        }
        if self.fill_percent != full() {
            entries.push(("fill_percent", self.fill_percent.to_string()));
        }
        entries.push(("codec", self.codec_text()));
        entries
    }

    /// Whether the options fit each other and the columns.
    ///
    /// # Errors
    /// 22023 for slotted pages of another layout than `row`, 42703 if `sort_by`,
    /// `partition_by` or `codec` names no column, 42804 if values of the column of
    /// `partition_by` have no order.
    pub fn check(&self, schema: &TableSchema) -> Result<()> {
        if self.slotted && self.layout != Layout::Row {
            let message = format!("layout {} has no slotted pages", self.layout);
            return Err(Error::invalid("22023", message)
                .with_hint("Give layout = 'row', or slotted = false."));
        }
        let sort = self.sort_by.iter().map(|name| ("sort_by", name));
        let partition = self.partition_by.iter();
        let partition = partition.map(|by| ("partition_by", &by.column));
        let codecs = self.column_codecs.keys().map(|name| ("codec", name));
        match sort
            .chain(partition)
            .chain(codecs)
            .find(|(_, name)| schema.index_of(name).is_none())
        {
            Some((option, name)) => {
                let names: Vec<&str> = schema.columns.iter().map(|c| c.name.as_str()).collect();
                Err(
                    Error::invalid("42703", format!("{option} names no column: \"{name}\""))
                        .with_hint(format!("Columns: {}.", names.join(", "))),
                )
            }
            None => {
                schema.check_keys()?;
                self.check_order(schema)?;
                self.check_partitioning(schema)
            }
        }
    }

    /// Columns whose equal values differ in their bytes have no order here.
    fn check_order(&self, schema: &TableSchema) -> Result<()> {
        let sort = self.sort_by.iter();
        let names = sort.chain(self.partition_by.iter().map(|by| &by.column));
        for column in names.filter_map(|name| schema.index_of(name)) {
            schema.check_key(column)?;
        }
        Ok(())
    }

    fn check_partitioning(&self, schema: &TableSchema) -> Result<()> {
        let column = self.partition_by.as_ref();
        let column = column.and_then(|by| schema.index_of(&by.column));
        match column.map(|column| schema.columns[column].kind) {
            Some(kind) if !kind.has_order() => {
                let message = format!("partition_by: values of type {kind} have no order");
                Err(Error::invalid("42804", message).with_hint("Name another column."))
            }
            _ => Ok(()),
        }
    }
}

fn bounded(
    key: &str,
    value: &str,
    min: u64,
    max: u64,
    min_text: &str,
    max_text: &str,
) -> Result<u64> {
    parse_bytes(value)
        .filter(|bytes| (min..=max).contains(bytes))
        .ok_or_else(|| {
            Error::invalid("22023", format!("{key} cannot be \"{value}\""))
                .with_hint(format!("Give a number from {min_text} to {max_text}."))
        })
}

/// Reads `1000000`, `128KiB`, `16 MiB`, `1GiB`, `8kB`.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let scale: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_units() {
        assert_eq!(parse_bytes("16MiB"), Some(16 << 20));
        assert_eq!(parse_bytes(" 128 KiB "), Some(128 << 10));
        assert_eq!(parse_bytes("1000000"), Some(1_000_000));
        assert_eq!(parse_bytes("18446744073709551615GiB"), None);
        assert_eq!(parse_bytes("-1"), None);
    }

    #[test]
    fn entries_can_be_set_again() {
        let mut options = TableOptions {
            sort_by: Some("a".into()),
            ..TableOptions::default()
        };
        for (layout, slotted) in [(Layout::Pax, false), (Layout::Row, true)] {
            (options.layout, options.slotted) = (layout, slotted);
            options.fill_percent = if slotted { 80 } else { 100 };
            let mut copy = TableOptions::default();
            for (key, value) in options.entries() {
                copy.set(key, &value).unwrap();
            }
            assert_eq!(copy, options);
            let stored = serde_json::to_string(&options).unwrap();
            assert_eq!(
                serde_json::from_str::<TableOptions>(&stored).unwrap(),
                options
            );
            assert_eq!(stored.contains("slotted"), slotted);
        }
    }

    #[test]
    fn only_rows_can_be_slotted() {
        let schema = TableSchema::default();
        let mut options = TableOptions::default();
        options.set("slotted", "TRUE").unwrap();
        let error = options.check(&schema).unwrap_err();
        assert_eq!(error.sqlstate(), "22023");
        assert!(error.hint().unwrap().contains("layout = 'row'"));
        options.set("layout", "row").unwrap();
        options.check(&schema).unwrap();
        assert!(options.set("slotted", "perhaps").is_err());
        assert!(options.set("fill_percent", "0").is_err());
    }

    #[test]
    fn unknown_options_list_the_valid_ones() {
        let error = TableOptions::default().set("layuot", "row").unwrap_err();
        assert!(error.hint().unwrap().contains("block_bytes"));
        let error = TableOptions::default().set("layout", "rows").unwrap_err();
        assert_eq!(
            error.hint().unwrap(),
            "Valid layouts: row, column, pax, dsm, inverted, auto."
        );
    }
}
