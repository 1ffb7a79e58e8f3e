//! A request's body on its way to a program.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use thrum_http::{Body, BodyError};

/// A body, and a piece of it that the program has not taken yet.
#[derive(Debug)]
pub(crate) struct Input {
    body: Body,
    piece: Bytes,
}

/// What there is to be taken.
pub(crate) enum Piece<'a> {
    /// So much. Take off the front what was passed on.
    Some(&'a mut Bytes),
    /// That was all.
    End,
}

impl Input {
    /// `ahead` goes before the rest of the body.
    pub(crate) fn new(ahead: Bytes, body: Body) -> Self {
        Self { body, piece: ahead }
    }

    /// What is to be passed on next; never an empty piece.
    pub(crate) fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Piece<'_>, BodyError>> {
        while self.piece.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => return Poll::Ready(Ok(Piece::End)),
                Some(Err(error)) => return Poll::Ready(Err(error)),
                Some(Ok(frame)) => self.piece = frame.into_data().unwrap_or_default(),
            }
        }
        Poll::Ready(Ok(Piece::Some(&mut self.piece)))
    }
}

/// Takes a body of unknown length in, up to a limit: the bytes, and whether they are all.
///
/// # Cancellation
/// Dropping the future loses what was taken in.
pub(crate) async fn collect(body: &mut Body, limit: u64) -> Result<(Bytes, bool), BodyError> {
    let mut all = BytesMut::new();
    while all.len() as u64 <= limit {
        match body.chunk().await {
            None => return Ok((all.freeze(), true)),
            Some(piece) => all.extend_from_slice(&piece?),
        }
    }
    Ok((all.freeze(), false))
}
