//! The `thrum` command.
//!
//! | module | what is in it |
//! |---|---|
//! | `args` | the command line and its help |
//! | `serve` | `thrum serve`: from the arguments to the exit code |
//! | `bench` | `thrum bench`: what a server can take |
//! | `passwd` | `thrum passwd`: a user's line for a file of users |
//! | `run` | `thrum run`: the sites of a configuration |
//! | `command` | `thrum reload`, `upgrade`, `retire`, `stop` |
//! | `top` | `thrum top`: what a running server does |
//! | `ending` | how both end: asked to, finishing, at once |
//! | `configure` | `thrum check`, `fmt`, `config`, `explain`, `init`, `import`, `reference`: what is done with a configuration |
//! | `documents` | `thrum man`, `completions`: made of the command line's definition |
//! | `listen` | what `--listen` takes, and how an address is bound |
//! | `banner` | what is printed at the start and at the end |
//! | `error` | what can go wrong, and what to do about it |
//! | `terminal` | colours, and the diagnostics on standard error |
//! | `browser` | `--open` |
#![forbid(unsafe_code)]

mod args;
mod banner;
mod bench;
mod browser;
mod command;
mod configure;
mod descriptors;
mod documents;
mod ending;
mod error;
mod listen;
mod passwd;
mod run;
mod serve;
mod terminal;
mod top;

use std::process::ExitCode;

use args::Command;
use command::Tell;

fn main() -> ExitCode {
    let command = args::parse();
    terminal::start_diagnostics();
    let done = match command {
        Command::Serve(args) => serve::run(args),
        Command::Bench(args) => bench::run(*args),
        Command::Passwd(args) => passwd::run(args),
        Command::Run(args) => run::run(args),
        Command::Reload(args) => command::tell(Tell::Reload, &args),
        Command::Upgrade(args) => command::tell(Tell::Upgrade, &args),
        Command::Retire(args) => command::tell(Tell::Retire, &args),
        Command::Stop(args) => command::tell(Tell::Stop, &args),
        Command::Top(args) => top::run(args),
        Command::Configure(command) => configure::run(command),
        Command::Man(args) => documents::man(args::definition(), &args),
        Command::Completions(args) => documents::completions(args::definition(), &args),
    };
    done.unwrap_or_else(|error| {
        terminal::print_error(&error);
        ExitCode::FAILURE
    })
}
