//! A request as the caller means it: with cookies, through redirects, its response made plain.

use std::sync::Arc;

use http::header::{COOKIE, PROXY_AUTHORIZATION};
use http::uri::Scheme;
use http::{Request, Response as HttpResponse};

use super::config::Versions;
use super::exchange::{Clock, exchange};
use super::pool::Pool;
use super::request::Options;
use super::{Error, Phase, Response, redirect};
use crate::Body;

/// Sends a request, and those that its responses redirect to; the last response.
pub(crate) async fn follow(
    pool: &Arc<Pool>,
    mut request: Request<Body>,
) -> Result<Response, Error> {
    let config = pool.config();
    let options = request.extensions_mut().remove::<Options>();
    let options = options.unwrap_or_default();
    let clock = Clock::new(options.total.or(config.timeouts.total));
    let decodes = accept_compressed(pool, &mut request);
    // A body in memory stays with the request.
    let can_send_again = request.body().is_in_memory();
    let mut has_own_cookies = request.headers().contains_key(COOKIE);
    let mut has_own_proxy_authorization = request.headers().contains_key(PROXY_AUTHORIZATION);
    let mut chain = Vec::new();
    loop {
        if !has_own_cookies {
            add_cookies(pool, &mut request);
        }
        if !has_own_proxy_authorization {
            add_proxy_authorization(pool, &mut request);
        }
        let response = exchange(pool, &mut request, &options, clock).await?;
        store_cookies(pool, &request, &response);
        if response.status().is_redirection() {
            chain.push(request.uri().clone());
            let next = redirect::next(
                &config.redirects,
                &chain,
                request.method(),
                can_send_again,
                response.status(),
                response.headers(),
            );
            let next =
                next.map_err(|error| Error::new(Phase::Response, error).with_url(request.uri()))?;
            if let Some(next) = next {
                next.strip(request.headers_mut());
                has_own_cookies &= request.headers().contains_key(COOKIE);
                has_own_proxy_authorization &= request.headers().contains_key(PROXY_AUTHORIZATION);
                if !next.keeps_body {
                    *request.body_mut() = Body::empty();
                }
                *request.method_mut() = next.method;
                *request.uri_mut() = next.uri;
                continue;
            }
        }
        let response = make_plain(pool, decodes, &request, response);
        let limit = config.limits.body_bytes;
        return Ok(Response::new(response, request.uri().clone(), limit));
    }
}

/// A proxy that is sent requests as they are is told who asks in each of them.
fn add_proxy_authorization(pool: &Pool, request: &mut Request<Body>) {
    let config = pool.config();
    request.headers_mut().remove(PROXY_AUTHORIZATION);
    let uri = request.uri();
    if uri.scheme() != Some(&Scheme::HTTP) || config.versions == Versions::Http2 {
        return;
    }
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let proxy = config.proxy(false, host, uri.port_u16().unwrap_or(80));
    let proxy = proxy.filter(|proxy| proxy.takes_whole_urls());
    if let Some(value) = proxy.and_then(|proxy| proxy.authorization()) {
        request.headers_mut().insert(PROXY_AUTHORIZATION, value);
    }
}

#[cfg(feature = "cookies")]
fn add_cookies(pool: &Pool, request: &mut Request<Body>) {
    let Some(jar) = &pool.config().cookies else {
        return;
    };
    match jar.header(request.uri()) {
        Some(value) => drop(request.headers_mut().insert(COOKIE, value)),
        None => drop(request.headers_mut().remove(COOKIE)),
    }
}

#[cfg(not(feature = "cookies"))]
fn add_cookies(_: &Pool, _: &mut Request<Body>) {}

#[cfg(feature = "cookies")]
fn store_cookies(pool: &Pool, request: &Request<Body>, response: &HttpResponse<Body>) {
    if let Some(jar) = &pool.config().cookies {
        jar.store(request.uri(), response.headers());
    }
}

#[cfg(not(feature = "cookies"))]
fn store_cookies(_: &Pool, _: &Request<Body>, _: &HttpResponse<Body>) {}

#[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
fn accept_compressed(pool: &Pool, request: &mut Request<Body>) -> bool {
    !pool.config().keeps_compressed && super::decompress::accept(request.headers_mut())
}

#[cfg(not(any(feature = "brotli", feature = "gzip", feature = "zstd")))]
fn accept_compressed(_: &Pool, _: &mut Request<Body>) -> bool {
    false
}

#[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
fn make_plain(
    pool: &Pool,
    decodes: bool,
    request: &Request<Body>,
    response: HttpResponse<Body>,
) -> HttpResponse<Body> {
    if !decodes {
        return response;
    }
    let limit = pool.config().limits.decoded_bytes;
    super::decompress::decode(response, request.method(), limit)
}

#[cfg(not(any(feature = "brotli", feature = "gzip", feature = "zstd")))]
fn make_plain(
    _: &Pool,
    _: bool,
    _: &Request<Body>,
    response: HttpResponse<Body>,
) -> HttpResponse<Body> {
    response
}
