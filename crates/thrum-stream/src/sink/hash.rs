//! The hash of bytes.

use digest::{Digest, Output};

use crate::{Result, Sink};

/// The hash of all bytes, by any `digest` of the [`digest`] crate's kind: those of `sha2`, `sha1`, `md-5`, `blake2` and so
/// on. Buffer: that of the digest.
///
/// ```
/// use sha2::{Digest, Sha256};
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let pieces = source::iter(["hel", "lo"]);
/// let hash = pieces.run(sink::hash(Sha256::new())).await?;
/// assert_eq!(hash, Sha256::digest("hello"));
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn hash<D: Digest>(digest: D) -> Hash<D> {
    Hash(digest)
}

/// See [`hash()`].
#[derive(Clone, Debug)]
pub struct Hash<D>(D);

impl<I: AsRef<[u8]> + Send, D: Digest + Send> Sink<I> for Hash<D> {
    type Output = Output<D>;

    async fn push(&mut self, item: I) -> Result<()> {
        self.0.update(item);
        Ok(())
    }

    async fn close(self) -> Result<Output<D>> {
        Ok(self.0.finalize())
    }
}
