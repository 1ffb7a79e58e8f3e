//! The thread that writes: many changes, one transaction.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ::redb::StorageError;
use bytes::Bytes;
use thrum_rt::sync::oneshot;

use super::super::record::Head;
use super::super::{Condition, StoreError};
use super::file::{DatabaseFile, fault};
use super::tables::{self, Refusal, Tables};

/// Changes that may wait. Each has a caller who waits for it, or did.
const QUEUE: usize = 4096;
/// Changes in one transaction, and their bytes.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 32 << 20;
/// Expired values that are removed in one transaction.
const SWEEP_BATCH: usize = 1_000;
/// How often the writer looks for what has expired.
const SWEEP: Duration = Duration::from_secs(10);
/// Pauses between attempts to open a file that failed.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// A change to be made, and who waits for it.
pub(super) struct Job {
    pub(super) change: Change,
    pub(super) answer: oneshot::Sender<Result<Done, StoreError>>,
}

pub(super) enum Change {
    Put {
        key: String,
        head: Head,
        record: Bytes,
        condition: Condition,
    },
    Delete {
        key: String,
        condition: Condition,
    },
}

/// What came of a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) was_there: bool,
}

/// The thread, from outside.
pub(super) struct Writer {
    jobs: SyncSender<Job>,
    thread: JoinHandle<()>,
}

impl Writer {
    pub(super) fn start(file: Arc<DatabaseFile>, max: u64) -> Result<Self, StoreError> {
        let (jobs, queue) = sync_channel(QUEUE);
        let writing = Writing {
            file,
            max,
            queue,
            next: None,
            swept: Instant::now(),
        };
        let thread = std::thread::Builder::new().name("thrum-store".into());
        let thread = thread.spawn(|| writing.run());
        let thread = thread.map_err(StoreError::unavailable)?;
        Ok(Self { jobs, thread })
    }

    pub(super) fn submit(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => {
                StoreError::Unavailable(format!("{QUEUE} changes wait for its disk"))
            }
            TrySendError::Disconnected(_) => StoreError::unavailable("its writer has ended"),
        })
    }

    /// Waits until all that was submitted has been answered.
    pub(super) fn finish(self) {
        drop(self.jobs);
        if self.thread.join().is_err() {
            tracing::error!("the writer of a store has panicked");
        }
    }
}

/// The thread, from inside.
struct Writing {
    file: Arc<DatabaseFile>,
    max: u64,
    queue: Receiver<Job>,
    /// What did not go into the last transaction.
    next: Option<Job>,
    swept: Instant,
}

impl Writing {
    fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Err(error) = self.file.open() {
                let path = self.file.path().display();
                tracing::error!("cannot open the store {path}, trying again: {error}");
                if !self.refuse(&error, pause) {
                    return;
                }
                pause = (pause * 2).min(LAST_PAUSE);
                continue;
            }
            pause = FIRST_PAUSE;
            let first = match self.next.take() {
                Some(job) => Ok(job),
                None => self
                    .queue
                    .recv_timeout(SWEEP.saturating_sub(self.swept.elapsed())),
            };
            match first {
                Ok(job) => {
                    let batch = self.batch(job);
                    self.commit(batch);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.swept.elapsed() >= SWEEP {
                self.sweep();
            }
        }
    }

    /// Refuses what comes for a while. False when nothing will come any more.
    fn refuse(&mut self, error: &StoreError, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        if let Some(job) = self.next.take() {
            let _ = job.answer.send(Err(error.clone()));
        }
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.queue.recv_timeout(left) {
                // Who has gone does not need an answer.
                Ok(job) => drop(job.answer.send(Err(error.clone()))),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// The job, and those that have queued up behind it.
    fn batch(&mut self, first: Job) -> Vec<Job> {
        let mut bytes = first.change.size();
        let mut batch = vec![first];
        while batch.len() < BATCH {
            let Ok(job) = self.queue.try_recv() else {
                break;
            };
            bytes += job.change.size();
            if bytes > BATCH_BYTES {
                self.next = Some(job);
                break;
            }
            batch.push(job);
        }
        batch
    }

    fn commit(&self, batch: Vec<Job>) {
        let max = self.max;
        let outcome = self.transaction(|tables| {
            let changes = batch.iter().map(|job| match job.change.make(tables, max) {
                Ok(was_there) => Ok(Ok(Done { was_there })),
                Err(Refusal::Change(error)) => Ok(Err(error)),
                Err(Refusal::File(error)) => Err(error),
            });
            changes.collect::<Result<Vec<_>, _>>()
        });
        match outcome {
            Ok(answers) => {
                for (job, answer) in batch.into_iter().zip(answers) {
                    let _ = job.answer.send(answer);
                }
            }
            Err(error) => {
                for job in batch {
                    let _ = job.answer.send(Err(error.clone()));
                }
            }
        }
    }

    fn sweep(&mut self) {
        let due = self
            .file
            .database()
            .and_then(|database| tables::is_any_due(&database));
        let swept = match due {
            Ok(true) => self.transaction(|tables| tables.sweep(SWEEP_BATCH)),
            _ => Ok(0),
        };
        // The rest is swept at once, between changes.
        if !matches!(swept, Ok(SWEEP_BATCH)) {
            self.swept = Instant::now();
        }
    }

    /// After an error of the file, nothing was done, and the file is left to be opened anew.
    fn transaction<T>(
        &self,
        work: impl FnOnce(&mut Tables<'_>) -> Result<T, StorageError>,
    ) -> Result<T, StoreError> {
        let attempt = || -> Result<T, StoreError> {
            let database = self.file.database()?;
            let transaction = database
                .begin_write()
                .map_err(|error| fault(error.into()))?;
            let mut tables = Tables::open(&transaction)?;
            let done = work(&mut tables).map_err(|error| fault(error.into()))?;
            drop(tables);
            transaction.commit().map_err(|error| fault(error.into()))?;
            Ok(done)
        };
        let outcome = attempt();
        if let Err(error) = &outcome {
            let path = self.file.path().display();
            tracing::error!("cannot write to the store {path}: {error}");
            self.file.fail(error.clone());
        }
        outcome
    }
}

impl Change {
    fn size(&self) -> usize {
        match self {
            Self::Put { record, .. } => record.len(),
            Self::Delete { .. } => 0,
        }
    }

    fn make(&self, tables: &mut Tables<'_>, max: u64) -> Result<bool, Refusal> {
        match self {
            Self::Put {
                key,
                head,
                record,
                condition,
            } => tables.put(key, *head, record, *condition, max),
            Self::Delete { key, condition } => tables.delete(key, *condition),
        }
    }
}
