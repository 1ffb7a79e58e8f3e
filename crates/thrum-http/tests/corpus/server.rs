//! The server that the cases are sent to, and what it answers, in words.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use http_body::Body as _;
use thrum_http::{Body, BodyError, Limits, Request, Response, Server, StatusCode, Timeouts};

/// Small limits, so that the cases beyond them are short. The times are long: each case ends by itself.
pub(crate) fn server() -> Server {
    let mut limits = Limits::default();
    limits.head_bytes = 2048;
    limits.target_bytes = 512;
    limits.fields = 10;
    limits.body_bytes = 1000;
    limits.chunk_line_bytes = 256;
    limits.drain_bytes = 500;
    let mut timeouts = Timeouts::default();
    timeouts.linger = Duration::from_millis(500);
    Server::new().limits(limits).timeouts(timeouts)
}

/// Answers with what it saw, in a field. It does not read the body of what is sent to `/ignore`.
pub(crate) async fn application(mut request: Request<Body>) -> Response<Body> {
    let mut seen = format!("{} {}", request.method(), request.uri());
    for value in request.headers().get_all("x") {
        seen += &format!(" [{}]", value.as_bytes().escape_ascii());
    }
    let mut status = StatusCode::OK;
    if request.uri().path() != "/ignore" {
        match body(request.body_mut()).await {
            Ok(body) if body.is_empty() => {}
            Ok(body) if body.len() > 200 => seen += &format!(" {} bytes", body.len()),
            Ok(body) => seen += &format!(" \"{}\"", body.escape_ascii()),
            Err(error) => {
                status = StatusCode::BAD_REQUEST;
                seen = format!("{error:?}");
            }
        }
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert("seen", seen.try_into().unwrap());
    response
}

/// The body, with the trailers behind it in brackets.
async fn body(body: &mut Body) -> Result<Vec<u8>, BodyError> {
    let mut all = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
        match frame?.into_data() {
            Ok(data) => all.extend_from_slice(&data),
            Err(frame) => {
                for (name, value) in frame.trailers_ref().into_iter().flatten() {
                    let value = value.as_bytes().escape_ascii();
                    all.extend_from_slice(format!("[{name}: {value}]").as_bytes());
                }
            }
        }
    }
    Ok(all)
}

/// Each response of a stream: what the handler saw, or the status, with the handler's reason if it is the handler's.
pub(crate) fn answers(mut stream: &str) -> Vec<String> {
    let mut answers = Vec::new();
    while !stream.is_empty() {
        let (head, rest) = stream.split_once("\r\n\r\n").expect("a whole head");
        let status = head.strip_prefix("HTTP/1.1 ").expect("a status line");
        let status = &status[..3];
        let field = |name| {
            let mut lines = head.lines();
            lines.find_map(|line| line.strip_prefix(name))
        };
        answers.push(match (status, field("seen: ")) {
            ("200", Some(seen)) => seen.to_owned(),
            (_, Some(seen)) => format!("{status} {seen}"),
            (_, None) => status.to_owned(),
        });
        let is_last = field("connection: ") == Some("close");
        assert!(
            is_last || !status.starts_with(['4', '5']),
            "{head:?} goes on"
        );
        // The answer to HEAD has a length and no body; here it is the last, if it is refused.
        let length: usize = field("content-length: ").map_or(0, |length| length.parse().unwrap());
        stream = &rest[length.min(rest.len())..];
        assert!(!is_last || stream.is_empty(), "{stream:?} behind the last");
    }
    answers
}
