//! From a checked configuration to handlers.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use thrum_rt::TaskSet;

use super::Handler;
use crate::config::{Problem, Problems, RouteConfig, Setting, Settings, Verb};

/// A kind of handler: a verb of the configuration, and what makes a handler of a route with it.
#[derive(Debug)]
pub struct HandlerKind {
    /// What is written.
    pub verb: &'static Verb,
    /// Makes the handler. `None` when something is wrong; then a problem was noted.
    pub build: fn(&RouteConfig, &mut Building<'_>) -> Option<Arc<dyn Handler>>,
}

/// A kind of handler that goes around others: a guard, a session, a cache.
#[derive(Debug)]
pub struct Layer {
    /// What is written in a route's block, or in its site's for all routes.
    pub settings: &'static [Setting],
    /// Puts a handler around another; gives that one back when nothing was written that asks for it, or when something is
    /// wrong; then a problem was noted.
    pub build: Wrap,
}

/// Puts a handler around another.
pub type Wrap = fn(&Settings, Arc<dyn Handler>, &mut Building<'_>) -> Arc<dyn Handler>;

/// What goes on while handlers are made. Nothing may be changed in the world: `thrum check` does this too.
pub struct Building<'a> {
    /// What is wrong.
    pub problems: &'a mut Problems,
    /// What outlives a configuration.
    pub kept: &'a Kept,
    /// What stands outside of all sites.
    pub global: &'a Settings,
    pub(crate) starts: Vec<Start>,
}

/// What is to be done when a configuration comes to life.
pub(crate) type Start = Box<dyn FnOnce(&mut TaskSet<()>) + Send>;

impl Building<'_> {
    /// Notes a problem.
    pub fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }

    /// Has something done when the configuration comes to life. Tasks spawned in the set end with the configuration.
    pub fn when_live(&mut self, start: impl FnOnce(&mut TaskSet<()>) + Send + 'static) {
        self.starts.push(Box::new(start));
    }
}

/// What outlives a configuration: caches, stores, the state of upstreams, counters; each by its type and a name.
#[derive(Default)]
pub struct Kept {
    all: Mutex<HashMap<(TypeId, String), Arc<dyn Any + Send + Sync>>>,
}

impl Kept {
    /// What was made for that name before, else made now.
    pub fn get<T: Send + Sync + 'static>(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        let key = (TypeId::of::<T>(), name.to_owned());
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all.entry(key).or_insert_with(|| Arc::new(make())).clone();
        kept.downcast().expect("the key has its type")
    }

    /// All that is of one type.
    pub fn all<T: Send + Sync + 'static>(&self) -> Vec<Arc<T>> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all.values().cloned();
        kept.filter_map(|kept| kept.downcast().ok()).collect()
    }

    /// Drops what nobody else holds: called when a configuration has gone.
    pub fn sweep(&self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, kept| Arc::strong_count(kept) > 1);
    }
}
