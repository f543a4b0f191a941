//! MONEY: amounts of hundredths.
//!
//! ```text
//! '$1,000.50'::money * 2       $2,001.00
//! '10'::money / 3              $3.33, without the rest
//! '10'::money / 3.0            $3.33, rounded
//! '10'::money / '4'::money     2.5
//! ```

use super::kernel::{Bytes, F32, F64, I16, I32, I64, Num, Str, f1, f2};
use super::{Catalogue, Context, scalar};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::Numeric;
use crate::values::money::{self, decode, encode, out_of_range};
use crate::values::numeric::division_by_zero;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    casts(c);
    arithmetic(c);
    use Type::{Bytea, Money, Text};
    let words = f1::<Bytes, Str>(|amount| Ok(money::words(decode(amount))));
    c.add(scalar("cash_words", &[Money], Text, words));
    // A client that wants binary values is sent the number.
    let send = f1::<Bytes, Bytes>(|amount| Ok(decode(amount).to_be_bytes().to_vec()));
    c.add(scalar("cash_send", &[Money], Bytea, send));
    let larger = f2::<Bytes, Bytes, Bytes>(|a, b| Ok(a.max(b).to_vec()));
    c.add(scalar("cashlarger", &[Money, Money], Money, larger));
    let smaller = f2::<Bytes, Bytes, Bytes>(|a, b| Ok(a.min(b).to_vec()));
    c.add(scalar("cashsmaller", &[Money, Money], Money, smaller));
}

fn casts(c: &mut Catalogue) {
    use Context::{Assignment, Explicit};
    use Type::{Int4, Int8, Money, Text};
    let numeric = || Type::Numeric(None);
    let read = f1::<Str, Bytes>(|text| Ok(encode(money::read(text)?)));
    c.cast(Text, Money, Explicit, read);
    let shown = f1::<Bytes, Str>(|amount| Ok(money::shown(decode(amount))));
    c.cast(Money, Text, Assignment, shown);
    let of_numeric = f1::<Num, Bytes>(|number| Ok(encode(hundredths(&number)?)));
    c.cast(numeric(), Money, Assignment, of_numeric);
    let to_numeric = f1::<Bytes, Num>(|amount| Ok(Numeric::new(decode(amount).into(), 2)));
    c.cast(Money, numeric(), Assignment, to_numeric);
    let of_int4 = f1::<I32, Bytes>(|number| whole(number.into()));
    c.cast(Int4, Money, Assignment, of_int4);
    c.cast(Int8, Money, Assignment, f1::<I64, Bytes>(whole));
}

/// The amount of a whole number.
fn whole(number: i64) -> Result<Vec<u8>> {
    let amount = number.checked_mul(100);
    let amount = amount.ok_or_else(|| Error::new("22003", "bigint out of range"))?;
    Ok(encode(amount))
}

/// A number in hundredths, rounded.
fn hundredths(number: &Numeric) -> Result<i64> {
    if !number.is_finite() {
        let kind = if number.is_nan() { "NaN" } else { "infinity" };
        let message = format!("cannot convert {kind} to bigint");
        return Err(Error::unsupported(message));
    }
    let amount = number
        .to_i128(2)
        .and_then(|amount| i64::try_from(amount).ok());
    amount.ok_or_else(|| Error::new("22003", "bigint out of range"))
}

/// The amount that is next to a number of hundredths.
fn rounded(hundredths: f64) -> Result<Vec<u8>> {
    let amount = hundredths.round_ties_even();
    // The least number is a power of two, of which the greatest is one short.
    match amount >= i64::MIN as f64 && amount < -(i64::MIN as f64) {
        true => Ok(encode(amount as i64)),
        false => Err(out_of_range()),
    }
}

fn times(amount: &[u8], by: i64) -> Result<Vec<u8>> {
    let product = decode(amount).checked_mul(by);
    product.map(encode).ok_or_else(out_of_range)
}

/// An amount in so many parts; what is left over goes.
fn part(amount: &[u8], by: i64) -> Result<Vec<u8>> {
    if by == 0 {
        return Err(division_by_zero());
    }
    let part = decode(amount).checked_div(by);
    part.map(encode).ok_or_else(out_of_range)
}

fn part_by_float(amount: &[u8], by: f64) -> Result<Vec<u8>> {
    if by == 0.0 {
        return Err(division_by_zero());
    }
    rounded(decode(amount) as f64 / by)
}

fn arithmetic(c: &mut Catalogue) {
    use Type::{Float4, Float8, Int2, Int4, Int8, Money};
    let plus = f2::<Bytes, Bytes, Bytes>(|a, b| {
        let sum = decode(a).checked_add(decode(b));
        sum.map(encode).ok_or_else(out_of_range)
    });
    c.operator("+", &[Money, Money], Money, plus);
    let minus = f2::<Bytes, Bytes, Bytes>(|a, b| {
        let rest = decode(a).checked_sub(decode(b));
        rest.map(encode).ok_or_else(out_of_range)
    });
    c.operator("-", &[Money, Money], Money, minus);
    let ratio = f2::<Bytes, Bytes, F64>(|a, b| match decode(b) {
        0 => Err(division_by_zero()),
        b => Ok(decode(a) as f64 / b as f64),
    });
    c.operator("/", &[Money, Money], Float8, ratio);
    macro_rules! by_numbers {
        ($($marker:ident $ty:ident $times:expr, $part:expr;)*) => {$({
            let times = $times;
            let by = f2::<Bytes, $marker, Bytes>(times);
            c.operator("*", &[Money, $ty], Money, by);
            let by = f2::<$marker, Bytes, Bytes>(move |number, amount| times(amount, number));
            c.operator("*", &[$ty, Money], Money, by);
            c.operator("/", &[Money, $ty], Money, f2::<Bytes, $marker, Bytes>($part));
        })*};
    }
    by_numbers! {
        I16 Int2 |amount: &[u8], by: i16| times(amount, by.into()),
            |amount: &[u8], by: i16| part(amount, by.into());
        I32 Int4 |amount: &[u8], by: i32| times(amount, by.into()),
            |amount: &[u8], by: i32| part(amount, by.into());
        I64 Int8 times, part;
        F32 Float4 |amount: &[u8], by: f32| rounded(decode(amount) as f64 * f64::from(by)),
            |amount: &[u8], by: f32| part_by_float(amount, by.into());
        F64 Float8 |amount: &[u8], by: f64| rounded(decode(amount) as f64 * by),
            part_by_float;
    }
}
