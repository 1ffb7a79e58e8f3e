//! The scripts that change a key. Each works on one key, as a cluster wants it.

use std::time::Duration;

use ::redis::{Cmd, cmd};

use super::super::record::Head;
use super::super::{Condition, Version};

/// `-1`: the condition does not hold. `1`: there was nothing before; `0`: there was.
///
/// That the present version is the new one means that the script is run again, since its answer was lost. It writes again
/// all the same: a `WAIT` that follows counts what its own connection wrote.
const PUT: &str = "\
local there = redis.call('GETRANGE', KEYS[1], 0, 7)
local wanted = ARGV[1]
if there ~= string.sub(ARGV[3], 1, 8)
  and ((wanted == 'absent' and there ~= '') or (wanted == 'present' and there == '')
    or (wanted == 'is' and there ~= ARGV[2])) then
  return -1
end
if ARGV[4] == '0' then
  redis.call('SET', KEYS[1], ARGV[3])
else
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
end
if there == '' or (wanted == 'absent') then return 1 end
return 0";

/// `-1`: the condition does not hold. Else how many were deleted.
const DELETE: &str = "\
local there = redis.call('GETRANGE', KEYS[1], 0, 7)
local wanted = ARGV[1]
if (wanted == 'absent' and there ~= '') or (wanted == 'present' and there == '')
  or (wanted == 'is' and there ~= ARGV[2]) then
  return -1
end
return redis.call('DEL', KEYS[1])";

/// The total, and how many milliseconds are left.
const ADD: &str = "\
local total = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {total, left}";

pub(super) fn put(key: &str, head: &Head, value: &[u8], condition: Condition) -> Cmd {
    let (wanted, version) = words(condition);
    let lifetime = match head.expires {
        0 => 0,
        // The clock of a server that is ahead of ours must not cut it short: from now on, not until a time of day.
        expires => expires.saturating_sub(head.modified).min(MAX_LIFETIME),
    };
    script(PUT, key)
        .arg(wanted)
        .arg(&version)
        .arg(&head.record(value)[..])
        .arg(lifetime)
        .take()
}

pub(super) fn delete(key: &str, condition: Condition) -> Cmd {
    let (wanted, version) = words(condition);
    script(DELETE, key).arg(wanted).arg(&version).take()
}

pub(super) fn add(key: &str, by: u32, window: Duration) -> Cmd {
    let window = u64::try_from(window.as_millis()).unwrap_or(u64::MAX);
    let window = window.clamp(1, MAX_LIFETIME);
    script(ADD, key).arg(by).arg(window).take()
}

/// A thousand years: what Redis takes without an overflow.
const MAX_LIFETIME: u64 = 1_000 * 365 * 86_400_000;

fn script(text: &str, key: &str) -> Cmd {
    cmd("EVAL").arg(text).arg(1).arg(key).take()
}

fn words(condition: Condition) -> (&'static str, Vec<u8>) {
    match condition {
        Condition::Any => ("any", vec![]),
        Condition::Absent => ("absent", vec![]),
        Condition::Present => ("present", vec![]),
        Condition::Is(Version(version)) => ("is", version.to_be_bytes().to_vec()),
    }
}
