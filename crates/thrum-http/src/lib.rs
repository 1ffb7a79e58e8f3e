//! HTTP/1.1 on the thrum runtime
