//! Who a client is: `Authorization` and `WWW-Authenticate`, RFC 9110, 11.

use std::fmt;

use super::syntax::{ascii, fault, ows, token};
use super::{Fault, FieldValue, List, Parameter, Text};
use crate::class::ALPHANUMERIC;
use crate::http::terminals::OWS;
use crate::stop::Parsed;
use crate::{ByteSet, In, Level, Parser, byte, opt, skip_while, take_while, take_while1};

/// Parameters that credentials or a challenge may have.
const MOST: usize = 32;

static TOKEN68: ByteSet = ALPHANUMERIC.with(b"-._~+/");
static EQUALS: ByteSet = ByteSet::new().with(b"=");

/// The value of `Authorization` and `Proxy-Authorization`; and one element of [`Challenges`].
///
/// ```
/// use thrum_parse::http::value::{Credentials, FieldValue};
///
/// let basic = Credentials::parse(b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==").unwrap();
/// assert!(basic.is("basic"));
/// assert_eq!(basic.token68(), Some("QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
///
/// let digest = Credentials::parse(b"Digest username=\"x\", qop=auth").unwrap();
/// assert!(digest.get("qop").unwrap().is("auth"));
/// ```
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    scheme: &'a str,
    token68: Option<&'a str>,
    parameters: &'a [u8],
}

/// The value of `WWW-Authenticate` and `Proxy-Authenticate`: ways for a client to say who it is. A comma separates both
/// challenges and the parameters of one; a word that is not followed by `=` starts a new one.
///
/// ```
/// use thrum_parse::http::value::{Challenges, FieldValue};
///
/// let challenges = Challenges::parse(b"Basic realm=x, charset=\"UTF-8\", Negotiate, NTLM").unwrap();
/// let schemes: Vec<_> = challenges.iter().map(|challenge| challenge.scheme()).collect();
/// assert_eq!(schemes, ["Basic", "Negotiate", "NTLM"]);
/// ```
pub type Challenges<'a> = List<'a, Credentials<'a>>;

impl<'a> Credentials<'a> {
    /// The scheme, in the case it was written in.
    pub fn scheme(&self) -> &'a str {
        self.scheme
    }

    /// Whether its scheme is `scheme`, in any case.
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// What follows the scheme, if that is one word, such as Base64.
    pub fn token68(&self) -> Option<&'a str> {
        self.token68
    }

    /// The parameters, as they come.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'a>> + Clone + use<'a> {
        let raw = self.parameters;
        let mut position = 0;
        std::iter::from_fn(move || {
            // They have been read once, so nothing fails.
            let mut i = In::starting(raw, position, true, Level::best());
            if position > 0 {
                comma(&mut i).ok()?;
            }
            let parameter = auth_param(&mut i).ok()?;
            position = i.position();
            Some(parameter)
        })
    }

    /// The value of the parameter that is called `name`, in any case.
    pub fn get(&self, name: &str) -> Option<Text<'a>> {
        self.parameters()
            .find(|parameter| parameter.is(name))
            .map(|parameter| parameter.value)
    }
}

/// auth-scheme [ 1*SP ( token68 / #auth-param ) ]
impl<'a> FieldValue<'a> for Credentials<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let mut credentials = Credentials {
            scheme: token(i)?,
            token68: None,
            parameters: b"",
        };
        if i.next_byte() == Some(b' ') {
            let ahead = i.clone();
            ows(i)?;
            if at_end(i) {
                *i = ahead;
            } else if let Some(word) = opt(token68).parse(i)? {
                credentials.token68 = Some(word);
            } else {
                credentials.parameters = auth_params(i)?;
            }
        }
        Ok(credentials)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.scheme.as_bytes());
        if let Some(word) = self.token68 {
            out.push(b' ');
            out.extend_from_slice(word.as_bytes());
        }
        for (n, parameter) in self.parameters().enumerate() {
            out.extend_from_slice(if n == 0 { b" " } else { b", " });
            parameter.write(out);
        }
    }
}

impl PartialEq for Credentials<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.scheme)
            && self.token68 == other.token68
            && self.parameters().eq(other.parameters())
    }
}

impl Eq for Credentials<'_> {}

/// Says the scheme and no more: the rest is secret.
impl fmt::Debug for Credentials<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

/// token68 = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=", with nothing behind it
fn token68<'a>(i: &mut In<'a>) -> Parsed<&'a str> {
    let start = i.position();
    (take_while1(&TOKEN68), take_while(&EQUALS)).parse(i)?;
    let word = ascii(i.slice_from(start));
    let mut ahead = i.clone();
    ows(&mut ahead)?;
    if !at_end(&ahead) {
        return Err(i.fail(Fault::BadCredentials.into()));
    }
    Ok(word)
}

/// auth-param *( OWS "," OWS auth-param ), no name twice (11.2). A comma that no parameter follows is left.
fn auth_params<'a>(i: &mut In<'a>) -> Parsed<&'a [u8]> {
    let start = i.position();
    let mut read = Credentials {
        scheme: "",
        token68: None,
        parameters: b"",
    };
    for count in 0.. {
        let at = i.position();
        if count == MOST {
            return Err(fault(i, at, Fault::TooMany));
        }
        let parameter = auth_param(i)?;
        if read.get(parameter.name).is_some() {
            return Err(fault(i, at, Fault::DuplicateParameter));
        }
        read.parameters = i.slice_from(start);
        let mut ahead = i.clone();
        let parameter_follows = (comma, token, skip_while(&OWS), byte(b'='));
        if parameter_follows.parse(&mut ahead).is_err() {
            break;
        }
        comma(i)?;
    }
    Ok(read.parameters)
}

/// auth-param = token BWS "=" BWS ( token / quoted-string )
fn auth_param<'a>(i: &mut In<'a>) -> Parsed<Parameter<'a>> {
    let name = token(i)?;
    ows(i)?;
    byte(b'=').must(Fault::BadCredentials).parse(i)?;
    ows(i)?;
    let value = Text::read(i)?;
    Ok(Parameter { name, value })
}

fn comma(i: &mut In<'_>) -> Parsed<()> {
    (skip_while(&OWS), byte(b','), skip_while(&OWS))
        .value(())
        .parse(i)
}

/// Whether a challenge ends here: at a comma or with the value.
fn at_end(i: &In<'_>) -> bool {
    matches!(i.next_byte(), None | Some(b','))
}
