//! Child processes for tests.

use thrum_rt::process::Command;
use thrum_stream::{Cause, Error, ProcessFailed};

/// A shell that runs `script`.
pub(crate) fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// How the process failed that the error is about.
pub(crate) fn failure(error: &Error) -> &ProcessFailed {
    let Cause::Other(cause) = error.cause() else {
        panic!("not a failed process: {error}");
    };
    cause.downcast_ref().unwrap()
}
