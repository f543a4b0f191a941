//! A tree of segments: what any range of some rows comes to, in logarithmic time.

/// Each node is made of two below it; leaves stand behind all others, in order.
pub(super) struct Tree<S> {
    nodes: Vec<S>,
    leaves: usize,
}

impl<S: Copy> Tree<S> {
    /// A tree of no rows, to be [filled](Tree::fill).
    pub fn new() -> Tree<S> {
        Tree {
            nodes: Vec::new(),
            leaves: 0,
        }
    }

    /// Makes it the tree of some rows; `nothing` is of no row.
    pub fn fill(
        &mut self,
        leaves: impl ExactSizeIterator<Item = S>,
        nothing: S,
        both: impl Fn(S, S) -> S,
    ) {
        self.leaves = leaves.len();
        self.nodes.clear();
        self.nodes.resize(self.leaves, nothing);
        self.nodes.extend(leaves);
        for node in (1..self.leaves).rev() {
            self.nodes[node] = both(self.nodes[2 * node], self.nodes[2 * node + 1]);
        }
    }

    /// The combined state of the rows of a range, put together from the first on.
    pub fn of(&self, range: std::ops::Range<usize>, nothing: S, both: impl Fn(S, S) -> S) -> S {
        let (mut from, mut to) = (range.start + self.leaves, range.end + self.leaves);
        let (mut before, mut behind) = (nothing, nothing);
        while from < to {
            if from % 2 == 1 {
                before = both(before, self.nodes[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                behind = both(self.nodes[to], behind);
            }
            from /= 2;
            to /= 2;
        }
        both(before, behind)
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    /// Ranges come out with their rows in order, whatever the number of leaves.
    #[test]
    fn ranges_are_put_together_in_order() {
        // A range of rows, where both parts follow each other; (0, 0) is nothing.
        let both = |a: (usize, usize), b: (usize, usize)| match (a, b) {
            ((0, 0), any) | (any, (0, 0)) => any,
            ((from, middle), (start, to)) if middle == start => (from, to),
            other => panic!("{other:?} do not follow each other"),
        };
        let mut tree = Tree::new();
        for rows in 0..40 {
            tree.nodes.clear();
            // The nodes of leaves that lie apart are asked for by no range.
            tree.fill((0..rows).map(|row| (row + 1, row + 2)), (0, 0), |a, b| {
                if a.1 == b.0 {
                    (a.0, b.1)
                } else {
                    (usize::MAX, 0)
                }
            });
            for from in 0..=rows {
                for to in from..=rows {
                    let found = tree.of(from..to, (0, 0), both);
                    let expected = if from == to {
                        (0, 0)
                    } else {
                        (from + 1, to + 1)
                    };
                    assert_eq!(found, expected);
                }
            }
        }
    }
}
