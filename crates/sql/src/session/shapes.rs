//! Shapes of statements that a session knows, with what they were bound to.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::sql::sqlparser::ast::Statement as Ast;
use parking_lot::Mutex;

use crate::keyed::KeyQuery;

/// Most shapes that a session knows; then it begins anew.
const MOST_SHAPES: usize = 256;
/// The shapes that a session knows, with their statements bound; `None` for a shape that was met
/// once.
#[derive(Debug, Default)]
pub(crate) struct Shapes(Mutex<HashMap<Ast, Option<Arc<KeyQuery>>>>);

impl Shapes {
    /// The statement that is bound for a shape; `Some(None)` for a shape that was met once.
    pub(crate) fn known(&self, shape: &Ast) -> Option<Option<Arc<KeyQuery>>> {
        self.0.lock().get(shape).cloned()
    }

    /// Keeps a shape that was met, or that was bound.
    pub(crate) fn keep(&self, shape: Ast, query: Option<Arc<KeyQuery>>) {
        let mut shapes = self.0.lock();
        if shapes.len() >= MOST_SHAPES && !shapes.contains_key(&shape) {
            shapes.clear();
        }
        shapes.insert(shape, query);
    }
}
