//! What is wrong with certificates and keys.

use std::io;
use std::path::Path;

use thiserror::Error;

/// A certificate or a key that cannot be used: where it came from and what is wrong with it.
#[derive(Debug, Error)]
#[error("{place}: {problem}")]
pub struct Error {
    place: String,
    problem: Problem,
}

impl Error {
    pub(super) fn new(place: impl Into<String>, problem: Problem) -> Self {
        let place = place.into();
        Self { place, problem }
    }

    pub(super) fn in_file(file: &Path, problem: Problem) -> Self {
        Self::new(file.display().to_string(), problem)
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error.problem {
            Problem::Unreadable(inner) => inner.kind(),
            _ => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, error)
    }
}

/// What can be wrong with certificates and keys.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// There is no certificate.
    #[error("there is no certificate in PEM form (-----BEGIN CERTIFICATE-----)")]
    NoCertificate,
    /// There is no private key.
    #[error("there is no private key in PEM form (-----BEGIN PRIVATE KEY-----)")]
    NoKey,
    /// The private key is encrypted.
    #[error(
        "the private key is encrypted; `openssl pkey -in FILE -out NEW` writes it without its passphrase"
    )]
    EncryptedKey,
    /// It is no PEM.
    #[error("the PEM is malformed: {0}")]
    BadPem(String),
    /// A certificate cannot be understood.
    #[error("the certificate cannot be used: {0}")]
    BadCertificate(String),
    /// The private key cannot be understood, or is of a kind that TLS has no use for.
    #[error("the private key cannot be used: {0}")]
    BadKey(String),
    /// The private key is that of another certificate.
    #[error(
        "the private key does not belong to the first certificate, which must be the server's own"
    )]
    OtherKey,
    /// The certificate is not valid any more.
    #[error("the certificate expired on {0}")]
    Expired(String),
    /// No certificates were given.
    #[error("no certificate was given")]
    Nothing,
    /// The system has no certificates of authorities that it trusts.
    #[error(
        "the system trusts no authority; install its certificates (Debian: ca-certificates) or name them in SSL_CERT_FILE"
    )]
    NoRoots,
}
