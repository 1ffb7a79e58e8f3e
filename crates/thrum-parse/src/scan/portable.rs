//! Any CPU.

use super::{Level, run_bytewise};
use crate::ByteSet;

/// No vector instructions: a table look-up a byte.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Level for Portable {
    #[inline(always)]
    fn run(self, set: &ByteSet, bytes: &[u8]) -> usize {
        // Four at a time, so that the loop is not bound by its own overhead.
        let mut done = 0;
        for four in bytes.chunks_exact(4) {
            let run = run_bytewise(set, four);
            done += run;
            if run < 4 {
                return done;
            }
        }
        done + run_bytewise(set, &bytes[done..])
    }
}
