//! `thrum reload`, `upgrade`, `retire`, `stop`: what a running `thrum run` is told.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use thrum_server::config::{Config, Problems};
use thrum_server::process::control::{Control, Conversation};
use thrum_server::process::{PidFile, ProcessSettings};
use thrum_server::site::TABLES;

use crate::args::{TellArgs, config_or_usual};
use crate::error::Failure;
use crate::run::Successor;
use crate::terminal;

/// How long a process may take to answer: a reload may read large files.
const PATIENCE: Duration = Duration::from_secs(60);

/// What to tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tell {
    Reload,
    Upgrade,
    Retire,
    Stop,
}

impl Tell {
    fn name(self) -> &'static str {
        match self {
            Self::Reload => "reload",
            Self::Upgrade => "upgrade",
            Self::Retire => "retire",
            Self::Stop => "stop",
        }
    }

    fn signal(self) -> Signal {
        match self {
            Self::Reload => Signal::HUP,
            Self::Upgrade => Signal::USR2,
            Self::Retire => Signal::QUIT,
            Self::Stop => Signal::TERM,
        }
    }
}

/// Tells it, and says what came of it.
pub(crate) fn tell(what: Tell, args: &TellArgs) -> Result<ExitCode, Failure> {
    if let Some(pid) = args.pid {
        let sent = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput.into());
        sent.and_then(|pid| Ok(kill_process(pid, what.signal())?))
            .map_err(|error: io::Error| {
                Failure::Process(format!("process {pid} cannot be told: {error}"))
            })?;
        return Ok(ExitCode::SUCCESS);
    }
    let pid_file = pid_file(args)?;
    let Some(pid) = PidFile::holder(&pid_file) else {
        return Err(Failure::Process(format!(
            "no process runs that holds {}",
            pid_file.display()
        )));
    };
    let socket = Control::beside(&pid_file);
    let failed = |error: io::Error| {
        Failure::Process(format!(
            "process {pid} cannot be told by {}: {error}",
            socket.display()
        ))
    };
    let mut talk = Conversation::connect(&socket, PATIENCE).map_err(failed)?;
    if what == Tell::Upgrade {
        return upgrade(&mut talk, socket.clone());
    }
    let answer = talk.ask(&json!({"command": what.name()})).map_err(failed)?;
    if answer["ok"] != true {
        let error = answer["error"].as_str().unwrap_or("it does not say why");
        return Err(Failure::Process(format!(
            "process {pid} does not {}; it goes on as before\n{error}",
            what.name()
        )));
    }
    if let Some(said) = answer["said"].as_str() {
        terminal::print(format_args!("process {pid} has reloaded: {said}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Begins the next process, with the rights of whoever asks for it, and waits until it serves.
fn upgrade(talk: &mut Conversation, socket: PathBuf) -> Result<ExitCode, Failure> {
    let failed = |error: io::Error| Failure::Process(format!("the upgrade has failed: {error}"));
    let info = talk.ask(&json!({"command": "info"})).map_err(failed)?;
    let program = std::env::current_exe().map_err(failed)?;
    let successor = Successor::of(&info, program, socket.clone())
        .ok_or_else(|| failed(io::Error::other("the process does not say what it is")))?;
    let mut child = successor.command().spawn().map_err(failed)?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().map_err(failed)? {
            let text = format!("the new process has ended ({status}); the old one goes on");
            return Err(failed(io::Error::other(text)));
        }
        if serving_pid(&socket) == Some(u64::from(child.id())) {
            let old = &info["pid"];
            terminal::print(format_args!(
                "process {} serves; {old} finishes what it has",
                child.id()
            ));
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(failed(io::ErrorKind::TimedOut.into()))
}

/// Who answers, once it serves: before, it does not.
fn serving_pid(socket: &std::path::Path) -> Option<u64> {
    let mut talk = Conversation::connect(socket, Duration::from_secs(5)).ok()?;
    let info: Value = talk.ask(&json!({"command": "info"})).ok()?;
    info["pid"].as_u64()
}

/// The PID file that the configuration says, or would if it could be read.
fn pid_file(args: &TellArgs) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.pid_file {
        return Ok(path.clone());
    }
    let path = config_or_usual(args.config.as_deref());
    let config =
        Config::read(&path, &TABLES).map_err(|report| Failure::Config(Box::new(report)))?;
    let settings = ProcessSettings::of(&config.global, &path, &mut Problems::default());
    Ok(settings.pid_file)
}
