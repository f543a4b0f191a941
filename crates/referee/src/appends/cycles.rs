//! Short cycles of a graph whose edges have labels.
//!
//! A cycle lies in a strong component. Tarjan's algorithm finds the components, with a stack of its own,
//! as a chain of a million transactions is usual. A search in breadth from each state of a component
//! then finds the shortest cycle through it.
//!
//! ```text
//!     A ──▶ B ──▶ C ──▶ D          components: {B, C, D} and {A}
//!           ▲           │          cycle: B C D
//!           └───────────┘
//! ```
//!
//! A view tells which edges may be followed. [`View::Spaced`] has each node twice, so that a cycle of
//! states is a cycle of nodes in which no rw edge follows another.
//!
//! Left out: all cycles, of which there may be very many. The search ends after some effort.

use std::collections::BTreeMap;
use std::ops::Range;

use super::NONE;

/// Most edges that a search for short cycles follows.
const EFFORT: usize = 50_000_000;

/// The kind of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// From a writer to the next one.
    Ww,
    /// From a writer to a reader.
    Wr,
    /// From a reader to the writer of what it did not read.
    Rw,
}

impl Label {
    /// All labels in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Ww, Self::Wr, Self::Rw];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ww => "ww",
            Self::Wr => "wr",
            Self::Rw => "rw",
        }
    }
}

/// An edge, which has its label apart.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The node that it leaves.
    pub from: u32,
    /// The node to which it leads.
    pub to: u32,
    /// The key whose list tells of it.
    pub key: u32,
}

/// The edges that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// ww edges.
    Ww,
    /// ww and wr edges.
    WwWr,
    /// All, but no rw edge behind an rw edge. States of even number are nodes that were reached by
    /// another edge, the odd ones behind them the same nodes reached by an rw edge.
    Spaced,
    /// All.
    All,
}

/// Edges by the node that they leave, those of a node in the order ww, wr, rw.
pub struct Graph {
    starts: Vec<u32>,
    targets: Vec<u32>,
    keys: Vec<u32>,
    labels: Vec<Label>,
}

/// A cycle's edges.
pub type Cycle = Vec<(Edge, Label)>;

impl Graph {
    /// The graph of some nodes and of edges of each label.
    pub fn new(nodes: usize, edges: &[Vec<Edge>; 3]) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        for edge in edges.iter().flatten() {
            starts[edge.from as usize + 1] += 1;
        }
        for at in 0..nodes {
            starts[at + 1] += starts[at];
        }
        let count = starts[nodes] as usize;
        let mut free = starts.clone();
        let mut graph = Self {
            starts,
            targets: vec![0; count],
            keys: vec![0; count],
            labels: vec![Label::Ww; count],
        };
        for (edges, label) in edges.iter().zip(Label::ALL) {
            for edge in edges {
                let at = free[edge.from as usize] as usize;
                free[edge.from as usize] += 1;
                graph.targets[at] = edge.to;
                graph.keys[at] = edge.key;
                graph.labels[at] = label;
            }
        }
        graph
    }

    fn states(&self, view: View) -> u32 {
        let nodes = self.starts.len() as u32 - 1;
        nodes * if view == View::Spaced { 2 } else { 1 }
    }

    fn node(view: View, state: u32) -> u32 {
        if view == View::Spaced {
            state / 2
        } else {
            state
        }
    }

    /// The edges of a state.
    fn edges(&self, view: View, state: u32) -> Range<u32> {
        let node = Self::node(view, state) as usize;
        self.starts[node]..self.starts[node + 1]
    }

    /// The state to which an edge leads.
    fn follow(&self, view: View, state: u32, edge: u32) -> Option<u32> {
        let (to, label) = (self.targets[edge as usize], self.labels[edge as usize]);
        match (view, label) {
            (View::Ww, Label::Wr | Label::Rw) | (View::WwWr, Label::Rw) => None,
            (View::Ww | View::WwWr | View::All, _) => Some(to),
            (View::Spaced, Label::Ww | Label::Wr) => Some(2 * to),
            (View::Spaced, Label::Rw) if state.is_multiple_of(2) => Some(2 * to + 1),
            (View::Spaced, Label::Rw) => None,
        }
    }

    /// The strong components with several states, by Tarjan's algorithm with a stack of its own.
    fn components(&self, view: View) -> Vec<Vec<u32>> {
        let states = self.states(view);
        let mut components = Vec::new();
        // Numbers in the order of visits, from 1.
        let mut numbers = vec![0_u32; states as usize];
        let mut lowest = vec![0_u32; states as usize];
        let mut is_open = vec![false; states as usize];
        let mut open: Vec<u32> = Vec::new();
        let mut path: Vec<(u32, u32)> = Vec::new();
        let mut count = 0;
        for root in 0..states {
            if numbers[root as usize] != 0 {
                continue;
            }
            let mut entered = Some(root);
            loop {
                if let Some(state) = entered.take() {
                    count += 1;
                    numbers[state as usize] = count;
                    lowest[state as usize] = count;
                    is_open[state as usize] = true;
                    open.push(state);
                    path.push((state, self.edges(view, state).start));
                }
                let Some((state, edge)) = path.last_mut() else {
                    break;
                };
                let (state, at) = (*state, *edge);
                if at < self.edges(view, state).end {
                    *edge += 1;
                    let Some(next) = self.follow(view, state, at) else {
                        continue;
                    };
                    if numbers[next as usize] == 0 {
                        entered = Some(next);
                    } else if is_open[next as usize] {
                        let low = lowest[state as usize].min(numbers[next as usize]);
                        lowest[state as usize] = low;
                    }
                    continue;
                }
                path.pop();
                let low = lowest[state as usize];
                if let Some((before, _)) = path.last() {
                    lowest[*before as usize] = lowest[*before as usize].min(low);
                }
                if low == numbers[state as usize] {
                    let at = open.iter().rposition(|one| *one == state).unwrap_or(0);
                    let component = open.split_off(at);
                    for one in &component {
                        is_open[*one as usize] = false;
                    }
                    if component.len() > 1 {
                        components.push(component);
                    }
                }
            }
        }
        components
    }

    /// Short cycles, the shortest ones first.
    pub fn cycles(&self, view: View) -> Vec<Cycle> {
        let components = self.components(view);
        if components.is_empty() {
            return Vec::new();
        }
        let states = self.states(view) as usize;
        let mut search = Search {
            graph: self,
            view,
            component: vec![NONE; states],
            reached: vec![NONE; states],
            from: vec![(0, 0); states],
            effort: EFFORT,
        };
        for (number, component) in (0..).zip(&components) {
            for state in component {
                search.component[*state as usize] = number;
            }
        }
        let mut found: BTreeMap<Vec<u32>, Cycle> = BTreeMap::new();
        'components: for component in &components {
            for start in component {
                if search.effort == 0 {
                    break 'components;
                }
                let Some(cycle) = search.shortest(*start) else {
                    continue;
                };
                let mut nodes: Vec<u32> = cycle.iter().map(|(edge, _)| edge.from).collect();
                nodes.sort_unstable();
                // A cycle that meets a node twice is made of shorter ones.
                if nodes.windows(2).all(|pair| pair[0] != pair[1]) {
                    found.entry(nodes).or_insert(cycle);
                }
            }
        }
        let mut found: Vec<Cycle> = found.into_values().collect();
        found.sort_by_key(Vec::len);
        found
    }
}

/// A search for short cycles.
struct Search<'g> {
    graph: &'g Graph,
    view: View,
    /// The component of each state that is in one of several states.
    component: Vec<u32>,
    /// The start from which a state was last reached,
    reached: Vec<u32>,
    /// and from which state and by which edge.
    from: Vec<(u32, u32)>,
    /// Edges that may still be followed.
    effort: usize,
}

impl Search<'_> {
    /// The shortest cycle through a state, by a search in breadth.
    fn shortest(&mut self, start: u32) -> Option<Cycle> {
        let mut queue = vec![start];
        let mut next = 0;
        while let Some(state) = queue.get(next).copied() {
            next += 1;
            for edge in self.graph.edges(self.view, state) {
                self.effort = self.effort.checked_sub(1)?;
                let Some(to) = self.graph.follow(self.view, state, edge) else {
                    continue;
                };
                let at = to as usize;
                if self.component[at] != self.component[start as usize] || self.reached[at] == start
                {
                    continue;
                }
                self.reached[at] = start;
                self.from[at] = (state, edge);
                if to == start {
                    return Some(self.back(start));
                }
                queue.push(to);
            }
        }
        None
    }

    /// The edges that led back to a start.
    fn back(&self, start: u32) -> Cycle {
        let mut cycle = Vec::new();
        let mut state = start;
        loop {
            let (before, edge) = self.from[state as usize];
            let edge_at = edge as usize;
            let edge = Edge {
                from: Graph::node(self.view, before),
                to: Graph::node(self.view, state),
                key: self.graph.keys[edge_at],
            };
            cycle.push((edge, self.graph.labels[edge_at]));
            state = before;
            if state == start {
                cycle.reverse();
                return cycle;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(edges: &[(u32, u32, Label)], view: View) -> Vec<Vec<u32>> {
        let of = |label: Label| {
            let of = edges.iter().filter(|(.., one)| *one == label);
            let edge = |(from, to, _): &(u32, u32, Label)| Edge {
                from: *from,
                to: *to,
                key: 0,
            };
            of.map(edge).collect::<Vec<_>>()
        };
        let cycles = Graph::new(6, &Label::ALL.map(of)).cycles(view);
        let nodes = |cycle: Cycle| cycle.iter().map(|(edge, _)| edge.from).collect();
        cycles.into_iter().map(nodes).collect()
    }

    #[test]
    fn views_follow_their_edges() {
        use Label::{Rw, Wr, Ww};
        let views = [View::Ww, View::WwWr, View::Spaced, View::All];
        let none = Vec::<Vec<u32>>::new();
        let one = vec![vec![0, 1, 2]];
        let cases = [
            ([Ww, Ww, Ww], [true, true, true, true]),
            ([Ww, Wr, Ww], [false, true, true, true]),
            ([Ww, Rw, Ww], [false, false, true, true]),
            ([Rw, Wr, Rw], [false, false, false, true]),
            ([Rw, Rw, Ww], [false, false, false, true]),
        ];
        for (labels, expected) in cases {
            let edges = [(0, 1, labels[0]), (1, 2, labels[1]), (2, 0, labels[2])];
            for (view, is_found) in views.into_iter().zip(expected) {
                let mut cycles = found(&edges, view);
                for cycle in &mut cycles {
                    cycle.sort_unstable();
                }
                let expected = if is_found { &one } else { &none };
                assert_eq!(&cycles, expected, "{labels:?} {view:?}");
            }
        }
    }

    #[test]
    fn each_node_tells_its_shortest_cycle() {
        use Label::Ww;
        let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (2, 1), (4, 5), (3, 4)];
        let edges = edges.map(|(from, to)| (from, to, Ww));
        let cycles = found(&edges, View::Ww);
        let lengths: Vec<usize> = cycles.iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 4]);
    }
}
