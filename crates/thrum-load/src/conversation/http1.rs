//! HTTP/1.1: requests go out as they were rendered, answers come in their order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use thrum_http::client::{CookieJar, Fields, Part, Pipeline};

use super::{Answer, Conversation, kind, kind_of_io};
use crate::ErrorKind;
use crate::check::Expect;
use crate::record::Times;
use crate::requests::Asker;

pub(crate) struct Http1 {
    pipeline: Pipeline,
    expect: Arc<Expect>,
    cookies: Option<Cookies>,
    waiting: VecDeque<Waiting>,
    /// The answer that is being read.
    answer: Option<Begun>,
    body: Vec<u8>,
    sent: u64,
}

/// The cookies of a connection, which is a user of its own.
pub(crate) struct Cookies {
    pub(crate) jar: CookieJar,
    pub(crate) url: Uri,
}

struct Waiting {
    due: Instant,
    sent: Instant,
    method: Method,
}

struct Begun {
    status: StatusCode,
    first_byte: Instant,
    verdict: Result<(), ErrorKind>,
}

impl Http1 {
    pub(crate) fn new(pipeline: Pipeline, expect: Arc<Expect>, cookies: Option<Cookies>) -> Self {
        Self {
            pipeline,
            expect,
            cookies,
            waiting: VecDeque::new(),
            answer: None,
            body: Vec::new(),
            sent: 0,
        }
    }
}

impl Conversation for Http1 {
    fn ask(&mut self, asker: &mut Asker, due: Instant, now: Instant) {
        let cookie = self
            .cookies
            .as_ref()
            .and_then(|Cookies { jar, url }| jar.header(url));
        let (request, method) = asker.next_http1(cookie.as_ref());
        self.pipeline.queue(request);
        self.sent += request.len() as u64;
        let method = method.clone();
        self.waiting.push_back(Waiting {
            due,
            sent: now,
            method,
        });
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ErrorKind>> {
        self.pipeline
            .poll_flush(cx)
            .map_err(|error| kind_of_io(&error))
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, ErrorKind>> {
        let Some(waiting) = self.waiting.front() else {
            return Poll::Pending;
        };
        loop {
            match ready!(self.pipeline.poll_part(cx, &waiting.method)) {
                Ok(Part::Head { status, fields, at }) => {
                    if let Some(cookies) = &self.cookies {
                        cookies.keep(fields);
                    }
                    let verdict = self.expect.status(status.as_u16());
                    self.answer = Some(Begun {
                        status,
                        first_byte: at,
                        verdict: verdict.and_then(|()| self.expect.head(fields)),
                    });
                }
                Ok(Part::Data(data)) => self.expect.keep(&mut self.body, data),
                Ok(Part::End { keep_alive, at }) => {
                    let answer = self.answer.take().zip(self.waiting.pop_front());
                    let Some((begun, waiting)) = answer else {
                        return Poll::Ready(Err(ErrorKind::Protocol));
                    };
                    let verdict = begun.verdict.and_then(|()| self.expect.body(&self.body));
                    self.body.clear();
                    return Poll::Ready(Ok(Answer {
                        times: Times {
                            due: waiting.due,
                            sent: waiting.sent,
                            first_byte: begun.first_byte,
                            done: at,
                        },
                        status: Some(begun.status.as_u16()),
                        verdict,
                        goes_on: keep_alive,
                    }));
                }
                Err(error) => return Poll::Ready(Err(kind(&error))),
            }
        }
    }

    fn is_usable(&mut self, cx: &mut Context<'_>) -> bool {
        self.pipeline.is_usable(cx)
    }

    fn moved(&self) -> (u64, u64) {
        (self.pipeline.received_bytes(), self.sent)
    }
}

impl Cookies {
    /// Keeps what an answer sets.
    fn keep(&self, fields: Fields<'_>) {
        let values = fields.get(SET_COOKIE.as_str().as_bytes());
        let values = values.filter_map(|value| HeaderValue::from_bytes(value).ok());
        let set: HeaderMap = values.map(|value| (SET_COOKIE, value)).collect();
        if !set.is_empty() {
            self.jar.store(&self.url, &set);
        }
    }
}
