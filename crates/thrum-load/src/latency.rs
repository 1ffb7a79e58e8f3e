//! Latencies: an HdrHistogram of nanoseconds.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize};

/// No histogram grows beyond it.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How often which latency was seen: an HdrHistogram of nanoseconds that grows with what it is told.
///
/// As JSON it is what HdrHistogram calls V2, compressed, in base64: the form that the tools of other languages read.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency(Histogram<u64>);

impl Latency {
    /// Exact to three decimal digits.
    pub fn new() -> Self {
        Self::with_digits(3)
    }

    /// Exact to so many decimal digits, of 1 to 5.
    ///
    /// # Panics
    /// For any other number of digits.
    pub fn with_digits(digits: u8) -> Self {
        assert!((1..=5).contains(&digits), "1 to 5 digits");
        Self(Histogram::new(digits).expect("the digits are within bounds"))
    }

    /// Notes one. More than a day counts as a day.
    pub fn record(&mut self, latency: Duration) {
        let nanoseconds = latency.min(LONGEST).as_nanos() as u64;
        self.0
            .record(nanoseconds)
            .expect("it grows with what it is told");
    }

    /// Adds all that another has.
    pub fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("it grows with what it is told");
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that `percent` of all stay within; zero if there is none.
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_percentile(percent))
    }

    /// The least; zero if there is none.
    pub fn min(&self) -> Duration {
        Duration::from_nanos(self.0.min())
    }

    /// The greatest; zero if there is none.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }

    /// The mean; zero if there is none.
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.0.mean() as u64)
    }

    /// The standard deviation; zero if there is none.
    pub fn deviation(&self) -> Duration {
        Duration::from_nanos(self.0.stdev() as u64)
    }

    /// The histogram, in nanoseconds.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }
}

impl Default for Latency {
    /// Exact to two digits.
    fn default() -> Self {
        Self::with_digits(2)
    }
}

impl Serialize for Latency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .map_err(S::Error::custom)?;
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD
            .decode(text)
            .map_err(|error| D::Error::custom(format!("a histogram is not base64: {error}")))?;
        let mut histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| D::Error::custom(format!("a histogram is broken: {error}")))?;
        histogram.auto(true);
        Ok(Self(histogram))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_to_the_digits() {
        let mut latency = Latency::new();
        for milliseconds in 1..=1000 {
            latency.record(Duration::from_millis(milliseconds));
        }
        let median = latency.percentile(50.0).as_secs_f64();
        assert!((median - 0.5).abs() < 0.5 / 1000.0, "{median}");
        assert_eq!(latency.count(), 1000);
        assert!(latency.max() >= Duration::from_millis(1000));
    }

    #[test]
    fn survives_json() {
        let mut latency = Latency::new();
        latency.record(Duration::from_micros(250));
        latency.record(Duration::from_secs(90));
        let json = serde_json::to_string(&latency).unwrap();
        let mut back: Latency = serde_json::from_str(&json).unwrap();
        assert_eq!(back, latency);
        back.record(Duration::from_secs(9000));
        assert_eq!(back.count(), 3);
        assert!(serde_json::from_str::<Latency>("\"AAAA\"").is_err());
    }
}
