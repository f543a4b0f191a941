//! Measuring system time, and the time of the program beside it.

use super::files;
use crate::error::Result;
use crate::h::replica::{self, Codec, Page};
use crate::h::setup::repetitions;
use crate::h::stored::Source;
use crate::h::sweep::{Curve, replicas, sweep};
use crate::h::tables::TableName;
use crate::measure::{in_turns, median, timed};
use crate::setting::Setting;
use std::fs::File;

/// What scans of one layout cost the CPU.
pub(super) struct Side {
    /// What the system takes for its requests.
    pub system: Curve,
    /// What computing with what was read takes.
    pub user: Curve,
}

/// A table as rows and as columns.
pub(super) struct Measured {
    /// What it is called.
    pub name: &'static str,
    /// Rows.
    pub rows: Side,
    /// Columns.
    pub columns: Side,
}

impl Side {
    /// How many attributes there are.
    pub fn attributes(&self) -> usize {
        self.system.attributes()
    }

    /// Seconds a tuple in the system.
    pub fn system(&self, attributes: usize) -> f64 {
        median(&self.system.seconds[attributes - 1])
    }

    /// Of all seconds a tuple, those in the system.
    pub fn share(&self, attributes: usize) -> f64 {
        self.system(attributes) / self.both(attributes)
    }

    /// Seconds a tuple, of system and program.
    pub fn both(&self, attributes: usize) -> f64 {
        self.system(attributes) + self.user.compute(attributes)
    }

    /// The mean of something over all numbers of attributes.
    pub fn mean(&self, of: impl Fn(&Side, usize) -> f64) -> f64 {
        let all = 1..=self.attributes();
        all.map(|attributes| of(self, attributes)).sum::<f64>() / self.attributes() as f64
    }
}

/// Reads files for each number of attributes; scans the same pages in memory.
///
/// # Errors
/// Those of the replica and of the disk.
pub(super) fn measure(
    setting: &Setting,
    tuples: u64,
    (table, name): (TableName, &'static str),
    codecs: &[Codec],
) -> Result<Measured> {
    let directory = tempfile::tempdir_in(&setting.scratch)?;
    let (row_file, column_files) = replica::make(table, tuples, setting.seed, codecs)?;
    let write = |pages: Vec<&[Page]>, name: &str| {
        let written = (0..).zip(pages).map(|(number, pages): (usize, _)| {
            let path = directory.path().join(format!("{name}{number}"));
            files::written(&path, pages)
        });
        written.collect::<Result<Vec<File>>>()
    };
    let (of_rows, of_columns) = (
        write(row_file.files(), "rows")?,
        write(column_files.files(), "column")?,
    );
    let attributes = row_file.attributes();
    let needed = (1..=attributes).flat_map(|k| [&of_rows[..], &of_columns[..k]]);
    let needed: Vec<&[File]> = needed.collect();
    let mut memory = files::buffer();
    let mut samples = in_turns(setting.many_repetitions(), &needed, |needed| {
        let (_, seconds) = timed(|| files::read(needed, files::aligned(&mut memory)))?;
        Ok(seconds / tuples as f64)
    })?;
    steady(&mut samples);
    let side = |user: Curve, first: usize| Side {
        system: user.taking(samples.iter().skip(first).step_by(2).cloned().collect()),
        user,
    };
    let subjects = replicas(&row_file, &column_files);
    let mut curves = sweep(&subjects, table.threshold(0.1), repetitions(setting))?;
    let columns = side(curves.remove(1), 1);
    Ok(Measured {
        name,
        rows: side(curves.remove(0), 0),
        columns,
    })
}

/// Scales the samples of each turn, so that those of rows, which are every other one and read
/// the same file, have the same mean in each.
fn steady(samples: &mut [Vec<f64>]) {
    let turns = samples.first().map_or(0, Vec::len);
    let mean = |turn: usize| {
        let rows = samples.iter().step_by(2).map(|samples| samples[turn]);
        rows.sum::<f64>() / samples.len().div_ceil(2) as f64
    };
    let means: Vec<f64> = (0..turns).map(mean).collect();
    let usual = median(&means);
    for samples in samples {
        for (sample, mean) in samples.iter_mut().zip(&means) {
            *sample *= usual / mean;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn in which all takes three times as long tells what the others do.
    #[test]
    fn slow_turns_are_scaled() {
        let mut samples = vec![
            vec![2.0, 6.0, 2.0],
            vec![1.0, 3.0, 1.5],
            vec![2.0, 6.0, 2.0],
        ];
        steady(&mut samples);
        assert_eq!(samples[1], [1.0, 1.0, 1.5]);
        assert_eq!(samples[0], [2.0; 3]);
    }
}
