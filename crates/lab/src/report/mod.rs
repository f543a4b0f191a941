//! One page of all records: no scripts, nothing from elsewhere, well-formed as XML, too.

mod documents;
mod experiment;
mod summary;
mod table;
mod tally;

#[cfg(test)]
mod tests;

use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::outcome::Outcome;
use crate::plot::{self, escape};
use crate::record::{Record, Records};

pub use tally::Tally;

const STYLE: &str = include_str!("style.css");

/// An experiment, run or not.
struct Entry<'a> {
    id: &'a str,
    source: &'a str,
    title: &'a str,
    record: Option<&'a Record>,
}

/// Experiments of one document.
struct Chapter<'a> {
    letter: &'a str,
    entries: Vec<Entry<'a>>,
}

impl Chapter<'_> {
    fn tally(&self) -> Tally {
        let outcomes = self
            .entries
            .iter()
            .filter_map(|entry| entry.record?.outcome());
        outcomes
            .map(|outcome: &Outcome| Tally::of(&outcome.claims))
            .sum()
    }

    fn title(&self) -> &str {
        documents::find(self.letter).map_or(self.letter, |document| document.title)
    }
}

/// The page, as HTML.
///
/// What is `known` and has no record is named as missing; what has a record and is no
/// longer known is shown last.
pub fn page(records: &Records, known: &[&Experiment]) -> String {
    let chapters = chapters(records, known);
    let one_machine = machines(&chapters).len() <= 1;
    let summary = summary::summary(&chapters, &records.damaged);
    let body: String = chapters
        .iter()
        .map(|chapter| section(chapter, one_machine))
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>Freestone lab</title>\n<style>\n{STYLE}{plots}</style>\n</head>\n<body>\n\
         <header><h1>What five papers say about storage, and what holds here</h1></header>\n\
         <main>\n{summary}{body}</main>\n</body>\n</html>\n",
        plots = plot::STYLE
    )
}

/// All records on the page.
fn records<'a>(chapters: &[Chapter<'a>]) -> impl Iterator<Item = &'a Record> {
    let entries = chapters.iter().flat_map(|chapter| &chapter.entries);
    entries.filter_map(|entry| entry.record)
}

/// Different machines among the records.
fn machines<'a>(chapters: &[Chapter<'a>]) -> Vec<&'a Machine> {
    let mut found: Vec<&Machine> = Vec::new();
    for record in records(chapters) {
        if !found.contains(&&record.machine) {
            found.push(&record.machine);
        }
    }
    found
}

fn chapters<'a>(records: &'a Records, known: &[&'a Experiment]) -> Vec<Chapter<'a>> {
    let mut entries: Vec<Entry<'a>> = Vec::new();
    for experiment in known {
        let record = records
            .whole
            .iter()
            .find(|record| record.id == experiment.id);
        let Experiment {
            id, source, title, ..
        } = experiment;
        entries.push(Entry {
            id,
            source,
            title,
            record,
        });
    }
    for record in &records.whole {
        if entries.iter().all(|entry| entry.id != record.id) {
            let Record {
                id, source, title, ..
            } = record;
            entries.push(Entry {
                id,
                source,
                title,
                record: Some(record),
            });
        }
    }
    let mut chapters: Vec<Chapter<'a>> = Vec::new();
    for entry in entries {
        let letter = documents::letter(entry.source);
        match chapters.iter_mut().find(|chapter| chapter.letter == letter) {
            Some(chapter) => chapter.entries.push(entry),
            None => chapters.push(Chapter {
                letter,
                entries: vec![entry],
            }),
        }
    }
    chapters
}

fn section(chapter: &Chapter<'_>, one_machine: bool) -> String {
    let by = documents::find(chapter.letter).map_or("", |document| document.by);
    let entries = chapter.entries.iter();
    let entries: String = entries
        .map(|entry| experiment::experiment(entry, one_machine))
        .collect();
    format!(
        "<section class=\"document\" id=\"document-{letter}\">\n<h2>{title}</h2>\n<p class=\"source\">{by}</p>\n\
         <p class=\"lead\">{tally}</p>\n{entries}</section>\n",
        letter = escape(chapter.letter),
        title = escape(chapter.title()),
        by = escape(by),
        tally = chapter.tally()
    )
}
