//! Buffers that are used again.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// How many wait at most to be used again. A source that another task reads ahead has a few under way.
const SPARE: usize = 4;

/// Buffers of one size that come back when nobody holds a piece of them any more. So they are cleared, and their memory
/// is asked of the system, once and not for each read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

impl Buffers {
    /// A buffer of `size` bytes, which is the same in all calls. What is in it is not told.
    pub(crate) fn take(&self, size: usize) -> Vec<u8> {
        let spare = self.lock().pop();
        spare.unwrap_or_else(|| vec![0; size])
    }

    /// The first bytes of a buffer, which comes back when they are dropped.
    pub(crate) fn lend(&self, buffer: Vec<u8>, length: usize) -> Bytes {
        let lent = Lent {
            length,
            buffer,
            home: self.clone(),
        };
        // A few bytes that somebody keeps are not to keep much memory.
        if length < lent.buffer.len() / 8 {
            Bytes::copy_from_slice(lent.as_ref())
        } else {
            Bytes::from_owner(lent)
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Lent {
    buffer: Vec<u8>,
    length: usize,
    home: Buffers,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut spare = self.home.lock();
        if spare.len() < SPARE {
            spare.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_with_its_last_piece() {
        let buffers = Buffers::default();
        let mut buffer = buffers.take(64);
        buffer[..5].copy_from_slice(b"hello");
        let mut piece = buffers.lend(buffer, 64);
        let hello = piece.split_to(5);
        drop(piece);
        assert_eq!(buffers.take(64), [0; 64], "a piece is held");
        assert_eq!(hello, "hello");
        drop(hello);
        assert!(buffers.take(64).starts_with(b"hello"));
    }

    #[test]
    fn few_bytes_do_not_keep_a_buffer() {
        let buffers = Buffers::default();
        let few = buffers.lend(vec![b'a'; 64], 7);
        assert_eq!(buffers.lock().len(), 1);
        assert_eq!(few, "aaaaaaa");
    }

    #[test]
    fn few_buffers_wait() {
        let buffers = Buffers::default();
        let pieces = Vec::from_iter((0..9).map(|_| buffers.lend(vec![0; 8], 8)));
        drop(pieces);
        assert_eq!(buffers.lock().len(), SPARE);
    }
}
