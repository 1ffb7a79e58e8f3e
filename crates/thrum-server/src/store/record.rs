//! A value as it lies in a store: 24 bytes of what is known of it, then the value. Version, time of writing, and time of
//! expiry (0: none), both in milliseconds since 1970, big-endian.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::{BufMut, Bytes, BytesMut};

use super::{Entry, Put, StoreError, Version, Written};

pub(super) const HEAD: usize = 24;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) version: Version,
    pub(super) modified: u64,
    /// 0: never.
    pub(super) expires: u64,
}

impl Head {
    /// For a value that is written now.
    pub(super) fn new(put: &Put) -> Self {
        let modified = now();
        let expires = put.expires.map_or(0, |after| {
            let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            modified.saturating_add(after.max(1))
        });
        Self {
            version: Version::new(),
            modified,
            expires,
        }
    }

    pub(super) fn read(record: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_be_bytes(*record.get(at..)?.first_chunk()?));
        Some(Self {
            version: Version(number(0)?),
            modified: number(8)?,
            expires: number(16)?,
        })
    }

    pub(super) fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..8].copy_from_slice(&self.version.0.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.modified.to_be_bytes());
        bytes[16..].copy_from_slice(&self.expires.to_be_bytes());
        bytes
    }

    pub(super) fn has_expired(&self, now: u64) -> bool {
        self.expires != 0 && self.expires <= now
    }

    /// The whole record.
    pub(super) fn record(&self, value: &[u8]) -> Bytes {
        let mut record = BytesMut::with_capacity(HEAD + value.len());
        record.put_slice(&self.bytes());
        record.put_slice(value);
        record.freeze()
    }

    pub(super) fn written(&self, created: bool) -> Written {
        Written {
            version: self.version,
            modified: time(self.modified),
            created,
        }
    }

    pub(super) fn entry(&self, value: Bytes) -> Entry {
        Entry {
            value,
            version: self.version,
            modified: time(self.modified),
            expires: (self.expires != 0).then(|| time(self.expires)),
        }
    }
}

/// The entry in a record; `None` when it has expired.
pub(super) fn entry(record: Bytes) -> Result<Option<Entry>, StoreError> {
    let head = Head::read(&record);
    let head = head.ok_or_else(|| StoreError::unavailable("a value without its head"))?;
    if head.has_expired(now()) {
        return Ok(None);
    }
    Ok(Some(head.entry(record.slice(HEAD..))))
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Times beyond what the system can tell are held at the year 9999.
fn time(milliseconds: u64) -> SystemTime {
    const LAST: u64 = 253_402_300_799_999;
    UNIX_EPOCH + Duration::from_millis(milliseconds.min(LAST))
}
