//! Where responses are kept: in memory, and on disk behind it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName};

use super::disk::Disk;
use super::entry::{Entry, Slot};
use super::flight::Flights;
use super::key::Key;
use super::memory::Memory;

/// How long requests for what cannot be kept are not made to wait for each other, after that was seen.
const PASS: Duration = Duration::from_secs(10);

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// Bytes in memory. Default: 64 MiB.
    pub memory: u64,
    /// Bytes on disk, where there is a folder. Default: 1 GiB.
    pub disk: u64,
    /// Bytes of the largest body that is kept. Default: 8 MiB.
    pub object: u64,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            disk: 1 << 30,
            object: 8 << 20,
        }
    }
}

/// Kept responses, for as many handlers as there are. To be shared in an [`Arc`].
pub struct Cache {
    memory: Memory,
    disk: Option<Disk>,
    pub(super) limits: CacheLimits,
    pub(super) flights: Flights,
    pub(super) counts: Counts,
}

/// What happened, since the start.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) hits: AtomicU64,
    pub(super) stale: AtomicU64,
    pub(super) revalidated: AtomicU64,
    pub(super) misses: AtomicU64,
    pub(super) coalesced: AtomicU64,
    pub(super) stored: AtomicU64,
    pub(super) passed: AtomicU64,
}

/// How a cache fares, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Requests that were answered from it, without asking.
    pub hits: u64,
    /// Those of them that were answered by something stale, which was allowed.
    pub stale: u64,
    /// Requests that were answered from it after the upstream said that it was still good.
    pub revalidated: u64,
    /// Requests that the upstream answered, of those that a cache may answer.
    pub misses: u64,
    /// Requests that waited for another and were answered by what that one brought; they are among the hits.
    pub coalesced: u64,
    /// Responses that were kept.
    pub stored: u64,
    /// Requests that a cache has nothing to do with.
    pub passed: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Bytes on disk.
    pub disk_bytes: u64,
}

impl Cache {
    /// A cache in memory alone.
    pub fn in_memory(limits: CacheLimits) -> Self {
        Self {
            memory: Memory::new(limits.memory),
            disk: None,
            limits,
            flights: Flights::default(),
            counts: Counts::default(),
        }
    }

    /// A cache with a folder behind its memory, which is made if it is not there. What was in it is found again. It must be
    /// one process's alone.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn on_disk(folder: &Path, limits: CacheLimits) -> io::Result<Self> {
        Ok(Self {
            disk: Some(Disk::open(folder, limits.disk)?),
            ..Self::in_memory(limits)
        })
    }

    /// How it fares.
    pub fn counts(&self) -> CacheCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counts = &self.counts;
        CacheCounts {
            hits: count(&counts.hits),
            stale: count(&counts.stale),
            revalidated: count(&counts.revalidated),
            misses: count(&counts.misses),
            coalesced: count(&counts.coalesced),
            stored: count(&counts.stored),
            passed: count(&counts.passed),
            memory_bytes: self.memory.bytes(),
            disk_bytes: self.disk.as_ref().map_or(0, Disk::bytes),
        }
    }

    /// What is kept for a request: the key that it, or its variant, is found by, and what is there.
    pub(super) fn find(&self, resource: Key, request: &HeaderMap) -> (Key, Option<Slot>) {
        match self.get(&resource) {
            Some(Slot::Varies(names)) => {
                let variant = resource.variant(&names, request);
                (variant, self.get(&variant))
            }
            slot => (resource, slot),
        }
    }

    /// Keeps a response to a request, by the fields that it varies by.
    pub(super) fn keep(
        &self,
        resource: Key,
        by: Vec<HeaderName>,
        request: &HeaderMap,
        entry: Entry,
    ) {
        let entry = Slot::Entry(Arc::new(entry));
        if by.is_empty() {
            self.put(resource, entry);
        } else {
            let variant = resource.variant(&by, request);
            self.put(resource, Slot::Varies(by.into()));
            self.put(variant, entry);
        }
        self.counts.stored.fetch_add(1, Ordering::Relaxed);
    }

    /// Puts an entry in another's place.
    pub(super) fn replace(&self, key: Key, entry: Arc<Entry>) {
        self.put(key, Slot::Entry(entry));
    }

    /// Notes that what is asked for by this key cannot be kept.
    pub(super) fn pass(&self, key: Key, now: SystemTime) {
        self.memory.put(key, Slot::Pass(now + PASS));
    }

    /// Forgets a resource; its variants cannot be found any more, and go in their time.
    pub(super) fn forget(&self, resource: &Key) {
        self.memory.remove(resource);
        if let Some(disk) = &self.disk {
            disk.remove(resource);
        }
    }

    fn get(&self, key: &Key) -> Option<Slot> {
        if let Some(slot) = self.memory.get(key) {
            return Some(slot);
        }
        let slot = self.disk.as_ref()?.get(key)?;
        // Not one that holds a descriptor.
        let small = match &slot {
            Slot::Entry(entry) => matches!(entry.content, super::entry::Content::Memory(_)),
            _ => true,
        };
        if small {
            self.memory.put(*key, slot.clone());
        }
        Some(slot)
    }

    fn put(&self, key: Key, slot: Slot) {
        if let Some(disk) = &self.disk
            && let Err(error) = disk.put(key, &slot)
        {
            // A full disk costs hits, not requests.
            tracing::warn!(%error, "the cache cannot be written");
        }
        self.memory.put(key, slot);
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("limits", &self.limits)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
