//! DISTINCT ON becomes numbered rows.
//!
//! ```text
//! Distinct on a                 Sort a, b
//!   Sort a, b                     Filter: number = 1
//!     Scan t                        Window: number = row_number() by a, in the order of b
//!                                     Scan t
//! ```

use super::unnest::{Unnesting, at_most, only};
use crate::plan::{Plan, SortKey};

/// The node as numbered rows, if it is a DISTINCT ON.
pub(super) fn numbered(node: &mut Plan, numbers: &mut Unnesting) {
    if !matches!(node, Plan::Distinct { on: Some(_), .. }) {
        return;
    }
    let taken = std::mem::replace(node, Plan::one_row());
    let Plan::Distinct {
        input,
        on: Some(on),
    } = taken
    else {
        return;
    };
    let columns = input.columns();
    let (input, keys): (Box<Plan>, Vec<SortKey>) = match *input {
        Plan::Sort { input, keys } => (input, keys),
        input => (Box::new(input), Vec::new()),
    };
    // Values that are equal have no order.
    let mut order = keys.clone();
    order.retain(|key| !on.contains(&key.expr));
    let Some(number) = numbers.numbering("row_number", &on, &order) else {
        return;
    };
    let first = at_most(&number.0, 1);
    let rows = Plan::Filter {
        input: Box::new(Plan::Window {
            input,
            calls: vec![number],
        }),
        condition: first,
    };
    *node = only(rows, &columns);
    if !keys.is_empty() {
        let input = Box::new(std::mem::replace(node, Plan::one_row()));
        *node = Plan::Sort { input, keys };
    }
}
