//! The sites while they are served.

use std::collections::BTreeMap;
use std::future::pending;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use thrum_http::tls::{Acceptor, Identity};
use thrum_http::{Drained, Server};
use thrum_rt::net::{TcpListener, UnixListener};
use thrum_rt::sync::channel::{self, Sender};
use thrum_rt::{TaskSet, select, time};
use thrum_server::acme::{Challenges, Front, Keeper};
use thrum_server::config::Problems;
use thrum_server::error_log::{ErrorLog, ErrorLogConfig};
use thrum_server::metrics::{Readiness, Registry, State};
use thrum_server::observe::Watcher;
use thrum_server::process::control::Control;
use thrum_server::process::{Listeners, Listening, Notify, PidFile, ProcessSettings};
use thrum_server::site::{App, Endpoint, Kept};
use thrum_server::store::{Redb, Store as _};

use super::commands::{self, Info};
use super::events::{self, Event};
use super::prepared::Prepared;
use super::successor::{Predecessor, Successor};
use crate::args::RunArgs;
use crate::banner::{self, RunStart, Summary};
use crate::ending;
use crate::error::Failure;
use crate::terminal;

/// Events that wait to be seen to.
const EVENTS: usize = 64;

/// What is of the process, and stays.
pub(super) struct Process {
    pub(super) program: PathBuf,
    pub(super) config: PathBuf,
    pub(super) args: RunArgs,
    pub(super) workers: usize,
    /// As many connections at once as it has descriptors for.
    pub(super) most_connections: usize,
    /// How it is confined, in words.
    pub(super) sandbox: String,
    pub(super) notify: Notify,
    pub(super) pid: Option<PidFile>,
    pub(super) control: Option<Control>,
}

pub(super) struct Serving {
    process: Process,
    server: Server,
    app: App,
    watcher: Arc<Watcher>,
    readiness: Arc<Readiness>,
    kept: Arc<Kept>,
    settings: ProcessSettings,
    listeners: Listeners,
    /// The same sockets in the runtime: once each, as a second descriptor of one would be in the way of the first.
    registered: BTreeMap<Endpoint, Vec<Registered>>,
    acceptor: Option<Acceptor>,
    events: Sender<Event>,
    /// One for each socket.
    accepting: TaskSet<io::Result<()>>,
    /// What goes with the configuration: certificates are kept.
    tending: TaskSet<()>,
    /// The files that it was made from, and who looks at them.
    files: Vec<PathBuf>,
    watching: TaskSet<()>,
    /// Signals, commands, pings.
    attending: TaskSet<()>,
    /// A successor has the sockets.
    succeeded: bool,
}

/// A socket in the runtime.
#[derive(Clone)]
enum Registered {
    Tcp(Arc<TcpListener>),
    Unix(Arc<UnixListener>),
}

impl Registered {
    fn of(socket: &Listening) -> io::Result<Self> {
        Ok(match socket {
            Listening::Tcp(socket) => {
                Self::Tcp(Arc::new(TcpListener::from_std(socket.try_clone()?)?))
            }
            Listening::Unix(socket) => {
                Self::Unix(Arc::new(UnixListener::from_std(socket.try_clone()?)?))
            }
        })
    }
}

/// How it is to end.
enum End {
    Stop,
    Retire,
}

impl Serving {
    /// Serves until it is told not to.
    pub(super) async fn run(
        process: Process,
        kept: Arc<Kept>,
        prepared: Prepared,
        listeners: Listeners,
        predecessor: Option<Predecessor>,
    ) -> Result<(), Failure> {
        let started = Instant::now();
        let (sender, events) = channel::bounded(EVENTS);
        let mut attending = TaskSet::new();
        events::signals(&mut attending, &sender).map_err(Failure::Runtime)?;
        open_error_log(&prepared)?;
        let watcher = kept.get("", Watcher::default);
        let readiness = kept.get("", Readiness::default);
        let server = watcher.watch(Server::new(), &kept.get("", Registry::default));
        process.converse(&mut attending, &server, &sender)?;
        process.ping(&mut attending);

        let (new, files) = (Parts::of(&prepared)?, prepared.files());
        let sites = prepared.config.sites.len();
        let mut serving = Self {
            app: App::new(prepared.sites),
            settings: prepared.settings,
            registered: BTreeMap::new(),
            acceptor: None,
            accepting: TaskSet::new(),
            tending: TaskSet::new(),
            files,
            watching: TaskSet::new(),
            attending,
            succeeded: false,
            events: sender,
            process,
            server,
            watcher,
            readiness,
            kept,
            listeners,
        };
        serving.begin(new)?;
        serving.watch();
        serving.readiness.set(State::Ready);
        serving.say_start(sites);
        serving.process.notify.ready(&banner::sites(sites));
        if let Some(predecessor) = predecessor {
            thrum_rt::blocking(|| predecessor.retire());
        }

        let end = loop {
            select! {
                event = events.recv() => match event {
                    Ok(event) => if let Some(end) = serving.see_to(event) { break Ok(end) },
                    Err(_) => break Ok(End::Stop),
                },
                ended = serving.accepting_ended() => break Err(ended),
            }
        };
        serving.end(started, end).await
    }

    /// Does what an event asks for. An end, if it is one.
    fn see_to(&mut self, event: Event) -> Option<End> {
        match event {
            Event::Stop => return Some(End::Stop),
            Event::Retire => return Some(End::Retire),
            Event::Succeeded => {
                tracing::info!("the successor serves; this process finishes what it has");
                self.succeeded = true;
                self.close_stores();
                return Some(End::Retire);
            }
            Event::Upgrade => self.upgrade(),
            Event::Reload(asked) => {
                self.process.notify.reloading();
                let result = thrum_rt::blocking(|| self.reload());
                match &result {
                    Ok(said) => {
                        tracing::info!("reloaded: {said}");
                        self.process.notify.ready(said);
                    }
                    Err(error) => {
                        tracing::error!(
                            "the configuration is as it was; the new one cannot be used: {error}"
                        );
                        self.process
                            .notify
                            .ready("reload failed; the old configuration is served");
                    }
                }
                if let Some(asked) = asked {
                    let _ = asked.send(result);
                }
            }
            Event::Listeners(asked) => {
                let _ = asked.send(self.descriptors());
            }
            Event::Abandoned => self.restore(),
        }
        None
    }

    /// Lets go of what one process alone can have.
    fn close_stores(&self) {
        for store in self.kept.all::<Redb>() {
            thrum_rt::blocking(|| store.close());
        }
    }

    /// Reads the configuration again. Whatever is wrong, nothing has changed.
    fn reload(&mut self) -> Result<String, String> {
        let path = self.process.config.clone();
        let result = Prepared::read(&path, &self.kept).and_then(|prepared| {
            let (new, files) = (Parts::of(&prepared)?, prepared.files());
            let mode = prepared.settings.socket_mode;
            let added = self.listeners.add(new.endpoints.keys(), mode);
            added.map_err(|error| Failure::Process(error.to_string()))?;
            self.listeners
                .retain(|endpoint| new.endpoints.contains_key(endpoint));
            let later = needs_upgrade(&self.settings, &prepared.settings);
            let sites = banner::sites(prepared.config.sites.len());
            self.app.swap(prepared.sites);
            self.settings = prepared.settings;
            self.files = files;
            self.begin(new)?;
            self.kept.sweep();
            self.watcher.reopen_logs();
            if let Some(log) = terminal::error_log() {
                log.reopen();
            }
            Ok(format!("{sites}{later}"))
        });
        self.watch();
        result.map_err(|failure| failure.to_string())
    }

    /// Serves with these parts. Connections that are open go on.
    fn begin(&mut self, new: Parts) -> Result<(), Failure> {
        let Parts {
            endpoints,
            identities,
            keeper,
            leads_to_secure,
        } = new;
        let all: Vec<Identity> = identities
            .iter()
            .cloned()
            .chain(keeper.iter().flat_map(Keeper::identities))
            .collect();
        if !all.is_empty() {
            let tls = |error: thrum_http::tls::Error| Failure::Process(error.to_string());
            match &self.acceptor {
                Some(acceptor) => acceptor.replace(all).map_err(tls)?,
                None => {
                    let builder = Acceptor::builder();
                    let builder = all
                        .into_iter()
                        .fold(builder, |builder, one| builder.identity(one));
                    self.acceptor = Some(builder.build().map_err(tls)?);
                }
            }
        }
        let challenges = Challenges::new(self.acceptor.clone());
        self.tending = TaskSet::new();
        if let (Some(keeper), Some(acceptor)) = (keeper, self.acceptor.clone()) {
            let challenges = challenges.clone();
            self.tending.spawn(keeper.run(challenges, move |kept| {
                let all = identities.iter().cloned().chain(kept);
                if let Err(error) = acceptor.replace(all) {
                    tracing::error!(%error, "the new certificate cannot be used");
                }
            }));
        }
        self.accept(&endpoints, leads_to_secure, &challenges)
            .map_err(Failure::Runtime)
    }

    /// Accepts anew at all sockets. None is closed: the kernel keeps who comes in between.
    fn accept(
        &mut self,
        endpoints: &BTreeMap<Endpoint, bool>,
        leads_to_secure: bool,
        challenges: &Challenges,
    ) -> io::Result<()> {
        let mut accepting = TaskSet::new();
        let settings = &self.settings;
        let mut limits = settings.limits;
        limits.connections = limits.connections.min(self.process.most_connections);
        let server = self
            .server
            .clone()
            .limits(limits)
            .timeouts(settings.timeouts);
        for (endpoint, sockets) in self.listeners.iter() {
            let Some(secure) = endpoints.get(endpoint) else {
                continue;
            };
            let server = match (&self.acceptor, secure) {
                (Some(acceptor), true) => server.clone().tls(acceptor.clone()),
                _ => server.clone(),
            };
            let plain = leads_to_secure && *endpoint == Endpoint::Port(80);
            let site = plain.then(|| self.app.at(Endpoint::Port(443)));
            let front = Front::new(self.app.at(endpoint.clone()), site, challenges.clone());
            if !self.registered.contains_key(endpoint) {
                let all = sockets
                    .iter()
                    .map(Registered::of)
                    .collect::<io::Result<_>>()?;
                self.registered.insert(endpoint.clone(), all);
            }
            for listener in &self.registered[endpoint] {
                let (server, front) = (server.clone(), front.clone());
                let listener = listener.clone();
                accepting.spawn(async move {
                    match listener {
                        Registered::Tcp(listener) => server.serve(listener, front).await,
                        Registered::Unix(listener) => server.serve(listener, front).await,
                    }
                });
            }
        }
        self.accepting = accepting;
        let listeners = &self.listeners;
        self.registered
            .retain(|endpoint, _| listeners.has(endpoint));
        Ok(())
    }

    /// Waits until a listener gives up, which none does by itself.
    async fn accepting_ended(&mut self) -> Failure {
        match self.accepting.join_next().await {
            Some(Ok(Err(error))) => Failure::Serve(error.to_string()),
            Some(Err(error)) => Failure::Serve(error.to_string()),
            Some(Ok(Ok(()))) => Failure::Serve("a listener was closed".to_owned()),
            None => pending().await,
        }
    }

    /// Looks for changes from what is there now on.
    fn watch(&mut self) {
        self.watching = TaskSet::new();
        if let Some(every) = self.settings.watch {
            let files = self.files.clone();
            self.watching
                .spawn(events::watch(files, every, self.events.clone()));
        }
    }

    /// The sockets, and what this process writes to, for a successor.
    fn descriptors(&self) -> Vec<(String, OwnedFd)> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let output = [("stdout", stdout.as_fd()), ("stderr", stderr.as_fd())];
        let output = output.map(|(name, fd)| (name.to_owned(), fd));
        let all = output.into_iter().chain(self.listeners.descriptors());
        all.filter_map(|(name, fd)| Some((name, fd.try_clone_to_owned().ok()?)))
            .collect()
    }

    /// Begins the next process. This one serves until that one does.
    fn upgrade(&self) {
        let successor = self.process.successor(&self.settings);
        let command = successor.map(|successor| successor.command());
        let spawned = command.and_then(|command| thrum_rt::process::Command::from(command).spawn());
        match spawned {
            Ok(mut child) => {
                tracing::info!(pid = child.id(), "upgrading");
                drop(thrum_rt::spawn(async move {
                    if let Ok(status) = child.wait().await
                        && !status.success()
                    {
                        tracing::error!("the upgrade has failed ({status}); this process goes on");
                    }
                }));
            }
            Err(error) => tracing::error!(
                %error,
                "the new process cannot be started by a confined one; `thrum upgrade` starts it from outside"
            ),
        }
    }

    /// A successor did not come to serve: commands are for this process again.
    fn restore(&mut self) {
        tracing::warn!("the successor is gone before it served; this process goes on");
        let path = &self.settings.pid_file;
        if PidFile::holder(path) == Some(std::process::id()) {
            return;
        }
        let socket = Control::beside(path);
        // First let go of what the successor has replaced.
        (self.process.pid, self.process.control) = (None, None);
        let restored = PidFile::create(path).map_err(|error| error.to_string());
        let restored = restored.and_then(|pid| {
            let control = Control::bind(&socket).map_err(|error| error.to_string())?;
            (self.process.pid, self.process.control) = (Some(pid), Some(control));
            self.process
                .converse(&mut self.attending, &self.server, &self.events)
                .map_err(|failure| failure.to_string())
        });
        if let Err(error) = restored {
            tracing::error!("signals reach this process, commands do not: {error}");
        }
    }

    async fn end(mut self, started: Instant, end: Result<End, Failure>) -> Result<(), Failure> {
        self.readiness.set(State::Draining);
        if !self.succeeded {
            self.process.notify.stopping();
            self.listeners.remove_files();
        }
        self.tending = TaskSet::new();
        self.watching = TaskSet::new();
        let quiet = self.process.args.quiet;
        let (cut, failure) = match end {
            Ok(End::Retire) => (self.retire().await, None),
            Ok(End::Stop) => (self.stop(quiet).await, None),
            Err(failure) => (self.stop(quiet).await, Some(failure)),
        };
        thrum_rt::blocking(|| self.watcher.close_logs());
        if !quiet {
            banner::print_summary(&Summary {
                stats: self.server.stats(),
                took: started.elapsed(),
                cut,
                dropped: self.watcher.dropped(),
            });
        }
        if let Some(log) = terminal::error_log() {
            log.close();
        }
        failure.map_or(Ok(()), Err)
    }

    /// Accepts no more.
    fn close(&mut self) {
        self.accepting = TaskSet::new();
        self.registered = BTreeMap::new();
        self.listeners = Listeners::default();
    }

    async fn stop(&mut self, quiet: bool) -> usize {
        let grace = self.settings.stop;
        self.close();
        ending::drain(self.server.shutdown(grace), grace, !quiet, || {}).await
    }

    /// Accepts no more, and hears out who is connected. It can still be stopped.
    async fn retire(&mut self) -> usize {
        let (last_call, grace) = (self.settings.last_call, self.settings.retire);
        self.close();
        let server = self.server.clone();
        let retiring = async { server.retire(last_call, grace).await };
        let Drained { cut, .. } = match ending::race(ending::asked_to_stop(), retiring).await {
            ending::First::Right(drained) => drained,
            ending::First::Left(_) => self.server.shutdown(self.settings.stop).await,
        };
        cut
    }

    fn say_start(&self, sites: usize) {
        if self.process.args.quiet || self.process.args.take_over.is_some() {
            return tracing::info!(
                pid = std::process::id(),
                sandbox = self.process.sandbox,
                "serving"
            );
        }
        banner::print_run(&RunStart {
            config: &self.process.config,
            sites,
            listeners: &self.listeners,
            is_secure: &|endpoint| self.app.is_secure(endpoint),
            workers: self.process.workers,
            sandbox: &self.process.sandbox,
        });
    }
}

/// Has diagnostics go where the configuration says.
fn open_error_log(prepared: &Prepared) -> Result<(), Failure> {
    // What is wrong with it was found when the configuration was read.
    let config = ErrorLogConfig::of(&prepared.config.global, &mut Problems::default());
    let Some(config) = config else {
        return Ok(());
    };
    let log = ErrorLog::open(&config.target, config.format);
    let log =
        log.map_err(|error| Failure::Process(format!("the error log cannot be opened: {error}")))?;
    terminal::log_errors_to(log, config.level);
    Ok(())
}

/// What is made of a configuration besides its sites, before anything changes.
struct Parts {
    endpoints: BTreeMap<Endpoint, bool>,
    identities: Vec<Identity>,
    keeper: Option<Keeper>,
    /// Plain HTTP on port 80 leads to HTTPS and nothing else.
    leads_to_secure: bool,
}

impl Parts {
    fn of(prepared: &Prepared) -> Result<Self, Failure> {
        let wanted = prepared.certificates.wanted.clone();
        let keeper = match wanted.is_empty() {
            true => None,
            false => Some(
                Keeper::new(prepared.authority()?, wanted)
                    .map_err(|error| Failure::Process(error.to_string()))?,
            ),
        };
        let names = prepared.config.sites.iter().flat_map(|site| &site.names);
        let leads = names
            .map(|name| name.text())
            .all(|name| !name.starts_with("http://"));
        Ok(Self {
            endpoints: prepared.endpoints(),
            identities: prepared.identities.clone(),
            leads_to_secure: leads && keeper.is_some(),
            keeper,
        })
    }
}

impl Process {
    /// Takes commands.
    fn converse(
        &self,
        tasks: &mut TaskSet<()>,
        server: &Server,
        events: &Sender<Event>,
    ) -> Result<(), Failure> {
        let info = Info {
            server: server.clone(),
            fixed: json!({
                "pid": std::process::id(),
                "version": env!("CARGO_PKG_VERSION"),
                "config": std::path::absolute(&self.config).map_err(Failure::Runtime)?,
                "folder": std::env::current_dir().map_err(Failure::Runtime)?,
                "args": self.args.handed_on(),
            }),
        };
        if let Some(control) = &self.control {
            let listener = control.listener().map_err(Failure::Runtime)?;
            tasks.spawn(commands::converse(listener, info, events.clone()));
        }
        Ok(())
    }

    /// Says to the service manager that it lives, if that wants to hear it.
    fn ping(&self, tasks: &mut TaskSet<()>) {
        if let Some(every) = self.notify.ping_every() {
            let notify = Notify::from_env();
            tasks.spawn(async move {
                loop {
                    notify.ping();
                    time::sleep(every.max(Duration::from_millis(10))).await;
                }
            });
        }
    }

    fn successor(&self, settings: &ProcessSettings) -> io::Result<Successor> {
        Ok(Successor {
            program: self.program.clone(),
            config: std::path::absolute(&self.config)?,
            args: self.args.handed_on(),
            folder: std::env::current_dir()?,
            socket: Control::beside(&settings.pid_file),
        })
    }
}

/// What a reload cannot change, in words.
fn needs_upgrade(old: &ProcessSettings, new: &ProcessSettings) -> String {
    let changed = [
        ("workers", old.workers != new.workers),
        ("user and group", old.privileges != new.privileges),
        ("pid-file", old.pid_file != new.pid_file),
        ("sandbox", old.sandbox != new.sandbox),
    ];
    let changed: Vec<_> = changed
        .iter()
        .filter(|(_, changed)| *changed)
        .map(|(name, _)| *name)
        .collect();
    match &changed[..] {
        [] => String::new(),
        names => format!("; {} as before until thrum upgrade", names.join(", ")),
    }
}
