//! Functions of texts by names that DuckDB gives them.
//!
//! ```text
//! format_bytes(1500000)            1.4 MiB
//! url_encode('a b/ü')              a%20b%2F%C3%BC
//! bin(5)                           101
//! parse_filename('/a/b.csv')       b.csv
//! jaro_similarity('duck', 'duckdb')  0.8888888888888888
//! ```

use super::super::kernel::{Bool, Bytes, F64, I64, Str, f1, f2};
use super::super::{Catalogue, scalar};
use super::distance::levenshtein;
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Bool as Boolean, Bytea, Float8, Int8, Text};
    for (names, base, units) in [
        (["format_bytes", "formatreadablesize"], 1024.0, BINARY),
        (
            ["formatreadabledecimalsize", "format_decimal_bytes"],
            1000.0,
            DECIMAL,
        ),
    ] {
        for name in names {
            let kernel = f1::<I64, Str>(move |bytes| Ok(readable(bytes, base, units)));
            c.add(scalar(name, &[Int8], Text, kernel));
        }
    }
    let kernel = f1::<Str, I64>(|text| Ok(text.len() as i64));
    c.add(scalar("strlen", &[Text], Int8, kernel));
    let kernel = f1::<Str, Str>(|text| Ok(encoded(text)));
    c.add(scalar("url_encode", &[Text], Text, kernel));
    let kernel = f1::<Str, Str>(decoded);
    c.add(scalar("url_decode", &[Text], Text, kernel));
    for name in ["bin", "to_binary"] {
        let kernel = f1::<I64, Str>(|n| Ok(format!("{n:b}")));
        c.add(scalar(name, &[Int8], Text, kernel));
    }
    // PostgreSQL's to_hex is one of integers, so that a literal is none of its arguments.
    let kernel = f1::<Str, Str>(|text| Ok(hex(text.as_bytes())));
    c.add(scalar("hex", &[Text], Text, kernel));
    let kernel = f1::<Bytes, Str>(|bytes: &[u8]| Ok(hex(bytes)));
    c.add(scalar("hex", &[Bytea], Text, kernel));
    let kernel = f1::<I64, Str>(|n| Ok(format!("{n:X}")));
    c.add(scalar("hex", &[Int8], Text, kernel));
    for name in ["editdist3", "damerau_levenshtein"] {
        let of = if name == "editdist3" {
            levenshtein
        } else {
            damerau
        };
        c.add(scalar(name, &[Text, Text], Int8, f2::<Str, Str, I64>(of)));
    }
    for (name, winkler) in [
        ("jaro_similarity", false),
        ("jaro_winkler_similarity", true),
    ] {
        let kernel = f2::<Str, Str, F64>(move |a, b| Ok(jaro(a, b, winkler)));
        c.add(scalar(name, &[Text, Text], Float8, kernel));
    }
    let kernel = f1::<Str, Str>(|path| Ok(file_name(path).to_owned()));
    c.add(scalar("parse_filename", &[Text], Text, kernel));
    let kernel = f2::<Str, Bool, Str>(|path, trimmed| {
        let name = file_name(path);
        let stem = name.rsplit_once('.').map(|(stem, _)| stem);
        let stem = stem.filter(|stem| !stem.is_empty()).unwrap_or(name);
        Ok(if trimmed { stem } else { name }.to_owned())
    });
    c.add(scalar("parse_filename", &[Text, Boolean], Text, kernel));
    let kernel = f1::<Str, Str>(|path| {
        let end = path.rfind(['/', '\\']).unwrap_or(0);
        Ok(path[..end].to_owned())
    });
    c.add(scalar("parse_dirpath", &[Text], Text, kernel));
}

const BINARY: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const DECIMAL: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];

/// A number of bytes in the largest unit of which there is at least one.
fn readable(bytes: i64, base: f64, units: [&str; 6]) -> String {
    let (mut size, mut unit) = (bytes as f64, None);
    for next in units {
        if size.abs() < base {
            break;
        }
        (size, unit) = (size / base, Some(next));
    }
    match unit {
        None => format!(
            "{bytes} {}",
            if bytes.abs() == 1 { "byte" } else { "bytes" }
        ),
        // Digits behind the first are cut off.
        Some(unit) => format!("{:.1} {unit}", (size * 10.0).trunc() / 10.0),
    }
}

fn encoded(text: &str) -> String {
    let mut to = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                to.push(char::from(byte));
            }
            byte => to.push_str(&format!("%{byte:02X}")),
        }
    }
    to
}

fn decoded(text: &str) -> Result<String> {
    let bytes = text.as_bytes();
    let mut to = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        to.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8(to).map_err(|_| {
        Error::new(
            "22021",
            "invalid byte sequence for encoding \"UTF8\" in an encoded URL",
        )
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Characters to be changed, added, taken away or exchanged with their neighbour.
fn damerau(a: &str, b: &str) -> Result<i64> {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().saturating_mul(b.len()) > super::distance::MOST_STEPS / 16 {
        return Err(Error::new("54000", "texts are too long for a distance"));
    }
    let infinite = a.len() + b.len();
    let width = b.len() + 2;
    let mut table = vec![0usize; (a.len() + 2) * width];
    let cell = |i: usize, j: usize| i * width + j;
    table[cell(0, 0)] = infinite;
    for i in 0..=a.len() {
        table[cell(i + 1, 0)] = infinite;
        table[cell(i + 1, 1)] = i;
    }
    for j in 0..=b.len() {
        table[cell(0, j + 1)] = infinite;
        table[cell(1, j + 1)] = j;
    }
    // The last row in which each character of `a` stood.
    let mut last_rows = std::collections::HashMap::new();
    for (i, x) in a.iter().enumerate() {
        let mut last_column = 0;
        for (j, y) in b.iter().enumerate() {
            let row = last_rows.get(y).copied().unwrap_or(0);
            let column = last_column;
            let cost = usize::from(x != y);
            if cost == 0 {
                last_column = j + 1;
            }
            let changed = table[cell(i + 1, j + 1)] + cost;
            let added = table[cell(i + 2, j + 1)] + 1;
            let taken = table[cell(i + 1, j + 2)] + 1;
            let exchanged = table[cell(row, column)] + (i - row) + 1 + (j - column);
            table[cell(i + 2, j + 2)] = changed.min(added).min(taken).min(exchanged);
        }
        last_rows.insert(*x, i + 1);
    }
    Ok(table[cell(a.len() + 1, b.len() + 1)] as i64)
}

/// The likeness by common characters that are near each other; by Winkler also by a common
/// beginning of up to four characters, if they are alike at all.
fn jaro(a: &str, b: &str, winkler: bool) -> f64 {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.is_empty() || b.is_empty() {
        return if a.len() == b.len() { 1.0 } else { 0.0 };
    }
    let reach = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; b.len()];
    let mut common = Vec::new();
    for (i, x) in a.iter().enumerate() {
        let range = i.saturating_sub(reach)..(i + reach + 1).min(b.len());
        if let Some(j) = range.into_iter().find(|j| !taken[*j] && b[*j] == *x) {
            taken[j] = true;
            common.push(*x);
        }
    }
    if common.is_empty() {
        return 0.0;
    }
    let others = b.iter().zip(&taken).filter(|(_, taken)| **taken);
    let moved = others.zip(&common).filter(|((y, _), x)| y != x).count();
    let m = common.len() as f64;
    let likeness = (m / a.len() as f64 + m / b.len() as f64 + (m - (moved / 2) as f64) / m) / 3.0;
    if !winkler || likeness <= 0.7 {
        return likeness;
    }
    let beginning = a.iter().zip(&b).take(4).take_while(|(x, y)| x == y).count();
    likeness + 0.1 * beginning as f64 * (1.0 - likeness)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DuckDB's answer.
    #[test]
    fn texts_are_as_in_duckdb() {
        assert_eq!(readable(1_500_000, 1024.0, BINARY), "1.4 MiB");
        assert_eq!(readable(1_500_000, 1000.0, DECIMAL), "1.5 MB");
        assert_eq!(readable(999, 1000.0, DECIMAL), "999 bytes");
        assert_eq!(encoded("a b/ü"), "a%20b%2F%C3%BC");
        assert_eq!(decoded("a%20b%2F%C3%BC%zz").unwrap(), "a b/ü%zz");
        assert!(decoded("%FF").is_err());
        assert_eq!(damerau("abc", "acb").unwrap(), 1);
        assert_eq!(damerau("ca", "abc").unwrap(), 2);
        assert_eq!(jaro("duck", "duckdb", false), 0.8888888888888888);
        assert_eq!(jaro("duck", "duckdb", true), 0.9333333333333333);
        assert_eq!(jaro("abc", "xyz", true), 0.0);
        assert_eq!(file_name("/a/b.csv"), "b.csv");
    }
}
