//! Whether Freestone answers as PostgreSQL does.
//!
//! The referee asks both the same statements and compares rows, types, order and SQLSTATE.
//!
//! | module | holds |
//! |---|---|
//! | `random` | numbers that a seed repeats |
//! | `answer` | answers, and the sides that give them |
//! | `wire` | a server, asked over PostgreSQL's protocol |
//! | `functions` | the functions of the front as Markdown |
//! | `front` | Freestone's language front in this process, with tables in memory |
//! | `compare` | whether two answers are the same, and the differences that are wanted |
//! | `coverage` | which names of the documentation the corpus has |
//! | `contest` | random statements that both sides answer |
//! | `shrink` | statements and tables are made smaller |
//! | `laws` | laws that need no other database |
//! | `generate` | random tables and statements |
//! | `shapes` | statements of many sizes, each of one shape |
//! | `plan_time` | the time that planning takes |
//! | `views` | texts of views |
//! | `appends` | lists that clients append to while the server is killed, and their anomalies |
//! | `served` | a server of Freestone that goes with its owner |
//! | `suite` | public test suites, asked of both sides |
//! | `corpus` | statements of our own with PostgreSQL's recorded answers |
//!
//! It measures no speed, and it writes to temporary tables only.

pub mod answer;
pub mod appends;
pub mod compare;
pub mod contest;
pub mod corpus;
pub mod coverage;
pub mod front;
pub mod functions;
pub mod generate;
pub mod histories;
pub mod laws;
pub mod plan_time;
pub mod random;
pub mod served;
pub mod shapes;
pub mod shrink;
pub mod suite;
pub mod views;
pub mod wire;
