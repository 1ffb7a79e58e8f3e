//! A connection that requests share: its beginning, the task that drives it, and how it ends.
//!
//! It takes no more requests once the server says GOAWAY, when it is as old as a connection may be, or when a request gets
//! no answer and the connection is silent altogether. It ends with the last of the requests that it has. One that has none
//! for the idle time is closed.

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};
use h2::client::{Builder, SendRequest};
use thrum_rt::compat::Io;
use thrum_rt::time::{Deadline, Instant};

use super::super::Config;
use crate::wire::Wire;

/// Bytes of one response, and of all together, that the server may send before they are read.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 8 * 1024 * 1024;
/// Bytes of one request's body that wait to be written.
const SEND_BUFFER: usize = 256 * 1024;

/// A connection. Its clones share it.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(super) sender: SendRequest<Bytes>,
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) config: Arc<Config>,
    state: Mutex<State>,
    born: Instant,
    /// Counts what has come of the server.
    heard: AtomicU64,
}

struct State {
    /// Requests whose responses have not ended.
    requests: usize,
    /// It takes no more of them.
    is_retired: bool,
    /// When there was last one.
    since: Instant,
}

/// A request that the connection has; dropped when it is over.
pub(super) struct Active(pub(super) Arc<Shared>);

impl Connection {
    /// Begins HTTP/2 and has a task drive it. `right` is dropped when the connection has ended.
    ///
    /// It waits for nothing but room for its first bytes: what the server says comes with the first response.
    pub(crate) async fn begin(
        wire: Wire,
        config: Arc<Config>,
        right: impl Send + 'static,
    ) -> Result<Self, h2::Error> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                requests: 0,
                is_retired: false,
                since: Instant::now(),
            }),
            born: Instant::now(),
            heard: AtomicU64::new(0),
            config,
        });
        let heard = Heard {
            wire,
            shared: shared.clone(),
        };
        let head_bytes = u32::try_from(shared.config.limits.head_bytes).unwrap_or(u32::MAX);
        let (sender, connection) = Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(head_bytes)
            // Until the server has said how many it takes: more would only be refused.
            .initial_max_send_streams(1)
            .max_send_buffer_size(SEND_BUFFER)
            .handshake(Io::new(heard))
            .await?;
        let driver = Driver {
            connection,
            shared: shared.clone(),
            _right: right,
        };
        thrum_rt::spawn_named("http client: an HTTP/2 connection", driver.run());
        Ok(Self { sender, shared })
    }

    /// Whether it takes requests.
    pub(crate) fn is_usable(&self) -> bool {
        !self.shared.lock().is_retired && self.shared.is_young()
    }
}

impl Shared {
    /// Has it take another request, if it still does.
    pub(super) fn begin(self: &Arc<Self>) -> Option<Active> {
        let mut state = self.lock();
        if state.is_retired {
            return None;
        }
        state.requests += 1;
        drop(state);
        Some(Active(self.clone()))
    }

    /// It is to take no more requests.
    pub(super) fn retire(&self) {
        self.lock().is_retired = true;
    }

    /// What has come of the server so far, as a number that changes.
    pub(super) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    fn is_young(&self) -> bool {
        self.born.elapsed() < self.config.timeouts.lifetime
    }

    /// How long it may go on idling; zero: it was retired just now, as nobody has used it for long enough.
    fn idle_left(&self) -> Duration {
        let idle = self.config.timeouts.idle;
        let mut state = self.lock();
        if state.requests > 0 {
            return idle.max(Duration::from_millis(1));
        }
        let left = idle.saturating_sub(state.since.elapsed());
        state.is_retired |= left.is_zero();
        left
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.requests -= 1;
        state.since = Instant::now();
    }
}

struct Driver<R> {
    connection: h2::client::Connection<Io<Heard>, Bytes>,
    shared: Arc<Shared>,
    _right: R,
}

impl<R> Driver<R> {
    async fn run(mut self) {
        let mut deadline = Deadline::new();
        deadline.set(self.shared.config.timeouts.idle);
        let shared = self.shared.clone();
        let connection = &mut self.connection;
        poll_fn(|cx| {
            if let Poll::Ready(end) = Pin::new(&mut *connection).poll(cx) {
                if let Err(error) = end {
                    tracing::debug!(%error, "an HTTP/2 connection has ended");
                }
                return Poll::Ready(());
            }
            while deadline.poll_expired(cx).is_ready() {
                match shared.idle_left() {
                    Duration::ZERO => return Poll::Ready(()),
                    left => deadline.set(left),
                }
            }
            Poll::Pending
        })
        .await;
    }
}

impl<R> Drop for Driver<R> {
    /// It has ended, or its runtime does.
    fn drop(&mut self) {
        self.shared.retire();
    }
}

/// A wire that notes when something comes.
struct Heard {
    wire: Wire,
    shared: Arc<Shared>,
}

impl AsyncRead for Heard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.wire).poll_read(cx, buffer))?;
        self.shared.heard.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for Heard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write_vectored(cx, buffers)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_flush(Pin::new(&mut self.wire), cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_close(cx)
    }
}
