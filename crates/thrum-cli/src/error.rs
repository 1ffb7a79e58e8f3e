//! What can go wrong, in the words of whoever typed the command, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use thrum_server::config::Report;
use thrum_server::guard::passwords::InvalidUser;

use crate::listen::Listen;

/// Why `thrum` cannot do what it was asked. [`Failure::advice`] says what can be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    #[error("{} is a file, not a folder", .0.display())]
    FolderIsFile(PathBuf),
    #[error("the folder {} may not be read by you", .0.display())]
    FolderForbidden(PathBuf),
    #[error("the folder {} cannot be served: {}", .0.display(), .1)]
    Folder(PathBuf, String),
    #[error("the access log {} cannot be written: {}", .0.display(), reason(.1))]
    Log(PathBuf, io::Error),
    #[error("the access log cannot be written to standard output: {}", reason(.0))]
    LogStdout(io::Error),
    #[error("port {} is taken by another program (listening at {})", .0.port(), .0)]
    PortTaken(Listen),
    #[error("you may not listen at port {} (at {})", .0.port(), .0)]
    PortForbidden(Listen),
    #[error("this machine does not have the address of {0}")]
    AddressAbsent(Listen),
    #[error("the name of {} cannot be looked up: {}", .0, reason(.1))]
    Lookup(Listen, io::Error),
    #[error("cannot listen at {}: {}", .0, reason(.1))]
    Listen(Listen, io::Error),
    #[error("{0}")]
    Load(#[source] thrum_load::LoadError),
    #[error("{}:{}: {}", .0.display(), .1, .2)]
    Urls(PathBuf, usize, String),
    #[error("{}: {}", .0.display(), .1)]
    Results(PathBuf, #[source] thrum_load::report::json::ReadError),
    #[error("the runtime cannot be started: {}", reason(.0))]
    Runtime(io::Error),
    #[error("serving ended: {0}")]
    Serve(String),
    #[error(transparent)]
    User(InvalidUser),
    #[error("there is no password: {}", reason(.0))]
    Password(io::Error),
    #[error("the file of users {} cannot be written: {}", .0.display(), reason(.1))]
    Users(PathBuf, io::Error),
    #[error("{}\n{}", wrong(.0), .0)]
    Config(Box<Report>),
    #[error("{0}")]
    Process(String),
    #[error("{} cannot be read: {}", .0.display(), reason(.1))]
    Unreadable(PathBuf, io::Error),
    #[error("{} cannot be written: {}", .0.display(), reason(.1))]
    Unwritable(PathBuf, io::Error),
    #[error("standard output cannot be written: {}", reason(.0))]
    Stdout(io::Error),
    #[error("{0} is not a whole URL, such as https://example.com/path")]
    Url(String),
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
}

impl Failure {
    /// Why a folder cannot be opened.
    pub(crate) fn of_folder(folder: &Path, error: io::Error) -> Self {
        let folder = folder.into();
        match error.kind() {
            io::ErrorKind::NotFound => Self::NoFolder(folder),
            io::ErrorKind::NotADirectory => Self::FolderIsFile(folder),
            io::ErrorKind::PermissionDenied => Self::FolderForbidden(folder),
            _ => Self::Folder(folder, reason(&error)),
        }
    }

    /// Why an address cannot be bound.
    pub(crate) fn of_bind(listen: &Listen, error: io::Error) -> Self {
        let listen = listen.clone();
        match error.kind() {
            io::ErrorKind::AddrInUse => Self::PortTaken(listen),
            io::ErrorKind::PermissionDenied => Self::PortForbidden(listen),
            io::ErrorKind::AddrNotAvailable => Self::AddressAbsent(listen),
            _ => Self::Listen(listen, error),
        }
    }

    /// What to do about it, where that is not plain.
    pub(crate) fn advice(&self) -> Option<String> {
        match self {
            Self::NoFolder(folder) if folder.is_relative() => {
                let here = std::env::current_dir().ok()?;
                Some(format!("the name is looked up in {}", here.display()))
            }
            Self::FolderIsFile(file) => {
                let folder = file.parent().filter(|parent| *parent != Path::new(""));
                let folder = folder.unwrap_or(Path::new("."));
                Some(format!(
                    "serve the folder it is in: thrum serve {}",
                    folder.display()
                ))
            }
            Self::FolderForbidden(folder) => Some(format!(
                "its permissions are shown by: ls -ld {}",
                folder.display()
            )),
            Self::Log(path, error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = path.parent().filter(|parent| *parent != Path::new(""))?;
                Some(format!(
                    "make its folder first: mkdir -p {}",
                    folder.display()
                ))
            }
            Self::PortTaken(listen) => Some(format!(
                "stop that program, or take any free port: --listen {}",
                listen.with_port(0)
            )),
            Self::PortForbidden(listen) => Some(forbidden_port(listen)),
            Self::AddressAbsent(listen) => Some(format!(
                "ip address shows what it has; --listen :{} is all of them",
                listen.port()
            )),
            Self::Exists(_) => Some("move it away, or name another file; - prints it".to_owned()),
            _ => None,
        }
    }
}

/// How many mistakes there are.
fn wrong(report: &Report) -> String {
    match report.problems().len() {
        1 => "the configuration has a mistake".to_owned(),
        count => format!("the configuration has {count} mistakes"),
    }
}

fn forbidden_port(listen: &Listen) -> String {
    let high = listen.with_port(listen.port() % 1000 + 8000);
    let another = format!("take a port above 1023: --listen {high}");
    match std::env::current_exe() {
        Ok(program) if cfg!(target_os = "linux") => format!(
            "{another}, or allow it once: sudo setcap cap_net_bind_service=+ep {}",
            program.display()
        ),
        _ => another,
    }
}

/// An operating system's error without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" (os error").unwrap_or(text.len());
    let mut text = text[..end].to_owned();
    // The system's messages begin with a capital; a name such as THRUM_IO keeps its own.
    let is_name = text.as_bytes().get(1).is_some_and(u8::is_ascii_uppercase);
    if !is_name && let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(kind: io::ErrorKind) -> Failure {
        Failure::of_bind(&"127.0.0.1:80".parse().unwrap(), kind.into())
    }

    #[test]
    fn a_taken_port_is_named_and_another_suggested() {
        let taken = bind(io::ErrorKind::AddrInUse);
        assert_eq!(
            taken.to_string(),
            "port 80 is taken by another program (listening at 127.0.0.1:80)"
        );
        assert!(taken.advice().unwrap().ends_with("--listen 127.0.0.1:0"));
    }

    #[test]
    fn a_forbidden_port_names_a_higher_one() {
        let forbidden = bind(io::ErrorKind::PermissionDenied);
        assert_eq!(
            forbidden.to_string(),
            "you may not listen at port 80 (at 127.0.0.1:80)"
        );
        assert!(
            forbidden
                .advice()
                .unwrap()
                .contains("--listen 127.0.0.1:8080")
        );
    }

    #[test]
    fn a_file_suggests_its_folder() {
        let advice = |file: &str| Failure::FolderIsFile(file.into()).advice().unwrap();
        assert!(advice("a/b.html").ends_with("thrum serve a"));
        assert!(advice("b.html").ends_with("thrum serve ."));
    }

    #[test]
    fn reasons_have_no_numbers() {
        let error = io::Error::from_raw_os_error(rustix::io::Errno::NOENT.raw_os_error());
        assert_eq!(reason(&error), "no such file or directory");
    }
}
