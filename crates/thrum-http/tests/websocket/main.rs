//! WebSocket over connections in memory, on a clock that jumps: messages, faults, pings, the end.

mod cancel;
mod ending;
mod faults;
mod messages;
mod pings;
mod served;
mod split;
mod support;
