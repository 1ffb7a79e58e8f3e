//! `auth-basic`: names and passwords (RFC 7617).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, InvalidHeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use thrum_http::Body;

use super::passwords::{self, Users};
use super::remembered::{Print, Remembered};
use super::watched::{Unreadable, Watched};
use super::{Guard, busy, refused};
use crate::config::{Arity, Entry, Kind, Problem, Setting, Settings};
use crate::places::Places;
use crate::site::{Answer, Building, Handler, Layer, Visit, reply};

/// `auth-basic`.
pub(crate) static SETTINGS: &[Setting] = &[Setting {
    arity: Arity::OptionalLast,
    block: BLOCK,
    ..Setting::new(
        "auth-basic",
        &[Kind::Text("REALM"), Kind::Path],
        "Asks for a name and a password of a file, which `thrum passwd` makes: lines of NAME:HASH, with Argon2, bcrypt or \
         SHA-512 crypt. The file is read again when it changes. `auth-basic off` in a route undoes its site's.",
        "auth-basic \"the wiki\" users.txt",
    )
}];

static BLOCK: &[Setting] = &[
    Setting {
        default: "5m",
        ..Setting::new(
            "remember",
            &[Kind::DurationOrOff],
            "How long a name and password that were right need not be hashed again.",
            "remember 1h",
        )
    },
    Setting {
        default: "10000",
        ..Setting::new(
            "remembered",
            &[Kind::Count(1, 1_000_000)],
            "How many of them there may be.",
            "remembered 100000",
        )
    },
    Setting {
        default: "2",
        ..Setting::new(
            "hashes",
            &[Kind::Count(1, 1024)],
            "How many passwords are hashed at the same time; each takes some 10 ms and, with Argon2, 19 MiB.",
            "hashes 8",
        )
    },
    Setting {
        default: "100",
        ..Setting::new(
            "queue",
            &[Kind::Count(0, 1_000_000)],
            "How many more may wait for that; those beyond are answered with 503.",
            "queue 1000",
        )
    },
    Setting {
        default: "10s",
        ..Setting::new(
            "wait",
            &[Kind::Duration],
            "How long one may wait for it.",
            "wait 5s",
        )
    },
];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// A file of users, with what is known of those who were here.
pub struct UserFile {
    users: Watched<Users>,
    remembered: Option<Remembered>,
    hashing: Places,
}

/// How a [`UserFile`] is dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserLimits {
    /// How long verified credentials need not be hashed again. Zero: they always are. Default: 5 minutes.
    pub remember: Duration,
    /// How many of them there may be. Default: 10,000.
    pub remembered: usize,
    /// How many passwords are hashed at the same time. Default: 2.
    pub hashes: usize,
    /// How many more may wait for it. Default: 100.
    pub queue: usize,
    /// How long one may wait. Default: 10 seconds.
    pub wait: Duration,
}

impl Default for UserLimits {
    fn default() -> Self {
        Self {
            remember: Duration::from_secs(300),
            remembered: 10_000,
            hashes: 2,
            queue: 100,
            wait: Duration::from_secs(10),
        }
    }
}

impl UserFile {
    /// Reads a file. Later it is read again when it changes.
    ///
    /// # Errors
    /// When it cannot be read or has a line that is none.
    pub fn open(path: &Path, limits: UserLimits) -> Result<Self, Unreadable> {
        Ok(Self {
            users: Watched::open(path, passwords::parse)?,
            remembered: Remembered::new(limits.remember, limits.remembered)
                .filter(|_| !limits.remember.is_zero()),
            hashing: Places::new(limits.hashes, limits.queue, limits.wait),
        })
    }
}

/// Asks for a name and a password; they go over the wire as they are, so use it with TLS.
///
/// Passwords are hashed on purpose slowly, and by a bounded number at a time. Whoever was right is remembered for a while. A
/// name that is not known takes as long as one that is.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
/// use thrum_server::guard::{BasicAuth, UserFile, UserLimits};
///
/// let users = UserFile::open(Path::new("users.txt"), UserLimits::default()).unwrap();
/// let auth = BasicAuth::new("the wiki", Arc::new(users)).unwrap();
/// # let _ = auth;
/// ```
#[derive(Clone)]
pub struct BasicAuth {
    challenge: HeaderValue,
    users: Arc<UserFile>,
}

impl BasicAuth {
    /// Asks for users of a file, for a realm that browsers may show.
    ///
    /// # Errors
    /// If the realm has control characters.
    pub fn new(realm: &str, users: Arc<UserFile>) -> Result<Self, InvalidHeaderValue> {
        let realm = realm.replace('\\', "\\\\").replace('"', "\\\"");
        let challenge = format!("Basic realm=\"{realm}\", charset=\"UTF-8\"");
        Ok(Self {
            challenge: HeaderValue::try_from(challenge)?,
            users,
        })
    }

    /// Guards a handler. It sees the name in [`Visit::user`].
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Guarded {
            auth: self,
            handler,
        })
    }

    fn ask(&self, visit: &Visit) -> Response<Body> {
        refused(Guard::Basic, visit);
        let mut response = reply::status(StatusCode::UNAUTHORIZED);
        let fields = response.headers_mut();
        fields.insert(WWW_AUTHENTICATE, self.challenge.clone());
        response
    }
}

struct Guarded {
    auth: BasicAuth,
    handler: Arc<dyn Handler>,
}

impl Handler for Guarded {
    fn handle(&self, request: Request<Body>, mut visit: Visit) -> Answer {
        let Some((name, password)) = credentials(request.headers()) else {
            return self.auth.ask(&visit).into();
        };
        let file = &self.auth.users;
        let (users, version) = file.users.current();
        let print = |remembered: &Remembered| remembered.print(version, &name, &password);
        let print: Option<Print> = file.remembered.as_ref().map(print);
        if let (Some(remembered), Some(print)) = (&file.remembered, &print)
            && remembered.knows(print)
        {
            visit.authenticated(name.into());
            return self.handler.handle(request, visit);
        }
        let (auth, handler) = (self.auth.clone(), self.handler.clone());
        Answer::later(async move {
            let file = &auth.users;
            let Some(place) = file.hashing.take().await else {
                let path = file.users.path().display();
                tracing::warn!(%path, "too many passwords to hash: a request was refused");
                return busy();
            };
            let is_right = thrum_rt::blocking(|| users.verify(&name, &password));
            drop(place);
            if !is_right {
                return auth.ask(&visit);
            }
            if let (Some(remembered), Some(print)) = (&file.remembered, print) {
                remembered.add(print);
            }
            visit.authenticated(name.into());
            let answer = handler.handle(request, visit.clone());
            visit.settle(answer).await
        })
    }
}

/// The name and password in the one field there may be.
fn credentials(fields: &HeaderMap) -> Option<(String, String)> {
    let encoded = STANDARD
        .decode(bearer_of(fields, "basic")?.trim_ascii())
        .ok()?;
    let text = String::from_utf8(encoded).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

/// What follows the scheme's name in the one `authorization` that there may be.
pub(super) fn bearer_of<'a>(fields: &'a HeaderMap, scheme: &str) -> Option<&'a str> {
    let mut all = fields.get_all(AUTHORIZATION).iter();
    let (Some(field), None) = (all.next(), all.next()) else {
        return None;
    };
    let (name, credentials) = field.to_str().ok()?.split_once(' ')?;
    let is_scheme = name.eq_ignore_ascii_case(scheme);
    is_scheme.then(|| credentials.trim_start_matches(' '))
}

fn build(
    settings: &Settings,
    handler: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    let Some(entry) = settings.written("auth-basic") else {
        return handler;
    };
    match auth(entry, building) {
        Some(auth) => auth.around(handler),
        None => handler,
    }
}

fn auth(entry: &Entry, building: &mut Building<'_>) -> Option<BasicAuth> {
    let (realm, file) = match entry.values() {
        [realm, file] => (realm, file),
        [off] if off.text() == "off" => return None,
        _ => {
            let problem = Problem::new(entry.span(), "the file of users is missing");
            building.problem(problem.help("write it so: auth-basic \"the wiki\" users.txt"));
            return None;
        }
    };
    let block = entry.block()?;
    let limits = UserLimits {
        remember: block.duration_or_off("remember").unwrap_or_default(),
        remembered: block.count("remembered") as usize,
        hashes: block.count("hashes") as usize,
        queue: block.count("queue") as usize,
        wait: block.duration("wait"),
    };
    let path = file.path();
    let opened = UserFile::open(&path, limits);
    let opened = building.problems.check(file.span(), opened)?;
    let name = format!("auth-basic {} {limits:?}", path.display());
    let users = building.kept.get(&name, || opened);
    building
        .problems
        .check(realm.span(), BasicAuth::new(realm.text(), users))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from, get, hello, now, text};
    use super::*;

    fn guarded(folder: &Path, limits: UserLimits) -> Arc<dyn Handler> {
        let path = folder.join("users");
        let hash = bcrypt::hash("rab:bit", 4).unwrap();
        std::fs::write(&path, format!("alice:{hash}\n")).unwrap();
        let users = UserFile::open(&path, limits).unwrap();
        let auth = BasicAuth::new("a \"realm\"", Arc::new(users)).unwrap();
        auth.around(hello())
    }

    fn basic(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[test]
    fn who_is_right_is_let_in_and_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let guarded = guarded(folder.path(), UserLimits::default());
        thrum_rt::block_on(async {
            let right = basic("alice:rab:bit");
            let ask = || guarded.handle(get(&[("authorization", &right)]), from("::1"));
            let first = ask();
            assert!(matches!(first, Answer::Later(_)), "a hash is computed");
            assert_eq!(text(first.response().await).await, "alice");
            assert_eq!(text(now(ask())).await, "alice");
        });
    }

    #[test]
    fn who_is_wrong_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let guarded = guarded(folder.path(), UserLimits::default());
        let ask = |fields: &[(&str, &str)]| {
            thrum_rt::block_on(guarded.handle(get(fields), from("::1")).response())
        };
        let refused = ask(&[]);
        assert_eq!(refused.status(), 401);
        assert_eq!(
            refused.headers()["www-authenticate"],
            "Basic realm=\"a \\\"realm\\\"\", charset=\"UTF-8\""
        );
        for wrong in [
            "alice:rabbit",
            "alice:",
            "Alice:rab:bit",
            "nobody:rab:bit",
            "alice",
            ":",
            "",
        ] {
            for _ in 0..2 {
                assert_eq!(
                    ask(&[("authorization", &basic(wrong))]).status(),
                    401,
                    "{wrong}"
                );
            }
        }
        let right = basic("alice:rab:bit");
        let twice = [
            ("authorization", right.as_str()),
            ("authorization", right.as_str()),
        ];
        assert_eq!(ask(&twice).status(), 401);
        assert_eq!(ask(&twice[..1]).status(), 200);
    }

    #[test]
    fn hashing_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let limits = UserLimits {
            hashes: 1,
            queue: 0,
            ..UserLimits::default()
        };
        let path = folder.path().join("users");
        std::fs::write(&path, format!("alice:{}\n", bcrypt::hash("x", 4).unwrap())).unwrap();
        let users = Arc::new(UserFile::open(&path, limits).unwrap());
        let guarded = BasicAuth::new("r", users.clone()).unwrap().around(hello());
        thrum_rt::block_on(async {
            let place = users.hashing.take().await;
            let ask = || guarded.handle(get(&[("authorization", &basic("alice:x"))]), from("::1"));
            assert_eq!(ask().response().await.status(), 503);
            drop(place);
            assert_eq!(ask().response().await.status(), 200);
        });
    }

    #[test]
    fn a_changed_file_counts_and_forgets() {
        let folder = tempfile::tempdir().unwrap();
        let guarded = guarded(folder.path(), UserLimits::default());
        let ask = |text: &str| {
            let request = get(&[("authorization", &basic(text))]);
            thrum_rt::block_on(guarded.handle(request, from("::1")).response()).status()
        };
        assert_eq!(ask("alice:rab:bit"), 200);
        let hash = bcrypt::hash("carrot", 4).unwrap();
        std::fs::write(folder.path().join("users"), format!("alice:{hash}\n")).unwrap();
        let begin = std::time::Instant::now();
        while ask("alice:rab:bit") != 401 {
            assert!(
                begin.elapsed() < Duration::from_secs(30),
                "the old password still holds"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(ask("alice:carrot"), 200);
    }
}
