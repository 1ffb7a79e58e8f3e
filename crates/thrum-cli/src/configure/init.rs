//! `thrum init`: configurations to start from.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;

use crate::error::Failure;
use crate::terminal::{self, print_out};

/// What a configuration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// A folder as a web site
    Folder,
    /// An application of a single page
    Spa,
    /// Another server behind this one
    Proxy,
    /// Programs that answer, by CGI
    Cgi,
}

impl Kind {
    /// The configuration, and what it needs beside itself: a file, what is in it, and whether it is a program.
    fn parts(self) -> (&'static str, Option<(&'static str, &'static str, bool)>) {
        let page = include_str!("../../../../examples/conf/public/index.html");
        let program = include_str!("../../../../examples/conf/cgi-bin/hello.cgi");
        match self {
            Self::Folder => (
                include_str!("../../../../examples/conf/folder.conf"),
                Some(("public/index.html", page, false)),
            ),
            Self::Spa => (
                include_str!("../../../../examples/conf/spa.conf"),
                Some(("public/index.html", page, false)),
            ),
            Self::Proxy => (include_str!("../../../../examples/conf/proxy.conf"), None),
            Self::Cgi => (
                include_str!("../../../../examples/conf/cgi.conf"),
                Some(("cgi-bin/hello.cgi", program, true)),
            ),
        }
    }
}

/// Writes a configuration, and beside it what it needs to work. Nothing that is there is touched.
pub(super) fn init(kind: Kind, file: &Path) -> Result<ExitCode, Failure> {
    let (conf, beside) = kind.parts();
    if file == Path::new("-") {
        return print_out(conf);
    }
    create(file, conf, false).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::Exists(file.into()),
        _ => Failure::Unwritable(file.into(), error),
    })?;
    let mut made = vec![file.to_owned()];
    if let Some((name, text, is_program)) = beside {
        let path = file.parent().unwrap_or(Path::new("")).join(name);
        let folder = path.parent().unwrap_or(Path::new(""));
        // A folder that is there has what it is to have.
        if !folder.exists() {
            let result = fs::create_dir_all(folder).and_then(|()| create(&path, text, is_program));
            result.map_err(|error| Failure::Unwritable(path.clone(), error))?;
            made.push(path);
        }
    }
    let made: Vec<_> = made.iter().map(|path| path.display().to_string()).collect();
    terminal::print(format_args!("made {}", made.join(" and ")));
    Ok(ExitCode::SUCCESS)
}

fn create(path: &Path, text: &str, is_program: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_program { 0o755 } else { 0o644 });
    options.open(path)?.write_all(text.as_bytes())
}
