//! What every store promises.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use thrum_server::store::{Condition, Key, MAX_KEY, Put, Store, StoreError, Version, Written};

pub(crate) fn key(name: &str) -> Key {
    Key::new("test", name).unwrap()
}

/// Asks everything of a store that is empty.
pub(crate) fn check(store: impl Store) {
    let shared: Arc<dyn Store> = Arc::new(store);
    thrum_rt::block_on(async {
        let store = &*shared;
        values(store).await;
        conditions(store).await;
        deletes(store).await;
        expiry(store).await;
        listings(store).await;
        counters(store).await;
        sizes(store).await;
        races(&shared).await;
        store.close();
        let closed = store.get(&key("a")).await;
        assert!(
            matches!(closed, Err(StoreError::Unavailable(_))),
            "{closed:?}"
        );
    });
}

async fn put(
    store: &dyn Store,
    name: &str,
    value: &'static str,
    put: Put,
) -> Result<Written, StoreError> {
    store
        .put(&key(name), Bytes::from_static(value.as_bytes()), put)
        .await
}

async fn text(store: &dyn Store, name: &str) -> Option<String> {
    let entry = store.get(&key(name)).await.unwrap()?;
    Some(String::from_utf8(entry.value.to_vec()).unwrap())
}

async fn values(store: &dyn Store) {
    assert_eq!(store.get(&key("a")).await, Ok(None));
    let before = SystemTime::now() - Duration::from_secs(1);
    let first = put(store, "a", "one", Put::default()).await.unwrap();
    assert!(first.created);
    let entry = store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!(&entry.value[..], b"one");
    assert_eq!(
        (entry.version, entry.modified),
        (first.version, first.modified)
    );
    assert!(entry.modified >= before && entry.expires.is_none());
    let second = put(store, "a", "two", Put::default()).await.unwrap();
    assert!(!second.created);
    assert_ne!(first.version, second.version);
    assert_eq!(text(store, "a").await.as_deref(), Some("two"));
    // Another namespace is another world.
    let elsewhere = Key::new("test2", "a").unwrap();
    assert_eq!(store.get(&elsewhere).await, Ok(None));
    // Any bytes are a value, none of them too; any text is a name.
    for (name, value) in [
        ("empty", vec![]),
        ("bytes", (0..=255).collect()),
        ("{x}: \u{e9}*?[", vec![0]),
    ] {
        store
            .put(&key(name), value.clone().into(), Put::default())
            .await
            .unwrap();
        let entry = store.get(&key(name)).await.unwrap().unwrap();
        assert_eq!(entry.value, value, "{name}");
    }
}

async fn conditions(store: &dyn Store) {
    let nothing = put(
        store,
        "c",
        "x",
        Put {
            condition: Condition::Present,
            ..Put::default()
        },
    )
    .await;
    assert_eq!(nothing, Err(StoreError::Conflict));
    let first = put(store, "c", "one", Put::if_absent()).await.unwrap();
    assert!(first.created);
    assert_eq!(
        put(store, "c", "x", Put::if_absent()).await,
        Err(StoreError::Conflict)
    );
    let second = put(store, "c", "two", Put::in_place_of(first.version))
        .await
        .unwrap();
    assert!(!second.created);
    let stale = put(store, "c", "x", Put::in_place_of(first.version)).await;
    assert_eq!(stale, Err(StoreError::Conflict));
    let present = Put {
        condition: Condition::Present,
        ..Put::default()
    };
    put(store, "c", "three", present).await.unwrap();
    assert_eq!(text(store, "c").await.as_deref(), Some("three"));
    let absent = put(store, "c-none", "x", Put::in_place_of(second.version)).await;
    assert_eq!(absent, Err(StoreError::Conflict));
}

async fn deletes(store: &dyn Store) {
    assert_eq!(store.delete(&key("d"), Condition::Any).await, Ok(false));
    let first = put(store, "d", "one", Put::default()).await.unwrap();
    let second = put(store, "d", "two", Put::default()).await.unwrap();
    let stale = store.delete(&key("d"), Condition::Is(first.version)).await;
    assert_eq!(stale, Err(StoreError::Conflict));
    let absent = store.delete(&key("d"), Condition::Absent).await;
    assert_eq!(absent, Err(StoreError::Conflict));
    let done = store.delete(&key("d"), Condition::Is(second.version)).await;
    assert_eq!(done, Ok(true));
    assert_eq!(text(store, "d").await, None);
    let gone = store.delete(&key("d"), Condition::Present).await;
    assert_eq!(gone, Err(StoreError::Conflict));
    // What comes after a deletion is none of what came before it.
    let third = put(store, "d", "one", Put::if_absent()).await.unwrap();
    assert_ne!(third.version, first.version);
}

async fn expiry(store: &dyn Store) {
    let brief = Duration::from_millis(300);
    put(
        store,
        "e-long",
        "x",
        Put::default().expires(Duration::from_secs(3600)),
    )
    .await
    .unwrap();
    put(store, "e-brief", "x", Put::default().expires(brief))
        .await
        .unwrap();
    put(store, "e-kept", "x", Put::default().expires(brief))
        .await
        .unwrap();
    put(store, "e-kept", "y", Put::default()).await.unwrap();
    let entry = store.get(&key("e-long")).await.unwrap().unwrap();
    let left = entry
        .expires
        .unwrap()
        .duration_since(SystemTime::now())
        .unwrap();
    assert!(
        left > Duration::from_secs(3500) && left <= Duration::from_secs(3600),
        "{left:?}"
    );
    thrum_rt::time::sleep(brief + Duration::from_millis(100)).await;
    assert_eq!(text(store, "e-brief").await, None);
    assert_eq!(text(store, "e-kept").await.as_deref(), Some("y"));
    assert_eq!(
        names(store, "e-", 10).await,
        BTreeSet::from(["e-kept".into(), "e-long".into()])
    );
    // It is absent for writers too.
    assert!(
        put(store, "e-brief", "z", Put::if_absent())
            .await
            .unwrap()
            .created
    );
    assert_eq!(
        store.delete(&key("e-brief"), Condition::Any).await,
        Ok(true)
    );
}

/// All pages.
async fn names(store: &dyn Store, prefix: &str, limit: usize) -> BTreeSet<String> {
    let (mut all, mut after) = (BTreeSet::new(), None::<String>);
    for _ in 0..1000 {
        let page = store
            .list(&key(prefix), after.as_deref(), limit)
            .await
            .unwrap();
        all.extend(page.names);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
    panic!("a listing without an end");
}

async fn listings(store: &dyn Store) {
    let mut expected = BTreeSet::new();
    for number in 0..57 {
        let name = format!("l*/{number:03}");
        store
            .put(&key(&name), Bytes::new(), Put::default())
            .await
            .unwrap();
        expected.insert(name);
    }
    for other in ["l", "l*", "lx/000", "m"] {
        put(store, other, "", Put::default()).await.unwrap();
    }
    let elsewhere = Key::new("test2", "l*/other").unwrap();
    store
        .put(&elsewhere, Bytes::new(), Put::default())
        .await
        .unwrap();
    for limit in [1, 10, 57, 1000, usize::MAX] {
        assert_eq!(
            names(store, "l*/", limit).await,
            expected,
            "in pages of {limit}"
        );
    }
    assert_eq!(names(store, "none", 10).await, BTreeSet::new());
    assert!(names(store, "", 10).await.len() > 60);
    let bad = store.list(&key(""), Some("\0"), 10).await;
    assert_eq!(bad, Err(StoreError::BadCursor));
}

async fn counters(store: &dyn Store) {
    let (first, second) = (key("n1"), key("n2"));
    let window = Duration::from_millis(500);
    assert_eq!(store.add(&first, 1, window).await.unwrap().total, 1);
    let count = store.add(&first, 4, Duration::from_secs(60)).await.unwrap();
    assert_eq!(count.total, 5);
    assert!(
        count.ends_in <= window,
        "the first addition says when: {count:?}"
    );
    let long = store
        .add(&second, 1, Duration::from_secs(60))
        .await
        .unwrap();
    assert!(long.ends_in > Duration::from_secs(50), "{long:?}");
    assert_eq!(store.get(&first).await, Ok(None), "counters are no values");
    thrum_rt::time::sleep(window + Duration::from_millis(100)).await;
    assert_eq!(store.add(&first, 1, window).await.unwrap().total, 1);
    assert_eq!(store.add(&second, 1, window).await.unwrap().total, 2);
}

async fn sizes(store: &dyn Store) {
    let max = store.max_value();
    let name = key(&"k".repeat(MAX_KEY));
    let large: Bytes = vec![7; max].into();
    store
        .put(&name, large.clone(), Put::default())
        .await
        .unwrap();
    assert!(store.get(&name).await.unwrap().unwrap().value == large);
    let larger: Bytes = vec![7; max + 1].into();
    let refused = store.put(&name, larger, Put::default()).await;
    assert_eq!(
        refused,
        Err(StoreError::TooLarge {
            size: max + 1,
            limit: max
        })
    );
    assert_eq!(store.delete(&name, Condition::Any).await, Ok(true));
}

/// Many who read, change and write back lose nothing; of many who want to be first, one is.
async fn races(store: &Arc<dyn Store>) {
    const TASKS: u32 = 8;
    const ROUNDS: u32 = 10;
    let minutes = Duration::from_secs(600);
    let zero = Bytes::from_static(&[0; 4]);
    store.put(&key("r"), zero, Put::default()).await.unwrap();
    let tasks = (0..TASKS).map(|task| {
        let store = store.clone();
        thrum_rt::spawn(async move {
            for _ in 0..ROUNDS {
                while !try_increment(&*store, &key("r")).await {}
                store.add(&key("race"), 1, minutes).await.unwrap();
            }
            let name = Bytes::from(task.to_string());
            match store.put(&key("first"), name, Put::if_absent()).await {
                Ok(_) => 1,
                Err(StoreError::Conflict) => 0,
                Err(error) => panic!("{error}"),
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let mut firsts = 0;
    for task in tasks {
        firsts += task.await.unwrap();
    }
    assert_eq!(firsts, 1);
    let sum = store.get(&key("r")).await.unwrap().unwrap().value;
    let sum = u32::from_be_bytes(sum[..].try_into().unwrap());
    assert_eq!(sum, TASKS * ROUNDS);
    let count = store.add(&key("race"), 0, minutes).await.unwrap();
    assert_eq!(count.total, u64::from(TASKS * ROUNDS));
}

async fn try_increment(store: &dyn Store, key: &Key) -> bool {
    let entry = store.get(key).await.unwrap().unwrap();
    let next = u32::from_be_bytes(entry.value[..].try_into().unwrap()) + 1;
    let value = next.to_be_bytes().to_vec();
    let written = store
        .put(key, value.into(), Put::in_place_of(entry.version))
        .await;
    match written {
        Ok(_) => true,
        Err(StoreError::Conflict) => false,
        Err(error) => panic!("{error}"),
    }
}

/// A store of at most `max` bytes says when it is full, and takes more once something is deleted, or has expired.
pub(crate) fn check_full(store: &dyn Store, max: usize) {
    thrum_rt::block_on(async {
        let piece = Bytes::from(vec![1; max / 8]);
        let mut written: Vec<(String, Version)> = vec![];
        let refused = loop {
            let name = format!("full-{}", written.len());
            assert!(written.len() < 9, "there is a limit");
            match store.put(&key(&name), piece.clone(), Put::default()).await {
                Ok(done) => written.push((name, done.version)),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, StoreError::Full(_)), "{refused}");
        // What is there is still there, and may become smaller.
        for (name, version) in &written {
            let entry = store.get(&key(name)).await.unwrap().unwrap();
            assert_eq!(entry.version, *version);
        }
        let (name, _) = &written[0];
        store
            .put(&key(name), Bytes::new(), Put::default())
            .await
            .unwrap();
        let brief = Put::default().expires(Duration::from_millis(100));
        store
            .put(&key("full-again"), piece.clone(), brief)
            .await
            .unwrap();
    });
}
