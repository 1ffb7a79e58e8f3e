//! Signals reach every listener, and none is lost between two waits.

use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use thrum_rt::signal::{SignalKind, signal, terminate};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{block_on, spawn};

const SECONDS: Duration = Duration::from_secs(10);

fn raise(signal: Signal) {
    kill_process(getpid(), signal).unwrap();
}

#[test]
fn every_listener_gets_every_signal() {
    block_on(async {
        let listeners: Vec<_> = (0..3).map(|_| signal(SignalKind::User1).unwrap()).collect();
        let mut first = signal(SignalKind::User1).unwrap();
        let tasks: Vec<_> = listeners
            .into_iter()
            .map(|mut signals| {
                spawn(async move {
                    signals.recv().await.unwrap();
                    signals.recv().await.unwrap();
                })
            })
            .collect();
        // One after the other, as the system may make one of two.
        raise(Signal::USR1);
        timeout(SECONDS, first.recv()).await.unwrap().unwrap();
        raise(Signal::USR1);
        for task in tasks {
            timeout(SECONDS, task).await.unwrap().unwrap();
        }
    });
}

#[test]
fn a_signal_that_nobody_waits_for_is_kept() {
    block_on(async {
        let mut signals = signal(SignalKind::User2).unwrap();
        let early = timeout(Duration::from_millis(5), signals.recv()).await;
        assert!(early.is_err(), "none yet");
        raise(Signal::USR2);
        sleep(Duration::from_millis(20)).await;
        timeout(SECONDS, signals.recv()).await.unwrap().unwrap();
        let more = timeout(Duration::from_millis(5), signals.recv()).await;
        assert!(more.is_err(), "it came once");
    });
}

#[test]
fn each_kind_is_told_apart() {
    let kinds = [
        (SignalKind::Alarm, Signal::ALARM),
        (SignalKind::Child, Signal::CHILD),
        (SignalKind::Hangup, Signal::HUP),
        (SignalKind::Interrupt, Signal::INT),
        (SignalKind::Pipe, Signal::PIPE),
        (SignalKind::Quit, Signal::QUIT),
        (SignalKind::WindowChange, Signal::WINCH),
    ];
    block_on(async {
        let mut listeners: Vec<_> = kinds
            .iter()
            .map(|(kind, _)| signal(*kind).unwrap())
            .collect();
        for (index, (_, number)) in kinds.into_iter().enumerate() {
            raise(number);
            let came = timeout(SECONDS, listeners[index].recv()).await;
            came.unwrap().unwrap();
            for (other, listener) in listeners.iter_mut().enumerate() {
                let none = timeout(Duration::from_millis(1), listener.recv()).await;
                assert!(none.is_err(), "listener {other} at signal {index}");
            }
        }
    });
}

#[test]
fn being_asked_to_end() {
    block_on(async {
        let asked = spawn(terminate());
        let mut also = signal(SignalKind::Terminate).unwrap();
        // The task may begin late; a signal before it listens goes to us alone.
        let mut asked = std::pin::pin!(timeout(SECONDS, asked));
        loop {
            raise(Signal::TERM);
            also.recv().await.unwrap();
            match timeout(Duration::from_millis(50), asked.as_mut()).await {
                Ok(ended) => break ended.unwrap().unwrap().unwrap(),
                Err(_) => continue,
            }
        }
    });
}
