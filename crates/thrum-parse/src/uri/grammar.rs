//! RFC 3986, appendix A, as combinators. The names are the RFC's.

use std::net::{IpAddr, Ipv4Addr};
use std::str;

use super::UriError::{BadByte, BadEscape, BadHost, BadPort, NoScheme};
use super::{Authority, Host, RequestTarget, URI_BYTES, UriReference};
use crate::class::{ALPHA, ALPHANUMERIC, HEXDIG};
use crate::stop::{Parsed, Stop};
use crate::{
    ByteSet, In, Parser, Reason, byte, decimal, opt, peek, peek_byte, satisfy, take_while,
};

/// unreserved / sub-delims, which stand for themselves everywhere
const PLAIN: ByteSet = ALPHANUMERIC.with(b"-._~").with(b"!$&'()*+,;=");

static SCHEME: ByteSet = ALPHANUMERIC.with(b"+-.");
static REG_NAME: ByteSet = PLAIN;
static USERINFO: ByteSet = PLAIN.with(b":");
static ADDRESS: ByteSet = HEXDIG.with(b":.");
static PATH: ByteSet = PLAIN.with(b":@/");
static QUERY: ByteSet = PLAIN.with(b":@/?");
static FIRST_SEGMENT: ByteSet = PLAIN.with(b"@%");

/// `URI = scheme ":" hier-part [ "?" query ] [ "#" fragment ]` (3)
///
/// # Errors
/// The reason is a [`UriError`](super::UriError), turned into a [`Reason`].
pub fn uri<'a>(i: &mut In<'a>) -> Parsed<UriReference<'a>> {
    let scheme = scheme.must(NoScheme).context("a scheme").parse(i)?;
    let hierarchy = hierarchy(i)?;
    let fragment = fragment(i)?;
    Ok(UriReference {
        scheme: Some(scheme),
        fragment,
        ..hierarchy
    })
}

/// URI-reference = URI / relative-ref (4.1)
///
/// # Errors
/// As [`uri()`].
pub fn uri_reference<'a>(i: &mut In<'a>) -> Parsed<UriReference<'a>> {
    let scheme = opt(scheme).parse(i)?;
    if scheme.is_none() {
        colon_in_first_segment(i)?;
    }
    let hierarchy = hierarchy(i)?;
    let fragment = fragment(i)?;
    Ok(UriReference {
        scheme,
        fragment,
        ..hierarchy
    })
}

/// `authority = [ userinfo "@" ] host [ ":" port ]` (3.2)
///
/// # Errors
/// As [`uri()`].
pub fn authority<'a>(i: &mut In<'a>) -> Parsed<Authority<'a>> {
    let userinfo = |i: &mut In<'a>| {
        let userinfo = encoded(&USERINFO).parse(i)?;
        byte(b'@').parse(i)?;
        Ok(userinfo)
    };
    let userinfo = opt(userinfo).parse(i)?;
    let authority = host_and_port(i)?;
    Ok(Authority {
        userinfo,
        ..authority
    })
}

/// `uri-host [ ":" port ]` (RFC 9110, 7.2)
///
/// # Errors
/// As [`uri()`].
pub fn host_and_port<'a>(i: &mut In<'a>) -> Parsed<Authority<'a>> {
    let host = host.context("a host").parse(i)?;
    let port = match opt(peek_byte()).parse(i)? {
        Some(b':') => port.context("a port").parse(i)?,
        _ => None,
    };
    Ok(Authority {
        userinfo: None,
        host,
        port,
    })
}

/// origin-form = absolute-path [ "?" query ] (RFC 9112, 3.2.1), whose slash has been seen
pub(super) fn origin_form<'a>(i: &mut In<'a>) -> Parsed<RequestTarget<'a>> {
    Ok(RequestTarget::Origin {
        path: encoded(&PATH).parse(i)?,
        query: query(i)?,
    })
}

/// absolute-form = absolute-URI (RFC 9112, 3.2.2)
pub(super) fn absolute_form<'a>(i: &mut In<'a>) -> Parsed<RequestTarget<'a>> {
    let scheme = scheme.must(NoScheme).parse(i)?;
    let hierarchy = hierarchy(i)?;
    Ok(RequestTarget::Absolute(UriReference {
        scheme: Some(scheme),
        ..hierarchy
    }))
}

/// scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ), and its colon (3.1)
fn scheme<'a>(i: &mut In<'a>) -> Parsed<&'a str> {
    let rest = take_while(&SCHEME).up_to(URI_BYTES, Reason::TooLong);
    let scheme = (satisfy(&ALPHA), rest).recognize().parse(i)?;
    byte(b':').parse(i)?;
    Ok(ascii(scheme))
}

/// hier-part / relative-part, with the query (3.3, 4.2)
fn hierarchy<'a>(i: &mut In<'a>) -> Parsed<UriReference<'a>> {
    let authority = match i.next_bytes() {
        Some(b"//") => {
            i.advance(2);
            Some(authority(i)?)
        }
        _ => None,
    };
    // path-abempty: behind an authority there is a slash, or nothing.
    let path = if authority.is_some() && !matches!(i.next_byte(), Some(b'/')) {
        ""
    } else {
        encoded(&PATH).context("a path").parse(i)?
    };
    Ok(UriReference {
        scheme: None,
        authority,
        path,
        query: query(i)?,
        fragment: None,
    })
}

/// `[ "?" query ]` (3.4)
fn query<'a>(i: &mut In<'a>) -> Parsed<Option<&'a str>> {
    let query = opt((byte(b'?'), encoded(&QUERY).context("a query"))).parse(i)?;
    Ok(query.map(|(_, query)| query))
}

/// `[ "#" fragment ]` (3.5)
fn fragment<'a>(i: &mut In<'a>) -> Parsed<Option<&'a str>> {
    let fragment = opt((byte(b'#'), encoded(&QUERY).context("a fragment"))).parse(i)?;
    Ok(fragment.map(|(_, fragment)| fragment))
}

/// host = IP-literal / IPv4address / reg-name (3.2.2)
fn host<'a>(i: &mut In<'a>) -> Parsed<Host<'a>> {
    if i.next_byte() == Some(b'[') {
        let address = take_while(&ADDRESS).up_to(ADDRESS_BYTES, BadHost);
        let literal = (byte(b'['), address, byte(b']')).must(BadHost);
        let address = literal.try_map(|(_, address, _)| match ascii(address).parse() {
            Ok(address) => Ok(Host::Ip(IpAddr::V6(address))),
            Err(_) => Err(BadHost),
        });
        return address.parse(i);
    }
    let name = encoded(&REG_NAME).parse(i)?;
    // Most names tell by their first byte that they are no address.
    if name.starts_with(|first: char| first.is_ascii_digit())
        && let Ok(address) = name.parse::<Ipv4Addr>()
    {
        return Ok(Host::Ip(address.into()));
    }
    Ok(Host::Name(name))
}

/// The longest IPv6 address there is: six groups and an IPv4 address.
const ADDRESS_BYTES: usize = 45;

/// ":" port, which may be empty (3.2.3)
fn port(i: &mut In<'_>) -> Parsed<Option<u16>> {
    byte(b':').parse(i)?;
    match opt(peek_byte()).parse(i)? {
        Some(b'0'..=b'9') => decimal::<u16>().must(BadPort).map(Some).parse(i),
        _ => Ok(None),
    }
}

/// path-noscheme: there is no colon in the first segment of a relative path (3.3)
fn colon_in_first_segment(i: &mut In<'_>) -> Parsed<()> {
    let first = take_while(&FIRST_SEGMENT).up_to(URI_BYTES, Reason::TooLong);
    peek((first, opt(byte(b':'))))
        .try_map(|(_, colon)| colon.map_or(Ok(()), |_| Err(BadByte)))
        .parse(i)
}

/// Bytes of a set and pct-encoded ones, possibly none.
fn encoded(set: &'static ByteSet) -> Encoded {
    Encoded(set)
}

struct Encoded(&'static ByteSet);

impl<'a> Parser<'a> for Encoded {
    type Output = &'a str;

    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a str> {
        let start = i.position();
        // Each round takes three bytes at least, or is the last; and no run is longer than a URI.
        loop {
            let run = take_while(self.0).up_to(URI_BYTES, Reason::TooLong);
            run.parse(i)?;
            if i.next_byte() != Some(b'%') {
                return Ok(ascii(i.slice_from(start)));
            }
            // pct-encoded = "%" HEXDIG HEXDIG (2.1)
            i.advance(1);
            let hexdig = satisfy(&HEXDIG);
            let escape = (hexdig, hexdig).parse(i).map_err(|stop| match stop {
                Stop::Fail { at, .. } => Stop::Cut {
                    at,
                    reason: BadEscape.into(),
                },
                other => other,
            });
            escape?;
        }
    }
}

/// All sets above are ASCII.
fn ascii(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}
