//! What the runtime tells of itself: a dump of its tasks, its metrics, its hogs.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use thrum_rt::dump::TaskState;
use thrum_rt::net::TcpListener;
use thrum_rt::sync::MVar;
use thrum_rt::time::sleep;
use thrum_rt::{Runtime, dump, metrics, spawn, spawn_named};

fn state_of(name: &str) -> String {
    let dump = dump().unwrap();
    let task = dump
        .tasks
        .iter()
        .find(|task| task.name.as_deref() == Some(name));
    task.unwrap_or_else(|| panic!("no {name} in:\n{dump}"))
        .state
        .to_string()
}

#[test]
fn it_says_what_each_task_waits_for() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        let variable = Arc::new(MVar::<()>::empty());
        let taker = variable.clone();
        spawn_named("taker", async move { taker.take().await });
        spawn_named("sleeper", sleep(Duration::from_secs(100)));
        let inner = spawn_named("pending", std::future::pending::<()>());
        spawn_named("joiner", inner);
        spawn_named("acceptor", async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            listener.accept().await.map(drop)
        });
        spawn_named("hog", async {
            std::thread::sleep(Duration::from_millis(700))
        });
        sleep(Duration::from_millis(200)).await;

        assert_eq!(state_of("taker"), "waits for a variable");
        assert!(state_of("sleeper").starts_with("waits for a timer, due in 99"));
        assert_eq!(state_of("pending"), "waits for a waker");
        assert_eq!(state_of("joiner"), "waits for a task to end");
        let acceptor = state_of("acceptor");
        assert!(acceptor.starts_with("waits for descriptor "), "{acceptor}");
        assert!(acceptor.ends_with(" to be readable"), "{acceptor}");
        let hog = state_of("hog");
        assert!(hog.starts_with("runs on thrum-"), "{hog}");
        assert!(hog.contains(", asleep for "), "{hog}");

        let dump = dump().unwrap();
        let main = dump.tasks.iter().find(|task| !task.is_task).unwrap();
        assert_eq!(
            main.state,
            TaskState::Running {
                thread: None,
                stuck: None
            }
        );
        assert!(dump.tasks.iter().all(|task| {
            task.spawned_at.unwrap().file().ends_with("dump.rs")
                && task.age < Duration::from_secs(60)
        }));
        assert!(dump.to_string().contains("\"taker\"  at "));
    });
}

#[test]
fn metrics_count() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..500)
            .map(|_| spawn(async { thrum_rt::yield_now().await }))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let metrics = metrics();
        assert!(metrics.polls >= 1000, "{metrics:?}");
        assert_eq!(metrics.tasks, 0);
        assert_eq!(metrics.total_queued(), 0);
        assert!(metrics.poll_times.quantile(0.5).is_some());
        assert!(metrics.slice >= Duration::from_millis(1));
    });
}

#[test]
fn a_spawn_site_that_hogs_is_booked() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.block_on(async {
        let nap = Duration::from_millis(60);
        let mut line = 0;
        for _ in 0..2 {
            line = line!() + 1;
            let hog = spawn(async move { std::thread::sleep(nap) });
            sleep(Duration::from_millis(30)).await;
            hog.await.unwrap();
        }
        let begin = Instant::now();
        while dump().unwrap().hogs.first().is_none_or(|hog| hog.count < 2) {
            assert!(
                begin.elapsed() < Duration::from_secs(10),
                "{}",
                dump().unwrap()
            );
            sleep(Duration::from_millis(5)).await;
        }
        let hogs = dump().unwrap().hogs;
        let [hog] = hogs[..] else {
            panic!("one site: {hogs:?}")
        };
        assert_eq!(
            (hog.spawned_at.line(), hog.count, hog.computed),
            (line, 2, false)
        );
        assert!(
            hog.longest >= nap / 2 && hog.longest <= hog.total,
            "{hog:?}"
        );
    });
}

/// The process that the next test sends its signal to: this test again, told so by the environment.
const CHILD: &str = "THRUM_TEST_DUMP_CHILD";

#[test]
fn sigusr1_writes_a_dump_though_all_workers_are_stuck() {
    if std::env::var_os(CHILD).is_some() {
        let runtime = Runtime::builder()
            .workers(1)
            .max_asleep(0)
            .dump_on_sigusr1(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            spawn_named("stuck", async {
                println!("ready");
                std::thread::sleep(Duration::from_secs(20));
            });
            sleep(Duration::from_secs(20)).await;
        });
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("sigusr1_writes_a_dump_though_all_workers_are_stuck")
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let mut said = String::new();
    let mut buffer = [0; 1024];
    while !said.contains("ready") {
        let read = stdout.read(&mut buffer).unwrap();
        assert!(read > 0, "the child said only: {said}");
        said.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::USR1).unwrap();
    let mut dumped = String::new();
    while !dumped.contains("\"stuck\"") {
        let read = stderr.read(&mut buffer).unwrap();
        assert!(read > 0, "the child wrote only: {dumped}");
        dumped.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(dumped.starts_with("thrum: tasks 1,"), "{dumped}");
    assert!(dumped.contains("runs on thrum-0"), "{dumped}");
}
