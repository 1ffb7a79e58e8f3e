//! `thrum run`: the sites of a configuration, in a process that can be told to reload, upgrade, retire and stop.
//!
//! The order of the start: whatever can be wrong is tried first (configuration, files, certificates), then sockets are bound
//! or taken over, rights are given up, and only then the runtime begins its threads, which so have no rights that the first
//! had not. Signals are caught before it is said that it serves.
//!
//! | module | what is in it |
//! |---|---|
//! | `prepared` | a configuration with all that can be made of it without changing the world |
//! | `serving` | the sites while they are served: reload, upgrade, end |
//! | `events` | what can happen: signals, commands, files that change |
//! | `commands` | the control socket's side of it |
//! | `successor` | the next process, and what it takes from the last |

mod commands;
mod events;
mod prepared;
mod serving;
mod successor;

use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;

use thrum_rt::Runtime;
use thrum_rt::net::inherited_descriptors;
use thrum_server::acme::Authority;
use thrum_server::process::control::Control;
use thrum_server::process::{Listeners, Notify, PidFile, Sandbox};
use thrum_server::site::Kept;

pub(crate) use self::prepared::Prepared;
use self::serving::{Process, Serving};
use self::successor::Predecessor;
pub(crate) use self::successor::Successor;
use crate::args::RunArgs;
use crate::banner;
use crate::descriptors::most_connections;
use crate::error::Failure;
use crate::terminal;

/// Serves until it is told to stop or to retire.
pub(crate) fn run(args: RunArgs) -> Result<ExitCode, Failure> {
    let config = args.config();
    let kept = Arc::new(Kept::default());
    let prepared = Prepared::read(&config, &kept)?;
    if args.check {
        let sites = banner::sites(prepared.config.sites.len());
        terminal::print(format_args!("{} is right: {sites}", config.display()));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(state) = prepared.state() {
        make_state(&state, &prepared)?;
    }

    let mut predecessor = match &args.take_over {
        Some(socket) => Some(Predecessor::meet(socket)?),
        None => None,
    };
    let given = match &mut predecessor {
        Some(predecessor) => predecessor.take_listeners(),
        None => inherited_descriptors().map_err(|error| {
            Failure::Process(format!(
                "the sockets of the service manager cannot be had: {error}"
            ))
        })?,
    };
    let settings = &prepared.settings;
    // Before anything is bound: what runs already has the ports.
    let held = match predecessor {
        None => Some(pid_file(PidFile::create(&settings.pid_file))?),
        Some(_) => None,
    };
    let mut listeners = Listeners::with(given);
    let endpoints = prepared.endpoints();
    listeners
        .add(endpoints.keys(), settings.socket_mode)
        .map_err(|error| Failure::Process(error.to_string()))?;
    for name in listeners.unused() {
        tracing::warn!("no site asks for the socket {name:?} that was handed over");
    }
    let most_connections = most_connections();

    let workers = args.workers.or(settings.workers);
    let workers = workers.map_or_else(
        || available_parallelism().map_or(1, NonZero::get),
        |workers| usize::from(workers.get()),
    );
    // From here on the predecessor is not the one to ask, though it serves until it is told that this one does.
    let pid = match held {
        Some(held) => held,
        None => pid_file(PidFile::take_over(&settings.pid_file))?,
    };
    let socket = Control::beside(&settings.pid_file);
    let control = Control::bind(&socket).map_err(|error| {
        Failure::Process(format!(
            "the socket {} cannot be made: {error}",
            socket.display()
        ))
    })?;
    if let Some(predecessor) = &predecessor {
        predecessor.take_output();
    }
    if let Some(privileges) = &settings.privileges {
        privileges
            .drop_to()
            .map_err(|error| Failure::Process(error.to_string()))?;
    }
    let sandbox = confine(&args, &prepared)?;

    let runtime = Runtime::builder()
        .dump_on_sigusr1(true)
        .workers(workers)
        .build()
        .map_err(Failure::Runtime)?;
    let process = Process {
        program: std::env::current_exe().map_err(Failure::Runtime)?,
        config,
        args,
        workers,
        most_connections,
        sandbox,
        notify: Notify::from_env(),
        pid: Some(pid),
        control: Some(control),
    };
    runtime.block_on(Serving::run(
        process,
        kept,
        prepared,
        listeners,
        predecessor,
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn pid_file(
    held: Result<PidFile, thrum_server::process::PidFileError>,
) -> Result<PidFile, Failure> {
    held.map_err(|error| Failure::Process(error.to_string()))
}

/// Gives up what the configuration does not need. Returns what to say of it.
fn confine(args: &RunArgs, prepared: &Prepared) -> Result<String, Failure> {
    if args.no_sandbox || !prepared.settings.sandbox {
        return Ok("none".to_owned());
    }
    let mut sandbox = Sandbox::of(&prepared.config);
    for (chain, key) in &prepared.certificates.files {
        sandbox.read_beside(chain).read_beside(key);
    }
    if let Some(state) = prepared.state() {
        sandbox.write(state);
    }
    // Authorities, where the environment says that they are elsewhere.
    if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
        sandbox.read_beside(file.as_ref());
    }
    if let Some(folder) = std::env::var_os("SSL_CERT_DIR") {
        sandbox.read(folder);
    }
    // To be removed in the end.
    sandbox.write_beside(&prepared.settings.pid_file);
    for endpoint in prepared.endpoints().keys() {
        if let thrum_server::site::Endpoint::Unix(path) = endpoint {
            sandbox.write_beside(path);
        }
    }
    sandbox.io_uring(std::env::var("THRUM_IO").is_ok_and(|io| io == "io_uring"));
    let confinement = sandbox.confine();
    confinement
        .map(|confinement| confinement.to_string())
        .map_err(|error| {
            Failure::Process(format!(
                "the process cannot be confined: {error}; --no-sandbox goes without"
            ))
        })
}

/// Makes the folder for what outlives the process, and gives it to whom the process goes on as.
fn make_state(state: &PathBuf, prepared: &Prepared) -> Result<(), Failure> {
    let make = || -> io::Result<()> {
        std::fs::create_dir_all(state)?;
        match &prepared.settings.privileges {
            Some(privileges) => privileges.give(state),
            None => Ok(()),
        }
    };
    make().map_err(|error| {
        Failure::Process(format!(
            "the folder {} cannot be made: {error}",
            state.display()
        ))
    })
}

impl Prepared {
    /// The folder for what outlives the process, if anything does.
    fn state(&self) -> Option<PathBuf> {
        (!self.certificates.wanted.is_empty()).then(|| self.settings.state.clone())
    }

    /// Who is asked for certificates.
    fn authority(&self) -> Result<Authority, Failure> {
        let folder = self.settings.state.join("acme");
        let written = self.config.global.written("acme");
        let authority = match written.and_then(|entry| entry.block()) {
            Some(acme) => Authority::of(acme, folder),
            None => Ok(Authority::usual(folder)),
        };
        authority.map_err(|error| Failure::Process(error.to_string()))
    }
}
