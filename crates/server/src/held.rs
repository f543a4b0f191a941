//! What a connection keeps by names, and how many bytes that is.

use std::collections::HashMap;

/// Something that takes so many bytes, the same for as long as it is kept.
pub(crate) trait Weighed {
    /// Its bytes, as far as they came from the client.
    fn bytes(&self) -> usize;
}

/// Things by their names.
#[derive(Debug)]
pub(crate) struct Held<T> {
    all: HashMap<String, T>,
    bytes: usize,
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        Self {
            all: HashMap::new(),
            bytes: 0,
        }
    }
}

/// Bytes of a name and its place, beside what it names.
const PLACE: usize = 256;

impl<T: Weighed> Held<T> {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Bytes of all of them.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.all.get(name)
    }

    /// Puts one in the place of that name.
    pub(crate) fn insert(&mut self, name: String, one: T) {
        self.bytes += taken(&name, &one);
        let length = name.len();
        if let Some(before) = self.all.insert(name, one) {
            self.bytes -= before.bytes() + length + PLACE;
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<T> {
        let one = self.all.remove(name)?;
        self.bytes -= taken(name, &one);
        Some(one)
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.bytes = 0;
    }
}

fn taken(name: &str, one: &impl Weighed) -> usize {
    one.bytes() + name.len() + PLACE
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weighed for Vec<u8> {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    #[test]
    fn bytes_are_those_of_what_is_kept() {
        let mut held = Held::default();
        held.insert("one".to_owned(), vec![0; 100]);
        held.insert("two".to_owned(), vec![0; 50]);
        held.insert("one".to_owned(), vec![0; 10]);
        assert_eq!((held.len(), held.bytes()), (2, 66 + 2 * PLACE));
        assert_eq!(held.remove("two").map(|two| two.len()), Some(50));
        assert_eq!(held.remove("two"), None);
        held.remove("one").unwrap();
        assert_eq!(held.bytes(), 0);
    }
}
