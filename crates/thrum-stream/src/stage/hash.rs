//! A digest of the bytes that pass.

use digest::{Digest, Output};

use crate::{Input, Result, Stage, Step};

/// The bytes as they are; when they have ended, `done` gets their digest. Buffer: the state of the hash function.
///
/// `hasher` is of any hash function that has the traits of the [`digest`] crate, and may have been given a start. Where
/// what is behind has enough before the end, `done` is not called.
///
/// ```
/// use sha2::{Digest, Sha256};
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let mut sum = None;
/// let file = source::reader(&b"abc"[..]);
/// let hashed = file.pipe(stage::hash(Sha256::new(), |digest| sum = Some(digest)));
/// assert_eq!(hashed.run(sink::concat(10)).await?, b"abc");
/// assert_eq!(sum.unwrap()[..4], [0xba, 0x78, 0x16, 0xbf]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn hash<D: Digest, F: FnOnce(Output<D>)>(hasher: D, done: F) -> Hash<D, F> {
    Hash(Some((hasher, done)))
}

/// See [`hash`].
#[derive(Clone, Debug)]
pub struct Hash<D, F>(Option<(D, F)>);

impl<I, D, F> Stage<I> for Hash<D, F>
where
    I: AsRef<[u8]> + Send,
    D: Digest + Send,
    F: FnOnce(Output<D>) + Send,
{
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        if let Some(item) = input.take() {
            if let Some((hasher, _)) = &mut self.0 {
                hasher.update(&item);
            }
            return Ok(Step::Item(item));
        }
        if input.is_at_end()
            && let Some((hasher, done)) = self.0.take()
        {
            done(hasher.finalize());
        }
        Ok(input.starved())
    }
}
