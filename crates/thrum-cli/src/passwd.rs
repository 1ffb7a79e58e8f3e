//! `thrum passwd`: a user's line for a file that `auth-basic` reads.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use thrum_server::guard::passwords::{self, LONGEST_PASSWORD};

use crate::error::Failure;

/// What `thrum passwd` was asked.
#[derive(Debug, Args)]
pub(crate) struct PasswdArgs {
    /// The user's name
    user: String,

    /// The file in which the line is written or replaced [default: it is printed]
    file: Option<PathBuf>,
}

/// Asks for a password, and writes its hash.
pub(crate) fn run(args: PasswdArgs) -> Result<ExitCode, Failure> {
    // A bad name is said before a password is asked for.
    passwords::check_name(&args.user).map_err(Failure::User)?;
    let password = read_password().map_err(Failure::Password)?;
    match args.file {
        None => {
            let line = passwords::line(&args.user, &password).map_err(Failure::User)?;
            writeln!(io::stdout(), "{line}").map_err(Failure::Password)?;
        }
        Some(path) => {
            let failed = |error| Failure::Users(path.clone(), error);
            let old = match fs::read_to_string(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                old => old.map_err(failed)?,
            };
            let new = passwords::with_user(&old, &args.user, &password).map_err(Failure::User)?;
            replace(&path, &new).map_err(failed)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// From the terminal, twice and without showing it; else the first line of standard input.
fn read_password() -> io::Result<String> {
    if io::stdin().is_terminal() {
        let password = rpassword::prompt_password("Password: ")?;
        let again = rpassword::prompt_password("Again: ")?;
        return match password == again {
            true => Ok(password),
            false => Err(io::Error::other("the two are not the same")),
        };
    }
    let mut line = String::new();
    let most = LONGEST_PASSWORD as u64 + 2;
    io::BufRead::read_line(&mut io::Read::take(io::stdin().lock(), most), &mut line)?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// Writes a file beside the old one and moves it there, so that whoever reads it finds either; owner and permissions stay. A
/// new one may be read by the user and the group.
fn replace(path: &Path, content: &str) -> io::Result<()> {
    // The file itself, and not a link to it.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut beside = name.to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(beside);
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create_new(true)
        .mode(0o640)
        .open(&beside);
    let written = file.and_then(|mut file| {
        if let Ok(old) = fs::metadata(&path) {
            // Only root may give files away; for others they are theirs already.
            let _ = fchown(&file, Some(old.uid()), Some(old.gid()));
            file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))?;
        }
        file.write_all(content.as_bytes())?;
        file.sync_all()
    });
    let moved = written.and_then(|()| fs::rename(&beside, &path));
    if moved.is_err() {
        let _ = fs::remove_file(&beside);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        let mode = || fs::metadata(&path).unwrap().mode() & 0o777;
        replace(&path, "one").unwrap();
        assert_eq!(mode() & 0o007, 0);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(mode(), 0o600);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(replace(&folder.path().join("none/users"), "x").is_err());
    }
}
