//! The factors of tables I to III, one varied at a time.

use super::run::{Look, Program, Report, runs};
use super::workload::{Entropy, Workload};
use crate::error::Result;
use crate::outcome::{Claim, Table};
use crate::setting::{Scale, Setting};
use std::sync::{Arc, Mutex, PoisonError};

/// What a variant changes, by the names of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// The document's defaults: hot, half of the requests read, low entropy, two columns.
    Default,
    Cold,
    OnlyReads,
    OnlyWrites,
    HighEntropy,
    OneColumn,
}

impl Variant {
    pub const ALL: [Variant; 6] = [
        Variant::Default,
        Variant::Cold,
        Variant::OnlyReads,
        Variant::OnlyWrites,
        Variant::HighEntropy,
        Variant::OneColumn,
    ];

    /// The workload of the variant.
    pub fn of(self, default: &Workload) -> Workload {
        let mut workload = default.clone();
        match self {
            Variant::Default => {}
            Variant::Cold => workload.warm_up = 0,
            Variant::OnlyReads => workload.reads = 1.0,
            Variant::OnlyWrites => workload.reads = 0.0,
            Variant::HighEntropy => workload.entropy = Entropy::Unlimited,
            Variant::OneColumn => workload.columns = 1,
        }
        workload
    }
}

/// Rows of the tables: factor, its value, and the variant that has it.
const ROWS: [(&str, &str, Variant); 10] = [
    ("allocator", "of this program", Variant::Default),
    ("state", "hot", Variant::Default),
    ("state", "cold", Variant::Cold),
    ("reads and writes", "only reads", Variant::OnlyReads),
    ("reads and writes", "50 % writes", Variant::Default),
    ("reads and writes", "only writes", Variant::OnlyWrites),
    ("entropy", "low", Variant::Default),
    ("entropy", "high", Variant::HighEntropy),
    ("several columns", "yes", Variant::Default),
    ("several columns", "no", Variant::OneColumn),
];

/// Least, most, mean and standard deviation of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spread {
    pub least: f64,
    pub most: f64,
    /// The mean without the least and the largest tenth.
    pub trimmed: f64,
    pub mean: f64,
    pub deviation: f64,
    /// The deviation of what the trimmed mean is of.
    pub trimmed_deviation: f64,
}

impl Spread {
    pub fn of(numbers: &[f64]) -> Spread {
        let point = crate::outcome::Point::of(0.0, numbers);
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let tenth = sorted.len() / 10;
        let trimmed = crate::outcome::Point::of(0.0, &sorted[tenth..sorted.len() - tenth]);
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Spread {
            least,
            most,
            trimmed: trimmed.mean,
            mean: point.mean,
            deviation: point.deviation,
            trimmed_deviation: trimmed.deviation,
        }
    }
}

/// What each variant gave, of one program, in the order of [`Variant::ALL`].
#[derive(Debug)]
pub(super) struct Study {
    found: Vec<Summary>,
    program: Program,
}

/// What the runs of a variant gave.
#[derive(Clone, Copy, Debug)]
struct Summary {
    /// Milliseconds of requests,
    response: Spread,
    /// of those that read, and of those that write.
    response_of: [Spread; 2],
    /// Megabytes of memory.
    memory: Spread,
    /// Requests a second.
    throughput: Spread,
}

/// The document's program, and Freestone.
#[derive(Debug)]
pub(super) struct Studies {
    pub codb: Study,
    pub freestone: Study,
}

/// The document's protocol, or a fifth of it with more runs.
pub(super) fn protocol(setting: &Setting) -> Workload {
    Workload {
        requests: setting.by_scale(10_000, 50_000),
        warm_up: setting.by_scale(500, 1_000),
        runs: setting.by_extreme(8, 4),
        records: setting.by_scale(20_000, 50_000),
        seed: setting.seed,
        ..Workload::default()
    }
}

/// Studies that were made, by seed and scale.
type Made = Vec<((u64, Scale), Arc<Studies>)>;

static MADE: Mutex<Made> = Mutex::new(Vec::new());

impl Studies {
    /// The three tables are of the same runs, as the document's are: whichever is asked for
    /// first makes them.
    pub fn of(setting: &Setting) -> Result<Arc<Studies>> {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = (setting.seed, setting.scale);
        if let Some((_, studies)) = made.iter().find(|(of, _)| *of == wanted) {
            return Ok(studies.clone());
        }
        let studies = Arc::new(Studies::new(setting)?);
        made.push((wanted, studies.clone()));
        Ok(studies)
    }

    /// Runs all variants of both programs, one run of each in turn, so that what disturbs
    /// one run does not disturb one variant alone.
    fn new(setting: &Setting) -> Result<Studies> {
        let default = protocol(setting);
        let mut reports = [(); 2].map(|()| vec![Report::default(); Variant::ALL.len()]);
        let programs = [Program::Codb, Program::Freestone];
        for run in 0..default.runs {
            for (number, variant) in Variant::ALL.into_iter().enumerate() {
                let workload = Workload {
                    runs: 1,
                    seed: setting.seed + run as u64,
                    ..variant.of(&default)
                };
                for (program, reports) in programs.into_iter().zip(&mut reports) {
                    let found = runs(program, &workload, &setting.scratch, &mut std::io::sink())?;
                    reports[number].requests.extend(found.requests);
                    reports[number].looks.extend(found.looks);
                }
            }
        }
        let study = |program, reports: &[Report]| Study {
            found: reports.iter().map(Summary::of).collect(),
            program,
        };
        Ok(Studies {
            codb: study(Program::Codb, &reports[0]),
            freestone: study(Program::Freestone, &reports[1]),
        })
    }

    /// A claim that is decided by the document's program.
    pub fn claim(&self, says: &str, of: impl Fn(&Study) -> (bool, String)) -> Claim {
        Claim::replicated(says, of(&self.codb), of(&self.freestone))
    }

    /// The table of each program.
    pub fn tables(
        &self,
        title: &str,
        unit: &str,
        digits: usize,
        spread: fn(&Study, Variant) -> Spread,
    ) -> Vec<Table> {
        let programs = [
            ("as in the document", &self.codb),
            ("Freestone", &self.freestone),
        ];
        let of = |(program, study): (&str, &Study)| {
            table(&format!("{title}, {program}"), unit, digits, |variant| {
                spread(study, variant)
            })
        };
        programs.map(of).to_vec()
    }
}

impl Summary {
    fn of(report: &Report) -> Summary {
        let times = |wanted: &dyn Fn(bool) -> bool| {
            let requests = report.requests.iter();
            let requests = requests.filter(|request| wanted(request.read));
            let times: Vec<f64> = requests.map(|request| request.milliseconds).collect();
            Spread::of(&times)
        };
        let looks = |value: fn(&Look) -> f64| {
            let values: Vec<f64> = report.looks.iter().map(value).collect();
            Spread::of(&values)
        };
        Summary {
            response: times(&|_| true),
            response_of: [times(&|read| read), times(&|read| !read)],
            memory: looks(|look| look.megabytes),
            throughput: looks(|look| look.throughput),
        }
    }
}

impl Study {
    /// What is to be said of one program, or of the other.
    pub fn note<'n>(&self, codb: &'n str, freestone: &'n str) -> &'n str {
        match self.program {
            Program::Codb => codb,
            Program::Freestone => freestone,
        }
    }

    fn summary(&self, variant: Variant) -> &Summary {
        &self.found[variant as usize]
    }

    /// Milliseconds of requests.
    pub fn response(&self, variant: Variant) -> Spread {
        self.summary(variant).response
    }

    /// Milliseconds of reads alone, or of writes.
    pub fn response_of(&self, variant: Variant, read: bool) -> Spread {
        let [reads, writes] = self.summary(variant).response_of;
        if read { reads } else { writes }
    }

    /// Megabytes of memory.
    pub fn memory(&self, variant: Variant) -> Spread {
        self.summary(variant).memory
    }

    /// Requests a second.
    pub fn throughput(&self, variant: Variant) -> Spread {
        self.summary(variant).throughput
    }
}

/// One of the three tables.
fn table(title: &str, unit: &str, digits: usize, spread: impl Fn(Variant) -> Spread) -> Table {
    let default = spread(Variant::Default);
    let row = |(factor, value, variant): &(&str, &str, Variant)| {
        let spread = spread(*variant);
        let Spread {
            least,
            most,
            trimmed,
            mean,
            deviation,
            ..
        } = spread;
        let numbers = [least, most, mean, deviation, trimmed];
        let numbers = numbers.map(|number| format!("{number:.digits$}"));
        let beside = format!("{:.2}", trimmed / default.trimmed);
        let names = [factor.to_string(), value.to_string()].into_iter();
        names.chain(numbers).chain([beside]).collect()
    };
    let names = ["factor", "value"].map(String::from).into_iter();
    let measures = ["least", "most", "mean", "deviation", "trimmed mean"]
        .map(|name| format!("{name} ({unit})"));
    let beside = "trimmed mean beside the default".to_string();
    Table {
        title: title.into(),
        columns: names.chain(measures).chain([beside]).collect(),
        rows: ROWS.iter().map(row).collect(),
    }
}

/// What all three tables say of their measurements.
pub(super) fn setup(setting: &Setting) -> String {
    let workload = protocol(setting);
    format!(
        "{} runs of {} requests by one thread after {} for warming up, entries of 32 bytes; by \
         default hot, half of the requests reading a record by its key and half adding one, \
         entries drawn from 10 (low entropy) or all different (high), two columns. As in the \
         document: for each column a file of values and one of keys by value hash, whose places \
         are known in memory; an entry of the latter is a counter and keys, is loaded by who asks for \
         it, and moves to where the storage map has space for it and another key unless there is \
         space behind it. A family begins empty, since the document clears everything before it measures: reads \
         alone find nothing. Claims are decided by it. Freestone: the `dsm` layout on disk, {} \
         records at first. Neither waits for the disk. Programs and variants take turns, run by \
         run; claims use means and deviations without the least and the largest tenth, since whatever \
         else the machine does makes few requests very long. Memory is what the document's \
         program has in buffers and maps, and Freestone in delta and opened blocks; the document \
         measures the heap of a Java virtual machine, garbage included.",
        workload.runs, workload.requests, workload.warm_up, workload.records
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_and_tables() {
        let spread = Spread::of(&[1.0, 2.0, 6.0]);
        assert_eq!((spread.least, spread.most, spread.mean), (1.0, 6.0, 3.0));
        let skewed = [vec![2.0; 9], vec![100.0]].concat();
        let skewed = Spread::of(&skewed);
        assert_eq!((skewed.trimmed, skewed.trimmed_deviation), (2.0, 0.0));
        let table = table("t", "ms", 1, |variant| match variant {
            Variant::OnlyReads => Spread::of(&[1.5]),
            _ => Spread::of(&[3.0]),
        });
        assert_eq!(table.columns.len(), 8);
        assert_eq!(
            table.rows[3][1..],
            ["only reads", "1.5", "1.5", "1.5", "0.0", "1.5", "0.50"]
        );
    }
}
