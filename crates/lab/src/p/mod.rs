//! P: PAX against NSM and DSM (Ailamaki, DeWitt and Hill).
//!
//! The paper's queries of TPC-H (1, 6, 12 and 14) are asked by SQL, in figure 12; without a
//! program that gives it they are not tested.

mod bench;
mod lineitem;
mod look_ups;
mod p10;
mod p11;
mod p12;
mod p13;
mod p14;
mod p7;
mod p8;
mod p9;
mod places;
mod plots;
mod pt1;
mod pt2;
pub(crate) mod relation;
mod replica;
mod selection;
mod table;
mod touched;
mod tpch;

use crate::experiment::Experiment;

/// The experiments of the paper, in its order.
pub const EXPERIMENTS: &[&Experiment] = &[
    &pt1::EXPERIMENT,
    &p7::EXPERIMENT,
    &p8::EXPERIMENT,
    &p9::EXPERIMENT,
    &p10::EXPERIMENT,
    &p11::EXPERIMENT,
    &pt2::EXPERIMENT,
    &p12::EXPERIMENT,
    &p13::EXPERIMENT,
    &look_ups::EXPERIMENT,
    &p14::EXPERIMENT,
];
