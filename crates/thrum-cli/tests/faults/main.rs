//! What goes wrong around a server, and how little comes of it. `--nocapture` shows figures.

#[path = "../support/mod.rs"]
mod support;

mod clock;
mod descriptors;
mod hog;
