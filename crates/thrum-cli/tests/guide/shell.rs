//! A shell that follows a page, in a folder of its own, with `thrum` first in its path.
//!
//! Pages use the ports that readers would use. Here each stands for a free one: in commands, in files, and, the other way
//! round, in what is printed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

use crate::page::Block;

/// How long a command may take, and how long what is expected of one in the background may take to be there.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ports that pages use.
const PORTS: [&str; 6] = ["8080", "8081", "3000", "3001", "6379", "9900"];

/// Goes before the exit status of each command.
const MARK: char = '\u{1e}';

pub(crate) struct Shell {
    bash: Child,
    input: ChildStdin,
    output: Receiver<String>,
    ports: Ports,
    commands: usize,
    /// Where the page's commands are run.
    folder: PathBuf,
    /// For the shell itself, beside that.
    own: PathBuf,
    _root: TempDir,
}

impl Shell {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let (folder, own) = (root.path().join("page"), root.path().join("shell"));
        for folder in [&folder, &own] {
            fs::create_dir(folder).unwrap();
        }
        // curl shows how far it is unless it writes to a terminal, as it does for a reader.
        fs::write(own.join(".curlrc"), "silent\nshow-error\n").unwrap();
        let mut bash = bash(&folder, &own).spawn().unwrap();
        let (sender, output) = channel();
        let lines = BufReader::new(bash.stdout.take().unwrap()).lines();
        thread::spawn(move || {
            let mut lines = lines.map_while(Result::ok);
            lines.all(|line| sender.send(line).is_ok())
        });
        Self {
            input: bash.stdin.take().unwrap(),
            bash,
            output,
            ports: Ports::choose(),
            commands: 0,
            folder,
            own,
            _root: root,
        }
    }

    /// Runs the commands of a block, and compares what they print.
    pub(crate) fn run(&mut self, block: &Block) -> Result<(), String> {
        let steps = steps(&block.text);
        let last = steps.len().saturating_sub(1);
        for (at, step) in steps.iter().enumerate() {
            let to_fail = block.is("fails") && at == last;
            self.step(step, to_fail)
                .map_err(|error| format!("{}\n{error}", step.command))?;
            self.translate_configurations();
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, to_fail: bool) -> Result<(), String> {
        self.commands += 1;
        let script = self.own.join(format!("{}.sh", self.commands));
        let aside = self.own.join(format!("{}.out", self.commands));
        fs::write(&script, self.ports.translate_command(&step.command)).unwrap();
        let in_background = step.command.trim_end().ends_with('&');
        let to = match in_background {
            true => format!(" >'{}' 2>&1", aside.display()),
            false => String::new(),
        };
        let script = script.display();
        writeln!(
            self.input,
            ". '{script}' </dev/null{to}; printf '\\n{MARK}%s\\n' $?"
        )
        .map_err(|error| format!("the shell has ended: {error}"))?;
        let (status, printed) = self.answer()?;
        if (status != "0") != to_fail {
            return Err(format!("exit status {status}:\n{}", printed.join("\n")));
        }
        if !in_background {
            return compare(&step.expected, &printed);
        }
        let begin = Instant::now();
        loop {
            let text = self
                .ports
                .restore(&fs::read_to_string(&aside).unwrap_or_default());
            let lines: Vec<_> = text.lines().map(str::to_owned).collect();
            match compare(&step.expected, &lines) {
                Err(error) if begin.elapsed() > PATIENCE => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(10)),
                Ok(()) => return Ok(()),
            }
        }
    }

    /// The exit status of the last command, and what it has printed.
    fn answer(&self) -> Result<(String, Vec<String>), String> {
        let (mut printed, begin) = (Vec::new(), Instant::now());
        loop {
            let left = PATIENCE.saturating_sub(begin.elapsed());
            let line = self.output.recv_timeout(left).map_err(|error| {
                let printed = printed.join("\n");
                format!("it does not end ({error}); it has printed:\n{printed}")
            })?;
            if let Some(status) = line.strip_prefix(MARK) {
                // The line break before the mark, unless the last line needed it.
                if printed.last().is_some_and(String::is_empty) {
                    printed.pop();
                }
                return Ok((status.to_owned(), printed));
            }
            printed.push(self.ports.restore(&line));
        }
    }

    /// Has `thrum check` look at a configuration, and leaves it in a file if it is for one.
    pub(crate) fn check(&self, file: Option<&str>, text: &str) -> Result<(), String> {
        let name = file.unwrap_or("checked.conf");
        self.write(name, text);
        let mut check = Command::new(env!("CARGO_BIN_EXE_thrum"));
        let said = set_environment(&mut check, &self.folder, &self.own)
            .args(["check", name])
            .output()
            .unwrap();
        if file.is_none() {
            fs::remove_file(self.folder.join(name)).unwrap();
        }
        match said.status.success() {
            true => Ok(()),
            false => Err(self.ports.restore(&String::from_utf8_lossy(&said.stderr))),
        }
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), self.ports.translate_file(text)).unwrap();
    }

    /// What commands have made: `thrum init`, `import`.
    fn translate_configurations(&self) {
        for entry in fs::read_dir(&self.folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "conf") {
                let text = fs::read_to_string(&path).unwrap();
                let translated = self.ports.translate_file(&text);
                if translated != text {
                    fs::write(&path, translated).unwrap();
                }
            }
        }
    }
}

impl Drop for Shell {
    /// Ends whatever is left, successors of servers too, which are in groups of their own.
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.bash), Signal::KILL);
        let _ = self.bash.wait();
        for folder in [&self.folder, &self.own] {
            let entries = fs::read_dir(folder).unwrap().map_while(Result::ok);
            let paths = entries.map(|entry| entry.path());
            for file in paths.filter(|path| path.extension().is_some_and(|ending| ending == "pid"))
            {
                let text = fs::read_to_string(file).unwrap_or_default();
                if let Some(pid) = text.trim().parse().ok().and_then(Pid::from_raw) {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        }
    }
}

fn bash(folder: &Path, own: &Path) -> Command {
    let mut bash = Command::new("bash");
    set_environment(&mut bash, folder, own)
        .args([
            "--norc",
            "-c",
            "exec 2>&1; while IFS= read -r line; do eval \"$line\"; done",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .process_group(0);
    bash
}

fn set_environment<'a>(command: &'a mut Command, folder: &Path, own: &Path) -> &'a mut Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_thrum")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    for variable in ["THRUM_WORKERS", "THRUM_IO", "CLICOLOR_FORCE", "BASH_ENV"] {
        command.env_remove(variable);
    }
    command
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("HOME", own)
        .env("RUNTIME_DIRECTORY", own)
        .env("STATE_DIRECTORY", own)
        .env("NO_COLOR", "1")
        // On a busy machine, tasks that are held up are warned of between what is printed.
        .env("THRUM_LOG", "error")
}

/// A command, and the lines that it is to print. None: whatever it likes.
struct Step {
    command: String,
    expected: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step {
                command: command.to_owned(),
                expected: Vec::new(),
            }),
            (None, Some(step)) => step.expected.push(line.to_owned()),
            (None, None) => panic!("a console block begins with a command, not {line:?}"),
        }
    }
    steps
}

/// Whether that was printed, with `...` for any lines or any part of a line.
fn compare(expected: &[String], printed: &[String]) -> Result<(), String> {
    if expected.is_empty() || lines_match(expected, printed) {
        return Ok(());
    }
    let (expected, printed) = (expected.join("\n"), printed.join("\n"));
    Err(format!("expected:\n{expected}\n\nprinted:\n{printed}"))
}

fn lines_match(expected: &[String], printed: &[String]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "..." => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        (Some((first, rest)), Some((line, left))) => {
            line_matches(first, line) && lines_match(rest, left)
        }
        _ => false,
    }
}

fn line_matches(expected: &str, line: &str) -> bool {
    let (Some((begin, rest)), line) = (expected.split_once("..."), line) else {
        return expected.trim_end() == line.trim_end();
    };
    let Some(left) = line.strip_prefix(begin) else {
        return false;
    };
    let ends = left.char_indices().map(|(at, _)| at).chain([left.len()]);
    ends.into_iter().any(|at| line_matches(rest, &left[at..]))
}

/// Which free port each port of a page stands for.
struct Ports(Vec<(&'static str, String)>);

impl Ports {
    /// Below those that the system gives to whoever asks for any.
    fn choose() -> Self {
        static NEXT: AtomicU16 = AtomicU16::new(0);
        let first = 10_000 + (std::process::id() % 18_000) as u16;
        let mut free = std::iter::repeat_with(|| first + NEXT.fetch_add(1, Ordering::Relaxed))
            .filter(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok());
        let chosen = PORTS.map(|port| (port, free.next().unwrap().to_string()));
        Self(chosen.into())
    }

    fn translate(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (port, free) in &self.0 {
            text = replace_number(&text, port, free);
        }
        text
    }

    fn restore(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (port, free) in &self.0 {
            text = replace_number(&text, free, port);
        }
        text
    }

    /// What listens at its usual place is told another.
    fn translate_command(&self, command: &str) -> String {
        let command = match command.contains("--listen") {
            true => command.to_owned(),
            false => command.replace("thrum serve ", "thrum serve --listen 127.0.0.1:8080 "),
        };
        self.translate(&command)
    }

    /// What would listen for the whole network listens on this machine.
    fn translate_file(&self, text: &str) -> String {
        let lines = text.lines().map(|line| match line.starts_with(':') {
            true => format!("127.0.0.1{line}\n"),
            false => format!("{line}\n"),
        });
        self.translate(&lines.collect::<String>())
    }
}

/// Replaces a number, but not in the middle of a longer one.
fn replace_number(text: &str, number: &str, by: &str) -> String {
    let mut parts = text.split(number);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_longer = replaced.ends_with(|one: char| one.is_ascii_digit())
            || part.starts_with(|one: char| one.is_ascii_digit());
        replaced.push_str(if is_longer { number } else { by });
        replaced.push_str(part);
    }
    replaced
}
