//! Sums and verdict of a run.

use std::fmt::{self, Display};

use super::known::{Failed, Known};
use super::runner::FileResult;

/// Of the records in scope, so many must pass, in percent.
pub const MIN_PERCENT: f64 = 99.0;

/// Everything that decides over a run.
#[derive(Debug)]
pub struct Report {
    passed: u64,
    left_out: u64,
    other_engines: u64,
    known: u64,
    unexpected: Vec<Failed>,
    mended: Vec<String>,
}

impl Report {
    /// Holds the results against the list of known failures.
    pub fn new(results: &[FileResult], known: &Known) -> Report {
        let failed: Vec<Failed> = results
            .iter()
            .flat_map(|file| file.failed.clone())
            .collect();
        let files: Vec<String> = results.iter().map(|file| file.name.clone()).collect();
        let mended = known
            .mended(&failed, &files)
            .into_iter()
            .map(str::to_string)
            .collect();
        let (expected, unexpected): (Vec<Failed>, Vec<Failed>) = failed
            .into_iter()
            .partition(|failed| known.contains(failed));
        Report {
            passed: results.iter().map(|file| file.passed).sum(),
            left_out: results.iter().map(|file| file.left_out).sum(),
            other_engines: results.iter().map(|file| file.other_engines).sum(),
            known: expected.len() as u64,
            unexpected,
            mended,
        }
    }

    /// Passed records in percent of all that were run.
    pub fn percent(&self) -> f64 {
        let run = self.passed + self.known + self.unexpected.len() as u64;
        100.0 * self.passed as f64 / (run.max(1)) as f64
    }

    /// Whether the run is good: no surprise either way, and enough passed.
    pub fn good(&self) -> bool {
        self.unexpected.is_empty() && self.mended.is_empty() && self.percent() >= MIN_PERCENT
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 40;
        for Failed {
            file,
            line,
            reason,
            sql,
        } in self.unexpected.iter().take(SHOWN)
        {
            let sql = super::known::shorten(sql, 160);
            writeln!(
                f,
                "FAILED {file}:{line}: {}\n    {sql}",
                super::known::shorten(reason, 160)
            )?;
        }
        if self.unexpected.len() > SHOWN {
            writeln!(f, "… and {} more", self.unexpected.len() - SHOWN)?;
        }
        for line in &self.mended {
            writeln!(f, "PASSES NOW, remove it from the list: {line}")?;
        }
        let run = self.passed + self.known + self.unexpected.len() as u64;
        writeln!(f, "records run                     {run:>8}")?;
        writeln!(
            f,
            "  passed                        {:>8}  {:.3} %",
            self.passed,
            self.percent()
        )?;
        writeln!(f, "  failed, listed with reason    {:>8}", self.known)?;
        writeln!(
            f,
            "  failed, unexpected            {:>8}",
            self.unexpected.len()
        )?;
        writeln!(f, "left out, need UPDATE or INDEX  {:>8}", self.left_out)?;
        writeln!(
            f,
            "left out, for other engines     {:>8}",
            self.other_engines
        )?;
        if self.percent() < MIN_PERCENT {
            writeln!(f, "fewer than {MIN_PERCENT} % passed")?;
        }
        let failed = self.unexpected.len() + self.mended.len();
        write!(
            f,
            "{} passed, {failed} failed, {} skipped",
            self.passed,
            self.known + self.left_out
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slt::known;

    fn failed(line: u32) -> Failed {
        Failed {
            file: "a.test".into(),
            line,
            reason: "r".into(),
            sql: "s".into(),
        }
    }

    fn results(passed: u64, lines: &[u32]) -> Vec<FileResult> {
        vec![FileResult {
            name: "a.test".into(),
            passed,
            failed: lines.iter().copied().map(failed).collect(),
            left_out: 3,
            ..FileResult::default()
        }]
    }

    #[test]
    fn surprises_either_way_fail_the_run() {
        let known = Known::parse(&known::write(&[failed(1)], &Known::default())).unwrap();
        assert!(Report::new(&results(999, &[1]), &known).good());
        assert!(!Report::new(&results(999, &[1, 2]), &known).good());
        assert!(!Report::new(&results(1000, &[]), &known).good());
        let report = Report::new(&results(998, &[2]), &known).to_string();
        assert!(report.contains("PASSES NOW"), "{report}");
        assert!(
            report.ends_with("998 passed, 2 failed, 3 skipped"),
            "{report}"
        );
    }

    #[test]
    fn too_few_passed_fail_the_run_even_if_listed() {
        let known =
            Known::parse(&known::write(&[failed(1), failed(2)], &Known::default())).unwrap();
        assert!(!Report::new(&results(100, &[1, 2]), &known).good());
    }
}
