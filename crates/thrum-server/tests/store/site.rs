//! A site of a configuration, asked without a network.

use std::path::Path;

use bytes::Bytes;
use thrum_http::{Body, HeaderMap, Request, Response, StatusCode};
use thrum_server::config::Config;
use thrum_server::site::{App, AppAt, Kept, Sites, TABLES};

pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answered {
    pub(crate) async fn of(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        Self {
            status: head.status,
            headers: head.headers,
            body: body.bytes(1 << 24).await.unwrap(),
        }
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// A configuration with one site at port 8080. To be called in the runtime.
pub(crate) fn serve(text: &str) -> Result<AppAt, Vec<String>> {
    let config = Config::parse(text, &TABLES).map_err(|report| {
        let problems = report.problems().iter();
        problems
            .map(|problem| problem.message.clone())
            .collect::<Vec<_>>()
    })?;
    let sites = Sites::build(&config, &Kept::default()).map_err(|problems| {
        let messages = problems.into_iter().map(|problem| problem.message);
        messages.collect::<Vec<_>>()
    })?;
    let endpoint = sites.endpoints().next().unwrap().0.clone();
    Ok(App::new(sites).at(endpoint))
}

pub(crate) async fn ask(
    site: &AppAt,
    method: &str,
    path: &str,
    fields: &[(&str, &str)],
    body: impl Into<Body>,
) -> Answered {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let request = request.body(body.into()).unwrap();
    Answered::of(site.answer(request).response().await).await
}

pub(crate) fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}
