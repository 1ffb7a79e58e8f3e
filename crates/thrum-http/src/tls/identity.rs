//! A chain of certificates and its key, and the authorities that one trusts.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::validity::not_after;
use super::{Error, Problem, provider};
use crate::http_date;

/// Who one is: a chain of certificates, one's own first, and the private key of that. It was checked that the two
/// belong together and that the certificate has not expired.
#[derive(Clone, Debug)]
pub struct Identity {
    pub(super) certified: Arc<CertifiedKey>,
    names: Vec<String>,
    expires: SystemTime,
}

impl Identity {
    /// Reads a chain and a key from files in PEM form; one file may hold both. It reads at once: where that may take long,
    /// the runtime moves other tasks on.
    ///
    /// # Errors
    /// When a file cannot be read, or what it holds cannot be used.
    pub fn from_files(chain: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self, Error> {
        let (chain, key) = (chain.as_ref(), key.as_ref());
        Self::parse(
            &read(chain)?,
            &read(key)?,
            &chain.display().to_string(),
            &key.display().to_string(),
        )
    }

    /// Parses a chain and a key in PEM form.
    ///
    /// # Errors
    /// When they cannot be used.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, Error> {
        Self::parse(chain, key, "the certificate chain", "the private key")
    }

    fn parse(chain: &[u8], key: &[u8], chain_place: &str, key_place: &str) -> Result<Self, Error> {
        let in_chain = |problem| Error::new(chain_place, problem);
        let in_key = |problem| Error::new(key_place, problem);

        let chain = certificates(chain).map_err(in_chain)?;
        let unusable =
            |error: &dyn std::fmt::Display| in_chain(Problem::BadCertificate(error.to_string()));
        let own = webpki::EndEntityCert::try_from(&chain[0]).map_err(|error| unusable(&error))?;
        let names = own.valid_dns_names().map(str::to_ascii_lowercase).collect();
        let expires = not_after(&chain[0]).ok_or_else(|| unusable(&"it has no end date"))?;
        if expires < SystemTime::now() {
            return Err(in_chain(Problem::Expired(http_date(expires))));
        }

        let parsed = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
            in_key(match error {
                _ if is_encrypted(key) => Problem::EncryptedKey,
                pem::Error::NoItemsFound => Problem::NoKey,
                error => Problem::BadPem(error.to_string()),
            })
        })?;
        let signing = provider().key_provider.load_private_key(parsed);
        let signing = signing.map_err(|error| {
            in_key(match is_encrypted(key) {
                true => Problem::EncryptedKey,
                false => Problem::BadKey(error.to_string()),
            })
        })?;
        let certified = CertifiedKey::new(chain, signing);
        match certified.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {}
            Err(_) => return Err(in_key(Problem::OtherKey)),
        }
        Ok(Self {
            certified: Arc::new(certified),
            names,
            expires,
        })
    }

    /// The names that the certificate is for, in lower case: `example.com`, or `*.example.com` for all names one label
    /// longer.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Has it answer for these names, whatever the certificate says.
    pub fn with_names(mut self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let names = names.into_iter();
        self.names = names
            .map(|name| name.as_ref().to_ascii_lowercase())
            .collect();
        self
    }

    /// When the certificate expires.
    pub fn expires(&self) -> SystemTime {
        self.expires
    }
}

/// Authorities whose certificates one trusts.
#[derive(Clone, Debug)]
pub struct Roots {
    pub(super) store: Arc<RootCertStore>,
}

impl Roots {
    /// Those that the system trusts, or that the files named by `SSL_CERT_FILE` and `SSL_CERT_DIR` hold. It reads at once.
    ///
    /// # Errors
    /// When there are none.
    pub fn from_system() -> Result<Self, Error> {
        let mut store = RootCertStore::empty();
        // A system has some that are too odd for anyone.
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if store.is_empty() {
            return Err(Error::new("the system's certificates", Problem::NoRoots));
        }
        Ok(Self {
            store: Arc::new(store),
        })
    }

    /// Those in a file in PEM form.
    ///
    /// # Errors
    /// When it cannot be read, or has something in it that is no certificate.
    pub fn from_file(file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        Self::parse(&read(file)?).map_err(|problem| Error::in_file(file, problem))
    }

    /// Those in PEM form.
    ///
    /// # Errors
    /// When there are none, or one cannot be used.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        Self::parse(pem).map_err(|problem| Error::new("the authorities' certificates", problem))
    }

    fn parse(pem: &[u8]) -> Result<Self, Problem> {
        let mut store = RootCertStore::empty();
        for certificate in certificates(pem)? {
            let added = store.add(certificate);
            added.map_err(|error| Problem::BadCertificate(error.to_string()))?;
        }
        Ok(Self {
            store: Arc::new(store),
        })
    }
}

/// The certificates in a PEM text: one at least.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Problem> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates.map_err(|error| Problem::BadPem(error.to_string()))?;
    match certificates.is_empty() {
        true => Err(Problem::NoCertificate),
        false => Ok(certificates),
    }
}

fn is_encrypted(pem: &[u8]) -> bool {
    [
        &b"BEGIN ENCRYPTED PRIVATE KEY"[..],
        b"Proc-Type: 4,ENCRYPTED",
    ]
    .iter()
    .any(|mark| memchr::memmem::find(pem, mark).is_some())
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(file).map_err(|error| Error::in_file(file, Problem::Unreadable(error)))
}
