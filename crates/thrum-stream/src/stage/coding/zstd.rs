//! Zstandard ([RFC 8878]), by its reference implementation.
//!
//! It is C and needs a compiler of that, as linking mostly does. `ruzstd`, which is Rust, decoded a log at 130 to 280 MB/s
//! where this did 360 to 590, has one level (0.9), and has not been given hostile bytes for as long.
//!
//! [RFC 8878]: https://www.rfc-editor.org/rfc/rfc8878

use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, ErrorCode, InBuffer, OutBuffer, ResetDirective,
};

use super::{Decoder, Encoder, Fault, Operation, Progress};

/// Makes one frame.
pub(crate) struct ZstdEncoder(CCtx<'static>);

impl ZstdEncoder {
    pub(crate) fn new(level: u32) -> Self {
        let mut context = CCtx::create();
        for parameter in [
            CParameter::CompressionLevel(level as i32),
            // As the command does.
            CParameter::ChecksumFlag(true),
        ] {
            let set = context.set_parameter(parameter);
            debug_assert!(set.is_ok(), "{parameter:?} is in its range");
        }
        ZstdEncoder(context)
    }
}

impl Encoder for ZstdEncoder {
    fn encode(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
    ) -> Result<Progress, Fault> {
        let directive = match operation {
            Operation::Run => ZSTD_EndDirective::ZSTD_e_continue,
            Operation::Flush => ZSTD_EndDirective::ZSTD_e_flush,
            Operation::Finish => ZSTD_EndDirective::ZSTD_e_end,
        };
        let mut input = InBuffer::around(input);
        let mut output = OutBuffer::around(output);
        let left = self.0.compress_stream2(&mut output, &mut input, directive);
        let (used, made) = (input.pos(), output.pos());
        match left {
            Ok(left) => {
                let end = operation != Operation::Run && left == 0;
                Ok(Progress { used, made, end })
            }
            Err(code) => Err(fault(used, code)),
        }
    }
}

/// Reads frames, those that are to be skipped too.
pub(crate) struct ZstdDecoder(DCtx<'static>);

impl ZstdDecoder {
    /// Frames with a window of at most 2^`window_log` bytes.
    pub(crate) fn new(window_log: u32) -> Self {
        let mut context = DCtx::create();
        let set = context.set_parameter(DParameter::WindowLogMax(window_log));
        debug_assert!(set.is_ok(), "{window_log} is in its range");
        ZstdDecoder(context)
    }
}

impl Decoder for ZstdDecoder {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Fault> {
        let mut input = InBuffer::around(input);
        let mut output = OutBuffer::around(output);
        let hint = self.0.decompress_stream(&mut output, &mut input);
        let (used, made) = (input.pos(), output.pos());
        match hint {
            Ok(hint) => Ok(Progress {
                used,
                made,
                end: hint == 0,
            }),
            Err(code) => Err(fault(used, code)),
        }
    }

    fn reset(&mut self) {
        // It cannot fail: it is only forgotten what has come so far.
        let _ = self.0.reset(ResetDirective::SessionOnly);
    }
}

fn fault(used: usize, code: ErrorCode) -> Fault {
    Fault {
        used,
        why: zstd_safe::get_error_name(code).to_lowercase(),
    }
}
