//! Runs that tests make up.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::time::Duration;

use crate::latency::Latency;
use crate::results::{ClientCost, FORM, Results, Second};

/// Numbers that look random and are the same each time: SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Above 0, up to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Around 0, with a deviation of 1: Box and Muller's.
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}

/// Of milliseconds.
pub(crate) fn latency(milliseconds: &[u64]) -> Latency {
    let mut latency = Latency::new();
    for one in milliseconds {
        latency.record(Duration::from_millis(*one));
    }
    latency
}

/// Three seconds of a closed loop.
pub(crate) fn results() -> Results {
    run(7, 3, 2.0, 1000)
}

/// A closed loop of so many seconds, each of so many requests, whose latencies are log-normal around a median in
/// milliseconds.
pub(crate) fn run(seed: u64, seconds: usize, median_ms: f64, a_second: u64) -> Results {
    let rates = vec![a_second; seconds];
    series(seed, median_ms, &rates)
}

/// As `run`, with the requests of each second.
pub(crate) fn series(seed: u64, median_ms: f64, rates: &[u64]) -> Results {
    let mut random = Random(seed);
    let mut latency = Latency::new();
    let mut seconds = Vec::new();
    for rate in rates {
        let mut second = Second {
            answered: *rate,
            received_bytes: rate * 700,
            ..Second::default()
        };
        for _ in 0..*rate {
            let one = Duration::from_secs_f64(median_ms / 1e3 * (0.5 * random.normal()).exp());
            latency.record(one);
            second.latency.record(one);
        }
        seconds.push(second);
    }
    let answered = rates.iter().sum();
    let mut connect = Latency::new();
    for _ in 0..50 {
        connect.record(Duration::from_micros(80 + random.next() % 40));
    }
    Results {
        form: FORM,
        target: "http://127.0.0.1:8080/".to_owned(),
        plan: vec![
            ("connections".to_owned(), "50".to_owned()),
            ("duration".to_owned(), format!("{}s", rates.len())),
        ],
        began_ms: 1_795_305_600_000,
        elapsed_s: rates.len() as f64,
        answered,
        received_bytes: answered * 700,
        sent_bytes: answered * 80,
        statuses: [(200, answered)].into(),
        errors: BTreeMap::new(),
        service: latency.clone(),
        first_byte: latency.clone(),
        latency,
        connect,
        tls: Latency::new(),
        seconds,
        client: ClientCost {
            threads: 1,
            user_s: answered as f64 * 1.5e-6,
            system_s: answered as f64 * 3.5e-6,
        },
        warnings: Vec::new(),
    }
}
