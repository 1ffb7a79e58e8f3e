//! All that can be written in a configuration, and what is made of it: the one list of verbs and layers.

use super::build::SITE_SETTINGS;
use super::{HandlerKind, Layer};
use crate::admin::ADMIN;
use crate::config::{Setting, Tables, Verb};
use crate::error_log::ERROR_LOG;
use crate::metrics::verbs as numbers;
use crate::verbs::{redirect, respond, rewrite};
use crate::{acme, cache, cgi, error_pages, fastcgi, files, forwarded, guard, kv, observe};
use crate::{process, proxy, session, store};

/// What may stand where.
pub static TABLES: Tables = Tables {
    global: GLOBAL,
    site: SITE,
    route: ROUTE,
    verbs: VERBS,
};

static GLOBAL: &[&[Setting]] = &[
    process::GLOBAL,
    store::config::SETTINGS,
    acme::SETTINGS,
    forwarded::SETTINGS,
    &[observe::LOG, ERROR_LOG, ADMIN],
];
static SITE: &[&[Setting]] = &[SITE_SETTINGS, process::SITE];

/// Makes the tables of what is written and of what is built from one list.
macro_rules! registered {
    (handlers: $($kind:path),+; layers: $($layer:path),+;) => {
        pub(super) static HANDLERS: &[&HandlerKind] = &[$(&$kind),+];
        static VERBS: &[&Verb] = &[$($kind.verb),+];
        pub(super) static LAYERS: &[&Layer] = &[$(&$layer),+];
        static ROUTE: &[&[Setting]] = &[$($layer.settings),+];
    };
}

// Verbs in the order of the reference page; layers with the outermost first.
registered! {
    handlers: files::KIND, cgi::KIND, fastcgi::KIND, proxy::KIND, redirect::KIND, respond::KIND, rewrite::KIND,
        kv::KIND, numbers::METRICS_KIND, numbers::HEALTH_KIND, numbers::READY_KIND;
    layers: observe::LAYER,
        error_pages::LAYER,
        guard::headers::LAYER,
        guard::security::LAYER,
        guard::cors::LAYER,
        guard::addresses::LAYER,
        guard::rate::LAYER,
        guard::body_limit::LAYER,
        guard::basic::LAYER,
        guard::jwt::LAYER,
        guard::concurrency::LAYER,
        cache::LAYER,
        // Within the cache: what it keeps has no visitor, and what has one says so.
        session::config::LAYER;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that stands twice in one block would be read by the wrong one.
    #[test]
    fn no_name_stands_twice() {
        let once = |tables: &[&[Setting]], of: &str| {
            let mut names: Vec<_> = tables.iter().copied().flatten().map(|s| s.name).collect();
            names.sort_unstable();
            for pair in names.windows(2) {
                assert_ne!(pair[0], pair[1], "twice in {of}");
            }
        };
        once(GLOBAL, "the global settings");
        once(&[SITE, ROUTE].concat(), "a site");
        for verb in VERBS {
            let mut tables = ROUTE.to_vec();
            tables.push(verb.settings);
            once(&tables, verb.word);
        }
    }

    /// What messages and the reference page show is to be copied.
    #[test]
    fn examples_begin_with_what_they_are_of() {
        fn check(settings: &[Setting]) {
            for setting in settings {
                let (name, example) = (setting.name, setting.example);
                let values = example.strip_prefix(name).unwrap_or_default();
                assert!(values.starts_with(' '), "{name}: {example}");
                check(setting.block);
            }
        }
        for settings in [GLOBAL, SITE, ROUTE].concat() {
            check(settings);
        }
        for verb in VERBS {
            let of_verb = verb.example.split(' ').nth(1);
            assert_eq!(of_verb, Some(verb.word), "{}", verb.example);
            check(verb.settings);
        }
    }
}
