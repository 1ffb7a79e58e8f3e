//! A load generator that is honest about latency.
//!
//! | module | what is in it |
//! |---|---|
//! | `results` | [`Results`]: what a run saw |
//! | `latency` | [`Latency`]: a histogram |
#![forbid(unsafe_code)]

mod latency;
mod results;

pub use latency::Latency;
pub use results::{ClientCost, ErrorKind, FORM, Results, Second};
