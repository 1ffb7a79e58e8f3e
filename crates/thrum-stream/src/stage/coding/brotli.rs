//! Brotli ([RFC 7932]), by the crate of that name.
//!
//! [RFC 7932]: https://www.rfc-editor.org/rfc/rfc7932

use brotli::enc::StandardAlloc;
use brotli::enc::encode::{
    BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct,
};
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};

use super::{Decoder, Encoder, Fault, Operation, Progress};

/// The window of what is encoded: 512 KiB. With the 4 MiB that the command uses, an encoder takes 35 MiB instead of 6, for a
/// log that is 1.5 % smaller.
const WINDOW_BITS: u32 = 19;

/// Makes one stream.
pub(crate) struct BrotliEncoder(BrotliEncoderStateStruct<StandardAlloc>);

impl BrotliEncoder {
    pub(crate) fn new(level: u32) -> Self {
        let mut state = BrotliEncoderStateStruct::new(StandardAlloc::default());
        state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_QUALITY, level);
        state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_LGWIN, WINDOW_BITS);
        BrotliEncoder(state)
    }
}

impl Encoder for BrotliEncoder {
    fn encode(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
    ) -> Result<Progress, Fault> {
        let native = match operation {
            Operation::Run => BrotliEncoderOperation::BROTLI_OPERATION_PROCESS,
            Operation::Flush => BrotliEncoderOperation::BROTLI_OPERATION_FLUSH,
            Operation::Finish => BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
        };
        let (mut used, mut input_left) = (0, input.len());
        let (mut made, mut room_left) = (0, output.len());
        let done = self.0.compress_stream(
            native,
            &mut input_left,
            input,
            &mut used,
            &mut room_left,
            output,
            &mut made,
            &mut None,
            &mut |_, _, _, _| (),
        );
        if !done {
            let why = "the encoder failed".into();
            return Err(Fault { used, why });
        }
        let end = match operation {
            Operation::Run => false,
            Operation::Flush => input_left == 0 && !self.0.has_more_output(),
            Operation::Finish => self.0.is_finished(),
        };
        Ok(Progress { used, made, end })
    }
}

/// Reads one stream.
pub(crate) struct BrotliDecoder(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>);

impl BrotliDecoder {
    pub(crate) fn new() -> Self {
        let alloc = StandardAlloc::default;
        // The large windows, which no RFC has, could ask for 1 GiB.
        let state = BrotliState::new_strict(alloc(), alloc(), alloc());
        BrotliDecoder(Box::new(state))
    }
}

impl Decoder for BrotliDecoder {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Fault> {
        let (mut used, mut input_left) = (0, input.len());
        let (mut made, mut room_left) = (0, output.len());
        let result = BrotliDecompressStream(
            &mut input_left,
            &mut used,
            input,
            &mut room_left,
            &mut made,
            output,
            &mut 0,
            &mut self.0,
        );
        let end = match result {
            BrotliResult::ResultSuccess => true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => false,
            BrotliResult::ResultFailure => {
                let why = format!("{:?}", self.0.error_code);
                return Err(Fault { used, why });
            }
        };
        Ok(Progress { used, made, end })
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}
