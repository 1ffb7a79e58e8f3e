//! Conditional requests, RFC 9110 section 13: whether to answer at all, and with how much. No I/O.

use http::header::{
    HeaderMap, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    IF_UNMODIFIED_SINCE,
};
use thrum_parse::http::value::{EntityTag, EntityTags, FieldValue, HttpDate, IfRange};

/// What a file is told apart from its other versions by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validators<'a> {
    /// Strong, with its quotes.
    pub(crate) etag: &'a str,
    pub(crate) modified: HttpDate,
}

/// What the conditions come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
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
pub(crate) fn judge(headers: &HeaderMap, validators: Validators<'_>) -> Outcome {
    // A field that is malformed matches nothing.
    let ours = EntityTag::parse(validators.etag.as_bytes()).ok();
    let strongly =
        |theirs: EntityTags<'_>| ours.is_some_and(|ours| theirs.any_matches_strongly(ours));
    let weakly = |theirs: EntityTags<'_>| ours.is_some_and(|ours| theirs.any_matches_weakly(ours));
    if headers.contains_key(IF_MATCH) {
        if !any_matches(headers, IF_MATCH, strongly) {
            return Outcome::Failed;
        }
    } else if let Some(date) = date(headers.get(IF_UNMODIFIED_SINCE))
        && validators.modified > date
    {
        return Outcome::Failed;
    }
    if headers.contains_key(IF_NONE_MATCH) {
        if any_matches(headers, IF_NONE_MATCH, weakly) {
            return Outcome::NotModified;
        }
    } else if let Some(date) = date(headers.get(IF_MODIFIED_SINCE))
        && validators.modified <= date
    {
        return Outcome::NotModified;
    }
    let range_applies = |condition: &HeaderValue| {
        let condition = IfRange::parse(condition.as_bytes());
        condition.is_ok_and(|condition| condition.applies(ours, Some(validators.modified)))
    };
    match headers.get(IF_RANGE) {
        Some(condition) if !range_applies(condition) => Outcome::ProceedWhole,
        _ => Outcome::Proceed,
    }
}

fn any_matches(
    headers: &HeaderMap,
    name: http::HeaderName,
    matches: impl Fn(EntityTags<'_>) -> bool,
) -> bool {
    let lists = headers.get_all(name);
    lists
        .iter()
        .any(|list| EntityTags::parse(list.as_bytes()).is_ok_and(&matches))
}

/// A date in any of the three forms. What is none is ignored, as the RFC says.
fn date(value: Option<&HeaderValue>) -> Option<HttpDate> {
    HttpDate::parse(value?.as_bytes()).ok()
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
        let modified = HttpDate::parse(AT.as_bytes()).unwrap();
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
            // Not lists of tags.
            (&[(IF_NONE_MATCH, "\"a,b\" \"x\"")], Proceed),
            (&[(IF_NONE_MATCH, "a,b")], Proceed),
            (&[(IF_MATCH, "\"a,b\";")], Failed),
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
