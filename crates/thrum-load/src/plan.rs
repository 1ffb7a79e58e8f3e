//! What a load is to do: whom it asks, how much at once, how fast, for how long.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use http::Uri;
use thiserror::Error;

use crate::check::Expect;
use crate::pace::{Arrivals, Rate};
use crate::requests::RequestText;

/// What a load is to do. Every field has a default but the target.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whom it asks.
    pub target: Target,
    /// What it asks, in turn. None: for the target's path, by GET; of a protocol without requests, the body alone is sent.
    pub requests: Vec<RequestText>,
    /// What answers are expected to be.
    pub expect: Expect,
    /// Connections. Default: 50.
    pub connections: usize,
    /// Requests of a connection that may wait for their answers at the same time: pipelined over HTTP/1.1, as streams over
    /// HTTP/2. Default: 1.
    pub in_flight: usize,
    /// Requests that are sent at once; when all of them are answered, the next. Default: none, each is sent by itself.
    pub burst: Option<usize>,
    /// Arrivals of requests (of bursts, of sessions) a second, of all connections together, whether the server keeps up or
    /// not. Default: none, a connection sends when it was answered.
    pub rate: Option<Rate>,
    /// How they are spread. Default: evenly.
    pub arrivals: Arrivals,
    /// Requests on a connection before it is closed, and opened anew. Default: none, it is kept.
    pub session: Option<u64>,
    /// The pause between an answer and the next request. Default: zero.
    pub think: Duration,
    /// Each connection keeps the cookies that it is given. Default: false.
    pub cookies: bool,
    /// How long it measures. Default: 10 s, or until `requests_total` are sent.
    pub duration: Option<Duration>,
    /// Requests in all, those of the warm-up not counted. Default: none.
    pub requests_total: Option<u64>,
    /// How long it goes on before it measures. Default: 1 s.
    pub warm_up: Duration,
    /// How long a connection, and an answer, is waited for. Default: 10 s.
    pub timeout: Duration,
    /// It ends at the first error. Default: false.
    pub stop_on_error: bool,
    /// Threads that send and receive; as many as the runtime has workers.
    pub threads: usize,
}

/// Whom a load asks.
#[derive(Clone, Debug)]
pub struct Target {
    /// The URL, of `http`, `https`, `ws`, `wss` or `tcp`.
    pub url: Uri,
    /// Which version of HTTP is spoken.
    pub version: HttpVersion,
    /// Any certificate will do.
    pub insecure: bool,
    /// A Unix socket instead of the URL's host.
    pub unix_socket: Option<PathBuf>,
    /// Addresses of this machine to connect from, in turn. One has some 28,000 connections to a server's port.
    pub from: Vec<IpAddr>,
}

/// Versions of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// What TLS agrees on; HTTP/1.1 without.
    #[default]
    Negotiated,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, with prior knowledge where there is no TLS.
    Http2,
}

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    WebSocket,
    Line,
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadPlan {
    /// No URL that can be asked.
    #[error(
        "{0} cannot be asked: a URL begins with http://, https://, ws://, wss:// or tcp:// and names a host"
    )]
    Url(Uri),
    /// A count of nothing.
    #[error("there has to be at least one of {0}")]
    Zero(&'static str),
    /// Two wishes that contradict each other.
    #[error("{0} and {1} contradict each other: {2}")]
    Contradiction(&'static str, &'static str, &'static str),
}

impl Plan {
    /// One with every default.
    ///
    /// # Errors
    /// [`BadPlan::Url`].
    pub fn new(url: Uri) -> Result<Self, BadPlan> {
        let target = Target {
            url,
            version: HttpVersion::default(),
            insecure: false,
            unix_socket: None,
            from: Vec::new(),
        };
        target.protocol()?;
        Ok(Self {
            target,
            requests: Vec::new(),
            expect: Expect::default(),
            connections: 50,
            in_flight: 1,
            burst: None,
            rate: None,
            arrivals: Arrivals::default(),
            session: None,
            think: Duration::ZERO,
            cookies: false,
            duration: None,
            requests_total: None,
            warm_up: Duration::from_secs(1),
            timeout: Duration::from_secs(10),
            stop_on_error: false,
            threads: 1,
        })
    }

    /// How long it measures; `None`: until all requests are sent.
    pub(crate) fn run(&self) -> Option<Duration> {
        match (self.duration, self.requests_total) {
            (None, None) => Some(Duration::from_secs(10)),
            (duration, _) => duration,
        }
    }

    pub(crate) fn check(&self) -> Result<(), BadPlan> {
        let protocol = self.target.protocol()?;
        let counts = [
            ("--connections", self.connections),
            ("--in-flight", self.in_flight),
            ("--burst", self.burst.unwrap_or(1)),
            ("--threads", self.threads),
            (
                "--session",
                self.session.map_or(1, |session| session as usize),
            ),
            (
                "--requests",
                self.requests_total.map_or(1, |total| total as usize),
            ),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(BadPlan::Zero(name));
        }
        let is_open = self.rate.is_some();
        let changes = self.rate.as_ref().is_some_and(Rate::changes);
        let contradictions = [
            (
                self.burst.is_some() && self.in_flight > 1,
                (
                    "--burst",
                    "--in-flight",
                    "a burst says itself how many are under way",
                ),
            ),
            (
                is_open && self.session.is_none() && !self.think.is_zero(),
                (
                    "--rate",
                    "--think",
                    "with a rate, the clock says when requests are due; --session has pauses",
                ),
            ),
            (
                changes && self.run().is_none(),
                (
                    "--rate",
                    "--requests",
                    "a rate that changes over the run needs its --duration",
                ),
            ),
            (
                self.target.version == HttpVersion::Http2 && protocol != Protocol::Http,
                ("--http2", "the URL", "only http and https speak HTTP/2"),
            ),
            (
                self.cookies && protocol != Protocol::Http,
                ("--cookies", "the URL", "only http and https have cookies"),
            ),
            (
                self.target.unix_socket.is_some() && !self.target.from.is_empty(),
                ("--unix", "--from", "a Unix socket has no address"),
            ),
        ];
        match contradictions.into_iter().find(|(is_so, _)| *is_so) {
            Some((_, (one, other, why))) => Err(BadPlan::Contradiction(one, other, why)),
            None => Ok(()),
        }
    }

    /// What was asked of the load, beyond the defaults, as pairs of words.
    pub(crate) fn words(&self) -> Vec<(String, String)> {
        let mut words = vec![
            ("connections", self.connections.to_string()),
            ("threads", self.threads.to_string()),
        ];
        let mut add = |is_there: bool, name, value: String| {
            if is_there {
                words.push((name, value));
            }
        };
        add(self.in_flight > 1, "in flight", self.in_flight.to_string());
        add(
            self.burst.is_some(),
            "burst",
            self.burst.unwrap_or(0).to_string(),
        );
        if let Some(rate) = &self.rate {
            add(true, "rate", rate.to_string());
            add(
                self.arrivals == Arrivals::Poisson,
                "arrivals",
                "poisson".to_owned(),
            );
        }
        add(
            self.session.is_some(),
            "session",
            self.session.unwrap_or(0).to_string(),
        );
        add(!self.think.is_zero(), "think", format!("{:?}", self.think));
        let run = self.run();
        add(
            run.is_some(),
            "duration",
            format!("{:?}", run.unwrap_or_default()),
        );
        let total = self.requests_total;
        add(total.is_some(), "requests", total.unwrap_or(0).to_string());
        add(
            !self.warm_up.is_zero(),
            "warm-up",
            format!("{:?}", self.warm_up),
        );
        match self.target.version {
            HttpVersion::Negotiated => {}
            HttpVersion::Http1 => add(true, "protocol", "HTTP/1.1".to_owned()),
            HttpVersion::Http2 => add(true, "protocol", "HTTP/2".to_owned()),
        }
        add(
            self.requests.len() > 1,
            "list",
            format!("{} requests", self.requests.len()),
        );
        words
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

impl Target {
    pub(crate) fn protocol(&self) -> Result<Protocol, BadPlan> {
        let bad = || BadPlan::Url(self.url.clone());
        self.url
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(bad)?;
        match self.url.scheme_str() {
            Some("http" | "https") => Ok(Protocol::Http),
            Some("ws" | "wss") => Ok(Protocol::WebSocket),
            Some("tcp") if self.url.port_u16().is_some() => Ok(Protocol::Line),
            _ => Err(bad()),
        }
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self.url.scheme_str(), Some("https" | "wss"))
    }

    /// The port that the URL names or means.
    pub(crate) fn port(&self) -> u16 {
        let usual = if self.is_tls() { 443 } else { 80 };
        self.url.port_u16().unwrap_or(usual)
    }

    /// The host, an IPv6 address without its brackets.
    pub(crate) fn host(&self) -> &str {
        self.url.host().unwrap_or("").trim_matches(['[', ']'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(url: &'static str) -> Plan {
        Plan::new(Uri::from_static(url)).unwrap()
    }

    #[test]
    fn urls_say_what_is_spoken() {
        for (url, port, is_tls) in [
            ("http://localhost/", 80, false),
            ("https://[::1]/a?b", 443, true),
            ("wss://host:9/", 9, true),
            ("tcp://127.0.0.1:44444", 44444, false),
        ] {
            let target = plan(url).target;
            assert_eq!((target.port(), target.is_tls()), (port, is_tls), "{url}");
        }
        assert_eq!(plan("http://[::1]:80/").target.host(), "::1");
        for url in ["/path", "ftp://host/", "tcp://host", "localhost:8080"] {
            assert!(Plan::new(Uri::from_static(url)).is_err(), "{url}");
        }
    }

    #[test]
    fn contradictions_are_named() {
        let mut bad = plan("http://localhost/");
        bad.burst = Some(3);
        bad.in_flight = 2;
        assert!(
            bad.check()
                .unwrap_err()
                .to_string()
                .starts_with("--burst and --in-flight")
        );
        bad.burst = None;
        bad.connections = 0;
        assert_eq!(bad.check(), Err(BadPlan::Zero("--connections")));
        let mut ramp = plan("http://localhost/");
        ramp.rate = Some(Rate::Ramp(1.0, 2.0));
        assert_eq!(ramp.check(), Ok(()));
        ramp.requests_total = Some(10);
        assert!(ramp.check().is_err());
    }
}
