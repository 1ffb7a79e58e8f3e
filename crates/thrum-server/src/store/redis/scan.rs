//! Listings: a scan of the server, or of one master of a cluster after another.

use std::collections::BTreeSet;

use ::redis::{RedisResult, Value, cmd, from_redis_value};

use super::super::{Key, Page, StoreError};
use super::pool::Connection;

/// The most scans for one page: each looks at [`LOOK`] keys, whosever they are.
const ROUNDS: usize = 100;
const LOOK: usize = 1_000;

/// Where a scan goes on: at the master that has this slot, with that master's own cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    slot: u16,
    at: u64,
}

impl Cursor {
    /// Reads what [`write`](Self::write) wrote; the beginning, if there is nothing.
    pub(super) fn read(text: Option<&str>) -> Result<Self, StoreError> {
        let Some(text) = text else {
            return Ok(Self::default());
        };
        let parts = text.split_once('.');
        parts
            .and_then(|(slot, at)| {
                let (slot, at) = (slot.parse().ok()?, at.parse().ok()?);
                Some(Self { slot, at }).filter(|_| slot < 16_384)
            })
            .ok_or(StoreError::BadCursor)
    }

    fn write(self) -> String {
        format!("{}.{}", self.slot, self.at)
    }
}

/// A scan for the names that begin with a prefix.
pub(super) struct Scan {
    pattern: String,
    /// The bytes that come before the name in what is found.
    cut: usize,
    limit: usize,
}

impl Scan {
    pub(super) fn new(store: &str, prefix: &Key, limit: usize) -> Self {
        let mut pattern = String::new();
        for c in store.chars().chain(prefix.text().chars()) {
            if matches!(c, '*' | '?' | '[' | ']' | '\\' | '^') {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        pattern.push('*');
        let cut = store.len() + prefix.namespace().len() + 1;
        Self {
            pattern,
            cut,
            limit,
        }
    }

    pub(super) fn run(&self, at: &mut Connection, from: Cursor) -> RedisResult<Page> {
        let slots = at.first_slots()?;
        let mut cursor = from;
        let mut names = BTreeSet::new();
        for _ in 0..ROUNDS {
            let mut scan = cmd("SCAN");
            scan.arg(cursor.at).arg("MATCH").arg(&self.pattern);
            scan.arg("COUNT").arg(LOOK);
            let found = at.query_at(cursor.slot, &scan)?;
            let (next, keys): (u64, Vec<Value>) = from_redis_value(found)?;
            let keys = keys
                .into_iter()
                .filter_map(|key| from_redis_value::<String>(key).ok());
            names.extend(keys.filter_map(|key| key.get(self.cut..).map(str::to_owned)));
            cursor.at = next;
            if next == 0 {
                match slots.iter().find(|&&slot| slot > cursor.slot) {
                    Some(&slot) => cursor.slot = slot,
                    None => return Ok(page(names, None)),
                }
            }
            if names.len() >= self.limit {
                break;
            }
        }
        Ok(page(names, Some(cursor)))
    }
}

fn page(names: BTreeSet<String>, next: Option<Cursor>) -> Page {
    Page {
        names: names.into_iter().collect(),
        next: next.map(Cursor::write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors() {
        let cursor = Cursor { slot: 5461, at: 77 };
        assert_eq!(Cursor::read(Some(&cursor.write())), Ok(cursor));
        assert_eq!(Cursor::read(None), Ok(Cursor::default()));
        for bad in ["", "1", "a.1", "1.a", "16384.0", "-1.0", "1.2.3"] {
            assert_eq!(Cursor::read(Some(bad)), Err(StoreError::BadCursor), "{bad}");
        }
    }

    #[test]
    fn a_prefix_is_no_pattern() {
        let prefix = Key::new("kv", "a*[b]?\\").unwrap();
        let scan = Scan::new("t:", &prefix, 10);
        assert_eq!(scan.pattern, r"t:kv:a\*\[b\]\?\\*");
        assert_eq!(&"t:kv:a*[b]?\\c"[scan.cut..], "a*[b]?\\c");
    }
}
