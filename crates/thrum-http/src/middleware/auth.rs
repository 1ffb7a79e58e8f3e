//! Who may ask: names and passwords (RFC 7617), bearer tokens (RFC 6750).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use tower_layer::Layer;

use super::gate::{Gate, Gated, Refusal};
use super::refused::{Refused, answer};
use super::secrets::{Fingerprint, Fingerprints, same};

/// Asks for a name and a password. Requests without right ones are answered with 401, and browsers ask their user.
///
/// The request's extensions have the [`User`]. Passwords go over the wire as they are, so serve this over TLS only.
///
/// ```
/// use thrum_http::middleware::{BasicAuth, Layer, User};
/// use thrum_http::{Body, Request, Response, service_fn};
///
/// let hello = service_fn(async |request: Request<Body>| {
///     let name = request.extensions().get::<User>().map(|User(name)| name.clone());
///     Response::new(format!("hello, {name:?}"))
/// });
/// let application = BasicAuth::new("wonderland", [("alice", "rabbit")]).layer(hello);
/// ```
#[derive(Clone)]
pub struct BasicAuth {
    challenge: HeaderValue,
    check: Arc<Check>,
    refused: Refused,
}

/// Whether a name and a password are right.
type Check = dyn Fn(&str, &str) -> bool + Send + Sync;

impl BasicAuth {
    /// Asks for one of these names and its password, for a realm that the client may show.
    ///
    /// It takes as long to refuse a name that is not known as a wrong password.
    ///
    /// # Panics
    /// If the realm has control characters.
    pub fn new<N: AsRef<str>, P: AsRef<str>>(
        realm: &str,
        users: impl IntoIterator<Item = (N, P)>,
    ) -> Self {
        let prints = Fingerprints::new();
        let users = users.into_iter();
        let known: HashMap<Fingerprint, Fingerprint> = users
            .map(|(name, password)| (prints.of(name.as_ref()), prints.of(password.as_ref())))
            .collect();
        let find = {
            let prints = prints.clone();
            move |name: &str| known.get(&prints.of(name)).copied()
        };
        Self::hashed(realm, [0; 32], find, move |known, password| {
            same(known, &prints.of(password))
        })
    }

    /// Asks for what is kept elsewhere: `find` gives what is stored for a name, such as a hash of its password, and `verify`
    /// compares it with a password. It is called for unknown names as well, with `nobody`, so that nobody can tell names by
    /// how long it takes; so make `nobody` with the same cost as the others.
    ///
    /// Both are called within the request's task, and may take their time: a hash of 100 ms holds up nobody else.
    ///
    /// # Panics
    /// If the realm has control characters.
    pub fn hashed<H: Send + Sync + 'static>(
        realm: &str,
        nobody: H,
        find: impl Fn(&str) -> Option<H> + Send + Sync + 'static,
        verify: impl Fn(&H, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let check = move |name: &str, password: &str| {
            let found = find(name);
            let right = verify(found.as_ref().unwrap_or(&nobody), password);
            right & found.is_some()
        };
        Self {
            challenge: challenge("Basic", realm, ", charset=\"UTF-8\""),
            check: Arc::new(check),
            refused: Refused::default(),
        }
    }

    /// Requests refused so far.
    pub fn refused(&self) -> u64 {
        self.refused.total()
    }

    /// The name in the request, if the password is right.
    fn name(&self, head: &Parts) -> Option<String> {
        let text = STANDARD
            .decode(credentials(head, "basic")?.trim_ascii())
            .ok()?;
        let text = String::from_utf8(text).ok()?;
        let (name, password) = text.split_once(':')?;
        (self.check)(name, password).then(|| name.to_owned())
    }
}

/// Who asks, by the name that [`BasicAuth`] has checked; in the request's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User(pub String);

impl Gate for BasicAuth {
    fn admit(&self, head: &mut Parts) -> Result<(), Refusal> {
        match self.name(head) {
            Some(name) => {
                head.extensions.insert(User(name));
                Ok(())
            }
            None => {
                self.refused.count("basic auth");
                Err(unauthorized(self.challenge.clone()))
            }
        }
    }
}

/// Asks for a token: `authorization: Bearer ...`. Requests without a right one are answered with 401.
///
/// ```
/// use thrum_http::middleware::BearerAuth;
///
/// let fixed = BearerAuth::new("api", ["a-long-random-token"]);
/// // Signed tokens, which some other crate verifies.
/// # fn is_signed(_: &str) -> bool { true }
/// let signed = BearerAuth::verified("api", |token| is_signed(token));
/// ```
#[derive(Clone)]
pub struct BearerAuth {
    challenge: HeaderValue,
    invalid: HeaderValue,
    verify: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    refused: Refused,
}

impl BearerAuth {
    /// Asks for one of these tokens. How long it takes tells nothing of them.
    ///
    /// # Panics
    /// If the realm has control characters.
    pub fn new<T: AsRef<str>>(realm: &str, tokens: impl IntoIterator<Item = T>) -> Self {
        let prints = Fingerprints::new();
        let tokens = tokens.into_iter();
        let known: HashSet<Fingerprint> = tokens.map(|token| prints.of(token.as_ref())).collect();
        Self::verified(realm, move |token| known.contains(&prints.of(token)))
    }

    /// Asks for a token that `verify` accepts. It is called within the request's task, and may take its time.
    ///
    /// # Panics
    /// If the realm has control characters.
    pub fn verified(realm: &str, verify: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            challenge: challenge("Bearer", realm, ""),
            invalid: challenge("Bearer", realm, ", error=\"invalid_token\""),
            verify: Arc::new(verify),
            refused: Refused::default(),
        }
    }

    /// Requests refused so far.
    pub fn refused(&self) -> u64 {
        self.refused.total()
    }
}

impl Gate for BearerAuth {
    fn admit(&self, head: &mut Parts) -> Result<(), Refusal> {
        let challenge = match credentials(head, "bearer") {
            Some(token) if (self.verify)(token) => return Ok(()),
            Some(_) => &self.invalid,
            None => &self.challenge,
        };
        self.refused.count("bearer auth");
        Err(unauthorized(challenge.clone()))
    }
}

macro_rules! layer {
    ($($auth:ident)+) => {$(
        impl<S> Layer<S> for $auth {
            type Service = Gated<S, Self>;

            fn layer(&self, service: S) -> Self::Service {
                Gated::new(service, self.clone())
            }
        }

        /// Without secrets.
        impl fmt::Debug for $auth {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($auth))
                    .field("challenge", &self.challenge)
                    .field("refused", &self.refused())
                    .finish_non_exhaustive()
            }
        }
    )+};
}

layer! { BasicAuth BearerAuth }

/// What follows the scheme's name in the one field there may be.
fn credentials<'a>(head: &'a Parts, scheme: &str) -> Option<&'a str> {
    let mut fields = head.headers.get_all(AUTHORIZATION).iter();
    let (Some(field), None) = (fields.next(), fields.next()) else {
        return None;
    };
    let (name, credentials) = field.to_str().ok()?.split_once(' ')?;
    name.eq_ignore_ascii_case(scheme)
        .then(|| credentials.trim_start_matches(' '))
}

fn challenge(scheme: &str, realm: &str, rest: &str) -> HeaderValue {
    let realm = realm.replace('\\', "\\\\").replace('"', "\\\"");
    HeaderValue::try_from(format!("{scheme} realm=\"{realm}\"{rest}"))
        .unwrap_or_else(|_| panic!("the realm {realm:?} has control characters"))
}

fn unauthorized(challenge: HeaderValue) -> Refusal {
    let mut response = answer(StatusCode::UNAUTHORIZED);
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    Box::new(response)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn head(fields: &[&str]) -> Parts {
        let mut request = http::Request::new(());
        for field in fields {
            let field = HeaderValue::from_str(field).unwrap();
            request.headers_mut().append(AUTHORIZATION, field);
        }
        request.into_parts().0
    }

    fn basic(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[test]
    fn names_and_passwords() {
        let auth = BasicAuth::new("a \"realm\"", [("alice", "rab:bit"), ("bob", "")]);
        let name = |fields: &[&str]| auth.name(&head(fields));
        assert_eq!(name(&[&basic("alice:rab:bit")]).as_deref(), Some("alice"));
        assert_eq!(name(&[&basic("bob:")]).as_deref(), Some("bob"));
        let lower = basic("bob:").replace("Basic ", "bAsIC   ");
        assert_eq!(name(&[&lower]).as_deref(), Some("bob"));
        for wrong in [
            "alice:",
            "alice:rab",
            "alice:rab:bitt",
            "bob:rab:bit",
            "carol:",
            ":",
            "",
            "alice",
            "Alice:rab:bit",
        ] {
            assert_eq!(name(&[&basic(wrong)]), None, "{wrong:?}");
        }
        for wrong in [
            "",
            "Basic",
            "Basic ",
            "Basic !",
            "Basic /w==",
            "Bearer Ym9iOg==",
        ] {
            assert_eq!(name(&[wrong]), None, "{wrong:?}");
        }
        assert_eq!(name(&[]), None);
        assert_eq!(name(&[&basic("bob:"), &basic("bob:")]), None, "two fields");

        let refused = auth.admit(&mut head(&[])).unwrap_err();
        assert_eq!(refused.status(), 401);
        assert_eq!(
            refused.headers()["www-authenticate"],
            "Basic realm=\"a \\\"realm\\\"\", charset=\"UTF-8\""
        );
        assert_eq!(auth.refused(), 1);
        let mut right = head(&[&basic("bob:")]);
        auth.admit(&mut right).unwrap();
        assert_eq!(right.extensions.get(), Some(&User("bob".to_owned())));
    }

    #[test]
    fn unknown_names_cost_a_comparison_too() {
        let verified = Arc::new(AtomicU64::new(0));
        let count = verified.clone();
        let find = |name: &str| (name == "alice").then_some("rabbit");
        let auth = BasicAuth::hashed("r", "x", find, move |known, password| {
            count.fetch_add(1, Ordering::Relaxed);
            *known == password
        });
        assert!(auth.name(&head(&[&basic("alice:rabbit")])).is_some());
        assert!(
            auth.name(&head(&[&basic("carol:x")])).is_none(),
            "nobody's own"
        );
        assert_eq!(verified.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn tokens() {
        let auth = BearerAuth::new("api", ["one", "two"]);
        auth.admit(&mut head(&["Bearer one"])).unwrap();
        auth.admit(&mut head(&["bearer two"])).unwrap();
        let wrong = auth.admit(&mut head(&["Bearer on"])).unwrap_err();
        assert_eq!(
            wrong.headers()["www-authenticate"],
            "Bearer realm=\"api\", error=\"invalid_token\""
        );
        let none = auth.admit(&mut head(&[])).unwrap_err();
        assert_eq!(none.headers()["www-authenticate"], "Bearer realm=\"api\"");
        assert_eq!(auth.refused(), 2);
    }
}
