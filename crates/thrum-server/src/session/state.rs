//! What a request has read of its session and wants changed, and saving that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::header::{CACHE_CONTROL, SET_COOKIE, VARY};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use super::cookie::{self, Id};
use super::keys::Keys;
use super::record::Record;
use super::{Inner, SessionError};
use crate::store::{Condition, Key, Put, StoreError, Version};

/// How often changes are put on top of somebody else's.
const ATTEMPTS: usize = 16;

#[derive(Default)]
pub(super) struct State {
    loaded: Option<Loaded>,
    /// By name; `None`: removed.
    changes: BTreeMap<String, Option<Value>>,
    user: Option<String>,
    renew: bool,
    destroy: bool,
}

struct Loaded {
    keys: Arc<Keys>,
    found: Option<Found>,
}

/// The session that the cookie is of.
struct Found {
    id: Id,
    /// Its cookie was signed with a key that is no longer the first.
    is_resigned: bool,
    version: Version,
    expires: Option<SystemTime>,
    record: Record,
}

impl State {
    /// Reads the session, once.
    pub(super) async fn load(&mut self, inner: &Inner) -> Result<(), SessionError> {
        if self.loaded.is_some() {
            return Ok(());
        }
        let shared = &inner.shared;
        let keys = shared.keys.keys(&*shared.store, &shared.cookie).await?;
        let proved = cookie::read(&inner.cookies, &shared.cookie, inner.secure, &keys);
        let found = match proved {
            Some((id, signer)) => find(inner, id, signer > 0).await?,
            None => None,
        };
        self.loaded = Some(Loaded { keys, found });
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        match self.changes.get(name) {
            Some(change) => change.as_ref(),
            None if self.destroy => None,
            None => self.found()?.record.data.get(name),
        }
    }

    pub(super) fn data(&self) -> Map<String, Value> {
        self.changed().data
    }

    pub(super) fn user(&self) -> Option<String> {
        self.changed().user
    }

    pub(super) fn id(&self) -> Option<String> {
        let found = self.found().filter(|_| !self.destroy)?;
        Some(found.id.name())
    }

    pub(super) fn set(
        &mut self,
        name: &str,
        value: Option<Value>,
        limit: usize,
    ) -> Result<(), SessionError> {
        let before = self.changes.insert(name.to_owned(), value);
        if self.changed().bytes().len() <= limit {
            return Ok(());
        }
        match before {
            Some(before) => self.changes.insert(name.to_owned(), before),
            None => self.changes.remove(name),
        };
        Err(SessionError::TooLarge { limit })
    }

    pub(super) fn log_in(&mut self, user: &str, limit: usize) -> Result<(), SessionError> {
        let before = self.user.replace(user.to_owned());
        if self.changed().bytes().len() > limit {
            self.user = before;
            return Err(SessionError::TooLarge { limit });
        }
        self.renew();
        Ok(())
    }

    pub(super) fn renew(&mut self) {
        self.renew = true;
    }

    /// What is set after this begins another session.
    pub(super) fn destroy(&mut self) {
        self.destroy = true;
        self.changes.clear();
        self.user = None;
    }

    /// Saves the changes and sets the cookie.
    pub(super) async fn save(
        &mut self,
        inner: &Inner,
        fields: &mut HeaderMap,
    ) -> Result<(), SessionError> {
        self.load(inner).await?;
        let cookie = self.store(inner).await?;
        self.changes.clear();
        (self.renew, self.destroy, self.user) = (false, false, None);
        // The response depends on who asks; one that sets a cookie is nobody else's.
        fields.append(VARY, HeaderValue::from_static("cookie"));
        if let Some(cookie) = cookie {
            fields.append(SET_COOKIE, cookie);
            fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        Ok(())
    }

    /// Brings the store up to date; gives the field for the cookie, if it changes.
    async fn store(&mut self, inner: &Inner) -> Result<Option<HeaderValue>, SessionError> {
        for _ in 0..ATTEMPTS {
            match self.try_store(inner).await {
                Err(SessionError::Store(StoreError::Conflict)) => {
                    if !self.reload(inner).await? {
                        // It was ended, or given a new id, by another request: what was to be changed is no more.
                        return Ok(None);
                    }
                }
                outcome => return outcome,
            }
        }
        let busy = "a session is changed by too many requests at a time";
        Err(StoreError::Unavailable(busy.into()).into())
    }

    async fn try_store(&mut self, inner: &Inner) -> Result<Option<HeaderValue>, SessionError> {
        let shared = &inner.shared;
        let record = self.changed();
        let is_changed =
            self.renew || self.destroy || self.user.is_some() || !self.changes.is_empty();
        if !is_changed {
            return self.keep(inner).await;
        }
        let present = self.found().map(|found| (found.id, found.version));
        let left = record.left(shared.max);
        if record.is_empty() || left.is_zero() {
            if let Some((id, version)) = present {
                let condition = if self.destroy {
                    Condition::Any
                } else {
                    Condition::Is(version)
                };
                shared.store.delete(&key(&id)?, condition).await?;
                self.forget();
            }
            return Ok(self.unset(inner));
        }
        let is_new = self.renew || self.destroy || present.is_none();
        let lasts = left.min(shared.idle);
        let (id, put) = match present {
            Some((id, version)) if !is_new => (id, Put::in_place_of(version)),
            Some((id, version)) => {
                // First, so that there are never two; its data go on only if nobody has changed them.
                let condition = if self.destroy {
                    Condition::Any
                } else {
                    Condition::Is(version)
                };
                shared.store.delete(&key(&id)?, condition).await?;
                (Id::new(), Put::if_absent())
            }
            None => (Id::new(), Put::if_absent()),
        };
        let written = shared
            .store
            .put(&key(&id)?, record.bytes(), put.expires(lasts))
            .await?;
        let is_resigned = self.found().is_some_and(|found| found.is_resigned);
        let cookie = (is_new || is_resigned).then(|| self.cookie(inner, &id, left));
        let found = Found {
            id,
            is_resigned: false,
            version: written.version,
            expires: SystemTime::now().checked_add(lasts),
            record,
        };
        if let Some(loaded) = &mut self.loaded {
            loaded.found = Some(found);
        }
        Ok(cookie.flatten())
    }

    /// A session that was only read: it lasts on, once a quarter of its time has gone, so that not every visit is a write.
    async fn keep(&mut self, inner: &Inner) -> Result<Option<HeaderValue>, SessionError> {
        let shared = &inner.shared;
        let Some(found) = self.found() else {
            return Ok(self.unset(inner));
        };
        let left = found.record.left(shared.max);
        let lasts = left.min(shared.idle);
        let remains = found.expires.map(|at| at.duration_since(SystemTime::now()));
        let remains = remains.and_then(Result::ok).unwrap_or_default();
        if remains < lasts.mul_f32(0.75) {
            let put = Put::in_place_of(found.version).expires(lasts);
            let written = shared
                .store
                .put(&key(&found.id)?, found.record.bytes(), put)
                .await;
            match written {
                // Somebody else has written it, which keeps it as well, or has ended it.
                Ok(_) | Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let cookie = found
            .is_resigned
            .then(|| self.cookie(inner, &found.id, left));
        Ok(cookie.flatten())
    }

    /// Reads it again; false when it is gone.
    async fn reload(&mut self, inner: &Inner) -> Result<bool, SessionError> {
        let Some((id, is_resigned)) = self.found().map(|found| (found.id, found.is_resigned))
        else {
            return Ok(true); // a new one, whose id was taken: never in practice
        };
        let found = find(inner, id, is_resigned).await?;
        let is_there = found.is_some();
        if let Some(loaded) = &mut self.loaded {
            loaded.found = found;
        }
        Ok(is_there)
    }

    fn found(&self) -> Option<&Found> {
        self.loaded.as_ref()?.found.as_ref()
    }

    fn forget(&mut self) {
        if let Some(loaded) = &mut self.loaded {
            loaded.found = None;
        }
    }

    /// What it is with the changes made.
    fn changed(&self) -> Record {
        let found = self.found().filter(|_| !self.destroy);
        let mut record = found.map_or_else(Record::new, |found| found.record.clone());
        for (name, change) in &self.changes {
            match change {
                Some(value) => drop(record.data.insert(name.clone(), value.clone())),
                None => drop(record.data.remove(name)),
            }
        }
        if let Some(user) = &self.user {
            record.user = Some(user.clone());
        }
        record
    }

    fn cookie(&self, inner: &Inner, id: &Id, lasts: Duration) -> Option<HeaderValue> {
        let keys = &self.loaded.as_ref()?.keys;
        Some(cookie::set(
            &inner.shared.cookie,
            inner.secure,
            id,
            keys,
            lasts,
        ))
    }

    /// Removes the cookie, if there is one.
    fn unset(&self, inner: &Inner) -> Option<HeaderValue> {
        let (name, secure) = (&inner.shared.cookie, inner.secure);
        cookie::is_there(&inner.cookies, name, secure).then(|| cookie::unset(name, secure))
    }
}

async fn find(inner: &Inner, id: Id, is_resigned: bool) -> Result<Option<Found>, SessionError> {
    let shared = &inner.shared;
    let Some(entry) = shared.store.get(&key(&id)?).await? else {
        return Ok(None);
    };
    let record = Record::read(&entry.value);
    let alive = record.filter(|record| !record.left(shared.max).is_zero());
    Ok(alive.map(|record| Found {
        id,
        is_resigned,
        version: entry.version,
        expires: entry.expires,
        record,
    }))
}

fn key(id: &Id) -> Result<Key, StoreError> {
    Key::new("session", &id.name())
}
