//! The thrum web server: files, access log
