//! The book of hogs: which spawn sites have held a worker up, how often and for how long.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Verdict;

/// More spawn sites than this are not told apart; a program has only so many.
const SITES: usize = 1024;

/// A spawn site whose tasks have held up a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hog {
    /// Where the tasks were spawned.
    pub spawned_at: &'static Location<'static>,
    /// How many of their polls were handed off.
    pub count: u64,
    /// The longest of these polls.
    pub longest: Duration,
    /// All of them together.
    pub total: Duration,
    /// The latest one computed, as opposed to being asleep in the kernel.
    pub computed: bool,
}

#[derive(Default)]
pub(crate) struct Hogs {
    sites: Mutex<HashMap<&'static Location<'static>, Site>>,
}

struct Site {
    hog: Hog,
    reported: bool,
}

impl Hogs {
    /// Notes a poll that is over. The first one of a site is reported.
    pub(super) fn note(
        &self,
        spawned_at: &'static Location<'static>,
        verdict: Verdict,
        took: Duration,
    ) {
        let mut sites = self.lock();
        let Some(site) = site(&mut sites, spawned_at) else {
            return;
        };
        site.hog.count += 1;
        site.hog.longest = site.hog.longest.max(took);
        site.hog.total += took;
        site.hog.computed = verdict == Verdict::Computing;
        let (first, hog) = (!std::mem::replace(&mut site.reported, true), site.hog);
        drop(sites);
        if first {
            report(&hog, "a task held its worker up, and was handed off");
        }
    }

    /// Reports a poll that has lasted for so long and is not over, unless its site was reported before.
    pub(crate) fn note_stuck(
        &self,
        spawned_at: &'static Location<'static>,
        verdict: Verdict,
        so_far: Duration,
    ) {
        let mut sites = self.lock();
        let Some(site) = site(&mut sites, spawned_at) else {
            return;
        };
        let first = !std::mem::replace(&mut site.reported, true);
        drop(sites);
        if first {
            let hog = Hog {
                count: 1,
                longest: so_far,
                total: so_far,
                computed: verdict == Verdict::Computing,
                spawned_at,
            };
            report(&hog, "a task holds its worker up, and was handed off");
        }
    }

    /// Tells what all came to, as the runtime ends. A site with one hog has been told of already.
    pub(crate) fn sum_up(&self) {
        for hog in self.list().iter().filter(|hog| hog.count > 1) {
            tracing::info!(
                spawned_at = %hog.spawned_at,
                count = hog.count,
                longest_ms = hog.longest.as_millis() as u64,
                total_ms = hog.total.as_millis() as u64,
                "tasks held their worker up, and were handed off"
            );
        }
    }

    /// All sites, the one with the longest total time first.
    pub(crate) fn list(&self) -> Vec<Hog> {
        let mut hogs: Vec<Hog> = self.lock().values().map(|site| site.hog).collect();
        hogs.retain(|hog| hog.count > 0);
        hogs.sort_unstable_by_key(|hog| std::cmp::Reverse(hog.total));
        hogs
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<&'static Location<'static>, Site>> {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn site<'a>(
    sites: &'a mut HashMap<&'static Location<'static>, Site>,
    spawned_at: &'static Location<'static>,
) -> Option<&'a mut Site> {
    if sites.len() >= SITES && !sites.contains_key(spawned_at) {
        return None;
    }
    Some(sites.entry(spawned_at).or_insert_with(|| Site {
        hog: Hog {
            spawned_at,
            count: 0,
            longest: Duration::ZERO,
            total: Duration::ZERO,
            computed: false,
        },
        reported: false,
    }))
}

fn report(hog: &Hog, message: &str) {
    tracing::warn!(
        spawned_at = %hog.spawned_at,
        longest_ms = hog.longest.as_millis() as u64,
        total_ms = hog.total.as_millis() as u64,
        kind = if hog.computed { "computing" } else { "asleep" },
        "{message}"
    );
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_summed_up() {
        let hogs = Hogs::default();
        let here = Location::caller();
        let ms = Duration::from_millis;
        hogs.note_stuck(here, Verdict::Asleep, ms(100));
        assert!(hogs.list().is_empty(), "it is not over");
        hogs.note(here, Verdict::Asleep, ms(300));
        hogs.note(here, Verdict::Computing, ms(50));
        let [hog] = hogs.list()[..] else {
            panic!("one site")
        };
        assert_eq!((hog.count, hog.longest, hog.total), (2, ms(300), ms(350)));
        assert!(hog.computed);
    }
}
