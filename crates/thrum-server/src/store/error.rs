//! What can go wrong with a store.

use thiserror::Error;

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It cannot be reached, or failed, as the text says. Whether a change was made is not known.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The condition of a change does not hold.
    #[error("the value has been changed by somebody else")]
    Conflict,
    /// A value is too large.
    #[error("a value of {size} bytes is larger than the {limit} bytes that the store takes")]
    TooLarge {
        /// The value's bytes.
        size: usize,
        /// The most there may be.
        limit: usize,
    },
    /// There is no room: the store's own limit, its disk, or its memory.
    #[error("the store is full: {0}")]
    Full(String),
    /// A key's name is longer than [`MAX_KEY`](super::MAX_KEY) bytes or has a control character, or its namespace is not made
    /// of 1 to 64 letters, digits, `.`, `-`, `_`.
    #[error("not a key: {0}")]
    BadKey(&'static str),
    /// A listing's cursor is none that the store gave.
    #[error("the cursor of the listing is none of this store's")]
    BadCursor,
}

impl StoreError {
    pub(super) fn unavailable(reason: impl ToString) -> Self {
        Self::Unavailable(reason.to_string())
    }
}

/// Whether a value is not too large.
pub(super) fn check_size(size: usize, limit: usize) -> Result<(), StoreError> {
    if size > limit {
        return Err(StoreError::TooLarge { size, limit });
    }
    Ok(())
}
