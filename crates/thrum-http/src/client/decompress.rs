//! Response bodies that come compressed, made plain while they are read (RFC 9110, 8.4).

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, RANGE};
use http::{HeaderMap, Method, Response, StatusCode};
use http_body::{Body as HttpBody, Frame};
use thrum_stream::stage::decompress::{self, Decompress};
use thrum_stream::{Cause, Input, Stage, Step};

use crate::body::Kind;
use crate::{Body, BodyError};

/// What is asked for: what is built in, the densest first.
const ACCEPTED: &str = match (
    cfg!(feature = "zstd"),
    cfg!(feature = "brotli"),
    cfg!(feature = "gzip"),
) {
    (true, true, true) => "zstd, br, gzip",
    (true, true, false) => "zstd, br",
    (true, false, true) => "zstd, gzip",
    (true, false, false) => "zstd",
    (false, true, true) => "br, gzip",
    (false, true, false) => "br",
    (false, false, _) => "gzip",
};

/// Codings that one body may have upon each other.
const MOST_CODINGS: usize = 3;

/// Asks for compressed responses, unless the request says itself what it wants, or wants a part: then its response is for
/// the caller to decode, and this is false.
pub(crate) fn accept(request: &mut HeaderMap) -> bool {
    if request.contains_key(ACCEPT_ENCODING) || request.contains_key(RANGE) {
        return false;
    }
    request.insert(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
    true
}

/// Makes the body plain, and takes `Content-Encoding` and `Content-Length` away. As it is remains what has no body or
/// a part of one, and what is coded in a way that is not built in. More than `limit` bytes are an error.
pub(crate) fn decode(response: Response<Body>, method: &Method, limit: u64) -> Response<Body> {
    let has_none = method == Method::HEAD
        || matches!(
            response.status(),
            StatusCode::NO_CONTENT | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED
        )
        || response.status().is_informational()
        || response.body().is_end_stream();
    let coders = match has_none {
        true => None,
        false => coders(response.headers(), limit),
    };
    let Some(coders) = coders.filter(|coders| !coders.is_empty()) else {
        return response;
    };
    let (mut head, body) = response.into_parts();
    head.headers.remove(CONTENT_ENCODING);
    head.headers.remove(CONTENT_LENGTH);
    let mut plain = Body::empty();
    plain.kind = Kind::Stream(Box::pin(Decoded::new(body, coders)));
    Response::from_parts(head, plain)
}

/// What undoes the codings, the last one first; `None` if one is unknown, or there are too many.
fn coders(headers: &HeaderMap, limit: u64) -> Option<Vec<Coder>> {
    let mut coders = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.to_str().ok()?.split(',') {
            let coder = match name.trim().to_ascii_lowercase().as_str() {
                "" | "identity" => continue,
                #[cfg(feature = "gzip")]
                "gzip" | "x-gzip" => decompress::gzip(),
                #[cfg(feature = "brotli")]
                "br" => decompress::brotli(),
                #[cfg(feature = "zstd")]
                "zstd" => decompress::zstd(),
                _ => return None,
            };
            if coders.len() == MOST_CODINGS {
                return None;
            }
            coders.push(Coder {
                stage: coder.limit(limit),
                input: Input::new(),
            });
        }
    }
    coders.reverse();
    Some(coders)
}

struct Coder {
    stage: Decompress,
    input: Input<Bytes>,
}

/// A body with its codings undone.
struct Decoded {
    body: Body,
    coders: Vec<Coder>,
    at: At,
    trailers: Option<HeaderMap>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Nothing has come: if nothing does, it is an empty body, which some servers call compressed.
    Start,
    Within,
    /// What is compressed has ended, the body may not have.
    End,
    /// It has ended or failed, and there is nothing more to say.
    Over,
}

impl Decoded {
    fn new(body: Body, coders: Vec<Coder>) -> Self {
        Self {
            body,
            coders,
            at: At::Start,
            trailers: None,
        }
    }

    /// The next bytes that can be made of what has come.
    fn step(&mut self) -> Result<Step<Bytes>, BodyError> {
        if self.at != At::Within {
            return Ok(Step::Need);
        }
        step(&mut self.coders).map_err(|error| match error.cause() {
            Cause::TooLong { .. } => BodyError::TooLarge,
            Cause::Truncated(_) => BodyError::Truncated,
            _ => BodyError::Other(error.into()),
        })
    }

    /// Whether something came with the end of what is compressed.
    fn has_rest(&mut self) -> bool {
        let mut rests = self
            .coders
            .iter_mut()
            .filter_map(|coder| coder.input.take());
        rests.any(|rest| !rest.is_empty())
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            match self.step() {
                Ok(Step::Item(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Ok(Step::Done) if self.has_rest() => return Poll::Ready(Some(Err(rest()))),
                Ok(Step::Done) => self.at = At::End,
                Ok(Step::Need) if self.at == At::Over => {
                    let trailers = self.trailers.take().map(Frame::trailers);
                    return Poll::Ready(trailers.map(Ok));
                }
                Ok(Step::Need) => {}
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
            let frame = ready!(Pin::new(&mut self.body).poll_frame(cx)).transpose();
            let frame = match frame {
                Ok(frame) => frame.map(Frame::into_data),
                Err(error) => return Poll::Ready(Some(Err(error))),
            };
            match frame {
                Some(Ok(bytes)) if bytes.is_empty() => {}
                Some(Ok(_)) if self.at == At::End => return Poll::Ready(Some(Err(rest()))),
                Some(Ok(bytes)) => {
                    self.at = At::Within;
                    self.coders[0].input.give(bytes);
                }
                Some(Err(frame)) => self.trailers = frame.into_trailers().ok(),
                None if self.at == At::Within => self.coders[0].input.end(),
                None => self.at = At::Over,
            }
        }
    }
}

fn rest() -> BodyError {
    BodyError::Other("something follows the compressed body".into())
}

/// Asks the last of them for bytes, which asks the one before it.
fn step(coders: &mut [Coder]) -> thrum_stream::Result<Step<Bytes>> {
    let Some((last, before)) = coders.split_last_mut() else {
        return Ok(Step::Need);
    };
    loop {
        match last.stage.step(&mut last.input)? {
            Step::Need if before.is_empty() => return Ok(Step::Need),
            Step::Need => match step(before)? {
                Step::Item(bytes) => last.input.give(bytes),
                Step::Done => last.input.end(),
                Step::Need => return Ok(Step::Need),
            },
            other => return Ok(other),
        }
    }
}

impl HttpBody for Decoded {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(self.poll(cx));
        if matches!(frame, Some(Err(_))) {
            self.at = At::Over;
            // What else comes is of no use, and neither is the connection.
            self.body = Body::empty();
            self.trailers = None;
        }
        Poll::Ready(frame)
    }
}

#[cfg(all(test, feature = "gzip", feature = "brotli", feature = "zstd"))]
mod tests {
    use futures_lite::stream;
    use thrum_stream::stage::compress;
    use thrum_stream::{Source, sink, source};

    use super::*;

    const TEXT: &[u8] = b"a thrum is a fringe of threads, a fringe of threads";

    async fn compressed(name: &str, plain: impl Into<Bytes>) -> Bytes {
        let plain = source::once(plain.into());
        let bytes = match name {
            "gzip" => {
                plain
                    .pipe(compress::gzip())
                    .run(sink::concat(1 << 20))
                    .await
            }
            "br" => {
                plain
                    .pipe(compress::brotli())
                    .run(sink::concat(1 << 20))
                    .await
            }
            _ => {
                plain
                    .pipe(compress::zstd())
                    .run(sink::concat(1 << 20))
                    .await
            }
        };
        bytes.unwrap().into()
    }

    fn response(codings: &str, body: impl Into<Body>) -> Response<Body> {
        let response = Response::builder().header(CONTENT_ENCODING, codings);
        response
            .header(CONTENT_LENGTH, "1")
            .body(body.into())
            .unwrap()
    }

    async fn plain(response: Response<Body>, limit: u64) -> Result<Bytes, BodyError> {
        let response = decode(response, &Method::GET, limit);
        assert!(!response.headers().contains_key(CONTENT_ENCODING));
        assert!(!response.headers().contains_key(CONTENT_LENGTH));
        response.into_body().bytes(1 << 30).await
    }

    #[test]
    fn each_coding_and_several() {
        thrum_rt::block_on(async {
            for name in ["gzip", "br", "zstd", "GZip", "identity, gzip"] {
                let bytes = compressed(
                    name.rsplit(' ')
                        .next()
                        .unwrap()
                        .to_ascii_lowercase()
                        .as_str(),
                    TEXT,
                )
                .await;
                let plain = plain(response(name, bytes), 1000).await.unwrap();
                assert_eq!(plain, TEXT, "{name}");
            }
            let inner = compressed("gzip", TEXT).await;
            let middle = compressed("br", inner).await;
            let outer = compressed("zstd", middle).await;
            let plain = plain(response("gzip, br,zstd", outer), 1000).await.unwrap();
            assert_eq!(plain, TEXT);
        });
    }

    #[test]
    fn it_comes_in_pieces_with_trailers() {
        thrum_rt::block_on(async {
            for name in ["gzip", "br", "zstd"] {
                let bytes = compressed(name, TEXT).await;
                let mut pieces: Vec<_> = bytes
                    .iter()
                    .map(|&byte| Ok::<_, BodyError>(Frame::data(Bytes::from(vec![byte]))))
                    .collect();
                let mut trailers = HeaderMap::new();
                trailers.insert("a", HeaderValue::from_static("b"));
                pieces.push(Ok(Frame::trailers(trailers)));
                let body = Body::wrap(Pieces(pieces.into_iter()));
                let mut body = decode(response(name, body), &Method::GET, 1000).into_body();
                let (mut all, mut seen) = (Vec::new(), None);
                while let Some(frame) =
                    std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
                {
                    match frame.unwrap().into_data() {
                        Ok(data) => all.extend_from_slice(&data),
                        Err(frame) => seen = frame.into_trailers().ok(),
                    }
                }
                assert_eq!(all, TEXT, "{name}");
                assert_eq!(seen.unwrap()["a"], "b");
            }
        });
    }

    struct Pieces<I>(I);

    impl<I: Iterator<Item = Result<Frame<Bytes>, BodyError>> + Unpin> HttpBody for Pieces<I> {
        type Data = Bytes;
        type Error = BodyError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
            Poll::Ready(self.0.next())
        }
    }

    #[test]
    fn a_bomb_is_not_set_off() {
        thrum_rt::block_on(async {
            let zeros =
                stream::iter((0..64).map(|_| Ok::<_, BodyError>(Bytes::from(vec![0; 1 << 20]))));
            let bomb = source::stream(zeros).pipe(compress::gzip());
            let bomb: Bytes = bomb.run(sink::concat(1 << 20)).await.unwrap().into();
            assert!(bomb.len() < 100_000);
            let error = plain(response("gzip", bomb.clone()), 1 << 20)
                .await
                .unwrap_err();
            assert!(matches!(error, BodyError::TooLarge), "{error}");
            // One within another is stopped in the middle too.
            let nested = compressed("br", bomb).await;
            let error = plain(response("gzip, br", nested), 1 << 20)
                .await
                .unwrap_err();
            assert!(matches!(error, BodyError::TooLarge), "{error}");
        });
    }

    #[test]
    fn what_is_wrong_is_an_error_once() {
        thrum_rt::block_on(async {
            for name in ["gzip", "br", "zstd"] {
                let bytes = compressed(name, TEXT).await;
                let short = bytes.slice(..bytes.len() - 3);
                let error = plain(response(name, short), 1000).await.unwrap_err();
                assert!(matches!(error, BodyError::Truncated), "{name} {error}");
                let long = [&bytes[..], b"more"].concat();
                assert!(plain(response(name, long), 1000).await.is_err(), "{name}");
                let mut body = decode(response(name, TEXT), &Method::GET, 1000).into_body();
                assert!(body.chunk().await.unwrap().is_err());
                assert!(body.chunk().await.is_none());
            }
        });
    }

    #[test]
    fn what_is_not_to_be_decoded_stays() {
        let untouched = |response: Response<Body>, method: Method| {
            let response = decode(response, &method, 1000);
            assert!(response.headers().contains_key(CONTENT_ENCODING));
            assert!(response.headers().contains_key(CONTENT_LENGTH));
        };
        untouched(response("gzip", "x"), Method::HEAD);
        untouched(response("gzip", ""), Method::GET);
        untouched(response("compress", "x"), Method::GET);
        untouched(response("gzip, compress", "x"), Method::GET);
        untouched(response("gzip, gzip, gzip, gzip", "x"), Method::GET);
        let mut part = response("gzip", "x");
        *part.status_mut() = StatusCode::PARTIAL_CONTENT;
        untouched(part, Method::GET);
    }

    #[test]
    fn an_empty_body_of_unknown_size_is_empty() {
        thrum_rt::block_on(async {
            let empty = Body::wrap(Pieces(std::iter::empty()));
            assert_eq!(plain(response("gzip", empty), 1000).await.unwrap(), "");
        });
    }

    #[test]
    fn it_is_asked_for_unless_the_caller_asks() {
        let mut fields = HeaderMap::new();
        assert!(accept(&mut fields));
        assert_eq!(fields[ACCEPT_ENCODING], "zstd, br, gzip");
        assert!(!accept(&mut fields));
        let mut fields = HeaderMap::new();
        fields.insert(RANGE, HeaderValue::from_static("bytes=0-1"));
        assert!(!accept(&mut fields) && fields.len() == 1);
    }
}
