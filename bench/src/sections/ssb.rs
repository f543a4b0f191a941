//! The Star Schema Benchmark (O'Neil, O'Neil, Chen): 13 queries over one wide table and
//! four small ones, made of TPC-H's tables by the same statements on both sides.

use super::tpch::totals;
use crate::bench::Bench;
use crate::report::{Bar, Section};
use crate::{Result, ours, pair};

macro_rules! texts {
    ($folder:literal: $($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../data/ssb/", $folder, "/", $name, ".sql")))),*]
    };
}

/// What the tables are made of; cities and brands are numbered as the paper does it, by
/// keys in the place of its dice.
static TABLES: [(&str, &str); 5] = texts!(
    "tables": "ssb_date", "ssb_part", "ssb_supplier", "ssb_customer", "ssb_lineorder"
);

static QUERIES: [(&str, &str); 13] = texts!(
    "queries": "q1.1", "q1.2", "q1.3", "q2.1", "q2.2", "q2.3", "q3.1", "q3.2", "q3.3", "q3.4",
    "q4.1", "q4.2", "q4.3",
);

/// Measures the section.
///
/// # Errors
/// Those of making the tables and of Freestone's queries.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    bench.load_both()?;
    let session = bench.session()?;
    eprintln!("ssb: making the tables");
    for (name, select) in TABLES {
        let drop = format!("DROP TABLE IF EXISTS {name}");
        let create = format!("CREATE TABLE {name} AS {select}");
        for sql in [drop, create] {
            ours::run(&bench.runtime, &session, &sql)?;
            if let Some(peer) = &mut bench.peer {
                peer.run(&sql)?;
            }
        }
    }
    let mut rows = Vec::new();
    for (name, text) in QUERIES {
        let name = name.to_uppercase();
        eprintln!("ssb: {name}");
        rows.push(pair::query(bench, &session, text)?.row(&name));
    }
    let (total, mean) = totals(&rows);
    rows.push(total);
    rows.push(mean.bar(Bar::Ratio(0.6)));
    Ok(Section::new("ssb", "the 13 queries, warm", rows))
}
