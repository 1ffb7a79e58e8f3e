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
//! | `body` | [`Body`], of requests and responses |
//! | [`upgrade`] | a connection that is handed to another protocol |
//! | `wire` | a connection's bytes: a socket, TCP or Unix |
#![forbid(unsafe_code)]

mod body;
mod h1;
mod h2;
mod server;
pub mod upgrade;
mod wire;

pub use http::header;
pub use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
};

pub use body::{Body, BodyError};
pub use h1::http_date;
pub use h2::Http2Error;
pub use server::{
    Application, ConnectionInfo, Drained, Exchange, Http2Limits, Limits, Observer, Reject, Server,
    ServiceFn, Stats, Timeouts, connection, early_hints, serve, service_fn,
};
pub use wire::Listener;
