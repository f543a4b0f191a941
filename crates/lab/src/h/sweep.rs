//! The measurement of figures 6 to 9: more and more attributes out of rows and columns.

use super::disks::{Conditions, Reading};
use super::replica;
use super::stored::{Query, Scanner, Source, Stored};
use super::tables::TUPLES;
use crate::error::Result;
use crate::outcome::{Axis, Plot, Point, Series};
use freestone_storage::io::Sim;

/// What a scanner took for the first 1, 2, … attributes.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// Bytes of a tuple in the file of each attribute; one file for rows.
    pub file_bytes: Vec<f64>,
    /// Seconds of computation for a tuple: for each number of attributes, of each
    /// repetition.
    pub seconds: Vec<Vec<f64>>,
    rows: bool,
}

/// A scanner over a table in memory.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What the legend calls it.
    pub name: &'a str,
    /// The table.
    pub table: &'a dyn Source,
    /// The scanner.
    pub scanner: Scanner,
}

/// All three scanners over a table as rows and as columns.
pub fn subjects<'a>(rows: &'a Stored, columns: &'a Stored) -> Vec<Subject<'a>> {
    let table = |scanner| -> &'a dyn Source {
        match scanner {
            Scanner::Rows => rows,
            Scanner::Pipelined | Scanner::Single => columns,
        }
    };
    let subject = |scanner: Scanner| Subject {
        name: scanner.name(),
        table: table(scanner),
        scanner,
    };
    Scanner::ALL.into_iter().map(subject).collect()
}

/// Both scanners of the document's program.
pub fn replicas<'a>(rows: &'a replica::Rows, columns: &'a replica::Columns) -> [Subject<'a>; 2] {
    [
        Subject {
            name: "rows, as in the document",
            table: rows,
            scanner: Scanner::Rows,
        },
        Subject {
            name: "columns, as in the document",
            table: columns,
            scanner: Scanner::Pipelined,
        },
    ]
}

/// Measures all subjects, in turns, so that what disturbs one disturbs all.
///
/// # Errors
/// Those of scans.
pub fn sweep(subjects: &[Subject<'_>], threshold: i32, repetitions: usize) -> Result<Vec<Curve>> {
    let mut curves = Vec::with_capacity(subjects.len());
    for subject in subjects {
        curves.push(Curve::new(subject)?);
    }
    // The first turn opens blocks and warms caches up.
    for turn in 0..=repetitions {
        for attributes in 1..=subjects.first().map_or(0, |one| one.table.attributes()) {
            let query = Query {
                attributes,
                threshold,
            };
            for (subject, curve) in subjects.iter().zip(&mut curves) {
                let seconds = subject.table.seconds_per_tuple(query, subject.scanner)?;
                if turn > 0 {
                    curve.seconds[attributes - 1].push(seconds);
                }
            }
        }
    }
    Ok(curves)
}

impl Curve {
    fn new(subject: &Subject<'_>) -> Result<Curve> {
        let attributes = subject.table.attributes();
        let mut until = vec![0.0];
        for attribute in 1..=attributes {
            until.push(subject.table.bytes_per_tuple(attribute)?);
        }
        let rows = subject.scanner == Scanner::Rows;
        Ok(Curve {
            name: subject.name.to_owned(),
            file_bytes: match rows {
                true => until.last().copied().into_iter().collect(),
                false => until.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            },
            seconds: vec![Vec::new(); attributes],
            rows,
        })
    }

    /// The same with other seconds.
    pub fn taking(&self, seconds: Vec<Vec<f64>>) -> Curve {
        Curve {
            seconds,
            ..self.clone()
        }
    }

    /// How many attributes there are.
    pub fn attributes(&self) -> usize {
        self.seconds.len()
    }

    /// What is read for so many attributes, computing so long for each tuple.
    pub fn reading(&self, attributes: usize, compute: f64) -> Reading {
        let files = match self.rows {
            true => self.file_bytes.len(),
            false => attributes,
        };
        Reading {
            file_bytes: self.file_bytes[..files].to_vec(),
            compute,
        }
    }

    /// Seconds of computation for a tuple: of the quickest repetition, since whatever else
    /// the machine does can only add to it.
    pub fn compute(&self, attributes: usize) -> f64 {
        quickest(&self.seconds[attributes - 1])
    }

    /// The mean of [`Curve::compute`] over all numbers of attributes.
    pub fn mean_compute(&self) -> f64 {
        let all = (1..=self.attributes()).map(|attributes| self.compute(attributes));
        all.sum::<f64>() / self.attributes() as f64
    }

    /// Seconds of virtual time for so many attributes of 60 million tuples.
    pub fn elapsed(&self, disks: &Sim, attributes: usize, conditions: Conditions) -> f64 {
        let reading = self.reading(attributes, self.compute(attributes));
        reading.on(disks, conditions).elapsed
    }

    /// Elapsed time at each of `places`, one for each number of attributes.
    pub fn elapsed_series(&self, disks: &Sim, places: &[f64], conditions: Conditions) -> Series {
        let point = |(number, x): (usize, &f64)| {
            let reading = |compute: &f64| self.reading(number + 1, *compute);
            let runs = self.seconds[number].iter().map(reading);
            let runs: Vec<f64> = runs
                .map(|reading| reading.on(disks, conditions).elapsed)
                .collect();
            Point::of(*x, &runs)
        };
        Series {
            name: self.name.clone(),
            points: places.iter().enumerate().map(point).collect(),
        }
    }

    /// Computing time for 60 million tuples at each of `places`.
    pub fn compute_series(&self, places: &[f64]) -> Series {
        let point = |(number, x): (usize, &f64)| {
            let seconds = self.seconds[number].iter();
            let seconds: Vec<f64> = seconds.map(|seconds| seconds * TUPLES).collect();
            Point::of(*x, &seconds)
        };
        Series {
            name: format!("{}: CPU", self.name),
            points: places.iter().enumerate().map(point).collect(),
        }
    }

    /// Bytes of a tuple that the first 1, 2, … attributes take.
    pub fn places(&self) -> Vec<f64> {
        let sum = |sum: &mut f64, bytes: &f64| {
            *sum += bytes;
            Some(*sum)
        };
        self.file_bytes.iter().scan(0.0, sum).collect()
    }
}

#[cfg(test)]
impl Curve {
    /// One of rows that took so many seconds, one for each number of attributes.
    pub fn of(seconds: &[f64]) -> Curve {
        Curve {
            name: String::new(),
            file_bytes: Vec::new(),
            seconds: seconds.iter().map(|seconds| vec![*seconds]).collect(),
            rows: true,
        }
    }
}

/// Elapsed and computing time over the bytes of selected attributes, as the left of
/// figures 6, 8 and 9.
pub fn plot(title: &str, x: &str, places: &[f64], curves: &[Curve], disks: &Sim) -> Plot {
    let usual = Conditions::default();
    let elapsed = curves
        .iter()
        .map(|curve| curve.elapsed_series(disks, places, usual));
    let compute = curves.iter().map(|curve| curve.compute_series(places));
    Plot {
        title: title.to_owned(),
        x: Axis {
            label: x.to_owned(),
            ..Axis::default()
        },
        y: Axis {
            label: "seconds of virtual time for 60 million tuples".to_owned(),
            ..Axis::default()
        },
        series: elapsed.chain(compute).collect(),
    }
}

/// Computing time over the number of attributes, as the right of figures 6 to 9.
pub fn compute_plot(title: &str, curves: &[Curve]) -> Plot {
    let nanoseconds = |seconds: &f64| seconds * 1e9;
    let series = |curve: &Curve| Series {
        name: curve.name.clone(),
        points: curve
            .seconds
            .iter()
            .enumerate()
            .map(|(number, runs)| {
                let runs: Vec<f64> = runs.iter().map(nanoseconds).collect();
                Point::of(number as f64 + 1.0, &runs)
            })
            .collect(),
    };
    Plot {
        title: title.to_owned(),
        x: Axis {
            label: "selected attributes".to_owned(),
            ..Axis::default()
        },
        y: Axis {
            label: "nanoseconds of CPU per tuple of the table".to_owned(),
            ..Axis::default()
        },
        series: curves.iter().map(series).collect(),
    }
}

/// The least of some times; 0 of none.
pub fn quickest(seconds: &[f64]) -> f64 {
    seconds.iter().copied().reduce(f64::min).unwrap_or(0.0)
}

/// Where `columns` begin to take longer than `rows`, as a share of the last of `places`,
/// the bytes of as many attributes: between two points on a straight line; none if they
/// never do.
pub fn crossover(
    rows: &Curve,
    columns: &Curve,
    disks: &Sim,
    conditions: Conditions,
    places: &[f64],
) -> Option<f64> {
    let all = places.last().copied()?;
    let behind = |attributes: usize| {
        columns.elapsed(disks, attributes, conditions) - rows.elapsed(disks, attributes, conditions)
    };
    let behind: Vec<f64> = (1..=columns.attributes()).map(behind).collect();
    let first = behind.iter().position(|seconds| *seconds > 0.0)?;
    let Some(before) = first.checked_sub(1) else {
        return Some(places[0] / all);
    };
    let share = -behind[before] / (behind[first] - behind[before]);
    Some((places[before] + share * (places[first] - places[before])) / all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h::disks::{PAPER_CPDB, disks};

    fn curve(file_bytes: &[f64], attributes: usize, seconds: f64, rows: bool) -> Curve {
        Curve {
            name: String::new(),
            file_bytes: file_bytes.to_vec(),
            seconds: vec![vec![seconds]; attributes],
            rows,
        }
    }

    /// Without seeks and computation, columns that take a quarter more than rows cross
    /// them at four fifths of their bytes.
    #[test]
    fn lines_cross_where_they_are_equal() {
        let free = Sim {
            seek_seconds: 0.0,
            ..disks(3.2e9, PAPER_CPDB)
        };
        let rows = curve(&[100.0], 10, 0.0, true);
        let columns = curve(&[12.5; 10], 10, 0.0, false);
        let found = crossover(
            &rows,
            &columns,
            &free,
            Conditions::default(),
            &columns.places(),
        )
        .unwrap();
        assert!((found - 0.8).abs() < 0.01, "{found}");
        let narrow = curve(&[9.0; 10], 10, 0.0, false);
        assert_eq!(
            crossover(
                &rows,
                &narrow,
                &free,
                Conditions::default(),
                &narrow.places()
            ),
            None
        );
    }
}
