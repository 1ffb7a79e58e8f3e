//! A load generator that is honest about latency.
//!
//! | module | what is in it |
//! |---|---|
//! | `results` | [`Results`]: what a run saw |
//! | `latency` | [`Latency`]: a histogram |
//! | [`report`] | text, JSON, CSV, an HdrHistogram log, a page with charts |
//! | [`compare`](mod@compare) | whether two targets differ, or only their measurements |
//! | [`budget`] | what a run may take at most |
//! | [`foreign`] | flags of httperf, wrk, ab, hey and oha, explained |
//! | `units` | figures as people read them |
#![forbid(unsafe_code)]

pub mod budget;
pub mod compare;
pub mod foreign;
mod latency;
pub mod report;
mod results;
#[cfg(test)]
mod samples;
mod units;

pub use latency::Latency;
pub use results::{ClientCost, ErrorKind, FORM, Results, Second};
