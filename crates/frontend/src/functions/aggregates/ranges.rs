//! `range_agg` and `range_intersect_agg`.
//!
//! ```text
//! range_agg(r) over [1,3), [2,5), [7,9)             {[1,5),[7,9)}
//! range_intersect_agg(r) over [1,5), [3,9)          [3,5)
//! ```

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray, cast::AsArray};

use super::{Catalogue, State, argument, make, null, plain};
use crate::error::{Error, Result};
use crate::functions::kernel::Call;
use crate::types::{RangeOf, Type};
use crate::values::range::{self, Span};

/// The values of ranges, together or those that all have.
struct Ranges {
    of: RangeOf,
    is_many: bool,
    /// Whether only values that are in all ranges are kept.
    is_common: bool,
    spans: Option<Vec<Span>>,
}

impl State for Ranges {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        let values = argument(arguments, 0)?.as_binary_view_opt();
        let values = values.ok_or_else(|| Error::internal("a range that is no bytes"))?;
        for bytes in values.iter().flatten() {
            let spans = match self.is_many {
                true => range::decode_many(self.of, bytes),
                false => range::decode(self.of, bytes).into_iter().collect(),
            };
            match &mut self.spans {
                None => self.spans = Some(spans),
                Some(known) if self.is_common => *known = range::common(known, &spans),
                Some(known) => known.extend(spans),
            }
        }
        Ok(())
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let Some(spans) = &mut self.spans else {
            return Ok(null(call));
        };
        *spans = range::normal(std::mem::take(spans));
        let bytes = match call.returns {
            Type::Range(of) => range::encode(*of, spans.first()),
            _ => range::encode_many(self.of, spans),
        };
        Ok(Arc::new(BinaryViewArray::from_iter_values([bytes])))
    }

    fn size(&self) -> usize {
        64 + self
            .spans
            .as_ref()
            .map_or(0, |spans| spans.len() * size_of::<Span>())
    }
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    for parameter in [Type::AnyRange, Type::AnyMultirange] {
        for (name, is_common) in [("range_agg", false), ("range_intersect_agg", true)] {
            let state = make(move |call, _| {
                let ty = call.types.first().unwrap_or(call.returns);
                let of = ty.range();
                Ok(Ranges {
                    of: of.ok_or_else(|| Error::internal("an aggregate of no ranges"))?,
                    is_many: matches!(ty, Type::Multirange(_)),
                    is_common,
                    spans: None,
                })
            });
            let returns = match is_common {
                true => parameter.clone(),
                false => Type::AnyMultirange,
            };
            c.add_aggregate(plain(
                name,
                std::slice::from_ref(&parameter),
                returns,
                state,
            ));
        }
    }
}
