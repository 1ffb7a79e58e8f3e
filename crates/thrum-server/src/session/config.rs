//! The setting `sessions`.

use std::sync::Arc;

use super::layer::WithSessions;
use super::{Keys, Sessions, cookie};
use crate::config::{Arity, Kind, Problem, Setting, Settings};
use crate::site::{Building, Handler, Layer};
use crate::store::config::store;

/// What may be written in a route or site.
pub const SETTINGS: &[Setting] = &[Setting {
    arity: Arity::Exact,
    block: BLOCK,
    ..Setting::new(
        "sessions",
        &[],
        "Remembers visitors: a signed cookie, and data in the store. Requests of visitors without data cost nothing.",
        "sessions { forward on }",
    )
}];

const BLOCK: &[Setting] = &[
    Setting {
        default: "session",
        ..Setting::new(
            "cookie",
            &[Kind::Text("NAME")],
            "The cookie's name; over TLS __Host- goes before it.",
            "cookie shop",
        )
    },
    Setting {
        default: "30m",
        ..Setting::new(
            "idle",
            &[Kind::Duration],
            "How long a session lasts without being used.",
            "idle 2h",
        )
    },
    Setting {
        default: "12h",
        ..Setting::new(
            "max",
            &[Kind::Duration],
            "How long it lasts at most.",
            "max 30d",
        )
    },
    Setting {
        default: "64KiB",
        ..Setting::new(
            "max-data",
            &[Kind::Size],
            "The most data of a session.",
            "max-data 16KiB",
        )
    },
    Setting::new(
        "key-file",
        &[Kind::File],
        "The keys that sign cookies, one in a line, base64 of 32 bytes or more; the first signs. Without it, a key is made \
         once and kept in the store.",
        "key-file /etc/thrum/session-keys",
    ),
    Setting::new(
        "store",
        &[Kind::Text("NAME")],
        "Which store, where there are several.",
        "store sessions",
    ),
    Setting {
        default: "off",
        ..Setting::new(
            "forward",
            &[Kind::Switch],
            "For CGI and proxy: tells the program X-Session-Id, X-Session-User and X-Session-Data, and does what it answers: \
             X-Session-User: NAME logs in, X-Session-Data sets values, X-Session-End ends the session.",
            "forward on",
        )
    },
];

/// The layer.
pub const LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

fn build(
    settings: &Settings,
    inner: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    let Some(entry) = settings.written("sessions") else {
        return inner;
    };
    let Some(block) = entry.block() else {
        return inner;
    };
    match sessions(block, building) {
        Some(sessions) => Arc::new(WithSessions {
            sessions,
            forward: block.is_on("forward"),
            inner,
        }),
        None => inner,
    }
}

fn sessions(block: &Settings, building: &mut Building<'_>) -> Option<Sessions> {
    let store = store(block.text("store"), block.span(), building)?;
    let name = block.text("cookie")?;
    if !cookie::is_name(name) {
        let span = block
            .written("cookie")
            .map_or(block.span(), |entry| entry.span());
        let message = format!("{name} is no name of a cookie");
        building.problem(Problem::new(span, message).help("letters, digits, '-', '_', '.'"));
        return None;
    }
    let max_data = usize::try_from(block.size("max-data")).unwrap_or(usize::MAX);
    let mut sessions = Sessions::new(store)
        .cookie(name)
        .idle(block.duration("idle"))
        .max(block.duration("max"))
        .max_data(max_data);
    if let Some(file) = block.path("key-file") {
        let span = block
            .written("key-file")
            .map_or(block.span(), |entry| entry.span());
        sessions = sessions.keys(building.problems.check(span, Keys::read(file))?);
    }
    Some(sessions)
}
