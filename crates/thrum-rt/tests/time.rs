//! Sleeps, timeouts, intervals, deadlines.

use std::future::poll_fn;
use std::time::Duration;

use thrum_rt::time::{Deadline, Instant, interval, sleep, sleep_until, timeout};
use thrum_rt::{block_on, spawn};

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_sleep_is_never_short() {
    block_on(async {
        for ms in [0, 1, 5, 63, 64, 65, 130] {
            let begin = Instant::now();
            sleep(MS * ms).await;
            assert!(begin.elapsed() >= MS * ms);
        }
        let at = Instant::now() + MS * 10;
        sleep_until(at).await;
        assert!(Instant::now() >= at);
    });
}

#[test]
fn many_sleeps_end_in_order() {
    block_on(async {
        let sleeps: Vec<_> = (0..1000u32)
            .map(|number| {
                let length = MS * (number * 7 % 100);
                spawn(async move {
                    let begin = Instant::now();
                    sleep(length).await;
                    begin.elapsed() >= length
                })
            })
            .collect();
        for sleep in sleeps {
            assert!(sleep.await.unwrap());
        }
    });
}

#[test]
fn a_timeout_drops_what_is_late_and_keeps_what_is_not() {
    block_on(async {
        assert!(timeout(MS * 5, std::future::pending::<()>()).await.is_err());
        assert_eq!(timeout(MS * 500, async { 3 }).await, Ok(3));
        let nested = timeout(MS * 500, timeout(MS, sleep(MS * 100)));
        assert!(nested.await.unwrap().is_err());
    });
}

#[test]
fn an_interval_keeps_to_its_schedule() {
    block_on(async {
        let begin = Instant::now();
        let mut ticks = interval(MS * 10);
        for _ in 0..5 {
            ticks.tick().await;
        }
        assert!(begin.elapsed() >= MS * 50);
        std::thread::sleep(MS * 35);
        let late = Instant::now();
        ticks.tick().await; // the one that is due
        ticks.tick().await; // the next one on schedule: the missed ones are skipped
        assert!(late.elapsed() <= MS * 500);
    });
}

#[test]
fn a_deadline_that_is_put_off_does_not_pass() {
    block_on(async {
        let mut deadline = Deadline::new();
        let begin = Instant::now();
        deadline.set(MS * 30);
        for _ in 0..10 {
            let passed = timeout(MS * 10, poll_fn(|cx| deadline.poll_expired(cx))).await;
            assert!(passed.is_err());
            deadline.set(MS * 30);
        }
        poll_fn(|cx| deadline.poll_expired(cx)).await;
        assert!(begin.elapsed() >= MS * 130);
        deadline.clear();
        assert!(
            timeout(MS * 30, poll_fn(|cx| deadline.poll_expired(cx)))
                .await
                .is_err()
        );
    });
}

#[test]
fn a_deadline_may_be_brought_forward() {
    block_on(async {
        let mut deadline = Deadline::new();
        deadline.set(Duration::from_secs(3600));
        assert!(
            timeout(MS * 5, poll_fn(|cx| deadline.poll_expired(cx)))
                .await
                .is_err()
        );
        deadline.set(MS * 5);
        let passed = timeout(MS * 2000, poll_fn(|cx| deadline.poll_expired(cx))).await;
        assert!(passed.is_ok());
    });
}

#[test]
fn a_short_timer_set_elsewhere_interrupts_a_long_wait() {
    block_on(async {
        let long = spawn(sleep(Duration::from_secs(3600)));
        sleep(MS * 20).await; // the workers are parked now
        let begin = Instant::now();
        sleep(MS * 20).await; // armed from this thread, which is no worker
        assert!(begin.elapsed() < Duration::from_secs(5));
        drop(long);
    });
}
