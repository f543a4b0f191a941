//! One experiment on the page: claims first, then what they rest on.

use super::Entry;
use super::table::{numbers, table};
use crate::outcome::{Claim, Outcome, Plot, Verdict};
use crate::plot::{escape, seconds, svg};
use crate::record::{Found, Record};

/// The part of the page about one experiment.
pub fn experiment(entry: &Entry<'_>, one_machine: bool) -> String {
    let (id, source, title) = (escape(entry.id), escape(entry.source), escape(entry.title));
    let body = match entry.record {
        None => {
            format!("<p class=\"missing\">Not run yet: <code>freestone lab run {id}</code></p>\n")
        }
        Some(record) => body(record) + &provenance(record, one_machine),
    };
    format!(
        "<article id=\"{id}\">\n<h3>{title}</h3>\n<p class=\"source\">{source} · <code>{id}</code></p>\n{body}</article>\n"
    )
}

fn body(record: &Record) -> String {
    match &record.found {
        Found::Outcome(outcome) => found(&record.id, outcome),
        Found::Failure(why) => {
            format!(
                "<p class=\"missing\"><strong>Failed:</strong> {}</p>\n",
                escape(why)
            )
        }
    }
}

fn found(id: &str, outcome: &Outcome) -> String {
    let mut html = String::new();
    if !outcome.setup.is_empty() {
        html += &format!("<p class=\"setup\">{}</p>\n", escape(&outcome.setup));
    }
    if !outcome.claims.is_empty() {
        let claims: String = outcome.claims.iter().map(claim).collect();
        html += &format!("<ul class=\"claims\">\n{claims}</ul>\n");
    }
    if !outcome.plots.is_empty() {
        let plots = outcome.plots.iter().enumerate();
        let plots: String = plots
            .map(|(at, plot)| figure(plot, &format!("{id}-{at}")))
            .collect();
        html += &format!("<div class=\"plots\">\n{plots}</div>\n");
    }
    html + &outcome.tables.iter().map(table).collect::<String>()
}

/// Class, sign and words of a verdict; the sign is decoration, the words say it.
pub fn words(verdict: Verdict) -> (&'static str, &'static str, &'static str) {
    match verdict {
        Verdict::Holds => ("holds", "✓", "holds"),
        Verdict::DoesNotHold => ("fails", "✗", "does not hold"),
        Verdict::CannotBeTested => ("untested", "?", "cannot be tested"),
    }
}

fn claim(claim: &Claim) -> String {
    let (class, sign, words) = words(claim.verdict);
    let because = match claim.because.is_empty() {
        true => String::new(),
        false => format!("<p class=\"because\">{}</p>", escape(&claim.because)),
    };
    format!(
        "<li class=\"{class}\"><p class=\"verdict\"><span aria-hidden=\"true\">{sign}</span> {words}</p>\
         <div><p class=\"says\">{}</p>{because}</div></li>\n",
        escape(&claim.says)
    )
}

fn figure(plot: &Plot, id: &str) -> String {
    format!(
        "<figure><figcaption>{}</figcaption>\n{}<details><summary>Numbers</summary>{}</details></figure>\n",
        escape(&plot.title),
        svg(plot, &format!("plot-{id}")),
        numbers(plot)
    )
}

/// When, how and with what it was measured.
fn provenance(record: &Record, one_machine: bool) -> String {
    let Record {
        date,
        seed,
        scale,
        repetitions,
        threads,
        program,
        ..
    } = record;
    let took = seconds(record.seconds);
    let plural = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        many => format!("{many} {word}s"),
    };
    let scale = match scale.parse::<f64>() {
        Ok(factor) => format!("tables {factor} times those of quick scale"),
        Err(_) => format!("{scale} scale"),
    };
    let mut parts = vec![
        scale,
        format!("seed {seed}"),
        plural(*repetitions, "repetition"),
        plural(*threads, "thread"),
        took,
        date.clone(),
        format!("Freestone {}, commit {}", program.version, program.commit),
    ];
    if let (Some(load), true) = (record.load, record.is_disturbed()) {
        parts.push(format!("disturbed by other work (load {load})"));
    }
    if !one_machine {
        parts.push(super::summary::machine_in_words(&record.machine));
    }
    let remarks = record
        .remarks
        .iter()
        .map(|remark| format!("<p class=\"missing\">{}</p>\n", escape(remark)));
    let remarks: String = remarks.collect();
    format!(
        "{remarks}<p class=\"provenance\">{}</p>\n",
        escape(&parts.join(" · "))
    )
}
