//! The examples are the files beside `Cargo.toml`.
