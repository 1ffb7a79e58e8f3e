//! The `thrum` command.
//!
//! | module | what is in it |
//! |---|---|
//! | `args` | the command line and its help |
//! | `serve` | `thrum serve`: from the arguments to the exit code |
//! | `passwd` | `thrum passwd`: a user's line for a file of users |
//! | `listen` | what `--listen` takes, and how an address is bound |
//! | `banner` | what is printed at the start and at the end |
//! | `error` | what can go wrong, and what to do about it |
//! | `terminal` | colours, and the diagnostics on standard error |
//! | `browser` | `--open` |
#![forbid(unsafe_code)]

mod args;
mod banner;
mod browser;
mod error;
mod listen;
mod passwd;
mod serve;
mod terminal;

use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    let command = args::parse();
    terminal::start_diagnostics();
    let done = match command {
        Command::Serve(args) => serve::run(args),
        Command::Passwd(args) => passwd::run(args),
    };
    done.unwrap_or_else(|error| {
        terminal::print_error(&error);
        ExitCode::FAILURE
    })
}
