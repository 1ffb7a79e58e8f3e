//! What is known of each compressed format.

use crate::stage::coding::Decoder;
#[cfg(feature = "brotli")]
use crate::stage::coding::brotli::BrotliDecoder;
#[cfg(feature = "gzip")]
use crate::stage::coding::zlib::{Inflater, Wrapper};
#[cfg(feature = "zstd")]
use crate::stage::coding::zstd::ZstdDecoder;

/// A compressed format.
pub(super) struct Format {
    /// The stage's name.
    pub(super) name: &'static str,
    /// Whether one stream may follow the other.
    pub(super) many: bool,
    /// Whether zeros may follow a stream.
    pub(super) padded: bool,
    /// Makes a decoder that takes windows of at most 2 to the power of this, if the format lets the encoder choose any.
    pub(super) decoder: fn(u32) -> Box<dyn Decoder>,
}

#[cfg(feature = "gzip")]
pub(super) static GZIP: Format = Format {
    name: "decompress::gzip",
    many: true,
    padded: true,
    decoder: |_| Box::new(Inflater::new(Wrapper::Gzip)),
};

#[cfg(feature = "gzip")]
pub(super) static ZLIB: Format = Format {
    name: "decompress::zlib",
    many: false,
    padded: false,
    decoder: |_| Box::new(Inflater::new(Wrapper::Zlib)),
};

#[cfg(feature = "gzip")]
pub(super) static DEFLATE: Format = Format {
    name: "decompress::deflate",
    many: false,
    padded: false,
    decoder: |_| Box::new(Inflater::new(Wrapper::None)),
};

#[cfg(feature = "zstd")]
pub(super) static ZSTD: Format = Format {
    name: "decompress::zstd",
    many: true,
    padded: false,
    decoder: |window_log| Box::new(ZstdDecoder::new(window_log)),
};

#[cfg(feature = "brotli")]
pub(super) static BROTLI: Format = Format {
    name: "decompress::brotli",
    many: false,
    padded: false,
    decoder: |_| Box::new(BrotliDecoder::new()),
};

/// How the formats that can be known start.
const MAGIC: [(&[u8], Known); 3] = [
    // RFC 1952, 2.3: ID1, ID2, and the only compression method there is.
    (&[0x1f, 0x8b, 8], Known::Gzip),
    // RFC 8878, 3.1.1.
    (&[0x28, 0xb5, 0x2f, 0xfd], Known::Zstd),
    // RFC 8878, 3.1.2: a frame to be skipped, which may come first; of its first byte only the upper half is given.
    (&[0x50, 0x2a, 0x4d, 0x18], Known::Zstd),
];

#[derive(Clone, Copy)]
enum Known {
    Gzip,
    Zstd,
}

/// Whether more has to be seen of what starts like this.
pub(super) fn may_be(head: &[u8]) -> bool {
    MAGIC
        .iter()
        .any(|(magic, _)| head.len() < magic.len() && starts(head, &magic[..head.len()]))
}

/// The format of what starts like this; or the name of one that is not built in.
pub(super) fn of(head: &[u8]) -> Option<Result<&'static Format, &'static str>> {
    let (_, known) = MAGIC.iter().find(|(magic, _)| starts(head, magic))?;
    Some(match known {
        #[cfg(feature = "gzip")]
        Known::Gzip => Ok(&GZIP),
        #[cfg(not(feature = "gzip"))]
        Known::Gzip => Err("gzip"),
        #[cfg(feature = "zstd")]
        Known::Zstd => Ok(&ZSTD),
        #[cfg(not(feature = "zstd"))]
        Known::Zstd => Err("Zstandard"),
    })
}

fn starts(head: &[u8], magic: &[u8]) -> bool {
    let skip = magic.first() == Some(&0x50);
    head.len() >= magic.len()
        && head
            .iter()
            .zip(magic)
            .enumerate()
            .all(|(at, (&byte, &magic))| {
                let byte = if skip && at == 0 { byte & 0xf0 } else { byte };
                byte == magic
            })
}
