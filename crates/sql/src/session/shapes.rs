//! Statements with values in their texts that a session knows by their outlines.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::Prepared;
use crate::outline::Outline;
use crate::parameter::Parameter;

/// Most bytes of outlines that a session knows, each counted once for each statement of it; then it
/// begins anew. A statement takes some fifty times as many.
const MOST_BYTES: usize = 128 << 10;
/// Most statements of one outline: they have other literals where parameters cannot stand.
const MOST_ALIKE: usize = 8;

/// A statement of which some literals are parameters.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) prepared: Prepared,
    /// The literals of its outline that are its parameters, in the order of their numbers, and
    /// whether each has a minus sign before it.
    pub(crate) taken: Vec<(usize, bool)>,
    /// The other literals, as they are written.
    pub(crate) fixed: Vec<(usize, Box<str>)>,
    /// Whether its rows are found by keys, or it adds rows without a plan.
    pub(crate) is_quick: AtomicBool,
}

impl Shape {
    /// Whether a text of its outline is one of this statement.
    fn fits(&self, outline: &Outline, text: &str) -> bool {
        self.fixed.iter().all(|(number, written)| {
            let literal = outline.literals.get(*number);
            literal.and_then(|one| text.get(one.place.clone())) == Some(written)
        })
    }

    /// The values of its parameters in a text that fits.
    pub(crate) fn values(&self, outline: &Outline, text: &str) -> Option<Vec<Parameter>> {
        let taken = self.taken.iter();
        let values = taken.map(|(number, negative)| {
            let literal = outline.literals.get(*number)?;
            literal.value(text, *negative)
        });
        values.collect()
    }
}

/// The knowledge of a text that a session has.
pub(crate) enum Known {
    /// Its outline was not met.
    New,
    /// Its outline was met, but no statement that it fits was made.
    Met,
    /// No more statements of its outline are kept.
    Full,
    Shape(Arc<Shape>),
}

/// The statements that were made for each outline that was met; none for one that was met once.
#[derive(Debug, Default)]
pub(crate) struct Shapes(Mutex<Outlines>);

#[derive(Debug, Default)]
struct Outlines {
    bytes: usize,
    shapes: HashMap<String, Alike>,
}

/// The statements of one outline.
#[derive(Debug, Default)]
struct Alike {
    shapes: Vec<Arc<Shape>>,
    /// Whether no more of them are made.
    is_full: bool,
}

impl Shapes {
    /// The knowledge of a text.
    pub(crate) fn known(&self, outline: &Outline, text: &str) -> Known {
        let known = self.0.lock();
        let Some(alike) = known.shapes.get(&outline.key) else {
            return Known::New;
        };
        match alike.shapes.iter().find(|one| one.fits(outline, text)) {
            Some(shape) => Known::Shape(Arc::clone(shape)),
            None if alike.is_full => Known::Full,
            None => Known::Met,
        }
    }

    /// Makes no more statements of an outline, of which one could not be made.
    pub(crate) fn refuse(&self, outline: &Outline) {
        if let Some(alike) = self.0.lock().shapes.get_mut(&outline.key) {
            alike.is_full = true;
        }
    }

    /// Keeps an outline that was met, or a statement that was made for it.
    pub(crate) fn keep(&self, outline: &Outline, shape: Option<Arc<Shape>>) {
        let mut known = self.0.lock();
        if known.bytes + outline.key.len() > MOST_BYTES {
            *known = Outlines::default();
        }
        known.bytes += outline.key.len();
        let key = outline.key.clone();
        let alike = known.shapes.entry(key).or_default();
        alike.shapes.extend(shape);
        alike.is_full |= alike.shapes.len() >= MOST_ALIKE;
    }

    /// The outline of a text that needs not be read: rows of such a statement are found, or added,
    /// by its shape.
    pub(super) fn outline(&self, text: &str) -> Option<Outline> {
        if self.0.lock().shapes.is_empty() {
            return None;
        }
        let outline = Outline::of(text)?;
        match self.known(&outline, text) {
            Known::Shape(shape) if shape.is_quick.load(Ordering::Relaxed) => Some(outline),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, MOST_BYTES, Shapes};
    use crate::outline::Outline;

    #[test]
    fn many_outlines_take_bounded_memory() {
        let shapes = Shapes::default();
        let text = |number: usize| format!("SELECT c{number} FROM t WHERE a = 1");
        let outline = |number: usize| Outline::of(&text(number)).unwrap();
        for number in 0..10_000 {
            shapes.keep(&outline(number), None);
            assert!(shapes.0.lock().bytes <= MOST_BYTES);
        }
        let known = |number: usize| shapes.known(&outline(number), &text(number));
        assert!(matches!(known(9_999), Known::Met));
        shapes.refuse(&outline(9_999));
        assert!(matches!(known(9_999), Known::Full));
        assert!(matches!(known(0), Known::New));
    }
}
