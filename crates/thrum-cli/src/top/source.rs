//! The server that is asked.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use thrum_http::Client;
use thrum_server::admin::AdminConfig;
use thrum_server::config::{Config, Problems};
use thrum_server::site::{Endpoint, SiteName, TABLES};

use crate::args::config_or_usual;
use crate::error::Failure;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Source {
    client: Client,
    /// Without a path.
    url: String,
    name: String,
}

impl Source {
    /// The server at an address, or that of a configuration.
    pub(super) fn of(server: Option<&str>) -> Result<Self, Failure> {
        let address = match server.filter(|server| !Path::new(server).is_file()) {
            Some(text) => address(text).ok_or_else(|| {
                Failure::Process(format!("{text:?} is neither a file nor an address"))
            })?,
            None => configured(server)?,
        };
        let client = Client::builder();
        let (client, host) = match &address {
            Endpoint::Unix(path) => (client.unix_socket(path), "localhost".to_owned()),
            Endpoint::Local(port) => (client, format!("localhost:{port}")),
            Endpoint::Port(port) => (client, format!("127.0.0.1:{port}")),
            Endpoint::Address(address) => (client, address.to_string()),
        };
        Ok(Self {
            client: client.build(),
            url: format!("http://{host}"),
            name: address.to_string(),
        })
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The numbers, with the seconds after a moment.
    pub(super) async fn ask(&self, since: u64) -> Result<Value, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::Process(format!("the server at {} does not say: {error}", self.name))
        };
        let url = format!("{}/data.json?since={since}", self.url);
        let asked = self.client.get(url).timeout(PATIENCE).await;
        let answer = asked.and_then(|answer| answer.error_for_status());
        let bytes = match answer {
            Ok(answer) => answer.bytes().await,
            Err(error) => Err(error),
        };
        let bytes = bytes.map_err(|error| failed(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| failed(&error))
    }
}

/// Where the configuration says that the admin page is.
fn configured(file: Option<&str>) -> Result<Endpoint, Failure> {
    let path = config_or_usual(file.map(Path::new));
    let config =
        Config::read(&path, &TABLES).map_err(|report| Failure::Config(Box::new(report)))?;
    let mut problems = Problems::default();
    match AdminConfig::of(&config.global, &mut problems) {
        Some(admin) => Ok(admin.endpoint),
        None if !problems.is_empty() => {
            let report = config.report(problems.into_sorted());
            Err(Failure::Config(Box::new(report)))
        }
        None => Err(Failure::Process(format!(
            "{} has no admin page; `admin localhost:9900` in it makes one",
            path.display()
        ))),
    }
}

fn address(text: &str) -> Option<Endpoint> {
    if let Ok(port) = text.parse() {
        return Some(Endpoint::Local(port));
    }
    let name: SiteName = text.parse().ok()?;
    let named = matches!(name.endpoint, Endpoint::Port(_)) && !text.starts_with(':');
    (!named).then_some(name.endpoint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, url) in [
            ("9900", "http://localhost:9900"),
            (":9900", "http://127.0.0.1:9900"),
            ("localhost:9900", "http://localhost:9900"),
            ("http://localhost:9900/", "http://localhost:9900"),
            ("192.0.2.7:9900", "http://192.0.2.7:9900"),
            ("[::1]:9900", "http://[::1]:9900"),
            ("unix:/run/admin.sock", "http://localhost"),
        ] {
            assert_eq!(Source::of(Some(text)).ok().unwrap().url, url, "{text}");
        }
        assert!(Source::of(Some("no/such/file")).is_err());
        assert!(Source::of(Some("example.com:9900")).is_err());
    }
}
