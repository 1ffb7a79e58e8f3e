//! `/ping respond 200 pong`: an answer that is always the same.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use thrum_http::Body;

use crate::config::{Arity, Kind, Problem, RouteConfig, Setting, Verb};
use crate::site::{Answer, Building, Handler, HandlerKind, Visit, reply};

/// `respond`.
pub(crate) static VERB: Verb = Verb {
    word: "respond",
    name: "respond",
    values: &[Kind::Status, Kind::Text("TEXT")],
    arity: Arity::OptionalLast,
    settings: &[Setting {
        default: PLAIN,
        ..Setting::new(
            "type",
            &[Kind::Text("TYPE")],
            "The text's Content-Type.",
            "type text/html",
        )
    }],
    help: "Answers with a status and a text; without a text, with the status as text, or the error page that it has.",
    example: "/robots.txt respond 200 \"User-agent: *\"",
};

/// What makes such answers of the configuration's.
pub(crate) static KIND: HandlerKind = HandlerKind { verb: &VERB, build };

const PLAIN: &str = "text/plain;charset=utf-8";

/// Always the same answer.
///
/// ```
/// use http::StatusCode;
/// use thrum_server::verbs::Respond;
///
/// let pong = Respond::new(StatusCode::OK, "pong\n");
/// # let _ = pong;
/// ```
#[derive(Clone, Debug)]
pub struct Respond {
    status: StatusCode,
    content_type: HeaderValue,
    text: Option<Bytes>,
}

impl Respond {
    /// With a status and a plain text.
    pub fn new(status: StatusCode, text: impl Into<Bytes>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::status(status)
        }
    }

    /// With a status, which is its text, where there may be one.
    pub fn status(status: StatusCode) -> Self {
        Self {
            status,
            content_type: HeaderValue::from_static(PLAIN),
            text: None,
        }
    }

    /// The text's type. Default: `text/plain;charset=utf-8`.
    #[must_use]
    pub fn content_type(mut self, content_type: HeaderValue) -> Self {
        self.content_type = content_type;
        self
    }
}

impl Handler for Respond {
    fn handle(&self, _request: Request<Body>, _visit: Visit) -> Answer {
        let Some(text) = &self.text else {
            return match is_bare(self.status) {
                true => {
                    let mut response = Response::new(Body::empty());
                    *response.status_mut() = self.status;
                    response.into()
                }
                false => reply::status(self.status).into(),
            };
        };
        let mut response = reply::text(self.status, text.clone());
        let fields = response.headers_mut();
        fields.insert(CONTENT_TYPE, self.content_type.clone());
        response.into()
    }
}

/// Whether responses with this status have no body.
fn is_bare(status: StatusCode) -> bool {
    matches!(status.as_u16(), 204 | 205 | 304)
}

fn build(route: &RouteConfig, building: &mut Building<'_>) -> Option<Arc<dyn Handler>> {
    let (status, text) = (route.values.first()?, route.values.get(1));
    let code: StatusCode = building
        .problems
        .check(status.span(), status.text().parse())?;
    if code.is_informational() {
        building.problem(
            Problem::new(status.span(), format!("{code} is not the end of an answer"))
                .label("a status from 200 to 599"),
        );
        return None;
    }
    let respond = match text {
        Some(text) if is_bare(code) => {
            let message = format!("a response with status {} has no text", code.as_u16());
            building.problem(Problem::new(text.span(), message));
            return None;
        }
        Some(text) => Respond::new(code, text.text().to_owned()),
        None => Respond::status(code),
    };
    let written = route.settings.written("type");
    let span = written.map_or(route.span, |entry| entry.span());
    let content_type = route.settings.text("type").unwrap_or(PLAIN);
    let content_type = building.problems.check(span, content_type.parse())?;
    Some(Arc::new(respond.content_type(content_type)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(respond: &Respond) -> Response<Body> {
        match respond.handle(Request::default(), Visit::new(None, false)) {
            Answer::Now(response) => response,
            _ => panic!("nothing to wait for"),
        }
    }

    #[test]
    fn status_type_and_text() {
        let html = HeaderValue::from_static("text/html");
        let teapot = Respond::new(StatusCode::IM_A_TEAPOT, "<i>tea</i>").content_type(html);
        for _ in 0..2 {
            let response = answer(&teapot);
            assert_eq!(response.status(), 418);
            assert_eq!(response.headers()["content-type"], "text/html");
            assert_eq!(response.body().size(), Some(10));
        }
    }

    #[test]
    fn a_status_alone() {
        let gone = answer(&Respond::status(StatusCode::GONE));
        assert_eq!(gone.body().size(), Some("410 Gone\n".len() as u64));
        let none = answer(&Respond::status(StatusCode::NO_CONTENT));
        assert_eq!(none.body().size(), Some(0));
        assert!(none.headers().is_empty());
    }
}
