//! The sites of a configuration, and which of their routes answers a request.

use std::collections::HashMap;
use std::sync::Arc;

use http::header::{HOST, LOCATION};
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use thrum_http::{Body, note};

use super::handler::{Answer, Handler, Route, Visit};
use super::name::Host;
use super::pattern::{Matched, Pattern, normalized};
use super::reply;
use crate::observe::Sight;

/// How often a request may be passed on to another path of its site before it is given up as going in circles.
pub(super) const HOPS: u8 = 10;

/// The routes of a site.
pub struct Site {
    name: String,
    /// Its place in the configuration; `None` for one that only leads to another.
    pub(super) place: Option<usize>,
    pub(super) routes: Vec<SiteRoute>,
    /// For each literal first segment the routes that may match; what is in none of them: `others`.
    by_first: HashMap<String, Vec<usize>>,
    others: Vec<usize>,
    /// Answers where no route matches.
    fallback: Arc<dyn Handler>,
    /// For what is answered without a route.
    sight: Option<Arc<Sight>>,
}

pub(super) struct SiteRoute {
    pub(super) pattern: Pattern,
    pub(super) route: Arc<Route>,
    pub(super) handler: Arc<dyn Handler>,
    /// Its place in the site's configuration.
    pub(super) place: usize,
}

/// The sites that are served at one endpoint, by their hosts.
#[derive(Default)]
pub(super) struct Hosts {
    exact: HashMap<String, Arc<Site>>,
    /// Longest first.
    beneath: Vec<(String, Arc<Site>)>,
    any: Option<Arc<Site>>,
}

impl Site {
    pub(super) fn new(name: String, routes: Vec<SiteRoute>, fallback: Arc<dyn Handler>) -> Self {
        let mut by_first: HashMap<String, Vec<usize>> = HashMap::new();
        let firsts = routes.iter().filter_map(|route| route.pattern.first());
        for first in firsts {
            by_first.entry(first.to_owned()).or_default();
        }
        let mut others = Vec::new();
        for (at, route) in routes.iter().enumerate() {
            match route.pattern.first() {
                Some(first) => by_first.entry(first.to_owned()).or_default().push(at),
                None => {
                    by_first.values_mut().for_each(|known| known.push(at));
                    others.push(at);
                }
            }
        }
        Self {
            name,
            place: None,
            routes,
            by_first,
            others,
            fallback,
            sight: None,
        }
    }

    /// Says where what is answered without a route is logged and counted.
    pub(super) fn seen(mut self, sight: Arc<Sight>) -> Self {
        self.sight = Some(sight);
        self
    }

    /// The first of its names.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Answers a request by the first route that matches; by later ones where that one passes it on.
    pub(super) fn answer(self: &Arc<Self>, request: Request<Body>, mut visit: Visit) -> Answer {
        visit.site = Arc::downgrade(self);
        if let Some(sight) = &self.sight {
            visit.route = sight.route().clone();
            note(sight.clone());
        }
        self.answer_from(0, request, visit)
    }

    /// The same, leaving out the routes before.
    pub(super) fn answer_from(
        &self,
        mut from: usize,
        mut request: Request<Body>,
        mut visit: Visit,
    ) -> Answer {
        loop {
            match normalized(request.uri().path()) {
                Ok(None) => {}
                Ok(Some(path)) => match with_path(request.uri(), &path) {
                    Some(uri) => *request.uri_mut() = uri,
                    None => return reply::status(StatusCode::BAD_REQUEST).into(),
                },
                Err(_) => return reply::status(StatusCode::BAD_REQUEST).into(),
            }
            let (at, captures) = match self.find(request.uri().path(), from) {
                Found::Route(at, captures) => (at, captures),
                Found::WithSlash => return with_slash(&request).into(),
                Found::None if request.uri().path() == "*" => {
                    return reply::status(StatusCode::NO_CONTENT).into();
                }
                Found::None => return self.fallback.handle(request, visit),
            };
            let found = &self.routes[at];
            visit.route = found.route.clone();
            visit.captures = captures;
            visit.next = at + 1;
            match found.handler.handle(request, visit.clone()) {
                Answer::Onward(onward) => {
                    visit.hops += 1;
                    if visit.hops > HOPS {
                        tracing::warn!(site = self.name, "a request was rewritten in circles");
                        return reply::status(StatusCode::INTERNAL_SERVER_ERROR).into();
                    }
                    request = onward;
                    from = visit.next;
                }
                answer => return answer,
            }
        }
    }

    /// The first route from `from` on that matches a normalized path.
    pub(super) fn find(&self, path: &str, from: usize) -> Found {
        let first = path
            .strip_prefix('/')
            .and_then(|path| path.split('/').next());
        let known = first.and_then(|first| self.by_first.get(first));
        let candidates = known.unwrap_or(&self.others);
        for &at in candidates.iter().skip_while(|&&at| at < from) {
            match self.routes[at].pattern.matches(path) {
                Matched::No => {}
                Matched::Yes(captures) => return Found::Route(at, captures),
                Matched::WithSlash => return Found::WithSlash,
            }
        }
        Found::None
    }
}

/// What a path leads to.
pub(super) enum Found {
    Route(usize, Vec<(Arc<str>, String)>),
    WithSlash,
    None,
}

impl Hosts {
    /// Adds a site for a host. False if there was one.
    pub(super) fn add(&mut self, host: &Host, site: &Arc<Site>) -> bool {
        match host {
            Host::Any if self.any.is_some() => false,
            Host::Any => {
                self.any = Some(site.clone());
                true
            }
            Host::Exact(host) => self.exact.insert(host.clone(), site.clone()).is_none(),
            Host::Beneath(host) => {
                if self.beneath.iter().any(|(known, _)| known == host) {
                    return false;
                }
                self.beneath.push((host.clone(), site.clone()));
                self.beneath
                    .sort_by_key(|(host, _)| std::cmp::Reverse(host.len()));
                true
            }
        }
    }

    /// The site that answers for a host.
    pub(super) fn find(&self, host: &str) -> Option<&Arc<Site>> {
        if self.exact.is_empty() && self.beneath.is_empty() {
            return self.any.as_ref();
        }
        let lower;
        let host = if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lower = host.to_ascii_lowercase();
            &lower
        } else {
            host
        };
        let beneath = || {
            let mut beneath = self.beneath.iter();
            let found = beneath.find(|(end, _)| host.len() > end.len() && host.ends_with(end))?;
            Some(&found.1)
        };
        let exact = self.exact.get(host);
        exact.or_else(beneath).or(self.any.as_ref())
    }
}

/// The host that a request is for, without its port and without a dot at its end. Empty when there is none.
pub(crate) fn host_of<T>(request: &Request<T>) -> &str {
    let authority = match request.uri().host() {
        Some(host) => host,
        None => {
            let field = request.headers().get(HOST);
            let text = field.map_or("", |host| host.to_str().unwrap_or_default());
            match text
                .rfind(':')
                .filter(|&colon| !text[colon..].contains(']'))
            {
                Some(colon) => &text[..colon],
                None => text,
            }
        }
    };
    authority.strip_suffix('.').unwrap_or(authority)
}

/// A URI with another path; the query stays. `None` if it is no path.
pub fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let path_and_query = match uri.query() {
        Some(query) => PathAndQuery::try_from(format!("{path}?{query}")),
        None => PathAndQuery::try_from(path),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.ok()?);
    Uri::from_parts(parts).ok()
}

/// Leads to the path that ends in a slash. The path begins with one slash and then something else, so it names no host.
fn with_slash<T>(request: &Request<T>) -> Response<Body> {
    let status = match *request.method() {
        Method::GET | Method::HEAD => StatusCode::MOVED_PERMANENTLY,
        _ => StatusCode::PERMANENT_REDIRECT,
    };
    let path = request.uri().path();
    let to = match request.uri().query() {
        Some(query) => format!("{path}/?{query}"),
        None => format!("{path}/"),
    };
    let mut response = reply::status(status);
    if let Ok(to) = HeaderValue::try_from(to) {
        response.headers_mut().insert(LOCATION, to);
    }
    response
}
