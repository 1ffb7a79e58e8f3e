//! The attribute macros of thrum
