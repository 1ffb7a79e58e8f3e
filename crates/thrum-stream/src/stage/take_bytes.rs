//! The first so many bytes.

use bytes::Bytes;

use super::split::put_back;
use crate::{Input, Result, Stage, Step};

/// The first `count` bytes, or fewer if the input ends before. It is done as soon as it has them, without asking for more.
/// Buffer: none.
pub const fn take_bytes(count: u64) -> TakeBytes {
    TakeBytes(count)
}

/// See [`take_bytes`].
#[derive(Clone, Copy, Debug)]
pub struct TakeBytes(u64);

impl Stage<Bytes> for TakeBytes {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        if self.0 == 0 {
            return Ok(Step::Done);
        }
        let Some(mut piece) = input.take() else {
            return Ok(input.starved());
        };
        let count = usize::try_from(self.0)
            .unwrap_or(usize::MAX)
            .min(piece.len());
        let taken = piece.split_to(count);
        put_back(input, piece);
        self.0 -= count as u64;
        Ok(Step::Item(taken))
    }
}
