//! A file that is read again when it changes.

use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;
use thrum_rt::time::Instant;

/// How often it is looked at, at most.
const EVERY: Duration = Duration::from_secs(1);

/// A file may be so large.
const LARGEST: u64 = 16 << 20;

/// What a file says, now. While it is missing or malformed, it is what it said last, and the log says so.
pub(super) struct Watched<T> {
    path: PathBuf,
    parse: Parse<T>,
    state: Mutex<State<T>>,
}

type Parse<T> = fn(&[u8]) -> Result<T, String>;

struct State<T> {
    said: Arc<T>,
    /// How often it was read.
    version: u64,
    seen: Option<Seen>,
    looked: Instant,
}

/// By what a change is noticed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Why a file of users or keys cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the file {} cannot be used: {reason}", .path.display())]
pub struct Unreadable {
    path: PathBuf,
    reason: String,
}

impl<T> Watched<T> {
    /// Reads a file.
    pub(super) fn open(path: &Path, parse: Parse<T>) -> Result<Self, Unreadable> {
        let (said, seen) = read(path, parse).map_err(|reason| Unreadable {
            path: path.to_owned(),
            reason,
        })?;
        Ok(Self {
            path: path.to_owned(),
            parse,
            state: Mutex::new(State {
                said: Arc::new(said),
                version: 0,
                seen: Some(seen),
                looked: Instant::now(),
            }),
        })
    }

    /// What it says, and a number that is another one when it has changed. It is looked at when that is a second ago.
    pub(super) fn current(&self) -> (Arc<T>, u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now.duration_since(state.looked) >= EVERY {
            state.looked = now;
            self.look(&mut state);
        }
        (state.said.clone(), state.version)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn look(&self, state: &mut State<T>) {
        let seen = std::fs::metadata(&self.path).ok().as_ref().map(Seen::new);
        if seen == state.seen {
            return;
        }
        // Set whatever comes of it: the log says it once for each change.
        state.seen = seen;
        let path = self.path.display();
        match read(&self.path, self.parse) {
            Ok((said, seen)) => {
                state.said = Arc::new(said);
                state.version += 1;
                state.seen = Some(seen);
                tracing::info!(%path, "read again");
            }
            Err(error) => tracing::warn!(%path, error, "what it said before still holds"),
        }
    }
}

impl Seen {
    fn new(metadata: &Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

fn read<T>(path: &Path, parse: Parse<T>) -> Result<(T, Seen), String> {
    let text = |error: std::io::Error| error.to_string();
    let file = File::open(path).map_err(text)?;
    // Before reading: what changes while it is read is noticed later.
    let seen = Seen::new(&file.metadata().map_err(text)?);
    let mut content = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut content)
        .map_err(text)?;
    if content.len() as u64 > LARGEST {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    Ok((parse(&content)?, seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_noticed_and_nonsense_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("number");
        let parse = |content: &[u8]| match std::str::from_utf8(content).map(str::parse::<u32>) {
            Ok(Ok(number)) => Ok(number),
            _ => Err("no number".to_owned()),
        };
        assert!(Watched::open(&path, parse).is_err());
        std::fs::write(&path, "1").unwrap();
        let watched = Watched::open(&path, parse).unwrap();
        let after_a_second = || {
            watched.state.lock().unwrap().looked = Instant::now().checked_sub(EVERY).unwrap();
            *watched.current().0
        };
        assert_eq!(after_a_second(), 1);
        std::fs::write(&path, "22").unwrap();
        assert_eq!(after_a_second(), 22);
        std::fs::write(&path, "nonsense").unwrap();
        assert_eq!(after_a_second(), 22);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(after_a_second(), 22);
        std::fs::write(&path, "3").unwrap();
        assert_eq!(after_a_second(), 3);
    }
}
