//! The time that planning takes: the statements of TPC-H and a few small ones, each parsed,
//! bound, folded and rewritten many times, as medians.

use std::io;
use std::time::Duration;

use crate::answer::Side;
use crate::front::{Front, Stages};

/// The tables of TPC-H.
const TABLES: [&str; 8] = [
    "CREATE TABLE region (r_regionkey bigint PRIMARY KEY, r_name char(25), r_comment varchar(152))",
    "CREATE TABLE nation (n_nationkey bigint PRIMARY KEY, n_name char(25), n_regionkey bigint,
     n_comment varchar(152))",
    "CREATE TABLE supplier (s_suppkey bigint PRIMARY KEY, s_name char(25), s_address varchar(40),
     s_nationkey bigint, s_phone char(15), s_acctbal decimal(15, 2), s_comment varchar(101))",
    "CREATE TABLE customer (c_custkey bigint PRIMARY KEY, c_name varchar(25),
     c_address varchar(40), c_nationkey bigint, c_phone char(15), c_acctbal decimal(15, 2),
     c_mktsegment char(10), c_comment varchar(117))",
    "CREATE TABLE part (p_partkey bigint PRIMARY KEY, p_name varchar(55), p_mfgr char(25),
     p_brand char(10), p_type varchar(25), p_size integer, p_container char(10),
     p_retailprice decimal(15, 2), p_comment varchar(23))",
    "CREATE TABLE partsupp (ps_partkey bigint, ps_suppkey bigint, ps_availqty integer,
     ps_supplycost decimal(15, 2), ps_comment varchar(199), PRIMARY KEY (ps_partkey, ps_suppkey))",
    "CREATE TABLE orders (o_orderkey bigint PRIMARY KEY, o_custkey bigint, o_orderstatus char(1),
     o_totalprice decimal(15, 2), o_orderdate date, o_orderpriority char(15), o_clerk char(15),
     o_shippriority integer, o_comment varchar(79))",
    "CREATE TABLE lineitem (l_orderkey bigint, l_partkey bigint, l_suppkey bigint,
     l_linenumber integer, l_quantity decimal(15, 2), l_extendedprice decimal(15, 2),
     l_discount decimal(15, 2), l_tax decimal(15, 2), l_returnflag char(1), l_linestatus char(1),
     l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25),
     l_shipmode char(10), l_comment varchar(44), PRIMARY KEY (l_orderkey, l_linenumber))",
];

/// Small statements.
const SMALL: [(&str, &str); 4] = [
    ("one", "SELECT 1"),
    ("key", "SELECT * FROM orders WHERE o_orderkey = 1"),
    (
        "join",
        "SELECT o_orderkey, c_name FROM orders JOIN customer ON o_custkey = c_custkey \
         WHERE o_totalprice > 100",
    ),
    (
        "sum",
        "SELECT l_returnflag, sum(l_quantity) FROM lineitem GROUP BY l_returnflag ORDER BY 1",
    ),
];

/// Prints a table of microseconds.
///
/// # Errors
/// Statements that cannot be read or planned.
pub fn print(runs: usize) -> io::Result<()> {
    let mut front = Front::default();
    for table in TABLES {
        front.ask(&[table.to_owned()])?;
    }
    let mut statements: Vec<(String, String)> = SMALL
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    // Beside the folder of the corpus, wherever the checkout is.
    let folder = crate::corpus::folder().join("../../../data/tpch/queries");
    for number in 1..=22 {
        let text = std::fs::read_to_string(folder.join(format!("q{number:02}.sql")))?;
        statements.push((format!("q{number:02}"), text.trim().to_owned()));
    }
    println!("statement   parse    bind    fold rewrite    free     all (µs)");
    let mut alls = Vec::new();
    for (name, text) in &statements {
        let mut times: [Vec<Duration>; 6] = Default::default();
        for _ in 0..runs.max(1) {
            let stages = front.stages(text, false);
            if let Err(error) = &stages.rows {
                return Err(io::Error::other(format!("{name}: {error}")));
            }
            for (all, time) in times.iter_mut().zip(laps(&stages)) {
                all.push(time);
            }
        }
        let medians = times.map(|mut all| {
            all.sort_unstable();
            all[all.len() / 2].as_secs_f64() * 1e6
        });
        let [parse, bind, fold, rewrite, free, all] = medians;
        println!("{name:9} {parse:7.0} {bind:7.0} {fold:7.0} {rewrite:7.0} {free:7.0} {all:7.0}");
        if name.starts_with('q') {
            alls.push(all);
        }
    }
    alls.sort_by(f64::total_cmp);
    let median = alls.get(alls.len() / 2).copied().unwrap_or_default();
    println!("median of TPC-H {median:.0}");
    Ok(())
}

/// The stages' times, and the time of all.
fn laps(stages: &Stages) -> [Duration; 6] {
    let s = stages;
    let all = s.parse + s.bind + s.fold + s.rewrite + s.free;
    [s.parse, s.bind, s.fold, s.rewrite, s.free, all]
}
