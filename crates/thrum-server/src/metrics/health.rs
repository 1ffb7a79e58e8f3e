//! Whether the server is ready for requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::lock::lock;

/// Where a server is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It does not listen yet.
    #[default]
    Starting,
    /// It takes requests.
    Ready,
    /// It finishes what it has begun, and ends.
    Draining,
}

/// Whether a server is ready, for who sends requests to it: a load balancer, an orchestrator.
///
/// ```
/// use thrum_server::metrics::{Readiness, State};
///
/// let readiness = Readiness::default();
/// assert_eq!(readiness.reasons(), ["the server is starting"]);
/// readiness.set(State::Ready);
/// readiness.check("store", || Err("it does not answer".into()));
/// assert_eq!(readiness.reasons(), ["store: it does not answer"]);
/// ```
#[derive(Default)]
pub struct Readiness {
    state: Mutex<State>,
    checks: Mutex<BTreeMap<String, Arc<Check>>>,
}

type Check = dyn Fn() -> Result<(), String> + Send + Sync;

impl Readiness {
    /// Says where it is in its life.
    pub fn set(&self, state: State) {
        *lock(&self.state) = state;
    }

    /// Has something checked whenever somebody asks. It should answer from what is known, and not wait. A check of the same
    /// name is replaced.
    pub fn check(
        &self,
        name: &str,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        lock(&self.checks).insert(name.to_owned(), Arc::new(check));
    }

    /// Why it is not ready; nothing if it is.
    pub fn reasons(&self) -> Vec<String> {
        match *lock(&self.state) {
            State::Starting => return vec!["the server is starting".to_owned()],
            State::Draining => return vec!["the server is going down".to_owned()],
            State::Ready => {}
        }
        let checks = lock(&self.checks).clone();
        let failed = |(name, check): (String, Arc<Check>)| {
            let error = check().err()?;
            Some(format!("{name}: {error}"))
        };
        checks.into_iter().filter_map(failed).collect()
    }
}

impl std::fmt::Debug for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = *lock(&self.state);
        f.debug_struct("Readiness")
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
