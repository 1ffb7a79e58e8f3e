//! A shared cache of responses, as RFC 9111 has it: for what comes from upstreams and scripts.
//!
//! | module | what is in it |
//! |---|---|
//! | `policy` | what may be kept, for how long, and whom it may answer: pure rules, no clock |
//! | `entry` | a response that is kept |
//! | `key` | what a kept response is found by, its variants included |
//! | `store` | where they are kept: `memory`, bounded in bytes, and behind it `disk` |
//! | `flight` | requests that wait for one that is under way, rather than go the same way |
//! | `record` | a body that is kept while it is sent |
//! | `layer` | the handler around another that answers from all this |
//! | `config` | how it is written |

mod config;
mod disk;
mod entry;
mod flight;
mod key;
mod layer;
mod memory;
mod policy;
mod record;
mod store;

pub use config::LAYER;
pub use layer::Cached;
pub use store::{Cache, CacheCounts, CacheLimits};
