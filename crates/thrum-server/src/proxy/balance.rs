//! Which upstream is asked: by turns, by load, or always the same for the same key.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::{HeaderName, Request, header};
use thrum_http::Body;

use crate::site::Visit;

/// How upstreams are chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Balance {
    /// By turns, as often as their weights say.
    #[default]
    RoundRobin,
    /// The one that is at the fewest requests for its weight.
    LeastConnections,
    /// The same for the same key. When an upstream comes or goes, only the keys that it gets or had change theirs. Requests
    /// without the key go by turns.
    Hash(HashKey),
}

/// What an upstream is chosen by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashKey {
    /// The client's address.
    Client,
    /// The request's path, without its query.
    Path,
    /// The value of a header field.
    Header(HeaderName),
    /// The value of a cookie.
    Cookie(String),
}

/// The choice among a proxy's upstreams.
#[derive(Debug)]
pub(super) struct Chooser {
    balance: Balance,
    /// The upstreams by turns, each as often as its weight says, and spread out.
    turns: Vec<usize>,
    next: AtomicUsize,
    /// What each is known by to the hash, and its weight.
    names: Vec<(u64, u32)>,
}

impl Chooser {
    /// `peers`: a name and a weight of each.
    pub(super) fn new<'a>(balance: Balance, peers: impl Iterator<Item = (&'a str, u32)>) -> Self {
        let names: Vec<_> = peers
            .map(|(name, weight)| (hash(name.as_bytes()), weight.max(1)))
            .collect();
        let weights: Vec<_> = names.iter().map(|(_, weight)| *weight).collect();
        Self {
            balance,
            turns: turns(&weights),
            next: AtomicUsize::new(0),
            names,
        }
    }

    /// What a request is chosen by, if that is how it is done.
    pub(super) fn key(&self, request: &Request<Body>, visit: &Visit) -> Option<u64> {
        let Balance::Hash(key) = &self.balance else {
            return None;
        };
        match key {
            HashKey::Client => Some(match visit.client?.to_canonical() {
                std::net::IpAddr::V4(address) => hash(&address.octets()),
                std::net::IpAddr::V6(address) => hash(&address.octets()),
            }),
            HashKey::Path => Some(hash(request.uri().path().as_bytes())),
            HashKey::Header(name) => Some(hash(request.headers().get(name)?.as_bytes())),
            HashKey::Cookie(name) => cookie(request, name).map(hash),
        }
    }

    /// The first choice among those that `may` be chosen. `load`: the requests that one is at. `again`: for a request that
    /// has had its turn.
    pub(super) fn choose(
        &self,
        key: Option<u64>,
        again: bool,
        may: impl Fn(usize) -> bool,
        load: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        if let [only] = self.turns[..] {
            return may(only).then_some(only);
        }
        match (&self.balance, key) {
            (Balance::LeastConnections, _) => self.least(again, may, load),
            (Balance::Hash(_), Some(key)) => self.highest(key, may),
            _ => {
                let mut turns = self.in_turn(again);
                turns.find(|&index| may(index))
            }
        }
    }

    fn turn(&self, again: bool) -> usize {
        match again {
            true => self.next.load(Ordering::Relaxed),
            false => self.next.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn in_turn(&self, again: bool) -> impl Iterator<Item = usize> {
        let next = self.turn(again) % self.turns.len().max(1);
        let (before, after) = self.turns.split_at(next);
        after.iter().chain(before).copied()
    }

    fn least(
        &self,
        again: bool,
        may: impl Fn(usize) -> bool,
        load: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        // From another one each time, as mostly several are at none.
        let (count, first) = (self.names.len(), self.turn(again));
        let mut best: Option<(usize, u64, u64)> = None;
        for offset in 0..count {
            let index = (first % count + offset) % count;
            let weight = u64::from(self.names[index].1);
            let with_it = load(index) as u64 + 1;
            let is_less = best.is_none_or(|(_, least, of)| with_it * of < least * weight);
            if is_less && may(index) {
                best = Some((index, with_it, weight));
            }
        }
        best.map(|(index, ..)| index)
    }

    /// Rendezvous hashing: each has a number for the key, and the highest has it.
    fn highest(&self, key: u64, may: impl Fn(usize) -> bool) -> Option<usize> {
        let score = |index: usize| {
            let (name, weight) = self.names[index];
            // Of (0, 1), so that the weights are the shares.
            let uniform = ((mix(key ^ name) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            -f64::from(weight) / uniform.ln()
        };
        (0..self.names.len())
            .filter(|&index| may(index))
            .max_by(|&one, &other| score(one).total_cmp(&score(other)))
    }
}

/// Each as often as its weight says and as far apart as it goes (smooth weighted round robin).
fn turns(weights: &[u32]) -> Vec<usize> {
    let divisor = weights.iter().copied().fold(0, gcd).max(1);
    let weights: Vec<_> = weights.iter().map(|&w| i64::from(w / divisor)).collect();
    let total: i64 = weights.iter().sum();
    let mut credit = vec![0; weights.len()];
    let mut turns = Vec::with_capacity(total as usize);
    for _ in 0..total {
        credit.iter_mut().zip(&weights).for_each(|(c, w)| *c += w);
        let best = (0..credit.len()).rev().max_by_key(|&index| credit[index]);
        if let Some(best) = best {
            credit[best] -= total;
            turns.push(best);
        }
    }
    turns
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn cookie<'a>(request: &'a Request<Body>, name: &str) -> Option<&'a [u8]> {
    let fields = request.headers().get_all(header::COOKIE);
    let mut pairs = fields
        .iter()
        .flat_map(|field| field.as_bytes().split(|&byte| byte == b';'));
    pairs.find_map(|pair| {
        let value = pair.trim_ascii().strip_prefix(name.as_bytes())?;
        value.strip_prefix(b"=")
    })
}

/// The same everywhere and always (FNV-1a), so that all nodes of a fleet choose the same.
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(fnv)
}

/// Spreads a number over all bits (the end of SplitMix64).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["http://a", "http://b", "http://c", "http://d"];

    fn chooser(balance: Balance, weights: &[u32]) -> Chooser {
        Chooser::new(balance, NAMES.into_iter().zip(weights.iter().copied()))
    }

    #[test]
    fn turns_are_as_many_as_weights_say_and_spread() {
        assert_eq!(turns(&[1, 1]), [0, 1]);
        assert_eq!(turns(&[2, 2]), [0, 1]);
        assert_eq!(turns(&[5, 1, 1]), [0, 0, 1, 0, 2, 0, 0]);
        let chooser = chooser(Balance::RoundRobin, &[2, 1]);
        let chosen: Vec<_> = (0..6)
            .filter_map(|_| chooser.choose(None, false, |_| true, |_| 0))
            .collect();
        assert_eq!(chosen.iter().filter(|&&index| index == 0).count(), 4);
        assert_eq!(
            chooser.choose(None, false, |index| index == 1, |_| 0),
            Some(1)
        );
        assert_eq!(chooser.choose(None, false, |_| false, |_| 0), None);
    }

    #[test]
    fn the_least_loaded_for_its_weight() {
        let chooser = chooser(Balance::LeastConnections, &[1, 3, 1]);
        let choose = |load: [usize; 3]| chooser.choose(None, false, |_| true, |index| load[index]);
        for _ in 0..3 {
            assert_eq!(choose([1, 4, 2]), Some(1), "5/3 is less than 2");
            assert_eq!(choose([0, 6, 1]), Some(0));
        }
        assert_eq!(
            chooser.choose(None, false, |index| index == 2, |_| 9),
            Some(2),
            "the others may not"
        );
    }

    #[test]
    fn a_key_keeps_its_upstream_when_another_goes() {
        let chooser = chooser(Balance::Hash(HashKey::Path), &[1, 1, 1, 3]);
        let choose =
            |key, gone| chooser.choose(Some(mix(key)), false, |index| index != gone, |_| 0);
        let mut counts = [0; 4];
        for key in 0..6000 {
            let before = choose(key, usize::MAX).unwrap();
            counts[before] += 1;
            let after = choose(key, 2).unwrap();
            assert!(after == before || before == 2, "only its own keys move");
        }
        assert!(
            counts[..3].iter().all(|n| (800..1200).contains(n)),
            "{counts:?}"
        );
        assert!((2700..3300).contains(&counts[3]), "{counts:?}");
    }

    #[test]
    fn keys_of_requests() {
        let request = Request::builder().header("cookie", "a=1; sid=x; sid2=y");
        let request = request.body(Body::empty()).unwrap();
        assert_eq!(cookie(&request, "sid"), Some(&b"x"[..]));
        assert_eq!(cookie(&request, "si"), None);
    }
}
