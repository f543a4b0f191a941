//! Links between our Markdown pages lead to files that exist, and every decision
//! is linked from the list of decisions.

use super::{File, Finding};
use std::collections::HashSet;

/// Checks `[text](relative/path)` in every `.md` file; web links are not followed.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut known = HashSet::new();
    for file in files {
        let mut path = file.path.as_str();
        known.insert(path);
        while let Some((folder, _)) = path.rsplit_once('/') {
            known.insert(folder);
            path = folder;
        }
    }
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        for (number, line) in (1..).zip(file.text.lines()) {
            for target in targets(line) {
                if !known.contains(resolve(&file.path, target).as_str()) {
                    findings.push(Finding::new(
                        &file.path,
                        number,
                        format!("link to `{target}`: no such file"),
                    ));
                }
            }
        }
    }
    findings.extend(unlisted(files));
    findings
}

fn unlisted(files: &[File]) -> Vec<Finding> {
    const LIST: &str = "docs/decisions/README.md";
    let Some(list) = files.iter().find(|file| file.path == LIST) else {
        return Vec::new();
    };
    let linked: Vec<String> = list
        .text
        .lines()
        .flat_map(targets)
        .map(|target| resolve(LIST, target))
        .collect();
    files
        .iter()
        .filter(|file| file.path.starts_with("docs/decisions/") && file.path != LIST)
        .filter(|file| !linked.contains(&file.path))
        .map(|file| Finding::new(&file.path, 0, format!("not listed in {LIST}")))
        .collect()
}

fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](")
        .filter_map(|(at, _)| line[at + 2..].split(')').next())
        .filter(|target| {
            !target.contains("://") && !target.starts_with(['#', '<']) && !target.contains(' ')
        })
        .map(|target| target.split('#').next().unwrap_or(target))
        .filter(|target| !target.is_empty())
}

fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unlisted_decision_is_found() {
        let list = File::new("docs/decisions/README.md", "[a](0001-a.md)");
        let (a, b) = ("docs/decisions/0001-a.md", "docs/decisions/0002-b.md");
        let found = check(&[list, File::new(a, ""), File::new(b, "")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, b);
    }

    #[test]
    fn dead_links_are_found() {
        let page = |text: &str| {
            check(&[
                File::new("docs/a.md", text),
                File::new("docs/decisions/b.md", ""),
            ])
            .len()
        };
        assert_eq!(
            page("[b](decisions/b.md#top) [c](decisions/) [w](https://x.y/z) [h](#here)"),
            0
        );
        assert_eq!(page("[b](../docs/decisions/b.md)"), 0);
        assert_eq!(page("[b](b.md)"), 1);
    }
}
