//! From the command line to a plan.

use std::fs;
use std::path::Path;

use http::{Method, Uri};
use thrum_load::{BodyText, Expect, HttpVersion, Plan, RequestText};

use super::args::{RequestArgs, RunArgs};
use crate::error::Failure;

/// The plan for one URL; `threads` is what the runtime has.
pub(super) fn plan(args: &RunArgs, url: &Uri, threads: usize) -> Result<Plan, Failure> {
    let mut plan = Plan::new(url.clone()).map_err(|error| Failure::Load(error.into()))?;
    let load = &args.load;
    plan.connections = load.connections;
    plan.in_flight = load.in_flight;
    plan.burst = load.burst;
    plan.rate = load.rate.clone();
    plan.arrivals = load.arrivals.into();
    plan.session = load.session;
    plan.think = load.think;
    plan.duration = load.duration;
    plan.requests_total = load.requests;
    plan.warm_up = load.warm_up;
    plan.timeout = load.timeout;
    plan.stop_on_error = load.stop_on_error;
    plan.threads = threads;
    plan.cookies = args.requests.cookies;
    plan.target.version = match (args.connection.http1, args.connection.http2) {
        (true, _) => HttpVersion::Http1,
        (_, true) => HttpVersion::Http2,
        _ => HttpVersion::Negotiated,
    };
    plan.target.insecure = args.connection.insecure;
    plan.target.unix_socket = args.connection.unix.clone();
    plan.target.from = args
        .connection
        .from
        .iter()
        .flat_map(|some| some.0.clone())
        .collect();
    plan.expect = Expect {
        statuses: args.requests.expect_status.clone(),
        fields: args.requests.expect_header.clone(),
        body: args.requests.expect_body.clone().map(String::into_bytes),
    };
    plan.requests = requests(&args.requests, url)?;
    Ok(plan)
}

fn requests(args: &RequestArgs, url: &Uri) -> Result<Vec<RequestText>, Failure> {
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    let body = match (&args.body, &args.body_file) {
        _ if !is_http => BodyText::Text(args.line.clone()),
        (Some(text), _) => BodyText::Text(text.clone()),
        (None, Some(file)) => BodyText::Bytes(read(file)?.into()),
        (None, None) => BodyText::None,
    };
    let usual = match body {
        BodyText::None => Method::GET,
        _ => Method::POST,
    };
    let request = |method: Option<Method>, target: &str| RequestText {
        method: method.or(args.method.clone()).unwrap_or(usual.clone()),
        target: target.to_owned(),
        fields: args.header.clone(),
        body: body.clone(),
    };
    let Some(file) = &args.urls else {
        return Ok(vec![request(None, target(url))]);
    };
    let text = String::from_utf8(read(file)?)
        .map_err(|_| Failure::Urls(file.clone(), 1, "it is not UTF-8".to_owned()))?;
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split_once(" #").map_or(line, |(line, _)| line).trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (method, target) =
            entry(line, url).map_err(|why| Failure::Urls(file.clone(), index + 1, why))?;
        all.push(request(method, &target));
    }
    match all.is_empty() {
        true => Err(Failure::Urls(
            file.clone(),
            1,
            "there is no path in it".to_owned(),
        )),
        false => Ok(all),
    }
}

/// A line of the file: `[METHOD] PATH-or-URL`.
fn entry(line: &str, url: &Uri) -> Result<(Option<Method>, String), String> {
    let words: Vec<_> = line.split_whitespace().collect();
    let (method, place) = match words[..] {
        [place] => (None, place),
        [method, place] => {
            let parsed = method
                .parse()
                .map_err(|_| format!("{method:?} is no method"))?;
            (Some(parsed), place)
        }
        _ => return Err("a line is `[METHOD] PATH-or-URL`".to_owned()),
    };
    if place.starts_with('/') {
        return Ok((method, place.to_owned()));
    }
    let other: Uri = place
        .parse()
        .map_err(|_| format!("{place:?} is neither a path nor a URL"))?;
    if (other.scheme(), other.authority()) != (url.scheme(), url.authority()) {
        return Err(format!(
            "{place} is not on {url}: all of a load is for one server"
        ));
    }
    Ok((method, target(&other).to_owned()))
}

fn target(url: &Uri) -> &str {
    url.path_and_query().map_or("/", |target| target.as_str())
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|error| Failure::Unreadable(file.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_a_method_and_a_place_of_the_same_server() {
        let url = Uri::from_static("http://localhost:8080/");
        assert_eq!(entry("/a?b={n}", &url), Ok((None, "/a?b={n}".to_owned())));
        assert_eq!(
            entry("HEAD  /a", &url),
            Ok((Some(Method::HEAD), "/a".to_owned()))
        );
        let whole = "http://localhost:8080/x?y";
        assert_eq!(entry(whole, &url), Ok((None, "/x?y".to_owned())));
        for line in [
            "GET /a HTTP/1.1",
            "http://other/",
            "relative",
            "GE(T /a",
            "https://localhost:8080/",
        ] {
            assert!(entry(line, &url).is_err(), "{line}");
        }
    }
}
