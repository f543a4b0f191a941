//! Statements as trees that can be made smaller.
//!
//! A [`Tree`] is text with holes that hold trees. Its [`Sort`] says what may stand in its place:
//! an expression of a type may be replaced by any other of that type, an optional clause by
//! nothing, and a list may lose items.
//!
//! ```text
//! Query  SELECT ⟨List ⟨Expr int: (⟨Expr int: a⟩ + ⟨Expr int: 1⟩)⟩⟩ ⟨Optional  WHERE …⟩
//! ```

use std::fmt;

use freestone_frontend::types::Type;

/// What may stand in the place of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Sort {
    /// Nothing else.
    Plain,
    /// An expression of a type.
    Expr(Type),
    /// Nothing at all.
    Optional,
    /// Fewer items, but so many at least; a separator stands between them.
    List(&'static str, usize),
    /// A query that gives columns of some types.
    Query(Vec<Type>),
}

/// A piece of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A tree.
    Node(Tree),
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Part::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Part::Text(text)
    }
}

impl From<Tree> for Part {
    fn from(tree: Tree) -> Self {
        Part::Node(tree)
    }
}

/// A part of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// What may stand in its place.
    pub sort: Sort,
    /// Its pieces.
    pub parts: Vec<Part>,
}

/// A tree of a sort and its pieces.
macro_rules! tree {
    ($sort:expr; $($part:expr),* $(,)?) => {
        $crate::generate::tree::Tree {
            sort: $sort,
            parts: vec![$($crate::generate::tree::Part::from($part)),*],
        }
    };
}
pub(crate) use tree;

impl Tree {
    /// An expression of a type.
    pub fn expr(ty: &Type, text: impl Into<String>) -> Tree {
        tree!(Sort::Expr(ty.clone()); text.into())
    }

    /// Nothing, where a clause may stand.
    pub fn nothing() -> Tree {
        tree!(Sort::Plain; "")
    }

    /// A list.
    pub fn list(separator: &'static str, least: usize, items: Vec<Tree>) -> Tree {
        Tree {
            sort: Sort::List(separator, least),
            parts: items.into_iter().map(Part::Node).collect(),
        }
    }

    /// How many trees it is made of.
    pub fn size(&self) -> usize {
        let nodes = self.parts.iter().map(|part| match part {
            Part::Text(_) => 0,
            Part::Node(tree) => tree.size(),
        });
        1 + nodes.sum::<usize>()
    }

    /// A tree in it, counted in the order of the text.
    fn at(&self, mut place: usize) -> Option<&Tree> {
        if place == 0 {
            return Some(self);
        }
        place -= 1;
        for part in &self.parts {
            if let Part::Node(tree) = part {
                match place.checked_sub(tree.size()) {
                    Some(rest) => place = rest,
                    None => return tree.at(place),
                }
            }
        }
        None
    }

    /// The tree with another one at a place.
    pub(super) fn with(&self, mut place: usize, new: Tree) -> Tree {
        if place == 0 {
            return new;
        }
        place -= 1;
        let mut copy = self.clone();
        for part in &mut copy.parts {
            if let Part::Node(tree) = part {
                match place.checked_sub(tree.size()) {
                    Some(rest) => place = rest,
                    None => {
                        *tree = tree.with(place, new);
                        break;
                    }
                }
            }
        }
        copy
    }

    /// The places of its expressions that have no others in them, and their types.
    pub(super) fn leaves(&self) -> Vec<(usize, Type)> {
        let places = (0..self.size()).filter_map(|place| {
            let tree = self.at(place)?;
            match &tree.sort {
                Sort::Expr(ty) if tree.size() == 1 => Some((place, ty.clone())),
                _ => None,
            }
        });
        places.collect()
    }

    /// Trees of a sort in it, itself left out.
    fn descendants<'a>(&'a self, sort: &Sort, found: &mut Vec<&'a Tree>) {
        for part in &self.parts {
            if let Part::Node(tree) = part {
                if tree.sort == *sort {
                    found.push(tree);
                }
                tree.descendants(sort, found);
            }
        }
    }

    /// Smaller statements: those in which the tree at a place is replaced.
    pub fn smaller(&self, place: usize) -> Vec<Tree> {
        let Some(tree) = self.at(place) else {
            return Vec::new();
        };
        let mut new = Vec::new();
        match &tree.sort {
            Sort::Plain => {}
            Sort::Optional => new.push(Tree::nothing()),
            Sort::List(_, least) => {
                for at in 0..tree.parts.len() {
                    if tree.parts.len() > *least {
                        let mut fewer = tree.clone();
                        fewer.parts.remove(at);
                        new.push(fewer);
                    }
                }
            }
            Sort::Query(_) => {
                let mut found = Vec::new();
                tree.descendants(&tree.sort, &mut found);
                new.extend(found.into_iter().take(6).cloned());
            }
            Sort::Expr(ty) => {
                let mut found = Vec::new();
                tree.descendants(&tree.sort, &mut found);
                new.extend(found.into_iter().take(6).cloned());
                if tree.size() > 1 || tree.to_string().len() > 24 {
                    new.push(Tree::expr(ty, format!("NULL::{ty}")));
                    new.extend(plainest(ty).map(|text| Tree::expr(ty, text)));
                }
            }
        }
        new.into_iter().map(|new| self.with(place, new)).collect()
    }
}

/// The plainest value of a type that is not NULL.
fn plainest(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Bool => "true",
        Type::Int4 => "1",
        Type::Int2 => "1::smallint",
        Type::Int8 => "1::bigint",
        Type::Numeric(_) => "1.5",
        Type::Float8 => "1.5::float8",
        Type::Text => "'a'::text",
        Type::Date => "date '2020-01-31'",
        Type::Timestamp(_) => "timestamp '2020-01-31 10:00'",
        Type::Interval => "interval '1 day'",
        Type::Varchar(_) => "'a'::varchar",
        Type::Char(Some(1)) => "'a'::character(1)",
        Type::Jsonb => "'[1]'::jsonb",
        Type::Float4 => "1.5::real",
        Type::Array(element) if **element == Type::Int4 => "'{1,2}'::int[]",
        Type::Array(element) if **element == Type::Text => "'{a,b}'::text[]",
        _ => return None,
    })
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            if let (Sort::List(separator, _), true) = (&self.sort, at > 0) {
                f.write_str(separator)?;
            }
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::Node(tree) => write!(f, "{tree}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum() -> Tree {
        let one = Tree::expr(&Type::Int4, "x");
        let other = Tree::expr(&Type::Int4, "y");
        tree!(Sort::Expr(Type::Int4); "(", one, " + ", other, ")")
    }

    #[test]
    fn a_tree_is_written_as_text() {
        let list = Tree::list(", ", 1, vec![sum(), Tree::expr(&Type::Int4, "z")]);
        assert_eq!(
            tree!(Sort::Plain; "SELECT ", list).to_string(),
            "SELECT (x + y), z"
        );
    }

    #[test]
    fn an_expression_is_replaced_by_its_parts() {
        let statement = tree!(Sort::Plain; "SELECT ", sum());
        let smaller = statement.smaller(1);
        let smaller: Vec<String> = smaller.iter().map(Tree::to_string).collect();
        assert_eq!(
            smaller,
            ["SELECT x", "SELECT y", "SELECT NULL::integer", "SELECT 1"]
        );
    }

    #[test]
    fn a_list_keeps_its_least_items() {
        let list = Tree::list(", ", 1, vec![sum(), Tree::expr(&Type::Int4, "z")]);
        let smaller: Vec<String> = list.smaller(0).iter().map(Tree::to_string).collect();
        assert_eq!(smaller, ["z", "(x + y)"]);
        assert!(Tree::list(", ", 1, vec![sum()]).smaller(0).is_empty());
    }
}
