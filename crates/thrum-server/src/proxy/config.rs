//! From how a proxy is written to the proxy: `/api/ >> 127.0.0.1:3000 127.0.0.1:3001 { timeout 10s; limit 200 }`.

use std::fmt::Display;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use thrum_http::tls::{Connector, Identity, Roots};

use super::settings::SETTINGS;
use super::{Balance, Forwarded, HashKey, Probe, Proxy, ProxyBuilder, Target, Template, Upstreams};
use crate::config::{Arity, Entry, Kind, Problem, RouteConfig, Settings, Span, Value, Verb};
use crate::forwarded::TrustedProxies;
use crate::metrics::{self, observe_upstreams};
use crate::site::{Building, Handler, HandlerKind};

/// `>>`
pub const VERB: Verb = Verb {
    word: ">>",
    name: "proxy",
    values: &[Kind::Text("UPSTREAM")],
    arity: Arity::Many,
    settings: SETTINGS,
    help: "Takes requests to one of these upstreams, and the responses back. An upstream is written HOST:PORT, :PORT, \
           http://HOST:PORT, https://HOST, h2c://HOST:PORT (HTTP/2 without TLS) or unix:/PATH. With a path behind it, that \
           path takes the place of the route's own.",
    example: "/api/ >> 127.0.0.1:3000 127.0.0.1:3001",
};

/// Makes the handler of a route with `>>`.
pub const KIND: HandlerKind = HandlerKind { verb: &VERB, build };

fn build(route: &RouteConfig, building: &mut Building<'_>) -> Option<Arc<dyn Handler>> {
    let settings = &route.settings;
    let upstreams = building.kept.get("proxy", Upstreams::default);
    let (known, registry) = (upstreams.clone(), metrics::verbs::registry(building));
    building.when_live(move |_| observe_upstreams(&registry, &known));
    let builder = targets(route, building)?;
    let builder = changes(settings, builder, &route.path, building)?;
    let builder = tls(settings, builder, building)?;
    let trusted = TrustedProxies::from_settings(building.global);
    let builder = limits(settings, builder.upstreams(upstreams).trust(trusted));
    if let Some(entry) = settings.written("health")
        && !entry.text().starts_with('/')
    {
        let why = format!("{} is no path: it begins with no /", entry.text());
        return refuse(building, entry.span(), why);
    }
    let proxy: Option<Proxy> = building.problems.check(route.span, builder.build());
    let proxy = proxy?;
    if settings.written("health").is_some() {
        let watch = proxy.watch();
        building.when_live(move |tasks| tasks.spawn(watch));
    }
    Some(Arc::new(proxy))
}

/// What is at fault, noted; nothing comes of it.
fn refuse<T>(building: &mut Building<'_>, span: Span, why: impl Display) -> Option<T> {
    building.problem(Problem::new(span, why.to_string()));
    None
}

/// The upstreams with their weights, and how they are chosen.
fn targets(route: &RouteConfig, building: &mut Building<'_>) -> Option<ProxyBuilder> {
    let settings = &route.settings;
    let mut builder = Proxy::builder();
    let mut is_well = true;
    for value in &route.values {
        let parsed = building
            .problems
            .check(value.span(), value.text().parse::<Target>());
        let Some(target) = parsed else {
            is_well = false;
            continue;
        };
        let mut weights = settings.all("weight");
        let weight = weights.find(|entry| entry.text() == value.text());
        let weight = weight.and_then(|entry| entry.values().get(1)?.text().parse().ok());
        builder = builder.to_weighted(target, weight.unwrap_or(1));
    }
    for entry in settings.all("weight") {
        let is_known = route
            .values
            .iter()
            .any(|value| value.text() == entry.text());
        if !is_known {
            let span = entry.values().first().map_or(entry.span(), Value::span);
            let why = format!("{} is none of the route's upstreams", entry.text());
            let problem = Problem::new(span, why);
            building.problem(problem.help("write it as it is written behind the arrow"));
            is_well = false;
        }
    }
    let balance = match settings.written("balance") {
        None => Some(Balance::RoundRobin),
        Some(entry) => balance(entry, building),
    };
    is_well.then_some(builder.balance(balance?))
}

fn balance(entry: &Entry, building: &mut Building<'_>) -> Option<Balance> {
    let name = entry.values().get(1).map(Value::text);
    let span = entry.values().first().map_or(entry.span(), Value::span);
    match (entry.text(), name) {
        ("header", Some(name)) => match HeaderName::from_bytes(name.as_bytes()) {
            Ok(name) => Some(Balance::Hash(HashKey::Header(name))),
            Err(_) => refuse(
                building,
                span,
                format!("{name} is no name of a header field"),
            ),
        },
        ("cookie", Some(name)) => Some(Balance::Hash(HashKey::Cookie(name.to_owned()))),
        (key @ ("header" | "cookie"), None) => {
            refuse(building, span, format!("the name of the {key} is missing"))
        }
        (key, Some(_)) => refuse(building, span, format!("{key} is not followed by a name")),
        ("least-connections", None) => Some(Balance::LeastConnections),
        ("client", None) => Some(Balance::Hash(HashKey::Client)),
        ("path", None) => Some(Balance::Hash(HashKey::Path)),
        _ => Some(Balance::RoundRobin),
    }
}

/// What is changed in requests.
fn changes(
    settings: &Settings,
    builder: ProxyBuilder,
    path: &Value,
    building: &mut Building<'_>,
) -> Option<ProxyBuilder> {
    let forwarded = match settings.text("forwarded") {
        Some("off") => Forwarded::Off,
        Some("rfc") => Forwarded::Rfc,
        _ => Forwarded::X,
    };
    let mut builder = builder.forwarded(forwarded).via(settings.is_on("via"));
    let mut is_well = true;
    for entry in settings.all("request-header") {
        match rule(entry, path, builder.clone()) {
            Ok(changed) => builder = changed,
            Err(why) => {
                is_well = false;
                building.problem(Problem::new(entry.span(), why));
            }
        }
    }
    let span = || {
        settings
            .written("host")
            .map_or(settings.span(), Entry::span)
    };
    builder = match settings.text("host") {
        None | Some("keep") => builder,
        Some("upstream") => builder.own_host(),
        Some(host) if host.parse::<http::uri::Authority>().is_ok() && !host.contains('@') => {
            match HeaderValue::from_str(host) {
                Ok(host) => builder.host(host),
                Err(error) => return refuse(building, span(), error),
            }
        }
        Some(host) => return refuse(building, span(), format!("{host} is no host")),
    };
    is_well.then_some(builder)
}

fn rule(entry: &Entry, path: &Value, builder: ProxyBuilder) -> Result<ProxyBuilder, String> {
    let mut texts = entry.values().iter().map(Value::text);
    let (what, name) = (texts.next(), texts.next().unwrap_or_default());
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
    let framing = [
        http::header::CONNECTION,
        http::header::CONTENT_LENGTH,
        http::header::HOST,
        http::header::TRANSFER_ENCODING,
        http::header::UPGRADE,
    ];
    if framing.contains(&name) {
        return Err(format!("{name} is not for a rule to change"));
    }
    match (what, texts.next()) {
        (Some("remove"), None) => Ok(builder.remove_header(name)),
        (Some("remove"), Some(_)) => Err("what is removed has no value".to_owned()),
        (_, None) => Err(format!("the value of {name} is missing")),
        (_, Some(value)) => {
            let template: Template = value
                .parse()
                .map_err(|error| format!("{value:?}: {error}"))?;
            for capture in template.captures() {
                let is_known = ["{", "{*"]
                    .iter()
                    .any(|open| path.text().contains(&format!("{open}{capture}}}")));
                if !is_known {
                    return Err(format!("the route's path has no {{{capture}}}"));
                }
            }
            Ok(builder.set_header(name, template))
        }
    }
}

/// Whom upstreams of https are known by.
fn tls(
    settings: &Settings,
    builder: ProxyBuilder,
    building: &mut Building<'_>,
) -> Option<ProxyBuilder> {
    let builder = match settings.text("tls-name") {
        Some(name) => builder.tls_name(name),
        None => builder,
    };
    let (roots, identity) = (
        settings.written("tls-roots"),
        settings.written("tls-identity"),
    );
    if roots.is_none() && identity.is_none() {
        return Some(builder);
    }
    let mut connector = Connector::builder();
    let mut key = String::new();
    if let Some(entry) = roots {
        let file = settings.path("tls-roots").unwrap_or_default();
        key.push_str(&file.display().to_string());
        let roots = building
            .problems
            .check(entry.span(), Roots::from_file(&file));
        connector = connector.roots(roots?);
    }
    if let Some(entry) = identity
        && let [chain, private] = entry.values()
    {
        let (chain, private) = (chain.path(), private.path());
        key = format!("{key} {} {}", chain.display(), private.display());
        let identity = Identity::from_files(&chain, &private);
        let identity = building.problems.check(entry.span(), identity);
        connector = connector.identity(identity?);
    }
    let connector = building.problems.check(settings.span(), connector.build());
    Some(builder.tls(connector?, &key))
}

fn limits(settings: &Settings, builder: ProxyBuilder) -> ProxyBuilder {
    let count = |name| settings.count(name) as usize;
    let few = |name| settings.count(name) as u32; // the table has limits
    let time = |name| settings.duration(name);
    let builder = builder
        .limit(count("limit"), count("queue"), time("queue-timeout"))
        .connect_timeout(time("connect-timeout"))
        .timeout(time("timeout"))
        .idle_timeout(time("idle-timeout"))
        .tunnel_timeout(time("tunnel-timeout"))
        .passive(few("fails"), time("for"))
        .retries(few("retries"), time("retry-time"), few("retry-budget"))
        .keep_alive(
            count("keep-alive"),
            time("keep-alive-timeout"),
            time("connection-age"),
        );
    let builder = match settings.is_on("buffer") {
        true => builder.buffer(settings.size("buffer-size")),
        false => builder,
    };
    match settings.written("health") {
        Some(entry) => builder.probe(probe(entry)),
        None => builder,
    }
}

fn probe(entry: &Entry) -> Probe {
    let probe = Probe::new(entry.text());
    let Some(block) = entry.block() else {
        return probe;
    };
    let expected = block.texts("expect").into_iter();
    let probe = probe
        .every(block.duration("every"))
        .timeout(block.duration("timeout"))
        .expect(expected.filter_map(|status| status.parse().ok()))
        .after(block.count("fails") as u32, block.count("passes") as u32);
    match block.text("host") {
        Some(host) => probe.host(host),
        None => probe,
    }
}
