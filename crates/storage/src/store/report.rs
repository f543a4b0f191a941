//! What salvaging a damaged database found.

use serde::Serialize;
use std::fmt;

/// What was damaged, what is lost, and what remains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SalvageReport {
    /// What was found damaged, with file and place.
    pub damage: Vec<String>,
    /// The last transaction that is kept, and with it all before it.
    pub last_transaction: u64,
    /// Transactions that are lost.
    pub transactions: Vec<LostTransactions>,
    /// Blocks that are lost.
    pub blocks: Vec<LostBlock>,
    /// Set if no checkpoint could be read: rows that were in no block by then are
    /// lost, and rows that were deleted by then are back.
    pub lost_checkpoint: bool,
    /// Whether the directory now holds what remains, and nothing damaged is used.
    pub rewritten: bool,
}

/// Transactions that are lost, by timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LostTransactions {
    /// The first one,
    pub first: u64,
    /// and the last one.
    pub last: u64,
    /// Whether they could be read; they are left out because they may depend on
    /// lost ones before.
    pub readable: bool,
}

/// A block that is lost, with all its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostBlock {
    /// Schema of the table.
    pub schema: String,
    /// The table.
    pub table: String,
    /// The block's number.
    pub block: u64,
    /// Its rows, without those that were deleted.
    pub rows: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl SalvageReport {
    /// Whether nothing is lost; something may be damaged all the same.
    pub fn is_whole(&self) -> bool {
        self.transactions.is_empty() && self.blocks.is_empty() && !self.lost_checkpoint
    }

    /// Notes transactions that are lost, of which those in `readable`, ascending,
    /// could be read.
    pub(super) fn lose(&mut self, lost: std::ops::RangeInclusive<u64>, readable: &[u64]) {
        for timestamp in lost {
            let readable = readable.binary_search(&timestamp).is_ok();
            match self.transactions.last_mut() {
                Some(range) if range.readable == readable && range.last + 1 == timestamp => {
                    range.last = timestamp;
                }
                _ => self.transactions.push(LostTransactions {
                    first: timestamp,
                    last: timestamp,
                    readable,
                }),
            }
        }
    }
}

impl fmt::Display for LostTransactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "transaction {}", self.first)?,
            false => write!(f, "transactions {} to {}", self.first, self.last)?,
        }
        f.write_str(match self.readable {
            true => ": left out, since they may depend on lost ones",
            false => ": cannot be read",
        })
    }
}

impl fmt::Display for LostBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostBlock {
            schema,
            table,
            block,
            rows,
            reason,
        } = self;
        write!(
            f,
            "block {block} of table {schema}.{table}, {rows} rows: {reason}"
        )
    }
}

impl fmt::Display for SalvageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.damage.is_empty() && self.is_whole() {
            return f.write_str("nothing is damaged\n");
        }
        for damage in &self.damage {
            writeln!(f, "damaged: {damage}")?;
        }
        for transactions in &self.transactions {
            writeln!(f, "lost: {transactions}")?;
        }
        for block in &self.blocks {
            writeln!(f, "lost: {block}")?;
        }
        if self.lost_checkpoint {
            writeln!(
                f,
                "lost: rows that were in no block at the checkpoint; rows deleted by then are back"
            )?;
        }
        if self.is_whole() {
            writeln!(f, "nothing is lost")?;
        }
        writeln!(f, "kept: transactions up to {}", self.last_transaction)?;
        match self.rewritten {
            true => writeln!(f, "the database was rewritten with what remains"),
            false => writeln!(f, "nothing was changed on disk"),
        }
    }
}
