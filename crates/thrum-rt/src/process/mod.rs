//! Child processes.
//!
//! ```
//! use thrum_rt::process::Command;
//!
//! # thrum_rt::block_on(async {
//! let output = Command::new("echo").arg("hello").output(1024).await?;
//! assert!(output.status.success());
//! assert_eq!(output.stdout, b"hello\n");
//! # std::io::Result::Ok(())
//! # }).unwrap();
//! ```
//!
//! A child that is dropped before it was waited for runs on, unless [`Command::kill_on_drop`] says otherwise. It leaves no
//! zombie: a task of the runtime waits for it. After the end of the runtime the next [`Command::spawn`] of the process
//! clears away what has ended by then.
//!
//! A child is started by the thread that calls [`Command::spawn`]. One that asked for a signal at the end of its parent
//! (PR_SET_PDEATHSIG, see prctl(2)) gets it when that *thread* ends, and the threads of a runtime come and go. Start such a
//! child from a thread that stays, such as the one inside [`block_on`](crate::block_on).

mod child;
mod command;
mod exit;
mod orphan;

pub use std::process::{ExitStatus, Output, Stdio};

pub use self::child::Child;
pub use self::command::Command;
