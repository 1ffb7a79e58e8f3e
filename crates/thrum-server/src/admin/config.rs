//! Where the admin page is listened.

use crate::config::{Entry, Kind, Problem, Problems, Setting, Settings};
use crate::site::{Endpoint, Host, SiteName};

/// Outside of all sites.
pub(crate) const ADMIN: Setting = Setting {
    block: BLOCK,
    ..Setting::new(
        "admin",
        &[Kind::Address],
        "Where the admin page is: throughput, latency, routes, connections, hand-offs, caches and the last lines of the log, \
         with data.json and metrics beside it. A loopback address or a Unix socket; none unless it is written.",
        "admin localhost:9900",
    )
};

const BLOCK: &[Setting] = &[Setting {
    default: "off",
    ..Setting::new(
        "open",
        &[Kind::Switch],
        "Whether other machines may connect, where the address lets them. Whoever connects can read all of it.",
        "open on",
    )
}];

/// What a configuration says of the admin page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminConfig {
    /// Where it is listened.
    pub endpoint: Endpoint,
}

impl AdminConfig {
    /// What stands outside of all sites. `None` if nothing does, or if something is wrong; then a problem was noted.
    pub fn of(global: &Settings, problems: &mut Problems) -> Option<Self> {
        at(global, problems).map(|(config, _)| config)
    }
}

/// The same with where it stands.
pub(crate) fn at<'a>(
    global: &'a Settings,
    problems: &mut Problems,
) -> Option<(AdminConfig, &'a Entry)> {
    let entry = global.written("admin")?;
    let span = entry.values().first()?.span();
    let text = entry.text();
    // A port alone is this machine's.
    let name = match text.parse() {
        Ok(port) => Endpoint::Local(port),
        Err(_) => {
            let name: SiteName = problems.check(span, text.parse::<SiteName>())?;
            match name.host {
                Host::Any => {}
                Host::Exact(host) if host == "localhost" => {}
                host => {
                    let what = format!("{host} is no address that can be listened at");
                    let help = "write localhost, an address or unix: and a path";
                    problems.add(Problem::new(span, what).help(help));
                    return None;
                }
            }
            name.endpoint
        }
    };
    let open = entry.block().is_some_and(|block| block.is_on("open"));
    if !open && !is_local(&name) {
        let what = format!("other machines could read the admin page at {text}");
        let help = "write localhost or unix: and a path; or { open on } behind it if that is meant";
        problems.add(Problem::new(span, what).help(help));
        return None;
    }
    Some((AdminConfig { endpoint: name }, entry))
}

fn is_local(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Local(_) | Endpoint::Unix(_) => true,
        Endpoint::Address(address) => address.ip().is_loopback(),
        Endpoint::Port(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::site::{Kept, Sites, TABLES};

    fn endpoints(admin: &str) -> Result<Vec<String>, String> {
        let text = format!("{admin}\nhttp://a:8080 {{\n/ health\n}}\n");
        let config = Config::parse(&text, &TABLES).map_err(|report| format!("{report:?}"))?;
        let sites = Sites::build(&config, &Kept::default())
            .map_err(|problems| problems[0].message.clone())?;
        Ok(sites.endpoints().map(|(at, _)| at.to_string()).collect())
    }

    #[test]
    fn it_is_listened_at_a_place_of_its_own() {
        for (admin, at) in [
            ("admin localhost:9900", "localhost:9900"),
            ("admin 9900", "localhost:9900"),
            ("admin 127.0.0.1:9900", "127.0.0.1:9900"),
            ("admin [::1]:9900", "[::1]:9900"),
            ("admin unix:/run/admin.sock", "unix:/run/admin.sock"),
            ("admin :9900 { open on }", ":9900"),
            ("admin 192.0.2.7:9900 { open on }", "192.0.2.7:9900"),
        ] {
            let found = endpoints(admin).unwrap();
            assert!(found.contains(&at.to_owned()), "{admin}: {found:?}");
            assert_eq!(found.len(), 2);
        }
        assert_eq!(endpoints("").unwrap(), [":8080"]);
    }

    #[test]
    fn who_could_read_it_is_asked_for() {
        for (admin, wrong) in [
            ("admin :9900", "other machines could read"),
            ("admin 192.0.2.7:9900", "other machines could read"),
            (
                "admin 0.0.0.0:9900 { open off }",
                "other machines could read",
            ),
            ("admin example.com:9900", "is no address"),
            ("admin localhost:8080", "are in each other's way"),
            ("admin :8080 { open on }", "a site is there"),
        ] {
            let found = endpoints(admin).unwrap_err();
            assert!(found.contains(wrong), "{admin}: {found}");
        }
    }
}
