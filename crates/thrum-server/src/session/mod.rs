//! Sessions: what a server remembers of a visitor, in the store, found again by a signed cookie.
//!
//! A [`Session`] is with each request as an extension. Nothing is read before it is asked, and nothing is stored or sent as
//! long as nothing was put into it. What was changed is saved when the response's head is made, so a change after that is
//! lost.
//!
//! * The cookie has 160 random bits and their HMAC-SHA256. One that was forged, or signed with a key that is gone, is not
//!   looked up. The store knows sessions by a digest of these bits, so nobody can take a session over by reading the store.
//! * Only ids that this server made are used, and [`renew`](Session::renew) or [`log_in`](Session::log_in) make a new one: an
//!   id that an attacker planted or saw before is worth nothing (session fixation).
//! * A session ends when it was not used for a while (`idle`), and in any case some time after its start (`max`).
//! * Requests of one visitor at a time: the changes of each are put together, key by key; the last one saved wins.
//! * When the store is away, who asks a session gets an error, and a request whose changes cannot be saved gets 503: not a
//!   visitor who seems to be logged out.
//!
//! ```
//! use std::sync::Arc;
//! use thrum_http::{Body, Request, Response, service_fn};
//! use thrum_http::header::SET_COOKIE;
//! use thrum_server::session::{Session, Sessions};
//! use thrum_server::store::Memory;
//! use tower_layer::Layer;
//! use tower_service::Service;
//!
//! let sessions = Sessions::new(Arc::new(Memory::new(64 << 20)));
//! let counter = service_fn(async |request: Request<Body>| {
//!     let session = request.extensions().get::<Session>().unwrap();
//!     let count = session.get("count").await.unwrap().and_then(|n| n.as_u64()).unwrap_or(0) + 1;
//!     session.set("count", count).await.unwrap();
//!     Response::new(format!("your visit {count}\n"))
//! });
//! let mut application = sessions.layer().layer(counter);
//! # thrum_rt::block_on(async {
//! let response = application.call(Request::new(Body::empty())).await.unwrap();
//! assert!(response.headers()[SET_COOKIE].to_str().unwrap().starts_with("__Host-session="));
//! # });
//! ```

pub mod config;
mod cookie;
mod forward;
mod keys;
mod layer;
mod record;
mod state;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue, Response};
use serde_json::Value;
use thiserror::Error;
use thrum_rt::sync::Mutex;

pub use self::forward::strip;
pub use self::keys::{Keys, KeysError};
pub use self::layer::{SessionLayer, SessionService};

use self::keys::KeySource;
use self::state::State;
use crate::store::{Store, StoreError};

/// The sessions of one or several sites: where they are kept, and for how long. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    shared: Arc<Shared>,
}

#[derive(Clone)]
struct Shared {
    store: Arc<dyn Store>,
    keys: Arc<KeySource>,
    cookie: String,
    idle: Duration,
    max: Duration,
    max_data: usize,
}

impl Sessions {
    /// Sessions in a store: cookie `session`, idle for 30 minutes, 12 hours at most, 64 KiB of data; signed with a key that is
    /// made once and kept in the store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            shared: Arc::new(Shared {
                store,
                keys: Arc::new(KeySource::Store(thrum_rt::sync::OnceCell::new())),
                cookie: "session".into(),
                idle: Duration::from_secs(30 * 60),
                max: Duration::from_secs(12 * 3600),
                max_data: 64 << 10,
            }),
        }
    }

    /// The cookie's name; over TLS `__Host-` goes before it. Sites that share a store and a name share their keys.
    ///
    /// # Panics
    /// When that is no token of HTTP, or longer than 64 bytes.
    pub fn cookie(self, name: &str) -> Self {
        assert!(cookie::is_name(name), "{name:?} is no name of a cookie");
        self.with(|shared| shared.cookie = name.to_owned())
    }

    /// How long a session lasts without being used.
    pub fn idle(self, idle: Duration) -> Self {
        self.with(|shared| shared.idle = idle)
    }

    /// How long it lasts at most.
    pub fn max(self, max: Duration) -> Self {
        self.with(|shared| shared.max = max)
    }

    /// The most data of a session, in bytes of its JSON.
    pub fn max_data(self, max_data: usize) -> Self {
        self.with(|shared| shared.max_data = max_data)
    }

    /// The keys that sign cookies, in place of the one in the store.
    pub fn keys(self, keys: Keys) -> Self {
        self.with(|shared| shared.keys = Arc::new(KeySource::Given(Arc::new(keys))))
    }

    /// The layer that gives each request its [`Session`].
    pub fn layer(&self) -> SessionLayer {
        SessionLayer::new(self.clone())
    }

    /// The session of a request with these fields, which came over TLS or not. What is changed in it is saved by
    /// [`Session::save`].
    pub fn open(&self, headers: &HeaderMap, secure: bool) -> Session {
        let cookies = headers.get_all(COOKIE).iter().cloned().collect();
        Session {
            inner: Arc::new(Inner {
                shared: self.shared.clone(),
                cookies,
                secure,
                touched: AtomicBool::new(false),
                state: Mutex::new(State::default()),
            }),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        change(Arc::make_mut(&mut self.shared));
        self
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("store", &self.shared.store)
            .field("cookie", &self.shared.cookie)
            .field("idle", &self.shared.idle)
            .field("max", &self.shared.max)
            .finish_non_exhaustive()
    }
}

/// A visitor's session, with a request as its extension. Clones are the same session.
///
/// # Errors
/// All methods: [`SessionError::Store`] when the store cannot be asked.
///
/// # Cancellation
/// Nothing of a call whose future is dropped is changed.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    cookies: Vec<HeaderValue>,
    secure: bool,
    /// Whether anybody asked.
    touched: AtomicBool,
    state: Mutex<State>,
}

/// Why a session cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There would be more data than there may be; it was left as it was.
    #[error("a session has at most {limit} bytes of data")]
    TooLarge {
        /// The most there may be.
        limit: usize,
    },
}

impl Session {
    /// A value.
    pub async fn get(&self, name: &str) -> Result<Option<Value>, SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        Ok(state.get(name).cloned())
    }

    /// Sets a value. The session begins with its first.
    ///
    /// # Errors
    /// [`SessionError::TooLarge`].
    pub async fn set(&self, name: &str, value: impl Into<Value>) -> Result<(), SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        state.set(name, Some(value.into()), self.inner.shared.max_data)
    }

    /// Removes a value.
    pub async fn remove(&self, name: &str) -> Result<(), SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        state.set(name, None, self.inner.shared.max_data)
    }

    /// Everything in it, as a JSON object.
    pub async fn data(&self) -> Result<serde_json::Map<String, Value>, SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        Ok(state.data())
    }

    /// Who has logged in.
    pub async fn user(&self) -> Result<Option<String>, SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        Ok(state.user())
    }

    /// Notes who has logged in, and gives the session a new id.
    ///
    /// # Errors
    /// [`SessionError::TooLarge`].
    pub async fn log_in(&self, user: &str) -> Result<(), SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        state.log_in(user, self.inner.shared.max_data)
    }

    /// Gives the session a new id, as it should get whenever what its visitor may do changes. The old one is worth nothing
    /// from then on, for requests that are still on their way too.
    pub async fn renew(&self) -> Result<(), SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        state.renew();
        Ok(())
    }

    /// Ends the session, with all that is in it.
    pub async fn destroy(&self) -> Result<(), SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        state.destroy();
        Ok(())
    }

    /// What an application may know the session by: not the cookie, and another one after [`renew`](Self::renew). `None` for
    /// a visitor without a stored session.
    pub async fn id(&self) -> Result<Option<String>, SessionError> {
        let mut state = self.lock().await;
        state.load(&self.inner).await?;
        Ok(state.id())
    }

    /// Saves what was changed, and sets the cookie in the response. The layers do this. Does nothing, at no cost, when
    /// nobody asked for the session.
    ///
    /// # Cancellation
    /// The changes are saved or not.
    pub async fn save<B>(&self, response: &mut Response<B>) -> Result<(), SessionError> {
        if !self.is_touched() {
            return Ok(());
        }
        let mut state = self.lock().await;
        state.save(&self.inner, response.headers_mut()).await
    }

    /// Whether anybody asked for anything in it.
    pub(crate) fn is_touched(&self) -> bool {
        self.inner.touched.load(Ordering::Acquire)
    }

    /// Whether the request has a cookie that may be the session's.
    pub(crate) fn has_cookie(&self) -> bool {
        let inner = &self.inner;
        cookie::is_there(&inner.cookies, &inner.shared.cookie, inner.secure)
    }

    async fn lock(&self) -> thrum_rt::sync::MutexGuard<'_, State> {
        self.inner.touched.store(true, Ordering::Release);
        self.inner.state.lock().await
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}
