//! Files, blocks and partitions where the sorted column is asked (Q, figure 2).

use super::figure::{blocks, by_width, judged, nanoseconds_per_row, widths};
use super::organisation::{Cut, Organisation, Stored};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Ratios, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Figure 2: files against blocks, sorted column.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q2",
    source: "Q, figure 2",
    title: "Files, blocks and partitions: sorted column",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;
const PARTS: &str = "16 partitions of blocks";

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 5),
        ..Need::default()
    }
    .measured(setting.many_repetitions())
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 5);
    lab.turns = setting.many_repetitions();
    let cut = blocks(&lab);
    let parts = match cut {
        Cut::Blocks(rows) => Cut::Partitions(rows),
        other => other,
    };
    let sorted = |cut| Organisation::plain(Layout::Column, cut).sorted(0);
    let load = |cut| lab.load(&sorted(cut));
    let (files, blocks, parts) = (load(Cut::Files)?, load(cut)?, load(parts)?);
    let (large, small) = (
        lab.replica(&sorted(Cut::Files))?,
        lab.replica(&sorted(cut))?,
    );
    let contenders = [
        Contender::new("files", &files, Access::Chosen),
        Contender::new("blocks", &blocks, Access::Chosen),
        Contender::new(PARTS, &parts, Access::Chosen),
        Contender::paper("files", &large, Access::Chosen),
        Contender::paper("blocks", &small, Access::Chosen),
    ];
    let generator = lab.generator();
    let widths = widths(&lab);
    let sweep = lab.sweep(&contenders, &widths, |width, turn| {
        let projection = generator.projection(width as usize, turn as u64);
        Query::of(KIND, projection, 0, 0.1)
    })?;
    let setup = lab.setup(
        "10 % of the rows match, found by binary search in each block. A file is the part of one \
         thread; Freestone has it in blocks of 2^20 rows, the most that there can be.",
    );
    Ok(Outcome {
        setup,
        plots: vec![by_width(
            "Column store, predicate on the sorted column, 10 %",
            &sweep,
        )],
        claims: claims(
            &sweep,
            block_cost(&lab, &sweep, [&files, &blocks]),
            &row_cost(&lab, &sweep),
        ),
        ..Outcome::default()
    })
}

/// Microseconds of a thread that a block more costs, by the times without output of files
/// and of blocks.
fn block_cost(lab: &Lab, sweep: &Sweep, tables: [&Stored; 2]) -> f64 {
    let [files, blocks] = ["files", "blocks"].map(|name| {
        let medians = sweep.medians(name);
        medians.first().map_or(f64::NAN, |(_, seconds)| *seconds)
    });
    let [few, many] = tables.map(|stored| stored.table.blocks().len() as f64);
    (blocks - files) * lab.threads as f64 * 1e6 / (many - few).max(1.0)
}

/// What a row of ten columns costs the replica.
fn row_cost(lab: &Lab, sweep: &Sweep) -> String {
    let [replica, _] = sweep.sides();
    let [files, blocks] =
        ["files", "blocks"].map(|name| nanoseconds_per_row(lab, &replica, name, 10.0, 0.1));
    format!(
        "A row of ten columns takes {files:.1} ns of a thread from files and {blocks:.1} from \
         blocks: ten streams are read from beginning to end either way."
    )
}

fn claims(sweep: &Sweep, block_cost: f64, row_cost: &str) -> Vec<Claim> {
    let sides = sweep.sides().map(|side| side.ratios("blocks", "files"));
    let parts = sweep.ratios(PARTS, "blocks");
    let listed = |ratios: &Ratios| format!("blocks' time over that of files is {ratios} columns.");
    let why = format!(
        "Without output, a block more costs {block_cost:.1} microseconds of a thread: plan, zone \
         maps and two searches; against it stands what the cache holds of a block and not of a \
         file, of which the columns of 2^20 rows have 4 MB each."
    );
    vec![
        judged(
            "Observation 3: on the sorted column of a column store, blocks and files take nearly \
             the same time for narrow projections (holds if within 20 % of each other).",
            &sides,
            |ratios| {
                let narrow = ratios.of(|x| x > 0.0 && x < 5.0);
                (narrow.about_one(0.2), listed(&narrow))
            },
            [row_cost, &why],
        ),
        judged(
            "Observation 3: for wide projections blocks tend to be faster (holds if they are at 5 \
             and 10 columns together).",
            &sides,
            |ratios| {
                let wide = ratios.of(|x| x >= 5.0);
                (wide.mean() < 1.0, listed(&wide))
            },
            [row_cost, &why],
        ),
        Claim::tested(
            "Section 3.3.1: partitioned on the column that is asked, only the partitions with \
             matches are worked on (holds if this takes no more than 10 % longer than searching \
             every block, over all widths).",
            parts.mean() <= 1.1,
            format!("Partitions' time over that of blocks: {parts} columns."),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::race::Times;
    use super::*;
    use crate::outcome::Verdict::{DoesNotHold, Holds};

    #[test]
    fn claims_follow_the_times() {
        let verdicts = |blocks: [f64; 5]| {
            let side = Sweep {
                names: ["files", "blocks"].map(String::from).to_vec(),
                xs: vec![0.0, 1.0, 3.0, 5.0, 10.0],
                times: [[1.0; 5], blocks]
                    .map(|times| times.map(|time| Times(vec![time])).to_vec())
                    .to_vec(),
            };
            let mut sweep = Sweep::of_sides(&[side.clone(), side]);
            sweep.names.push(PARTS.into());
            sweep.times.push(sweep.times[1].clone());
            claims(&sweep, 1.0, "")
                .iter()
                .map(|claim| claim.verdict)
                .collect::<Vec<_>>()
        };
        assert_eq!(verdicts([9.0, 1.1, 0.9, 1.0, 0.9]), [Holds, Holds, Holds]);
        assert_eq!(
            verdicts([1.0, 1.3, 1.0, 1.1, 1.0]),
            [DoesNotHold, DoesNotHold, Holds]
        );
    }
}
