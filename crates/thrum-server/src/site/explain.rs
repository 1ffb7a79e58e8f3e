//! What would become of a request: which line answers, with what, under which settings.

use std::fmt;

use http::{HeaderMap, Method, Request, StatusCode, Uri};
use serde_json::{Value as Json, json};
use thrum_http::Body;

use super::app::Sites;
use super::handler::{Answer, Visit};
use super::name::Endpoint;
use super::pattern::normalized;
use super::sites::{Found, host_of, with_path};
use crate::config::{Config, Effective, RouteConfig, SiteConfig};

/// Verbs whose handlers ask nobody: their answer can be had without anything happening anywhere.
const ASK_NOBODY: [&str; 3] = ["files", "redirect", "respond"];

/// What would become of a request.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The URL that was asked about.
    pub url: String,
    /// Where such a request arrives, as in `:443, with TLS`.
    pub listener: Option<String>,
    /// The host that the site is chosen by.
    pub host: String,
    /// What happens, step by step, in sentences without full stops.
    pub steps: Vec<String>,
    /// The line that answers, and every setting that holds for it.
    pub line: Option<Effective>,
    /// What it answers, if that can be told without asking anybody: status and fields.
    pub answer: Option<(StatusCode, HeaderMap)>,
}

impl Sites {
    /// Explains what becomes of a GET for a URL with the sites of a configuration, which must be the one they were
    /// [built](Sites::build) of.
    pub async fn explain(&self, config: &Config, url: &Uri) -> Explanation {
        let mut told = Explanation {
            url: url.to_string(),
            listener: None,
            host: String::new(),
            steps: Vec::new(),
            line: None,
            answer: None,
        };
        let secure = url.scheme_str() == Some("https");
        let port = url.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let request = |uri: Uri| {
            let mut request = Request::new(Body::empty());
            *request.uri_mut() = uri;
            request
        };
        let asked = request(url.clone());
        told.host = host_of(&asked).to_owned();
        let mut endpoints = self.endpoints.iter();
        let listener = endpoints.find(|(endpoint, _)| endpoint.port() == Some(port));
        let Some((endpoint, (with_tls, hosts))) = listener else {
            let ports = self.endpoints.keys().map(Endpoint::to_string);
            let ports: Vec<_> = ports.collect();
            told.step(format!(
                "nothing listens on port {port}, only on {}",
                ports.join(" ")
            ));
            return told;
        };
        told.listener = Some(match with_tls {
            true => format!("{endpoint}, with TLS"),
            false => format!("{endpoint}, without TLS"),
        });
        if *with_tls != secure {
            let (theirs, ours) = if secure {
                ("https", "http")
            } else {
                ("http", "https")
            };
            told.step(format!("{endpoint} speaks {ours}, not {theirs}"));
            return told;
        }
        let Some(site) = hosts.find(&told.host) else {
            told.step(format!(
                "no site answers for the host {:?} there: 421",
                told.host
            ));
            return told;
        };
        let Some(site_config) = site.place.and_then(|place| config.sites.get(place)) else {
            told.step("port 80 leads to the same URL with https: 301".to_owned());
            return told;
        };
        told.step(format!(
            "the site {} answers for {}",
            site.name(),
            told.host
        ));

        let mut uri = url.clone();
        let mut from = 0;
        // As many steps as requests are passed on at most, and the first.
        for _ in 0..=super::sites::HOPS {
            match normalized(uri.path()) {
                Ok(None) => {}
                Ok(Some(path)) => {
                    told.step(format!("the path {} means {path}", uri.path()));
                    match with_path(&uri, &path) {
                        Some(normal) => uri = normal,
                        None => return told.refused(),
                    }
                }
                Err(_) => return told.refused(),
            }
            let (at, captures) = match site.find(uri.path(), from) {
                Found::Route(at, captures) => (at, captures),
                Found::WithSlash => {
                    told.step(format!("a route matches {0}/: 301 to {0}/", uri.path()));
                    return told;
                }
                Found::None => {
                    told.step(format!("no route of it matches {}: 404", uri.path()));
                    return told;
                }
            };
            let found = &site.routes[at];
            let Some(route) = site_config.routes.get(found.place) else {
                return told;
            };
            told.step(written(route, config));
            for (name, value) in &captures {
                told.step(format!("{{{name}}} is {value}"));
            }
            told.line = Some(line(config, site_config, route));
            let passes_on = route.verb.name == "rewrite";
            if !passes_on && !ASK_NOBODY.contains(&route.verb.name) {
                return told;
            }
            let mut visit = Visit::new(None, secure);
            visit.route = found.route.clone();
            visit.captures = captures;
            match found.handler.handle(request(uri.clone()), visit) {
                Answer::Onward(onward) => {
                    uri = onward.uri().clone();
                    told.step(format!("which goes on as {}", uri.path()));
                    from = at + 1;
                }
                answer => {
                    let (head, _) = answer.response().await.into_parts();
                    told.answer = Some((head.status, head.headers));
                    return told;
                }
            }
        }
        told.step("it goes in circles: 500".to_owned());
        told
    }
}

impl Explanation {
    fn step(&mut self, step: String) {
        self.steps.push(step);
    }

    fn refused(mut self) -> Self {
        self.step("its path is malformed: 400".to_owned());
        self
    }

    /// For machines: the same fields; `line` as `thrum config --format json` has a site.
    pub fn to_json(&self) -> String {
        let text =
            |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let answer = self.answer.as_ref().map(|(status, fields)| {
            let fields = fields.iter();
            let fields: Vec<Json> = fields
                .map(|(name, value)| json!([name.as_str(), text(value)]))
                .collect();
            json!({ "status": status.as_u16(), "fields": fields })
        });
        let line = self.line.as_ref().map(|line| line.to_json());
        let line: Option<Json> = line.and_then(|line| serde_json::from_str(&line).ok());
        let told = json!({
            "url": self.url,
            "method": Method::GET.as_str(),
            "listener": self.listener,
            "host": self.host,
            "steps": self.steps,
            "line": line.map(|line| line["sites"][0].clone()),
            "answer": answer,
        });
        format!("{told:#}\n")
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "GET {}", self.url)?;
        if let Some(listener) = &self.listener {
            writeln!(f, "arrives at {listener}")?;
        }
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        if let Some(line) = &self.line {
            writeln!(f, "\nWhat holds for it:\n{line}")?;
        }
        if let Some((status, fields)) = &self.answer {
            writeln!(f, "The answer:\n{status}")?;
            for (name, value) in fields {
                writeln!(f, "{name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
            }
        }
        Ok(())
    }
}

/// `thrum.conf:5:5: /api/ >> 127.0.0.1:3000`
fn written(route: &RouteConfig, config: &Config) -> String {
    let place = config.sources.place(route.path.span());
    let values = route
        .values
        .iter()
        .map(|value| format!(" {}", value.text()));
    let values: String = values.collect();
    format!("{place}: {} {}{values}", route.path.text(), route.verb.word)
}

/// A configuration of that one line, with all that holds for it.
fn line(config: &Config, site: &SiteConfig, route: &RouteConfig) -> Effective {
    let whole = config.effective();
    let sites = config.sites.iter().zip(whole.sites);
    let sites = sites.filter(|(one, _)| std::ptr::eq(*one, site));
    let sites = sites.map(|(_, mut effective)| {
        let routes = site.routes.iter().zip(effective.routes);
        let routes = routes.filter(|(one, _)| std::ptr::eq(*one, route));
        effective.routes = routes.map(|(_, route)| route).collect();
        for route_effect in &mut effective.routes {
            route_effect.settings = config.effects(&route.settings.over(&site.settings));
        }
        effective.settings = Vec::new();
        effective
    });
    Effective {
        settings: Vec::new(),
        sites: sites.collect(),
    }
}
