//! `/old/ << https://example.com/new/ 301`: what was asked for is elsewhere.

use std::sync::Arc;

use http::header::LOCATION;
use http::{HeaderValue, Request, StatusCode};
use thrum_http::Body;

use super::target::{InvalidTarget, Target};
use crate::config::{Arity, Kind, RouteConfig, Verb};
use crate::site::{Answer, Building, Handler, HandlerKind, Visit, reply};

/// `<<`.
pub(crate) static VERB: Verb = Verb {
    word: "<<",
    name: "redirect",
    values: &[
        Kind::Text("URL"),
        Kind::Choice(&["301", "302", "303", "307", "308"]),
    ],
    arity: Arity::OptionalLast,
    settings: &[],
    help: "Sends clients elsewhere: to a path of this site or a URL, with status 301 unless another is written. What follows \
           the route's path is appended to a target that ends in a slash, and so is the query. For anything else, {names} of \
           the route's path and {query} say what goes where; they cannot stand in the host.",
    example: "/old/ << https://example.com/new/ 308",
};

/// What makes redirects of the configuration's.
pub(crate) static KIND: HandlerKind = HandlerKind { verb: &VERB, build };

/// Answers with where to ask instead.
///
/// ```
/// use http::StatusCode;
/// use thrum_server::verbs::Redirect;
///
/// // What follows the route's path is appended, and the query.
/// let moved = Redirect::new("https://example.com/new/", StatusCode::PERMANENT_REDIRECT).unwrap();
/// // Parts of the route's path, /user/{id}.
/// let found = Redirect::new("/users?id={id}", StatusCode::FOUND).unwrap();
/// // A request cannot choose the host.
/// assert!(Redirect::new("https://{host}/", StatusCode::FOUND).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Redirect {
    target: Target,
    status: StatusCode,
}

impl Redirect {
    /// To a target: a path, or a URL of http or https. See the module's head for what is put into it. A `{name}` that the
    /// route does not capture stands for nothing.
    ///
    /// # Errors
    /// When the target is none.
    pub fn new(target: &str, status: StatusCode) -> Result<Self, InvalidTarget> {
        Ok(Self {
            target: Target::parse(target)?,
            status,
        })
    }
}

impl Handler for Redirect {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let target = self.target.fill(request.uri(), &visit);
        let Some(location) = target.and_then(|target| HeaderValue::try_from(target).ok()) else {
            return reply::status(StatusCode::BAD_REQUEST).into();
        };
        let mut response = reply::status(self.status);
        response.headers_mut().insert(LOCATION, location);
        response.into()
    }
}

fn build(route: &RouteConfig, building: &mut Building<'_>) -> Option<Arc<dyn Handler>> {
    let target = route.values.first()?;
    let status = route.values.get(1).map_or("301", |status| status.text());
    let status = building.problems.check(route.span, status.parse())?;
    let redirect = Redirect::new(target.text(), status);
    let mut redirect = building.problems.check(target.span(), redirect)?;
    let known = redirect.target.check(route.path.text());
    building.problems.check(target.span(), known)?;
    Some(Arc::new(redirect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_where() {
        let redirect = Redirect::new("https://example.com/", StatusCode::FOUND).unwrap();
        let request = Request::get("/a?b").body(Body::empty()).unwrap();
        let mut visit = Visit::new(None, false);
        Arc::make_mut(&mut visit.route).mount = "/".into();
        let Answer::Now(response) = redirect.handle(request, visit) else {
            panic!("nothing to wait for");
        };
        assert_eq!(response.status(), 302);
        assert_eq!(response.headers()["location"], "https://example.com/a?b");
    }
}
