//! Reading a test file, and settling what the `sqllogictest` crate leaves open.
//!
//! SQLite's files use two things that the crate (0.29) does not understand:
//! comments after a label (`skipif mysql # not compatible`), and conditions on
//! `halt` (`onlyif mssql` above `halt` ends the file for that engine only). Both
//! are settled here, line for line, so that line numbers stay those of the file.

use std::io;
use std::path::{Path, PathBuf};

use sqllogictest::{DefaultColumnType, Record};

/// The engine whose conditions hold for Freestone.
pub const ENGINE: &str = "postgresql";

/// Every `….test.zst` below `folder`, sorted.
///
/// # Errors
/// When a folder cannot be read.
pub fn find(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().to_string_lossy().ends_with(".test.zst") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Unpacks and parses one file; records carry `name` and their line.
///
/// # Errors
/// When the file cannot be read, unpacked or parsed; the message names it.
pub fn read(path: &Path, name: &str) -> Result<Vec<Record<DefaultColumnType>>, String> {
    let packed = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let bytes = zstd::decode_all(packed.as_slice()).map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))?;
    sqllogictest::parse_with_name(&settle(&text), name.to_string())
        .map_err(|error| error.to_string())
}

/// Removes comments behind labels, and resolves conditional `halt`s.
fn settle(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut conditions: Vec<usize> = Vec::new();
    let mut applies = true;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [kind @ ("skipif" | "onlyif"), label, ..] => {
                applies &= (label == ENGINE) == (kind == "onlyif");
                conditions.push(out.len());
                out.push(format!("{kind} {label}"));
            }
            ["halt", ..] if applies => break,
            ["halt", ..] => {
                for line in conditions.drain(..) {
                    out[line].clear();
                }
                applies = true;
                out.push(String::new());
            }
            _ => {
                conditions.clear();
                applies = true;
                out.push(line.to_string());
            }
        }
    }
    out.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::settle;

    #[test]
    fn comments_behind_labels_go() {
        let text = "skipif mysql # not compatible\nquery I nosort\nSELECT 1\n----\n1\n";
        assert_eq!(
            settle(text),
            "skipif mysql\nquery I nosort\nSELECT 1\n----\n1\n"
        );
    }

    #[test]
    fn halt_obeys_its_condition_and_keeps_lines() {
        assert_eq!(settle("a\nonlyif mssql\nhalt\nb\n"), "a\n\n\nb\n");
        assert_eq!(settle("a\nskipif sqlite\nhalt\nb\n"), "a\nskipif sqlite\n");
        assert_eq!(settle("a\nskipif postgresql\nhalt\nb\n"), "a\n\n\nb\n");
        assert_eq!(
            settle("a\nonlyif postgresql\nhalt\nb\n"),
            "a\nonlyif postgresql\n"
        );
    }

    #[test]
    fn the_result_parses() {
        let text = "hash-threshold 8\n\nonlyif mysql # DIV\nquery I rowsort label-1\nSELECT 1 DIV 1\n----\n1\n\nskipif sqlite\nhalt\nx\n";
        assert!(sqllogictest::parse::<sqllogictest::DefaultColumnType>(&settle(text)).is_ok());
    }
}
