//! What a change depends on, from a request's fields (RFC 9110 section 13) to a condition of the store.

use std::time::Duration;

use http::header::{CACHE_CONTROL, HeaderMap, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use http::{HeaderName, StatusCode};
use thrum_parse::http::value::{EntityTag, EntityTags, FieldValue, HttpDate};

use super::{Refusal, etag};
use crate::store::{Condition, Entry, Key, Store};

/// What must hold for the change, or 412. A condition on tags is judged by the present value, and then put to the store as
/// one on that value's version: so that it holds when the change is made.
pub(super) async fn condition(
    store: &dyn Store,
    key: &Key,
    headers: &HeaderMap,
) -> Result<Condition, Refusal> {
    let failed = Err(StatusCode::PRECONDITION_FAILED.into());
    let names = [IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE];
    if !names.iter().any(|name| headers.contains_key(name)) {
        return Ok(Condition::Any);
    }
    let present = store.get(key).await?;
    let is_present = present.as_ref().map(|entry| Condition::Is(entry.version));
    if headers.contains_key(IF_MATCH) {
        if !matches(headers, IF_MATCH, present.as_ref(), true) {
            return failed;
        }
    } else if let Some(since) = date(headers)
        && let Some(entry) = &present
        && HttpDate::from_system_time(entry.modified) > since
    {
        return failed;
    }
    if headers.contains_key(IF_NONE_MATCH)
        && matches(headers, IF_NONE_MATCH, present.as_ref(), false)
    {
        return failed;
    }
    Ok(is_present.unwrap_or(Condition::Absent))
}

fn matches(headers: &HeaderMap, name: HeaderName, present: Option<&Entry>, strongly: bool) -> bool {
    let Some(entry) = present else {
        return false;
    };
    let etag = etag(entry);
    let Ok(ours) = EntityTag::parse(etag.as_bytes()) else {
        return false;
    };
    headers.get_all(name).iter().any(|list| {
        // A field that is malformed matches nothing.
        EntityTags::parse(list.as_bytes()).is_ok_and(|theirs| match strongly {
            true => theirs.any_matches_strongly(ours),
            false => theirs.any_matches_weakly(ours),
        })
    })
}

fn date(headers: &HeaderMap) -> Option<HttpDate> {
    HttpDate::parse(headers.get(IF_UNMODIFIED_SINCE)?.as_bytes()).ok()
}

/// How long a value that is put is to be there: `Cache-Control: max-age=60`, in seconds.
pub(super) fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let fields = headers.get_all(CACHE_CONTROL).iter();
    let mut directives = fields
        .filter_map(|field| field.to_str().ok())
        .flat_map(|field| field.split(','));
    directives.find_map(|directive| {
        let (name, seconds) = directive.trim().split_once('=')?;
        let seconds = seconds.trim_matches('"').parse().ok()?;
        name.eq_ignore_ascii_case("max-age")
            .then(|| Duration::from_secs(seconds))
    })
}
