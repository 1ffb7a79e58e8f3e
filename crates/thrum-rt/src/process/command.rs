//! What child process to start, and how.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use super::child::Child;
use super::orphan;

/// What child process to start, and how: [`std::process::Command`] with [`spawn`](Self::spawn) for tasks.
///
/// What has no method here is set on the standard one, which this is [made from](From).
#[derive(Debug)]
pub struct Command {
    std: std::process::Command,
    kill_on_drop: bool,
    own_group: bool,
}

impl Command {
    /// A command that runs `program`, looked up in `PATH` if it is a mere name, with no arguments, in the environment and the
    /// working directory of this process, with its standard streams.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        std::process::Command::new(program).into()
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.std.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.std.args(arguments);
        self
    }

    /// Sets the program's name as it sees it itself. Default: as given to [`new`](Self::new).
    pub fn arg0(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.std.arg0(name);
        self
    }

    /// Sets a variable of the environment.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.std.env(name, value);
        self
    }

    /// Sets variables of the environment.
    pub fn envs(
        &mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> &mut Self {
        self.std.envs(variables);
        self
    }

    /// Leaves a variable of the environment out.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.std.env_remove(name);
        self
    }

    /// Leaves the whole environment out.
    pub fn env_clear(&mut self) -> &mut Self {
        self.std.env_clear();
        self
    }

    /// Sets the working directory. A relative path of the program may be looked up before or after.
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Self {
        self.std.current_dir(directory);
        self
    }

    /// Sets the standard input. Default: this process's; for [`output`](Self::output) nothing.
    pub fn stdin(&mut self, stdin: impl Into<Stdio>) -> &mut Self {
        self.std.stdin(stdin);
        self
    }

    /// Sets the standard output. Default: this process's; for [`output`](Self::output) a pipe.
    pub fn stdout(&mut self, stdout: impl Into<Stdio>) -> &mut Self {
        self.std.stdout(stdout);
        self
    }

    /// Sets the standard error. Default: this process's; for [`output`](Self::output) a pipe.
    pub fn stderr(&mut self, stderr: impl Into<Stdio>) -> &mut Self {
        self.std.stderr(stderr);
        self
    }

    /// Puts the process into a group, 0: into one of its own, which [`Child::kill_group`] kills with all that it started.
    pub fn process_group(&mut self, group: i32) -> &mut Self {
        self.std.process_group(group);
        self.own_group = group == 0;
        self
    }

    /// Runs the process as this user. It loses the supplementary groups if this process is root's.
    pub fn uid(&mut self, id: u32) -> &mut Self {
        self.std.uid(id);
        self
    }

    /// Runs the process with this group.
    pub fn gid(&mut self, id: u32) -> &mut Self {
        self.std.gid(id);
        self
    }

    /// Whether a [`Child`] that is dropped before it has ended is killed, with its group if that is
    /// [its own](Self::process_group). Default: false.
    pub fn kill_on_drop(&mut self, kill: bool) -> &mut Self {
        self.kill_on_drop = kill;
        self
    }

    /// The program, as given to [`new`](Self::new).
    pub fn program(&self) -> &OsStr {
        self.std.get_program()
    }

    /// Starts the process, from the calling thread.
    ///
    /// # Errors
    /// When there is no such program, it must not be run, or the system has no processes or file descriptors left.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn spawn(&mut self) -> io::Result<Child> {
        orphan::sweep();
        Child::new(self.std.spawn()?, self.kill_on_drop, self.own_group)
    }

    /// Starts the process and waits for its end.
    ///
    /// Dropping the future drops the [`Child`].
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn) and [`Child::wait`].
    ///
    /// # Panics
    /// When polled outside a runtime.
    pub async fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.wait().await
    }

    /// Starts the process and waits for its end and what it wrote. Its standard input is empty.
    ///
    /// Dropping the future drops the [`Child`].
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn) and [`Child::wait_with_output`]; so `FileTooLarge` for an output longer than `limit`
    /// bytes.
    ///
    /// # Panics
    /// When polled outside a runtime.
    pub async fn output(&mut self, limit: usize) -> io::Result<Output> {
        self.stdin(Stdio::null());
        self.stdout(Stdio::piped());
        self.stderr(Stdio::piped());
        self.spawn()?.wait_with_output(limit).await
    }
}

impl From<std::process::Command> for Command {
    fn from(std: std::process::Command) -> Self {
        Self {
            std,
            kill_on_drop: false,
            own_group: false,
        }
    }
}
