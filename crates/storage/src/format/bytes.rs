//! Checked little-endian reading, and the writing that matches it.

use crate::error::{Error, Result};

/// Reads fields one after the other and never past the end.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

macro_rules! read_integer {
    ($($name:ident: $type:ty),*) => {$(
        /// Reads one little-endian integer.
        ///
        /// # Errors
        /// `Corrupt` at the end of the bytes.
        pub fn $name(&mut self) -> Result<$type> {
            self.array().map(<$type>::from_le_bytes)
        }
    )*};
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Takes the next `len` bytes.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or_else(|| {
            Error::corrupt(format!(
                "ends early: {len} bytes wanted, {} left",
                self.rest.len()
            ))
        })?;
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    read_integer!(u8: u8, u16: u16, u32: u32, u64: u64, i128: i128);

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }
}

/// Appends little-endian fields to a byte vector.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

macro_rules! write_integer {
    ($($name:ident: $type:ty),*) => {$(
        /// Appends one little-endian integer.
        pub fn $name(&mut self, value: $type) {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    )*};
}

impl Writer {
    write_integer!(u8: u8, u16: u16, u32: u32, u64: u64, i128: i128);

    /// Makes room for so many more bytes.
    pub fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve_exact(bytes);
    }

    /// Appends bytes as they are.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
