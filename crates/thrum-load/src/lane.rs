//! One place of the load: a connection after the other, on which it asks and is answered.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue, Request, Uri};
use thrum_http::client::{CookieJar, Dialed};
use thrum_http::websocket;
use thrum_rt::time::{Deadline, sleep, timeout};

use crate::ErrorKind;
use crate::conversation::http1::{Cookies, Http1};
use crate::conversation::http2::Http2;
use crate::conversation::line::Lines;
use crate::conversation::websocket::Messages;
use crate::conversation::{Answer, Conversation, kind};
use crate::load::Shared;
use crate::plan::Protocol;
use crate::requests::Asker;
use crate::turns::{Turn, Turns};

/// How long it waits after a connection that was of no use; at most a hundred times as long after several in a row.
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) struct Lane {
    shared: Arc<Shared>,
    index: usize,
    turns: Turns,
    asker: Asker,
    /// For the answers of what is outstanding.
    deadline: Deadline,
    /// What is to be noted, gathered so that it is done at once.
    answers: Vec<Answer>,
    /// Connections in a row on which nothing was answered.
    failures: u32,
    /// It has waited, so the server may have closed the connection.
    waited: bool,
}

/// Why a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The connection is over; there may be another.
    Connection,
    /// There is nothing left to be sent.
    Load,
}

impl Lane {
    pub(crate) fn new(shared: Arc<Shared>, index: usize) -> Self {
        Self {
            turns: shared.turns(index),
            asker: shared.asker(index),
            shared,
            index,
            deadline: Deadline::new(),
            answers: Vec::new(),
            failures: 0,
            waited: false,
        }
    }

    /// Asks until the load is over.
    pub(crate) async fn run(mut self) {
        while self.is_wanted().await {
            let end = match self.connect().await {
                Some(Ok(dialed)) => self.speak(dialed).await,
                Some(Err(kind)) => Err(kind),
                None => break,
            };
            match end {
                Ok(End::Load) => break,
                Ok(End::Connection) => {}
                Err(kind) => {
                    self.failures += 1;
                    self.shared
                        .note(self.index, |record, now| record.error(kind, now, 1));
                }
            }
            if self.failures > 0 {
                sleep(PAUSE * self.failures.pow(2).min(100)).await;
            }
        }
        let now = self
            .shared
            .end()
            .unwrap_or_else(Instant::now)
            .min(Instant::now());
        let unsent = self.turns.overdue(now);
        self.shared
            .note(self.index, |record, _| record.unsent += unsent);
    }

    /// Waits until a connection is of use; false if none is any more. Sessions connect when they begin, all others at once.
    async fn is_wanted(&mut self) -> bool {
        poll_fn(|cx| {
            let now = Instant::now();
            if self.shared.is_over(now) {
                return Poll::Ready(false);
            }
            match self.turns.due(now) {
                None => Poll::Ready(false),
                Some(due) if due > now && self.shared.has_sessions() => {
                    self.shared.wake_at(due, self.index, cx);
                    Poll::Pending
                }
                Some(_) => Poll::Ready(true),
            }
        })
        .await
    }

    /// Connects, when it is its turn. `None`: until then the load was over.
    async fn connect(&mut self) -> Option<Result<Dialed, ErrorKind>> {
        let shared = self.shared.clone();
        let _permit = shared.dials.acquire().await;
        if shared.is_over(Instant::now()) {
            return None;
        }
        let dial = shared.dialer(self.index).dial();
        Some(match timeout(shared.plan.timeout, dial).await {
            Ok(Ok(dialed)) => {
                let (connect, tls) = (dialed.connect_time(), dialed.handshake_time());
                shared.note(self.index, |record, now| {
                    record.connected(now, connect, tls)
                });
                Ok(dialed)
            }
            Ok(Err(error)) => Err(kind(&error)),
            Err(_) => Err(ErrorKind::Timeout),
        })
    }

    /// Speaks the protocol on a connection, until its end.
    async fn speak(&mut self, dialed: Dialed) -> Result<End, ErrorKind> {
        let (expect, plan) = (self.shared.expect.clone(), &self.shared.plan);
        let cookies = || {
            plan.cookies.then(|| Cookies {
                jar: CookieJar::new(),
                url: plan.target.url.clone(),
            })
        };
        Ok(match self.shared.protocol {
            Protocol::Http if dialed.is_http2() => {
                let (cookies, base) = (cookies(), plan.target.url.clone());
                let connection = dialed.http2().await.map_err(|error| kind(&error))?;
                self.converse(Http2::new(connection, expect, cookies, base))
                    .await
            }
            Protocol::Http => {
                let conversation = Http1::new(dialed.http1(), expect, cookies());
                self.converse(conversation).await
            }
            Protocol::WebSocket => {
                let request = opening(&plan.target.url, &self.shared.fields);
                let config = websocket::Config::default();
                let opened = websocket::client(dialed.into_stream(), request, config).await;
                let (socket, _) = opened.map_err(|error| match error {
                    websocket::ConnectError::Io(_) => ErrorKind::Lost,
                    websocket::ConnectError::Timeout => ErrorKind::Timeout,
                    websocket::ConnectError::Refused(_) => ErrorKind::Status,
                    _ => ErrorKind::Protocol,
                })?;
                self.converse(Messages::new(socket, expect)).await
            }
            Protocol::Line => {
                let conversation = Lines::new(dialed.into_stream(), expect);
                self.converse(conversation).await
            }
        })
    }

    async fn converse<C: Conversation>(&mut self, mut conversation: C) -> End {
        let mut moved = (0, 0);
        self.waited = false;
        poll_fn(|cx| {
            let polled = self.poll(&mut conversation, cx);
            let now_moved = conversation.moved();
            let (received, sent) = (now_moved.0 - moved.0, now_moved.1 - moved.1);
            moved = now_moved;
            if !self.answers.is_empty() || received + sent > 0 {
                let answers = &mut self.answers;
                self.shared.note(self.index, |record, now| {
                    record.moved(now, received, sent);
                    for answer in answers.drain(..) {
                        record.answer(answer.times, answer.status, answer.verdict);
                    }
                });
            }
            polled
        })
        .await
    }

    /// Takes the answers that are there and sends what is due, until there is nothing to do but wait.
    fn poll<C: Conversation>(&mut self, conversation: &mut C, cx: &mut Context<'_>) -> Poll<End> {
        self.advance(conversation, cx).unwrap_or_else(|kind| {
            self.lose(kind);
            Poll::Ready(End::Connection)
        })
    }

    /// As [`poll`](Self::poll). An error is the end of the connection.
    fn advance<C: Conversation>(
        &mut self,
        conversation: &mut C,
        cx: &mut Context<'_>,
    ) -> Result<Poll<End>, ErrorKind> {
        let mut answered = self.take_answers(conversation, cx)?;
        let next = loop {
            let (sent, next) = self.send(conversation, cx);
            if sent {
                self.deadline.set(self.shared.plan.timeout);
                if let Poll::Ready(flushed) = conversation.poll_flush(cx) {
                    flushed?;
                }
            }
            if !sent && !answered {
                break next;
            }
            // What is waited for is to be polled once more. Nothing new came of it: then what is next is known.
            answered = self.take_answers(conversation, cx)?;
            if !answered {
                break next;
            }
        };
        match next {
            Turn::Close => return Ok(Poll::Ready(End::Connection)),
            Turn::End => return Ok(Poll::Ready(End::Load)),
            Turn::Wait(at) => {
                self.waited = self.turns.outstanding() == 0;
                self.shared.wake_at(at, self.index, cx);
            }
            Turn::Send(_) | Turn::Listen => {}
        }
        if self.turns.outstanding() > 0 {
            if let Poll::Ready(flushed) = conversation.poll_flush(cx) {
                flushed?;
            }
            if self.deadline.poll_expired(cx).is_ready() {
                return Err(ErrorKind::Timeout);
            }
        }
        Ok(Poll::Pending)
    }

    /// Takes the answers that are there; whether there were any.
    fn take_answers<C: Conversation>(
        &mut self,
        conversation: &mut C,
        cx: &mut Context<'_>,
    ) -> Result<bool, ErrorKind> {
        let before = self.answers.len();
        while self.turns.outstanding() > 0
            && let Poll::Ready(answer) = conversation.poll_answer(cx)
        {
            let answer = answer?;
            self.failures = 0;
            self.turns.answered(answer.times.done);
            let goes_on = answer.goes_on;
            self.answers.push(answer);
            if !goes_on {
                return Err(ErrorKind::Lost); // that much of what is outstanding
            }
        }
        Ok(self.answers.len() > before)
    }

    /// Asks for what is due; whether there was any, and what comes next.
    fn send<C: Conversation>(
        &mut self,
        conversation: &mut C,
        cx: &mut Context<'_>,
    ) -> (bool, Turn) {
        let now = Instant::now();
        let mut sent = false;
        loop {
            if self.shared.is_over(now) {
                let is_done = self.turns.outstanding() == 0;
                return (sent, if is_done { Turn::End } else { Turn::Listen });
            }
            if self.waited
                && self.turns.outstanding() == 0
                && self.turns.due(now).is_some_and(|due| due <= now)
            {
                self.waited = false;
                if !conversation.is_usable(cx) {
                    return (false, Turn::Close);
                }
            }
            match self.turns.next(now) {
                Turn::Send(due) if self.shared.claim(due) => {
                    conversation.ask(&mut self.asker, due, now);
                    sent = true;
                }
                Turn::Send(_) => self.turns.unsend(),
                next => return (sent, next),
            }
        }
    }

    /// The connection is lost, and what was outstanding with it.
    fn lose(&mut self, kind: ErrorKind) {
        let count = self.turns.lost() as u64;
        self.failures += u32::from(count > 0);
        self.shared
            .note(self.index, |record, now| record.error(kind, now, count));
    }
}

/// The request that a WebSocket begins with.
fn opening(url: &Uri, fields: &[(HeaderName, HeaderValue)]) -> Request<()> {
    let mut request = Request::new(());
    *request.uri_mut() = url.clone();
    request.headers_mut().extend(
        fields
            .iter()
            .map(|(name, value)| (Some(name.clone()), value.clone())),
    );
    request
}
