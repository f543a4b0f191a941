//! All experiments.

use crate::experiment::Experiment;

/// All experiments, in the order of documents and figures.
pub fn all() -> Vec<&'static Experiment> {
    let documents: [&[&Experiment]; 5] = [
        crate::h::EXPERIMENTS,
        crate::c::EXPERIMENTS,
        crate::q::EXPERIMENTS,
        crate::p::EXPERIMENTS,
        crate::m::EXPERIMENTS,
    ];
    documents.concat()
}

/// The experiment of that name.
pub fn find(id: &str) -> Option<&'static Experiment> {
    all().into_iter().find(|experiment| experiment.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_used_once() {
        let names: BTreeSet<_> = all().iter().map(|experiment| experiment.id).collect();
        assert_eq!(names.len(), all().len());
    }
}
