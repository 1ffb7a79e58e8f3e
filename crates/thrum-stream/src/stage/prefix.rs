//! The first bytes of a stream, for stages that have to look at them before they can start.

use bytes::{Bytes, BytesMut};

use super::pieces::kept;
use crate::Input;

/// The first bytes, for as long as too few of them have come.
#[derive(Debug, Default)]
pub(super) struct Prefix(BytesMut);

impl Prefix {
    /// All that has come, in one piece, once `undecided` says no to it or the input has ended; `None` until then.
    /// It has to be undecided about nothing.
    pub(super) fn gather(
        &mut self,
        input: &mut Input<Bytes>,
        undecided: impl Fn(&[u8]) -> bool,
    ) -> Option<Bytes> {
        while let Some(mut piece) = input.take() {
            if !self.0.is_empty() {
                self.0.extend_from_slice(&piece);
                piece = self.0.split().freeze();
            }
            if !undecided(&piece) {
                return Some(piece);
            }
            self.0.extend_from_slice(&piece);
        }
        input.is_at_end().then(|| self.0.split().freeze())
    }

    /// What was gathered and not given.
    pub(super) fn rest(&mut self) -> Vec<Bytes> {
        kept(&mut self.0)
    }
}
