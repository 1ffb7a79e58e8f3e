//! Bytes from anywhere to anywhere: buffers, limits, copying.
//!
//! All of it works on whatever has the `futures-io` traits, such as the streams of [`net`](crate::net) and
//! [`pipe`](crate::pipe). [`BufReader`], [`BufWriter`] and the extension traits are those of
//! `futures-lite`. What reads up to an end that the other side chooses has a limit here: [`lines`], [`read_line`],
//! [`read_until`], [`read_to_end`].
//!
//! ```
//! use thrum_rt::io::{self, AsyncWriteExt, BufReader};
//!
//! # thrum_rt::block_on(async {
//! let (mut client, server) = io::duplex(1024);
//! let sender = thrum_rt::spawn(async move { client.write_all(b"one\ntwo\n").await });
//! let mut lines = io::lines(BufReader::new(server), 80);
//! assert_eq!(lines.next_line().await?.as_deref(), Some("one"));
//! assert_eq!(lines.next_line().await?.as_deref(), Some("two"));
//! assert_eq!(lines.next_line().await?, None);
//! # sender.await.unwrap()?;
//! # std::io::Result::Ok(())
//! # }).unwrap();
//! ```

mod by_reference;
mod copy;
mod duplex;
mod limit;
#[cfg(target_os = "linux")]
mod zero_copy;

pub use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result, SeekFrom};

pub use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
pub use futures_lite::io::{
    AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufWriter, Cursor, Empty, ReadHalf,
    Repeat, Sink, WriteHalf, empty, repeat, sink, split,
};

pub(crate) use self::by_reference::{async_read_by_reference, async_write_by_reference};
pub use self::copy::{copy, copy_bidirectional};
pub use self::duplex::{Duplex, duplex};
pub use self::limit::{Lines, lines, read_line, read_to_end, read_until};
#[cfg(target_os = "linux")]
pub use self::zero_copy::{SpliceFrom, SpliceTo, sendfile, splice};
