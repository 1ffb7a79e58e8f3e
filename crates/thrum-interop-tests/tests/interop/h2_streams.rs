//! h2 by itself, on tokio's I/O traits.

use bytes::Bytes;
use h2::RecvStream;
use hyper::{HeaderMap, Request, Response};

use crate::pair;

async fn receive(stream: &mut RecvStream) -> Vec<u8> {
    let mut received = Vec::new();
    while let Some(data) = stream.data().await {
        let data = data.unwrap();
        stream.flow_control().release_capacity(data.len()).unwrap();
        received.extend_from_slice(&data);
    }
    received
}

#[test]
fn streams_with_trailers() {
    thrum::block_on(async {
        let (near, far) = pair().await;
        let server = thrum::spawn(async move {
            let mut connection = h2::server::handshake(far).await.unwrap();
            while let Some(accepted) = connection.accept().await {
                let (request, mut respond) = accepted.unwrap();
                thrum::spawn(async move {
                    let received = receive(&mut request.into_body()).await;
                    let mut stream = respond.send_response(Response::new(()), false).unwrap();
                    stream.send_data(received.into(), false).unwrap();
                    let mut trailers = HeaderMap::new();
                    trailers.insert("end", "seen".parse().unwrap());
                    stream.send_trailers(trailers).unwrap();
                });
            }
        });
        let (client, connection) = h2::client::handshake(near).await.unwrap();
        let connection = thrum::spawn(connection);
        let streams: Vec<_> = (0..10_u8)
            .map(|i| {
                let client = client.clone();
                thrum::spawn(async move {
                    let mut client = client.ready().await.unwrap();
                    let request = Request::post("http://localhost/").body(()).unwrap();
                    let (response, mut stream) = client.send_request(request, false).unwrap();
                    let sent = vec![i; 100_000];
                    stream.send_data(Bytes::from(sent.clone()), true).unwrap();
                    let mut body = response.await.unwrap().into_body();
                    assert_eq!(receive(&mut body).await, sent);
                    let trailers = body.trailers().await.unwrap().unwrap();
                    assert_eq!(trailers["end"], "seen");
                })
            })
            .collect();
        for stream in streams {
            stream.await.unwrap();
        }
        drop(client);
        connection.await.unwrap().unwrap();
        server.await.unwrap();
    });
}
