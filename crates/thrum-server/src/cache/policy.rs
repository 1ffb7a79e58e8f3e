//! What may be kept, for how long, and whom it may answer (RFC 9111). No I/O, no clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{
    AGE, AUTHORIZATION, CACHE_CONTROL, CONTENT_RANGE, DATE, EXPIRES, HeaderMap, HeaderName, PRAGMA,
    SET_COOKIE, TRAILER, VARY,
};
use http::{Method, StatusCode};
use thrum_parse::http::value::{CacheControl, FieldValue, HttpDate};

/// How long a kept response is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lifetime {
    /// When it was made, as far as this cache can tell, by the [steady clock](crate::clock::steady): its age counts from there.
    pub(super) born: SystemTime,
    /// Until what age it is fresh.
    pub(super) fresh: Duration,
    /// How much longer it may answer while a new one is fetched (RFC 5861).
    pub(super) while_revalidate: Duration,
    /// How much longer it may answer while the upstream fails (RFC 5861).
    pub(super) if_error: Duration,
}

/// Whether a kept response may answer a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// As it is.
    Fresh,
    /// As it is, while a new one is fetched.
    WhileRevalidate,
    /// Once the upstream has said that it is still good; or when it does not answer, if `if_error`.
    Revalidate { if_error: bool },
}

/// What a request says of caching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    /// The response is not to be kept.
    pub(super) no_store: bool,
    /// A kept response is not to be used unless the upstream says that it is good.
    pub(super) no_cache: bool,
    /// The upstream is not to be asked.
    pub(super) only_if_cached: bool,
    /// The age that is too old.
    max_age: Option<Duration>,
    min_fresh: Option<Duration>,
}

/// When a response came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    /// By the [steady clock](crate::clock::steady), which ages are measured by.
    pub(super) at: SystemTime,
    /// By the wall clock, as the dates in responses are.
    pub(super) wall: SystemTime,
}

/// What holds where a response says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Defaults {
    /// How long it is fresh. `None`: it is not kept.
    pub(super) fresh: Option<Duration>,
    pub(super) if_error: Duration,
}

impl Wishes {
    pub(super) fn of(request: &HeaderMap) -> Self {
        let mut wishes = Self::default();
        let mut said = false;
        for control in controls(request) {
            said = true;
            let seconds = |name| control.seconds(name).map(|s| Duration::from_secs(s.into()));
            wishes.no_store |= control.has("no-store");
            wishes.no_cache |= control.has("no-cache");
            wishes.only_if_cached |= control.has("only-if-cached");
            wishes.max_age = wishes.max_age.or(seconds("max-age"));
            wishes.min_fresh = wishes.min_fresh.or(seconds("min-fresh"));
        }
        if !said && let Some(pragma) = request.get(PRAGMA) {
            wishes.no_cache = pragma.as_bytes().eq_ignore_ascii_case(b"no-cache");
        }
        wishes
    }
}

impl Lifetime {
    /// What a response says of itself. `None`: it must not be kept (RFC 9111, 3), or there is no use in it.
    pub(super) fn of(
        request: &HeaderMap,
        (status, response): (StatusCode, &HeaderMap),
        came: Came,
        defaults: Defaults,
    ) -> Option<Self> {
        let kept_statuses = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501];
        let usual = kept_statuses.contains(&status.as_u16());
        let never = [SET_COOKIE, CONTENT_RANGE, TRAILER];
        if !usual
            || never.iter().any(|name| response.contains_key(name))
            || varies(response).is_none()
        {
            return None;
        }
        let mut said = Said::default();
        for control in controls(response) {
            said.note(&control);
        }
        let shared = said.public || said.shared_age.is_some() || said.must_revalidate;
        if said.forbidden || (request.contains_key(AUTHORIZATION) && !shared) {
            return None;
        }
        let date = date(response, DATE).unwrap_or(came.wall);
        // A date that is none means long ago (RFC 9111, 5.3).
        let expires = || {
            let field = response.get(EXPIRES)?;
            let at = HttpDate::parse(field.as_bytes()).ok().map(time);
            Some(at.map_or(Duration::ZERO, |at| since(at, date)))
        };
        let fresh = said
            .shared_age
            .or(said.age)
            .or_else(expires)
            .or(defaults.fresh)?;
        // RFC 9111, 4.2.3, of which the response's delay is left out: it is less than a cache in between would add.
        let apparent = since(came.wall, date);
        let told = seconds_of(response, AGE).unwrap_or_default();
        let (mut while_revalidate, mut if_error) = (said.while_revalidate, said.if_error);
        if said.must_revalidate {
            (while_revalidate, if_error) = (None, None);
        }
        let no_errors = said.must_revalidate || said.no_cache;
        let lifetime = Self {
            born: came
                .at
                .checked_sub(apparent.max(told))
                .unwrap_or(UNIX_EPOCH),
            fresh: if said.no_cache { Duration::ZERO } else { fresh },
            while_revalidate: while_revalidate.unwrap_or_default(),
            if_error: if_error.unwrap_or(if no_errors {
                Duration::ZERO
            } else {
                defaults.if_error
            }),
        };
        // What is stale at once and cannot be asked after is of no use.
        let has_validator = ["etag", "last-modified"]
            .iter()
            .any(|name| response.contains_key(*name));
        (!lifetime.fresh.is_zero() || has_validator).then_some(lifetime)
    }

    /// How old a kept response is.
    pub(super) fn age(&self, now: SystemTime) -> Duration {
        since(now, self.born)
    }

    /// Whether it may answer a request.
    pub(super) fn verdict(&self, now: SystemTime, wishes: &Wishes) -> Verdict {
        let age = self.age(now);
        let late = age.saturating_sub(self.fresh);
        let if_error = age < self.fresh || (!self.if_error.is_zero() && late <= self.if_error);
        if wishes.no_cache || wishes.max_age.is_some_and(|most| age > most) {
            return Verdict::Revalidate { if_error };
        }
        let needed = wishes.min_fresh.unwrap_or_default();
        if age + needed < self.fresh {
            Verdict::Fresh
        } else if !self.while_revalidate.is_zero() && late <= self.while_revalidate {
            Verdict::WhileRevalidate
        } else {
            Verdict::Revalidate { if_error }
        }
    }
}

/// What `Cache-Control` of a response says.
#[derive(Default)]
struct Said {
    forbidden: bool,
    no_cache: bool,
    public: bool,
    must_revalidate: bool,
    shared_age: Option<Duration>,
    age: Option<Duration>,
    while_revalidate: Option<Duration>,
    if_error: Option<Duration>,
}

impl Said {
    fn note(&mut self, control: &CacheControl<'_>) {
        let seconds = |name| control.seconds(name).map(|s| Duration::from_secs(s.into()));
        // `private` and `no-cache` may name fields; whoever does not look at them treats all as named (5.2.2.4, 5.2.2.7).
        self.forbidden |= control.has("no-store") || control.has("private");
        self.no_cache |= control.has("no-cache");
        self.public |= control.has("public");
        self.must_revalidate |= control.has("must-revalidate") || control.has("proxy-revalidate");
        self.must_revalidate |= control.has("s-maxage");
        self.shared_age = self.shared_age.or(seconds("s-maxage"));
        self.age = self.age.or(seconds("max-age"));
        self.while_revalidate = self.while_revalidate.or(seconds("stale-while-revalidate"));
        self.if_error = self.if_error.or(seconds("stale-if-error"));
    }
}

/// The request fields that a response depends on, in lower case and sorted. `None`: on more than can be told (`*`).
pub(super) fn varies(response: &HeaderMap) -> Option<Vec<HeaderName>> {
    let mut names = Vec::new();
    for field in response.get_all(VARY) {
        for name in field.to_str().ok()?.split(',') {
            match name.trim() {
                "" => {}
                name => names.push(HeaderName::try_from(name).ok()?), // `*` is no name
            }
        }
    }
    names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    names.dedup();
    // Each name is another lookup; nobody means this many.
    (names.len() <= 16 && !names.iter().any(|name| name.as_str() == "*")).then_some(names)
}

/// Whether a request of that method, if it succeeds, makes what is kept for its path useless (RFC 9111, 4.4).
pub(super) fn invalidates(method: &Method, status: StatusCode) -> bool {
    let safe = [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE];
    !safe.contains(method) && (status.is_success() || status.is_redirection())
}

fn controls(headers: &HeaderMap) -> impl Iterator<Item = CacheControl<'_>> {
    let fields = headers.get_all(CACHE_CONTROL).into_iter();
    fields.filter_map(|field| CacheControl::parse(field.as_bytes()).ok())
}

fn date(headers: &HeaderMap, name: HeaderName) -> Option<SystemTime> {
    HttpDate::parse(headers.get(name)?.as_bytes())
        .ok()
        .map(time)
}

fn time(date: HttpDate) -> SystemTime {
    let seconds = u64::try_from(date.unix_seconds()).unwrap_or(0);
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn since(later: SystemTime, earlier: SystemTime) -> Duration {
    later.duration_since(earlier).unwrap_or_default()
}

fn seconds_of(headers: &HeaderMap, name: HeaderName) -> Option<Duration> {
    let text = headers.get(name)?.to_str().ok()?;
    let seconds: u32 = text.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn fields(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        headers
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(784_111_777 + seconds)
    }

    fn came(seconds: u64) -> Came {
        Came {
            at: at(seconds),
            wall: at(seconds),
        }
    }

    fn kept(lines: &[(&str, &str)]) -> Option<Lifetime> {
        let response = fields(lines);
        Lifetime::of(
            &HeaderMap::new(),
            (StatusCode::OK, &response),
            came(0),
            Defaults::default(),
        )
    }

    #[test]
    fn what_is_kept_and_for_how_long() {
        let fresh = |lines: &[(&str, &str)]| kept(lines).map(|kept| kept.fresh.as_secs());
        let control = |value| fresh(&[("cache-control", value)]);
        assert_eq!(control("max-age=60"), Some(60));
        assert_eq!(control("max-age=60, s-maxage=10"), Some(10));
        assert_eq!(control("no-store, max-age=60"), None);
        assert_eq!(control("private, max-age=60"), None);
        assert_eq!(control("private=\"x\", max-age=60"), None);
        assert_eq!(control("public"), None);
        assert_eq!(control("max-age=0"), None);
        assert_eq!(fresh(&[]), None);
        let with_tag = [("cache-control", "no-cache"), ("etag", "\"a\"")];
        assert_eq!(fresh(&with_tag), None, "no lifetime is said");
        let with_tag = [("cache-control", "no-cache, max-age=9"), ("etag", "\"a\"")];
        assert_eq!(fresh(&with_tag), Some(0));
        let long = [("cache-control", "max-age=60")];
        for never in [
            ("set-cookie", "a=b"),
            ("vary", "*"),
            ("content-range", "bytes 0-1/2"),
        ] {
            assert_eq!(fresh(&[long[0], never]), None, "{never:?}");
        }
    }

    #[test]
    fn dates_count_where_no_age_is_said() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let fresh =
            |expires| kept(&[date, ("expires", expires), ("etag", "\"a\"")]).map(|kept| kept.fresh);
        assert_eq!(fresh("Sun, 06 Nov 1994 08:49:47 GMT"), Some(10 * SECOND));
        assert_eq!(fresh("0"), Some(Duration::ZERO));
        let both = [date, ("expires", "0"), ("cache-control", "max-age=5")];
        assert_eq!(kept(&both).unwrap().fresh, 5 * SECOND);
    }

    #[test]
    fn authorized_responses_are_kept_only_if_they_say_so() {
        let request = fields(&[("authorization", "Basic x")]);
        let kept = |control| {
            let response = fields(&[("cache-control", control)]);
            Lifetime::of(
                &request,
                (StatusCode::OK, &response),
                came(0),
                Defaults::default(),
            )
            .is_some()
        };
        assert!(!kept("max-age=60"));
        assert!(
            kept("public, max-age=60") && kept("s-maxage=60") && kept("must-revalidate, max-age=6")
        );
    }

    #[test]
    fn age_counts_from_the_origin() {
        let lines = [("cache-control", "max-age=60"), ("age", "50")];
        let life = kept(&lines).unwrap();
        assert_eq!(life.age(at(5)), 55 * SECOND);
        assert_eq!(life.verdict(at(5), &Wishes::default()), Verdict::Fresh);
        let stale = Verdict::Revalidate { if_error: false };
        assert_eq!(life.verdict(at(10), &Wishes::default()), stale);
        let dated = [
            ("cache-control", "max-age=60"),
            ("date", "Sun, 06 Nov 1994 08:49:07 GMT"),
        ];
        assert_eq!(kept(&dated).unwrap().age(at(0)), 30 * SECOND);
    }

    #[test]
    fn a_wall_clock_that_was_set_changes_no_age() {
        let hour = 3600;
        let dated = [
            ("cache-control", "max-age=60"),
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ];
        // The upstream's clock is right, and so is ours again; the clock of ages has gone on.
        let came = Came {
            at: at(hour),
            wall: at(0),
        };
        let response = fields(&dated);
        let life = Lifetime::of(
            &HeaderMap::new(),
            (StatusCode::OK, &response),
            came,
            Defaults::default(),
        );
        let life = life.unwrap();
        assert_eq!(life.age(at(hour + 59)), 59 * SECOND);
        let verdict = |at| life.verdict(at, &Wishes::default());
        assert_eq!(verdict(at(hour + 59)), Verdict::Fresh);
        let stale = Verdict::Revalidate { if_error: false };
        assert_eq!(verdict(at(hour + 60)), stale);
    }

    #[test]
    fn staleness_that_is_allowed() {
        let control = "max-age=10, stale-while-revalidate=20, stale-if-error=40";
        let life = kept(&[("cache-control", control)]).unwrap();
        let verdict = |after| life.verdict(at(after), &Wishes::default());
        assert_eq!(verdict(9), Verdict::Fresh);
        assert_eq!(verdict(11), Verdict::WhileRevalidate);
        assert_eq!(verdict(31), Verdict::Revalidate { if_error: true });
        assert_eq!(verdict(51), Verdict::Revalidate { if_error: false });
        let strict = "max-age=10, must-revalidate, stale-while-revalidate=20";
        let life = kept(&[("cache-control", strict)]).unwrap();
        assert_eq!(
            life.verdict(at(11), &Wishes::default()),
            Verdict::Revalidate { if_error: false }
        );
    }

    #[test]
    fn clients_have_wishes() {
        let life = kept(&[("cache-control", "max-age=60")]).unwrap();
        let verdict = |control| {
            let wishes = Wishes::of(&fields(&[("cache-control", control)]));
            life.verdict(at(30), &wishes)
        };
        let asked = Verdict::Revalidate { if_error: true };
        assert_eq!(verdict("no-cache"), asked);
        assert_eq!(verdict("max-age=20"), asked);
        assert_eq!(verdict("max-age=40"), Verdict::Fresh);
        assert_eq!(verdict("min-fresh=40"), asked);
        assert!(Wishes::of(&fields(&[("pragma", "no-cache")])).no_cache);
        assert!(Wishes::of(&fields(&[("cache-control", "only-if-cached")])).only_if_cached);
    }

    #[test]
    fn what_a_response_varies_by() {
        let names = |value| varies(&fields(&[("vary", value)])).map(|names| names.len());
        assert_eq!(names("Accept-Encoding, accept-encoding,Cookie"), Some(2));
        assert_eq!(names("*"), None);
        assert_eq!(varies(&HeaderMap::new()), Some(vec![]));
    }
}
