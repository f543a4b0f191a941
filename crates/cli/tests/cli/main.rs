//! The real program, run as its users run it.

mod batch;
mod choices;
mod damage;
mod formats;
mod inspect;
mod pages;
mod shell;
mod support;
mod tpch;
