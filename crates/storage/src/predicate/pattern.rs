//! LIKE patterns of several pieces, such as `%special%requests%`.
//!
//! Piece after piece is looked for, each behind the one before: the first place is as good
//! as any later one. A regular expression, which is what Arrow makes of such a pattern,
//! takes about twice as long.

use arrow_array::{Array, StringViewArray};
use arrow_buffer::BooleanBuffer;
use memchr::memmem::Finder;

/// The pieces of a pattern without `_` and `\`.
pub(super) struct Pieces<'a> {
    /// What the text begins with.
    first: &'a [u8],
    /// What comes in between, in order.
    inner: Vec<Finder<'a>>,
    /// What it ends with.
    last: &'a [u8],
}

impl<'a> Pieces<'a> {
    /// The pieces, if there are so many that nothing simpler does.
    pub fn of(pattern: &'a str) -> Option<Pieces<'a>> {
        if pattern.contains(['_', '\\']) || !pattern.contains('%') {
            return None;
        }
        let mut pieces = pattern.as_bytes().split(|byte| *byte == b'%');
        let (first, last) = (pieces.next()?, pieces.next_back()?);
        let inner: Vec<Finder<'a>> = pieces
            .filter(|piece| !piece.is_empty())
            .map(Finder::new)
            .collect();
        let ends = usize::from(!first.is_empty()) + usize::from(!last.is_empty());
        (inner.len() + ends > 1).then_some(Pieces { first, inner, last })
    }

    fn fit(&self, text: &[u8]) -> bool {
        let Some(text) = text.strip_prefix(self.first) else {
            return false;
        };
        let Some(mut text) = text.strip_suffix(self.last) else {
            return false;
        };
        self.inner.iter().all(|piece| match piece.find(text) {
            Some(place) => {
                text = &text[place + piece.needle().len()..];
                true
            }
            None => false,
        })
    }

    /// Which texts fit; NULLs do not.
    pub fn test(&self, texts: &StringViewArray) -> BooleanBuffer {
        BooleanBuffer::collect_bool(texts.len(), |row| {
            texts.is_valid(row) && self.fit(texts.value(row).as_bytes())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Pieces;
    use arrow_array::{Scalar, StringViewArray};
    use proptest::prelude::*;

    proptest! {
        /// As Arrow's LIKE, whatever the pieces.
        #[test]
        fn pieces_are_found_as_a_regular_expression_finds_them(
            pieces in proptest::collection::vec("[abä]{0,2}", 2..6),
            texts in proptest::collection::vec(proptest::option::of("[abä]{0,9}"), 0..30),
        ) {
            let pattern = pieces.join("%");
            let texts = StringViewArray::from(texts);
            if let Some(found) = Pieces::of(&pattern) {
                let expected = Scalar::new(StringViewArray::from(vec![pattern.as_str()]));
                let expected = arrow_string::like::like(&texts, &expected).unwrap();
                let expected: Vec<bool> = expected.iter().map(|fits| fits == Some(true)).collect();
                let found: Vec<bool> = found.test(&texts).iter().collect();
                prop_assert_eq!(found, expected, "{}", pattern);
            }
        }
    }
}
