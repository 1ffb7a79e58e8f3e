//! A chat in the browser, over WebSocket. `websocket_chat [ADDRESS]`, default 127.0.0.1:8080.
//!
//! One task a connection hears what it says, another one tells it what the others say. Whoever reads slowly holds up
//! nobody: the last messages are kept for all together, and one who comes too late for some is told how many.

use std::sync::Arc;

use thrum::http::upgrade::Upgraded;
use thrum::http::websocket::{Config, Message, Receiver, Sender, Upgrade, Utf8Bytes};
use thrum::http::{Body, Request, Response, StatusCode, header, serve, service_fn};
use thrum::net::TcpListener;
use thrum::sync::broadcast::{self, RecvError};
use thrum_examples::address;

const USAGE: &str = "usage: websocket_chat [ADDRESS]    default 127.0.0.1:8080";

const PAGE: &str = include_str!("websocket_chat.html");

/// Bytes of a message.
const LONGEST: usize = 4096;
/// Messages that are kept for those who have not read them yet.
const KEPT: usize = 256;

/// All who are here. What is said is stored once, however many hear it.
type Room = Arc<broadcast::Sender<Utf8Bytes>>;

#[thrum::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080")).await?;
    println!("http://{}/", listener.local_addr()?);
    let room = Arc::new(broadcast::channel(KEPT).0);
    serve(
        listener,
        service_fn(move |request| answer(request, room.clone())),
    )
    .await
}

async fn answer(mut request: Request<Body>, room: Room) -> Response<Body> {
    match request.uri().path() {
        "/" => page(),
        "/chat" if from_elsewhere(&request) => nothing(StatusCode::FORBIDDEN),
        "/chat" => match Upgrade::new(&mut request) {
            Ok(upgrade) => {
                let mut config = Config::default();
                config.message_bytes = LONGEST;
                upgrade.config(config).run(async move |socket| {
                    let (sender, receiver) = socket.split();
                    join(sender, receiver, room).await;
                })
            }
            Err(rejection) => rejection.into(),
        },
        _ => nothing(StatusCode::NOT_FOUND),
    }
}

/// The first message is a name, the others go to everybody.
async fn join(sender: Sender<Upgraded>, mut receiver: Receiver<Upgraded>, room: Room) {
    let Some(name) = next_text(&mut receiver).await else {
        return;
    };
    let say = |text: String| {
        // It fails when nobody is there to hear it.
        let _ = room.send(text.into());
    };
    let telling = thrum::spawn(tell(sender, room.subscribe()));
    say(format!("* {name} is here"));
    while let Some(text) = next_text(&mut receiver).await {
        say(format!("{name}: {text}"));
    }
    telling.abort();
    say(format!("* {name} has left"));
}

/// Sends what is said, and all that there is of it at once.
async fn tell(
    mut sender: Sender<Upgraded>,
    mut heard: broadcast::Receiver<Utf8Bytes>,
) -> Result<(), thrum::http::websocket::Error> {
    loop {
        match heard.recv().await {
            Ok(text) => sender.feed(text).await?,
            Err(RecvError::Lagged(missed)) => {
                sender
                    .feed(format!("* you missed {missed} messages"))
                    .await?;
            }
            Err(RecvError::Closed) => return Ok(()),
        }
        if heard.is_empty() {
            sender.flush().await?;
        }
    }
}

async fn next_text(receiver: &mut Receiver<Upgraded>) -> Option<Utf8Bytes> {
    loop {
        match receiver.receive().await? {
            Ok(Message::Text(text)) => return Some(text),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// Whether a page of another site opened it. Browsers would let it.
fn from_elsewhere(request: &Request<Body>) -> bool {
    let field = |name| request.headers().get(name)?.to_str().ok();
    field(header::ORIGIN).is_some_and(|origin| {
        let host = origin.split_once("://").map(|(_, host)| host);
        host != field(header::HOST)
    })
}

fn page() -> Response<Body> {
    let mut response = Response::new(PAGE.into());
    let html = header::HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, html);
    response
}

fn nothing(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
