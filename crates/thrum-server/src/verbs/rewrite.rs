//! `/a/{id} rewrite /b/{id}`: the request goes on to the site's routes after this one, with another path.

use std::sync::Arc;

use http::uri::PathAndQuery;
use http::{Request, StatusCode, Uri};
use thrum_http::Body;

use super::target::{InvalidTarget, Target};
use crate::config::{Arity, Kind, RouteConfig, Verb};
use crate::site::{Answer, Building, Handler, HandlerKind, Visit, reply};

/// `rewrite`.
pub(crate) static VERB: Verb = Verb {
    word: "rewrite",
    name: "rewrite",
    values: &[Kind::Text("PATH")],
    arity: Arity::Exact,
    settings: &[],
    help: "Goes on with the routes after this one as if another path had been asked for, at most 10 times for a request. \
           What follows the route's path is appended to a path that ends in a slash; otherwise {names} of the route's path \
           and {query} say what goes where. The query stays unless the path says another.",
    example: "/user/{id} rewrite /app/user.php?id={id}",
};

/// What makes rewrites of the configuration's.
pub(crate) static KIND: HandlerKind = HandlerKind { verb: &VERB, build };

/// Passes requests on with another path.
///
/// ```
/// use thrum_server::verbs::Rewrite;
///
/// let by_query = Rewrite::new("/app/user.php?id={id}").unwrap();
/// // That would be a redirect.
/// assert!(Rewrite::new("https://example.com/").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Rewrite {
    target: Target,
}

impl Rewrite {
    /// To a path of this site, perhaps with a query. A `{name}` that the route does not capture stands for nothing.
    ///
    /// # Errors
    /// When it is no path.
    pub fn new(path: &str) -> Result<Self, InvalidTarget> {
        let target = Target::parse(path)?;
        match target.is_local {
            true => Ok(Self { target }),
            false => Err(InvalidTarget::NotLocal(path.to_owned())),
        }
    }

    fn uri(&self, uri: &Uri, visit: &Visit) -> Option<Uri> {
        let target = self.target.fill(uri, visit)?;
        let target = target.split('#').next().unwrap_or_default();
        let mut target = target.to_owned();
        if let Some(query) = uri.query().filter(|_| self.target.keeps_query()) {
            target = format!("{target}?{query}");
        }
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(target).ok()?);
        Uri::from_parts(parts).ok()
    }
}

impl Handler for Rewrite {
    fn handle(&self, mut request: Request<Body>, visit: Visit) -> Answer {
        match self.uri(request.uri(), &visit) {
            Some(uri) => {
                *request.uri_mut() = uri;
                Answer::Onward(request)
            }
            None => reply::status(StatusCode::BAD_REQUEST).into(),
        }
    }
}

fn build(route: &RouteConfig, building: &mut Building<'_>) -> Option<Arc<dyn Handler>> {
    let path = route.values.first()?;
    let mut rewrite = building
        .problems
        .check(path.span(), Rewrite::new(path.text()))?;
    let known = rewrite.target.check(route.path.text());
    building.problems.check(path.span(), known)?;
    Some(Arc::new(rewrite))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(to: &str, uri: &str) -> String {
        let mut visit = Visit::new(None, false);
        Arc::make_mut(&mut visit.route).mount = "/a/".into();
        visit.captures = vec![("id".into(), "1 2".into())];
        let request = Request::get(uri).body(Body::empty()).unwrap();
        match Rewrite::new(to).unwrap().handle(request, visit) {
            Answer::Onward(request) => request.uri().to_string(),
            _ => panic!("it is passed on"),
        }
    }

    #[test]
    fn paths_and_queries() {
        assert_eq!(rewritten("/b/", "/a/x?y"), "/b/x?y");
        assert_eq!(rewritten("/b.html", "/a/x?y"), "/b.html?y");
        assert_eq!(rewritten("/b/{id}", "/a/x?y"), "/b/1%202?y");
        assert_eq!(rewritten("/b?id={id}", "/a/x?y"), "/b?id=1%202");
        assert_eq!(rewritten("/b?id={id}&{query}", "/a/x?y"), "/b?id=1%202&y");
        assert_eq!(
            rewritten("/b/", "http://example.com/a/x"),
            "http://example.com/b/x"
        );
        assert!(matches!(
            Rewrite::new("https://x.example/"),
            Err(InvalidTarget::NotLocal(_))
        ));
    }
}
