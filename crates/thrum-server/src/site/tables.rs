//! All that can be written in a configuration, and what is made of it: the one list of verbs and layers.

use super::build::SITE_SETTINGS;
use super::{HandlerKind, Layer};
use crate::config::{Setting, Tables, Verb};
use crate::verbs::{redirect, respond, rewrite};

/// What routes can do, in the order of the reference page.
pub(super) static HANDLERS: &[&HandlerKind] = &[&redirect::KIND, &respond::KIND, &rewrite::KIND];

/// What can go around any route, the outermost first.
pub(super) static LAYERS: &[&Layer] = &[&crate::cache::LAYER];
use crate::{error_pages, files};

pub(super) static HANDLERS: &[&HandlerKind] = &[&files::KIND];

pub(super) static LAYERS: &[&Layer] = &[&error_pages::LAYER];

/// What may stand where.
pub static TABLES: Tables = Tables {
    global: GLOBAL,
    site: SITE,
    route: ROUTE,
    verbs: VERBS,
};

static GLOBAL: &[&[Setting]] = &[];
static SITE: &[&[Setting]] = &[SITE_SETTINGS];
static ROUTE: &[&[Setting]] = &[crate::cache::LAYER.settings];
static VERBS: &[&Verb] = &[];
static ROUTE: &[&[Setting]] = &[];
static VERBS: &[&Verb] = &[&redirect::VERB, &respond::VERB, &rewrite::VERB];
static ROUTE: &[&[Setting]] = &[error_pages::SETTINGS];
static VERBS: &[&Verb] = &[&files::VERB];

#[cfg(test)]
mod tests {
    use super::*;

    /// What can be written is what is built.
    #[test]
    fn the_tables_agree() {
        let verbs: Vec<_> = HANDLERS.iter().map(|kind| kind.verb.word).collect();
        let written: Vec<_> = VERBS.iter().map(|verb| verb.word).collect();
        assert_eq!(verbs, written);
        let layers: Vec<_> = LAYERS.iter().map(|layer| layer.settings.as_ptr()).collect();
        let written: Vec<_> = ROUTE.iter().map(|settings| settings.as_ptr()).collect();
        assert_eq!(layers, written);
    }

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
}
