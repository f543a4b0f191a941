//! The server, asked by a client that is not ours, and by bytes that no client sends.

mod attacks;
mod copy;
mod encryption;
mod endless;
mod queries;
mod roles;
mod sessions;
mod startup;
mod streams;
mod support;
mod together;
mod types;
