//! The cookie: a random id, signed.

use std::fmt::Write;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::HeaderValue;

use super::keys::Keys;

const ID: usize = 20;
const TAG: usize = 32;
/// Cookies of our name that are tried: there is more than one when another site has planted some.
const TRIED: usize = 4;
const MAX_NAME: usize = 64;

/// A session's id: what its cookie proves to know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(pub(super) [u8; ID]);

impl Id {
    pub(super) fn new() -> Self {
        let mut id = [0; ID];
        // Fails only on a kernel without randomness.
        aws_lc_rs::rand::fill(&mut id).expect("the system's random numbers");
        Self(id)
    }

    /// What the store and applications know it by: 40 hexadecimal digits of a digest.
    pub(super) fn name(&self) -> String {
        let mut name = String::with_capacity(2 * ID);
        for byte in &digest(&SHA256, &self.0).as_ref()[..ID] {
            let _ = write!(name, "{byte:02x}");
        }
        name
    }
}

/// Whether that can be a cookie's name.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(fits)
}

/// The name as browsers see it. With `__Host-` they take it over TLS only, from this host only, and for all of its paths: no
/// other host can plant it.
fn full_name(name: &str, secure: bool) -> String {
    let prefix = if secure { "__Host-" } else { "" };
    format!("{prefix}{name}")
}

/// Whether the request has a cookie of that name.
pub(super) fn is_there(cookies: &[HeaderValue], name: &str, secure: bool) -> bool {
    values(cookies, &full_name(name, secure)).next().is_some()
}

/// The id of the first cookie of that name that is ours, and which key signed it.
pub(super) fn read(
    cookies: &[HeaderValue],
    name: &str,
    secure: bool,
    keys: &Keys,
) -> Option<(Id, usize)> {
    let full = full_name(name, secure);
    let mut values = values(cookies, &full).take(TRIED);
    values.find_map(|value| {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(value).ok()?;
        let bytes: &[u8; ID + TAG] = bytes.as_slice().try_into().ok()?;
        let id = Id(*bytes.first_chunk()?);
        let signer = keys.signer(&full, &id, &bytes[ID..])?;
        Some((id, signer))
    })
}

fn values<'a>(cookies: &'a [HeaderValue], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    cookies
        .iter()
        .flat_map(|field| field.as_bytes().split(|&byte| byte == b';'))
        .filter_map(move |pair| {
            let value = pair.trim_ascii().strip_prefix(name.as_bytes())?;
            value.strip_prefix(b"=")
        })
}

/// The field that sets the cookie.
pub(super) fn set(name: &str, secure: bool, id: &Id, keys: &Keys, lasts: Duration) -> HeaderValue {
    let full = full_name(name, secure);
    let tag = keys.sign(&full, id);
    let value = BASE64_URL_SAFE_NO_PAD.encode([&id.0, tag.as_ref()].concat());
    field(&full, &value, secure, lasts.as_secs())
}

/// The field that removes it.
pub(super) fn unset(name: &str, secure: bool) -> HeaderValue {
    field(&full_name(name, secure), "", secure, 0)
}

fn field(full: &str, value: &str, secure: bool, age: u64) -> HeaderValue {
    let secure = if secure { "; Secure" } else { "" };
    let field = format!("{full}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}");
    // A name that was checked, base64 and numbers.
    HeaderValue::try_from(field).expect("a cookie of ours is a field's value")
}
