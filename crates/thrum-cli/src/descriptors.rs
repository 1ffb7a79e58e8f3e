//! File descriptors: each connection takes one, and so do the files, the programs and the upstreams that it is answered from.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Has the system give as many as it would, as it gives a thousand unless asked for more. Returns how many connections there
/// may be at once: a quarter is left for the rest. Without that, whoever holds connections open would keep all others from
/// being answered, those who are connected included.
pub(crate) fn most_connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, all) {
        tracing::info!(
            "the limit of open files stays at {:?}: {error}",
            limit.current
        );
    }
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files - files / 4).unwrap_or(usize::MAX)
}
