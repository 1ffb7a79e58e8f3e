//! WebSocket: messages, faults, pings and the end, over connections in memory and on a clock that jumps; and with peers.

mod cancel;
mod ending;
mod faults;
mod messages;
mod peers;
mod pings;
mod served;
mod split;
mod support;
