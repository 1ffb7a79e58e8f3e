//! Certificates are got, kept and renewed, for as long as the process lives.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, KeyPair};
use thrum_http::tls::Identity;
use thrum_rt::time::sleep;

use super::challenges::Challenges;
use super::protocol::Session;
use super::store::Store;
use super::{AcmeError, Authority};

/// The wait after a first failure; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(60);

/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Who keeps certificates. [`run`](Self::run) is the task that does it.
pub struct Keeper {
    authority: Authority,
    store: Store,
    wanted: Vec<Wanted>,
}

/// A certificate that is wanted.
struct Wanted {
    names: Vec<String>,
    identity: Identity,
    /// When it is to be got or renewed.
    due: SystemTime,
    /// It stands in for one that is not there.
    placeholder: bool,
    failures: u32,
}

impl Keeper {
    /// Begins with what is in the folder. For each of the sets of names that has nothing there, a certificate stands in that
    /// nobody trusts.
    ///
    /// # Errors
    /// When none can be made: a name is no host name.
    pub fn new(
        authority: Authority,
        wanted: impl IntoIterator<Item = Vec<String>>,
    ) -> Result<Self, AcmeError> {
        let store = Store::of(&authority);
        let wanted = wanted.into_iter().map(|names| Wanted::of(names, &store));
        Ok(Self {
            wanted: wanted.collect::<Result<_, _>>()?,
            store,
            authority,
        })
    }

    /// The certificates as they are now.
    pub fn identities(&self) -> impl Iterator<Item = Identity> {
        self.wanted.iter().map(|wanted| wanted.identity.clone())
    }

    /// Gets what is missing and renews what is old, without end; calls `changed` with all certificates after each.
    ///
    /// # Cancellation
    /// Dropping the future leaves what is in the folder, and a begun order to be forgotten by the authority.
    pub async fn run(mut self, challenges: Challenges, changed: impl Fn(Vec<Identity>)) {
        self.note_pending(&challenges);
        loop {
            let Some(next) = self.wanted.iter_mut().min_by_key(|wanted| wanted.due) else {
                return std::future::pending().await;
            };
            // The clock may be set: it is looked at again each hour.
            if let Ok(wait) = next.due.duration_since(SystemTime::now()) {
                sleep(wait.min(Duration::from_secs(3600))).await;
                continue;
            }
            let names = next.names.join(", ");
            tracing::info!(
                names,
                authority = self.authority.directory,
                "ordering a certificate"
            );
            let got = got(&self.authority, &self.store, &challenges, next).await;
            match got {
                Ok(()) => {
                    tracing::info!(names, "the certificate is there");
                    self.note_pending(&challenges);
                    changed(self.identities().collect());
                }
                Err(error) => {
                    let wait = wait_after(next.failures, &error);
                    next.failures += 1;
                    next.due = SystemTime::now() + wait;
                    let seconds = wait.as_secs();
                    tracing::warn!(names, %error, "there is no certificate; tried again in {seconds} s");
                }
            }
        }
    }

    fn note_pending(&self, challenges: &Challenges) {
        let pending = self.wanted.iter().filter(|wanted| wanted.placeholder);
        let names = pending.flat_map(|wanted| wanted.names.iter().cloned());
        challenges.set_pending(names);
    }
}

async fn got(
    authority: &Authority,
    store: &Store,
    challenges: &Challenges,
    wanted: &mut Wanted,
) -> Result<(), AcmeError> {
    let key = store.account_key()?;
    let turn = wanted.failures as usize % authority.challenges.len().max(1);
    let kind = authority.challenges.get(turn);
    let kind = *kind.ok_or_else(|| AcmeError::NoChallenge(wanted.names.join(", ")))?;
    let mut session = Session::open(authority, &key).await?;
    let (chain, key) = session.order(&wanted.names, kind, challenges).await?;
    let identity = Identity::from_pem(chain.as_bytes(), key.as_bytes())
        .map_err(|error| AcmeError::Crypto(error.to_string()))?;
    store.keep(&wanted.names, &chain, &key)?;
    wanted.due = renewal(SystemTime::now(), identity.expires(), random());
    wanted.identity = identity;
    wanted.placeholder = false;
    wanted.failures = 0;
    Ok(())
}

impl Wanted {
    fn of(names: Vec<String>, store: &Store) -> Result<Self, AcmeError> {
        let kept = store.certificate(&names);
        let (identity, due, placeholder) = match kept {
            Some(kept) => {
                let due = renewal(kept.since, kept.identity.expires(), random());
                (kept.identity, due, false)
            }
            None => (placeholder(&names)?, SystemTime::UNIX_EPOCH, true),
        };
        Ok(Self {
            names,
            identity,
            due,
            placeholder,
            failures: 0,
        })
    }
}

/// A certificate that nobody trusts, for names that have none.
fn placeholder(names: &[String]) -> Result<Identity, AcmeError> {
    let failed = |error: &dyn std::fmt::Display| AcmeError::Crypto(error.to_string());
    let key = KeyPair::generate().map_err(|error| failed(&error))?;
    let params = CertificateParams::new(names.to_vec()).map_err(|error| failed(&error))?;
    let certificate = params.self_signed(&key).map_err(|error| failed(&error))?;
    let (chain, key) = (certificate.pem(), key.serialize_pem());
    Identity::from_pem(chain.as_bytes(), key.as_bytes()).map_err(|error| failed(&error))
}

/// When two thirds of a certificate's life are over, give or take a twentieth of it. `random` is from 0 to 1.
fn renewal(since: SystemTime, expires: SystemTime, random: f64) -> SystemTime {
    let life = expires.duration_since(since).unwrap_or_default();
    since + life.mul_f64(2.0 / 3.0 - 0.05 + 0.1 * random)
}

/// How long to wait after so many failures and one more: as long as the authority asks for, else longer each time.
fn wait_after(failures: u32, error: &AcmeError) -> Duration {
    if let AcmeError::Refused {
        retry_after: Some(seconds),
        ..
    } = error
    {
        return Duration::from_secs(*seconds).clamp(FIRST_WAIT, LONGEST_WAIT);
    }
    let wait = FIRST_WAIT.saturating_mul(1 << failures.min(16));
    wait.min(LONGEST_WAIT).mul_f64(0.9 + 0.2 * random())
}

/// From 0 to 1: enough that servers do not come all at once.
fn random() -> f64 {
    let number = RandomState::new().build_hasher().finish();
    number as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewed_when_two_thirds_are_over() {
        let day = Duration::from_secs(86_400);
        let since = SystemTime::UNIX_EPOCH;
        let at = |random| renewal(since, since + 90 * day, random);
        assert_eq!(at(0.5), since + 60 * day);
        assert!(at(0.0) > since + 55 * day && at(1.0) < since + 65 * day);
        assert_eq!(
            renewal(since + day, since, 0.5),
            since + day,
            "it has expired"
        );
    }

    #[test]
    fn failures_are_waited_out() {
        let unreachable = AcmeError::Malformed("a nonce");
        assert!(wait_after(0, &unreachable) < Duration::from_secs(70));
        assert!(wait_after(5, &unreachable) > Duration::from_secs(1000));
        assert!(wait_after(1000, &unreachable) <= LONGEST_WAIT.mul_f64(1.1));
        let limited = AcmeError::Refused {
            kind: "rateLimited".into(),
            detail: String::new(),
            status: 429,
            retry_after: Some(7200),
        };
        assert_eq!(wait_after(0, &limited), Duration::from_secs(7200));
    }

    #[test]
    fn a_placeholder_stands_in() {
        let names = vec!["a.test".to_owned(), "www.a.test".to_owned()];
        let identity = placeholder(&names).unwrap();
        assert_eq!(
            identity.names().collect::<Vec<_>>(),
            ["a.test", "www.a.test"]
        );
    }
}
