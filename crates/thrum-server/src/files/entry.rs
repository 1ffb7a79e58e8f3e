//! What a path names: a file, perhaps in several languages, each perhaps in compressed forms.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderMap;
use http::header::RANGE;

use super::cache::{Clock, Weigh};
use super::negotiation::{self, Coding};
use super::representation::{Identity, Representation};

pub(super) struct Entry {
    /// For those who want none of the others.
    first: Variant,
    /// In other languages.
    others: Vec<Variant>,
    /// Whether compressed files have been looked for beside it, or need not be.
    pub(super) knows_siblings: bool,
    checked_at: AtomicU64,
}

/// A file in one language.
pub(super) struct Variant {
    pub(super) language: Option<String>,
    pub(super) plain: Arc<Representation>,
    /// Compressed files that are there, in the order of the server's preference.
    pub(super) siblings: Vec<(Coding, Representation)>,
    /// What it can be compressed to when it is asked for.
    pub(super) compressible: Arc<[Coding]>,
}

/// What a request is answered with.
pub(super) enum Choice<'a> {
    File(&'a Representation),
    /// A file that is to be compressed.
    Compress(&'a Arc<Representation>, Coding),
}

impl Entry {
    pub(super) fn new(first: Variant, others: Vec<Variant>, knows_siblings: bool) -> Self {
        Self {
            first,
            others,
            knows_siblings,
            checked_at: AtomicU64::new(Clock::now()),
        }
    }

    /// Whether it may be used as it is. If not, the caller is the one to look: others go on with it meanwhile.
    pub(super) fn is_fresh(&self, recheck: u64) -> bool {
        let now = Clock::now();
        let checked_at = self.checked_at.load(Ordering::Relaxed);
        now.saturating_sub(checked_at) <= recheck
            || self
                .checked_at
                .compare_exchange(checked_at, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_err()
    }

    /// What the client wants most of what there is.
    pub(super) fn choose(&self, headers: &HeaderMap) -> Choice<'_> {
        if self.others.is_empty() {
            return self.first.choose(headers);
        }
        let tags = self.variants().filter_map(|one| one.language.as_deref());
        let wanted = negotiation::language(headers, tags);
        let mut variants = self.variants();
        let found = variants.find(|one| wanted.is_some() && one.language.as_deref() == wanted);
        found.unwrap_or(&self.first).choose(headers)
    }

    fn variants(&self) -> impl Iterator<Item = &Variant> + Clone {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The files that it was made of.
    pub(super) fn identities(&self) -> impl Iterator<Item = Identity> {
        self.representations().map(Representation::identity)
    }

    fn representations(&self) -> impl Iterator<Item = &Representation> {
        self.variants().flat_map(|variant| {
            let siblings = variant.siblings.iter().map(|(_, sibling)| sibling);
            std::iter::once(&*variant.plain).chain(siblings)
        })
    }
}

impl Variant {
    fn choose(&self, headers: &HeaderMap) -> Choice<'_> {
        let has_codings = !self.siblings.is_empty() || !self.compressible.is_empty();
        // A range is one of the file itself, so that parts of different forms are never put together.
        if !has_codings || headers.contains_key(RANGE) {
            return Choice::File(&self.plain);
        }
        let there = self.siblings.iter().map(|&(coding, _)| coding);
        let offered = there.chain(self.compressible.iter().copied());
        match negotiation::coding(headers, offered) {
            None => Choice::File(&self.plain),
            Some(chosen) => {
                let sibling = self.siblings.iter().find(|&&(coding, _)| coding == chosen);
                sibling.map_or(Choice::Compress(&self.plain, chosen), |(_, sibling)| {
                    Choice::File(sibling)
                })
            }
        }
    }
}

impl Weigh for Entry {
    fn bytes(&self) -> usize {
        self.representations().map(Weigh::bytes).sum()
    }

    fn descriptors(&self) -> usize {
        self.representations().map(Weigh::descriptors).sum()
    }
}
