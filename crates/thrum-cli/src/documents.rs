//! `thrum man` and `thrum completions`: pages and scripts made of the definition of the command line.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use crate::error::Failure;
use crate::terminal::print_out;

/// What `thrum man` was asked.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder for a page of each command; it is made if it is not there [default: the page of `thrum` is printed]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// What `thrum completions` was asked.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes man pages.
pub(crate) fn man(command: clap::Command, args: &ManArgs) -> Result<ExitCode, Failure> {
    match &args.folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command)
                .render(&mut page)
                .map_err(Failure::Stdout)?;
            print_out(&page)
        }
        Some(folder) => write_pages(command, folder)
            .map(|()| ExitCode::SUCCESS)
            .map_err(|error| Failure::Unwritable(folder.clone(), error)),
    }
}

fn write_pages(command: clap::Command, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(command, folder)
}

/// Prints a completion script.
pub(crate) fn completions(
    mut command: clap::Command,
    args: &CompletionsArgs,
) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "thrum", &mut script);
    print_out(&script)
}
