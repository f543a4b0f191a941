//! Copying values of one width from places.

use arrow_buffer::Buffer;

/// Copies the values at `positions`; one loop per width, so that each is a plain load and store.
pub fn gather_fixed(bytes: &[u8], width: usize, positions: &[u32]) -> Buffer {
    fn gather<const N: usize>(bytes: &[u8], positions: &[u32]) -> Buffer {
        let (values, _) = bytes.as_chunks::<N>();
        let mut gathered = arrow_buffer::MutableBuffer::new(N * positions.len());
        for row in positions {
            gathered.extend_from_slice(&values[*row as usize]);
        }
        gathered.into()
    }
    match width {
        1 => gather::<1>(bytes, positions),
        2 => gather::<2>(bytes, positions),
        4 => gather::<4>(bytes, positions),
        8 => gather::<8>(bytes, positions),
        _ => gather::<16>(bytes, positions),
    }
}
