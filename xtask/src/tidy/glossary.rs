//! `docs/glossary.md` defines each word once, in alphabetical order.

use super::{File, Finding};

const GLOSSARY: &str = "docs/glossary.md";

/// Checks the table: first column the word, second its meaning.
pub fn check(files: &[File]) -> Vec<Finding> {
    let Some(file) = files.iter().find(|file| file.path == GLOSSARY) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let mut last = String::new();
    for (number, word, meaning) in rows(&file.text) {
        let key = word.to_lowercase();
        if key == last {
            findings.push(Finding::new(
                GLOSSARY,
                number,
                format!("`{word}` is defined twice"),
            ));
        } else if key < last {
            findings.push(Finding::new(
                GLOSSARY,
                number,
                format!("`{word}` belongs before `{last}`"),
            ));
        }
        if meaning.is_empty() {
            findings.push(Finding::new(
                GLOSSARY,
                number,
                format!("`{word}` has no meaning"),
            ));
        }
        last = key;
    }
    if last.is_empty() {
        findings.push(Finding::new(GLOSSARY, 0, "no table of words found"));
    }
    findings
}

/// Rows of the first table, without its heading.
fn rows(text: &str) -> impl Iterator<Item = (usize, String, String)> {
    (1..)
        .zip(text.lines())
        .skip_while(|(_, line)| !line.starts_with("|--"))
        .skip(1)
        .take_while(|(_, line)| line.starts_with('|'))
        .map(|(number, line)| {
            let mut cells = line
                .trim_matches('|')
                .splitn(2, '|')
                .map(|cell| cell.trim().to_string());
            (
                number,
                cells.next().unwrap_or_default(),
                cells.next().unwrap_or_default(),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(rows: &str) -> Vec<String> {
        let text = format!("# Words\n\n| word | meaning |\n|---|---|\n{rows}\nafter\n");
        check(&[File::new(GLOSSARY, text)])
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn order_doubles_and_gaps_are_found() {
        assert_eq!(
            messages("| block | x |\n| Code | y |\n| zone map | z |"),
            Vec::<String>::new()
        );
        assert_eq!(
            messages("| code | x |\n| block | y |"),
            ["docs/glossary.md:6: `block` belongs before `code`"]
        );
        assert_eq!(
            messages("| block | x |\n| Block | y |"),
            ["docs/glossary.md:6: `Block` is defined twice"]
        );
        assert_eq!(messages("| block |  |").len(), 1);
        assert_eq!(messages("").len(), 1);
    }
}
