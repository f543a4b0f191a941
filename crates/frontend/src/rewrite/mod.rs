//! Plans to plans that mean the same and run faster.
//!
//! | module | holds |
//! |---|---|
//! | `unnest` | sub-queries and dependent joins become joins |
//! | `facts` | things that are known of plans without running them |

pub(crate) mod facts;
pub mod unnest;

pub use unnest::unnest;
