//! A client of HTTP.

#[cfg(feature = "cookies")]
mod cookies;
#[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
mod decompress;
mod origin;
mod proxy;
pub mod redirect;

#[cfg(feature = "cookies")]
pub use self::cookies::CookieJar;
pub use self::proxy::{Proxies, ProxyError, TunnelError};
