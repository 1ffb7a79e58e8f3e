//! A page of names, for people and for programs.

use std::fmt::Write;

use http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Response};
use serde_json::json;
use thrum_http::Body;
use thrum_parse::uri::{decode_str, encode};

use crate::html::Escaped;
use crate::store::{MAX_PAGE, Page};

/// Names in a page, unless the request says how many: `?limit=20`.
const LIMIT: usize = 100;

/// What a page may do: nothing but show its own style.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "\
:root{color-scheme:light dark}body{margin:0 auto;padding:2rem 1rem;max-width:54rem;font:1rem/1.5 system-ui,sans-serif}\
h1{font-size:1.25rem;overflow-wrap:anywhere}ul{list-style:none;padding:0}li{overflow-wrap:anywhere;padding:.25rem 0}\
a{color:#b4552d}@media(prefers-color-scheme:dark){a{color:#e59a6f}}";

/// What a listing's query asks for: `?after=CURSOR&limit=20`.
pub(super) struct Query {
    pub(super) after: Option<String>,
    pub(super) limit: usize,
}

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let value = |name: &str| {
            let mut pairs = text.split('&').filter_map(|pair| pair.split_once('='));
            let (_, value) = pairs.find(|(key, _)| *key == name)?;
            Some(decode_str(value).ok()?.into_owned())
        };
        let limit = value("limit").and_then(|limit| limit.parse().ok());
        Self {
            after: value("after"),
            limit: limit.unwrap_or(LIMIT).clamp(1, MAX_PAGE),
        }
    }
}

/// The page in the form that is accepted: JSON where it is named, else HTML.
pub(super) fn response(
    headers: &HeaderMap,
    prefix: &str,
    page: &Page,
    limit: usize,
) -> Response<Body> {
    let mut accepted = headers.get_all(ACCEPT).iter();
    let wants_json = accepted.any(|value| {
        let value = value.as_bytes();
        let names = |kind: &str| {
            value
                .windows(kind.len())
                .any(|part| part == kind.as_bytes())
        };
        names("application/json") && !names("text/html")
    });
    let mut response = if wants_json {
        let body = json!({ "prefix": prefix, "names": page.names, "next": page.next });
        let mut response = Response::new(Body::from(body.to_string()));
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    } else {
        let mut response = Response::new(Body::from(html(prefix, page, limit)));
        let kind = HeaderValue::from_static("text/html; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        let policy = HeaderValue::from_static(POLICY);
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, policy);
        response
    };
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("accept"));
    response
}

fn html(prefix: &str, page: &Page, limit: usize) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>/{0}</title>\n<style>{STYLE}</style>\n<h1>/{0}</h1>\n<ul>\n",
        Escaped(prefix)
    );
    for name in &page.names {
        // Names that begin with the prefix, relative to it.
        let rest = name.strip_prefix(prefix).unwrap_or(name);
        let mut href = String::from("./");
        for (index, segment) in rest.split('/').enumerate() {
            let slash = if index > 0 { "/" } else { "" };
            let _ = write!(href, "{slash}{}", encode(segment));
        }
        let _ = writeln!(html, "<li><a href=\"{href}\">{}</a></li>", Escaped(rest));
    }
    html.push_str("</ul>\n");
    if let Some(next) = &page.next {
        let _ = writeln!(
            html,
            "<p><a href=\"?limit={limit}&amp;after={}\">More</a></p>",
            encode(next)
        );
    }
    html
}
