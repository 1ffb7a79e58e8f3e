//! Text of bytes in any encoding.

use bytes::{Buf, Bytes};
use bytestring::ByteString;
use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, ISO_2022_JP, UTF_8};

use super::pieces::put_back;
use super::prefix::Prefix;
use crate::{Cause, Error, Input, Result, Stage, Step};

/// The most bytes of text that are made at a time.
const CHUNK: usize = 32 * 1024;

/// Less text than this is rather copied than passed in a piece of its own.
const PASS: usize = 1024;

/// The text that bytes in this encoding stand for, by the [Encoding Standard]. Encodings come from `encoding_rs`, by name
/// or by [label](Encoding::for_label). Characters that are cut over two pieces are joined.
///
/// Pieces that are UTF-8 already, as ASCII is in most encodings, pass without a copy. They come as [`ByteString`]: `str`s
/// on top of [`Bytes`], so that parts of them are no copies either.
///
/// For lines of text there is [`text_lines`](super::text_lines).
///
/// Buffer: 32 KiB of text, and a character that is cut.
///
/// ```
/// use encoding_rs::Encoding;
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let latin1 = Encoding::for_label(b"iso-8859-1").expect("a label of the standard");
/// let text = source::reader(&b"caf\xe9"[..]).pipe(stage::decode(latin1));
/// assert_eq!(text.run(sink::collect(9)).await?.concat(), "café");
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// Bytes that stand for nothing are [`Cause::Malformed`], with the offset of the first of them, unless it is
/// [lossy](Decode::lossy); an end within a character is [`Cause::Truncated`].
///
/// [Encoding Standard]: https://encoding.spec.whatwg.org/
pub fn decode(encoding: &'static Encoding) -> Decode {
    Decode {
        encoding,
        bom: Bom::Detect,
        lossy: false,
        prefix: Prefix::default(),
        decoder: None,
        used: 0,
        finished: false,
    }
}

/// See [`decode`].
#[derive(Debug)]
pub struct Decode {
    encoding: &'static Encoding,
    bom: Bom,
    lossy: bool,
    prefix: Prefix,
    /// None until the byte order mark has been looked for.
    decoder: Option<Decoder>,
    /// How many bytes were used.
    used: u64,
    finished: bool,
}

/// What is to be done with a byte order mark, U+FEFF at the very start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bom {
    /// It says which of UTF-8, UTF-16LE and UTF-16BE the encoding is, whatever else was said, and is no part of the text:
    /// what the standard has for files and pages from elsewhere. The default.
    #[default]
    Detect,
    /// That of the given encoding is no part of the text. Another's is not looked for.
    Strip,
    /// It is part of the text: for what is not the start of it.
    Keep,
}

impl Decode {
    /// What is to be done with a byte order mark. Default: [`Bom::Detect`].
    pub fn bom(mut self, bom: Bom) -> Self {
        self.bom = bom;
        self
    }

    /// U+FFFD in place of bytes that stand for nothing.
    pub fn lossy(mut self) -> Self {
        self.lossy = true;
        self
    }

    /// Looks for the byte order mark; false until enough has come.
    fn start(&mut self, input: &mut Input<Bytes>) -> bool {
        if self.decoder.is_some() {
            return true;
        }
        if self.bom != Bom::Keep {
            let Some(mut head) = self.prefix.gather(input, may_be_bom) else {
                return false;
            };
            if let Some((encoding, length)) = Encoding::for_bom(&head)
                && (self.bom == Bom::Detect || encoding == self.encoding)
            {
                self.encoding = encoding;
                head.advance(length);
                self.used += length as u64;
            }
            put_back(input, head);
        }
        self.decoder = Some(self.encoding.new_decoder_without_bom_handling());
        true
    }

    /// Decodes the start of a piece, or the end of the input.
    fn decode(&mut self, piece: &mut Bytes, last: bool) -> Result<ByteString> {
        let Some(decoder) = &mut self.decoder else {
            return Ok(ByteString::new());
        };
        let neutral = decoder.latin1_byte_compatible_up_to(&[]).is_some();
        let most = if self.encoding == UTF_8 && !neutral {
            // No more than the end of the character: the rest need not be copied.
            3
        } else {
            CHUNK
        };
        let bytes = &piece[..piece.len().min(most)];
        let room = decoder.max_utf8_buffer_length(bytes.len());
        let mut text = String::with_capacity(room.unwrap_or(CHUNK).min(CHUNK));
        let (result, read) = if self.lossy {
            let (result, read, _) = decoder.decode_to_string(bytes, &mut text, last);
            let result = match result {
                CoderResult::InputEmpty => DecoderResult::InputEmpty,
                CoderResult::OutputFull => DecoderResult::OutputFull,
            };
            (result, read)
        } else {
            decoder.decode_to_string_without_replacement(bytes, &mut text, last)
        };
        piece.advance(read);
        self.used += read as u64;
        self.finished = last && result == DecoderResult::InputEmpty;
        match result {
            DecoderResult::Malformed(..) if last => {
                Err(Error::new("decode", Cause::Truncated("a character is cut")))
            }
            DecoderResult::Malformed(length, after) => {
                let at = self.used - u64::from(length) - u64::from(after);
                let why = format!("at byte {at}: not {}", self.encoding.name());
                Err(Error::new("decode", Cause::Malformed(why)))
            }
            _ => Ok(text.into()),
        }
    }

    /// The start of a piece as it is, if it is text already and nothing came before that belongs to it.
    fn pass(&self, piece: &mut Bytes) -> Option<ByteString> {
        // It answers at all only where ASCII stands for itself and no character set or character has been begun.
        self.decoder.as_ref()?.latin1_byte_compatible_up_to(&[])?;
        let length = if self.encoding == UTF_8 {
            whole(piece)
        } else if self.encoding == ISO_2022_JP {
            Encoding::iso_2022_jp_ascii_valid_up_to(piece)
        } else {
            Encoding::ascii_valid_up_to(piece)
        };
        if self.encoding != UTF_8 && length < piece.len() {
            return None;
        }
        let text = match ByteString::try_from(piece.slice(..length)) {
            Ok(text) => text,
            // Up to what is wrong with it, so that this is not looked at once for each of the parts that are decoded.
            Err(error) if error.valid_up_to() >= PASS => {
                ByteString::try_from(piece.slice(..error.valid_up_to())).ok()?
            }
            Err(_) => return None,
        };
        piece.advance(text.len());
        Some(text).filter(|text| !text.is_empty())
    }
}

impl Stage<Bytes> for Decode {
    type Item = ByteString;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<ByteString>> {
        if !self.start(input) {
            return Ok(Step::Need);
        }
        while !self.finished {
            let (mut piece, last) = match input.take() {
                Some(piece) => (piece, false),
                None if input.is_at_end() => (Bytes::new(), true),
                None => return Ok(Step::Need),
            };
            let text = match self.pass(&mut piece) {
                Some(text) => {
                    self.used += text.len() as u64;
                    text
                }
                None => self.decode(&mut piece, last)?,
            };
            if !piece.is_empty() {
                input.put_back(piece);
            }
            if !text.is_empty() {
                return Ok(Step::Item(text));
            }
        }
        Ok(Step::Done)
    }

    fn rest(&mut self) -> Vec<Bytes> {
        self.prefix.rest()
    }
}

/// Whether more has to be seen of what starts like this.
fn may_be_bom(head: &[u8]) -> bool {
    let boms: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe"];
    boms.iter()
        .any(|bom| head.len() < bom.len() && bom.starts_with(head))
}

/// How long UTF-8 is without the character that is cut at its end, if one is.
fn whole(bytes: &[u8]) -> usize {
    let last = bytes.len().saturating_sub(3);
    let Some(lead) = bytes[last..].iter().rposition(|&byte| byte >= 0xc0) else {
        return bytes.len();
    };
    let lead = last + lead;
    let length = match bytes[lead] {
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    };
    if lead + length > bytes.len() {
        lead
    } else {
        bytes.len()
    }
}
