//! Ranges of a key.

/// Ranges of a key, for each of which a plan is run by one thread alone.
///
/// The rows are those of the plan itself only if every row of it comes of rows of one
/// range, which whoever makes the plan must see to: groups have the key among theirs,
/// tables are joined by it, and below there are no first rows of an order, no limit, and
/// no aggregate without a key, which would count for each range. The key must not be NULL
/// anywhere: such rows are in no range. Rows come in no order.
#[derive(Clone, Debug)]
pub struct Ranges {
    /// Where one range ends and the next begins, ascending, none twice: the first range has
    /// the keys below the first cut, the next those from there on. Without cuts there is
    /// one range, of all keys.
    pub cuts: Vec<i64>,
    /// The key of each table below, which is numbered as in [`Plan::tables`](super::Plan::tables): its position
    /// in the table. It is of integers, decimals as they are stored, or dates. What stands
    /// here for one place of a shared plan is so for all. Other tables are read whole for
    /// every range, and rows in no block are looked through for each.
    pub columns: Vec<(usize, usize)>,
}

impl Ranges {
    /// How many ranges.
    pub fn count(&self) -> usize {
        self.cuts.len() + 1
    }
}
