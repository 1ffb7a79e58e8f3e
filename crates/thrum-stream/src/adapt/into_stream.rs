//! A source as a stream of the ecosystem.

use futures_core::Stream;
use futures_lite::{StreamExt, stream};

use crate::{Result, Source};

/// What the source gives, then the error of its close if it has one.
pub(crate) fn into_stream<S: Source>(source: S) -> impl Stream<Item = Result<S::Item>> + Send {
    stream::unfold(Some(source), |source| async {
        let mut source = source?;
        match source.next().await {
            Ok(Some(item)) => Some((Ok(item), Some(source))),
            Ok(None) => source.close().await.err().map(|error| (Err(error), None)),
            Err(error) => {
                // The first error is the one that is told.
                let _ = source.close().await;
                Some((Err(error), None))
            }
        }
    })
    .fuse()
}
