//! A jar of cookies: what servers set, and what goes along with a request (RFC 6265bis, 5).
//!
//! The grammar is [`SetCookie`]'s; what is a public suffix says the list that browsers use (the crate `psl`).

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::Uri;
use http::header::{self, HeaderMap, HeaderValue};
use thrum_parse::http::value::{FieldValue, SetCookie};

/// Cookies that one site may have, which is a registrable domain with all below it, and their bytes.
const OF_SITE: Limit = Limit {
    cookies: 180,
    bytes: 64 * 1024,
};
/// Cookies of all sites.
const OF_ALL: Limit = Limit {
    cookies: 3000,
    bytes: 4 * 1024 * 1024,
};
/// No cookie lasts longer: 400 days (5.5).
const MOST_AGE: i64 = 400 * 24 * 3600;

struct Limit {
    cookies: usize,
    bytes: usize,
}

/// Cookies that servers have set, shared by its clones: give it to several clients, or look into it later.
///
/// A cookie goes to the hosts, paths and schemes that it was set for. None is taken for a domain that the sender is not
/// in, or for a public suffix such as `co.uk`; `__Host-` and `__Secure-` in front of a name are held to what they
/// promise. What is `Secure` is set and sent over `https` only. `SameSite` says nothing here: no page causes requests.
///
/// It keeps 180 cookies and 64 KiB for each site, 3000 and 4 MiB in all, and each for at most 400 days; beyond that those
/// go first that have expired, then those that were not sent for longest.
///
/// ```
/// use thrum_http::client::CookieJar;
///
/// let jar = CookieJar::new();
/// let url = "https://www.example.com/".parse().unwrap();
/// assert!(jar.set(&url, "theme=dark; Domain=example.com"));
/// let other = "https://api.example.com/".parse().unwrap();
/// assert_eq!(jar.header(&other).unwrap(), "theme=dark");
/// ```
#[derive(Clone, Default)]
pub struct CookieJar(Arc<Mutex<Jar>>);

impl CookieJar {
    /// An empty jar.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the cookies of a response that came from `url`.
    pub fn store(&self, url: &Uri, response: &HeaderMap) {
        let mut values = response.get_all(header::SET_COOKIE).iter().peekable();
        if values.peek().is_some() {
            let mut jar = self.lock();
            for value in values {
                jar.set(url, value.as_bytes(), now());
            }
        }
    }

    /// Takes one cookie, as `Set-Cookie` of a response from `url` would have it. False: it was refused.
    pub fn set(&self, url: &Uri, cookie: &str) -> bool {
        self.lock().set(url, cookie.as_bytes(), now())
    }

    /// The field `Cookie` of a request for `url`, if there are any for it: those of longer paths first, then the older.
    pub fn header(&self, url: &Uri) -> Option<HeaderValue> {
        self.lock().header(url, now())
    }

    /// How many there are, with those that have expired and were not looked at since.
    pub fn len(&self) -> usize {
        self.lock().size.cookies
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets them all.
    pub fn clear(&self) {
        *self.lock() = Jar::default();
    }

    /// All cookies in the format `cookies.txt`, which curl and wget read and write. Those that end with the session are
    /// in it too. It holds secrets: have nobody else read the file.
    pub fn to_text(&self) -> String {
        self.lock().to_text()
    }

    /// Adds the cookies of a `cookies.txt`; how many. Lines that are none, and cookies that have expired, are passed over.
    pub fn load_text(&self, text: &str) -> usize {
        let mut jar = self.lock();
        let now = now();
        let cookies = text.lines().filter_map(Cookie::from_line);
        let fresh = cookies.filter(|cookie| !cookie.has_expired(now));
        fresh.map(|cookie| jar.insert(cookie, now)).count()
    }

    fn lock(&self) -> MutexGuard<'_, Jar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CookieJar {
    /// Without the cookies: they are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CookieJar")
            .field("len", &self.len())
            .finish()
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or(Duration::ZERO).as_secs()).unwrap_or(i64::MAX)
}

#[derive(Default)]
struct Jar {
    /// By registrable domain.
    sites: HashMap<String, Vec<Cookie>>,
    size: Size,
    /// Counts what is done: the clock of what is older.
    turn: u64,
}

#[derive(Clone, Copy, Default)]
struct Size {
    cookies: usize,
    bytes: usize,
}

impl Size {
    fn of(cookies: &[Cookie]) -> Self {
        Self {
            cookies: cookies.len(),
            bytes: cookies.iter().map(Cookie::bytes).sum(),
        }
    }

    fn is_above(self, limit: &Limit) -> bool {
        self.cookies > limit.cookies || self.bytes > limit.bytes
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: Box<[u8]>,
    value: Box<[u8]>,
    /// In lower case, without a dot in front.
    domain: String,
    is_host_only: bool,
    path: String,
    is_secure: bool,
    is_http_only: bool,
    /// Seconds since 1970; `None`: when the session ends.
    expires: Option<i64>,
    /// Turns.
    created: u64,
    used: u64,
}

impl Jar {
    /// RFC 6265bis, 5.7; numbers in comments are its steps.
    fn set(&mut self, url: &Uri, field: &[u8], now: i64) -> bool {
        let Some(cookie) = SetCookie::parse(field)
            .ok()
            .and_then(|cookie| Cookie::accept(url, &cookie, now))
        else {
            return false;
        };
        if !cookie.is_secure && !is_secure(url) && self.hides_secure(&cookie) {
            return false;
        }
        self.insert(cookie, now);
        true
    }

    /// Whether a cookie that came in the clear would stand in the way of a secure one (12.).
    fn hides_secure(&self, cookie: &Cookie) -> bool {
        let site = self.sites.get(site(&cookie.domain));
        site.into_iter().flatten().any(|old| {
            old.is_secure
                && old.name == cookie.name
                && (in_domain(&old.domain, &cookie.domain)
                    || in_domain(&cookie.domain, &old.domain))
                && in_path(&cookie.path, &old.path)
        })
    }

    fn insert(&mut self, mut cookie: Cookie, now: i64) {
        self.turn += 1;
        (cookie.created, cookie.used) = (self.turn, self.turn);
        let key = site(&cookie.domain).to_owned();
        let site = self.sites.entry(key.clone()).or_default();
        let before = Size::of(site);
        let is_same = |old: &Cookie| {
            old.name == cookie.name
                && old.domain == cookie.domain
                && old.is_host_only == cookie.is_host_only
                && old.path == cookie.path
        };
        if let Some(at) = site.iter().position(is_same) {
            cookie.created = site.swap_remove(at).created;
        }
        if !cookie.has_expired(now) {
            site.push(cookie);
        }
        while Size::of(site).is_above(&OF_SITE) {
            evict(site, now);
        }
        self.resize(&key, before);
        while self.size.is_above(&OF_ALL) {
            self.evict_one(now);
        }
    }

    /// Evicts of the site that was of no use for longest.
    fn evict_one(&mut self, now: i64) {
        let oldest = self.sites.iter().min_by_key(|(_, cookies)| {
            let used = cookies.iter().map(|cookie| cookie.used);
            used.min()
        });
        let Some(key) = oldest.map(|(key, _)| key.clone()) else {
            return;
        };
        let Some(site) = self.sites.get_mut(&key) else {
            return;
        };
        let before = Size::of(site);
        evict(site, now);
        self.resize(&key, before);
    }

    /// Counts anew what has changed in one site.
    fn resize(&mut self, key: &str, before: Size) {
        let after = self
            .sites
            .get(key)
            .map_or(Size::default(), |site| Size::of(site));
        self.size.cookies = self.size.cookies - before.cookies + after.cookies;
        self.size.bytes = self.size.bytes - before.bytes + after.bytes;
        if after.cookies == 0 {
            self.sites.remove(key);
        }
    }

    /// RFC 6265bis, 5.8.3.
    fn header(&mut self, url: &Uri, now: i64) -> Option<HeaderValue> {
        let host = host(url)?;
        let key = site(&host).to_owned();
        let site = self.sites.get_mut(&key)?;
        let before = Size::of(site);
        site.retain(|cookie| !cookie.has_expired(now));
        self.turn += 1;
        let mut chosen: Vec<&mut Cookie> = site
            .iter_mut()
            .filter(|cookie| cookie.is_for(&host, url))
            .collect();
        chosen.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.created));
        let mut field = Vec::new();
        for cookie in chosen {
            cookie.used = self.turn;
            if !field.is_empty() {
                field.extend_from_slice(b"; ");
            }
            if !cookie.name.is_empty() {
                field.extend_from_slice(&cookie.name);
                field.push(b'=');
            }
            field.extend_from_slice(&cookie.value);
        }
        self.resize(&key, before);
        let mut value = HeaderValue::from_bytes(&field)
            .ok()
            .filter(|_| !field.is_empty())?;
        value.set_sensitive(true);
        Some(value)
    }

    fn to_text(&self) -> String {
        let mut cookies: Vec<&Cookie> = self.sites.values().flatten().collect();
        cookies.sort_by_key(|cookie| cookie.created);
        let mut text = String::from("# Netscape HTTP Cookie File\n\n");
        for line in cookies.iter().filter_map(|cookie| cookie.to_line()) {
            text.push_str(&line);
        }
        text
    }
}

/// Evicts one: what has expired, else what is not `Secure`, else any; of these the one that was of no use for longest.
fn evict(site: &mut Vec<Cookie>, now: i64) {
    let worth = |cookie: &Cookie| (!cookie.has_expired(now), cookie.is_secure, cookie.used);
    if let Some(at) = (0..site.len()).min_by_key(|&at| worth(&site[at])) {
        site.swap_remove(at);
    }
}

impl Cookie {
    /// What is to be kept of a cookie that came from `url`; `None` if it is refused.
    fn accept(url: &Uri, set: &SetCookie<'_>, now: i64) -> Option<Self> {
        let host = host(url)?;
        let domain = match set.domain() {
            None => None,
            Some(domain) => {
                let domain = std::str::from_utf8(domain).ok()?.to_ascii_lowercase();
                if domain == host && (is_ip(&host) || is_public_suffix(&domain)) {
                    None // 9.: then for this host only
                } else if is_public_suffix(&domain) || !in_domain(&host, &domain) {
                    return None; // 9., 10.
                } else {
                    Some(domain)
                }
            }
        };
        if set.is_secure && !is_secure(url) {
            return None; // 11.
        }
        let path = match set.path() {
            Some(path) => std::str::from_utf8(path).ok()?,
            None => default_path(url.path()),
        };
        let is_host = set.is_secure && domain.is_none() && set.path() == Some(b"/");
        let is_kept = |prefix: &[u8], promise: bool| {
            let starts = |text: &[u8]| {
                text.get(..prefix.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            };
            // 20. to 22.: without a name, what is sent is the value alone, and a server would take it for a name.
            let is_hidden = set.name().is_empty() && starts(set.value());
            !is_hidden && (promise || !starts(set.name()))
        };
        if !is_kept(b"__Secure-", set.is_secure) || !is_kept(b"__Host-", is_host) {
            return None;
        }
        let expires = match (set.max_age, set.expires) {
            (Some(seconds), _) => Some(now.saturating_add(seconds)),
            (None, Some(date)) => Some(date.unix_seconds()),
            (None, None) => None,
        };
        Some(Self {
            name: set.name().into(),
            value: set.value().into(),
            is_host_only: domain.is_none(),
            domain: domain.unwrap_or(host),
            path: path.to_owned(),
            is_secure: set.is_secure,
            is_http_only: set.is_http_only,
            expires: expires.map(|time| time.min(now + MOST_AGE)),
            created: 0,
            used: 0,
        })
    }

    fn has_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    fn is_for(&self, host: &str, url: &Uri) -> bool {
        let is_for_host = if self.is_host_only {
            host == self.domain
        } else {
            in_domain(host, &self.domain)
        };
        is_for_host && in_path(url.path(), &self.path) && (!self.is_secure || is_secure(url))
    }

    fn bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.domain.len() + self.path.len()
    }

    /// A line of `cookies.txt`: domain, for what is below it too, path, secure, expires, name, value. `None` for what it
    /// cannot hold.
    fn to_line(&self) -> Option<String> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let (name, value) = (text(&self.name)?, text(&self.value)?);
        if [name, value, &self.path]
            .iter()
            .any(|text| text.contains('\t'))
        {
            return None;
        }
        let truth = |is: bool| if is { "TRUE" } else { "FALSE" };
        Some(format!(
            "{}{}{}\t{}\t{}\t{}\t{}\t{name}\t{value}\n",
            if self.is_http_only { HTTP_ONLY } else { "" },
            if self.is_host_only { "" } else { "." },
            self.domain,
            truth(!self.is_host_only),
            self.path,
            truth(self.is_secure),
            self.expires.unwrap_or(0),
        ))
    }

    fn from_line(line: &str) -> Option<Self> {
        let (line, is_http_only) = match line.strip_prefix(HTTP_ONLY) {
            Some(line) => (line, true),
            None => (line, false),
        };
        if line.starts_with('#') || line.len() > LINE_BYTES {
            return None;
        }
        let mut parts = line.trim_end_matches('\r').splitn(7, '\t');
        let mut part = || parts.next();
        let domain = part()?.trim_start_matches('.').to_ascii_lowercase();
        let is_host_only = part()? != "TRUE";
        let (path, is_secure) = (part()?, part()? == "TRUE");
        let expires = part()?.parse().ok().filter(|&time: &i64| time != 0);
        let (name, value) = (part()?, part().unwrap_or_default());
        HeaderValue::from_str(name)
            .and(HeaderValue::from_str(value))
            .ok()?;
        let is_bad =
            domain.is_empty() || !path.starts_with('/') || (name.is_empty() && value.is_empty());
        (!is_bad).then(|| Self {
            name: name.as_bytes().into(),
            value: value.as_bytes().into(),
            is_host_only: is_host_only || is_ip(&domain) || is_public_suffix(&domain),
            domain,
            path: path.to_owned(),
            is_secure,
            is_http_only,
            expires,
            created: 0,
            used: 0,
        })
    }
}

const HTTP_ONLY: &str = "#HttpOnly_";
const LINE_BYTES: usize = 8 * 1024;

fn host(url: &Uri) -> Option<String> {
    let host = url.host().filter(|host| !host.is_empty())?;
    Some(host.to_ascii_lowercase())
}

fn is_secure(url: &Uri) -> bool {
    url.scheme_str() == Some("https")
}

fn is_ip(host: &str) -> bool {
    let inner = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    inner.unwrap_or(host).parse::<IpAddr>().is_ok()
}

/// The registrable domain that a host is in; the host itself if it is in none.
fn site(host: &str) -> &str {
    if is_ip(host) {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

fn is_public_suffix(domain: &str) -> bool {
    !is_ip(domain) && psl::suffix_str(domain) == Some(domain)
}

/// RFC 6265bis, 5.1.3
fn in_domain(host: &str, domain: &str) -> bool {
    let above = host.strip_suffix(domain);
    above.is_some_and(|above| above.is_empty() || (above.ends_with('.') && !is_ip(host)))
}

/// RFC 6265bis, 5.1.4
fn in_path(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

/// The folder of a path: all before its last slash (RFC 6265bis, 5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => &path[..slash],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn url(text: &str) -> Uri {
        text.parse().unwrap()
    }

    fn sent(jar: &mut Jar, to: &str) -> String {
        let header = jar.header(&url(to), NOW);
        header.map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    }

    /// What goes to `to` after `from` has set `cookie`.
    fn after(from: &str, cookie: &str, to: &str) -> String {
        let mut jar = Jar::default();
        jar.set(&url(from), cookie.as_bytes(), NOW);
        sent(&mut jar, to)
    }

    #[test]
    fn a_cookie_goes_where_it_is_for() {
        let cases = [
            // set by, cookie, asked for, sent
            ("http://a.example/", "a=b", "http://a.example/c?d", true),
            ("http://a.example/", "a=b", "http://A.EXAMPLE:81/", true),
            ("http://a.example/", "a=b", "http://b.a.example/", false),
            (
                "http://b.a.example/",
                "a=b; Domain=a.example",
                "http://c.a.example/",
                true,
            ),
            (
                "http://b.a.example/",
                "a=b; Domain=.A.Example",
                "http://a.example/",
                true,
            ),
            (
                "http://a.example/",
                "a=b; Domain=a.example",
                "http://ba.example/",
                false,
            ),
            (
                "http://a.example/",
                "a=b; Domain=b.a.example",
                "http://b.a.example/",
                false,
            ),
            (
                "http://a.example/",
                "a=b; Domain=other.example",
                "http://other.example/",
                false,
            ),
            ("http://a.example/x/y", "a=b", "http://a.example/x/z", true),
            ("http://a.example/x/y", "a=b", "http://a.example/", false),
            (
                "http://a.example/x/y",
                "a=b; Path=/",
                "http://a.example/",
                true,
            ),
            (
                "http://a.example/",
                "a=b; Path=/x",
                "http://a.example/x/y",
                true,
            ),
            (
                "http://a.example/",
                "a=b; Path=/x",
                "http://a.example/xy",
                false,
            ),
            (
                "http://a.example/",
                "a=b; Path=/x/",
                "http://a.example/x",
                false,
            ),
            (
                "https://a.example/",
                "a=b; Secure",
                "https://a.example/",
                true,
            ),
            (
                "https://a.example/",
                "a=b; Secure",
                "http://a.example/",
                false,
            ),
            (
                "http://a.example/",
                "a=b; Secure",
                "https://a.example/",
                false,
            ),
        ];
        for (from, cookie, to, is_sent) in cases {
            let expected = if is_sent { "a=b" } else { "" };
            assert_eq!(after(from, cookie, to), expected, "{from} {cookie} {to}");
        }
    }

    #[test]
    fn a_public_suffix_gets_no_cookies() {
        assert_eq!(
            after("http://a.co.uk/", "a=b; Domain=co.uk", "http://b.co.uk/"),
            ""
        );
        assert_eq!(
            after("http://a.co.uk/", "a=b; Domain=uk", "http://a.co.uk/"),
            ""
        );
        assert_eq!(
            after(
                "http://x.github.io/",
                "a=b; Domain=github.io",
                "http://y.github.io/"
            ),
            ""
        );
        // A site that is one itself may have its own.
        assert_eq!(
            after(
                "http://github.io/",
                "a=b; Domain=github.io",
                "http://github.io/"
            ),
            "a=b"
        );
        assert_eq!(
            after(
                "http://github.io/",
                "a=b; Domain=github.io",
                "http://y.github.io/"
            ),
            ""
        );
        assert_eq!(
            after(
                "http://localhost/",
                "a=b; Domain=localhost",
                "http://localhost/"
            ),
            "a=b"
        );
    }

    #[test]
    fn an_address_is_no_domain() {
        assert_eq!(
            after(
                "http://127.0.0.1/",
                "a=b; Domain=127.0.0.1",
                "http://127.0.0.1/"
            ),
            "a=b"
        );
        assert_eq!(
            after(
                "http://127.0.0.1/",
                "a=b; Domain=0.0.1",
                "http://127.0.0.1/"
            ),
            ""
        );
        assert_eq!(after("http://[::1]/", "a=b", "http://[::1]:8080/"), "a=b");
    }

    #[test]
    fn prefixes_are_held_to_their_promise() {
        let (https, http) = ("https://a.example/", "http://a.example/");
        for (from, cookie, is_kept) in [
            (https, "__Secure-a=b; Secure", true),
            (https, "__Secure-a=b", false),
            (https, "__secure-a=b", false),
            (http, "__Secure-a=b; Secure", false),
            (https, "__Host-a=b; Secure; Path=/", true),
            (https, "__Host-a=b; Secure", false),
            (https, "__Host-a=b; Path=/", false),
            (https, "__HOST-a=b; Secure; Path=/; Domain=a.example", false),
            (https, "=__Host-a=b; Secure; Path=/", false),
        ] {
            assert_eq!(!after(from, cookie, https).is_empty(), is_kept, "{cookie}");
        }
    }

    #[test]
    fn the_clear_does_not_cover_the_secure() {
        let mut jar = Jar::default();
        assert!(jar.set(
            &url("https://a.example/"),
            b"id=good; Secure; Domain=a.example",
            NOW
        ));
        assert!(!jar.set(
            &url("http://b.a.example/"),
            b"id=evil; Domain=a.example",
            NOW
        ));
        assert!(!jar.set(&url("http://a.example/x/"), b"id=evil; Path=/x", NOW));
        assert!(jar.set(&url("https://a.example/"), b"id=new", NOW));
    }

    #[test]
    fn cookies_expire() {
        let site = "http://a.example/";
        assert_eq!(after(site, "a=b; Max-Age=1", site), "a=b");
        assert_eq!(after(site, "a=b; Max-Age=0", site), "");
        assert_eq!(after(site, "a=b; Max-Age=-1", site), "");
        assert_eq!(
            after(site, "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", site),
            ""
        );
        assert_eq!(
            after(
                site,
                "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=9",
                site
            ),
            "a=b"
        );
        let mut jar = Jar::default();
        jar.set(&url(site), b"a=b; Max-Age=9223372036854775807", NOW);
        assert!(jar.header(&url(site), NOW + MOST_AGE - 1).is_some());
        assert!(jar.header(&url(site), NOW + MOST_AGE).is_none());
        assert_eq!(
            (jar.size.cookies, jar.size.bytes, jar.sites.len()),
            (0, 0, 0)
        );
    }

    #[test]
    fn the_same_cookie_is_replaced_and_keeps_its_place() {
        let mut jar = Jar::default();
        for cookie in ["a=1", "b=2", "long=3; Path=/x", "a=4", "=5"] {
            assert!(jar.set(&url("http://a.example/"), cookie.as_bytes(), NOW));
        }
        assert_eq!(sent(&mut jar, "http://a.example/x"), "long=3; a=4; b=2; 5");
        jar.set(&url("http://a.example/"), b"a=; Max-Age=0", NOW);
        assert_eq!(sent(&mut jar, "http://a.example/x"), "long=3; b=2; 5");
    }

    #[test]
    fn a_site_has_only_so_many() {
        let mut jar = Jar::default();
        let site = url("https://a.example/");
        jar.set(&site, b"first=1; Secure", NOW);
        for n in 0..500 {
            let host = url(&format!("http://h{n}.a.example/"));
            jar.set(&host, format!("n{n}=1; Domain=a.example").as_bytes(), NOW);
        }
        assert_eq!(jar.size.cookies, OF_SITE.cookies);
        let sent = sent(&mut jar, "https://a.example/");
        assert!(sent.contains("first=1") && sent.contains("n499=1") && !sent.contains("n0=1"));
        for n in 0..500 {
            let cookie = format!("b{n}={}", "x".repeat(4000));
            jar.set(&site, cookie.as_bytes(), NOW);
        }
        assert!(jar.size.bytes <= OF_SITE.bytes, "{}", jar.size.bytes);
    }

    #[test]
    fn all_sites_together_have_only_so_many() {
        let mut jar = Jar::default();
        for n in 0..4000 {
            let host = url(&format!("http://host{n}.example/"));
            jar.set(&host, format!("a={}", "x".repeat(n % 3000)).as_bytes(), NOW);
            assert!(!jar.size.is_above(&OF_ALL));
        }
        assert!(jar.sites.len() > 1000);
        let size = jar.sites.values().fold((0, 0), |(cookies, bytes), site| {
            let size = Size::of(site);
            (cookies + size.cookies, bytes + size.bytes)
        });
        assert_eq!((jar.size.cookies, jar.size.bytes), size);
        assert!(sent(&mut jar, "http://host0.example/").is_empty());
        assert!(!sent(&mut jar, "http://host3999.example/").is_empty());
    }

    #[test]
    fn text_is_what_curl_reads_and_writes() {
        let jar = CookieJar::new();
        let from = url("https://a.example/x/y");
        let far = now() + 1000;
        assert!(jar.set(&from, "a=b; HttpOnly; Secure; Domain=a.example; Path=/"));
        assert!(jar.set(&from, "c=d; Max-Age=1000"));
        assert!(jar.set(&from, "tab=1\t2"));
        let text = jar.to_text();
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines[0], "#HttpOnly_.a.example\tTRUE\t/\tTRUE\t0\ta\tb");
        let (start, end) = ("a.example\tFALSE\t/x\tFALSE\t", "\tc\td");
        let expires = lines[1]
            .strip_prefix(start)
            .and_then(|rest| rest.strip_suffix(end));
        assert!((far..far + 60).contains(&expires.unwrap().parse().unwrap()));
        assert_eq!(lines.len(), 2);

        let again = CookieJar::new();
        assert_eq!(again.load_text(&text), 2);
        assert_eq!(
            again.header(&url("https://a.example/x/")).unwrap(),
            "c=d; a=b"
        );
        assert_eq!(again.to_text(), text);
        let bad = "# a comment\n\nnonsense\na.example\tTRUE\t/\tFALSE\t1\told\t1\n.uk\tTRUE\t/\tFALSE\t0\ta\tb\n";
        assert_eq!(again.load_text(bad), 1);
        assert!(again.header(&url("http://a.uk/")).is_none());
        again.clear();
        assert!(again.is_empty());
    }
}
