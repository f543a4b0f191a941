//! The Star Schema Benchmark (O'Neil, O'Neil, Chen): 13 queries over one wide table and
//! four small ones, made of TPC-H's tables by the same statements on both sides.

use super::tpch::totals;
use crate::bench::Bench;
use crate::report::{Bar, Section};
use crate::{Result, ours, pair};

/// Drops and makes the tables; cities and brands are numbered as the paper does it,
/// by keys in the place of its dice.
const TABLES: [(&str, &str); 5] = [
    (
        "ssb_date",
        "SELECT CAST(extract(year FROM d) * 10000 + extract(month FROM d) * 100 + extract(day FROM d) AS INTEGER) AS d_datekey, \
         CAST(extract(year FROM d) AS INTEGER) AS d_year, \
         CAST(extract(year FROM d) * 100 + extract(month FROM d) AS INTEGER) AS d_yearmonthnum, \
         substr('JanFebMarAprMayJunJulAugSepOctNovDec', CAST(extract(month FROM d) AS INTEGER) * 3 - 2, 3) \
           || CAST(CAST(extract(year FROM d) AS INTEGER) AS VARCHAR) AS d_yearmonth, \
         CAST(floor((extract(doy FROM d) - 1) / 7) AS INTEGER) + 1 AS d_weeknuminyear \
         FROM (SELECT DISTINCT o_orderdate AS d FROM orders) AS days ORDER BY 1",
    ),
    (
        "ssb_part",
        "SELECT p_partkey, 'MFGR#' || substr(p_brand, 7, 1) AS p_mfgr, 'MFGR#' || substr(p_brand, 7, 2) AS p_category, \
         'MFGR#' || substr(p_brand, 7, 2) || CAST(p_partkey % 40 + 1 AS VARCHAR) AS p_brand1 FROM part ORDER BY 1",
    ),
    (
        "ssb_supplier",
        "SELECT s_suppkey, substr(n_name || '          ', 1, 9) || CAST(s_suppkey % 10 AS VARCHAR) AS s_city, \
         n_name AS s_nation, r_name AS s_region FROM supplier \
         JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey ORDER BY 1",
    ),
    (
        "ssb_customer",
        "SELECT c_custkey, substr(n_name || '          ', 1, 9) || CAST(c_custkey % 10 AS VARCHAR) AS c_city, \
         n_name AS c_nation, r_name AS c_region FROM customer \
         JOIN nation ON c_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey ORDER BY 1",
    ),
    (
        "ssb_lineorder",
        "SELECT l_orderkey AS lo_orderkey, l_linenumber AS lo_linenumber, o_custkey AS lo_custkey, \
         l_partkey AS lo_partkey, l_suppkey AS lo_suppkey, \
         CAST(extract(year FROM o_orderdate) * 10000 + extract(month FROM o_orderdate) * 100 + extract(day FROM o_orderdate) AS INTEGER) AS lo_orderdate, \
         o_orderpriority AS lo_orderpriority, CAST(l_quantity AS INTEGER) AS lo_quantity, \
         CAST(l_extendedprice * 100 AS INTEGER) AS lo_extendedprice, CAST(l_discount * 100 AS INTEGER) AS lo_discount, \
         CAST(l_extendedprice * (1 - l_discount) * 100 AS INTEGER) AS lo_revenue, \
         CAST(ps_supplycost * 100 AS INTEGER) AS lo_supplycost, CAST(l_tax * 100 AS INTEGER) AS lo_tax, \
         l_shipmode AS lo_shipmode FROM lineitem JOIN orders ON l_orderkey = o_orderkey \
         JOIN partsupp ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey ORDER BY 1, 2",
    ),
];

/// The queries by number, without what every one of a flight says.
const QUERIES: [(&str, &str); 13] = [
    (
        "Q1.1",
        "d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25",
    ),
    (
        "Q1.2",
        "d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35",
    ),
    (
        "Q1.3",
        "d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35",
    ),
    ("Q2.1", "p_category = 'MFGR#12' AND s_region = 'AMERICA'"),
    (
        "Q2.2",
        "p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'",
    ),
    ("Q2.3", "p_brand1 = 'MFGR#2239' AND s_region = 'EUROPE'"),
    (
        "Q3.1",
        "c_region = 'ASIA' AND s_region = 'ASIA' AND d_year BETWEEN 1992 AND 1997",
    ),
    (
        "Q3.2",
        "c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year BETWEEN 1992 AND 1997",
    ),
    (
        "Q3.3",
        "c_city IN ('UNITED KI1', 'UNITED KI5') AND s_city IN ('UNITED KI1', 'UNITED KI5') AND d_year BETWEEN 1992 AND 1997",
    ),
    (
        "Q3.4",
        "c_city IN ('UNITED KI1', 'UNITED KI5') AND s_city IN ('UNITED KI1', 'UNITED KI5') AND d_yearmonth = 'Dec1997'",
    ),
    (
        "Q4.1",
        "c_region = 'AMERICA' AND s_region = 'AMERICA' AND p_mfgr IN ('MFGR#1', 'MFGR#2')",
    ),
    (
        "Q4.2",
        "c_region = 'AMERICA' AND s_region = 'AMERICA' AND d_year IN (1997, 1998) AND p_mfgr IN ('MFGR#1', 'MFGR#2')",
    ),
    (
        "Q4.3",
        "c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND d_year IN (1997, 1998) AND p_category = 'MFGR#14'",
    ),
];

/// A query's text.
fn text(name: &str, condition: &str) -> String {
    let with = |tables: &[&str]| -> (String, String) {
        let join = |table: &&str| match *table {
            "date" => "lo_orderdate = d_datekey",
            "customer" => "lo_custkey = c_custkey",
            "supplier" => "lo_suppkey = s_suppkey",
            _ => "lo_partkey = p_partkey",
        };
        let from: Vec<String> = tables.iter().map(|table| format!("ssb_{table}")).collect();
        let joins: Vec<&str> = tables.iter().map(join).collect();
        (from.join(", "), joins.join(" AND "))
    };
    let (select, tables, order): (_, &[&str], _) = match name {
        "Q1.1" | "Q1.2" | "Q1.3" => (
            "sum(CAST(lo_extendedprice AS BIGINT) * lo_discount) AS revenue",
            &["date"],
            "",
        ),
        "Q2.1" | "Q2.2" | "Q2.3" => (
            "sum(lo_revenue) AS revenue, d_year, p_brand1",
            &["date", "part", "supplier"],
            "GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1",
        ),
        "Q3.1" => (
            "c_nation, s_nation, d_year, sum(lo_revenue) AS revenue",
            &["customer", "supplier", "date"],
            "GROUP BY c_nation, s_nation, d_year ORDER BY d_year, revenue DESC",
        ),
        "Q3.2" | "Q3.3" | "Q3.4" => (
            "c_city, s_city, d_year, sum(lo_revenue) AS revenue",
            &["customer", "supplier", "date"],
            "GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC",
        ),
        "Q4.1" => (
            "d_year, c_nation, sum(lo_revenue - lo_supplycost) AS profit",
            &["date", "customer", "supplier", "part"],
            "GROUP BY d_year, c_nation ORDER BY d_year, c_nation",
        ),
        "Q4.2" => (
            "d_year, s_nation, p_category, sum(lo_revenue - lo_supplycost) AS profit",
            &["date", "customer", "supplier", "part"],
            "GROUP BY d_year, s_nation, p_category ORDER BY d_year, s_nation, p_category",
        ),
        _ => (
            "d_year, s_city, p_brand1, sum(lo_revenue - lo_supplycost) AS profit",
            &["date", "customer", "supplier", "part"],
            "GROUP BY d_year, s_city, p_brand1 ORDER BY d_year, s_city, p_brand1",
        ),
    };
    let (from, joins) = with(tables);
    format!("SELECT {select} FROM ssb_lineorder, {from} WHERE {joins} AND {condition} {order}")
}

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
    for (name, condition) in QUERIES {
        eprintln!("ssb: {name}");
        rows.push(pair::query(bench, &session, &text(name, condition))?.row(name));
    }
    let (total, mean) = totals(&rows);
    rows.push(total);
    rows.push(mean.bar(Bar::Ratio(0.6)));
    Ok(Section::new("ssb", "the 13 queries, warm", rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_whole() {
        let sql = text("Q2.3", "p_brand1 = 'MFGR#2239'");
        assert!(sql.contains("FROM ssb_lineorder, ssb_date, ssb_part, ssb_supplier WHERE"));
        assert!(sql.ends_with("ORDER BY d_year, p_brand1"));
    }
}
