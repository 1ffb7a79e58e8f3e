//! Account and certificates in a folder. A `Store` of the server may take its place one day.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thrum_http::tls::Identity;

use super::account::AccountKey;
use super::{AcmeError, Authority};

/// The folder of one authority.
pub(super) struct Store {
    folder: PathBuf,
}

/// A certificate that was kept.
pub(super) struct Kept {
    pub(super) identity: Identity,
    /// When it was got.
    pub(super) since: SystemTime,
}

impl Store {
    /// Each authority has a folder of its own, so that an account of one is not taken to another.
    pub(super) fn of(authority: &Authority) -> Self {
        let place: String = authority
            .directory
            .trim_start_matches("https://")
            .chars()
            .map(|char| {
                if char.is_ascii_alphanumeric() || ".-".contains(char) {
                    char
                } else {
                    '_'
                }
            })
            .collect();
        Self {
            folder: authority.folder.join(place),
        }
    }

    /// The account's key; a new one if there is none.
    pub(super) fn account_key(&self) -> Result<AccountKey, AcmeError> {
        let path = self.folder.join("account.key");
        match fs::read(&path) {
            Ok(pkcs8) => AccountKey::from_pkcs8(&pkcs8),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key = AccountKey::generate()?;
                self.write(&path, key.pkcs8())?;
                Ok(key)
            }
            Err(source) => Err(AcmeError::Io { path, source }),
        }
    }

    /// The certificate for names, if there is one that is for all of them and can be used.
    pub(super) fn certificate(&self, names: &[String]) -> Option<Kept> {
        let path = self.path(names);
        let since = fs::metadata(&path).and_then(|data| data.modified()).ok()?;
        let identity = Identity::from_files(&path, &path)
            .map_err(|error| tracing::warn!(%error, "a certificate that was kept cannot be used"))
            .ok()?;
        let all = names
            .iter()
            .all(|name| identity.names().any(|has| has == name));
        all.then_some(Kept { identity, since })
    }

    /// Keeps a chain and its key, in one file so that they are replaced at once.
    pub(super) fn keep(&self, names: &[String], chain: &str, key: &str) -> Result<(), AcmeError> {
        self.write(&self.path(names), format!("{key}{chain}").as_bytes())
    }

    fn path(&self, names: &[String]) -> PathBuf {
        // Host names have no slashes and begin with no dot.
        let first = names.first().map_or("none", String::as_str);
        self.folder.join(format!("{first}.pem"))
    }

    /// Whole or not at all, for this user's eyes only.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), AcmeError> {
        let next = path.with_extension("new");
        let write = || {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&self.folder)?;
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&next)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&next, path)
        };
        write().map_err(|source| AcmeError::Io {
            path: path.to_owned(),
            source,
        })
    }
}
