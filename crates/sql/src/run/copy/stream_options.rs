//! Options of COPY with a client, also as they were written before there were brackets.

use sqlparser::ast::{CopyLegacyCsvOption, CopyLegacyOption, CopyOption, Ident};

use super::stream::StreamFormat;
use super::text::TextFormat;
use crate::error::{Error, Result};

/// An option as it was written before there were brackets.
pub(super) fn modern(option: &CopyLegacyOption, options: &mut Vec<CopyOption>) -> Result<()> {
    match option {
        CopyLegacyOption::Delimiter(byte) => options.push(CopyOption::Delimiter(*byte)),
        CopyLegacyOption::Null(text) => options.push(CopyOption::Null(text.clone())),
        CopyLegacyOption::Binary => options.push(CopyOption::Format(Ident::new("binary"))),
        CopyLegacyOption::Header => options.push(CopyOption::Header(true)),
        CopyLegacyOption::Csv(details) => {
            options.push(CopyOption::Format(Ident::new("csv")));
            for detail in details {
                options.push(match detail {
                    CopyLegacyCsvOption::Header => CopyOption::Header(true),
                    CopyLegacyCsvOption::Quote(byte) => CopyOption::Quote(*byte),
                    CopyLegacyCsvOption::Escape(byte) => CopyOption::Escape(*byte),
                    CopyLegacyCsvOption::ForceQuote(names) => CopyOption::ForceQuote(names.clone()),
                    CopyLegacyCsvOption::ForceNotNull(names) => {
                        CopyOption::ForceNotNull(names.clone())
                    }
                });
            }
        }
        other => {
            return Err(
                Error::unsupported(format!("COPY … {other} is not supported"))
                    .with_hint("a stream is text or csv: COPY t FROM STDIN (FORMAT csv)"),
            );
        }
    }
    Ok(())
}

/// The format that options ask for. Those of text are taken out and become those of the
/// CSV that is made of it.
pub(super) fn format_of(options: &mut Vec<CopyOption>) -> Result<StreamFormat> {
    // Rows are never kept in a form that a freeze would change.
    options.retain(|option| !matches!(option, CopyOption::Freeze(_)));
    let named = options.iter().find_map(|option| match option {
        CopyOption::Format(name) => Some(name.value.to_lowercase()),
        _ => None,
    });
    match named.as_deref() {
        Some("csv") => return Ok(StreamFormat::Csv),
        Some("binary") => {
            let other = |option: &&CopyOption| !matches!(option, CopyOption::Format(_));
            if let Some(option) = options.iter().find(other) {
                return Err(Error::new(
                    "22023",
                    format!("COPY {option} is not for BINARY"),
                ));
            }
            *options = vec![CopyOption::Format(Ident::new("csv"))];
            return Ok(StreamFormat::Binary);
        }
        None | Some("text") => {}
        Some(other) => {
            return Err(
                Error::unsupported(format!("COPY format \"{other}\" cannot be streamed"))
                    .with_hint("a stream is text, csv or binary: COPY t FROM STDIN (FORMAT csv)"),
            );
        }
    }
    let mut text = TextFormat::default();
    for option in std::mem::take(options) {
        match option {
            CopyOption::Format(_) => {}
            CopyOption::Delimiter(byte) => {
                let fits = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
                let fits = |byte: &u8| fits(byte) && !b"\\.\n\r".contains(byte);
                text.delimiter = u8::try_from(byte).ok().filter(fits).ok_or_else(|| {
                    Error::new("22023", format!("COPY delimiter cannot be \"{byte}\""))
                })?;
            }
            CopyOption::Null(null) => text.null = null,
            other @ CopyOption::Encoding(_) => options.push(other),
            other => {
                return Err(Error::new("22023", format!("COPY {other} is for CSV only")));
            }
        }
    }
    options.push(CopyOption::Format(Ident::new("csv")));
    Ok(StreamFormat::Text(text))
}
