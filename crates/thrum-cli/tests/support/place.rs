//! Configurations that are run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::{Running, Said, run, thrum};

/// A folder with a configuration, and the processes that run it.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new(text: &str) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        place.write(text);
        place
    }

    /// Writes the configuration: the sites that are given, and where this process is found.
    pub(crate) fn write(&self, text: &str) {
        let pid = self.pid_file().display().to_string();
        let text = format!("pid-file {pid}\nwatch off\ntimeouts {{ last-call 1s }}\n{text}");
        fs::write(self.config(), text).unwrap();
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("thrum.conf")
    }

    pub(crate) fn pid_file(&self) -> PathBuf {
        self.folder.path().join("thrum.pid")
    }

    pub(crate) fn pid(&self) -> i32 {
        fs::read_to_string(self.pid_file())
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Running {
        let server = Running::new(self.command(args));
        server.wait_for_stderr("Ctrl-C to stop");
        server
    }

    /// What runs it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let config = self.config();
        thrum(&[&["run", config.to_str().unwrap()], args].concat())
    }

    pub(crate) fn tell(&self, command: &str) -> Said {
        run(&[command, self.config().to_str().unwrap()])
    }
}

impl Drop for Place {
    /// The successors of processes are nobody's children.
    fn drop(&mut self) {
        if let Ok(text) = fs::read_to_string(self.pid_file())
            && let Some(pid) = text.trim().parse().ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
