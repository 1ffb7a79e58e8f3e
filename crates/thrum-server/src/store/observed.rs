//! A store whose calls are counted.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{Condition, Count, Entry, Key, Page, Put, Reply, Store, StoreError, Written};
use crate::metrics::{Counter, Registry};

const NAME: &str = "thrum_store_operations_total";
const HELP: &str = "Operations that a store was asked for, by what came of them: ok, conflict, unavailable, full, refused.";

/// Counts what another store is asked for, and what comes of it, in the registry.
#[derive(Debug)]
pub(super) struct Observed {
    store: Arc<dyn Store>,
    get: Outcomes,
    put: Outcomes,
    delete: Outcomes,
    list: Outcomes,
    add: Outcomes,
}

impl Observed {
    /// `name` says which one of the stores it is.
    pub(super) fn new(store: Arc<dyn Store>, name: &str, registry: &Registry) -> Self {
        let outcomes = |operation| Outcomes::new(name, operation, registry);
        Self {
            store,
            get: outcomes("get"),
            put: outcomes("put"),
            delete: outcomes("delete"),
            list: outcomes("list"),
            add: outcomes("add"),
        }
    }
}

/// How often an operation ended in which way.
#[derive(Debug)]
struct Outcomes {
    ok: Counter,
    conflict: Counter,
    unavailable: Counter,
    full: Counter,
    refused: Counter,
}

impl Outcomes {
    fn new(store: &str, operation: &str, registry: &Registry) -> Self {
        let counter = |result| {
            let labels = [
                ("store", store),
                ("operation", operation),
                ("result", result),
            ];
            registry.counter(NAME, HELP, &labels)
        };
        Self {
            ok: counter("ok"),
            conflict: counter("conflict"),
            unavailable: counter("unavailable"),
            full: counter("full"),
            refused: counter("refused"),
        }
    }

    /// Waits for what comes of it. A call that its asker drops before is not counted.
    fn of<'a, T: 'a>(&'a self, reply: Reply<'a, T>) -> Reply<'a, T> {
        Box::pin(async move {
            let result = reply.await;
            let counter = match &result {
                Ok(_) => &self.ok,
                Err(StoreError::Conflict) => &self.conflict,
                Err(StoreError::Unavailable(_)) => &self.unavailable,
                Err(StoreError::Full(_)) => &self.full,
                Err(
                    StoreError::TooLarge { .. } | StoreError::BadKey(_) | StoreError::BadCursor,
                ) => &self.refused,
            };
            counter.add(1);
            result
        })
    }
}

impl Store for Observed {
    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Entry>> {
        self.get.of(self.store.get(key))
    }

    fn put<'a>(&'a self, key: &'a Key, value: Bytes, put: Put) -> Reply<'a, Written> {
        self.put.of(self.store.put(key, value, put))
    }

    fn delete<'a>(&'a self, key: &'a Key, condition: Condition) -> Reply<'a, bool> {
        self.delete.of(self.store.delete(key, condition))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a str>,
        limit: usize,
    ) -> Reply<'a, Page> {
        self.list.of(self.store.list(prefix, after, limit))
    }

    fn add<'a>(&'a self, counter: &'a Key, by: u32, window: Duration) -> Reply<'a, Count> {
        self.add.of(self.store.add(counter, by, window))
    }

    fn close(&self) {
        self.store.close();
    }

    fn max_value(&self) -> usize {
        self.store.max_value()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    #[test]
    fn what_came_of_it_is_counted() {
        let registry = Registry::default();
        let store = Observed::new(
            Arc::new(Memory::new(4096).with_max_value(10)),
            "main",
            &registry,
        );
        let key = Key::new("a", "b").unwrap();
        thrum_rt::block_on(async {
            for _ in 0..2 {
                let _ = store.put(&key, "c".into(), Put::if_absent()).await;
            }
            let _ = store.put(&key, "01234567890".into(), Put::default()).await;
            store.get(&key).await.unwrap();
            store.close();
            assert!(store.get(&key).await.is_err());
        });
        let text = registry.prometheus();
        let count = |operation, result| {
            let series = format!(
                "\n{NAME}{{store=\"main\",operation=\"{operation}\",result=\"{result}\"}} 1\n"
            );
            assert!(text.contains(&series), "no {series} in {text}");
        };
        count("put", "ok");
        count("put", "conflict");
        count("put", "refused");
        count("get", "ok");
        count("get", "unavailable");
    }
}
