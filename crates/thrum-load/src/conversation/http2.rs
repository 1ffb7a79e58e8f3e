//! HTTP/2: each request is a stream, and answers come as they are ready.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use http::{HeaderMap, Request, Uri};
use http_body::Body as _;
use thrum_http::Body;
use thrum_http::client::Multiplexed;

use super::http1::Cookies;
use super::{Answer, Conversation, kind};
use crate::ErrorKind;
use crate::check::Expect;
use crate::record::Times;
use crate::requests::Asker;

pub(crate) struct Http2 {
    connection: Multiplexed,
    expect: Arc<Expect>,
    cookies: Option<Arc<Cookies>>,
    /// Scheme and host of what is asked for.
    base: Uri,
    streams: FuturesUnordered<Stream>,
    received: u64,
    sent: u64,
}

/// A request until its answer is there, and how long the body was.
type Stream = Pin<Box<dyn Future<Output = Result<(Answer, u64), ErrorKind>> + Send>>;

impl Http2 {
    pub(crate) fn new(
        connection: Multiplexed,
        expect: Arc<Expect>,
        cookies: Option<Cookies>,
        base: Uri,
    ) -> Self {
        Self {
            connection,
            expect,
            cookies: cookies.map(Arc::new),
            base,
            streams: FuturesUnordered::new(),
            received: 0,
            sent: 0,
        }
    }
}

impl Conversation for Http2 {
    fn ask(&mut self, asker: &mut Asker, due: Instant, now: Instant) {
        let cookie = self
            .cookies
            .as_deref()
            .and_then(|Cookies { jar, url }| jar.header(url));
        let request = asker.next_request(&self.base, cookie.as_ref());
        if let Ok(request) = &request {
            self.sent += request.body().size_hint().exact().unwrap_or(0);
        }
        let (connection, expect) = (self.connection.clone(), self.expect.clone());
        let cookies = self.cookies.clone();
        self.streams.push(Box::pin(async move {
            let request = request.map_err(|_| ErrorKind::Protocol)?;
            exchange(connection, request, &expect, cookies.as_deref(), due, now).await
        }));
    }

    /// Streams are opened where they are polled, with the answers.
    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ErrorKind>> {
        Poll::Ready(Ok(()))
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, ErrorKind>> {
        match self.streams.poll_next_unpin(cx) {
            Poll::Ready(Some(Ok((mut answer, bytes)))) => {
                self.received += bytes;
                answer.goes_on = self.connection.is_usable();
                Poll::Ready(Ok(answer))
            }
            Poll::Ready(Some(Err(kind))) => Poll::Ready(Err(kind)),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    fn is_usable(&mut self, _: &mut Context<'_>) -> bool {
        self.connection.is_usable()
    }

    fn moved(&self) -> (u64, u64) {
        (self.received, self.sent)
    }
}

async fn exchange(
    connection: Multiplexed,
    mut request: Request<Body>,
    expect: &Expect,
    cookies: Option<&Cookies>,
    due: Instant,
    sent: Instant,
) -> Result<(Answer, u64), ErrorKind> {
    let response = connection
        .send(&mut request)
        .await
        .map_err(|error| kind(&error))?;
    let first_byte = Instant::now();
    let status = response.status().as_u16();
    let headers: &HeaderMap = response.headers();
    if let Some(Cookies { jar, url }) = cookies {
        jar.store(url, headers);
    }
    let values = |name: &str| {
        headers
            .get_all(name)
            .into_iter()
            .map(|value| value.as_bytes())
    };
    let verdict = expect.status(status).and_then(|()| expect.fields(values));
    let mut body: Body = response.into_body();
    let (mut bytes, mut kept) = (0, Vec::new());
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.map_err(|_| ErrorKind::Lost)?.into_data() {
            bytes += data.len() as u64;
            expect.keep(&mut kept, &data);
        }
    }
    let done = Instant::now();
    let answer = Answer {
        times: Times {
            due,
            sent,
            first_byte,
            done,
        },
        status: Some(status),
        verdict: verdict.and_then(|()| expect.body(&kept)),
        goes_on: true,
    };
    Ok((answer, bytes))
}
