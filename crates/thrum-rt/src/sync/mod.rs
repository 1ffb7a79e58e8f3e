//! Waiting for another task.

mod mvar;

pub use self::mvar::MVar;
