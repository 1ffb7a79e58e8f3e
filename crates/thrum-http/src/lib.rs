//! HTTP for the thrum runtime: strict where laxness is a hole, quiet under abuse.
//!
//! ```no_run
//! use thrum_http::{Request, Response, Body, service_fn};
//! use thrum_rt::net::TcpListener;
//!
//! thrum_rt::block_on(async {
//!     let listener = TcpListener::bind("127.0.0.1:8080").await?;
//!     thrum_http::serve(listener, service_fn(async |_request: Request<Body>| Response::new("Pong!\r\n"))).await
//! })
//! # .unwrap();
//! ```
//!
//! An application is a [`tower_service::Service`] from `Request<Body>` to a response whose body turns into a [`Body`]; it is
//! cloned for each connection. Handlers may compute or block: the runtime moves the other connections on.
//!
//! | module | what is in it |
//! |---|---|
//! | `server` | [`Server`]: accepting, counting, ending; limits; [`Application`]; what a handler can ask for |
//! | `h1`, `h2` | one connection that speaks HTTP/1.1, or HTTP/2 |
//! | [`client`] | [`Client`], [`get`]: requests, the connections that are kept for them |
//! | `message` | what requests and responses have in common |
//! | `body` | [`Body`], of requests and responses |
//! | `router` | methods and paths to handlers; plain functions as handlers (feature `router`) |
//! | `middleware` | layers: limits, auth, and those of tower-http (feature `middleware`) |
//! | [`sse`] | server-sent events |
//! | [`upgrade`] | a connection that is handed to another protocol |
//! | `websocket` | WebSocket (RFC 6455), with the feature of that name |
//! | [`tls`] | certificates, and the sessions of TLS connections |
//! | `wire` | a connection's bytes: a socket, TCP or Unix, or TLS over one |
#![forbid(unsafe_code)]

mod body;
pub mod client;
mod h1;
mod h2;
mod message;
#[cfg(feature = "middleware")]
pub mod middleware;
#[cfg(feature = "router")]
pub mod router;
mod server;
pub mod sse;
#[cfg(feature = "tls")]
pub mod tls;
pub mod upgrade;
#[cfg(feature = "websocket")]
pub mod websocket;
mod wire;

pub use http::header;
pub use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
};

pub use body::{Body, BodyError, BodySender};
pub use client::{Client, get};
pub use h1::http_date;
pub use h2::Http2Error;
pub use message::is_compressible_type;
pub use server::{
    Application, ConnectionInfo, Drained, Exchange, Http2Limits, Limits, Observer, Reject, Server,
    ServiceFn, Stats, Timeouts, connection, early_hints, note, serve, service_fn,
};
pub use wire::{Connection, Listener};
