//! Sessions: what is remembered, and what nobody can make it remember.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tempfile::tempdir;
use thrum_http::{Body, Request, Response};
use thrum_server::session::{Keys, Session, SessionError, Sessions};
use thrum_server::store::{
    Condition, Count, Entry, Key, Memory, Page, Put, Reply, Store, StoreError, Written,
};

use super::site::{ask, serve, write};

/// A store that counts its calls, and can go away.
#[derive(Debug)]
struct Watched {
    store: Memory,
    calls: AtomicUsize,
}

impl Watched {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            store: Memory::new(1 << 20),
            calls: AtomicUsize::new(0),
        })
    }

    fn count(&self) -> &Memory {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &self.store
    }

    fn calls(&self) -> usize {
        self.calls.swap(0, Ordering::Relaxed)
    }

    async fn stored(&self) -> Vec<String> {
        let all = Key::new("session", "").unwrap();
        self.store.list(&all, None, 100).await.unwrap().names
    }
}

impl Store for Watched {
    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Entry>> {
        self.count().get(key)
    }
    fn put<'a>(&'a self, key: &'a Key, value: Bytes, put: Put) -> Reply<'a, Written> {
        self.count().put(key, value, put)
    }
    fn delete<'a>(&'a self, key: &'a Key, condition: Condition) -> Reply<'a, bool> {
        self.count().delete(key, condition)
    }
    fn list<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a str>,
        limit: usize,
    ) -> Reply<'a, Page> {
        self.count().list(prefix, after, limit)
    }
    fn add<'a>(&'a self, counter: &'a Key, by: u32, window: Duration) -> Reply<'a, Count> {
        self.count().add(counter, by, window)
    }
    fn close(&self) {
        self.store.close();
    }
    fn max_value(&self) -> usize {
        self.store.max_value()
    }
}

/// What a browser keeps.
#[derive(Clone, Default)]
struct Browser {
    cookie: Option<String>,
}

impl Browser {
    fn open(&self, sessions: &Sessions) -> Session {
        let mut request = Request::builder();
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", format!("other=1; {cookie}; more=2"));
        }
        let request = request.body(()).unwrap();
        sessions.open(request.headers(), true)
    }

    async fn close(&mut self, session: Session) -> Option<String> {
        let mut response = Response::new(());
        session.save(&mut response).await.unwrap();
        let set = response
            .headers()
            .get("set-cookie")?
            .to_str()
            .unwrap()
            .to_owned();
        let (cookie, _) = set.split_once(';').unwrap();
        self.cookie = (!set.contains("Max-Age=0")).then(|| cookie.to_owned());
        Some(set)
    }

    async fn visit(&mut self, sessions: &Sessions, name: &str) -> u64 {
        let session = self.open(sessions);
        let count = session
            .get(name)
            .await
            .unwrap()
            .and_then(|count| count.as_u64())
            .unwrap_or(0);
        session.set(name, count + 1).await.unwrap();
        self.close(session).await;
        count + 1
    }
}

#[test]
fn a_visitor_is_remembered() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let sessions = Sessions::new(store.clone());
        let (mut alice, mut bob) = (Browser::default(), Browser::default());
        let session = alice.open(&sessions);
        session.set("count", 1).await.unwrap();
        let set = alice.close(session).await.unwrap();
        assert!(set.starts_with("__Host-session="), "{set}");
        for part in [
            "; Path=/",
            "; HttpOnly",
            "; SameSite=Lax",
            "; Secure",
            "; Max-Age=432",
        ] {
            assert!(
                set.contains(part) || part.contains("432") && set.contains("Max-Age=431"),
                "{set}"
            );
        }
        assert_eq!(alice.visit(&sessions, "count").await, 2);
        assert_eq!(bob.visit(&sessions, "count").await, 1);
        assert_eq!(alice.visit(&sessions, "count").await, 3);
        // Another process, which finds the key in the store.
        let elsewhere = Sessions::new(store.clone());
        assert_eq!(alice.visit(&elsewhere, "count").await, 4);
        // Nothing in the store is what the cookie has.
        let names = store.stored().await;
        assert_eq!(names.len(), 2);
        assert!(
            !names
                .iter()
                .any(|name| alice.cookie.as_ref().unwrap().contains(name.as_str()))
        );
    });
}

#[test]
fn nobody_pays_who_has_nothing() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let sessions = Sessions::new(store.clone());
        // Not asked: nothing happens, whatever the cookie.
        let mut visitor = Browser {
            cookie: Some("__Host-session=nonsense".into()),
        };
        let session = visitor.open(&sessions);
        assert_eq!(visitor.close(session).await, None);
        assert_eq!(store.calls(), 0);
        // Asked, without a cookie: nothing is stored or set, and after the first time not even the key is asked for.
        visitor.cookie = None;
        for _ in 0..2 {
            store.calls();
            let session = visitor.open(&sessions);
            assert_eq!(session.get("x").await.unwrap(), None);
            assert_eq!(session.user().await.unwrap(), None);
            assert_eq!(visitor.close(session).await, None);
        }
        assert_eq!(store.calls(), 0);
        // A cookie that is not ours is not looked up; it is removed.
        visitor.cookie = Some(format!("__Host-session={}", "A".repeat(70)));
        let session = visitor.open(&sessions);
        assert_eq!(session.get("x").await.unwrap(), None);
        assert!(visitor.close(session).await.unwrap().contains("Max-Age=0"));
        assert_eq!(store.calls(), 0);
        assert!(store.stored().await.is_empty());
        // What was set and removed again leaves nothing.
        let session = visitor.open(&sessions);
        session.set("x", 1).await.unwrap();
        session.remove("x").await.unwrap();
        assert_eq!(visitor.close(session).await, None);
        assert!(store.stored().await.is_empty());
    });
}

#[test]
fn a_tampered_cookie_is_none() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let sessions = Sessions::new(store.clone());
        let mut alice = Browser::default();
        alice.visit(&sessions, "count").await;
        let cookie = alice.cookie.clone().unwrap();
        let begin = "__Host-session=".len();
        store.calls();
        for place in begin..cookie.len() {
            let mut forged = cookie.clone().into_bytes();
            forged[place] = if forged[place] == b'A' { b'Q' } else { b'A' };
            let forger = Browser {
                cookie: Some(String::from_utf8(forged).unwrap()),
            };
            let session = forger.open(&sessions);
            // The last letter has bits that are none of the value's: then it must be refused, or be the same.
            assert_eq!(session.get("count").await.unwrap(), None, "at {place}");
        }
        assert_eq!(store.calls(), 0, "none is looked up");
        // A session over TLS is none without it, nor under another name.
        let plain = format!("session={}", &cookie[begin..]);
        let request = Request::builder().header("cookie", plain).body(()).unwrap();
        let session = sessions.open(request.headers(), false);
        assert_eq!(session.get("count").await.unwrap(), None);
        // One that others planted before ours does not hide it.
        let both = Browser {
            cookie: Some(format!("__Host-session=planted; {cookie}")),
        };
        assert_eq!(
            both.open(&sessions).get("count").await.unwrap(),
            Some(1.into())
        );
    });
}

#[test]
fn an_id_that_was_seen_before_is_worth_nothing_after_login() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let sessions = Sessions::new(store.clone());
        // The attacker has a session, and plants its cookie at the victim's.
        let mut attacker = Browser::default();
        attacker.visit(&sessions, "cart").await;
        let mut victim = attacker.clone();
        let session = victim.open(&sessions);
        let before = session.id().await.unwrap();
        session.log_in("victim").await.unwrap();
        victim.close(session).await.unwrap();
        assert_ne!(victim.cookie, attacker.cookie);
        let session = victim.open(&sessions);
        assert_eq!(session.user().await.unwrap().as_deref(), Some("victim"));
        assert_eq!(
            session.get("cart").await.unwrap(),
            Some(1.into()),
            "what it had goes on"
        );
        assert_ne!(session.id().await.unwrap(), before);
        let session = attacker.open(&sessions);
        assert_eq!(session.user().await.unwrap(), None);
        assert_eq!(session.get("cart").await.unwrap(), None);
        assert_eq!(store.stored().await.len(), 1);
        // A well-signed id that no session has is not taken up: what begins gets another.
        let old = attacker.cookie.clone();
        attacker.visit(&sessions, "cart").await;
        assert_ne!(attacker.cookie, old);
        // Logging out ends it for all who have the cookie.
        let copy = victim.clone();
        let session = victim.open(&sessions);
        session.destroy().await.unwrap();
        assert_eq!(session.user().await.unwrap(), None);
        assert!(victim.close(session).await.unwrap().contains("Max-Age=0"));
        assert_eq!(copy.open(&sessions).user().await.unwrap(), None);
    });
}

#[test]
fn sessions_end() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let second = Duration::from_secs(1);
        let idle = Sessions::new(store.clone()).idle(second);
        let mut visitor = Browser::default();
        visitor.visit(&idle, "count").await;
        // Read only, it lasts on.
        for _ in 0..4 {
            thrum_rt::time::sleep(second / 2).await;
            let session = visitor.open(&idle);
            assert_eq!(session.get("count").await.unwrap(), Some(1.into()));
            visitor.close(session).await;
        }
        thrum_rt::time::sleep(second * 3 / 2).await;
        assert_eq!(visitor.visit(&idle, "count").await, 1);
        // But not longer than it may.
        let max = Sessions::new(store.clone()).cookie("brief").max(second * 2);
        let mut visitor = Browser::default();
        visitor.visit(&max, "count").await;
        for _ in 0..6 {
            thrum_rt::time::sleep(second / 2).await;
            let session = visitor.open(&max);
            session.set("more", 1).await.unwrap();
            visitor.close(session).await;
        }
        assert_eq!(visitor.open(&max).get("count").await.unwrap(), None);
    });
}

#[test]
fn keys_are_changed_without_a_loss() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let folder = tempdir().unwrap();
        let file = folder.path().join("keys");
        let line = |byte: char| format!("{}=\n", byte.to_string().repeat(43));
        write(&file, &format!("# keys\n{}", line('A')));
        let with =
            |store: &Arc<Watched>| Sessions::new(store.clone()).keys(Keys::read(&file).unwrap());
        let mut alice = Browser::default();
        alice.visit(&with(&store), "count").await;
        let first = alice.cookie.clone();
        write(&file, &format!("{}\n{}", line('E'), line('A')));
        assert_eq!(alice.visit(&with(&store), "count").await, 2);
        assert_ne!(alice.cookie, first, "it is signed anew");
        write(&file, &line('E'));
        assert_eq!(alice.visit(&with(&store), "count").await, 3);
        let late = Browser { cookie: first };
        assert_eq!(late.open(&with(&store)).get("count").await.unwrap(), None);
        for bad in ["", "short", "!!!\n", &line('A').repeat(9)] {
            write(&file, bad);
            assert!(Keys::read(&file).is_err(), "{bad}");
        }
        assert!(!format!("{:?}", Keys::new(&[[7; 32]]).unwrap()).contains("7, 7"));
    });
}

#[test]
fn requests_at_a_time_lose_nothing_of_each_other() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let sessions = Sessions::new(store.clone());
        let mut alice = Browser::default();
        alice.visit(&sessions, "begin").await;
        // All of them read before any of them writes.
        let open: Vec<_> = (0..8).map(|_| alice.open(&sessions)).collect();
        for (number, session) in open.iter().enumerate() {
            session.set(&format!("key-{number}"), number).await.unwrap();
            session.set("last", number).await.unwrap();
        }
        for session in open {
            alice.close(session).await;
        }
        let data = alice.open(&sessions).data().await.unwrap();
        for number in 0..8 {
            assert_eq!(data[&format!("key-{number}")], number);
        }
        assert_eq!(data["last"], 7, "the last one saved wins");
        // What another request has ended does not come back.
        let late = alice.open(&sessions);
        late.set("late", true).await.unwrap();
        let session = alice.open(&sessions);
        session.destroy().await.unwrap();
        alice.clone().close(session).await;
        assert_eq!(alice.close(late).await, None);
        assert!(store.stored().await.is_empty());
    });
}

#[test]
fn data_are_bounded() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let sessions = Sessions::new(store.clone()).max_data(1000);
        let mut alice = Browser::default();
        let session = alice.open(&sessions);
        session.set("small", "x").await.unwrap();
        let large = session.set("large", "x".repeat(1000)).await;
        assert_eq!(large, Err(SessionError::TooLarge { limit: 1000 }));
        let name = session.log_in(&"x".repeat(1000)).await;
        assert_eq!(name, Err(SessionError::TooLarge { limit: 1000 }));
        alice.close(session).await;
        let session = alice.open(&sessions);
        assert_eq!(session.data().await.unwrap().len(), 1);
        assert_eq!(session.user().await.unwrap(), None);
    });
}

#[test]
fn a_store_that_is_gone_is_no_logout() {
    thrum_rt::block_on(async {
        let store = Watched::new();
        let sessions = Sessions::new(store.clone());
        let mut alice = Browser::default();
        alice.visit(&sessions, "count").await;
        store.close();
        let session = alice.open(&sessions);
        let error = session.get("count").await.unwrap_err();
        assert!(matches!(
            error,
            SessionError::Store(StoreError::Unavailable(_))
        ));
        assert!(session.save(&mut Response::new(())).await.is_err());
        // Who does not ask does not notice.
        let mut response = Response::new(());
        alice.open(&sessions).save(&mut response).await.unwrap();
        assert!(response.headers().is_empty());
        // Around a service: 503, and the cookie stays.
        use tower_layer::Layer;
        use tower_service::Service;
        let service = thrum_http::service_fn(async |request: Request<Body>| {
            let session = request.extensions().get::<Session>().unwrap();
            let _ = session.set("count", 1).await;
            Response::new("done")
        });
        let request = Request::builder().header("cookie", alice.cookie.unwrap());
        let request = request.body(Body::empty()).unwrap();
        let response = sessions.layer().layer(service).call(request).await.unwrap();
        assert_eq!(response.status(), 503);
        assert!(!response.headers().contains_key("set-cookie"));
    });
}

/// A program behind the server logs a visitor in, keeps a value and logs out; no client can do so.
#[test]
fn programs_have_sessions_too() {
    let folder = tempdir().unwrap();
    let program = folder.path().join("app");
    write(
        &program,
        "#!/bin/sh\n\
         case $PATH_INFO in\n\
         /login) printf 'X-Session-User: alice\\nX-Session-Data: {\"colour\":\"r\\\\u00f6t\"}\\n' ;;\n\
         /logout) printf 'X-Session-End: 1\\n' ;;\n\
         esac\n\
         printf 'Content-Type: text/plain\\n\\nuser=%s id=%s data=%s' \"$HTTP_X_SESSION_USER\" \"$HTTP_X_SESSION_ID\" \"$HTTP_X_SESSION_DATA\"\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    thrum_rt::block_on(async {
        let root = folder.path().display();
        let text =
            format!("store memory\n:8080 {{\n sessions {{ forward on }}\n / => {root}\n}}\n");
        let site = serve(&text).unwrap();
        let forged = [
            ("x-session-user", "root"),
            ("x_session_user", "root"),
            ("x-session-id", "1"),
        ];
        let anonymous = ask(&site, "GET", "/app/", &forged, "").await;
        assert_eq!(anonymous.text(), "user= id= data=");
        assert!(!anonymous.headers.contains_key("set-cookie"));
        let login = ask(&site, "GET", "/app/login", &[], "").await;
        assert_eq!(login.text(), "user= id= data=");
        assert!(
            !login.headers.contains_key("x-session-user")
                && !login.headers.contains_key("x-session-data")
        );
        let cookie = login
            .field("set-cookie")
            .split(';')
            .next()
            .unwrap()
            .to_owned();
        assert!(cookie.starts_with("session="), "{cookie}");
        assert_eq!(login.field("cache-control"), "no-store");
        let cookie = [("cookie", cookie.as_str())];
        let known = ask(&site, "GET", "/app/", &cookie, "").await;
        assert!(
            known.text().starts_with("user=alice id="),
            "{}",
            known.text()
        );
        assert!(
            known.text().ends_with("data={\"colour\":\"r\\u00f6t\"}"),
            "{}",
            known.text()
        );
        let forged = [cookie[0], ("x-session-user", "root")];
        let still = ask(&site, "GET", "/app/", &forged, "").await;
        assert!(still.text().starts_with("user=alice "), "{}", still.text());
        let logout = ask(&site, "GET", "/app/logout", &cookie, "").await;
        assert!(logout.field("set-cookie").contains("Max-Age=0"));
        let gone = ask(&site, "GET", "/app/", &cookie, "").await;
        assert!(gone.text().starts_with("user= id= "), "{}", gone.text());
    });
}
