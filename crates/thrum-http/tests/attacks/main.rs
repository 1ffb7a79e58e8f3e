//! HTTP/1.1 clients that mean harm, each kind from many connections at once. Of each is checked: the memory that a connection
//! can make the server hold, that another client is answered meanwhile, what is counted, and that all is given back.
//!
//! `cargo test -p thrum-http --test attacks -- --nocapture` prints a line of figures for each.
//!
//! | module | what is in it |
//! |---|---|
//! | `memory` | an allocator that counts what the server holds |
//! | `arena` | the server, its well-behaved client, and the figures |
//! | `slow` | clients that take their time, or say nothing |
//! | `heads` | large heads, and many of them at once |
//! | `bodies` | bodies in disguise, too large, or ignored |
//! | `crowds` | more connections than there may be |

mod arena;
mod memory;

mod bodies;
mod crowds;
mod heads;
mod slow;
