//! Buffers that are used again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// How many wait at most to be used again. A source that another task reads ahead has a few under way.
const SPARE: usize = 4;

/// Buffers of one size that come back when nobody holds a piece of them any more. So they are cleared, and their memory
/// is asked of the system, once and not for each read.
#[derive(Debug)]
pub(crate) struct Buffers {
    size: usize,
    spare: Spare,
}

type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

impl Buffers {
    /// Buffers of `size` bytes.
    pub(crate) fn new(size: usize) -> Self {
        Buffers {
            size,
            spare: Spare::default(),
        }
    }

    /// A buffer. What is in it is not told.
    pub(crate) fn take(&self) -> Vec<u8> {
        let spare = lock(&self.spare).pop();
        spare.unwrap_or_else(|| vec![0; self.size])
    }

    /// The first bytes of a buffer, which comes back when they are dropped.
    pub(crate) fn lend(&self, buffer: Vec<u8>, length: usize) -> Bytes {
        let lent = Lent {
            buffer,
            length,
            spare: self.spare.clone(),
        };
        // A few bytes that somebody keeps are not to keep much memory.
        if length < self.size / 8 {
            Bytes::copy_from_slice(lent.as_ref())
        } else {
            Bytes::from_owner(lent)
        }
    }
}

fn lock(spare: &Spare) -> MutexGuard<'_, Vec<Vec<u8>>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Lent {
    buffer: Vec<u8>,
    length: usize,
    spare: Spare,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut spare = lock(&self.spare);
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
        let buffers = Buffers::new(64);
        let mut buffer = buffers.take();
        buffer[..5].copy_from_slice(b"hello");
        let mut piece = buffers.lend(buffer, 64);
        let hello = piece.split_to(5);
        drop(piece);
        assert_eq!(buffers.take(), [0; 64], "a piece is held");
        assert_eq!(hello, "hello");
        drop(hello);
        assert!(buffers.take().starts_with(b"hello"));
    }

    #[test]
    fn few_bytes_do_not_keep_a_buffer() {
        let buffers = Buffers::new(64);
        let few = buffers.lend(vec![b'a'; 64], 7);
        assert_eq!(lock(&buffers.spare).len(), 1);
        assert_eq!(few, "aaaaaaa");
    }

    #[test]
    fn few_buffers_wait() {
        let buffers = Buffers::new(8);
        let pieces = Vec::from_iter((0..9).map(|_| buffers.lend(vec![0; 8], 8)));
        drop(pieces);
        assert_eq!(lock(&buffers.spare).len(), SPARE);
    }
}
