//! What holds in the end: every setting, written or by default, and where it comes from.

use std::fmt::{self, Write};

use serde_json::{Value as Json, json};

use super::checked::{Config, RouteConfig, SiteConfig};
use super::environment;
use super::problem::Span;
use super::schema::Setting;
use super::settings::{Entry, Settings};
use super::source::Sources;
use super::token;
use super::value::Value;

/// A configuration with every default. As text it is a configuration again, with a comment behind each line that says
/// where it comes from. A setting that is neither written nor has a default is not in it; a route's block has what is not
/// as its site's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// What holds outside of all sites.
    pub settings: Vec<Effect>,
    /// The sites.
    pub sites: Vec<EffectiveSite>,
}

/// A setting that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Its word.
    pub name: &'static str,
    /// Its values.
    pub values: Vec<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// What holds in its block, if it has one.
    pub block: Option<Vec<Effect>>,
}

/// A site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveSite {
    /// Its names.
    pub names: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
    /// What holds for all of it.
    pub settings: Vec<Effect>,
    /// Its routes.
    pub routes: Vec<EffectiveRoute>,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveRoute {
    /// Its path.
    pub path: String,
    /// What is done.
    pub verb: &'static str,
    /// To what.
    pub values: Vec<String>,
    /// Where it is written.
    pub origin: Origin,
    /// What holds in its block.
    pub settings: Vec<Effect>,
}

/// Where something comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody wrote it.
    Default,
    /// It was written.
    Written {
        /// The file, as it was named.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The environment's variables that it has values from.
        variables: Vec<String>,
    },
}

impl Config {
    /// What holds in the end, and where it comes from.
    pub fn effective(&self) -> Effective {
        let sources = &self.sources;
        Effective {
            settings: effects(&self.global, sources),
            sites: self.sites.iter().map(|site| self.site(site)).collect(),
        }
    }

    fn site(&self, site: &SiteConfig) -> EffectiveSite {
        EffectiveSite {
            names: texts(&site.names),
            origin: written(site.settings.span, &site.names, &self.sources),
            settings: effects(&site.settings, &self.sources),
            routes: site.routes.iter().map(|route| self.route(route)).collect(),
        }
    }

    fn route(&self, route: &RouteConfig) -> EffectiveRoute {
        let own = |setting: &Setting| {
            let is_verbs = |one: &Setting| std::ptr::eq(one, setting);
            route.verb.settings.iter().any(is_verbs)
                || route.settings.written(setting.name).is_some()
        };
        let mut settings = effects(&route.settings, &self.sources);
        let tables = route.settings.tables.iter().copied().flatten();
        let shown: Vec<_> = tables.filter(|one| own(one)).map(|one| one.name).collect();
        settings.retain(|effect| shown.contains(&effect.name));
        EffectiveRoute {
            path: route.path.text().to_owned(),
            verb: route.verb.word,
            values: texts(&route.values),
            origin: written(route.path.span(), &route.values, &self.sources),
            settings,
        }
    }
}

impl Config {
    /// What holds of a block of it, in the order of its tables.
    pub fn effects(&self, settings: &Settings) -> Vec<Effect> {
        effects(settings, &self.sources)
    }
}

/// All settings of a block, in the order of its tables.
fn effects(settings: &Settings, sources: &Sources) -> Vec<Effect> {
    let mut effects = Vec::new();
    for setting in settings.tables.iter().copied().flatten() {
        let before = effects.len();
        let written = settings.all(setting.name);
        effects.extend(written.map(|entry| effect(entry, sources)));
        if effects.len() == before {
            effects.extend(default(setting));
        }
    }
    effects
}

fn effect(entry: &Entry, sources: &Sources) -> Effect {
    Effect {
        name: entry.setting.name,
        values: texts(&entry.values),
        origin: written(entry.name, &entry.values, sources),
        block: entry.block.as_ref().map(|block| effects(block, sources)),
    }
}

/// What holds where a setting is not written. A block without values of its own may still have defaults inside.
fn default(setting: &'static Setting) -> Option<Effect> {
    let inside: Vec<_> = setting.block.iter().filter_map(default).collect();
    let is_plain_block = setting.values.is_empty() && !inside.is_empty();
    (!setting.default.is_empty() || is_plain_block).then(|| Effect {
        name: setting.name,
        values: setting
            .default
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        origin: Origin::Default,
        block: (!setting.block.is_empty()).then_some(inside),
    })
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| value.text().to_owned()).collect()
}

fn written(at: Span, values: &[Value], sources: &Sources) -> Origin {
    let place = sources.place(at);
    let raw = values.iter().map(|value| sources.text(value.span()));
    let variables = raw.flat_map(|raw| environment::variables(raw));
    Origin::Written {
        file: place.file.to_string_lossy().into_owned(),
        line: place.line,
        variables: variables.map(str::to_owned).collect(),
    }
}

impl Effective {
    /// For machines: `settings` and `sites`, as they are here; an `origin` is `"default"` or an object with `file`, `line`
    /// and `variables`.
    pub fn to_json(&self) -> String {
        let sites = self.sites.iter().map(|site| {
            let routes = site.routes.iter().map(|route| {
                json!({
                    "path": route.path,
                    "verb": route.verb,
                    "values": route.values,
                    "origin": route.origin.json(),
                    "settings": json_of(&route.settings),
                })
            });
            json!({
                "names": site.names,
                "origin": site.origin.json(),
                "settings": json_of(&site.settings),
                "routes": routes.collect::<Json>(),
            })
        });
        let whole = json!({
            "settings": json_of(&self.settings),
            "sites": sites.collect::<Json>(),
        });
        format!("{whole:#}\n")
    }
}

fn json_of(effects: &[Effect]) -> Json {
    let effects = effects.iter().map(|effect| {
        let mut one = json!({
            "name": effect.name,
            "values": effect.values,
            "origin": effect.origin.json(),
        });
        if let Some(block) = &effect.block {
            one["settings"] = json_of(block);
        }
        one
    });
    effects.collect()
}

impl Origin {
    fn json(&self) -> Json {
        match self {
            Self::Default => json!("default"),
            Self::Written {
                file,
                line,
                variables,
            } => json!({ "file": file, "line": line, "variables": variables }),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Written {
                file,
                line,
                variables,
            } => {
                write!(f, "{file}:{line}")?;
                if !variables.is_empty() {
                    write!(f, ", environment: {}", variables.join(" "))?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        lines.effects(&self.settings, 0);
        for site in &self.sites {
            if !lines.all.is_empty() {
                lines.all.push((String::new(), None));
            }
            let names = site.names.iter().map(|name| token::word(name));
            let head = format!("{} {{", names.collect::<Vec<_>>().join(", "));
            lines.add(0, head, Some(&site.origin));
            lines.effects(&site.settings, 1);
            for route in &site.routes {
                let head = line(&[&route.path, route.verb], &route.values);
                lines.block(1, head, &route.origin, &route.settings);
            }
            lines.add(0, "}".to_owned(), None);
        }
        lines.fmt(f)
    }
}

/// Lines, and where each of them comes from.
#[derive(Default)]
struct Lines<'a> {
    all: Vec<(String, Option<&'a Origin>)>,
}

impl<'a> Lines<'a> {
    fn effects(&mut self, effects: &'a [Effect], depth: usize) {
        for effect in effects {
            let head = line(&[effect.name], &effect.values);
            let block = effect.block.as_deref().unwrap_or_default();
            self.block(depth, head, &effect.origin, block);
        }
    }

    fn block(&mut self, depth: usize, head: String, origin: &'a Origin, block: &'a [Effect]) {
        if block.is_empty() {
            return self.add(depth, head, Some(origin));
        }
        self.add(depth, head + " {", Some(origin));
        self.effects(block, depth + 1);
        self.add(depth, "}".to_owned(), None);
    }

    fn add(&mut self, depth: usize, text: String, origin: Option<&'a Origin>) {
        self.all
            .push((format!("{}{text}", "    ".repeat(depth)), origin));
    }
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Comments stand in a column, which longer lines do not move.
        const WIDEST: usize = 60;
        let widths = self.all.iter().map(|(text, _)| text.chars().count());
        let column = widths.filter(|&width| width <= WIDEST).max().unwrap_or(0);
        for (text, origin) in &self.all {
            match origin {
                Some(origin) => writeln!(f, "{text:column$} # {origin}")?,
                None => writeln!(f, "{text}")?,
            }
        }
        Ok(())
    }
}

fn line(words: &[&str], values: &[String]) -> String {
    let mut line = words.join(" ");
    for value in values {
        // Writing to a string cannot fail.
        let _ = write!(line, " {}", token::word(value));
    }
    line
}
