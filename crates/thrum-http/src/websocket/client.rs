//! The client's opening handshake.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};
use futures_lite::{AsyncReadExt, AsyncWriteExt};
use http::header::{
    CONNECTION, HOST, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use thiserror::Error;
use thrum_parse::http::{HeadError, HeadLimits, HeadParser, ResponseHead, Status};
use thrum_rt::net::TcpStream;
use thrum_rt::time::timeout;
use tungstenite::protocol::Role;

use super::handshake::{VERSION, accept_key, has_token, key, list};
use super::{Config, WebSocket};
use crate::message::field;
use crate::upgrade::Upgraded;
use crate::wire::Wire;

/// Why there is no connection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The handshake took longer than [`Config::handshake_timeout`].
    #[error("the handshake took too long")]
    Timeout,
    /// The request cannot begin a handshake.
    #[error("not a request for a WebSocket: {0}")]
    InvalidRequest(&'static str),
    /// The server's answer is not HTTP, or its head is beyond 16 KiB or 100 fields.
    #[error("the answer cannot be read: {0}")]
    InvalidHead(#[from] HeadError),
    /// The server did not switch protocols. Its head is in here; the body has not been read.
    #[error("the server answered {}", .0.status())]
    Refused(Box<Response<()>>),
    /// The server switched protocols, but not to what it was asked for.
    #[error("the server's answer is wrong: {0}")]
    InvalidAnswer(&'static str),
}

/// Connects to a URL `ws://host[:port]/path` or `wss://...`, with the default [`Config`]; TLS trusts whom the system trusts. For
/// more, open a stream and use [`client`].
///
/// Dropping the future before it is done drops the connection.
///
/// # Errors
/// [`ConnectError`].
///
/// ```no_run
/// # thrum_rt::block_on(async {
/// let mut socket = thrum_http::websocket::connect("ws://127.0.0.1:8080/chat").await?;
/// socket.send("hello").await?;
/// while let Some(message) = socket.receive().await {
///     println!("{:?}", message?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub async fn connect(url: &str) -> Result<WebSocket<Upgraded>, ConnectError> {
    connect_by(url, async |wire, host| {
        #[cfg(feature = "tls")]
        return crate::tls::Connector::new()?
            .connect(wire, host, &[b"http/1.1"])
            .await;
        #[cfg(not(feature = "tls"))]
        {
            let _ = (wire, host);
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "wss needs the feature tls",
            ))
        }
    })
    .await
}

/// Connects, and speaks TLS by `secure` where the URL wants it.
pub(crate) async fn connect_by(
    url: &str,
    secure: impl AsyncFnOnce(Wire, &str) -> io::Result<Wire>,
) -> Result<WebSocket<Upgraded>, ConnectError> {
    let config = Config::default();
    let uri: Uri = url
        .parse()
        .map_err(|_| ConnectError::InvalidRequest("not a URL"))?;
    let (is_tls, port) = match uri.scheme_str() {
        Some("ws") => (false, 80),
        Some("wss") => (true, 443),
        _ => {
            let why = "the URL's scheme is not ws or wss";
            return Err(ConnectError::InvalidRequest(why));
        }
    };
    let host = uri
        .host()
        .ok_or(ConnectError::InvalidRequest("the URL has no host"))?
        .trim_matches(['[', ']'])
        .to_owned();
    let port = uri.port_u16().unwrap_or(port);
    let mut request = Request::new(());
    *request.uri_mut() = uri;
    let connecting = async {
        let stream = TcpStream::connect((host.as_str(), port)).await?;
        let mut wire = Wire::plain(Arc::new(stream.into()));
        if is_tls {
            wire = secure(wire, &host).await?;
        }
        let stream = Upgraded::new(wire, Bytes::new(), None);
        client(stream, request, config).await
    };
    let (socket, _) = timeout(config.handshake_timeout, connecting)
        .await
        .unwrap_or(Err(ConnectError::Timeout))?;
    Ok(socket)
}

/// Does the client's handshake over a stream, and gives the server's answer too.
///
/// The request's URI is one like `ws://host/path`, or just `/path` with a `Host` field; whatever its scheme, the stream is
/// used as it is. Fields such as `Origin`, `Cookie` and `Sec-WebSocket-Protocol` (a list of those one would speak) are sent along;
/// the one that the server chose is in its answer.
///
/// Dropping the future before it is done drops the stream.
///
/// # Errors
/// [`ConnectError`].
pub async fn client<S>(
    stream: S,
    request: Request<()>,
    config: Config,
) -> Result<(WebSocket<S>, Response<()>), ConnectError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    timeout(config.handshake_timeout, handshake(stream, request, config))
        .await
        .unwrap_or(Err(ConnectError::Timeout))
}

async fn handshake<S>(
    mut stream: S,
    request: Request<()>,
    config: Config,
) -> Result<(WebSocket<S>, Response<()>), ConnectError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let key = key(nonce());
    stream.write_all(&head(&request, &key)?).await?;
    stream.flush().await?;
    let (response, rest) = answer(&mut stream).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(ConnectError::Refused(Box::new(response)));
    }
    check(response.headers(), &key, request.headers())?;
    Ok((WebSocket::new(stream, rest, Role::Client, config), response))
}

/// The request's head. No field can hold a line end: [`HeaderValue`] sees to that, and [`Uri`] for the target.
fn head(request: &Request<()>, key: &str) -> Result<Vec<u8>, ConnectError> {
    use ConnectError::InvalidRequest;

    if request.method() != Method::GET {
        return Err(InvalidRequest("its method is not GET"));
    }
    let uri = request.uri();
    let mut fields = request.headers().clone();
    for name in [
        CONNECTION,
        UPGRADE,
        SEC_WEBSOCKET_KEY,
        SEC_WEBSOCKET_VERSION,
    ] {
        if fields.contains_key(name) {
            return Err(InvalidRequest("it has a field of the handshake's own"));
        }
    }
    if fields.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        return Err(InvalidRequest("it offers an extension: there are none"));
    }
    if !fields.contains_key(HOST) {
        let authority = uri.authority().ok_or(InvalidRequest("it has no host"))?;
        let host = authority.as_str();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = HeaderValue::from_str(host).map_err(|_| InvalidRequest("its host"))?;
        fields.insert(HOST, host);
    }
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let mut head = format!(
        "GET {target} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: {VERSION}\r\nSec-WebSocket-Key: {key}\r\n"
    )
    .into_bytes();
    for (name, value) in &fields {
        field(&mut head, name.as_str().as_bytes(), value.as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    Ok(head)
}

/// Reads the answer's head, and gives what was read behind it.
async fn answer<S: AsyncRead + Unpin>(
    stream: &mut S,
) -> Result<(Response<()>, Vec<u8>), ConnectError> {
    let mut parser = HeadParser::new(HeadLimits::default());
    let mut head = ResponseHead::new();
    let mut buffer = Vec::new();
    let mut ended = false;
    loop {
        if !buffer.is_empty()
            && let Status::Complete { consumed } = parser.parse(&buffer, ended, &mut head)?
        {
            let rest = buffer.split_off(consumed);
            // Other informational heads may come before the one that is meant.
            if head.status == 101 || !(100..200).contains(&head.status) {
                return Ok((response(&head, &buffer)?, rest));
            }
            buffer = rest;
            continue;
        }
        if ended {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let mut part = [0; 1024];
        let read = stream.read(&mut part).await?;
        buffer.extend_from_slice(&part[..read]);
        ended = read == 0;
    }
}

fn response(head: &ResponseHead, buffer: &[u8]) -> Result<Response<()>, ConnectError> {
    use ConnectError::InvalidAnswer;

    let mut response = Response::new(());
    *response.status_mut() =
        StatusCode::from_u16(head.status).map_err(|_| InvalidAnswer("its status"))?;
    for field in head.headers() {
        let name = HeaderName::from_bytes(field.name.of(buffer));
        let value = HeaderValue::from_bytes(field.value.of(buffer));
        match (name, value) {
            (Ok(name), Ok(value)) => response.headers_mut().append(name, value),
            _ => return Err(InvalidAnswer("a field of it")),
        };
    }
    Ok(response)
}

/// RFC 6455, 4.1: what a client has to check.
fn check(answer: &HeaderMap, key: &str, asked: &HeaderMap) -> Result<(), ConnectError> {
    use ConnectError::InvalidAnswer;

    if !has_token(answer, UPGRADE, "websocket") {
        return Err(InvalidAnswer("Upgrade is not websocket"));
    }
    if !has_token(answer, CONNECTION, "upgrade") {
        return Err(InvalidAnswer("Connection is not Upgrade"));
    }
    let mut proofs = answer.get_all(SEC_WEBSOCKET_ACCEPT).iter();
    let proof = proofs.next().map(HeaderValue::as_bytes);
    if proof != Some(accept_key(key.as_bytes()).as_bytes()) || proofs.next().is_some() {
        return Err(InvalidAnswer("Sec-WebSocket-Accept does not fit the key"));
    }
    if answer.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        return Err(InvalidAnswer("an extension that was not asked for"));
    }
    let mut chosen = answer.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    if let Some(protocol) = chosen.next() {
        let asked_for = |&protocol: &&HeaderValue| {
            list(asked, SEC_WEBSOCKET_PROTOCOL).any(|asked| asked == protocol)
        };
        if !asked_for(&protocol) || chosen.next().is_some() {
            return Err(InvalidAnswer("a subprotocol that was not asked for"));
        }
    }
    Ok(())
}

/// 16 bytes that no other connection had. They guard against caches that answer, not against attackers.
fn nonce() -> [u8; 16] {
    let mut nonce = [0; 16];
    for half in nonce.chunks_exact_mut(8) {
        half.copy_from_slice(&RandomState::new().hash_one(0).to_ne_bytes());
    }
    nonce
}

#[cfg(test)]
mod tests {
    use thrum_rt::io::duplex;
    use thrum_rt::test::run;

    use super::*;
    use crate::websocket::Message;

    const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n";

    /// What a server gets to see, and what comes of its answer, in which `{proof}` stands for the proof: the status and the
    /// first message, or the error.
    async fn answered(
        request: Request<()>,
        answer: &str,
    ) -> (String, Result<(u16, Option<Message>), ConnectError>) {
        let (mut server, stream) = duplex(64 * 1024);
        let answer = answer.to_owned();
        let serving = thrum_rt::spawn(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if server.read(&mut byte).await.unwrap() == 0 {
                    break;
                }
                head.extend(byte);
            }
            let head = String::from_utf8(head).unwrap();
            let key = head
                .lines()
                .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "))
                .unwrap_or_default();
            let answer = answer.replace("{proof}", &accept_key(key.as_bytes()));
            // One byte for each character, so that frames can be written in it.
            let answer: Vec<u8> = answer.chars().map(|c| c as u8).collect();
            server.write_all(&answer).await.unwrap();
            head
        });
        let result = match client(stream, request, Config::default()).await {
            Ok((mut socket, response)) => {
                let message = socket.receive().await.and_then(Result::ok);
                Ok((response.status().as_u16(), message))
            }
            Err(error) => Err(error),
        };
        (serving.await.unwrap(), result)
    }

    fn chat() -> http::request::Builder {
        Request::get("ws://user:password@example.com:8080/chat?room=1")
    }

    #[test]
    fn what_comes_right_behind_the_answer_is_not_lost() {
        run(async {
            let answer = format!("{SWITCHED}Sec-WebSocket-Accept: {{proof}}\r\n\r\n\u{81}\u{2}hi");
            let (head, result) = answered(chat().body(()).unwrap(), &answer).await;
            assert!(head.starts_with("GET /chat?room=1 HTTP/1.1\r\n"), "{head}");
            assert!(head.contains("\r\nhost: example.com:8080\r\n"), "{head}");
            assert!(head.contains("\r\nSec-WebSocket-Version: 13\r\n"), "{head}");
            assert!(!head.contains("password"));
            assert_eq!(result.unwrap(), (101, Some(Message::from("hi"))));
        });
    }

    #[test]
    fn informational_answers_are_skipped() {
        run(async {
            let answer = format!(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
                 {SWITCHED}Sec-WebSocket-Accept: {{proof}}\r\n\r\n"
            );
            let (_, result) = answered(chat().body(()).unwrap(), &answer).await;
            assert_eq!(result.unwrap().0, 101);
        });
    }

    #[test]
    fn a_subprotocol_is_one_of_those_asked_for() {
        run(async {
            for (chosen, right) in [
                ("", true),
                ("Sec-WebSocket-Protocol: chat.1\r\n", true),
                ("Sec-WebSocket-Protocol: chat.3\r\n", false),
                ("Sec-WebSocket-Protocol: CHAT.1\r\n", false),
                (
                    "Sec-WebSocket-Protocol: chat.1\r\nSec-WebSocket-Protocol: chat.2\r\n",
                    false,
                ),
            ] {
                let request = chat().header(SEC_WEBSOCKET_PROTOCOL, "chat.2, chat.1");
                let answer = format!("{SWITCHED}Sec-WebSocket-Accept: {{proof}}\r\n{chosen}\r\n");
                let (_, result) = answered(request.body(()).unwrap(), &answer).await;
                assert_eq!(result.is_ok(), right, "{chosen}: {result:?}");
            }
        });
    }

    #[test]
    fn wrong_answers_are_refused() {
        run(async {
            for answer in [
                "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {proof}\r\n\r\n",
                "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {proof}\r\n\r\n",
                &format!("{SWITCHED}\r\n"),
                &format!("{SWITCHED}Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"),
                &format!(
                    "{SWITCHED}Sec-WebSocket-Accept: {{proof}}\r\n\
                     Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
                ),
                &format!(
                    "{SWITCHED}Sec-WebSocket-Accept: {{proof}}\r\n\
                     Sec-WebSocket-Protocol: unasked\r\n\r\n"
                ),
            ] {
                let (_, result) = answered(chat().body(()).unwrap(), answer).await;
                assert!(
                    matches!(result, Err(ConnectError::InvalidAnswer(_))),
                    "{answer}: {result:?}"
                );
            }
        });
    }

    #[test]
    fn a_server_may_say_no_or_nonsense_or_nothing() {
        run(async {
            let request = || chat().body(()).unwrap();
            let no = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
            match answered(request(), no).await.1 {
                Err(ConnectError::Refused(response)) => assert_eq!(response.status(), 403),
                other => panic!("{other:?}"),
            }
            let endless = format!("HTTP/1.1 101 x\r\nA: {}", "a".repeat(20_000));
            for answer in ["SSH-2.0-OpenSSH_9\r\n\r\n", &endless] {
                let (_, result) = answered(request(), answer).await;
                assert!(
                    matches!(result, Err(ConnectError::InvalidHead(_))),
                    "{result:?}"
                );
            }
            for answer in ["", "HTTP/1.1 101 Swi"] {
                let (_, result) = answered(request(), answer).await;
                assert!(result.is_err(), "{result:?}");
            }
            let (_silent, stream) = duplex(4096);
            let result = client(stream, request(), Config::default()).await;
            assert!(matches!(result, Err(ConnectError::Timeout)), "{result:?}");
        });
    }

    #[test]
    fn requests_that_cannot_begin_it_are_not_sent() {
        run(async {
            for request in [
                Request::post("ws://a/").body(()).unwrap(),
                Request::get("/no-host").body(()).unwrap(),
                chat().header(SEC_WEBSOCKET_KEY, "x").body(()).unwrap(),
                chat()
                    .header(SEC_WEBSOCKET_EXTENSIONS, "permessage-deflate")
                    .body(())
                    .unwrap(),
            ] {
                let (_, stream) = duplex(4096);
                let result = client(stream, request, Config::default()).await;
                assert!(matches!(result, Err(ConnectError::InvalidRequest(_))));
            }
            for url in ["http://a/", "a", "ws:///x"] {
                let result = connect(url).await;
                assert!(
                    matches!(result, Err(ConnectError::InvalidRequest(_))),
                    "{url}: {result:?}"
                );
            }
        });
    }
}
