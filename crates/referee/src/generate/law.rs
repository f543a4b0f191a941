//! Statements that must agree with each other, whatever their rows are.

use super::scope::Scope;
use super::tree::{Sort, Tree, tree};
use super::{Case, Generator};

/// A query and a condition over its rows.
#[derive(Clone, Debug)]
pub struct Partition {
    /// `SELECT … FROM …`.
    pub query: String,
    /// `FROM …`.
    pub from: String,
    /// The condition.
    pub condition: String,
}

impl Generator<'_> {
    /// Tables, and queries with conditions over them.
    pub fn partitions(&mut self, many: usize) -> (Case, Vec<Partition>) {
        let case = self.case(0);
        let partitions = (0..many).map(|_| self.partition()).collect();
        (case, partitions)
    }

    fn partition(&mut self) -> Partition {
        self.ctes.clear();
        self.scopes.clear();
        self.names = 0;
        self.budget = 3 + self.random.below(10);
        let (from, relations) = self.from();
        self.scopes.push(Scope {
            relations,
            ..Scope::default()
        });
        let types: Vec<_> = (0..2).map(|_| self.wanted_type()).collect();
        let items = types.iter().map(|ty| self.expr(ty)).collect();
        self.budget += 3;
        let condition = self.condition();
        self.scopes.pop();
        let items = Tree::list(", ", 1, items);
        Partition {
            query: tree!(Sort::Plain; "SELECT ", items, from.clone()).to_string(),
            from: from.to_string(),
            condition: condition.to_string(),
        }
    }
}
