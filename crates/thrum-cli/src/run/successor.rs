//! One process takes the place of another: from both sides.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use thrum_server::process::control::Conversation;

use crate::error::Failure;

/// How long the other side may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The process whose sockets this one takes over.
pub(super) struct Predecessor {
    talk: Conversation,
    listeners: Vec<(String, OwnedFd)>,
    output: Vec<(String, OwnedFd)>,
}

impl Predecessor {
    /// Asks it for its sockets. It serves on.
    pub(super) fn meet(socket: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::Process(format!(
                "the process at {} does not hand over its sockets: {error}",
                socket.display()
            ))
        };
        // A terminal that goes does not take this process with it. It cannot fail: this is no leader of a group, or has none.
        let _ = rustix::process::setsid();
        let mut talk = Conversation::connect(socket, PATIENCE).map_err(failed)?;
        let asked = talk.ask_for_descriptors(&json!({"command": "listeners"}));
        let (answer, descriptors) = asked.map_err(failed)?;
        let names = answer["names"].as_array().into_iter().flatten();
        let names = names.map(|name| name.as_str().unwrap_or_default().to_owned());
        let (output, listeners) = names
            .zip(descriptors)
            .partition(|(name, _)| ["stdout", "stderr"].contains(&&**name));
        Ok(Self {
            talk,
            listeners,
            output,
        })
    }

    pub(super) fn take_listeners(&mut self) -> Vec<(String, OwnedFd)> {
        std::mem::take(&mut self.listeners)
    }

    /// Writes to where it writes, and no longer to whoever started this process.
    pub(super) fn take_output(&self) {
        for (name, descriptor) in &self.output {
            let taken = match &**name {
                "stdout" => rustix::stdio::dup2_stdout(descriptor),
                _ => rustix::stdio::dup2_stderr(descriptor),
            };
            if let Err(error) = taken {
                tracing::warn!(%error, "the {name} of the process before cannot be taken over");
            }
        }
    }

    /// Tells it that this one serves. It finishes what it has and goes.
    pub(super) fn retire(mut self) {
        if let Err(error) = self.talk.ask(&json!({"command": "retire"})) {
            tracing::warn!(%error, "the process before this one does not answer; it may be gone");
        }
    }
}

/// How to begin the next process: the program that is in its place now, with what this one was told.
#[derive(Clone, Debug)]
pub(crate) struct Successor {
    pub(crate) program: PathBuf,
    pub(crate) config: PathBuf,
    /// Those of `thrum run` besides.
    pub(crate) args: Vec<String>,
    pub(crate) folder: PathBuf,
    /// The control socket of the process that it takes the place of.
    pub(crate) socket: PathBuf,
}

impl Successor {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("run")
            .arg(&self.config)
            .args(&self.args)
            .arg("--take-over")
            .arg(&self.socket)
            .current_dir(&self.folder);
        // What a service manager has said is for this process.
        for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID"] {
            command.env_remove(variable);
        }
        command
    }

    /// What a process says of itself.
    pub(crate) fn of(info: &Value, program: PathBuf, socket: PathBuf) -> Option<Self> {
        let args = info["args"].as_array()?.iter();
        Some(Self {
            program,
            config: info["config"].as_str()?.into(),
            args: args
                .filter_map(|arg| arg.as_str().map(str::to_owned))
                .collect(),
            folder: info["folder"].as_str()?.into(),
            socket,
        })
    }
}
