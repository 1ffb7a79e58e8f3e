//! `limit-rate`: how many requests a client may send in a time.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderName, Request};
use thrum_http::Body;
use thrum_http::middleware::RateLimit;

use super::{Guard, kept_name, refused};
use crate::config::{Arity, Entry, Kind, Problem, Setting, Settings};
use crate::site::{Answer, Building, Handler, Layer, Visit};

/// `limit-rate`.
pub(crate) static SETTINGS: &[Setting] = &[Setting {
    repeats: true,
    block: BLOCK,
    ..Setting::new(
        "limit-rate",
        &[Kind::Rate],
        "How many requests a client may send in a time; those beyond are answered with 429. Several limits hold together. \
         What clients have used up outlives a reload.",
        "limit-rate 10/s { burst 20 }",
    )
}];

static BLOCK: &[Setting] = &[
    Setting::new(
        "burst",
        &[Kind::Count(1, 1_000_000)],
        "How many may come at once after a client has been quiet. Without it: as many as the rate has.",
        "burst 20",
    ),
    Setting {
        arity: Arity::OptionalLast,
        default: "address",
        ..Setting::new(
            "by",
            &[Kind::Choice(&["address", "header"]), Kind::Header],
            "What a client is: its address (of IPv6 the first 64 bits), or what this header says, for which a trusted proxy \
             should answer: clients can send what they like. Without the header it is the address.",
            "by header X-Api-Key",
        )
    },
    Setting {
        default: "65536",
        ..Setting::new(
            "clients",
            &[Kind::Count(1, 16 << 20)],
            "How many clients are remembered, 17 bytes each. Beyond them those are forgotten that have used the least.",
            "clients 100000",
        )
    },
    Setting::new(
        "name",
        &[Kind::Text("NAME")],
        "Limits with the same name and the same rate are one limit, for all their routes together. Without it, each \
         statement is one; in a site, for all its routes together.",
        "name login",
    ),
];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// Limits of how many requests a client may send in a time.
///
/// ```
/// use std::time::Duration;
/// use thrum_http::middleware::RateLimit;
/// use thrum_server::guard::RateLimits;
///
/// let by_address = RateLimit::new(10, Duration::from_secs(1)).burst(20);
/// let by_key = RateLimit::new(1000, Duration::from_secs(3600));
/// let limits = RateLimits::default()
///     .by_address(by_address)
///     .by_header("x-api-key".parse().unwrap(), by_key);
/// # let _ = limits;
/// ```
#[derive(Clone, Debug, Default)]
pub struct RateLimits {
    limits: Vec<(Option<HeaderName>, RateLimit)>,
}

impl RateLimits {
    /// A limit for each address, as a trusted proxy says it; of IPv6, for each network of 64 bits. Over a Unix socket there
    /// is none, and no limit.
    #[must_use]
    pub fn by_address(mut self, limit: RateLimit) -> Self {
        self.limits.push((None, limit));
        self
    }

    /// A limit for each value of a header; for each address where it is missing.
    #[must_use]
    pub fn by_header(mut self, name: HeaderName, limit: RateLimit) -> Self {
        self.limits.push((Some(name), limit));
        self
    }

    /// Guards a handler.
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Guarded {
            limits: self.limits,
            handler,
        })
    }
}

struct Guarded {
    limits: Vec<(Option<HeaderName>, RateLimit)>,
    handler: Arc<dyn Handler>,
}

impl Handler for Guarded {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        for (header, limit) in &self.limits {
            let value = header.as_ref().and_then(|name| request.headers().get(name));
            let admitted = match (value, visit.client) {
                (Some(value), _) => limit.admit(&("header", value.as_bytes())),
                (None, Some(client)) => limit.admit(&("address", network(client))),
                (None, None) => Ok(()),
            };
            if let Err(response) = admitted {
                refused(Guard::Rate, &visit);
                return (*response).into();
            }
        }
        self.handler.handle(request, visit)
    }
}

/// What one subscriber has.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & (u128::MAX << 64)).into()),
        address => address,
    }
}

fn build(
    settings: &Settings,
    handler: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    let mut limits = RateLimits::default();
    for entry in settings.all("limit-rate") {
        limits.limits.extend(limit(entry, building));
    }
    match limits.limits.is_empty() {
        true => handler,
        false => limits.around(handler),
    }
}

fn limit(entry: &Entry, building: &mut Building<'_>) -> Option<(Option<HeaderName>, RateLimit)> {
    let block = entry.block()?;
    let rate = crate::config::rate(entry.text())?;
    let burst = block.text("burst").map(|_| block.count("burst") as u32);
    let burst = burst.unwrap_or(rate.count);
    let clients = block.count("clients") as usize;
    let by = block.written("by").map(|by| (by.span(), by.values()));
    let header = match by {
        Some((span, [by, ..])) if by.text() == "header" => {
            let Some(name) = by_header(block) else {
                let problem = Problem::new(span, "the header's name is missing");
                building.problem(problem.help("write it so: by header X-Api-Key"));
                return None;
            };
            Some(name)
        }
        Some((span, [_, _, ..])) => {
            building
                .problem(Problem::new(span, "an address has no name").help("write: by address"));
            return None;
        }
        _ => None,
    };
    let says = (rate, burst, clients, &header);
    let name = match block.text("name") {
        Some(name) => format!("limit-rate {name:?} {says:?}"),
        None => kept_name(entry, &says),
    };
    let limit = building.kept.get(&name, || {
        let limit = RateLimit::new(rate.count, rate.per);
        limit.burst(burst).clients(clients)
    });
    Some((header, RateLimit::clone(&limit)))
}

fn by_header(block: &Settings) -> Option<HeaderName> {
    block.written("by")?.values().get(1)?.text().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::testing::{from, get, hello, now};
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn each_address_has_its_own() {
        let guarded = RateLimits::default()
            .by_address(RateLimit::new(2, HOUR).burst(3))
            .around(hello());
        let ask = |address: &str| now(guarded.handle(get(&[]), from(address)));
        for _ in 0..3 {
            assert_eq!(ask("192.0.2.1").status(), 200);
        }
        let refused = ask("192.0.2.1");
        assert_eq!(refused.status(), 429);
        let after: u64 = refused.headers()["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!((1700..=1800).contains(&after), "{after}");
        assert_eq!(
            refused.headers()["ratelimit-policy"],
            "\"default\";q=2;w=3600"
        );
        assert_eq!(ask("192.0.2.2").status(), 200);
        // A subscriber's network is one client.
        for last in 1..=3 {
            assert_eq!(ask(&format!("2001:db8::{last}")).status(), 200);
        }
        assert_eq!(ask("2001:db8::4").status(), 429);
        // Nobody to limit.
        for _ in 0..9 {
            let answer = guarded.handle(get(&[]), Visit::new(None, false));
            assert_eq!(now(answer).status(), 200);
        }
    }

    #[test]
    fn each_header_has_its_own_and_its_lack_is_no_way_around() {
        let key = HeaderName::from_static("x-key");
        let guarded = RateLimits::default()
            .by_header(key, RateLimit::new(1, HOUR))
            .around(hello());
        let ask =
            |fields: &[(&str, &str)]| now(guarded.handle(get(fields), from("192.0.2.1"))).status();
        assert_eq!(ask(&[("x-key", "a")]), 200);
        assert_eq!(ask(&[("x-key", "a")]), 429);
        assert_eq!(ask(&[("x-key", "b")]), 200);
        assert_eq!(ask(&[]), 200);
        assert_eq!(ask(&[]), 429);
    }
}
