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
        self.left_at(seconds(), max)
    }

    /// Never more than the longest time, though the clock may have been set to before its beginning.
    fn left_at(&self, now: u64, max: Duration) -> Duration {
        max.saturating_sub(Duration::from_secs(now.saturating_sub(self.began)))
    }
}

fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_between_nothing_and_all() {
        let record = Record {
            began: 10_000,
            ..Record::default()
        };
        let max = Duration::from_secs(3600);
        assert_eq!(record.left_at(10_000, max), max);
        assert_eq!(record.left_at(10_060, max), Duration::from_secs(3540));
        assert_eq!(record.left_at(20_000, max), Duration::ZERO);
        // The clock was set back by an hour.
        assert_eq!(record.left_at(6_400, max), max);
        assert_eq!(record.left_at(0, Duration::MAX), Duration::MAX);
    }
}
