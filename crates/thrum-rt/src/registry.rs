//! The list of all tasks: for a dump of what each one does, for aborting one, and for dropping them when a runtime ends.
//!
//! A task has a [`Record`]: a few words that its polls write and anyone may read. Records are process-wide, in pages that are
//! added and never freed, so a task keeps a plain reference; the price is 48 bytes for the most tasks that were ever alive
//! at once. What only the list needs, wakers and names, is behind the lock of a shard; a thread keeps to one shard, so that
//! two that spawn do not meet.
//!
//! The list keeps a waker of each task. So a task whose other wakers are all gone stays alive, and waiting, until it is
//! aborted or its runtime ends.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crossbeam_utils::CachePadded;
use crossbeam_utils::atomic::AtomicCell;

use crate::time::clock;
use crate::waiting::Waiting;

const SHARDS: usize = 8;

/// Records of a page.
const PAGE: usize = 128;

/// Set in a record's `flags` when its task is to end at its next poll.
const ABORTED: u32 = 1 << 31;

/// The greatest number of a runtime.
pub(crate) const MAX_RUNTIME: u32 = ABORTED - 1;

static SHARDED: [CachePadded<Mutex<Shard>>; SHARDS] =
    [const { CachePadded::new(Mutex::new(Shard::new())) }; SHARDS];

static NEXT_SERIAL: AtomicU32 = AtomicU32::new(1);

/// What is known of a task, or of the future of a `block_on`.
pub(crate) struct Record {
    /// Its place: shard and index within it.
    place: u32,
    /// The runtime's number, and [`ABORTED`].
    flags: AtomicU32,
    /// Tells it from the others that had the place before. Zero: the place is free.
    serial: AtomicU32,
    /// When it was spawned, in hundredths of a second.
    born: AtomicU32,
    spawned_at: AtomicCell<Option<&'static Location<'static>>>,
    state: AtomicU64,
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// In a run queue.
    Queued,
    /// In a poll, on this thread of the runtime; of `block_on`, on the one that called it.
    Running(Option<u32>),
    Waiting(Waiting),
}

/// These two share a word with the kinds of [`Waiting`].
const QUEUED: u64 = 0xfe << 56;
const RUNNING: u64 = 0xff << 56;
const NO_MEMBER: u32 = u32::MAX;

impl Record {
    pub(crate) fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.spawned_at.load()
    }

    pub(crate) fn serial(&self) -> u32 {
        self.serial.load(Ordering::Relaxed)
    }

    pub(crate) fn set_queued(&self) {
        self.state.store(QUEUED, Ordering::Relaxed);
    }

    pub(crate) fn set_running(&self, member: Option<u32>) {
        let member = member.unwrap_or(NO_MEMBER);
        self.state
            .store(RUNNING | u64::from(member), Ordering::Relaxed);
    }

    /// Notes what the task waits for, as [`waiting::take_note`](crate::waiting::take_note) tells.
    pub(crate) fn set_waiting(&self, note: u64) {
        self.state.store(note, Ordering::Relaxed);
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & ABORTED != 0
    }

    fn state(&self) -> State {
        let word = self.state.load(Ordering::Relaxed);
        match word & RUNNING {
            QUEUED => State::Queued,
            RUNNING => State::Running((word as u32 != NO_MEMBER).then_some(word as u32)),
            _ => State::Waiting(Waiting::unpack(word)),
        }
    }
}

struct Shard {
    pages: Vec<Page>,
    /// Places that are free, the latest last.
    free: Vec<u32>,
    names: HashMap<u32, Box<str>, std::hash::BuildHasherDefault<std::hash::DefaultHasher>>,
    alive: usize,
}

struct Page {
    records: &'static [Record],
    wakers: Box<[Option<Waker>]>,
}

impl Shard {
    const fn new() -> Self {
        Self {
            pages: Vec::new(),
            free: Vec::new(),
            names: HashMap::with_hasher(std::hash::BuildHasherDefault::new()),
            alive: 0,
        }
    }

    fn claim(&mut self, shard: usize) -> &'static Record {
        if self.free.is_empty() {
            let first = self.pages.len() * PAGE;
            let records = (first..first + PAGE).map(|index| Record {
                place: (index * SHARDS + shard) as u32,
                flags: AtomicU32::new(0),
                serial: AtomicU32::new(0),
                born: AtomicU32::new(0),
                spawned_at: AtomicCell::new(None),
                state: AtomicU64::new(0),
            });
            self.free
                .extend((first..first + PAGE).rev().map(|index| index as u32));
            self.pages.push(Page {
                records: Box::leak(records.collect()),
                wakers: (0..PAGE).map(|_| None).collect(),
            });
        }
        let index = self.free.pop().expect("a page was added if there was none") as usize;
        &self.pages[index / PAGE].records[index % PAGE]
    }

    fn waker(&mut self, record: &Record) -> &mut Option<Waker> {
        let index = record.place as usize / SHARDS;
        &mut self.pages[index / PAGE].wakers[index % PAGE]
    }
}

/// A record that is in use, until it is dropped.
pub(crate) struct Entry(&'static Record);

impl Entry {
    /// Adds a task, or a `block_on`, of the runtime with this number.
    pub(crate) fn new(runtime: u32, spawned_at: &'static Location<'static>) -> Self {
        let shard = my_shard();
        let mut state = lock(shard);
        let record = state.claim(shard);
        state.alive += 1;
        record.flags.store(runtime, Ordering::Relaxed);
        record.state.store(QUEUED, Ordering::Relaxed);
        record.spawned_at.store(Some(spawned_at));
        record
            .born
            .store((clock::coarse_ms() / 10) as u32, Ordering::Relaxed);
        record.serial.store(next_serial(), Ordering::Relaxed);
        Self(record)
    }

    pub(crate) fn record(&self) -> &'static Record {
        self.0
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let record = self.0;
        let mut shard = lock_of(record);
        let waker = shard.waker(record).take();
        record.serial.store(0, Ordering::Relaxed);
        if !shard.names.is_empty() {
            shard.names.remove(&record.place);
        }
        shard.alive -= 1;
        shard.free.push(record.place / SHARDS as u32);
        drop(shard);
        drop(waker); // after the lock: it may be the last of its task
    }
}

/// Has the list keep the waker of a task.
pub(crate) fn keep_waker(record: &'static Record, waker: Waker) {
    *lock_of(record).waker(record) = Some(waker);
}

pub(crate) fn set_name(record: &'static Record, name: Box<str>) {
    lock_of(record).names.insert(record.place, name);
}

/// Tells a task to end at its next poll, and has it polled. Nothing happens if it has ended.
pub(crate) fn abort(record: &'static Record, serial: u32) {
    let mut shard = lock_of(record);
    if record.serial() != serial {
        return;
    }
    record.flags.fetch_or(ABORTED, Ordering::Relaxed);
    let waker = shard.waker(record).clone();
    drop(shard);
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// What a dump says of a task.
pub(crate) struct Entered {
    pub(crate) serial: u32,
    pub(crate) name: Option<Box<str>>,
    pub(crate) spawned_at: Option<&'static Location<'static>>,
    pub(crate) state: State,
    pub(crate) age_ms: u64,
    /// It is a task, not the future of a `block_on`.
    pub(crate) is_task: bool,
}

/// All that is in a runtime, in the order of spawning.
pub(crate) fn list(runtime: u32) -> Vec<Entered> {
    let now = (clock::coarse_ms() / 10) as u32;
    let mut entries = Vec::new();
    for_each(runtime, |record, waker, name| {
        entries.push(Entered {
            serial: record.serial(),
            name: name.cloned(),
            spawned_at: record.spawned_at(),
            state: record.state(),
            age_ms: u64::from(now.wrapping_sub(record.born.load(Ordering::Relaxed))) * 10,
            is_task: waker.is_some(),
        });
    });
    entries.sort_unstable_by_key(|entry| in_order(entry.serial));
    entries
}

/// How many tasks of a runtime are alive.
pub(crate) fn count(runtime: u32) -> usize {
    let mut count = 0;
    for_each(runtime, |_, waker, _| count += usize::from(waker.is_some()));
    count
}

/// The wakers of all tasks of a runtime, in the order of spawning.
pub(crate) fn wakers(runtime: u32) -> Vec<Waker> {
    let mut wakers = Vec::new();
    for_each(runtime, |record, waker, _| {
        wakers.extend(waker.clone().map(|waker| (record.serial(), waker)));
    });
    wakers.sort_unstable_by_key(|(serial, _)| in_order(*serial));
    wakers.into_iter().map(|(_, waker)| waker).collect()
}

fn next_serial() -> u32 {
    // Zero is for free places.
    std::iter::repeat_with(|| NEXT_SERIAL.fetch_add(1, Ordering::Relaxed))
        .find(|serial| *serial != 0)
        .expect("the next one after zero is one")
}

/// Sorts serials by age, across their wrapping.
fn in_order(serial: u32) -> impl Ord {
    serial.wrapping_sub(NEXT_SERIAL.load(Ordering::Relaxed))
}

fn for_each(runtime: u32, mut each: impl FnMut(&Record, &Option<Waker>, Option<&Box<str>>)) {
    for shard in 0..SHARDS {
        let state = lock(shard);
        if state.alive == 0 {
            continue;
        }
        for page in &state.pages {
            for (record, waker) in page.records.iter().zip(&page.wakers) {
                let mine = record.flags.load(Ordering::Relaxed) & !ABORTED == runtime;
                if mine && record.serial() != 0 {
                    each(record, waker, state.names.get(&record.place));
                }
            }
        }
    }
}

fn lock(shard: usize) -> MutexGuard<'static, Shard> {
    SHARDED[shard]
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

fn lock_of(record: &Record) -> MutexGuard<'static, Shard> {
    lock(record.place as usize % SHARDS)
}

/// The shard that this thread adds to.
fn my_shard() -> usize {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static MINE: Cell<Option<usize>> = const { Cell::new(None) };
    }
    MINE.get().unwrap_or_else(|| {
        let shard = NEXT.fetch_add(1, Ordering::Relaxed) as usize % SHARDS;
        MINE.set(Some(shard));
        shard
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const RUNTIME: u32 = 0x7fff_ffff;

    #[test]
    fn a_place_is_used_again_and_its_old_holder_cannot_be_aborted() {
        let entry = Entry::new(RUNTIME, Location::caller());
        let (record, serial) = (entry.record(), entry.record().serial());
        keep_waker(record, Waker::noop().clone());
        assert_eq!(count(RUNTIME), 1);
        drop(entry);
        assert_eq!(count(RUNTIME), 0);
        let next = Entry::new(RUNTIME, Location::caller());
        assert!(std::ptr::eq(next.record(), record), "the latest free place");
        abort(record, serial);
        assert!(!next.record().is_aborted());
        abort(record, next.record().serial());
        assert!(next.record().is_aborted());
    }

    #[test]
    fn a_record_tells_what_its_task_does() {
        let entry = Entry::new(RUNTIME - 1, Location::caller());
        set_name(entry.record(), "the name".into());
        for state in [
            State::Running(Some(3)),
            State::Running(None),
            State::Queued,
            State::Waiting(Waiting::Readable(5)),
        ] {
            match state {
                State::Queued => entry.record().set_queued(),
                State::Running(member) => entry.record().set_running(member),
                State::Waiting(waiting) => entry.record().set_waiting(waiting.pack()),
            }
            let listed = list(RUNTIME - 1);
            assert_eq!(listed[0].state, state);
            assert_eq!(listed[0].name.as_deref(), Some("the name"));
        }
    }

    #[test]
    fn a_record_is_small() {
        assert!(size_of::<Record>() + size_of::<Option<Waker>>() <= 48);
    }
}
