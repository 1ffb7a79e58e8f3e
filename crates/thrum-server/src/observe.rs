//! Who looks on: for each exchange the access logs and the numbers of its route.
//!
//! A [`Watcher`] is the observer of a server. It finds the route of an exchange by what the route's site has
//! [left](thrum_http::note()) for it, a [`Sight`]; guards leave the [`User`], and who trusts a proxy in between, the [`Client`].

use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use http::Request;
use thrum_http::{Body, Exchange, Observer, Server, Stats, note};

use crate::access_log::{AccessLog, Format};
use crate::clock::steady_second;
use crate::config::{Arity, Kind, Problem, Setting, Settings};
use crate::error_log::ErrorLogConfig;
use crate::guard::observe_guards;
use crate::lock::lock;
use crate::log::{Target, settings};
use crate::metrics::{History, Meters, Registry, RouteMeter, observe_runtime, observe_server};
use crate::site::{Answer, Building, Handler, Layer, Route, Visit};

/// Who was authenticated: left by a guard with [`note`](thrum_http::note()), for the logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User(pub Arc<str>);

/// The client's address, when that is not the peer's: left by whoever trusts the proxy in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client(pub IpAddr);

/// What is to be done for the exchanges of one route. Made once, and left for the [`Watcher`] by each exchange.
#[derive(Debug)]
pub struct Sight {
    route: Arc<Route>,
    meter: Arc<RouteMeter>,
    logs: Arc<[Arc<SiteLog>]>,
}

impl Sight {
    /// The route.
    pub fn route(&self) -> &Arc<Route> {
        &self.route
    }

    fn tell(&self, exchange: &Exchange<'_>) {
        self.meter.count(exchange);
        self.logs.iter().for_each(|log| log.finished(exchange));
    }
}

/// The observer of a server with sites: writes their access logs, and counts.
///
/// There is one for all configurations of a process: `kept.get("", Watcher::default)`.
#[derive(Debug)]
pub struct Watcher {
    /// For exchanges without a route.
    default: ArcSwap<Sight>,
    /// All that are open.
    logs: Mutex<Vec<Weak<SiteLog>>>,
    meters: Arc<Meters>,
    history: History,
    /// What is observed, and where its numbers are, which are held here over reloads.
    server: OnceLock<(Server, Arc<Registry>)>,
}

impl Default for Watcher {
    fn default() -> Self {
        let meters = Arc::new(Meters::default());
        let nowhere = Sight {
            route: Arc::default(),
            meter: meters.route("", ""),
            logs: Arc::default(),
        };
        Self {
            default: ArcSwap::from_pointee(nowhere),
            logs: Mutex::default(),
            meters,
            history: History::default(),
            server: OnceLock::new(),
        }
    }
}

impl Watcher {
    /// Observes a server: to be asked once, before the server is cloned. What the server counts is in the registry then.
    pub fn watch(self: &Arc<Self>, server: Server, registry: &Arc<Registry>) -> Server {
        // Without the observer, so that the two do not keep each other.
        observe_server(registry, &server);
        let _ = self.server.set((server.clone(), registry.clone()));
        server.observer(self.clone())
    }

    /// What the server that is watched counts.
    pub fn stats(&self) -> Option<Stats> {
        self.server.get().map(|(server, _)| server.stats())
    }

    /// The numbers of all routes.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// The last ten minutes, once a configuration [has come to life](crate::site::App).
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Opens the files of all access logs anew; see [`AccessLog::reopen`].
    pub fn reopen_logs(&self) {
        self.opened().iter().for_each(|log| log.reopen());
    }

    /// Writes what is left of all access logs, and ends them; see [`AccessLog::close`]. To be called when the server has ended.
    pub fn close_logs(&self) {
        self.opened().iter().for_each(|log| log.close());
    }

    /// How many lines the access logs that are open lack; see [`AccessLog::dropped`].
    pub fn dropped(&self) -> u64 {
        self.opened().iter().map(|log| log.dropped()).sum()
    }

    fn opened(&self) -> Vec<Arc<AccessLog>> {
        let logs = lock(&self.logs);
        let logs = logs.iter().filter_map(Weak::upgrade);
        logs.filter_map(|log| log.open.get()?.clone()).collect()
    }

    fn open(&self, log: &Arc<SiteLog>) {
        log.open.get_or_init(|| {
            let opened = AccessLog::open(&log.target, &log.format);
            let failed = |error| {
                tracing::error!(
                    "cannot open the access log {}: {error}; requests are served without it",
                    log.target
                );
            };
            let mut logs = lock(&self.logs);
            logs.retain(|log| log.strong_count() > 0);
            logs.push(Arc::downgrade(log));
            opened.map_err(failed).ok()
        });
    }
}

impl Observer for Watcher {
    fn finished(&self, exchange: &Exchange<'_>) {
        match exchange.note::<Sight>() {
            Some(sight) => sight.tell(exchange),
            None => self.default.load().tell(exchange),
        }
    }
}

/// A log of a configuration: open once that has come to life.
#[derive(Debug)]
struct SiteLog {
    target: Target,
    format: Format,
    /// `None` within: it could not be opened.
    open: OnceLock<Option<Arc<AccessLog>>>,
}

impl SiteLog {
    fn finished(&self, exchange: &Exchange<'_>) {
        if let Some(Some(log)) = self.open.get() {
            log.finished(exchange);
        }
    }
}

/// How an access log is written.
pub(crate) const LOG: Setting = Setting {
    arity: Arity::OptionalLast,
    repeats: true,
    block: settings::BLOCK,
    ..Setting::new(
        "log",
        &[Kind::Text("TARGET"), Kind::Text("FORMAT")],
        "The access log: to a file, stdout, stderr, syslog, syslog:HOST:PORT, syslog+tcp:HOST:PORT or journald, or off. The format is \
         combined, common, json, or a template such as \"{client} {time} {request} {status}\". May be written again for further logs. \
         What stands in a site or a route is in place of what stands outside of it.",
        "log /var/log/thrum/access.log combined { rotate daily; keep 7; gzip on }",
    )
};

static SETTINGS: &[Setting] = &[LOG];

/// Notes the route of each request for its logs and numbers. The outermost layer.
pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build: |settings, inner, to| {
        Arc::new(Watched {
            inner,
            logs: logs_for(settings, to),
            meters: watcher(to).meters.clone(),
            sight: OnceLock::new(),
        })
    },
};

/// For what a site answers without a route.
pub(crate) fn of_site(name: &str, settings: &Settings, to: &mut Building<'_>) -> Arc<Sight> {
    Arc::new(Sight {
        route: Arc::new(Route {
            site: name.to_owned(),
            ..Route::default()
        }),
        meter: watcher(to).meters.route(name, ""),
        logs: logs_for(settings, to),
    })
}

/// For what is neither logged nor counted among the routes: whoever looks on does not see himself.
pub(crate) fn unseen() -> Arc<Sight> {
    Arc::new(Sight {
        route: Arc::default(),
        meter: Meters::default().route("", ""),
        logs: Arc::default(),
    })
}

/// What is done once for a configuration: the log for what no site answers, and looking on once a second.
pub(crate) fn prepare(to: &mut Building<'_>) {
    let logs = logs(to.global, to);
    let watcher = watcher(to);
    open_when_live(watcher.clone(), &logs, to);
    // What is wrong with it is said now; it is opened by whoever sets `tracing` up.
    ErrorLogConfig::of(to.global, to.problems);
    let registry = crate::metrics::verbs::registry(to);
    to.when_live(move |tasks| {
        let nowhere = Sight {
            route: Arc::default(),
            meter: watcher.meters.route("", ""),
            logs,
        };
        watcher.default.store(Arc::new(nowhere));
        observe_runtime(&registry);
        observe_guards(&registry);
        observe_watcher(&registry, &watcher);
        tasks.spawn(async move {
            loop {
                thrum_rt::time::sleep(Duration::from_secs(1)).await;
                let open = watcher.stats().map_or(0, |stats| stats.open);
                watcher
                    .history
                    .look(&watcher.meters, open as u64, steady_second());
            }
        });
    });
}

fn observe_watcher(registry: &Registry, watcher: &Arc<Watcher>) {
    registry.source_of("sites", watcher, |watcher, sample| {
        watcher.meters.tell(sample);
        for log in watcher.opened() {
            let help = "Lines of access logs that were dropped.";
            sample.counter(
                "thrum_access_log_dropped_total",
                help,
                &[("log", log.name())],
                log.dropped(),
            );
        }
    });
}

fn watcher(to: &Building<'_>) -> Arc<Watcher> {
    to.kept.get("", Watcher::default)
}

fn open_when_live(watcher: Arc<Watcher>, logs: &Arc<[Arc<SiteLog>]>, to: &mut Building<'_>) {
    let logs = logs.clone();
    to.when_live(move |_| logs.iter().for_each(|log| watcher.open(log)));
}

/// The logs that are written in a block, or else outside of all sites.
fn logs_for(settings: &Settings, to: &mut Building<'_>) -> Arc<[Arc<SiteLog>]> {
    let logs = match settings.written("log") {
        Some(_) => logs(settings, to),
        None => logs(to.global, to),
    };
    open_when_live(watcher(to), &logs, to);
    logs
}

/// The logs that are written in a block. Those that say the same are one, also over reloads.
fn logs(settings: &Settings, to: &mut Building<'_>) -> Arc<[Arc<SiteLog>]> {
    let mut logs = Vec::new();
    for entry in settings.all("log") {
        if entry.text() == "off" {
            if let Some(more) = entry.values().get(1) {
                to.problem(Problem::new(more.span(), "a log that is off has no format"));
            }
            continue;
        }
        let format = match entry.values().get(1) {
            None => Some(Format::combined()),
            Some(value) => to.problems.check(value.span(), value.text().parse()),
        };
        let target = settings::target(entry, to.problems);
        let (Some(target), Some(format)) = (target, format) else {
            continue;
        };
        if let Err(error) = format.fits(&target) {
            to.problem(Problem::new(entry.span(), error.to_string()));
            continue;
        }
        let name = format!("{target:?} {format:?}");
        logs.push(to.kept.get(&name, || SiteLog {
            target,
            format,
            open: OnceLock::new(),
        }));
    }
    logs.into()
}

/// Leaves a route's sight for the watcher. Each is in front of one route, or of what a site says where it has none.
struct Watched {
    inner: Arc<dyn Handler>,
    logs: Arc<[Arc<SiteLog>]>,
    meters: Arc<Meters>,
    /// Made with the first request, which knows the route.
    sight: OnceLock<Arc<Sight>>,
}

impl Handler for Watched {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let sight = self.sight.get_or_init(|| {
            Arc::new(Sight {
                meter: self.meters.route(&visit.route.site, &visit.route.pattern),
                route: visit.route.clone(),
                logs: self.logs.clone(),
            })
        });
        note(sight.clone());
        self.inner.handle(request, visit)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::site::{Kept, Sites, TABLES};

    fn problems(text: &str) -> Vec<String> {
        let config = match Config::parse(text, &TABLES) {
            Ok(config) => config,
            Err(report) => return vec![format!("{report:?}")],
        };
        let built = Sites::build(&config, &Kept::default());
        let problems = built.err().unwrap_or_default().into_iter();
        problems.map(|problem| problem.message).collect()
    }

    #[test]
    fn what_is_wrong_with_a_log_is_said_once() {
        for (log, wrong) in [
            ("log stdout", None),
            ("log off", None),
            ("log journald json", None),
            ("log syslog:localhost:514 common { facility local5 }", None),
            (
                "log access.log { rotate 1MiB daily; keep 3; gzip on }",
                None,
            ),
            ("log off json", Some("a log that is off has no format")),
            (
                "log stdout \"{nobody}\"",
                Some("a log line has no field {nobody}"),
            ),
            (
                "log stdout { rotate daily }",
                Some("rotate means nothing for a log that goes to stdout"),
            ),
            (
                "log syslog:localhost",
                Some("\"syslog:localhost\" is no place for a log"),
            ),
            ("log no/such/folder/x", Some("the folder ")),
            ("log .", Some("is a folder")),
            (
                "log x { rotate 1KiB }",
                Some("\"1KiB\" is no time to rotate a log"),
            ),
            ("log x { facility local5 }", Some("facility means nothing")),
        ] {
            for text in [
                format!("{log}\nhttp://a {{\n/x health\n/y ready\n}}\n"),
                format!("http://a {{\n{log}\n/x health\n/y ready\n}}\n"),
                format!("http://a {{\n/x health {{ {log} }}\n}}\n"),
            ] {
                let found = problems(&text);
                match wrong {
                    None => assert_eq!(found, [""; 0], "{text}"),
                    Some(wrong) => {
                        assert_eq!(found.len(), 1, "{text}: {found:?}");
                        assert!(found[0].contains(wrong), "{text}: {found:?}");
                    }
                }
            }
        }
    }
}
