//! Bytes of text, in any encoding.

use bytes::Bytes;
use bytestring::ByteString;
use encoding_rs::{Encoder, EncoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::{Cause, Error, Input, Result, Stage, Step};

/// The most bytes that are made at a time.
const CHUNK: usize = 32 * 1024;

/// The bytes that stand for text in this encoding; the other way from [`decode`](super::decode()). A byte order mark is
/// written where the text has one.
///
/// UTF-8 passes without a copy, as does ASCII in most encodings. Buffer: 32 KiB.
///
/// ```
/// use bytestring::ByteString;
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let text = source::iter([ByteString::from("日本")]);
/// let bytes = text.pipe(stage::encode(encoding_rs::SHIFT_JIS)).run(sink::concat(9)).await?;
/// assert_eq!(bytes, b"\x93\xfa\x96\x7b");
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// A character that the encoding does not have is [`Cause::Malformed`], unless it is [lossy](Encode::lossy).
pub fn encode(encoding: &'static Encoding) -> Encode {
    let how = match encoding {
        utf16 if utf16 == UTF_16LE => How::Utf16(u16::to_le_bytes),
        utf16 if utf16 == UTF_16BE => How::Utf16(u16::to_be_bytes),
        other if other.output_encoding() == UTF_8 => How::AsItIs,
        other => How::Encoder(other.new_encoder()),
    };
    Encode {
        encoding,
        how,
        lossy: false,
        finished: false,
    }
}

/// See [`encode`].
#[derive(Debug)]
pub struct Encode {
    encoding: &'static Encoding,
    how: How,
    lossy: bool,
    finished: bool,
}

#[derive(Debug)]
enum How {
    AsItIs,
    /// The standard decodes UTF-16 only.
    Utf16(fn(u16) -> [u8; 2]),
    Encoder(Encoder),
}

impl Encode {
    /// `?` in place of characters that the encoding does not have.
    pub fn lossy(mut self) -> Self {
        self.lossy = true;
        self
    }

    /// Encodes the start of a text, or the end of the input: the bytes, and how much of the text they stand for.
    fn encode(&mut self, text: &str, last: bool) -> Result<(Vec<u8>, usize)> {
        let mut bytes = Vec::with_capacity(CHUNK.min(4 * text.len() + 16));
        let encoder = match &mut self.how {
            How::AsItIs => return Ok((text.into(), text.len())),
            How::Utf16(unit) => {
                // What has n bytes in UTF-8 has at most 2 n here.
                let mut end = text.len().min(CHUNK / 2);
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                bytes.extend(text[..end].encode_utf16().flat_map(*unit));
                return Ok((bytes, end));
            }
            How::Encoder(encoder) => encoder,
        };
        let mut read = 0;
        loop {
            let (result, more) = encoder.encode_from_utf8_to_vec_without_replacement(
                &text[read..],
                &mut bytes,
                last,
            );
            read += more;
            match result {
                EncoderResult::InputEmpty | EncoderResult::OutputFull => return Ok((bytes, read)),
                EncoderResult::Unmappable(_) if self.lossy => {
                    // By the encoder, which may have to leave another character set first.
                    bytes.reserve(16);
                    let _ =
                        encoder.encode_from_utf8_to_vec_without_replacement("?", &mut bytes, false);
                    // Room grows by this only, and is to end some time.
                    if bytes.len() >= CHUNK {
                        return Ok((bytes, read));
                    }
                }
                EncoderResult::Unmappable(other) => {
                    let why = format!("{other:?} is not in {}", self.encoding.name());
                    return Err(Error::new("encode", Cause::Malformed(why)));
                }
            }
        }
    }
}

impl Stage<ByteString> for Encode {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<ByteString>) -> Result<Step<Bytes>> {
        loop {
            let Some(text) = input.take() else {
                if self.finished || !input.is_at_end() {
                    return Ok(input.starved());
                }
                // ISO-2022-JP ends in ASCII, wherever it is.
                self.finished = true;
                let (bytes, _) = match self.how {
                    How::Encoder(_) => self.encode("", true)?,
                    _ => Default::default(),
                };
                if bytes.is_empty() {
                    continue;
                }
                return Ok(Step::Item(bytes.into()));
            };
            if text.is_empty() {
                continue;
            }
            let same = match self.how {
                How::AsItIs => true,
                How::Utf16(_) => false,
                How::Encoder(_) => self.encoding.is_ascii_compatible() && text.is_ascii(),
            };
            if same {
                return Ok(Step::Item(text.into_bytes()));
            }
            let (bytes, read) = self.encode(&text, false)?;
            if read < text.len() {
                input.put_back(text.split_at(read).1);
            }
            if !bytes.is_empty() {
                return Ok(Step::Item(bytes.into()));
            }
        }
    }
}
