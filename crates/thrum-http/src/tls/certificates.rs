//! A server's certificates, found by the name that a client asks for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::acceptor::CHALLENGE;
use super::{Error, Identity, Problem};

thread_local! {
    /// What rustls asked for when it was last driven by this thread. A server's connection does not tell, so whoever drives
    /// it takes it from here.
    static ASKED: RefCell<Option<Asked>> = const { RefCell::new(None) };
}

/// What a client asked for.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The name, in lower case.
    pub(super) name: Option<Box<str>>,
    /// There is no certificate for it.
    pub(super) refused: bool,
}

/// What the client has asked for whose handshake this thread has just driven, if that came to it.
pub(super) fn take_asked() -> Option<Asked> {
    ASKED.take()
}

/// The certificates of a server. They can be replaced while handshakes go on; each sees the old or the new ones.
#[derive(Debug)]
pub(super) struct Certificates {
    current: RwLock<Arc<ByName>>,
    /// A name that nobody has gets no certificate, and not the first.
    refuse_unknown: bool,
    /// For authorities that check who has a name.
    challenges: RwLock<HashMap<String, Arc<CertifiedKey>>>,
}

impl Certificates {
    pub(super) fn new(identities: &[Identity], refuse_unknown: bool) -> Result<Self, Error> {
        Ok(Self {
            current: RwLock::new(ByName::new(identities)?),
            refuse_unknown,
            challenges: RwLock::default(),
        })
    }

    pub(super) fn set_challenge(&self, name: &str, certificate: Option<Arc<CertifiedKey>>) {
        let challenges = self.challenges.write();
        let mut challenges = challenges.unwrap_or_else(PoisonError::into_inner);
        let name = name.to_ascii_lowercase();
        match certificate {
            Some(certificate) => challenges.insert(name, certificate),
            None => challenges.remove(&name),
        };
    }

    fn challenge(&self, name: Option<&str>) -> Option<Arc<CertifiedKey>> {
        let challenges = self.challenges.read();
        let challenges = challenges.unwrap_or_else(PoisonError::into_inner);
        challenges.get(&name?.to_ascii_lowercase()).cloned()
    }

    pub(super) fn replace(&self, identities: &[Identity]) -> Result<(), Error> {
        let new = ByName::new(identities)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    fn current(&self) -> Arc<ByName> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if is_challenge(&hello) {
            return self.challenge(hello.server_name());
        }
        let current = self.current();
        let candidates = match hello.server_name() {
            // Clients that connect to an address name nothing.
            None => Some(&current.default),
            Some(name) => current
                .named(name)
                .or_else(|| (!self.refuse_unknown).then_some(&current.default)),
        };
        ASKED.set(Some(Asked {
            name: hello.server_name().map(Box::from),
            refused: candidates.is_none(),
        }));
        let candidates = candidates?;
        // One that the client can verify, if there are several.
        let fits = candidates.iter().find(|candidate| {
            let scheme = candidate.key.choose_scheme(hello.signature_schemes());
            scheme.is_some()
        });
        fits.or(candidates.first()).cloned()
    }
}

/// Whether an authority asks, which asks for nothing else.
fn is_challenge(hello: &ClientHello<'_>) -> bool {
    let mut protocols = hello.alpn().into_iter().flatten();
    protocols.next() == Some(CHALLENGE) && protocols.next().is_none()
}

/// Certificates for the same name, of several kinds of keys perhaps, in the order that they were given.
type Candidates = Vec<Arc<CertifiedKey>>;

#[derive(Debug)]
struct ByName {
    exact: HashMap<String, Candidates>,
    /// By what follows `*.`.
    wildcard: HashMap<String, Candidates>,
    default: Candidates,
}

impl ByName {
    fn new(identities: &[Identity]) -> Result<Arc<Self>, Error> {
        let Some(first) = identities.first() else {
            return Err(Error::new("the server", Problem::Nothing));
        };
        let mut by_name = Self {
            exact: HashMap::new(),
            wildcard: HashMap::new(),
            default: Vec::new(),
        };
        for identity in identities {
            for name in identity.names() {
                let candidates = match name.strip_prefix("*.") {
                    Some(parent) => by_name.wildcard.entry(parent.to_owned()),
                    None => by_name.exact.entry(name.to_owned()),
                };
                candidates.or_default().push(identity.certified.clone());
            }
            // Those with the names of the first stand in for it, if their keys are of another kind.
            if identity.names().eq(first.names()) {
                by_name.default.push(identity.certified.clone());
            }
        }
        Ok(Arc::new(by_name))
    }

    fn named(&self, name: &str) -> Option<&Candidates> {
        let wildcard = || self.wildcard.get(name.split_once('.')?.1);
        self.exact.get(name).or_else(wildcard)
    }
}
