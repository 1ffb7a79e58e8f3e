//! A load generator that is honest about latency.
//!
//! Closed loops, in which each connection asks when it was answered, and open loops, in which a clock says when requests are
//! due and a server that is slow cannot keep them from counting (coordinated omission).
//!
//! ```no_run
//! use std::time::Duration;
//! use thrum_load::{Load, Plan};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut plan = Plan::new("http://127.0.0.1:8080/".parse()?)?;
//! plan.connections = 64;
//! plan.duration = Some(Duration::from_secs(5));
//! let results = Load::start(plan).await?.finish().await;
//! println!("{:.0} requests/s, p99 {:?}", results.rate(), results.latency.percentile(99.0));
//! # Ok(())
//! # }
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | `plan` | [`Plan`]: what a load is to do |
//! | `requests`, `template` | what is asked |
//! | `check` | [`Expect`]: what answers are expected to be |
//! | `pace` | [`Rate`]: when requests are due in an open loop |
//! | `turns` | whose turn it is on a connection |
//! | `lane` | one place of the load: a connection after the other |
//! | `conversation` | how a protocol asks and is answered |
//! | `dial` | who opens connections, and from where |
//! | `clock` | what wakes lanes at their times |
//! | `load` | [`Load`]: a load while it runs |
//! | `record` | noting what happens |
//! | `results` | [`Results`]: what a run saw |
//! | `latency` | [`Latency`]: a histogram |
//! | [`report`] | text, JSON, CSV, an HdrHistogram log, a page with charts |
//! | [`compare`](mod@compare) | whether two targets differ, or only their measurements |
//! | [`budget`] | what a run may take at most |
//! | [`foreign`] | flags of httperf, wrk, ab, hey and oha, explained |
//! | `units` | figures as people read them |
#![forbid(unsafe_code)]

pub mod budget;
mod check;
mod clock;
pub mod compare;
mod conversation;
mod dial;
pub mod foreign;
mod lane;
mod latency;
mod load;
mod pace;
mod plan;
mod record;
pub mod report;
mod requests;
mod results;
#[cfg(test)]
mod samples;
mod template;
mod turns;
mod units;

pub use check::{BadField, BadStatus, Expect, ExpectedField, StatusRange};
pub use latency::Latency;
pub use load::{Load, LoadError, Progress};
pub use pace::{Arrivals, BadRate, Rate};
pub use plan::{BadPlan, HttpVersion, Plan, Target};
pub use requests::{BadRequest, BodyText, RequestText};
pub use results::{ClientCost, ErrorKind, FORM, Results, Second};
