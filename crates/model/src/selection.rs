//! Selections: the traits of a scan that its costs follow from.

/// A column as a query uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// Its stored type and codec.
    pub kind: String,
    /// Bytes of a value before it is coded.
    pub bytes: f64,
    /// Bytes that a row of it takes as stored.
    pub stored: f64,
}

/// One select over blocks of one layout: the rows whose zones may have any that pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Layout, as in [`LayoutCosts::layout`](crate::LayoutCosts::layout).
    pub layout: String,
    /// Blocks that are begun.
    pub blocks: f64,
    /// Rows that are tested.
    pub rows: f64,
    /// Bytes of a tuple as stored.
    pub tuple_bytes: f64,
    /// Bytes from one tuple to the next, see [`Selection::stride`].
    pub stride: f64,
    /// Columns with conditions, each with the share of the rows that reaches it.
    pub tested: Vec<(Used, f64)>,
    /// Share of the rows that is selected.
    pub share: f64,
    /// Columns whose values are wanted.
    pub read: Vec<Used>,
}

impl Used {
    /// Bytes in the part of a tuple that has the same width in all rows: of texts, where
    /// they end.
    fn in_tuple(&self) -> f64 {
        let apart = ["text plain", "text symbols"].contains(&self.kind.as_str());
        if apart { 4.0 } else { self.stored }
    }
}

impl Selection {
    /// Bytes from one tuple of `columns` to the next in a layout. Texts of rows lie apart.
    pub fn stride<'a>(layout: &str, columns: impl Iterator<Item = &'a Used>) -> f64 {
        let rows = layout.starts_with("row");
        let bytes = columns.map(|used| if rows { used.in_tuple() } else { used.stored });
        bytes.sum()
    }

    /// Lines of a tuple that the values are on that are read.
    pub(crate) fn lines(&self) -> f64 {
        (self.read.len() as f64).min((self.stride / LINE).ceil())
    }

    /// Parts of each block that are read from disk, and bytes of them in all blocks.
    pub fn stored(&self) -> (f64, f64) {
        match self.keeps_tuples() {
            true => (1.0, self.tuple_bytes * self.rows),
            false => self.used().fold((0.0, 0.0), |(parts, bytes), used| {
                (parts + 1.0, bytes + used.stored * self.rows)
            }),
        }
    }

    /// Columns that are tested or read.
    pub(crate) fn used(&self) -> impl Iterator<Item = &Used> {
        let tested = self.tested.iter().map(|(used, _)| used);
        tested.chain(&self.read)
    }

    pub(crate) fn keeps_tuples(&self) -> bool {
        self.layout.starts_with("row") || self.layout.starts_with("pax")
    }

    /// Bytes that come from memory for each row: of tuples that lie together all of
    /// the lines that are touched, of columns their own.
    pub(crate) fn touched(&self) -> f64 {
        let columns = self.tested.iter().map(|(used, reached)| (used, *reached));
        // What is stored as it is wanted is handed over whole where it lies.
        let rows = self.layout.starts_with("row");
        let as_it_lies = |used: &&Used| !rows && self.share >= 1.0 && used.kind.ends_with(" plain");
        let read = self.read.iter().filter(|used| !as_it_lies(used));
        let read = read.map(|used| (used, self.share));
        let apart: f64 = columns
            .chain(read)
            .map(|(used, share)| {
                // A view of a text that lies as it is touches nothing of it.
                let bytes = match rows && used.kind == "text plain" {
                    true => used.in_tuple(),
                    false => used.stored,
                };
                bytes * lines(bytes, share)
            })
            .sum();
        match rows {
            true => self.stride.max(apart).min(LINE.max(apart)),
            false => apart,
        }
    }
}

/// Bytes of a cache line.
const LINE: f64 = 64.0;

/// Share of the lines of a column that are touched if a share of its rows is wanted
/// here and there.
fn lines(stored: f64, share: f64) -> f64 {
    let a_line = (LINE / stored.max(0.125)).max(1.0);
    1.0 - (1.0 - share.clamp(0.0, 1.0)).powf(a_line)
}
