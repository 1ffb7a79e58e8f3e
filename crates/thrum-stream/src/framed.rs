//! A connection as a stream of values one way and a sink of values the other way.

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_io::{AsyncRead, AsyncWrite};
use futures_sink::Sink as FuturesSink;
use thrum_parse::Parser;

use crate::stage::Parse;
use crate::{Cause, Error, Input, Result, Stage, Step, stage};

/// How much is read at a time, and how much is encoded before it is written.
const CHUNK: usize = 8 * 1024;

/// How values are written and read: a parser and an encoder.
///
/// ```
/// use thrum_parse::{Parser, byte, decimal};
/// use thrum_stream::Codec;
///
/// let numbers = Codec::new(
///     20,
///     (decimal::<u64>(), byte(b'\n')).map(|(number, _)| number),
///     |number: u64, out: &mut Vec<u8>| out.extend(format!("{number}\n").bytes()),
/// );
/// ```
#[derive(Debug)]
pub struct Codec<P, E> {
    parse: Parse<P>,
    encode: E,
}

impl<P, E> Codec<P, E> {
    /// Values of at most `limit` bytes, read by `parser` and written by `encode`, which puts the bytes of a value behind
    /// those that are there. A parser of more than numbers is best a function with a name: see
    /// [`stage::parse`](stage::parse()).
    pub fn new<T, U>(limit: usize, parser: P, encode: E) -> Self
    where
        P: for<'a> Parser<'a, Output = T>,
        E: FnMut(U, &mut Vec<u8>),
    {
        Codec {
            parse: stage::parse(limit, parser),
            encode,
        }
    }

    /// For values that all end with the byte `end`: see [`Resume::until`](thrum_parse::Resume::until).
    pub fn until(mut self, end: u8) -> Self {
        self.parse = self.parse.until(end);
        self
    }

    /// This codec on a connection.
    pub fn on<C, T, U>(self, connection: C) -> Framed<C, P, E, U>
    where
        P: for<'a> Parser<'a, Output = T>,
        E: FnMut(U, &mut Vec<u8>),
    {
        Framed {
            connection,
            parse: self.parse,
            input: Input::new(),
            buffer: BytesMut::new(),
            ended: false,
            encode: self.encode,
            output: Vec::new(),
            written: 0,
            sent: PhantomData,
        }
    }
}

/// A codec on a connection: a [`Stream`] of the values that come and a [`futures_sink::Sink`] for those that go; by
/// [`source::stream`](crate::source::stream()) and [`sink::futures`](crate::sink::futures()) it fits pipelines.
///
/// The stream ends with its first error.
///
/// Buffer: one value that comes, at most the codec's limit, and 8 KiB; 8 KiB and one value that goes.
///
/// ```
/// use futures_lite::StreamExt;
/// use thrum_parse::{Parser, byte, decimal};
/// use thrum_rt::io;
/// use thrum_stream::Codec;
///
/// # thrum_rt::block_on(async {
/// let numbers = || {
///     let parser = (decimal::<u64>(), byte(b'\n')).map(|(number, _)| number);
///     Codec::new(20, parser, |number: u64, out: &mut Vec<u8>| {
///         out.extend(format!("{number}\n").bytes());
///     })
/// };
/// let (near, far) = io::duplex(100);
/// let (mut near, mut far) = (numbers().on(near), numbers().on(far));
/// near.send(7).await?;
/// assert_eq!(far.next().await.transpose()?, Some(7));
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub struct Framed<C, P, E, U> {
    connection: C,
    parse: Parse<P>,
    input: Input<Bytes>,
    buffer: BytesMut,
    /// After an error too: nobody knows where the next value starts.
    ended: bool,
    encode: E,
    output: Vec<u8>,
    /// How much of `output` is written.
    written: usize,
    sent: PhantomData<fn(U)>,
}

impl<C, P, E, U> Framed<C, P, E, U> {
    /// The connection, and the bytes that came and are not part of a value yet. What was sent and not flushed is lost.
    pub fn into_parts<T>(mut self) -> (C, Vec<Bytes>)
    where
        P: for<'a> Parser<'a, Output = T> + Send,
        T: Send,
    {
        let mut rest = self.parse.rest();
        rest.extend(self.input.take());
        (self.connection, rest)
    }

    /// The connection.
    pub fn connection(&self) -> &C {
        &self.connection
    }
}

impl<C, P, E, U> Framed<C, P, E, U>
where
    C: AsyncWrite + Unpin,
    E: FnMut(U, &mut Vec<u8>) + Unpin,
    P: Unpin,
{
    /// Sends a value and all before it.
    ///
    /// Dropping the future before it is done leaves the value to be written by the next flush; if 8 KiB are left so, the
    /// value is dropped.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn send(&mut self, value: U) -> Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_ready(cx)).await?;
        (self.encode)(value, &mut self.output);
        poll_fn(|cx| Pin::new(&mut *self).poll_flush(cx)).await
    }

    /// Writes what was encoded.
    fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while self.written < self.output.len() {
            let rest = &self.output[self.written..];
            match ready!(Pin::new(&mut self.connection).poll_write(cx, rest)) {
                Ok(0) => return Poll::Ready(Err(failed(std::io::ErrorKind::WriteZero.into()))),
                Ok(count) => self.written += count,
                Err(error) => return Poll::Ready(Err(failed(error))),
            }
        }
        self.output.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<C, P, E, U, T> Framed<C, P, E, U>
where
    C: AsyncRead + Unpin,
    P: for<'a> Parser<'a, Output = T> + Send,
    T: Send,
{
    /// Reads until a value is whole.
    fn poll_value(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<T>>> {
        loop {
            match self.parse.step(&mut self.input)? {
                Step::Item(value) => return Poll::Ready(Ok(Some(value))),
                Step::Done => return Poll::Ready(Ok(None)),
                Step::Need => {}
            }
            if self.buffer.len() < CHUNK / 2 {
                self.buffer.resize(CHUNK, 0);
            }
            match ready!(Pin::new(&mut self.connection).poll_read(cx, &mut self.buffer)) {
                Ok(0) => self.input.end(),
                Ok(count) => self.input.give(self.buffer.split_to(count).freeze()),
                Err(error) => return Poll::Ready(Err(failed(error))),
            }
        }
    }
}

impl<C, P, E, U, T> Stream for Framed<C, P, E, U>
where
    C: AsyncRead + Unpin,
    P: for<'a> Parser<'a, Output = T> + Send + Unpin,
    E: Unpin,
    T: Send,
{
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        let next = ready!(this.poll_value(cx)).transpose();
        this.ended = !matches!(next, Some(Ok(_)));
        Poll::Ready(next)
    }
}

impl<C, P, E, U> FuturesSink<U> for Framed<C, P, E, U>
where
    C: AsyncWrite + Unpin,
    P: Unpin,
    E: FnMut(U, &mut Vec<u8>) + Unpin,
{
    type Error = Error;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        if this.output.len() < CHUNK {
            return Poll::Ready(Ok(()));
        }
        this.poll_written(cx)
    }

    fn start_send(self: Pin<&mut Self>, value: U) -> Result<()> {
        let this = self.get_mut();
        (this.encode)(value, &mut this.output);
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_written(cx))?;
        Pin::new(&mut this.connection)
            .poll_flush(cx)
            .map_err(failed)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_written(cx))?;
        Pin::new(&mut this.connection)
            .poll_close(cx)
            .map_err(failed)
    }
}

impl<C: fmt::Debug, P, E, U> fmt::Debug for Framed<C, P, E, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Framed")
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::new("framed", Cause::Io(error))
}
