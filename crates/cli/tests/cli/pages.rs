//! Pages of the documentation that show what the program prints.

use crate::support::freestone;

/// A statement of a page, and what the page says it prints; nothing if that depends on the
/// machine.
#[derive(Debug)]
struct Shown {
    sql: String,
    prints: Option<String>,
}

/// The parts of a page that are fenced, by their language, and the line before each.
fn fenced(page: &str) -> Vec<(String, String, String)> {
    let (mut found, mut before) = (Vec::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((language.to_owned(), text.join("\n"), before.clone()));
        }
        if !line.is_empty() {
            before = line.to_owned();
        }
    }
    found
}

fn shown(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for (language, text, before) in fenced(page) {
        match (language.as_str(), all.last_mut()) {
            ("sql", _) => all.push(Shown {
                sql: text,
                prints: Some(String::new()),
            }),
            ("text", Some(last)) => {
                last.prints = (before != "*For example:*").then_some(text);
            }
            _ => {}
        }
    }
    all
}

#[test]
fn the_tutorial_prints_what_it_says() {
    let page = std::fs::read_to_string("../../docs/tutorial.md").unwrap();
    let place = tempfile::tempdir().unwrap();
    let all = shown(&page);
    assert!(all.len() > 12, "{all:?}");
    let compared = all.iter().filter(|one| one.prints.is_some()).count();
    assert!(compared > 9, "{compared} of {}", all.len());
    for one in all {
        let mut command = freestone();
        command.args(["shop", "-c", &one.sql]);
        let output = command.current_dir(place.path()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        if let Some(prints) = one.prints {
            assert_eq!(text.trim_end(), prints, "{}", one.sql);
        }
    }
}
