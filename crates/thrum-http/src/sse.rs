//! Server-sent events: a response that goes on, each event of it sent when it happens.
//!
//! A handler answers with [`events`] of any stream, such as the receiving end of a channel. The client's `EventSource`
//! connects again by itself when the connection breaks, and says what it has seen: see [`last_event_id`].
//!
//! ```
//! use thrum_http::sse::{self, Event};
//! use thrum_http::{Body, Request, Response};
//! use thrum_rt::sync::channel::bounded;
//!
//! async fn clock(request: Request<Body>) -> Response<Body> {
//!     let seen: u64 = sse::last_event_id(&request).and_then(|id| id.parse().ok()).unwrap_or(0);
//!     let (sender, events) = bounded(16);
//!     thrum_rt::spawn(async move {
//!         for tick in seen + 1.. {
//!             let event = Event::new().id(tick.to_string()).event("tick").data("tock");
//!             if sender.send(event).await.is_err() {
//!                 break; // the client has gone
//!             }
//!             thrum_rt::time::sleep(std::time::Duration::from_secs(1)).await;
//!         }
//!     });
//!     sse::events(events)
//! }
//! ```
//!
//! A client that leaves is noticed when something is sent to it, a comment at the latest, and then the stream is dropped.
//!
//! Format: the [HTML standard](https://html.spec.whatwg.org/multipage/server-sent-events.html).

use std::convert::Infallible;
use std::error::Error as StdError;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Request, Response};
use pin_project_lite::pin_project;
use thrum_rt::time::Deadline;

use crate::Body;

/// How long nothing is sent before a comment is: often enough for proxies that give up after half a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// One event. Its parts may be set in any order.
///
/// What would break the framing cannot get in: data are cut into lines, and line ends and NUL are left out of the other parts.
///
/// ```
/// use thrum_http::sse::Event;
///
/// let event = Event::new().id("7").event("note").data("two\nlines");
/// assert_eq!(event.to_string(), "id: 7\nevent: note\ndata: two\ndata: lines\n\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    lines: String,
}

impl Event {
    /// An event without parts. Without data it is no event to the client, but its id and retry time count.
    pub fn new() -> Self {
        Self::default()
    }

    /// What it says: text of any number of lines. Said twice, the client gets both, with a line end between.
    #[must_use]
    pub fn data(mut self, text: impl AsRef<str>) -> Self {
        for line in lines(text.as_ref()) {
            self.field("data", line);
        }
        self
    }

    /// Its name, by which the client listens for it. Default: `message`.
    #[must_use]
    pub fn event(mut self, name: impl AsRef<str>) -> Self {
        self.field("event", &in_line(name.as_ref()));
        self
    }

    /// What the client says to have seen last when it comes back: see [`last_event_id`].
    #[must_use]
    pub fn id(mut self, id: impl AsRef<str>) -> Self {
        self.field("id", &in_line(id.as_ref()));
        self
    }

    /// How long the client waits before it connects again, in whole milliseconds.
    #[must_use]
    pub fn retry(mut self, after: Duration) -> Self {
        self.field("retry", &after.as_millis().to_string());
        self
    }

    /// A comment of any number of lines, which clients pass over.
    #[must_use]
    pub fn comment(mut self, text: impl AsRef<str>) -> Self {
        for line in lines(text.as_ref()) {
            self.field("", line);
        }
        self
    }

    fn field(&mut self, name: &str, value: &str) {
        for part in [name, ": ", value, "\n"] {
            self.lines.push_str(part);
        }
    }

    fn into_bytes(mut self) -> Bytes {
        self.lines.push('\n');
        self.lines.into()
    }
}

/// The event as it is sent.
impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.lines)
    }
}

/// The lines of a text, which end as the format's do: with CR LF, LF or CR.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(at) = text.find(['\r', '\n']) else {
            return rest.take();
        };
        let (line, behind) = text.split_at(at);
        let end = if behind.starts_with("\r\n") { 2 } else { 1 };
        rest = Some(&behind[end..]);
        Some(line)
    })
}

/// A text without what has no place within a line.
fn in_line(text: &str) -> String {
    text.replace(['\r', '\n', '\0'], "")
}

/// A response of the events that a stream gives, each sent at once. It ends with the stream.
///
/// While there are none, a comment is sent every 15 seconds, so that neither the client nor a proxy takes the connection for
/// dead. The fields `cache-control: no-store` and `x-accel-buffering: no` keep caches and nginx from holding events back.
pub fn events<S>(stream: S) -> Response<Body>
where
    S: Stream<Item = Event> + Send + 'static,
{
    try_events(Certain { stream })
}

/// As [`events`], of a stream that may fail: its first error cuts the response. So does that of a source:
///
/// ```
/// use thrum_http::sse::{self, Event};
/// use thrum_stream::{Source, source, stage};
///
/// let numbers = source::iter(1..=3).pipe(stage::map(|n: u32| Event::new().data(n.to_string())));
/// let response = sse::try_events(numbers.into_stream());
/// # thrum_rt::block_on(async {
/// let text = response.into_body().bytes(1000).await.unwrap();
/// assert_eq!(text, "data: 1\n\ndata: 2\n\ndata: 3\n\n");
/// # });
/// ```
pub fn try_events<S, E>(stream: S) -> Response<Body>
where
    S: Stream<Item = Result<Event, E>> + Send + 'static,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut response = Response::new(Body::from_stream(KeptAlive {
        stream,
        quiet: Deadline::new(),
        every: KEEP_ALIVE,
    }));
    let fields = response.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fields.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// The id of the last event that a client has seen which connects again.
pub fn last_event_id<B>(request: &Request<B>) -> Option<&str> {
    let id = request.headers().get("last-event-id")?;
    std::str::from_utf8(id.as_bytes()).ok()
}

pin_project! {
    /// A stream that cannot fail as one that can.
    struct Certain<S> {
        #[pin]
        stream: S,
    }
}

impl<S: Stream> Stream for Certain<S> {
    type Item = Result<S::Item, Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.project().stream.poll_next(cx).map(|item| item.map(Ok))
    }
}

pin_project! {
    /// Events as bytes, with comments where there are none for long.
    struct KeptAlive<S> {
        #[pin]
        stream: S,
        quiet: Deadline,
        every: Duration,
    }
}

impl<S, E> Stream for KeptAlive<S>
where
    S: Stream<Item = Result<Event, E>>,
{
    type Item = Result<Bytes, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if let Poll::Ready(next) = this.stream.poll_next(cx) {
            this.quiet.clear();
            return Poll::Ready(next.map(|event| event.map(Event::into_bytes)));
        }
        if !this.quiet.is_set() {
            this.quiet.set(*this.every);
        }
        ready!(this.quiet.poll_expired(cx));
        this.quiet.clear();
        Poll::Ready(Some(Ok(Bytes::from_static(b":\n\n"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_the_framing() {
        let event = Event::new().data("a\rb\nc\r\nd\n\r\n").to_string();
        assert_eq!(
            event,
            "data: a\ndata: b\ndata: c\ndata: d\ndata: \ndata: \n\n"
        );
        let event = Event::new()
            .id("1\n\ndata: x\0")
            .event("a\r\nid: 2")
            .retry(Duration::from_millis(1500))
            .comment("x\n\ny")
            .data("");
        assert_eq!(
            event.to_string(),
            "id: 1data: x\nevent: aid: 2\nretry: 1500\n: x\n: \n: y\ndata: \n\n"
        );
        assert_eq!(event.to_string(), event.into_bytes());
    }

    #[test]
    fn the_field_of_a_client_that_is_back() {
        let mut request = Request::new(());
        assert_eq!(last_event_id(&request), None);
        let id = HeaderValue::from_bytes("7ü".as_bytes()).unwrap();
        request.headers_mut().insert("last-event-id", id);
        assert_eq!(last_event_id(&request), Some("7ü"));
    }

    #[test]
    fn comments_fill_the_silence() {
        thrum_rt::block_on(async {
            let (sender, events) = thrum_rt::sync::channel::bounded(1);
            let mut body = Body::from_stream(KeptAlive {
                stream: Certain { stream: events },
                quiet: Deadline::new(),
                every: Duration::from_millis(10),
            });
            for _ in 0..3 {
                assert_eq!(body.chunk().await.unwrap().unwrap(), ":\n\n");
            }
            sender.send(Event::new().data("x")).await.unwrap();
            let mut next = body.chunk().await.unwrap().unwrap();
            if next == ":\n\n" {
                next = body.chunk().await.unwrap().unwrap();
            }
            assert_eq!(next, "data: x\n\n");
            drop(sender);
            while let Some(comment) = body.chunk().await {
                assert_eq!(comment.unwrap(), ":\n\n");
            }
        });
    }
}
