//! A dump of the runtime: every task, what it does, and since when.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use crate::context;
use crate::metrics::{self, Metrics};
use crate::registry::{self, State};
use crate::scheduler::{Hog, Scheduler, Verdict};

/// What a runtime was doing at one moment; see [`dump`]. Displayed, it is a table for people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Dump {
    /// The runtime in numbers.
    pub metrics: Metrics,
    /// Every task, in the order of spawning, and the futures of [`block_on`](crate::block_on).
    pub tasks: Vec<TaskDump>,
    /// Spawn sites whose tasks have held up a worker, the worst first.
    pub hogs: Vec<Hog>,
}

/// What one task was doing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskDump {
    /// Its number; no two tasks that are alive have the same.
    pub id: u32,
    /// Its name, if it was [given one](crate::spawn_named).
    pub name: Option<String>,
    /// Where it was spawned.
    pub spawned_at: Option<&'static Location<'static>>,
    /// What it did.
    pub state: TaskState,
    /// How long ago it was spawned, to about 10 ms.
    pub age: Duration,
    /// It is a task, not the future of a `block_on`.
    pub is_task: bool,
}

/// What a task is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// It is ready, and waits in a run queue for a worker.
    Queued,
    /// It is being polled.
    Running {
        /// The thread: `thrum-N`; none for the thread that called `block_on`.
        thread: Option<u32>,
        /// Its worker was handed off because of it, so long ago.
        stuck: Option<Stuck>,
    },
    /// It waits.
    Waiting {
        /// What for, in words: "descriptor 7 to be readable".
        what: String,
    },
}

/// A task that stays in one poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Since its worker was handed off.
    pub since: Duration,
    /// It computes, as opposed to being asleep in the kernel.
    pub computing: bool,
}

/// What every task of this thread's runtime is doing. `None` outside a runtime.
///
/// It takes short locks only and stops nobody, so tasks go on while it is made. Waiting for a signal, it can be had with
/// [`Builder::dump_on_sigusr1`](crate::Builder::dump_on_sigusr1).
///
/// ```
/// # thrum_rt::block_on(async {
/// let task = thrum_rt::spawn_named("sleeper", thrum_rt::time::sleep(std::time::Duration::from_secs(60)));
/// let dump = thrum_rt::dump().unwrap();
/// assert!(dump.tasks.iter().any(|task| task.name.as_deref() == Some("sleeper")));
/// println!("{dump}");
/// # task.abort();
/// # });
/// ```
pub fn dump() -> Option<Dump> {
    context::try_scheduler().map(|scheduler| of(&scheduler))
}

/// Where the tasks of this thread's runtime were spawned that have held up a worker, the worst first: a part of [`dump`] that
/// costs nothing for each task. None outside a runtime.
pub fn hogs() -> Vec<Hog> {
    context::try_scheduler().map_or_else(Vec::new, |scheduler| scheduler.hogs.list())
}

pub(crate) fn of(scheduler: &Scheduler) -> Dump {
    let tasks = registry::list(scheduler.number).into_iter();
    Dump {
        metrics: metrics::of(scheduler),
        tasks: tasks.map(|entered| task(scheduler, entered)).collect(),
        hogs: scheduler.hogs.list(),
    }
}

fn task(scheduler: &Scheduler, entered: registry::Entered) -> TaskDump {
    let state = match entered.state {
        State::Queued => TaskState::Queued,
        State::Running(thread) => TaskState::Running {
            thread,
            stuck: thread.and_then(|thread| stuck(scheduler, thread)),
        },
        State::Waiting(waiting) => TaskState::Waiting {
            what: waiting.to_string(),
        },
    };
    TaskDump {
        id: entered.serial,
        name: entered.name.map(String::from),
        spawned_at: entered.spawned_at,
        state,
        age: Duration::from_millis(entered.age_ms),
        is_task: entered.is_task,
    }
}

fn stuck(scheduler: &Scheduler, thread: u32) -> Option<Stuck> {
    let found = scheduler.members.get(thread as usize)?.found()?;
    Some(Stuck {
        since: found.at.elapsed(),
        computing: found.verdict == Verdict::Computing,
    })
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Metrics {
            workers,
            threads,
            tasks,
            polls,
            hand_offs,
            slice,
            ..
        } = self.metrics;
        writeln!(
            f,
            "thrum: tasks {tasks}, of them queued {}; workers {workers}, threads {threads}; polls {polls}, \
             hand-offs {hand_offs}; slice {slice:?}",
            self.metrics.total_queued(),
        )?;
        for task in &self.tasks {
            writeln!(f, "  {task}")?;
        }
        if !self.hogs.is_empty() {
            writeln!(f, "spawn sites that have held up a worker:")?;
        }
        for hog in &self.hogs {
            writeln!(
                f,
                "  {}: {} times, longest {}, total {}, {}",
                hog.spawned_at,
                hog.count,
                Readable(hog.longest),
                Readable(hog.total),
                kind(hog.computed),
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for TaskDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = match self.is_task {
            true => format!("#{}", self.id),
            false => "block_on".to_owned(),
        };
        write!(
            f,
            "{number:<9} {:>8}  {}",
            Readable(self.age).to_string(),
            self.state
        )?;
        if let Some(name) = &self.name {
            write!(f, "  \"{}\"", name.escape_debug())?;
        }
        match self.spawned_at {
            Some(at) => write!(f, "  at {at}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskState::Queued => f.write_str("queued"),
            TaskState::Waiting { what } => write!(f, "waits for {what}"),
            TaskState::Running { thread, stuck } => {
                f.write_str("runs")?;
                if let Some(thread) = thread {
                    write!(f, " on thrum-{thread}")?;
                }
                match stuck {
                    Some(Stuck { since, computing }) => {
                        write!(f, ", {} for {}", kind(*computing), Readable(*since))
                    }
                    None => Ok(()),
                }
            }
        }
    }
}

fn kind(computing: bool) -> &'static str {
    if computing { "computing" } else { "asleep" }
}

/// A duration for people: three digits are enough.
struct Readable(Duration);

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match seconds {
            0 => write!(f, "{} ms", self.0.as_millis()),
            1..60 => write!(f, "{:.1} s", self.0.as_secs_f64()),
            60..3600 => write!(f, "{} m {} s", seconds / 60, seconds % 60),
            _ => write!(f, "{} h {} m", seconds / 3600, seconds / 60 % 60),
        }
    }
}

/// Has a thread of its own write the dump of a runtime to standard error at each SIGUSR1. It does not depend on the workers,
/// which may all be stuck, and blocks without a timer in between.
pub(crate) mod on_signal {
    use std::io::{self, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::{Arc, Weak};

    use signal_hook::consts::SIGUSR1;
    use signal_hook::low_level::{pipe, unregister};

    use crate::scheduler::Scheduler;

    /// Ends the thread when it is dropped.
    pub(crate) struct Listener {
        handler: signal_hook::SigId,
        _closes: UnixStream,
    }

    impl Listener {
        pub(crate) fn start(scheduler: &Arc<Scheduler>) -> io::Result<Self> {
            let (mut receiver, sender) = UnixStream::pair()?;
            let closes = sender.try_clone()?;
            let handler = pipe::register(SIGUSR1, sender)?;
            let scheduler = Arc::downgrade(scheduler);
            std::thread::Builder::new()
                .name("thrum-dump".into())
                .spawn(move || {
                    while matches!(receiver.read(&mut [0; 64]), Ok(1..)) {
                        write(&scheduler);
                    }
                })?;
            Ok(Self {
                handler,
                _closes: closes,
            })
        }
    }

    impl Drop for Listener {
        fn drop(&mut self) {
            // With the handler's end closed too, the thread reads the end of the stream.
            unregister(self.handler);
        }
    }

    fn write(scheduler: &Weak<Scheduler>) {
        if let Some(scheduler) = scheduler.upgrade() {
            let dump = super::of(&scheduler).to_string();
            // Nobody to tell if standard error is gone.
            let _ = io::stderr().write_all(dump.as_bytes());
        }
    }
}
