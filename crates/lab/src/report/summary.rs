//! The top of the page: how many claims hold, which do not, what is missing.

use super::experiment::words;
use super::{Chapter, Entry, Tally};
use crate::error::Error;
use crate::machine::Machine;
use crate::outcome::{Claim, Verdict};
use crate::plot::{bytes, escape};
use crate::record::{Found, Record};

/// The summary of all chapters.
pub fn summary(chapters: &[Chapter<'_>], damaged: &[Error]) -> String {
    let tally: Tally = chapters.iter().map(Chapter::tally).sum();
    let mut html = tiles(&tally);
    html += &share(&tally);
    html += &machines(chapters);
    html += &reservations(chapters);
    html += &in_the_way(chapters, damaged);
    html += &contents(chapters);
    html += &disagreements(chapters);
    html
}

fn tiles(tally: &Tally) -> String {
    let tile = |count: usize, verdict: Verdict| {
        let (class, sign, words) = words(verdict);
        let words = match (verdict, count) {
            (Verdict::Holds, 0 | 2..) => "hold",
            (Verdict::DoesNotHold, 0 | 2..) => "do not hold",
            _ => words,
        };
        format!(
            "<li class=\"{class}\"><b>{count}</b> <span><span aria-hidden=\"true\">{sign}</span> {words}</span></li>\n"
        )
    };
    format!(
        "<ul class=\"tiles\" aria-label=\"Claims\">\n{}{}{}</ul>\n",
        tile(tally.hold, Verdict::Holds),
        tile(tally.do_not, Verdict::DoesNotHold),
        tile(tally.untested, Verdict::CannotBeTested)
    )
}

fn share(tally: &Tally) -> String {
    let tested = tally.hold + tally.do_not;
    match tally.share() {
        None => "<p class=\"lead\">No claim has been put to the test yet.</p>\n".to_string(),
        Some(share) => format!(
            "<p class=\"lead\">Of {tested} claims that this machine can test, {} hold: {share} %.</p>\n\
             <div class=\"bar\" aria-hidden=\"true\"><i style=\"width:{share}%\"></i></div>\n",
            tally.hold
        ),
    }
}

/// A machine in a sentence.
pub fn machine_in_words(machine: &Machine) -> String {
    let mut parts = vec![
        machine
            .processor
            .clone()
            .unwrap_or("unknown processor".to_string()),
    ];
    let plural = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        many => format!("{many} {word}s"),
    };
    parts.push(
        match machine.cores.filter(|&cores| cores != machine.threads) {
            Some(cores) => format!(
                "{}, {}",
                plural(cores, "core"),
                plural(machine.threads, "hardware thread")
            ),
            None => plural(machine.threads, "core"),
        },
    );
    let caches = [("L1", machine.l1), ("L2", machine.l2), ("L3", machine.l3)];
    for (name, size) in caches {
        parts.extend(size.map(|size| format!("{name} {}", bytes(size))));
    }
    parts.extend(
        machine
            .memory
            .map(|size| format!("{} of memory", bytes(size))),
    );
    parts.extend(
        machine
            .kernel
            .as_ref()
            .map(|kernel| format!("kernel {kernel}")),
    );
    if machine.is_virtual {
        parts.push("a virtual machine".to_string());
    }
    parts.join(", ")
}

/// The machines, of which there should be one.
fn machines(chapters: &[Chapter<'_>]) -> String {
    let found = super::machines(chapters);
    let lines = found
        .iter()
        .map(|machine| escape(&machine_in_words(machine)));
    let lines: Vec<String> = lines.collect();
    match &lines[..] {
        [] => String::new(),
        [one] => format!("<p class=\"machine\">Measured on {one}.</p>\n"),
        many => format!(
            "<p class=\"machine\">Measured on {} machines, so that not all can be compared: {}.</p>\n",
            many.len(),
            many.join("; ")
        ),
    }
}

/// Why the numbers may differ from those of another run.
fn reservations(chapters: &[Chapter<'_>]) -> String {
    let records: Vec<&Record> = super::records(chapters).collect();
    let count = |is: fn(&Record) -> bool| records.iter().filter(|record| is(record)).count();
    let small = count(|record| record.scale != "full");
    let disturbed = count(Record::is_disturbed);
    let of = records.len();
    let mut html = String::new();
    if small > 0 {
        html += &format!(
            "<p class=\"machine\">{small} of {of} at quick scale or a multiple of it, with less data than the \
             documents have.</p>\n"
        );
    }
    if disturbed > 0 {
        html += &format!(
            "<p class=\"missing\">{disturbed} of {of} began while other work kept the machine busy: \
             their times say little.</p>\n"
        );
    }
    html
}

/// What is missing, failed or damaged.
fn in_the_way(chapters: &[Chapter<'_>], damaged: &[Error]) -> String {
    let entries = || chapters.iter().flat_map(|chapter| &chapter.entries);
    let mut items: Vec<String> = Vec::new();
    let missing: Vec<&Entry<'_>> = entries().filter(|entry| entry.record.is_none()).collect();
    if !missing.is_empty() {
        let all: Vec<String> = missing.iter().map(|entry| link(entry)).collect();
        let (count, of) = (missing.len(), entries().count());
        items.push(format!(
            "Not run yet, {count} of {of} experiments: {}",
            all.join(", ")
        ));
    }
    for entry in entries() {
        if let Some(Found::Failure(why)) = entry.record.map(|record| &record.found) {
            items.push(format!("{} failed: {}", link(entry), escape(why)));
        }
    }
    items.extend(damaged.iter().map(|error| escape(&error.to_string())));
    match items.is_empty() {
        true => String::new(),
        false => {
            let items: String = items
                .iter()
                .map(|item| format!("<li>{item}</li>\n"))
                .collect();
            format!(
                "<section class=\"missing\"><h2>What is missing</h2>\n<ul>\n{items}</ul></section>\n"
            )
        }
    }
}

fn link(entry: &Entry<'_>) -> String {
    let (id, title) = (escape(entry.id), escape(entry.title));
    format!("<a href=\"#{id}\" title=\"{title}\">{id}</a>")
}

/// Documents and experiments, each with its verdicts.
fn contents(chapters: &[Chapter<'_>]) -> String {
    let entry = |entry: &Entry<'_>| {
        let said = match entry.record.map(|record| &record.found) {
            None => "not run".to_string(),
            Some(Found::Failure(_)) => "failed".to_string(),
            Some(Found::Outcome(outcome)) => signs(&outcome.claims),
        };
        format!(
            "<li><a href=\"#{}\">{}</a> <span class=\"signs\">{said}</span></li>\n",
            escape(entry.id),
            escape(entry.title)
        )
    };
    let chapter = |chapter: &Chapter<'_>| {
        let entries: String = chapter.entries.iter().map(entry).collect();
        let letter = escape(chapter.letter);
        format!(
            "<div><h3><a href=\"#document-{letter}\">{}</a></h3>\n<ol>\n{entries}</ol></div>\n",
            escape(chapter.title())
        )
    };
    let chapters: String = chapters.iter().map(chapter).collect();
    format!(
        "<nav aria-label=\"Contents\"><h2>Contents</h2>\n<div class=\"contents\">\n{chapters}</div></nav>\n"
    )
}

/// A sign for each claim, and in words for those who hear it.
fn signs(claims: &[Claim]) -> String {
    let sign = |claim: &Claim| {
        let (class, sign, _) = words(claim.verdict);
        format!("<i class=\"{class}\">{sign}</i>")
    };
    let signs: String = claims.iter().map(sign).collect();
    format!(
        "<span role=\"img\" aria-label=\"{}\">{signs}</span>",
        Tally::of(claims)
    )
}

/// Claims that do not hold, which readers look for first.
fn disagreements(chapters: &[Chapter<'_>]) -> String {
    let mut items = String::new();
    for entry in chapters.iter().flat_map(|chapter| &chapter.entries) {
        let claims = entry
            .record
            .and_then(|record| record.outcome())
            .map(|outcome| &outcome.claims);
        let failed = claims
            .into_iter()
            .flatten()
            .filter(|claim| claim.verdict == Verdict::DoesNotHold);
        for claim in failed {
            items += &format!(
                "<li><a href=\"#{}\">{}</a>: {}</li>\n",
                escape(entry.id),
                escape(entry.source),
                escape(&claim.says)
            );
        }
    }
    match items.is_empty() {
        true => String::new(),
        false => format!(
            "<section class=\"disagreements\"><h2>What does not hold here</h2>\n<ul>\n{items}</ul></section>\n"
        ),
    }
}
