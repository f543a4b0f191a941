//! Options of COPY, as PostgreSQL has them: FORMAT, HEADER, DELIMITER, NULL, QUOTE,
//! ESCAPE, FORCE_QUOTE, FORCE_NULL, FORCE_NOT_NULL, ENCODING.

use std::path::Path;

use sqlparser::ast::CopyOption;

use super::text::TextFormat;
use crate::error::{Error, Result};
use crate::names::fold;
use crate::source::FileKind;

/// How a file is read or written.
#[derive(Debug, Clone)]
pub(crate) struct CopyOptions {
    pub(crate) kind: FileKind,
    /// The text format, whose lines are CSV where they are read.
    pub(crate) text: Option<TextFormat>,
    /// Whether the first line names the columns.
    pub(crate) header: bool,
    pub(crate) delimiter: u8,
    /// The text that stands for NULL, when not quoted.
    pub(crate) null: String,
    pub(crate) quote: u8,
    pub(crate) escape: u8,
    /// Columns quoted always (COPY TO); `*` is every column.
    pub(crate) force_quote: Vec<String>,
    /// Columns whose quoted values are compared with NULL too.
    pub(crate) force_null: Vec<String>,
    /// Columns whose unquoted values are never NULL.
    pub(crate) force_not_null: Vec<String>,
}

impl CopyOptions {
    /// Reads the options; the format comes from the file's name unless given.
    ///
    /// # Errors
    /// `22023` for values that cannot be, `0A000` for what is not offered,
    /// `42601` for CSV options with Parquet.
    pub(crate) fn read(written: &[CopyOption], filename: &str) -> Result<Self> {
        let mut kind = None;
        let mut options = Self {
            kind: FileKind::Csv,
            text: None,
            header: false,
            delimiter: b',',
            null: String::new(),
            quote: b'"',
            escape: b'"',
            force_quote: Vec::new(),
            force_null: Vec::new(),
            force_not_null: Vec::new(),
        };
        let mut escape = None;
        let mut csv_only = None;
        for option in written {
            match option {
                CopyOption::Format(_) | CopyOption::Encoding(_) => {}
                other => csv_only = Some(other),
            }
            match option {
                CopyOption::Format(format) => kind = Some(format_of(&format.value)?),
                CopyOption::Header(header) => options.header = *header,
                CopyOption::Delimiter(c) => options.delimiter = one_byte("DELIMITER", *c)?,
                CopyOption::Null(text) => options.null.clone_from(text),
                CopyOption::Quote(c) => options.quote = one_byte("QUOTE", *c)?,
                CopyOption::Escape(c) => escape = Some(one_byte("ESCAPE", *c)?),
                CopyOption::ForceQuote(names) => {
                    options.force_quote = names.iter().map(fold).collect();
                }
                CopyOption::ForceNull(names) => {
                    options.force_null = names.iter().map(fold).collect();
                }
                CopyOption::ForceNotNull(names) => {
                    options.force_not_null = names.iter().map(fold).collect();
                }
                CopyOption::Encoding(name) if is_utf8(name) => {}
                CopyOption::Encoding(name) => {
                    return Err(Error::unsupported(format!(
                        "the encoding \"{name}\" is not supported"
                    ))
                    .with_hint("files are read and written in UTF8"));
                }
                CopyOption::Freeze(_) => {
                    return Err(Error::unsupported("COPY … FREEZE is not supported"));
                }
            }
        }
        let kind = kind.or_else(|| FileKind::of(Path::new(filename)));
        options.kind = kind.unwrap_or(FileKind::Csv);
        if options.kind == FileKind::Parquet
            && let Some(option) = csv_only
        {
            return Err(Error::new(
                "42601",
                format!("the option {option} is for CSV files only"),
            ));
        }
        options.escape = escape.unwrap_or(options.quote);
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<()> {
        let invalid = |message: &str| Err(Error::new("22023", message));
        if self.delimiter == self.quote {
            return invalid("COPY delimiter and quote must be different");
        }
        if self.null.bytes().any(|b| b == self.delimiter) {
            return invalid("COPY delimiter must not appear in the NULL specification");
        }
        if self.null.contains(['\n', '\r']) {
            return invalid("COPY null representation cannot use newline or carriage return");
        }
        Ok(())
    }
}

fn format_of(name: &str) -> Result<FileKind> {
    match name.to_lowercase().as_str() {
        "csv" => Ok(FileKind::Csv),
        "parquet" => Ok(FileKind::Parquet),
        other => Err(
            Error::new("22023", format!("COPY format \"{other}\" not recognized"))
                .with_hint("the formats are text, csv and parquet"),
        ),
    }
}

fn one_byte(option: &str, c: char) -> Result<u8> {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() && byte != b'\n' && byte != b'\r' => Ok(byte),
        _ => Err(Error::new(
            "22023",
            format!("COPY {option} must be a single one-byte character, not a line end"),
        )),
    }
}

fn is_utf8(name: &str) -> bool {
    name.eq_ignore_ascii_case("utf8") || name.eq_ignore_ascii_case("utf-8")
}
