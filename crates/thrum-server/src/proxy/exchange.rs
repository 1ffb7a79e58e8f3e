//! One request on its way through: whom it is taken to, what becomes of it there, and what the client is told.

use std::sync::Arc;
use std::time::Instant;

use http::header::{HOST, UPGRADE};
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use thrum_http::client::{Failed, Phase};
use thrum_http::upgrade::{self, OnUpgrade};
use thrum_http::{Body, BodyError};

use super::forwarded::Hop;
use super::room::{NoPlace, Place, enter};
use super::rules::{self, Facts};
use super::tunnel::Ended;
use super::upstream::count;
use super::{HostField, Peer, Shared, hop, relay, tunnel};
use crate::site::{Route, Visit, reply};

/// Takes a request to an upstream, and the response back.
pub(super) fn exchange(
    shared: Arc<Shared>,
    mut request: Request<Body>,
    visit: Visit,
) -> impl Future<Output = Response<Body>> + Send {
    let key = shared.chooser.key(&request, &visit);
    let client = upgraded(&mut request);
    prepare(&shared, &mut request, &visit, client.is_some());
    // What differs between upstreams is made of these.
    let asked = shared.changes_target.then(|| {
        Box::new(Asked {
            uri: request.uri().clone(),
            host: request.headers().get(HOST).cloned(),
            route: visit.route,
        })
    });
    // Not an `async fn`, whose future would hold what it is given twice.
    async move {
        if let Some(most) = shared.buffer {
            let body = std::mem::take(request.body_mut());
            match Box::pin(relay::collect(body, most)).await {
                Ok(body) => *request.body_mut() = body,
                Err(error) => return blame_client(&error),
            }
        }
        shared.budget.deposit(&shared.retries);
        let mut tried = Vec::new();
        let mut begun = None;
        let mut last = None;
        loop {
            let place = match enter(&shared, key, &tried).await {
                Ok(place) => place,
                Err(NoPlace::NobodyLeft) if last.is_some() => break,
                Err(why) => return no_place(&request, why),
            };
            let peer = place.peer();
            if let Some(asked) = &asked
                && aim(&mut request, peer, &shared, asked).is_none()
            {
                return reply::status(StatusCode::NOT_FOUND);
            }
            count(&peer.upstream.counters.requests);
            if shared.retries.count > 0 && begun.is_none() && shared.peers.len() > 1 {
                begun = Some(Instant::now());
            }
            let failed = match peer.connections.send(&mut request).await {
                Ok(response) => return answer(response, place, client),
                Err(failed) => failed,
            };
            if let Some(error) = of_client(&failed) {
                return blame_client(error);
            }
            note_failure(&place, &request, &failed);
            let before = tried.len() as u32;
            tried.push(place.index());
            let again = shared
                .retries
                .again(&shared.budget, &request, &failed, before, begun);
            last = Some(failed);
            if !again {
                break;
            }
            if tried.len() < shared.peers.len() {
                count(&place.peer().upstream.counters.retries);
            }
        }
        let timed_out = last.is_some_and(|failed| failed.error.is_timeout());
        reply::status(match timed_out {
            true => StatusCode::GATEWAY_TIMEOUT,
            false => StatusCode::BAD_GATEWAY,
        })
    }
}

/// The client's side of an upgrade to another protocol, if it asks for one. HTTP/2 is none: whoever is behind us would
/// speak it past all that is checked here.
fn upgraded(request: &mut Request<Body>) -> Option<OnUpgrade> {
    let protocol = request.headers().get(UPGRADE)?;
    let is_http = protocol.as_bytes().split(|&byte| byte == b',').any(|word| {
        let word = word.trim_ascii();
        word.eq_ignore_ascii_case(b"h2c") || word.to_ascii_lowercase().starts_with(b"http/")
    });
    if is_http {
        return None;
    }
    upgrade::on(request)
}

/// Makes the client's request the one that any of the upstreams is asked.
fn prepare(shared: &Shared, request: &mut Request<Body>, visit: &Visit, upgrades: bool) {
    let connection = thrum_http::connection().unwrap_or_default();
    let peer = connection.peer.map(|peer| peer.ip());
    let protocol = match upgrades {
        true => request.headers().get(UPGRADE).cloned(),
        false => None,
    };
    if shared.via {
        hop::add_via(request);
    }
    if !request.headers().contains_key(HOST)
        && let Some(authority) = request.uri().authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        request.headers_mut().insert(HOST, host);
    }
    let headers = request.headers_mut();
    hop::strip_request(headers);
    let host = headers.get(HOST).cloned();
    let hop = Hop {
        peer,
        client: visit.client,
        said_in: shared.trusted.field_of(peer),
        is_secure: visit.secure,
        host: host.as_ref(),
    };
    shared.forwarded.tell(headers, &hop);
    if !shared.rules.is_empty() {
        let facts = Facts {
            client: visit.client,
            host,
            is_secure: visit.secure,
            visit,
        };
        rules::apply(&shared.rules, headers, &facts);
    }
    if let HostField::Fixed(host) = &shared.host {
        headers.insert(HOST, host.clone());
    }
    if let Some(protocol) = protocol {
        headers.insert(UPGRADE, protocol);
    }
}

/// What the client has asked for, and where.
struct Asked {
    uri: Uri,
    host: Option<HeaderValue>,
    route: Arc<Route>,
}

/// Makes a request ask one of the upstreams. `None`: there is no such path there.
fn aim(request: &mut Request<Body>, peer: &Peer, shared: &Shared, asked: &Asked) -> Option<()> {
    let path = asked.uri.path_and_query();
    let path = match &peer.path {
        Some(base) => rules::replace_path(path, &asked.route.mount, base)?,
        None => path.cloned().unwrap_or(PathAndQuery::from_static("/")),
    };
    *request.uri_mut() = Uri::from(path);
    if shared.host == HostField::Upstream {
        request.headers_mut().remove(HOST); // the connections' own takes its place
    } else if let Some(host) = &asked.host {
        request.headers_mut().insert(HOST, host.clone());
    }
    Some(())
}

/// What the client gets of an upstream's response.
fn answer(mut response: Response<Body>, place: Place, client: Option<OnUpgrade>) -> Response<Body> {
    let upstream = &place.peer().upstream;
    if upstream.health.succeeded() {
        tracing::info!(upstream = %upstream.name, "an upstream answers again");
    }
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return switch(response, place, client);
    }
    hop::strip_response(response.headers_mut());
    let buffer = place.shared().buffer;
    response.map(|body| {
        let body = relay::watched(body, place);
        match buffer {
            Some(bytes) => relay::read_ahead(body, bytes),
            None => body,
        }
    })
}

/// Lets the client and the upstream speak what they have agreed on.
fn switch(mut response: Response<Body>, place: Place, client: Option<OnUpgrade>) -> Response<Body> {
    let protocol = response.headers().get(UPGRADE).cloned();
    let upstream = upgrade::on(&mut response);
    let (Some(client), Some(upstream)) = (client, upstream) else {
        tracing::warn!(upstream = %place.peer().upstream.name, "an upstream switches protocols without being asked to");
        return reply::status(StatusCode::BAD_GATEWAY);
    };
    thrum_rt::spawn_named("proxy: tunnel", async move {
        // The client gets its 101 first. Should either have gone, there is nobody to tell.
        let (Ok(client), Ok(upstream)) = (client.await, upstream.await) else {
            return;
        };
        let name = &place.peer().upstream.name;
        match tunnel::run(client, upstream, place.shared().tunnel_timeout).await {
            Ended::Well => {}
            Ended::Idle => tracing::debug!(upstream = %name, "nothing moved in a tunnel"),
            Ended::Lost(error) => tracing::debug!(upstream = %name, %error, "a tunnel broke off"),
        }
    });
    hop::strip_response(response.headers_mut());
    if let Some(protocol) = protocol {
        response.headers_mut().insert(UPGRADE, protocol);
    }
    response
}

/// What went wrong with the client's own body, if that is why the request failed.
fn of_client(failed: &Failed) -> Option<&BodyError> {
    if failed.error.phase() != Phase::Send {
        return None;
    }
    std::error::Error::source(&failed.error)?.downcast_ref()
}

fn blame_client(error: &BodyError) -> Response<Body> {
    tracing::debug!(%error, "a client's body broke off");
    reply::status(match error {
        BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
        _ => StatusCode::BAD_REQUEST,
    })
}

fn no_place(request: &Request<Body>, why: NoPlace) -> Response<Body> {
    tracing::warn!(method = %request.method(), path = request.uri().path(), %why, "a request has found no upstream");
    reply::status(StatusCode::SERVICE_UNAVAILABLE)
}

fn note_failure(place: &Place, request: &Request<Body>, failed: &Failed) {
    let upstream = &place.peer().upstream;
    let error = &failed.error;
    tracing::warn!(
        upstream = %upstream.name,
        method = %request.method(),
        path = request.uri().path(),
        %error,
        "an upstream did not answer"
    );
    if error.is_request() {
        return; // that is nothing the upstream could help
    }
    count(&upstream.counters.failures);
    if error.is_timeout() {
        count(&upstream.counters.timeouts);
    }
    if upstream.health.failed(&place.shared().passive) {
        count(&upstream.counters.ejections);
        tracing::warn!(upstream = %upstream.name, "an upstream is taken to be down");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One is allocated for each request.
    #[test]
    fn the_future_of_a_request_is_small() {
        let proxy = crate::proxy::Proxy::builder().to("127.0.0.1:1".parse().unwrap());
        let shared = proxy.build().unwrap().shared;
        let visit = Visit::new(None, false);
        let future = exchange(shared, Request::new(Body::empty()), visit);
        let size = size_of_val(&future);
        assert!(size <= 1152, "{size}");
    }
}
