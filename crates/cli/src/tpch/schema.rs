//! The eight tables: their definitions, their size and their generators.
//!
//! Types are the specification's (clause 1.4), with BIGINT for identifiers,
//! which is the width the generator gives.

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::error::ArrowError;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen_arrow::{
    CustomerArrow, LineItemArrow, NationArrow, OrderArrow, PartArrow, PartSuppArrow, RegionArrow,
    SupplierArrow,
};

/// A stream of a table's rows.
pub type Rows = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// One of the eight tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// 5 rows.
    Region,
    /// 25 rows.
    Nation,
    /// 10,000 rows per scale.
    Supplier,
    /// 150,000 rows per scale.
    Customer,
    /// 200,000 rows per scale.
    Part,
    /// Four per part.
    PartSupp,
    /// 1,500,000 rows per scale.
    Orders,
    /// One to seven per order.
    LineItem,
}

impl Table {
    /// All tables, small ones first.
    pub const ALL: [Table; 8] = [
        Table::Region,
        Table::Nation,
        Table::Supplier,
        Table::Customer,
        Table::Part,
        Table::PartSupp,
        Table::Orders,
        Table::LineItem,
    ];

    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Table::Region => "region",
            Table::Nation => "nation",
            Table::Supplier => "supplier",
            Table::Customer => "customer",
            Table::Part => "part",
            Table::PartSupp => "partsupp",
            Table::Orders => "orders",
            Table::LineItem => "lineitem",
        }
    }

    /// Its columns, as they stand between the parentheses of CREATE TABLE.
    pub fn columns(self) -> &'static str {
        match self {
            Table::Region => {
                "r_regionkey BIGINT NOT NULL, r_name CHAR(25) NOT NULL,
                 r_comment VARCHAR(152) NOT NULL"
            }
            Table::Nation => {
                "n_nationkey BIGINT NOT NULL, n_name CHAR(25) NOT NULL,
                 n_regionkey BIGINT NOT NULL, n_comment VARCHAR(152) NOT NULL"
            }
            Table::Supplier => {
                "s_suppkey BIGINT NOT NULL, s_name CHAR(25) NOT NULL,
                 s_address VARCHAR(40) NOT NULL, s_nationkey BIGINT NOT NULL,
                 s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL,
                 s_comment VARCHAR(101) NOT NULL"
            }
            Table::Customer => {
                "c_custkey BIGINT NOT NULL, c_name VARCHAR(25) NOT NULL,
                 c_address VARCHAR(40) NOT NULL, c_nationkey BIGINT NOT NULL,
                 c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL,
                 c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL"
            }
            Table::Part => {
                "p_partkey BIGINT NOT NULL, p_name VARCHAR(55) NOT NULL,
                 p_mfgr CHAR(25) NOT NULL, p_brand CHAR(10) NOT NULL,
                 p_type VARCHAR(25) NOT NULL, p_size INTEGER NOT NULL,
                 p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL,
                 p_comment VARCHAR(23) NOT NULL"
            }
            Table::PartSupp => {
                "ps_partkey BIGINT NOT NULL, ps_suppkey BIGINT NOT NULL,
                 ps_availqty INTEGER NOT NULL, ps_supplycost DECIMAL(15,2) NOT NULL,
                 ps_comment VARCHAR(199) NOT NULL"
            }
            Table::Orders => {
                "o_orderkey BIGINT NOT NULL, o_custkey BIGINT NOT NULL,
                 o_orderstatus CHAR(1) NOT NULL, o_totalprice DECIMAL(15,2) NOT NULL,
                 o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL,
                 o_clerk CHAR(15) NOT NULL, o_shippriority INTEGER NOT NULL,
                 o_comment VARCHAR(79) NOT NULL"
            }
            Table::LineItem => {
                "l_orderkey BIGINT NOT NULL, l_partkey BIGINT NOT NULL,
                 l_suppkey BIGINT NOT NULL, l_linenumber INTEGER NOT NULL,
                 l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL,
                 l_discount DECIMAL(15,2) NOT NULL, l_tax DECIMAL(15,2) NOT NULL,
                 l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL,
                 l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL,
                 l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL,
                 l_shipmode CHAR(10) NOT NULL, l_comment VARCHAR(44) NOT NULL"
            }
        }
    }

    /// Rows at a scale factor; an estimate for `lineitem`.
    pub fn rows(self, scale: f64) -> u64 {
        let rows = match self {
            Table::Region => return 5,
            Table::Nation => return 25,
            Table::Supplier => SupplierGenerator::calculate_row_count(scale, 1, 1),
            Table::Customer => CustomerGenerator::calculate_row_count(scale, 1, 1),
            Table::Part => PartGenerator::calculate_row_count(scale, 1, 1),
            // The generator counts parts.
            Table::PartSupp => PartSuppGenerator::calculate_row_count(scale, 1, 1) * 4,
            Table::Orders => OrderGenerator::calculate_row_count(scale, 1, 1),
            Table::LineItem => OrderGenerator::calculate_row_count(scale, 1, 1) * 4,
        };
        u64::try_from(rows).unwrap_or(0)
    }

    /// Part `part` of `parts` (from 0) of its rows at a scale factor. The parts
    /// in order are the table, byte for byte what `dbgen` writes.
    pub fn generate(self, scale: f64, part: usize, parts: usize) -> Rows {
        let count = i32::try_from(parts).unwrap_or(i32::MAX);
        let number = i32::try_from(part).unwrap_or(i32::MAX).saturating_add(1);
        match self {
            // The generators of these two know no parts.
            Table::Region => {
                let all = RegionArrow::new(RegionGenerator::new(scale, 1, 1));
                Box::new(share(all, part, parts))
            }
            Table::Nation => {
                let all = NationArrow::new(NationGenerator::new(scale, 1, 1));
                Box::new(share(all, part, parts))
            }
            Table::Supplier => Box::new(SupplierArrow::new(SupplierGenerator::new(
                scale, number, count,
            ))),
            Table::Customer => Box::new(CustomerArrow::new(CustomerGenerator::new(
                scale, number, count,
            ))),
            Table::Part => Box::new(PartArrow::new(PartGenerator::new(scale, number, count))),
            Table::PartSupp => Box::new(PartSuppArrow::new(PartSuppGenerator::new(
                scale, number, count,
            ))),
            Table::Orders => Box::new(OrderArrow::new(OrderGenerator::new(scale, number, count))),
            Table::LineItem => Box::new(LineItemArrow::new(LineItemGenerator::new(
                scale, number, count,
            ))),
        }
    }
}

/// One of `parts` equal shares of a small table's batches.
fn share(
    all: impl RecordBatchReader + Send + 'static,
    part: usize,
    parts: usize,
) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send {
    all.map(move |batch| {
        let batch = batch?;
        let bound = |part: usize| batch.num_rows() * part / parts.max(1);
        let from = bound(part);
        Ok(batch.slice(from, bound(part + 1).saturating_sub(from)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::compute::concat_batches;

    fn collect(table: Table, parts: usize) -> RecordBatch {
        let batches: Vec<RecordBatch> = (0..parts)
            .flat_map(|part| table.generate(0.001, part, parts))
            .collect::<Result<_, _>>()
            .expect("generated");
        concat_batches(&batches[0].schema(), &batches).expect("one schema")
    }

    #[test]
    fn parts_make_the_whole() {
        for table in Table::ALL {
            let whole = collect(table, 1);
            assert_eq!(whole, collect(table, 7), "{table:?}");
            if table != Table::LineItem {
                assert_eq!(whole.num_rows() as u64, table.rows(0.001), "{table:?}");
            }
        }
    }
}
