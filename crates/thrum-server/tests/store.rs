//! What a store promises, asked of every store; and what each survives.

#[path = "store/cluster.rs"]
mod cluster;
#[path = "store/conformance.rs"]
mod conformance;
#[path = "store/kv.rs"]
mod kv;
#[path = "store/redb.rs"]
mod redb;
#[path = "store/redis.rs"]
mod redis;
#[path = "store/servers.rs"]
mod servers;
#[path = "store/session.rs"]
mod session;
#[path = "store/site.rs"]
mod site;

use thrum_server::store::Memory;

#[test]
fn memory_conforms() {
    conformance::check(Memory::new(64 << 20));
}

#[test]
fn memory_is_bounded() {
    conformance::check_full(&Memory::new(64 << 10), 64 << 10);
}
