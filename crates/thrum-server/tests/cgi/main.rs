//! CGI over a real server: what programs learn, what becomes of what they write, and that none of them stays.

mod git;
mod limits;
mod requests;
mod responses;
mod support;
