//! Changes of tokens that are collected first and made in one pass: each for itself would
//! move all that stands behind it, and a text may ask for very many.

use std::ops::Range;

use sqlparser::tokenizer::TokenWithSpan;

/// Ranges of tokens, which do not overlap, and what comes in their places.
#[derive(Default)]
pub(super) struct Edits(Vec<(Range<usize>, Vec<TokenWithSpan>)>);

impl Edits {
    /// Puts tokens in the place of a range.
    pub(super) fn put<const N: usize>(&mut self, range: Range<usize>, tokens: [TokenWithSpan; N]) {
        self.0.push((range, tokens.into()));
    }

    /// Puts any number of tokens in the place of a range.
    pub(super) fn put_all(&mut self, range: Range<usize>, tokens: Vec<TokenWithSpan>) {
        self.0.push((range, tokens));
    }

    /// Takes a range out.
    pub(super) fn take(&mut self, range: Range<usize>) {
        self.0.push((range, Vec::new()));
    }

    /// Makes the changes.
    pub(super) fn make(mut self, tokens: &mut Vec<TokenWithSpan>) {
        if self.0.is_empty() {
            return;
        }
        self.0.sort_by_key(|(range, _)| range.start);
        let mut old = std::mem::take(tokens).into_iter();
        let mut at = 0;
        for (range, new) in self.0 {
            tokens.extend(old.by_ref().take(range.start - at));
            tokens.extend(new);
            at = range.end;
            old.by_ref().take(range.len()).for_each(drop);
        }
        tokens.extend(old);
    }
}
