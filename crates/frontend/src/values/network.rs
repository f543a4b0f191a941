//! Addresses of networks: INET and CIDR, MACADDR and MACADDR8.
//!
//! An INET is held in bytes whose order is that of addresses: families, then networks, of one
//! network the wider before the narrower, then hosts.
//!
//! ```text
//! 4 or 6 | the network, 4 or 16 bytes | bits of the mask | the address, 4 or 16 bytes
//! ```
//!
//! A CIDR is held as an INET without bits behind its mask, and hardware addresses as their bytes.

use crate::error::{Error, Result};

/// The family of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Bits of an address.
    pub fn bits(self) -> u8 {
        match self {
            Family::V4 => 32,
            Family::V6 => 128,
        }
    }

    /// Bytes of an address.
    fn bytes(self) -> usize {
        usize::from(self.bits()) / 8
    }
}

/// An address with the bits of its mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inet {
    /// Its family.
    pub family: Family,
    /// How many bits from the left are the network's.
    pub bits: u8,
    /// The address as a number.
    pub address: u128,
}

impl Inet {
    /// The number of a mask: ones for the network, zeros for the host.
    pub fn mask(self) -> u128 {
        self.all() & !self.host_mask()
    }

    /// The other way round.
    pub fn host_mask(self) -> u128 {
        match u32::from(self.family.bits() - self.bits) {
            128 => u128::MAX,
            host => (1 << host) - 1,
        }
    }

    /// The greatest address of the family.
    pub fn all(self) -> u128 {
        match self.family {
            Family::V4 => u32::MAX.into(),
            Family::V6 => u128::MAX,
        }
    }

    /// The network, without bits of a host.
    pub fn network(self) -> Inet {
        Inet {
            address: self.address & self.mask(),
            ..self
        }
    }

    /// How many bits from the left two addresses of one family have in common, at most so many.
    pub fn common(self, other: Inet, most: u8) -> u8 {
        let differing = self.address ^ other.address;
        let unused = 128 - u32::from(self.family.bits());
        let same = differing.leading_zeros() - unused;
        most.min(u8::try_from(same).unwrap_or(most))
    }

    /// The bytes that it is held in.
    pub fn encode(self) -> Vec<u8> {
        let size = self.family.bytes();
        let mut bytes = Vec::with_capacity(2 + 2 * size);
        bytes.push(match self.family {
            Family::V4 => 4,
            Family::V6 => 6,
        });
        bytes.extend(&self.network().address.to_be_bytes()[16 - size..]);
        bytes.push(self.bits);
        bytes.extend(&self.address.to_be_bytes()[16 - size..]);
        bytes
    }

    /// The address that bytes hold; that of all zeros for others.
    pub fn decode(bytes: &[u8]) -> Inet {
        let family = match bytes.first() {
            Some(6) => Family::V6,
            _ => Family::V4,
        };
        let size = family.bytes();
        let bits = bytes.get(1 + size).copied().unwrap_or(family.bits());
        let address = bytes.get(2 + size..).unwrap_or_default();
        Inet {
            family,
            bits: bits.min(family.bits()),
            address: number(address),
        }
    }

    /// The binary form of the protocol: family, bits of the mask, whether it is a CIDR, how many
    /// bytes follow, and these.
    pub fn sent(self, is_cidr: bool) -> Vec<u8> {
        let size = self.family.bytes();
        let family = match self.family {
            Family::V4 => 2,
            Family::V6 => 3,
        };
        let mut bytes = vec![family, self.bits, is_cidr.into(), size as u8];
        bytes.extend(&self.address.to_be_bytes()[16 - size..]);
        bytes
    }

    /// The text of an address in the binary form of the wire; `None` for bytes that are no address.
    pub fn received(bytes: &[u8]) -> Option<String> {
        let [family, bits, _, size, address @ ..] = bytes else {
            return None;
        };
        let family = match family {
            2 => Family::V4,
            3 => Family::V6,
            _ => return None,
        };
        let size = usize::from(*size);
        let fits = size == family.bytes() && address.len() == size && *bits <= family.bits();
        fits.then(|| {
            Inet {
                family,
                bits: *bits,
                address: number(address),
            }
            .full()
        })
    }

    /// Reads an INET.
    ///
    /// # Errors
    /// `22P02`.
    pub fn read(text: &str) -> Result<Inet> {
        let found = match text.contains(':') {
            true => v6(text.as_bytes()),
            false => v4_with_mask(text.as_bytes()),
        };
        found.ok_or_else(|| invalid("inet", text))
    }

    /// Reads a CIDR, whose mask may follow from its address.
    ///
    /// # Errors
    /// `22P02`, also for bits behind the mask.
    pub fn read_cidr(text: &str) -> Result<Inet> {
        let found = match text.contains(':') {
            true => v6(text.as_bytes()),
            false => v4_network(text.as_bytes()),
        };
        let found = found.ok_or_else(|| invalid("cidr", text))?;
        match found == found.network() {
            true => Ok(found),
            false => {
                let message = format!("invalid cidr value: \"{text}\"");
                Err(Error::new("22P02", message)
                    .with_detail("Value has bits set to right of mask."))
            }
        }
    }

    /// The address without its mask.
    pub fn host(self) -> String {
        match self.family {
            Family::V4 => dotted(self.address),
            Family::V6 => colons(self.address),
        }
    }

    /// The address with its mask.
    pub fn full(self) -> String {
        format!("{}/{}", self.host(), self.bits)
    }

    /// An INET as it is shown: a mask of all bits is left out.
    pub fn shown(self) -> String {
        match self.bits == self.family.bits() {
            true => self.host(),
            false => self.full(),
        }
    }

    /// A CIDR in short, without the parts of the address that its mask leaves out.
    pub fn short(self) -> String {
        let shown = match self.family {
            Family::V4 => short_v4(self.network().address, self.bits),
            Family::V6 => short_v6(self.network().address, self.bits),
        };
        format!("{shown}/{}", self.bits)
    }
}

/// Bytes as a number, the first the highest.
fn number(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .take(16)
        .fold(0, |number, byte| number << 8 | u128::from(*byte))
}

fn invalid(ty: &str, text: &str) -> Error {
    let message = format!("invalid input syntax for type {ty}: \"{text}\"");
    Error::new("22P02", message)
}

fn dotted(address: u128) -> String {
    let [.., a, b, c, d] = address.to_be_bytes();
    format!("{a}.{b}.{c}.{d}")
}

/// The eight words of an address.
fn words(address: u128) -> [u16; 8] {
    std::array::from_fn(|at| (address >> (112 - 16 * at)) as u16)
}

/// An IPv6 address, with `::` for the longest run of at least two words of zeros and the last
/// words of an IPv4 address in decimal digits.
fn colons(address: u128) -> String {
    let words = words(address);
    let (mut start, mut length) = (0, 0);
    let mut at = 0;
    while at < words.len() {
        let zeros = words[at..].iter().take_while(|word| **word == 0).count();
        if zeros > length {
            (start, length) = (at, zeros);
        }
        at += zeros.max(1);
    }
    if length < 2 {
        (start, length) = (8, 0);
    }
    let is_v4 = start == 0
        && (length == 6 || length == 7 && words[7] != 1 || length == 5 && words[5] == 0xffff);
    let mut out = String::new();
    for (at, word) in words.iter().enumerate() {
        if (start..start + length).contains(&at) {
            if at == start {
                out.push(':');
            }
            continue;
        }
        if at > 0 {
            out.push(':');
        }
        if at == 6 && is_v4 {
            out.push_str(&dotted(address & 0xffff_ffff));
            return out;
        }
        out.push_str(&format!("{word:x}"));
    }
    if length > 0 && start + length == 8 {
        out.push(':');
    }
    out
}

fn short_v4(address: u128, bits: u8) -> String {
    let [.., a, b, c, d] = address.to_be_bytes();
    let count = usize::from(bits.div_ceil(8)).max(1);
    let octets = [a, b, c, d].map(|octet| octet.to_string());
    octets[..count].join(".")
}

/// As the system that PostgreSQL has it from does, which counts runs of zeros in its own way.
fn short_v6(address: u128, bits: u8) -> String {
    if bits == 0 {
        return "::".to_owned();
    }
    let bytes = address.to_be_bytes();
    let all = words(address);
    let count = usize::from(bits.div_ceil(16)).max(2);
    let (mut zero_start, mut zeros, mut start, mut run) = (0, 0, 0, 0);
    for (at, word) in all[..count].iter().enumerate() {
        if *word == 0 {
            if run == 0 {
                start = at;
            }
            run += 1;
        } else if run > zeros {
            (zero_start, zeros) = (start, run);
            run = 0;
        }
    }
    if run > zeros {
        (zero_start, zeros) = (start, run);
    }
    let is_v4 = zeros != count
        && zero_start == 0
        && (zeros == 6
            || zeros == 5 && all[5] == 0xffff
            || zeros == 7 && bytes[14] != 0 && bytes[15] != 1);
    let mut out = String::new();
    for at in 0..count {
        if zeros > 0 && (zero_start..zero_start + zeros).contains(&at) {
            if at == zero_start {
                out.push(':');
            }
            if at == count - 1 {
                out.push(':');
            }
            continue;
        }
        if is_v4 && at > 5 {
            out.push(if at == 6 { ':' } else { '.' });
            out.push_str(&bytes[2 * at].to_string());
            if at != 7 || bits > 120 {
                out.push_str(&format!(".{}", bytes[2 * at + 1]));
            }
            continue;
        }
        if !out.is_empty() {
            out.push(':');
        }
        out.push_str(&format!("{:x}", all[at]));
    }
    out
}

/// Reads the decimal digits that a text begins with; `None` if there are none. Numbers that are
/// too large for all uses are the greatest.
fn digits(rest: &mut &[u8]) -> Option<u32> {
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, behind) = rest.split_at(count);
    *rest = behind;
    (count > 0).then(|| {
        let add =
            |sum: u32, digit: &u8| sum.saturating_mul(10).saturating_add((digit - b'0').into());
        number.iter().fold(0, add)
    })
}

/// The bits of a mask behind a slash, to the end; `None` for anything else.
fn mask(rest: &[u8]) -> Option<u8> {
    let mut rest = rest.strip_prefix(b"/")?;
    let bits = digits(&mut rest)?;
    let bits = u8::try_from(bits).ok().filter(|bits| *bits <= 32)?;
    rest.is_empty().then_some(bits)
}

fn of_octets(octets: &[u8], bits: u8) -> Inet {
    let mut bytes = [0; 4];
    bytes[..octets.len()].copy_from_slice(octets);
    Inet {
        family: Family::V4,
        bits,
        address: number(&bytes),
    }
}

/// `10.1.2.3`, or fewer octets with a mask: `10.1/16`.
fn v4_with_mask(text: &[u8]) -> Option<Inet> {
    let mut rest = text;
    let mut octets = Vec::new();
    while let Some(octet) = digits(&mut rest) {
        if octets.len() == 4 {
            return None;
        }
        octets.push(u8::try_from(octet).ok()?);
        match rest.strip_prefix(b".") {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    let bits = match rest {
        [] if octets.len() == 4 => 32,
        [] => return None,
        rest => mask(rest)?,
    };
    (!octets.is_empty() && usize::from(bits / 8) <= octets.len()).then(|| of_octets(&octets, bits))
}

/// `10.1` or `0x0a01`, with a mask or with that of its class.
fn v4_network(text: &[u8]) -> Option<Inet> {
    let mut rest = text;
    let mut octets = Vec::new();
    let is_hex = matches!(text, [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit());
    if is_hex {
        let count = text[2..]
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        for pair in text[2..2 + count].chunks(2) {
            let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
            let low = pair.get(1).map_or(0, |digit| value(*digit));
            octets.push(value(pair[0]) << 4 | low);
        }
        rest = &text[2 + count..];
    } else {
        loop {
            octets.push(u8::try_from(digits(&mut rest)?).ok()?);
            match rest.strip_prefix(b".") {
                Some(behind) if octets.len() < 4 => rest = behind,
                Some(_) => return None,
                None => break,
            }
        }
    }
    if octets.len() > 4 {
        return None;
    }
    let given = octets.len() * 8;
    let bits = match rest {
        [] => {
            let of_class = match octets.first()? {
                240.. => 32,
                224.. => 8,
                192.. => 24,
                128.. => 16,
                _ => 8,
            };
            match (of_class.max(given), octets.first()) {
                (8, Some(224)) => 4,
                (bits, _) => bits as u8,
            }
        }
        rest => mask(rest)?,
    };
    Some(of_octets(&octets, bits))
}

/// The bits of a mask of an IPv6 address: no zeros before it, at most 128.
fn v6_mask(text: &[u8]) -> Option<u8> {
    let number = plain(text)?;
    u8::try_from(number).ok().filter(|bits| *bits <= 128)
}

/// Decimal digits without zeros before them.
fn plain(text: &[u8]) -> Option<u32> {
    let mut rest = text;
    let number = digits(&mut rest)?;
    let zeros = text.len() > 1 && text[0] == b'0';
    (rest.is_empty() && !zeros).then_some(number)
}

/// The octets of an IPv4 address at the end of one of IPv6, and the bits of a mask behind it.
fn v4_within(text: &[u8]) -> Option<(Vec<u8>, u8)> {
    let (address, bits) = match text.iter().position(|byte| *byte == b'/') {
        Some(at) => (&text[..at], v6_mask(&text[at + 1..])?),
        None => (text, 128),
    };
    if text.last() == Some(&b'.') {
        return None;
    }
    // PostgreSQL takes no digits for a zero.
    let octet = |digits: &[u8]| match digits {
        [] => Some(0),
        digits => u8::try_from(plain(digits)?).ok(),
    };
    let octets = address.split(|byte| *byte == b'.').map(octet);
    let octets: Vec<u8> = octets.collect::<Option<_>>()?;
    (octets.len() <= 4).then_some((octets, bits))
}

fn v6(text: &[u8]) -> Option<Inet> {
    let mut bytes = Vec::with_capacity(16);
    let (mut rest, mut bits) = (text, 128);
    // Where zeros are left out.
    let mut gap = None;
    if let [b':', behind @ ..] = text {
        behind.first().filter(|byte| **byte == b':')?;
        rest = behind;
    }
    loop {
        let count = rest
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        let (word, behind) = rest.split_at(count);
        if let [b'.', ..] = behind {
            if bytes.len() > 12 {
                return None;
            }
            let (octets, mask) = v4_within(rest)?;
            bytes.extend(&octets);
            bytes.resize(bytes.len() + 4 - octets.len(), 0);
            bits = mask;
            break;
        }
        if count > 4 {
            return None;
        }
        if count > 0 {
            if bytes.len() > 14 {
                return None;
            }
            let value = word.iter().fold(0, |value: u16, digit| {
                value << 4 | char::from(*digit).to_digit(16).unwrap_or_default() as u16
            });
            bytes.extend(value.to_be_bytes());
        }
        match behind {
            [] => break,
            [b'/', mask @ ..] => {
                bits = v6_mask(mask)?;
                break;
            }
            [b':'] if count > 0 => return None,
            [b':', behind @ ..] => {
                if count == 0 {
                    if gap.is_some() {
                        return None;
                    }
                    gap = Some(bytes.len());
                }
                rest = behind;
            }
            _ => return None,
        }
    }
    match gap {
        Some(_) if bytes.len() >= 16 => return None,
        Some(at) => {
            let zeros = vec![0; 16 - bytes.len()];
            bytes.splice(at..at, zeros);
        }
        None if bytes.len() != 16 => return None,
        None => {}
    }
    Some(Inet {
        family: Family::V6,
        bits,
        address: number(&bytes),
    })
}

/// Bytes of a hardware address as they are shown.
pub fn mac_shown(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(":")
}

/// Reads a MACADDR in any of its forms.
///
/// # Errors
/// `22P02`, and `22003` for a part that is no byte.
pub fn read_mac(text: &str) -> Result<[u8; 6]> {
    let bad = || invalid("macaddr", text);
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    let mark = |byte: u8| trimmed.bytes().filter(|found| *found == byte).count();
    let parts: Vec<&str> = match (mark(b':'), mark(b'-'), mark(b'.')) {
        (5, 0, 0) => trimmed.split(':').collect(),
        (0, 5, 0) => trimmed.split('-').collect(),
        (1, 0, 0) => trimmed.split(':').collect(),
        (0, 1 | 2, 0) => trimmed.split('-').collect(),
        (0, 0, 2) => trimmed.split('.').collect(),
        (0, 0, 0) => vec![trimmed],
        _ => return Err(bad()),
    };
    let is_hex = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
    if !parts.iter().all(is_hex) {
        return Err(bad());
    }
    let mut bytes = [0; 6];
    if parts.len() == 6 {
        for (byte, part) in bytes.iter_mut().zip(&parts) {
            let value = u8::from_str_radix(part, 16);
            *byte = value.map_err(|_| {
                let message = format!("invalid octet value in \"macaddr\" value: \"{text}\"");
                Error::new("22003", message)
            })?;
        }
        return Ok(bytes);
    }
    let digits = parts.concat();
    let width = 12 / parts.len();
    if parts.iter().any(|part| part.len() != width) {
        return Err(bad());
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(|_| bad())?;
    }
    Ok(bytes)
}

/// Reads a MACADDR8: pairs of digits with one mark between them or none, of which six become
/// eight.
///
/// # Errors
/// `22P02`.
pub fn read_mac8(text: &str) -> Result<[u8; 8]> {
    let bad = || invalid("macaddr8", text);
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    let mut bytes = Vec::with_capacity(8);
    let (mut rest, mut between) = (trimmed.as_bytes(), None);
    while let [a, b, behind @ ..] = rest {
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(bad);
        bytes.push((digit(*a)? << 4 | digit(*b)?) as u8);
        if bytes.len() > 8 {
            return Err(bad());
        }
        rest = behind;
        if let [mark @ (b':' | b'-' | b'.'), behind @ ..] = rest {
            if *between.get_or_insert(*mark) != *mark {
                return Err(bad());
            }
            rest = behind;
        }
    }
    if !rest.is_empty() {
        return Err(bad());
    }
    match bytes.as_slice() {
        [a, b, c, d, e, f] => Ok(widened([*a, *b, *c, *d, *e, *f])),
        bytes => bytes.try_into().map_err(|_| bad()),
    }
}

/// A MACADDR as a MACADDR8.
pub fn widened([a, b, c, d, e, f]: [u8; 6]) -> [u8; 8] {
    [a, b, c, 0xff, 0xfe, d, e, f]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for (text, shown) in [
            ("10.1.2.3", "10.1.2.3"),
            ("10.1.2.3/32", "10.1.2.3"),
            ("10.1.2.3/8", "10.1.2.3/8"),
            ("10.1/16", "10.1.0.0/16"),
            ("::", "::"),
            ("::1", "::1"),
            ("1::", "1::"),
            ("::ffff:1.2.3.4/96", "::ffff:1.2.3.4/96"),
            ("::1.2.3.4", "::1.2.3.4"),
            ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("1:2:3:4:5:6:0:8", "1:2:3:4:5:6:0:8"),
            ("10:23::f1/64", "10:23::f1/64"),
        ] {
            let found = Inet::read(text).unwrap();
            assert_eq!(found.shown(), shown, "{text}");
            assert_eq!(Inet::decode(&found.encode()), found, "{text}");
        }
        for text in [
            "",
            "10",
            "10.1.2",
            "10.1.2.256",
            "10.1.2.3/33",
            "1.2.3.4.5",
            "10.1.2.3/",
            "a",
            "10/16",
            "1::2::3",
            ":1",
            "1:",
            "::/129",
            "::01.2.3.4",
            "12345::",
            "1:2:3:4:5:6:7:8:9",
            "::1/01",
            "1:2:3:4:5:6:7::8:9",
        ] {
            assert!(Inet::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn networks_have_masks_of_their_classes() {
        for (text, shown, short) in [
            ("10", "10.0.0.0/8", "10/8"),
            ("10.1", "10.1.0.0/16", "10.1/16"),
            ("192.168", "192.168.0.0/24", "192.168.0/24"),
            ("224", "224.0.0.0/4", "224/4"),
            ("240", "240.0.0.0/32", "240.0.0.0/32"),
            ("0/0", "0.0.0.0/0", "0/0"),
            ("0x0a01", "10.1.0.0/16", "10.1/16"),
            ("10.1.2.128/25", "10.1.2.128/25", "10.1.2.128/25"),
            ("::/0", "::/0", "::/0"),
            ("2001:db8::/32", "2001:db8::/32", "2001:db8/32"),
        ] {
            let found = Inet::read_cidr(text).unwrap();
            assert_eq!(
                (found.full().as_str(), found.short().as_str()),
                (shown, short),
                "{text}"
            );
        }
        let error = Inet::read_cidr("10.1.2.3/24").unwrap_err();
        assert_eq!(error.message, "invalid cidr value: \"10.1.2.3/24\"");
    }

    #[test]
    fn bytes_have_the_order_of_addresses() {
        let sorted = [
            "0.0.0.0/0",
            "10.0.0.0/8",
            "10.0.0.0/9",
            "10.0.0.1/9",
            "10.0.0.1/31",
            "10.0.0.0",
            "10.0.0.1",
            "11.0.0.0/8",
            "::/0",
            "::1",
            "ffff::",
        ];
        let bytes = sorted.map(|text| Inet::read(text).unwrap().encode());
        assert!(bytes.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn hardware_addresses() {
        let bytes = [0x08, 0x00, 0x2b, 0x01, 0x02, 0x03];
        for text in [
            "08:00:2b:01:02:03",
            "08-00-2B-01-02-03",
            "8:0:2b:1:2:3",
            "08002b:010203",
            "08002b-010203",
            "0800.2b01.0203",
            "0800-2b01-0203",
            " 08002b010203 ",
        ] {
            assert_eq!(read_mac(text), Ok(bytes), "{text}");
        }
        assert_eq!(read_mac("08:00:2b:01:02").unwrap_err().sqlstate, "22P02");
        assert_eq!(read_mac("100:0:0:0:0:0").unwrap_err().sqlstate, "22003");
        assert_eq!(mac_shown(&bytes), "08:00:2b:01:02:03");
        let wide = widened(bytes);
        for text in [
            "08:00:2b:01:02:03",
            "08:00:2b:ff:fe:01:02:03",
            "08002bfffe010203",
        ] {
            assert_eq!(read_mac8(text), Ok(wide), "{text}");
        }
        for text in ["08:00-2b:01:02:03", "08:00:2b", "0", "zz"] {
            assert_eq!(read_mac8(text).unwrap_err().sqlstate, "22P02", "{text}");
        }
    }
}
