//! Opening the browser.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

/// What opens a URL with the program that the user has chosen for it.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Opens a URL, on a thread of its own, since some openers stay for as long as the browser does. That it does not work
/// is worth a warning and no more.
pub(crate) fn open(url: &str) {
    let url = url.to_owned();
    let wait = move || {
        let problem = match opener(&url).status() {
            Ok(status) if status.success() => return,
            Ok(status) => status.to_string(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "not found".to_owned(),
            Err(error) => error.to_string(),
        };
        tracing::warn!(
            "cannot open the browser with {}: {problem}; the address is {url}",
            OPENER
        );
    };
    if let Err(error) = thread::Builder::new().name("thrum-open".into()).spawn(wait) {
        tracing::warn!("cannot open the browser: {error}");
    }
}

/// What it prints is not for the access log's reader, and Ctrl-C is not for it: some openers become the browser.
fn opener(url: &str) -> Command {
    let mut command = Command::new(OPENER);
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command
}
