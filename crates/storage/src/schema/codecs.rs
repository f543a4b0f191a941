//! Which codec a column shall get: the table option `codec`.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A codec that can be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodecName {
    /// One value for all rows.
    Constant,
    /// Packed bits.
    Bitpack,
    /// Frame of reference.
    For,
    /// Packed steps.
    ForDelta,
    /// Run lengths.
    Rle,
    /// Sorted dictionary.
    Dictionary,
    /// 1, 2, 4 or 8 bytes.
    Truncation,
    /// Floats as integers.
    Alp,
    /// Text as symbols.
    Symbols,
}

/// How codecs are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodecChoice {
    /// Small, and quick to read.
    #[default]
    Auto,
    /// Quickest to compare and to fetch.
    Fast,
    /// Smallest.
    Small,
    /// Values as they are.
    None,
    /// This one, for columns that it can hold.
    Named(CodecName),
}

const CHOICES: [(&str, CodecChoice); 13] = [
    ("auto", CodecChoice::Auto),
    ("fast", CodecChoice::Fast),
    ("small", CodecChoice::Small),
    ("none", CodecChoice::None),
    ("constant", CodecChoice::Named(CodecName::Constant)),
    ("bitpack", CodecChoice::Named(CodecName::Bitpack)),
    ("for", CodecChoice::Named(CodecName::For)),
    ("for_delta", CodecChoice::Named(CodecName::ForDelta)),
    ("rle", CodecChoice::Named(CodecName::Rle)),
    ("dictionary", CodecChoice::Named(CodecName::Dictionary)),
    ("truncation", CodecChoice::Named(CodecName::Truncation)),
    ("alp", CodecChoice::Named(CodecName::Alp)),
    ("symbols", CodecChoice::Named(CodecName::Symbols)),
];

impl CodecChoice {
    /// Every choice.
    pub fn all() -> impl Iterator<Item = CodecChoice> {
        CHOICES.into_iter().map(|(_, choice)| choice)
    }
}

impl fmt::Display for CodecChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = CHOICES
            .iter()
            .find(|(_, choice)| choice == self)
            .map_or("auto", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for CodecChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<CodecChoice> {
        let wanted = text.to_ascii_lowercase();
        let wanted = if wanted == "plain" {
            "none"
        } else {
            wanted.as_str()
        };
        CHOICES
            .iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, choice)| *choice)
            .ok_or_else(|| {
                let names: Vec<&str> = CHOICES.iter().map(|(name, _)| *name).collect();
                Error::invalid("22023", format!("unknown codec \"{text}\""))
                    .with_hint(format!("Valid codecs: {}.", names.join(", ")))
            })
    }
}
