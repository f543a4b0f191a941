//! Bytes of a tuple of LINEITEM-Z and ORDERS-Z, the compressed tables of
//! Harizopoulos et al. (H3): 150 and 32 bytes as they are, 52 and 12 in the paper.

use crate::Result;
use crate::bench::Bench;
use crate::ours;
use crate::report::{Bar, Row, Section};

/// Name, columns as the paper has them, and the paper's bytes of a tuple.
const TABLES: [(&str, &str, f64); 2] = [
    (
        "lineitem",
        "CAST(l_partkey AS INT) partkey, CAST(l_orderkey AS INT) orderkey, CAST(l_suppkey AS INT) suppkey, \
         CAST(l_linenumber AS INT) linenumber, CAST(l_quantity AS INT) quantity, \
         CAST(l_extendedprice * 100 AS INT) extendedprice, l_returnflag, l_linestatus, l_shipinstruct, l_shipmode, \
         l_comment, CAST(l_discount * 100 AS INT) discount, CAST(l_tax * 100 AS INT) tax, l_shipdate, l_commitdate, \
         l_receiptdate",
        52.0,
    ),
    (
        "orders",
        "o_orderdate, CAST(o_orderkey AS INT) orderkey, CAST(o_custkey AS INT) custkey, o_orderstatus, \
         o_orderpriority, CAST(o_totalprice AS INT) totalprice, CAST(o_shippriority AS INT) shippriority",
        12.0,
    ),
];

/// Measures the section.
///
/// # Errors
/// Those of loading.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    let session = bench.session()?;
    let mut rows = Vec::new();
    for (table, columns, bar) in TABLES {
        for layout in ["row", "column"] {
            let made = format!("{table}_z");
            let fill = format!(
                "CREATE TABLE {made} WITH (layout = '{layout}') AS SELECT {columns} FROM {table}"
            );
            bench.runtime.block_on(session.execute(&fill))?;
            // Whole files: headers, zone maps and sketches are counted.
            let size = format!(
                "SELECT CAST(sum(bytes) AS DOUBLE) / sum(rows) FROM freestone_blocks('{made}')"
            );
            let (_, found) = ours::run(&bench.runtime, &session, &size)?;
            let drop = format!("DROP TABLE {made}");
            bench.runtime.block_on(session.execute(&drop))?;
            let cells = ours::cells(&found)?;
            let cell = cells.into_iter().flatten().flatten().next();
            let bytes = cell.ok_or("no size")?.parse::<f64>()?;
            let what = format!("{}-Z, layout {layout}", table.to_uppercase());
            rows.push(Row::new(what, "bytes", bytes).bar(Bar::AtMost(bar)));
        }
    }
    Ok(Section::new(
        "frames",
        "bytes of a tuple, whole files",
        rows,
    ))
}
