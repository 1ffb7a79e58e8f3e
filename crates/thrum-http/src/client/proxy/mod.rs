//! Which proxy a request goes through, if any: by given rules, or those of the environment.
//!
//! | proxy | request for `http` | request for `https` |
//! |---|---|---|
//! | `http://` | asked for by its whole URL (RFC 9112, 3.2.2) | a tunnel by CONNECT (RFC 9110, 9.3.6) |
//! | `socks5://`, `socks5h://` | a connection by SOCKS 5 (RFC 1928, 1929) | the same, with TLS in it |

mod except;
mod tunnel;

use std::fmt;
use std::sync::Arc;

use http::header::HeaderValue;
use thiserror::Error;
use thrum_parse::uri::{Host, decode, parse_host};

use self::except::Except;
pub use self::tunnel::TunnelError;
use super::origin::basic;

/// The proxies of a client. Default: none; the environment is read only where it is asked for.
///
/// ```
/// use thrum_http::client::Proxies;
///
/// let proxies = Proxies::all("http://user:secret@proxy.example:3128")?
///     .https("socks5h://127.0.0.1:1080")?
///     .except("localhost, .internal, 10.0.0.0/8");
/// # let _ = proxies;
/// # Ok::<(), thrum_http::client::ProxyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<Arc<Proxy>>,
    https: Option<Arc<Proxy>>,
    except: Except,
}

impl Proxies {
    /// No proxies.
    pub fn none() -> Self {
        Self::default()
    }

    /// One proxy for everything.
    ///
    /// It is `http://`, `socks5://` (names are looked up here) or `socks5h://` (names are looked up by the proxy), with a
    /// user name and a password if it wants them, a host, and a port: without one 80, or 1080 of SOCKS. Without a scheme it
    /// is `http`.
    ///
    /// # Errors
    /// It is none of these.
    pub fn all(proxy: &str) -> Result<Self, ProxyError> {
        Self::none().http(proxy)?.https(proxy)
    }

    /// Sets the proxy for `http`; see [`all`](Self::all).
    ///
    /// # Errors
    /// It is no proxy.
    pub fn http(mut self, proxy: &str) -> Result<Self, ProxyError> {
        self.http = Some(Arc::new(Proxy::parse(proxy)?));
        Ok(self)
    }

    /// Sets the proxy for `https`; see [`all`](Self::all).
    ///
    /// # Errors
    /// It is no proxy.
    pub fn https(mut self, proxy: &str) -> Result<Self, ProxyError> {
        self.https = Some(Arc::new(Proxy::parse(proxy)?));
        Ok(self)
    }

    /// Says for what no proxy is used: what `no_proxy` holds. That is a list with commas of
    ///
    /// * hosts, `example.com`, with all that is below;
    /// * `.example.com`, what is below only;
    /// * addresses, `10.1.2.3` or `::1`, and ranges of them, `10.0.0.0/8`; names are not looked up for these;
    /// * any of them with a port, `example.com:8080`, `[::1]:80`;
    /// * `*`, which is everything.
    ///
    /// What is none of these is passed over.
    pub fn except(mut self, list: &str) -> Self {
        self.except = Except::parse(list);
        self
    }

    /// What the environment says: `http_proxy`, `https_proxy`, `all_proxy` for those that are not set, and `no_proxy`; or
    /// their names in capitals.
    ///
    /// In a CGI program, which has `REQUEST_METHOD`, `HTTP_PROXY` is a field of the request and means nothing
    /// ("httpoxy", CVE-2016-5385).
    ///
    /// # Errors
    /// One of them is no proxy.
    pub fn from_env() -> Result<Self, ProxyError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ProxyError> {
        let filled = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let either = |name: &str| filled(name).or_else(|| filled(&name.to_ascii_uppercase()));
        let http = match variable("REQUEST_METHOD") {
            Some(_) => filled("http_proxy"),
            None => either("http_proxy"),
        };
        let all = either("all_proxy");
        let parse = |proxy: Option<String>| {
            let proxy = proxy.or_else(|| all.clone());
            let proxy = proxy.map(|proxy| Proxy::parse(&proxy)).transpose();
            proxy.map(|proxy| proxy.map(Arc::new))
        };
        Ok(Self {
            http: parse(http)?,
            https: parse(either("https_proxy"))?,
            except: Except::parse(&either("no_proxy").unwrap_or_default()),
        })
    }

    /// The proxy that a request for `host` is to go through. An IPv6 address has no brackets.
    pub(crate) fn find(&self, is_tls: bool, host: &str, port: u16) -> Option<&Arc<Proxy>> {
        let proxy = if is_tls { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !self.except.covers(host, port))
    }
}

/// A proxy, and how it is spoken to.
#[derive(PartialEq, Eq)]
pub(crate) struct Proxy {
    kind: Kind,
    host: String,
    port: u16,
    /// User name and password.
    credentials: Option<(Vec<u8>, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Http,
    Socks5 { looks_up_names: bool },
}

impl Proxy {
    fn parse(text: &str) -> Result<Self, ProxyError> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let (kind, default) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Kind::Http, 80),
            "socks5" => (
                Kind::Socks5 {
                    looks_up_names: false,
                },
                1080,
            ),
            "socks5h" => (
                Kind::Socks5 {
                    looks_up_names: true,
                },
                1080,
            ),
            _ => return Err(ProxyError::Scheme),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (userinfo, host) = match authority.rsplit_once('@') {
            Some((userinfo, host)) => (Some(userinfo), host),
            None => (None, authority),
        };
        let authority = parse_host(host.as_bytes()).map_err(|_| ProxyError::Host)?;
        let host = match authority.host {
            Host::Ip(address) => address.to_string(),
            Host::Name("") => return Err(ProxyError::Host),
            Host::Name(name) => name.to_owned(),
        };
        let credentials = match userinfo {
            None => None,
            Some(userinfo) => {
                let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
                let plain = |text: &str| {
                    let plain = decode(text.as_bytes()).map_err(|_| ProxyError::Credentials)?;
                    // RFC 1929, section 2
                    let fits = kind == Kind::Http || plain.len() <= 255;
                    fits.then(|| plain.into_owned())
                        .ok_or(ProxyError::Credentials)
                };
                Some((plain(user)?, plain(password)?))
            }
        };
        Ok(Self {
            kind,
            host,
            port: authority.port.unwrap_or(default),
            credentials,
        })
    }

    /// Where it is: its host, an IPv6 address without brackets, and its port.
    pub(crate) fn address(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// Whether requests for `http` are sent to it as they are, by their whole URL.
    pub(crate) fn takes_whole_urls(&self) -> bool {
        self.kind == Kind::Http
    }

    /// The field `Proxy-Authorization` (RFC 9110, 11.7.2) for requests that are sent to it as they are.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.credentials.as_ref()?;
        let value = basic(&[user, &b":"[..], password].concat());
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Proxy {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("kind", &self.kind)
            .field("host", &self.host)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// Why a text is no proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// Its scheme is not one that is spoken here.
    #[error("the proxy's scheme is none of http, socks5 and socks5h")]
    Scheme,
    /// It has no host, or no valid one, or its port is no number.
    #[error("the proxy's host or port is malformed")]
    Host,
    /// Its user name or password is not percent-encoded, or longer than SOCKS allows.
    #[error("the proxy's user name or password is malformed")]
    Credentials,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Proxies {
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Proxies::from_variables(find).unwrap()
    }

    fn http(proxies: &Proxies) -> Option<(&str, u16)> {
        proxies
            .find(false, "a.example", 80)
            .map(|proxy| proxy.address())
    }

    fn https(proxies: &Proxies) -> Option<(&str, u16)> {
        proxies
            .find(true, "a.example", 443)
            .map(|proxy| proxy.address())
    }

    #[test]
    fn proxies_are_parsed() {
        let parse = |text| Proxy::parse(text).unwrap();
        assert_eq!(parse("proxy").address(), ("proxy", 80));
        assert_eq!(parse("proxy:3128").address(), ("proxy", 3128));
        assert_eq!(parse(" http://proxy:3128/ ").address(), ("proxy", 3128));
        assert_eq!(parse("http://[::1]:81").address(), ("::1", 81));
        let socks = parse("SOCKS5h://us%3Aer:p%40ss@127.0.0.1");
        assert_eq!(socks.address(), ("127.0.0.1", 1080));
        assert_eq!(
            socks.credentials,
            Some((b"us:er".to_vec(), b"p@ss".to_vec()))
        );
        assert!(!socks.takes_whole_urls() && parse("proxy").takes_whole_urls());
        let shown = format!("{:?}", parse("http://user:hunter2@proxy"));
        assert!(!shown.contains("hunter2"), "{shown}");
        for (text, error) in [
            ("ftp://proxy", ProxyError::Scheme),
            ("https://proxy", ProxyError::Scheme),
            ("http://", ProxyError::Host),
            ("http://:80", ProxyError::Host),
            ("http://proxy:99999", ProxyError::Host),
            ("http://pro xy", ProxyError::Host),
            ("http://a%:b@proxy", ProxyError::Credentials),
        ] {
            assert_eq!(Proxy::parse(text), Err(error), "{text}");
        }
        let long = format!("socks5://{}:x@proxy", "u".repeat(256));
        assert_eq!(Proxy::parse(&long), Err(ProxyError::Credentials));
    }

    #[test]
    fn the_field_is_basic() {
        let proxy = Proxy::parse("http://Aladdin:open%20sesame@proxy").unwrap();
        let field = proxy.authorization().unwrap();
        assert_eq!(field, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(field.is_sensitive());
        assert_eq!(Proxy::parse("proxy").unwrap().authorization(), None);
    }

    #[test]
    fn the_environment_says_which() {
        let none = from(&[("http_proxy", ""), ("HTTPS_PROXY", "  ")]);
        assert_eq!((http(&none), https(&none)), (None, None));
        let some = from(&[
            ("http_proxy", "a:1"),
            ("HTTP_PROXY", "b:2"),
            ("ALL_PROXY", "c:3"),
        ]);
        assert_eq!(
            (http(&some), https(&some)),
            (Some(("a", 1)), Some(("c", 3)))
        );
        let except = from(&[("all_proxy", "c:3"), ("NO_PROXY", "example")]);
        assert_eq!((http(&except), https(&except)), (None, None));
        assert!(except.find(true, "example.org", 443).is_some());
        assert!(Proxies::from_variables(|_| Some("bad://x".to_owned())).is_err());
    }

    #[test]
    fn a_request_field_is_no_proxy() {
        let cgi = from(&[("HTTP_PROXY", "evil:1"), ("REQUEST_METHOD", "GET")]);
        assert_eq!(http(&cgi), None);
        let cgi = from(&[
            ("http_proxy", "good:1"),
            ("HTTP_PROXY", "evil:1"),
            ("REQUEST_METHOD", "GET"),
        ]);
        assert_eq!(http(&cgi), Some(("good", 1)));
    }
}
