//! The reverse proxy, between clients and upstreams that run in this process, and some that are other programs.

mod balancing;
mod broken;
mod flow;
mod limits;
mod peers;
mod protocols;
mod support;
mod written;
