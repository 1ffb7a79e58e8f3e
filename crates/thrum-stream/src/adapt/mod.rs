//! To and from the traits of `futures`, so that other people's parts fit.
//!
//! | from | to | by |
//! |---|---|---|
//! | [`futures_core::Stream`] | [`Source`](crate::Source) | [`source::stream`](crate::source::stream()) |
//! | [`Source`](crate::Source) | [`futures_core::Stream`] | [`Source::into_stream`](crate::Source::into_stream) |
//! | [`futures_sink::Sink`] | [`Sink`](crate::Sink) | [`sink::futures`](crate::sink::futures()) |
//! | [`Sink`](crate::Sink) | [`futures_sink::Sink`] | [`Sink::into_futures`](crate::Sink::into_futures) |
//! | [`futures_io::AsyncRead`] | [`Source`](crate::Source) of bytes | [`source::reader`](crate::source::reader()) |
//! | [`Source`](crate::Source) of bytes | [`futures_io::AsyncRead`] | [`Source::into_reader`](crate::Source::into_reader) |
//! | [`futures_io::AsyncWrite`] | [`Sink`](crate::Sink) of bytes | [`sink::writer`](crate::sink::writer()) |

mod from_sink;
mod from_stream;
mod into_reader;
mod into_sink;
mod into_stream;

pub use self::from_sink::{FromSink, futures};
pub use self::from_stream::{FromStream, stream};
pub use self::into_reader::IntoReader;
pub use self::into_sink::IntoSink;
pub(crate) use self::into_stream::into_stream;
