//! Incremental parser combinators over bytes, at hand-written speed
