//! The verb `kv`.

use std::sync::Arc;

use super::{Kv, Write};
use crate::config::{Arity, Kind, Problem, RouteConfig, Setting, Verb};
use crate::site::{Building, Handler, HandlerKind};
use crate::store::config::store;

/// The verb.
pub const VERB: Verb = Verb {
    word: "kv",
    name: "kv",
    values: &[Kind::Text("NAMESPACE")],
    arity: Arity::Exact,
    settings: &[
        Setting::new(
            "store",
            &[Kind::Text("NAME")],
            "Which store, where there are several.",
            "store content",
        ),
        Setting {
            default: "off",
            ..Setting::new(
                "write",
                &[Kind::Choice(&["off", "on", "anyone"])],
                "Who may PUT and DELETE: nobody; with on, whom a guard of the route has authenticated; anyone.",
                "write on",
            )
        },
        Setting {
            default: "off",
            ..Setting::new(
                "listing",
                &[Kind::Switch],
                "Whether paths that end in / are answered with the names that begin with them, as HTML or JSON.",
                "listing on",
            )
        },
        Setting {
            default: "1MiB",
            ..Setting::new(
                "max-content",
                &[Kind::Size],
                "The largest content that may be put; a larger one gets 413.",
                "max-content 16MiB",
            )
        },
    ],
    help: "Serves content from the store, by the rest of the path. PUT and DELETE write it, with If-Match and If-None-Match; \
           Cache-Control: max-age of a PUT says how long it is kept.",
    example: "/notes/ kv notes { write on }",
};

/// The handler.
pub const KIND: HandlerKind = HandlerKind { verb: &VERB, build };

fn build(route: &RouteConfig, building: &mut Building<'_>) -> Option<Arc<dyn Handler>> {
    let settings = &route.settings;
    let store = store(settings.text("store"), route.span, building)?;
    let largest = store.max_value();
    let max_body = usize::try_from(settings.size("max-content")).unwrap_or(usize::MAX);
    // The content's type is part of the value.
    if max_body > largest.saturating_sub(256) {
        let message = format!("the store takes values of at most {largest} bytes");
        let span = settings
            .written("max-content")
            .map_or(route.span, |entry| entry.span());
        let help = "give the store a larger max-value";
        building.problem(Problem::new(span, message).help(help));
        return None;
    }
    let namespace = route.values.first()?;
    let kv = building
        .problems
        .check(namespace.span(), Kv::new(store, namespace.text()))?;
    let write = match settings.text("write") {
        Some("on") => Write::Users,
        Some("anyone") => Write::Anyone,
        _ => Write::Nobody,
    };
    let kv = kv
        .write(write)
        .listing(settings.is_on("listing"))
        .max_body(max_body);
    Some(Arc::new(kv))
}
