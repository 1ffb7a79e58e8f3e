//! The `thrum` command.
//!
//! | module | what is in it |
//! |---|---|
//! | `args` | the command line and its help |
//! | `serve` | `thrum serve`: from the arguments to the exit code |
//! | `configure` | `thrum check`, `fmt`, `config`, `init`, `import`, `reference`: what is done with a configuration |
//! | `listen` | what `--listen` takes, and how an address is bound |
//! | `banner` | what is printed at the start and at the end |
//! | `error` | what can go wrong, and what to do about it |
//! | `terminal` | colours, and the diagnostics on standard error |
//! | `browser` | `--open` |
#![forbid(unsafe_code)]

mod args;
mod banner;
mod browser;
mod configure;
mod error;
mod listen;
mod serve;
mod terminal;

use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    let command = args::parse();
    terminal::start_diagnostics();
    let done = match command {
        Command::Serve(args) => serve::run(args),
        Command::Configure(command) => configure::run(command),
    };
    done.unwrap_or_else(|error| {
        terminal::print_error(&error);
        ExitCode::FAILURE
    })
}
