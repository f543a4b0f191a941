//! What was measured: rows with bars, shown as tables and written as JSON.

use crate::Result;
use crate::bench::THREADS;
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// What a row is to reach.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    /// At most this part of the peer's number.
    Ratio(f64),
    /// At most this, whatever DuckDB does.
    AtMost(f64),
    /// At least this, whatever DuckDB does.
    AtLeast(f64),
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bar::Ratio(bar) => write!(f, "ratio ≤ {bar}"),
            Bar::AtMost(bar) => write!(f, "≤ {bar}"),
            Bar::AtLeast(bar) => write!(f, "≥ {bar}"),
        }
    }
}

/// One number of each side.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// Unit of both numbers.
    pub unit: &'static str,
    /// Freestone's.
    pub freestone: f64,
    /// The peer's, where it was measured.
    pub peer: Option<f64>,
    /// Freestone's over the peer's; none beside an absolute bar, where the two did
    /// not do the same work.
    pub ratio: Option<f64>,
    /// What is to be reached.
    pub bar: Option<Bar>,
    /// Whether it is; none without a bar or without what the bar needs.
    pub met: Option<bool>,
    /// Why the numbers mean nothing.
    pub problem: Option<String>,
}

impl Row {
    /// A number of Freestone's.
    pub fn new(what: impl Into<String>, unit: &'static str, freestone: f64) -> Row {
        Row {
            what: what.into(),
            unit,
            freestone,
            peer: None,
            ratio: None,
            bar: None,
            met: None,
            problem: None,
        }
    }

    /// With the peer's number.
    pub fn beside(mut self, peer: Option<f64>) -> Row {
        self.peer = peer;
        self
    }

    /// With a bar.
    pub fn bar(mut self, bar: Bar) -> Row {
        self.bar = Some(bar);
        self
    }

    /// Fills in what follows from the rest.
    fn judged(mut self) -> Row {
        let ours = self.freestone;
        self.ratio = match self.bar {
            None | Some(Bar::Ratio(_)) => self.peer.map(|theirs| ours / theirs),
            Some(Bar::AtMost(_) | Bar::AtLeast(_)) => None,
        };
        self.met = self.bar.and_then(|bar| match bar {
            _ if self.problem.is_some() => None,
            Bar::Ratio(bar) => self.ratio.map(|ratio| ratio <= bar),
            Bar::AtMost(bar) => Some(ours <= bar),
            Bar::AtLeast(bar) => Some(ours >= bar),
        });
        self
    }

    fn cells(&self) -> [String; 6] {
        let number = |value: f64| format!("{value:.*} {}", digits(value), self.unit);
        let met = match (&self.problem, self.met) {
            (Some(_), _) => "PROBLEM",
            (None, Some(true)) => "yes",
            (None, Some(false)) => "NO",
            (None, None) => "",
        };
        let text = |value: Option<String>| value.unwrap_or_default();
        [
            self.what.clone(),
            number(self.freestone),
            text(self.peer.map(number)),
            text(self.ratio.map(|ratio| format!("{ratio:.2}"))),
            text(self.bar.map(|bar| bar.to_string())),
            met.to_string(),
        ]
    }
}

/// Three digits or so.
fn digits(value: f64) -> usize {
    match value.abs() {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        middle if middle >= 1.0 => 2,
        _ => 3,
    }
}

/// Rows that belong together.
#[derive(Debug, Clone, Serialize)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// What the numbers are.
    pub note: String,
    /// Whose the numbers beside Freestone's are.
    pub peer: &'static str,
    /// The numbers.
    pub rows: Vec<Row>,
}

impl Section {
    /// A section; ratios and verdicts are filled in.
    pub fn new(name: &str, note: &str, rows: Vec<Row>) -> Section {
        Section {
            name: name.to_string(),
            note: note.to_string(),
            peer: "DuckDB",
            rows: rows.into_iter().map(Row::judged).collect(),
        }
    }

    /// With other numbers beside Freestone's than DuckDB's.
    pub fn beside(mut self, peer: &'static str) -> Section {
        self.peer = peer;
        self
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.name, self.note)?;
        let heading = ["what", "Freestone", self.peer, "ratio", "bar", "met"];
        let mut lines = vec![heading.map(String::from)];
        lines.extend(self.rows.iter().map(Row::cells));
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        let widths: [usize; 6] = std::array::from_fn(|column| width(column).unwrap_or(0));
        for line in &lines {
            write!(f, "  {:<1$}", line[0], widths[0])?;
            for (cell, width) in line.iter().zip(widths).skip(1) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
        }
        for row in &self.rows {
            if let Some(problem) = &row.problem {
                writeln!(f, "  {}: {problem}", row.what)?;
            }
        }
        Ok(())
    }
}

/// Load of a machine from which on times say little.
const BUSY: f64 = 0.5;

/// The system's load average over a minute.
fn busy() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// A whole run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Scale factor.
    pub scale: f64,
    /// Threads of each side.
    pub threads: usize,
    /// Measured runs of each side.
    pub rounds: usize,
    /// The other side, with its version.
    pub peer: Option<String>,
    /// Processes that wanted to run in the minute before; none where unknown.
    pub busy_before: Option<f64>,
    /// What was measured.
    pub sections: Vec<Section>,
    /// What could not be.
    pub failures: Vec<String>,
}

impl Report {
    /// Nothing measured yet.
    pub fn new(scale: f64, rounds: usize, peer: Option<String>) -> Report {
        Report {
            scale,
            threads: THREADS,
            rounds,
            peer,
            busy_before: busy(),
            sections: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Who is compared on what.
    pub fn heading(&self) -> String {
        let (scale, threads, rounds) = (self.scale, self.threads, self.rounds);
        let sides = match &self.peer {
            Some(peer) => format!("Freestone beside {peer}"),
            None => "Freestone alone: DuckDB is not there, nothing is compared".to_string(),
        };
        let heading = format!(
            "{sides}; TPC-H scale {scale}, {threads} threads, {rounds} rounds: the best of queries, the median of others"
        );
        match self.busy_before {
            Some(busy) if busy > BUSY => {
                format!(
                    "{heading}\nOther work keeps the machine busy (load {busy}): do not rely on these numbers"
                )
            }
            _ => heading,
        }
    }

    fn rows(&self) -> impl Iterator<Item = (&str, &Row)> {
        self.sections
            .iter()
            .flat_map(|section| section.rows.iter().map(|row| (section.name.as_str(), row)))
    }

    /// Bars met and missed, differences and failures.
    pub fn summary(&self) -> String {
        let bars = self.rows().filter(|(_, row)| row.met.is_some()).count();
        let missed: Vec<_> = self
            .rows()
            .filter(|(_, row)| row.met == Some(false))
            .collect();
        let mut lines = vec![format!("{} of {bars} bars met", bars - missed.len())];
        for (section, row) in missed {
            let [what, ours, _, ratio, bar, _] = row.cells();
            let got = if matches!(row.bar, Some(Bar::Ratio(_))) {
                ratio
            } else {
                ours
            };
            lines.push(format!("  missed: {section}, {what}: {got}, bar {bar}"));
        }
        for (section, row) in self.rows() {
            if let Some(problem) = &row.problem {
                lines.push(format!("  problem: {section}, {}: {problem}", row.what));
            }
        }
        let failures = self.failures.iter();
        lines.extend(failures.map(|failure| format!("  failed: {failure}")));
        if self.peer.is_none() {
            lines.push("DuckDB was not there: nothing was compared".to_string());
        }
        lines.join("\n")
    }

    /// Everything was measured and both sides agree.
    pub fn is_good(&self) -> bool {
        self.failures.is_empty() && self.rows().all(|(_, row)| row.problem.is_none())
    }

    /// Writes everything as JSON.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, text + "\n")
            .map_err(|error| format!("cannot write {}: {error}", path.display()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_judged() {
        let row = |bar| Row::new("x", "ms", 2.0).beside(Some(4.0)).bar(bar).judged();
        assert_eq!(row(Bar::Ratio(0.5)).met, Some(true));
        assert_eq!(row(Bar::Ratio(0.4)).met, Some(false));
        assert_eq!(row(Bar::AtMost(1.0)).met, Some(false));
        assert_eq!(row(Bar::AtLeast(1.0)).met, Some(true));
        let alone = Row::new("x", "ms", 2.0).bar(Bar::Ratio(0.5)).judged();
        assert_eq!(alone.met, None);
    }

    #[test]
    fn what_is_missed_is_named() {
        let rows = vec![
            Row::new("a", "µs", 2.0).bar(Bar::AtMost(3.0)),
            Row::new("b", "µs", 4.0).bar(Bar::AtMost(3.0)),
        ];
        let mut report = Report::new(1.0, 5, None);
        report.sections.push(Section::new("lookup", "keys", rows));
        let summary = report.summary();
        assert!(summary.starts_with("1 of 2 bars met"), "{summary}");
        assert!(
            summary.contains("missed: lookup, b: 4.00 µs, bar ≤ 3"),
            "{summary}"
        );
        assert!(report.is_good());
    }
}
