//! One Arrow, one DataFusion: a second version in the lock file would compile
//! for another quarter of an hour and its types would not fit ours.

use super::{File, Finding};

const SINGLE: [&str; 4] = ["arrow-array", "arrow-schema", "datafusion", "parquet"];

/// Checks `Cargo.lock`.
pub fn check(files: &[File]) -> Vec<Finding> {
    let Some(file) = files.iter().find(|file| file.path == "Cargo.lock") else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for name in SINGLE {
        let wanted = format!("name = \"{name}\"");
        let places = (1..)
            .zip(file.text.lines())
            .filter(|(_, line)| *line == wanted);
        for (number, _) in places.skip(1) {
            findings.push(Finding::new(
                "Cargo.lock",
                number,
                format!("a second version of `{name}`"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_arrow_is_found() {
        let one = "[[package]]\nname = \"arrow-array\"\nversion = \"59.3.2\"\n";
        assert_eq!(check(&[File::new("Cargo.lock", one)]), Vec::new());
        assert_eq!(check(&[File::new("Cargo.lock", one.repeat(2))]).len(), 1);
    }
}
