//! A connection of the server that speaks HTTP/2.
use std::sync::Arc;

use bytes::Bytes;

use crate::Application;
use crate::server::{Context, Open};
use crate::wire::Wire;

/// Serves a connection until it ends. `ahead` is what was read of it already.
pub(crate) async fn serve<A: Application>(
    open: Open,
    wire: Wire,
    ahead: Bytes,
    context: Arc<Context>,
    application: A,
) {
    let _ = (open, wire, ahead, context, application);
}
