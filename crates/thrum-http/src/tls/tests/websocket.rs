//! WebSocket over TLS.

use super::*;
use crate::websocket::{self, connect_by};

#[test]
fn wss_is_websocket_over_tls() {
    let authority = Authority::new();
    let acceptor = authority.acceptor(&["127.0.0.1"]).build().unwrap();
    let echo = service_fn(async |mut request: Request<Body>| {
        websocket::upgrade(&mut request, async |mut socket| {
            while let Some(Ok(message)) = socket.receive().await {
                let _ = socket.send(message).await;
            }
        })
    });
    with_application(acceptor, echo, async |address, _| {
        let connector = authority.connector().build().unwrap();
        let url = format!("wss://{address}/");
        let secure = async |wire, host: &str| connector.connect(wire, host, &[]).await;
        let mut socket = connect_by(&url, secure).await.unwrap();
        socket.send("hello").await.unwrap();
        let answer = socket.receive().await.unwrap().unwrap();
        assert_eq!(answer.as_text(), Some("hello"));
    });
}
