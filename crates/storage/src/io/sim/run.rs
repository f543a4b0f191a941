//! The events of a simulation. Disks serve in the order of requests, so that a request's
//! arrival is known when it is made; what remains is to make requests in order of time.

use super::{Sim, SimAsking, SimDiskReport, SimReport, SimScan, SimScanReport};
use std::collections::VecDeque;

pub(super) fn run(sim: &Sim, scans: &[SimScan]) -> SimReport {
    let mut disks = vec![Disk::default(); sim.disks.max(1)];
    let mut first = 0;
    let mut running: Vec<Running<'_>> = Vec::with_capacity(scans.len());
    for scan in scans {
        running.push(Running::new(scan, first, disks.len()));
        first += scan.files.len();
    }
    while let Some(next) = running
        .iter_mut()
        .filter(|scan| !scan.is_done())
        .min_by(|a, b| a.event().total_cmp(&b.event()))
    {
        next.step(sim, &mut disks);
    }
    let end = running.iter().map(|scan| scan.report.elapsed);
    let end = end.fold(0.0, f64::max);
    SimReport {
        scans: running.iter().map(|scan| scan.report).collect(),
        disks: disks.iter().map(|disk| disk.report(end)).collect(),
    }
}

#[derive(Clone, Debug, Default)]
struct Disk {
    free_at: f64,
    /// The file and its unit that it would deliver without a seek.
    head: Option<(usize, u64)>,
    transferring: f64,
    seeking: f64,
}

impl Disk {
    /// When a part of a unit that is asked for now has been delivered.
    fn serve(&mut self, sim: &Sim, now: f64, file: usize, unit: u64, bytes: f64) -> f64 {
        let seek = match self.head == Some((file, unit)) {
            true => 0.0,
            false => sim.seek_seconds,
        };
        let transfer = bytes / sim.bytes_per_second;
        self.head = Some((file, unit + 1));
        self.free_at = self.free_at.max(now) + seek + transfer;
        self.seeking += seek;
        self.transferring += transfer;
        self.free_at
    }

    fn report(&self, end: f64) -> SimDiskReport {
        SimDiskReport {
            transferring: self.transferring,
            seeking: self.seeking,
            idle: (end - self.transferring - self.seeking).max(0.0),
        }
    }
}

/// How far a file has been read.
#[derive(Debug)]
struct Progress {
    /// Its number among the files of all scans.
    id: usize,
    units: u64,
    /// Units that were asked for.
    asked: u64,
    /// Units that the scan is done with.
    free: u64,
    /// When those arrive that were asked for and not taken yet.
    arrivals: VecDeque<f64>,
}

#[derive(Debug)]
struct Running<'a> {
    scan: &'a SimScan,
    files: Vec<Progress>,
    /// File and unit, in the order in which they are taken.
    units: Vec<(usize, u64)>,
    next: usize,
    /// When it is done with what it has taken.
    ready: f64,
    /// Whether the next unit has not been asked for yet.
    blocked: bool,
    /// Files that wait until everything asked for has arrived,
    postponed: VecDeque<usize>,
    /// which is then,
    served: f64,
    /// and the file that was asked for last.
    asker: usize,
    /// Bytes of a whole unit on all disks.
    unit_bytes: u64,
    report: SimScanReport,
}

impl<'a> Running<'a> {
    fn new(scan: &'a SimScan, first: usize, disks: usize) -> Running<'a> {
        let unit_bytes = scan.unit_bytes.max(1) * disks as u64;
        let files = scan
            .files
            .iter()
            .enumerate()
            .map(|(number, file)| Progress {
                id: first + number,
                units: file.bytes.div_ceil(unit_bytes),
                asked: 0,
                free: 0,
                arrivals: VecDeque::new(),
            });
        let files: Vec<Progress> = files.collect();
        let mut units: Vec<(f64, usize, u64)> = Vec::new();
        for (number, (file, progress)) in scan.files.iter().zip(&files).enumerate() {
            let part = unit_bytes as f64 / file.bytes as f64;
            units.extend((0..progress.units).map(|unit| (unit as f64 * part, number, unit)));
        }
        units.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        Running {
            scan,
            files,
            units: units.iter().map(|unit| (unit.1, unit.2)).collect(),
            next: 0,
            ready: 0.0,
            blocked: false,
            postponed: VecDeque::new(),
            served: 0.0,
            asker: 0,
            unit_bytes,
            report: SimScanReport::default(),
        }
    }

    fn is_done(&self) -> bool {
        self.next == self.units.len()
    }

    fn asks_late(&self) -> bool {
        !self.postponed.is_empty() && (self.blocked || self.served <= self.ready)
    }

    /// When it asks for something again, or takes a unit.
    fn event(&self) -> f64 {
        match self.asks_late() {
            true => self.served,
            false => self.ready,
        }
    }

    fn step(&mut self, sim: &Sim, disks: &mut [Disk]) {
        let (late, now) = (self.asks_late(), self.event());
        let (file, unit) = self.units[self.next];
        match late {
            true => {
                if let Some(postponed) = self.postponed.pop_front() {
                    self.ask(sim, disks, now, postponed);
                }
                if self.blocked {
                    self.receive(file, unit);
                }
            }
            false => {
                self.files[file].free = unit;
                self.refill(sim, disks, file);
                self.receive(file, unit);
            }
        }
    }

    /// Asks for more of a file if half of its buffer is free.
    fn refill(&mut self, sim: &Sim, disks: &mut [Disk], file: usize) {
        let progress = &self.files[file];
        let depth = self.scan.depth.max(1);
        let room = depth - (progress.asked - progress.free);
        if progress.asked == progress.units || room < depth.div_ceil(2) {
            return;
        }
        let alone = self.served <= self.ready || self.asker == file;
        let alone = alone && self.postponed.is_empty();
        if self.scan.asking == SimAsking::Ahead || alone {
            self.ask(sim, disks, self.ready, file);
        } else if !self.postponed.contains(&file) {
            self.postponed.push_back(file);
        }
    }

    /// Asks for as many units as the buffer has room for.
    fn ask(&mut self, sim: &Sim, disks: &mut [Disk], now: f64, file: usize) {
        self.asker = file;
        let depth = self.scan.depth.max(1);
        let until = self.files[file].units.min(self.files[file].free + depth);
        for unit in self.files[file].asked..until {
            let bytes = self.bytes_of(file, unit) / disks.len() as f64;
            let id = self.files[file].id;
            let parts = disks.iter_mut();
            let parts = parts.map(|disk| disk.serve(sim, now, id, unit, bytes));
            let arrival = parts.fold(0.0, f64::max);
            self.files[file].arrivals.push_back(arrival);
            self.served = self.served.max(arrival);
        }
        self.files[file].asked = until;
    }

    /// Waits for a unit and computes with it, if it was asked for.
    fn receive(&mut self, file: usize, unit: u64) {
        let arrival = self.files[file].arrivals.pop_front();
        self.blocked = arrival.is_none();
        let Some(arrival) = arrival else {
            return;
        };
        let of_file = &self.scan.files[file];
        let compute = of_file.compute_seconds * self.bytes_of(file, unit) / of_file.bytes as f64;
        let wait = (arrival - self.ready).max(0.0);
        self.report.waiting += wait;
        self.report.computing += compute;
        self.ready += wait + compute;
        self.report.elapsed = self.ready;
        self.next += 1;
    }

    fn bytes_of(&self, file: usize, unit: u64) -> f64 {
        let before = unit * self.unit_bytes;
        (self.scan.files[file].bytes - before).min(self.unit_bytes) as f64
    }
}
