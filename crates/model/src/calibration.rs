//! The machine file: what was measured of a machine, for its user and for others.

use crate::costs::Costs;
use crate::error::{Error, Result};
use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// A machine, and what Freestone's scans cost on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Clock, memory and disks.
    pub machine: Machine,
    /// Cycles of scans.
    pub costs: Costs,
}

impl Calibration {
    /// Reads a machine file.
    ///
    /// # Errors
    /// If it is none, or a number in it cannot be.
    pub fn read(text: &str) -> Result<Calibration> {
        let found: Calibration = serde_json::from_str(text).map_err(|error| Error {
            message: format!("this is no machine file: {error}"),
            hint: "`freestone calibrate` writes one",
        })?;
        found.machine.check()?;
        Ok(found)
    }

    /// Constants of the machine that Freestone was made on, for databases whose machine
    /// was not measured.
    ///
    /// # Errors
    /// None; as [`Calibration::read`].
    pub fn reference() -> Result<Calibration> {
        Calibration::read(include_str!("reference.json"))
    }

    /// The machine file.
    ///
    /// # Errors
    /// If a number cannot be written, as infinity.
    pub fn written(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|error| Error {
            message: format!(
                "machine \"{}\" cannot be written: {error}",
                self.machine.name
            ),
            hint: "measure it again",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correction::Correction;
    use crate::costs::{ColdCosts, ColumnCosts, LayoutCosts, Selection, Used};
    use crate::curve::Curve;

    fn used(kind: &str, bytes: f64) -> Used {
        Used {
            kind: kind.to_owned(),
            bytes,
            stored: 2.0,
        }
    }

    fn calibration() -> Calibration {
        let column = |kind: &str, bytes, test, read| ColumnCosts {
            kind: kind.to_owned(),
            bytes,
            test: Curve::flat(test),
            read: Curve::through([(0.01, read / 10.0), (1.0, read)]),
            cold: 1e-9,
        };
        let layout = LayoutCosts {
            layout: "column".to_owned(),
            block: 1000.0,
            rows: Curve::flat(1.0),
            lines: Curve::default(),
            crowd: Curve::default(),
            scan: 0.0,
            part: 0.0,
            hot_correction: Correction::default(),
            cold_correction: Correction::default(),
            cold: ColdCosts {
                block: 1e-4,
                part: 1e-5,
                byte: 1e-10,
            },
            columns: vec![
                column("i64 bitpack", 8.0, 0.5, 2.0),
                column("text plain", 8.0, 3.0, 10.0),
                column("text plain", 32.0, 3.0, 30.0),
            ],
        };
        Calibration {
            machine: Machine::of_the_paper(),
            costs: Costs {
                layouts: vec![layout],
            },
        }
    }

    fn selection(share: f64, read: Vec<Used>) -> Selection {
        Selection {
            layout: "column".to_owned(),
            blocks: 2.0,
            rows: 1000.0,
            tuple_bytes: 100.0,
            stride: 100.0,
            tested: vec![(used("i64 bitpack", 8.0), 1.0)],
            share,
            read,
        }
    }

    #[test]
    fn machine_files_are_read_as_they_were_written() {
        let calibration = calibration();
        let text = calibration.written().unwrap();
        assert_eq!(Calibration::read(&text), Ok(calibration));
        assert!(Calibration::read("{}").is_err());
        let stopped = text.replacen("3200000000.0", "0.0", 1);
        assert!(
            Calibration::read(&stopped)
                .unwrap_err()
                .message
                .contains("clock")
        );
    }

    #[test]
    fn the_reference_knows_every_layout() {
        let known = Calibration::reference().unwrap().costs.layouts;
        for layout in [
            "row",
            "column",
            "pax",
            "dsm",
            "inverted",
            "column pipelined",
        ] {
            assert!(known.iter().any(|costs| costs.layout == layout), "{layout}");
        }
    }

    /// Two blocks of 1,000 cycles over 1,000 rows, one cycle for rows, a test of a half.
    #[test]
    fn parts_of_a_scan_add_up() {
        let Calibration { machine, costs } = calibration();
        let user = |selection| costs.scanner(&selection).unwrap().user_cycles;
        assert!((user(selection(1.0, Vec::new())) - 3.5).abs() < 1e-9);
        let numbers = vec![used("i64 bitpack", 8.0)];
        assert!((user(selection(1.0, numbers.clone())) - 5.5).abs() < 1e-9);
        assert!((user(selection(0.01, numbers)) - 3.7).abs() < 1e-9);
        // Between texts of 8 and 32 bytes; a codec that was not measured is as the others
        // of its type.
        let texts = vec![used("text symbols", 20.0)];
        assert!((user(selection(1.0, texts)) - 23.5).abs() < 1e-9);
        assert!(
            costs
                .seconds(&machine, &selection(1.0, Vec::new()))
                .unwrap()
                > 0.0
        );
        let unknown = Selection {
            layout: "heap".to_owned(),
            ..selection(1.0, Vec::new())
        };
        assert_eq!(costs.seconds(&machine, &unknown), None);
    }

    /// Of 1,000 rows of 2 bytes a tested column comes from memory, and a plain one whose
    /// values are all wanted does not.
    #[test]
    fn whole_plain_columns_are_not_touched() {
        let Calibration { costs, .. } = calibration();
        let bytes = |kind, share| {
            let selection = selection(share, vec![used(kind, 8.0)]);
            costs.scanner(&selection).unwrap().bytes
        };
        assert_eq!(bytes("text plain", 1.0), 2.0);
        assert_eq!(bytes("i64 bitpack", 1.0), 4.0);
        assert!(bytes("text plain", 0.9) > 3.9);
    }

    /// 2 blocks, each of 2 columns; 4,000 bytes at the disk's 180 MB/s, which is slower
    /// than a nanosecond a value.
    #[test]
    fn cold_blocks_wait_for_the_disk() {
        let Calibration { machine, costs } = calibration();
        let selection = selection(0.5, vec![used("i64 bitpack", 8.0)]);
        let seconds = costs.cold_seconds(&machine, &selection).unwrap();
        let expected = 2.0 * (1e-4 + 2.0 * 1e-5) + 4000.0 / 180e6;
        assert!((seconds - expected).abs() < 1e-12, "{seconds} {expected}");
    }
}
