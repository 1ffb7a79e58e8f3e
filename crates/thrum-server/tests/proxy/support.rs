//! Upstreams, a proxy before them as it would be written, and raw clients.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{HeaderMap, Request, Response};
use thrum_http::{Application, Body, Server, service_fn};
use thrum_rt::net::{TcpListener, TcpStream};
use thrum_rt::time::{sleep, timeout};
use thrum_server::config::Config;
use thrum_server::proxy::{Status, Upstreams};
use thrum_server::site::{App, Kept, Sites, TABLES};

/// Nothing here takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = thrum_rt::Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        timeout(PATIENCE * 2, test)
            .await
            .expect("it takes too long")
    });
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(timeout(PATIENCE, wait).await.is_ok(), "{what}");
}

/// Serves an application on a free port.
pub(crate) async fn serve(application: impl Application) -> SocketAddr {
    serve_on("127.0.0.1:0", Server::new(), application).await
}

pub(crate) async fn serve_on(
    address: &str,
    server: Server,
    application: impl Application,
) -> SocketAddr {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    thrum_rt::spawn(async move { server.serve(listener, application).await });
    address
}

/// An upstream that counts what it is asked and answers with a text.
pub(crate) async fn says(text: &'static str) -> (SocketAddr, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let address = serve(service_fn(move |_: Request<Body>| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { Response::new(Body::from(text)) }
    }))
    .await;
    (address, asked)
}

/// An upstream that answers with the head it got.
pub(crate) async fn mirror() -> SocketAddr {
    serve(service_fn(mirrored)).await
}

pub(crate) async fn mirrored(request: Request<Body>) -> Response<Body> {
    let mut text = format!("{} {}\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        text += &format!("{name}: {}\n", value.to_str().unwrap());
    }
    Response::new(text.into())
}

/// An upstream of which each connection is served by hand.
pub(crate) async fn by_hand<F: Future<Output = ()> + Send + 'static>(
    serve: impl Fn(TcpStream) -> F + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    thrum_rt::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            thrum_rt::spawn(serve(stream));
        }
    });
    address
}

/// An address where nobody listens.
pub(crate) fn nobody() -> SocketAddr {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap()
}

/// A proxy that is served.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    pub(crate) kept: Arc<Kept>,
    pub(crate) app: App,
}

/// What is built of these routes.
pub(crate) fn sites(routes: &str, kept: &Kept) -> Result<Sites, String> {
    sites_of(&format!(":8080 {{\n{routes}\n}}\n"), kept)
}

fn sites_of(text: &str, kept: &Kept) -> Result<Sites, String> {
    let config = Config::parse(text, &TABLES).map_err(|report| report.to_string())?;
    Sites::build(&config, kept).map_err(|problems| {
        let messages = problems.iter().map(|problem| problem.message.as_str());
        messages.collect::<Vec<_>>().join("; ")
    })
}

/// Serves these routes, written as in a site.
pub(crate) async fn front(routes: &str) -> Front {
    front_of(&format!(":8080 {{\n{routes}\n}}\n")).await
}

/// Serves a whole configuration.
pub(crate) async fn front_of(text: &str) -> Front {
    let kept = Arc::new(Kept::default());
    let sites = sites_of(text, &kept).unwrap();
    let endpoint = sites.endpoints().next().unwrap().0.clone();
    let app = App::new(sites);
    let address = serve(app.at(endpoint)).await;
    Front { address, kept, app }
}

impl Front {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, HeaderMap, String) {
        let response = thrum_http::get(self.url(path)).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        (status, headers, response.text().await.unwrap())
    }

    /// What is known of an upstream.
    pub(crate) fn status(&self, address: SocketAddr) -> Status {
        let upstreams = self.kept.get("proxy", Upstreams::default);
        let name = format!("http://{address}");
        let status = upstreams.status().into_iter();
        status
            .into_iter()
            .find(|status| status.name == name)
            .unwrap()
    }

    /// A connection on which these bytes were said.
    pub(crate) async fn say(&self, bytes: impl AsRef<[u8]>) -> TcpStream {
        let stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes.as_ref()).await.unwrap();
        stream
    }
}

/// Reads until the text has come.
pub(crate) async fn read_until(stream: &TcpStream, text: &str) -> String {
    let mut all = String::new();
    let mut buffer = [0; 65536];
    while !all.contains(text) {
        let read = timeout(PATIENCE, stream.read(&mut buffer)).await;
        let read = read.expect("it comes").unwrap();
        assert!(read > 0, "closed after {all:?}, without {text:?}");
        all.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    all
}

/// All that comes until the other end closes.
pub(crate) async fn read_to_end(stream: &TcpStream) -> String {
    let mut all = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        let read = timeout(PATIENCE, stream.read(&mut buffer)).await;
        match read.expect("the other end closes") {
            Ok(0) | Err(_) => return String::from_utf8_lossy(&all).into_owned(),
            Ok(read) => all.extend_from_slice(&buffer[..read]),
        }
    }
}

/// Notes a test that could not run.
pub(crate) fn skipped(program: &str) {
    use std::io::Write;
    eprintln!("skipped: {program} is not installed");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = std::fs::OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "the proxy with {program} (not installed)").unwrap();
    }
}
