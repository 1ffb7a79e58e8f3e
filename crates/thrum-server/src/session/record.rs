//! A session as it lies in the store: JSON.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde_json::{Map, Value, json};

/// What a session has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Record {
    /// Seconds since 1970.
    pub(super) began: u64,
    pub(super) user: Option<String>,
    pub(super) data: Map<String, Value>,
}

impl Record {
    pub(super) fn new() -> Self {
        Self {
            began: seconds(),
            ..Self::default()
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let Value::Object(mut all) = serde_json::from_slice(bytes).ok()? else {
            return None;
        };
        let user = all.get("user").and_then(Value::as_str).map(str::to_owned);
        let began = all.get("began")?.as_u64()?;
        let Some(Value::Object(data)) = all.remove("data") else {
            return None;
        };
        Some(Self { began, user, data })
    }

    pub(super) fn bytes(&self) -> Bytes {
        let all = json!({ "began": self.began, "user": self.user, "data": self.data });
        all.to_string().into()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.user.is_none() && self.data.is_empty()
    }

    /// What is left of the longest time that it may last.
    pub(super) fn left(&self, max: Duration) -> Duration {
        let end = Duration::from_secs(self.began).saturating_add(max);
        end.saturating_sub(Duration::from_secs(seconds()))
    }
}

fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
