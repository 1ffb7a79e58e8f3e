//! The key of an account, and what is signed with it: JSON Web Signatures (RFC 7515) in the form that RFC 8555 section 6 asks for.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::AcmeError;

/// An ECDSA key on P-256, which every authority takes.
pub(super) struct AccountKey {
    pair: EcdsaKeyPair,
    pkcs8: Vec<u8>,
}

/// Who signs: an account by its URL, or, before it has one, a key.
pub(super) enum Signer<'a> {
    Key,
    Account(&'a str),
}

impl AccountKey {
    pub(super) fn generate() -> Result<Self, AcmeError> {
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let document = document.map_err(|_| failed("no account key could be made"))?;
        Self::from_pkcs8(document.as_ref())
    }

    pub(super) fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, AcmeError> {
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8).map_err(|error| {
                AcmeError::Crypto(format!("the account's key is unusable: {error}"))
            })?;
        Ok(Self {
            pair,
            pkcs8: pkcs8.to_owned(),
        })
    }

    pub(super) fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    /// What proves that whoever has this key answers for a token (RFC 8555 section 8.1).
    pub(super) fn authorization(&self, token: &str) -> String {
        // RFC 7638: these members, in this order, without spaces.
        let [x, y] = self.coordinates();
        let canonical = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        let thumbprint = encode(digest(&SHA256, canonical.as_bytes()).as_ref());
        format!("{token}.{thumbprint}")
    }

    /// A signed request. Without a payload it is a POST that stands for a GET.
    pub(super) fn sign(
        &self,
        signer: &Signer<'_>,
        nonce: &str,
        url: &str,
        payload: Option<&Value>,
    ) -> Result<String, AcmeError> {
        let mut protected = json!({"alg": "ES256", "nonce": nonce, "url": url});
        match signer {
            Signer::Account(account) => protected["kid"] = json!(account),
            Signer::Key => {
                let [x, y] = self.coordinates();
                protected["jwk"] = json!({"crv": "P-256", "kty": "EC", "x": x, "y": y});
            }
        }
        let protected = encode(protected.to_string().as_bytes());
        let payload = payload.map_or(String::new(), |value| encode(value.to_string().as_bytes()));
        let signed = format!("{protected}.{payload}");
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.map_err(|_| failed("nothing could be signed"))?;
        let signature = encode(signature.as_ref());
        let jws = json!({"protected": protected, "payload": payload, "signature": signature});
        Ok(jws.to_string())
    }

    fn coordinates(&self) -> [String; 2] {
        // An uncompressed point: 4, x, y.
        let point = self.pair.public_key().as_ref();
        [encode(&point[1..33]), encode(&point[33..])]
    }
}

/// Base64 for URLs, without padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn failed(what: &str) -> AcmeError {
    AcmeError::Crypto(what.to_owned())
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn what_is_signed_can_be_verified() {
        let key = AccountKey::generate().unwrap();
        let key = AccountKey::from_pkcs8(key.pkcs8()).unwrap();
        let payload = json!({"a": 1});
        let jws = key
            .sign(&Signer::Key, "n", "https://ca/new", Some(&payload))
            .unwrap();
        let jws: Value = serde_json::from_str(&jws).unwrap();
        let part = |name: &str| jws[name].as_str().unwrap().to_owned();
        let signed = format!("{}.{}", part("protected"), part("payload"));
        let signature = URL_SAFE_NO_PAD.decode(part("signature")).unwrap();
        let public = key.pair.public_key().as_ref();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public)
            .verify(signed.as_bytes(), &signature)
            .unwrap();
        let protected = URL_SAFE_NO_PAD.decode(part("protected")).unwrap();
        let protected: Value = serde_json::from_slice(&protected).unwrap();
        assert_eq!(protected["jwk"]["kty"], "EC");
        assert_eq!(protected["url"], "https://ca/new");
    }

    #[test]
    fn a_post_as_get_has_an_empty_payload() {
        let key = AccountKey::generate().unwrap();
        let jws = key
            .sign(&Signer::Account("https://ca/1"), "n", "u", None)
            .unwrap();
        let jws: Value = serde_json::from_str(&jws).unwrap();
        assert_eq!(jws["payload"], "");
        let authorization = key.authorization("token");
        assert_eq!(authorization.len(), "token.".len() + 43);
    }
}
