//! Checking every byte of a database.

use super::Store;
use crate::error::Result;
use crate::ids::BlockId;

/// What verifying one block found.
#[derive(Debug)]
pub struct VerifyReport {
    /// Schema of the table.
    pub schema: String,
    /// The table.
    pub table: String,
    /// The block.
    pub block: BlockId,
    /// Its file.
    pub file: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// `Corrupt` naming the section if something is wrong.
    pub outcome: Result<()>,
}

impl Store {
    /// Reads every block of every table past the cache and checks it; calls
    /// `report` after each.
    pub fn verify(&self, mut report: impl FnMut(VerifyReport)) {
        let catalog = self.snapshot();
        for (schema, table) in catalog.all_tables() {
            for block in table.blocks() {
                report(VerifyReport {
                    schema: schema.to_string(),
                    table: table.name.clone(),
                    block: block.id(),
                    file: block.file(),
                    bytes: block.bytes(),
                    outcome: block.verify(),
                });
            }
        }
    }
}
