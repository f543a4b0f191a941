//! Where the values of a column lie, and how to read one.

/// The place of a column's values in a block: value *n* begins at `start + n × stride`.
/// In a row store the stride is a tuple, in a column store a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Of the first value.
    pub start: usize,
    /// From one value to the next.
    pub stride: usize,
    /// Bytes of a value as it is stored.
    pub bytes: usize,
}

impl Field {
    /// Whether its values lie behind those of another, tuple by tuple.
    pub fn follows(self, other: Field) -> bool {
        self.start == other.start + other.bytes && self.stride == other.stride
    }

    /// Where the value of a tuple begins.
    #[inline]
    pub fn at(self, tuple: usize) -> usize {
        self.start + tuple * self.stride
    }
}

/// A stored value in a form that can be compared: an integer, a code of one or two
/// bytes, or the first 16 characters of a string. No integer of the tables is negative.
pub trait Key: Copy + Ord + std::fmt::Debug + Send + Sync + 'static {
    /// Keys in a node of 64 bytes.
    const PER_NODE: usize = 64 / size_of::<Self>();
    /// The largest key.
    const LARGEST: Self;
    /// The value that begins there; zero beyond the end of the memory.
    fn read(memory: &[u8], at: usize) -> Self;
    /// The least key of those that are at least this in its widest form.
    fn least(wide: u128) -> Option<Self>;
    /// The bytes that it is read from.
    fn stored(self) -> Vec<u8>;
}

/// So many bytes from there on.
#[inline]
pub fn chunk<const BYTES: usize>(memory: &[u8], at: usize) -> [u8; BYTES] {
    let chunk = memory.get(at..).and_then(<[u8]>::first_chunk);
    chunk.copied().unwrap_or([0; BYTES])
}

macro_rules! key {
    ($($type:ty: $read:ident, $stored:ident);*) => {$(
        impl Key for $type {
            const LARGEST: Self = <$type>::MAX;
            #[inline]
            fn read(memory: &[u8], at: usize) -> Self {
                <$type>::$read(chunk(memory, at))
            }
            fn least(wide: u128) -> Option<Self> {
                <$type>::try_from(wide).ok()
            }
            fn stored(self) -> Vec<u8> {
                self.$stored().to_vec()
            }
        }
    )*};
}

key!(
    u8: from_le_bytes, to_le_bytes;
    u16: from_le_bytes, to_le_bytes;
    u32: from_le_bytes, to_le_bytes;
    u128: from_be_bytes, to_be_bytes
);
