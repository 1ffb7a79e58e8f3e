//! Messages as data: malformed, ambiguous, smuggling, and what is just within the rules. Each has one right answer.
//!
//! | module | what is in it |
//! |---|---|
//! | `case` | a request as a case, and how its bytes are made |
//! | `server` | the server that is asked, and its answers as words |
//! | `requests` | every case: whole, before and behind others, split at every byte, byte by byte, in random pieces |
//! | `chunks` ... `versions` | the cases, a file for each topic |
//! | `responses` | what servers send to clients, as data |
//! | `grammar` | the responses, read by the rules |
//!
//! To add a case, add a line to the file of its topic.

#[path = "../support/mod.rs"]
mod support;

mod case;
mod requests;
mod server;

mod grammar;
mod responses;

mod chunks;
mod connections;
mod content_length;
mod expectations;
mod fields;
mod hosts;
mod line_ends;
mod methods;
mod sequences;
mod sizes;
mod targets;
mod transfer_encoding;
mod versions;
