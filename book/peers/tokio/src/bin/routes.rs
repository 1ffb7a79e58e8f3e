//! The fifty routes of examples/routes, on tokio and hyper as axum serves them, on one OS thread. routes PORT

#[path = "../../../../../examples/routes/router.rs"]
mod router;

use axum::serve::ListenerExt;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let [port] = tokio_twins::numbers();
    let listener = TcpListener::bind(("127.0.0.1", port as u16)).await?;
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, router::router()).await
}
