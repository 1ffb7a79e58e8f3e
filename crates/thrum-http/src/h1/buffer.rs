//! Buffers, which a connection holds only while it has something in them.

use std::cell::RefCell;

use bytes::{Bytes, BytesMut};

/// Buffers that a thread keeps for the next connection that needs one.
const KEPT: usize = 64;

/// An output buffer that grew beyond this is not kept.
const KEPT_OUTPUT: usize = 64 * 1024;

/// Bytes that are set aside for heads at a time. A request that takes long keeps those of its neighbours, so they are few.
const HEAD_BLOCK: usize = 2 * 1024;

thread_local! {
    static HEADS: RefCell<BytesMut> = RefCell::new(BytesMut::new());
    static INPUTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static OUTPUTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Copies a request's head to where it can stay while the connection reads on.
///
/// Heads follow each other in one block of a thread, which is used again once all of them are gone. So a head that is gone
/// soon costs a copy and no allocation.
pub(crate) fn keep_head(head: &[u8]) -> Bytes {
    // A block would be as large ever after.
    if head.len() > HEAD_BLOCK {
        return Bytes::copy_from_slice(head);
    }
    HEADS.with_borrow_mut(|heads| {
        if heads.capacity() - heads.len() < head.len() {
            heads.reserve(HEAD_BLOCK);
        }
        heads.extend_from_slice(head);
        heads.split().freeze()
    })
}

/// What was read and not used yet.
pub(crate) struct Input {
    /// Initialised memory of its full size, or none at all.
    memory: Vec<u8>,
    start: usize,
    end: usize,
    size: usize,
}

impl Input {
    /// An input that will have `size` bytes of memory when it needs any.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            memory: Vec::new(),
            start: 0,
            end: 0,
            size,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end);
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Free memory to read into. It is empty only if the input is full.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.memory.is_empty() {
            let kept = INPUTS.with_borrow_mut(Vec::pop);
            self.memory = kept
                .filter(|memory| memory.len() == self.size)
                .unwrap_or_else(|| vec![0; self.size]);
        }
        // Only what is left of a pipelined request is moved, and only when there is little room behind it.
        if self.start > 0 && self.memory.len() - self.end < self.memory.len() / 2 {
            self.memory.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.memory[self.end..]
    }

    /// Notes that so many bytes of the space were filled.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end += count;
    }

    /// Makes room where there is none, up to `most` bytes altogether. False: it has these.
    pub(crate) fn grow(&mut self, most: usize) -> bool {
        let before = self.memory.len();
        if before < most {
            self.memory.resize((before * 2).min(most), 0);
        }
        before < most
    }

    /// Gives the memory back, if there is nothing in it.
    pub(crate) fn release(&mut self) {
        if self.is_empty() && !self.memory.is_empty() {
            let memory = std::mem::take(&mut self.memory);
            if memory.len() == self.size {
                keep(&INPUTS, memory);
            }
        }
    }
}

/// What is to be written.
#[derive(Default)]
pub(crate) struct Output {
    memory: Vec<u8>,
    written: usize,
}

impl Output {
    /// To append to.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.memory.capacity() == 0 {
            self.memory = OUTPUTS
                .with_borrow_mut(Vec::pop)
                .unwrap_or_else(|| Vec::with_capacity(4096));
        }
        &mut self.memory
    }

    pub(crate) fn pending(&self) -> &[u8] {
        &self.memory[self.written..]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.written == self.memory.len()
    }

    /// Notes that so many bytes were written.
    pub(crate) fn wrote(&mut self, count: usize) {
        self.written += count;
        if self.is_empty() {
            self.memory.clear();
            self.written = 0;
        }
    }

    /// Gives the memory back, if there is nothing in it.
    pub(crate) fn release(&mut self) {
        if self.is_empty() && self.memory.capacity() > 0 {
            let memory = std::mem::take(&mut self.memory);
            self.written = 0;
            if memory.capacity() <= KEPT_OUTPUT {
                keep(&OUTPUTS, memory);
            }
        }
    }
}

fn keep(kept: &'static std::thread::LocalKey<RefCell<Vec<Vec<u8>>>>, memory: Vec<u8>) {
    kept.with_borrow_mut(|kept| {
        if kept.len() < KEPT {
            kept.push(memory);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_moved_to_make_room() {
        let mut input = Input::new(8);
        input.space().copy_from_slice(b"abcdefgh");
        input.filled(8);
        assert!(input.space().is_empty());
        input.consume(5);
        assert_eq!(input.space().len(), 5);
        assert_eq!(input.bytes(), b"fgh");
        input.consume(3);
        input.release();
        assert!(input.memory.is_empty());
        assert_eq!(input.space().len(), 8);
    }
}
