//! The first so many bytes.

use bytes::Bytes;

use super::pieces::put_back;
use crate::{Cause, Error, Input, Result, Stage, Step};

/// The first `count` bytes, or fewer if the input ends before, unless they are to be [exactly](TakeBytes::exactly) so many.
/// It is done as soon as it has them, without asking for more. Buffer: none.
pub const fn take_bytes(count: u64) -> TakeBytes {
    TakeBytes {
        left: count,
        exactly: false,
    }
}

/// See [`take_bytes`].
#[derive(Clone, Copy, Debug)]
pub struct TakeBytes {
    left: u64,
    exactly: bool,
}

impl TakeBytes {
    /// Has fewer bytes be an error: for a length that was promised, so that what was cut off does not pass for all.
    ///
    /// # Errors
    /// An input that ends before is [`Cause::Truncated`].
    ///
    /// ```
    /// use thrum_stream::{Source, sink, source, stage};
    ///
    /// # thrum_rt::block_on(async {
    /// let path = std::env::temp_dir().join("thrum-stream-take-bytes");
    /// let cut_off = source::reader(&b"some"[..]).pipe(stage::take_bytes(100).exactly());
    /// assert!(cut_off.run(sink::file_atomic(&path)).await.is_err());
    /// assert!(!path.exists());
    /// # });
    /// ```
    pub const fn exactly(mut self) -> Self {
        self.exactly = true;
        self
    }
}

impl Stage<Bytes> for TakeBytes {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        if self.left == 0 {
            return Ok(Step::Done);
        }
        let Some(mut piece) = input.take() else {
            if self.exactly && input.is_at_end() {
                let cause = Cause::Truncated("fewer bytes than there should be");
                return Err(Error::new("take_bytes", cause));
            }
            return Ok(input.starved());
        };
        let count = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(piece.len());
        let taken = piece.split_to(count);
        put_back(input, piece);
        self.left -= count as u64;
        Ok(Step::Item(taken))
    }
}
