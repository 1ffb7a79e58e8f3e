//! Secrets that are compared in a time that does not tell how much of one was right.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;

use sha2::{Digest, Sha256};

/// A secret's digest, by which it is known here.
pub(crate) type Fingerprint = [u8; 32];

/// Makes fingerprints, with a key that is new for each of them. So how long it takes to find or compare one tells nothing that
/// somebody without the key can use.
#[derive(Clone)]
pub(crate) struct Fingerprints {
    key: [u8; 32],
}

impl Fingerprints {
    pub(crate) fn new() -> Self {
        // The system's randomness, which the standard library stretches with SipHash.
        let random = RandomState::new();
        let mut key = [0; 32];
        for (place, part) in key.chunks_exact_mut(8).enumerate() {
            part.copy_from_slice(&random.hash_one(place).to_ne_bytes());
        }
        Self { key }
    }

    pub(crate) fn of(&self, secret: &str) -> Fingerprint {
        let digest = Sha256::new().chain_update(self.key).chain_update(secret);
        digest.finalize().into()
    }
}

/// Whether they are equal, looking at all of both.
pub(crate) fn same(a: &Fingerprint, b: &Fingerprint) -> bool {
    let differ = a
        .iter()
        .zip(b)
        .fold(0, |differ, (a, b)| black_box(differ | (a ^ b)));
    differ == 0
}
