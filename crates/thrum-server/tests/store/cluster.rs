//! A cluster of three masters with a replica each, one of which is killed while it is written to.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};
use thrum_server::store::{Put, Redis, RedisOptions, Store, Version};

use super::conformance::{self, key};
use super::servers::{Server, have_redis};

const OPTIONS: &[&str] = &[
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "1000",
    "--appendonly",
    "yes",
    // Who has lost touch with most of the others takes no writes.
    "--repl-ping-replica-period",
    "1",
];

fn start(folder: &TempDir) -> Vec<Server> {
    let servers: Vec<_> = (0..6).map(|_| Server::start(folder, OPTIONS)).collect();
    let nodes = servers
        .iter()
        .map(|server| format!("127.0.0.1:{}", server.port));
    let created = Command::new("redis-cli")
        .args(["--cluster", "create"])
        .args(nodes)
        .args(["--cluster-replicas", "1", "--cluster-yes"])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(created.success());
    let end = Instant::now() + Duration::from_secs(60);
    while !servers.iter().all(is_whole) {
        assert!(Instant::now() < end, "the cluster does not come up");
        std::thread::sleep(Duration::from_millis(100));
    }
    servers
}

/// Whether the cluster is whole for that node, and if it is a replica, whether it has its master's data.
fn is_whole(server: &Server) -> bool {
    let ask = |command: &[&str]| server.ask(command).unwrap_or_default();
    let role = ask(&["role"]);
    ask(&["cluster", "info"]).contains("cluster_state:ok")
        && ask(&["cluster", "info"]).contains("cluster_known_nodes:6")
        && (role.starts_with("master") || role.contains("connected"))
}

fn store(servers: &[Server], replicas: u32) -> Redis {
    let nodes: Vec<_> = servers
        .iter()
        .map(|server| format!("127.0.0.1:{}", server.port))
        .collect();
    let options = RedisOptions {
        replicas,
        timeout: Duration::from_secs(2),
        ..RedisOptions::default()
    };
    Redis::new(&format!("redis+cluster://{}", nodes.join(",")), options).unwrap()
}

#[test]
fn a_cluster_conforms_and_loses_nothing_with_a_node() {
    if !have_redis() {
        return;
    }
    let folder = tempdir().unwrap();
    let mut servers = start(&folder);
    conformance::check(store(&servers, 0));
    lose_a_master(&mut servers);
}

/// Tasks write, each its own keys; a master is killed amid that. Afterwards every write that was acknowledged is there.
fn lose_a_master(servers: &mut [Server]) {
    let store = Arc::new(store(servers, 1));
    let seen = Arc::new(Seen::default());
    let is_master = |server: &Server| server.ask(&["role"]).unwrap().starts_with("master");
    let victim = servers.iter_mut().find(|server| is_master(server)).unwrap();
    let minute = Duration::from_secs(60);
    thrum_rt::block_on(async {
        let tasks: Vec<_> = (0..4)
            .map(|task| thrum_rt::spawn(write(store.clone(), seen.clone(), task)))
            .collect();
        wait(minute, || seen.acknowledged() > 500).await;
        thrum_rt::blocking(|| victim.kill());
        let before = seen.acknowledged();
        wait(minute, || seen.failed.load(Ordering::Relaxed) > 0).await;
        // Its replica takes over; with nobody behind it, it acknowledges nothing until the other is back, as its replica.
        thrum_rt::time::sleep(Duration::from_secs(3)).await;
        thrum_rt::blocking(|| victim.restart());
        let slots: Vec<_> = (0..30)
            .map(|number| key(&format!("again/{number}")))
            .collect();
        for name in &slots {
            let end = Instant::now() + minute;
            while let Err(error) = store.put(name, "x".into(), Put::default()).await {
                assert!(Instant::now() < end, "{error}");
                thrum_rt::time::sleep(Duration::from_millis(50)).await;
            }
        }
        wait(minute, || seen.acknowledged() > before + 500).await;
        seen.stop.store(true, Ordering::Relaxed);
        for task in tasks {
            task.await.unwrap();
        }
        let acknowledged = std::mem::take(&mut *seen.acknowledged.lock().unwrap());
        let failed = seen.failed.load(Ordering::Relaxed);
        println!(
            "{before} writes acknowledged before, {} after, {failed} failed",
            acknowledged.len() - before
        );
        for (name, version) in &acknowledged {
            let entry = store.get(&key(name)).await.unwrap();
            let entry = entry.unwrap_or_else(|| panic!("{name} was acknowledged and is lost"));
            assert_eq!(entry.version, *version, "{name}");
        }
    });
}

#[derive(Default)]
struct Seen {
    acknowledged: Mutex<BTreeMap<String, Version>>,
    failed: AtomicUsize,
    stop: AtomicBool,
}

impl Seen {
    fn acknowledged(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }
}

async fn write(store: Arc<Redis>, seen: Arc<Seen>, task: usize) {
    for number in 0.. {
        if seen.stop.load(Ordering::Relaxed) {
            return;
        }
        let name = format!("{task}/{number}");
        let value = name.clone().into();
        match store.put(&key(&name), value, Put::default()).await {
            Ok(written) => {
                let mut acknowledged = seen.acknowledged.lock().unwrap();
                acknowledged.insert(name, written.version);
            }
            Err(_) => drop(seen.failed.fetch_add(1, Ordering::Relaxed)),
        }
        thrum_rt::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn wait(most: Duration, done: impl Fn() -> bool) {
    let end = Instant::now() + most;
    while !done() {
        assert!(Instant::now() < end, "it takes too long");
        thrum_rt::time::sleep(Duration::from_millis(20)).await;
    }
}
