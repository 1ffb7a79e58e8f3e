//! The client against this server: what users of it see.

mod support;

use thrum_http::{Client, Server};

use support::with_server;

#[test]
fn three_requests_in_sequence() {
    with_server(Server::new(), async |address, server| {
        let client = Client::new();
        let one = client.get(format!("http://{address}/one")).await.unwrap();
        assert_eq!(one.text().await.unwrap(), "/one");
        let two = client.get(format!("http://{address}/two")).await.unwrap();
        assert_eq!(two.text().await.unwrap(), "/two");
        let three = thrum_http::get(format!("http://{address}/three"))
            .await
            .unwrap();
        assert_eq!(three.text().await.unwrap(), "/three");
        assert_eq!(server.stats().requests, 3);
        assert_eq!(
            server.stats().accepted,
            2,
            "the second request takes the first one's"
        );
    });
}
