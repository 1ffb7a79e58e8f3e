//! A cluster of three masters with a replica each, one of which is killed while it is written to.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
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
    conformance::check(&store(&servers, 0));
    lose_a_master(&mut servers);
}

/// Tasks write, each its own keys; a master is killed amid that. Afterwards every write that was acknowledged is there.
fn lose_a_master(servers: &mut [Server]) {
    let store = store(servers, 1);
    let acknowledged: Mutex<BTreeMap<String, Version>> = Mutex::default();
    let failed = Mutex::new(0);
    let stop = AtomicBool::new(false);
    let write = async |task: usize| {
        for number in 0.. {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let name = format!("{task}/{number}");
            match store
                .put(&key(&name), name.clone().into(), Put::default())
                .await
            {
                Ok(written) => drop(acknowledged.lock().unwrap().insert(name, written.version)),
                Err(_) => {
                    *failed.lock().unwrap() += 1;
                    thrum_rt::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    };
    let mut before = 0;
    let victim = servers.iter().position(|server| {
        server
            .ask(&["role"])
            .is_some_and(|role| role.starts_with("master"))
    });
    let victim = victim.unwrap();
    let calamity = async {
        thrum_rt::time::sleep(Duration::from_secs(2)).await;
        before = acknowledged.lock().unwrap().len();
        thrum_rt::blocking(|| servers[victim].kill());
        thrum_rt::time::sleep(Duration::from_secs(6)).await;
        thrum_rt::blocking(|| servers[victim].restart());
        thrum_rt::time::sleep(Duration::from_secs(4)).await;
        stop.store(true, Ordering::Relaxed);
    };
    thrum_rt::block_on(async {
        thrum_rt::join!(calamity, write(0), write(1), write(2), write(3));
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    let after = acknowledged.len() - before;
    println!("acknowledged {before} writes before and {after} after, {failed:?} failed");
    assert!(before > 20 && after > 20);
    thrum_rt::block_on(async {
        let end = Instant::now() + Duration::from_secs(30);
        for (name, version) in &acknowledged {
            let entry = loop {
                match store.get(&key(name)).await {
                    Ok(entry) => break entry,
                    Err(error) => assert!(Instant::now() < end, "{error}"),
                }
                thrum_rt::time::sleep(Duration::from_millis(50)).await;
            };
            let entry = entry.unwrap_or_else(|| panic!("{name} was acknowledged and is lost"));
            assert_eq!(entry.version, *version, "{name}");
        }
    });
    // All slots can be written again.
    thrum_rt::block_on(async {
        let end = Instant::now() + Duration::from_secs(30);
        for number in 0..100 {
            let name = key(&format!("again/{number}"));
            while let Err(error) = store.put(&name, "x".into(), Put::default()).await {
                assert!(Instant::now() < end, "{error}");
                thrum_rt::time::sleep(Duration::from_millis(50)).await;
            }
        }
    });
}
