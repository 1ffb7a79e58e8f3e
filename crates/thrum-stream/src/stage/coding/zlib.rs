//! gzip ([RFC 1952]), zlib ([RFC 1950]) and raw deflate ([RFC 1951]), by zlib-rs.
//!
//! [RFC 1950]: https://www.rfc-editor.org/rfc/rfc1950
//! [RFC 1951]: https://www.rfc-editor.org/rfc/rfc1951
//! [RFC 1952]: https://www.rfc-editor.org/rfc/rfc1952

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Decoder, Encoder, Fault, Operation, Progress};

/// 2^15 bytes, the largest window there is.
const WINDOW_BITS: u8 = 15;

/// So much of a stream may come before its first byte comes out. The names and comments in a gzip header have no length
/// of their own.
const HEADER_BYTES: u64 = 256 * 1024;

/// What is around the deflated data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapper {
    Gzip,
    Zlib,
    None,
}

/// Deflates.
pub(crate) struct Deflater(Compress);

impl Deflater {
    pub(crate) fn new(wrapper: Wrapper, level: u32) -> Self {
        let level = Compression::new(level);
        Deflater(match wrapper {
            Wrapper::Gzip => Compress::new_gzip(level, WINDOW_BITS),
            Wrapper::Zlib => Compress::new(level, true),
            Wrapper::None => Compress::new(level, false),
        })
    }
}

impl Encoder for Deflater {
    fn encode(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
    ) -> Result<Progress, Fault> {
        let flush = match operation {
            Operation::Run => FlushCompress::None,
            Operation::Flush => FlushCompress::Sync,
            Operation::Finish => FlushCompress::Finish,
        };
        let (used, made) = (self.0.total_in(), self.0.total_out());
        let status = self.0.compress(input, output, flush);
        let used = (self.0.total_in() - used) as usize;
        let made = (self.0.total_out() - made) as usize;
        let end = match status {
            Ok(Status::StreamEnd) => true,
            // All has come out if there was room for more.
            Ok(_) => operation == Operation::Flush && used == input.len() && made < output.len(),
            Err(error) => {
                let why = error.to_string();
                return Err(Fault { used, why });
            }
        };
        Ok(Progress { used, made, end })
    }
}

/// Inflates.
pub(crate) struct Inflater {
    inner: Decompress,
    wrapper: Wrapper,
}

impl Inflater {
    pub(crate) fn new(wrapper: Wrapper) -> Self {
        let inner = match wrapper {
            Wrapper::Gzip => Decompress::new_gzip(WINDOW_BITS),
            Wrapper::Zlib => Decompress::new(true),
            Wrapper::None => Decompress::new(false),
        };
        Inflater { inner, wrapper }
    }
}

impl Decoder for Inflater {
    fn decode(&mut self, mut input: &[u8], output: &mut [u8]) -> Result<Progress, Fault> {
        let (used, made) = (self.inner.total_in(), self.inner.total_out());
        if made == 0 {
            let left = HEADER_BYTES.saturating_sub(used) as usize;
            input = &input[..input.len().min(left)];
        }
        let flush = FlushDecompress::None;
        let status = self.inner.decompress(input, output, flush);
        let total = self.inner.total_in();
        let used = (total - used) as usize;
        let made = (self.inner.total_out() - made) as usize;
        let why = match status {
            Ok(status) => {
                let end = status == Status::StreamEnd;
                if end || total < HEADER_BYTES || self.inner.total_out() > 0 {
                    return Ok(Progress { used, made, end });
                }
                format!("no data in its first {HEADER_BYTES} bytes")
            }
            Err(error) if error.needs_dictionary().is_some() => "a dictionary is needed".into(),
            Err(error) => error.message().unwrap_or("not what it should be").into(),
        };
        Err(Fault { used, why })
    }

    fn reset(&mut self) {
        self.inner.reset(self.wrapper != Wrapper::None);
    }
}
