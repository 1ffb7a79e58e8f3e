//! Compressed bytes made plain again, by one algorithm or another: all give the same stage, so a program can choose while
//! it runs.
//!
//! | function | reads | feature |
//! |---|---|---|
//! | [`auto`] | what it finds: gzip, Zstandard, or neither | any |
//! | `gzip` | RFC 1952, one member after the other | `gzip` |
//! | `zlib`, `deflate` | RFC 1950, RFC 1951 | `gzip` |
//! | `zstd` | RFC 8878, one frame after the other | `zstd` |
//! | `brotli` | RFC 7932 | `brotli` |
//!
//! A few bytes may stand for gigabytes. Each stage holds little, however many come out, and fails after
//! [1 GiB](Decompress::limit) unless told otherwise.
//!
//! # Errors
//! Of all of them: what is corrupt, or does not have its check sum, is [`Cause::Malformed`], with about the place in the
//! input at which that was seen; what ends too early is [`Cause::Truncated`]; more than the limit is
//! [`Cause::TooLong`]. Check sums come last, so what came out before such an error may be wrong: a sink is to keep it when
//! it is closed, and not when it is aborted.

use std::fmt;

use bytes::{Buf, Bytes};

use super::coding::{Decoder, Room};
use super::pieces::put_back;
use super::prefix::Prefix;
use crate::{Cause, Error, Input, Result, Stage, Step};

mod format;

use self::format::Format;

/// The most bytes that come out, unless told otherwise.
const LIMIT: u64 = 1 << 30;

/// 2^23 bytes: what RFC 9659 lets a server use, and as much as `zstd -19` does.
const WINDOW_LOG: u32 = 23;

/// gzip, Zstandard or plain bytes, whichever the first bytes say: for files that may or may not be compressed. The
/// other algorithms have nothing to be known by. A format whose feature is off is an error.
///
/// The limit holds for plain bytes too. Buffer: none for these, which pass as they are; else as `gzip` or `zstd`.
///
/// ```
/// use thrum_stream::stage::{self, decompress};
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let log = source::reader(&b"GET /\nGET /a\n"[..]);
/// let lines = log.pipe(decompress::auto()).pipe(stage::lines(8192));
/// assert_eq!(lines.run(sink::count()).await?, 2);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn auto() -> Decompress {
    Decompress::new(Mode::Unknown(Prefix::default()))
}

/// gzip members, one after the other as one stream. Zero bytes after a member are padding, as for gzip(1); anything else
/// that is no member is an error, where gzip(1) warns. Headers may have 256 KiB; their names and comments are skipped.
///
/// Buffer: 32 KiB of output and about 48 KiB for the algorithm.
#[cfg(feature = "gzip")]
pub fn gzip() -> Decompress {
    Decompress::new(Mode::Coded(&format::GZIP))
}

/// One zlib stream: HTTP's `deflate`. What follows its end is left over. Buffer: as [`gzip`].
#[cfg(feature = "gzip")]
pub fn zlib() -> Decompress {
    Decompress::new(Mode::Coded(&format::ZLIB))
}

/// Deflated data with nothing around it. What follows its end is left over. Buffer: as [`gzip`].
#[cfg(feature = "gzip")]
pub fn deflate() -> Decompress {
    Decompress::new(Mode::Coded(&format::DEFLATE))
}

/// Zstandard frames, one after the other as one stream; those that are to be skipped are. A dictionary is an error.
///
/// Buffer: 32 KiB of output and, for the algorithm, the window of the stream and some 300 KiB; see
/// [`Decompress::window_log`].
#[cfg(feature = "zstd")]
pub fn zstd() -> Decompress {
    Decompress::new(Mode::Coded(&format::ZSTD))
}

/// One Brotli stream. What follows its end is left over.
///
/// Buffer: 32 KiB of output and, for the algorithm, the window of the stream, at most 16 MiB, and some 100 KiB. The "large
/// windows" that are in no RFC are an error.
#[cfg(feature = "brotli")]
pub fn brotli() -> Decompress {
    Decompress::new(Mode::Coded(&format::BROTLI))
}

/// See [`decompress`](self).
pub struct Decompress {
    mode: Mode,
    limit: u64,
    single: bool,
    window_log: u32,
    /// Made with the first item: it may be large.
    decoder: Option<Box<dyn Decoder>>,
    room: Room,
    /// How many bytes were used, and how many came out.
    used: u64,
    made: u64,
    at: At,
}

/// What the input is.
enum Mode {
    /// To be found out.
    Unknown(Prefix),
    Plain,
    Coded(&'static Format),
}

/// Where in the input it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In a stream; before the first one too, for there has to be one.
    Within,
    /// In a stream, and all the room was filled: there may be more to come out.
    Full,
    /// After one stream, before the next, if there is one.
    Between,
    /// After the last one.
    End,
}

impl Decompress {
    fn new(mode: Mode) -> Self {
        Decompress {
            mode,
            limit: LIMIT,
            single: false,
            window_log: WINDOW_LOG,
            decoder: None,
            room: Room::default(),
            used: 0,
            made: 0,
            at: At::Within,
        }
    }

    /// At most so many bytes come out in all. Default: 1 GiB.
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Any number of bytes may come out: for input that is trusted, or a sink that has a limit of its own.
    pub fn unlimited(self) -> Self {
        self.limit(u64::MAX)
    }

    /// Only the first gzip member or Zstandard frame; what follows it is left over.
    pub fn single(mut self) -> Self {
        self.single = true;
        self
    }

    /// Zstandard frames may have a window of 2^`log` bytes, which is how much memory one takes: 10 to 31, and what is
    /// beyond is the nearest. Default: 23, which is 8 MiB; `zstd --ultra` and `--long` make up to 27 and 31.
    #[cfg(feature = "zstd")]
    pub fn window_log(mut self, log: u32) -> Self {
        self.window_log = log.clamp(10, 31);
        self
    }

    /// Finds out what the input is; false until enough of it has come.
    fn sniff(&mut self, input: &mut Input<Bytes>) -> Result<bool> {
        let Mode::Unknown(prefix) = &mut self.mode else {
            return Ok(true);
        };
        let Some(head) = prefix.gather(input, format::may_be) else {
            return Ok(false);
        };
        self.mode = match format::of(&head) {
            None => Mode::Plain,
            Some(Ok(format)) => Mode::Coded(format),
            Some(Err(name)) => {
                let why = format!("this is {name}, which this program was built without");
                return Err(Error::new("decompress::auto", Cause::Malformed(why)));
            }
        };
        put_back(input, head);
        Ok(true)
    }

    fn step_plain(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        let Some(piece) = input.take() else {
            return Ok(input.starved());
        };
        self.count(piece.len())?;
        Ok(Step::Item(piece))
    }

    fn step_coded(
        &mut self,
        format: &'static Format,
        input: &mut Input<Bytes>,
    ) -> Result<Step<Bytes>> {
        while self.at != At::End {
            let mut piece = match input.take() {
                Some(piece) => piece,
                None if self.at == At::Full => Bytes::new(),
                None if self.at == At::Within && input.is_at_end() => {
                    let cause = Cause::Truncated("the compressed data has no end");
                    return Err(Error::new(format.name, cause));
                }
                None => return Ok(input.starved()),
            };
            if self.at == At::Between {
                let padding = if format.padded { zeros(&piece) } else { 0 };
                self.advance(&mut piece, padding);
            }
            if piece.is_empty() && self.at != At::Full {
                continue;
            }
            let made = self.decode(format, &mut piece)?;
            put_back(input, piece);
            if made > 0 {
                return Ok(Step::Item(self.room.take(made)));
            }
        }
        Ok(Step::Done)
    }

    /// Decodes some of a piece into the room; how much came out.
    fn decode(&mut self, format: &'static Format, piece: &mut Bytes) -> Result<usize> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            none => none.insert((format.decoder)(self.window_log)),
        };
        if self.at == At::Between {
            decoder.reset();
        }
        let room = self.room.get();
        let progress = decoder.decode(piece, room).map_err(|fault| {
            let about = self.used + fault.used as u64;
            let why = format!("at about byte {about}: {}", fault.why);
            Error::new(format.name, Cause::Malformed(why))
        })?;
        self.at = match progress.end {
            true if self.single || !format.many => At::End,
            true => At::Between,
            false if progress.made == room.len() => At::Full,
            false => At::Within,
        };
        let stuck = progress.used == 0 && progress.made == 0 && !progress.end;
        if stuck && !piece.is_empty() {
            let why = format!("at byte {}: the decoder is stuck", self.used);
            return Err(Error::new(format.name, Cause::Malformed(why)));
        }
        self.advance(piece, progress.used);
        self.count(progress.made)?;
        Ok(progress.made)
    }

    fn advance(&mut self, piece: &mut Bytes, used: usize) {
        piece.advance(used);
        self.used += used as u64;
    }

    /// Counts what comes out.
    fn count(&mut self, made: usize) -> Result<()> {
        self.made += made as u64;
        if self.made <= self.limit {
            return Ok(());
        }
        let (limit, unit) = (self.limit, "bytes");
        Err(Error::new(self.mode.name(), Cause::TooLong { limit, unit }))
    }
}

impl Stage<Bytes> for Decompress {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        if !self.sniff(input)? {
            return Ok(Step::Need);
        }
        match self.mode {
            Mode::Coded(format) => self.step_coded(format, input),
            _ => self.step_plain(input),
        }
    }

    fn rest(&mut self) -> Vec<Bytes> {
        match &mut self.mode {
            Mode::Unknown(prefix) => prefix.rest(),
            _ => Vec::new(),
        }
    }
}

impl Mode {
    fn name(&self) -> &'static str {
        match self {
            Mode::Unknown(_) | Mode::Plain => "decompress::auto",
            Mode::Coded(format) => format.name,
        }
    }
}

/// How many zeros it starts with.
fn zeros(piece: &[u8]) -> usize {
    piece
        .iter()
        .position(|&byte| byte != 0)
        .unwrap_or(piece.len())
}

impl fmt::Debug for Decompress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.mode.name())
            .field("limit", &self.limit)
            .field("single", &self.single)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
