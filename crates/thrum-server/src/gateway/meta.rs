//! The meta-variables of a request (RFC 3875 section 4.1), and some more that everybody sets.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use http::header::{
    self, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue,
};
use http::request::Parts;
use http::{Method, Version};
use thrum_http::ConnectionInfo;

use crate::files::path::{PathError, decode};
use crate::site::Visit;

/// Which program answers, and with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// The part of the request's path that names it, decoded.
    pub(crate) name: String,
    /// Its file.
    pub(crate) file: PathBuf,
    /// What follows its name in the request's path, decoded: empty, or a slash and so on.
    pub(crate) path_info: String,
}

/// A request, as a program gets to know it.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Parts,
    pub(crate) visit: &'a Visit,
    pub(crate) connection: &'a ConnectionInfo,
    pub(crate) script: &'a Script,
    /// The folder that paths begin at.
    pub(crate) root: &'a Path,
    /// Bytes of the body, if there is one and that is known.
    pub(crate) length: Option<u64>,
    /// Variables that are set in the configuration. They go before those of the request.
    pub(crate) more: &'a [(String, String)],
}

impl Asked<'_> {
    /// Hands over each variable, by its name and its value.
    pub(crate) fn each(&self, mut put: impl FnMut(&str, &[u8])) {
        for (name, value) in self.more {
            put(name, value.as_bytes());
        }
        let mut put = |name: &str, value: &[u8]| {
            if !self.more.iter().any(|(known, _)| known == name) {
                put(name, value);
            }
        };
        self.of_the_request(&mut put);
        self.of_the_connection(&mut put);
        self.fields(&mut put);
    }

    fn of_the_request(&self, put: &mut impl FnMut(&str, &[u8])) {
        let Self {
            request, script, ..
        } = self;
        put("GATEWAY_INTERFACE", b"CGI/1.1");
        put(
            "SERVER_SOFTWARE",
            concat!("thrum/", env!("CARGO_PKG_VERSION")).as_bytes(),
        );
        put("SERVER_PROTOCOL", protocol(request.version).as_bytes());
        put("REQUEST_METHOD", request.method.as_str().as_bytes());
        let target = request
            .uri
            .path_and_query()
            .map_or("/", |both| both.as_str());
        put("REQUEST_URI", target.as_bytes());
        put("QUERY_STRING", request.uri.query().unwrap_or("").as_bytes());
        put("SCRIPT_NAME", script.name.as_bytes());
        put("SCRIPT_FILENAME", script.file.as_os_str().as_bytes());
        put("DOCUMENT_ROOT", self.root.as_os_str().as_bytes());
        if !script.path_info.is_empty() {
            put("PATH_INFO", script.path_info.as_bytes());
            let translated = self.root.join(script.path_info.trim_start_matches('/'));
            put("PATH_TRANSLATED", translated.as_os_str().as_bytes());
        }
        if let Some(length) = self.length {
            put(
                "CONTENT_LENGTH",
                itoa::Buffer::new().format(length).as_bytes(),
            );
        }
        if let Some(kind) = request.headers.get(CONTENT_TYPE) {
            put("CONTENT_TYPE", kind.as_bytes());
        }
        // PHP refuses to be called from elsewhere without it.
        put("REDIRECT_STATUS", b"200");
    }

    fn of_the_connection(&self, put: &mut impl FnMut(&str, &[u8])) {
        let Self {
            request,
            visit,
            connection,
            ..
        } = self;
        let scheme = if visit.secure { "https" } else { "http" };
        put("REQUEST_SCHEME", scheme.as_bytes());
        if visit.secure {
            put("HTTPS", b"on");
        }
        let mut text = String::new();
        let mut show = |value: &dyn std::fmt::Display| {
            text.clear();
            let _ = write!(text, "{value}"); // into a string
            text.clone()
        };
        match visit.client {
            Some(client) => {
                let address = show(&client.to_canonical());
                put("REMOTE_ADDR", address.as_bytes());
                put("REMOTE_HOST", address.as_bytes()); // looking it up would take its time
            }
            // It has no address, and 127.0.0.1 is trusted by many.
            None => put("REMOTE_ADDR", b"unix:"),
        }
        if let Some(peer) = connection.peer
            && visit.client == Some(peer.ip())
        {
            put("REMOTE_PORT", show(&peer.port()).as_bytes());
        }
        let local = connection.local();
        if let Some(local) = local {
            put("SERVER_ADDR", show(&local.ip().to_canonical()).as_bytes());
        }
        let host = request
            .headers
            .get(HOST)
            .map_or(&b""[..], HeaderValue::as_bytes);
        let (name, port) = name_and_port(host, local, visit.secure);
        put("SERVER_NAME", name.as_bytes());
        put("SERVER_PORT", show(&port).as_bytes());
        if let Some(user) = &visit.user {
            put("REMOTE_USER", user.as_bytes());
            let field = request.headers.get(AUTHORIZATION);
            let scheme =
                field.and_then(|field| field.as_bytes().split(|&byte| byte == b' ').next());
            put("AUTH_TYPE", scheme.unwrap_or(b"Basic"));
        }
    }

    /// `HTTP_ACCEPT` and so on: the fields of the request that are no variables yet (4.1.18).
    fn fields(&self, put: &mut impl FnMut(&str, &[u8])) {
        let headers = &self.request.headers;
        let (mut variable, mut joined) = (String::new(), Vec::new());
        for name in headers.keys() {
            if !self.is_passed_on(name) {
                continue;
            }
            variable.clear();
            variable.push_str("HTTP_");
            variable.extend(name.as_str().chars().map(|letter| match letter {
                '-' => '_',
                letter => letter.to_ascii_uppercase(),
            }));
            let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
            let first = values.next().unwrap_or_default();
            let Some(second) = values.next() else {
                put(&variable, first);
                continue;
            };
            // RFC 9110 section 5.3; RFC 9113 section 8.2.3.
            let separator: &[u8] = if *name == COOKIE { b"; " } else { b", " };
            joined.clear();
            joined.extend_from_slice(first);
            for value in std::iter::once(second).chain(values) {
                joined.extend_from_slice(separator);
                joined.extend_from_slice(value);
            }
            put(&variable, &joined);
        }
    }

    fn is_passed_on(&self, name: &HeaderName) -> bool {
        if *name == AUTHORIZATION {
            // A secret that one of our guards has asked for is not the program's (4.1.18).
            return self.visit.user.is_none();
        }
        // Two names must not become one, and HTTP_PROXY is what many a program takes its own proxy from.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !LEFT_OUT.contains(name)
            && *name != "proxy"
            && *name != "keep-alive"
            && *name != "proxy-connection"
            && name.as_str().bytes().all(is_plain)
    }
}

/// Fields that are variables of another name, or of the connection.
const LEFT_OUT: [HeaderName; 9] = [
    CONTENT_LENGTH,
    CONTENT_TYPE,
    header::CONNECTION,
    header::EXPECT,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        Version::HTTP_3 => "HTTP/3.0",
        _ => "HTTP/1.1",
    }
}

/// The server's name and port as the client knows them.
fn name_and_port(host: &[u8], local: Option<SocketAddr>, secure: bool) -> (String, u16) {
    let host = String::from_utf8_lossy(host).to_ascii_lowercase();
    let usual = if secure { 443 } else { 80 };
    if host.is_empty() {
        let address = local.map_or("localhost".to_owned(), |local| {
            match local.ip().to_canonical() {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            }
        });
        return (address, local.map_or(usual, |local| local.port()));
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            (name.to_owned(), port.parse().unwrap_or(usual))
        }
        _ => (host, usual),
    }
}

/// A path of a request, decoded segment by segment; empty segments stay.
pub(crate) fn decode_path(path: &str) -> Result<String, PathError> {
    let mut decoded = String::with_capacity(path.len());
    for (index, segment) in path.split('/').enumerate() {
        if index > 0 {
            decoded.push('/');
        }
        decoded.push_str(&decode(segment)?);
    }
    Ok(decoded)
}

/// Whether a request with this method and body has its length told although it is nothing: a form that is empty.
pub(crate) fn is_told(method: &Method, length: Option<u64>) -> Option<u64> {
    length.filter(|&length| {
        length > 0 || matches!(*method, Method::POST | Method::PUT | Method::PATCH)
    })
}
