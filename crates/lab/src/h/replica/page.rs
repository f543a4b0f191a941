//! Dense pages (H, section 2.2.1): the number of entries, entries without gaps, and at a
//! fixed place at the end the page's number and the base value of its codec.

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;
const COUNT_BYTES: usize = 4;
/// The page's number, then the base value; reading 8 bytes at an entry never leaves the page.
const TRAILER_BYTES: usize = 8;
/// Bits for entries.
pub const ENTRY_BITS: usize = 8 * (PAGE_BYTES - COUNT_BYTES - TRAILER_BYTES);

/// A page.
pub type Page = [u8; PAGE_BYTES];

/// An empty page of that number.
pub fn empty(number: usize) -> Page {
    let mut page = [0; PAGE_BYTES];
    let trailer = PAGE_BYTES - TRAILER_BYTES;
    page[trailer..trailer + 4].copy_from_slice(&(number as u32).to_le_bytes());
    page
}

/// How many entries it has.
pub fn count(page: &Page) -> usize {
    integer(page) as usize
}

/// Sets the number of entries.
pub fn set_count(page: &mut Page, count: usize) {
    page[..COUNT_BYTES].copy_from_slice(&(count as u32).to_le_bytes());
}

/// The value that differences begin at.
pub fn base(page: &Page) -> i32 {
    integer(&page[PAGE_BYTES - 4..])
}

/// Sets the value that differences begin at.
pub fn set_base(page: &mut Page, base: i32) {
    page[PAGE_BYTES - 4..].copy_from_slice(&base.to_le_bytes());
}

/// The first four bytes as a number.
pub fn integer(bytes: &[u8]) -> i32 {
    bytes
        .first_chunk()
        .map_or(0, |four| i32::from_le_bytes(*four))
}

/// Up to 32 bits of the entries, from bit `at` on.
pub fn bits(page: &Page, at: usize, width: u32) -> u32 {
    let byte = COUNT_BYTES + at / 8;
    let word = page[byte..].first_chunk();
    let word = word.map_or(0, |eight| u64::from_le_bytes(*eight));
    ((word >> (at % 8)) & ((1 << width) - 1)) as u32
}

/// Sets up to 32 bits of the entries, which are 0.
pub fn set_bits(page: &mut Page, at: usize, width: u32, value: u32) {
    let byte = COUNT_BYTES + at / 8;
    let bits = (u64::from(value) & ((1 << width) - 1)) << (at % 8);
    for (byte, more) in page[byte..].iter_mut().zip(bits.to_le_bytes()) {
        *byte |= more;
    }
}

/// Bytes of the entries, from the byte that has bit `at` on.
pub fn bytes(page: &Page, at: usize, count: usize) -> &[u8] {
    let byte = COUNT_BYTES + at / 8;
    &page[byte..byte + count]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every width at every place, up to the page's end.
    #[test]
    fn bits_are_what_was_set() {
        for width in 1..=32 {
            let mut page = empty(7);
            let value = |entry: usize| (entry as u32).wrapping_mul(2_654_435_761) >> (32 - width);
            let count = ENTRY_BITS / width as usize;
            for entry in 0..count {
                set_bits(&mut page, entry * width as usize, width, value(entry));
            }
            set_base(&mut page, -5);
            set_count(&mut page, count);
            let found = (0..count).map(|entry| bits(&page, entry * width as usize, width));
            assert!(found.eq((0..count).map(value)), "{width}");
            assert_eq!((self::count(&page), base(&page)), (count, -5));
        }
    }
}
