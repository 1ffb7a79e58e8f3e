//! Paths and methods, and what they lead to.

use std::sync::Arc;

use http::{HeaderValue, Method, Uri};

use super::Params;
use super::handler::Endpoint;
use super::params::MAX_PARAMS;

/// All routes of a router.
#[derive(Clone, Default)]
pub(crate) struct Table {
    /// From a path to the place of its route.
    paths: matchit::Router<usize>,
    pub(crate) routes: Vec<Route>,
    pub(crate) fallback: Option<Arc<dyn Endpoint>>,
}

/// A path and its methods.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) path: String,
    /// Its parameters, in their order.
    names: Arc<[Box<str>]>,
    pub(crate) methods: Methods,
}

impl Table {
    /// The route of a request, and what the path says for its parameters.
    pub(crate) fn find(&self, uri: &Uri) -> Option<(&Route, Params)> {
        let path = uri.path_and_query()?;
        let found = self.paths.at(path.path()).ok()?;
        let route = &self.routes[*found.value];
        let params = match route.names.len() {
            0 => Params::default(),
            _ => Params::new(
                path,
                &route.names,
                found.params.iter().map(|(_, value)| value),
            ),
        };
        Some((route, params))
    }

    /// The methods of a path, which is added if there is none.
    pub(crate) fn methods(&mut self, path: &str) -> &mut Methods {
        let known = self.routes.iter().position(|route| route.path == path);
        let place = known.unwrap_or_else(|| {
            assert!(
                path.starts_with('/'),
                "the path {path:?} does not begin with a slash"
            );
            let names = names(path);
            assert!(
                names.len() <= MAX_PARAMS,
                "the path {path:?} has more than {MAX_PARAMS} parameters"
            );
            if let Err(error) = self.paths.insert(path, self.routes.len()) {
                panic!("the path {path:?} cannot be added: {error}");
            }
            self.routes.push(Route {
                path: path.to_owned(),
                names,
                methods: Methods::default(),
            });
            self.routes.len() - 1
        });
        &mut self.routes[place].methods
    }
}

/// The names in a path's braces. Doubled braces stand for themselves.
fn names(path: &str) -> Arc<[Box<str>]> {
    let plain = path.replace("{{", "").replace("}}", "");
    let parts = plain
        .split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}'));
    parts
        .map(|(name, _)| name.strip_prefix('*').unwrap_or(name).into())
        .collect()
}

/// What the methods of a path lead to.
#[derive(Clone)]
pub(crate) struct Methods {
    each: Vec<(Method, Arc<dyn Endpoint>)>,
    any: Option<Arc<dyn Endpoint>>,
    pub(crate) allow: HeaderValue,
}

impl Default for Methods {
    fn default() -> Self {
        Self {
            each: Vec::new(),
            any: None,
            allow: HeaderValue::from_static("OPTIONS"),
        }
    }
}

impl Methods {
    /// What a method leads to.
    pub(crate) fn find(&self, method: &Method) -> Option<&Arc<dyn Endpoint>> {
        self.of(method)
            .or_else(|| self.of(&Method::GET).filter(|_| method == Method::HEAD))
            .or(self.any.as_ref())
    }

    fn of(&self, method: &Method) -> Option<&Arc<dyn Endpoint>> {
        self.each
            .iter()
            .find(|(known, _)| known == method)
            .map(|(_, endpoint)| endpoint)
    }

    pub(crate) fn insert(&mut self, method: Method, endpoint: Arc<dyn Endpoint>, path: &str) {
        assert!(
            self.of(&method).is_none(),
            "{method} {path} has a handler already"
        );
        self.each.push((method, endpoint));
        self.allow = self.allowed();
    }

    pub(crate) fn insert_any(&mut self, endpoint: Arc<dyn Endpoint>, path: &str) {
        assert!(
            self.any.is_none(),
            "{path} has a handler for any method already"
        );
        self.any = Some(endpoint);
    }

    pub(crate) fn extend(&mut self, other: &Self, path: &str) {
        for (method, endpoint) in &other.each {
            self.insert(method.clone(), endpoint.clone(), path);
        }
        if let Some(any) = &other.any {
            self.insert_any(any.clone(), path);
        }
    }

    fn allowed(&self) -> HeaderValue {
        let own = self.each.iter().map(|(method, _)| method);
        let mut all: Vec<&str> = own.map(Method::as_str).collect();
        for (implied, given) in [("HEAD", all.contains(&"GET")), ("OPTIONS", true)] {
            if given && !all.contains(&implied) {
                all.push(implied);
            }
        }
        // Methods are tokens, which are fine in a field's value.
        HeaderValue::from_str(&all.join(", ")).unwrap_or(HeaderValue::from_static("OPTIONS"))
    }
}
