//! The thrum web server: files, access log

pub mod access_log;
