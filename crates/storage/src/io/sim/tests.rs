//! Simulations against cases computed by hand: units of 10 bytes that take a second,
//! seeks of two seconds.

use super::*;
use proptest::prelude::*;

const ONE_DISK: Sim = Sim {
    disks: 1,
    bytes_per_second: 10.0,
    seek_seconds: 2.0,
};

/// A scan of files of so many units, which computes so long with each.
fn scan(units: &[u64], unit_seconds: f64, depth: u64) -> SimScan {
    let file = |units: &u64| SimFile {
        bytes: 10 * units,
        compute_seconds: unit_seconds * *units as f64,
    };
    SimScan {
        files: units.iter().map(file).collect(),
        unit_bytes: 10,
        depth,
        asking: SimAsking::Ahead,
    }
}

fn elapsed(scans: &[SimScan]) -> Vec<f64> {
    let report = ONE_DISK.run(scans);
    report.scans.iter().map(|scan| scan.elapsed).collect()
}

#[test]
fn a_file_is_read_in_sequence_after_one_seek() {
    let report = ONE_DISK.run(&[scan(&[3], 0.0, 2)]);
    assert_eq!(report.scans[0].elapsed, 5.0);
    assert_eq!(report.scans[0].waiting, 5.0);
    let disk = SimDiskReport {
        transferring: 3.0,
        seeking: 2.0,
        idle: 0.0,
    };
    assert_eq!(report.disks, [disk]);
}

/// Units arrive at 3, 4 and 5; only what is computed with the last is not hidden.
#[test]
fn reading_and_computing_overlap() {
    assert_eq!(elapsed(&[scan(&[3], 0.5, 2)]), [5.5]);
    let bound = ONE_DISK.run(&[scan(&[3], 3.0, 2)]);
    assert_eq!(bound.scans[0].elapsed, 3.0 + 9.0);
    assert_eq!(bound.scans[0].waiting, 3.0);
    assert_eq!(bound.scans[0].computing, 9.0);
    assert_eq!(bound.disks[0].idle, 12.0 - 5.0);
}

/// A buffer of one unit: each is asked for when the one before is done with.
#[test]
fn nothing_overlaps_without_a_second_buffer() {
    assert_eq!(elapsed(&[scan(&[3], 0.5, 1)]), [2.0 + 3.0 * 1.5]);
}

/// Two files of two units. Depth 2: both units of the first arrive at 3 and 4; at 3 the
/// second file is asked for, whose units arrive at 7 and 8. Depth 1: four seeks.
#[test]
fn depth_saves_seeks_between_files() {
    assert_eq!(elapsed(&[scan(&[2, 2], 0.0, 2)]), [8.0]);
    assert_eq!(elapsed(&[scan(&[2, 2], 0.0, 1)]), [12.0]);
}

/// Of 4 units half are asked for when half are free: seeks at units 0, 4, 6 of each of
/// two files; the last of 8 + 8 units arrives after 6 seeks.
#[test]
fn half_of_a_buffer_is_filled_at_once() {
    let report = ONE_DISK.run(&[scan(&[8, 8], 0.0, 4)]);
    assert_eq!(report.disks[0].seeking, 12.0);
    assert_eq!(report.scans[0].elapsed, 28.0);
}

#[test]
fn disks_deliver_their_parts_at_once() {
    let disks = Sim {
        disks: 3,
        ..ONE_DISK
    };
    // A whole unit on each of three disks, and a last one of 5 bytes in thirds.
    let mut striped = scan(&[3], 0.0, 2);
    striped.files[0].bytes = 35;
    let report = disks.run(&[striped]);
    assert!((report.scans[0].elapsed - (3.0 + 0.5 / 3.0)).abs() < 1e-9);
    assert_eq!(disks.bandwidth(), 30.0);
}

/// Both ask for two units at once: the first scan has its own at 4, the second at 8.
#[test]
fn scans_wait_for_each_other() {
    let one = scan(&[2], 0.0, 2);
    assert_eq!(elapsed(&[one.clone(), one]), [4.0, 8.0]);
}

/// Beside a scan of rows, columns get several turns to each of the other's if they ask
/// ahead, and one if they ask for one file at a time.
#[test]
fn who_asks_ahead_gets_more_of_the_disks() {
    let ahead = scan(&[40; 6], 0.0, 4);
    let slow = SimScan {
        asking: SimAsking::OneFile,
        ..ahead.clone()
    };
    let rows = scan(&[900], 0.0, 4);
    let ahead = elapsed(&[ahead, rows.clone()])[0];
    let slow = elapsed(&[slow, rows])[0];
    assert!(slow > 1.2 * ahead, "{slow} {ahead}");
}

/// A single file is asked for ahead in any case.
#[test]
fn one_file_has_nothing_to_wait_for() {
    let slow = SimScan {
        asking: SimAsking::OneFile,
        ..scan(&[9], 0.5, 4)
    };
    assert_eq!(elapsed(&[slow]), [2.0 + 9.0 + 0.5]);
}

/// The other scan's first unit arrives at 3, and its second is asked for at 6.5. The
/// columns' first file arrives at 6 and 7; their second is wanted at 6: asked for then it
/// arrives at 10 and 11, asked for at 7, when the first is there, after the other's.
#[test]
fn others_go_first_while_a_file_is_waited_for() {
    let other = scan(&[2], 3.5, 1);
    let ahead = scan(&[2, 2], 0.0, 2);
    let slow = SimScan {
        asking: SimAsking::OneFile,
        ..ahead.clone()
    };
    assert_eq!(elapsed(&[other.clone(), ahead]), [14.0 + 3.5, 11.0]);
    assert_eq!(elapsed(&[other, slow]), [10.0 + 3.5, 14.0]);
}

#[test]
fn nothing_takes_no_time() {
    assert_eq!(
        elapsed(&[scan(&[], 1.0, 4), scan(&[0], 1.0, 4)]),
        [0.0, 0.0]
    );
}

proptest! {
    /// Whatever the scans, each unit is delivered once, and no time is lost or gained.
    #[test]
    fn time_adds_up(
        scans in prop::collection::vec(
            (prop::collection::vec(1..300u64, 1..5), 0.0..3.0f64, 1..9u64, any::<bool>()), 1..4),
        disks in 1..4usize,
    ) {
        let scans: Vec<SimScan> = scans.iter().map(|(bytes, seconds, depth, one)| SimScan {
            files: bytes.iter().map(|bytes| SimFile { bytes: *bytes, compute_seconds: *seconds }).collect(),
            unit_bytes: 10,
            depth: *depth,
            asking: if *one { SimAsking::OneFile } else { SimAsking::Ahead },
        }).collect();
        let sim = Sim { disks, ..ONE_DISK };
        let report = sim.run(&scans);
        let bytes: u64 = scans.iter().flat_map(|scan| &scan.files).map(|file| file.bytes).sum();
        let end = report.scans.iter().map(|scan| scan.elapsed).fold(0.0, f64::max);
        for disk in &report.disks {
            prop_assert!((disk.transferring - bytes as f64 / sim.bandwidth()).abs() < 1e-6);
            prop_assert!(disk.transferring + disk.seeking <= end + 1e-6);
        }
        for (scan, report) in scans.iter().zip(&report.scans) {
            let compute: f64 = scan.files.iter().map(|file| file.compute_seconds).sum();
            prop_assert!((report.computing - compute).abs() < 1e-6);
            prop_assert!((report.elapsed - report.computing - report.waiting).abs() < 1e-6);
        }
    }
}
