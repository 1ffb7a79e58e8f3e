//! `auth-jwt`: signed tokens (RFC 7519) in `authorization: Bearer ...` (RFC 6750).

use std::sync::Arc;
use std::time::Duration;

use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, Request, Response, StatusCode};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde_json::{Map, Number, Value};
use thrum_http::Body;

use super::basic::bearer_of;
use super::keys::{Key, KeyFile};
use super::{Guard, refused};
use crate::config::{Arity, Entry, Kind, Setting, Settings};
use crate::site::{Answer, Building, Handler, Layer, Visit, reply};

/// `auth-jwt`.
pub(crate) static SETTINGS: &[Setting] = &[Setting {
    block: BLOCK,
    ..Setting::new(
        "auth-jwt",
        &[Kind::Path],
        "Asks for a token, `Authorization: Bearer ...`, that is signed with a key of a file: a set of keys (JWKS), public keys \
         in PEM, or a shared secret. The file is read again when it changes. A token has to have an end (`exp`). \
         `auth-jwt off` in a route undoes its site's.",
        "auth-jwt keys.json { issuer https://id.example.com; audience wiki }",
    )
}];

static BLOCK: &[Setting] = &[
    Setting {
        arity: Arity::Many,
        ..Setting::new(
            "issuer",
            &[Kind::Text("NAME")],
            "Who may have issued a token (`iss`). Without it: whoever has the key.",
            "issuer https://id.example.com",
        )
    },
    Setting {
        arity: Arity::Many,
        ..Setting::new(
            "audience",
            &[Kind::Text("NAME")],
            "For whom a token may be (`aud`). Without it, tokens that are for somebody are refused.",
            "audience wiki",
        )
    },
    Setting {
        default: "60s",
        ..Setting::new(
            "leeway",
            &[Kind::Duration],
            "How far apart the clocks may be.",
            "leeway 5s",
        )
    },
    Setting {
        arity: Arity::OptionalLast,
        repeats: true,
        ..Setting::new(
            "require",
            &[Kind::Text("CLAIM"), Kind::Text("VALUE")],
            "A claim that a token has to have, perhaps with this value, or with it in a list or among words. Without it: 403.",
            "require roles editor",
        )
    },
    Setting {
        default: "sub",
        ..Setting::new(
            "user",
            &[Kind::Text("CLAIM")],
            "The claim that is the user's name, for the log and for scripts.",
            "user email",
        )
    },
];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// Asks for a signed token.
///
/// Which algorithm verifies it is the key's matter and never the token's. A token has to have an end (`exp`), which is checked,
/// as is its begin (`nbf`) if it has one.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
/// use thrum_server::guard::{JwtAuth, KeyFile};
///
/// let keys = KeyFile::open(Path::new("keys.json")).unwrap();
/// let auth = JwtAuth::new(Arc::new(keys))
///     .issuers(["https://id.example.com"])
///     .audiences(["wiki"])
///     .require("roles", Some("editor"));
/// # let _ = auth;
/// ```
#[derive(Clone)]
pub struct JwtAuth {
    keys: Arc<KeyFile>,
    validation: Validation,
    required: Vec<(String, Option<String>)>,
    user: String,
}

impl JwtAuth {
    /// Asks for tokens that are signed with a key of a file. Clocks may be a minute apart; the user is `sub`.
    pub fn new(keys: Arc<KeyFile>) -> Self {
        let mut validation = Validation::new(Algorithm::EdDSA); // which one is set for each token
        validation.validate_nbf = true;
        Self {
            keys,
            validation,
            required: Vec::new(),
            user: "sub".to_owned(),
        }
    }

    /// Who may have issued them (`iss`). By default, whoever has the key.
    #[must_use]
    pub fn issuers<T: ToString>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.validation.iss = Some(names.into_iter().map(|name| name.to_string()).collect());
        self.validation
            .required_spec_claims
            .insert("iss".to_owned());
        self
    }

    /// For whom they may be (`aud`). By default, those that are for somebody are refused.
    #[must_use]
    pub fn audiences<T: ToString>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.validation.aud = Some(names.into_iter().map(|name| name.to_string()).collect());
        self.validation
            .required_spec_claims
            .insert("aud".to_owned());
        self
    }

    /// How far apart the clocks may be, in whole seconds. Default: a minute.
    #[must_use]
    pub fn leeway(mut self, time: Duration) -> Self {
        self.validation.leeway = time.as_secs();
        self
    }

    /// A claim that they have to have: with any value, or with this one, alone, in a list, or among words with spaces
    /// between (as in `scope`). Without it: 403.
    #[must_use]
    pub fn require(mut self, claim: &str, value: Option<&str>) -> Self {
        self.required
            .push((claim.to_owned(), value.map(str::to_owned)));
        self
    }

    /// The claim that is the user's name. Default: `sub`.
    #[must_use]
    pub fn user(mut self, claim: &str) -> Self {
        self.user = claim.to_owned();
        self
    }

    /// Guards a handler. It sees the user in [`Visit::user`].
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Guarded {
            auth: self,
            handler,
        })
    }

    /// What a token claims, if it is good.
    fn verify(&self, token: &str) -> Result<Map<String, Value>, Error> {
        let head = decode_header(token)?;
        let keys = self.keys.current();
        let named = |key: &&Key| key.id.is_some() && key.id == head.kid;
        let is_named = keys.iter().any(|key| named(&key));
        let might = keys.iter().filter(|key| {
            let fits = if is_named {
                named(key)
            } else {
                key.id.is_none() || head.kid.is_none()
            };
            fits && key.algorithms.contains(&head.alg)
        });
        let mut validation = self.validation.clone();
        validation.algorithms = vec![head.alg];
        let mut error = ErrorKind::InvalidAlgorithm.into();
        for key in might {
            match decode::<Map<String, Value>>(token, &key.key, &validation) {
                Ok(token) => return Ok(token.claims),
                Err(other) => error = other,
            }
        }
        Err(error)
    }

    fn has_required(&self, claims: &Map<String, Value>) -> bool {
        let has = |claim: &String, wanted: &Option<String>| match (claims.get(claim), wanted) {
            (None | Some(Value::Null), _) => false,
            (Some(_), None) => true,
            (Some(value), Some(wanted)) => has_value(value, wanted),
        };
        self.required
            .iter()
            .all(|(claim, wanted)| has(claim, wanted))
    }
}

fn has_value(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted || text.split(' ').any(|word| word == wanted),
        Value::Array(all) => all.iter().any(|one| one.as_str() == Some(wanted)),
        Value::Bool(is) => wanted.parse() == Ok(*is),
        Value::Number(number) => wanted.parse().is_ok_and(|wanted: Number| wanted == *number),
        Value::Null | Value::Object(_) => false,
    }
}

struct Guarded {
    auth: JwtAuth,
    handler: Arc<dyn Handler>,
}

impl Handler for Guarded {
    fn handle(&self, request: Request<Body>, mut visit: Visit) -> Answer {
        let Some(token) = bearer_of(request.headers(), "bearer") else {
            return refuse(StatusCode::UNAUTHORIZED, "Bearer", &visit).into();
        };
        let claims = match self.auth.verify(token.trim_ascii()) {
            Ok(claims) => claims,
            Err(error) => {
                tracing::debug!(%error, "a token is not good");
                let why = "Bearer error=\"invalid_token\"";
                return refuse(StatusCode::UNAUTHORIZED, why, &visit).into();
            }
        };
        if !self.auth.has_required(&claims) {
            let why = "Bearer error=\"insufficient_scope\"";
            return refuse(StatusCode::FORBIDDEN, why, &visit).into();
        }
        if let Some(user) = claims.get(&self.auth.user).and_then(Value::as_str) {
            visit.authenticated(user.into());
        }
        self.handler.handle(request, visit)
    }
}

fn refuse(status: StatusCode, why: &'static str, visit: &Visit) -> Response<Body> {
    refused(Guard::Jwt, visit);
    let mut response = reply::status(status);
    let fields = response.headers_mut();
    fields.insert(WWW_AUTHENTICATE, HeaderValue::from_static(why));
    response
}

fn build(
    settings: &Settings,
    handler: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    let entry = settings
        .written("auth-jwt")
        .filter(|entry| entry.text() != "off");
    match entry.and_then(|entry| auth(entry, building)) {
        Some(auth) => auth.around(handler),
        None => handler,
    }
}

fn auth(entry: &Entry, building: &mut Building<'_>) -> Option<JwtAuth> {
    let (file, block) = (entry.values().first()?, entry.block()?);
    let path = file.path();
    let opened = building.problems.check(file.span(), KeyFile::open(&path))?;
    let name = format!("auth-jwt {}", path.display());
    let mut auth =
        JwtAuth::new(building.kept.get(&name, || opened)).leeway(block.duration("leeway"));
    if block.written("issuer").is_some() {
        auth = auth.issuers(block.texts("issuer"));
    }
    if block.written("audience").is_some() {
        auth = auth.audiences(block.texts("audience"));
    }
    for entry in block.all("require") {
        let value = entry.values().get(1).map(|value| value.text());
        auth = auth.require(entry.text(), value);
    }
    Some(match block.text("user") {
        Some(claim) => auth.user(claim),
        None => auth,
    })
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::AsDer;
    use aws_lc_rs::signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    };
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use jsonwebtoken::{EncodingKey, Header, encode, get_current_timestamp};
    use serde_json::json;

    use super::super::testing::{from, get, hello, now, text};
    use super::*;

    const SECRET: &[u8] = b"a secret of thirty-two bytes or so";

    fn auth(content: &[u8]) -> JwtAuth {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        JwtAuth::new(Arc::new(KeyFile::open(file.path()).unwrap()))
    }

    fn signed(claims: &Value) -> String {
        encode(
            &Header::new(Algorithm::HS256),
            claims,
            &EncodingKey::from_secret(SECRET),
        )
        .unwrap()
    }

    fn ask(auth: &JwtAuth, token: &str) -> Response<Body> {
        let field = format!("Bearer {token}");
        let guarded = auth.clone().around(hello());
        now(guarded.handle(get(&[("authorization", &field)]), from("::1")))
    }

    fn status(auth: &JwtAuth, claims: &Value) -> u16 {
        ask(auth, &signed(claims)).status().as_u16()
    }

    fn soon() -> u64 {
        get_current_timestamp() + 3600
    }

    #[test]
    fn a_good_token_names_the_user() {
        let auth = auth(SECRET);
        let response = ask(&auth, &signed(&json!({"exp": soon(), "sub": "alice"})));
        assert_eq!(thrum_rt::block_on(text(response)), "alice");
        let by_mail = auth.user("email");
        let response = ask(
            &by_mail,
            &signed(&json!({"exp": soon(), "email": "a@example.com"})),
        );
        assert_eq!(thrum_rt::block_on(text(response)), "a@example.com");
    }

    #[test]
    fn times() {
        let auth = auth(SECRET);
        let time = get_current_timestamp();
        assert_eq!(
            status(&auth, &json!({"exp": time - 30})),
            200,
            "within the leeway"
        );
        assert_eq!(status(&auth, &json!({"exp": time - 300})), 401);
        assert_eq!(
            status(&auth, &json!({"sub": "alice"})),
            401,
            "it has no end"
        );
        assert_eq!(
            status(&auth, &json!({"exp": soon(), "nbf": time + 300})),
            401
        );
        assert_eq!(
            status(&auth.leeway(Duration::ZERO), &json!({"exp": time - 30})),
            401
        );
    }

    #[test]
    fn issuers_and_audiences() {
        let plain = auth(SECRET);
        assert_eq!(status(&plain, &json!({"exp": soon(), "aud": "wiki"})), 401);
        let auth = plain.issuers(["id"]).audiences(["wiki", "blog"]);
        let status = |iss, aud| status(&auth, &json!({"exp": soon(), "iss": iss, "aud": aud}));
        assert_eq!(status(json!("id"), json!("wiki")), 200);
        assert_eq!(status(json!("id"), json!(["shop", "blog"])), 200);
        assert_eq!(status(json!("id"), json!("shop")), 401);
        assert_eq!(status(json!("else"), json!("wiki")), 401);
        assert_eq!(ask(&auth, &signed(&json!({"exp": soon()}))).status(), 401);
    }

    #[test]
    fn claims_that_are_required() {
        let auth = auth(SECRET)
            .require("roles", Some("editor"))
            .require("mail", None);
        let status =
            |roles, mail| status(&auth, &json!({"exp": soon(), "roles": roles, "mail": mail}));
        assert_eq!(status(json!("editor"), json!("x")), 200);
        assert_eq!(status(json!(["reader", "editor"]), json!("x")), 200);
        assert_eq!(status(json!("reader editor"), json!("x")), 200);
        assert_eq!(status(json!("editors"), json!("x")), 403);
        assert_eq!(status(json!({"editor": true}), json!("x")), 403);
        assert_eq!(status(json!("editor"), json!(null)), 403);
    }

    #[test]
    fn what_is_no_token() {
        let auth = auth(SECRET);
        let good = signed(&json!({"exp": soon()}));
        let unsigned = good.rsplit_once('.').unwrap().0.to_owned();
        for bad in [
            "",
            "a",
            "a.b.c",
            "....",
            &unsigned,
            &format!("{unsigned}."),
            &good[..good.len() - 2],
        ] {
            let response = ask(&auth, bad);
            assert_eq!(response.status(), 401, "{bad}");
            assert_eq!(
                response.headers()["www-authenticate"],
                "Bearer error=\"invalid_token\""
            );
        }
        let none = now(auth.clone().around(hello()).handle(get(&[]), from("::1")));
        assert_eq!(none.status(), 401);
        assert_eq!(none.headers()["www-authenticate"], "Bearer");
        // {"alg":"none"}
        let payload = good.split('.').nth(1).unwrap();
        assert_eq!(
            ask(&auth, &format!("eyJhbGciOiJub25lIn0.{payload}.")).status(),
            401
        );
    }

    fn pem(der: &[u8]) -> String {
        let text = STANDARD.encode(der);
        format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n")
    }

    #[test]
    fn public_keys_verify_and_are_no_secrets() {
        let ed = Ed25519KeyPair::generate().unwrap();
        let ec = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let ed_public = pem(ed.public_key().as_der().unwrap().as_ref());
        let ec_public = ec.public_key();
        let ec_public = AsDer::<aws_lc_rs::encoding::PublicKeyX509Der<'_>>::as_der(ec_public);
        let both = ed_public + &pem(ec_public.unwrap().as_ref());
        let auth = auth(both.as_bytes());
        let claims = json!({"exp": soon()});
        let ed_private = EncodingKey::from_ed_der(ed.to_pkcs8().unwrap().as_ref());
        let ec_private = EncodingKey::from_ec_der(ec.to_pkcs8v1().unwrap().as_ref());
        let ed_token = encode(&Header::new(Algorithm::EdDSA), &claims, &ed_private).unwrap();
        let ec_token = encode(&Header::new(Algorithm::ES256), &claims, &ec_private).unwrap();
        assert_eq!(ask(&auth, &ed_token).status(), 200);
        assert_eq!(ask(&auth, &ec_token).status(), 200);
        // What everybody knows, taken as a shared secret.
        let forged = EncodingKey::from_secret(both.as_bytes());
        let forged = encode(&Header::new(Algorithm::HS256), &claims, &forged).unwrap();
        assert_eq!(ask(&auth, &forged).status(), 401);
        let other = Ed25519KeyPair::generate().unwrap().to_pkcs8().unwrap();
        let other = EncodingKey::from_ed_der(other.as_ref());
        let other = encode(&Header::new(Algorithm::EdDSA), &claims, &other).unwrap();
        assert_eq!(ask(&auth, &other).status(), 401);
    }
}
