//! Connections: opened when needed, kept, and given a rest when there is nobody at the other end.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::redis::cluster::{ClusterClient, ClusterConnection};
use ::redis::cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr};
use ::redis::{
    Client, Cmd, ConnectionLike, FromRedisValue, RedisError, RedisResult, TlsCertificates, Value,
    cmd, from_redis_value,
};
use thrum_rt::sync::Semaphore;
use thrum_rt::time::timeout;

use super::super::StoreError;
use super::{RedisOptions, fault, is_broken};

/// Pauses after failing to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// Connections to a server or cluster.
pub(super) struct Pool {
    /// Without user and password.
    shown: String,
    server: Server,
    connect_timeout: Duration,
    timeout: Duration,
    /// As many as there may be connections.
    free: Semaphore,
    state: Mutex<State>,
}

enum Server {
    Single(Client),
    Cluster(ClusterClient),
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    /// Until when nobody is to connect, and the error that is the reason.
    resting: Option<(Instant, StoreError)>,
    pause: Duration,
    closed: bool,
}

/// A connection, to a server or to all nodes of a cluster.
pub(super) enum Connection {
    Single(::redis::Connection),
    Cluster(Box<ClusterConnection>),
}

impl Pool {
    pub(super) fn new(url: &str, options: &RedisOptions) -> Result<Self, StoreError> {
        let nodes = nodes(url)?;
        let certificates = || TlsCertificates {
            client_tls: None,
            root_cert: options.certificates.clone(),
        };
        let has_certificates = options.certificates.is_some();
        if url.starts_with("rediss") {
            // For when the program has not chosen one; it is the one that the server has.
            let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        }
        let server = if is_cluster(url) {
            let mut builder = ClusterClient::builder(nodes)
                .connection_timeout(options.connect_timeout)
                .response_timeout(options.timeout)
                .retries(3)
                .min_retry_wait(20)
                .max_retry_wait(200);
            if has_certificates {
                builder = builder.certs(certificates());
            }
            builder.build().map(Server::Cluster)
        } else {
            let client = match has_certificates {
                true => Client::build_with_tls(url, certificates()),
                false => Client::open(url),
            };
            client.map(Server::Single)
        };
        Ok(Self {
            shown: without_secrets(url),
            server: server.map_err(fault)?,
            connect_timeout: options.connect_timeout,
            timeout: options.timeout,
            free: Semaphore::new(options.connections.max(1)),
            state: Mutex::default(),
        })
    }

    /// Calls the server over a connection of the pool; over a new one, when that one turns out to be broken.
    pub(super) async fn call<T>(
        &self,
        mut call: impl FnMut(&mut Connection) -> RedisResult<T>,
    ) -> Result<T, StoreError> {
        let permit = timeout(self.timeout, self.free.acquire()).await;
        let _permit =
            permit.map_err(|_| StoreError::unavailable("all connections to it are in use"))?;
        // A call is ready when it is polled: without this, one after another would keep its task's other futures waiting.
        thrum_rt::yield_now().await;
        thrum_rt::blocking(|| {
            for attempt in 0.. {
                let mut connection = self.connection()?;
                match call(&mut connection) {
                    Ok(answer) => {
                        self.keep(connection);
                        return Ok(answer);
                    }
                    Err(error) if is_broken(&error) => {
                        // The others have most likely lost their other end too.
                        self.state().idle.clear();
                        if attempt == 1 {
                            return Err(fault(error));
                        }
                    }
                    Err(error) => {
                        self.keep(connection);
                        return Err(fault(error));
                    }
                }
            }
            unreachable!("the second attempt returns")
        })
    }

    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.idle.clear();
    }

    fn connection(&self) -> Result<Connection, StoreError> {
        let mut state = self.state();
        if state.closed {
            return Err(StoreError::unavailable("it was closed"));
        }
        if let Some(connection) = state.idle.pop() {
            return Ok(connection);
        }
        if let Some((until, error)) = &state.resting
            && Instant::now() < *until
        {
            return Err(error.clone());
        }
        drop(state);
        let connected = self.connect();
        let mut state = self.state();
        match connected {
            Ok(connection) => {
                if state.resting.take().is_some() {
                    tracing::info!("the store {} is back", self.shown);
                }
                state.pause = FIRST_PAUSE;
                Ok(connection)
            }
            Err(error) => {
                let error = StoreError::Unavailable(format!("{}: {error}", self.shown));
                if state.resting.is_none() {
                    tracing::error!("{error}");
                }
                state.pause = (state.pause * 2).clamp(FIRST_PAUSE, LAST_PAUSE);
                state.resting = Some((Instant::now() + state.pause, error.clone()));
                Err(error)
            }
        }
    }

    fn connect(&self) -> RedisResult<Connection> {
        match &self.server {
            Server::Single(client) => {
                let connection = client.get_connection_with_timeout(self.connect_timeout)?;
                connection.set_read_timeout(Some(self.timeout))?;
                connection.set_write_timeout(Some(self.timeout))?;
                Ok(Connection::Single(connection))
            }
            Server::Cluster(client) => {
                let connection = client.get_connection()?;
                Ok(Connection::Cluster(Box::new(connection)))
            }
        }
    }

    fn keep(&self, connection: Connection) {
        let mut state = self.state();
        if !state.closed {
            state.idle.push(connection);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Runs a command, on the node that has its key.
    pub(super) fn query<T: FromRedisValue>(&mut self, command: &Cmd) -> RedisResult<T> {
        match self {
            Self::Single(connection) => command.query(connection),
            Self::Cluster(connection) => command.query(&mut **connection),
        }
    }

    /// Runs a command on the master that has that slot.
    pub(super) fn query_at(&mut self, slot: u16, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Single(connection) => command.query(connection),
            Self::Cluster(connection) => {
                let route = Route::new(slot, SlotAddr::Master);
                let node = SingleNodeRoutingInfo::SpecificNode(route);
                connection.route_command(command, RoutingInfo::SingleNode(node))
            }
        }
    }

    /// Runs a script that writes, and says how many replicas have what it wrote, after waiting for so many, but not longer
    /// than that. Both go over the same connection, one after the other: that is what `WAIT` is about.
    pub(super) fn write(
        &mut self,
        script: &Cmd,
        replicas: u32,
        timeout: Duration,
    ) -> RedisResult<(i64, u32)> {
        if replicas == 0 {
            return Ok((self.query(script)?, 0));
        }
        let mut both = script.get_packed_command();
        // 0 would be for ever.
        let timeout = timeout.as_millis().max(1) as u64;
        both.extend(cmd("WAIT").arg(replicas).arg(timeout).get_packed_command());
        let answers = match self {
            Self::Single(connection) => connection.req_packed_commands(&both, 0, 2)?,
            Self::Cluster(connection) => connection.req_packed_commands(&both, 0, 2)?,
        };
        let mut answers = answers.into_iter().map(|answer| match answer {
            Value::ServerError(error) => Err(error.into()),
            answer => from_redis_value::<i64>(answer).map_err(RedisError::from),
        });
        let mut next = || answers.next().unwrap_or(Ok(0));
        let (outcome, have) = (next()?, next()?);
        Ok((outcome, u32::try_from(have).unwrap_or(0)))
    }

    /// The first slot of each master, in order; 0 for a server alone.
    pub(super) fn first_slots(&mut self) -> RedisResult<Vec<u16>> {
        let Self::Cluster(connection) = self else {
            return Ok(vec![0]);
        };
        let answer = cmd("CLUSTER").arg("SLOTS").query(&mut **connection)?;
        let ranges: Vec<(u16, u16, Value)> = ranges(answer)?;
        let mut slots: Vec<(u16, Value)> = vec![];
        for (first, _, master) in ranges {
            if !slots.iter().any(|(_, known)| *known == master) {
                slots.push((first, master));
            }
        }
        Ok(slots.into_iter().map(|(slot, _)| slot).collect())
    }
}

/// The slots of each range, and its master, in order.
fn ranges(answer: Value) -> RedisResult<Vec<(u16, u16, Value)>> {
    let ranges: Vec<Vec<Value>> = from_redis_value(answer)?;
    let mut read = Vec::with_capacity(ranges.len());
    for range in ranges {
        let mut parts = range.into_iter();
        let mut next = || parts.next().unwrap_or(Value::Nil);
        let (first, last) = (from_redis_value(next())?, from_redis_value(next())?);
        read.push((first, last, next()));
    }
    read.sort_by_key(|(first, ..)| *first);
    Ok(read)
}

fn is_cluster(url: &str) -> bool {
    url.split_once("://")
        .is_some_and(|(scheme, _)| scheme.ends_with("+cluster"))
}

/// The nodes that a URL names, each as a URL: one, unless it is that of a cluster.
pub(super) fn nodes(url: &str) -> Result<Vec<String>, StoreError> {
    let bad = || {
        let expected = "expected redis://HOST:PORT/DB, rediss://.., unix:///PATH, or redis+cluster://HOST:PORT,HOST:PORT";
        StoreError::unavailable(expected)
    };
    let (scheme, rest) = url.split_once("://").ok_or_else(bad)?;
    match scheme {
        "redis" | "rediss" | "unix" | "redis+unix" => Ok(vec![url.to_owned()]),
        "redis+cluster" | "rediss+cluster" => {
            let scheme = scheme.trim_end_matches("+cluster");
            let (login, hosts) = match rest.rsplit_once('@') {
                Some((login, hosts)) => (format!("{login}@"), hosts),
                None => (String::new(), rest),
            };
            let hosts = hosts.trim_end_matches('/').split(',');
            let nodes = hosts.map(|host| match host {
                "" => Err(bad()),
                host => Ok(format!("{scheme}://{login}{host}")),
            });
            nodes.collect()
        }
        _ => Err(bad()),
    }
}

fn without_secrets(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => url.to_owned(),
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.shown).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let read = |url| nodes(url).unwrap();
        assert_eq!(read("redis://a:6379/2"), ["redis://a:6379/2"]);
        assert_eq!(
            read("rediss+cluster://u:p@a:1,b:2"),
            ["rediss://u:p@a:1", "rediss://u:p@b:2"]
        );
        for bad in ["", "a:6379", "http://a", "redis+cluster://a:1,,b:2"] {
            assert!(nodes(bad).is_err(), "{bad}");
        }
        assert_eq!(without_secrets("redis://u:p@a:1/0"), "redis://a:1/0");
        let pool = Pool::new("redis://user:secret@localhost:1", &RedisOptions::default());
        assert!(!format!("{pool:?}").contains("secret"));
    }
}
