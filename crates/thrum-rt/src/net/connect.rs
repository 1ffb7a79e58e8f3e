//! Connecting to the first of several addresses that answers: RFC 8305, "Happy Eyeballs".
//!
//! A name often has addresses of both families, and one family often does not work. So attempts begin a quarter of a second
//! apart, or at once when one has failed, with the families taking turns. The first to connect wins; the others are closed.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::time::{Sleep, sleep};

/// How long an attempt has for itself: RFC 8305, section 5, "Connection Attempt Delay".
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to the first of the addresses that answers.
///
/// # Errors
/// That of the attempt that failed last, when all have; `NotFound` without addresses.
pub(super) async fn race<T, C>(
    addresses: Vec<SocketAddr>,
    connect: impl Fn(SocketAddr) -> C + Unpin,
) -> io::Result<T>
where
    C: Future<Output = io::Result<T>> + Send,
{
    if let [only] = addresses[..] {
        return connect(only).await;
    }
    Race {
        connect,
        waiting: interleave(addresses),
        running: Vec::new(),
        next: sleep(Duration::ZERO),
        failure: io::ErrorKind::NotFound.into(),
    }
    .await
}

struct Race<F, C> {
    connect: F,
    waiting: VecDeque<SocketAddr>,
    running: Vec<Pin<Box<C>>>,
    /// When the next attempt begins.
    next: Sleep,
    failure: io::Error,
}

impl<F, C, T> Future for Race<F, C>
where
    F: Fn(SocketAddr) -> C + Unpin,
    C: Future<Output = io::Result<T>>,
{
    type Output = io::Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let race = self.get_mut();
        loop {
            let mut failed = false;
            let mut index = 0;
            while let Some(attempt) = race.running.get_mut(index) {
                match attempt.as_mut().poll(cx) {
                    Poll::Ready(Ok(connection)) => return Poll::Ready(Ok(connection)),
                    Poll::Ready(Err(error)) => {
                        race.failure = error;
                        failed = true;
                        drop(race.running.remove(index));
                    }
                    Poll::Pending => index += 1,
                }
            }
            if race.waiting.is_empty() && race.running.is_empty() {
                let failure = std::mem::replace(&mut race.failure, io::ErrorKind::NotFound.into());
                return Poll::Ready(Err(failure));
            }
            let due = failed || race.running.is_empty();
            if race.waiting.is_empty() || (!due && Pin::new(&mut race.next).poll(cx).is_pending()) {
                return Poll::Pending;
            }
            if let Some(address) = race.waiting.pop_front() {
                race.running.push(Box::pin((race.connect)(address)));
                race.next = sleep(HEAD_START);
            }
        }
    }
}

/// Lets the families take turns, beginning with that of the first address: RFC 8305, section 4.
fn interleave(addresses: Vec<SocketAddr>) -> VecDeque<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .partition(|address| address.is_ipv6() == first_is_v6);
    let mut second = second.into_iter();
    let mut mixed = VecDeque::new();
    for address in first {
        mixed.push_back(address);
        mixed.extend(second.next());
    }
    mixed.extend(second);
    mixed
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_families_take_turns() {
        let order = |addresses: &[&str]| {
            let addresses = addresses
                .iter()
                .map(|address| format!("{address}:1").parse().unwrap());
            let mixed = interleave(addresses.collect()).into_iter();
            mixed
                .map(|address| address.ip().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            order(&["[::1]", "[::2]", "[::3]", "1.1.1.1", "1.1.1.2"]),
            ["::1", "1.1.1.1", "::2", "1.1.1.2", "::3"]
        );
        assert_eq!(
            order(&["1.1.1.1", "[::1]", "[::2]", "[::3]"]),
            ["1.1.1.1", "::1", "::2", "::3"]
        );
        assert!(order(&[]).is_empty());
    }
}
