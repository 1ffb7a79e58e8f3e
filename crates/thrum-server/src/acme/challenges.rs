//! How names are proven to lead here, while an order is under way.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::digest::{SHA256, digest};
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use thrum_http::tls::Acceptor;

use super::AcmeError;

/// Where the authority looks for the texts of `http-01`.
const WELL_KNOWN: &str = "/.well-known/acme-challenge/";

/// A kind of challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text at port 80.
    Http01,
    /// A certificate at port 443.
    TlsAlpn01,
}

/// The challenges that are to be answered now, and the names that have no certificate yet. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Challenges {
    state: Arc<Mutex<State>>,
    acceptor: Option<Acceptor>,
}

#[derive(Debug, Default)]
struct State {
    texts: HashMap<String, String>,
    pending: HashSet<String>,
}

/// A challenge that is answered until this is dropped.
pub(super) struct Answered<'a> {
    challenges: &'a Challenges,
    kind: Kind,
    key: String,
}

impl Kind {
    /// By its name: `http-01`, `tls-alpn-01`.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Http01, Self::TlsAlpn01]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http01 => "http-01",
            Self::TlsAlpn01 => "tls-alpn-01",
        }
    }
}

impl Challenges {
    /// None yet. With an acceptor, `tls-alpn-01` is answered by it.
    pub fn new(acceptor: Option<Acceptor>) -> Self {
        Self {
            state: Arc::default(),
            acceptor,
        }
    }

    /// The text for a path that a plain request asks for, if an authority may be asking. Whoever serves plain HTTP answers with
    /// it.
    pub fn text(&self, path: &str) -> Option<String> {
        let token = path.strip_prefix(WELL_KNOWN)?;
        self.state().texts.get(token).cloned()
    }

    /// Whether a name has no certificate yet, so that nobody should be led to HTTPS.
    pub fn is_pending(&self, name: &str) -> bool {
        let state = self.state();
        !state.pending.is_empty() && state.pending.contains(&name.to_ascii_lowercase())
    }

    pub(super) fn set_pending(&self, names: impl IntoIterator<Item = String>) {
        self.state().pending = names.into_iter().collect();
    }

    /// Answers a challenge for a name.
    pub(super) fn answer(
        &self,
        kind: Kind,
        name: &str,
        token: &str,
        authorization: String,
    ) -> Result<Answered<'_>, AcmeError> {
        let key = match kind {
            Kind::Http01 => {
                self.state().texts.insert(token.to_owned(), authorization);
                token
            }
            Kind::TlsAlpn01 => {
                let failed = |error: &dyn std::fmt::Display| AcmeError::Crypto(error.to_string());
                let acceptor = self.acceptor.as_ref();
                let acceptor = acceptor.ok_or_else(|| AcmeError::NoChallenge(name.to_owned()))?;
                let (certificate, key) =
                    proof(name, &authorization).map_err(|error| failed(&error))?;
                let answered = acceptor.answer_challenge(name, &certificate, &key);
                answered.map_err(|error| failed(&error))?;
                name
            }
        };
        Ok(Answered {
            challenges: self,
            kind,
            key: key.to_owned(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The certificate of RFC 8737 section 3 and its key, in DER form.
fn proof(name: &str, authorization: &str) -> Result<(Vec<u8>, Vec<u8>), rcgen::Error> {
    let mut params = CertificateParams::new([name.to_owned()])?;
    let hash = digest(&SHA256, authorization.as_bytes());
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(hash.as_ref())];
    let key = KeyPair::generate()?;
    Ok((
        params.self_signed(&key)?.der().to_vec(),
        key.serialize_der(),
    ))
}

impl Drop for Answered<'_> {
    fn drop(&mut self) {
        match self.kind {
            Kind::Http01 => {
                self.challenges.state().texts.remove(&self.key);
            }
            Kind::TlsAlpn01 => {
                if let Some(acceptor) = &self.challenges.acceptor {
                    acceptor.end_challenge(&self.key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_there_while_it_is_asked_for() {
        let challenges = Challenges::new(None);
        let path = "/.well-known/acme-challenge/abc";
        let answered = challenges.answer(Kind::Http01, "a.test", "abc", "abc.key".into());
        assert_eq!(challenges.text(path).as_deref(), Some("abc.key"));
        assert_eq!(challenges.text("/.well-known/acme-challenge/"), None);
        assert_eq!(challenges.text("/abc"), None);
        drop(answered);
        assert_eq!(challenges.text(path), None);
    }

    #[test]
    fn without_tls_there_is_no_tls_challenge() {
        let challenges = Challenges::new(None);
        let answered = challenges.answer(Kind::TlsAlpn01, "a.test", "t", "t.k".into());
        assert!(matches!(answered, Err(AcmeError::NoChallenge(name)) if name == "a.test"));
    }

    #[test]
    fn names_wait() {
        let challenges = Challenges::new(None);
        challenges.set_pending(["a.test".to_owned()]);
        assert!(challenges.is_pending("A.test") && !challenges.is_pending("b.test"));
        challenges.set_pending([]);
        assert!(!challenges.is_pending("a.test"));
    }

    #[test]
    fn the_proof_has_the_extension() {
        let (certificate, _) = proof("a.test", "token.thumbprint").unwrap();
        // 1.3.6.1.5.5.7.1.31
        let identifier = [6, 8, 43, 6, 1, 5, 5, 7, 1, 31];
        assert!(certificate.windows(10).any(|part| part == identifier));
    }
}
