//! What has been verified: names and passwords that need not be hashed again for a while.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use thrum_rt::time::Instant;

/// A bounded number of verified credentials. They are known by a keyed digest; neither names nor passwords are kept.
pub(super) struct Remembered {
    key: hmac::Key,
    time: Duration,
    most: usize,
    generations: Mutex<Generations>,
}

/// By which credentials are known.
pub(super) type Print = [u8; 32];

/// When the new ones are half of what may be, they become the old ones, and those go.
#[derive(Default)]
struct Generations {
    new: HashMap<Print, Instant>,
    old: HashMap<Print, Instant>,
}

impl Remembered {
    /// For so long, so many at most. `None` if the system has no randomness.
    pub(super) fn new(time: Duration, most: usize) -> Option<Self> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?;
        Some(Self {
            key,
            time,
            most,
            generations: Mutex::default(),
        })
    }

    /// The print of credentials under what a file says. When that changes, nothing is remembered any more.
    pub(super) fn print(&self, version: u64, name: &str, password: &str) -> Print {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(&version.to_le_bytes());
        context.update(&(name.len() as u64).to_le_bytes());
        context.update(name.as_bytes());
        context.update(password.as_bytes());
        let mut print = [0; 32];
        print.copy_from_slice(context.sign().as_ref());
        print
    }

    pub(super) fn knows(&self, print: &Print) -> bool {
        let generations = self.lock();
        let found = generations.new.get(print).or(generations.old.get(print));
        found.is_some_and(|until| Instant::now() < *until)
    }

    pub(super) fn add(&self, print: Print) {
        let Some(until) = Instant::now().checked_add(self.time) else {
            return;
        };
        let mut generations = self.lock();
        if generations.new.len() >= self.most.div_ceil(2) {
            generations.old = std::mem::take(&mut generations.new);
        }
        generations.new.insert(print, until);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_a_time_and_a_number() {
        let remembered = Remembered::new(Duration::from_secs(60), 4).unwrap();
        let print = |n: u32| remembered.print(1, "alice", &n.to_string());
        remembered.add(print(1));
        assert!(remembered.knows(&print(1)));
        assert!(
            !remembered.knows(&remembered.print(2, "alice", "1")),
            "the file has changed"
        );
        assert!(!remembered.knows(&remembered.print(1, "alic", "e1")));
        for n in 2..100 {
            remembered.add(print(n));
            let generations = remembered.lock();
            assert!(generations.new.len() + generations.old.len() <= 4);
        }
        assert!(remembered.knows(&print(99)) && !remembered.knows(&print(1)));
        let never = Remembered::new(Duration::ZERO, 4).unwrap();
        never.add(print(1));
        assert!(!never.knows(&print(1)));
    }
}
