//! Who has a file locked.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{major, minor};

/// The process that holds a lock of the file, as `process 4711 (thrum)`, if the system tells.
pub(super) fn holder(path: &Path) -> Option<String> {
    let file = fs::metadata(path).ok()?;
    let device = file.dev();
    let (major, minor, inode) = (major(device), minor(device), file.ino());
    let suffix = format!("{major:02x}:{minor:02x}:{inode}");
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let process = locks.lines().find_map(|line| find(line, &suffix))?;
    if process == std::process::id() {
        return Some("this process".into());
    }
    let name = fs::read_to_string(format!("/proc/{process}/comm"));
    Some(match name {
        Ok(name) => format!("process {process} ({})", name.trim()),
        Err(_) => format!("process {process}"),
    })
}

/// `1: FLOCK  ADVISORY  WRITE 4711 fe:01:12345 0 EOF`. A lock of an open file, rather than a process, has no process.
fn find(line: &str, file: &str) -> Option<u32> {
    let mut words = line.split_whitespace().skip(4);
    let process = words.next()?;
    (words.next()? == file).then(|| process.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_locks() {
        let line = "2: FLOCK  ADVISORY  WRITE 4711 fe:01:12345 0 EOF";
        assert_eq!(find(line, "fe:01:12345"), Some(4711));
        assert_eq!(find(line, "fe:01:1234"), None);
        let open_file = "1: OFDLCK ADVISORY  WRITE -1 fe:01:12345 0 EOF";
        assert_eq!(find(open_file, "fe:01:12345"), None);
        assert_eq!(find("", "fe:01:12345"), None);
    }
}
