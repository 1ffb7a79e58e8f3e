//! What the targets of whole connections have in common: a server in a simulation, where waiting takes no time, and who
//! talks to it.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use http_body::Frame;
use thrum_http::{
    Body, Limits, Request, Response, Server, StatusCode, early_hints, service_fn, upgrade,
};
use thrum_rt::net::{Shutdown, UnixStream};
use thrum_rt::time::{Sleep, sleep, timeout};

/// All timeouts together are shorter.
const FOR_EVER: Duration = Duration::from_secs(10 * 24 * 3600);

/// What a server has to say to some bytes.
pub struct Heard {
    pub bytes: Vec<u8>,
    /// Of the requests that were handled, in their order.
    pub methods: Vec<Method>,
}

/// Sends bytes to a server, `size` at a time with a pause behind each, and listens until it closes.
pub fn talk(bytes: &[u8], size: usize, pause: Duration) -> Heard {
    let methods = Arc::new(Mutex::new(Vec::new()));
    let heard = thrum_rt::test::with_seed(0, async {
        let server = server();
        let (client, connection) = UnixStream::pair().expect("two descriptors");
        let application = service_fn({
            let methods = methods.clone();
            move |request: Request<Body>| {
                methods.lock().unwrap().push(request.method().clone());
                answer(request)
            }
        });
        let talk = async {
            thrum_rt::join!(
                server.serve_connection(connection, application),
                send(&client, bytes, size, pause),
                hear(&client)
            )
        };
        let ((), (), heard) = timeout(FOR_EVER, talk).await.expect("the connection ends");
        // One that was upgraded is in other hands, which see its end now.
        while server.stats().open > 0 {
            sleep(Duration::from_millis(1)).await;
        }
        let stats = server.stats();
        assert_eq!((stats.errors, stats.panics), (0, 0));
        assert_eq!(stats.requests, methods.lock().unwrap().len() as u64);
        heard
    });
    let methods = std::mem::take(&mut *methods.lock().unwrap());
    Heard {
        bytes: heard,
        methods,
    }
}

/// Small limits, so that inputs reach them.
fn server() -> Server {
    let mut limits = Limits::default();
    limits.head_bytes = 512;
    limits.target_bytes = 128;
    limits.fields = 8;
    limits.body_bytes = 100;
    limits.chunk_line_bytes = 64;
    limits.drain_bytes = 50;
    limits.http2.streams = 4;
    limits.http2.send_bytes = 128;
    Server::new().limits(limits)
}

/// What a path's first letter asks for.
async fn answer(mut request: Request<Body>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    let body = match request.uri().path().as_bytes().get(1) {
        // All of the body, and how it ended.
        Some(b'e') => echo(request.into_body()).await,
        // The body as it comes.
        Some(b't') => request.into_body(),
        // Pieces with pauses, and trailers.
        Some(b's') => Body::wrap(Pieces::default()),
        Some(b'h') => {
            let mut fields = HeaderMap::new();
            fields.insert(header::LINK, HeaderValue::from_static("</style>"));
            early_hints(fields);
            sleep(Duration::from_secs(1)).await;
            Body::from("hinted")
        }
        Some(b'w') => {
            sleep(Duration::from_secs(100)).await;
            Body::from("waited")
        }
        // Two at once: some of the body, while the answer is on its way.
        Some(b'p') => {
            let first = request.body_mut().chunk().await;
            Body::from(format!("{}", first.is_some()))
        }
        Some(b'l') => Body::from(vec![b'l'; 100_000]),
        Some(b'n') => {
            *response.status_mut() = StatusCode::NO_CONTENT;
            Body::empty()
        }
        Some(b'u') => match upgrade::on(&mut request) {
            Some(upgrade) => {
                thrum_rt::spawn(async move {
                    // It is dropped: nothing more is to be said.
                    let _ = upgrade.await;
                });
                *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
                let shout = HeaderValue::from_static("shout");
                response.headers_mut().insert(header::UPGRADE, shout);
                Body::empty()
            }
            None => Body::from("none"),
        },
        _ => Body::from("hello"),
    };
    *response.body_mut() = body;
    response
}

async fn echo(mut body: Body) -> Body {
    let mut all = Vec::new();
    while let Some(frame) = poll_fn(|cx| http_body::Body::poll_frame(Pin::new(&mut body), cx)).await
    {
        match frame {
            Ok(frame) => match frame.into_data() {
                Ok(data) => all.extend_from_slice(&data),
                Err(frame) => {
                    let fields = frame.trailers_ref().map_or(0, HeaderMap::len);
                    all.extend_from_slice(format!("[{fields} trailers]").as_bytes());
                }
            },
            // How much came before depends on how it came, and so does which fault of a line without an end is seen.
            Err(_) => return Body::from("[broken]"),
        }
    }
    assert!(all.len() < 200, "the limit is 100");
    Body::from(all)
}

/// A body of three pieces and trailers, each a second after the last.
#[derive(Default)]
struct Pieces {
    given: u8,
    pause: Option<Pin<Box<Sleep>>>,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let pause = self
            .pause
            .get_or_insert_with(|| Box::pin(sleep(Duration::from_secs(1))));
        if pause.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.pause = None;
        self.given += 1;
        Poll::Ready(match self.given {
            1..=3 => Some(Ok(Frame::data(Bytes::from_static(b"piece")))),
            4 => {
                let mut fields = HeaderMap::new();
                fields.insert("x-end", HeaderValue::from_static("yes"));
                Some(Ok(Frame::trailers(fields)))
            }
            _ => None,
        })
    }
}

/// Sends what the other side takes.
pub async fn send(stream: &UnixStream, bytes: &[u8], size: usize, pause: Duration) {
    for piece in bytes.chunks(size) {
        if stream.write_all(piece).await.is_err() {
            return;
        }
        if !pause.is_zero() {
            sleep(pause).await;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
}

/// All that comes until the other side closes.
async fn hear(stream: &UnixStream) -> Vec<u8> {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        all.extend_from_slice(&buffer[..read]);
    }
    all
}
