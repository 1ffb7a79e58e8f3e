//! CGI and FastCGI over a real server: what programs learn, what becomes of what they write, and that none of them stays.

mod config;
mod fastcgi;
mod git;
mod limits;
mod php;
mod requests;
mod responses;
mod support;
