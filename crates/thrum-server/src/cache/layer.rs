//! The handler around another that answers from a cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use http::header::{
    CONTENT_LENGTH, CONTENT_LOCATION, ETAG, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED, LOCATION, RANGE, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body::Body as _;
use thrum_http::Body;
use thrum_parse::http::value::{EntityTag, EntityTags, FieldValue, HttpDate};

use super::config::Opening;
use super::entry::{Content, Entry, Slot, kept_fields};
use super::flight::{Boarding, Landed, Ticket, board};
use super::key::Key;
use super::policy::{Came, Defaults, Lifetime, Verdict, Wishes, invalidates, varies};
use super::record::Record;
use super::store::Cache;
use crate::clock::steady;
use crate::site::{Answer, Handler, Visit, host_of, reply};

/// A handler around another, which answers in its stead from a [`Cache`].
///
/// * GET and HEAD, without a range and without a body. What succeeds by other methods makes what is kept for its path useless.
/// * A response is kept if it says for how long it is fresh, unless it is private, sets cookies, or has trailers.
/// * Conditional requests are answered from what is kept. What is stale is asked after, with its validators.
/// * `stale-while-revalidate` and `stale-if-error` are honoured (RFC 5861); `Cache-Status` tells what was done (RFC 9211).
/// * Requests for the same thing at the same time wait for the first of them, some time.
#[derive(Clone)]
pub struct Cached {
    pub(super) opening: Arc<Opening>,
    pub(super) inner: Arc<dyn Handler>,
    pub(super) defaults: Defaults,
    pub(super) wait: Duration,
}

impl Cached {
    /// Answers from a cache in `inner`'s stead.
    pub fn new(inner: Arc<dyn Handler>, cache: Arc<Cache>) -> Self {
        Self {
            opening: Arc::new(Opening::opened(cache)),
            inner,
            defaults: Defaults::default(),
            wait: Duration::from_secs(5),
        }
    }

    /// Keeps responses that do not say for how long they are fresh, for so long. Default: they are not kept.
    pub fn fresh(mut self, fresh: Duration) -> Self {
        self.defaults.fresh = Some(fresh);
        self
    }

    /// How long after it is stale a response may answer while the upstream fails. Default: not at all.
    pub fn stale_if_error(mut self, longer: Duration) -> Self {
        self.defaults.if_error = longer;
        self
    }
}

impl Handler for Cached {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let cache = self.opening.cache();
        let wishes = Wishes::of(request.headers());
        if !is_for_a_cache(&request) || wishes.no_store {
            count(&cache.counts.passed);
            return self.pass(cache, request, visit);
        }
        let now = steady();
        let resource = Key::of(&request, visit.secure, host_of(&request));
        let (key, slot) = cache.find(resource, request.headers());
        let kept = match slot {
            Some(Slot::Entry(entry)) => Some(entry),
            Some(Slot::Pass(until)) if until > now && !wishes.only_if_cached => {
                count(&cache.counts.passed);
                return self.pass(cache, request, visit);
            }
            _ => None,
        };
        let fetch = Fetch {
            cached: self.clone(),
            cache,
            resource,
            visit,
        };
        let verdict = kept
            .as_ref()
            .map(|kept| kept.lifetime.verdict(now, &wishes));
        match (kept, verdict) {
            (Some(kept), Some(Verdict::Fresh)) => {
                count(&fetch.cache.counts.hits);
                hit(&kept, request.headers(), now).into()
            }
            (Some(kept), Some(Verdict::WhileRevalidate)) => {
                count(&fetch.cache.counts.hits);
                count(&fetch.cache.counts.stale);
                let response = hit(&kept, request.headers(), now);
                fetch.in_background(request, key, kept);
                response.into()
            }
            _ if wishes.only_if_cached => reply::status(StatusCode::GATEWAY_TIMEOUT).into(),
            // Only what a GET brings is kept.
            (None, _) if request.method() == Method::HEAD => {
                count(&fetch.cache.counts.misses);
                self.inner.handle(request, fetch.visit)
            }
            (kept, verdict) => {
                let if_error = verdict == Some(Verdict::Revalidate { if_error: true });
                Answer::later(fetch.run(request, key, kept, if_error))
            }
        }
    }
}

impl Cached {
    /// Has a request answered that a cache has nothing to do with, but for what it may make useless.
    fn pass(&self, cache: Arc<Cache>, request: Request<Body>, visit: Visit) -> Answer {
        if request.method().is_safe() {
            return self.inner.handle(request, visit);
        }
        let method = request.method().clone();
        let (secure, host) = (visit.secure, host_of(&request).to_owned());
        let uri = request.uri().clone();
        self.inner.handle(request, visit).map(move |response| {
            if invalidates(&method, response.status()) {
                for uri in changed(&uri, response.headers(), &host) {
                    let request = Request::builder().uri(uri).body(());
                    if let Ok(request) = request {
                        cache.forget(&Key::of(&request, secure, &host));
                    }
                }
            }
        })
    }
}

/// What is to be asked of the upstream, and on whose behalf.
struct Fetch {
    cached: Cached,
    cache: Arc<Cache>,
    resource: Key,
    visit: Visit,
}

impl Fetch {
    /// Fetches it, or waits for who does.
    async fn run(
        self,
        request: Request<Body>,
        mut key: Key,
        mut kept: Option<Arc<Entry>>,
        mut if_error: bool,
    ) -> Response<Body> {
        /// So often at most a request finds, after waiting, that it would have to wait again.
        const WAITS: usize = 3;
        for _ in 0..WAITS {
            match board(&self.cache, key) {
                Boarding::Go(ticket) => {
                    return self.go(request, Some(ticket), key, kept, if_error).await;
                }
                Boarding::Wait(waiting) => match waiting.landed(self.cached.wait).await {
                    Some(Landed::Kept) | Some(Landed::Not) => {}
                    Some(Landed::Pass) | None => break,
                },
            }
            let now = steady();
            let (found, slot) = self.cache.find(self.resource, request.headers());
            key = found;
            let Some(Slot::Entry(entry)) = slot else {
                continue;
            };
            // What has just been fetched is as new as can be had, whatever this request wishes.
            match entry.lifetime.verdict(now, &Wishes::default()) {
                Verdict::Fresh | Verdict::WhileRevalidate => {
                    count(&self.cache.counts.hits);
                    count(&self.cache.counts.coalesced);
                    return hit(&entry, request.headers(), now);
                }
                Verdict::Revalidate { if_error: allowed } => {
                    (kept, if_error) = (Some(entry), allowed);
                }
            }
        }
        self.go(request, None, key, kept, if_error).await
    }

    /// Asks the upstream, and keeps what it says if there is a ticket.
    async fn go(
        self,
        request: Request<Body>,
        ticket: Option<Ticket>,
        key: Key,
        kept: Option<Arc<Entry>>,
        if_error: bool,
    ) -> Response<Body> {
        let wanted = request.headers().clone();
        let asked = question(request, kept.as_deref());
        let asked_with = asked.headers().clone();
        let is_head = asked.method() == Method::HEAD;
        let answer = self.cached.inner.handle(asked, self.visit);
        let response = answer.response().await;
        let now = steady();
        let status = response.status();
        let of_now = |status, headers: &HeaderMap| {
            let came = Came {
                at: now,
                wall: SystemTime::now(),
            };
            Lifetime::of(&asked_with, (status, headers), came, self.cached.defaults)
        };
        if let Some(kept) = &kept {
            if status == StatusCode::NOT_MODIFIED {
                count(&self.cache.counts.revalidated);
                let mut fields = kept.headers.clone();
                fields.extend(response.headers().clone());
                let lifetime = of_now(kept.status, &fields).unwrap_or(kept.lifetime);
                let entry = Arc::new(kept.refreshed(response.headers(), lifetime));
                self.cache.replace(key, entry.clone());
                if let Some(ticket) = ticket {
                    ticket.land(Landed::Kept);
                }
                let answered = hit_or_not(&entry, &wanted, now);
                return told(answered, "thrum; fwd=stale; fwd-status=304");
            }
            if if_error && is_failure(status) {
                count(&self.cache.counts.hits);
                count(&self.cache.counts.stale);
                let answered = hit_or_not(kept, &wanted, now);
                return told(
                    answered,
                    &format!("thrum; hit; fwd=stale; fwd-status={}", status.as_u16()),
                );
            }
        }
        count(&self.cache.counts.misses);
        let fwd = if kept.is_some() { "stale" } else { "uri-miss" };
        let lifetime = of_now(status, response.headers());
        let small = response.body().size_hint().lower() <= self.cache.limits.object;
        let (Some(lifetime), true, false) = (lifetime, small, is_head) else {
            // It might be another time: a failure of the upstream says nothing of the resource.
            if !is_failure(status) && !is_head {
                self.cache.pass(key, now);
                if let Some(ticket) = ticket {
                    ticket.land(Landed::Pass);
                }
            }
            return told(conditional(response, &wanted), &format!("thrum; fwd={fwd}"));
        };
        let Some(ticket) = ticket else {
            return told(conditional(response, &wanted), &format!("thrum; fwd={fwd}"));
        };
        let (cache, resource) = (self.cache, self.resource);
        let most = cache.limits.object;
        let by = varies(response.headers()).unwrap_or_default();
        let headers = kept_fields(response.headers());
        let keep = move |bytes| {
            let content = Content::Memory(bytes);
            let entry = Entry {
                status,
                headers,
                content,
                lifetime,
            };
            cache.keep(resource, by, &asked_with, entry);
            ticket.land(Landed::Kept);
        };
        let (head, body) = response.into_parts();
        let length = body.size();
        let recorded = Body::wrap(Record::new(body, most, keep));
        let mut response = Response::from_parts(head, recorded);
        if let Some(length) = length {
            let length = HeaderValue::from(length);
            response
                .headers_mut()
                .entry(CONTENT_LENGTH)
                .or_insert(length);
        }
        told(
            conditional(response, &wanted),
            &format!("thrum; fwd={fwd}; stored"),
        )
    }

    /// Fetches it again behind the back of who was answered.
    fn in_background(self, request: Request<Body>, key: Key, kept: Arc<Entry>) {
        let Boarding::Go(ticket) = board(&self.cache, key) else {
            return;
        };
        let (mut head, _) = request.into_parts();
        head.method = Method::GET;
        for name in CONDITIONS {
            head.headers.remove(name);
        }
        let request = Request::from_parts(head, Body::empty());
        drop(thrum_rt::spawn(async move {
            let response = self.go(request, Some(ticket), key, Some(kept), true).await;
            drain(response.into_body()).await;
        }));
    }
}

const CONDITIONS: [HeaderName; 5] = [
    IF_MATCH,
    IF_NONE_MATCH,
    IF_MODIFIED_SINCE,
    IF_UNMODIFIED_SINCE,
    IF_RANGE,
];

/// Whether a cache may answer it.
fn is_for_a_cache(request: &Request<Body>) -> bool {
    let headers = request.headers();
    let not = [RANGE, IF_MATCH, IF_UNMODIFIED_SINCE, UPGRADE];
    matches!(*request.method(), Method::GET | Method::HEAD)
        && !not.iter().any(|name| headers.contains_key(name))
        && request.body().is_end_stream()
}

/// A request for all of it, or for whether it is still as it was kept.
fn question(mut request: Request<Body>, kept: Option<&Entry>) -> Request<Body> {
    let headers = request.headers_mut();
    for name in CONDITIONS {
        headers.remove(name);
    }
    if let Some(kept) = kept {
        for (of_response, of_request) in [(ETAG, IF_NONE_MATCH), (LAST_MODIFIED, IF_MODIFIED_SINCE)]
        {
            if let Some(value) = kept.headers.get(of_response) {
                headers.insert(of_request, value.clone());
            }
        }
    }
    request
}

/// A kept response for a request.
fn hit(kept: &Entry, request: &HeaderMap, now: SystemTime) -> Response<Body> {
    let age = kept.lifetime.age(now).as_secs();
    let ttl = i128::from(kept.lifetime.fresh.as_secs()) - i128::from(age);
    told(
        hit_or_not(kept, request, now),
        &format!("thrum; hit; ttl={ttl}"),
    )
}

fn hit_or_not(kept: &Entry, request: &HeaderMap, now: SystemTime) -> Response<Body> {
    if has_it(request, kept.status, &kept.headers) {
        kept.not_modified(now)
    } else {
        kept.response(now)
    }
}

/// A response that was asked for whole, as who asks under conditions wants it.
fn conditional(response: Response<Body>, request: &HeaderMap) -> Response<Body> {
    if !has_it(request, response.status(), response.headers()) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    head.status = StatusCode::NOT_MODIFIED;
    head.headers.remove(CONTENT_LENGTH);
    // So that it can be kept.
    drop(thrum_rt::spawn(drain(body)));
    Response::from_parts(head, Body::empty())
}

/// Whether a client has what a response would bring (RFC 9110, 13.2.2).
fn has_it(request: &HeaderMap, status: StatusCode, response: &HeaderMap) -> bool {
    if status != StatusCode::OK {
        return false;
    }
    if request.contains_key(IF_NONE_MATCH) {
        let ours = response.get(ETAG);
        let ours = ours.and_then(|ours| EntityTag::parse(ours.as_bytes()).ok());
        let lists = request.get_all(IF_NONE_MATCH);
        return ours.is_some_and(|ours| {
            let matches = |tags: EntityTags<'_>| tags.any_matches_weakly(ours);
            let mut lists = lists.iter();
            lists.any(|list| EntityTags::parse(list.as_bytes()).is_ok_and(matches))
        });
    }
    let date = |headers: &HeaderMap, name| HttpDate::parse(headers.get(name)?.as_bytes()).ok();
    match (
        date(request, IF_MODIFIED_SINCE),
        date(response, LAST_MODIFIED),
    ) {
        (Some(theirs), Some(ours)) => ours <= theirs,
        _ => false,
    }
}

fn is_failure(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}

fn told(mut response: Response<Body>, status: &str) -> Response<Body> {
    const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
    if let Ok(status) = HeaderValue::from_str(status) {
        response.headers_mut().append(CACHE_STATUS, status);
    }
    response
}

/// The paths that a request has changed: its own, and those of its host that the response names (RFC 9111, 4.4).
fn changed(uri: &Uri, response: &HeaderMap, host: &str) -> Vec<Uri> {
    let named = [LOCATION, CONTENT_LOCATION].into_iter().filter_map(|name| {
        let named: Uri = response.get(name)?.to_str().ok()?.parse().ok()?;
        let same = named
            .host()
            .is_none_or(|named| named.eq_ignore_ascii_case(host));
        same.then_some(named)
    });
    std::iter::once(uri.clone()).chain(named).collect()
}

async fn drain(mut body: Body) {
    while let Some(Ok(_)) = body.chunk().await {}
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
