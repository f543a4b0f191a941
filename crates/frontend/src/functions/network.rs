//! Addresses of networks: INET, CIDR, MACADDR and MACADDR8.
//!
//! They are held in bytes that have their order ([`Inet::encode`]), so that they are compared and
//! sorted as bytes are.
//!
//! ```text
//! '10.1.2.3/8'::inet << '10.0.0.0/7'::inet     true: it is within
//! '10.1.2.3/8'::inet && '10.0.0.0/16'::inet    true: one is within the other
//! '10.1.2.3/8'::inet + 256                     10.1.3.3/8
//! '10.1.2.3'::inet::text                       10.1.2.3/32, and 10.1.2.3 where it is shown
//! ```

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, StringViewArray};

use super::kernel::{Bool, Bytes, I32, I64, Str, f1, f2};
use super::{Catalogue, Context, scalar};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::network::{self, Family, Inet, mac_shown};

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    casts(c);
    operators(c);
    functions(c);
    hardware(c);
}

/// Values of INET as results show them, which is not as a cast to text writes them.
///
/// # Errors
/// `XX000` for values of another type.
pub(super) fn shown(array: &ArrayRef) -> Result<ArrayRef> {
    let values = array.as_binary_view_opt();
    let values = values.ok_or_else(|| Error::internal("an INET that is none"))?;
    let texts = values.iter();
    let texts = texts.map(|bytes| bytes.map(|bytes| Inet::decode(bytes).shown()));
    Ok(Arc::new(texts.collect::<StringViewArray>()))
}

fn casts(c: &mut Catalogue) {
    use Context::{Assignment, Explicit, Implicit};
    use Type::{Cidr, Inet as INet, Text};
    let kernel = f1::<Str, Bytes>(|text| Ok(Inet::read(text)?.encode()));
    c.cast(Text, INet, Explicit, kernel);
    let kernel = f1::<Str, Bytes>(|text| Ok(Inet::read_cidr(text)?.encode()));
    c.cast(Text, Cidr, Explicit, kernel);
    for ty in [INet, Cidr] {
        let kernel = f1::<Bytes, Str>(|bytes| Ok(Inet::decode(bytes).full()));
        c.cast(ty, Text, Assignment, kernel);
    }
    c.relabel(Cidr, INet, Implicit);
    let kernel = f1::<Bytes, Bytes>(|bytes| Ok(Inet::decode(bytes).network().encode()));
    c.cast(INet, Cidr, Assignment, kernel);
}

fn operators(c: &mut Catalogue) {
    use Type::{Inet as INet, Int8};
    type Test = fn(Inet, Inet) -> bool;
    let tests: [(&str, Test); 5] = [
        ("<<", |a, b| a.bits > b.bits && is_within(a, b)),
        ("<<=", |a, b| a.bits >= b.bits && is_within(a, b)),
        (">>", |a, b| b.bits > a.bits && is_within(b, a)),
        (">>=", |a, b| b.bits >= a.bits && is_within(b, a)),
        ("&&", |a, b| {
            let most = a.bits.min(b.bits);
            a.family == b.family && a.common(b, most) == most
        }),
    ];
    for (symbol, test) in tests {
        let kernel =
            f2::<Bytes, Bytes, Bool>(move |a, b| Ok(test(Inet::decode(a), Inet::decode(b))));
        c.operator(symbol, &[INet, INet], Type::Bool, kernel);
    }
    let kernel = f1::<Bytes, Bytes>(|bytes| {
        let of = Inet::decode(bytes);
        let address = of.address ^ of.all();
        Ok(Inet { address, ..of }.encode())
    });
    c.operator("~", &[INet], INet, kernel);
    type Join = fn(u128, u128) -> u128;
    let joins: [(&str, &str, Join); 2] = [("&", "AND", |a, b| a & b), ("|", "OR", |a, b| a | b)];
    for (symbol, name, join) in joins {
        let kernel = f2::<Bytes, Bytes, Bytes>(move |a, b| {
            let (a, b) = of_one_family(a, b, name)?;
            let joined = Inet {
                address: join(a.address, b.address),
                bits: a.bits.max(b.bits),
                ..a
            };
            Ok(joined.encode())
        });
        c.operator(symbol, &[INet, INet], INet, kernel);
    }
    let kernel = f2::<Bytes, I64, Bytes>(|bytes, by| moved(bytes, by.into()));
    c.operator("+", &[INet, Int8], INet, kernel);
    let kernel = f2::<I64, Bytes, Bytes>(|by, bytes| moved(bytes, by.into()));
    c.operator("+", &[Int8, INet], INet, kernel);
    let kernel = f2::<Bytes, I64, Bytes>(|bytes, by| moved(bytes, -i128::from(by)));
    c.operator("-", &[INet, Int8], INet, kernel);
    let kernel = f2::<Bytes, Bytes, I64>(|a, b| {
        let (a, b) = of_one_family(a, b, "subtract")?;
        // The difference of numbers of 128 bits that are too far apart wraps.
        let distance = a.address.abs_diff(b.address);
        let distance = i128::try_from(distance).map_err(|_| out_of_range())?;
        let signed = if a.address < b.address {
            -distance
        } else {
            distance
        };
        i64::try_from(signed).map_err(|_| out_of_range())
    });
    c.operator("-", &[INet, INet], Int8, kernel);
}

/// Whether the first bits of an address are those of a network.
fn is_within(part: Inet, whole: Inet) -> bool {
    part.family == whole.family && part.common(whole, whole.bits) == whole.bits
}

/// Two addresses of one family.
///
/// # Errors
/// `22023` if they are of two.
fn of_one_family(a: &[u8], b: &[u8], what: &str) -> Result<(Inet, Inet)> {
    let (a, b) = (Inet::decode(a), Inet::decode(b));
    match a.family == b.family {
        true => Ok((a, b)),
        false => {
            let message = format!("cannot {what} inet values of different sizes");
            Err(Error::new("22023", message))
        }
    }
}

fn out_of_range() -> Error {
    Error::new("22003", "result is out of range")
}

/// An address that is so many later.
fn moved(bytes: &[u8], by: i128) -> Result<Vec<u8>> {
    let of = Inet::decode(bytes);
    let address = of.address.checked_add_signed(by);
    let address = address.filter(|address| *address <= of.all());
    let address = address.ok_or_else(out_of_range)?;
    Ok(Inet { address, ..of }.encode())
}

fn functions(c: &mut Catalogue) {
    use Type::{Cidr, Inet as INet, Int4, Text};
    type Of<T> = fn(Inet) -> T;
    let texts: [(&'static str, Type, Of<String>); 4] = [
        ("abbrev", INet, Inet::shown),
        ("abbrev", Cidr, Inet::short),
        ("host", INet, Inet::host),
        ("text", INet, Inet::full),
    ];
    for (name, ty, text) in texts {
        let kernel = f1::<Bytes, Str>(move |bytes| Ok(text(Inet::decode(bytes))));
        c.add(scalar(name, &[ty], Text, kernel));
    }
    let numbers: [(&'static str, Of<i32>); 2] = [
        ("family", |of| match of.family {
            Family::V4 => 4,
            Family::V6 => 6,
        }),
        ("masklen", |of| of.bits.into()),
    ];
    for (name, number) in numbers {
        let kernel = f1::<Bytes, I32>(move |bytes| Ok(number(Inet::decode(bytes))));
        c.add(scalar(name, &[INet], Int4, kernel));
    }
    let addresses: [(&'static str, Type, Of<Inet>); 4] = [
        ("broadcast", INet, |of| Inet {
            address: of.address | of.host_mask(),
            ..of
        }),
        ("hostmask", INet, |of| Inet {
            address: of.host_mask(),
            bits: of.family.bits(),
            ..of
        }),
        ("netmask", INet, |of| Inet {
            address: of.mask(),
            bits: of.family.bits(),
            ..of
        }),
        ("network", Cidr, Inet::network),
    ];
    for (name, returns, address) in addresses {
        let kernel = f1::<Bytes, Bytes>(move |bytes| Ok(address(Inet::decode(bytes)).encode()));
        c.add(scalar(name, &[INet], returns, kernel));
    }
    let kernel = f2::<Bytes, Bytes, Bytes>(|a, b| {
        let (a, b) = (Inet::decode(a), Inet::decode(b));
        if a.family != b.family {
            let message = "cannot merge addresses from different families";
            return Err(Error::new("22023", message));
        }
        let bits = a.common(b, a.bits.min(b.bits));
        Ok(Inet { bits, ..a }.network().encode())
    });
    c.add(scalar("inet_merge", &[INet, INet], Cidr, kernel));
    let kernel =
        f2::<Bytes, Bytes, Bool>(|a, b| Ok(Inet::decode(a).family == Inet::decode(b).family));
    c.add(scalar(
        "inet_same_family",
        &[INet, INet],
        Type::Bool,
        kernel,
    ));
    for (ty, is_network) in [(INet, false), (Cidr, true)] {
        let kernel = f2::<Bytes, I32, Bytes>(move |bytes, bits| {
            let of = Inet::decode(bytes);
            let most = of.family.bits();
            let bits = match bits {
                -1 => Some(most),
                bits => u8::try_from(bits).ok().filter(|bits| *bits <= most),
            }
            .ok_or_else(|| Error::new("22023", format!("invalid mask length: {bits}")))?;
            let masked = Inet { bits, ..of };
            Ok(match is_network {
                true => masked.network().encode(),
                false => masked.encode(),
            })
        });
        c.add(scalar("set_masklen", &[ty.clone(), Int4], ty, kernel));
    }
    for (name, ty, is_network) in [("inet_send", INet, false), ("cidr_send", Cidr, true)] {
        let kernel = f1::<Bytes, Bytes>(move |bytes| Ok(Inet::decode(bytes).sent(is_network)));
        c.add(scalar(name, &[ty], Type::Bytea, kernel));
    }
}

/// MACADDR and MACADDR8.
fn hardware(c: &mut Catalogue) {
    use Context::{Assignment, Explicit, Implicit};
    use Type::{MacAddr, MacAddr8, Text};
    let kernel = f1::<Str, Bytes>(|text| Ok(network::read_mac(text)?.to_vec()));
    c.cast(Text, MacAddr, Explicit, kernel);
    let kernel = f1::<Str, Bytes>(|text| Ok(network::read_mac8(text)?.to_vec()));
    c.cast(Text, MacAddr8, Explicit, kernel);
    let kernel = f1::<Bytes, Bytes>(|bytes| match *bytes {
        [a, b, c, d, e, f] => Ok(network::widened([a, b, c, d, e, f]).to_vec()),
        _ => Err(Error::internal("a MACADDR of other than six bytes")),
    });
    c.cast(MacAddr, MacAddr8, Implicit, kernel);
    let kernel = f1::<Bytes, Bytes>(|bytes| match *bytes {
        [a, b, c, 0xff, 0xfe, d, e, f] => Ok(vec![a, b, c, d, e, f]),
        _ => {
            let message = "macaddr8 data out of range to convert to macaddr";
            Err(Error::new("22003", message).with_hint(
                "Only addresses that have FF and FE as values in the 4th and 5th bytes from the \
                 left, for example xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be converted from \
                 macaddr8 to macaddr.",
            ))
        }
    });
    c.cast(MacAddr8, MacAddr, Implicit, kernel);
    for (ty, send) in [(MacAddr, "macaddr_send"), (MacAddr8, "macaddr8_send")] {
        let kernel = f1::<Bytes, Str>(|bytes| Ok(mac_shown(bytes)));
        c.cast(ty.clone(), Text, Assignment, kernel);
        let kernel = f1::<Bytes, Bytes>(|bytes| Ok(bytes.iter().map(|byte| !byte).collect()));
        c.operator("~", std::slice::from_ref(&ty), ty.clone(), kernel);
        type Join = fn(u8, u8) -> u8;
        let joins: [(&str, Join); 2] = [("&", |a, b| a & b), ("|", |a, b| a | b)];
        for (symbol, join) in joins {
            let kernel = f2::<Bytes, Bytes, Bytes>(move |a, b| {
                Ok(a.iter().zip(b).map(|(a, b)| join(*a, *b)).collect())
            });
            c.operator(symbol, &[ty.clone(), ty.clone()], ty.clone(), kernel);
        }
        // The maker's part stays.
        let kernel = f1::<Bytes, Bytes>(|bytes| {
            let kept = |(at, byte): (usize, &u8)| if at < 3 { *byte } else { 0 };
            Ok(bytes.iter().enumerate().map(kept).collect())
        });
        c.add(scalar(
            "trunc",
            std::slice::from_ref(&ty),
            ty.clone(),
            kernel,
        ));
        let kernel = f1::<Bytes, Bytes>(|bytes| Ok(bytes.to_vec()));
        c.add(scalar(send, std::slice::from_ref(&ty), Type::Bytea, kernel));
    }
    let kernel = f1::<Bytes, Bytes>(|bytes| {
        let mut bytes = bytes.to_vec();
        if let Some(first) = bytes.first_mut() {
            *first |= 2;
        }
        Ok(bytes)
    });
    c.add(scalar("macaddr8_set7bit", &[MacAddr8], MacAddr8, kernel));
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, cast, operate};
    use super::*;

    fn inet(text: &str) -> (Type, Option<&str>) {
        (Type::Inet, Some(text))
    }

    #[test]
    fn operators_of_addresses() {
        let int = |text| (Type::Int8, Some(text));
        for (left, symbol, right, wanted) in [
            (inet("10.1.2.3"), "<<", inet("10.0.0.0/8"), "true"),
            (inet("10.0.0.0/8"), "<<", inet("10.0.0.0/8"), "false"),
            (inet("10.0.0.0/8"), "<<=", inet("10.0.0.0/8"), "true"),
            (inet("10.0.0.0/8"), ">>", inet("10.1.0.0/16"), "true"),
            (inet("::/0"), ">>=", inet("10.1.0.0/16"), "false"),
            (inet("10.1.0.0/16"), "&&", inet("10.0.0.0/8"), "true"),
            (inet("10.1.0.0/16"), "&&", inet("10.2.0.0/16"), "false"),
            (inet("10.1.2.3"), "&", inet("0.0.0.255/8"), "0.0.0.3/32"),
            (inet("10.1.2.3/8"), "|", inet("0.0.0.252/8"), "10.1.2.255/8"),
            (inet("10.1.2.255/8"), "+", int("1"), "10.1.3.0/8"),
            (int("-1"), "+", inet("10.0.0.0"), "9.255.255.255/32"),
            (inet("::1"), "-", int("1"), "::/128"),
            (inet("10.0.0.5"), "-", inet("10.0.1.0"), "-251"),
            (inet("::"), "<", inet("::1"), "true"),
        ] {
            let found = operate(symbol, &[left.clone(), right.clone()]);
            assert_eq!(
                found,
                Ok(Some(wanted.to_owned())),
                "{left:?} {symbol} {right:?}"
            );
        }
        for (left, symbol, right, sqlstate) in [
            (inet("255.255.255.255"), "+", int("1"), "22003"),
            (inet("::"), "-", int("1"), "22003"),
            (inet("ffff::"), "-", inet("::"), "22003"),
            (inet("::"), "&", inet("10.0.0.0"), "22023"),
        ] {
            let error = operate(symbol, &[left, right]).unwrap_err();
            assert_eq!(error.sqlstate, sqlstate, "{symbol}");
        }
        assert_eq!(
            operate("~", &[inet("0.0.0.1/8")]),
            Ok(Some("255.255.255.254/8".to_owned()))
        );
    }

    #[test]
    fn functions_of_addresses() {
        for (name, argument, wanted) in [
            ("broadcast", "192.168.1.5/24", "192.168.1.255/24"),
            ("hostmask", "192.168.23.20/30", "0.0.0.3/32"),
            ("netmask", "192.168.1.5/24", "255.255.255.0/32"),
            ("netmask", "::/0", "::/128"),
            ("network", "192.168.1.5/24", "192.168.1.0/24"),
            ("host", "192.168.1.0/24", "192.168.1.0"),
            ("family", "::1", "6"),
            ("masklen", "10.0.0.0/9", "9"),
            ("abbrev", "10.1.0.0/32", "10.1.0.0"),
        ] {
            let found = call(name, &[inet(argument)]);
            assert_eq!(found, Ok(Some(wanted.to_owned())), "{name}({argument})");
        }
        let merged = call(
            "inet_merge",
            &[inet("192.168.1.5/24"), inet("192.168.2.5/24")],
        );
        assert_eq!(merged, Ok(Some("192.168.0.0/22".to_owned())));
        let cast = cast(inet("10.1.2.3/8"), &Type::Cidr);
        assert_eq!(cast, Ok(Some("10.0.0.0/8".to_owned())));
        let error = call("set_masklen", &[inet("::"), (Type::Int4, Some("129"))]).unwrap_err();
        assert_eq!(error.message, "invalid mask length: 129");
    }

    #[test]
    fn hardware_addresses() {
        let mac = || (Type::MacAddr, Some("12:34:56:78:90:ab"));
        let wide = cast(mac(), &Type::MacAddr8).unwrap().unwrap();
        assert_eq!(wide, "12:34:56:ff:fe:78:90:ab");
        assert_eq!(
            cast((Type::MacAddr8, Some(&wide)), &Type::MacAddr),
            Ok(mac().1.map(str::to_owned))
        );
        let other = (Type::MacAddr8, Some("12:34:56:ff:ff:78:90:ab"));
        assert_eq!(cast(other, &Type::MacAddr).unwrap_err().sqlstate, "22003");
        assert_eq!(
            call("trunc", &[mac()]),
            Ok(Some("12:34:56:00:00:00".to_owned()))
        );
        assert_eq!(
            operate("~", &[mac()]),
            Ok(Some("ed:cb:a9:87:6f:54".to_owned()))
        );
    }
}
