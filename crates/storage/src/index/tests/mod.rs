//! Tests against plain sorted vectors and maps, and with damaged bytes.

mod bloom;
mod inverted;
mod key;
mod key_model;
mod trees;

use arrow_buffer::Buffer;

/// Tries every cut and every single flipped bit of a stored index.
///
/// `open_and_use` must come back, whatever it is given; a cut must be an error.
fn damage<T>(bytes: &[u8], open_and_use: impl Fn(Buffer) -> crate::error::Result<T>) {
    assert!(open_and_use(Buffer::from(bytes)).is_ok());
    for len in 0..bytes.len() {
        assert!(
            open_and_use(Buffer::from(&bytes[..len])).is_err(),
            "cut to {len}"
        );
    }
    for place in 0..bytes.len() {
        for flip in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
            let mut bytes = bytes.to_vec();
            bytes[place] ^= flip;
            let _ = open_and_use(Buffer::from(bytes));
        }
    }
    let longer = [bytes, &[0]].concat();
    assert!(open_and_use(Buffer::from(longer)).is_err());
}
