//! What is kept on disk: a file for each entry, bounded in bytes, found again after a restart.
//!
//! A file is a line that says what it is, the length of its head, the head as JSON, and the body. It is written aside and
//! renamed, so it is there whole or not at all. What was used least recently, by the times of the files, goes first.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use super::entry::{Content, Entry, Slot};
use super::key::Key;
use super::policy::Lifetime;
use crate::clock::steady;

const MAGIC: &[u8] = b"thrum cache 1\n";

/// More than any head that can be written.
const LONGEST_HEAD: u32 = 1 << 20;

/// A body up to here is read into memory, a longer one is sent from its file.
const READ_AT_ONCE: u64 = 64 << 10;

/// How old the time of a file may be before a use of it is noted there.
const NOTE_AFTER: Duration = Duration::from_secs(60);

pub(super) struct Disk {
    folder: PathBuf,
    /// The most bytes.
    limit: u64,
    used: AtomicU64,
    /// Makes names of files that are being written.
    serial: AtomicU64,
    sweeping: AtomicBool,
}

#[derive(Serialize, Deserialize)]
enum Head {
    Entry {
        status: u16,
        /// Values as Latin-1: any bytes.
        headers: Vec<(String, String)>,
        length: u64,
        /// Milliseconds, since 1970 and long.
        born: u64,
        fresh: u64,
        while_revalidate: u64,
        if_error: u64,
    },
    Varies(Vec<String>),
}

impl Disk {
    /// Opens a folder, which is made if it is not there, and counts what is in it.
    pub(super) fn open(folder: &Path, limit: u64) -> io::Result<Self> {
        for first in 0..=255_u8 {
            fs::create_dir_all(folder.join(format!("{first:02x}")))?;
        }
        let disk = Self {
            folder: folder.to_owned(),
            limit,
            used: AtomicU64::new(0),
            serial: AtomicU64::new(0),
            sweeping: AtomicBool::new(false),
        };
        let mut used = 0;
        for (path, metadata) in disk.files() {
            if path.extension().is_some() {
                // Left behind by a process that was ended while it wrote.
                let _ = fs::remove_file(path);
            } else {
                used += metadata.len();
            }
        }
        disk.used.store(used, Ordering::Relaxed);
        disk.sweep();
        Ok(disk)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// What is kept for a key. A file that is not whole is removed.
    pub(super) fn get(&self, key: &Key) -> Option<Slot> {
        let path = self.path(key);
        let file = File::open(&path).ok()?;
        match read(file) {
            Ok(slot) => Some(slot),
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "a file of the cache is damaged; it is removed");
                self.remove(key);
                None
            }
        }
    }

    /// Keeps something; what is only good for a moment is not written.
    pub(super) fn put(&self, key: Key, slot: &Slot) -> io::Result<()> {
        let (head, content) = match slot {
            Slot::Entry(entry) => (head_of(entry), Some(&entry.content)),
            Slot::Varies(names) => {
                let names = names.iter().map(ToString::to_string).collect();
                (Head::Varies(names), None)
            }
            Slot::Pass(_) => return Ok(()),
        };
        let head = serde_json::to_vec(&head)?;
        let length = u32::try_from(head.len()).map_err(io::Error::other)?;
        let path = self.path(&key);
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let aside = path.with_extension(format!("{serial}"));
        let written = (|| {
            let mut file = File::create(&aside)?;
            file.write_all(MAGIC)?;
            file.write_all(&length.to_le_bytes())?;
            file.write_all(&head)?;
            match content {
                Some(Content::Memory(bytes)) => file.write_all(bytes)?,
                Some(Content::File { file: from, .. }) => copy(from, content, &mut file)?,
                None => {}
            }
            let size = file.metadata()?.len();
            let before = fs::metadata(&path).map_or(0, |before| before.len());
            fs::rename(&aside, &path)?;
            self.used.fetch_add(size, Ordering::Relaxed);
            self.used.fetch_sub(before, Ordering::Relaxed);
            Ok(())
        })();
        if written.is_err() {
            let _ = fs::remove_file(&aside);
        }
        if self.bytes() > self.limit {
            self.sweep();
        }
        written
    }

    pub(super) fn remove(&self, key: &Key) -> bool {
        let path = self.path(key);
        let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        let removed = fs::remove_file(path).is_ok();
        if removed {
            self.used.fetch_sub(size, Ordering::Relaxed);
        }
        removed
    }

    /// Makes room: removes what was used least recently until a tenth is free.
    fn sweep(&self) {
        if self.bytes() <= self.limit || self.sweeping.swap(true, Ordering::Acquire) {
            return;
        }
        let mut files: Vec<_> = self.files().collect();
        files.sort_by_key(|(_, metadata)| (metadata.mtime(), metadata.mtime_nsec()));
        let enough = self.limit - self.limit / 10;
        for (path, metadata) in files {
            if self.bytes() <= enough {
                break;
            }
            if fs::remove_file(path).is_ok() {
                self.used.fetch_sub(metadata.len(), Ordering::Relaxed);
            }
        }
        self.sweeping.store(false, Ordering::Release);
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, fs::Metadata)> {
        let folders = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let entries = folders
            .filter_map(|folder| fs::read_dir(folder.path()).ok())
            .flatten()
            .flatten();
        entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
    }

    fn path(&self, key: &Key) -> PathBuf {
        let name = key.hex();
        self.folder.join(&name[..2]).join(&name[2..])
    }
}

fn read(mut file: File) -> io::Result<Slot> {
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let mut start = [0; MAGIC.len() + 4];
    file.read_exact(&mut start)?;
    let (magic, length) = start.split_at(MAGIC.len());
    let length = u32::from_le_bytes(length.try_into().map_err(|_| damaged())?);
    if magic != MAGIC || length > LONGEST_HEAD {
        return Err(damaged());
    }
    let mut head = vec![0; length as usize];
    file.read_exact(&mut head)?;
    let offset = start.len() as u64 + u64::from(length);
    let head = match serde_json::from_slice(&head)? {
        Head::Varies(names) => {
            let names = names.into_iter().map(HeaderName::try_from);
            let names: Result<Arc<[HeaderName]>, _> = names.collect();
            return Ok(Slot::Varies(names.map_err(|_| damaged())?));
        }
        head => head,
    };
    let metadata = file.metadata()?;
    let entry = entry_of(head, offset, metadata.len(), file).ok_or_else(damaged)?;
    Ok(Slot::Entry(Arc::new(entry)))
}

fn entry_of(head: Head, offset: u64, size: u64, mut file: File) -> Option<Entry> {
    let Head::Entry {
        status,
        headers,
        length,
        born,
        fresh,
        while_revalidate,
        if_error,
    } = head
    else {
        return None;
    };
    let mut fields = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let value: Option<Vec<u8>> = value.chars().map(|c| u8::try_from(c).ok()).collect();
        let value = HeaderValue::from_bytes(&value?).ok()?;
        fields.append(HeaderName::try_from(name).ok()?, value);
    }
    if size != offset.checked_add(length)? {
        return None;
    }
    let used = file.metadata().and_then(|metadata| metadata.modified());
    if used.is_ok_and(|used| used.elapsed().is_ok_and(|ago| ago > NOTE_AFTER)) {
        let _ = file.set_modified(SystemTime::now());
    }
    let born = UNIX_EPOCH + Duration::from_millis(born);
    // Kept by a process that took it to be later: how old it is cannot be told, so it is to be asked after.
    let born = if born > steady() { UNIX_EPOCH } else { born };
    let content = if length <= READ_AT_ONCE {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact(&mut bytes).ok()?;
        Content::Memory(Bytes::from(bytes))
    } else {
        let file = Arc::new(file);
        Content::File {
            file,
            offset,
            length,
        }
    };
    Some(Entry {
        status: StatusCode::from_u16(status).ok()?,
        headers: fields,
        content,
        lifetime: Lifetime {
            born,
            fresh: Duration::from_millis(fresh),
            while_revalidate: Duration::from_millis(while_revalidate),
            if_error: Duration::from_millis(if_error),
        },
    })
}

fn head_of(entry: &Entry) -> Head {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let text = |value: &HeaderValue| {
        value
            .as_bytes()
            .iter()
            .map(|&byte| char::from(byte))
            .collect()
    };
    let fields = entry.headers.iter();
    let lifetime = &entry.lifetime;
    Head::Entry {
        status: entry.status.as_u16(),
        headers: fields
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect(),
        length: entry.content.len(),
        born: millis(lifetime.born.duration_since(UNIX_EPOCH).unwrap_or_default()),
        fresh: millis(lifetime.fresh),
        while_revalidate: millis(lifetime.while_revalidate),
        if_error: millis(lifetime.if_error),
    }
}

/// Copies a part of a file to the end of another.
fn copy(from: &File, content: Option<&Content>, to: &mut File) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let Some(Content::File { offset, length, .. }) = content else {
        return Ok(());
    };
    let mut piece = vec![0; 64 << 10];
    let (mut at, end) = (*offset, offset + length);
    while at < end {
        let most = piece
            .len()
            .min(usize::try_from(end - at).unwrap_or(usize::MAX));
        let got = from.read_at(&mut piece[..most], at)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        to.write_all(&piece[..got])?;
        at += got as u64;
    }
    Ok(())
}
