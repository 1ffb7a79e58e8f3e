//! One connection, from its preface to its end.
//!
//! In each turn it lets the h2 crate read what is there, makes a task of each new request, and writes what there is to write.
//! Between a batch of requests and their answers it waits until all their handlers have begun, which in a runtime where
//! nobody waits for a slow neighbour is at once; so the answers of those that need not wait leave together.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Instant;

use bytes::Bytes;
use h2::server::{Builder, Connection as Inner, Handshake, SendResponse};
use h2::{Reason, RecvStream};
use http::Request;
use thrum_rt::time::Deadline;

use super::Http2Error;
use super::link::{Link, Pipe, lock};
use super::meter::Meter;
use super::request::{LastHost, receive};
use super::stream::{self, Observed};
use super::upload::Upload;
use crate::server::{ConnectionInfo, Context, Counters, Open};
use crate::wire::Wire;
use crate::{Application, Body, Limits, Reject};

/// Serves a connection until it ends. `ahead` is what was read of it already.
pub(crate) async fn serve<A: Application>(
    open: Open,
    wire: Wire,
    ahead: Bytes,
    context: Arc<Context>,
    application: A,
) {
    let info = ConnectionInfo::new(&open, &wire);
    let meter = Meter::new(context.limits.http2, Instant::now());
    let pipe = Arc::new(Mutex::new(Pipe::new(wire, ahead, meter)));
    let handshake = builder(&context.limits).handshake(Link(pipe.clone()));
    let shared = Arc::new(Shared {
        info,
        open,
        context,
        unstarted: AtomicUsize::new(0),
        running: AtomicUsize::new(0),
        waker: Mutex::new(None),
    });
    let mut connection = Connection {
        state: State::Handshake(handshake),
        pipe,
        shared,
        application,
        last_host: LastHost::default(),
        accepted: 0,
        ending: Ending::No,
        phase: Phase::Busy,
        deadline: Deadline::new(),
    };
    poll_fn(|cx| connection.poll(cx)).await;
    connection.close().await;
}

fn builder(limits: &Limits) -> Builder {
    let Limits {
        head_bytes, http2, ..
    } = limits;
    let window = |bytes: u32| bytes.min(i32::MAX as u32);
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(http2.streams)
        .initial_window_size(window(http2.stream_window_bytes))
        .initial_connection_window_size(window(http2.connection_window_bytes))
        .max_frame_size(http2.frame_bytes.clamp(1 << 14, (1 << 24) - 1))
        .max_header_list_size(u32::try_from(*head_bytes).unwrap_or(u32::MAX))
        .max_send_buffer_size(http2.send_bytes)
        .max_pending_accept_reset_streams(http2.resets as usize)
        .max_local_error_reset_streams(Some(http2.faults));
    builder
}

/// What a connection and its streams share.
pub(crate) struct Shared {
    pub(super) info: ConnectionInfo,
    pub(super) open: Open,
    pub(super) context: Arc<Context>,
    /// Handlers that have not begun.
    unstarted: AtomicUsize,
    /// Handlers whose responses are not complete, those included.
    running: AtomicUsize,
    /// The connection's.
    waker: Mutex<Option<Waker>>,
}

impl Shared {
    /// A handler begins. The last one has the connection go on.
    pub(super) fn started(&self) {
        if self.unstarted.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wake();
        }
    }

    /// A handler and its response are done. The connection may have to watch over what the client takes.
    pub(super) fn finished(&self) {
        if self.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wake();
        }
    }

    fn has_unstarted(&self) -> bool {
        self.unstarted.load(Ordering::Acquire) > 0
    }

    fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waker) = &*waker {
            waker.wake_by_ref();
        }
    }

    fn keep_waker(&self, waker: &Waker) {
        let mut kept = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *kept {
            Some(kept) => kept.clone_from(waker),
            None => *kept = Some(waker.clone()),
        }
    }
}

struct Connection<A> {
    state: State,
    pipe: Arc<Mutex<Pipe>>,
    shared: Arc<Shared>,
    application: A,
    last_host: LastHost,
    /// Requests so far.
    accepted: u64,
    ending: Ending,
    phase: Phase,
    deadline: Deadline,
}

enum State {
    Handshake(Handshake<Link, Bytes>),
    Open(Inner<Link, Bytes>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    No,
    /// The client has been asked for no more requests; those that run are finished.
    Graceful,
    /// It was told to go.
    Now,
}

/// What the connection waits for, each with the number that changes as it comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Handlers, which have deadlines of their own.
    Busy,
    /// The client to take output, of which it has taken so many bytes.
    Stalled(u64),
    /// The rest of a frame or a header block.
    Head(u64),
    /// The client to take responses that handlers are done with.
    Untaken(u64),
    /// Another request than so many.
    Idle(u64),
    /// The client to see that the connection ends.
    Ending,
}

impl<A: Application> Connection<A> {
    /// Ready when it is over.
    fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.shared.keep_waker(cx.waker());
        loop {
            if self.shared.has_unstarted() {
                return Poll::Pending; // the last that begins wakes this
            }
            self.end_if_asked();
            lock(&self.pipe).begin_turn();
            if self.poll_streams(cx).is_ready() {
                return Poll::Ready(());
            }
            if self.shared.has_unstarted() {
                return Poll::Pending;
            }
            let mut pipe = lock(&self.pipe);
            if let Some(abuse) = pipe.abuse
                && self.ending != Ending::Now
            {
                drop(pipe);
                self.shared.open.counters().reject(abuse.into());
                self.end_now();
                continue;
            }
            match pipe.poll_drain(cx) {
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(())) if pipe.refused_write() => continue,
                _ => {}
            }
            if pipe.is_turn_over() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            drop(pipe);
            return self.poll_deadline(cx);
        }
    }

    /// Has the h2 crate read and write, and begins the streams that come. Ready: the connection is over.
    fn poll_streams(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        if let State::Handshake(handshake) = &mut self.state {
            match Pin::new(handshake).poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(open)) => self.state = State::Open(open),
                Poll::Ready(Err(error)) => {
                    self.count(&error);
                    return Poll::Ready(());
                }
            }
        }
        loop {
            let State::Open(open) = &mut self.state else {
                return Poll::Pending;
            };
            match open.poll_accept(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Ready(Some(Err(error))) => {
                    self.count(&error);
                    return Poll::Ready(());
                }
                Poll::Ready(Some(Ok((request, respond)))) => self.accept(request, respond),
            }
        }
    }

    fn count(&self, error: &h2::Error) {
        tracing::trace!(%error, peer = ?self.shared.open.peer, "connection lost");
        let found = Http2Error::of(error, lock(&self.pipe).last_words());
        if let Some(error) = found {
            self.shared.open.counters().reject(error.into());
        }
    }

    fn accept(&mut self, request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
        self.accepted += 1;
        let shared = &self.shared;
        let limits = &shared.context.limits;
        let (mut parts, incoming) = request.into_parts();
        let observed = shared.context.observer.as_ref();
        let observed = observed.map(|_| Box::new(Observed::new(&parts)));
        match receive(&mut parts, limits, &mut self.last_host) {
            Err(reject) => stream::refuse(shared, reject, &parts.method, respond, observed),
            Ok(terms) => {
                let ends = incoming.is_end_stream();
                if terms.expects_continue && !ends {
                    stream::send_interim(
                        &mut respond,
                        http::StatusCode::CONTINUE,
                        Default::default(),
                    );
                }
                let body = if ends {
                    Body::empty()
                } else {
                    Body::upload(Upload::new(incoming, terms.length, shared.clone()))
                };
                Counters::count(&shared.open.counters().requests);
                shared.unstarted.fetch_add(1, Ordering::AcqRel);
                shared.running.fetch_add(1, Ordering::AcqRel);
                let request = Request::from_parts(parts, body);
                let application = self.application.clone();
                thrum_rt::spawn(stream::serve(
                    shared.clone(),
                    request,
                    respond,
                    application,
                    observed,
                ));
            }
        }
        if limits.requests.is_some_and(|limit| self.accepted >= limit) {
            self.end_gracefully();
        }
    }

    fn end_if_asked(&mut self) {
        if self.ending == Ending::No && self.shared.open.is_ending() {
            self.end_gracefully();
        }
    }

    fn end_gracefully(&mut self) {
        if self.ending == Ending::No {
            self.ending = Ending::Graceful;
            if let State::Open(open) = &mut self.state {
                open.graceful_shutdown();
            }
        }
    }

    fn end_now(&mut self) {
        self.ending = Ending::Now;
        if let State::Open(open) = &mut self.state {
            open.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        }
    }

    fn poll_deadline(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        let phase = self.phase();
        if phase != self.phase {
            self.phase = phase;
            let timeouts = &self.shared.context.timeouts;
            match phase {
                Phase::Busy => self.deadline.clear(),
                Phase::Stalled(_) | Phase::Untaken(_) => self.deadline.set(timeouts.write),
                Phase::Head(_) => self.deadline.set(timeouts.head),
                Phase::Idle(_) => self.deadline.set(timeouts.idle),
                Phase::Ending => self.deadline.set(timeouts.linger),
            }
        }
        if self.deadline.poll_expired(cx).is_pending() {
            return Poll::Pending;
        }
        let counters = self.shared.open.counters();
        match phase {
            Phase::Busy => return Poll::Pending,
            Phase::Ending => return Poll::Ready(()),
            Phase::Stalled(_) => {
                Counters::count(&counters.write_timeouts);
                return Poll::Ready(());
            }
            Phase::Untaken(_) => {
                Counters::count(&counters.write_timeouts);
                self.end_now();
            }
            Phase::Head(_) => {
                counters.reject(Reject::HeadTimeout);
                self.end_now();
            }
            Phase::Idle(_) => self.end_gracefully(),
        }
        cx.waker().wake_by_ref(); // to say so
        Poll::Pending
    }

    fn phase(&self) -> Phase {
        let has_streams = match &self.state {
            State::Handshake(_) => false,
            State::Open(open) => open.has_streams(),
        };
        let mut pipe = lock(&self.pipe);
        if self.ending == Ending::Now || self.ending == Ending::Graceful && !has_streams {
            Phase::Ending
        } else if pipe.holds_output() {
            Phase::Stalled(pipe.total_written)
        } else if let Some(begun) = pipe.meter.unfinished() {
            Phase::Head(begun)
        } else if !has_streams {
            pipe.release();
            Phase::Idle(self.accepted)
        } else if self.shared.running.load(Ordering::Acquire) == 0 {
            Phase::Untaken(pipe.total_written)
        } else {
            Phase::Busy
        }
    }

    /// Ends sending, and reads on for a moment: closing at once, with bytes unread, could destroy what the client is to see.
    async fn close(self) {
        let Connection {
            state,
            pipe,
            shared,
            mut deadline,
            ..
        } = self;
        // Handlers that run still are told by this.
        drop(state);
        let timeouts = &shared.context.timeouts;
        deadline.set(timeouts.linger);
        let mut left = shared.context.limits.drain_bytes;
        poll_fn(|cx| {
            let mut pipe = lock(&pipe);
            match pipe.poll_discard(cx, &mut left) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => deadline.poll_expired(cx),
            }
        })
        .await;
        // A handler that runs on holds the socket.
        let _ = lock(&pipe).wire.socket().shutdown(std::net::Shutdown::Both);
    }
}
