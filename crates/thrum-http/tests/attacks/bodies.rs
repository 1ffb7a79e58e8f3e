//! Bodies in disguise, too large, or ignored.

use thrum_http::{Application, Body, Request, Response, StatusCode, service_fn};

/// What the attacks ask.
pub(crate) fn application() -> impl Application + Sync {
    service_fn(async |request: Request<Body>| match request.uri().path() {
        "/good" => Response::new(Body::from("good")),
        "/read" => read(request.into_body()).await,
        _ => Response::new(Body::from("hello")),
    })
}

/// Counts the bytes of a body, and keeps none.
async fn read(mut body: Body) -> Response<Body> {
    let mut length = 0;
    while let Some(data) = body.chunk().await {
        match data {
            Ok(data) => length += data.len(),
            Err(error) => {
                let mut response = Response::new(Body::from(error.to_string()));
                *response.status_mut() = StatusCode::BAD_REQUEST;
                return response;
            }
        }
    }
    Response::new(Body::from(length.to_string()))
}
