//! .
fn main(){}
