//! The tables of the file, and what is done in them.

use std::ops::Bound;

use ::redb::{
    Database, ReadableDatabase, ReadableTable, StorageError, Table, TableDefinition,
    WriteTransaction,
};
use bytes::Bytes;

use super::super::record::{Head, now};
use super::super::{Condition, Key, Page, StoreError};
use super::file::{fault, storage_fault};

/// Keys to records.
const VALUES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("values");
/// Those that expire, by when.
const EXPIRING: TableDefinition<'_, (u64, &str), ()> = TableDefinition::new("expiring");
/// `used`: the bytes of all keys and records.
const TOTALS: TableDefinition<'_, &str, u64> = TableDefinition::new("totals");

/// What a key takes besides itself and its record: its part in the trees, roughly.
const OVERHEAD: u64 = 64;

/// Makes the tables, if they are not there: a file that has them is opened on a full disk too.
pub(super) fn create(database: &Database) -> Result<(), StoreError> {
    let transaction = database.begin_read().map_err(|error| fault(error.into()))?;
    if transaction.open_table(TOTALS).is_ok() {
        return Ok(());
    }
    let transaction = database
        .begin_write()
        .map_err(|error| fault(error.into()))?;
    Tables::open(&transaction).map(drop)?;
    transaction.commit().map_err(|error| fault(error.into()))
}

/// The record of a key.
pub(super) fn read(database: &Database, key: &str) -> Result<Option<Bytes>, StoreError> {
    let transaction = database.begin_read().map_err(|error| fault(error.into()))?;
    let values = transaction
        .open_table(VALUES)
        .map_err(|error| fault(error.into()))?;
    let record = values.get(key).map_err(storage_fault)?;
    Ok(record.map(|record| Bytes::copy_from_slice(record.value())))
}

/// A page of names.
pub(super) fn names(
    database: &Database,
    prefix: &Key,
    after: Option<&Key>,
    limit: usize,
) -> Result<Page, StoreError> {
    let transaction = database.begin_read().map_err(|error| fault(error.into()))?;
    let values = transaction
        .open_table(VALUES)
        .map_err(|error| fault(error.into()))?;
    let from = match after {
        Some(after) => Bound::Excluded(after.text()),
        None => Bound::Included(prefix.text()),
    };
    let now = now();
    let mut page = Page::default();
    let range = values.range::<&str>((from, Bound::Unbounded));
    for entry in range.map_err(storage_fault)? {
        let (key, record) = entry.map_err(storage_fault)?;
        if !key.value().starts_with(prefix.text()) {
            break;
        }
        if Head::read(record.value()).is_none_or(|head| head.has_expired(now)) {
            continue;
        }
        if page.names.len() == limit {
            page.next = page.names.last().cloned();
            break;
        }
        let name = prefix.name_in(key.value());
        page.names.extend(name.map(str::to_owned));
    }
    Ok(page)
}

/// Whether something has expired.
pub(super) fn is_any_due(database: &Database) -> Result<bool, StoreError> {
    let transaction = database.begin_read().map_err(|error| fault(error.into()))?;
    let expiring = transaction
        .open_table(EXPIRING)
        .map_err(|error| fault(error.into()))?;
    let first = expiring.first().map_err(storage_fault)?;
    Ok(first.is_some_and(|(key, _)| key.value().0 <= now()))
}

/// All tables, to be changed.
pub(super) struct Tables<'t> {
    values: Table<'t, &'static str, &'static [u8]>,
    expiring: Table<'t, (u64, &'static str), ()>,
    totals: Table<'t, &'static str, u64>,
}

/// Why one change of several was not made.
pub(super) enum Refusal {
    /// That change alone is refused; nothing was done.
    Change(StoreError),
    /// The file failed.
    File(StorageError),
}

impl From<StorageError> for Refusal {
    fn from(error: StorageError) -> Self {
        Self::File(error)
    }
}

impl<'t> Tables<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, StoreError> {
        let open = || {
            Ok(Self {
                values: transaction.open_table(VALUES)?,
                expiring: transaction.open_table(EXPIRING)?,
                totals: transaction.open_table(TOTALS)?,
            })
        };
        open().map_err(|error: ::redb::TableError| fault(error.into()))
    }

    /// Writes a record. Says whether there was one that had not expired.
    pub(super) fn put(
        &mut self,
        key: &str,
        head: Head,
        record: &[u8],
        condition: Condition,
        max: u64,
    ) -> Result<bool, Refusal> {
        let present = self.present(key)?;
        let was_there = check(present, condition)?;
        let used = self.used()?;
        let before = present.map_or(0, |(_, size)| size);
        let after = used.saturating_sub(before) + size(key, record);
        if after > max && after > used {
            let full = format!("its keys and values may have {max} bytes");
            return Err(Refusal::Change(StoreError::Full(full)));
        }
        if let Some((old, _)) = present {
            self.forget(key, old)?;
        }
        self.values.insert(key, record)?;
        if head.expires != 0 {
            self.expiring.insert((head.expires, key), ())?;
        }
        self.totals.insert("used", after)?;
        Ok(was_there)
    }

    /// Deletes a record. Says whether there was one that had not expired.
    pub(super) fn delete(&mut self, key: &str, condition: Condition) -> Result<bool, Refusal> {
        let present = self.present(key)?;
        let was_there = check(present, condition)?;
        if let Some((head, size)) = present {
            self.remove(key, head, size)?;
        }
        Ok(was_there)
    }

    /// Removes what has expired, at most `limit` of it. Says how many.
    pub(super) fn sweep(&mut self, limit: usize) -> Result<usize, StorageError> {
        let mut expired = Vec::new();
        for entry in self.expiring.range(..=(now(), ""))?.take(limit) {
            let (key, ()) = (entry?.0, ());
            expired.push((key.value().0, key.value().1.to_owned()));
        }
        for (at, key) in &expired {
            match self.present(key)? {
                Some((head, size)) if head.expires == *at => self.remove(key, head, size)?,
                _ => drop(self.expiring.remove((*at, key.as_str()))?),
            }
        }
        Ok(expired.len())
    }

    fn present(&self, key: &str) -> Result<Option<(Head, u64)>, StorageError> {
        let Some(record) = self.values.get(key)? else {
            return Ok(None);
        };
        let record = record.value();
        let corrupt = || StorageError::Corrupted(format!("the value of {key} has no head"));
        let head = Head::read(record).ok_or_else(corrupt)?;
        Ok(Some((head, size(key, record))))
    }

    fn remove(&mut self, key: &str, head: Head, size: u64) -> Result<(), StorageError> {
        self.values.remove(key)?;
        self.forget(key, head)?;
        let used = self.used()?.saturating_sub(size);
        self.totals.insert("used", used)?;
        Ok(())
    }

    fn forget(&mut self, key: &str, head: Head) -> Result<(), StorageError> {
        if head.expires != 0 {
            self.expiring.remove((head.expires, key))?;
        }
        Ok(())
    }

    fn used(&self) -> Result<u64, StorageError> {
        Ok(self.totals.get("used")?.map_or(0, |used| used.value()))
    }
}

fn check(present: Option<(Head, u64)>, condition: Condition) -> Result<bool, Refusal> {
    let live = present.filter(|(head, _)| !head.has_expired(now()));
    if !condition.holds(live.map(|(head, _)| head.version)) {
        return Err(Refusal::Change(StoreError::Conflict));
    }
    Ok(live.is_some())
}

fn size(key: &str, record: &[u8]) -> u64 {
    key.len() as u64 + record.len() as u64 + OVERHEAD
}
