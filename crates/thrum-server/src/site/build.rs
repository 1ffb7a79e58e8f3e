//! From a checked configuration to sites.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::header::LOCATION;
use http::{HeaderValue, Method, Request, StatusCode};
use thrum_http::Body;

use super::building::{Building, Kept, Start};
use super::handler::{Answer, Handler, Route, Visit};
use super::name::{Endpoint, Host, SiteName};
use super::pattern::Pattern;
use super::sites::{Hosts, Site, SiteRoute, host_of};
use super::tables::{HANDLERS, LAYERS};
use super::{Sites, reply};
use crate::admin;
use crate::config::{Arity, Config, Kind, Problem, Problems, RouteConfig, Setting, Settings};
use crate::config::{SiteConfig, Value};
use crate::forwarded::TrustedProxies;
use crate::observe;
use crate::process::says_tls;
use crate::store;

/// What may stand in a site and is read here.
pub(super) const SITE_SETTINGS: &[Setting] = &[
    Setting {
        arity: Arity::Many,
        repeats: true,
        ..Setting::new(
            "listen",
            &[Kind::Address],
            "Where the site is listened for, in place of what its names imply.",
            "listen 192.0.2.1:443",
        )
    },
    Setting {
        default: "on",
        ..Setting::new(
            "redirect-http",
            &[Kind::Switch],
            "Whether a site with TLS on port 443 has requests to port 80 led there.",
            "redirect-http off",
        )
    },
];

/// What sites there are at each endpoint, while they are collected.
struct Collected {
    endpoints: BTreeMap<Endpoint, At>,
}

struct At {
    secure: bool,
    hosts: Hosts,
}

impl Sites {
    /// Makes sites of a configuration. Nothing is changed in the world until they [come to life](super::App::swap).
    ///
    /// # Errors
    /// All that is wrong: files and folders that are missing, routes that can never match, hosts that two sites answer for,
    /// listeners in each other's way.
    pub fn build(config: &Config, kept: &Kept) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let mut collected = Collected {
            endpoints: BTreeMap::new(),
        };
        let mut building = Building {
            problems: &mut problems,
            kept,
            global: &config.global,
            starts: Vec::new(),
        };
        store::config::check(&mut building);
        observe::prepare(&mut building);
        let mut redirects = Vec::new();
        for (place, site) in config.sites.iter().enumerate() {
            let names = site_names(site, &mut building);
            let built = Arc::new(build_site(site, place, &mut building));
            let redirect = site.settings.is_on("redirect-http");
            for (name, value) in names {
                if redirect && name.secure && name.endpoint == Endpoint::Port(443) {
                    redirects.push(name.host.clone());
                }
                collected.add(&name, value, &built, &mut building);
            }
        }
        collected.add_admin(&mut building);
        let starts: Vec<Start> = building.starts;
        collected.add_redirects(redirects);
        if problems.is_empty() {
            let endpoints = collected.endpoints.into_iter();
            Ok(Self {
                endpoints: endpoints
                    .map(|(endpoint, at)| (endpoint, (at.secure, at.hosts)))
                    .collect(),
                trusted: TrustedProxies::from_settings(&config.global),
                starts,
            })
        } else {
            Err(problems.into_sorted())
        }
    }
}

impl Collected {
    fn add(&mut self, name: &SiteName, value: &Value, site: &Arc<Site>, to: &mut Building<'_>) {
        let endpoint = &name.endpoint;
        let in_the_way = self.endpoints.keys().find(|known| {
            *known != endpoint && known.port() == endpoint.port() && known.overlaps(endpoint)
        });
        if let Some(known) = in_the_way {
            to.problem(
                Problem::new(
                    value.span(),
                    format!("{endpoint} and {known} are in each other's way"),
                )
                .label("listens on the same port")
                .help("write the address of both sites in the same way"),
            );
            return;
        }
        let at = self
            .endpoints
            .entry(endpoint.clone())
            .or_insert_with(|| At {
                secure: name.secure,
                hosts: Hosts::default(),
            });
        if at.secure != name.secure {
            to.problem(
                Problem::new(
                    value.span(),
                    format!("{endpoint} cannot be with TLS and without"),
                )
                .label(if name.secure {
                    "with TLS"
                } else {
                    "without TLS"
                })
                .help("give one of the sites another port, or write http:// or https:// before the name"),
            );
        } else if !at.hosts.add(&name.host, site) {
            let host = &name.host;
            let what = match host {
                Host::Any => format!("two sites answer for every host at {endpoint}"),
                host => format!("two sites answer for {host} at {endpoint}"),
            };
            to.problem(Problem::new(value.span(), what).label("the second one is never asked"));
        }
    }

    /// The admin page, where there is nothing else.
    fn add_admin(&mut self, to: &mut Building<'_>) {
        let Some((config, entry)) = admin::at(to.global, to.problems) else {
            return;
        };
        let Some(value) = entry.values().first() else {
            return;
        };
        let name = SiteName {
            endpoint: config.endpoint,
            secure: false,
            host: Host::Any,
        };
        if self.endpoints.contains_key(&name.endpoint) {
            let what = format!("a site is there: {}", name.endpoint);
            to.problem(Problem::new(value.span(), what).help("give the admin page another port"));
            return;
        }
        let site = Site::new("admin".to_owned(), Vec::new(), admin::handler(to));
        self.add(&name, value, &Arc::new(site.seen(observe::unseen())), to);
    }

    /// Leads from port 80 to the sites on port 443, where nothing else is there.
    fn add_redirects(&mut self, hosts: Vec<Host>) {
        for host in hosts {
            let at = self.endpoints.entry(Endpoint::Port(80)).or_insert(At {
                secure: false,
                hosts: Hosts::default(),
            });
            let all = SiteRoute {
                pattern: Pattern::parse("/").expect("it is one"),
                route: Arc::default(),
                handler: Arc::new(ToHttps),
                place: 0,
            };
            let site = Site::new(format!("http://{host}"), vec![all], Arc::new(ToHttps));
            // A site of that name takes precedence.
            if !at.secure {
                at.hosts.add(&host, &Arc::new(site));
            }
        }
    }
}

/// The names of a site, and where each of them stands.
fn site_names<'a>(site: &'a SiteConfig, to: &mut Building<'_>) -> Vec<(SiteName, &'a Value)> {
    let mut names = Vec::new();
    for value in &site.names {
        let parsed = value.text().parse::<SiteName>();
        let Some(mut name) = to.problems.check(value.span(), parsed) else {
            continue;
        };
        match says_tls(site) {
            // The port that only TLS implies is not meant.
            Some(false) if name.endpoint == Endpoint::Port(443) => {
                (name.endpoint, name.secure) = (Endpoint::Port(80), false);
            }
            Some(secure) => name.secure = secure,
            None => {}
        }
        let mut listens = site.settings.all("listen").peekable();
        if listens.peek().is_none() {
            names.push((name, value));
            continue;
        }
        for address in listens.flat_map(|entry| entry.values()) {
            let parsed = address.text().parse::<SiteName>();
            if let Some(at) = to.problems.check(address.span(), parsed) {
                let name = SiteName {
                    endpoint: at.endpoint,
                    ..name.clone()
                };
                names.push((name, address));
            }
        }
    }
    names
}

fn build_site(site: &SiteConfig, place: usize, to: &mut Building<'_>) -> Site {
    let name = site.names.first().map_or("", Value::text).to_owned();
    let mut routes: Vec<(SiteRoute, &RouteConfig)> = Vec::new();
    for (place, config) in site.routes.iter().enumerate() {
        let parsed = Pattern::parse(config.path.text());
        let Some(pattern) = to.problems.check(config.path.span(), parsed) else {
            continue;
        };
        let passes_on = |route: &RouteConfig| route.verb.name == "rewrite";
        let hidden_by = routes
            .iter()
            .find(|(earlier, from)| !passes_on(from) && earlier.pattern.covers(&pattern));
        if let Some((earlier, _)) = hidden_by {
            let by = &earlier.route.pattern;
            to.problem(
                Problem::new(
                    config.path.span(),
                    format!(
                        "the route {} can never match: {by} before it takes all of it",
                        config.path.text()
                    ),
                )
                .label("never reached")
                .help(format!("write it before {by}")),
            );
            continue;
        }
        let route = Route {
            site: name.clone(),
            pattern: config.path.text().to_owned(),
            mount: pattern.mount().to_owned(),
        };
        if let Some(handler) = build_handler(config, &site.settings, to) {
            routes.push((
                SiteRoute {
                    pattern,
                    route: Arc::new(route),
                    handler,
                    place,
                },
                config,
            ));
        }
    }
    let routes = routes.into_iter().map(|(route, _)| route).collect();
    let fallback = wrapped(Arc::new(NotFound), &site.settings, to);
    let sight = observe::of_site(&name, &site.settings, to);
    let mut site = Site::new(name, routes, fallback).seen(sight);
    site.place = Some(place);
    site
}

fn build_handler(
    config: &RouteConfig,
    site: &Settings,
    to: &mut Building<'_>,
) -> Option<Arc<dyn Handler>> {
    let mut kinds = HANDLERS.iter();
    let kind = kinds.find(|kind| kind.verb.word == config.verb.word)?;
    let handler = (kind.build)(config, to)?;
    Some(wrapped(handler, &config.settings.over(site), to))
}

/// Puts all layers around a handler.
fn wrapped(
    handler: Arc<dyn Handler>,
    settings: &Settings,
    to: &mut Building<'_>,
) -> Arc<dyn Handler> {
    LAYERS.iter().rev().fold(handler, |handler, layer| {
        (layer.build)(settings, handler, to)
    })
}

/// Answers where there is no route.
struct NotFound;

impl Handler for NotFound {
    fn handle(&self, _: Request<Body>, _: Visit) -> Answer {
        reply::status(StatusCode::NOT_FOUND).into()
    }
}

/// Leads to the same place with TLS.
struct ToHttps;

impl Handler for ToHttps {
    fn handle(&self, request: Request<Body>, _: Visit) -> Answer {
        let host = host_of(&request);
        let path = request
            .uri()
            .path_and_query()
            .map_or("/", |path| path.as_str());
        let Ok(to) = HeaderValue::try_from(format!("https://{host}{path}")) else {
            return reply::status(StatusCode::BAD_REQUEST).into();
        };
        let mut response = reply::status(match *request.method() {
            Method::GET | Method::HEAD => StatusCode::MOVED_PERMANENTLY,
            _ => StatusCode::PERMANENT_REDIRECT,
        });
        response.headers_mut().insert(LOCATION, to);
        response.into()
    }
}
