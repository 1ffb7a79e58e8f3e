//! What stages of bytes do with what is left of a piece.

use bytes::{Bytes, BytesMut};

use crate::Input;

/// Puts back what is left of a piece, if anything is.
pub(super) fn put_back(input: &mut Input<Bytes>, piece: Bytes) {
    if !piece.is_empty() {
        input.put_back(piece);
    }
}

/// What a stage keeps for later, for its [`rest`](crate::Stage::rest): none if that is no byte.
pub(super) fn kept(start: &mut BytesMut) -> Vec<Bytes> {
    let start = start.split().freeze();
    Vec::from_iter(Some(start).filter(|start| !start.is_empty()))
}
