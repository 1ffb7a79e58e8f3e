//! A client of HTTP.

#[cfg(feature = "cookies")]
mod cookies;
pub mod redirect;

#[cfg(feature = "cookies")]
pub use self::cookies::CookieJar;
