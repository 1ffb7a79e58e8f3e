//! Conditional requests, RFC 9110 section 13: whether to answer at all, and with how much. No I/O.

use std::time::{Duration, SystemTime};

use http::header::{
    HeaderMap, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    IF_UNMODIFIED_SINCE,
};

/// What a file is told apart from its other versions by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Validators<'a> {
    /// Strong, with its quotes.
    pub(super) etag: &'a str,
    /// In whole seconds, as HTTP tells time.
    pub(super) modified: SystemTime,
}

/// What the conditions come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Answer, a range if one is asked for.
    Proceed,
    /// Answer with all of it, though a range is asked for.
    ProceedWhole,
    /// 304.
    NotModified,
    /// 412.
    Failed,
}

/// Judges the conditions of a GET or HEAD in the order of section 13.2.2.
pub(super) fn judge(headers: &HeaderMap, validators: Validators<'_>) -> Outcome {
    if headers.contains_key(IF_MATCH) {
        if !any_matches(headers, IF_MATCH, validators.etag, strongly) {
            return Outcome::Failed;
        }
    } else if let Some(date) = date(headers.get(IF_UNMODIFIED_SINCE))
        && validators.modified > date
    {
        return Outcome::Failed;
    }
    if headers.contains_key(IF_NONE_MATCH) {
        if any_matches(headers, IF_NONE_MATCH, validators.etag, weakly) {
            return Outcome::NotModified;
        }
    } else if let Some(date) = date(headers.get(IF_MODIFIED_SINCE))
        && validators.modified <= date
    {
        return Outcome::NotModified;
    }
    match headers.get(IF_RANGE) {
        Some(condition) if !range_applies(condition, validators) => Outcome::ProceedWhole,
        _ => Outcome::Proceed,
    }
}

/// Section 13.1.5: an exact date or a strong comparison.
fn range_applies(condition: &HeaderValue, validators: Validators<'_>) -> bool {
    match date(Some(condition)) {
        Some(date) => date == validators.modified,
        None => strongly(
            condition.as_bytes().trim_ascii(),
            validators.etag.as_bytes(),
        ),
    }
}

fn any_matches(
    headers: &HeaderMap,
    name: http::HeaderName,
    etag: &str,
    matches: impl Fn(&[u8], &[u8]) -> bool,
) -> bool {
    let lists = headers.get_all(name);
    lists.iter().any(|list| {
        list.as_bytes().trim_ascii() == b"*"
            || entity_tags(list.as_bytes()).any(|tag| matches(tag, etag.as_bytes()))
    })
}

/// The entity tags of a list. A tag may hold commas, so the quotes are what separates them.
fn entity_tags(mut list: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let start = list
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | b','))?;
        list = &list[start..];
        let opening = list.iter().position(|&byte| byte == b'"')?;
        let closing = list[opening + 1..].iter().position(|&byte| byte == b'"')?;
        let (tag, rest) = list.split_at(opening + closing + 2);
        list = rest;
        Some(tag)
    })
}

fn strongly(tag: &[u8], etag: &[u8]) -> bool {
    tag == etag // ours is strong, so a weak one is another
}

fn weakly(tag: &[u8], etag: &[u8]) -> bool {
    tag.strip_prefix(b"W/").unwrap_or(tag) == etag
}

/// A date in any of the three forms. What is none is ignored, as the RFC says.
fn date(value: Option<&HeaderValue>) -> Option<SystemTime> {
    httpdate::parse_http_date(value?.to_str().ok()?).ok()
}

/// A time as HTTP can tell it: in whole seconds, and not before 1970.
pub(super) fn whole_seconds(time: SystemTime) -> SystemTime {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    fn outcome(fields: &[(http::HeaderName, &str)]) -> Outcome {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(name, value.parse().unwrap());
        }
        let modified = httpdate::parse_http_date(AT).unwrap();
        judge(
            &headers,
            Validators {
                etag: "\"a,b\"",
                modified,
            },
        )
    }

    #[test]
    fn every_condition_alone_and_by_precedence() {
        use Outcome::*;
        for (fields, expected) in [
            (&[][..], Proceed),
            (&[(IF_MATCH, "*")], Proceed),
            (&[(IF_MATCH, "\"x\", \"a,b\"")], Proceed),
            (&[(IF_MATCH, "\"x\"")], Failed),
            (&[(IF_MATCH, "W/\"a,b\"")], Failed),
            (&[(IF_UNMODIFIED_SINCE, AT)], Proceed),
            (&[(IF_UNMODIFIED_SINCE, BEFORE)], Failed),
            (&[(IF_UNMODIFIED_SINCE, "nonsense")], Proceed),
            (&[(IF_NONE_MATCH, "*")], NotModified),
            (&[(IF_NONE_MATCH, "W/\"a,b\"")], NotModified),
            (
                &[(IF_NONE_MATCH, "\"x\""), (IF_NONE_MATCH, "\"a,b\"")],
                NotModified,
            ),
            (&[(IF_NONE_MATCH, "\"x\"")], Proceed),
            (&[(IF_MODIFIED_SINCE, AT)], NotModified),
            (&[(IF_MODIFIED_SINCE, AFTER)], NotModified),
            (&[(IF_MODIFIED_SINCE, BEFORE)], Proceed),
            (&[(IF_MODIFIED_SINCE, "nonsense")], Proceed),
            // The tags go before the dates.
            (
                &[(IF_MATCH, "\"a,b\""), (IF_UNMODIFIED_SINCE, BEFORE)],
                Proceed,
            ),
            (
                &[(IF_NONE_MATCH, "\"x\""), (IF_MODIFIED_SINCE, AFTER)],
                Proceed,
            ),
            (
                &[(IF_NONE_MATCH, "\"a,b\""), (IF_MODIFIED_SINCE, BEFORE)],
                NotModified,
            ),
            (&[(IF_MATCH, "\"x\""), (IF_NONE_MATCH, "\"a,b\"")], Failed),
            (&[(IF_RANGE, "\"a,b\"")], Proceed),
            (&[(IF_RANGE, "W/\"a,b\"")], ProceedWhole),
            (&[(IF_RANGE, "\"x\"")], ProceedWhole),
            (&[(IF_RANGE, AT)], Proceed),
            (&[(IF_RANGE, AFTER)], ProceedWhole),
            (&[(IF_RANGE, "nonsense")], ProceedWhole),
        ] {
            assert_eq!(outcome(fields), expected, "{fields:?}");
        }
    }
}
