//! `allow` and `deny`: which networks may ask.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use http::{Request, StatusCode};
use thrum_http::Body;

use super::{Guard, refused};
use crate::config::{Arity, Kind, Network, Setting, Settings};
use crate::site::{Answer, Building, Handler, Layer, Visit, reply};

/// `allow` and `deny`.
pub(crate) static SETTINGS: &[Setting] = &[
    Setting {
        arity: Arity::Many,
        repeats: true,
        ..Setting::new(
            "allow",
            &[Kind::Network],
            "Networks that may ask. `allow` and `deny` are tried in the order in which they are written, and the first that \
             has the client's address decides. Of those in none, nobody may ask if anybody is allowed, else all. A client \
             over a Unix socket is in `all` only.",
            "allow 10.0.0.0/8 2001:db8::/32",
        )
    },
    Setting {
        arity: Arity::Many,
        repeats: true,
        ..Setting::new(
            "deny",
            &[Kind::Network],
            "Networks that may not ask: 403. See `allow`.",
            "deny 192.0.2.7",
        )
    },
];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// Who may ask, by the client's address. The first rule with it decides; of addresses in no rule, none may ask if any is
/// allowed, else all.
///
/// ```
/// use thrum_server::guard::AllowDeny;
///
/// let rules = AllowDeny::default()
///     .deny("10.6.6.0/24".parse().unwrap())
///     .allow("10.0.0.0/8".parse().unwrap());
/// assert!(rules.admits(Some([10, 1, 2, 3].into())));
/// assert!(!rules.admits(Some([10, 6, 6, 6].into())));
/// assert!(!rules.admits(Some([192, 0, 2, 7].into())));
/// ```
#[derive(Clone, Debug, Default)]
pub struct AllowDeny {
    rules: Vec<(Network, bool)>,
}

impl AllowDeny {
    /// Those of this network may ask, unless an earlier rule says otherwise.
    #[must_use]
    pub fn allow(mut self, network: Network) -> Self {
        self.rules.push((network, true));
        self
    }

    /// Those of this network may not ask, unless an earlier rule says otherwise.
    #[must_use]
    pub fn deny(mut self, network: Network) -> Self {
        self.rules.push((network, false));
        self
    }

    /// Whether a client may ask. Without an address (over a Unix socket) it is in `all` and no other network.
    pub fn admits(&self, client: Option<IpAddr>) -> bool {
        let has = |network: &Network| match client {
            Some(client) => network.contains(client),
            None => {
                network.contains(Ipv4Addr::UNSPECIFIED.into())
                    && network.contains(Ipv6Addr::UNSPECIFIED.into())
            }
        };
        let decided = self.rules.iter().find(|(network, _)| has(network));
        decided.map_or_else(
            || self.rules.iter().all(|&(_, allowed)| !allowed),
            |&(_, allowed)| allowed,
        )
    }

    /// Guards a handler.
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Guarded {
            rules: self,
            handler,
        })
    }
}

struct Guarded {
    rules: AllowDeny,
    handler: Arc<dyn Handler>,
}

impl Handler for Guarded {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        if self.rules.admits(visit.client) {
            return self.handler.handle(request, visit);
        }
        refused(Guard::Address, &visit);
        reply::status(StatusCode::FORBIDDEN).into()
    }
}

fn build(settings: &Settings, handler: Arc<dyn Handler>, _: &mut Building<'_>) -> Arc<dyn Handler> {
    let mut rules = AllowDeny::default();
    for entry in &settings.entries {
        let allowed = match entry.setting.name {
            "allow" => true,
            "deny" => false,
            _ => continue,
        };
        let networks = entry.values().iter();
        rules
            .rules
            .extend(networks.filter_map(|value| Some((value.text().parse().ok()?, allowed))));
    }
    match rules.rules.is_empty() {
        true => handler,
        false => rules.around(handler),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from, get, hello, now};
    use super::*;

    #[test]
    fn the_first_decides() {
        let network = |text: &str| text.parse::<Network>().unwrap();
        let admits =
            |rules: &AllowDeny, address: &str| rules.admits(Some(address.parse().unwrap()));
        let only_deny = AllowDeny::default().deny(network("192.0.2.0/24"));
        assert!(!admits(&only_deny, "192.0.2.1") && admits(&only_deny, "10.0.0.1"));
        assert!(!admits(&only_deny, "::ffff:192.0.2.1"));
        assert!(only_deny.admits(None));
        let exception = AllowDeny::default()
            .allow(network("192.0.2.1"))
            .deny(network("192.0.2.0/24"))
            .allow(network("all"));
        assert!(admits(&exception, "192.0.2.1") && admits(&exception, "::1"));
        assert!(!admits(&exception, "192.0.2.2"));
        assert!(exception.admits(None));
        let only_allow = AllowDeny::default().allow(network("10.0.0.0/8"));
        assert!(!admits(&only_allow, "::1") && !only_allow.admits(None));
    }

    #[test]
    fn strangers_are_told_nothing_else() {
        let rules = AllowDeny::default().allow("10.0.0.0/8".parse().unwrap());
        let guarded = rules.around(hello());
        let status = |address| now(guarded.handle(get(&[]), from(address))).status();
        assert_eq!(status("10.0.0.1"), 200);
        assert_eq!(status("11.0.0.1"), 403);
    }
}
