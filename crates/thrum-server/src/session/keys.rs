//! The keys that sign cookies.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use thiserror::Error;
use thrum_rt::sync::OnceCell;

use super::cookie::Id;
use crate::store::{Key, Put, Store, StoreError};

/// The least bytes of a key.
const MIN: usize = 32;
/// The most keys: each cookie is tried with all of them.
const MOST: usize = 8;

/// Keys: the first signs; cookies that the others signed are taken too, and signed anew.
#[derive(Clone)]
pub struct Keys {
    all: Vec<hmac::Key>,
}

/// Why keys cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeysError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A line is no base64 of 32 bytes or more.
    #[error(
        "line {0} is no key: a key is the base64 of 32 random bytes or more (openssl rand -base64 32)"
    )]
    Malformed(usize),
    /// There are no keys, or more than 8.
    #[error("{0} keys: there must be 1 to 8")]
    Count(usize),
}

impl Keys {
    /// Keys of 32 bytes each.
    ///
    /// # Errors
    /// [`KeysError::Count`].
    pub fn new(keys: &[[u8; 32]]) -> Result<Self, KeysError> {
        Self::of(keys.iter().map(|key| key.as_slice()))
    }

    /// Keys from a file: each line the base64 of 32 random bytes or more; empty lines and those that begin with `#` are
    /// skipped. To change keys, write a new one before the others, and remove the old ones after the longest time that a
    /// session lasts.
    ///
    /// # Errors
    /// [`KeysError`].
    pub fn read(file: impl AsRef<Path>) -> Result<Self, KeysError> {
        let text = fs::read_to_string(file)?;
        let mut keys = vec![];
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = BASE64_STANDARD.decode(line).ok();
            let key = key.filter(|key| key.len() >= MIN);
            keys.push(key.ok_or(KeysError::Malformed(index + 1))?);
        }
        Self::of(keys.iter().map(Vec::as_slice))
    }

    fn of<'a>(keys: impl Iterator<Item = &'a [u8]>) -> Result<Self, KeysError> {
        let all: Vec<_> = keys
            .map(|key| hmac::Key::new(hmac::HMAC_SHA256, key))
            .collect();
        match all.len() {
            1..=MOST => Ok(Self { all }),
            count => Err(KeysError::Count(count)),
        }
    }

    pub(super) fn sign(&self, name: &str, id: &Id) -> hmac::Tag {
        hmac::sign(&self.all[0], &signed(name, id))
    }

    /// Which key signed that, in a time that tells nothing of it.
    pub(super) fn signer(&self, name: &str, id: &Id, tag: &[u8]) -> Option<usize> {
        let signed = signed(name, id);
        self.all
            .iter()
            .position(|key| hmac::verify(key, &signed, tag).is_ok())
    }
}

/// What a signature is of: a cookie of one name is none of another.
fn signed(name: &str, id: &Id) -> Vec<u8> {
    [b"thrum session\0", name.as_bytes(), b"\0", &id.0].concat()
}

/// Without the keys.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("count", &self.all.len())
            .finish()
    }
}

/// Where keys come from.
pub(super) enum KeySource {
    Given(Arc<Keys>),
    /// One that whoever needs it first makes and puts into the store; all servers that share the store find it there.
    Store(OnceCell<Arc<Keys>>),
}

impl KeySource {
    pub(super) async fn keys(
        &self,
        store: &dyn Store,
        cookie: &str,
    ) -> Result<Arc<Keys>, StoreError> {
        match self {
            Self::Given(keys) => Ok(keys.clone()),
            Self::Store(cell) => cell
                .get_or_try_init(|| from_store(store, cookie))
                .await
                .cloned(),
        }
    }
}

async fn from_store(store: &dyn Store, cookie: &str) -> Result<Arc<Keys>, StoreError> {
    let name = Key::new("session-key", cookie)?;
    loop {
        if let Some(entry) = store.get(&name).await? {
            let key = <[u8; MIN]>::try_from(&entry.value[..]).ok();
            let keys = key.and_then(|key| Keys::new(&[key]).ok());
            let bad = || StoreError::Unavailable(format!("{name} is no key"));
            return keys.map(Arc::new).ok_or_else(bad);
        }
        let mut key = vec![0; MIN];
        aws_lc_rs::rand::fill(&mut key).expect("the system's random numbers");
        match store.put(&name, key.into(), Put::if_absent()).await {
            Ok(_) | Err(StoreError::Conflict) => {}
            Err(error) => return Err(error),
        }
    }
}
