//! `thrum top`: what a running server does, in the terminal, as its admin page shows it.
//!
//! | module | what is in it |
//! |---|---|
//! | `source` | which server is asked, and how |
//! | `view` | lines made of what it answers |
//! | `screen` | the terminal while it is drawn on |

mod screen;
mod source;
mod view;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::Value;
use thrum_rt::{select, time};

use self::screen::Screen;
use self::source::Source;
use crate::ending;
use crate::error::Failure;

const EVERY: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  thrum top                            the server of thrum.conf, whose `admin` says where it is asked
  thrum top localhost:9900             the server whose admin page is there
  thrum top --once                     as it is now, once

q or Ctrl-C ends it. What is no terminal gets it once.";

/// What `thrum top` was asked.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TopArgs {
    /// Where the admin page is (HOST:PORT, PORT, unix:/PATH), or the configuration that says so [default: thrum.conf, or
    /// /etc/thrum/thrum.conf]
    #[arg(value_name = "ADDRESS|FILE")]
    server: Option<String>,

    /// Print it once
    #[arg(long)]
    once: bool,
}

/// Shows it until it is told to end.
pub(crate) fn run(args: TopArgs) -> Result<ExitCode, Failure> {
    let source = Source::of(args.server.as_deref())?;
    let once = args.once || !std::io::stdout().is_terminal();
    let shown = thrum_rt::block_on(async {
        match once {
            true => print(&source).await,
            false => draw(&source).await,
        }
    });
    shown.map(|()| ExitCode::SUCCESS)
}

async fn print(source: &Source) -> Result<(), Failure> {
    let data = source.ask(0).await?;
    let seconds = view::seconds(&data);
    let lines = view::lines(source.name(), &data, &seconds, 100);
    let mut text = String::new();
    lines.iter().for_each(|line| line.write(100, &mut text));
    let written = anstream::stdout().write_all(text.as_bytes());
    written.map_err(Failure::Stdout)
}

async fn draw(source: &Source) -> Result<(), Failure> {
    // Before the screen is taken: whoever cannot be asked is told of in the usual way.
    let mut data = source.ask(0).await?;
    let mut seconds = view::seconds(&data);
    let (mut screen, keys) = Screen::take().map_err(Failure::Stdout)?;
    let mut wrong: Option<String> = None;
    let stopped = ending::asked_to_stop();
    let mut stopped = std::pin::pin!(stopped);
    loop {
        let (columns, _) = screen.size();
        let mut lines = view::lines(source.name(), &data, &seconds, columns);
        if let Some(wrong) = &wrong {
            lines.insert(1, view::problem(wrong));
        }
        screen.draw(&lines).map_err(Failure::Stdout)?;
        select! {
            _ = &mut stopped => return Ok(()),
            _ = keys.recv() => return Ok(()),
            _ = time::sleep(EVERY) => {}
        }
        match source.ask(last(&seconds)).await {
            Ok(new) => {
                if new["pid"] != data["pid"] {
                    seconds.clear();
                }
                seconds.extend(view::seconds(&new));
                let old = seconds.len().saturating_sub(view::SECONDS);
                seconds.drain(..old);
                data = new;
                wrong = None;
            }
            Err(failure) => wrong = Some(failure.to_string()),
        }
    }
}

fn last(seconds: &[Value]) -> u64 {
    seconds
        .last()
        .map_or(0, |second| view::number(&second["at"]))
}
