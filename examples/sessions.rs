//! A counter for each visitor, who is known by a signed cookie. `sessions [ADDRESS]`, default 127.0.0.1:8080. The counts are in
//! the file that STORE names, default `sessions.redb`, and so there again after a restart.
//!
//! ```text
//! curl -c jar -b jar localhost:8080/       # your visit 1
//! curl -c jar -b jar localhost:8080/       # your visit 2
//! curl -c jar -b jar localhost:8080/bye
//! ```

use std::sync::Arc;

use thrum::http::{Body, Request, Response, StatusCode, serve, service_fn};
use thrum::net::TcpListener;
use thrum_examples::address;
use thrum_server::session::{Session, SessionError, Sessions};
use thrum_server::store::{Redb, RedbOptions};
use tower_layer::Layer;

const USAGE: &str =
    "usage: sessions [ADDRESS]    default 127.0.0.1:8080; STORE=FILE, default sessions.redb";

#[thrum::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = address(USAGE, "127.0.0.1:8080");
    let file = std::env::var("STORE").unwrap_or("sessions.redb".to_owned());
    let sessions = Sessions::new(Arc::new(Redb::open(file, RedbOptions::default())?));
    // Without TLS, as this program is, a browser would not send the cookie otherwise.
    let counter = sessions.layer().insecure().layer(service_fn(count));
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/", listener.local_addr()?);
    Ok(serve(listener, counter).await?)
}

async fn count(request: Request<Body>) -> Response<String> {
    answer(request).await.unwrap_or_else(|error| {
        let mut response = Response::new(format!("{error}\n"));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
    })
}

async fn answer(request: Request<Body>) -> Result<Response<String>, SessionError> {
    let Some(session) = request.extensions().get::<Session>().cloned() else {
        return Ok(Response::new("there is no layer of sessions\n".into()));
    };
    if request.uri().path() == "/bye" {
        session.destroy().await?;
        return Ok(Response::new("good bye\n".into()));
    }
    let before = session.get("visits").await?;
    let visits = before.and_then(|visits| visits.as_u64()).unwrap_or(0) + 1;
    session.set("visits", visits).await?;
    Ok(Response::new(format!("your visit {visits}\n")))
}
