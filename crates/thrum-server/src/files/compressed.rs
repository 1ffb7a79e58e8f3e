//! Files that have been compressed because somebody asked for them in that form.
//!
//! They are kept by what a file is, not by how its path was written, so that no number of spellings makes more work. One
//! request compresses, and gives way to others in between; those that want the same wait for it. When every core is at it
//! already, a file is sent as it is.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::available_parallelism;

use async_lock::{OnceCell, Semaphore};
use bytes::Bytes;
use thrum_http::{Body, BodyError};
use thrum_stream::stage::compress::{self, Compress};
use thrum_stream::{Source, sink, source};

use super::cache::{Bounds, Cache, Counts, Weigh};
use super::negotiation::Coding;
use super::options::Compression;
use super::representation::{Identity, Representation};

pub(super) struct Compressed {
    settings: Compression,
    done: Cache<Key, Outcome>,
    /// What is being compressed.
    running: Mutex<HashMap<Key, Weak<Running>>>,
    jobs: Arc<Semaphore>,
}

type Key = (Identity, Coding);
type Running = OnceCell<Arc<Outcome>>;

/// What compressing a file came to.
pub(super) enum Outcome {
    Smaller(Box<Representation>),
    /// It does not become smaller, or cannot be read.
    NotWorthIt,
}

/// What is known when a compressed file is asked for.
pub(super) enum Progress {
    Done(Arc<Outcome>),
    /// It is to be waited for.
    Pending(Job),
    /// Too many others are being compressed.
    Busy,
}

/// Waits for a file to be compressed, or compresses it.
pub(super) struct Job {
    key: Key,
    running: Arc<Running>,
    _permit: Option<async_lock::SemaphoreGuardArc>,
}

impl Compressed {
    pub(super) fn new(settings: Compression) -> Self {
        let bounds = Bounds {
            entries: usize::MAX,
            bytes: settings.kept,
            descriptors: 0,
        };
        let jobs = available_parallelism().map_or(1, NonZero::get);
        Self {
            settings,
            // One shard: results may be large.
            done: Cache::with_shards(bounds, 1),
            running: Mutex::default(),
            jobs: Arc::new(Semaphore::new(jobs)),
        }
    }

    pub(super) fn get(&self, file: &Representation, coding: Coding) -> Progress {
        let key = (file.identity(), coding);
        if let Some(done) = self.done.get(&key) {
            return Progress::Done(done);
        }
        let mut all = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = all.get(&key).and_then(Weak::upgrade);
        let (running, permit) = match running {
            Some(running) => (running, None),
            None => {
                let Some(permit) = self.jobs.try_acquire_arc() else {
                    return Progress::Busy;
                };
                let running = Arc::new(OnceCell::new());
                all.retain(|_, running| running.strong_count() > 0);
                all.insert(key, Arc::downgrade(&running));
                (running, Some(permit))
            }
        };
        Progress::Pending(Job {
            key,
            running,
            _permit: permit,
        })
    }

    /// Dropping the future leaves the work to another one that waits for it, or undone.
    pub(super) async fn wait(&self, job: Job, file: &Representation) -> Arc<Outcome> {
        let coding = job.key.1;
        let make = async {
            let outcome = match compress(file, coding, &self.settings).await {
                Some(bytes) => Outcome::Smaller(file.compressed(coding, bytes).into()),
                None => Outcome::NotWorthIt,
            };
            let outcome = Arc::new(outcome);
            self.done.insert(job.key, outcome.clone());
            outcome
        };
        job.running.get_or_init(|| make).await.clone()
    }

    pub(super) fn counts(&self) -> Counts {
        self.done.counts()
    }
}

impl Weigh for Outcome {
    fn bytes(&self) -> usize {
        // With what is around it: failures are to be bounded as well.
        const AROUND: usize = 512;
        match self {
            Self::Smaller(file) => AROUND + file.bytes(),
            Self::NotWorthIt => AROUND,
        }
    }

    fn descriptors(&self) -> usize {
        0
    }
}

/// The compressed content; `None` if that is not smaller.
async fn compress(file: &Representation, coding: Coding, settings: &Compression) -> Option<Bytes> {
    let stage: Compress = match coding {
        Coding::Brotli => compress::brotli().level(settings.brotli_level),
        Coding::Zstd => compress::zstd().level(settings.zstd_level),
        Coding::Gzip => compress::gzip().level(settings.gzip_level),
    };
    // 64 KiB at most, which take about a millisecond; then others have their turn.
    let pieces = source::unfold(file.body(file.whole()), |mut body: Body| async move {
        thrum_rt::yield_now().await;
        let piece = body.chunk().await.transpose()?;
        Ok::<_, BodyError>(piece.map(|piece| (piece, body)))
    });
    let most = usize::try_from(file.size).ok()?.checked_sub(1)?;
    let compressed = pieces.pipe(stage).run(sink::concat(most)).await;
    compressed.ok().map(Bytes::from)
}
