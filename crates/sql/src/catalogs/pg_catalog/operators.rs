//! Operators and casts of the language.

use freestone_frontend::functions::{Context, Returns, catalogue};
use freestone_frontend::types::Type;

use super::facts::Facts;
use super::objects::OWNER;
use super::procedures::made_number;
use super::types::of_type;

/// The number of an operator, made of its symbol and its operands.
pub(crate) fn operator_number(symbol: &str, operands: &[Type]) -> i64 {
    let operands: Vec<String> = operands.iter().map(ToString::to_string).collect();
    made_number(symbol, &operands.join(", "))
}

/// Operators: one operand stands on the right.
pub(super) fn operators(facts: &mut Facts) {
    for one in catalogue().every_operator() {
        let (left, right) = match one.parameters.as_slice() {
            [right] => (0, of_type(right).0),
            [left, right] => (of_type(left).0, of_type(right).0),
            _ => continue,
        };
        let returns = match &one.returns {
            Returns::Type(ty) => ty.clone(),
            Returns::Of(of) => of(&one.parameters),
        };
        facts.add([
            ("oid", operator_number(one.name, &one.parameters).into()),
            ("oprname", one.name.into()),
            ("oprnamespace", 11.into()),
            ("oprowner", OWNER.into()),
            ("oprkind", if left == 0 { "l" } else { "b" }.into()),
            ("oprcanmerge", (one.name == "=").into()),
            ("oprcanhash", (one.name == "=").into()),
            ("oprleft", left.into()),
            ("oprright", right.into()),
            ("oprresult", of_type(&returns).0.into()),
        ]);
    }
}

/// Casts between types, but for those that only read or write texts.
pub(super) fn casts(facts: &mut Facts) {
    let known = catalogue();
    let mut rows: Vec<(i64, i64, &str, &str)> = Vec::new();
    for (from, to, context) in known.every_cast() {
        let text = |ty: &Type| ty.is_string() && !matches!(ty, Type::Char(_));
        if text(from) != text(to) || from.is_pseudo() || to.is_pseudo() {
            continue;
        }
        // Ranges are read and written, but for those that become multiranges.
        if from.range().is_some() != to.range().is_some() {
            continue;
        }
        let context = match context {
            Context::Explicit => "e",
            Context::Assignment => "a",
            Context::Implicit => "i",
        };
        let cast = known.cast_of(from, to);
        let method = match cast.is_some_and(|cast| cast.function.is_some()) {
            true => "f",
            false => "b",
        };
        rows.push((of_type(from).0, of_type(to).0, context, method));
    }
    rows.sort_unstable();
    for (from, to, context, method) in rows {
        facts.add([
            ("oid", made_number("cast", &format!("{from}, {to}")).into()),
            ("castsource", from.into()),
            ("casttarget", to.into()),
            ("castcontext", context.into()),
            ("castmethod", method.into()),
        ]);
    }
}
