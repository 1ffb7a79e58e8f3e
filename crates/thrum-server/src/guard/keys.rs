//! Keys that tokens are verified with: a shared secret, public keys in PEM, or a set of keys in JSON (JWKS, RFC 7517).

use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256,
};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject;

use super::watched::{Unreadable, Watched};

/// A file of keys, which is read again when it changes.
///
/// | content | algorithms |
/// |---|---|
/// | JSON: a set of keys (JWKS), or one | what each key is for |
/// | PEM: public keys (`PUBLIC KEY`) | RS and PS 256, 384, 512; ES256, ES384; EdDSA (Ed25519) |
/// | anything else is a shared secret of 32 bytes or more; white space at its end does not count | HS256, HS384, HS512 |
pub struct KeyFile {
    pub(super) keys: Watched<Vec<Key>>,
}

impl KeyFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or has no key that could be used.
    pub fn open(path: &Path) -> Result<Self, Unreadable> {
        Ok(Self {
            keys: Watched::open(path, parse)?,
        })
    }

    pub(super) fn current(&self) -> Arc<Vec<Key>> {
        self.keys.current().0
    }
}

/// A key.
pub(super) struct Key {
    /// What tokens call it.
    pub(super) id: Option<String>,
    /// What it may be used with. A token never chooses beyond that: a public key as a shared secret would be known to all.
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
}

/// A set may have so many keys; each may be tried for a token.
const MOST: usize = 100;

/// A shared secret has as many bytes as the digest (RFC 7518 section 3.2).
const SHORTEST_SECRET: usize = 32;

const RSA: [Algorithm; 6] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
];
const HMAC: [Algorithm; 3] = [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512];

fn parse(content: &[u8]) -> Result<Vec<Key>, String> {
    let content = content.trim_ascii();
    let keys = if content.starts_with(b"{") {
        from_json(content)?
    } else if content.starts_with(b"-----") {
        from_pem(content)?
    } else {
        vec![from_secret(content)?]
    };
    match keys.len() {
        0 => Err("it has no key that signatures are verified with".to_owned()),
        1..=MOST => Ok(keys),
        _ => Err(format!("it has more than {MOST} keys")),
    }
}

fn from_secret(secret: &[u8]) -> Result<Key, String> {
    if secret.len() < SHORTEST_SECRET {
        return Err(format!(
            "a shared secret has at least {SHORTEST_SECRET} bytes"
        ));
    }
    Ok(Key {
        id: None,
        algorithms: HMAC.to_vec(),
        key: DecodingKey::from_secret(secret),
    })
}

fn from_pem(content: &[u8]) -> Result<Vec<Key>, String> {
    let all = SubjectPublicKeyInfoDer::pem_slice_iter(content);
    all.map(|der| match der {
        Ok(der) => from_der(&der),
        Err(error) => Err(format!("it is not PEM: {error}")),
    })
    .collect()
}

/// From a public key with its algorithm (SubjectPublicKeyInfo).
fn from_der(der: &[u8]) -> Result<Key, String> {
    let (algorithms, key) = if ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, der).is_ok() {
        (RSA.to_vec(), DecodingKey::from_rsa_der(der))
    } else if ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, der).is_ok() {
        (vec![Algorithm::ES256], DecodingKey::from_ec_der(der))
    } else if ParsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, der).is_ok() {
        (vec![Algorithm::ES384], DecodingKey::from_ec_der(der))
    } else if ParsedPublicKey::new(&ED25519, der).is_ok() {
        (vec![Algorithm::EdDSA], DecodingKey::from_ed_der(der))
    } else {
        return Err(
            "a public key is none of RSA (2048 to 8192 bits), P-256, P-384, Ed25519".to_owned(),
        );
    };
    Ok(Key {
        id: None,
        algorithms,
        key,
    })
}

/// Keys of other kinds, and for encryption, are not for us, and no mistake.
fn from_json(content: &[u8]) -> Result<Vec<Key>, String> {
    let set: Result<JwkSet, _> = serde_json::from_slice(content);
    let keys = match (set, serde_json::from_slice::<Jwk>(content)) {
        (Ok(set), _) => set.keys,
        (_, Ok(one)) => vec![one],
        (Err(error), _) => return Err(format!("it is not a set of keys (JWKS): {error}")),
    };
    let ours = keys.iter().filter(|key| {
        let purpose = key.common.public_key_use.as_ref();
        purpose.is_none_or(|purpose| *purpose == PublicKeyUse::Signature)
    });
    ours.filter_map(from_jwk).collect()
}

fn from_jwk(jwk: &Jwk) -> Option<Result<Key, String>> {
    let mut algorithms = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => RSA.to_vec(),
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P256 => {
            vec![Algorithm::ES256]
        }
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P384 => {
            vec![Algorithm::ES384]
        }
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            vec![Algorithm::EdDSA]
        }
        AlgorithmParameters::OctetKey(_) => HMAC.to_vec(),
        _ => return None,
    };
    if let Some(only) = jwk.common.key_algorithm {
        let only = Algorithm::try_from(only).ok()?;
        algorithms.retain(|one| *one == only);
        if algorithms.is_empty() {
            return None;
        }
    }
    let key = match DecodingKey::from_jwk(jwk) {
        Ok(key) => key,
        Err(error) => return Some(Err(format!("a key is malformed: {error}"))),
    };
    let is_short = |key: &DecodingKey| {
        HMAC.contains(&algorithms[0])
            && key
                .try_get_as_bytes()
                .is_ok_and(|secret| secret.len() < SHORTEST_SECRET)
    };
    if is_short(&key) {
        return Some(Err(format!(
            "a shared secret has at least {SHORTEST_SECRET} bytes"
        )));
    }
    Some(Ok(Key {
        id: jwk.common.key_id.clone(),
        algorithms,
        key,
    }))
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::AsDer;
    use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
    use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn algorithms(content: &[u8]) -> Vec<Vec<Algorithm>> {
        let keys = parse(content).unwrap();
        keys.into_iter().map(|key| key.algorithms).collect()
    }

    fn error(content: &[u8]) -> String {
        parse(content).err().expect("it is malformed")
    }

    fn pem(der: &[u8]) -> String {
        let text = STANDARD.encode(der);
        format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n")
    }

    #[test]
    fn secrets() {
        assert_eq!(algorithms(&[b'a'; 32]), [HMAC]);
        assert!(error(&[[b'a'; 31].as_slice(), b"\n"].concat()).contains("32 bytes"));
        assert!(error(b"").contains("32 bytes"));
    }

    #[test]
    fn public_keys() {
        let rsa = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let rsa = AsDer::<aws_lc_rs::encoding::PublicKeyX509Der<'_>>::as_der(rsa.public_key());
        let ed = Ed25519KeyPair::generate().unwrap();
        let ed = ed.public_key().as_der().unwrap();
        let both = pem(rsa.unwrap().as_ref()) + &pem(ed.as_ref());
        assert_eq!(
            algorithms(both.as_bytes()),
            [RSA.to_vec(), vec![Algorithm::EdDSA]]
        );
        assert!(error(pem(b"nonsense").as_bytes()).contains("none of"));
        assert!(
            error(b"-----BEGIN nonsense").contains("key") || error(b"-----BEGIN x").contains("PEM")
        );
    }

    #[test]
    fn sets() {
        let set = r#"{"keys": [
            {"kty": "EC", "crv": "P-256", "kid": "a", "alg": "ES256",
             "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
             "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
            {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
            {"kty": "EC", "crv": "P-256", "use": "enc", "x": "", "y": ""},
            {"kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow", "alg": "HS256"}
        ]}"#;
        let keys = parse(set.as_bytes()).unwrap();
        assert_eq!(keys.len(), 3);
        assert_eq!(keys[0].id.as_deref(), Some("a"));
        assert_eq!(keys[2].algorithms, [Algorithm::HS256]);
        let one = r#"{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        assert_eq!(algorithms(one.as_bytes()), [[Algorithm::EdDSA]]);
        assert!(error(br#"{"keys": []}"#).contains("no key"));
        assert!(error(br#"{"kty": "oct", "k": "c2hvcnQ"}"#).contains("32 bytes"));
        assert!(error(b"{nonsense").contains("JWKS"));
        // A key for something else than its kind can do.
        assert!(error(br#"{"kty": "oct", "alg": "RS256", "k": "c2hvcnQ"}"#).contains("no key"));
    }
}
