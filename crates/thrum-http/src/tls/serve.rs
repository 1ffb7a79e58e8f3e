//! A server's connection over TLS, from its handshake on.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use thrum_rt::time::timeout;

use super::acceptor::CHALLENGE;
use super::{Acceptor, HandshakeFailure};
use crate::server::{Context, Counters, Open};
use crate::wire::{Wire, would_block};
use crate::{Application, h1, h2};

/// The answer to plain HTTP.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 64\r\nconnection: close\r\n\r\nThis port speaks HTTPS, and a plain HTTP request was sent to it.";

/// Does the handshake, and serves the protocol that was agreed on.
pub(crate) async fn serve<A: Application>(
    acceptor: Arc<Acceptor>,
    open: Open,
    wire: Wire,
    context: Arc<Context>,
    application: A,
) {
    // Boxed, so that what it needs is given back before the connection is served.
    let Some(wire) = Box::pin(handshake(&acceptor, &open, wire, &context)).await else {
        return;
    };
    drop(acceptor);
    match wire.tls().and_then(|tls| tls.protocol()) {
        Some(b"h2") => Box::pin(h2::serve(open, wire, Bytes::new(), context, application)).await,
        // The handshake was the answer.
        Some(CHALLENGE) => {}
        _ => h1::serve(open, wire, context, application).await,
    }
}

async fn handshake(
    acceptor: &Acceptor,
    open: &Open,
    wire: Wire,
    context: &Context,
) -> Option<Wire> {
    let timeouts = &context.timeouts;
    let accepted = timeout(
        timeouts.handshake,
        acceptor.accept(wire, || open.last_call() == Some(Duration::ZERO)),
    );
    let failure = match accepted.await {
        Ok(Ok(wire)) => {
            Counters::count(&open.counters().handshakes);
            return Some(wire);
        }
        Ok(Err((wire, failure, error))) => {
            tracing::debug!(%failure, %error, peer = ?open.peer, "a TLS handshake failed");
            if failure == HandshakeFailure::PlainHttp {
                let _ = timeout(timeouts.linger, answer_plain(wire)).await;
            }
            failure
        }
        Err(_) => HandshakeFailure::Timeout,
    };
    open.counters().handshake_failed(failure);
    None
}

/// Answers and reads on until the client closes, so that the answer is not lost.
async fn answer_plain(mut wire: Wire) -> std::io::Result<()> {
    wire.try_write(PLAIN)?;
    wire.end()?;
    let mut ignored = [0; 1024];
    loop {
        std::future::poll_fn(|cx| wire.poll_readable(cx)).await?;
        match wire.try_read(&mut ignored) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if would_block(&error) => {}
            Err(error) => return Err(error),
        }
    }
}
