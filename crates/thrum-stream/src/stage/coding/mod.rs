//! The algorithms behind [`compress`](super::compress) and [`decompress`](super::decompress), each a thin layer over the
//! crate that has it.

use bytes::{Bytes, BytesMut};

#[cfg(feature = "brotli")]
pub(super) mod brotli;
#[cfg(feature = "gzip")]
pub(super) mod zlib;
#[cfg(feature = "zstd")]
pub(super) mod zstd;

/// How much room there is for what comes out at a time.
const CHUNK: usize = 32 * 1024;

/// Makes one compressed stream.
pub(super) trait Encoder: Send {
    /// Uses some of the input and fills some of the output. It is given the same operation, and what it has not used,
    /// until it says that it has reached the end of it; it may not say so for [`Operation::Run`].
    fn encode(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
    ) -> Result<Progress, Fault>;
}

/// How far an encoder goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// It may keep what makes better blocks.
    Run,
    /// What it was given is to come out.
    Flush,
    /// The stream ends.
    Finish,
}

/// Reads one compressed stream after the other.
pub(super) trait Decoder: Send {
    /// Uses some of the input and fills some of the output: all of one of the two, unless the stream has reached its end.
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Fault>;

    /// Starts again with the next stream.
    fn reset(&mut self);
}

/// What was done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Bytes of the input.
    pub(super) used: usize,
    /// Bytes of the output.
    pub(super) made: usize,
    /// Whether all has come out up to a flush, or to the end of the stream.
    pub(super) end: bool,
}

/// What is wrong.
#[derive(Debug)]
pub(super) struct Fault {
    /// Bytes of the input that were right, as far as is known.
    pub(super) used: usize,
    pub(super) why: String,
}

/// Room for what comes out. What is there is split off its front, so that only as much is cleared as is used.
#[derive(Debug, Default)]
pub(super) struct Room(BytesMut);

impl Room {
    /// At least an eighth of [`CHUNK`], at most all of it: little room would make little pieces.
    pub(super) fn get(&mut self) -> &mut [u8] {
        if self.0.len() < CHUNK / 8 {
            // Shorter first, or these would be copied.
            self.0.clear();
            self.0.resize(CHUNK, 0);
        }
        &mut self.0
    }

    /// The first bytes of it.
    pub(super) fn take(&mut self, count: usize) -> Bytes {
        self.0.split_to(count).freeze()
    }
}
