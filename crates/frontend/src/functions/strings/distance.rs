//! The likeness of two texts: DuckDB's `levenshtein`, `hamming` and `jaccard`.
//!
//! ```text
//! levenshtein('kitten', 'sitting')   3      characters to be changed, added or taken away
//! hamming('duck', 'luck')            1      places at which texts of one length differ
//! jaccard('duck', 'luck')            0.6    common characters among all, each counted once
//! ```

use std::collections::HashSet;

use super::super::kernel::{F64, I64, Str, f2};
use super::super::{Catalogue, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Most characters times characters that a distance is computed for.
pub(super) const MOST_STEPS: usize = 1 << 30;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Float8, Int8, Text};
    for (name, of) in [
        ("levenshtein", levenshtein as fn(&str, &str) -> Result<i64>),
        ("hamming", hamming),
    ] {
        c.add(scalar(name, &[Text, Text], Int8, f2::<Str, Str, I64>(of)));
    }
    c.add(scalar(
        "jaccard",
        &[Text, Text],
        Float8,
        f2::<Str, Str, F64>(jaccard),
    ));
}

pub(super) fn levenshtein(a: &str, b: &str) -> Result<i64> {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().saturating_mul(b.len()) > MOST_STEPS {
        return Err(Error::new("54000", "texts are too long for a distance"));
    }
    // Distances of the beginnings of `b` from the beginning of `a` that is read.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    Ok(row.last().map_or(0, |distance| *distance as i64))
}

fn hamming(a: &str, b: &str) -> Result<i64> {
    if a.chars().count() != b.chars().count() {
        let message = "Mismatch Function: Strings must be of equal length!";
        return Err(Error::new("22023", message));
    }
    Ok(a.chars().zip(b.chars()).filter(|(x, y)| x != y).count() as i64)
}

fn jaccard(a: &str, b: &str) -> Result<f64> {
    if a.is_empty() || b.is_empty() {
        let message = "Jaccard Function: An argument too short!";
        return Err(Error::new("22023", message));
    }
    let a: HashSet<char> = a.chars().collect();
    let b: HashSet<char> = b.chars().collect();
    let common = a.intersection(&b).count();
    Ok(common as f64 / (a.len() + b.len() - common) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, distance) in [
            ("kitten", "sitting", 3),
            ("", "äö", 2),
            ("abc", "abc", 0),
            ("ab", "ba", 2),
            ("äbc", "abc", 1),
        ] {
            assert_eq!(levenshtein(a, b), Ok(distance), "{a} {b}");
            assert_eq!(levenshtein(b, a), Ok(distance), "{b} {a}");
        }
        assert_eq!(hamming("duck", "luck"), Ok(1));
        assert_eq!(hamming("a", "ab").unwrap_err().sqlstate, "22023");
        assert_eq!(jaccard("duck", "luck"), Ok(0.6));
        assert_eq!(jaccard("", "a").unwrap_err().sqlstate, "22023");
        let long = "a".repeat(100_000);
        assert_eq!(levenshtein(&long, &long).unwrap_err().sqlstate, "54000");
    }
}
