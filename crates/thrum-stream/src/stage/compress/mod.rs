//! Bytes compressed, by one algorithm or another: all give the same stage, so a program can choose while it runs.
//!
//! | function | makes | feature | levels, default |
//! |---|---|---|---|
//! | `gzip`, `zlib`, `deflate` | RFC 1952, RFC 1950, RFC 1951 | `gzip` | 0 to 9, 6 |
//! | `zstd` | RFC 8878 | `zstd` | 1 to 19, 3 |
//! | `brotli` | RFC 7932 | `brotli` | 0 to 11, 5 |

use std::fmt;
use std::ops::RangeInclusive;

use bytes::{Buf, Bytes};

#[cfg(feature = "brotli")]
use super::coding::brotli::BrotliEncoder;
#[cfg(feature = "gzip")]
use super::coding::zlib::{Deflater, Wrapper};
#[cfg(feature = "zstd")]
use super::coding::zstd::ZstdEncoder;
use super::coding::{Encoder, Operation, Room};
use crate::{Cause, Error, Input, Result, Stage, Step};

/// One gzip member, without a name or a time.
///
/// Buffer: 32 KiB of output and about 400 KiB for the algorithm.
///
/// ```
/// use thrum_stream::stage::{compress, decompress};
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let plain = source::reader(&[b'a'; 1000][..]);
/// let packed = plain.pipe(compress::gzip().level(9)).run(sink::concat(100)).await?;
/// let again = source::reader(&packed[..]).pipe(decompress::gzip());
/// assert_eq!(again.run(sink::concat(1000)).await?, [b'a'; 1000]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
#[cfg(feature = "gzip")]
pub fn gzip() -> Compress {
    let make = |level| Box::new(Deflater::new(Wrapper::Gzip, level)) as _;
    Compress::new("compress::gzip", 0..=9, 6, make)
}

/// One zlib stream: HTTP's `deflate`. Buffer: as [`gzip`].
#[cfg(feature = "gzip")]
pub fn zlib() -> Compress {
    let make = |level| Box::new(Deflater::new(Wrapper::Zlib, level)) as _;
    Compress::new("compress::zlib", 0..=9, 6, make)
}

/// Deflated data with nothing around it, so without a check sum. Buffer: as [`gzip`].
#[cfg(feature = "gzip")]
pub fn deflate() -> Compress {
    let make = |level| Box::new(Deflater::new(Wrapper::None, level)) as _;
    Compress::new("compress::deflate", 0..=9, 6, make)
}

/// One Zstandard frame with a check sum.
///
/// Buffer: 32 KiB of output and, for the algorithm, about 4 MiB at level 3 and 90 MiB at level 19. The window is never
/// more than 8 MiB, which every decoder takes.
#[cfg(feature = "zstd")]
pub fn zstd() -> Compress {
    let make = |level| Box::new(ZstdEncoder::new(level)) as _;
    Compress::new("compress::zstd", 1..=19, 3, make)
}

/// One Brotli stream with a window of 512 KiB.
///
/// Buffer: 32 KiB of output and, for the algorithm, about 6 MiB at level 5 and 30 MiB at level 11.
#[cfg(feature = "brotli")]
pub fn brotli() -> Compress {
    let make = |level| Box::new(BrotliEncoder::new(level)) as _;
    Compress::new("compress::brotli", 0..=11, 5, make)
}

/// See [`compress`](self). Which bytes it makes may depend on how what comes is cut; what they stand for does not.
pub struct Compress {
    name: &'static str,
    levels: RangeInclusive<u32>,
    level: u32,
    flush_each: bool,
    make: fn(u32) -> Box<dyn Encoder>,
    /// Made with the first item: it may be large.
    encoder: Option<Box<dyn Encoder>>,
    room: Room,
    /// Some of what was flushed has still to come out.
    flushing: bool,
    finished: bool,
}

impl Compress {
    fn new(
        name: &'static str,
        levels: RangeInclusive<u32>,
        level: u32,
        make: fn(u32) -> Box<dyn Encoder>,
    ) -> Self {
        Compress {
            name,
            levels,
            level,
            flush_each: false,
            make,
            encoder: None,
            room: Room::default(),
            flushing: false,
            finished: false,
        }
    }

    /// How hard it tries; see the [table](self). What is beyond the last level is the last, and likewise for the first.
    pub fn level(mut self, level: u32) -> Self {
        self.level = level.clamp(*self.levels.start(), *self.levels.end());
        self
    }

    /// All that comes of a piece comes out before the next one is asked for, so that the other side can decode it: for
    /// events, logs that are followed, and talks. It costs some bytes for each piece, and small pieces compress badly.
    pub fn flush_each(mut self) -> Self {
        self.flush_each = true;
        self
    }
}

impl Stage<Bytes> for Compress {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        loop {
            let piece = input.take().filter(|piece| !piece.is_empty());
            let (mut piece, operation) = match piece {
                Some(piece) if self.flush_each => (piece, Operation::Flush),
                Some(piece) => (piece, Operation::Run),
                None if self.flushing => (Bytes::new(), Operation::Flush),
                None if self.finished || !input.is_at_end() => return Ok(input.starved()),
                None => (Bytes::new(), Operation::Finish),
            };
            let encoder = self.encoder.get_or_insert_with(|| (self.make)(self.level));
            let encoded = encoder.encode(&piece, self.room.get(), operation);
            let progress =
                encoded.map_err(|fault| Error::new(self.name, Cause::Other(fault.why.into())))?;
            piece.advance(progress.used);
            if !piece.is_empty() {
                input.put_back(piece);
            }
            self.flushing = operation == Operation::Flush && !progress.end;
            self.finished = operation == Operation::Finish && progress.end;
            if progress.made > 0 {
                return Ok(Step::Item(self.room.take(progress.made)));
            }
        }
    }
}

impl fmt::Debug for Compress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name)
            .field("level", &self.level)
            .field("flush_each", &self.flush_each)
            .finish_non_exhaustive()
    }
}
