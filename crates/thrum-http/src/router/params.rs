//! What a path says where its route has a parameter.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use http::uri::PathAndQuery;
use thiserror::Error;
use thrum_parse::uri;

/// The most parameters that a route may have.
pub(crate) const MAX_PARAMS: usize = 8;

/// The parameters of a path, by the names that the route gave them.
///
/// They are kept as the client sent them, without an allocation, and percent-decoded when asked for; so `%2F` in one is a
/// slash in its value and separates no segments.
///
/// ```
/// use thrum_http::router::{ParamError, Params};
/// use thrum_http::{Body, Request};
///
/// async fn user(_request: Request<Body>, params: Params) -> Result<String, ParamError> {
///     let id: u64 = params.parse("id")?; // else the answer is 400
///     Ok(format!("user {id}"))
/// }
/// ```
#[derive(Clone, Default)]
pub struct Params(Option<Matched>);

#[derive(Clone)]
struct Matched {
    path: PathAndQuery,
    names: Arc<[Box<str>]>,
    /// Where each value begins and ends in the path. A URI is shorter than 64 KiB.
    spans: [(u16, u16); MAX_PARAMS],
}

impl Params {
    /// Names the values that have been found in a path, in their order.
    pub(crate) fn new<'a>(
        path: &'a PathAndQuery,
        names: &Arc<[Box<str>]>,
        values: impl Iterator<Item = &'a str>,
    ) -> Self {
        let begin = path.path().as_ptr() as usize;
        let mut spans = [(0, 0); MAX_PARAMS];
        for (span, value) in spans.iter_mut().zip(values) {
            let at = value.as_ptr() as usize - begin;
            *span = (at as u16, (at + value.len()) as u16);
        }
        Self(Some(Matched {
            path: path.clone(),
            names: names.clone(),
            spans,
        }))
    }

    /// A parameter, percent-decoded.
    ///
    /// # Errors
    /// [`ParamError::Malformed`], if a `%` is not followed by two hexadecimal digits or what comes out is not UTF-8;
    /// [`ParamError::Unknown`], if the route has no such parameter.
    pub fn get(&self, name: &str) -> Result<Cow<'_, str>, ParamError> {
        let raw = self
            .raw(name)
            .ok_or_else(|| ParamError::Unknown(name.into()))?;
        uri::decode_str(raw).map_err(|_| ParamError::Malformed(name.into()))
    }

    /// A parameter, percent-decoded and parsed: `params.parse::<u64>("id")`.
    ///
    /// # Errors
    /// Those of [`get`](Self::get); [`ParamError::Malformed`], if the type's parser refuses it.
    pub fn parse<T: FromStr>(&self, name: &str) -> Result<T, ParamError> {
        let value = self.get(name)?;
        value
            .parse()
            .map_err(|_| ParamError::Malformed(name.into()))
    }

    /// A parameter as the client sent it. `None`: the route has no such parameter.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, raw)| raw)
    }

    /// All parameters in their order in the path, as the client sent them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|matched| {
            let path = matched.path.path();
            let spans = matched.names.iter().zip(&matched.spans);
            spans.map(|(name, &(begin, end))| (&**name, &path[begin.into()..end.into()]))
        })
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Why a parameter has no value. As an answer: 400, and 500 for one that the route has not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParamError {
    /// It is not what is asked for: badly escaped, not UTF-8, no number.
    #[error("the path's {0} is malformed")]
    Malformed(Box<str>),
    /// The route has no parameter of this name.
    #[error("the route has no parameter {0}")]
    Unknown(Box<str>),
}
